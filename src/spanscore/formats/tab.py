"""`tab`: the Text Anonymization Benchmark's documents and the masks that its evaluation reads."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from spanscore.corpus.records import Attr
from spanscore.errors import InputError
from spanscore.formats.annotators import AnnotatedFormat
from spanscore.formats.documents import RawDocument, RawSpan
from spanscore.formats.interface import CERTAIN, LIKELY, Claim, Sample
from spanscore.formats.json_records import decoded, records, values
from spanscore.formats.tags import UNTYPED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.formats.source import Source

_MASKS = re.compile(rb'\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\[\s*\[\s*\d+\s*,\s*\d+\s*\]')


class Mention(msgspec.Struct):
    """A mention of an entity."""

    entity_type: str
    start_offset: int
    end_offset: int
    span_text: str | None = None
    entity_id: str | None = None
    identifier_type: str | None = None
    confidential_status: str | None = None


class Annotations(msgspec.Struct):
    """What one annotator marked in a document."""

    entity_mentions: list[Mention]


class Case(msgspec.Struct):
    """An annotated document."""

    doc_id: str
    annotations: dict[str, Annotations]
    text: str | None = None
    dataset_type: str | None = None
    meta: dict[str, Any] | None = None


_masks = msgspec.json.Decoder(dict[str, list[tuple[int, int]]])


@dataclass(frozen=True, repr=False)
class Tab(AnnotatedFormat):
    """The Text Anonymization Benchmark: a JSON list of documents with entity mentions by annotator.

    The label is entity_type. The attribute entity is entity_id, and identifier is identifier_type (DIRECT, QUASI or
    NO_MASK). Predictions in the layout of its evaluation, {"doc_id": [[start, end], ...]}, have the label ENTITY.
    """

    name: ClassVar[str] = "tab"
    span_path: ClassVar[str] = "entity_mentions[{}]"

    @classmethod
    def recognise(cls, sample: Sample) -> Claim | None:
        """Claim JSON with entity mentions, and objects of lists of pairs."""
        if sample.is_json and {"doc_id", "annotations", "entity_mentions"} <= sample.keys:
            return Claim(CERTAIN, 'it is JSON with "doc_id" and "entity_mentions"')
        if sample.is_object and _MASKS.match(sample.start):
            return Claim(LIKELY, "it is a JSON object of lists of start and end by document")
        return None

    def documents(self, source: Source) -> Iterator[RawDocument]:
        """Yield the documents."""
        if source.sample.is_object and "entity_mentions" not in source.sample.keys:
            yield from _predictions(source)
            return
        for case, where in records(source, Case):
            by = {name: [_span(one) for one in found.entity_mentions] for name, found in case.annotations.items()}
            given = {**(case.meta or {}), "dataset_type": case.dataset_type}
            meta = {key: value for key, value in given.items() if value is not None and isinstance(value, Attr)}
            yield RawDocument(where=where, id=case.doc_id, text=case.text, by=by, meta=meta)


def _span(one: Mention) -> RawSpan:
    given = {
        "entity": one.entity_id,
        "identifier": one.identifier_type,
        "confidential_status": one.confidential_status,
    }
    attrs: dict[str, Attr] = {key: value for key, value in given.items() if value is not None}
    return RawSpan(one.start_offset, one.end_offset, one.entity_type, attrs=attrs, surface=one.span_text)


def _predictions(source: Source) -> Iterator[RawDocument]:
    found = list(values(source))
    if len(found) != 1:
        raise InputError("predictions are one JSON object of lists by document, not several lines.", source.name)
    data, where = found[0]
    for name, masks in decoded(_masks, data, where).items():
        spans = [RawSpan(start, end, UNTYPED) for start, end in masks]
        yield RawDocument(where=f"{source.name}: {name}", id=name, spans=spans)
