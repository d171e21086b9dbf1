"""Spans of tag sequences, found for all sentences at once.

All sentences are one column of tags with an O after each. Whether a span begins, continues or ends at a tag depends
only on the tag and the one before it, so that every rule is a comparison of two columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from spanscore.corpus import LabelTable
from spanscore.formats.tags import SCHEMES, Tag

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from spanscore.corpus.columns import Bools, Ints, Longs

Number = TypeVar("Number", np.int8, np.int32)
POSITIONS = "OBIES"


@dataclass(frozen=True)
class Chunks:
    """Spans in the order of their ends: first tag, tag after the last one, and code of the label."""

    begin: Longs
    end: Longs
    type: Ints

    def counts(self, types: int) -> Longs:
        """Return the number of spans of each label."""
        return np.bincount(self.type, minlength=types)

    def shared(self, other: Chunks, size: int, types: int) -> Longs:
        """Return how many spans of each label are the same in both, of all that end before `size`."""
        if not len(other.end):
            return np.zeros(types, np.int64)
        place = np.full(size + 1, -1, np.int64)
        place[other.end] = np.arange(len(other.end))
        row = place[self.end]
        same = (row >= 0) & (other.begin.take(row) == self.begin) & (other.type.take(row) == self.type)
        return np.bincount(self.type[same], minlength=types)


@dataclass(frozen=True)
class TagTable:
    """Distinct tags, each with its position and label."""

    tags: tuple[str, ...]
    position: NDArray[np.int8]
    """The class of each tag's position."""
    type: Ints
    """The code of each tag's label."""
    types: tuple[str, ...]

    @classmethod
    def of(cls, tags: Iterable[str], positions: Sequence[str], split: Iterable[tuple[str, str]]) -> TagTable:
        """Build a table from tags, the known positions, and each tag's position and label."""
        names = LabelTable()
        pairs = list(split)
        known = {name: number for number, name in enumerate(positions)}
        position = np.array([known.get(one, len(known)) for one, _ in pairs], np.int8)
        return cls(tuple(tags), position, np.array([names[name] for _, name in pairs], np.int32), tuple(names))


def before(codes: NDArray[Number], first: int) -> NDArray[Number]:
    """Return the column moved by one row."""
    moved = np.empty_like(codes)
    moved[1:] = codes[:-1]
    moved[:1] = first
    return moved


def last_before(marks: Bools, rows: Longs) -> Longs:
    """Return the last marked row before each of these rows; 0 if there is none."""
    marked = np.flatnonzero(marks)
    place = np.searchsorted(marked, rows) - 1
    return np.where(place >= 0, marked.take(place) if marked.size else 0, 0)


def repaired_chunks(codes: Ints, table: TagTable) -> Chunks:
    """Begin a span wherever a tag does not continue one, and end it wherever it is not continued.

    >>> tags = ["O", "B-X", "I-X", "I-Y"]
    >>> table = TagTable.of(tags, POSITIONS, [("O", ""), ("B", "X"), ("I", "X"), ("I", "Y")])
    >>> found = repaired_chunks(np.array([1, 2, 3, 0, 2, 0], np.int32), table)
    >>> found.begin.tolist(), found.end.tolist(), [table.types[one] for one in found.type]
    ([0, 2, 4], [2, 3, 5], ['X', 'Y', 'X'])
    """
    outside, begins, inside, ends, _ = range(len(POSITIONS))
    position, kind = table.position.take(codes), table.type.take(codes)
    earlier = before(position, outside)
    goes_on = (earlier == begins) | (earlier == inside)
    goes_on &= ((position == inside) | (position == ends)) & (kind == before(kind, -1))
    begin = np.flatnonzero((position != outside) & ~goes_on)
    end = np.flatnonzero((earlier != outside) & ~goes_on)
    return Chunks(begin, end, kind.take(begin))


def strict_chunks(codes: Ints, table: TagTable, scheme: str) -> Chunks:
    """Keep the spans that start, go on and end as the scheme's table says."""
    position, kind = table.position.take(codes), table.type.take(codes)
    outside = table.type[table.tags.index("O")]
    pair = (before(position, 0) * np.int8(5) + position) * np.int8(2) + (kind == before(kind, outside))
    starts, inside, ends = (one.take(pair) for one in _rules(scheme))
    breaks = np.flatnonzero(~inside)
    row = np.arange(len(codes))
    run = breaks.take(np.searchsorted(breaks, row, side="right") - 1)
    marked = np.flatnonzero(starts)
    last = np.full(len(codes), -1) if not marked.size else _last_or(marked, row)
    active = last >= run  # a span has begun since the last tag that does not continue its neighbour
    first = starts & ~(inside & _before_flag(active))
    end = breaks[breaks > 0]
    end = end[active.take(end - 1) & ends.take(end)]
    begin = last_before(first, end)
    return Chunks(begin, end, kind.take(begin))


def _last_or(marked: Longs, row: Longs) -> Longs:
    place = np.searchsorted(marked, row, side="right") - 1
    return np.where(place >= 0, marked.take(place), -1)


def _before_flag(flags: Bools) -> Bools:
    moved = np.empty_like(flags)
    moved[1:], moved[:1] = flags[:-1], False
    return moved


@cache
def _rules(scheme: str) -> tuple[Bools, Bools, Bools]:
    """Return where spans start, continue and end, by position before, position, and whether labels are the same."""
    table = SCHEMES[scheme]
    pairs = [(Tag(a, "x"), Tag(b, "x" if same else "y")) for a in POSITIONS for b in POSITIONS for same in (0, 1)]
    return (
        np.array([table.starts_span(*pair) for pair in pairs]),
        np.array([table.continues_span(*pair) for pair in pairs]),
        np.array([table.ends_span(*pair) for pair in pairs]),
    )
