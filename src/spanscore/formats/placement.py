"""Placement: find where in a text the mentions stand that a language model returned without offsets."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from functools import cached_property
from typing import TYPE_CHECKING

from spanscore.corpus.corpus import INVENTED
from spanscore.corpus.records import Attr, Span
from spanscore.formats.word_boundaries import PREFIX, PREFIXING, UNSPACED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

Place = tuple[int, int]
Mention = tuple[str, str, float | None, dict[str, Attr] | None]
"""A string that was found, its label, score and attributes."""
_LETTER = rf"[^\W{UNSPACED}]"
_PREFIX = re.compile(PREFIX)
_WHOLE = re.compile(rf"[^\W{UNSPACED}{PREFIXING}]+")
"""Words that have nothing attached to them."""
_PREFIXED = re.compile(rf"(?=[{PREFIXING}])[^\W{UNSPACED}]\S*")


def place(text: str, mentions: Iterable[str], taken: Iterable[Place] = ()) -> list[Place | None]:
    """Return where each mention stands in the text; None for one that is not there, or not as often as it was given.

    Each mention is looked for exactly, then regardless of case and whitespace. It takes the first place after the
    mention before it that no other mention has, else the first such place in the text, else the first one inside or
    across other mentions; so repeated mentions are placed from left to right. A mention never begins or ends inside a
    word, but as a last resort after a Hebrew or Arabic prefix. Whitespace around it does not count. `taken` are places
    that other mentions have already.

    >>> place("Ann met Bob in Alexandria. Ann left.", ["Ann", "Bob", "ann", "Alex", "Ann"])
    [(0, 3), (8, 11), (27, 30), None, None]
    >>> place("New\\nYork University is in New York.", ["New York University", "new york", "York"])
    [(0, 19), (26, 34), (4, 8)]
    >>> place("גר בתל אביב", ["תל אביב"])
    [(4, 11)]
    """
    return list(_Placement(text, taken).places(mentions))


def spans(
    text: str,
    mentions: Iterable[Mention],
    taken: Iterable[Place] = (),
) -> list[Span]:
    """Return spans for mentions with their labels, scores and attributes.

    One that is not in the text becomes an empty span at its end with the attribute `invented`. A measure counts it as a
    prediction that matches nothing.

    >>> spans("Ann left.", [("Ann", "PERSON", None, None), ("Bob", "PERSON", 0.5, None)])[1]
    Span(start=9, end=9, label='PERSON', score=0.5, attrs={'invented': 'Bob'})
    """
    given = list(mentions)
    found = place(text, (mention for mention, *_ in given), taken)
    return [
        invented(text, mention, label, score, attrs) if where is None else Span(*where, label, score, attrs)
        for (mention, label, score, attrs), where in zip(given, found, strict=True)
    ]


def invented(
    text: str, mention: str, label: str, score: float | None = None, attrs: dict[str, Attr] | None = None
) -> Span:
    """Return the span of a mention that is not in the text."""
    return Span(len(text), len(text), label, score, {**(attrs or {}), INVENTED: mention})


class _Placement:
    """A text in which mentions are placed one after the other.

    No place is looked at twice for one mention: `_Haystack` remembers how far it was searched in vain.
    """

    def __init__(self, text: str, taken: Iterable[Place]) -> None:
        self._text = text
        self._edges = _word_edges(text)
        self._covered = bytearray(len(text))
        self._placed: set[Place] = set()
        self._exact = _Haystack(text, range(len(text)), spaced=True)
        for one in taken:
            self._take(one)

    def places(self, mentions: Iterable[str]) -> Iterator[Place | None]:
        """Place the mentions in order."""
        after = 0
        for mention in mentions:
            wanted = mention.strip()
            found = self._first(self._exact, wanted, after)
            if found is None:
                blind = "".join(folded for folded, _ in _folded(wanted))
                found = self._first(self._blind, blind, after) or self._attached(wanted, after)
            if found is not None:
                after = found[1]
                self._take(found)
            yield found

    def _take(self, place: Place) -> None:
        self._covered[place[0] : place[1]] = b"\1" * (place[1] - place[0])
        self._placed.add(place)

    @cached_property
    def _blind(self) -> _Haystack:
        """The text without case and whitespace."""
        pieces, at = [], []
        for folded, place in _folded(self._text):
            pieces.append(folded)
            at += [place] * len(folded)
        return _Haystack("".join(pieces), at, spaced=False)

    def _first(self, haystack: _Haystack, wanted: str, after: int) -> Place | None:
        if not haystack.has(wanted):
            return None
        for begin in (after, 0):
            found = haystack.find(wanted, begin, (self._edges, self._edges), "free", self._is_free)
            if found is not None:
                return found
        return haystack.find(wanted, 0, (self._edges, self._edges), "new", self._is_new)

    def _attached(self, wanted: str, after: int) -> Place | None:
        """Return the first free place after a prefix that is attached to a word."""
        starts = self._after_prefixes
        if starts is None or not self._exact.has(wanted):
            return None
        for begin in (after, 0):
            found = self._exact.find(wanted, begin, (starts, self._edges), "attached", self._is_free)
            if found is not None:
                return found
        return None

    @cached_property
    def _after_prefixes(self) -> bytearray | None:
        """For each offset 1 if it is after an attached prefix; None if the text has none."""
        starts = bytearray(len(self._text) + 1)
        for word in _PREFIXED.finditer(self._text):
            prefix = _PREFIX.match(self._text, word.start(), word.end())
            if self._edges[word.start()] and prefix is not None:
                for at in range(word.start() + 1, prefix.end() + 1):
                    starts[at] = unicodedata.category(self._text[at])[0] != "M" if at < word.end() else 0
        return starts if any(starts) else None

    def _is_free(self, place: Place) -> int:
        """Return where a place must begin to be free of other mentions: here, or past the mention in its way."""
        taken = self._covered.rfind(1, *place)
        if taken < 0:
            return place[0]
        free = self._covered.find(0, taken)
        return len(self._text) if free < 0 else free

    def _is_new(self, place: Place) -> int:
        return place[0] + (place in self._placed)


class _Haystack:
    """A text to search in, and the place of each of its characters in the text that was given."""

    def __init__(self, text: str, at: Sequence[int], *, spaced: bool) -> None:
        self._text = text
        self._at = at
        self._spaced = spaced
        self._next: dict[tuple[str, str], dict[int, int]] = {}
        self._has: dict[str, bool] = {"": False}

    def has(self, wanted: str) -> bool:
        """Return whether a string is anywhere in the text."""
        if wanted not in self._has:
            self._has[wanted] = self._words_of(wanted) <= self._words and wanted in self._text
        return self._has[wanted]

    @cached_property
    def _words(self) -> set[str]:
        """The words of the text, to rule out most strings without searching all of it."""
        return self._words_of(self._text)

    def _words_of(self, text: str) -> set[str]:
        return set(_WHOLE.findall(text)) if self._spaced else set()

    def find(
        self, wanted: str, begin: int, edges: tuple[bytearray, bytearray], kind: str, fits: Callable[[Place], int]
    ) -> Place | None:
        """Return the first place from `begin` on that is between edges and fits; one that does not fit never will.

        `edges` are where a place may begin and where it may end; `fits` returns where a place must begin to fit.
        """
        starts, ends = edges
        following = self._next.setdefault((wanted, kind), {})
        position = _root(following, bisect_left(self._at, begin))
        while (found := self._text.find(wanted, position)) >= 0:
            if position < found:
                following[position] = found
            start, place = self._at[found], self._place(found, len(wanted))
            least = starts.find(1, start)
            if least < 0:
                break
            if place is not None and least == start and ends[place[1]]:
                least = fits(place)
                if least == start:
                    return place
            following[found] = max(found + 1, bisect_left(self._at, least))
            position = _root(following, found)
        if position <= len(self._text):
            following[position] = len(self._text) + 1
        return None

    def _place(self, found: int, length: int) -> Place | None:
        """Return the place in the text that was given; None if it ends inside a character, such as half a ligature."""
        at, end = self._at, found + length
        if (found and at[found - 1] == at[found]) or (end < len(at) and at[end] == at[end - 1]):
            return None
        return at[found], at[end - 1] + 1


def _root(following: dict[int, int], position: int) -> int:
    """Return the position at which a chain ends, and shorten the way to it."""
    found = position
    while found in following:
        found = following[found]
    while position != found:
        following[position], position = found, following[position]
    return found


def _word_edges(text: str) -> bytearray:
    """Return for each offset 1 if a mention may begin or end there, 0 if it is inside a word.

    A combining mark belongs to the character before it.
    """
    edges = bytearray(b"\1") * (len(text) + 1)
    marks = "" if text.isascii() else "".join(c for c in set(text) if unicodedata.category(c)[0] == "M")
    pattern = _LETTER
    if marks:
        pattern = f"(?:{pattern}|[{re.escape(marks)}])"
        for mark in re.finditer(f"[{re.escape(marks)}]", text):
            edges[mark.start()] = 0
    for word in re.finditer(f"{pattern}+", text):
        edges[word.start() + 1 : word.end()] = bytes(word.end() - word.start() - 1)
    return edges


def _folded(text: str) -> Iterator[tuple[str, int]]:
    """Yield the characters without case and whitespace, accents apart, each with its place."""
    for place, character in enumerate(text):
        if not character.isspace():
            folded = character.lower() if character.isascii() else unicodedata.normalize("NFD", character).casefold()
            yield folded, place
