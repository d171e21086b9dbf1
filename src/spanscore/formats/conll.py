"""`conll`: one token per line, tag in the last column, blank lines between sentences, -DOCSTART- between documents."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import compress, pairwise
from operator import itemgetter
from typing import IO, TYPE_CHECKING, ClassVar, cast

import numpy as np

from spanscore.errors import InputError, plural
from spanscore.formats.interface import LIKELY, Claim, Format, Losses, Sample
from spanscore.formats.offsets import NATIVE
from spanscore.formats.tags import (
    REPAIRS,
    SCHEMES,
    Repair,
    count_illegal,
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
    from spanscore.corpus.columns import Bools, Ints, Longs
    from spanscore.corpus.records import Span
    from spanscore.formats.source import Source

START = "-DOCSTART-"
"""The first column of a line that begins a document."""

PLAIN_LABELS = 200
"""Maximum number of labels in a column of plain labels without prefixes."""


MAX_TAGS = 1 << 18
"""Maximum number of different tags beside O."""

BATCH = 1 << 14
"""Lines that are split at once."""

DESCRIBED = 10_000
"""Tokens from which an error message describes the columns."""

ODD_SPACE = " \v\f\x1c\x1d\x1e\x1f"
"""Whitespace of ASCII that separates no columns if there are tabs, and no lines."""


@dataclass
class Survey:
    """What is known of a file before its tags are read as spans."""

    tokens: TokenColumns
    lines: list[int] = field(default_factory=lambda: [0])
    """The line in which each tag occurs first; O is always known."""
    comments: int = 0
    first: list[tuple[int, list[str]]] = field(default_factory=list)
    """Lines and columns of the first tokens."""
    numbered: bool = True
    """Whether the first of at least three columns numbers the tokens of each sentence."""
    place: int = 0
    """The number of the last token in its sentence, while tokens may be numbered."""
    gap: bool = True
    """Whether a blank line or -DOCSTART- comes after the last token."""
    starts: int = 0
    """How often -DOCSTART- has come."""
    starts_before: int = -1
    """How often it came before the last token."""


@dataclass(frozen=True, repr=False)
class Conll(Format):
    """One token per line with its tag in a column; blank lines end sentences, -DOCSTART- lines begin documents.

    Columns are separated by tabs if a line has any, else by whitespace. Without -DOCSTART-, each sentence is a
    document. Texts are rebuilt from the words with single spaces between them, and line breaks between sentences. A
    line that begins with # and has no tag in its tag column is a comment. With words=ignore, offsets count tokens and
    the words do not matter, as in conlleval; read both sides so.
    """

    name: ClassVar[str] = "conll"
    builds_text: ClassVar[bool] = True
    offsets: ClassVar[str] = "tokens"
    suffixes: ClassVar[tuple[str, ...]] = (".conll", ".iob", ".iob2", ".bio")
    column: int = parameter(-1, "Column of the tag, counted from 0, or from the end if negative.")
    word: int | None = parameter(
        None, "Column of the word (default: the first; an error if it holds token numbers).", type=int
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
    mode: str = parameter(
        "default",
        "An alternative to repair, named as in seqeval: strict means repair=discard.",
        choices=("default", "strict"),
    )
    comments: str = parameter(
        "auto",
        "Whether lines that begin with # are comments: all, none, or those without a tag.",
        choices=("auto", "all", "none"),
    )
    words: str = parameter(
        "check",
        "Build the text from the words and compare it (check), or count offsets in tokens (ignore).",
        choices=("check", "ignore"),
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
        """Yield corpora. All tokens are gathered first, because the scheme depends on all of them."""
        found = Survey(TokenColumns(with_text=self.words == "check"))
        for first, lines in source.line_lists():
            for at in range(0, len(lines), BATCH):
                self._gather(found, first + at, lines[at : at + BATCH], source.name)
        if not found.first:
            return
        self._refuse_numbers(found, source.name)
        tags, pairs = found.tokens.counts(), found.tokens.transitions()
        order = self._order(tags)
        scheme = self.scheme
        if scheme == "auto":
            scheme = scheme_of(pairs, order)
            self._refuse_no_tags(found, tags, scheme, source.name)
        repair = cast("Repair", "discard" if self.mode == "strict" else self.repair)
        try:
            illegal = count_illegal(pairs, scheme, order)
        except ValueError:
            raise _no_tag(found, scheme, order, source.name) from None
        if illegal:
            what = "1 transition is" if illegal == 1 else f"{illegal} transitions are"
            how = "each began a span" if repair == "begin" else "only legal spans were kept"
            source.notes.append(f"{source.name}: {what} not legal in {scheme}; {how} (repair={repair}).")
        if found.first[0][1][1:3] == ["-X-", "_"]:
            note = "this looks like a CoNLL export of Label Studio, which is known to lose labels; export JSON instead"
            source.notes.append(f"{source.name}: {note}.")
        if found.comments:
            source.notes.append(f"{source.name}: {plural(found.comments, 'comment line')} skipped.")
        unit = "tokens" if self.words == "ignore" else ""
        for corpus in found.tokens.corpora(scheme, repair, order, source.name):
            yield corpus.with_columns(unit=unit)

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

    def _gather(self, found: Survey, first: int, lines: list[str], file: str) -> None:
        """Add lines, of which `first` is the number of the first one."""
        whole = "\n".join(lines)
        rows = _split(lines, whole)
        line = np.arange(first, first + len(lines))
        if "#" in whole:
            kept = [not (row and row[0].startswith("#") and self._is_comment(row)) for row in rows]
            found.comments += len(rows) - sum(kept)
            rows, line = list(compress(rows, kept)), line[kept]
        width = np.fromiter(map(len, rows), np.int64, len(rows))
        start = np.zeros(len(rows), np.bool_)
        if START in whole:
            start[:] = [bool(row) and row[0] == START for row in rows]
        place = np.flatnonzero((width > 0) & ~start)
        rows = rows if len(place) == len(rows) else list(map(rows.__getitem__, place.tolist()))
        if rows:
            line = line[place]
            self._check_columns(rows, width[place], line, file)
            gap = np.diff(place, prepend=-1) > 1
            gap[0] |= found.gap
            starts = found.starts + np.cumsum(start)[place]
            new = np.diff(starts, prepend=found.starts_before) > 0
            found.starts_before = int(starts[-1])
            if found.numbered and self.word is None:
                _see_numbers(found, rows, gap)
            if len(found.first) < DESCRIBED:
                found.first += zip(line[:DESCRIBED].tolist(), rows[:DESCRIBED], strict=True)
            tags = list(map(itemgetter(self.column), rows))
            words = list(map(itemgetter(self.word or 0), rows))
            self._see_tags(found, found.tokens.add(words, tags, gap, new | (gap & (starts == 0))), line, file)
            found.gap = int(place[-1]) < len(width) - 1
        else:
            found.gap |= len(width) > 0
        found.starts += int(np.count_nonzero(start))

    def _see_tags(self, found: Survey, codes: Ints, line: Longs, file: str) -> None:
        """Note where new tags occur first, and refuse too many of them."""
        new = np.flatnonzero(codes >= len(found.lines))
        if len(new):
            found.lines += line[new[np.unique(codes[new], return_index=True)[1]]].tolist()
        if len(found.lines) > MAX_TAGS + 1:
            what = f"there are more than {MAX_TAGS:,} different tags; give conll(column=...) if the tags are"
            raise InputError(f"{what} in another column.", f"{file}:{found.lines[MAX_TAGS + 1]}")

    def _is_comment(self, columns: list[str]) -> bool:
        if self.comments != "auto":
            return self.comments == "all"
        try:
            tag = columns[self.column]
        except IndexError:
            return True
        return len(columns) < 2 or not (looks_like_tag(tag) or looks_like_tag(tag, "suffix"))

    def _check_columns(self, rows: list[list[str]], width: Longs, line: Longs, file: str) -> None:
        least = max(2, *(column + 1 if column >= 0 else -column for column in (self.column, self.word or 0)))
        if (short := width < least).any():
            row = int(np.argmax(short))
            count, where = len(rows[row]), f"{file}:{line[row]}"
            if count < 2:
                raise InputError("expected a word and a tag; there is only one column.", where)
            column = next(one for one in (self.column, self.word or 0) if not -count <= one < count)
            what = f"there is no column {column}; the line has {count} columns, counted from 0."
            raise InputError(what, where)

    def _order(self, tags: Counter[str]) -> str:
        if self.order != "auto":
            return self.order
        prefix = sum(count for tag, count in tags.items() if looks_like_tag(tag))
        suffix = sum(count for tag, count in tags.items() if looks_like_tag(tag, "suffix"))
        return "suffix" if suffix > prefix else "prefix"

    def _refuse_numbers(self, found: Survey, file: str) -> None:
        """Refuse a first column that numbers the tokens of each sentence, as in GermEval: words are in another one."""
        if self.word is not None or not found.numbered or len(found.first) < 2:
            return
        rows = [columns for _, columns in found.first]
        width = min(map(len, rows))
        column = next((i for i in range(2, width) if _hold_tags(columns[i] for columns in rows)), width - 1)
        hint = f"give conll(word=1, column={column}), or conll(word=0) if these are the words"
        what = f"the first column numbers the tokens of each sentence; {hint}."
        raise InputError(what, f"{file}:{found.first[0][0]}")

    def _refuse_no_tags(self, found: Survey, tags: Counter[str], scheme: str, file: str) -> None:
        """Refuse a column that holds neither tags nor plain labels: it is probably the wrong column."""
        if scheme != "IO" or all(map(looks_like_tag, tags)):
            return
        labels = len(tags) - ("O" in tags)
        if "O" in tags and labels <= PLAIN_LABELS and 2 * labels <= tags.total():
            return
        rows = [columns for _, columns in found.first]
        width = min(map(len, rows))
        listed = "; ".join(f"{column}: {_kind([columns[column] for columns in rows])}" for column in range(width))
        what = f"column {self.column} does not hold tags (column {listed})"
        raise InputError(f"{what}; give conll(column=...), or conll(scheme=IO) if it holds plain labels.", file)


def _see_numbers(found: Survey, rows: list[list[str]], gap: Bools) -> None:
    """Look whether tokens are still numbered; nearly always, the first one is not."""
    for columns, begins in zip(rows, gap.tolist(), strict=True):
        found.place = 1 if begins else found.place + 1
        if len(columns) <= 2 or columns[0] != str(found.place):
            found.numbered = False
            return


def _no_tag(found: Survey, scheme: str, order: str, file: str) -> InputError:
    """Return the error for the first value of the tag column that is not a tag of the scheme."""

    def is_tag(tag: str) -> bool:
        try:
            return bool(split_tag(tag, scheme, order))
        except ValueError:
            return False

    line = min(line for tag, line in zip(found.tokens.tags, found.lines, strict=True) if not is_tag(tag))
    hint = "give conll(scheme=...), or conll(column=...) if the tags are in another column"
    return InputError(f"the tag column does not hold a tag in {scheme}; {hint}.", f"{file}:{line}")


@dataclass(frozen=True)
class Word:
    """A token to write, without whitespace."""

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


def _split(lines: list[str], whole: str) -> list[list[str]]:
    """Split lines into columns; `whole` is all of them, joined."""
    if "\t" not in whole:
        return list(map(str.split, lines))
    odd = any(one in whole for one in ODD_SPACE) if whole.isascii() else _ODD_SPACE.search(whole)
    if odd or _TABS_ALONE.search(whole):
        return list(map(_columns, lines))
    return [line.split("\t") if line else [] for line in lines]


_ODD_SPACE = re.compile(r"[^\S\t\n]")
_TABS_ALONE = re.compile(r"^\t+$", re.MULTILINE)


def _columns(line: str) -> list[str]:
    """Split a line at tabs, or at whitespace if it has none."""
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
