"""Corpora from objects in memory, and back. Each layout is read by the format that reads it from files.

These functions are the constructors of `Corpus` whose names begin with `from_`, and its methods `to_spacy` and
`to_pandas`.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import numpy as np

from spanscore.corpus.records import field_error, refuse_repeated_ids
from spanscore.errors import InputError, MissingExtraError, UsageError, listed, plural, printable
from spanscore.formats import gliner, presidio
from spanscore.formats.documents import RawDocument, RawSpan, blanks, named
from spanscore.formats.hf import Found, Hf, spans_of_output
from spanscore.formats.recognizer_results import RecognizerResult, RecognizerResults
from spanscore.formats.records import Records
from spanscore.formats.source import Source
from spanscore.formats.spacy import Spacy
from spanscore.formats.tables import Record, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from spanscore.corpus import Corpus
    from spanscore.formats.documents import DocumentFormat

FRAME = ("sentence_id", "token", "start_indices")
"""The columns that a frame of presidio-evaluator has besides its tags."""
S = TypeVar("S")


class Memory(Source):
    """Objects in memory instead of a file: a name for error messages, and notes."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.notes = []
        self.left_out = Counter()
        self._companion = None


def from_tags(
    tokens: Iterable[Sequence[str]],
    tags: Iterable[Sequence[str]],
    *,
    scheme: str = "auto",
    repair: str = "begin",
    ids: Sequence[str] | None = None,
) -> Corpus:
    """Read tokens and tags; see `Corpus.from_tags`."""
    words, names = [list(one) for one in tokens], [list(one) for one in tags]
    if len(words) != len(names):
        raise InputError(f"there are {plural(len(words), 'list')} of tokens, but {len(names)} of tags.", "from_tags")
    rows = [{"tokens": one, "tags": two} for one, two in zip(words, names, strict=True)]
    return _table(Hf(tags="tags", scheme=scheme, repair=repair), Table(_placed(rows, "tags")), ids)


def from_hf(
    data: Iterable[Any],
    *,
    texts: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    ids: Sequence[str] | None = None,
    **options: Any,
) -> Corpus:
    """Read a dataset, or the output of a pipeline; see `Corpus.from_hf`."""
    features = getattr(data, "features", None)
    rows = list(data)
    if rows and not isinstance(rows[0], dict):
        lists = [_converted(one, list[Found], f"results[{number}]") for number, one in enumerate(rows)]
        wheres = [f"results[{number}]" for number in range(len(lists))]
        spans = spans_of_output(list(zip(lists, wheres, strict=True)))
        return _corpus(Hf(), _with_texts(spans, texts, "results"), ids)
    known = {key: list(found) for key, feature in (features or {}).items() if (found := _class_names(feature))}
    if names is not None:
        known = {key: list(names) for row in rows[:1] for key in row}
    return _table(Hf.make(options), Table(_placed(rows, "rows"), known), ids)


def from_spacy(docs: Iterable[Any], *, group: str = "", ids: Sequence[str] | None = None) -> Corpus:
    """Read spaCy documents; see `Corpus.from_spacy`."""
    layout = Spacy(group=group)
    raws = []
    for number, doc in enumerate(docs):
        if not hasattr(doc, "ents"):
            raise InputError(f"expected a spaCy Doc, not {type(doc).__name__}.", f"docs[{number}]")
        raws.append(layout.from_doc(doc, f"docs[{number}]"))
    return _corpus(layout, raws, ids)


def from_presidio(
    results: Iterable[Iterable[Any]], texts: Sequence[str] | None = None, *, ids: Sequence[str] | None = None
) -> Corpus:
    """Read results of Presidio Analyzer; see `Corpus.from_presidio`."""
    layout = RecognizerResults()
    spans = (
        [layout.span(one, place) for one in _converted(_per_text(found, place), list[RecognizerResult], place)]
        for place, found in _numbered(results, "results")
    )
    return _corpus(layout, _with_texts(spans, texts, "results"), ids)


def from_gliner(
    results: Iterable[Any], texts: Sequence[str] | None = None, *, ids: Sequence[str] | None = None
) -> Corpus:
    """Read predictions or training data of GLiNER; see `Corpus.from_gliner`."""
    layout, rows = gliner.Gliner(), list(results)
    if rows and isinstance(rows[0], dict):
        examples = ((place, _converted(row, gliner.Example, place)) for place, row in _numbered(rows, "examples"))
        raws = [gliner.raw_document(row, place, number) for number, (place, row) in enumerate(examples)]
        return _corpus(layout, raws, ids)
    spans = (
        [layout.span(one, place) for one in _converted(found, list[gliner.Entity], place)]
        for place, found in _numbered(rows, "results")
    )
    return _corpus(layout, _with_texts(spans, texts, "results"), ids)


def from_presidio_evaluator(data: Any, column: str = "annotation") -> Corpus:
    """Read a frame or samples of presidio-evaluator; see `Corpus.from_presidio_evaluator`."""
    layout = presidio.PresidioDataset()
    if hasattr(data, "columns"):
        return _corpus(layout, _tagged_tokens(data, column), None)
    return _corpus(layout, [_sample(one, place) for place, one in _numbered(data, "samples")], None)


def from_pandas(frame: Any, **fields: Any) -> Corpus:
    """Read a data frame; see `Corpus.from_pandas`."""
    return _table(Records.make(fields), Table(_placed(_rows(frame), "row")), None)


def to_pandas(corpus: Corpus, *, text: bool = False) -> Any:
    """Return a data frame with a row per span; see `Corpus.to_pandas`."""
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtraError("A pandas data frame", "pandas") from None
    empty = np.flatnonzero(np.diff(corpus.bounds) == 0)
    size, doc = len(corpus.start), np.concatenate([corpus.doc, empty])
    order = np.argsort(doc, kind="stable")
    doc, row = doc[order], np.concatenate([np.arange(size), np.full(len(empty), -1)])[order]
    ids, known = corpus.ids.tolist(), row >= 0
    texts = None if corpus.text is None else corpus.text.tolist()

    def padded(values: Sequence[Any]) -> list[Any]:
        return [values[one] if one >= 0 else None for one in row.tolist()]

    start, end = (pd.array(padded(column.tolist()), dtype="Int64") for column in (corpus.start, corpus.end))
    columns: dict[str, Any] = {"id": [ids[one] for one in doc.tolist()], "start": start, "end": end}
    columns["label"] = padded([corpus.labels[code] for code in corpus.label.tolist()])
    if corpus.score is not None:
        columns["score"] = np.where(known, corpus.score[row], np.nan) if size else np.full(len(row), np.nan)
    if texts is not None:
        places = zip(corpus.doc.tolist(), corpus.start.tolist(), corpus.end.tolist(), strict=True)
        columns["surface"] = padded([(texts[at] or "")[low:high] for at, low, high in places])
        if text:
            columns["text"] = [texts[one] for one in doc.tolist()]
    for key, attribute in corpus.attrs.items():
        columns.setdefault(key, padded(attribute.tolist()))
    return pd.DataFrame(columns)


def to_spacy(corpus: Corpus, nlp: Any = None, *, language: str = "xx", group: str = "") -> list[Any]:
    """Return spaCy documents; see `Corpus.to_spacy`."""
    losses: Counter[str] = Counter()
    docs = list(Spacy(language=language, group=group).docs(lambda: [corpus], losses, nlp))
    losses.pop("tokens", None)  # nlp has made its own
    if lost := listed(losses):
        warnings.warn(f"spaCy documents cannot store everything; dropped: {lost}.", stacklevel=3)
    return docs


def _corpus(layout: DocumentFormat, raws: Iterable[RawDocument], ids: Sequence[str] | None) -> Corpus:
    """Build a corpus as a reader does, with ids if they are given."""
    source = Memory("")
    documents = list(named(raws))
    if ids is not None:
        if len(ids) != len(documents):
            raise InputError(f"there are {plural(len(documents), 'document')}, but {plural(len(ids), 'id')}.", "ids")
        for document, name in zip(documents, ids, strict=True):
            document.id = str(name)
    corpus = layout.corpus(documents, source)
    if flaw := corpus.flaw():
        raise InputError(flaw.message, flaw.place(corpus))
    refuse_repeated_ids(corpus.ids)
    return corpus.with_columns(notes=tuple(note.removeprefix(": ") for note in source.notes))


def _table(layout: Hf | Records, table: Table, ids: Sequence[str] | None) -> Corpus:
    source = Memory("")
    raws = list(layout.from_table(table, source))
    corpus = _corpus(layout, raws, ids)
    return corpus.with_columns(notes=(*(note.removeprefix(": ") for note in source.notes), *corpus.notes))


def _placed(rows: Iterable[Record], name: str) -> list[tuple[Record, str]]:
    return [(row, f"{name}[{number}]") for number, row in enumerate(rows)]


def _numbered(items: Iterable[S], name: str) -> Iterator[tuple[str, S]]:
    return ((f"{name}[{number}]", one) for number, one in enumerate(items))


def _per_text(found: Iterable[S], where: str) -> list[S]:
    if isinstance(found, dict) or not isinstance(found, Iterable):
        raise InputError(f"expected a list of results for each text, not {type(found).__name__}.", where)
    return list(found)


def _with_texts(lists: Iterable[list[RawSpan]], texts: Sequence[str] | None, name: str) -> list[RawDocument]:
    found = list(lists)
    if texts is not None and len(texts) != len(found):
        raise InputError(f"there are {plural(len(found), 'list')} of results, but {plural(len(texts), 'text')}.", name)
    known = [None] * len(found) if texts is None else list(texts)
    return [
        RawDocument(where=f"{name}[{number}]", spans=spans, text=text)
        for number, (spans, text) in enumerate(zip(found, known, strict=True))
    ]


def _converted(value: Any, kind: type[S], where: str) -> S:
    """Convert dictionaries or objects with attributes to records; NumPy's numbers become Python's."""
    try:
        return msgspec.convert(_plain(value), kind, from_attributes=True)
    except msgspec.ValidationError as error:
        raise InputError(field_error(error), where) from None


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value.item() if isinstance(value, np.generic) else value


def _class_names(feature: Any) -> Sequence[str] | None:
    """Return the names of the values of a dataset's feature, which may be those of a sequence."""
    inner = getattr(feature, "feature", feature)
    found = getattr(inner, "names", None)
    return found if isinstance(found, list) else None


def _rows(frame: Any) -> list[Record]:
    """Return the rows of a frame of pandas or polars, or of an Arrow table."""
    if hasattr(frame, "to_dicts"):
        rows = frame.to_dicts()
    elif hasattr(frame, "to_pylist"):
        rows = frame.to_pylist()
    elif hasattr(frame, "to_dict"):
        rows = frame.to_dict("records")
    else:
        raise UsageError(f"expected a data frame, not {type(frame).__name__}.")
    return [{key: None if _is_missing(value) else _plain(value) for key, value in row.items()} for row in rows]


def _is_missing(value: Any) -> bool:
    return (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType")


def _sample(sample: Any, where: str) -> RawDocument:
    """Return an InputSample as a document; tokens may be a spaCy document."""
    tokens = [str(token) for token in sample.tokens] if sample.tokens is not None and len(sample.tokens) else None
    fields: Mapping[str, Any] = {
        "full_text": sample.full_text,
        "spans": [
            {name: getattr(span, name) for name in ("entity_type", "start_position", "end_position", "entity_value")}
            for span in sample.spans
        ]
        or None,
        "tokens": tokens,
        "tags": list(sample.tags) if tokens and sample.tags else None,
        "sample_id": sample.sample_id,
        "template_id": sample.template_id,
        "metadata": sample.metadata,
    }
    return presidio.raw_document(_converted(fields, presidio.AnnotatedText, where), where)


def _tagged_tokens(frame: Any, column: str) -> Iterator[RawDocument]:
    """Yield the sentences of a frame with a row per token; a run of tokens with one tag is a span."""
    if missing := [name for name in (*FRAME, column) if name not in frame.columns]:
        known = ", ".join(printable(str(name)) for name in list(frame.columns)[:12])
        raise InputError(f"the frame has no column '{printable(missing[0])}'; there are {known}.", "frame")
    sentences: dict[Any, list[tuple[str, int, str]]] = {}
    columns = (frame[name].to_list() for name in (*FRAME, column))
    for sentence, token, start, tag in zip(*columns, strict=True):
        sentences.setdefault(sentence, []).append((str(token), int(start), str(tag)))
    for name, rows in sentences.items():
        where = f"sentence_id {printable(str(name))}"
        text, at = [], 0
        for token, start, _ in rows:
            if start < at:
                what = "the token begins before the end of the one before it"
                raise InputError(f"{what}; start_indices must count characters from the start of the text.", where)
            text += [blanks(start - at, where), token]
            at = start + len(token)
        spans = []
        for tag, run in groupby(rows, key=lambda row: row[2]):
            tokens = list(run)
            if tag != "O":
                spans.append(RawSpan(tokens[0][1], tokens[-1][1] + len(tokens[-1][0]), tag))
        places = [(start, start + len(token)) for token, start, _ in rows]
        yield RawDocument(where=where, id=str(name), text="".join(text), spans=spans, tokens=places)
