"""`ai4privacy`: the layouts of the ai4privacy datasets for masking personal data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from spanscore.corpus.records import Attr, field_error
from spanscore.errors import InputError
from spanscore.formats.documents import RawDocument, RawSpan
from spanscore.formats.interface import LIKELY, Claim, Sample
from spanscore.formats.records import Records, from_text
from spanscore.formats.tables import Record, Table, TableFormat, schema_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.formats.source import Source

TEXTS = ("source_text", "unmasked_text")
OTHER_NAMES = {
    "start": ("begin", "start_offset", "start_position", "from"),
    "end": ("stop", "end_offset", "end_position", "to"),
    "label": ("entity", "entity_type", "type", "category", "tag"),
}
"""Names of the fields of a mask in files that are like these datasets."""
META = ("language", "locale", "region", "script", "split", "set")


class Mask(msgspec.Struct):
    """A masked value."""

    label: str
    start: int
    end: int
    value: str | None = None


@dataclass(frozen=True, repr=False)
class Ai4Privacy(TableFormat):
    """The ai4privacy datasets, as JSON Lines, CSV, Parquet or a saved dataset.

    Spans are in `privacy_mask`, a list of `{label, start, end, value}` or a JSON string of one; where that only maps
    placeholders to values, they are in `span_labels`, `[[start, end, label], ...]`, in which the label O is none. The
    text is source_text or unmasked_text; the id is id or uid, else the number of the record.
    """

    name: ClassVar[str] = "ai4privacy"
    span_path: ClassVar[str] = "privacy_mask[{}]"

    @classmethod
    def recognise(cls, sample: Sample) -> Claim | None:
        """Claim tables with a text and privacy_mask or span_labels."""
        keys = {key.encode() for key in sample.keys} if sample.is_json else schema_of(sample) or sample.first_line
        if any(one.encode() in keys for one in TEXTS) and (b"privacy_mask" in keys or b"span_labels" in keys):
            return Claim(LIKELY, 'it has the fields "source_text" or "unmasked_text", and "privacy_mask"')
        return None

    def from_table(self, table: Table, source: Source) -> Iterator[RawDocument]:
        """Yield a document per record."""
        for record, where in table.rows:
            text = next((record[name] for name in TEXTS if isinstance(record.get(name), str)), None)
            if text is None:
                raise InputError("expected the field source_text or unmasked_text.", where)
            name = next((record[key] for key in ("id", "uid") if record.get(key) not in (None, "")), None)
            meta: dict[str, Attr] = {key: record[key] for key in META if isinstance(record.get(key), str)}
            yield RawDocument(where=where, id=name, text=text, spans=_spans(record, where), meta=meta)


def _spans(record: Record, where: str) -> list[RawSpan]:
    mask = _value(record, "privacy_mask", where)
    if isinstance(mask, list):
        try:
            found = msgspec.convert(mask, list[Mask], strict=False)
        except msgspec.ValidationError as error:
            hint = f"; name the fields with {_as_records(record, mask)!r}" if "missing" in str(error) else ""
            raise InputError(f"privacy_mask{field_error(error).rstrip('.')}{hint}.", where) from None
        return [RawSpan(one.start, one.end, one.label, surface=one.value) for one in found]
    labels = _value(record, "span_labels", where)
    if labels is None and "span_labels" not in record:
        raise InputError("privacy_mask has no offsets, and there are no span_labels.", where)
    try:
        triples = msgspec.convert(labels or [], list[tuple[int, int, str]])
    except msgspec.ValidationError as error:
        raise InputError(f"span_labels{field_error(error)}", where) from None
    return [RawSpan(start, end, label) for start, end, label in triples if label != "O"]


def _as_records(record: Record, mask: list[Any]) -> Records:
    """Return the format that reads a mask whose fields have other names; dots stand for names to be given."""
    fields = next((one for one in mask if isinstance(one, dict)), {})
    names = {
        name: next((one for one in (name, *others) if one in fields), "...") for name, others in OTHER_NAMES.items()
    }
    return Records.make({"text": next(name for name in TEXTS if name in record), "spans": "privacy_mask", **names})


def _value(record: Record, key: str, where: str) -> Any:
    value = record.get(key)
    return from_text(value, f"{where}: {key}") if isinstance(value, str) else value
