"""`langextract`: documents of Google's langextract, `{extractions: [{extraction_class, extraction_text, ...}]}`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from spanscore.corpus.records import Attr
from spanscore.errors import InputError
from spanscore.formats.documents import DocumentFormat, RawDocument, RawSpan
from spanscore.formats.interface import CERTAIN, Claim, Sample
from spanscore.formats.json_records import records
from spanscore.formats.llm import Texts, note_invented

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.corpus import Corpus
    from spanscore.formats.source import Source


EXACT = "match_exact"
"""The status of an extraction whose words, regardless of case, are those of its interval."""


class Interval(msgspec.Struct):
    """Where an extraction is; both ends are null if it was not found."""

    start_pos: int | None = None
    end_pos: int | None = None


class Extraction(msgspec.Struct):
    """An extraction; without an interval, langextract did not find it in the text."""

    extraction_class: str
    extraction_text: str
    char_interval: Interval | None = None
    alignment_status: str | None = None
    attributes: dict[str, Any] | None = None


class Extracted(msgspec.Struct):
    """A document."""

    extractions: list[Extraction] | None
    text: str | None = None
    document_id: str | int | None = None


@dataclass(frozen=True, repr=False)
class Langextract(DocumentFormat):
    """Documents of langextract: JSON Lines or a list of `{document_id, text, extractions: [{extraction_class, ...}]}`.

    The label is the extraction_class; attributes are kept, and alignment_status is one. Where it says match_exact, or
    is missing, the extraction_text must be at the char_interval. An extraction without a char_interval is placed on the
    text as the format `llm` does; what is not in the text has the verdict "invented".
    """

    name: ClassVar[str] = "langextract"

    @classmethod
    def recognise(cls, sample: Sample) -> Claim | None:
        """Claim JSON with extractions."""
        named = {"extractions", "extraction_class"} <= sample.keys
        return Claim(CERTAIN, 'it is JSON with "extractions"') if sample.is_json and named else None

    def read(self, source: Source) -> Iterator[Corpus]:
        """Yield one corpus."""
        for corpus in super().read(source):
            note_invented(corpus, source)
            yield corpus

    def documents(self, source: Source) -> Iterator[RawDocument]:
        """Yield the documents, with extractions that have no interval as mentions."""
        known = Texts(source, self.texts)
        for number, (document, where) in enumerate(records(source, Extracted)):
            name = known.id_of(document.document_id, number)
            text = known.text_of(name, document.text, where, self.name)
            raw = RawDocument(where=where, id=name, text=text, spans=[], mentions=[])
            for i, one in enumerate(document.extractions or []):
                if not one.extraction_class:
                    raise InputError("the class is empty; every extraction needs one.", f"{where}: extractions[{i}]")
                place = one.char_interval
                if place is None or place.start_pos is None or place.end_pos is None:
                    raw.mentions.append((one.extraction_text, one.extraction_class, None, _attributes(one)))
                else:
                    raw.spans.append(_span(one, place.start_pos, place.end_pos, f"extractions[{i}].char_interval"))
            yield raw


def _span(one: Extraction, start: int, end: int, place: str) -> RawSpan:
    exact = one.alignment_status in (None, EXACT)
    surface = one.extraction_text if exact else None
    return RawSpan(start, end, one.extraction_class, None, _attributes(one), surface, place)


def _attributes(one: Extraction) -> dict[str, Attr] | None:
    found = {key: value for key, value in (one.attributes or {}).items() if isinstance(value, Attr)}
    if one.alignment_status is not None:
        found["alignment_status"] = one.alignment_status
    return found or None
