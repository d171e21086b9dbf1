"""Coverage: which characters lie under the spans of one side, whatever their labels.

The spans of a side become the sorted, disjoint ranges of characters that they cover. How much of a range is covered is
then the difference of two running totals, which takes O(n log n) however spans nest or cross.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from spanscore.corpus.columns import ranges

if TYPE_CHECKING:
    from spanscore.align.characters import Letters
    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Bools, Ints, Longs


@dataclass(frozen=True, eq=False)
class Coverage:
    """The ranges of characters that spans cover, sorted by document and start; they neither overlap nor touch.

    Positions are on a line on which the documents follow each other, `stride` apart.
    """

    start: Longs
    end: Longs
    stride: int

    @classmethod
    def of(cls, side: Corpus, stride: int) -> Coverage:
        """Return what the spans of a sorted corpus cover; `stride` must be greater than every offset.

        >>> from spanscore.corpus import Corpus
        >>> spans = Corpus.from_arrays(["d"], [0] * 4, [0, 2, 4, 8], [3, 4, 5, 9], ["A", "B", "A", "A"])
        >>> found = Coverage.of(spans, 99)
        >>> found.start.tolist(), found.end.tolist()
        ([0, 8], [5, 9])
        """
        base = side.doc.astype(np.int64) * stride
        start, end = base + side.start, base + side.end
        if not (side.start < side.end).all():
            solid = np.flatnonzero(side.start < side.end)
            start, end = start[solid], end[solid]
        if not len(start):
            return cls(start, end, stride)
        apart = start[1:] > end[:-1]
        if apart.all():
            return cls(start, end, stride)
        reached = np.maximum.accumulate(end)
        apart = start[1:] > reached[:-1]
        return cls(start[np.append(True, apart)], reached[np.append(apart, True)], stride)

    def line(self, doc: Ints | Longs, at: Ints | Longs) -> Longs:
        """Return positions on the line."""
        return doc.astype(np.int64) * self.stride + at

    def within(self, doc: Ints, start: Ints | Longs, end: Ints | Longs) -> Longs:
        """Count the covered characters of each range.

        >>> found = Coverage(np.array([0, 8]), np.array([5, 9]), 99)
        >>> zero = np.zeros(2, np.int32)
        >>> found.within(zero, np.array([3, 5], np.int32), np.array([9, 8], np.int32)).tolist()
        [3, 0]
        """
        if not len(self.start):
            return np.zeros(len(doc), np.int64)
        low, high = self.line(doc, start), self.line(doc, end)
        if (low[1:] < high[:-1]).any():
            return self._covered_before(high) - self._covered_before(low)
        both = self._covered_before(np.stack([low, high], axis=1).ravel())  # ranges that do not overlap are in order
        return both[1::2] - both[::2]

    def touches(self, mine: Corpus, other: Corpus) -> Bools:
        """Return for each span of another corpus whether it overlaps one of the spans that this coverage is made of.

        Empty spans overlap only empty spans in the same place.
        """
        found: Bools = self.within(other.doc, other.start, other.end) > 0
        if not (other.start < other.end).all() and not (mine.start < mine.end).all():
            empty = np.flatnonzero(mine.start == mine.end)
            places = self.line(mine.doc[empty], mine.start[empty])
            found |= (other.start == other.end) & np.isin(self.line(other.doc, other.start), places)
        return found

    def _covered_before(self, at: Longs) -> Longs:
        """Count the covered characters before each position."""
        after = _number_below(self.start, at)
        rest = np.maximum(self.end.take(after - 1) - at, 0)
        rest[after == 0] = 0
        before: Longs = self._total.take(after) - rest
        return before

    @cached_property
    def _total(self) -> Longs:
        """The number of characters of the ranges before each one, and of all."""
        return np.concatenate([[0], np.cumsum(self.end - self.start)])

    def readable_within(self, letters: Letters, doc: Ints, start: Ints, end: Ints, ignored: int) -> Longs:
        """Count the covered characters of each range whose reading class is above `ignored`."""
        if ignored < 0 or not letters:
            return self.within(doc, start, end)
        if not len(self.start) or not len(doc):
            return np.zeros(len(doc), np.int64)
        low, high = self.line(doc, start), self.line(doc, end)
        first, last = np.searchsorted(self.end, low, "right"), np.searchsorted(self.start, high)
        last = np.maximum(first, last)
        change = np.bincount(first, minlength=len(self.start) + 1) - np.bincount(last, minlength=len(self.start) + 1)
        used = np.flatnonzero(np.cumsum(change)[:-1])
        counts = np.zeros(len(self.start) + 1, np.int64)
        counts[used + 1] = self._readable(letters, self.start[used], self.end[used], ignored)
        total = np.cumsum(counts)
        found: Longs = total[last] - total[first]
        rows = np.flatnonzero(last > first)
        head, tail = first[rows], last[rows] - 1  # these two may go beyond the range
        found[rows] -= self._readable(letters, self.start[head], np.maximum(self.start[head], low[rows]), ignored)
        found[rows] -= self._readable(letters, np.minimum(self.end[tail], high[rows]), self.end[tail], ignored)
        return found

    def _readable(self, letters: Letters, low: Longs, high: Longs, ignored: int) -> Longs:
        doc, start = np.divmod(low, self.stride)
        return letters.readable(doc, start, start + (high - low), ignored)

    def gaps(self, doc: Ints, start: Ints | Longs, end: Ints | Longs) -> tuple[Longs, Longs, Longs]:
        """Return the parts of each range that are not covered: the index of the range, the start and the end.

        >>> found = Coverage(np.array([0, 8]), np.array([5, 9]), 99)
        >>> zero = np.zeros(1, np.int32)
        >>> [column.tolist() for column in found.gaps(zero, zero + 3, zero + 12)]
        [[0, 0], [5, 9], [8, 12]]
        """
        low, high = self.line(doc, start), self.line(doc, end)
        first, last = np.searchsorted(self.end, low, "right"), np.searchsorted(self.start, high)
        counts = np.maximum(last - first, 0) + 1  # a gap before each covered range, and one behind the last
        row = np.repeat(np.arange(len(doc)), counts)
        at = ranges(first, counts)
        is_first, is_last = np.zeros(len(row), np.bool_), np.zeros(len(row), np.bool_)
        is_first[np.cumsum(counts) - counts], is_last[np.cumsum(counts) - 1] = True, True
        ends, starts = np.append(0, self.end), np.append(self.start, 0)
        begin = np.where(is_first, low[row], ends.take(at, mode="clip"))
        finish = np.where(is_last, high[row], starts.take(at, mode="clip"))
        solid: Bools = begin < finish
        row, begin, finish = row[solid], begin[solid], finish[solid]
        base = doc[row].astype(np.int64) * self.stride
        return row, begin - base, finish - base


@dataclass(frozen=True, eq=False)
class Containers:
    """Ranges in groups, such as documents, that other ranges may lie inside of."""

    start: Longs
    furthest: Longs
    """The furthest end of the ranges up to each one, which are sorted by group and start."""
    stride: int

    @classmethod
    def of(cls, group: Ints | Longs, start: Ints, end: Ints, stride: int) -> Containers:
        """Return these ranges; `stride` must be greater than every offset of any range."""
        base = group.astype(np.int64) * stride
        order = np.argsort(base + start, kind="stable")
        return cls((base + start)[order], np.maximum.accumulate((base + end)[order]), stride)

    def hold(self, group: Ints | Longs, start: Ints | Longs, end: Ints | Longs) -> Bools:
        """Return which ranges lie inside one of these of the same group.

        >>> zero = np.zeros(2, np.int32)
        >>> within = Containers.of(zero, np.array([0, 2]), np.array([9, 4]), 99)
        >>> within.hold(zero, np.array([3, 3]), np.array([9, 10])).tolist()
        [True, False]
        """
        if not len(self.start):
            return np.zeros(len(group), np.bool_)
        base = group.astype(np.int64) * self.stride
        before = np.searchsorted(self.start, base + start, "right") - 1
        found: Bools = (before >= 0) & (self.furthest[before] >= base + end)
        return found


def _number_below(values: Longs, at: Longs) -> Longs:
    """Return how many of the sorted values are below each position.

    Positions that are sorted too are merged with the values by a stable sort, which is faster than searching.
    """
    if len(at) < len(values) // 8 or (at[1:] < at[:-1]).any():
        return np.searchsorted(values, at)
    order = np.argsort(np.concatenate([at, values]), kind="stable")
    return np.flatnonzero(order < len(at)) - np.arange(len(at))
