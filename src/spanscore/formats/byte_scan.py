"""Operations on a block of bytes, eight bytes (a word) at a time and at thousands of positions at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from spanscore.corpus.columns import Words
from spanscore.corpus.strings import Strings, words_at
from spanscore.formats.source import MARGIN, Block, places

if TYPE_CHECKING:
    from spanscore.corpus.columns import Bools, Longs

ONE = np.uint64(1)


class ByteView:
    """A block whose bytes can be read as words, at many positions at once."""

    def __init__(self, block: Block) -> None:
        self.buffer, self.end, self.breaks = block.buffer, MARGIN + block.size, block.breaks
        self._controls = block.controls
        self.bytes = np.frombuffer(self.buffer, np.uint8)
        nothing = np.zeros(0, np.int64)
        self._strings: Strings[str] = Strings(self.buffer, nothing, nothing)
        self._strings.__dict__["ascii"] = block.is_ascii

    def find(self, byte: int) -> Longs:
        """Return the positions of a byte; of several in the same eight bytes, the first."""
        return places(self.bytes == byte)[0]

    def rows(self, at: Longs, words: int) -> Words:
        """Return this many words from each position on, one row per position."""
        return words_at(self.buffer, at, words)

    def words(self, at: Longs) -> Words:
        """Return the word at each position."""
        return self.rows(at, 1)[:, 0]

    def has(self, at: Longs, literal: bytes) -> bool:
        """Return whether the literal is at every position."""
        return bool(self.read(at, literal, 0)[0].all())

    def is_plain(self, quotes: int, breaks: int) -> bool:
        """Return whether strings need no decoding: just these quotes and line breaks, no escapes, and valid UTF-8."""
        if not self._strings.ascii:
            self.buffer.decode("utf-8")
        return (
            self._controls == breaks and b"\\" not in self.buffer and np.count_nonzero(self.bytes == ord('"')) == quotes
        )

    def strings(self, begin: Longs, end: Longs, *, plain: bool) -> Strings[str]:
        """Return the strings between these positions; unless they are plain, decode them as JSON strings."""
        if plain:
            return self._strings.at(begin, end)
        quoted = map(self.buffer.__getitem__, map(slice, (begin - 1).tolist(), (end + 1).tolist()))
        return Strings.of(map(_string.decode, quoted))

    def read(self, at: Longs, literal: bytes, words: int) -> tuple[Bools, Words]:
        """Return for each position whether the literal is there, and this many words of what follows it."""
        blank = -len(literal) % 8
        ahead = (blank + len(literal)) // 8
        rows = self.rows(at - blank, ahead + words)
        spelling = bytes(blank) + literal
        fits = (rows[:, 0] >> np.uint64(8 * blank)) == np.uint64(int.from_bytes(spelling[blank:8], "little"))
        for word in range(1, ahead):
            fits &= rows[:, word] == np.uint64(int.from_bytes(spelling[8 * word : 8 * word + 8], "little"))
        return fits, rows[:, ahead:]


_string = msgspec.json.Decoder(str)


def _repeat(byte: int) -> np.uint64:
    return np.uint64(byte * 0x0101010101010101)


_HIGH = _repeat(0x80)
_LOW = _repeat(0x01)


def begins(words: Words, literal: bytes) -> Bools:
    """Return whether each word begins with these bytes."""
    begins: Bools = words << np.uint64(64 - 8 * len(literal)) == np.uint64(
        int.from_bytes(literal.rjust(8, b"\0"), "little")
    )
    return begins


def before_first(marks: Words) -> tuple[Words, Words]:
    """Return the number of bytes before the first one whose high bit is set (8 if none is), and a mask of them."""
    below = ((marks & (~marks + ONE)) >> np.uint64(7)) - ONE
    return np.bitwise_count(below).astype(np.uint64) >> np.uint64(3), below


def equal_bytes(words: Words, byte: int) -> Words:
    """Set the high bit of the bytes that equal this one; only the first set bit of a word is reliable."""
    x = words ^ _repeat(byte)
    return (x - _LOW) & ~x & _HIGH


def leading_number(words: Words) -> tuple[Words, Words]:
    """Return the number formed by the leading digits of each word, and the number of digits."""
    x = words ^ _repeat(ord("0"))
    width, _ = before_first(((x + _repeat(0x76)) | x) & _HIGH)
    x = x << (np.uint64(64) - (width << np.uint64(3)) & np.uint64(63))
    x = (x * np.uint64(2561)) >> np.uint64(8) & np.uint64(0x00FF00FF00FF00FF)
    x = (x * np.uint64(6553601)) >> np.uint64(16) & np.uint64(0x0000FFFF0000FFFF)
    return (x * np.uint64(42949672960001)) >> np.uint64(32), width


def text_width(rows: Words, after: int) -> tuple[Longs, list[Words]] | None:
    """Return the number of bytes before the byte `after`, and the words with only these; None if it is too far."""
    step, below = before_first(equal_bytes(rows[:, 0], after))
    width, words = step.astype(np.int64), [rows[:, 0] & below]
    open_ = step == 8
    for word in range(1, rows.shape[1]):
        if not open_.any():
            return width, words
        step, below = before_first(equal_bytes(rows[:, word], after))
        words.append(np.where(open_, rows[:, word] & below, 0))
        width += np.where(open_, step.astype(np.int64), 0)
        open_ &= step == 8
    return None if open_.any() else (width, words)
