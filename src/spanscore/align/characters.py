"""Texts of a block of documents as one array of code points, for vectorized work on single characters."""

from __future__ import annotations

import unicodedata
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spanscore.corpus.columns import ranges
from spanscore.corpus.strings import Strings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Bools, Ints, Longs

    Cut = Callable[[NDArray[Any]], Bools]
    """Decides about code points."""

WHITE, WORD, OTHER = range(3)
"""Character classes of a tokenizer: whitespace, part of a word, or a token by itself."""
SPACE, PUNCTUATION, READABLE = range(3)
"""Character classes of a reader: whitespace, punctuation, or something that tells something."""
_PAGE = 256


class _Classes:
    """The class of every code point, computed page by page on demand."""

    def __init__(self, classify: Callable[[str], int]) -> None:
        self._classify = classify
        self._table = np.full(0x110000, 255, np.uint8)

    def of(self, codes: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the classes of these code points."""
        found: NDArray[np.uint8] = self._table.take(codes)
        if found.max(initial=0) < 255:
            return found
        for page in np.flatnonzero(np.bincount(codes >> 8)).tolist():
            first = page * _PAGE
            if self._table[first] == 255:
                self._table[first : first + _PAGE] = [self._classify(chr(first + i)) for i in range(_PAGE)]
        known: NDArray[np.uint8] = self._table.take(codes)
        return known


def _reading_class(letter: str) -> int:
    """Return the class of a character; punctuation includes the symbols of ASCII and their relatives, but no emoji."""
    if letter.isspace():
        return SPACE
    kind = unicodedata.category(letter)
    return PUNCTUATION if kind[0] in "PZ" or kind in ("Sc", "Sk", "Sm") else READABLE


_kinds_of = _Classes(lambda c: WHITE if c.isspace() else WORD if c.isalnum() or c == "_" else OTHER).of
"""The classes of code points, consistent with the regular expressions `\\s` and `\\w`."""
_reading_classes = _Classes(_reading_class)


def white_space(codes: NDArray[Any]) -> Bools:
    """Return which code points are whitespace."""
    found: Bools = _kinds_of(codes) == WHITE
    return found


def not_word(codes: NDArray[Any]) -> Bools:
    """Return which code points are no part of a word: those that the regular expression `\\W` matches."""
    found: Bools = _kinds_of(codes) != WORD
    return found


def not_alphanumeric(codes: NDArray[Any]) -> Bools:
    """Return which code points are neither letters nor digits, as `str.isalnum` decides."""
    found: Bools = not_word(codes) | (codes == ord("_"))
    return found


def not_plain(codes: NDArray[Any]) -> Bools:
    """Return which code points are neither letters nor digits of ASCII."""
    found: Bools = not_alphanumeric(codes) | (codes >= 128)
    return found


class Letters:
    """Code points of many texts, concatenated."""

    def __init__(self, strings: Iterable[str | None]) -> None:
        self.strings = Strings.of(strings)

    def __bool__(self) -> bool:
        """Return whether any document has a text."""
        return self.strings.present > 0

    @cached_property
    def complete(self) -> bool:
        """Whether every document has a text."""
        return None not in self.strings

    @classmethod
    def of(cls, gold: Corpus, pred: Corpus) -> Letters:
        """Return the texts of the documents, from whichever of the two corpora has them."""
        if gold.text is None or pred.text is None or None not in gold.text:
            having = gold.text if gold.text is not None else pred.text
            return cls(Strings.absent(len(gold)) if having is None else having)
        return cls(theirs if ours is None else ours for ours, theirs in zip(gold.text, pred.text, strict=True))

    @cached_property
    def _in_place(self) -> tuple[NDArray[Any], Longs]:
        """Code points and the position where each text starts, without copying ASCII text out of its buffer."""
        strings = self.strings
        return (np.frombuffer(strings.buffer, np.uint8), strings.begin) if strings.ascii else (self._codes, self._base)

    @cached_property
    def _codes(self) -> NDArray[Any]:
        """The code points of all texts, concatenated."""
        encoded = self.strings.packed.buffer
        if self.strings.ascii:
            return np.frombuffer(encoded, np.uint8)
        whole = encoded.decode("utf-8", "surrogatepass")
        try:
            return np.frombuffer(whole.encode("latin-1"), np.uint8)
        except UnicodeEncodeError:
            return np.frombuffer(whole.encode("utf-32-le", "surrogatepass"), np.uint32)

    @cached_property
    def _kinds(self) -> NDArray[np.uint8]:
        return _kinds_of(self._codes)

    def _cuts(self, at: Cut) -> tuple[Longs, Longs]:
        """Positions of some characters (plus the end of the text), and the number of them before each position."""
        known: dict[Cut, tuple[Longs, Longs]] = self.__dict__.setdefault("_known_cuts", {})
        if at not in known:
            found = at(self._codes)
            before = np.zeros(len(found) + 1, np.int64)
            np.cumsum(found, out=before[1:])
            known[at] = np.append(np.flatnonzero(found), len(found)), before
        return known[at]

    @cached_property
    def _base(self) -> Longs:
        """Position in the code points where each text starts, plus the end of the last one."""
        return np.concatenate([[0], np.cumsum(np.maximum(self.strings.lengths, 0))])

    def places(self, doc: Ints, at: Ints | Longs) -> tuple[NDArray[Any], Longs]:
        """Return the code points of all texts, and the position of each offset among them."""
        codes, base = self._in_place
        return codes, base.take(doc) + at

    def white(self, doc: Ints, at: Ints | Longs) -> Bools:
        """Return whether the character at each offset is whitespace; the offsets must be inside the text."""
        codes, base = self._in_place
        if not len(codes):
            return np.zeros(len(doc), np.bool_)
        letters = codes.take(base.take(doc) + at, mode="clip")
        if self.strings.ascii and not (letters <= ord(" ")).any():
            return np.zeros(len(doc), np.bool_)
        found: Bools = _kinds_of(letters) == WHITE
        return found if self.strings.missing is None else found & ~self.strings.missing.take(doc)

    def find(self, letter: str) -> tuple[Longs, Longs]:
        """Return the document and offset of every occurrence of a letter that is not ASCII.

        >>> [column.tolist() for column in Letters(["a", "", "bé"]).find("é")]
        [[2], [1]]
        """
        at = np.zeros(0, np.int64) if self.strings.ascii else np.flatnonzero(self._codes == ord(letter))
        doc = np.searchsorted(self._base, at, "right") - 1
        return doc, at - self._base[doc]

    def stripped(self, doc: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints]:
        """Return the offsets of each token without the whitespace at its edges, of which most tokens have none.

        >>> places = np.array([[0, 0], [0, 1], [1, 6]], np.int32)
        >>> [column.tolist() for column in Letters(["a \\n b "]).stripped(*places)]
        [[0, 4], [1, 5]]
        """
        rows = np.flatnonzero(start < end)
        edges = self.white(doc[rows], start[rows]) | self.white(doc[rows], end[rows] - 1)
        start, end = start.copy(), end.copy()
        for row in rows[edges].tolist():
            token = (self.strings[int(doc[row])] or "")[start[row] : end[row]]
            start[row] += len(token) - len(token.lstrip())
            end[row] = start[row] + len(token.strip())
        return start, end

    def tokens(self, *, words: bool) -> tuple[Longs, Longs, Longs]:
        """Return the documents, starts and ends of all tokens.

        With `words`, tokens are runs of word characters and single other characters; without, runs of non-whitespace.

        >>> [column.tolist() for column in Letters(["a, b_2"]).tokens(words=True)]
        [[0, 0, 0], [0, 1, 3], [1, 2, 6]]
        """
        kinds = self._kinds
        inside = kinds == WORD if words else kinds != WHITE
        edge = np.zeros(len(kinds) + 1, np.bool_)
        edge[self._base] = True
        edge[1:-1] |= inside[1:] != inside[:-1]
        begins, ends = inside & edge[:-1], inside & edge[1:]
        if words:
            alone = kinds == OTHER
            begins |= alone
            ends |= alone
        start = np.flatnonzero(begins)
        doc = np.repeat(np.arange(len(self.strings)), np.diff(np.searchsorted(start, self._base)))
        return doc, start - self._base[doc], np.flatnonzero(ends) + 1 - self._base[doc]

    def pieces(
        self, doc: Ints, start: Ints | Longs, end: Ints | Longs, at: Cut = white_space
    ) -> tuple[Longs, Longs, Longs]:
        """Split text ranges at whitespace, or at other characters.

        Return the index of the range, the start and the end of each piece. All documents must have a text.

        >>> zero = np.zeros(1, np.int32)
        >>> [column.tolist() for column in Letters(["Ann \\t Bob"]).pieces(zero, zero + 1, zero + 8)]
        [[0, 0], [1, 6], [3, 8]]
        >>> [column.tolist() for column in Letters(["O'Neill, A."]).pieces(zero, zero, zero + 11, not_word)]
        [[0, 0, 0], [0, 2, 9], [1, 7, 10]]
        """
        base = self._base.take(doc)
        low, high = base + start, base + end
        places, before = self._cuts(at)
        first = before.take(low)
        counts = before.take(high) - first + 1
        finish = places.take(ranges(first, counts))
        begin = np.empty_like(finish)
        begin[1:] = finish[:-1] + 1
        last = np.cumsum(counts) - 1
        begin[last - counts + 1], finish[last] = low, high
        row = np.repeat(np.arange(len(doc)), counts)
        solid = np.flatnonzero(begin < finish)
        row, offset = row.take(solid), base.repeat(counts).take(solid)
        return row, begin.take(solid) - offset, finish.take(solid) - offset

    def all_pieces(self, at: Cut) -> tuple[Longs, Longs, Longs]:
        """Split all texts; return the document, the start and the end of each piece."""
        lengths = np.diff(self._base)
        return self.pieces(np.arange(len(lengths), dtype=np.int32), np.zeros_like(lengths), lengths, at)

    def count(self, doc: Ints, start: Ints | Longs, end: Ints | Longs, at: Cut) -> Longs:
        """Count some characters in each text range; without a text, there are none.

        >>> zero = np.zeros(1, np.int32)
        >>> Letters(["A. B_c"]).count(zero, zero, zero + 6, not_alphanumeric).tolist()
        [3]
        """
        base, before = self._base[doc], self._cuts(at)[1]
        counts: Longs = before.take(base + end, mode="clip") - before.take(base + start, mode="clip")
        return counts if self.strings.missing is None else np.where(self.strings.missing.take(doc), 0, counts)

    def blank(self, doc: Ints, start: Ints, end: Ints) -> Bools:
        """Return whether each text range is all whitespace; looking at its edges is nearly always enough.

        >>> zeros, ends = np.zeros(2, np.int32), np.array([7, 3], np.int32)
        >>> Letters(["Ann \\t Bob"]).blank(zeros, np.array([3, 2], np.int32), ends).tolist()
        [False, False]
        >>> Letters(["Ann \\t Bob"]).blank(zeros, np.array([3, 3], np.int32), np.array([6, 3], np.int32)).tolist()
        [True, False]
        """
        rows = np.flatnonzero(start < end)
        for step in (0, 1):
            rows = rows[self.white(doc[rows], np.minimum(start[rows] + step, end[rows] - 1))]
            rows = rows[self.white(doc[rows], np.maximum(end[rows] - 1 - step, start[rows]))]
        found = np.zeros(len(doc), np.bool_)
        found[rows] = True
        rows = rows[end[rows] - start[rows] > 4]
        if len(rows):
            inside = (end[rows] - start[rows]).astype(np.int64) - 4
            number = np.repeat(np.arange(len(rows)), inside)
            white = self.white(doc[rows][number], ranges(start[rows] + 2, inside))
            found[rows] = np.bincount(number[white], minlength=len(rows)) == inside
        return found

    def readable(self, doc: Ints, start: Ints | Longs, end: Ints | Longs, ignored: int) -> Longs:
        """Count the characters of each text range whose reading class is above `ignored` (-1: count all).

        Without a text, every character counts.

        >>> zero = np.zeros(1, np.int32)
        >>> [Letters(["Dr. Ana,"]).readable(zero, zero, zero + 8, kind).tolist() for kind in (-1, SPACE, PUNCTUATION)]
        [[8], [7], [5]]
        """
        length = (end - start).astype(np.int64)
        codes, base = self._in_place
        if ignored < 0 or not len(codes):
            return length
        total = int(length.sum())
        if total > max(2 * len(codes), 1 << 16):  # ranges that overlap each other much: look at each character once
            flags = _reading_classes.of(codes) > ignored
            low = base.take(doc) + start
            before = np.zeros(len(codes) + 1, np.int64)
            np.cumsum(flags, out=before[1:])
            counts: Longs = before.take(low + length, mode="clip") - before.take(low, mode="clip")
        else:
            flags = _reading_classes.of(codes.take(ranges(base.take(doc) + start, length), mode="clip")) > ignored
            before = np.zeros(total + 1, np.int64)
            np.cumsum(flags, out=before[1:])
            last = np.cumsum(length)
            counts = before.take(last) - before.take(last - length)
        return counts if self.strings.missing is None else np.where(self.strings.missing.take(doc), length, counts)

    def trimmed(self, doc: Ints, start: Longs, end: Longs, ignored: int) -> tuple[Longs, Longs]:
        """Return text ranges without the characters at their ends whose reading class is at most `ignored`.

        A range that has only such characters becomes empty.

        >>> zero = np.zeros(1, np.int64)
        >>> [column.tolist() for column in Letters(["(Dr. Ana), MD"]).trimmed(zero, zero, zero + 10, PUNCTUATION)]
        [[1], [8]]
        """
        codes, base = self._in_place
        if not len(codes):
            return start, end
        length = end - start
        if int(length.sum()) > len(codes):  # ranges that overlap each other: look at each character once
            place, first = np.flatnonzero(_reading_classes.of(codes) > ignored), base.take(doc) + start
        else:
            at = ranges(base.take(doc) + start, length)
            place = np.flatnonzero(_reading_classes.of(codes.take(at, mode="clip")) > ignored)
            first = np.cumsum(length) - length
        low, high = np.searchsorted(place, first), np.searchsorted(place, first + length)
        place = np.append(place, 0)
        some = low < high
        begin = np.where(some, start + place[low] - first, start)
        finish = np.where(some, start + place[high - 1] + 1 - first, start)
        if self.strings.missing is None:
            return begin, finish
        missing = self.strings.missing.take(doc)
        return np.where(missing, start, begin), np.where(missing, end, finish)
