"""Texts of a block of documents as one array of code points, for vectorized work on single characters."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spanscore.corpus.columns import ranges
from spanscore.corpus.strings import Strings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Bools, Ints, Longs

WHITE, WORD, OTHER = range(3)
"""Character classes of a tokenizer: whitespace, part of a word, or a token by itself."""
_PAGE = 256
_table = np.full(0x110000, 255, np.uint8)
"""Class of every code point, filled in page by page on demand; 255 means not yet known."""


def _kinds_of(codes: NDArray[Any]) -> NDArray[np.uint8]:
    """Return the classes of these code points, consistent with the regular expressions `\\\\s` and `\\\\w`."""
    found: NDArray[np.uint8] = _table.take(codes)
    if found.max(initial=0) <= OTHER:
        return found
    for page in np.flatnonzero(np.bincount(codes >> 8)).tolist():
        if _table[page * _PAGE] == 255:
            letters = (chr(code) for code in range(page * _PAGE, (page + 1) * _PAGE))
            kinds = [WHITE if c.isspace() else WORD if c.isalnum() or c == "_" else OTHER for c in letters]
            _table[page * _PAGE : (page + 1) * _PAGE] = kinds
    known: NDArray[np.uint8] = _table[codes]
    return known


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

    @cached_property
    def _white(self) -> tuple[Longs, Longs]:
        """Positions of whitespace (plus the end of the text), and the number of them before each position."""
        white = self._kinds == WHITE
        before = np.zeros(len(white) + 1, np.int64)
        np.cumsum(white, out=before[1:])
        return np.append(np.flatnonzero(white), len(white)), before

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
        """Return the offsets of each token without the white space at its edges, of which most tokens have none.

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

    def pieces(self, doc: Ints, start: Ints, end: Ints) -> tuple[Longs, Longs, Longs]:
        """Split text ranges at whitespace; return the index of the range, the start and the end of each piece.

        >>> zero = np.zeros(1, np.int32)
        >>> [column.tolist() for column in Letters(["Ann \\t Bob"]).pieces(zero, zero + 1, zero + 8)]
        [[0, 0], [1, 6], [3, 8]]
        """
        base = self._base[doc]
        low, high = base + start, base + end
        places, before = self._white
        first, counts = before[low], before[high] - before[low] + 1
        row = np.repeat(np.arange(len(doc)), counts)
        at = ranges(first, counts)
        begin, finish = places[at - 1] + 1, places[at]
        last = np.cumsum(counts) - 1
        begin[last - counts + 1], finish[last] = low, high
        solid = begin < finish
        row, begin, finish = row[solid], begin[solid], finish[solid]
        return row, begin - base[row], finish - base[row]

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
