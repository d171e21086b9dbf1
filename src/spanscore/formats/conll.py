"""`conll`: one token per line, tag in the last column, blank lines between sentences, -DOCSTART- between documents."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import chain, islice, pairwise
from typing import IO, TYPE_CHECKING, ClassVar, cast

from spanscore.corpus import LabelTable
from spanscore.errors import InputError, plural
from spanscore.formats.interface import LIKELY, Claim, Format, Losses, Sample
from spanscore.formats.offsets import NATIVE
from spanscore.formats.tags import (
    REPAIRS,
    SCHEMES,
    Repair,
    count_illegal,
    decoded,
    encode_tags,
    guess_scheme,
    looks_like_tag,
    scheme_of,
    split_tag,
)
from spanscore.formats.token_columns import TokenColumns
from spanscore.formats.writing import to_write, without_overlaps
from spanscore.spec import parameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from spanscore.corpus import Corpus
    from spanscore.corpus.records import Span
    from spanscore.formats.source import Block, Source
    from spanscore.formats.token_columns import Decode

START = "-DOCSTART-"
"""The first column of a line that begins a document."""

PLAIN_LABELS = 200
"""Maximum number of labels in a column of plain labels without prefixes."""


MAX_TAGS = 1 << 18
"""Maximum number of different tags."""

CHUNK = 1 << 18
"""Tokens of a chunk, except in a longer document."""

DESCRIBED = 100_000
"""Tokens from which an error message describes the columns."""

Row = tuple[int, list[str]]
"""The number of a line, and its columns: those of a token, -DOCSTART-, or none of a line that ends a sentence."""


@dataclass
class Survey:
    """What is counted in a file before it is read."""

    tokens: int = 0
    comments: int = 0
    tags: Counter[str] = field(default_factory=Counter)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Which tag follows which, as `transitions` counts them."""
    first: list[str] = field(default_factory=list)
    """The columns of the first token."""
    numbered: bool = True
    """Whether the first of at least three columns numbers the tokens of each sentence."""


@dataclass(frozen=True, repr=False)
class Conll(Format):
    """One token per line with its tag in a column; blank lines end sentences, -DOCSTART- lines begin documents.

    Columns are separated by tabs if a line has any, else by white space. Without -DOCSTART-, each sentence is a
    document. Texts are rebuilt from the words with single spaces between them, and line breaks between sentences. A
    line that begins with # and has no tag in its tag column is a comment. With words=ignore, offsets count tokens and
    the words do not matter, as in conlleval; read both sides so.
    """

    name: ClassVar[str] = "conll"
    offsets: ClassVar[str] = "tokens"
    suffixes: ClassVar[tuple[str, ...]] = (".conll", ".iob", ".iob2", ".bio")
    column: int = parameter(-1, "Column of the tag, counted from 0, or from the end if negative.")
    word: int | None = parameter(
        None, "Column of the word (default: the first, which is refused if it numbers tokens).", type=int
    )
    scheme: str = parameter("auto", "Tag scheme; IO also reads plain labels.", choices=("auto", *SCHEMES))
    order: str = parameter(
        "auto",
        "Whether the prefix comes before the label (B-NP) or after it (NP-B).",
        choices=("auto", "prefix", "suffix"),
    )
    repair: str = parameter(
        "begin", "Whether an illegal tag begins a span, or only legal spans are kept (discard).", choices=REPAIRS
    )
    mode: str = parameter("default", "Strict is another name for repair=discard.", choices=("default", "strict"))
    comments: str = parameter(
        "auto",
        "Whether lines that begin with # are comments: all, none, or those without a tag.",
        choices=("auto", "all", "none"),
    )
    words: str = parameter(
        "check", "Whether words make up the text, or are ignored and offsets count tokens.", choices=("check", "ignore")
    )

    @classmethod
    def recognise(cls, sample: Sample) -> Claim | None:
        """Claim lines of at least two columns with tags in one of them."""
        if sample.is_json or not sample.is_text:
            return None
        lines = sample.start.split(b"\n", 200)[:200]
        rows = [_columns(line.decode("utf-8", "replace")) for line in lines[: max(len(lines) - 1, 1)] if line.strip()]
        rows = [row for row in rows if row and not row[0].startswith("#")]
        if not rows or any(len(row) < 2 for row in rows[: max(len(rows) - 1, 1)]):
            return None
        tagged = any(looks_like_tag(row[-1]) or looks_like_tag(row[-1], "suffix") for row in rows)
        return Claim(LIKELY, "lines are words and tags in columns") if tagged else None

    def read(self, source: Source) -> Iterator[Corpus]:
        """Yield corpora. Lines are kept as bytes and split twice, because the scheme depends on all of them."""
        blocks = list(source.blocks())
        found = self._survey(source, blocks)
        if not found.tokens:
            return
        self._refuse_numbers(found, self._rows(source, blocks), source.name)
        order = self._order(found.tags)
        scheme = self.scheme
        if scheme == "auto":
            scheme = scheme_of(found.pairs, order)
            self._refuse_no_tags(found, scheme, self._rows(source, blocks), source.name)
        repair = cast("Repair", "discard" if self.mode == "strict" else self.repair)
        try:
            illegal = count_illegal(found.pairs, scheme, order)
        except ValueError:
            raise self._no_tag(scheme, order, self._rows(source, blocks), source.name) from None
        if illegal:
            what = "1 transition is" if illegal == 1 else f"{illegal} transitions are"
            how = "each began a span" if repair == "begin" else "only legal spans were kept"
            source.notes.append(f"{source.name}: {what} not legal in {scheme}; {how} (repair={repair}).")
        if found.first[1:3] == ["-X-", "_"]:
            note = "this looks like a CoNLL export of Label Studio, which is known to lose labels; export JSON instead"
            source.notes.append(f"{source.name}: {note}.")
        if found.comments:
            source.notes.append(f"{source.name}: {plural(found.comments, 'comment line')} skipped.")
        rows = self._rows(source, blocks)
        for built in self._chunks(rows, lambda tags: decoded(tags, scheme, repair, order), source.name):
            yield built.corpus().with_columns(unit="tokens" if self.words == "ignore" else "")

    def write(self, chunks: Callable[[], Iterable[Corpus]], file: IO[bytes]) -> Losses:
        """Write words and tags in two columns, IOB2 unless another scheme is set, each document after -DOCSTART-."""
        losses: Counter[str] = Counter()
        scheme = "IOB2" if self.scheme == "auto" else self.scheme
        number = 0
        for one in to_write(chunks, self, losses, convention=NATIVE, holds=("tokens",)):
            words = _words(one.text, one.document.tokens)
            runs = _runs(words, without_overlaps(one.document.spans, len(one.text), losses), losses)
            if not words:
                losses["documents without words"] += 1
                continue
            if scheme == "IO":
                merged = sum(one[1:] == (other[0], other[2]) for one, other in pairwise(runs))
                losses["spans right after one with the same label"] += merged
            number += 1
            losses["ids"] += one.id != str(number)
            breaks = set(_sentences(words, one.text, runs))
            lines = [f"{START}\tO\n"]
            gaps = []
            for i, (word, tag) in enumerate(zip(words, encode_tags(runs, len(words), scheme), strict=True)):
                lines.append(f"\n{word.text}\t{tag}\n" if i == 0 or i in breaks else f"{word.text}\t{tag}\n")
                gaps.append(("\n" if i in breaks else " ") * (i > 0) + word.text)
            losses["texts whose white space changes"] += "".join(gaps) != one.text
            file.write("".join([*lines, "\n"]).encode())
        return losses

    def _rows(self, source: Source, blocks: list[Block]) -> Iterator[Row]:
        """Yield tokens and the lines between sentences, without comments."""
        for number, line in source.lines(blocks):
            columns = _columns(line)
            if not (columns and columns[0].startswith("#") and self._is_comment(columns)):
                yield number, columns

    def _survey(self, source: Source, blocks: list[Block]) -> Survey:
        """Check the columns of all lines, and count tokens, tags and transitions."""
        found = Survey()
        before, lines, place = "O", 0, 0
        for number, columns in self._rows(source, blocks):
            lines += 1
            if columns and columns[0] != START:
                place += 1
                found.numbered = found.numbered and len(columns) > 2 and columns[0] == str(place)
                self._check_columns(columns, f"{source.name}:{number}")
                tag = columns[self.column]
                found.first = found.first or columns
                found.tags[tag] += 1
                if len(found.tags) > MAX_TAGS:
                    what = f"there are more than {MAX_TAGS:,} different tags; give conll(column=...) if the tags are"
                    raise InputError(f"{what} in another column.", f"{source.name}:{number}")
            else:
                tag, place = "O", 0
            if before != "O" or tag != "O":
                found.pairs[before, tag] += 1
            before = tag
        if before != "O":
            found.pairs[before, "O"] += 1
        found.tokens = found.tags.total()
        found.comments = sum(block.lines for block in blocks) - lines
        return found

    def _chunks(self, rows: Iterator[Row], decode: Decode, file: str) -> Iterator[TokenColumns]:
        """Yield documents in chunks."""
        labels = LabelTable()
        built = TokenColumns(labels, with_text=self.words == "check")
        known: dict[str, str] = {}
        in_sentence = in_document = marked = False
        number = 0
        for line, columns in chain(rows, [(0, [START])]):
            start = bool(columns) and columns[0] == START
            if columns and not start:
                tag = columns[self.column]
                built.add(columns[self.word or 0], known.setdefault(tag, tag), f"{file}:{line}")
                in_sentence = in_document = True
                continue
            if in_sentence:
                built.end_sentence(decode)
                in_sentence = False
            if in_document and (start or not marked):
                number += 1
                built.end_document(str(number))
                in_document = False
                if len(built) >= CHUNK:
                    yield built
                    built = TokenColumns(labels, with_text=self.words == "check")
            marked |= start
        if len(built):
            yield built

    def _is_comment(self, columns: list[str]) -> bool:
        if self.comments != "auto":
            return self.comments == "all"
        try:
            tag = columns[self.column]
        except IndexError:
            return True
        return len(columns) < 2 or not (looks_like_tag(tag) or looks_like_tag(tag, "suffix"))

    def _check_columns(self, columns: list[str], where: str) -> None:
        if len(columns) < 2:
            raise InputError("expected a word and a tag; there is only one column.", where)
        for column in (self.column, self.word or 0):
            if not -len(columns) <= column < len(columns):
                message = f"there is no column {column}; the line has {len(columns)} columns, counted from 0."
                raise InputError(message, where)

    def _order(self, tags: Counter[str]) -> str:
        if self.order != "auto":
            return self.order
        prefix = sum(count for tag, count in tags.items() if looks_like_tag(tag))
        suffix = sum(count for tag, count in tags.items() if looks_like_tag(tag, "suffix"))
        return "suffix" if suffix > prefix else "prefix"

    def _refuse_numbers(self, found: Survey, rows: Iterator[Row], file: str) -> None:
        """Refuse a first column that numbers the tokens of each sentence, as in GermEval: words are in another one."""
        if self.word is not None or not found.numbered or found.tokens < 2:
            return
        tokens = list(islice((row for row in rows if row[1] and row[1][0] != START), DESCRIBED))
        width = min(len(columns) for _, columns in tokens)
        column = next((i for i in range(2, width) if _hold_tags(columns[i] for _, columns in tokens)), width - 1)
        hint = f"give conll(word=1, column={column}), or conll(word=0) if these are the words"
        raise InputError(f"the first column numbers the tokens of each sentence; {hint}.", f"{file}:{tokens[0][0]}")

    def _no_tag(self, scheme: str, order: str, rows: Iterator[Row], file: str) -> InputError:
        """Return the error for the first value of the tag column that is not a tag of the scheme."""

        def is_tag(tag: str) -> bool:
            try:
                return bool(split_tag(tag, scheme, order))
            except ValueError:
                return False

        tokens = ((line, columns[self.column]) for line, columns in rows if columns and columns[0] != START)
        line = next(line for line, tag in tokens if not is_tag(tag))
        hint = "give conll(scheme=...), or conll(column=...) if the tags are in another column"
        return InputError(f"the tag column does not hold a tag in {scheme}; {hint}.", f"{file}:{line}")

    def _refuse_no_tags(self, found: Survey, scheme: str, rows: Iterator[Row], file: str) -> None:
        """Refuse a column that holds neither tags nor plain labels: it is probably the wrong column."""
        values = found.tags
        if scheme != "IO" or all(map(looks_like_tag, values)):
            return
        labels = len(values) - ("O" in values)
        if "O" in values and labels <= PLAIN_LABELS and 2 * labels <= found.tokens:
            return
        tokens = list(islice((columns for _, columns in rows if columns and columns[0] != START), DESCRIBED))
        width = min(map(len, tokens))
        listed = "; ".join(f"{column}: {_kind([columns[column] for columns in tokens])}" for column in range(width))
        what = f"column {self.column} does not hold tags (column {listed})"
        raise InputError(f"{what}; give conll(column=...), or conll(scheme=IO) if it holds plain labels.", file)


@dataclass(frozen=True)
class Word:
    """A token to write, without white space."""

    start: int
    end: int
    text: str


def _words(text: str, tokens: list[tuple[int, int]] | None) -> list[Word]:
    """Return the words of a text: its tokens, or runs of letters and digits and single other characters."""
    if not tokens:
        import regex

        tokens = [match.span() for match in regex.finditer(r"(?:\w\p{M}*)+|[^\w\s]\p{M}*", text)]
    words = (Word(start, end, " ".join(text[start:end].split())) for start, end in tokens)
    return [word for word in words if word.text]


def _runs(words: list[Word], spans: list[Span], losses: Counter[str]) -> list[tuple[int, int, str]]:
    """Return spans as ranges of words; those that do not begin and end at words are counted."""
    starts = {word.start: number for number, word in enumerate(words)}
    ends = {word.end: number + 1 for number, word in enumerate(words)}
    runs = []
    for span in spans:
        first, last = starts.get(span.start), ends.get(span.end)
        if first is None or last is None or first >= last:
            losses["spans that do not begin and end at tokens"] += 1
        else:
            runs.append((first, last, " ".join(span.label.split())))
    return runs


def _sentences(words: list[Word], text: str, runs: list[tuple[int, int, str]]) -> list[int]:
    """Return the numbers of the words that begin a line of the text, unless a span would be cut."""
    inside = {number for first, last, _ in runs for number in range(first + 1, last)}
    return [
        number
        for number in range(1, len(words))
        if number not in inside and "\n" in text[words[number - 1].end : words[number].start]
    ]


def _hold_tags(values: Iterable[str]) -> bool:
    return all(looks_like_tag(one) or looks_like_tag(one, "suffix") for one in values)


def _columns(line: str) -> list[str]:
    """Split a line at tabs, or at white space if it has none."""
    if "\t" in line:
        columns = [column.strip() for column in line.split("\t")]
        return columns if any(columns) else []
    return line.split()


def _kind(values: list[str]) -> str:
    """Describe what a column holds, without showing it."""
    different = len(set(values))
    if all(map(looks_like_tag, values)):
        return f"tags in {guess_scheme([values])}"
    if all(value.isdigit() for value in values):
        return "numbers"
    return f"{different} different values"
