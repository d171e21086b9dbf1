"""Offset conventions: what the offsets in a file count, where a span ends, and how to convert them to code points."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from spanscore.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Bools, Longs

T = TypeVar("T", int, NDArray[np.int64])
UNITS = ("codepoint", "utf16", "byte", "grapheme")
ENDS = ("exclusive", "inclusive", "length")
NEWLINES = ("as-is", "lf", "crlf")
INVALID = -1


@dataclass(frozen=True)
class Convention:
    """How offsets in a file are meant; the default is how a corpus holds them.

    `base` is the offset of the first character. With newline "lf", CR LF in the text counts as one character; with
    "crlf", LF counts as two.

    >>> text = "Dr 😀 Zoë Ångström"
    >>> [Convention(unit).read(text, [first], [last]) for unit, first, last in
    ...  [("codepoint", 5, 8), ("utf16", 6, 9), ("byte", 8, 12)]]
    [(array([5]), array([8])), (array([5]), array([8])), (array([5]), array([8]))]
    """

    unit: str = "codepoint"
    end: str = "exclusive"
    base: int = 0
    newline: str = "as-is"

    @property
    def is_native(self) -> bool:
        """Whether offsets are already those of a corpus."""
        return self == NATIVE

    @property
    def needs_text(self) -> bool:
        """Whether offsets can be converted only with the text at hand."""
        return self.unit != "codepoint" or self.newline != "as-is"

    def counts_characters(self, text: str) -> bool:
        """Return whether offsets in this text count code points: those of plain ASCII do in every unit."""
        if self.newline != "as-is":
            return False
        if self.unit == "codepoint":
            return True
        return text.isascii() and (self.unit != "grapheme" or "\r\n" not in text)

    def read(self, text: str, start: Any, end: Any) -> tuple[Longs, Longs]:
        """Return half-open code point offsets; INVALID where an offset is outside the text or inside a character."""
        low, high = self.exclusive(np.asarray(start, np.int64), np.asarray(end, np.int64))
        before = self._units_before(text)
        if before is None:
            return tuple(np.where((at >= 0) & (at <= len(text)), at, INVALID) for at in (low, high))  # type: ignore[return-value]  # two arrays in, two out
        return _place(before, low), _place(before, high)

    def exclusive(self, start: T, end: T) -> tuple[T, T]:
        """Return offsets from zero with exclusive ends, still in this convention's unit."""
        low = start - self.base
        if self.end == "length":
            return low, low + end
        return low, end - self.base + (self.end == "inclusive")

    def write(self, text: str, start: Longs, end: Longs) -> tuple[Longs, Longs]:
        """Return offsets in this convention of half-open code point offsets."""
        before = self._units_before(text)
        low, high = (start, end) if before is None else (before[start], before[end])
        return self.of_exclusive(low, high)

    def of_exclusive(self, low: T, high: T) -> tuple[T, T]:
        """Return offsets in this convention of offsets from zero with exclusive ends in its unit."""
        ends = {"exclusive": high + self.base, "inclusive": high + self.base - 1, "length": high - low}
        return low + self.base, ends[self.end]

    def size(self, text: str) -> int:
        """Return the length of a text in this convention's unit.

        >>> [Convention(unit).size("Zoë 😀") for unit in UNITS]
        [5, 6, 9, 5]
        """
        before = self._units_before(text)
        return len(text) if before is None else int(before[-1])

    def others(self) -> Iterator[Convention]:
        """Yield all other conventions, those that differ in one respect first."""
        every = [
            Convention(unit, end, base, newline)
            for base in (0, 1, -1)
            for newline in NEWLINES
            for end in ENDS
            for unit in UNITS
        ]
        yield from sorted((one for one in every if one != self), key=self.differences)

    def differences(self, other: Convention) -> int:
        """Return in how many respects two conventions differ."""
        return sum(getattr(self, one.name) != getattr(other, one.name) for one in fields(self))

    def _units_before(self, text: str) -> Longs | None:
        """Return the number of units before each character and before the end; None if units are characters.

        What counts as one unit ends with its last character, so that an offset is that of the unit's beginning.
        """
        if self.counts_characters(text):
            return None
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        units = np.ones(len(codes), np.int64)
        if self.unit == "utf16":
            units += codes > 0xFFFF
        elif self.unit == "byte":
            units += (codes > 0x7F).astype(np.int64) + (codes > 0x7FF) + (codes > 0xFFFF)
        elif self.unit == "grapheme":
            units = _grapheme_ends(text)
        feed = codes == ord("\n")
        after_return = np.zeros(len(codes), np.bool_)
        after_return[1:] = feed[1:] & (codes[:-1] == ord("\r"))
        if self.newline == "lf":
            units[:-1][after_return[1:]] = 0
        elif self.newline == "crlf":
            units[feed & ~after_return] += 1
        return np.concatenate([[0], np.cumsum(units)])


NATIVE = Convention()


def converted(corpus: Corpus, convention: Convention, source: str) -> Corpus:
    """Return the corpus with its offsets, which are in this convention, converted to code points.

    Offsets that are nowhere in the text are an error. A document without text is an error where the unit needs one.
    """
    if convention.is_native or not len(corpus.start):
        return corpus
    corpus = corpus.with_columns(source=source)
    start, end = corpus.start.astype(np.int64), corpus.end.astype(np.int64)
    if not convention.needs_text:
        start, end = convention.exclusive(start, end)
    else:
        for doc in np.flatnonzero(np.diff(corpus.bounds)).tolist():
            rows = slice(*corpus.bounds[doc : doc + 2].tolist())
            text = None if corpus.text is None else corpus.text[doc]
            if text is None:
                raise InputError(f"offsets in {convention.unit} units need the text.", corpus.place(doc))
            start[rows], end[rows] = convention.read(text, start[rows], end[rows])
    if (bad := np.flatnonzero((start < 0) | (end < 0))).size:
        row = int(bad[0])
        raise InputError(
            f"the span {corpus.span_name(row)} is outside the text or begins or ends inside a character, if offsets "
            f"count {describe(convention)}.",
            corpus.place(int(corpus.doc[row])),
        )
    moved = corpus.with_columns(start=start.astype(np.int32), end=end.astype(np.int32))
    if flaw := moved.flaw():
        raise InputError(flaw.message, f"{source}: {flaw.place(moved)}")
    return moved


def describe(convention: Convention) -> str:
    """Describe a convention in words.

    >>> describe(Convention("utf16", "inclusive"))
    'UTF-16 code units with inclusive ends'
    """
    unit = {"codepoint": "code points", "utf16": "UTF-16 code units", "byte": "UTF-8 bytes", "grapheme": "graphemes"}
    ends = {"exclusive": "", "inclusive": " with inclusive ends", "length": " with lengths instead of ends"}
    base = f" counted from {convention.base}" if convention.base else ""
    newline = {"as-is": "", "lf": ", CR LF counted as one", "crlf": ", LF counted as two"}
    return unit[convention.unit] + base + ends[convention.end] + newline[convention.newline]


def _place(before: Longs, offsets: Longs) -> Longs:
    """Return the character that begins at each offset, INVALID where none does."""
    at = np.searchsorted(before, offsets)
    found = before.take(np.minimum(at, len(before) - 1)) == offsets
    return np.where(found, at, INVALID)


def _grapheme_ends(text: str) -> NDArray[np.int64]:
    """Return 1 for the last character of each grapheme cluster and 0 for all others."""
    return (_known_short if len(text) <= SHORT else _known_long)(text).astype(np.int64)


def _find_grapheme_ends(text: str) -> Bools:
    import regex

    ends = np.zeros(len(text), np.bool_)
    ends[np.fromiter((match.end() - 1 for match in regex.finditer(r"\X", text)), np.int64)] = True
    return ends


SHORT = 4096
_known_short, _known_long = lru_cache(1000)(_find_grapheme_ends), lru_cache(4)(_find_grapheme_ends)
"""Finding them takes long, and the doctor asks for them under many conventions."""
