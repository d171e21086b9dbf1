"""`prodigy`: Prodigy's JSON Lines, of which accepted answers are read."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, ClassVar

import msgspec

from spanscore.corpus.annotators import ANNOTATOR
from spanscore.corpus.records import Attr
from spanscore.errors import InputError
from spanscore.formats.annotators import AnnotatedFormat, other_meta, written_by
from spanscore.formats.documents import RawDocument, RawSpan
from spanscore.formats.interface import CERTAIN, LIKELY, Claim, Losses, Sample
from spanscore.formats.json_records import records
from spanscore.formats.writing import to_write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from spanscore.corpus import Corpus
    from spanscore.formats.source import Source


OTHERS = ("reject", "ignore")
"""Answers that are not read."""


class Token(msgspec.Struct):
    """A token; `ws` says whether a space follows it."""

    start: int
    end: int


class Marked(msgspec.Struct):
    """A span; `text` is its surface string in some recipes."""

    start: int
    end: int
    label: str
    score: float | None = None
    text: str | None = None


class Answer(msgspec.Struct):
    """A task and its answer."""

    text: str | None = None
    spans: list[Marked] | None = None
    tokens: list[Token] | None = None
    answer: str = "accept"
    id: str | int | None = None
    meta: dict[str, Any] | None = None
    input_hash: int | None = msgspec.field(name="_input_hash", default=None)
    session: str | None = msgspec.field(name="_session_id", default=None)
    annotator: str | None = msgspec.field(name="_annotator_id", default=None)


@dataclass(frozen=True, repr=False)
class Prodigy(AnnotatedFormat):
    """Prodigy's JSON Lines: {"text": ..., "spans": [{"start", "end", "label"}], "answer": "accept"}.

    Only accepted answers are read; the others are counted. A document's id is its field id, else its input hash, else
    its number. Several accepted answers of the same annotator to the same input are one document.
    """

    name: ClassVar[str] = "prodigy"

    @classmethod
    def recognise(cls, sample: Sample) -> Claim | None:
        """Claim lines with an input hash, or with spans and an answer."""
        keys = sample.top_keys
        if "_input_hash" in keys and "text" in keys:
            return Claim(CERTAIN, 'the first line is a JSON object with "_input_hash"')
        if {"text", "answer"} <= keys and keys & {"spans", "tokens"}:
            return Claim(LIKELY, 'the first line is a JSON object with "spans" and "answer"')
        return None

    def documents(self, source: Source) -> Iterator[RawDocument]:
        """Yield one document per input."""
        found: dict[str, RawDocument] = {}
        number = 0
        for one, where in records(source, Answer):
            if one.answer != "accept":
                source.left_out[f"{one.answer if one.answer in OTHERS else 'other'} answers"] += 1
                continue
            if one.text is None:
                raise InputError("the field 'text' is missing; only tasks about text can be read.", where)
            key = str(next(key for key in (one.id, one.input_hash, number) if key is not None))
            number += 1
            spans = [
                RawSpan(span.start, span.end, span.label, span.score, surface=span.text) for span in one.spans or ()
            ]
            document = found.get(key)
            if document is None:
                tokens = None if one.tokens is None else [(token.start, token.end) for token in one.tokens]
                meta = {name: value for name, value in (one.meta or {}).items() if isinstance(value, Attr)}
                document = RawDocument(where=where, id=key, text=one.text, tokens=tokens, by={}, meta=meta)
                found[key] = document
            elif document.text != one.text:
                raise InputError("this answer has the same id or input hash as another one, but another text.", where)
            assert document.by is not None
            kept = document.by.setdefault(one.annotator or one.session or "", [])
            known = {(span.start, span.end, span.label) for span in kept}
            kept += [span for span in spans if (span.start, span.end, span.label) not in known]
        yield from found.values()

    def write(self, chunks: Callable[[], Iterable[Corpus]], file: IO[bytes]) -> Losses:
        """Write accepted answers, one for each annotator of a document."""
        losses: Counter[str] = Counter()
        holds = ("scores", "metadata", "tokens")
        for one in to_write(chunks, self, losses, convention=self.convention, holds=holds, attributes=(ANNOTATOR,)):
            for name, spans in (written_by(one) or {"": one.spans}).items():
                task: dict[str, Any] = {"id": one.id, "text": one.text, "spans": [_marked(*span) for span in spans]}
                if one.document.tokens:
                    places = enumerate(one.document.tokens)
                    task["tokens"] = [_token(one.text, number, *place) for number, place in places]
                    _add_tokens(task["spans"], [span for _, _, span in spans], one.document.tokens)
                if meta := other_meta(one.document):
                    task["meta"] = meta
                who = {"_annotator_id": name} if name else {}
                file.write(msgspec.json.encode({**task, "answer": "accept", **who}) + b"\n")
        return losses


def _marked(start: int, end: int, span: Any) -> dict[str, Any]:
    scored = {} if span.score is None else {"score": span.score}
    return {"start": start, "end": end, "label": span.label, **scored}


def _token(text: str, number: int, start: int, end: int) -> dict[str, Any]:
    return {"text": text[start:end], "start": start, "end": end, "id": number, "ws": text[end : end + 1] == " "}


def _add_tokens(marked: list[dict[str, Any]], spans: list[Any], tokens: list[tuple[int, int]]) -> None:
    """Add the first and last token, inclusive, of spans that begin and end at tokens."""
    starts = {start: number for number, (start, _) in enumerate(tokens)}
    ends = {end: number for number, (_, end) in enumerate(tokens)}
    for one, span in zip(marked, spans, strict=True):
        if span.start in starts and span.end in ends and starts[span.start] <= ends[span.end]:
            one |= {"token_start": starts[span.start], "token_end": ends[span.end]}
