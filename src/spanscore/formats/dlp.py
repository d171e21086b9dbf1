"""`dlp`: findings of Google's Sensitive Data Protection (Cloud DLP)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import msgspec

from spanscore.errors import InputError
from spanscore.formats.documents import RawSpan
from spanscore.formats.interface import LIKELY, Claim, Sample
from spanscore.formats.results import ResultLists

SCORES = {"VERY_UNLIKELY": 0.2, "UNLIKELY": 0.4, "POSSIBLE": 0.6, "LIKELY": 0.8, "VERY_LIKELY": 1.0}
"""Likelihood -> score. Only their order means anything."""


class InfoType(msgspec.Struct):
    """The type of a finding."""

    name: str


class Range(msgspec.Struct):
    """A range; JSON has 64-bit numbers as strings and leaves out zeros."""

    start: int | str = 0
    end: int | str = 0


class Location(msgspec.Struct, rename="camel"):
    """Where a finding is."""

    codepoint_range: Range | None = None
    byte_range: Range | None = None


class Finding(msgspec.Struct, rename="camel"):
    """A finding; the quote is there if the request asked for it."""

    info_type: InfoType
    location: Location
    likelihood: str | None = None
    quote: str | None = None


@dataclass(frozen=True, repr=False)
class Dlp(ResultLists):
    """Google Cloud DLP's findings: `{result: {findings: [{quote, infoType, likelihood, location: {codepointRange}}]}}`.

    Answers are one per line, in a list, or in a folder of files, in the order of the gold data. Offsets are those of
    codepointRange; with `unit=byte`, of byteRange. The likelihood becomes an attribute and the score: 0.2, 0.4, 0.6,
    0.8 or 1.
    """

    name: ClassVar[str] = "dlp"
    entity: ClassVar[type[msgspec.Struct]] = Finding
    entity_keys: ClassVar[frozenset[str]] = frozenset({"infoType", "location"})
    list_keys: ClassVar[tuple[str, ...]] = ("findings",)
    inner_keys: ClassVar[tuple[str, ...]] = ("result",)

    @classmethod
    def recognise(cls, sample: Sample) -> Claim | None:
        """Claim JSON with findings or infoType."""
        inside = sample.inside(".json")
        if inside.is_json and ({"findings", "infoType"} & inside.keys):
            return Claim(LIKELY, 'it is JSON with "findings"')
        return None

    def span(self, entity: Finding, where: str) -> RawSpan:
        """Return the span of a finding."""
        places = entity.location
        place = places.byte_range if self.unit == "byte" else places.codepoint_range
        if place is None:
            other = "a codepointRange" if self.unit == "byte" else "a byteRange"
            hint = "dlp(unit=codepoint)" if self.unit == "byte" else "dlp(unit=byte)"
            if not (places.byte_range or places.codepoint_range):
                raise InputError("the finding has no range of text; only findings in text are read.", where)
            raise InputError(f"the finding has only {other}; read the file with {hint}.", where)
        try:
            start, end = int(place.start), int(place.end)
        except ValueError:
            raise InputError("the range must consist of whole numbers.", f"{where}.location") from None
        attrs = {"likelihood": entity.likelihood} if entity.likelihood else None
        score = SCORES.get(entity.likelihood or "")
        return RawSpan(start, end, entity.info_type.name, score, attrs, entity.quote)  # type: ignore[arg-type]  # a dict of str
