"""String columns: UTF-8 bytes in one buffer, decoded only when a string is accessed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import blake2b
from io import BytesIO
from itertools import accumulate
from typing import Any, Generic, TypeVar, cast, overload

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from spanscore.corpus.columns import Bools, Longs, Words, mixed, odd_numbers, ranges

LONGEST_KEY = 256
"""Characters of a text that is its own key."""

S = TypeVar("S", bound=str | None, covariant=True)


@dataclass(frozen=True, eq=False, repr=False)
class Strings(Sequence[S], Generic[S]):
    """A column of strings, stored as UTF-8 in one buffer and decoded on access.

    String i is `buffer[begin[i]:end[i]]`, or None if `missing[i]`. The buffer may hold other bytes between the strings,
    so it can be the raw contents of a file.

    >>> names = Strings.of(["Zoë", None, "Ann"])
    >>> names, names[0], names.lengths.tolist()
    (Strings('Zoë', None, 'Ann'), 'Zoë', [3, -1, 3])
    """

    buffer: bytes
    begin: Longs
    end: Longs
    missing: Bools | None = None

    @classmethod
    def of(cls, strings: Iterable[S]) -> Strings[S]:
        """Return a column of these strings."""
        if isinstance(strings, Strings):
            return strings
        given = list(strings)
        missing = None
        if None in given:
            missing = np.array([one is None for one in given])
        texts = cast("list[str]", given if missing is None else [one or "" for one in given])
        whole = "".join(texts)
        encoded = texts if whole.isascii() else list(map(_utf8, texts))
        end = np.fromiter(accumulate(map(len, encoded)), np.int64, len(texts))
        return cls(_utf8(whole), np.concatenate([[0], end[:-1]])[: len(end)], end, missing)

    @classmethod
    def absent(cls, rows: int) -> Strings[None]:
        """Return a column of `rows` missing strings."""
        nothing = np.zeros(rows, np.int64)
        return Strings(b"", nothing, nothing, np.ones(rows, np.bool_))

    def __len__(self) -> int:
        return len(self.begin)

    @overload
    def __getitem__(self, index: int) -> S: ...
    @overload
    def __getitem__(self, index: slice) -> Strings[S]: ...
    def __getitem__(self, index: int | slice) -> S | Strings[S]:
        missing = None if self.missing is None else self.missing[index]
        if isinstance(index, slice):
            return self.at(self.begin[index], self.end[index], missing)
        return cast("S", None if missing else _text(self.buffer[self.begin[index] : self.end[index]]))

    def __iter__(self) -> Iterator[S]:
        return iter(self.tolist())

    def __contains__(self, value: object) -> bool:
        if value is None:
            return self.missing is not None and bool(self.missing.any())
        return value in self.tolist()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Strings):
            return isinstance(other, list | tuple) and len(self) == len(other) and self.tolist() == list(other)
        if self is other:
            return True
        if len(self) != len(other) or ((self.end - self.begin) != (other.end - other.begin)).any():
            return False
        if (self.missing is not None or other.missing is not None) and (self._absent != other._absent).any():
            return False
        return self.packed.buffer == other.packed.buffer

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Strings({', '.join(map(repr, self))})"

    def __reduce__(self) -> tuple[Any, ...]:
        packed = self.packed
        return Strings, (packed.buffer, packed.begin, packed.end, packed.missing)

    def tolist(self) -> list[S]:
        """Return all strings as a list."""
        if self.missing is None and self.ascii and self._solid:
            whole = self._whole.decode()
            low = self.begin[0] if len(self) else 0
            places = map(slice, (self.begin - low).tolist(), (self.end - low).tolist())
            return cast("list[S]", list(map(whole.__getitem__, places)))
        strings = map(_text, self._pieces())
        if self.missing is None:
            return cast("list[S]", list(strings))
        return cast("list[S]", [None if no else one for one, no in zip(strings, self.missing.tolist(), strict=True)])

    def take(self, rows: NDArray[Any]) -> Strings[Any]:
        """Return the strings in these rows; a row of -1 gives a missing string."""
        absent = rows < 0
        if self.missing is not None and len(self):
            absent = absent | self.missing[rows]
        if not len(self):
            nothing = np.zeros(len(rows), np.int64)
            return self.at(nothing, nothing, absent)
        begin, end = self.begin[rows], self.end[rows]
        if not absent.any():
            return self.at(begin, end, None)
        return self.at(begin, np.where(absent, begin, end), absent)

    def at(self, begin: Longs, end: Longs, missing: Bools | None = None) -> Strings[Any]:
        """Return other strings in the same buffer, without checking the buffer for non-ASCII bytes again."""
        strings: Strings[Any] = Strings(self.buffer, begin, end, missing)
        strings.__dict__["ascii"] = self.ascii
        return strings

    @property
    def present(self) -> int:
        """Number of strings that are not missing."""
        return len(self) if self.missing is None else int(np.count_nonzero(~self.missing))

    @staticmethod
    def concat(parts: Sequence[Strings[S]]) -> Strings[S]:
        """Concatenate columns."""
        buffer = b"".join(part._joined() for part in parts)
        end = np.cumsum(np.concatenate([np.zeros(1, np.int64), *(part.end - part.begin for part in parts)]))
        missing = None
        if any(part.missing is not None for part in parts):
            missing = np.concatenate([part._absent for part in parts])
        return Strings(buffer, end[:-1], end[1:], missing)

    def find(self, strings: Strings[S]) -> Longs:
        """Return the row of each of these strings in this column, or -1; the column must have no duplicates.

        >>> Strings.of(["a", "b"]).find(Strings.of(["b", "c"])).tolist()
        [1, -1]
        """
        if not len(self):
            return np.full(len(strings), -1)
        order, known = self._by_mark
        rows = order[np.minimum(np.searchsorted(known, strings.marks), len(order) - 1)]
        rows[self.marks[rows] != strings.marks] = -1
        found = rows >= 0
        if self.take(rows[found]) != strings.take(np.flatnonzero(found)):  # hash collision
            place = {name: row for row, name in enumerate(self)}
            return np.array([place.get(name, -1) for name in strings], np.int64)
        return rows

    def repeated(self) -> S | None:
        """Return a string that occurs more than once, or None."""
        marks = np.sort(self.marks)
        if not (marks[1:] == marks[:-1]).any():
            return None
        order, known = self._by_mark
        again = np.flatnonzero(known[1:] == known[:-1])
        seen: set[S] = set()
        alike = self.take(np.sort(np.concatenate([order[again], order[again + 1]]))).tolist() if len(again) else []
        return next((name for name in alike if name in seen or seen.add(name)), None)  # type: ignore[func-returns-value]

    @cached_property
    def _by_mark(self) -> tuple[Longs, Words]:
        """Rows sorted by mark, and the sorted marks."""
        order = np.argsort(self.marks)
        return order, self.marks[order]

    @property
    def packed(self) -> Strings[S]:
        """The same strings, contiguous and with nothing else in the buffer."""
        return self if self._solid and len(self.buffer) == self._size else self._copy

    @cached_property
    def _copy(self) -> Strings[S]:
        end = np.cumsum(self.end - self.begin)
        copy: Strings[S] = Strings(self._joined(), end - (self.end - self.begin), end, self.missing)
        copy.__dict__.update({known: self.__dict__[known] for known in ("marks", "lengths") if known in self.__dict__})
        return copy

    @cached_property
    def ascii(self) -> bool:
        """Whether the whole buffer is ASCII."""
        return self.buffer.isascii()

    @cached_property
    def lengths(self) -> Longs:
        """Length of each string in code points, or -1 if it is missing."""
        if self.ascii:
            length = self.end - self.begin
        else:
            packed = self.packed
            points = np.concatenate([[0], np.cumsum((np.frombuffer(packed.buffer, np.uint8) & 0xC0) != 0x80)])
            length = points[packed.end] - points[packed.begin]
        return length if self.missing is None else np.where(self.missing, -1, length)

    @cached_property
    def hashes(self) -> Words:
        """64-bit XXH3 hash of each string, or 0 if it is missing: the fastest hash of long strings."""
        hashes = np.fromiter(map(xxh3_64_intdigest, self._pieces()), np.uint64, len(self))
        return hashes if self.missing is None else np.where(self.missing, np.uint64(0), hashes)

    @cached_property
    def marks(self) -> Words:
        """64-bit hash of each string, computed for all at once: the fastest hash of short strings, such as ids."""
        words, counts = self._words, self._counts
        place = ranges(np.zeros(len(counts), np.int64), counts)
        weights = _weights(int(counts.max(initial=0)) + 1)
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed(words) * weights[place + 1], dtype=np.uint64)])
        last = np.cumsum(counts)
        length = (self.end - self.begin).astype(np.uint64)
        return mixed(sums[last] - sums[last - counts] + length * weights[0])

    def valid(self) -> bool:
        """Return whether all strings are valid UTF-8."""
        try:
            for piece in () if self.ascii else self._pieces():
                piece.decode()
        except UnicodeDecodeError:
            return False
        return True

    @property
    def _counts(self) -> Longs:
        """Number of 8-byte words that each string takes."""
        counts: Longs = (self.end - self.begin + 7) >> 3
        return counts

    @cached_property
    def _words(self) -> Words:
        """The bytes of the strings as 8-byte words; each string's last word is padded with zeros."""
        counts = self._counts
        at = ranges(self.begin, counts) if len(counts) else np.zeros(0, np.int64)
        if not len(at):
            return np.zeros(0, np.uint64)
        at += 7 * ranges(np.zeros(len(counts), np.int64), counts)
        buffer = self.buffer.ljust(8, b"\0")
        shift = np.maximum(at - (len(buffer) - 8), 0)
        words = words_at(buffer, at - shift, 1)[:, 0] >> (shift << 3).astype(np.uint64)
        last = np.cumsum(counts)[counts > 0] - 1
        spare = (-(self.end - self.begin)[counts > 0]) & 7
        words[last] &= np.uint64(0xFFFFFFFFFFFFFFFF) >> (spare << 3).astype(np.uint64)
        return words

    @property
    def _absent(self) -> Bools:
        return np.zeros(len(self), np.bool_) if self.missing is None else self.missing

    @cached_property
    def _solid(self) -> bool:
        """Whether the strings are contiguous in the buffer."""
        return bool((self.begin[1:] == self.end[:-1]).all())

    @property
    def _size(self) -> int:
        return int((self.end - self.begin).sum())

    @property
    def _whole(self) -> bytes:
        """The bytes of all strings, if they are contiguous."""
        return self.buffer[self.begin[0] : self.end[-1]] if len(self) else b""

    def _joined(self) -> bytes:
        """Return the bytes of all strings, concatenated."""
        if self._solid:
            return self._whole
        length = self.end - self.begin
        longest = int(length.max(initial=0))
        if not 0 < longest <= _SHORT or int(self.begin.max()) + longest > len(self.buffer):
            return b"".join(self._pieces())
        letters = _bytes_at(self.buffer, self.begin, longest).view(np.uint8)
        if (length < longest).any():
            letters = letters.compress((np.arange(longest) < length[:, None]).ravel())
        return letters.tobytes()

    def _pieces(self) -> Iterator[bytes]:
        """Iterate over the bytes of each string."""
        if self._solid:
            return map(BytesIO(self._whole).read, (self.end - self.begin).tolist())
        return map(self.buffer.__getitem__, map(slice, self.begin.tolist(), self.end.tolist()))


_SHORT = 64
"""Maximum length in bytes up to which strings are gathered in one vectorized step rather than one by one."""


def short_key(text: str) -> str:
    """Return a text as a key; of a long one, only its begin and a hash, so that many nested ones fit in memory.

    >>> short_key("Ann Lee"), short_key("a" * 10_000) == short_key("a" * 9999), len(short_key("a" * 10_000))
    ('Ann Lee', False, 257)
    """
    if len(text) <= LONGEST_KEY:
        return text
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=28).hexdigest()
    return f"{text[: LONGEST_KEY - len(digest)]}\0{digest}"


def words_at(buffer: bytes, at: Longs, words: int) -> Words:
    """Return the 8-byte words that start at each byte offset, one row of `words` words per offset."""
    return _bytes_at(buffer, at, 8 * words).view("<u8").reshape(len(at), words)


def _bytes_at(buffer: bytes, at: Longs, size: int) -> NDArray[np.void]:
    """Return the `size` bytes that start at each byte offset."""
    everywhere: NDArray[np.void] = np.ndarray((len(buffer) - size + 1,), f"V{size}", buffer, strides=(1,))
    return everywhere[at]


def _text(encoded: bytes) -> str:
    return encoded.decode("utf-8", "surrogatepass")


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


@cache
def _weights(count: int) -> Words:
    """Return at least `count` pseudorandom odd numbers, the same on every call."""
    return odd_numbers(max(count, 64))
