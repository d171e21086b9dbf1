"""Prepare spans for matching: unify labels, merge neighbours, trim skip words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spanscore.align.pairing import Pairing, without_repeats
from spanscore.align.tokens import TokenTable, given_tokens
from spanscore.corpus import Corpus
from spanscore.corpus.columns import Bools, Ints, Longs, ranges
from spanscore.corpus.strings import Strings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from spanscore.align.characters import Letters
    from spanscore.align.skipwords import SkipWords


def one_label(pairing: Pairing, name: str) -> Pairing:
    """Replace every label by `name`; spans that differed only in their label become one."""

    def relabel(side: Corpus) -> Corpus:
        return without_repeats(side.with_columns(label=np.zeros(len(side.label), np.int32), labels=(name,)))

    return pairing.map_sides(relabel)


@dataclass(frozen=True)
class Gaps:
    """A test for whether gaps between spans (document, start, end) are empty, that is, hold nothing that counts.

    `letters` is set if only whitespace is ignored in gaps, which allows a fast check that nothing can merge.
    """

    empty: Callable[[Ints, Ints, Ints], Bools]
    letters: Letters | None


def merged(side: Corpus, gaps: Gaps | None = None) -> Corpus:
    """Merge spans with the same label that overlap, touch, or have an empty gap between them."""
    order, reached = _chains(side, gaps)
    by_chain = side if order is None else side.with_spans(order)
    doc, start, label = by_chain.doc, by_chain.start, by_chain.label
    follows = (doc[1:] == doc[:-1]) & (label[1:] == label[:-1])
    joins = follows & (start[1:] <= reached)
    if gaps is not None and len(apart := np.flatnonzero(follows & ~joins)):
        joins[apart] = gaps.empty(doc[apart], reached[apart], start[apart + 1])
    if not joins.any():
        return side
    first = np.flatnonzero(np.concatenate([[True], ~joins]))
    score = None if by_chain.score is None else _best_of(np.fmax, by_chain.score, first)
    return by_document(by_chain.with_spans(first, end=_best_of(np.maximum, by_chain.end, first), score=score))


def _best_of(best: np.ufunc, column: NDArray[Any], first: Longs) -> NDArray[Any]:
    """Return the best value of each run of rows; fast if most runs are a single row."""
    found = column.take(first)
    size = np.diff(first, append=len(column))
    several = np.flatnonzero(size > 1)
    rows = ranges(first[several], size[several])
    found[several] = best.reduceat(column.take(rows), np.cumsum(size[several]) - size[several])
    return found


def trimmed(side: Corpus, table: TokenTable, texts: Sequence[str | None], skip: SkipWords) -> Corpus:
    """Trim skip words off both ends of each span; a span of only skip words is kept whole.

    If a span covers only part of a token, that part is what is looked up in the skip words.
    """
    first, last, cut = table.touched_and_cut(table.line(side.doc, side.start), table.line(side.doc, side.end))
    counting = np.flatnonzero(table.counts)
    low, high = table.before[first], table.before[last]
    solid = low < high
    start, end = side.start.copy(), side.end.copy()
    start[solid] = table.tokens.start[counting[low[solid]]]
    end[solid] = table.tokens.end[counting[high[solid] - 1]]
    for row in np.flatnonzero(cut).tolist():
        whole = int(side.start[row]), int(side.end[row])
        pieces = _pieces(texts[side.doc[row]], range(first[row], last[row]), table, *whole) or []
        kept = [(low, high) for low, high, piece in pieces if piece not in skip]
        start[row], end[row] = (kept[0][0], kept[-1][1]) if kept else whole
    return (
        side
        if (start == side.start).all() and (end == side.end).all()
        else without_repeats(replace(side, start=start, end=end))
    )


def by_document(side: Corpus) -> Corpus:
    """Sort spans by document, and into canonical order within each document."""
    if (side.doc[1:] < side.doc[:-1]).any():
        side = side.with_spans(np.argsort(side.doc, kind="stable"))
    return without_repeats(side)


def _chains(side: Corpus, gaps: Gaps | None) -> tuple[Longs | None, Ints]:
    """Return the row order by document, label and start, and the furthest end of the spans before each row.

    The order is None if the rows can stay as they are: if no spans overlap and none is blank, only neighbouring rows
    can merge, and no sorting is needed. There is no furthest end for the first row.
    """
    flat = ((side.doc[1:] != side.doc[:-1]) | (side.start[1:] >= side.end[:-1])).all() and (side.start < side.end).all()
    if flat and gaps is not None:
        flat = gaps.letters is not None and not gaps.letters.white(side.doc, side.start).any()
    if flat:
        return None, side.end[:-1]
    chain = side.doc.astype(np.int64) * (int(side.label.max(initial=0)) + 1) + side.label
    order = np.argsort(chain, kind="stable")
    chain = chain[order]
    stride = np.int64(int(side.end.max(initial=0)) + 1)
    number = np.cumsum(np.concatenate([[0], chain[1:] != chain[:-1]])[: len(chain)])
    furthest = np.maximum.accumulate(number * stride + side.end[order]) - number * stride
    return order, furthest[:-1].astype(np.int32)


def gaps_of(pairing: Pairing, table: TokenTable | None, skip: SkipWords) -> Gaps | None:
    """Return a test for gaps that hold only whitespace and skip words or, without text, no token.

    Return None if there is neither text nor tokens, so that no gap is known to be empty.
    """
    letters = pairing.letters
    if table is None:
        known_tokens = pairing.gold.tokens is not None or pairing.pred.tokens is not None
        if not known_tokens and not letters:
            return None
        if not known_tokens or letters.complete:
            return Gaps(letters.blank, letters)
        table = TokenTable.of(given_tokens(pairing), pairing)
    missing, texts = letters.strings.missing, pairing.text
    known = np.ones(len(pairing), np.bool_) if missing is None else ~missing

    def nothing_between(doc: Ints, start: Ints, end: Ints) -> Bools:
        low, high = table.line(doc, start), table.line(doc, end)
        first, last, cut = table.touched_and_cut(low, high)
        empty: Bools = table.before[first] == table.before[last]
        for row in np.flatnonzero(cut).tolist():
            pieces = _pieces(texts[doc[row]], range(first[row], last[row]), table, int(start[row]), int(end[row]))
            empty[row] = pieces is not None and all(piece.isspace() or piece in skip for _, _, piece in pieces)
        if skip:
            return empty
        has_tokens = table.has_tokens[doc]
        return np.where(known[doc], letters.blank(doc, start, end), empty & has_tokens)

    return Gaps(nothing_between, None)


def stretches(pairing: Pairing) -> Pairing:
    """Split documents at every gap that no span crosses and that is not known to be blank.

    No span on one side of a cut can overlap, touch or merge with a span on the other side. If any document has tokens
    but no text, nothing is split, since its gaps cannot be checked.
    """
    gold, pred = pairing.gold, pairing.pred
    if pairing.rows is not None or ((gold.tokens or pred.tokens) and not pairing.letters.complete):
        return pairing
    doc, start, end = (np.concatenate([getattr(gold, name), getattr(pred, name)]) for name in ("doc", "start", "end"))
    order = np.lexsort((start, doc))
    doc, start, end = doc[order], start[order], end[order]
    stride = np.int64(int(end.max(initial=0)) + 1)
    reached = (np.maximum.accumulate(doc * stride + end) - doc * stride)[:-1].astype(np.int32)
    cut = (doc[1:] != doc[:-1]) | (start[1:] > reached)
    gaps = np.flatnonzero(cut & (doc[1:] == doc[:-1]))
    cut[gaps] = ~pairing.letters.blank(doc[gaps], reached[gaps], start[gaps + 1]) if pairing.letters else True
    number = np.concatenate([[0], np.cumsum(cut)])[: len(doc)]
    first = np.flatnonzero(np.concatenate([[True], cut]))[: len(doc)]
    low, high = start[first], np.maximum.reduceat(end, first) if len(first) else end[first]
    place = np.empty(len(order), np.int32)
    place[order] = number
    within = [pairing.text[number] for number in doc[first].tolist()]
    cut_texts = Strings.of(
        None if text is None else text[a:b] for text, a, b in zip(within, low.tolist(), high.tolist(), strict=True)
    )
    ids = Strings.of(map(str, range(len(first))))

    def cut_up(side: Corpus, at: Ints) -> Corpus:
        columns: dict[str, Any] = {"doc": at, "start": side.start - low[at], "end": side.end - low[at]}
        return replace(side, ids=ids, text=cut_texts, tokens=None, meta={}, **columns)

    return Pairing(cut_up(gold, place[: len(gold.doc)]), cut_up(pred, place[len(gold.doc) :]))


def _pieces(
    text: str | None, tokens: range, table: TokenTable, start: int, end: int
) -> list[tuple[int, int, str]] | None:
    """Return the parts of tokens that lie between two offsets, or None without text."""
    if text is None:
        return None
    found = []
    for token in tokens:
        low, high = max(int(table.tokens.start[token]), start), min(int(table.tokens.end[token]), end)
        found.append((low, high, text[low:high]))
    return found
