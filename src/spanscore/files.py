"""Write output files atomically, and check output paths up front."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, TYPE_CHECKING

from spanscore.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def atomic_file(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file that appears under its name only once it is complete; pipes and devices are written directly."""
    target = Path(os.path.realpath(path))
    try:
        if Path(path).exists() and not Path(path).is_file():
            with Path(path).open("wb") as file:
                yield file
            return
        with NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
            try:
                yield file
                file.close()
                umask = os.umask(0)
                os.umask(umask)
                Path(file.name).chmod(0o666 & ~umask)
                Path(file.name).replace(target)
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        raise InputError(f"cannot write this file ({error.strerror}).", str(path)) from None


def check_outputs(file: str | None, folder: str | None) -> None:
    """Raise if an output path cannot be written, before any work is done."""
    if (
        file is not None
        and file != "-"
        and (not file or Path(file).is_dir() or not Path(file).absolute().parent.is_dir())
    ):
        raise InputError("cannot write this file; it is a folder, or its folder does not exist.", file or "''")
    if folder is not None:
        there = next(path for path in (Path(folder).absolute(), *Path(folder).absolute().parents) if path.exists())
        inside = [Path(folder) / name for name in ("results.json", "errors.jsonl", "report.html")]
        if not folder or not there.is_dir() or any(path.is_dir() for path in inside):
            raise InputError(
                "cannot use this as the output folder; choose a new folder or an existing one.", folder or "''"
            )
