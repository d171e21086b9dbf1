"""`recognizer-results`: Presidio Analyzer's results, lists of `{entity_type, start, end, score}`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import msgspec

from spanscore.formats.detector_results import ResultLists
from spanscore.formats.documents import RawSpan
from spanscore.formats.interface import LIKELY, Claim, Sample


class Metadata(msgspec.Struct):
    """What Presidio says about the recognizer."""

    recognizer_name: str | None = None


class RecognizerResult(msgspec.Struct):
    """A result of `AnalyzerEngine.analyze`, as `to_dict` or the REST service returns it."""

    entity_type: str
    start: int
    end: int
    score: float | None = None
    recognition_metadata: Metadata | None = None


@dataclass(frozen=True, repr=False)
class RecognizerResults(ResultLists):
    """Presidio Analyzer's results: `[[{entity_type, start, end, score}], ...]`, one list per document.

    Documents are in the order of the gold data, one list per line is allowed, and `{id: [...]}` names them. Results of
    different types overlap; all of them are kept. The recognizer's name becomes the attribute recognizer.
    """

    name: ClassVar[str] = "recognizer-results"
    entity: ClassVar[type[msgspec.Struct]] = RecognizerResult
    entity_keys: ClassVar[frozenset[str]] = frozenset({"entity_type", "start", "end"})
    list_keys: ClassVar[tuple[str, ...]] = ("results", "recognizer_results", "entities", "spans")

    @classmethod
    def recognise(cls, sample: Sample) -> Claim | None:
        """Claim JSON with entity_type, start and end."""
        inside = sample.inside(".json")
        if inside.is_json and cls.entity_keys <= inside.keys and "full_text" not in inside.keys:
            return Claim(LIKELY, 'it is JSON with "entity_type", "start" and "end"')
        return None

    def span(self, entity: RecognizerResult, where: str) -> RawSpan:
        """Return the span of a result."""
        about = entity.recognition_metadata
        attrs = {"recognizer": about.recognizer_name} if about and about.recognizer_name else None
        return RawSpan(entity.start, entity.end, entity.entity_type, entity.score, attrs)  # type: ignore[arg-type]  # a dict of str
