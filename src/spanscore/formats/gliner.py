"""`gliner`: GLiNER's predictions `[{start, end, text, label, score}]` and its training data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import msgspec

from spanscore.errors import InputError
from spanscore.formats.detector_results import ResultLists
from spanscore.formats.documents import RawDocument, RawSpan
from spanscore.formats.interface import LIKELY, Claim, Sample
from spanscore.formats.json_records import records

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.formats.source import Source


class Entity(msgspec.Struct):
    """An entity that `predict_entities` found."""

    start: int
    end: int
    label: str
    text: str | None = None
    score: float | None = None


class Example(msgspec.Struct):
    """An example for training: words, and entities as first word, last word and label."""

    tokenized_text: list[str]
    ner: list[tuple[int, int, str]]
    id: str | int | None = None


@dataclass(frozen=True, repr=False)
class Gliner(ResultLists):
    """GLiNER's predictions, lists of `{start, end, text, label, score}`, and its training data.

    Predictions are lists in the order of the gold data, one per line or nested, `{id: [...]}`, or objects with text and
    entities. Training data are `{tokenized_text, ner: [[first, last, label]]}`; its text is rebuilt with single spaces.
    """

    name: ClassVar[str] = "gliner"
    entity: ClassVar[type[msgspec.Struct]] = Entity
    entity_keys: ClassVar[frozenset[str]] = frozenset({"start", "end", "label"})

    @classmethod
    def recognise(cls, sample: Sample) -> Claim | None:
        """Claim JSON with tokenized_text and ner, or lists of entities with start, end, text, label and score."""
        inside = sample.inside(".json")
        if not inside.is_json:
            return None
        if {"tokenized_text", "ner"} <= inside.keys:
            return Claim(LIKELY, 'it is JSON with "tokenized_text" and "ner"')
        if {"start", "end", "text", "label", "score"} <= inside.keys and "spans" not in inside.keys:
            return Claim(LIKELY, 'it is JSON with "start", "end", "text", "label" and "score"')
        return None

    def documents(self, source: Source) -> Iterator[RawDocument]:
        """Yield the predictions, or the examples of training data."""
        return _examples(source) if "tokenized_text" in source.sample.keys else super().documents(source)

    def span(self, entity: Entity, where: str) -> RawSpan:
        """Return the span of an entity."""
        return RawSpan(entity.start, entity.end, entity.label, entity.score, surface=entity.text)


def _examples(source: Source) -> Iterator[RawDocument]:
    return (raw_document(example, where, number) for number, (example, where) in enumerate(records(source, Example)))


def raw_document(example: Example, where: str, number: int) -> RawDocument:
    """Return an example for training as a document."""
    tokens, at = [], 0
    for word in example.tokenized_text:
        tokens.append((at, at + len(word)))
        at += len(word) + 1
    spans = []
    for i, (first, last, label) in enumerate(example.ner):
        if not 0 <= first <= last < len(tokens):
            raise InputError(f"there are only {len(tokens)} words.", f"{where}: ner[{i}]")
        spans.append(RawSpan(tokens[first][0], tokens[last][1], label))
    text = " ".join(example.tokenized_text)
    name = str(number) if example.id is None else example.id
    return RawDocument(where=where, id=name, text=text, spans=spans, tokens=tokens)
