"""Numbers of sentences by document, from the documents' metadata, from a file, or from a folder of sentence files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from spanscore.errors import InputError, printable
from spanscore.files import file_stamp

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Longs

FIELD = "sentences"
NOT_COUNTED = -1
"""The number of sentences of a document that has no number."""


@dataclass(frozen=True)
class SentenceCounts:
    """The number of sentences of each document, by id; None: they are in the documents' metadata."""

    by_id: Mapping[str, int] | None

    @property
    def digest(self) -> str:
        """Eight hexadecimal digits that identify the numbers."""
        return blake2b(repr(sorted((self.by_id or {}).items())).encode(), digest_size=4).hexdigest()

    def of(self, side: Corpus) -> Longs:
        """Return the number of sentences of each document, or `NOT_COUNTED`."""
        if self.by_id is not None:
            return np.array([self.by_id.get(name, NOT_COUNTED) for name in side.ids], np.int64)
        if FIELD not in side.meta:
            return np.full(len(side), NOT_COUNTED)
        column = side.meta[FIELD]
        numbers = [_number(value, f"{side.source or 'gold'}: metadata field {FIELD}") for value in column.values]
        return np.array([*numbers, NOT_COUNTED], np.int64)[column.codes]


def sentence_counts(source: str) -> SentenceCounts:
    """Return the numbers of sentences in metadata (`meta`), or of `@PATH`: a file or a folder."""
    if not source.startswith("@"):
        return SentenceCounts(None)
    path = source[1:]
    read = _folder if Path(path).is_dir() else _file
    return SentenceCounts(read(path, file_stamp(path)))


@cache
def _folder(path: str, stamp: tuple[int, int]) -> Mapping[str, int]:
    """Count the lines of each .ann file of a folder."""
    found = {file.stem: sum(1 for _ in _lines(str(file))) for file in sorted(Path(path).glob("*.ann"))}
    if not found:
        raise InputError("the folder has no .ann files with sentences.", path)
    return found


@cache
def _file(path: str, stamp: tuple[int, int]) -> Mapping[str, int]:
    """Read lines of document, tab, number."""
    found: dict[str, int] = {}
    for number, line in enumerate(_lines(path), 1):
        name, tab, count = line.rpartition("\t")
        if not tab:
            raise InputError("expected a document, a tab, and its number of sentences.", f"{path}:{number}")
        if name in found:
            raise InputError(f"the document '{printable(name)}' is listed twice.", f"{path}:{number}")
        found[name] = _number(count, f"{path}:{number}")
    return found


def _lines(path: str) -> Iterator[str]:
    try:
        text = Path(path).read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("the file of sentences is not UTF-8.", path) from None
    except (OSError, ValueError) as error:
        raise InputError(f"the file of sentences cannot be read ({getattr(error, 'strerror', error)}).", path) from None
    return (line for line in text.split("\n") if line.strip())


def _number(value: object, where: str) -> int:
    text = str(value).strip()
    if isinstance(value, bool) or not (text.isascii() and text.isdigit() and len(text) < 10):
        raise InputError("the number of sentences is not a whole number.", where)
    return int(text)
