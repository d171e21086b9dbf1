"""Numeric and dictionary-encoded columns, and the array types used throughout the package."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from spanscore.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Words = NDArray[np.uint64]

MANY_CELLS = 50_000_000
"""Number of cells from which on columns may not be nearly empty; a cell takes 4 bytes."""
MOST_CELLS_PER_VALUE = 100
"""Maximum number of cells for each value in them, if there are many cells."""


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Make an array read-only and return it."""
    array.setflags(write=False)
    return array


def ranges(low: NDArray[Any], counts: NDArray[Any]) -> Longs:
    """Return the ranges `low[i] ... low[i] + counts[i] - 1`, concatenated.

    >>> ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    if counts.min(initial=1) < 1:
        some = np.flatnonzero(counts)
        low, counts = low.take(some), counts.take(some)
    if not len(counts):
        return np.zeros(0, np.int64)
    low, counts = low.astype(np.int64, copy=False), counts.astype(np.int64, copy=False)
    ends = np.cumsum(counts)
    numbers = np.ones(ends[-1], np.int64)  # the steps from one number to the next
    numbers[0] = low[0]
    numbers[ends[:-1]] = low[1:] - (low + counts - 1)[:-1]
    np.cumsum(numbers, out=numbers)
    return numbers


def unclaimed(low: NDArray[Any], counts: NDArray[Any]) -> tuple[Longs, Longs]:
    """Cut from ranges, whose beginnings ascend, what an earlier one has: each number stays with the first that has it.

    >>> [part.tolist() for part in unclaimed(np.array([0, 2, 2, 7]), np.array([4, 5, 1, 2]))]
    [[0, 4, 7, 7], [4, 3, 0, 2]]
    """
    high = low + counts
    reached = np.maximum.accumulate(np.concatenate([[0], high]))[:-1]
    first = np.maximum(low, reached)
    return first, np.maximum(high - first, 0)


def pieces(sizes: NDArray[Any], limit: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows, each of which adds up to at most this limit, or is a single row.

    >>> list(pieces(np.array([3, 3, 9, 1, 1]), 6))
    [(0, 2), (2, 3), (3, 5)]
    """
    total = np.cumsum(sizes)
    first = 0
    while first < len(sizes):
        before = int(total[first - 1]) if first else 0
        last = max(int(np.searchsorted(total, before + limit, side="right")), first + 1)
        yield first, last
        first = last


@dataclass(frozen=True, eq=False)
class Column:
    """A dictionary-encoded column: row i holds `values[codes[i]]`, or None if the code is -1."""

    codes: Ints
    values: tuple[Any, ...]

    @classmethod
    def of(cls, rows: Sequence[Any]) -> Self:
        """Return a column of these values; 1, 1.0 and True stay distinct.

        >>> Column.of(["en", None, "de", "en"]).tolist()
        ['en', None, 'de', 'en']
        """
        seen: dict[tuple[type, Any], tuple[int, Any]] = {}
        codes = [-1 if row is None else seen.setdefault(_identity(row), (len(seen), row))[0] for row in rows]
        return cls(frozen(np.array(codes, np.int32)), tuple(value for _, value in seen.values()))

    @classmethod
    def sparse(cls, values: Sequence[Any], places: Sequence[int], rows: int) -> Self:
        """Return a column with these values in these rows, and None in all others."""
        found = cls.of(values)
        if len(places) == rows:
            return found
        codes = np.full(rows, -1, np.int32)
        codes[np.fromiter(places, np.int64, len(places))] = found.codes
        return cls(frozen(codes), found.values)

    def take(self, rows: NDArray[Any] | slice) -> Column:
        """Return a column of these rows."""
        return Column(frozen(self.codes[rows]), self.values)

    def tolist(self) -> list[Any]:
        """Return the value of each row."""
        return [None if code < 0 else self.values[code] for code in self.codes.tolist()]

    @staticmethod
    def concat(parts: Sequence[tuple[Column | None, int]]) -> Column:
        """Concatenate (column, number of rows) pairs; a column of None stands for rows without a value."""
        seen: dict[tuple[type, Any], tuple[int, Any]] = {}
        pieces = []
        for part, rows in parts:
            if part is None:
                pieces.append(np.full(rows, -1, np.int32))
                continue
            recoded = [seen.setdefault(_identity(value), (len(seen), value))[0] for value in part.values]
            pieces.append(np.array([*recoded, -1], np.int32)[part.codes])
        return Column(frozen(np.concatenate(pieces)), tuple(value for _, value in seen.values()))


def refuse_sparse(columns: int, rows: int, filled: int, where: str = "") -> None:
    """Refuse columns of which nearly all cells would be empty.

    Whoever writes data into the names of fields, such as a field per document, would fill the memory with empty cells.
    """
    cells = columns * rows
    if cells > MANY_CELLS and cells > MOST_CELLS_PER_VALUE * filled:
        what = f"{columns:,} different names of attributes or metadata in {rows:,} rows leave nearly all cells empty"
        raise InputError(f"{what}; put what differs into the values, and use the same names for all.", where)


def _identity(value: Any) -> tuple[type, Any]:
    """Return a key that distinguishes values that compare equal: 1, 1.0 and True, or 0.0 and -0.0."""
    return type(value), repr(value) if type(value) is float else value


def one_table(tables: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], list[Ints]]:
    """Merge tables of names: return all names, sorted, and for each table the new codes of its names.

    >>> one_table([("b",), ("a", "b")])
    (('a', 'b'), [array([1], dtype=int32), array([0, 1], dtype=int32)])
    """
    names = tuple(sorted({name for table in tables for name in table}))
    place = {name: code for code, name in enumerate(names)}
    return names, [np.array([place[name] for name in table] or [0], np.int32) for table in tables]


def mixed(x: Words) -> Words:
    """Hash 64-bit integers with a bijection in which every input bit affects every output bit (SplitMix64)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def odd_numbers(count: int) -> Words:
    """Return pseudorandom odd numbers, the same ones everywhere and with every version of NumPy (SplitMix64)."""
    return mixed(np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)) | np.uint64(1)
