"""`command`: any program that reads JSON Lines on standard input and writes them on standard output."""

from __future__ import annotations

import shlex
import subprocess
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from threading import Thread
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from spanscore.detectors.interface import Detection, Detector, DetectorError, Failure, UntrustedError, spans_of
from spanscore.errors import UsageError, plural, printable
from spanscore.spec import REQUIRED, parameter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spanscore.corpus.records import Document


@dataclass(frozen=True, repr=False)
class Command(Detector):
    """A program that answers JSON Lines with JSON Lines, in the same order.

    It answers each line `{"id", "text", "language"}` with a line `{"spans": [{"start", "end", "label", "score"}]}`. An
    answer may repeat the `"id"`, which must be right; one with `"error"` is a failure of that document. The program may
    answer line by line or after the last line.
    """

    name: ClassVar[str] = "command"
    run: str = parameter(REQUIRED, "Program and its arguments, as in a shell.", type=str)

    def __post_init__(self) -> None:
        super().__post_init__()
        assert self._call

    @property
    def _call(self) -> list[str]:
        try:
            call = shlex.split(self.run)
        except ValueError:
            raise UsageError(f"the command '{printable(self.run)}' has an unclosed quotation mark.") from None
        if not call:
            raise UsageError("the command is empty.")
        return call

    def detect(self, documents: Iterable[Document]) -> Iterator[Detection]:
        """Feed the program from a thread, and yield its answers as they come."""
        try:
            program = subprocess.Popen(self._call, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603
        except OSError as error:
            raise DetectorError(f"cannot run the command '{printable(self._call[0])}' ({error.strerror}).") from None
        assert program.stdin is not None
        assert program.stdout is not None
        asked: deque[Document] = deque()
        state: dict[str, Any] = {"done": False}

        def feed() -> None:
            encoder = msgspec.json.Encoder()
            try:
                for document in documents:
                    asked.append(document)
                    line = {"id": document.id, "text": document.text, "language": self.language}
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
                        "the command wrote more lines than it was given; none of its answers are kept."
                    )
                document = asked.popleft()
                answered += 1
                yield _detection(line, document)
            feeder.join()
            code = program.wait()
            if code or asked or state.get("broken") or not state["done"]:
                how = f"ended with exit code {code}" if code else "ended"
                left = ", with documents left" if asked or not state["done"] else ""
                raise DetectorError(f"the command {how} after {plural(answered, 'answer')}{left}.")
        finally:
            if program.poll() is None:
                program.kill()
                program.wait()
            program.stdout.close()
            with suppress(OSError):  # the program may be gone already
                program.stdin.close()


def _detection(line: bytes, document: Document) -> Detection:
    try:
        answer = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        what = "the command wrote a line that is not a JSON object, so later lines cannot be matched to documents"
        raise UntrustedError(f"{what}; it must write nothing else on standard output.")
    named = answer.get("id")
    if named is not None and str(named) != str(document.id):
        asked = printable(str(document.id))
        raise UntrustedError(f'the command answered for another id than "{asked}"; none of its answers are kept.')
    if answer.get("error") is not None:
        return Failure("the command reported an error")
    return spans_of(answer.get("spans"), len(document.text or ""))
