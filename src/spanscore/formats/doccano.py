"""`doccano`: doccano's JSON Lines, with spans as triples or as entities."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, ClassVar, Self

import msgspec
import numpy as np

from spanscore.corpus.annotators import ANNOTATOR
from spanscore.corpus.records import Attr
from spanscore.errors import InputError, plural
from spanscore.formats.annotators import AnnotatedFormat, other_meta, written_by
from spanscore.formats.doctor import USUAL, Case, best, fits
from spanscore.formats.documents import RawDocument, RawSpan
from spanscore.formats.interface import LIKELY, Claim, Losses, Sample
from spanscore.formats.json_records import records
from spanscore.formats.offsets import UNITS, Convention, describe
from spanscore.formats.writing import to_write
from spanscore.spec import parameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from spanscore.corpus import Corpus
    from spanscore.corpus.records import Span
    from spanscore.formats.source import Source

CANDIDATES = ("utf16", "grapheme", "codepoint")
"""Units that doccano or the tools around it count, the most usual first."""
ENOUGH = 500
"""Documents in which units differ that are looked at to decide the unit."""


class Entity(msgspec.Struct):
    """A span of the layout with relations, or of old exports, which name users and number labels."""

    start_offset: int
    end_offset: int
    label: str | int
    user: int | str | None = None


class Line(msgspec.Struct):
    """A document; versions of doccano differ in the names of its fields."""

    text: str | None = None
    data: str | None = None
    id: str | int | None = None
    label: list[tuple[int, int, str | int]] | None = None
    labels: list[tuple[int, int, str | int]] | None = None
    entities: list[Entity] | None = None
    annotations: list[Entity] | None = None
    relations: list[Any] = []
    meta: dict[str, Any] | str | None = None


_line = msgspec.json.Decoder(Line)


@dataclass(frozen=True, repr=False)
class Doccano(AnnotatedFormat):
    """doccano's JSON Lines: {"text": ..., "label": [[0, 2, "ORG"]]}, or entities with start_offset and end_offset.

    doccano counts UTF-16 code units, or graphemes if the project says so, and the file does not say which. With
    unit=auto, the spans decide where the units differ: they end inside the text, and rarely inside words. If that
    leaves a choice, an error asks for the unit. Relations are left out.
    """

    name: ClassVar[str] = "doccano"
    takes_suggestions: ClassVar[bool] = True
    offsets: ClassVar[str] = "UTF-16 code units, or graphemes; ends: exclusive"
    unit: str = parameter("auto", "Unit of offsets.", choices=("auto", *UNITS))

    @property
    def convention(self) -> Convention:
        """The convention of the file's offsets; UTF-16 where nothing else was decided."""
        return Convention("utf16" if self.unit == "auto" else self.unit, self.end, self.base, self.newline)

    @classmethod
    def recognise(cls, sample: Sample) -> Claim | None:
        """Claim lines with a text and a list of labels or entities with offsets."""
        keys = sample.top_keys
        if not (keys & {"text", "data"} and keys & {"label", "labels", "entities", "annotations"}):
            return None
        try:
            line = _line.decode(sample.first_line)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return None
        if _found(line) is None or (line.text or line.data) is None:
            return None
        return Claim(LIKELY, "the first line is a JSON object with a text and labels with offsets")

    def documents(self, source: Source) -> Iterator[RawDocument]:
        """Yield the lines."""
        for line, where in records(source, Line):
            text = line.data if line.text is None else line.text
            found = _found(line)
            if text is None or found is None:
                missing = "text" if text is None else "label (or labels, entities)"
                raise InputError(f"the field {missing} is missing.", where)
            source.left_out["relations"] += len(line.relations)
            by: dict[str, list[RawSpan]] = {}
            for one in found:
                name = "" if isinstance(one, tuple) or one.user is None else str(one.user)
                by.setdefault(name, []).append(_span(one))
            given = line.meta if isinstance(line.meta, dict) else {}
            meta = {key: value for key, value in given.items() if isinstance(value, Attr)}
            several = set(by) - {""}
            spans = [] if several else by.get("", [])
            yield RawDocument(where=where, id=line.id, text=text, spans=spans, by=by if several else None, meta=meta)

    def decided(self, documents: list[RawDocument], source: Source) -> Self:
        """Return the format with its unit, if that matters and the spans show it."""
        if self.unit != "auto":
            return self
        cases = [case for case in map(self._case, documents) if case.text is not None]
        conventions = [replace(self.convention, unit=unit) for unit in CANDIDATES]
        differing = (case for case in cases if not _is_plain(case.text or "") and _differ(case, conventions))
        decisive = list(islice(differing, ENOUGH))
        found = fits(conventions, decisive)
        if not decisive or not found:
            return self
        least = min(one.odd for one in found)
        equal = [one.convention for one in found if one.odd == least]
        place = next(document.where for document in documents if document.text == decisive[0].text)
        if least > USUAL * found[0].looked and (others := best(self.convention, cases)):
            what = f"{plural(least, 'span')} or more would begin or end inside a word or on whitespace"
            raise InputError(f"{what}; {self.read_with(others)}.", place)
        if len(equal) > 1:
            spans = sum(len(case.start) for case in decisive)
            options = ", ".join(f"doccano(unit={one.convention.unit})" for one in found)
            what = f"the file does not say what offsets count, and {plural(spans, 'span')} would differ"
            hint = "doccano counts utf16, or grapheme if the project was set up so"
            raise InputError(f"{what}; read it with one of {options} ({hint}).", place)
        chosen = replace(self, unit=equal[0].unit)
        source.notes.append(f"{source.name}: offsets count {describe(chosen.convention)}, as the spans show.")
        return chosen

    def write(self, chunks: Callable[[], Iterable[Corpus]], file: IO[bytes]) -> Losses:
        """Write lines with triples; offsets count UTF-16 code units unless another unit is set.

        Spans of named annotators are written in the layout of old exports, which has users.
        """
        losses: Counter[str] = Counter()
        holds, convention = ("metadata",), self.convention
        for one in to_write(chunks, self, losses, convention=convention, holds=holds, attributes=(ANNOTATOR,)):
            meta = {"meta": kept} if (kept := other_meta(one.document)) else {}
            marks: dict[str, Any] = {"label": [(start, end, span.label) for start, end, span in one.spans]}
            if by := written_by(one):
                losses["annotators who marked nothing in a document"] += sum(not spans for spans in by.values())
                marks = {"annotations": [_entity(*span, name) for name, spans in by.items() for span in spans]}
            file.write(msgspec.json.encode({"id": one.id, "text": one.text, **marks, **meta}) + b"\n")
        return losses


def _found(line: Line) -> list[Entity] | list[tuple[int, int, str | int]] | None:
    given = (line.label, line.labels, line.entities, line.annotations)
    return next((one for one in given if one is not None), None)


def _span(one: Entity | tuple[int, int, str | int]) -> RawSpan:
    start, end, label = one if isinstance(one, tuple) else (one.start_offset, one.end_offset, one.label)
    return RawSpan(start, end, str(label))


def _entity(start: int, end: int, span: Span, name: str) -> dict[str, Any]:
    user = {"user": int(name) if name.isascii() and name.isdigit() and len(name) < 12 else name} if name else {}
    return {"label": span.label, "start_offset": start, "end_offset": end, **user}


def _is_plain(text: str) -> bool:
    """Return whether all units count the same in a text."""
    return text.isascii() and "\r\n" not in text


def _differ(case: Case, conventions: list[Convention]) -> bool:
    first, *others = [np.concatenate(case.places(one)) for one in conventions]
    return any(not np.array_equal(first, other) for other in others)
