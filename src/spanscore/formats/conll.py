"""`conll`: one token per line, tag in the last column, blank lines between sentences, -DOCSTART- between documents."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import IO, TYPE_CHECKING, ClassVar, NamedTuple, cast

from spanscore.corpus.records import Document, Span, build
from spanscore.errors import InputError, plural
from spanscore.formats.interface import LIKELY, Claim, Format, Losses, Sample
from spanscore.formats.offsets import NATIVE
from spanscore.formats.tags import (
    REPAIRS,
    SCHEMES,
    Repair,
    decode_tags,
    encode_tags,
    guess_scheme,
    looks_like_tag,
    split_tag,
)
from spanscore.formats.writing import to_write, without_overlaps
from spanscore.spec import parameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from spanscore.corpus import Corpus
    from spanscore.formats.source import Source

PLAIN_LABELS = 200
"""Maximum number of labels in a column of plain labels without prefixes."""


class Token(NamedTuple):
    """The columns of a token, and its line."""

    columns: list[str]
    line: int


Sentence = list[Token]


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
        """Yield one corpus."""
        documents, comments = self._documents(source)
        tokens = [token for sentences in documents for sentence in sentences for token in sentence]
        if not tokens:
            return
        self._refuse_numbers(documents, source.name)
        order = self._order(tokens)
        tags = [[self._tag(token) for token in sentence] for sentences in documents for sentence in sentences]
        scheme = self.scheme
        if scheme == "auto":
            scheme = guess_scheme(tags, order)
            self._refuse_no_tags(tokens, scheme, source.name)
        repair = cast("Repair", "discard" if self.mode == "strict" else self.repair)
        illegal = 0
        built = []
        for number, sentences in enumerate(documents, 1):
            document, count = self._build(str(number), sentences, (scheme, repair, order), source.name)
            built.append(document)
            illegal += count
        if illegal:
            what = "1 transition is" if illegal == 1 else f"{illegal} transitions are"
            how = "each began a span" if repair == "begin" else "only legal spans were kept"
            source.notes.append(f"{source.name}: {what} not legal in {scheme}; {how} (repair={repair}).")
        if tokens[0].columns[1:3] == ["-X-", "_"]:
            note = "this looks like a CoNLL export of Label Studio, which is known to lose labels; export JSON instead"
            source.notes.append(f"{source.name}: {note}.")
        if comments:
            source.notes.append(f"{source.name}: {plural(comments, 'comment line')} skipped.")
        yield build(built).with_columns(unit="tokens" if self.words == "ignore" else "")

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
            lines = ["-DOCSTART-\tO\n"]
            gaps = []
            for i, (word, tag) in enumerate(zip(words, encode_tags(runs, len(words), scheme), strict=True)):
                lines.append(f"\n{word.text}\t{tag}\n" if i == 0 or i in breaks else f"{word.text}\t{tag}\n")
                gaps.append(("\n" if i in breaks else " ") * (i > 0) + word.text)
            losses["texts whose white space changes"] += "".join(gaps) != one.text
            file.write("".join([*lines, "\n"]).encode())
        return losses

    def _documents(self, source: Source) -> tuple[list[list[Sentence]], int]:
        """Return documents as lists of sentences, and the number of comment lines."""
        found: list[list[Sentence]] = []
        sentences: list[Sentence] = []
        sentence: Sentence = []
        marked, comments = False, 0
        for number, line in source.lines():
            columns = _columns(line)
            if columns and columns[0].startswith("#") and self._is_comment(columns):
                comments += 1
                continue
            start = bool(columns) and columns[0] == "-DOCSTART-"
            if columns and not start:
                self._check_columns(columns, f"{source.name}:{number}")
                sentence.append(Token(columns, number))
                continue
            if sentence:
                sentences.append(sentence)
                sentence = []
            if sentences and (start or not marked):
                found.append(sentences)
                sentences = []
            marked |= start
        if sentence:
            sentences.append(sentence)
        return ([*found, sentences] if sentences else found), comments

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

    def _tag(self, token: Token) -> str:
        return token.columns[self.column]

    def _order(self, tokens: list[Token]) -> str:
        if self.order != "auto":
            return self.order
        prefix = sum(looks_like_tag(self._tag(token)) for token in tokens)
        suffix = sum(looks_like_tag(self._tag(token), "suffix") for token in tokens)
        return "suffix" if suffix > prefix else "prefix"

    def _refuse_numbers(self, documents: list[list[Sentence]], file: str) -> None:
        """Refuse a first column that numbers the tokens of each sentence, as in GermEval: words are in another one."""
        if self.word is not None:
            return
        sentences = [sentence for document in documents for sentence in document]
        if sum(map(len, sentences)) < 2 or any(
            token.columns[0] != str(number) or len(token.columns) < 3
            for sentence in sentences
            for number, token in enumerate(sentence, 1)
        ):
            return
        first = sentences[0][0].columns
        column = next((i for i in range(2, len(first)) if self._holds_tags(sentences, i)), len(first) - 1)
        hint = f"give conll(word=1, column={column}), or conll(word=0) if these are the words"
        raise InputError(
            f"the first column numbers the tokens of each sentence; {hint}.", f"{file}:{sentences[0][0].line}"
        )

    def _holds_tags(self, sentences: list[Sentence], column: int) -> bool:
        tags = (token.columns[column] for sentence in sentences for token in sentence if column < len(token.columns))
        return all(looks_like_tag(tag) or looks_like_tag(tag, "suffix") for tag in tags)

    def _refuse_no_tags(self, tokens: list[Token], scheme: str, file: str) -> None:
        """Refuse a column that holds neither tags nor plain labels: it is probably the wrong column."""
        values = Counter(map(self._tag, tokens))
        if scheme != "IO" or all(map(looks_like_tag, values)):
            return
        labels = len(values) - ("O" in values)
        if "O" in values and labels <= PLAIN_LABELS and 2 * labels <= len(tokens):
            return
        width = min(len(token.columns) for token in tokens)
        listed = "; ".join(f"{column}: {_kind([token.columns[column] for token in tokens])}" for column in range(width))
        what = f"column {self.column} does not hold tags (column {listed})"
        raise InputError(f"{what}; give conll(column=...), or conll(scheme=IO) if it holds plain labels.", file)

    def _build(
        self, name: str, sentences: list[Sentence], how: tuple[str, Repair, str], file: str
    ) -> tuple[Document, int]:
        scheme, repair, order = how
        text, at, illegal = [], 0, 0
        tokens: list[tuple[int, int]] = []
        spans: list[Span] = []
        for sentence in sentences:
            first = len(tokens)
            for token in sentence:
                try:
                    split_tag(self._tag(token), scheme, order)
                except ValueError:
                    hint = "give conll(scheme=...), or conll(column=...) if the tags are in another column"
                    message = f"the tag column does not hold a tag in {scheme}; {hint}."
                    raise InputError(message, f"{file}:{token.line}") from None
                size = 1 if self.words == "ignore" else len(token.columns[self.word or 0])
                tokens.append((at, at + size))
                at += size + 1
            runs, count = decode_tags([self._tag(token) for token in sentence], scheme, repair, order)
            illegal += count
            spans += [Span(tokens[first + a][0], tokens[first + b - 1][1], label) for a, b, label in runs]
            text.append(" ".join(token.columns[self.word or 0] for token in sentence))
        ignored = self.words == "ignore"
        return Document(id=name, text=None if ignored else "\n".join(text), spans=spans, tokens=tokens), illegal


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
