"""`dlp`: findings of Google's Sensitive Data Protection (Cloud DLP)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import msgspec

from spanscore.errors import InputError
from spanscore.formats.detector_results import ResultLists
from spanscore.formats.documents import RawSpan
from spanscore.formats.interface import LIKELY, Claim, Sample

if TYPE_CHECKING:
    from spanscore.corpus.records import Attr

LIKELIHOODS = ("VERY_UNLIKELY", "UNLIKELY", "POSSIBLE", "LIKELY", "VERY_LIKELY")
"""In the order of their numbers, which count from 1; 0 is none."""
SCORES = {name: number / 5 for number, name in enumerate(LIKELIHOODS, 1)}
"""Likelihood -> score. Only their order means anything."""


class InfoType(msgspec.Struct):
    """The type of a finding."""

    name: str


class Range(msgspec.Struct):
    """A range; JSON has 64-bit numbers as strings and leaves out zeros."""

    start: int | str = 0
    end: int | str = 0


class Location(msgspec.Struct):
    """Where a finding is; JSON has names in camel case, dictionaries of the Python client do not."""

    codepointRange: Range | None = None  # noqa: N815  # the service's names
    byteRange: Range | None = None  # noqa: N815
    codepoint_range: Range | None = None
    byte_range: Range | None = None


class Finding(msgspec.Struct):
    """A finding; the quote is there if the request asked for it. The Python client has numbers as likelihoods."""

    location: Location
    infoType: InfoType | None = None  # noqa: N815
    info_type: InfoType | None = None
    likelihood: str | int | None = None
    quote: str | None = None


@dataclass(frozen=True, repr=False)
class Dlp(ResultLists):
    """Google Cloud DLP's findings: `{result: {findings: [{quote, infoType, likelihood, location: {codepointRange}}]}}`.

    Answers are one per line, in a list, or in a folder of files, in the order of the gold data; dictionaries of the
    Python client are read, too. Offsets come from codepointRange or, with `unit=byte`, from byteRange. The likelihood
    becomes an attribute and the score: 0.2, 0.4, 0.6, 0.8 or 1.
    """

    name: ClassVar[str] = "dlp"
    entity: ClassVar[type[msgspec.Struct]] = Finding
    entity_keys: ClassVar[frozenset[str]] = frozenset({"location"})
    list_keys: ClassVar[tuple[str, ...]] = ("findings",)
    inner_keys: ClassVar[tuple[str, ...]] = ("result",)

    @classmethod
    def recognise(cls, sample: Sample) -> Claim | None:
        """Claim JSON with findings or infoType."""
        inside = sample.inside(".json")
        if inside.is_json and {"findings", "infoType", "info_type"} & inside.keys:
            return Claim(LIKELY, 'it is JSON with "findings"')
        return None

    def span(self, entity: Finding, where: str) -> RawSpan:
        """Return the span of a finding."""
        points = entity.location.codepointRange or entity.location.codepoint_range
        numbers = entity.location.byteRange or entity.location.byte_range
        place = numbers if self.unit == "byte" else points
        if place is None:
            other = "a codepointRange" if self.unit == "byte" else "a byteRange"
            hint = "dlp(unit=codepoint)" if self.unit == "byte" else "dlp(unit=byte)"
            if not (points or numbers):
                raise InputError("the finding has no range of text; only findings in text are read.", where)
            raise InputError(f"the finding has only {other}; read the file with {hint}.", where)
        try:
            start, end = int(place.start), int(place.end)
        except ValueError:
            raise InputError("the range must consist of whole numbers.", f"{where}.location") from None
        kind = entity.infoType or entity.info_type
        if kind is None:
            raise InputError("the field 'infoType' is missing.", where)
        likelihood = _likelihood(entity.likelihood, where)
        attrs: dict[str, Attr] | None = {"likelihood": likelihood} if likelihood else None
        return RawSpan(start, end, kind.name, SCORES.get(likelihood), attrs, entity.quote)


def _likelihood(given: str | int | None, where: str) -> str:
    """Return the name of a likelihood; empty if there is none."""
    if isinstance(given, int):
        if not 0 <= given <= len(LIKELIHOODS):
            raise InputError(f"expected a name or a number up to {len(LIKELIHOODS)}.", f"{where}.likelihood")
        return ("", *LIKELIHOODS)[given]
    return given or ""
