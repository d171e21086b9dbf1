"""The journal of a run: detections are written as they come, so that an interrupted run can be resumed."""

from __future__ import annotations

import json
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import msgspec

from spanscore.corpus.records import Document
from spanscore.detectors import Detection, Failure
from spanscore.detectors.fingerprint import changes as fingerprint_changes
from spanscore.detectors.fingerprint import digest
from spanscore.engine.run_folders import PREDICTIONS, UNFINISHED
from spanscore.errors import InputError, UsageError, printable
from spanscore.files import FolderLock, append_file, atomic_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PARTIAL, FINISHED = UNFINISHED, PREDICTIONS
KEY, RUN = "run.partial.json", "run.json"
Change = dict[str, Any]
"""A change of the detector: the digest of its fingerprint `before`, and what `changed`."""
LINES = 10_000
"""How many lines are encoded at once."""
FAILURE = "failure"
"""The metadata field with the reason why the detector failed on a document."""


class Journal:
    """The predictions of a run in a folder, with what they depend on: dataset, detector and settings."""

    def __init__(self, folder: Path, key: Mapping[str, Any]) -> None:
        self._folder = folder
        self._key = json.loads(json.dumps(key))
        self.lock: FolderLock | None = None
        self._file: IO[bytes] | None = None
        self._kept = 0
        self._changes: list[Change] = []
        self.latency: dict[str, float] | None = None
        """The latency of the finished run that is resumed."""
        self._versions: set[str] = set()
        self._encoder = msgspec.json.Encoder()

    @property
    def changes(self) -> list[Change]:
        """What changed in the detector while it worked on this dataset, if the user wanted to continue anyway."""
        return list(self._changes)

    @property
    def service_versions(self) -> list[str]:
        """The versions of a service that answered, as far as its answers told them."""
        return sorted(self._versions)

    def answered(self, versions: frozenset[str]) -> None:
        """Record which versions of a service have answered; from then on they survive the end of this process."""
        if not versions <= self._versions:
            self._versions |= versions
            self._write_key()

    @property
    def detector_digest(self) -> str:
        """The fingerprints of all detectors that worked on this dataset, the latest last, joined by `+`."""
        return "+".join(dict.fromkeys([*(one["before"] for one in self._changes), digest(self._key["fingerprint"])]))

    def open(self, *, resume: bool, anyway: bool = False) -> dict[str, Detection]:
        """Begin, or resume: return the documents that are done. Those that failed are tried again.

        A detector that is not the same as before is refused; with `anyway`, what changed is recorded.

        From here on, until `finish` or `close`, no other process can write to the folder.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self.lock = FolderLock(self._folder)
            try:
                self._file = self._begin(resume=resume, anyway=anyway)
                done, self._kept = _read(self._folder / PARTIAL)
                self._file.truncate(self._kept)
            except BaseException:
                self.close()
                raise
        except OSError as error:
            raise InputError(f"cannot write to this folder ({error.strerror}).", str(self._folder)) from None
        return {name: detection for name, detection in done.items() if not isinstance(detection, Failure)}

    def _begin(self, *, resume: bool, anyway: bool) -> IO[bytes]:
        """Open the file of predictions, once it is clear that they belong to this run."""
        partial, finished = self._folder / PARTIAL, self._folder / FINISHED
        begun = partial.exists() and partial.stat().st_size > 0  # an empty one is of a run that was killed at once
        if begun and not resume:
            what = f"this folder holds an unfinished run; give --resume to continue it, or remove {PARTIAL}"
            raise UsageError(f"{printable(str(self._folder), limit=255)}: {what}.")
        if begun:
            self._refuse_another(self._folder / KEY, anyway=anyway)
            self._write_key()
            return append_file(partial)
        again = resume and finished.exists()
        if again:
            self._refuse_another(self._folder / RUN, anyway=anyway)
        self._write_key()
        with atomic_file(partial, mode=0o600, follow=False) as file:  # invented mentions are text
            file.write(finished.read_bytes() if again else b"")
        return append_file(partial)

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

    def pause(self) -> None:
        """Stop writing, but keep others from writing to the folder."""
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def close(self) -> None:
        """Stop. What was written stays for a later --resume; an empty journal is removed."""
        with suppress(OSError):  # what could not be written because the disk is full still cannot be
            self.pause()
        if self.lock is None:
            return
        with suppress(OSError):  # the folder may have vanished
            if not (self._folder / PARTIAL).stat().st_size:
                self._remove()
        self.lock.release()
        self.lock = None
        with suppress(OSError):  # it may hold something else
            self._folder.rmdir()

    def finish(self) -> None:
        """Remove the files that only an unfinished run needs."""
        self.pause()
        self._remove()
        self.close()

    def _remove(self) -> None:
        for name in (PARTIAL, KEY):
            (self._folder / name).unlink(missing_ok=True)

    def _write_key(self) -> None:
        """Record what the predictions depend on."""
        known = {
            "detection": self._key,
            "resumed_anyway": self._changes,
            "latency": self.latency,
            "service_versions": self.service_versions,
        }
        with atomic_file(self._folder / KEY, mode=0o600, follow=False) as file:
            file.write(json.dumps(known, indent=2).encode() + b"\n")

    def _refuse_another(self, path: Path, *, anyway: bool) -> None:
        """Refuse to resume a run of another dataset or detector; a changed detector is accepted `anyway`."""
        where = printable(str(self._folder), limit=255)
        try:
            recorded = json.loads(path.read_text("utf-8"))
            before, self._changes = dict(recorded["detection"]), list(recorded.get("resumed_anyway") or [])
            self.latency = recorded.get("latency")
            self._versions = set(map(str, recorded.get("service_versions") or ()))
            changed = fingerprint_changes(before["fingerprint"], self._key["fingerprint"])
        except (OSError, ValueError, AttributeError, KeyError, TypeError, RecursionError):
            raise UsageError(f"{where}: this folder holds a different run; use another folder.") from None
        differ = [name for name in self._key if name != "fingerprint" and before.get(name) != self._key[name]]
        if differ:
            listed = ", ".join(sorted(differ))
            raise UsageError(f"{where}: this folder holds a different run (not the same {listed}); use another folder.")
        if changed and not anyway:
            raise UsageError(
                f"{where}: the detector has changed since this run began ({'; '.join(changed)}); use another folder, "
                "or give --resume-anyway to keep the predictions of the former one."
            )
        if changed:
            self._changes.append({"before": digest(before["fingerprint"]), "changed": changed})


def record(name: str, detection: Detection) -> Document:
    """Return a line of the predictions."""
    if isinstance(detection, Failure):
        return Document(id=name, spans=[], meta={FAILURE: detection.why})
    return Document(id=name, spans=detection)


def write(file: IO[bytes], detections: Iterable[tuple[str, Detection]]) -> None:
    """Write all predictions, one line per document."""
    encoder = msgspec.json.Encoder()
    waiting = iter(detections)
    while block := [record(*one) for one in islice(waiting, LINES)]:
        file.write(encoder.encode_lines(block))


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
