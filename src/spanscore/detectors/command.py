"""`command`: any program that reads JSON Lines on standard input and writes them on standard output."""

from __future__ import annotations

import shlex
import subprocess
from collections import deque
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from spanscore.detectors.detector import Detector, DetectorError, Failure, Outcome, UntrustedError, spans_of
from spanscore.errors import UsageError, plural, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spanscore.corpus.records import Document


class Command(Detector):
    """A program. For each line `{"id", "text", "language"}` it writes a line `{"spans": [{"start", "end", "label"}]}`.

    Lines come back in the same order; one may say `"id"`, which must be right, and one with `"error"` is a failure of
    that document. The program may answer line by line or after the last one.
    """

    name: ClassVar[str] = "command"

    def __init__(self, command: str) -> None:
        try:
            self._call = shlex.split(command)
        except ValueError:
            raise UsageError(f"the command '{printable(command)}' has an open quotation mark.") from None
        if not self._call:
            raise UsageError("the command is empty.")

    def __call__(self, documents: Iterable[Document], language: str) -> Iterator[Outcome]:
        """Feed the program from a thread of its own, and hand on its answers as they come."""
        try:
            program = subprocess.Popen(self._call, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603
        except OSError as error:
            raise DetectorError(f"the command '{printable(self._call[0])}' cannot be run ({error.strerror}).") from None
        assert program.stdin is not None
        assert program.stdout is not None
        asked: deque[Document] = deque()
        state: dict[str, Any] = {"done": False}

        def feed() -> None:
            encoder = msgspec.json.Encoder()
            try:
                for document in documents:
                    asked.append(document)
                    line = {"id": document.id, "text": document.text, "language": language}
                    program.stdin.write(encoder.encode(line) + b"\n")  # type: ignore[union-attr]
                    program.stdin.flush()  # type: ignore[union-attr]
                state["done"] = True
                program.stdin.close()  # type: ignore[union-attr]
            except (BrokenPipeError, OSError):
                state["broken"] = True

        feeder = Thread(target=feed, daemon=True)
        feeder.start()
        answered = 0
        try:
            for line in program.stdout:
                if not line.strip():
                    continue
                if not asked:
                    raise UntrustedError(
                        "the command wrote more lines than it was given; nothing that it said is kept."
                    )
                document = asked.popleft()
                answered += 1
                yield _outcome(line, document)
            feeder.join()
            code = program.wait()
            if code or asked or state.get("broken") or not state["done"]:
                told = f"ended with exit code {code}" if code else "ended"
                left = ", with documents left" if asked or not state["done"] else ""
                raise DetectorError(f"the command {told} after {plural(answered, 'answer')}{left}.")
        finally:
            if program.poll() is None:
                program.kill()
                program.wait()
            program.stdout.close()
            with suppress(OSError):  # the program may be gone already
                program.stdin.close()


def _outcome(line: bytes, document: Document) -> Outcome:
    try:
        said = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        said = None
    if not isinstance(said, dict):
        what = "the command wrote a line that is not a JSON object, so that it is not known what later lines are about"
        raise UntrustedError(f"{what}; it must write nothing else on standard output.")
    if str(said.get("id") or document.id) != document.id:
        asked = printable(str(document.id))
        raise UntrustedError(f'the command answered with another id where "{asked}" was asked; nothing of it is kept.')
    if said.get("error") is not None:
        return Failure("the command reported an error")
    return spans_of(said.get("spans"), len(document.text or ""))
