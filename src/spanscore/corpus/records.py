"""The native format as typed records: readers produce them, and corpora are built from them."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, cast

import msgspec
import numpy as np

from spanscore.corpus.columns import Column, Ints, Longs, refuse_sparse
from spanscore.corpus.corpus import MAX_OFFSET, Corpus, LabelTable, Tokens
from spanscore.corpus.strings import Strings
from spanscore.errors import InputError, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

Attr = str | int | float | bool | None
Regions = list[tuple[int, int]]
"""Parts of a document, as metadata may have them; they become text: `0-120,300-450`."""


class Span(msgspec.Struct, gc=False, omit_defaults=True):
    """A labelled range of text."""

    start: int
    end: int
    label: str
    score: float | None = None
    attrs: dict[str, Attr] | None = None


class Document(msgspec.Struct, gc=False, omit_defaults=True, kw_only=True):
    """A document and its spans."""

    id: str | int
    text: str | None = None
    spans: list[Span]
    tokens: list[tuple[int, int]] | None = None
    meta: dict[str, Attr | Regions] | None = None


def from_mappings(documents: Iterable[Mapping[str, Any]]) -> Corpus:
    """Build a corpus from dictionaries in the native format; errors name the position and the field."""
    records = []
    for number, mapping in enumerate(documents):
        try:
            records.append(msgspec.convert(mapping, Document))
        except msgspec.ValidationError as error:
            raise InputError(field_error(error), f"documents[{number}]") from None
    corpus = build(records)
    if flaw := corpus.flaw():
        raise InputError(flaw.message, flaw.place(corpus))
    refuse_repeated_ids(corpus.ids)
    return corpus


def to_records(corpus: Corpus) -> Iterator[Document]:
    """Yield the documents of a corpus."""
    attrs = {key: column.tolist() for key, column in corpus.attrs.items()}
    meta = {key: column.tolist() for key, column in corpus.meta.items()}
    bounds = corpus.bounds.tolist()
    texts: Sequence[str | None] = [None] * len(corpus) if corpus.text is None else corpus.text.tolist()
    tokens: list[list[tuple[int, int]]] | None = None
    if corpus.tokens is not None:
        tokens = [[] for _ in corpus.ids]
        columns = (corpus.tokens.doc.tolist(), corpus.tokens.start.tolist(), corpus.tokens.end.tolist())
        for doc, start, end in zip(*columns, strict=True):
            tokens[doc].append((start, end))
    for doc, name in enumerate(corpus.ids):
        spans = []
        for row in range(bounds[doc], bounds[doc + 1]):
            score = None if corpus.score is None or np.isnan(corpus.score[row]) else float(corpus.score[row])
            own = {key: column[row] for key, column in attrs.items() if column[row] is not None}
            label = corpus.labels[corpus.label[row]]
            spans.append(Span(int(corpus.start[row]), int(corpus.end[row]), label, score, own or None))
        about = {key: column[doc] for key, column in meta.items() if column[doc] is not None}
        yield Document(
            id=name,
            text=texts[doc],
            spans=spans,
            tokens=None if tokens is None else tokens[doc],
            meta=about or None,
        )


def build(documents: Sequence[Document], labels: LabelTable | None = None) -> Corpus:
    """Build a corpus from records; errors about invalid offsets name the document and the field.

    >>> build([Document(id=7, spans=[Span(0, 3, "PERSON"), Span(3, 5, "CITY", score=0.5)])]).score.tolist()
    [nan, 0.5]
    """
    labels = LabelTable() if labels is None else labels
    lists = [document.spans for document in documents]
    spans = list(chain.from_iterable(lists))
    counts = np.fromiter(map(len, lists), np.int64, len(lists))
    columns = document_columns(documents)
    ids = columns["ids"]
    doc = np.repeat(np.arange(len(ids), dtype=np.int32), counts)
    start = _offsets([span.start for span in spans], "start", ids, doc)
    end = _offsets([span.end for span in spans], "end", ids, doc)
    label = np.fromiter([labels[span.label] for span in spans], np.int32, len(spans))
    score = np.array([np.nan if span.score is None else span.score for span in spans], np.float64)
    return Corpus(
        doc=doc,
        start=start.astype(np.int32),
        end=end.astype(np.int32),
        label=label,
        labels=tuple(labels),
        score=None if np.isnan(score).all() else score,
        attrs=_columns([span.attrs for span in spans]),
        **columns,
    )


def document_columns(documents: Sequence[Any]) -> dict[str, Any]:
    """Return the ids, texts, tokens and metadata of records as keyword arguments for `Corpus`."""
    ids = [document.id for document in documents]
    names = tuple(ids if set(map(type, ids)) <= {str} else map(str, ids))
    texts = tuple([document.text for document in documents])
    return {
        "ids": names,
        "text": None if set(map(type, texts)) <= {type(None)} else texts,
        "tokens": _tokens([document.tokens for document in documents], names, texts),
        "meta": _columns([_plain(document.meta) for document in documents]),
    }


def field_error(error: Exception) -> str:
    """Return msgspec's error message with the path of the field in front: `spans[0].start: expected int, got str.`

    >>> try: msgspec.json.decode(b'{"id": 1, "spans": [{"start": "x"}]}', type=Document)
    ... except msgspec.ValidationError as error: print(field_error(error))
    spans[0].start: expected int, got str.
    """
    what, _, path = str(error).partition(" - at ")
    what = what.replace("`", "").rstrip(".")
    path = path.strip("`").removeprefix("$").removeprefix(".")
    missing = what.removeprefix("Object missing required field ")
    if missing != what:
        what = f"the field '{missing}' is missing"
    else:
        what = what[:1].lower() + what[1:] if what.startswith("Expected") else what
    return f"{path}: {what}." if path else f"{what}."


def refuse_repeated_ids(ids: Strings[str], where: str = "") -> None:
    """Raise if two documents have the same id."""
    if (name := ids.repeated()) is not None:
        raise repeated_id(name, where)


def repeated_id(name: str, where: str) -> InputError:
    """Return the error for two documents with the same id."""
    return InputError(f'two documents have the id "{printable(name)}"; ids must be unique.', where)


def _offsets(values: list[int], field: str, ids: tuple[str, ...], doc: np.ndarray[Any, Any]) -> Longs:
    try:
        offsets = np.fromiter(values, np.int64, len(values))
    except OverflowError:
        offsets = np.array([min(max(value, -1), MAX_OFFSET + 1) for value in values], np.int64)
    wrong = np.flatnonzero((offsets < 0) | (offsets > MAX_OFFSET))
    if wrong.size:
        row = int(wrong[0])
        position = int(np.count_nonzero(doc[:row] == doc[row]))
        what = "negative" if values[row] < 0 else f"larger than {MAX_OFFSET}"
        message = f"the offset {str(values[row])[:24]} is {what}; offsets count code points from 0."
        raise OffsetError(ids[doc[row]], f"spans[{position}].{field}", message)
    return offsets


class OffsetError(InputError):
    """An invalid offset. Readers report its line; when building from Python, the message names the document."""

    def __init__(self, document: str, path: str, message: str) -> None:
        super().__init__(message, f'document "{printable(document)}", {path}')
        self.path = path
        self.message = message


def _columns(rows: list[dict[str, Attr] | None]) -> dict[str, Column]:
    if not any(rows):
        return {}
    found: dict[str, tuple[list[int], list[Attr | None]]] = {}
    for number, row in enumerate(rows):
        for key, value in row.items() if row else ():
            places, values = found.get(key) or found.setdefault(key, ([], []))
            places.append(number)
            values.append(value)
    refuse_sparse(len(found), len(rows), sum(len(places) for places, _ in found.values()))
    return {key: Column.sparse(values, places, len(rows)) for key, (places, values) in found.items()}


def _plain(meta: dict[str, Attr | Regions] | None) -> dict[str, Attr] | None:
    """Return metadata with lists of regions as text."""
    if meta is None or not any(isinstance(value, list) for value in meta.values()):
        return cast("dict[str, Attr] | None", meta)
    return {
        key: ",".join(f"{low}-{high}" for low, high in value) if isinstance(value, list) else value
        for key, value in meta.items()
    }


def _tokens(
    lists: list[list[tuple[int, int]] | None], ids: tuple[str, ...], texts: tuple[str | None, ...]
) -> Tokens | None:
    if not any(lists):
        return None
    counts = [len(tokens or ()) for tokens in lists]
    doc = np.repeat(np.arange(len(lists), dtype=np.int32), counts)
    flat = [pair for tokens in lists for pair in tokens or ()]
    try:
        pairs = np.array(flat, np.int64).reshape(-1, 2)
    except OverflowError:
        raise InputError(f"a token has an offset larger than {MAX_OFFSET}.") from None
    length = np.array([-1 if text is None else len(text) for text in texts], np.int64)
    return checked_tokens(doc, pairs[:, 0], pairs[:, 1], ids, length)


def checked_tokens(doc: Ints, start: Longs, end: Longs, ids: Sequence[str], length: Longs | None) -> Tokens:
    """Check that tokens are in order and inside their text; a text `length` of -1 means unknown."""
    known = np.full(len(ids), -1) if length is None else length
    most = np.where(known < 0, MAX_OFFSET, known).take(doc)
    wrong = (start < 0) | (end < start) | (end > most)
    wrong[1:] |= (doc[1:] == doc[:-1]) & (start[1:] < end[:-1])
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        position = int(np.count_nonzero(doc[:row] == doc[row]))
        message = f"the token [{start[row]}, {end[row]}) has an invalid position; tokens must be in order, must not"
        message += " overlap, and must lie inside the text."
        raise OffsetError(ids[int(doc[row])], f"tokens[{position}]", message)
    return Tokens(doc, start.astype(np.int32), end.astype(np.int32))
