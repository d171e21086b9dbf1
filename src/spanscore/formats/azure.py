"""`azure`: answers of Azure AI Language, `{documents: [{id, entities: [{text, category, offset, length}]}]}`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import msgspec

from spanscore.formats.detector_results import ResultLists
from spanscore.formats.documents import RawSpan, end_option, unit_option
from spanscore.formats.interface import LIKELY, POSSIBLE, Claim, Sample

if TYPE_CHECKING:
    from spanscore.corpus.records import Attr


class Entity(msgspec.Struct):
    """An entity; the REST service and the Python SDK spell the score differently."""

    category: str
    offset: int
    length: int
    text: str | None = None
    subcategory: str | None = None
    score: float | None = msgspec.field(default=None, name="confidenceScore")
    confidence_score: float | None = None


@dataclass(frozen=True, repr=False)
class Azure(ResultLists):
    """Azure AI Language's answers: `{documents: [{id, entities: [{category, offset, length, confidenceScore}]}]}`.

    Offsets count graphemes unless the request had another stringIndexType: use `unit=codepoint` for answers of the
    Python SDK (UnicodeCodePoint) and `unit=utf16` for Utf16CodeUnit. The answers hold no text, so graphemes need that
    of the gold data, or of `texts`. The label is category; subcategory becomes an attribute.
    """

    name: ClassVar[str] = "azure"
    unit: str = unit_option("grapheme")
    end: str = end_option("length")
    entity: ClassVar[type[msgspec.Struct]] = Entity
    entity_keys: ClassVar[frozenset[str]] = frozenset({"category", "offset", "length"})
    inner_keys: ClassVar[tuple[str, ...]] = ("documents", "results", "tasks", "items")

    @classmethod
    def recognise(cls, sample: Sample) -> Claim | None:
        """Claim JSON with category, offset and length, with redactedText, or of documents with entities."""
        inside = sample.inside(".json")
        if inside.is_json and (cls.entity_keys <= inside.keys or "redactedText" in inside.keys):
            return Claim(LIKELY, 'it is JSON with "category", "offset" and "length"')
        if inside.is_json and {"documents", "entities"} <= inside.keys:  # an answer without findings
            return Claim(POSSIBLE, 'it is JSON with "documents" that have "entities"')
        return None

    def span(self, entity: Entity, where: str) -> RawSpan:
        """Return the span of an entity."""
        attrs: dict[str, Attr] | None = {"subcategory": entity.subcategory} if entity.subcategory else None
        score = entity.confidence_score if entity.score is None else entity.score
        return RawSpan(entity.offset, entity.length, entity.category, score, attrs, entity.text)
