"""`command`: any program that reads JSON Lines on standard input and writes them on standard output."""

from __future__ import annotations

import errno
import math
import os
import shlex
import shutil
import signal
import subprocess
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from queue import Queue
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from spanscore.detectors.fingerprint import Fingerprint
from spanscore.detectors.interface import (
    Description,
    Detection,
    Detector,
    DetectorError,
    Failure,
    UntrustedError,
    spans_of,
)
from spanscore.detectors.program_files import is_file, program_files
from spanscore.errors import UsageError, plural, printable
from spanscore.spec import REQUIRED, parameter
from spanscore.termination import TERMINATION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spanscore.corpus.records import Document

LONGEST = 1 << 25
"""Maximum bytes of an answer."""


@dataclass(frozen=True, repr=False)
class Command(Detector):
    """A program that reads documents as JSON Lines and writes their spans as JSON Lines, in the same order.

    It answers each line `{"id", "text", "language"}` with a line `{"spans": [{"start", "end", "label", "score"}]}`. The
    list alone is fine, too, and so are spans as Presidio, Hugging Face pipelines and GLiNER write them, and the JSON of
    spaCy's `Doc.to_json`. An answer may repeat the `"id"`, which must be right; one with `"error"` is a failure of that
    document. The program may answer line by line or after the last line.
    """

    name: ClassVar[str] = "command"
    runtime: ClassVar[tuple[str, ...]] = ("timeout", "copies")
    run: str = parameter(REQUIRED, "Program and its arguments, as in a shell.", type=str)
    timeout: float = parameter(
        3600.0, "Seconds without an answer until the program is terminated.", above=0, high=604_800
    )
    copies: int = parameter(
        1, "Number of parallel programs, each with its share; --jobs also sets it.", low=1, high=1000
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        assert self._call

    @property
    def _call(self) -> list[str]:
        try:
            call = shlex.split(self.run)
        except ValueError:
            raise UsageError("the command has an unclosed quotation mark.") from None
        if not call or not call[0]:
            raise UsageError("the command is empty.")
        return call

    def recorded(self) -> tuple[tuple[str, str], ...]:
        """Return the options, with a hash in place of the program's arguments, which may hold keys."""
        program, *arguments = self._call
        hashed = f" #{blake2b(self.run.encode(), digest_size=8).hexdigest()}" if arguments else ""
        return tuple((name, f"{program}{hashed}" if name == "run" else value) for name, value in self.given())

    def fingerprint(self) -> Fingerprint:
        """Add the program's file, the files among its arguments, such as a script, and the modules it consists of."""
        return {**super().fingerprint(), **program_files(self._call).fingerprint}

    def describe(self) -> Description:
        """Warn if not all that the program runs is known; a missing program is an error."""
        program = self._call[0]
        if shutil.which(program) is None:
            raise _cannot_run(program, os.strerror(errno.EACCES if is_file(program) else errno.ENOENT))
        files = program_files(self._call)
        if files.known and not files.incomplete:
            return Description()
        what = f"{'some of ' if files.known else ''}what '{printable(Path(program).name)}' runs"
        return Description(notes=(f"{what} cannot be fingerprinted: --resume will not notice if it changes.",))

    def for_jobs(self, jobs: int) -> Command:
        """Run this many copies of the program."""
        return self if jobs <= 1 else replace(self, copies=jobs)

    def detect(self, documents: Iterable[Document]) -> Iterator[Detection]:
        """Feed the program, or several copies of it, and yield the answers in order as they come."""
        if self.copies == 1:
            yield from self._answers(documents, [])
            return
        listed = list(documents)
        programs: list[_Program] = []
        shares = [listed[number :: self.copies] for number in range(min(self.copies, len(listed)))]
        streams = [_Stream(self._answers(share, programs)) for share in shares]
        try:
            for number in range(len(listed)):
                yield streams[number % len(streams)].next()
            for stream in streams:
                stream.finish()
        finally:
            for stream in streams:
                stream.stop()
            for program in programs:
                if program.running:
                    program.kill()
            for stream in streams:
                stream.join()

    def _answers(self, documents: Iterable[Document], programs: list[_Program]) -> Iterator[Detection]:
        """Feed one program from a thread, and yield its answers as they come."""
        program = _Program(self._call, self.timeout)
        programs.append(program)
        asked: deque[Document] = deque()
        state: dict[str, Any] = {"done": False}

        def feed() -> None:
            encoder = msgspec.json.Encoder()
            try:
                for document in documents:
                    asked.append(document)
                    line = {"id": document.id, "text": document.text, "language": self.language}
                    program.write(encoder.encode(line) + b"\n")
                state["done"] = True
                program.end_input()
            except UnicodeEncodeError:
                state["surrogate"] = True
                program.kill()
            except (OSError, ValueError):
                state["broken"] = True

        feeder = Thread(target=feed, daemon=True)
        feeder.start()
        answered = 0
        try:
            for line in program.lines():
                if not asked:
                    raise UntrustedError(
                        "the command wrote more lines than it was given; none of its answers are kept."
                    )
                document = asked.popleft()
                answered += 1
                yield _detection(line, document)
            if program.late:
                raise DetectorError(f"the command did not answer within {self.timeout:g} seconds; it was terminated.")
            feeder.join()
            if "surrogate" in state:
                what = "its text has a lone surrogate, which cannot be sent as UTF-8"
                raise DetectorError(f'document "{printable(str(asked[-1].id))}": {what}.')
            code = program.wait()
            if code or asked or state.get("broken") or not state["done"]:
                how = f"ended with exit code {code}" if code else "ended"
                left = ", with documents left" if asked or not state["done"] else ""
                raise DetectorError(f"the command {how} after {plural(answered, 'answer')}{left}.")
        finally:
            program.end()


class _Stream:
    """Detections that a thread computes ahead."""

    def __init__(self, detections: Iterator[Detection]) -> None:
        self._ready: Queue[Detection | BaseException | None] = Queue()
        self._stopped = False
        self._thread = Thread(target=self._compute, args=(detections,), daemon=True)
        self._thread.start()

    def _compute(self, detections: Iterator[Detection]) -> None:
        try:
            for one in detections:
                self._ready.put(one)
                if self._stopped:
                    break
            self._ready.put(None)
        except BaseException as error:
            self._ready.put(error)

    def next(self) -> Detection:
        """Return the next detection; an error of the thread is raised here."""
        found = self._ready.get()
        if isinstance(found, BaseException):
            raise found
        assert found is not None
        return found

    def finish(self) -> None:
        """Wait until the thread is done; an error after its last detection is raised here."""
        found = self._ready.get()
        if isinstance(found, BaseException):
            raise found

    def stop(self) -> None:
        """Compute no more than what is under way."""
        self._stopped = True

    def join(self) -> None:
        """Wait until the thread has cleaned up, but not for ever."""
        self._thread.join(5.0)


class _Program:
    """A running program with its children, which are ended if no line comes in time."""

    def __init__(self, call: list[str], timeout: float) -> None:
        own = {"process_group": 0} if os.name == "posix" else {}  # so that its children can be ended with it
        with TERMINATION.starting():
            try:
                self._process = subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **own)  # type: ignore[call-overload] # noqa: S603
            except OSError as error:
                raise _cannot_run(call[0], error.strerror) from None
            if own:
                TERMINATION.process_groups.add(self._process.pid)
        self.late = False
        self._timeout = timeout
        self._deadline = time.monotonic() + timeout
        self._ended = Event()
        Thread(target=self._watch, daemon=True).start()

    def write(self, line: bytes) -> None:
        """Write a line to its standard input."""
        self._process.stdin.write(line)
        self._process.stdin.flush()

    def end_input(self) -> None:
        """Close its standard input."""
        self._process.stdin.close()

    def lines(self) -> Iterator[bytes]:
        """Yield the lines that it writes until it closes its standard output; blank lines are skipped."""
        while line := self._process.stdout.readline(LONGEST):
            self._deadline = math.inf  # while the caller uses the line
            if self.late and not line.endswith(b"\n"):
                return  # it was ended within this line
            if len(line) >= LONGEST:
                raise UntrustedError(f"the command wrote a line of more than {LONGEST >> 20} MB.")
            if line.strip():
                yield line
            self._deadline = time.monotonic() + self._timeout

    @property
    def running(self) -> bool:
        """Whether nobody has seen it end."""
        return self._process.returncode is None

    def wait(self) -> int:
        """Wait for its exit code."""
        code: int = self._process.wait()
        return code

    def end(self) -> None:
        """End it and its children, if they are still there."""
        self._ended.set()
        self.kill()
        self._process.wait()
        TERMINATION.process_groups.discard(self._process.pid)
        self._process.stdout.close()
        with suppress(OSError):  # the program may be gone already
            self._process.stdin.close()

    def _watch(self) -> None:
        while not self._ended.wait(min(max(self._deadline - time.monotonic(), 0.01), 1.0)):
            if time.monotonic() > self._deadline:
                self.late = True
                self.kill()
                return

    def kill(self) -> None:
        """End it and its children, from any thread; whoever reads its lines cleans up."""
        with suppress(OSError):
            if os.name == "posix":
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()


def _cannot_run(program: str, why: str | None) -> DetectorError:
    name, assigned, _ = program.partition("=")
    if assigned:  # its value may be a key
        what = f"cannot run the command: it begins with a value of {printable(name)}"
        return DetectorError(f"{what}; write env {printable(name)}=... before the program, or export it.")
    return DetectorError(f"cannot run the command '{printable(program)}' ({why}).")


def _detection(line: bytes, document: Document) -> Detection:
    try:
        answer = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        answer = None
    length = len(document.text or "")
    if isinstance(answer, list) and all(isinstance(one, dict | list) for one in answer):
        return spans_of(answer, length)
    if not isinstance(answer, dict):
        what = "the command wrote a line that is not a JSON object, so later lines cannot be matched to documents"
        raise UntrustedError(f"{what}; it must write nothing else on standard output.")
    named = answer.get("id", document.id)
    if isinstance(named, bool) or not isinstance(named, str | int) or str(named) != str(document.id):
        asked = printable(str(document.id))
        raise UntrustedError(f'the command answered with a different id than "{asked}"; none of its answers are kept.')
    if answer.get("error") is not None:
        return Failure(
            "the command reported an error (its message may hold text and is not shown; let it write to stderr)"
        )
    return spans_of(answer, length)
