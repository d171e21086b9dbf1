"""Check input files: what they hold, and what in them is wrong or suspicious."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from spanscore.align.documents import changed_words
from spanscore.align.invented import is_invented
from spanscore.analysis.suspects import LONGEST
from spanscore.analysis.types import types
from spanscore.arguments import checked
from spanscore.corpus import Corpus
from spanscore.engine.inputs import Input
from spanscore.engine.summary import doubtful_offsets, similar_labels
from spanscore.errors import UsageError, plural, printable
from spanscore.formats.word_boundaries import is_cut

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from spanscore.corpus.columns import Longs
    from spanscore.corpus.strings import Strings
    from spanscore.formats import Format

SHOWN = 3
"""Examples per finding."""


@dataclass(frozen=True)
class Finding:
    """A finding about one or two files: a problem makes scores wrong, a note may not."""

    kind: str
    message: str
    count: int
    problem: bool = False
    examples: tuple[str, ...] = ()
    """Where it is: documents and offsets, never text."""

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as JSON values."""
        severity = "problem" if self.problem else "note"
        return {
            "kind": self.kind,
            "severity": severity,
            "count": self.count,
            "message": self.message,
            "examples": list(self.examples),
        }


@dataclass(frozen=True)
class CheckedFile:
    """A file that could be read, and the findings about it."""

    source: str
    format: str
    format_reason: str
    documents: int
    texts: int
    spans: int
    labels: dict[str, int]
    fingerprint: str
    findings: tuple[Finding, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the file as JSON values."""
        names = ("source", "format", "format_reason", "documents", "texts", "spans", "labels", "fingerprint")
        return {**{name: getattr(self, name) for name in names}, "findings": [one.to_dict() for one in self.findings]}


@dataclass(frozen=True)
class Check:
    """The checked files, and findings about the first file and each of the others."""

    files: tuple[CheckedFile, ...]
    findings: tuple[Finding, ...] = field(default=())

    @property
    def problems(self) -> list[Finding]:
        """The findings that make scores wrong."""
        return [one for one in (*self.findings, *(x for file in self.files for x in file.findings)) if one.problem]

    def __repr__(self) -> str:
        notes = len(self.findings) + sum(len(file.findings) for file in self.files) - len(self.problems)
        counted = (len(self.files), "file"), (len(self.problems), "problem"), (notes, "note")
        return f"Check({', '.join(plural(count, noun) for count, noun in counted)})"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "schema": "spanscore.check/1",
            "files": [one.to_dict() for one in self.files],
            "findings": [one.to_dict() for one in self.findings],
        }


@checked
def check(
    *files: str | Path | Corpus,
    format: str | Format | None = None,  # noqa: A002  # the user's word
    each: bool = False,
) -> Check:
    """Check files as scoring would read them; the first one is the gold data of the others, unless `each` is set.

    >>> checked = check(Corpus.from_documents([{"id": "d", "text": "Ann Lee", "spans": [
    ...     {"start": 0, "end": 4, "label": "PERSON"}, {"start": 4, "end": 7, "label": "PERSON"}]}]))
    >>> [(one.kind, one.count) for one in checked.files[0].findings]
    [('space at boundary', 1)]
    """
    if not files:
        raise UsageError("name at least one file or corpus to check.")
    corpora: list[Corpus] = []
    for one in files:
        gold = Input.of(corpora[0]) if corpora and not each else None
        corpora.append(one if isinstance(one, Corpus) else Input.of(one, format, gold).corpus())
    checked = tuple(_checked(corpus) for corpus in corpora)
    others = [] if each else corpora[1:]
    findings = [finding for other in others for finding in _compared(corpora[0], other)]
    return Check(checked, tuple(findings))


def _checked(corpus: Corpus) -> CheckedFile:
    counts = np.bincount(corpus.label, minlength=len(corpus.labels)).tolist()
    labels = dict(sorted(zip(corpus.labels, counts, strict=True), key=lambda one: (-one[1], one[0])))
    return CheckedFile(
        corpus.source,
        corpus.format,
        corpus.format_reason,
        len(corpus),
        0 if corpus.text is None else corpus.text.present,
        len(corpus.start),
        labels,
        corpus.fingerprint,
        tuple(_findings(corpus)),
    )


def _findings(corpus: Corpus) -> Iterator[Finding]:
    doubt = doubtful_offsets(corpus)
    if doubt is not None:
        yield Finding("suspicious offsets", doubt, 1, problem=True)
    for note in corpus.notes:
        if not any(told in note for told in ("check the offsets", "as invented")):  # these have findings of their own
            yield Finding("note", note.removeprefix(f"{corpus.source}: "), 1)
    invented = is_invented(corpus)
    if count := int(invented.sum()):
        rows = np.flatnonzero(invented)[:SHOWN].tolist()  # their offsets mean nothing
        made = tuple(f"{_document(corpus, row)}, {printable(corpus.labels[corpus.label[row]])}" for row in rows)
        message = (
            f"{plural(count, 'mention')} not in the text, which {'counts' if count == 1 else 'count'} as invented."
        )
        yield Finding("invented mention", message, count, False, made)
    corpus = corpus.with_spans(np.flatnonzero(~invented)) if invented.any() else corpus
    again = _repeated(corpus)
    counts = "counts" if again.size == 1 else "count"
    yield from _spans(corpus, again, "duplicate span", f"{{}} with the place and label of another one {counts} once.")
    yield from _spans(
        corpus,
        np.flatnonzero(corpus.start == corpus.end),
        "empty span",
        "{} without a character (start = end).",
    )
    if corpus.text is not None:
        empty = [doc for doc, text in enumerate(corpus.text) if text is not None and not text.strip()]
        if empty:
            where = tuple(f'document "{printable(corpus.ids[doc])}"' for doc in empty[:SHOWN])
            yield Finding(
                "empty document", f"{plural(len(empty), 'document')} with empty text.", len(empty), False, where
            )
        yield from _same_texts(corpus)
        yield from _boundaries(corpus)
        yield from _surfaces(corpus)
    for one, other in _similar(corpus.labels):
        message = f"the labels {printable(one)} and {printable(other)} look similar; do they mean the same?"
        yield Finding("similar labels", message, 2)


def _repeated(corpus: Corpus) -> Longs:
    """Return the rows that have the place and label of an earlier one."""
    columns = np.stack([corpus.doc, corpus.start, corpus.end, corpus.label])
    order = np.lexsort(columns)
    same = (columns[:, order[1:]] == columns[:, order[:-1]]).all(axis=0)
    return np.sort(order[1:][same])


def _same_texts(corpus: Corpus) -> Iterator[Finding]:
    """Find documents that have the text of another one."""
    assert corpus.text is not None
    first: dict[int, int] = {}
    same = []
    for doc, text in enumerate(corpus.text):
        if text is not None and text.strip():
            known = first.setdefault(hash(text), doc)
            if known != doc and corpus.text[known] == text:
                same.append((doc, known))
    if same:
        ids = [(printable(corpus.ids[doc]), printable(corpus.ids[known])) for doc, known in same[:SHOWN]]
        where = tuple(f'documents "{known}" and "{name}"' for name, known in ids)
        yield Finding(
            "same text", f"{plural(len(same), 'document')} with the text of another.", len(same), False, where
        )


def _boundaries(corpus: Corpus) -> Iterator[Finding]:
    """Find spans that begin or end on whitespace or inside a word."""
    assert corpus.text is not None
    spaces, words = [], []
    for row, (text, low, high) in _texts(corpus):
        if low < high <= len(text):
            if text[low].isspace() or text[high - 1].isspace():
                spaces.append(row)
            elif is_cut(text, low, high):
                words.append(row)
    for rows, kind, where in ((spaces, "space at boundary", "with whitespace"), (words, "half word", "inside a word")):
        verbs = "begins or ends" if len(rows) == 1 else "begin or end"
        yield from _spans(corpus, np.array(rows, np.int64), kind, f"{{}} that {verbs} {where}.")


def _surfaces(corpus: Corpus) -> Iterator[Finding]:
    """Find strings that are labelled in different ways."""
    seen: dict[str, Counter[int]] = defaultdict(Counter)
    first: dict[tuple[str, int], int] = {}
    for row, (text, low, high) in _texts(corpus):
        if high - low > LONGEST:
            continue
        surface, label = text[low:high].casefold().strip(), int(corpus.label[row])
        seen[surface][label] += 1
        first.setdefault((surface, label), row)
    mixed = [(surface, labels) for surface, labels in seen.items() if len(labels) > 1 and surface]
    rows = [first[surface, labels.most_common()[-1][0]] for surface, labels in mixed]
    yield from _spans(
        corpus,
        np.array(rows, np.int64),
        "labelled two ways",
        "{} whose text has another label elsewhere.",
    )


def _texts(corpus: Corpus) -> Iterator[tuple[int, tuple[str, int, int]]]:
    assert corpus.text is not None
    start, end, bounds = corpus.start.tolist(), corpus.end.tolist(), corpus.bounds.tolist()
    for doc, text in enumerate(corpus.text):
        if text is not None:
            for row in range(bounds[doc], bounds[doc + 1]):
                yield row, (text, start[row], end[row])


def _spans(corpus: Corpus, rows: Longs, kind: str, message: str, *, problem: bool = False) -> Iterator[Finding]:
    if rows.size:
        where = tuple(f"{_document(corpus, row)}, {corpus.span_name(row)}" for row in rows[:SHOWN].tolist())
        yield Finding(kind, message.format(plural(int(rows.size), "span")), int(rows.size), problem, where)


def _document(corpus: Corpus, row: int) -> str:
    return f'document "{printable(corpus.ids[int(corpus.doc[row])])}"'


def _documents(corpus: Corpus, docs: Sequence[int]) -> tuple[str, ...]:
    return tuple(f'document "{printable(corpus.ids[doc])}"' for doc in docs[:SHOWN])


def _similar(labels: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield labels that differ only in case or separators, or by words at one end: PHONE and PHONE_NUMBER."""
    named: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for label in sorted(labels):
        named[_words(label)].append(label)
    for words, same in named.items():
        yield from pairwise(same)
        parts = {words[:size] for size in range(1, len(words))} | {words[-size:] for size in range(1, len(words))}
        for part in sorted(parts & named.keys()):
            yield named[part][0], same[0]


def _words(label: str) -> tuple[str, ...]:
    return tuple(label.casefold().replace("-", "_").replace(" ", "_").split("_"))


def _compared(gold: Corpus, other: Corpus) -> Iterator[Finding]:
    """Compare a file with the gold data."""
    name = other.source or "the other corpus"
    if gold.fingerprint == other.fingerprint and len(gold.start):
        message = f"{name}: the same documents and spans as in the first file; is one of the files the wrong one?"
        yield Finding("same file", message, 1)
    rows = gold.ids.find(other.ids)
    common = int(np.count_nonzero(rows >= 0))
    if not common and len(gold) and len(other):
        ids = f'documents such as "{printable(gold.ids[0])}" and "{printable(other.ids[0])}"'
        yield Finding("no common document", f"{name}: no document id in common with the first file: {ids}.", 1, True)
    for count, message in (
        (len(gold) - common, "of the first file {} missing"),
        (len(other) - common, "{} not in the first file"),
    ):
        if common and count:
            yield Finding(
                "documents",
                f"{name}: {plural(count, 'document')} {message.format('is' if count == 1 else 'are')}.",
                count,
            )
    if gold.text is not None and other.text is not None:
        different = [
            doc
            for doc, row in enumerate(rows.tolist())
            if row >= 0 and None not in (ours := gold.text[row], theirs := other.text[doc]) and ours != theirs
        ]
        if different:
            message = f"{name}: {plural(len(different), 'document')} whose text differs from that in the first file"
            message += f"{changed_words(gold.format, other.format)}."
            yield Finding("different text", message, len(different), True, _documents(other, different))
    elif gold.text is not None:
        yield from _on_gold_text(gold.text.take(rows), other, name)
    yield from _labels(gold.labels, other.labels, name)


def _on_gold_text(text: Strings[str | None], other: Corpus, name: str) -> Iterator[Finding]:
    """Check offsets of a file without text on the texts of the gold data."""
    texted = other.with_columns(text=text)
    texted.__dict__.pop("text_length", None)
    assert texted.text_length is not None
    length = np.repeat(texted.text_length, np.diff(texted.bounds))
    past = np.flatnonzero((texted.end > length) & (length >= 0))
    yield from _spans(texted, past, "past the text", f"{name}: {{}} past the end of the text.", problem=True)
    if not past.size and (doubt := doubtful_offsets(texted)):
        yield Finding("suspicious offsets", f"{name}: {doubt}", 1, problem=True)


def _labels(ours: Sequence[str], theirs: Sequence[str], name: str) -> Iterator[Finding]:
    alike = similar_labels(ours, theirs)
    for one, other in alike:
        message = (
            f"{name}: the labels {', '.join(map(printable, one))} and {', '.join(map(printable, other))} differ only "
            "in case or separators; map them."
        )
        yield Finding("similar labels", message, len(one) + len(other), True)
    paired = {label for pair in alike for spellings in pair for label in spellings}
    mine, others = set(ours) - set(theirs) - paired, set(theirs) - set(ours) - paired
    for short, long in _similar([*mine, *others]):
        if (short in mine) != (long in mine):
            message = (
                f"{name}: the labels {printable(short)} and {printable(long)} look similar; do they mean the same?"
            )
            yield Finding("similar labels", message, 2)
    yield from _same_types(mine, others, name)
    for alone, where in ((sorted(mine), "the first file"), (sorted(others), name)):
        if alone:
            listed = ", ".join(printable(label) for label in alone[:8]) + (", ..." if len(alone) > 8 else "")
            message = f"{name}: {plural(len(alone), 'label')} only in {where}: {listed}."
            yield Finding("labels on one side", message, len(alone))


def _same_types(ours: set[str], theirs: set[str], name: str) -> Iterator[Finding]:
    """Yield a finding about labels that only one side has, but that have the same type in the taxonomy."""
    audit = types(sorted(ours), sorted(theirs)).sides[0].labels
    met = [one for one in audit if one.type is not None and one.meets]
    if met:
        listed = ", ".join(f"{printable(one.label)} and {printable(one.meets[0])}" for one in met[:8])
        message = f"{name}: {plural(len(met), 'label')} with another name for the same type: {listed}"
        more = ", ..." if len(met) > 8 else ""
        yield Finding("labels of the same type", f"{message}{more}; score with --level type.", len(met))
