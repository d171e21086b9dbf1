"""Groups of spans by a property: an attribute, their length or shape, or what a table says about them."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spanscore.corpus.strings import short_key
from spanscore.errors import InputError, UsageError, printable, unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from spanscore.align.pairing import Pairing
    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Longs

NONE = "(none)"
"""The group of spans without a value."""
ATTRIBUTE, LEXICON, SEEN = "attr.", "lexicon:", "span.seen"
LENGTHS = {1: "1–4", 5: "5–9", 10: "10–19", 20: "20–49", 50: "50 and more"}
"""Groups of lengths in characters, by their least length; empty spans count as the shortest."""
HEADS = {"surface", "name", "text", "string", "word"}
"""First cells that mark the first line of a lexicon as its header."""


@dataclass(frozen=True)
class SpanGroups:
    """A property by which gold spans are grouped, or an attribute of predictions; written as in `--by`."""

    what: str
    table: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """The group of each text by its key, for properties that look texts up."""

    @classmethod
    def of(cls, what: str, read: Callable[[str], Corpus] | None = None) -> SpanGroups:
        """Return the groups of a property, with its file read; `read` reads a corpus.

        >>> SpanGroups.of("span.length")
        SpanGroups(what='span.length')
        """
        if what in (ATTRIBUTE, LEXICON, "span."):
            example = {ATTRIBUTE: "attr.gender", LEXICON: "lexicon:names.csv"}.get(what, "span.length")
            raise UsageError(f"'{what}' is incomplete; write for example {example}.")
        if what.startswith(ATTRIBUTE):
            return cls(what)
        if what.startswith(LEXICON):
            return cls(what, _lexicon(what.removeprefix(LEXICON)))
        name, colon, file = what.removeprefix("span.").partition(":")
        if name == "seen":
            if not file:
                raise UsageError("span.seen needs a reference file; give --seen FILE, or span.seen:FILE.")
            return cls(what, dict.fromkeys(_surfaces(file, read), "seen"))
        if colon and name in ("length", *SHAPES):
            raise UsageError(f"span.{name} takes no value; write span.{name}.")
        if name not in ("length", *SHAPES):
            raise UsageError(unknown("span property", name, {"length", "seen", *SHAPES}))
        return cls(what)

    @property
    def _key(self) -> str | None:
        """The name of the attribute, if this property is one."""
        return self.what.removeprefix(ATTRIBUTE) if self.what.startswith(ATTRIBUTE) else None

    def check(self, gold: Corpus, pred: Corpus | None = None) -> None:
        """Raise an error if the data does not have this property; without predictions, an attribute may be theirs."""
        known = {*gold.attrs, *(() if pred is None else pred.attrs)}
        if self._key is not None and self._key not in known and pred is not None:
            raise UsageError(unknown("attribute of spans", self._key, known))

    def of_predictions(self, pairing: Pairing) -> bool:
        """Return whether it is an attribute that only predictions have, such as the recognizer that made them."""
        return self._key is not None and _has(pairing.pred, self._key) and not _has(pairing.gold, self._key)

    def group_predictions(self, pairing: Pairing) -> tuple[Longs, tuple[str, ...]]:
        """Return the group of each prediction by the attribute, and the names of the groups in order."""
        return _by_attribute(pairing.pred, self._key or "")

    def group(self, pairing: Pairing) -> tuple[Longs, tuple[str, ...]]:
        """Return the group of each gold span, and the names of the groups in order."""
        gold = pairing.gold
        if self._key is not None:
            return _by_attribute(gold, self._key)
        if self.what == "span.length":
            least = list(LENGTHS)
            codes = np.searchsorted(least, np.maximum(gold.end - gold.start, 1), side="right") - 1
            return codes.astype(np.int64), tuple(LENGTHS.values())
        shape = SHAPES.get(self.what.removeprefix("span."), self._look_up)
        found = [shape(text) for text in _texts(pairing, self.what)]
        names = tuple(sorted(set(found), key=lambda name: (name == NONE, name)))
        place = {name: code for code, name in enumerate(names)}
        return np.array([place[name] for name in found], np.int64), names

    def _look_up(self, text: str) -> str:
        """Return the group of a text or, in a lexicon, of its first word that has one."""
        found = self.table.get(short_key(folded(text)))
        if self.what.startswith(LEXICON):
            words = (self.table.get(short_key(folded(word.strip(".,;:'’\"()")))) for word in text.split())
            return found or next((group for group in words if group is not None), NONE)
        return found or "unseen"


def is_span_property(what: str) -> bool:
    """Return whether scores split by this are split by a property of spans."""
    return what.startswith((ATTRIBUTE, LEXICON, "span."))


def shown_split(what: str) -> str:
    """Return the name of a split in tables and files.

    >>> shown_split("span.seen:train.jsonl"), shown_split("span.case")
    ('span.seen', 'span.case')
    """
    return SEEN if what.startswith(f"{SEEN}:") else what


def folded(text: str) -> str:
    """Return a text as it is looked up: case-insensitively, with single spaces."""
    return " ".join(text.casefold().split())


def _case(text: str) -> str:
    """Return the case of a text: upper, lower, title, mixed, or none without letters that have a case."""
    cased = [word for word in text.split() if word.upper() != word.lower()]
    if not cased:
        return NONE
    if text.isupper():
        return "upper"
    if text.islower():
        return "lower"
    return "title" if all(word == word[:1].upper() + word[1:].lower() for word in cased) else "mixed"


def _words(text: str) -> str:
    number = len(text.split())
    return str(number) if number < 4 else "4 and more"


def _digits(text: str) -> str:
    letters = [letter for letter in text if letter.isalnum()]
    digits = sum(letter.isdigit() for letter in letters)
    return "no digits" if not digits else "only digits" if digits == len(letters) else "some digits"


SHAPES: dict[str, Callable[[str], str]] = {"case": _case, "words": _words, "digits": _digits}
"""Properties of a span's text."""


def _texts(pairing: Pairing, what: str) -> Iterator[str]:
    gold, texts = pairing.gold, pairing.text
    for doc, start, end in zip(gold.doc.tolist(), gold.start.tolist(), gold.end.tolist(), strict=True):
        text = texts[doc]
        if text is None:
            where = f'document "{printable(gold.ids[doc])}"'
            raise InputError(f"{printable(what)} needs the text of every document with gold spans.", where)
        yield text[start:end]


def _has(side: Corpus, key: str) -> bool:
    """Return whether a span has this attribute; in a pairing, both sides have the columns of both."""
    return key in side.attrs and bool((side.attrs[key].codes >= 0).any())


def _by_attribute(side: Corpus, key: str) -> tuple[Longs, tuple[str, ...]]:
    column = side.attrs.get(key)
    if column is None:
        return np.zeros(len(side.doc), np.int64), (NONE,)
    return _named([slice_name(value) for value in (*column.values, None)], column.codes)


def _named(values: list[str], codes: Any) -> tuple[Longs, tuple[str, ...]]:
    """Return groups by the names of values, where several values may have one name."""
    names = tuple(sorted({values[code] for code in np.unique(codes).tolist()}, key=lambda name: (name == NONE, name)))
    place = {name: number for number, name in enumerate(names)}
    return np.array([place.get(value, 0) for value in values])[codes], names


def slice_name(value: object) -> str:
    """Return the name of the slice of an attribute's or a metadata field's value."""
    return NONE if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _lexicon(path: str) -> dict[str, str]:
    """Read a table of texts and their groups, separated by tabs or, in a .csv file, by commas."""
    found: dict[str, str] = {}
    for number, cells in lexicon_lines(path):
        if len(cells) != 2:
            raise InputError("a line of a lexicon has a text and its group.", f"{path}:{number}")
        text, group = short_key(folded(cells[0])), cells[1]
        if found.setdefault(text, group) != group:
            raise InputError("this text has another group in an earlier line; give it one group.", f"{path}:{number}")
    if not found:
        raise InputError("the lexicon is empty.", path)
    return found


def lexicon_lines(path: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each line of a table, without its header and empty lines.

    A line with an empty cell among others has no cells here.
    """
    for number, row in enumerate(_rows(path, "," if path.lower().endswith(".csv") else "\t"), 1):
        cells = [cell.strip() for cell in row]
        if any(cells) and not (number == 1 and cells[0].casefold() in HEADS):
            yield number, cells if all(cells) else []


def _surfaces(path: str, read: Callable[[str], Corpus] | None) -> Iterator[str]:
    """Yield the keys of the texts of a reference: the lines of a .txt file, or the gold spans of any other file."""
    if path.lower().endswith(".txt") or read is None:
        for row in _rows(path, "\0"):
            yield short_key(folded("".join(row)))
        return
    corpus = read(path)
    texts = [] if corpus.text is None else corpus.text.tolist()
    if not texts:
        raise InputError("the reference has no texts; give a file with texts, or a .txt file with one per line.", path)
    for doc, start, end in zip(corpus.doc.tolist(), corpus.start.tolist(), corpus.end.tolist(), strict=True):
        if texts[doc] is not None:
            yield short_key(folded(texts[doc][start:end]))


def _rows(path: str, delimiter: str) -> Iterator[list[str]]:
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            if delimiter == ",":
                yield from csv.reader(file)
            else:
                for line in file:
                    yield line.rstrip("\r\n").split(delimiter)
    except OSError as error:
        raise InputError(f"the file cannot be read ({error.strerror}).", path) from None
    except (UnicodeDecodeError, csv.Error):
        raise InputError("the file is not UTF-8 text.", path) from None
