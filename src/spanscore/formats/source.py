"""Sources: files, gzip files, standard input, folders and zip files, read in blocks of whole lines."""

from __future__ import annotations

import gzip
import os
import sys
import zipfile
import zlib
from collections import Counter, deque
from contextlib import ExitStack
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Self, cast

import numpy as np

from spanscore.errors import InputError, printable
from spanscore.files import finish_interrupted
from spanscore.formats.interface import Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from io import BufferedReader

    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Bools, Longs

BLOCK = 4 << 20
"""Approximate bytes per block: large enough for NumPy, small enough for the cache."""

HEAD = 1 << 16
"""Bytes of the first block: enough to recognise the format and the layout of its lines."""

LONG_LINE = 64 << 20
"""About how many bytes of a first line are read to recognise the format, if it does not end in the first block."""

MARGIN = 1024
"""Zero bytes on either side of a block; a multiple of eight."""

MAX_LINE = 512 << 20
"""Maximum bytes of a line, and of whitespace before the first one: an endless stream without lines is refused."""

BOM = b"\xef\xbb\xbf"

MAX_BYTES: ContextVar[int | None] = ContextVar("MAX_BYTES", default=None)
"""Maximum number of bytes that one compressed input may unpack to; None: as many as `unpacking_limit` allows."""

ALWAYS, RATIO = 64 << 20, 100
"""Without `MAX_BYTES`: bytes that any input may unpack to, and how many times its own size a larger one may."""


def unpacking_limit(packed: int) -> int:
    """Return how many bytes an input of so many compressed bytes may unpack to."""
    given = MAX_BYTES.get()
    return max(ALWAYS, RATIO * packed) if given is None else given


def refuse_unpacking(packed: int, unpacked: int, name: str) -> None:
    """Refuse data that unpacks to far more than it should: it may be made to fill the memory."""
    if unpacked > (limit := unpacking_limit(packed)):
        what = f"{packed:,} compressed bytes unpack to more than {limit:,}"
        raise InputError(f"{what}; if you trust this file, raise the limit with --max-bytes.", name)


@dataclass(frozen=True)
class Block:
    """Whole lines with zeros around them, so that a scanner may read a little past their ends."""

    buffer: bytes
    size: int
    first: int
    lines: int
    breaks: Longs
    """Positions of line ends; of several in the same eight bytes, the first."""
    controls: int
    """Number of control characters, line ends included."""

    @classmethod
    def of(cls, first: int, *pieces: bytes | memoryview) -> Self:
        """Build a block from pieces; `first` is the number of its first line."""
        size = sum(map(len, pieces))
        buffer = b"".join((bytes(MARGIN), *pieces, bytes(MARGIN + -size % 8)))
        data = np.frombuffer(buffer, np.uint8, size, MARGIN)
        breaks, controls = places(data < ord(" "))
        lines = controls
        if controls > len(breaks) or (data.take(breaks) != ord("\n")).any():
            breaks, lines = places(data == ord("\n"))
        return cls(buffer, size, first, lines, breaks + MARGIN, controls)

    @cached_property
    def is_ascii(self) -> bool:
        """Whether all bytes are ASCII."""
        return self.buffer.isascii()

    @property
    def is_utf8(self) -> bool:
        """Whether all bytes are UTF-8."""
        try:
            return self.is_ascii or bool(self.buffer.decode())
        except UnicodeDecodeError:
            return False

    @property
    def data(self) -> bytes:
        """The lines without the zeros."""
        return self.buffer[MARGIN : MARGIN + self.size]


def places(chosen: Bools) -> tuple[Longs, int]:
    """Return the positions of chosen bytes (of several in the same eight bytes, the first) and their number."""
    bits = np.packbits(chosen, bitorder="little")
    place = np.flatnonzero(bits != 0)
    found = bits.take(place)
    return 8 * place + _LOWEST_BIT.take(found), int(np.bitwise_count(found).sum())


_LOWEST_BIT = np.array([(i & -i).bit_length() - 1 for i in range(256)], np.int64)


class _Packed:
    """Compressed bytes, counted as they are read."""

    def __init__(self, file: BufferedReader) -> None:
        self._file, self.size = file, 0

    def read(self, size: int = -1) -> bytes:
        """Read some bytes."""
        data = self._file.read(size)
        self.size += len(data)
        return data


def _members(archive: zipfile.ZipFile) -> list[str]:
    """Return the names of files in a zip file, without hidden ones."""
    names = (info.filename for info in archive.infolist() if not info.is_dir())
    return [name for name in names if not any(map(_is_hidden, name.split("/")))]


def _leaves(name: str) -> bool:
    """Return whether the path of a member leads out of the folder that it is unpacked to."""
    path = name.replace("\\", "/")
    return path.startswith("/") or ".." in path.split("/")


def _inside(archive: zipfile.ZipFile, path: Path) -> str:
    """Return the name in a zip file of a path below that of the archive."""
    return path.relative_to(_path(archive)).as_posix()


def _path(archive: zipfile.ZipFile) -> Path:
    return Path(str(archive.filename or (archive.fp and archive.fp.name)))


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "__MACOSX"))


def _is_folder(path: Path | None) -> bool:
    try:
        return path is not None and path.is_dir()
    except (OSError, ValueError):
        return False


def _opened(path: Path) -> BufferedReader:
    """Open a file, which may belong to outputs that a killed process began to move into place."""
    try:
        return path.open("rb")
    except FileNotFoundError:
        finish_interrupted(path.parent)
        return path.open("rb")


def _refuse_odd_file(path: Path, folder: Path) -> None:
    """Refuse what nobody named: a pipe or device in a folder, and a symbolic link that leads out of it."""
    try:
        if path.is_symlink() and not path.resolve().is_relative_to(folder.resolve()):
            raise InputError("this symbolic link leads out of the folder; copy the file into it.", str(path))
        if not path.is_file():
            raise InputError("this is not a file, but a pipe, a device or a broken link; remove it.", str(path))
    except (OSError, RuntimeError) as error:  # such as links in a circle
        raise InputError("this file cannot be opened.", str(path)) from error


class Source:
    """An input by name. Its first block is read ahead so that its format can be recognised.

    `part` is the range to read; with `by_bytes`, the source itself starts and stops there, otherwise the format does.
    """

    def __init__(
        self,
        path: str | Path,
        part: tuple[int, int] | None = None,
        progress: Callable[[int], object] | None = None,
        *,
        by_bytes: bool = False,
        may_be_empty: bool = False,
        companion: Callable[[], Corpus] | None = None,
        archive: zipfile.ZipFile | None = None,
    ) -> None:
        self.name = "<stdin>" if str(path) == "-" else printable(str(path), limit=4096) or "''"
        self.path = None if str(path) == "-" else Path(path)
        self.part = part
        self._companion = companion
        self._archive = archive
        self.notes: list[str] = []
        self.left_out: Counter[str] = Counter()
        """What a reader leaves out, such as relations, by how many; the notes report it."""
        self.had_mark = False
        """Whether it begins with a byte order mark, which is removed."""
        self._inside = ""
        self._files = ExitStack()
        self._progress = progress
        self._left = part[1] - part[0] if part is not None and by_bytes else None
        self._packed: _Packed | None = None
        self._unpacked = 0
        self._ahead: deque[bytes] | None = None
        self.is_folder = _is_folder(self.path)
        self.head = b""
        if self.is_folder:
            return
        try:
            self._file = self._open(path) if archive is None else self._member(archive)
            if archive is None and self.path is not None and self._is_zip():
                self._open_archive()
                if self.is_folder:
                    return
            if part is not None and by_bytes:
                self._file.seek(part[0])
            self.head = self._read_head(may_be_empty)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what was opened."""
        self._files.close()

    @property
    def sample(self) -> Sample:
        """What a format recognises itself from."""
        files = tuple(self.files()) if self.is_folder else ()
        cut = b"\n" not in self.head.lstrip() and len(self.head) >= HEAD - len(BOM)
        return Sample(self.head, self.name, files, self._head_of, self._tail_of, self._long_line if cut else None)

    def _long_line(self) -> bytes:
        """Return a first line that is longer than the first block, which grows by it."""
        while b"\n" not in self.head.lstrip() and len(self.head) < LONG_LINE and (more := self._read(BLOCK)):
            self.head += more
        return self.head.lstrip().partition(b"\n")[0]

    def _head_of(self, name: str) -> bytes:
        with self.open(name) as opened:
            return opened.head

    def _tail_of(self, name: str) -> bytes:
        """Return the end of a file of a folder, or of this one if the name is empty; nothing if it is compressed."""
        if self.path is None or self._archive is not None:
            return b""
        with self._below(name).open("rb") if name else self.path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - HEAD))
            return file.read()

    def files(self, suffix: str = "") -> list[str]:
        """Return the names of the files in a folder or zip file, relative to it and sorted, without hidden ones."""
        if self.path is None or not self.is_folder:
            raise InputError("expected a folder.", self.name)
        if self._archive is not None:
            return sorted(name for name in _members(self._archive) if name.endswith(suffix))
        found = []
        for folder, below, names in os.walk(self.path):
            below[:] = sorted(name for name in below if not name.startswith("."))
            inside = Path(folder).relative_to(self.path)
            found += [(inside / name).as_posix() for name in names if name.endswith(suffix) and name[0] != "."]
        return sorted(found)

    def open(self, name: str) -> Source:
        """Open a file of a folder or zip file, which may be empty."""
        path = self._below(name)
        more = {"progress": self._progress, "may_be_empty": True, "companion": self._companion}
        return Source(path, archive=self._archive, **more)  # type: ignore[arg-type]  # mypy takes one type for all values

    def _below(self, name: str) -> Path:
        """Return the path of a file of a folder; what nobody named, such as a link out of the folder, is refused."""
        assert self.path is not None
        if self._archive is None:
            _refuse_odd_file(self.path / name, self.path)
        return self.path / name

    @property
    def file_name(self) -> str:
        """The name of the file, in a zip file that of its only file, and without .gz; empty for standard input."""
        if self._inside:
            return Path(self._inside).name
        return "" if self.path is None else self.path.name.removesuffix(".gz")

    def sibling(self, ending: str) -> Source | None:
        """Open the file next to this one whose name differs only in its ending; None if there is none."""
        if self.path is None or (self._archive is not None and self.path == _path(self._archive)):
            return None
        other = self.path.with_suffix(ending)
        if self._archive is not None:
            exists = _inside(self._archive, other) in self._archive.NameToInfo
        else:
            exists = other.exists()
            if exists:
                _refuse_odd_file(other, self.path.parent)
        return Source(other, may_be_empty=True, archive=self._archive) if exists else None

    def companion(self, file: str = "") -> Corpus | None:
        """Return the documents that this file's belong to: those of `file`, or the gold data; None if there are none.

        A format asks for them if its files hold no text, no ids, or offsets that count something else than code points.
        """
        from spanscore.formats import read

        try:
            if file:
                return read(file)
            return None if self._companion is None else self._companion()
        except InputError as error:
            error.of_another_file = True
            raise

    def companion_texts(self, file: str = "") -> dict[str, str | None] | None:
        """Return the texts of the companion's documents by id, or None without a companion that has texts."""
        found = self.companion(file)
        if found is None or found.text is None:
            return None
        return dict(zip(found.ids.tolist(), found.text.tolist(), strict=True))

    def _is_zip(self) -> bool:
        try:
            begin = cast("BufferedReader", self._file).peek(4) if hasattr(self._file, "peek") else b""
        except (EOFError, OSError, zlib.error):  # damaged gzip data, which reading reports
            return False
        return begin[:4] == b"PK\x03\x04"

    def _open_archive(self) -> None:
        """Open a zip file as a folder, or as its only file; nothing is unpacked to disk."""
        try:
            self._archive = self._files.enter_context(zipfile.ZipFile(self._file))
        except NotImplementedError:
            raise InputError("the zip file needs a newer version of the zip format.", self.name) from None
        except (zipfile.BadZipFile, OSError, ValueError, EOFError, OverflowError):
            raise InputError("the zip file is damaged.", self.name) from None
        sizes = [(info.compress_size, info.file_size) for info in self._archive.infolist()]
        refuse_unpacking(sum(packed for packed, _ in sizes), sum(unpacked for _, unpacked in sizes), self.name)
        if any(_leaves(info.filename) for info in self._archive.infolist()):
            raise InputError("a member of the zip file has a path that leaves its folder; zip it again.", self.name)
        names = _members(self._archive)
        self.is_folder = len(names) != 1
        if not self.is_folder:
            assert self.path is not None
            self._inside = names[0]
            self._file = self._member(self._archive, names[0])

    def _member(self, archive: zipfile.ZipFile, name: str | None = None) -> IO[bytes]:
        """Open a file of a zip file; its path is below that of the archive."""
        assert self.path is not None
        inside = name or _inside(archive, self.path)
        if archive.getinfo(inside).compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            # the others may ask for gigabytes of memory before they give a byte
            raise InputError("this member of the zip file has an unusual compression method; zip it again.", self.name)
        try:
            return self._files.enter_context(archive.open(inside))
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError) as error:
            what = "is encrypted" if isinstance(error, RuntimeError) else "cannot be unpacked"
            raise InputError(f"this file of the zip file {what}.", self.name) from None

    def advance(self, share: float) -> None:
        """Report the progress of a reader that reads the file on its own."""
        if self._progress is not None and self.path is not None:
            self._progress(int(share * self.path.stat().st_size))

    def _read_head(self, may_be_empty: bool) -> bytes:
        head = self._read(HEAD)
        if head.startswith(BOM):
            head = head[len(BOM) :]
            self.had_mark = True
            self.notes.append(f"{self.name}: removed the byte order mark.")
        while not head.strip() and (more := self._read(BLOCK)):
            head += more
            if len(head) > MAX_LINE:
                what = f"the file begins with more than {MAX_LINE >> 20} MB of whitespace"
                raise InputError(f"{what}; is this the right file?", self.name)
        if not head.strip() and not may_be_empty:
            raise InputError("the file is empty; it must hold at least one document.", self.name)
        return head

    def _open(self, path: str | Path) -> IO[bytes]:
        try:
            if not str(path):
                raise FileNotFoundError
            opened = self._stdin() if str(path) == "-" else self._files.enter_context(_opened(Path(path)))
            packed = opened.peek(2)[:2] == b"\x1f\x8b"
        except IsADirectoryError:
            raise InputError("this is a folder; name a file in it.", self.name) from None
        except FileNotFoundError:
            raise InputError("no such file.", self.name) from None
        except OSError as error:
            raise InputError(f"cannot open or read this file ({error.strerror}).", self.name) from None
        except ValueError:
            raise InputError("this is not a valid file name.", self.name) from None
        if not packed:
            return opened
        self._packed = _Packed(opened)
        return self._files.enter_context(gzip.GzipFile(fileobj=self._packed))  # type: ignore[call-overload] # it only reads

    def _stdin(self) -> BufferedReader:
        if sys.stdin is None:
            raise InputError("standard input is closed.", self.name)
        return cast("BufferedReader", sys.stdin.buffer)

    def _read(self, size: int) -> bytes:
        if size < 0 and self._packed is not None:  # never unpack everything before the size is known
            return b"".join(iter(lambda: self._read(BLOCK), b""))
        try:
            if self._left is not None:
                size = min(size, self._left) if size >= 0 else self._left
            data = self._file.read(size) or b"" if self._packed is None else self._unpack(size)
            if self._left is not None:
                self._left -= len(data)
            if self._progress is not None:
                self._progress(len(data))
            return data
        except (EOFError, gzip.BadGzipFile, zlib.error, zipfile.BadZipFile):
            raise InputError("the packed data is damaged or truncated.", self.name) from None
        except OSError as error:
            raise InputError(f"cannot read this file ({error.strerror}).", self.name) from None

    def _unpack(self, size: int) -> bytes:
        """Return the next bytes of gzip data.

        Once the head is known, as much is unpacked ahead as any input may have, so that a bomb is refused before a
        reader builds anything from it.
        """
        if self.head and self._ahead is None:
            self._ahead = deque()
            while sum(map(len, self._ahead)) <= ALWAYS and (data := self._unpack_some(BLOCK)):
                self._ahead.append(data)
        return self._ahead.popleft() if self._ahead else self._unpack_some(size)

    def _unpack_some(self, size: int) -> bytes:
        assert self._packed is not None
        data = self._file.read(size) or b""
        self._unpacked += len(data)
        refuse_unpacking(self._packed.size, self._unpacked, self.name)
        return data

    def blocks(self) -> Iterator[Block]:
        """Yield blocks of whole lines."""
        first, read = 1, self.head
        rest: list[bytes] = []
        size = 0
        while read:
            cut = read.rfind(b"\n") + 1
            if cut:
                block = Block.of(first, *rest, memoryview(read)[:cut])
                yield block
                first += block.lines
                rest, size = [read[cut:]] if cut < len(read) else [], len(read) - cut
            else:
                rest.append(read)
                size += len(read)
            if size > MAX_LINE:
                what = f"the line is longer than {MAX_LINE >> 20} MB"
                raise InputError(f"{what}; this format has one record per line.", f"{self.name}:{first}")
            read = self._read(BLOCK)
        if rest:
            yield Block.of(first, *rest, b"\n")

    def read_all(self) -> bytes:
        """Return everything at once, for formats that are one JSON value."""
        rest = self._read(-1)
        return self.head + rest

    def lines(self, blocks: Iterable[Block] | None = None) -> Iterator[tuple[int, str]]:
        """Yield numbered lines as text, without their ends (LF or CRLF): all, or those of some blocks."""
        for block in self.blocks() if blocks is None else blocks:
            for number, line in enumerate(block.data.removesuffix(b"\n").split(b"\n"), block.first):
                text = self.decode(line.removesuffix(b"\r"), number)
                if "\r" in text:
                    raise InputError(
                        "there is a carriage return inside a line; end lines with LF or CRLF.", f"{self.name}:{number}"
                    )
                yield number, text

    def line_lists(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the number of a line, and it and the lines after it as text, many at once."""
        for block in self.blocks():
            if block.is_utf8 and b"\r" not in block.buffer:
                yield block.first, block.data.removesuffix(b"\n").decode().split("\n")
            else:
                yield block.first, [line for _, line in self.lines([block])]

    def decode(self, data: bytes, line: int) -> str:
        """Decode bytes, which must be UTF-8."""
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            place = f"byte {error.start + 1} of the line is not UTF-8 (0x{data[error.start]:02x})"
            message = f"{place}; convert the file to UTF-8."
            raise InputError(message, f"{self.name}:{line}") from None
