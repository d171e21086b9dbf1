"""Sources: files, gzip files, standard input and folders, read in blocks of whole lines."""

from __future__ import annotations

import gzip
import os
import sys
import zlib
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Self, cast

import numpy as np

from spanscore.errors import InputError, printable
from spanscore.formats.interface import Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from io import BufferedReader

    from numpy.typing import NDArray

    from spanscore.corpus.columns import Longs

BLOCK = 4 << 20
"""Approximate bytes per block: large enough for NumPy, small enough for the cache."""

HEAD = 1 << 16
"""Bytes of the first block: enough to recognise the format and the layout of its lines."""

MARGIN = 1024
"""Zero bytes on either side of a block; a multiple of eight."""

BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Block:
    """Whole lines with zeros around them, so that a scanner may read a little past their ends."""

    buffer: bytes
    size: int
    first: int
    lines: int
    breaks: Longs
    """Positions of line ends; of several in the same eight bytes, the first."""

    @classmethod
    def of(cls, first: int, *pieces: bytes | memoryview) -> Self:
        """Build a block from pieces; `first` is the number of its first line."""
        size = sum(map(len, pieces))
        buffer = b"".join((bytes(MARGIN), *pieces, bytes(MARGIN + -size % 8)))
        breaks, lines = places(np.frombuffer(buffer, np.uint8), ord("\n"))
        return cls(buffer, size, first, lines, breaks)

    @property
    def data(self) -> bytes:
        """The lines without the zeros."""
        return self.buffer[MARGIN : MARGIN + self.size]


def places(data: NDArray[np.uint8], byte: int) -> tuple[Longs, int]:
    """Return the positions of a byte (of several in the same eight bytes, the first) and how often it occurs."""
    bits = np.packbits(data == byte, bitorder="little")
    place = np.flatnonzero(bits != 0)
    found = bits.take(place)
    return 8 * place + _LOWEST_BIT.take(found), int(np.bitwise_count(found).sum())


_LOWEST_BIT = np.array([(i & -i).bit_length() - 1 for i in range(256)], np.int64)


def _is_folder(path: Path | None) -> bool:
    try:
        return path is not None and path.is_dir()
    except (OSError, ValueError):
        return False


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
    ) -> None:
        self.name = "<stdin>" if str(path) == "-" else printable(str(path), limit=4096) or "''"
        self.path = None if str(path) == "-" else Path(path)
        self.part = part
        self.notes: list[str] = []
        self._files = ExitStack()
        self._progress = progress
        self._left = part[1] - part[0] if part is not None and by_bytes else None
        self.is_folder = _is_folder(self.path)
        self.head = b""
        if self.is_folder:
            return
        try:
            self._file = self._open(path)
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
        return Sample(self.head, self.name, tuple(self.files()) if self.is_folder else ())

    def files(self, suffix: str = "") -> list[str]:
        """Return the names of the files in a folder, relative to it and sorted; hidden files are left out."""
        if self.path is None or not self.is_folder:
            raise InputError("expected a folder.", self.name)
        found = []
        for folder, below, names in os.walk(self.path):
            below[:] = sorted(name for name in below if not name.startswith("."))
            inside = Path(folder).relative_to(self.path)
            found += [(inside / name).as_posix() for name in names if name.endswith(suffix) and name[0] != "."]
        return sorted(found)

    def open(self, name: str) -> Source:
        """Open a file of a folder, which may be empty."""
        assert self.path is not None
        return Source(self.path / name, progress=self._progress, may_be_empty=True)

    def advance(self, share: float) -> None:
        """Report the progress of a reader that reads the file by itself."""
        if self._progress is not None and self.path is not None:
            self._progress(int(share * self.path.stat().st_size))

    def _read_head(self, may_be_empty: bool) -> bytes:
        head = self._read(HEAD)
        if head.startswith(BOM):
            head = head[len(BOM) :]
            self.notes.append(f"{self.name}: removed the byte order mark.")
        if not head.strip():
            head += self._read(-1)
            if not head.strip() and not may_be_empty:
                raise InputError("the file is empty; it must hold at least one document.", self.name)
        return head

    def _open(self, path: str | Path) -> IO[bytes]:
        try:
            if not str(path):
                raise FileNotFoundError
            opened = self._stdin() if str(path) == "-" else self._files.enter_context(Path(path).open("rb"))  # noqa: SIM115
            packed = opened.peek(2)[:2] == b"\x1f\x8b"
        except IsADirectoryError:
            raise InputError("this is a folder; name a file in it.", self.name) from None
        except FileNotFoundError:
            raise InputError("no such file.", self.name) from None
        except OSError as error:
            raise InputError(f"cannot open or read this file ({error.strerror}).", self.name) from None
        except ValueError:
            raise InputError("this is not a valid file name.", self.name) from None
        return self._files.enter_context(cast("IO[bytes]", gzip.open(opened))) if packed else opened

    def _stdin(self) -> BufferedReader:
        if sys.stdin is None:
            raise InputError("standard input is closed.", self.name)
        return cast("BufferedReader", sys.stdin.buffer)

    def _read(self, size: int) -> bytes:
        try:
            if self._left is not None:
                size = min(size, self._left) if size >= 0 else self._left
            data = self._file.read(size) or b""
            if self._left is not None:
                self._left -= len(data)
            if self._progress is not None:
                self._progress(len(data))
            return data
        except (EOFError, gzip.BadGzipFile, zlib.error):
            raise InputError("the gzip data is damaged or truncated.", self.name) from None
        except OSError as error:
            raise InputError(f"cannot read this file ({error.strerror}).", self.name) from None

    def blocks(self) -> Iterator[Block]:
        """Yield blocks of whole lines."""
        first, read = 1, self.head
        rest: list[bytes] = []
        while read:
            cut = read.rfind(b"\n") + 1
            if cut:
                block = Block.of(first, *rest, memoryview(read)[:cut])
                yield block
                first += block.lines
                rest = [read[cut:]] if cut < len(read) else []
            else:
                rest.append(read)
            read = self._read(BLOCK)
        if rest:
            yield Block.of(first, *rest, b"\n")

    def read_all(self) -> bytes:
        """Return everything at once, for formats that are one JSON value."""
        rest = self._read(-1)
        return self.head + rest

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield numbered lines as text, without their ends (LF or CRLF)."""
        for block in self.blocks():
            for number, line in enumerate(block.data.removesuffix(b"\n").split(b"\n"), block.first):
                text = self.decode(line.removesuffix(b"\r"), number)
                if "\r" in text:
                    raise InputError(
                        "there is a carriage return inside a line; end lines with LF or CRLF.", f"{self.name}:{number}"
                    )
                yield number, text

    def decode(self, data: bytes, line: int) -> str:
        """Decode bytes, which must be UTF-8."""
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            place = f"byte {error.start + 1} of the line is not UTF-8 (0x{data[error.start]:02x})"
            message = f"{place}; convert the file to UTF-8."
            raise InputError(message, f"{self.name}:{line}") from None
