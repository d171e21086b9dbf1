"""`hf`: Hugging Face's token classification data, `{tokens, ner_tags}`, and the output of its pipelines."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ClassVar, cast

import msgspec

from spanscore.errors import InputError, printable
from spanscore.formats.detector_results import ResultLists
from spanscore.formats.documents import RawDocument, RawSpan
from spanscore.formats.interface import LIKELY, Claim, Losses, Sample
from spanscore.formats.json_records import decoded
from spanscore.formats.offsets import NATIVE
from spanscore.formats.tables import Record, Table, TableFormat, schema_of
from spanscore.formats.tags import REPAIRS, SCHEMES, Repair, decode_tags, guess_scheme
from spanscore.formats.writing import to_write, without_overlaps
from spanscore.spec import parameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from spanscore.corpus import Corpus
    from spanscore.corpus.records import Document, Span
    from spanscore.formats.source import Source

TAG_COLUMNS = ("ner_tags", "tags", "labels", "bio_labels", "ner")
"""Columns with tags, in the order in which they are looked for."""
IGNORED = -100
"""The tag of tokens that do not count, such as the second piece of a word."""
_PIECES = re.compile(r"\w+|[^\w\s]")


class TaggedTokens(msgspec.Struct):
    """The tokens of a record with their tags, the text, and where the tokens are in it."""

    where: str
    id: str | int | None
    words: list[str]
    tags: list[str | None]
    text: str
    tokens: list[tuple[int, int]]


@dataclass(frozen=True, repr=False)
class Hf(TableFormat):
    """Hugging Face's token classification data, `{id, tokens, ner_tags}`, and the output of its pipelines.

    Reads JSON, JSON Lines, Parquet or a dataset saved to disk. Tags are names, or numbers whose names come from the
    dataset's features or a file. Tokens with the tag -100 do not count. Text is rebuilt with single spaces, unless
    there are `text` and `offset_mapping`. Output of pipelines, `[{entity_group, score, word, start, end}]`, is one list
    per document in the order of the gold data; with `entity` instead of `entity_group`, tags are joined to spans.
    """

    name: ClassVar[str] = "hf"
    tokens: str = parameter("tokens", "The column with the tokens.")
    tags: str = parameter("", f"The column with the tags (default: the first of {', '.join(TAG_COLUMNS)}).")
    labels: str = parameter(
        "", "A file with the names of tags that are numbers: a JSON list, id2label, a model's config.json, or lines."
    )
    scheme: str = parameter("auto", "The tag scheme.", choices=("auto", *SCHEMES))
    repair: str = parameter("begin", "What to do with tags that the scheme does not allow; see conll.", choices=REPAIRS)

    @classmethod
    def recognise(cls, sample: Sample) -> Claim | None:
        """Claim tables with tokens and ner_tags, and JSON with entity_group or entity, and word."""
        schema = schema_of(sample)
        if b"tokens" in schema and any(name.encode() in schema for name in TAG_COLUMNS):
            return Claim(LIKELY, "its columns are tokens and tags")
        if not sample.is_json:
            return None
        if {"tokens", "ner_tags"} <= sample.keys:
            return Claim(LIKELY, 'it is JSON with "tokens" and "ner_tags"')
        return Claim(LIKELY, 'it is JSON with "entity_group" or "entity"') if _is_output(sample) else None

    def _all(self, source: Source) -> Iterator[RawDocument]:
        """Yield all documents."""
        if not source.is_folder and source.sample.is_json and _is_output(source.sample):
            return _Pipeline(texts=self.texts)._all(source)
        return super()._all(source)

    def from_table(self, table: Table, source: Source) -> Iterator[RawDocument]:
        """Yield a document per record."""
        rows = [self._row(record, where, table) for record, where in table.rows]
        counted = [[tag for tag in row.tags if tag is not None] for row in rows]
        scheme = guess_scheme(counted) if self.scheme == "auto" else self.scheme
        repair, illegal = cast("Repair", self.repair), 0
        for row, tags in zip(rows, counted, strict=True):
            try:
                runs, count = decode_tags(tags, scheme, repair)
            except ValueError:
                raise InputError(f"one of these is not a tag in {scheme}; give hf(scheme=...).", row.where) from None
            places = [place for place, tag in zip(row.tokens, row.tags, strict=True) if tag is not None]
            spans = [RawSpan(places[first][0], places[last - 1][1], label) for first, last, label in runs]
            illegal += count
            yield RawDocument(where=row.where, id=row.id, text=row.text, tokens=row.tokens, spans=spans)
        if illegal:
            how = "each began a span" if repair == "begin" else "only legal spans were kept"
            what = f"{illegal} of the transitions between tags are not legal in {scheme}"
            source.notes.append(f"{source.name}: {what}; {how} (repair={repair}).")

    def _row(self, record: Record, where: str, table: Table) -> TaggedTokens:
        column = self.tags or next((name for name in TAG_COLUMNS if name in record), TAG_COLUMNS[0])
        for name in (self.tokens, column):
            if not isinstance(record.get(name), list):
                raise InputError(f"expected a list in the column '{printable(name)}'.", where)
        words, tags = record[self.tokens], record[column]
        if len(words) != len(tags) or not all(isinstance(word, str) for word in words):
            raise InputError(f"there must be as many tags as tokens; there are {len(tags)} and {len(words)}.", where)
        names = self._names or table.names.get(column)
        text, tokens = _placed(record, words, where)
        key = record.get("id")
        known = [self._tag(tag, names, f"{where}: {column}[{i}]") for i, tag in enumerate(tags)]
        return TaggedTokens(where, key if isinstance(key, str | int) else None, words, known, text, tokens)

    def _tag(self, tag: Any, names: list[str] | None, where: str) -> str | None:
        if isinstance(tag, str):
            return tag
        if tag == IGNORED:
            return None
        if not isinstance(tag, int) or isinstance(tag, bool):
            raise InputError("a tag must be a string or a number.", where)
        if names is None:
            raise InputError(
                "tags are numbers; give their names with hf(labels=FILE), or names=[...] of from_hf.", where
            )
        if not 0 <= tag < len(names):
            raise InputError(f"there is no name for the tag {tag}; there are {len(names)} names.", where)
        return names[tag]

    @property
    def _names(self) -> list[str] | None:
        return _label_names(self.labels) if self.labels else None

    def write(self, chunks: Callable[[], Iterable[Corpus]], file: IO[bytes]) -> Losses:
        """Write JSON Lines of id, text, tokens, offset_mapping and ner_tags in IOB2.

        Tokens come from the documents, or are words and punctuation marks; they are cut where spans begin and end.
        """
        lost: Counter[str] = Counter()
        encoder = msgspec.json.Encoder()
        for one in to_write(chunks, self, lost, convention=NATIVE, holds=("tokens",)):
            spans = without_overlaps(one.document.spans, len(one.text), lost)
            pieces, tags = _tagged(one.document, one.text, spans)
            row = {
                "id": one.id,
                "text": one.text,
                "tokens": [one.text[first:last] for first, last in pieces],
                "offset_mapping": pieces,
                "ner_tags": tags,
            }
            file.write(encoder.encode(row) + b"\n")
        return lost


def _is_output(sample: Sample) -> bool:
    return "word" in sample.keys and bool({"entity_group", "entity"} & sample.keys)


def _placed(record: Record, words: list[str], where: str) -> tuple[str, list[tuple[int, int]]]:
    """Return the text and where its tokens are; without a mapping, words are joined by single spaces."""
    text, mapping = record.get("text"), record.get("offset_mapping")
    if isinstance(text, str) and isinstance(mapping, list):
        try:
            places = msgspec.convert(mapping, list[tuple[int, int]])
        except msgspec.ValidationError:
            raise InputError("expected a list of starts and ends.", f"{where}: offset_mapping") from None
        if len(places) != len(words):
            raise InputError(f"there are {len(places)} places, but {len(words)} tokens.", f"{where}: offset_mapping")
        return text, places
    places, at = [], 0
    for word in words:
        places.append((at, at + len(word)))
        at += len(word) + 1
    return " ".join(words), places


def _label_names(file: str) -> list[str]:
    """Return the names of tags in a file, in the order of their numbers."""
    try:
        data = Path(file).read_bytes()
    except OSError as error:
        raise InputError(f"cannot read the names of tags ({error.strerror}).", printable(file, 4096)) from None
    try:
        found = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError):
        found = [line.strip() for line in data.decode("utf-8", "replace").splitlines() if line.strip()]
    if isinstance(found, dict):
        found = found.get("id2label", found)
        try:
            by_number = {int(key): value for key, value in found.items()}
        except (ValueError, AttributeError):
            by_number = {value: key for key, value in found.items()} if isinstance(found, dict) else {}
        found = [by_number.get(number) for number in range(len(by_number))]
    if not isinstance(found, list) or not found or not all(isinstance(name, str) for name in found):
        message = "expected the names of tags: a JSON list, an object by number, or one per line"
        raise InputError(f"{message}.", printable(file, 4096))
    return found


def _tagged(document: Document, text: str, spans: list[Span]) -> tuple[list[tuple[int, int]], list[str]]:
    """Return tokens that begin and end where spans do, and their tags."""
    given = document.tokens or [match.span() for match in _PIECES.finditer(text)]
    cuts = sorted({at for span in spans for at in (span.start, span.end)})
    pieces = []
    for first, last in given:
        inner = cuts[bisect_left(cuts, first + 1) : bisect_left(cuts, last)]
        pieces += [(a, b) for a, b in zip([first, *inner], [*inner, last], strict=True) if a < b]
    tags = ["O"] * len(pieces)
    for span in reversed(spans):
        low = bisect_left(pieces, (span.start, -1))
        high = bisect_left(pieces, (span.end, -1))
        inside = pieces[low:high] or [(span.start, span.end)]
        inside[0] = (span.start, inside[0][1])
        inside[-1] = (inside[-1][0], span.end)
        pieces[low:high] = inside
        tags[low:high] = [f"B-{span.label}", *[f"I-{span.label}"] * (len(inside) - 1)]
    return pieces, tags


class Found(msgspec.Struct):
    """An entity or a tagged token in the output of a pipeline."""

    score: float | None = None
    start: int | None = None
    end: int | None = None
    entity_group: str | None = None
    entity: str | None = None
    index: int | None = None


@dataclass(frozen=True, repr=False)
class _Pipeline(ResultLists):
    """The output of a pipeline, which is a part of the format `hf`."""

    entity: ClassVar[type[msgspec.Struct]] = Found
    entity_keys: ClassVar[frozenset[str]] = frozenset({"word", "score"})

    def documents(self, source: Source) -> Iterator[RawDocument]:
        """Yield a document per list; the tokens of one that has tags are joined to spans."""
        decoder = msgspec.json.Decoder(list[Found])
        answers = list(self.answers(source))
        lists = [(decoded(decoder, answer.entities, answer.where), answer.where) for answer in answers]
        for answer, spans in zip(answers, spans_of_output(lists), strict=True):
            yield RawDocument(where=answer.where, id=answer.id, text=self.text(answer), spans=spans)

    def span(self, entity: Any, where: str) -> RawSpan | None:
        """Return nothing: spans are made of whole lists."""
        return None


def spans_of_output(lists: Sequence[tuple[list[Found], str]]) -> Iterator[list[RawSpan]]:
    """Yield the spans of each list of a pipeline's output, given its place; tagged tokens are joined."""
    for found, where in lists:
        _check(found, where)
    tagged = [any(one.entity_group is None for one in found) for found, _ in lists]
    scheme = guess_scheme([_tags(found)[0] for (found, _), is_tagged in zip(lists, tagged, strict=True) if is_tagged])
    for (found, where), is_tagged in zip(lists, tagged, strict=True):
        yield _joined(found, scheme, where) if is_tagged else _spans(found)


def _check(found: list[Found], where: str) -> None:
    for number, one in enumerate(found):
        if one.start is None or one.end is None:
            hint = "run the pipeline with a fast tokenizer, which knows offsets"
            raise InputError(f"the offsets are null; {hint}.", f"{where}: [{number}]")
        if one.entity_group is None and one.entity is None:
            raise InputError("expected the field entity_group or entity.", f"{where}: [{number}]")


def _spans(found: list[Found]) -> list[RawSpan]:
    return [RawSpan(one.start or 0, one.end or 0, str(one.entity_group), one.score) for one in found]


def _tags(found: list[Found]) -> tuple[list[str], list[Found | None]]:
    """Return the tags of tokens, with O where tokens are left out, and the tokens."""
    tags: list[str] = []
    tokens: list[Found | None] = []
    before: Found | None = None
    for one in sorted(found, key=lambda one: (one.start or 0, one.end or 0)):
        if before is not None and one.index is not None and before.index is not None and one.index > before.index + 1:
            tags.append("O")
            tokens.append(None)
        tags.append(one.entity or one.entity_group or "O")
        tokens.append(one)
        before = one
    return tags, tokens


def _joined(found: list[Found], scheme: str, where: str) -> list[RawSpan]:
    tags, tokens = _tags(found)
    try:
        runs, _ = decode_tags(tags, scheme)
    except ValueError:
        raise InputError(f"one of these is not a tag in {scheme}.", where) from None
    spans = []
    for first, last, label in runs:
        some = [one for one in tokens[first:last] if one is not None]
        scores = [one.score for one in some if one.score is not None]
        score = sum(scores) / len(scores) if scores else None
        spans.append(RawSpan(some[0].start or 0, some[-1].end or 0, label, score))
    return spans
