"""Vocabulary: find tokens that are words of a list, in any case, without cutting every token out of its text."""

from __future__ import annotations

from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spanscore.align.characters import Letters
    from spanscore.corpus.columns import Bools, Ints, Longs, Words

_WIDTH = 16
"""Length of the longest token that is compared as numbers; longer ones are rare and are looked up one by one."""
_OTHER = 128
"""Stands for every character that is not ASCII, and for NUL, which pads shorter words."""
_FOLDED = np.array([_OTHER, *(ord(chr(code).lower()) for code in range(1, _OTHER)), *[_OTHER] * _OTHER], np.uint8)
_DOT = "\N{COMBINING DOT ABOVE}"
"""`İ` is the one character whose lower case is longer: i with this dot."""


class Vocabulary:
    """A set of words that tokens are compared with, in lower case."""

    def __init__(self, words: frozenset[str]) -> None:
        self._words = words
        self._longest = max(map(len, words), default=0)
        short = [word for word in words if 0 < len(word) <= _WIDTH]
        plain = [word.encode() for word in short if word.isascii() and "\0" not in word]
        packed = np.array([*plain, b""], f"S{_WIDTH}").view(np.uint64).reshape(-1, 2)
        self._factor = _factor(packed)
        self._packed = packed[np.argsort(_mixed(packed, self._factor))]
        self._mixed = _mixed(self._packed, self._factor)
        self._possible = np.full((_WIDTH + 1, _OTHER + 1, _OTHER + 1), any(_DOT in word for word in words))
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
        length = end - start
        odd = np.zeros(0, np.int64)
        if len(codes):
            first, last = (_folded(codes, places) for places in (at, at + (length - 1)))
            likely = self._possible[np.minimum(length, _WIDTH), first, last]
            rows = np.flatnonzero(likely & (length <= _WIDTH) & (length > 0))
            found[rows], other = self._compared(codes, at[rows], length[rows])
            odd = rows[other]
        if self._longest > _WIDTH or "" in self._words:
            strange = (length == 0) | ((length > _WIDTH) & (length <= self._longest))
            odd = np.concatenate([odd, np.flatnonzero(strange)])
        for row in odd.tolist():
            text = letters.strings[int(doc[row])]
            found[row] = text is not None and text[start[row] : end[row]].lower() in self._words
        return found if letters.strings.missing is None else found & ~letters.strings.missing[doc]

    def _compared(self, codes: NDArray[Any], at: Longs, length: Ints | Longs) -> tuple[Bools, Bools]:
        """Return which of these tokens are ASCII words, and which have other characters."""
        table = np.zeros((len(at), _WIDTH), np.uint8)
        for column in range(int(length.max(initial=0))):
            longer = np.flatnonzero(length > column)
            table[longer, column] = _folded(codes, at[longer] + column)
        packed = table.view(np.uint64)
        place = np.minimum(np.searchsorted(self._mixed, _mixed(packed, self._factor)), len(self._mixed) - 1)
        return (self._packed[place] == packed).all(axis=1), (table == _OTHER).any(axis=1)


@cache
def vocabulary(words: frozenset[str]) -> Vocabulary:
    """Return the vocabulary of these words, made once."""
    return Vocabulary(words)


def _folded(codes: NDArray[Any], at: Longs) -> NDArray[np.uint8]:
    """Return the characters at these places in lower case."""
    return _FOLDED.take(codes.take(at, mode="clip"), mode="clip")


def _factor(packed: Words) -> np.uint64:
    """Return a factor with which no two words are mixed into the same number."""
    factors = (np.uint64(0x9E3779B97F4A7C15 + step) for step in count(0, 2))
    return next(factor for factor in factors if len(np.unique(_mixed(packed, factor))) == len(packed))


def _mixed(packed: Words, factor: np.uint64) -> Words:
    """Return one number for each two."""
    return packed[:, 0] * factor ^ packed[:, 1]
