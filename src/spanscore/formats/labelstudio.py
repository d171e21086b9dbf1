"""`labelstudio`: Label Studio's JSON and JSON-MIN exports."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, ClassVar

import msgspec

from spanscore.corpus.annotators import ANNOTATOR
from spanscore.corpus.records import Attr
from spanscore.errors import InputError, printable
from spanscore.formats.annotators import AnnotatedFormat, other_meta, written_by
from spanscore.formats.documents import RawDocument, RawSpan
from spanscore.formats.interface import CERTAIN, LIKELY, Claim, Losses, Sample
from spanscore.formats.json_records import records
from spanscore.formats.writing import to_write
from spanscore.spec import parameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from spanscore.corpus import Corpus
    from spanscore.corpus.records import Span
    from spanscore.formats.source import Source

_URL = re.compile(r"(?:[a-z][a-z0-9+.-]*://|/data/)\S+\Z", re.IGNORECASE)
PREDICTED = "tasks with predictions only, which labelstudio(results=predictions) reads"
MINIMAL = {"annotation_id", "lead_time"}
"""Fields of every record of a JSON-MIN export."""


class Region(msgspec.Struct):
    """The value of a result: a range of text, if its start is a number and it has labels."""

    start: int | float | str | None = None
    end: int | float | str | None = None
    text: str | list[str] | None = None
    labels: list[str] | None = None


class Result(msgspec.Struct):
    """One result of an annotation; `to_name` is the field of the task that it belongs to."""

    value: Region | None = None
    type: str = ""
    to_name: str = ""
    score: float | None = None


class Annotation(msgspec.Struct):
    """What one annotator, or one model, said of a task."""

    result: list[Result] = []
    completed_by: int | str | dict[str, Any] | None = None
    was_cancelled: bool = False
    skipped: bool = False
    model_version: str | None = None


class Task(msgspec.Struct):
    """A task of a JSON export."""

    data: dict[str, Any]
    id: int | str | None = None
    annotations: list[Annotation] | None = None
    completions: list[Annotation] | None = None
    predictions: list[Annotation] | None = None


@dataclass(frozen=True, repr=False)
class LabelStudio(AnnotatedFormat):
    """Label Studio's JSON or JSON-MIN export: tasks with data, annotations and predictions.

    A document's id is the field id of its data, else the task's. Other fields of the data become metadata. Cancelled
    annotations, tasks without annotations, and results that are not text spans are left out and counted. Annotators
    are named by email or number; predictions by model version. Old exports count UTF-16 code units.
    """

    name: ClassVar[str] = "labelstudio"
    takes_suggestions: ClassVar[bool] = True
    span_path: ClassVar[str] = "result[{}]"
    results: str = parameter(
        "annotations", "Part of each task to read or write.", choices=("annotations", "predictions")
    )
    field: str = parameter("", "Field of the data that holds the text (default: text, or the one the results name).")

    @classmethod
    def recognise(cls, sample: Sample) -> Claim | None:
        """Claim JSON with tasks."""
        if not sample.is_json:
            return None
        if "data" in sample.keys and sample.keys & {"annotations", "completions", "predictions"}:
            strength = CERTAIN if "result" in sample.keys else LIKELY
            return Claim(strength, 'it is JSON of tasks with "data" and "annotations"')
        if sample.keys >= MINIMAL and "result" not in sample.keys:
            return Claim(CERTAIN, 'it is JSON with "annotation_id" and "lead_time" (JSON-MIN)')
        return None

    def documents(self, source: Source) -> Iterator[RawDocument]:
        """Yield the tasks."""
        keys = source.sample.keys
        regions = "labels" in keys and not keys & {"data", "annotations", "completions", "predictions"}
        minimal = (keys >= MINIMAL or regions) and "result" not in keys
        yield from self._minimal(source) if minimal else self._tasks(source)

    def _tasks(self, source: Source) -> Iterator[RawDocument]:
        marked, types = False, set()
        for task, where in records(source, Task):
            given = task.predictions if self.results == "predictions" else task.annotations or task.completions
            given = given or []
            kept = [one for one in given if not (one.was_cancelled or one.skipped)]
            source.left_out["cancelled annotations"] += len(given) - len(kept)
            if not kept:
                only = self.results == "annotations" and task.predictions
                source.left_out[PREDICTED if only else f"tasks without {self.results}"] += 1
                continue
            by: dict[str, list[RawSpan]] = {}
            for number, one in enumerate(kept, 1):
                name = (
                    one.model_version or str(number) if self.results == "predictions" else _annotator(one.completed_by)
                )
                by[_unused(name, by)] = list(_spans(one.result, source))
            marked = marked or any(by.values())
            types |= {one.type for annotation in kept for one in annotation.result if one.type}
            names = {one.to_name for annotation in kept for one in annotation.result if one.to_name}
            yield self._task(task.data, task.id, names, by, where, source)
        if types and not marked:
            listed = ", ".join(sorted(map(printable, types)))
            what = "no result is a span of plain text, with start and end as numbers and labels in its value"
            raise InputError(f"{what}; the types of the results are: {listed}.", source.name)

    def _minimal(self, source: Source) -> Iterator[RawDocument]:
        """Yield the tasks of a JSON-MIN export, which has one record per annotation."""
        if self.results == "predictions":
            raise InputError("a JSON-MIN export has no predictions; export JSON.", source.name)
        found: dict[Any, RawDocument] = {}
        for record, where in records(source, dict[str, Any]):
            regions: list[Result] = []
            for value in record.values():
                if (
                    isinstance(value, list)
                    and value
                    and all(isinstance(one, dict) and "labels" in one for one in value)
                ):
                    try:
                        regions += [Result(msgspec.convert(one, Region)) for one in value]
                    except msgspec.ValidationError:
                        raise InputError("a region has fields of the wrong type.", where) from None
            data = {key: value for key, value in record.items() if key not in {*MINIMAL, "created_at", "updated_at"}}
            author = data.pop("annotator", None)
            key = record.get("id", where)
            document = found.get(key)
            if document is None:
                document = found[key] = self._task(data, record.get("id"), set(), {}, where, source)
            assert document.by is not None
            document.by[_unused(_annotator(author), document.by)] = list(_spans(regions, source))
        yield from found.values()

    def _task(
        self,
        data: dict[str, Any],
        number: int | str | None,
        names: set[str],
        by: dict[str, list[RawSpan]],
        where: str,
        source: Source,
    ) -> RawDocument:
        field = self._text_field(data, names, where)
        text: str | None = data[field]
        assert text is not None
        if _URL.match(text.strip()):
            note = f"{source.name}: texts are links, so that offsets cannot be checked"
            if (note := f"{note}; give labelstudio(texts=FILE) with the texts.") not in source.notes:
                source.notes.append(note)
            text = None
        own = data.get("id")
        name = own if isinstance(own, str | int) else number
        meta = {key: value for key, value in data.items() if key not in (field, "id") and isinstance(value, Attr)}
        return RawDocument(where=where, id=name, text=text, by=by, meta=meta)

    def _text_field(self, data: dict[str, Any], names: set[str], where: str) -> str:
        strings = [key for key, value in data.items() if isinstance(value, str)]
        if self.field:
            if self.field not in strings:
                raise InputError(f"the data has no text in the field '{printable(self.field)}'.", where)
            return self.field
        for field in ("text", *sorted(names)):
            if field in strings:
                return field
        candidates = [key for key in strings if key != "id"]
        if len(candidates) == 1:
            return candidates[0]
        listed = ", ".join(map(printable, candidates)) or "none"
        raise InputError(f"the text is in none or several fields ({listed}); give labelstudio(field=NAME).", where)

    def write(self, chunks: Callable[[], Iterable[Corpus]], file: IO[bytes]) -> Losses:
        """Write a JSON export, or tasks with predictions; metadata becomes fields of the data."""
        losses: Counter[str] = Counter()
        separator = b"[\n"
        convention = self.convention
        holds = ("scores", "metadata")
        for one in to_write(
            chunks, self, losses, convention=convention, holds=holds, attributes=(ANNOTATOR,), surfaces=True
        ):
            by = written_by(one) or {"": one.spans}
            listed = [self._annotation(name, spans, one.text) for name, spans in by.items()]
            data = {**other_meta(one.document), "id": one.id, "text": one.text}
            file.write(separator + msgspec.json.encode({"data": data, self.results: listed}))
            separator = b",\n"
        file.write(b"\n]\n" if separator == b",\n" else b"[]\n")
        return losses

    def _annotation(self, name: str, spans: list[tuple[int, int, Span]], text: str) -> dict[str, Any]:
        """Return an annotation of an annotator, named by number or email, or a prediction of a model."""
        result = [_result(number, *span, text) for number, span in enumerate(spans)]
        if self.results == "predictions":
            return {**({"model_version": name} if name else {}), "result": result}
        who = int(name) if name.isascii() and name.isdigit() and len(name) < 12 else {"email": name}
        return {**({"completed_by": who} if name else {}), "result": result, "was_cancelled": False}


def _result(number: int, start: int, end: int, span: Span, text: str) -> dict[str, Any]:
    value = {"start": start, "end": end, "text": text[span.start : span.end], "labels": [span.label]}
    score = {} if span.score is None else {"score": span.score}
    return {"id": str(number), "type": "labels", "from_name": "label", "to_name": "text", "value": value, **score}


def _spans(results: Iterable[Result], source: Source) -> Iterator[RawSpan]:
    """Yield a span for each label of each region of text."""
    for one in results:
        value = one.value
        start, end = (None, None) if value is None else (_offset(value.start), _offset(value.end))
        if value is None or not value.labels or start is None or end is None:
            source.left_out["results that are not labelled text spans"] += 1
            continue
        surface = value.text if isinstance(value.text, str) else None
        for label in value.labels:
            yield RawSpan(start, end, label, one.score, surface=surface)


def _offset(value: float | str | None) -> int | None:
    """Return an offset, which some versions write as text; None for paths into HTML and times of audio."""
    if isinstance(value, str):
        return int(value) if value.isascii() and value.isdigit() and len(value) < 12 else None
    return int(value) if value is not None and float(value).is_integer() else None


def _annotator(completed_by: int | str | dict[str, Any] | None) -> str:
    if isinstance(completed_by, dict):
        completed_by = completed_by.get("email") or completed_by.get("id")
    return "unknown" if completed_by is None else str(completed_by)


def _unused(name: str, used: Iterable[str]) -> str:
    """Return the name, with a number if an annotator has several annotations of the same task."""
    taken = set(used)
    number, unique = 1, name
    while unique in taken:
        number += 1
        unique = f"{name}#{number}"
    return unique
