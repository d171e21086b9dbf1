"""`presidio`: Presidio Evaluator's datasets, a JSON list of `{full_text, spans: [{entity_type, ...}]}`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, ClassVar

import msgspec

from spanscore.corpus.records import Attr
from spanscore.errors import InputError
from spanscore.formats.documents import DocumentFormat, RawDocument, RawSpan
from spanscore.formats.interface import LIKELY, Claim, Losses, Sample
from spanscore.formats.json_records import records
from spanscore.formats.tags import decode_tags, guess_scheme
from spanscore.formats.writing import to_write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from spanscore.corpus import Corpus
    from spanscore.formats.source import Source


class Entity(msgspec.Struct):
    """An annotated entity."""

    entity_type: str
    start_position: int
    end_position: int
    entity_value: str | None = None


class AnnotatedText(msgspec.Struct):
    """An annotated text; `tokens` and `tags` replace spans where there are none, or an empty list of them."""

    full_text: str
    spans: list[Entity] | None = None
    tokens: list[str] | None = None
    tags: list[str] | None = None
    sample_id: str | int | None = None
    template_id: str | int | None = None
    metadata: dict[str, Any] | None = None


@dataclass(frozen=True, repr=False)
class PresidioDataset(DocumentFormat):
    """Presidio Evaluator's datasets: a JSON list of samples with full_text and spans, or tokens and tags.

    A document's id is its sample_id, or its position in the list; template_id and metadata become metadata. All tokens
    are kept, whitespace included.
    """

    name: ClassVar[str] = "presidio"

    @classmethod
    def recognise(cls, sample: Sample) -> Claim | None:
        """Claim JSON with the key full_text."""
        return Claim(LIKELY, 'it is JSON with "full_text"') if sample.is_json and "full_text" in sample.keys else None

    def documents(self, source: Source) -> Iterator[RawDocument]:
        """Yield the samples."""
        return (raw_document(sample, where) for sample, where in records(source, AnnotatedText))

    def write(self, chunks: Callable[[], Iterable[Corpus]], file: IO[bytes]) -> Losses:
        """Write a JSON list of samples."""
        lost: Counter[str] = Counter()
        encoder = msgspec.json.Encoder()
        before = b"["
        for one in to_write(chunks, self, lost, convention=self.convention, holds=("metadata",), surfaces=True):
            meta = dict(one.document.meta or {})
            spans = [
                {
                    "entity_type": span.label,
                    "entity_value": one.text[span.start : span.end],
                    "start_position": start,
                    "end_position": end,
                }
                for start, end, span in one.spans
            ]
            template = meta.pop("template_id", None)
            sample = {"full_text": one.text, "masked": None, "spans": spans, "template_id": template, "metadata": meta}
            file.write(before + b"\n" + encoder.encode({**sample, "sample_id": one.id}))
            before = b","
        file.write(b"[]\n" if before == b"[" else b"\n]\n")
        return lost


def raw_document(sample: AnnotatedText, where: str) -> RawDocument:
    """Return a sample as a document."""
    tokens = None if sample.tokens is None else _place_tokens(sample.full_text, sample.tokens, where)
    if not sample.spans and sample.tags is not None and (sample.spans is None or set(sample.tags) - {"O"}):
        spans = _from_tags(sample.tags, tokens, where)
    else:
        spans = [
            RawSpan(one.start_position, one.end_position, one.entity_type, surface=one.entity_value)
            for one in sample.spans or ()
        ]
    meta = {key: value for key, value in (sample.metadata or {}).items() if isinstance(value, Attr)}
    if sample.template_id is not None:
        meta["template_id"] = sample.template_id
    return RawDocument(where=where, id=sample.sample_id, text=sample.full_text, spans=spans, tokens=tokens, meta=meta)


def _place_tokens(text: str, words: list[str], where: str) -> list[tuple[int, int]]:
    """Return the positions of the tokens in the text, found in order.

    Whitespace is ambiguous: of two blanks, spaCy counts the first one to the token before, and makes a token of the
    second. So a token of whitespace ends where the next token begins, if it can.
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


def _from_tags(tags: list[str], tokens: list[tuple[int, int]] | None, where: str) -> list[RawSpan]:
    if tokens is None or len(tokens) != len(tags):
        raise InputError("tags need as many tokens as there are tags.", f"{where}.tags")
    scheme = guess_scheme([tags])
    try:
        runs, _ = decode_tags(tags, scheme)
    except ValueError:
        raise InputError(f"one of these is not a tag in {scheme}.", f"{where}.tags") from None
    return [RawSpan(tokens[first][0], tokens[last - 1][1], label) for first, last, label in runs]
