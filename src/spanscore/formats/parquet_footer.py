"""The column chunks of a Parquet file, read from its footer.

pyarrow ends the whole process if it is asked about a chunk whose statistics are damaged (seen with 26.0).
"""

from __future__ import annotations

import struct
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

ROW_GROUPS, COLUMNS, CHUNK = 4, 1, 3
VALUES, DATA_PAGE, DICTIONARY_PAGE = 5, 9, 11
"""Numbers of fields in the footer's structures."""


class Chunk(NamedTuple):
    """The values of a column in a row group: how many there are, and where its first page begins."""

    values: int
    begins: int


def chunks(file: IO[bytes]) -> list[list[Chunk]]:
    """Return the column chunks of each row group; a damaged footer is an OSError."""
    try:
        file.seek(-8, 2)
        size = struct.unpack("<I4x", file.read(8))[0]
        file.seek(-8 - size, 2)
        footer = _Compact(file.read(size)).structure()
        groups = [_of(list, _of(dict, group)[COLUMNS]) for group in _of(list, footer.get(ROW_GROUPS, []))]
        return [[_chunk(_of(dict, _of(dict, column)[CHUNK])) for column in group] for group in groups]
    except (struct.error, IndexError, KeyError, TypeError, ValueError, RecursionError):
        raise OSError("its footer cannot be read") from None


def _chunk(fields: dict[int, Any]) -> Chunk:
    begins = [_of(int, fields[field]) for field in (DATA_PAGE, DICTIONARY_PAGE) if field in fields]
    return Chunk(max(0, _of(int, fields[VALUES])), max(0, min(begins)))


def _of(kind: type[T], value: object) -> T:
    """Return a value, which must be of this type."""
    if not isinstance(value, kind):
        raise TypeError(f"expected {kind.__name__}, not {type(value).__name__}")
    return value


class _Compact:
    """Values in Thrift's compact form, which are only as deep and as many as the data says."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0
        self._read: dict[int, Callable[[], Any]] = {
            1: lambda: True,
            2: lambda: False,
            3: self._byte,
            **dict.fromkeys((4, 5, 6), self._integer),
            7: lambda: self._bytes(8),
            8: lambda: self._bytes(self._number()),
            9: self._list,
            10: self._list,
            12: self.structure,
        }

    def structure(self) -> dict[int, Any]:
        """Return the fields of a structure by number."""
        found: dict[int, Any] = {}
        number = 0
        while kind := self._byte():
            number = number + (kind >> 4) if kind >> 4 else self._integer()
            found[number] = self._read[kind & 15]()
        return found

    def _list(self) -> list[Any]:
        kind = self._byte()
        size = self._number() if kind >> 4 == 15 else kind >> 4
        if size > len(self._data):  # each item takes a byte
            raise ValueError("the list is longer than the data")
        read = self._byte if kind & 15 in (1, 2) else self._read[kind & 15]
        return [read() for _ in range(size)]

    def _byte(self) -> int:
        found = self._data[self._at]
        self._at += 1
        return found

    def _bytes(self, size: int) -> bytes:
        found = self._data[self._at : self._at + size]
        if len(found) < size:
            raise ValueError("the data ends early")
        self._at += size
        return found

    def _number(self) -> int:
        number = shift = 0
        while (byte := self._byte()) & 0x80:
            number, shift = number | (byte & 0x7F) << shift, shift + 7
            if shift > 63:
                raise ValueError("the number is too long")
        return number | byte << shift

    def _integer(self) -> int:
        number = self._number()
        return number >> 1 ^ -(number & 1)
