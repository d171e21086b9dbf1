"""`langextract`: documents of Google's langextract, `{extractions: [{extraction_class, extraction_text, ...}]}`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from spanscore.corpus.records import Attr, Document, Span, build
from spanscore.errors import InputError
from spanscore.formats import placement
from spanscore.formats.interface import CERTAIN, Claim, Format, Sample
from spanscore.formats.json_records import records
from spanscore.formats.llm import Texts, note_invented
from spanscore.spec import parameter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.corpus import Corpus
    from spanscore.formats.source import Source


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
class Langextract(Format):
    """Documents of langextract: JSON Lines or a list of `{document_id, text, extractions: [{extraction_class, ...}]}`.

    The label is the extraction_class; attributes are kept, and alignment_status is one. An extraction without a
    char_interval is placed on the text as the format `llm` does; what is not in the text has the verdict "invented".
    """

    name: ClassVar[str] = "langextract"
    texts: str = parameter("", "A file with the texts of the documents, if this one has none (default: the gold data).")

    @classmethod
    def recognise(cls, sample: Sample) -> Claim | None:
        """Claim JSON with extractions."""
        named = {"extractions", "extraction_class"} <= sample.keys
        return Claim(CERTAIN, 'it is JSON with "extractions"') if sample.is_json and named else None

    def read(self, source: Source) -> Iterator[Corpus]:
        """Yield one corpus."""
        known = Texts(source, self.texts)
        documents = []
        for number, (document, where) in enumerate(records(source, Extracted)):
            name = known.id_of(document.document_id, number)
            text = known.text_of(name, document.text, where, self.name)
            documents.append(Document(id=name, text=text, spans=_spans(document, text, where)))
        note_invented(documents, source)
        yield build(documents)


def _spans(document: Extracted, text: str, where: str) -> list[Span]:
    found: list[Span] = []
    lost = []
    for number, one in enumerate(document.extractions or []):
        place = one.char_interval
        if not one.extraction_class:
            raise InputError("the class is empty; every extraction needs one.", f"{where}.extractions[{number}]")
        if place is None or place.start_pos is None or place.end_pos is None:
            lost.append((one.extraction_text, one.extraction_class, None, _attributes(one)))
            continue
        if not 0 <= place.start_pos <= place.end_pos <= len(text):
            what = f"[{place.start_pos}, {place.end_pos}) is not inside the text, which has {len(text)} characters"
            raise InputError(f"{what}; correct it.", f"{where}.extractions[{number}].char_interval")
        found.append(Span(place.start_pos, place.end_pos, one.extraction_class, None, _attributes(one)))
    return found + placement.spans(text, lost, [(span.start, span.end) for span in found])


def _attributes(one: Extraction) -> dict[str, Attr] | None:
    found = {key: value for key, value in (one.attributes or {}).items() if isinstance(value, Attr)}
    if one.alignment_status is not None:
        found["alignment_status"] = one.alignment_status
    return found or None
