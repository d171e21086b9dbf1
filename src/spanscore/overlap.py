"""Interval join: find every pair of a gold and a predicted span that share a character, once for all measures.

Two spans overlap in exactly one of two ways: the predicted span starts inside the gold span, or the gold span starts
inside the predicted span, after its first character. With both sides sorted by start, the partners of a span are
contiguous in either case: merging the two sides finds the first one, and the end of the span determines the last. These
ranges of partners take O(n log n) time and O(n) memory, no matter how spans nest or cross; the pairs themselves may be
n² many, so they are also available block by block.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from spanscore.corpus.columns import pieces, ranges

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Longs

BLOCK = 1 << 20
"""Pairs to hold at once; more only if there are more spans than that, or if a single gold span has more partners."""


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
    return Join(gold, pred).all()


class Join:
    """The overlaps of two corpora as ranges of partners, from which pairs are made all at once or in blocks."""

    def __init__(self, gold: Corpus, pred: Corpus) -> None:
        self._sides = gold, pred
        stride = 2 + max(int(side.end.max(initial=0)) for side in (gold, pred))
        self._gold, self._pred = _Solid(gold, stride), _Solid(pred, stride)
        pred_before, gold_before = _ranks(self._gold.start, self._pred.start)
        self._of_gold = _Partners.of(pred_before, self._pred.start, self._gold.end)
        self._of_pred = _Partners.of(gold_before, self._gold.start, self._pred.end)
        self._empty = None
        if self._gold.rows is not None and self._pred.rows is not None:
            self._empty = _same_place(gold, pred, stride)

    @cached_property
    def pairs(self) -> int:
        """The number of pairs."""
        empty = 0 if self._empty is None else int(self._empty[1].counts.sum())
        return int(self._of_gold.counts.sum()) + int(self._of_pred.counts.sum()) + empty

    @property
    def dense(self) -> bool:
        """Whether there are too many pairs to hold at once."""
        return self.pairs > self._limit

    @property
    def _limit(self) -> int:
        return max(BLOCK, len(self._sides[0].doc) + len(self._sides[1].doc))

    def all(self) -> Overlaps:
        """Return all pairs."""
        a, b = self._of_gold.pairs()
        d, c = self._of_pred.pairs()
        found = self._found(np.concatenate([a, c]), np.concatenate([b, d]))
        if self._empty is not None:
            rows, partners, others = self._empty
            a, b = partners.pairs()
            found = _and_empty(found, rows[a], others[b])
        return found

    @cached_property
    def by_gold(self) -> Longs:
        """The number of partners of each gold row."""
        steps = np.bincount(self._of_pred.first, minlength=len(self._gold.start) + 1)
        steps -= np.bincount(self._of_pred.first + self._of_pred.counts, minlength=len(steps))
        solid = self._of_gold.counts + np.cumsum(steps)[: len(self._gold.start)]
        if self._gold.rows is None:
            return solid
        found = np.zeros(len(self._sides[0].doc), np.int64)
        found[self._gold.rows] = solid
        if self._empty is not None:
            found[self._empty[0]] = self._empty[1].counts
        return found

    def blocks(self) -> Iterator[Overlaps]:
        """Yield the pairs in blocks of bounded size, at least one, each with all pairs of some gold rows."""
        if not self.pairs:
            yield self.all()
            return
        for first, last in pieces(self.by_gold, self._limit):
            yield self._between(first, last)

    def document_blocks(self) -> Iterator[Overlaps]:
        """Yield the pairs in blocks of whole documents; a block is large only if one document has many pairs."""
        bounds = self._sides[0].bounds
        for first, last in pieces(self.by_document, self._limit):
            yield self._between(int(bounds[first]), int(bounds[last]))

    @property
    def by_document(self) -> Longs:
        """The number of pairs in each document."""
        sums = np.concatenate([[0], np.cumsum(self.by_gold)])
        found: Longs = np.diff(sums[self._sides[0].bounds])
        return found

    def _between(self, first: int, last: int) -> Overlaps:
        """Return the pairs of a range of gold rows."""
        low, high = self._gold.places(first, last)
        a, b = self._of_gold.cut(low, high).pairs()
        d, c = self._of_pred.limited(low, high).pairs()
        found = self._found(np.concatenate([a + low, c]), np.concatenate([b, d]))
        if self._empty is not None:
            rows, partners, others = self._empty
            low, high = np.searchsorted(rows, [first, last]).tolist()
            a, b = partners.cut(low, high).pairs()
            found = _and_empty(found, rows[a + low], others[b])
        return found

    def _found(self, a: Longs, b: Longs) -> Overlaps:
        gold, pred = self._gold, self._pred
        shared = np.minimum(gold.end.take(a), pred.end.take(b)) - np.maximum(gold.start.take(a), pred.start.take(b))
        return Overlaps(gold.row(a), pred.row(b), shared)


class _Solid:
    """The spans of a side that are not empty: their rows (None: all) and their offsets in global coordinates.

    Global coordinates place the documents one after the other, `stride` apart.
    """

    def __init__(self, side: Corpus, stride: int) -> None:
        short = len(side) * stride < 2**31
        base = side.doc * np.int32(stride) if short else side.doc.astype(np.int64) * stride
        self.rows: Longs | None = None
        self.start: Longs = base + side.start
        self.end: Longs = base + side.end
        solid = side.start < side.end
        if not solid.all():
            self.rows = np.flatnonzero(solid)
            self.start, self.end = self.start[self.rows], self.end[self.rows]

    def row(self, place: Longs) -> Longs:
        """Return the rows of these spans."""
        return place if self.rows is None else self.rows.take(place)

    def places(self, first: int, last: int) -> tuple[int, int]:
        """Return the range of spans in this range of rows."""
        if self.rows is None:
            return first, last
        low, high = np.searchsorted(self.rows, [first, last]).tolist()
        return low, high


@dataclass(frozen=True, eq=False)
class _Partners:
    """For each row of one side, its partners on the other side: a range that begins at `first`."""

    first: Longs
    counts: Longs
    few: bool
    """Whether no row has more than one partner, as is usual."""

    @classmethod
    def of(cls, first: Longs, starts: Longs, ends: Longs) -> _Partners:
        """Find for each row every start, from the row's `first` on, that is before the row's end.

        Almost every row has one such start or none, so that case avoids the search.
        """
        last = len(starts) - 1
        if last < 0:
            return cls(first, np.zeros(len(first), np.int64), few=True)
        one = (first <= last) & (starts.take(first, mode="clip") < ends)
        two = (first < last) & (starts.take(first + 1, mode="clip") < ends)
        if not two.any():
            return cls(first, one, few=True)  # type: ignore[arg-type] # 0 and 1 are counts as well
        counts = one.astype(np.int64)
        counts[two] = np.searchsorted(starts, ends[two], "left") - first[two]
        return cls(first, counts, few=False)

    def pairs(self) -> tuple[Longs, Longs]:
        """Return the pairs of a row and a partner."""
        if self.few:
            rows = np.flatnonzero(self.counts)
            return rows, self.first.take(rows)
        return np.repeat(np.arange(len(self.first)), self.counts), ranges(self.first, self.counts)

    def cut(self, low: int, high: int) -> _Partners:
        """Return the partners of a range of rows."""
        return _Partners(self.first[low:high], self.counts[low:high], self.few)

    def limited(self, low: int, high: int) -> _Partners:
        """Return the partners of all rows that are in this range."""
        first = np.clip(self.first, low, high)
        return _Partners(first, np.clip(self.first + self.counts, low, high) - first, self.few)


def _same_place(gold: Corpus, pred: Corpus, stride: int) -> tuple[Longs, _Partners, Longs]:
    """Return the empty gold rows, their partners among the empty predicted rows, and those rows."""
    rows = [np.flatnonzero(side.start == side.end) for side in (gold, pred)]
    places = [
        side.doc[row].astype(np.int64) * stride + side.start[row] for side, row in zip((gold, pred), rows, strict=True)
    ]
    low = np.searchsorted(places[1], places[0], "left")
    return rows[0], _Partners(low, np.searchsorted(places[1], places[0], "right") - low, few=False), rows[1]


def _and_empty(found: Overlaps, gold: Longs, pred: Longs) -> Overlaps:
    """Add pairs of empty spans, which share no character."""
    return Overlaps(
        np.concatenate([found.gold, gold]),
        np.concatenate([found.pred, pred]),
        np.concatenate([found.shared, np.zeros(len(gold), np.int64)]),
    )


def _ranks(a: Longs, b: Longs) -> tuple[Longs, Longs]:
    """Return, for two sorted arrays, how many of b are less than each of a, and how many of a are at most each of b.

    Merging the two sorted runs with a stable sort is several times faster than a binary search per element.
    """
    order = np.argsort(np.concatenate([a, b]), kind="stable")
    from_a = order < len(a)
    return np.flatnonzero(from_a) - np.arange(len(a)), np.flatnonzero(~from_a) - np.arange(len(b))
