"""Resolve overlaps within one side: of two spans that share a character, keep the better one."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Literal

import numpy as np

from spanscore.errors import UsageError
from spanscore.overlap import Join

if TYPE_CHECKING:
    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Bools, Longs
    from spanscore.overlap import Overlaps

Resolve = Literal["none", "score", "longest"]
CHOICES = ("none", "score", "longest")


def resolved(corpus: Corpus, how: Resolve) -> tuple[Corpus, int]:
    """Return the corpus without the spans that overlap a better one, and the number of spans dropped.

    This is greedy: keep the best span, drop those that overlap it, continue with the best of the rest. With `score`,
    the span with the higher score is better (no score is worst), then the longer one; with `longest`, the longer span,
    then the one with the higher score. Ties are broken by label, then by start. The spans of the corpus must be sorted.

    >>> from spanscore.corpus import Corpus
    >>> corpus = Corpus.from_arrays(["d"], [0, 0], [0, 4], [9, 9], ["EMAIL", "URL"], score=[0.5, 0.9])
    >>> resolved(corpus, "score")[0].labels, resolved(corpus, "score")[0].label.tolist()
    (('EMAIL', 'URL'), [1])
    """
    if how not in CHOICES:
        raise UsageError(f"resolve must be one of {', '.join(CHOICES)}.")
    if how == "none" or not len(corpus.doc):
        return corpus, 0
    join = Join(corpus, corpus)
    if join.pairs == len(corpus.doc):  # each span overlaps only itself
        return corpus, 0
    length = corpus.start.astype(np.int64) - corpus.end
    score = np.zeros(len(length)) if corpus.score is None else np.where(np.isnan(corpus.score), np.inf, -corpus.score)
    first, second = (score, length) if how == "score" else (length, score)
    order = np.lexsort((corpus.start, corpus.label, second, first))
    kept = _one_by_one(corpus, order) if join.dense else _in_rounds(join.all(), order)
    return corpus.with_spans(np.flatnonzero(kept)), int(np.count_nonzero(~kept))


def _in_rounds(found: Overlaps, order: Longs) -> Bools:
    """Keep every span that is better than all that it overlaps, drop those, and go on with the rest."""
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    kept = np.ones(len(order), np.bool_)
    apart = found.gold != found.pred
    a, b = found.gold[apart], found.pred[apart]
    while len(a):
        beaten = np.zeros(len(order), np.bool_)
        beaten[a[rank[a] > rank[b]]] = True
        kept[b[~beaten[a]]] = False
        unsettled = beaten[a] & beaten[b] & kept[a] & kept[b]
        a, b = a[unsettled], b[unsettled]
    return kept


def _one_by_one(corpus: Corpus, order: Longs) -> Bools:
    """Keep spans from the best one on, without a list of overlaps: those kept are apart, so that their order is known.

    An empty span overlaps only others at its offset, and is kept or not by itself.
    """
    kept = np.zeros(len(order), np.bool_)
    starts: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    empty: set[tuple[int, int]] = set()
    columns = (column[order].tolist() for column in (corpus.doc, corpus.start, corpus.end))
    for row, doc, start, end in zip(order.tolist(), *columns, strict=True):
        if start == end:
            kept[row] = (doc, start) not in empty
            empty.add((doc, start))
            continue
        begins, stops = starts.setdefault(doc, []), ends.setdefault(doc, [])
        place = bisect_right(stops, start)
        if place == len(begins) or begins[place] >= end:
            begins.insert(place, start)
            stops.insert(place, end)
            kept[row] = True
    return kept
