"""The end of a command by a signal: files are cleaned up, and the programs that it has started end with it."""

from __future__ import annotations

import _thread
import os
import signal
import time
from contextlib import contextmanager, suppress
from threading import current_thread, main_thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class TerminatedError(KeyboardInterrupt):
    """A signal that ends the program; it passes through code that catches exceptions."""


class Termination:
    """The signal that ends the program, if one has arrived, and whether the command is still running."""

    number: int | None = None
    running = True
    patience = 5.0
    """Seconds that cleaning up may take."""
    same = 1.0
    """Seconds in which further signals count as the same one: a terminal that closes, or `timeout`, sends several."""
    _since = 0.0

    def __init__(self) -> None:
        self.process_groups: set[int] = set()
        """Those of the programs that the command has started, which end with it."""
        self._starting = False

    def arrive(self, number: int, _: object) -> None:
        """End the command, and clean up files and processes on the way; once it has ended, exit at once.

        The user's code may catch the exception for ever, so that a later signal ends the process at once, and so does a
        thread after a while. Nothing is lost: what is written so far is complete after any kill.
        """
        if not self.running:
            os._exit(128 + number)
        if self.number is not None:
            if time.monotonic() - self._since > self.same:
                self._end(number)
            return
        self.number, self._since = number, time.monotonic()
        # not a Thread: the signal may have interrupted the start of one, which holds a lock
        _thread.start_new_thread(self._end_after, (self.patience, number))
        if not self._starting:
            self.check()

    @contextmanager
    def starting(self) -> Iterator[None]:
        """Delay the exception while a program is started: nobody could end one that is not known yet."""
        in_main = current_thread() is main_thread()  # which alone gets signals
        try:
            if in_main:
                self._starting = True
            yield
        finally:
            if in_main:
                self._starting = False
        self.check()

    def end_programs(self) -> None:
        """End the programs that are still running."""
        for group in tuple(self.process_groups):
            with suppress(OSError):
                os.killpg(group, signal.SIGKILL)

    def _end_after(self, seconds: float, number: int) -> None:
        """End the process if it has not ended by itself."""
        time.sleep(seconds)
        self._end(number)

    def _end(self, number: int) -> None:
        """End the process and the programs that it has started, without cleaning up."""
        self.end_programs()
        os._exit(128 + number)

    def check(self) -> None:
        """Raise if a signal has arrived. Call this after the user's code, which may have caught the exception."""
        if self.number is not None:
            raise TerminatedError(f"ended by signal {self.number}")


TERMINATION = Termination()
"""That of this process. Only the command line lets it handle signals."""
