"""The journal of a run: detections are written as they come, so that an interrupted run can be resumed."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from shutil import copyfile
from typing import IO, TYPE_CHECKING, Any

import msgspec

from spanscore.corpus.records import Document
from spanscore.detectors import Detection, Failure
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
"""The metadata field with the reason why the detector failed on a document."""


class Journal:
    """The predictions of a run in a folder, with what they depend on: dataset, detector and settings."""

    def __init__(self, folder: Path, key: Mapping[str, Any]) -> None:
        self._folder = folder
        self._key = json.loads(json.dumps(key))
        self._file: IO[bytes] | None = None
        self._kept = 0
        self._encoder = msgspec.json.Encoder()

    def open(self, *, resume: bool) -> dict[str, Detection]:
        """Begin, or resume: return the documents that are done. Those that failed are tried again."""
        partial = self._folder / PARTIAL
        if partial.exists() and not resume:
            what = f"this folder holds an unfinished run; give --resume to continue it, or remove {PARTIAL}"
            raise UsageError(f"{printable(str(self._folder), limit=255)}: {what}.")
        done: dict[str, Detection] = {}
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
            raise InputError(f"cannot write to this folder ({error.strerror}).", str(self._folder)) from None
        self._lock()
        done, self._kept = _read(partial)
        self._file.truncate(self._kept)
        return {name: detection for name, detection in done.items() if not isinstance(detection, Failure)}

    def _lock(self) -> None:
        """Keep two runs from writing to one folder."""
        assert self._file is not None
        if fcntl is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            self._file = None
            where = printable(str(self._folder), limit=255)
            raise UsageError(f"{where}: another run is writing to this folder; wait for it, or use another.") from None

    def forget(self) -> None:
        """Remove what this run wrote: it cannot be trusted."""
        assert self._file is not None
        self._file.flush()
        self._file.truncate(self._kept)

    def append(self, name: str, detection: Detection) -> None:
        """Write the detections of a document; from then on they survive the end of this process."""
        assert self._file is not None
        try:
            self._file.write(self._encoder.encode(record(name, detection)) + b"\n")
            self._file.flush()
        except OSError as error:
            raise InputError(f"cannot write this file ({error.strerror}).", str(self._folder / PARTIAL)) from None

    def close(self) -> None:
        """Stop. What was written stays for a later --resume; an empty journal is removed."""
        if self._file is None:
            return
        self._file.close()
        self._file = None
        if not (self._folder / PARTIAL).stat().st_size:
            self.finish()
            with suppress(OSError):  # it may hold something else
                self._folder.rmdir()

    def finish(self) -> None:
        """Remove the files that only an unfinished run needs."""
        self.close()
        for name in (PARTIAL, KEY):
            (self._folder / name).unlink(missing_ok=True)

    def _refuse_another(self, path: Path) -> None:
        """Refuse to resume a run of another dataset or detector."""
        try:
            before = json.loads(path.read_text("utf-8")).get("detection")
        except (OSError, ValueError, AttributeError, RecursionError):
            before = None
        if before == self._key:
            return
        known = before if isinstance(before, dict) else {}
        differ = ", ".join(sorted(name for name in self._key if known.get(name) != self._key[name])) or "settings"
        where = printable(str(self._folder), limit=255)
        raise UsageError(f"{where}: this folder holds a different run (not the same {differ}); use another folder.")


def record(name: str, detection: Detection) -> Document:
    """Return a line of the predictions."""
    if isinstance(detection, Failure):
        return Document(id=name, spans=[], meta={FAILURE: detection.why})
    return Document(id=name, spans=detection)


def write(file: IO[bytes], detections: Iterable[tuple[str, Detection]]) -> None:
    """Write all predictions, one line per document."""
    encoder = msgspec.json.Encoder()
    for name, detection in detections:
        file.write(encoder.encode(record(name, detection)) + b"\n")


def _read(path: Path) -> tuple[dict[str, Detection], int]:
    """Read a journal, and return its length without a truncated last line."""
    decoder = msgspec.json.Decoder(Document)
    done: dict[str, Detection] = {}
    length = 0
    document: Document | None
    for number, line in enumerate(path.read_bytes().split(b"\n")[:-1], 1):
        try:
            document = decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            document = None
        if document is None or any(not (0 <= s.start <= s.end and s.label) for s in document.spans):
            raise InputError("this line of the journal is damaged; remove it to continue.", f"{path}:{number}")
        why = (document.meta or {}).get(FAILURE)
        done[str(document.id)] = document.spans if why is None else Failure(str(why))
        length += len(line) + 1
    return done, length
