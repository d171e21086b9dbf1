"""The texts of a block of documents as one array of code points, for questions about single characters."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spanscore.columns import Strings, ranges

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spanscore.columns import Bools, Ints, Longs
    from spanscore.corpus import Corpus

WHITE, WORD, OTHER = range(3)
"""What a character is to a tokenizer: white space, part of a word, or a token by itself."""
_PAGE = 256
_table = np.full(0x110000, 255, np.uint8)
"""The kind of every code point, worked out page by page as texts need them; 255: not yet."""


def _kinds_of(codes: NDArray[Any]) -> NDArray[np.uint8]:
    """The kinds of these code points, as the regular expressions `\\\\s` and `\\\\w` see them."""
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
    """Code points of many texts, laid end to end."""

    def __init__(self, strings: Iterable[str | None]) -> None:
        self.strings = Strings.of(strings)

    def __bool__(self) -> bool:
        """Whether there is any text."""
        return self.strings.present > 0

    @cached_property
    def complete(self) -> bool:
        """Whether every document has a text."""
        return None not in self.strings

    @classmethod
    def of(cls, gold: Corpus, pred: Corpus) -> Letters:
        """The texts of the same documents in two corpora, from whichever has them."""
        if gold.text is None or pred.text is None or None not in gold.text:
            having = gold.text if gold.text is not None else pred.text
            return cls(Strings.absent(len(gold)) if having is None else having)
        return cls(theirs if ours is None else ours for ours, theirs in zip(gold.text, pred.text, strict=True))

    @cached_property
    def _lying(self) -> tuple[NDArray[Any], Longs]:
        """Code points, and where each text begins among them; other things may lie between texts."""
        strings = self.strings
        return (np.frombuffer(strings.buffer, np.uint8), strings.begin) if strings.ascii else (self._codes, self._base)

    @cached_property
    def _codes(self) -> NDArray[Any]:
        """The code points of all texts, end to end."""
        spelt = self.strings.packed.buffer
        if self.strings.ascii:
            return np.frombuffer(spelt, np.uint8)
        whole = spelt.decode("utf-8", "surrogatepass")
        try:
            return np.frombuffer(whole.encode("latin-1"), np.uint8)
        except UnicodeEncodeError:
            return np.frombuffer(whole.encode("utf-32-le", "surrogatepass"), np.uint32)

    @cached_property
    def _kinds(self) -> NDArray[np.uint8]:
        return _kinds_of(self._codes)

    @cached_property
    def _white(self) -> tuple[Longs, Longs]:
        """Where the white characters are (and one place more), and how many are before each character, and in all."""
        white = self._kinds == WHITE
        before = np.zeros(len(white) + 1, np.int64)
        np.cumsum(white, out=before[1:])
        return np.append(np.flatnonzero(white), len(white)), before

    @cached_property
    def _base(self) -> Longs:
        """Where each text begins in the code points, and the last one ends."""
        return np.concatenate([[0], np.cumsum(np.maximum(self.strings.lengths, 0))])

    def white(self, doc: Ints, at: Ints | Longs) -> Bools:
        """Whether the character at each of these offsets, which are inside the text, is white space."""
        codes, base = self._lying
        if not len(codes):
            return np.zeros(len(doc), np.bool_)
        letters = codes.take(base.take(doc) + at, mode="clip")
        if self.strings.ascii and not (letters <= ord(" ")).any():
            return np.zeros(len(doc), np.bool_)
        found: Bools = _kinds_of(letters) == WHITE
        return found if self.strings.missing is None else found & ~self.strings.missing.take(doc)

    def tokens(self, *, words: bool) -> tuple[Longs, Longs, Longs]:
        """The documents, starts and ends of all tokens: runs of word characters and single others, or (not `words`)
        what white space separates.

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
        """What white space separates in each stretch of text: the number of the stretch, and where each piece is.

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
        """Whether each stretch of text is white space alone: its edges decide nearly always.

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
