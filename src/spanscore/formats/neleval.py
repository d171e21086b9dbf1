"""`neleval`: tab-separated mentions: document, start, inclusive end, and candidates of entity id, score and type."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import msgspec

from spanscore.corpus import MAX_OFFSET
from spanscore.corpus.records import Attr, Document, Span, build
from spanscore.errors import InputError
from spanscore.formats.interface import CERTAIN, Claim, Format, Sample
from spanscore.formats.tags import looks_like_tag

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.corpus import Corpus
    from spanscore.formats.source import Source

UNTYPED = "MENTION"
"""The label of a mention without a type."""
_NUMBER = re.compile(rb"\d+")


@dataclass(frozen=True, repr=False)
class Neleval(Format):
    """neleval's TSV: document, start, inclusive end, then entity id, score and type of one or more candidates.

    The candidate with the best score counts. The entity id becomes the attribute kbid; a type may be a JSON object of
    attributes, one of which is the type.
    """

    name: ClassVar[str] = "neleval"
    scores_gold: ClassVar[bool] = True
    offsets: ClassVar[str] = "any unit, the same in all files; ends: inclusive"

    @classmethod
    def recognise(cls, sample: Sample) -> Claim | None:
        """Claim tab-separated lines with numbers in the second and third column."""
        columns = sample.columns
        tagged = len(columns) == 4 and looks_like_tag(columns[3].decode("utf-8", "replace"))
        if len(columns) >= 3 and _NUMBER.fullmatch(columns[1]) and _NUMBER.fullmatch(columns[2]) and not tagged:
            return Claim(CERTAIN, "the second and third column are numbers")
        return None

    def read(self, source: Source) -> Iterator[Corpus]:
        """Yield one corpus, documents in order of their first mention."""
        documents: dict[str, Document] = {}
        for number, line in source.lines():
            if not line.strip():
                continue
            where = f"{source.name}:{number}"
            columns = line.split("\t")
            if len(columns) < 3:
                raise InputError("expected at least three tab-separated columns: document, start, end.", where)
            name = columns[0]
            if not name:
                raise InputError("the first column, the document id, is empty.", where)
            start, end = _offset(columns[1], "start", where), _offset(columns[2], "end", where)
            if end < start:
                raise InputError(f"the end {end} is before the start {start}; ends are inclusive.", where)
            document = documents.setdefault(name, Document(id=name, spans=[]))
            document.spans.append(_mention(start, end + 1, columns[3:], where))
        yield build(list(documents.values()))


def _offset(text: str, field: str, where: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise InputError(f"the {field} is not a whole number.", where)
    if len(text) > 10 or int(text) >= MAX_OFFSET:
        raise InputError(f"the {field} is larger than {MAX_OFFSET - 1}.", where)
    return int(text)


def _mention(start: int, end: int, columns: list[str], where: str) -> Span:
    """Return the mention with its best-scored candidate (the first of several)."""
    candidates = [[*columns[i : i + 3], "", ""][:3] for i in range(0, len(columns), 3)] or [["", "", ""]]
    scored = [(_score(score, where), entity, kind) for entity, score, kind in candidates]
    score, entity, kind = max(scored, key=lambda one: float("-inf") if one[0] is None else one[0])
    label, attrs = _type(kind, where)
    if entity:
        attrs["kbid"] = entity
    return Span(start, end, label or UNTYPED, score, attrs or None)


def _score(text: str, where: str) -> float | None:
    if not text.strip():
        return None
    try:
        score = float(text)
    except ValueError:
        score = float("nan")
    if score != score or score in (float("inf"), float("-inf")):
        raise InputError("the score is not a finite number.", where)
    return score


def _type(text: str, where: str) -> tuple[str, dict[str, Attr]]:
    """Parse a type, or a JSON object of attributes one of which is the type."""
    if not text.startswith("{"):
        return text, {}
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError("the type begins like a JSON object, but is not valid JSON.", where) from None
    if not all(isinstance(value, Attr) for value in fields.values()):
        raise InputError("the fields of a type must be strings, numbers, true, false or null.", where)
    label = fields.pop("type", None)
    if not (label is None or isinstance(label, str)) or not _encodable(text):
        raise InputError("the type's field 'type' must be a string, and all strings must be Unicode text.", where)
    return label or "", fields


def _encodable(text: str) -> bool:
    """Return whether JSON text is free of unpaired surrogates."""
    try:
        msgspec.json.decode(text.encode())
    except (msgspec.DecodeError, UnicodeEncodeError):
        return False
    return True
