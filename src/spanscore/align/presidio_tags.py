"""Tags: which span gives its label to each token, decided as presidio-evaluator 0.3.2 decides it (`span_to_tag`)."""

from __future__ import annotations

from bisect import bisect_right
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from spanscore.corpus.columns import ranges, unclaimed

if TYPE_CHECKING:
    from spanscore.align.tokens import TokenTable
    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Bools, Ints, Longs

NO_SCORE = 0.5
"""Score of a span that has none."""


def tag_owners(side: Corpus, table: TokenTable, *, own_tokens: bool) -> Longs:
    """Return for each token the row of the span that tags it, or -1.

    Spans that overlap or touch are settled by score first. Of the spans that cover a token's start or lie inside the
    token, ends included, the first one tags it. With `own_tokens`, documents of a side that has tokens itself are taken
    as tagged already, if their spans are disjoint runs of whole tokens.
    """
    start, end, row = _settled(side, ~_tagged(side, table) if own_tokens else None)
    doc = side.doc[row]
    begin, finish = table.line(doc, start), table.line(doc, end)
    owner = np.full(len(table.start), len(row))
    low = np.searchsorted(table.start, begin)
    _claim(owner, *unclaimed(low, np.maximum(np.searchsorted(table.start, finish) - low, 0)))
    _claim(owner, *_holding(table, begin, finish, low))
    owning: Longs = np.append(row, -1)[owner]
    return owning


def _holding(table: TokenTable, begin: Longs, finish: Longs, after: Longs) -> tuple[Longs, Longs]:
    """Return the first token that a span lies inside of, ends included, and the number of such tokens.

    A span that is not empty lies only inside the token before those that start in it (`after`), if any; where there is
    one that starts with the span, the span has it already.
    """
    low: Longs = np.maximum(after - 1, 0)
    counts = ((after > 0) & (np.append(table.end, 0)[low] >= finish)).astype(np.int64)
    empty = np.flatnonzero(begin >= finish)
    low[empty] = np.searchsorted(table.end, begin[empty])
    counts[empty] = np.searchsorted(table.start, finish[empty], "right") - low[empty]
    return low, counts


def _claim(owner: Longs, low: Longs, counts: Longs) -> None:
    """Give tokens to spans, each to the first one that wants it."""
    counts = np.maximum(counts, 0)
    token, number = ranges(low, counts), np.repeat(np.arange(len(counts)), counts)
    wanted = np.full(len(owner), len(counts))
    wanted[token[::-1]] = number[::-1]
    np.minimum(owner, wanted, out=owner)


def _tagged(side: Corpus, table: TokenTable) -> Bools:
    """Return whether each document has tokens on this side, and disjoint spans that are runs of whole tokens."""
    if side.tokens is None:
        return np.zeros(len(side), np.bool_)
    tagged = np.bincount(side.tokens.doc, minlength=len(side)) > 0
    whole = side.start < side.end
    for offset, edges in ((side.start, table.start), (side.end, table.end)):
        places = table.line(side.doc, offset)
        near = np.minimum(np.searchsorted(edges, places), len(edges) - 1)
        whole &= edges[near] == places if len(edges) else False
    whole[1:] &= (side.doc[1:] != side.doc[:-1]) | (side.start[1:] >= _reached(side)[:-1])
    tagged[side.doc[~whole]] = False
    return tagged


def _reached(side: Corpus) -> Longs:
    """Return the furthest end in its document up to each row."""
    stride = np.int64(int(side.end.max(initial=0)) + 1)
    base = side.doc * stride
    furthest: Longs = np.maximum.accumulate(base + side.end) - base
    return furthest


def _settled(side: Corpus, within: Bools | None) -> tuple[Ints, Ints, Longs]:
    """Settle spans that overlap or touch, in the documents `within`; return starts, ends and rows, sorted by start."""
    rows = np.arange(len(side.doc))
    joins = (side.doc[1:] == side.doc[:-1]) & (side.start[1:] <= _reached(side)[:-1])
    if within is not None:
        joins &= within[side.doc[1:]]
    if not joins.any():
        return side.start, side.end, rows
    first = np.flatnonzero(np.concatenate([[True], ~joins]))
    size = np.diff(first, append=len(rows))
    alone = first[size == 1]
    score = np.full(len(rows), NO_SCORE) if side.score is None else np.nan_to_num(side.score, nan=NO_SCORE)
    made: list[tuple[int, int, int]] = []
    order = np.lexsort((side.label, side.start.astype(np.int64) - side.end, -score, side.start, side.doc))
    for low, count in zip(first[size > 1].tolist(), size[size > 1].tolist(), strict=True):
        chosen = order[low : low + count]
        columns = (column[chosen].tolist() for column in (side.start, side.end, score))
        made += ((start, end, int(chosen[number])) for start, end, number in settle(*columns))
    start, end, row = np.array(made).T
    start, end, row = (
        np.concatenate(pair) for pair in ((side.start[alone], start), (side.end[alone], end), (rows[alone], row))
    )
    back = np.lexsort((start, side.doc[row]))
    return start[back], end[back], row[back]


def settle(start: list[int], end: list[int], score: list[float]) -> list[tuple[int, int, int]]:
    """Settle overlaps of spans sorted by start, as `_handle_overlaps` of presidio-evaluator 0.3.2 does.

    Return (start, end, number of the span), sorted by start. The tool takes ends as inclusive: spans that touch do
    overlap, and what is left of a span begins one character after the better one. Of two spans with the same score, the
    later one is better. A worse span inside a better one is not dropped, but comes after it.

    >>> settle([0, 4], [9, 6], [0.5, 0.9])
    [(0, 3, 0), (4, 6, 1), (7, 9, 0)]
    >>> settle([0, 4], [9, 12], [0.9, 0.5]), settle([0, 3], [3, 8], [0.5, 0.5])
    ([(0, 9, 0), (10, 12, 1)], [(0, 2, 0), (3, 8, 1)])
    """
    total, begins, number = len(start), list(start), list(range(len(start)))
    i = 0
    while i < len(start) - 1:
        near = bisect_right(begins, end[i])  # starts only grow, so the given spans after these are out of reach
        for j in chain(range(i + 1, near), range(max(i + 1, total), len(start))):
            if not start[i] <= start[j] <= end[i]:
                continue
            if score[i] > score[j]:
                if end[j] <= end[i]:
                    score[j] = 0
                else:
                    start[j] = end[i] + 1
                continue
            if end[j] < end[i]:
                start.append(end[j] + 1)
                end.append(end[i])
                score.append(score[i])
                number.append(number[i])
            end[i] = start[j] - 1
        i += 1
    return sorted(zip(start, end, number, strict=True), key=lambda span: span[0])
