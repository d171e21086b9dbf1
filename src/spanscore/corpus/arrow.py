"""Convert corpora to and from Arrow tables: one row per document, with its spans as a list column."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

import msgspec
import numpy as np

from spanscore.corpus.columns import Column
from spanscore.corpus.corpus import MAX_OFFSET, Corpus, LabelTable, Tokens
from spanscore.corpus.records import Attr, OffsetError, checked_tokens
from spanscore.corpus.strings import Strings
from spanscore.errors import InputError, MissingExtraError, printable

REPEATED = [f"spans.list.element.{name}" for name in ("start", "end", "label", "score")]
"""Columns with many repeated values, which are dictionary-encoded."""

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from spanscore.corpus.columns import Longs


def pyarrow(what: str = "Parquet", extra: str = "parquet") -> Any:
    """Import and return pyarrow; raise an error that says how to install it if it is missing."""
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError(what, extra) from None
    return pyarrow


def schema(
    *, text: bool = True, score: bool = True, tokens: bool = False, attrs: str | None = None, meta: str | None = None
) -> Any:
    """Return the Arrow schema of a table; `attrs` and `meta` are `map` if all their values are strings, else `json`.

    Required fields are declared non-nullable, which makes them much faster to read.
    """
    pa = pyarrow()
    kinds = {"map": pa.map_(pa.string(), pa.string()), "json": pa.string()}

    def lists(of: list[Any]) -> Any:
        return pa.list_(pa.field("element", pa.struct(of), nullable=False))

    place = [pa.field(name, pa.int32(), nullable=False) for name in ("start", "end")]
    span = [*place, pa.field("label", pa.string(), nullable=False)]
    span += [pa.field("score", pa.float64())] if score else []
    span += [pa.field("attrs", kinds[attrs])] if attrs else []
    fields = [pa.field("id", pa.string(), nullable=False)]
    fields += [pa.field("text", pa.string())] if text else []
    fields += [pa.field("spans", lists(span), nullable=False)]
    fields += [pa.field("tokens", lists(place), nullable=False)] if tokens else []
    fields += [pa.field("meta", kinds[meta])] if meta else []
    return pa.schema(fields)


def to_table(corpus: Corpus, wanted: Any = None) -> Any:
    """Return a corpus as an Arrow table with the columns of the schema `wanted`, by default those it needs."""
    pa = pyarrow()
    wanted = wanted if wanted is not None else schema_for([corpus])
    spans = wanted.field("spans").type
    columns: dict[str, Any] = {
        "id": _string_array(pa, corpus.ids, "ids"),
        "spans": _lists(pa, corpus.bounds, _spans(pa, corpus, spans.value_type), spans),
    }
    names = set(wanted.names)
    if "text" in names:
        columns["text"] = _string_array(pa, corpus.text or Strings.absent(len(corpus)), "texts")
    if "tokens" in names:
        columns["tokens"] = _token_lists(pa, corpus, wanted.field("tokens").type)
    if "meta" in names:
        columns["meta"] = _attributes(pa, corpus.meta, len(corpus), wanted.field("meta").type)
    return pa.table([columns[name] for name in wanted.names], schema=wanted)


def write_parquet(file: IO[bytes], corpora: Iterable[Corpus], wanted: Any, rows: int = 8192) -> None:
    """Write corpora to a Parquet file with the schema `wanted` and `rows` documents per row group."""
    from pyarrow import parquet

    with parquet.ParquetWriter(file, wanted, compression="lz4", use_dictionary=REPEATED) as writer:
        for corpus in in_blocks(corpora, rows):
            writer.write_table(to_table(corpus, wanted))


def in_blocks(corpora: Iterable[Corpus], rows: int) -> Iterator[Corpus]:
    """Yield the same documents in corpora of `rows` documents; the last one may be shorter."""
    waiting: list[Corpus] = []
    for corpus in corpora:
        waiting.append(corpus)
        while sum(map(len, waiting)) >= rows:
            whole = Corpus.concat(waiting)
            yield whole.block(0, rows)
            waiting = [whole.block(rows, len(whole))]
    if waiting and len(waiting[-1]):
        yield Corpus.concat(waiting)


def schema_for(corpora: Iterable[Corpus]) -> Any:
    """Return the smallest schema that holds all of these corpora."""
    text = score = tokens = False
    kinds: dict[str, set[str]] = {"attrs": set(), "meta": set()}
    for one in corpora:
        text, score = text or one.text is not None, score or one.score is not None
        tokens = tokens or one.tokens is not None
        kinds["attrs"] |= {_kind(column) for column in one.attrs.values()}
        kinds["meta"] |= {_kind(column) for column in one.meta.values()}
    return schema(
        text=text, score=score, tokens=tokens, **{name: min(kind, default=None) for name, kind in kinds.items()}
    )


def from_table(table: Any, labels: LabelTable | None = None, where: str = "") -> Corpus:
    """Return an Arrow table as a corpus; errors name the document and the field."""
    try:
        return _from_table(pyarrow(), table, LabelTable() if labels is None else labels, where)
    except UnicodeDecodeError:
        raise InputError("a label, attribute or metadata value is not valid UTF-8.", where) from None


def _from_table(pa: Any, table: Any, labels: LabelTable, where: str) -> Corpus:
    _check_unique(table.column_names, "columns", where)
    for name in ("id", "spans"):
        if name not in table.column_names:
            hint = "a table needs the columns id and spans; name other columns with the format records(...)"
            raise InputError(f"the column '{name}' is missing; {hint}.", where)
    ids = _column(table, "id")
    if ids.null_count:
        raise InputError("a document has no id.", where)
    names = _strings(pa, ids.cast(pa.string()) if pa.types.is_integer(ids.type) else ids, "id", where)
    spans = _column(table, "spans")
    counts, flat = _flat(pa, spans, "spans", where)
    fields = _fields(pa, flat, ("start", "end", "label"), "spans", where)
    doc = np.repeat(np.arange(len(names), dtype=np.int32), counts)

    def refuse(rows: Longs, field: str, what: str) -> None:
        if len(rows):
            row = int(rows[0])
            position = row - int(np.searchsorted(doc, doc[row]))
            raise InputError(what, f'{where}: document "{printable(names[int(doc[row])])}", spans[{position}]{field}')

    refuse(np.flatnonzero(_nulls(flat)), "", "the span is missing.")
    offsets = {}
    for field in ("start", "end"):
        column = flat.field(field)
        if not pa.types.is_integer(column.type):
            raise InputError(f"the field '{field}' of 'spans' has type {column.type}; it must hold integers.", where)
        refuse(np.flatnonzero(_nulls(column)), f".{field}", f"the {field} is missing.")
        values = column.to_numpy(zero_copy_only=False)
        wrong = np.flatnonzero((values < 0) | (values > MAX_OFFSET))
        refuse(wrong, f".{field}", f"the offset must be between 0 and {MAX_OFFSET}.")
        offsets[field] = values.astype(np.int32, copy=False)
    label = flat.field("label")
    refuse(np.flatnonzero(_nulls(label)), ".label", "the label is missing.")
    coded = label if pa.types.is_dictionary(label.type) else label.dictionary_encode()
    known = coded.dictionary.to_pylist()
    if not all(isinstance(name, str) for name in known):
        raise InputError("the field 'label' of 'spans' must hold strings.", where)
    codes = coded.indices.to_numpy(zero_copy_only=False) if len(flat) else np.zeros(0, np.int32)
    used = np.bincount(codes, minlength=len(known)).tolist()
    place = np.array([labels[name] if times else 0 for name, times in zip(known, used, strict=True)] or [0], np.int32)
    score = None
    if "score" in fields:
        score = flat.field("score")
        kinds = (pa.types.is_floating, pa.types.is_integer, pa.types.is_decimal, pa.types.is_null)
        if not any(of_kind(score.type) for of_kind in kinds):
            raise InputError(f"the field 'score' of 'spans' has type {score.type}; it must hold numbers.", where)
        score = score.cast(pa.float64()).to_numpy(zero_copy_only=False)
        score = None if np.isnan(score).all() else score
    texts = _strings(pa, _column(table, "text"), "text", where) if "text" in table.column_names else None
    corpus = Corpus(
        ids=names,
        doc=doc,
        **offsets,
        label=place.take(codes),
        labels=tuple(labels),
        score=score,
        attrs=_columns(flat.field("attrs"), where) if "attrs" in fields else {},
        meta=_columns(_column(table, "meta"), where) if "meta" in table.column_names else {},
        text=None if texts is None or not texts.present else texts,
        tokens=_tokens(pa, table, names, texts, where) if "tokens" in table.column_names else None,
    )
    corpus.__dict__["bounds"] = np.concatenate([[0], np.cumsum(counts)])
    if flaw := corpus.flaw():
        raise InputError(flaw.message, f"{where}: {flaw.place(corpus)}")
    return corpus


def _column(table: Any, name: str) -> Any:
    """Return a column as a single contiguous array."""
    column = table.column(name)
    if not hasattr(column, "combine_chunks"):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()  # which would copy it


def _string_array(pa: Any, strings: Strings[Any], what: str) -> Any:
    """Return a string column as an Arrow array without decoding it."""
    if not strings.valid():
        raise InputError(f"the {what} contain an unpaired surrogate, which Parquet cannot store.")
    packed = strings.packed
    if len(packed.buffer) > MAX_OFFSET:
        raise InputError(f"the {what} of {len(packed)} documents exceed 2 GiB, the limit for one Parquet row group.")
    offsets = np.append(packed.begin, len(packed.buffer)).astype(np.int32)
    present = None if packed.missing is None else pa.py_buffer(np.packbits(~packed.missing, bitorder="little"))
    return pa.StringArray.from_buffers(len(packed), pa.py_buffer(offsets), pa.py_buffer(packed.buffer), present)


def _strings(pa: Any, array: Any, name: str, where: str) -> Strings[Any]:
    """Return an Arrow array as a string column without decoding it."""
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    types = pa.types
    if not (types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind) or types.is_null(kind)):
        raise InputError(f"the column '{name}' has type {array.type}; it must hold strings.", where)
    if not (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
        array = array.cast(pa.large_string())
    _, offsets, data = array.buffers()
    wide = np.int64 if pa.types.is_large_string(array.type) else np.int32
    place = (
        np.frombuffer(offsets, wide)[array.offset :][: len(array) + 1].astype(np.int64)
        if offsets
        else np.zeros(1, np.int64)
    )
    low, high = (int(place[0]), int(place[-1])) if len(array) else (0, 0)
    buffer = data.slice(low, high - low).to_pybytes() if high > low else b""
    missing = _nulls(array) if array.null_count else None
    begin, end = place[:-1] - low, place[1:] - low
    found: Strings[Any] = Strings(buffer, begin, end if missing is None else np.where(missing, begin, end), missing)
    if not found.valid():
        raise InputError(f"the column '{name}' holds a string that is not valid UTF-8.", where)
    return found


def _flat(pa: Any, lists: Any, name: str, where: str) -> tuple[Any, Any]:
    """Return the length of each list, and the elements of all lists."""
    if not (pa.types.is_list(lists.type) or pa.types.is_large_list(lists.type)):
        raise InputError(f"the column '{name}' has type {lists.type}; it must hold lists.", where)
    counts = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    return counts, lists.flatten()


def _nulls(column: Any) -> Any:
    return column.is_null().to_numpy(zero_copy_only=False) if column.null_count else np.zeros(len(column), np.bool_)


def _lists(pa: Any, bounds: Longs, values: Any, kind: Any) -> Any:
    return pa.ListArray.from_arrays(pa.array(bounds.astype(np.int32)), values, type=kind)


def _spans(pa: Any, corpus: Corpus, kind: Any) -> Any:
    score = np.full(len(corpus.start), np.nan) if corpus.score is None else corpus.score
    coded = pa.DictionaryArray.from_arrays(pa.array(corpus.label), pa.array(corpus.labels, pa.string()))
    columns = {
        "start": pa.array(corpus.start),
        "end": pa.array(corpus.end),
        "label": coded.cast(pa.string()),
        "score": pa.array(score, mask=np.isnan(score)),
    }
    if "attrs" in [field.name for field in kind]:
        columns["attrs"] = _attributes(pa, corpus.attrs, len(corpus.start), kind.field("attrs").type)
    return pa.StructArray.from_arrays([columns[field.name] for field in kind], fields=list(kind))


def _token_lists(pa: Any, corpus: Corpus, kind: Any) -> Any:
    tokens = corpus.tokens
    if tokens is None:
        empty = np.zeros(0, np.int32)
        tokens = Tokens(empty, empty, empty)
    counts = np.bincount(tokens.doc, minlength=len(corpus))
    pairs = pa.StructArray.from_arrays([pa.array(tokens.start), pa.array(tokens.end)], fields=list(kind.value_type))
    return _lists(pa, np.concatenate([[0], np.cumsum(counts)]), pairs, kind)


def _tokens(pa: Any, table: Any, ids: Strings[str], texts: Strings[Any] | None, where: str) -> Tokens | None:
    counts, flat = _flat(pa, _column(table, "tokens"), "tokens", where)
    if not len(flat):
        return None
    _fields(pa, flat, ("start", "end"), "tokens", where)
    columns = [flat.field(name) for name in ("start", "end")]
    if not all(pa.types.is_integer(column.type) for column in columns):
        raise InputError("the fields 'start' and 'end' of 'tokens' must hold integers.", where)
    if any(column.null_count for column in (flat, *columns)):
        raise InputError("a token is null, or its start or end is.", where)
    start, end = (column.to_numpy(zero_copy_only=False).astype(np.int64) for column in columns)
    doc = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    try:
        return checked_tokens(doc, start, end, ids, None if texts is None else texts.lengths)
    except OffsetError as error:
        raise InputError(str(error), where) from None


def _fields(pa: Any, flat: Any, wanted: tuple[str, ...], name: str, where: str) -> set[str]:
    """Return the fields of the structs in a list column; raise if one of `wanted` is missing."""
    fields = [field.name for field in flat.type] if pa.types.is_struct(flat.type) else []
    _check_unique(fields, f"fields of '{name}'", where)
    if not set(wanted) <= set(fields):
        listed = f"{', '.join(wanted[:-1])} and {wanted[-1]}"
        raise InputError(f"the column '{name}' must hold lists of structs with the fields {listed}.", where)
    return set(fields)


def _check_unique(names: Sequence[str], what: str, where: str) -> None:
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise InputError(f"two {what} have the name '{printable(repeated)}'.", where)


def _kind(column: Column) -> str:
    """Return how a column of attributes is stored: `map` if all values are strings, else `json`."""
    return "map" if all(isinstance(value, str) for value in column.values) else "json"


def _attributes(pa: Any, columns: Mapping[str, Column], size: int, kind: Any) -> Any:
    listed = {key: column.tolist() for key, column in columns.items()}
    rows = [{key: values[row] for key, values in listed.items() if values[row] is not None} for row in range(size)]
    if pa.types.is_map(kind):
        return pa.array([list(row.items()) or None for row in rows], kind)
    return pa.array([msgspec.json.encode(row).decode() if row else None for row in rows], kind)


def _columns(column: Any, where: str) -> dict[str, Column]:
    """Return the attributes in a column of string maps or JSON objects."""
    cells = column.to_pylist()
    decoder = msgspec.json.Decoder(dict[str, Attr])
    try:
        rows = [{} if one is None else decoder.decode(one) if isinstance(one, str) else dict(one) for one in cells]
    except UnicodeDecodeError:
        raise
    except (msgspec.MsgspecError, TypeError, ValueError):
        raise InputError("attributes and metadata must be string maps or JSON objects.", where) from None
    keys = dict.fromkeys(key for row in rows for key in row)
    if not all(isinstance(key, str) for key in keys):
        raise InputError("the names of attributes and metadata must be strings.", where)
    try:
        return {key: Column.of([row.get(key) for row in rows]) for key in keys}
    except TypeError:
        raise InputError("attributes and metadata must be plain values, not lists or objects.", where) from None
