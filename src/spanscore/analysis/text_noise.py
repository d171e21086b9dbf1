"""Noise in text: case, accents, typing errors, OCR errors and whitespace.

Each one takes a text and the offsets that no edit may cut, and yields edits from left to right. A span never becomes
empty, and no letter moves from one span to another.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

import regex

from spanscore.analysis.text_edits import Edit

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from random import Random

KEYS = {
    "q": "wa", "w": "qes", "e": "wrd", "r": "etf", "t": "ryg", "y": "tuh", "u": "yij", "i": "uok", "o": "ipl",
    "p": "ol", "a": "qsz", "s": "adwx", "d": "sfec", "f": "dgrv", "g": "fhtb", "h": "gjyn", "j": "hkum", "k": "jlim",
    "l": "kop", "z": "asx", "x": "zsdc", "c": "xdfv", "v": "cfgb", "b": "vghn", "n": "bhjm", "m": "njk",
}  # fmt: skip
"""The neighbours of each key on an English (QWERTY) keyboard."""
LOOK_ALIKES = {
    "rn": "m", "m": "rn", "cl": "d", "d": "cl", "vv": "w", "w": "vv", "li": "h", "h": "li", "ri": "n", "n": "ri",
    "l": "1", "I": "l", "1": "l", "O": "0", "0": "O", "S": "5", "5": "S", "B": "8", "8": "B", "e": "c", "t": "f",
    "Z": "2", "2": "Z",
}  # fmt: skip
"""Letters and digits that text recognition takes for others."""
BLANKS = ("  ", "\t", "\n", "\u00a0")
"""What a space may become."""
PLAIN = {
    "ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L",
    "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "þ": "th", "Þ": "TH", "ı": "i", "ħ": "h", "Ħ": "H",
}  # fmt: skip
"""Latin letters that Unicode does not decompose, and how they are written without accents."""
_LETTERS = regex.compile(r"\p{L}{4,}")
_LETTERS_OR_DIGITS = regex.compile(r"[\p{L}\p{N}]+")
_LOOK_ALIKE = regex.compile("|".join(sorted(map(regex.escape, LOOK_ALIKES), key=len, reverse=True)))
_BLANK = regex.compile(r"(?<=\S) (?=\S)")
_NOT_ASCII = regex.compile(r"[^\x00-\x7f]")
_ACCENT = range(0x0300, 0x0370)
"""Combining diacritical marks, as Latin letters have them."""
_JOINS = regex.compile(r"[\p{M}\u200d\ufe0e\ufe0f]")
"""What belongs to the character before it: marks, joiners and variation selectors."""


def upper(text: str, cuts: Collection[int], chance: Random, rate: float) -> Iterator[Edit]:
    """Write everything in upper case.

    >>> list(upper("Maß 1", (), None, 0))
    [Edit(start=0, end=2, text='MA'), Edit(start=2, end=3, text='SS'), Edit(start=3, end=5, text=' 1')]
    """
    return _recased(text, text.upper(), str.upper)


def lower(text: str, cuts: Collection[int], chance: Random, rate: float) -> Iterator[Edit]:
    """Write everything in lower case."""
    return _recased(text, text.lower(), str.lower)


def _recased(text: str, after: str, recase: Callable[[str], str]) -> Iterator[Edit]:
    """Yield edits that turn a text into another case; those that change lengths replace one character each."""
    if text == after:
        return
    if len(text) == len(after):
        yield Edit(0, len(text), after)
        return
    begun = place = 0  # where a run of characters that keep their length begins, before and after
    where = 0
    for offset, character in enumerate(text):
        size = len(recase(character))
        if size != 1:
            if begun < offset:
                yield Edit(begun, offset, after[place:where])
            yield Edit(offset, offset + 1, after[where : where + size])
            begun, place = offset + 1, where + size
        where += size
    if begun < len(text):
        yield Edit(begun, len(text), after[place:])


def accents(text: str, cuts: Collection[int], chance: Random, rate: float) -> Iterator[Edit]:
    """Remove the accents of Latin letters.

    >>> list(accents("Zoë Łe\\u0301", (), None, 0))
    [Edit(start=2, end=3, text='e'), Edit(start=4, end=5, text='L'), Edit(start=6, end=7, text='')]
    """
    for match in _NOT_ASCII.finditer(text):
        offset, character = match.start(), match[0]
        if ord(character) in _ACCENT:
            if offset not in cuts and _is_latin(_base(text, offset)):
                yield Edit(offset, offset + 1, "")
            continue
        base, *marks = list(unicodedata.normalize("NFD", character))
        plain = base if marks and _is_latin(base) and all(ord(mark) in _ACCENT for mark in marks) else None
        if (plain := plain or PLAIN.get(character)) is not None:
            yield Edit(offset, offset + 1, plain)


def _base(text: str, offset: int) -> str:
    """Return the base character of the combining marks before this offset."""
    while offset and unicodedata.category(text[offset]).startswith("M"):
        offset -= 1
    return text[offset]


def _is_latin(character: str) -> bool:
    return unicodedata.name(character, "").startswith("LATIN ")


def typos(text: str, cuts: Collection[int], chance: Random, rate: float) -> Iterator[Edit]:
    """Make a typing error in some words of four letters or more: two letters swapped, one lost, doubled or wrong."""
    for word in _LETTERS.finditer(text):
        if chance.random() >= rate:
            continue
        places = [offset for offset in range(word.start() + 1, word.end()) if not _is_joined(text, offset + 1)]
        edits = [edit for offset in places for edit in _slips(text, offset, word.end(), cuts, chance)]
        if edits:
            yield chance.choice(edits)


def _slips(text: str, offset: int, end: int, cuts: Collection[int], chance: Random) -> Iterator[Edit]:
    """Yield the errors that can happen at a letter."""
    letter = text[offset]
    yield Edit(offset, offset + 1, letter * 2)
    if not (offset in cuts and offset + 1 in cuts):
        yield Edit(offset, offset + 1, "")
    following = text[offset + 1 : offset + 2]
    if offset + 1 < end and offset + 1 not in cuts and following != letter and not _is_joined(text, offset + 2):
        yield Edit(offset, offset + 2, following + letter)
    if near := KEYS.get(letter.lower()):
        key = chance.choice(near)
        yield Edit(offset, offset + 1, key.upper() if letter.isupper() else key)


def ocr(text: str, cuts: Collection[int], chance: Random, rate: float) -> Iterator[Edit]:
    """Replace a letter or digit of some words with a similar one, as text recognition does."""
    for word in _LETTERS_OR_DIGITS.finditer(text):
        if chance.random() >= rate:
            continue
        found = _LOOK_ALIKE.finditer(text, word.start(), word.end(), overlapped=True)
        edits = [Edit(one.start(), one.end(), LOOK_ALIKES[one[0]]) for one in found]
        edits = [edit for edit in edits if not edit.cut_by(cuts) and not _is_joined(text, edit.end)]
        if edits:
            yield chance.choice(edits)


def whitespace(text: str, cuts: Collection[int], chance: Random, rate: float) -> Iterator[Edit]:
    """Turn some spaces between words into two, a tab, a line break or a no-break space."""
    for blank in _BLANK.finditer(text):
        if chance.random() < rate:
            yield Edit(blank.start(), blank.end(), chance.choice(BLANKS))


def _is_joined(text: str, offset: int) -> bool:
    """Return whether the character at this offset belongs to the one before it."""
    return _JOINS.match(text, offset) is not None


NOISE: dict[str, Callable[[str, Collection[int], Any, float], Iterator[Edit]]] = {
    "typos": typos,
    "upper": upper,
    "lower": lower,
    "ocr": ocr,
    "whitespace": whitespace,
    "accents": accents,
}
"""All ways by name."""
