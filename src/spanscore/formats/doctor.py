"""The offset doctor: are spans where they should be, and if not, under which convention would they be?"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from spanscore.formats.offsets import INVALID, NATIVE, Convention
from spanscore.formats.word_boundaries import is_cut

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Longs
    from spanscore.formats.interface import Format

_SPACE = re.compile(r"\s+")
SAMPLE = 400
"""Spans that are looked at for boundaries inside words."""
FEW = 8
"""With fewer spans, a share of suspicious boundaries means nothing."""
USUAL = 0.1
"""Share of spans with a suspicious boundary that annotated data may have."""
DOCUMENTS = 1000
"""Documents that are tried under every convention, where no surface string decides."""
MANY = 4
"""Conventions that fit equally well that a message lists."""


@dataclass(frozen=True, eq=False)
class Case:
    """The text of a document and its spans as a file has them."""

    text: str | None
    start: Longs
    end: Longs
    surfaces: Sequence[str | None]
    _places: dict[Convention, tuple[Longs, Longs]] = field(default_factory=dict)

    def places(self, convention: Convention) -> tuple[Longs, Longs]:
        """Return half-open code point offsets, INVALID where there is no such place."""
        if convention not in self._places:
            start_end = (self.start, self.end)
            self._places[convention] = (
                convention.exclusive(*start_end) if self.text is None else convention.read(self.text, *start_end)
            )
        return self._places[convention]

    def wrong(self, convention: Convention, *, trust: bool = False) -> Longs:
        """Return the rows of spans that are outside the text, reversed, or, unless trusted, not at their surface."""
        start, end = self.places(convention)
        bad = (start < 0) | (end < start)
        if self.text is not None and not trust:
            for row, surface in enumerate(self.surfaces):
                if surface is not None and not bad[row]:
                    bad[row] = not _same(self.text[start[row] : end[row]], surface)
        return np.flatnonzero(bad)

    def flaw(self, row: int, convention: Convention) -> str:
        """Describe what is wrong with a span, without showing text."""
        start, end = self.places(convention)
        if self.text is not None and INVALID in (start[row], end[row]):
            return f"is outside the text, which has {len(self.text)} characters, or begins or ends inside a character"
        if end[row] < start[row]:
            return "ends before it starts"
        return "is not where its surface string is"


def diagnose(convention: Convention, cases: Sequence[Case], wrong: Sequence[bool]) -> list[Convention]:
    """Return the other convention under which every span is right; several if nothing decides between them.

    Surface strings decide. Without any, spans must be inside their texts and rarely cut words.
    """
    order = [case for _, case in sorted(zip(wrong, cases, strict=True), key=lambda one: not one[0])]
    if not any(surface is not None for case in cases for surface in case.surfaces):
        return best(convention, order)
    return [*islice((one for one in convention.others() if not any(len(case.wrong(one)) for case in order)), 1)]


def best(convention: Convention, cases: Sequence[Case], usual: float = USUAL) -> list[Convention]:
    """Return the other convention that fits best: with the fewest odd spans, then the simplest; all that are equal.

    A simpler one may have odd spans that are one in a hundred more. With more than the usual share of odd spans, none
    fits. The first documents decide; of the others, all spans must be inside their texts.
    """
    found = fits(_different(convention.others(), cases), cases[:DOCUMENTS])
    while found:
        least, looked = min(one.odd for one in found), found[0].looked
        good = [one for one in found if one.odd <= least + looked // 100 and one.odd <= usual * looked]
        rank = min(((convention.differences(one.convention), one.odd) for one in good), default=None)
        equal = [one for one in good if (convention.differences(one.convention), one.odd) == rank]
        rest = cases[DOCUMENTS:]
        right = [one.convention for one in equal if not any(len(case.wrong(one.convention)) for case in rest)]
        if right or not equal:
            return right
        found = [one for one in found if one not in equal]
    return []


def _different(conventions: Iterable[Convention], cases: Sequence[Case]) -> Iterator[Convention]:
    """Yield the conventions that can differ on these texts, the first of those that cannot: most texts are ASCII."""
    breaks = any("\n" in (case.text or "") for case in cases)
    plain = not breaks and all((case.text or "").isascii() for case in cases)
    seen = set()
    for one in conventions:
        unit = "codepoint" if plain else one.unit
        key = unit, one.end, one.base, one.newline if breaks else "as-is"
        if key not in seen:
            seen.add(key)
            yield one


class Fit(NamedTuple):
    """A convention under which all spans are inside their texts, and how many of the spans looked at are odd."""

    convention: Convention
    odd: int
    looked: int


def fits(conventions: Iterable[Convention], cases: Sequence[Case]) -> list[Fit]:
    """Return the conventions under which all spans are inside their texts, the first of those with the same places."""
    sample = _sample(cases)
    total = sum(len(case.start) for case in sample)
    found: dict[bytes, Fit] = {}
    for one in conventions:
        if not any(len(case.wrong(one)) for case in cases):
            places = b"".join(side.tobytes() for case in sample for side in case.places(one))
            if places not in found:
                odd, looked = odd_spans(one, sample)
                found[places] = Fit(one, odd + total - looked, total)  # an empty span is as odd as a cut word
    return [*found.values()]


def odd_spans(convention: Convention, cases: Iterable[Case]) -> tuple[int, int]:
    """Return how many spans begin or end inside a word or on whitespace, and how many were looked at."""
    looked = odd = 0
    for case in cases:
        if case.text is None:
            continue
        start, end = case.places(convention)
        for low, high in zip(start.tolist(), end.tolist(), strict=True):
            if 0 <= low < high:
                looked += 1
                spaced = case.text[low].isspace() or case.text[high - 1].isspace()
                odd += spaced or is_cut(case.text, low, high)
    return odd, looked


def suspicion(corpus: Corpus, read_as: Format) -> str | None:
    """Return a warning if unusually many spans begin or end inside a word or on whitespace; None if they do not.

    It names the convention with which far fewer would, as an option of the format that the corpus was read in.
    """
    if corpus.text is None or len(corpus.start) < FEW:
        return None
    given = read_as.convention
    cases = _sample(_cases(corpus, NATIVE if given is None else given))
    odd, looked = odd_spans(NATIVE if given is None else given, cases)
    if looked < FEW or odd <= USUAL * looked:
        return None
    message = f"{odd / looked:.0%} of spans begin or end inside a word or on whitespace; check the offsets"
    others = [] if given is None else best(given, cases, odd / looked / 4)
    shares = (f"with {read_as.under(one)!r}, {odd_spans(one, cases)[0] / looked:.0%} do" for one in others[:MANY])
    return f"{message}{': ' if others else ''}{'; '.join(shares)}."


def _sample(cases: Iterable[Case]) -> list[Case]:
    """Return the first cases with enough spans to tell."""
    found, looked = [], 0
    for case in cases:
        found.append(case)
        looked += len(case.start)
        if looked >= SAMPLE:
            break
    return found


def _cases(corpus: Corpus, convention: Convention) -> Iterator[Case]:
    """Yield documents with text, and some of their spans with the offsets that a file in a convention has."""
    assert corpus.text is not None
    for doc in np.flatnonzero(np.diff(corpus.bounds)).tolist():
        text = corpus.text[doc]
        if text is not None:
            first, last = corpus.bounds[doc : doc + 2].tolist()
            rows = slice(first, min(last, first + SAMPLE))
            start, end = corpus.start[rows].astype(np.int64), corpus.end[rows].astype(np.int64)
            inside = end <= len(text)  # predictions may be past the text of the gold data
            yield Case(text, *convention.write(text, start[inside], end[inside]), ())


def _same(found: str, surface: str) -> bool:
    """Return whether two strings are equal regardless of case and of runs of whitespace, which tools change."""
    return found == surface or _folded(found) == _folded(surface)


def _folded(text: str) -> str:
    return _SPACE.sub(" ", text).casefold()
