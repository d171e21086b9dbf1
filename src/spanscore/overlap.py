"""Interval join: find every pair of a gold and a predicted span that share a character, once for all measures.

Two spans overlap in exactly one of two ways: the predicted span starts inside the gold span, or the gold span starts
inside the predicted span, after its first character. With both sides sorted by start, the partners of a span are
contiguous in either case: merging the two sides finds the first one, and the end of the span determines the last. This
takes O(n log n + pairs), no matter how spans nest or cross.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spanscore.corpus.columns import ranges

if TYPE_CHECKING:
    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Longs


@dataclass(frozen=True, eq=False)
class Overlaps:
    """Pairs of gold and predicted rows that overlap, and the number of characters that they share."""

    gold: Longs
    pred: Longs
    shared: Longs

    def __len__(self) -> int:
        return len(self.gold)


def overlaps(gold: Corpus, pred: Corpus) -> Overlaps:
    """Return all pairs of overlapping spans of two corpora.

    Both corpora must have the same documents, and their spans must be sorted by document and start. An empty span
    overlaps only empty spans at the same offset, and shares no character with them.

    >>> from spanscore.corpus import Corpus
    >>> gold = Corpus.from_arrays(["d"], [0, 0], [0, 4], [10, 6], ["A", "A"])
    >>> pred = Corpus.from_arrays(["d"], [0, 0], [5, 10], [12, 12], ["A", "A"])
    >>> found = overlaps(gold, pred)
    >>> sorted(zip(found.gold.tolist(), found.pred.tolist(), found.shared.tolist()))
    [(0, 0, 5), (1, 0, 1)]
    """
    stride = 2 + max(int(side.end.max(initial=0)) for side in (gold, pred))
    gold_rows, gold_start, gold_end = _solid(gold, stride)
    pred_rows, pred_start, pred_end = _solid(pred, stride)
    pred_before, gold_before = _ranks(gold_start, pred_start)
    a, b = _partners(pred_before, pred_start, gold_end)
    d, c = _partners(gold_before, gold_start, pred_end)
    a, b = np.concatenate([a, c]), np.concatenate([b, d])
    shared = np.minimum(gold_end.take(a), pred_end.take(b)) - np.maximum(gold_start.take(a), pred_start.take(b))
    a = a if gold_rows is None else gold_rows.take(a)
    b = b if pred_rows is None else pred_rows.take(b)
    if gold_rows is not None and pred_rows is not None:
        more = _same_place(gold, pred, stride)
        a, b = np.concatenate([a, more[0]]), np.concatenate([b, more[1]])
        shared = np.concatenate([shared, np.zeros(len(more[0]), np.int64)])
    return Overlaps(a, b, shared)


def count_overlaps(gold: Corpus, pred: Corpus) -> int:
    """Count the pairs of overlapping spans without making them; empty spans are left out."""
    stride = 2 + max(int(side.end.max(initial=0)) for side in (gold, pred))
    gold_start, gold_end = _solid(gold, stride)[1:]
    pred_start, pred_end = _solid(pred, stride)[1:]
    starts_inside = np.searchsorted(pred_start, gold_end, "left") - np.searchsorted(pred_start, gold_start, "left")
    starts_later = np.searchsorted(gold_start, pred_end, "left") - np.searchsorted(gold_start, pred_start, "right")
    return int(starts_inside.sum() + starts_later.sum())


def _solid(side: Corpus, stride: int) -> tuple[Longs | None, Longs, Longs]:
    """Return the rows of non-empty spans (None if all are), with their starts and ends in global coordinates.

    Global coordinates place the documents one after the other, `stride` apart.
    """
    short = len(side) * stride < 2**31
    base = side.doc * np.int32(stride) if short else side.doc.astype(np.int64) * stride
    start, end = base + side.start, base + side.end
    solid = side.start < side.end
    if solid.all():
        return None, start, end
    rows = np.flatnonzero(solid)
    return rows, start[rows], end[rows]


def _same_place(gold: Corpus, pred: Corpus, stride: int) -> tuple[Longs, Longs]:
    """Return the pairs of empty spans at the same offset."""
    rows = [np.flatnonzero(side.start == side.end) for side in (gold, pred)]
    places = [
        side.doc[row].astype(np.int64) * stride + side.start[row] for side, row in zip((gold, pred), rows, strict=True)
    ]
    low = np.searchsorted(places[1], places[0], "left")
    counts = np.searchsorted(places[1], places[0], "right") - low
    return rows[0][np.repeat(np.arange(len(rows[0])), counts)], rows[1][ranges(low, counts)]


def _ranks(a: Longs, b: Longs) -> tuple[Longs, Longs]:
    """For two sorted arrays, return how many of b are less than each of a, and how many of a are at most each of b.

    Merging the two sorted runs with a stable sort is several times faster than a binary search per element.
    """
    order = np.argsort(np.concatenate([a, b]), kind="stable")
    from_a = order < len(a)
    return np.flatnonzero(from_a) - np.arange(len(a)), np.flatnonzero(~from_a) - np.arange(len(b))


def _partners(first: Longs, starts: Longs, ends: Longs) -> tuple[Longs, Longs]:
    """Return pairs of a row and every start, from the row's `first` on, that is before the row's end.

    Almost every row has one such start or none, so that case avoids the search.
    """
    last = len(starts) - 1
    if last < 0:
        return first[:0], first[:0]
    one = (first <= last) & (starts.take(first, mode="clip") < ends)
    two = (first < last) & (starts.take(first + 1, mode="clip") < ends)
    if not two.any():
        rows = np.flatnonzero(one)
        return rows, first.take(rows)
    counts = one.astype(np.int64)
    counts[two] = np.searchsorted(starts, ends[two], "left") - first[two]
    return np.repeat(np.arange(len(first)), counts), ranges(first, counts)
