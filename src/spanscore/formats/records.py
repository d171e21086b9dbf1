"""`records`: any table or JSON whose fields have other names, which are given as options."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from spanscore.corpus.records import Attr
from spanscore.errors import InputError, printable, unknown
from spanscore.formats.documents import RawDocument, RawSpan
from spanscore.formats.offsets import ENDS, Convention
from spanscore.formats.tables import Record, Table, TableFormat
from spanscore.spec import parameter

if TYPE_CHECKING:
    from typing import Self

    from spanscore.formats.source import Source

_MISSING = object()
_MANY = 100_000_000
"""Characters of a Python literal that is still evaluated."""


@dataclass(frozen=True, repr=False)
class Records(TableFormat):
    """Any JSON, JSON Lines, CSV, TSV or Parquet file, or saved Hugging Face dataset, with arbitrary field names.

    Options name the fields; a dotted path such as `doc.body` or `value.0` leads into objects and lists. With `spans`, a
    record is a document and `spans` its list of spans, which may be a JSON string or an object of lists. Without it, a
    record is a single span, and records with the same id make a document; one with an empty start has no span.
    """

    name: ClassVar[str] = "records"
    text: str = parameter("", "The field with the text (default: text, if there is one).")
    spans: str = parameter("", "The field with the list of spans (default: each record is one span).")
    records: str = parameter("", "The field with the list of records, if the file is an object around them.")
    start: str = parameter("start", "The field of a span with its start.")
    end: str = parameter("end", "The field of a span with its end.")
    length: str = parameter("", "The field of a span with its length, if it has no end.")
    label: str = parameter("label", "The field of a span with its label.")
    id: str = parameter("", "The field with the document's id (default: id, if there is one, else its number).")
    score: str = parameter("", "The field of a span with its score (default: score, if there is one).")
    surface: str = parameter("", "The field of a span with its surface string, against which offsets are checked.")
    attrs: tuple[str, ...] = parameter((), "Fields of a span that become attributes.")
    meta: tuple[str, ...] = parameter((), "Fields of a document that become metadata.")
    ends: str = parameter(
        "auto",
        "How the end of a span is given (default: length with that option, else exclusive).",
        choices=("auto", *ENDS),
    )

    @property
    def convention(self) -> Convention:
        """The convention of the file's offsets."""
        natural = "length" if self.length else "exclusive"
        return Convention(self.unit, natural if self.ends == "auto" else self.ends, self.base, self.newline)

    def under(self, convention: Convention) -> Self:
        """Return this format with another convention."""
        natural = "length" if self.length else "exclusive"
        chosen = {
            "unit": convention.unit,
            "ends": "auto" if convention.end == natural else convention.end,
            "base": convention.base,
            "newline": convention.newline,
        }
        return type(self).make({**dict(self.given()), **chosen})

    def from_table(self, table: Table, source: Source) -> Iterator[RawDocument]:
        """Yield documents, one per record, or one per id if each record is a span."""
        names = table.names.get(f"{self.spans}.{self.label}" if self.spans else self.label)
        return self._by_record(table, names) if self.spans else self._by_id(table, names)

    def _rows(self, table: Table) -> Iterator[tuple[Record, str]]:
        """Yield the records, from inside the object that holds them if an option says where."""
        if not self.records:
            yield from table.rows
            return
        for record, where in table.rows:
            found = self._field(record, self.records, where)
            if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
                raise InputError("expected a list of objects.", f"{where}: {self.records}")
            yield from ((one, f"{where}: {self.records}[{number}]") for number, one in enumerate(found))

    def _by_record(self, table: Table, names: list[str] | None) -> Iterator[RawDocument]:
        for record, where in self._rows(table):
            spans = []
            for number, one in enumerate(_spans(self._field(record, self.spans, where), f"{where}: {self.spans}")):
                span = self._span(one, names, f"{where}: {self.spans}[{number}]")
                if span is None:
                    raise InputError("the start is empty.", f"{where}: {self.spans}[{number}].{self.start}")
                spans.append(span)
            yield self._raw_document(record, where, spans)

    def _by_id(self, table: Table, names: list[str] | None) -> Iterator[RawDocument]:
        found: dict[str | int, RawDocument] = {}
        for record, where in self._rows(table):
            document = self._raw_document(record, where, [])
            if document.id is None:
                what = "each record is one span, so it needs a field with the id of its document"
                fields = f"name it with records(id=...), or the list of spans with records(spans=...); {_named(record)}"
                raise InputError(f"{what}; {fields}.", where)
            document = found.setdefault(document.id, document)
            if (span := self._span(record, names, where)) is not None:
                document.spans.append(span)
        yield from found.values()

    def _raw_document(self, record: Record, where: str, spans: list[RawSpan]) -> RawDocument:
        text = self._optional(record, self.text, "text", where)
        name = self._optional(record, self.id, "id", where)
        if text is not None and not isinstance(text, str):
            raise InputError("expected a string.", f"{where}: {self.text or 'text'}")
        if isinstance(name, bool) or not isinstance(name, str | int | None):
            raise InputError("an id must be a string or a whole number.", f"{where}: {self.id or 'id'}")
        meta = self._attributes(record, self.meta)
        return RawDocument(where=where, id=None if name == "" else name, text=text, spans=spans, meta=meta)

    def _span(self, one: Any, names: list[str] | None, where: str) -> RawSpan | None:
        """Return a span; None if its start and end are empty. A label that is a number has one of the names."""
        start = self._field(one, self.start, where)
        if _is_empty(start):
            if not _is_empty(_get(one, self.length or self.end)):
                raise InputError("the start is empty, but the end is not.", f"{where}.{self.start}")
            return None
        end = self._field(one, self.length or self.end, where)
        label = self._field(one, self.label, where)
        if isinstance(label, list) and len(label) == 1:
            label = label[0]
        if label is None or isinstance(label, list | dict):
            raise InputError("the label must be a string.", f"{where}.{self.label}")
        if names is not None and isinstance(label, int) and 0 <= label < len(names):
            label = names[label]
        score = self._optional(one, self.score, "score", where)
        surface = self._field(one, self.surface, where) if self.surface else None
        return RawSpan(
            whole(start, f"{where}.{self.start}"),
            whole(end, f"{where}.{self.length or self.end}"),
            str(label),
            number(score, f"{where}.{self.score or 'score'}"),
            self._attributes(one, self.attrs),
            surface if isinstance(surface, str) else None,
        )

    def _attributes(self, record: Any, paths: tuple[str, ...]) -> dict[str, Attr] | None:
        if not paths:
            return None
        found = {path: value for path in paths if (value := _get(record, path)) is not _MISSING}
        return {path: value for path, value in found.items() if isinstance(value, Attr) and value is not None} or None

    def _field(self, record: Any, path: str, where: str) -> Any:
        if (value := _get(record, path)) is _MISSING:
            known = record if isinstance(record, dict) else ()
            what = unknown("field", path, map(printable, known)).rstrip(".")
            raise InputError(f"{what}; name the fields with {self.name}(...).", where)
        return value

    def _optional(self, record: Any, path: str, default: str, where: str) -> Any:
        if path:
            return self._field(record, path, where)
        value = _get(record, default)
        return None if value is _MISSING else value


def _named(record: Record) -> str:
    return f"there are the fields {', '.join(printable(name) for name in list(record)[:12])}"


def _is_empty(value: Any) -> bool:
    return value is _MISSING or value is None or value == "" or value != value  # a table has NaN for missing numbers


def _get(record: Any, path: str) -> Any:
    """Return what a dotted path leads to; a name that holds dots itself comes first."""
    if isinstance(record, dict) and path in record:
        return record[path]
    for part in path.split("."):
        if isinstance(record, dict):
            record = record.get(part, _MISSING)
        elif isinstance(record, list | tuple) and part.lstrip("-").isdigit() and int(part) < len(record):
            record = record[int(part)]
        else:
            return _MISSING
    return record


def _spans(value: Any, where: str) -> list[Any]:
    """Return a list of spans: a list, an object of lists, nothing, or any of these as a string."""
    if isinstance(value, str):
        value = from_text(value, where)
    if isinstance(value, dict) and value and all(isinstance(column, list) for column in value.values()):
        if len({len(column) for column in value.values()}) > 1:
            raise InputError("the lists of starts, ends and labels have different lengths.", where)
        return [dict(zip(value, row, strict=True)) for row in zip(*value.values(), strict=True)]
    if value is None:
        return []
    if not isinstance(value, list | tuple):
        raise InputError("expected a list of spans.", where)
    return list(value)


def from_text(value: str, where: str) -> Any:
    """Return the value of JSON, or of a Python literal, in a string."""
    if not value.strip():
        return None
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        return ast.literal_eval(value.strip()) if len(value) < _MANY else None
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        raise InputError("this string is neither JSON nor a Python list.", where) from None


def whole(value: Any, where: str) -> int:
    """Return a whole number, which may be a string or a float without decimals."""
    found = value
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            found = _float(value)
    if isinstance(found, float) and found.is_integer():
        found = int(found)
    if isinstance(found, bool) or not isinstance(found, int):
        raise InputError("expected a whole number.", where)
    return found


def _float(value: str) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None


def number(value: Any, where: str) -> float | None:
    """Return a number, which may be a string; None if it is missing or empty."""
    if value is None or value == "":
        return None
    try:
        if isinstance(value, bool):
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise InputError("expected a number.", where) from None
