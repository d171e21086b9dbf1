"""The journal of a run: what was detected is kept as it comes, so that a run that was cut off can go on."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from shutil import copyfile
from typing import IO, TYPE_CHECKING, Any

import msgspec

from spanscore.corpus.records import Document
from spanscore.detectors import Failure, Outcome
from spanscore.errors import InputError, UsageError, printable

try:
    import fcntl
except ImportError:  # there is none on Windows
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PARTIAL, FINISHED = "predictions.partial.jsonl", "predictions.jsonl"
KEY, RUN = "run.partial.json", "run.json"
FAILURE = "failure"
"""The field of a document's metadata that says why the detector failed on it."""


class Journal:
    """The predictions of a run in a folder, and what they depend on: the dataset, the detector and its settings."""

    def __init__(self, folder: Path, key: Mapping[str, Any]) -> None:
        self._folder = folder
        self._key = json.loads(json.dumps(key))
        self._file: IO[bytes] | None = None
        self._kept = 0
        self._encoder = msgspec.json.Encoder()

    def open(self, *, resume: bool) -> dict[str, Outcome]:
        """Begin, or go on with what there is: the documents that are done. Those that failed are tried again."""
        partial = self._folder / PARTIAL
        if partial.exists() and not resume:
            what = f"an unfinished run is in this folder; give --resume to go on with it, or remove {PARTIAL}"
            raise UsageError(f"{printable(str(self._folder), limit=255)}: {what}.")
        done: dict[str, Outcome] = {}
        try:
            if resume and not partial.exists() and (self._folder / FINISHED).exists():
                self._refuse_another(self._folder / RUN)
                copyfile(self._folder / FINISHED, self._folder / f"{PARTIAL}.new")
                (self._folder / KEY).write_text(json.dumps({"detection": self._key}, indent=2) + "\n")
                (self._folder / f"{PARTIAL}.new").replace(partial)
            if partial.exists():
                self._refuse_another(self._folder / KEY)
            else:
                self._folder.mkdir(parents=True, exist_ok=True)
                (self._folder / KEY).write_text(json.dumps({"detection": self._key}, indent=2) + "\n")
            self._file = partial.open("ab")
        except OSError as error:
            raise InputError(f"it cannot be written ({error.strerror}).", str(self._folder)) from None
        self._lock()
        done, self._kept = _read(partial)
        self._file.truncate(self._kept)
        return {name: outcome for name, outcome in done.items() if not isinstance(outcome, Failure)}

    def _lock(self) -> None:
        """Two runs must not write into one folder."""
        assert self._file is not None
        if fcntl is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            self._file = None
            where = printable(str(self._folder), limit=255)
            raise UsageError(f"{where}: another run is at work in this folder; wait for it, or take another.") from None

    def forget(self) -> None:
        """Take back what this run kept: it cannot be trusted."""
        assert self._file is not None
        self._file.flush()
        self._file.truncate(self._kept)

    def append(self, name: str, outcome: Outcome) -> None:
        """Keep what was said of a document: from now on it survives the end of this process."""
        assert self._file is not None
        try:
            self._file.write(self._encoder.encode(record(name, outcome)) + b"\n")
            self._file.flush()
        except OSError as error:
            raise InputError(f"it cannot be written ({error.strerror}).", str(self._folder / PARTIAL)) from None

    def close(self) -> None:
        """Stop; what there is stays, for a run that goes on. Where there is nothing, nothing stays."""
        if self._file is None:
            return
        self._file.close()
        self._file = None
        if not (self._folder / PARTIAL).stat().st_size:
            self.finish()
            with suppress(OSError):  # it may hold something else
                self._folder.rmdir()

    def finish(self) -> None:
        """Clear away what only an unfinished run needs."""
        self.close()
        for name in (PARTIAL, KEY):
            (self._folder / name).unlink(missing_ok=True)

    def _refuse_another(self, path: Path) -> None:
        """What is there must have been made from the same dataset by the same detector."""
        try:
            before = json.loads(path.read_text("utf-8")).get("detection")
        except (OSError, ValueError, AttributeError, RecursionError):
            before = None
        if before == self._key:
            return
        said = before if isinstance(before, dict) else {}
        differ = ", ".join(sorted(name for name in self._key if said.get(name) != self._key[name])) or "settings"
        where = printable(str(self._folder), limit=255)
        raise UsageError(f"{where}: the run in this folder is another one ({differ}); take another folder.")


def record(name: str, outcome: Outcome) -> Document:
    """A line of the predictions."""
    if isinstance(outcome, Failure):
        return Document(id=name, spans=[], meta={FAILURE: outcome.why})
    return Document(id=name, spans=outcome)


def write(file: IO[bytes], outcomes: Iterable[tuple[str, Outcome]]) -> None:
    """All predictions, a line each."""
    encoder = msgspec.json.Encoder()
    for name, outcome in outcomes:
        file.write(encoder.encode(record(name, outcome)) + b"\n")


def _read(path: Path) -> tuple[dict[str, Outcome], int]:
    """What a journal says, and how long it is without a last line that was cut off."""
    decoder = msgspec.json.Decoder(Document)
    done: dict[str, Outcome] = {}
    length = 0
    document: Document | None
    for number, line in enumerate(path.read_bytes().split(b"\n")[:-1], 1):
        try:
            document = decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            document = None
        if document is None or any(not (0 <= s.start <= s.end and s.label) for s in document.spans):
            raise InputError("this line of the journal is damaged; remove it to go on.", f"{path}:{number}")
        why = (document.meta or {}).get(FAILURE)
        done[str(document.id)] = document.spans if why is None else Failure(str(why))
        length += len(line) + 1
    return done, length
