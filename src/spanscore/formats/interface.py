"""What a format is: a value that recognises, reads and, where it can, writes files."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import IO, TYPE_CHECKING, ClassVar, Literal, NamedTuple, Self

import msgspec

from spanscore.errors import UsageError
from spanscore.spec import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from spanscore.corpus import Corpus
    from spanscore.formats.offsets import Convention
    from spanscore.formats.source import Source

Range = tuple[int, int]
Losses = Mapping[str, int]
"""What a format could not hold, such as `{"scores": 12}`, by how many."""
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
    head_of: Callable[[str], bytes] | None = None
    tail_of: Callable[[str], bytes] | None = None
    long_line: Callable[[], bytes] | None = None
    """Returns the whole first line, if it does not end in `head`."""

    def first(self, ending: str) -> bytes:
        """Return the beginning of the first file of a folder whose name has this ending; nothing if there is none."""
        name = next((name for name in self.files if name.endswith(ending)), None)
        return b"" if name is None or self.head_of is None else self.head_of(name)

    def last(self, ending: str) -> bytes:
        """Return the end of the first file of a folder whose name has this ending; nothing if there is none."""
        name = next((name for name in self.files if name.endswith(ending)), None)
        return b"" if name is None or self.tail_of is None else self.tail_of(name)

    def tail(self) -> bytes:
        """Return the end of a file; nothing if it cannot be read out of order."""
        return b"" if self.tail_of is None else self.tail_of("")

    def inside(self, ending: str) -> Sample:
        """Return the sample of the first file of a folder whose name has this ending; of a file, the file itself."""
        return Sample(self.first(ending), self.name) if self.files else self

    @cached_property
    def start(self) -> bytes:
        """The beginning without leading whitespace."""
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
        line = self.long_line() if self.is_object and self.long_line is not None else self.first_line
        try:
            return frozenset(msgspec.json.decode(line, type=dict[str, msgspec.Raw]))
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
    offsets: ClassVar[str] = "code points; ends: exclusive"
    """What offsets in the file are, if no option says so; `read` converts them to half-open code points."""
    folders: ClassVar[bool] = False
    """Whether it reads a folder or zip file of files."""
    suffixes: ClassVar[tuple[str, ...]] = ()
    """Endings of file names that `convert` writes in this format unless told otherwise."""
    checks_spans: ClassVar[bool] = False
    """Whether `read` itself refuses spans that cannot be, with their line; otherwise its caller does."""
    builds_text: ClassVar[bool] = False
    """Whether the file has words instead of texts, and need not name its documents."""
    scores_gold: ClassVar[bool] = False
    """Whether gold data has scores, too."""
    takes_suggestions: ClassVar[bool] = False
    """Whether tasks with pre-annotations for annotators are written in it."""
    part_unit: ClassVar[Literal["", "bytes", "rows"]] = ""
    """The unit in which parts of a file can be read on their own; empty if they cannot."""

    @property
    def convention(self) -> Convention | None:
        """The convention of the offsets in the file; None if it is fixed, or offsets do not count characters."""
        return None

    def under(self, convention: Convention) -> Self:
        """Return this format with another convention."""
        return self

    def with_all_annotators(self) -> Self:
        """Return the format that reads the spans of all annotators; itself if it knows of none, or always does."""
        return self

    @classmethod
    def for_file(cls, name: str) -> Self:
        """Return the format to write a file of this name in; its ending is one of `suffixes`."""
        return cls()

    @classmethod
    def recognise(cls, sample: Sample) -> Claim | None:
        """Claim a file by its beginning, or return None."""
        return None

    @abstractmethod
    def read(self, source: Source) -> Iterator[Corpus]:
        """Yield the documents of a source as corpora with half-open code point offsets."""

    def write(self, chunks: Callable[[], Iterable[Corpus]], file: IO[bytes]) -> Losses | None:
        """Write documents to a file and return what it cannot hold; `chunks` can be called several times."""
        raise UsageError(f"the format {self.name} cannot be written.")

    def write_folder(self, chunks: Callable[[], Iterable[Corpus]], folder: Path) -> Losses | None:
        """Write documents to an empty folder, one or more files each, and return what they cannot hold."""
        raise UsageError(f"the format {self.name} is not written as a folder.")

    @classmethod
    def writes(cls) -> bool:
        """Return whether the format can be written."""
        return cls.write is not Format.write or cls.writes_folders()

    @classmethod
    def writes_folders(cls) -> bool:
        """Return whether the format is written as a folder."""
        return cls.write_folder is not Format.write_folder

    def cut(self, gold: Path, pred: Path, count: int) -> list[tuple[Range, Range]]:
        """Cut two files into about `count` pairs of parts that begin with the same documents; none if that fails."""
        return []
