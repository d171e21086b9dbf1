"""The offset doctor: are spans where they should be, and if not, under which convention would they be?"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spanscore.formats.offsets import INVALID, NATIVE, Convention

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Longs
    from spanscore.formats.interface import Format

_SPACE = re.compile(r"\s+")
_WORDS_WITHOUT_SPACES = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
SAMPLE = 400
"""Spans that are looked at for boundaries inside words."""
FEW = 8
"""With fewer spans, a share of suspicious boundaries means nothing."""
USUAL = 0.1
"""Share of spans with a suspicious boundary that annotated data may have."""


@dataclass(frozen=True, eq=False)
class Case:
    """The text of a document and its spans as a file has them."""

    text: str | None
    start: Longs
    end: Longs
    surfaces: Sequence[str | None]

    def places(self, convention: Convention) -> tuple[Longs, Longs]:
        """Return half-open code point offsets, INVALID where there is no such place."""
        if self.text is None:
            return convention.exclusive(self.start, self.end)
        return convention.read(self.text, self.start, self.end)

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


def diagnose(convention: Convention, cases: Sequence[Case], wrong: Sequence[bool]) -> Convention | None:
    """Return the simplest other convention under which every span is right, or None.

    Surface strings decide. Without any, spans must be inside their texts and begin and end at words.
    """
    order = [case for _, case in sorted(zip(wrong, cases, strict=True), key=lambda one: not one[0])]
    surfaces = any(surface is not None for case in cases for surface in case.surfaces)
    for other in convention.others():
        if any(len(case.wrong(other)) for case in order):
            continue
        if surfaces or unusual_share(other, order) <= USUAL:
            return other
    return None


def unusual_share(convention: Convention, cases: Iterable[Case]) -> float:
    """Return the share of spans that begin or end inside a word or on white space."""
    looked = odd = 0
    for case in cases:
        if case.text is None or _WORDS_WITHOUT_SPACES.search(case.text):
            continue
        start, end = case.places(convention)
        for low, high in zip(start.tolist(), end.tolist(), strict=True):
            if 0 <= low < high:
                looked += 1
                spaced = case.text[low].isspace() or case.text[high - 1].isspace()
                odd += spaced or inside_words(case.text, low, high)
        if looked >= SAMPLE:
            break
    return odd / looked if looked >= FEW else 0.0


def suspicion(corpus: Corpus, read_as: Format) -> str | None:
    """Return a warning if unusually many spans begin or end inside a word or on white space; None if they do not.

    It names the convention with which far fewer would, as an option of the format that the corpus was read in.
    """
    if corpus.text is None or len(corpus.start) < FEW:
        return None
    cases = list(_cases(corpus))
    share = unusual_share(NATIVE, cases)
    if share <= USUAL:
        return None
    message = f"{share:.0%} of spans begin or end inside a word or on white space; check the offsets"
    given = read_as.convention
    if given is None or not given.is_native:
        return f"{message}."
    for other in NATIVE.neighbours():
        if not any(len(case.wrong(other)) for case in cases) and unusual_share(other, cases) <= share / 4:
            return f"{message}: with {read_as.under(other)!r}, {unusual_share(other, cases):.0%} do."
    return f"{message}."


def _cases(corpus: Corpus) -> Iterable[Case]:
    assert corpus.text is not None
    looked = 0
    for doc in np.flatnonzero(np.diff(corpus.bounds)).tolist():
        rows = slice(*corpus.bounds[doc : doc + 2].tolist())
        start, end = corpus.start[rows].astype(np.int64), corpus.end[rows].astype(np.int64)
        yield Case(corpus.text[doc], start, end, ())
        looked += len(start)
        if looked >= SAMPLE:
            return


def _same(found: str, surface: str) -> bool:
    """Return whether two strings are equal but for runs of white space, which tools fold."""
    return found == surface or _SPACE.sub(" ", found) == _SPACE.sub(" ", surface)


def inside_words(text: str, low: int, high: int) -> bool:
    """Return whether a span that is not empty begins or ends inside a word."""
    return (low > 0 and text[low - 1].isalnum() and text[low].isalnum()) or (
        high < len(text) and text[high - 1].isalnum() and text[high].isalnum()
    )
