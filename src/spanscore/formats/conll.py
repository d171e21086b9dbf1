"""`conll`: one token per line, tag in the last column, blank lines between sentences, -DOCSTART- between documents."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

from spanscore.corpus.records import Document, Span, build
from spanscore.errors import InputError
from spanscore.formats.format import LIKELY, Claim, Format, Sample
from spanscore.formats.tags import REPAIRS, SCHEMES, Repair, Scheme, decode_tags, guess_scheme, split_tag
from spanscore.spec import parameter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.corpus import Corpus
    from spanscore.formats.source import Source

Sentence = list[tuple[str, str, int]]
_TAG = re.compile(rb"O|[BILUES]-\S+")


@dataclass(frozen=True, repr=False)
class Conll(Format):
    """One token per line with its tag in a column; blank lines end sentences, -DOCSTART- lines begin documents.

    Columns are separated by white space. Without -DOCSTART-, each sentence is a document. Texts are rebuilt from the
    tokens with single spaces between them, and line breaks between sentences.
    """

    name: ClassVar[str] = "conll"
    unit: ClassVar[str] = "tokens"
    column: int = parameter(-1, "Column of the tag, counted from 0, or from the end if negative.")
    scheme: str = parameter("auto", "Tag scheme.", choices=("auto", *SCHEMES))
    repair: str = parameter("begin", "Whether an illegal tag begins a span, or its span is discarded.", choices=REPAIRS)

    @classmethod
    def recognise(cls, sample: Sample) -> Claim | None:
        """Claim lines of at least two columns with tags in the last one."""
        if sample.is_json or not sample.is_text:
            return None
        rows = [row.split() for row in sample.start.split(b"\n", 200)[:200] if row.strip()]
        if all(len(row) >= 2 for row in rows[:-1]) and any(_TAG.fullmatch(row[-1]) for row in rows if row):
            return Claim(LIKELY, "lines are words and tags in columns")
        return None

    def read(self, source: Source) -> Iterator[Corpus]:
        """Yield one corpus."""
        documents = list(_documents(source, self.column))
        tags = [[tag for _, tag, _ in sentence] for sentences in documents for sentence in sentences]
        scheme = guess_scheme(tags) if self.scheme == "auto" else cast("Scheme", self.scheme)
        repair = cast("Repair", self.repair)
        repaired = 0
        built = []
        for number, sentences in enumerate(documents, 1):
            document, count = _build(str(number), sentences, scheme, repair, source.name)
            built.append(document)
            repaired += count
        if repaired:
            what = "1 tag is" if repaired == 1 else f"{repaired} tags are"
            how = "each began a span" if repair == "begin" else "their spans were discarded"
            source.notes.append(f"{source.name}: {what} not legal in {scheme}; {how} (repair={repair}).")
        yield build(built)


def _documents(source: Source, column: int) -> Iterator[list[Sentence]]:
    """Yield documents as lists of sentences of (word, tag, line)."""
    sentences: list[Sentence] = []
    sentence: Sentence = []
    marked = False
    for number, line in source.lines():
        columns = line.split()
        start = bool(columns) and columns[0] == "-DOCSTART-"
        if columns and not start:
            sentence.append(_token(columns, column, f"{source.name}:{number}", number))
            continue
        if sentence:
            sentences.append(sentence)
            sentence = []
        if sentences and (start or not marked):
            yield sentences
            sentences = []
        marked |= start
    if sentence:
        sentences.append(sentence)
    if sentences:
        yield sentences


def _token(columns: list[str], column: int, where: str, number: int) -> tuple[str, str, int]:
    if len(columns) < 2:
        raise InputError("expected a word and a tag; there is only one column.", where)
    try:
        return columns[0], columns[column], number
    except IndexError:
        raise InputError(
            f"there is no column {column}; the line has {len(columns)} columns, counted from 0.", where
        ) from None


def _build(name: str, sentences: list[Sentence], scheme: Scheme, repair: Repair, file: str) -> tuple[Document, int]:
    text, at, repaired = [], 0, 0
    tokens: list[tuple[int, int]] = []
    spans: list[Span] = []
    for sentence in sentences:
        first = len(tokens)
        for word, tag, number in sentence:
            try:
                split_tag(tag, scheme)
            except ValueError:
                hint = "give conll(scheme=...), or conll(column=...) if the tags are in another column"
                message = f"the tag column does not hold a tag in {scheme}; {hint}."
                raise InputError(message, f"{file}:{number}") from None
            tokens.append((at, at + len(word)))
            at += len(word) + 1
        runs, count = decode_tags([tag for _, tag, _ in sentence], scheme, repair)
        repaired += count
        spans += [Span(tokens[first + a][0], tokens[first + b - 1][1], label) for a, b, label in runs]
        text.append(" ".join(word for word, _, _ in sentence))
    return Document(id=name, text="\n".join(text), spans=spans, tokens=tokens), repaired
