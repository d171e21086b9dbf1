"""`neleval`: tab-separated mentions: document, start, inclusive end, and candidates of entity id, score and type."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec

from spanscore.corpus import MAX_OFFSET
from spanscore.corpus.records import Attr, Document, Span, build
from spanscore.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.corpus import Corpus
    from spanscore.formats.source import Source

UNTYPED = "MENTION"
"""The label of a mention without a type."""


def read(source: Source) -> Iterator[Corpus]:
    """One corpus, documents in order of their first mention."""
    documents: dict[str, Document] = {}
    for number, line in source.lines():
        if not line.strip():
            continue
        where = f"{source.name}:{number}"
        columns = line.split("\t")
        if len(columns) < 3:
            raise InputError("expected at least three columns separated by tabs: document, start, end.", where)
        name = columns[0]
        if not name:
            raise InputError("the first column, the document's id, is empty.", where)
        start, end = (_offset(text, field, where) for text, field in zip(columns[1:3], ("start", "end"), strict=True))
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
    """The mention with its best-scored candidate (the first of the best)."""
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
    """A type, or a JSON object of fields one of which is the type."""
    if not text.startswith("{"):
        return text, {}
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError("the type begins like a JSON object, but is none.", where) from None
    if not all(isinstance(value, Attr) for value in fields.values()):
        raise InputError("the fields of a type must be strings, numbers, true, false or null.", where)
    label = fields.pop("type", None)
    if not (label is None or isinstance(label, str)) or not _encodable(text):
        raise InputError("the type's field 'type' must be a string, and all strings must be Unicode text.", where)
    return label or "", fields


def _encodable(text: str) -> bool:
    """Whether JSON text has no escape of half a surrogate pair."""
    try:
        msgspec.json.decode(text.encode())
    except (msgspec.DecodeError, UnicodeEncodeError):
        return False
    return True
