"""What a format is: a value that recognises, reads and, where it can, writes files."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import IO, TYPE_CHECKING, ClassVar, Literal, NamedTuple

import msgspec

from spanscore.errors import UsageError
from spanscore.spec import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from spanscore.corpus import Corpus
    from spanscore.formats.source import Source

Range = tuple[int, int]
CERTAIN, LIKELY, POSSIBLE = 3, 2, 1
"""How strongly a format claims a file; the strongest claim wins."""
_KEY = re.compile(rb'"([^"\\]*)"\s*:')
_JSON_LIST = re.compile(rb"\[\s*[\[{\"\]\d]")


class Claim(NamedTuple):
    """A format's claim that a file is in it, and the reason, which is reported."""

    strength: int
    reason: str


@dataclass(frozen=True)
class Sample:
    """The beginning of a file, or the names of the files in a folder, from which a format recognises itself."""

    head: bytes
    name: str
    files: tuple[str, ...] = ()

    @cached_property
    def start(self) -> bytes:
        """The beginning without leading white space."""
        return self.head.lstrip()

    @cached_property
    def first_line(self) -> bytes:
        """The first line that is not blank."""
        return self.start.split(b"\n", 1)[0].rstrip(b"\r")

    @cached_property
    def is_object(self) -> bool:
        """Whether it begins like a JSON object."""
        return self.start[:1] == b"{"

    @cached_property
    def is_json(self) -> bool:
        """Whether it begins like a JSON object or list, and not like a line of columns."""
        columns = self.start.startswith(b"[\t") and not self.start.startswith((b"[\t{", b'[\t"'))
        return self.is_object or (_JSON_LIST.match(self.start) is not None and not columns)

    @cached_property
    def keys(self) -> frozenset[str]:
        """All JSON keys near the beginning, at any depth."""
        return frozenset(key.decode("utf-8", "replace") for key in _KEY.findall(self.start[:65536]))

    @cached_property
    def top_keys(self) -> frozenset[str]:
        """The keys of the JSON object in the first line."""
        try:
            return frozenset(msgspec.json.decode(self.first_line, type=dict[str, msgspec.Raw]))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return frozenset()

    @cached_property
    def columns(self) -> list[bytes]:
        """The first line, split at tabs."""
        return self.first_line.split(b"\t")

    @cached_property
    def is_text(self) -> bool:
        """Whether it is UTF-8 without null bytes."""
        data = self.head[:4096]
        if b"\0" in data:
            return False
        try:
            data[: max(len(data) - 4, 0)].decode("utf-8")
        except UnicodeDecodeError as error:
            return error.start > len(data) - 8
        return True


@dataclass(frozen=True, repr=False)
class Format(Value, ABC):
    """A file format. Subclasses declare options as fields and implement `read`; the rest is optional."""

    kind: ClassVar[str] = "format"
    unit: ClassVar[str] = "code points"
    """The unit of offsets in the file; `read` converts to code points."""
    end: ClassVar[str] = "exclusive"
    """Whether ends in the file are exclusive or inclusive, or lengths; `read` makes them exclusive."""
    folders: ClassVar[bool] = False
    """Whether it reads a folder of files."""
    suffixes: ClassVar[tuple[str, ...]] = ()
    """Endings of file names that `convert` writes in this format unless told otherwise."""
    checks_spans: ClassVar[bool] = False
    """Whether `read` itself refuses spans that cannot be, with their line; otherwise its caller does."""
    part_unit: ClassVar[Literal["", "bytes", "rows"]] = ""
    """The unit in which parts of a file can be read on their own; empty if they cannot."""

    @classmethod
    def recognise(cls, sample: Sample) -> Claim | None:
        """Claim a file by its beginning, or return None."""
        return None

    @abstractmethod
    def read(self, source: Source) -> Iterator[Corpus]:
        """Yield the documents of a source as corpora with half-open code point offsets."""

    def write(self, chunks: Callable[[], Iterable[Corpus]], file: IO[bytes]) -> None:
        """Write documents to a file; `chunks` can be called several times."""
        raise UsageError(f"the format {self.name} cannot be written.")

    @classmethod
    def writes(cls) -> bool:
        """Return whether the format can be written."""
        return cls.write is not Format.write

    def cut(self, gold: Path, pred: Path, count: int) -> list[tuple[Range, Range]]:
        """Cut two files into about `count` pairs of parts that begin with the same documents; none if that fails."""
        return []
