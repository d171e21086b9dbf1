"""Vocabulary: find tokens that are words of a list, in any case, without cutting every token out of its text."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spanscore.align.characters import Letters
    from spanscore.corpus.columns import Bools, Ints, Longs

_WIDTH = 32
"""Longest token that is compared as an array; longer ones are rare and are looked up one by one."""
_OTHER = 128
"""Stands for every character that is not ASCII, and for NUL, which pads shorter words."""
_FOLDED = np.array([_OTHER, *(ord(chr(code).lower()) for code in range(1, _OTHER)), _OTHER], np.uint8)
_DOT = "\N{COMBINING DOT ABOVE}"
"""`İ` is the one character whose lower case is longer: i with this dot."""


class Vocabulary:
    """A set of words that tokens are compared with, in lower case."""

    def __init__(self, words: frozenset[str]) -> None:
        self._words = words
        self._longest = max(map(len, words), default=0)
        short = [word for word in words if 0 < len(word) <= _WIDTH]
        plain = sorted(word.encode() for word in short if word.isascii() and "\0" not in word)
        self._plain = np.array(plain or [b""], f"S{_WIDTH}")
        self._lengths = np.array([len(word) for word in plain] or [0])
        shape = (_WIDTH + 1, _OTHER + 1, _OTHER + 1)
        self._possible = np.full(shape, any(_DOT in word for word in words))
        """Whether a word has this length, first and last character; nearly all tokens that are no words fail this."""
        self._possible[:, _OTHER] = self._possible[:, :, _OTHER] = True
        for word in short:
            self._possible[len(word), min(ord(word[0]), _OTHER), min(ord(word[-1]), _OTHER)] = True

    def has(self, letters: Letters, doc: Ints, start: Ints | Longs, end: Ints | Longs) -> Bools:
        """Return whether each of these tokens, in lower case, is one of the words; tokens without text are not.

        >>> from spanscore.align.characters import Letters
        >>> place = np.zeros(3, np.int32), np.array([0, 4, 7]), np.array([3, 6, 11])
        >>> Vocabulary(frozenset(["the", "oslo"])).has(Letters(["THE is\\nOslo"]), *place).tolist()
        [True, False, True]
        """
        found = np.zeros(len(doc), np.bool_)
        codes, at = letters.places(doc, start)
        length = (end - start).astype(np.int64)
        if not len(codes):
            return found
        first, last = (_folded(codes.take(places, mode="clip")) for places in (at, at + length - 1))
        likely = self._possible[np.minimum(length, _WIDTH), first, last] & (length > 0) & (length <= _WIDTH)
        rows = np.flatnonzero(likely)
        if len(rows):
            found[rows] = self._compared(letters, rows, codes, at[rows], length[rows], doc, start)
        odd = np.flatnonzero((length == 0) | ((length > _WIDTH) & (length <= self._longest)))
        for row in odd.tolist():
            found[row] = self._contains(letters, int(doc[row]), int(start[row]), int(length[row]))
        return found if letters.strings.missing is None else found & ~letters.strings.missing[doc]

    def _compared(
        self, letters: Letters, rows: Longs, codes: NDArray[Any], at: Longs, length: Longs, doc: Ints, start: Any
    ) -> Bools:
        """Compare tokens as rows of characters; those that are not ASCII are looked up one by one."""
        column = np.arange(_WIDTH if (length > 16).any() else 16)
        table = _folded(codes.take(at[:, None] + column, mode="clip"))
        table[column >= length[:, None]] = 0
        words = np.zeros((len(rows), _WIDTH), np.uint8)
        words[:, : len(column)] = table
        words = words.view(f"S{_WIDTH}").ravel()
        place = np.minimum(np.searchsorted(self._plain, words), len(self._plain) - 1)
        found: Bools = (self._plain[place] == words) & (self._lengths[place] == length)
        for row in np.flatnonzero((table == _OTHER).any(axis=1)).tolist():
            token = int(rows[row])
            found[row] = self._contains(letters, int(doc[token]), int(start[token]), int(length[row]))
        return found

    def _contains(self, letters: Letters, doc: int, start: int, length: int) -> bool:
        text = letters.strings[doc]
        return text is not None and text[start : start + length].lower() in self._words


@cache
def vocabulary(words: frozenset[str]) -> Vocabulary:
    """Return the vocabulary of these words, made once."""
    return Vocabulary(words)


def _folded(codes: NDArray[Any]) -> NDArray[np.uint8]:
    return _FOLDED.take(np.minimum(codes, _OTHER))
