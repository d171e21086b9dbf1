"""`presidio`: Presidio Evaluator's datasets, a JSON list of `{full_text, spans: [{entity_type, ...}]}`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from spanscore.corpus.records import Attr, Document, Span, build
from spanscore.errors import InputError
from spanscore.formats.interface import LIKELY, Claim, Format, Sample
from spanscore.formats.json_records import records
from spanscore.formats.tags import decode_tags, guess_scheme

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.corpus import Corpus
    from spanscore.formats.source import Source


class Entity(msgspec.Struct):
    """An annotated entity."""

    entity_type: str
    start_position: int
    end_position: int
    entity_value: str | None = None


class AnnotatedText(msgspec.Struct):
    """An annotated text; `tokens` and `tags` replace spans where there are none."""

    full_text: str
    spans: list[Entity] | None = None
    tokens: list[str] | None = None
    tags: list[str] | None = None
    sample_id: str | int | None = None
    template_id: str | int | None = None
    metadata: dict[str, Any] | None = None


@dataclass(frozen=True, repr=False)
class PresidioDataset(Format):
    """Presidio Evaluator's datasets: a JSON list of samples with full_text and spans, or tokens and tags.

    A document's id is its sample_id, or its position in the list; template_id and metadata become metadata. All tokens
    are kept, white space included.
    """

    name: ClassVar[str] = "presidio"

    @classmethod
    def recognise(cls, sample: Sample) -> Claim | None:
        """Claim JSON with the key full_text."""
        return Claim(LIKELY, 'it is JSON with "full_text"') if sample.is_json and "full_text" in sample.keys else None

    def read(self, source: Source) -> Iterator[Corpus]:
        """Yield one corpus."""
        documents = []
        for number, (sample, where) in enumerate(records(source, AnnotatedText)):
            tokens = None if sample.tokens is None else _place_tokens(sample.full_text, sample.tokens, where)
            if sample.spans is None and sample.tags is not None:
                spans = _from_tags(sample.tags, tokens, where)
            else:
                spans = [
                    _span(entity, sample.full_text, f"{where}.spans[{i}]")
                    for i, entity in enumerate(sample.spans or ())
                ]
            meta = {key: value for key, value in (sample.metadata or {}).items() if isinstance(value, Attr)}
            if sample.template_id is not None:
                meta["template_id"] = sample.template_id
            name = str(number) if sample.sample_id is None else sample.sample_id
            documents.append(Document(id=name, text=sample.full_text, spans=spans, tokens=tokens, meta=meta or None))
        yield build(documents)


def _span(entity: Entity, text: str, where: str) -> Span:
    """Return the span after checking that its value is at its offsets."""
    start, end, value = entity.start_position, entity.end_position, entity.entity_value
    if not 0 <= start <= end <= len(text):
        what = f"[{start}, {end}) is reversed or not inside the text, which has {len(text)} characters"
        raise InputError(f"{what}; correct the offsets.", f"{where}: start_position, end_position")
    if not entity.entity_type:
        raise InputError("the type is empty; every entity needs one.", f"{where}.entity_type")
    if value is not None and text[start:end] != value:
        found = _other_convention(text, value, start, end)
        raise InputError(f"text[{start}:{end}] is not the entity's value; {found}.", where)
    return Span(start, end, entity.entity_type)


def _other_convention(text: str, value: str, start: int, end: int) -> str:
    """Describe the convention under which the offsets would be right."""
    if text[start : end + 1] == value:
        return "the end seems to be inclusive, but must be exclusive"
    if text.encode("utf-16-le", "surrogatepass")[2 * start : 2 * end] == value.encode("utf-16-le", "surrogatepass"):
        return "the offsets seem to count UTF-16 units, but must count code points"
    if text.encode("utf-8", "surrogatepass")[start:end] == value.encode("utf-8", "surrogatepass"):
        return "the offsets seem to count bytes, but must count code points"
    for shift in (-1, 1):
        if start + shift >= 0 and text[start + shift : end + shift] == value:
            return f"the offsets seem to be off by {-shift}"
    return "correct the offsets or the value"


def _place_tokens(text: str, words: list[str], where: str) -> list[tuple[int, int]]:
    """Return the positions of the tokens in the text, found in order.

    White space is ambiguous: of two blanks, spaCy counts the first one to the token before, and makes a token of the
    second. So a token of white space ends where the next token begins, if it can.
    """
    places, at = [], 0
    for number, word in enumerate(words):
        start = text.find(word, at)
        if start < 0:
            raise InputError(
                "the token does not occur in the text after the previous one.", f"{where}.tokens[{number}]"
            )
        at = start + len(word)
        places.append((start, at))
    end = len(text)
    for number in range(len(words) - 1, -1, -1):
        word = words[number]
        if word.isspace() and text.endswith(word, places[number][0], end):
            places[number] = (end - len(word), end)
        end = places[number][0]
    return places


def _from_tags(tags: list[str], tokens: list[tuple[int, int]] | None, where: str) -> list[Span]:
    if tokens is None or len(tokens) != len(tags):
        raise InputError("tags need as many tokens as there are tags.", f"{where}.tags")
    scheme = guess_scheme([tags])
    try:
        runs, _ = decode_tags(tags, scheme)
    except ValueError:
        raise InputError(f"one of these is not a tag in {scheme}.", f"{where}.tags") from None
    return [Span(tokens[first][0], tokens[last - 1][1], label) for first, last, label in runs]
