"""Write output files as a whole or not at all, one writer at a time, and check output paths up front."""

from __future__ import annotations

import errno
import gc
import json
import os
import re
import shutil
import stat
import sys
from collections.abc import Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from io import BytesIO
from pathlib import Path
from secrets import token_hex
from tempfile import mkdtemp
from typing import IO, TYPE_CHECKING, Any, Self

from spanscore.errors import InputError, UsageError, printable

try:
    import fcntl
except ImportError:  # there is none on Windows
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SCORED = (
    "results.json",
    "errors.jsonl",
    "tallies.npz",
    "report.html",
    "comparison.json",
    "diff.jsonl",
    "diff.csv",
    "stress.json",
)
"""What `score`, `compare` and `stress` write to a folder."""
DETECTED = ("run.json", "predictions.jsonl")
"""What a run needs to be resumed; no other command removes or replaces it."""
RUN = (
    "alignment.json",
    "false_positives.csv",
    "false_negatives.csv",
    "leaks.csv",
    "summary.html",
    "confusion_matrix.html",
    "metrics.json",
)
"""What only `run` writes to a folder, besides `DETECTED`, and besides some of what `score` writes."""
OUTPUTS = frozenset((*SCORED, *DETECTED, *RUN, "agreement.json", "index.html"))
_SHARD = re.compile(r"shard-\d{1,9}\.js")
_LOCK, _READY, _NEW, _PLAN = ".spanscore.lock", ".spanscore.ready", ".spanscore.new-", ".plan"
_TEMPORARY = "spanscore-tmp"
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)


def is_output(name: str) -> bool:
    """Return whether a command may write a file of this name to its output folder."""
    return name in OUTPUTS or _SHARD.fullmatch(name) is not None


def file_stamp(path: str) -> tuple[int, int]:
    """Return the modification time and size of a file, to detect changes; zeros if there is no such file."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return 0, 0
    return found.st_mtime_ns, found.st_size


@contextmanager
def atomic_file(path: str | Path, *, mode: int = 0o666, follow: bool = True) -> Iterator[IO[bytes]]:
    """Open a file that appears under its name only once it is complete; pipes and devices are written directly.

    A terminal gets no control characters.
    `mode` is subject to the user's umask. A symbolic link is followed unless another user made it; without `follow`,
    and in a folder that holds output files, it is replaced. Files that killed processes left behind here are removed.
    """
    try:
        follow = follow and not _holds_outputs(Path(path).parent)
        if follow and Path(path).exists() and not Path(path).is_file():
            with Path(path).open("wb") as device, _shown(device) if device.isatty() else nullcontext(device) as written:
                yield written
            return
        target = _behind_link(Path(path)) if follow else Path(path)
        _remove_strays(target)
        temporary, opened = _temporary(target, mode)
        with opened as file:
            try:
                yield file
                file.flush()
                temporary.replace(target)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise InputError(f"cannot write this file ({error.strerror}).", str(path)) from None


@contextmanager
def atomic_folder(path: str | Path) -> Iterator[Path]:
    """Make a folder that appears under its name only once it is complete; there must be none of that name yet."""
    target = Path(path)
    if not str(path) or str(path) == "-":
        raise InputError("this format is written as a folder; name one.", str(path) or "''")
    try:
        if target.is_symlink() or (target.exists() and (not target.is_dir() or any(target.iterdir()))):
            raise InputError("this is a file or a folder that is not empty; name a new folder.", str(path))
        place = target.absolute().with_name(f".{target.name[:200]}.{token_hex(8)}.{_TEMPORARY}")
        _remove_strays(target.absolute())
        place.mkdir(mode=0o700)
        try:
            with FolderLock(place):  # shows others that this process is alive
                folder = place / "new"
                folder.mkdir()
                yield folder
                folder.replace(target)
        finally:
            shutil.rmtree(place, ignore_errors=True)
    except OSError as error:
        raise InputError(f"cannot write this folder ({error.strerror}).", str(path)) from None


def _holds_outputs(folder: Path) -> bool:
    """Return whether a folder holds files that a command wrote, or links in their places."""
    return any(os.path.lexists(folder / name) for name in OUTPUTS)


def append_file(path: Path) -> IO[bytes]:
    """Open a file to append to, which must not be a symbolic link."""
    return _open(path, os.O_WRONLY | os.O_APPEND, 0o666)


@contextmanager
def output_folder(
    folder: str | Path, *, last: str, stale: Iterable[str] = (), lock: FolderLock | None = None
) -> Iterator[Path]:
    """Yield a new folder to write into; at the end, its files replace those of `folder` as one.

    If the process is killed before that, the folder is as it was. If it is killed while files are moved, the next
    command that uses the folder moves the rest, `last` last. Of old files, those with a new version and the `stale`
    ones are removed first, so that old and new files are never beside each other.
    """
    target = Path(folder)
    created = False
    try:
        created = not target.exists()
        target.mkdir(parents=True, exist_ok=True)
        held = FolderLock(target) if lock is None else lock
        try:
            _remove_folders(target)
            new = Path(mkdtemp(prefix=_NEW, dir=target))
            try:
                with uncollected():
                    yield new
                names = sorted((path.name for path in new.iterdir()), key=lambda name: (name == last, name))
                removed = [name for name in stale if is_output(name) and name not in names]
                (new / _PLAN).write_text(json.dumps({"move": names, "remove": removed}), "utf-8")
                new.replace(target / _READY)  # from here on, the new files are the right ones
            except BaseException:
                shutil.rmtree(new, ignore_errors=True)
                raise
            _finish(target)
        finally:
            if lock is None:
                held.release()
    except OSError as error:
        raise InputError(f"cannot write to this folder ({error.strerror}).", str(folder)) from None
    finally:
        if created:
            with suppress(OSError):  # it is not empty unless writing failed
                target.rmdir()


@contextmanager
def uncollected() -> Iterator[None]:
    """Pause the garbage collector: rows and spans have no cycles, but it would traverse them again and again."""
    paused = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if paused:
            gc.enable()


def finish_interrupted(folder: str | Path) -> None:
    """Finish what a killed process began to move into place in a folder, before its files are read."""
    target = Path(folder)
    if not (target / _READY).is_dir():
        return
    try:
        FolderLock(target, wait=True).release()
    except OSError as error:
        what = f"an interrupted command left new results in {_READY}, which cannot be moved into place"
        raise InputError(f"{what} ({error.strerror}).", str(folder)) from None


class FolderLock:
    """Keeps other processes from writing to a folder: a lock on a hidden file, which ends with the process.

    Whoever gets it finishes what a killed process began to move into place.
    """

    def __init__(self, folder: Path, *, wait: bool = False) -> None:
        self._path = folder / _LOCK
        self._acquire(folder, wait=wait)
        try:
            _finish(folder)
        except BaseException:
            self.release()
            raise

    def _acquire(self, folder: Path, *, wait: bool) -> None:
        while True:
            self._file = _open(self._path, os.O_RDWR, 0o666)
            if not _lock(self._file.fileno(), wait=wait):
                self._file.close()
                where = printable(str(folder), limit=255)
                raise UsageError(f"{where}: another process is writing to this folder; wait for it, or use another.")
            if _is_at(self._file, self._path):
                return
            self._file.close()  # the process before removed the file after we opened it

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Let others write to the folder."""
        if self._file.closed:
            return
        with self._file, suppress(OSError):  # the folder may have vanished
            self._path.unlink(missing_ok=True)


def check_outputs(file: str | None, folder: str | None) -> None:
    """Raise if an output path cannot be written, before any work is done."""
    if (
        file is not None
        and file != "-"
        and (not file or Path(file).is_dir() or not Path(file).absolute().parent.is_dir())
    ):
        raise InputError("cannot write this file; it is a folder, or its folder does not exist.", file or "''")
    if folder is not None:
        check_folder(folder)
        if any((Path(folder) / name).exists() for name in DETECTED):
            raise InputError("this folder holds the files of a run; choose another folder.", folder)


def check_folder(folder: str) -> None:
    """Raise if output files cannot be written to a folder, before any work is done."""
    there = next(path for path in (Path(folder).absolute(), *Path(folder).absolute().parents) if path.exists())
    if not folder or not there.is_dir() or any((Path(folder) / name).is_dir() for name in OUTPUTS):
        what = "cannot use this as the output folder: it is a file, or a folder in it has the name of an output file"
        raise InputError(f"{what}; choose another.", folder or "''")


def _open(path: Path, flags: int, mode: int) -> IO[bytes]:
    """Open a file for writing that is created if needed; symbolic links, which others may have planted, are refused."""
    kind = "ab" if flags & os.O_APPEND else "r+b"
    return open(path, kind, opener=lambda name, _: os.open(name, flags | os.O_CREAT | _NO_LINKS, mode))


def _temporary(target: Path, mode: int) -> tuple[Path, IO[bytes]]:
    """Create a file beside the target, locked to show that its process is alive."""
    while True:
        path = target.with_name(f".{target.name[:200]}.{token_hex(8)}.{_TEMPORARY}")
        file = _open(path, os.O_RDWR | os.O_EXCL, mode)
        _lock(file.fileno(), wait=True)
        if _is_at(file, path):
            return path, file
        file.close()  # another process took it for a dead one's before it was locked


def _is_at(file: IO[bytes], path: Path) -> bool:
    """Return whether an open file is still the one of this name."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.lstat())
    except FileNotFoundError:
        return False


def _behind_link(path: Path) -> Path:
    """Return what a path points to; a symbolic link that another user made is refused."""
    if path.is_symlink() and hasattr(os, "geteuid") and path.lstat().st_uid not in (os.geteuid(), 0):
        raise OSError(errno.ELOOP, "it is a symbolic link of another user")
    return Path(os.path.realpath(path))


def _lock(file: int, *, wait: bool = False) -> bool:
    """Lock an open file; return whether that succeeded."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EWOULDBLOCK, errno.EACCES)  # some network file systems have no locks
    return True


def _remove_strays(target: Path) -> None:
    """Remove what processes left behind that were killed while they wrote this file or folder."""
    ours = re.compile(rf"\.{re.escape(target.name[:200])}\.[0-9a-f]{{16}}\.{_TEMPORARY}")
    with os.scandir(target.parent) as listed:
        strays = [Path(entry.path) for entry in listed if ours.fullmatch(entry.name)]
    for stray in strays if fcntl is not None else ():
        with suppress(OSError, UsageError):
            if stray.is_dir() and not stray.is_symlink():
                with FolderLock(stray):
                    shutil.rmtree(stray)
                continue
            with _open(stray, os.O_RDWR, 0o600) as file:
                if _lock(file.fileno()):
                    stray.unlink(missing_ok=True)


def _remove_folders(folder: Path) -> None:
    """Remove the new folders of killed processes; the caller holds the lock, so that no living one uses them."""
    with os.scandir(folder) as listed:
        strays = [entry.path for entry in listed if entry.name.startswith(_NEW) and entry.is_dir(follow_symlinks=False)]
    for stray in strays:
        shutil.rmtree(stray, ignore_errors=True)


def _finish(folder: Path) -> None:
    """Move the files that are ready into place; this can be repeated after it was interrupted anywhere."""
    ready = folder / _READY
    try:
        if not stat.S_ISDIR(ready.lstat().st_mode):
            return
        plan = json.loads((ready / _PLAN).read_text("utf-8"))
        names, stale = ([name for name in plan[key] if is_output(name)] for key in ("move", "remove"))
    except FileNotFoundError:
        names, stale = [], []
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError(f"{_READY} was not written by this program; remove it.", str(folder)) from None
    waiting = [name for name in names if (ready / name).is_file()]
    for name in (*stale, *waiting):
        (folder / name).unlink(missing_ok=True)
    for name in waiting:
        (ready / name).replace(folder / name)
    if ready.is_dir():
        shutil.rmtree(ready)


QUOTE = '"'
CELL = "\0"
"""What cells that are made safe begin with; in a text, it is one of the separators."""
_UNSEEN = (
    r"\x01-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800"
    r"\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Characters that nobody sees, as a set of a regular expression: controls, fillers, selectors of variants, tags."""
FORMULA = re.compile(
    # where a program may begin a cell: at a separator or a quotation mark; what it skips, or nobody sees; a formula
    rf"""([\0,;|\t\r\n"][\s"'{_UNSEEN}]*)"""
    r"""(?=[=+\-@\uff1d\uff0b\uff0d\uff20])"""
)
SIGNS = "=+-@\uff1d\uff0b\uff0d\uff20"
"""What formulas begin with."""
LEADING = ("\t", "\r", "\n")
_LEADING = re.compile(r"\0(?=[\t\r\n])")


def safe_cell(text: str) -> str:
    """Put a single quote before would-be formulas so that spreadsheets treat them as text.

    That holds whether the spreadsheet separates cells at commas, semicolons or tabs.

    >>> safe_cell("=1+1"), safe_cell("X;=20+1;"), safe_cell("PERSON")
    ("'=1+1", "X;'=20+1;", 'PERSON')
    """
    safe = CELL + text
    if any(sign in text for sign in SIGNS):  # faster than to look for formulas
        safe = FORMULA.sub(r"\1'", safe)
    return _LEADING.sub(f"{CELL}'", safe)[1:]


TableBlock = Mapping[str, Sequence[str] | Sequence[int]]
"""Columns of some rows of a table."""


def write_csv(file: IO[bytes], blocks: Iterable[TableBlock]) -> int:
    """Write blocks of columns as CSV, in which text is quoted and no cell is a formula.

    The first block has the names of the columns, and may have no rows. Return the number of rows.

    Columns are made safe and quoted as a whole, which takes half the time of a writer that goes cell by cell.

    >>> file = BytesIO()
    >>> write_csv(file, [{"text": ["=1", "Ann"], "start": [0, 3]}])
    2
    >>> print(file.getvalue().decode(), end="")
    "text","start"
    "'=1",0
    "Ann",3
    """
    rows = 0
    for number, block in enumerate(blocks):
        names = [",".join(f'"{name}"' for name in block)] if not number else []
        cells = (_quoted(one) if one and isinstance(one[0], str) else map(str, one) for one in block.values())
        lines = list(map(",".join, zip(*cells, strict=True)))
        file.write("\n".join([*names, *lines, ""]).encode("utf-8", "backslashreplace"))
        rows += len(lines)
    return rows


def _quoted(cells: Sequence[Any]) -> list[str]:
    """Return cells that are safe, in quotation marks."""
    together = CELL.join(cells)
    if together.count(CELL) != len(cells) - 1:
        return [f'"{safe_cell(cell).replace(QUOTE, QUOTE * 2)}"' for cell in cells]
    quoted = safe_cell(together).replace(QUOTE, QUOTE * 2).replace(CELL, f'"{CELL}"')
    return f'"{quoted}"'.split(CELL)


@contextmanager
def standard_output() -> Iterator[IO[bytes]]:
    """Yield standard output to write data to, which goes to a terminal without control characters."""
    if not sys.stdout.isatty():
        yield sys.stdout.buffer
        return
    data = BytesIO()
    yield data
    sys.stdout.write(visible(data.getvalue().decode("utf-8", "backslashreplace")))


@contextmanager
def _shown(terminal: IO[bytes]) -> Iterator[IO[bytes]]:
    """Yield a file whose data goes to a terminal at the end, without control characters."""
    data = BytesIO()
    yield data
    terminal.write(visible(data.getvalue().decode("utf-8", "backslashreplace")).encode("utf-8", "backslashreplace"))


def visible(text: str) -> str:
    """Escape control characters, which a terminal would obey, but keep tabs and line breaks; JSON stays JSON.

    >>> visible("a\\x1b[31m\\n")
    'a\\\\u001b[31m\\n'
    """
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(c if c in "\n\t" or c.isprintable() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
