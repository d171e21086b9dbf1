"""`conll`: a token a line, its tag in the last column, blank lines between sentences, -DOCSTART- between documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanscore.corpus.records import Document, Span, build
from spanscore.errors import InputError, UsageError, unknown
from spanscore.formats.tags import REPAIRS, SCHEMES, Repair, Scheme, decode_tags, split_tag, tell_scheme

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.corpus import Corpus
    from spanscore.formats.source import Source

Sentence = list[tuple[str, str, int]]


def read(
    source: Source, *, scheme: Scheme | None = None, repair: Repair = "begin", tag_column: int | None = None
) -> Iterator[Corpus]:
    """One corpus. Without -DOCSTART-, each sentence is a document; texts are tokens with single spaces between them."""
    if scheme is not None and scheme not in SCHEMES:
        raise UsageError(unknown("tag scheme", scheme, SCHEMES))
    if repair not in REPAIRS:
        raise UsageError(unknown("repair", repair, REPAIRS))
    documents = list(_documents(source, tag_column))
    tags = [[tag for _, tag, _ in sentence] for sentences in documents for sentence in sentences]
    chosen = scheme or tell_scheme(tags)
    repaired = 0
    built = []
    for number, sentences in enumerate(documents, 1):
        document, count = _build(str(number), sentences, chosen, repair, source.name)
        built.append(document)
        repaired += count
    if repaired:
        what = "1 tag is" if repaired == 1 else f"{repaired} tags are"
        how = "each began a span" if repair == "begin" else "their spans were left out"
        source.notes.append(f"{source.name}: {what} not legal in {chosen}; {how} (repair={repair}).")
    yield build(built)


def _documents(source: Source, tag_column: int | None) -> Iterator[list[Sentence]]:
    """Documents as lists of sentences of (word, tag, line)."""
    sentences: list[Sentence] = []
    sentence: Sentence = []
    marked = False
    for number, line in source.lines():
        columns = line.split()
        start = bool(columns) and columns[0] == "-DOCSTART-"
        if columns and not start:
            sentence.append(_token(columns, tag_column, f"{source.name}:{number}", number))
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


def _token(columns: list[str], tag_column: int | None, where: str, number: int) -> tuple[str, str, int]:
    if len(columns) < 2:
        raise InputError("expected a word and a tag in columns; there is only one column.", where)
    try:
        return columns[0], columns[-1 if tag_column is None else tag_column], number
    except IndexError:
        raise InputError(
            f"there is no column {tag_column}; the line has {len(columns)}, counted from 0.", where
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
                hint = "give --tag-scheme, or --tag-column if tags are elsewhere"
                message = f"what stands in the tag's column is not a tag in {scheme}; {hint}."
                raise InputError(message, f"{file}:{number}") from None
            tokens.append((at, at + len(word)))
            at += len(word) + 1
        runs, count = decode_tags([tag for _, tag, _ in sentence], scheme, repair)
        repaired += count
        spans += [Span(tokens[first + a][0], tokens[first + b - 1][1], label) for a, b, label in runs]
        text.append(" ".join(word for word, _, _ in sentence))
    return Document(id=name, text="\n".join(text), spans=spans, tokens=tokens), repaired
