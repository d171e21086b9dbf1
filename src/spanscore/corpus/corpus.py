"""The central data structure: documents and their spans as immutable columns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from spanscore.arguments import checked
from spanscore.corpus.annotators import ANNOTATORS
from spanscore.corpus.columns import Column, Floats, Ints, Longs, frozen, mixed, ranges, refuse_sparse
from spanscore.corpus.in_memory import InMemory
from spanscore.corpus.strings import Strings
from spanscore.errors import InputError, plural, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from spanscore.corpus.records import Document

MAX_OFFSET = 2**31 - 2
"""Largest offset that a span may have; offsets are stored as 32-bit integers."""


INVENTED = "invented"
"""The attribute of predictions that are nowhere in the text; its value is what the system returned."""

MAX_LABEL = 1000
"""Maximum number of characters of a label: longer ones are probably text in the wrong field."""


class LabelTable(dict[str, int]):
    """Mapping of labels to codes; looking up a new label assigns it the next code."""

    def __missing__(self, label: str) -> int:
        code = self[label] = len(self)
        return code


@dataclass(frozen=True, eq=False)
class Tokens:
    """Token offsets of all documents, sorted by document and position; tokens do not overlap."""

    doc: Ints
    start: Ints
    end: Ints


@dataclass(frozen=True, eq=False, kw_only=True)
class Corpus(InMemory):
    """Documents and their spans: one row per span, sorted by document, with half-open code point offsets.

    >>> corpus = Corpus.from_documents([
    ...     {"id": "d1", "text": "Zoë saw Ann.", "spans": [{"start": 0, "end": 3, "label": "PERSON"},
    ...                                                   {"start": 8, "end": 11, "label": "PERSON"}]}])
    >>> corpus
    Corpus(1 document, 2 spans, 1 label)
    >>> corpus.start.tolist(), corpus.end.tolist(), corpus.labels
    ([0, 8], [3, 11], ('PERSON',))
    """

    ids: Strings[str]
    doc: Ints
    start: Ints
    end: Ints
    label: Ints
    labels: tuple[str, ...]
    score: Floats | None = None
    attrs: Mapping[str, Column] = field(default_factory=dict)
    meta: Mapping[str, Column] = field(default_factory=dict)
    text: Strings[str | None] | None = None
    tokens: Tokens | None = None
    unit: str = ""
    """The unit of offsets if it is not the code point; both sides must have the same."""
    source: str = ""
    format: str = ""
    format_reason: str = ""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "ids", Strings.of(self.ids))
        if self.text is not None:
            object.__setattr__(self, "text", Strings.of(self.text))
        for column in (self.doc, self.start, self.end, self.label, self.score):
            if column is not None:
                frozen(column)

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        counted = (len(self), "document"), (len(self.start), "span"), (len(self.labels), "label")
        return f"Corpus({', '.join(plural(count, noun) for count, noun in counted)})"

    @classmethod
    @checked
    def from_documents(cls, documents: Iterable[Mapping[str, Any]]) -> Corpus:
        """Build a corpus from dictionaries in the native format.

        Each one looks like `{"id": ..., "text": ..., "spans": [{"start": ..., "end": ..., "label": ...}]}`.
        """
        from spanscore.corpus.records import from_mappings

        return from_mappings(documents)

    @classmethod
    @checked
    def from_arrays(
        cls,
        ids: Sequence[str],
        doc: Iterable[int],
        start: Iterable[int],
        end: Iterable[int],
        label: Iterable[str],
        *,
        score: Iterable[float] | None = None,
        text: Sequence[str | None] | None = None,
    ) -> Corpus:
        """Build a corpus from parallel sequences with one item per span; `doc` holds indices into `ids`.

        >>> Corpus.from_arrays(["a", "b"], [1, 0], [3, 0], [5, 4], ["X", "Y"])
        Corpus(2 documents, 2 spans, 2 labels)
        """
        table = LabelTable()
        codes = np.array([table[name] for name in label], np.int32)
        columns = [np.array(list(column)) for column in (doc, start, end)]
        if len({len(codes), *map(len, columns)}) > 1:
            raise InputError("doc, start, end and label must have the same length.")
        for name, column in zip(("doc", "start", "end"), columns, strict=True):
            if column.size and (column.dtype.kind not in "iu" or column.min() < 0 or column.max() > MAX_OFFSET):
                raise InputError(f"{name} must hold integers from 0 to {MAX_OFFSET}.")
        docs, starts, ends = (column.astype(np.int32) for column in columns)
        if docs.size and docs.max() >= len(ids):
            raise InputError(f"doc holds {docs.max()}, but there are only {len(ids)} ids.")
        order = np.argsort(docs, kind="stable")
        scores = None if score is None else np.array(list(score), np.float64)[order]
        corpus = cls(
            ids=Strings.of(ids),
            doc=docs[order],
            start=starts[order],
            end=ends[order],
            label=codes[order],
            labels=tuple(table),
            score=scores,
            text=None if text is None else Strings.of(text),
        )
        if flaw := corpus.flaw():
            raise InputError(flaw.message, flaw.place(corpus))
        return corpus

    @cached_property
    def bounds(self) -> Longs:
        """Row bounds of the documents: the spans of document i are rows `bounds[i]` to `bounds[i + 1] - 1`."""
        counts = np.bincount(self.doc, minlength=len(self.ids))
        return np.concatenate([[0], np.cumsum(counts)])

    @cached_property
    def text_length(self) -> Longs | None:
        """Length of each document's text in code points, or -1 if the text is unknown."""
        return None if self.text is None else self.text.lengths

    def place(self, doc: int) -> str:
        """Return the location of a document for use in an error message."""
        return f'{self.source + ": " if self.source else ""}document "{printable(self.ids[doc])}"'

    def span_name(self, row: int) -> str:
        """Return the label and offsets of a span for use in an error message."""
        return f"{printable(self.labels[self.label[row]])} [{self.start[row]}, {self.end[row]})"

    def documents(self) -> Iterator[Document]:
        """Iterate over the documents as records in the native format."""
        from spanscore.corpus.records import to_records

        return to_records(self)

    def take(self, docs: NDArray[Any]) -> Corpus:
        """Return these documents, in this order; -1 adds a document without spans whose id the caller must set."""
        present = docs >= 0
        low = np.where(present, self.bounds[docs], 0)
        counts = np.where(present, self.bounds[docs + 1] - low, 0)
        rows = ranges(low, counts)
        return replace(
            self,
            ids=replace(self.ids.take(docs), missing=None),
            text=None if self.text is None else self.text.take(docs),
            tokens=None if self.tokens is None else _take_tokens(self.tokens, docs, len(self.ids)),
            meta={
                key: Column(frozen(np.append(column.codes, np.int32(-1))[docs]), column.values)
                for key, column in self.meta.items()
            },
            **self._rows(rows, np.repeat(np.arange(len(docs)), counts)),
        )

    def block(self, first: int, last: int) -> Corpus:
        """Return the documents from `first` up to but not including `last`, without copying their columns."""
        if (first, last) == (0, len(self)):
            return self
        rows = slice(int(self.bounds[first]), int(self.bounds[last]))
        part = replace(
            self,
            ids=self.ids[first:last],
            text=None if self.text is None else self.text[first:last],
            tokens=None if self.tokens is None else _block_tokens(self.tokens, first, last),
            meta={key: column.take(slice(first, last)) for key, column in self.meta.items()},
            **self._rows(rows, self.doc[rows] - np.int32(first)),
        )
        part.__dict__["bounds"] = self.bounds[first : last + 1] - self.bounds[first]
        if self.text_length is not None:
            part.__dict__["text_length"] = self.text_length[first:last]
        return part

    def with_columns(self, **columns: Any) -> Corpus:
        """Return a corpus with some columns replaced, but the same documents and offsets."""
        changed = replace(self, **columns)
        for known in ("bounds", "text_length"):
            if known in self.__dict__:
                changed.__dict__[known] = self.__dict__[known]
        return changed

    def packed(self) -> Corpus:
        """Return a corpus that owns its string buffers, so that the input it was read from can be freed."""
        return self.with_columns(ids=self.ids.packed, text=None if self.text is None else self.text.packed)

    def with_spans(self, rows: NDArray[Any], **columns: Any) -> Corpus:
        """Return the same documents with only the spans in these rows, and with some columns replaced."""
        return replace(self, **{**self._rows(rows, self.doc.take(rows)), **columns})

    def _rows(self, rows: NDArray[Any] | slice, doc: NDArray[Any]) -> dict[str, Any]:
        return {
            "doc": doc.astype(np.int32, copy=False),
            "start": _picked(self.start, rows),
            "end": _picked(self.end, rows),
            "label": _picked(self.label, rows),
            "score": None if self.score is None else _picked(self.score, rows),
            "attrs": {key: column.take(rows) for key, column in self.attrs.items()},
        }

    @staticmethod
    def concat(parts: Sequence[Corpus]) -> Corpus:
        """Concatenate corpora that have no document in common.

        >>> a = Corpus.from_arrays(["a"], [0], [3], [5], ["X"])
        >>> b = Corpus.from_arrays(["b"], [0], [3], [5], ["Y"])
        >>> Corpus.concat([a, b]).label.tolist()
        [0, 1]
        """
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return Corpus.from_documents([])
        table = LabelTable()
        recode = [np.array([table[name] for name in part.labels], np.int32) for part in parts]
        firsts = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int32)
        spans = [len(part.start) for part in parts]
        scored = any(part.score is not None for part in parts)
        texted = any(part.text is not None for part in parts)
        sizes = [len(part) for part in parts]
        return Corpus(
            ids=Strings.concat([part.ids for part in parts]),
            doc=np.concatenate([part.doc + first for part, first in zip(parts, firsts, strict=False)]),
            start=np.concatenate([part.start for part in parts]),
            end=np.concatenate([part.end for part in parts]),
            label=np.concatenate([codes[part.label] for part, codes in zip(parts, recode, strict=True)]),
            labels=tuple(table),
            score=np.concatenate([_or_nan(part) for part in parts]) if scored else None,
            attrs=_concat_columns([part.attrs for part in parts], spans, parts[0].source),
            meta=_concat_columns([part.meta for part in parts], sizes, parts[0].source),
            text=Strings.concat([part.text or Strings.absent(len(part)) for part in parts]) if texted else None,
            tokens=_concat_tokens(parts, firsts),
            unit=parts[0].unit,
            source=parts[0].source,
            format=parts[0].format,
            format_reason=parts[0].format_reason,
            notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        )

    def flaw(self) -> Flaw | None:
        """Return the first invalid span, or None.

        A span is invalid if its end is before its start or past the end of the text, if its label is empty or too
        long, or if its score is infinite.
        """
        if "" in self.labels and (empty := np.flatnonzero(self.label == self.labels.index(""))).size:
            return Flaw(int(empty[0]), "label", "the label is empty; every span needs one.")
        if long := [code for code, name in enumerate(self.labels) if len(name) > MAX_LABEL]:
            bad = np.flatnonzero(np.isin(self.label, long))
            if bad.size:
                size = len(self.labels[self.label[bad[0]]])
                what = f"the label has {size} characters; at most {MAX_LABEL} are allowed"
                return Flaw(int(bad[0]), "label", f"{what}. Is it text in the wrong field?")
        if (bad := np.flatnonzero(self.end < self.start)).size:
            row = int(bad[0])
            return Flaw(row, "end", f"the end {self.end[row]} is before the start {self.start[row]}.")
        if self.text_length is not None:
            length = np.repeat(self.text_length, np.diff(self.bounds))
            if (bad := np.flatnonzero((self.end > length) & (length >= 0))).size:
                row = int(bad[0])
                what = f"the end {self.end[row]} is past the end of the text, which has {length[row]} characters"
                return Flaw(row, "end", f"{what}; offsets count code points from 0, and ends are exclusive.")
        if self.score is not None and (bad := np.flatnonzero(np.isinf(self.score))).size:
            return Flaw(int(bad[0]), "score", "the score is not a finite number.")
        return None

    @cached_property
    def fingerprint(self) -> str:
        """Content hash of 16 hexadecimal digits that does not depend on the order of documents and spans.

        It is the sum over all documents of a 64-bit hash of their id, text, tokens and spans, so chunks can be added up
        and nothing needs sorting. It guards against mistakes, not against malice.
        """
        return f"{self.fingerprint_sum:016x}"

    @cached_property
    def fingerprint_sum(self) -> int:
        """The fingerprint as an integer; fingerprints of two parts of a corpus add up modulo 2**64."""
        names = np.array([_hash(name) for name in self.labels] or [0], np.uint64)
        spans = self.start.astype(np.uint64) << np.uint64(32)
        spans |= self.end.astype(np.uint64)
        spans += names.take(self.label)
        if self.score is not None:
            scored = (self.score.view(np.uint64) + _ODD) * _ODD  # so that a score of 0 is not like none at all
            spans += scored if not np.isnan(self.score).any() else np.where(np.isnan(self.score), 0, scored)
        for key, column in self.attrs.items():
            # what a system invented is hidden in files without text, which have the same fingerprint
            known = (value is not False if key == INVENTED else value for value in column.values)
            values = [_hash(repr((key, value))) for value in known]
            spans += np.array([*values, 0], np.uint64)[column.codes]
        spans = mixed(spans)
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(spans, dtype=np.uint64)])
        document = sums[self.bounds[1:]] - sums[self.bounds[:-1]]
        document += self.ids.marks
        if self.tokens is not None:
            places = self.tokens.start.astype(np.uint64) << np.uint64(32) | self.tokens.end.astype(np.uint64)
            np.add.at(document, self.tokens.doc, mixed(places + _ODD))
        if self.text is not None:
            document += mixed(self.text.hashes)
        for key in ("scored_regions", ANNOTATORS):  # metadata that scores depend on
            if (about := self.meta.get(key)) is not None:
                document += mixed(np.array([*(_hash(str(one)) for one in about.values), 0], np.uint64)[about.codes])
        return int(np.sum(mixed(document), dtype=np.uint64))


@dataclass(frozen=True)
class Flaw:
    """An invalid span: its row, the field at fault, and what is wrong with it."""

    row: int
    field: str
    message: str

    def place(self, corpus: Corpus) -> str:
        """Return the location of the flaw: its document, and its path inside the document."""
        doc = int(corpus.doc[self.row])
        return f'document "{printable(corpus.ids[doc])}", {self.path(corpus)}'

    def path(self, corpus: Corpus) -> str:
        """Return the path of the field inside its document."""
        return f"spans[{self.row - corpus.bounds[corpus.doc[self.row]]}].{self.field}"


def _picked(column: NDArray[Any], rows: NDArray[Any] | slice) -> NDArray[Any]:
    """Return these rows of a column; for row numbers, `take` is much faster than indexing."""
    return column[rows] if isinstance(rows, slice) else column.take(rows)


def _or_nan(part: Corpus) -> Floats:
    return np.full(len(part.start), np.nan) if part.score is None else part.score


def _take_tokens(tokens: Tokens, docs: NDArray[Any], total: int) -> Tokens:
    bounds = np.searchsorted(tokens.doc, np.arange(total + 1))
    present = docs >= 0
    low = np.where(present, bounds[docs], 0)
    counts = np.where(present, bounds[docs + 1] - low, 0)
    rows = ranges(low, counts)
    return Tokens(np.repeat(np.arange(len(docs), dtype=np.int32), counts), tokens.start[rows], tokens.end[rows])


def _block_tokens(tokens: Tokens, first: int, last: int) -> Tokens:
    rows = slice(*np.searchsorted(tokens.doc, [first, last]).tolist())
    return Tokens(tokens.doc[rows] - np.int32(first), tokens.start[rows], tokens.end[rows])


def _concat_columns(parts: Sequence[Mapping[str, Column]], rows: Sequence[int], where: str) -> dict[str, Column]:
    """Concatenate columns by name; `rows` is the number of rows of each part."""
    names = dict.fromkeys(name for part in parts for name in part)
    filled = sum(int(np.count_nonzero(column.codes >= 0)) for part in parts for column in part.values())
    refuse_sparse(len(names), sum(rows), filled, where)
    return {
        name: Column.concat([(part.get(name), number) for part, number in zip(parts, rows, strict=True)])
        for name in names
    }


def _concat_tokens(parts: Sequence[Corpus], firsts: Ints) -> Tokens | None:
    having = [(part.tokens, first) for part, first in zip(parts, firsts, strict=False) if part.tokens is not None]
    if not having:
        return None
    return Tokens(
        np.concatenate([tokens.doc + first for tokens, first in having]),
        np.concatenate([tokens.start for tokens, _ in having]),
        np.concatenate([tokens.end for tokens, _ in having]),
    )


def _hash(text: str) -> int:
    return xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))


_ODD = np.uint64(0x9E3779B97F4A7C15)
