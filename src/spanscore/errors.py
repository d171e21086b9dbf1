"""Errors for users; each message says in one sentence what is wrong, where, and what to do."""

from __future__ import annotations

import _thread
import os
import signal
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import current_thread, main_thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


LONGEST = 1500
"""Maximum number of characters of a message about data, which may quote names from it."""


class SpanscoreError(Exception):
    """Base class of all errors that a user can cause and fix."""


class InputError(SpanscoreError):
    """Invalid or unreadable data; `where` is a file and line, or a document."""

    of_another_file = False
    """Whether it is about a file that is read for the sake of another one, such as the gold data for their texts."""

    def __init__(self, message: str, where: str = "") -> None:
        super().__init__(printable(f"{where}: {message}" if where else message, limit=LONGEST))
        self.has_place = bool(where)


class UsageError(SpanscoreError):
    """A call with an unknown name, an invalid value, or options that cannot be combined."""


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
"""That of this process; only the command line handles signals."""


class MissingExtraError(SpanscoreError):
    """A feature whose optional dependency is not installed."""

    def __init__(self, feature: str, extra: str, note: str = "") -> None:
        install = f"pip install 'spanscore[{extra}]'"
        super().__init__(f"{feature} needs an optional dependency; install it with: {install}{note}.")


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """Return an error message for an unknown name that suggests the closest known one.

    >>> unknown("column", "lable", ["id", "label"])
    "There is no column 'lable'; did you mean 'label'? Known: id, label."
    """
    names = sorted(known)
    near = nearest(name, names)
    hint = f"; did you mean '{near}'?" if near else "."
    return f"There is no {kind} '{printable(name)}'{hint}" + (f" Known: {', '.join(names)}." if names else "")


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most similar to this one, or None."""
    if len(name) > 100:  # the time to compare grows with the square of the length
        return None
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, list(known), n=1)), None)


def printable(text: str, limit: int = 60) -> str:
    """Return user-supplied text in a form that is safe to print: one line, no control characters, not too long.

    >>> printable("a\\x1b[31m\\nb")
    'a\\\\x1b[31m\\\\nb'
    """
    cut = text[:limit]
    shown = cut if cut.isprintable() else cut.encode("unicode_escape", "backslashreplace").decode("ascii")
    return shown + ("…" if len(text) > limit else "")


def file_stamp(path: str) -> tuple[int, int]:
    """Return the modification time and size of a file, to detect changes; zeros if there is no such file."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return 0, 0
    return found.st_mtime_ns, found.st_size


def listed(counts: Mapping[str, int]) -> str:
    """Return what was counted, without what occurs never.

    >>> listed({"scores": 1, "tokens": 0, "overlapping spans": 2})
    'scores (1), overlapping spans (2)'
    """
    return ", ".join(f"{what} ({count})" for what, count in counts.items() if count)


def plural(count: int, noun: str) -> str:
    """Return a count with its noun in the singular or plural.

    >>> plural(1, "span"), plural(2, "span"), plural(2, "entity")
    ('1 span', '2 spans', '2 entities')
    """
    return f"{count} {noun if count == 1 else plural_of(noun)}"


def plural_of(noun: str) -> str:
    """Return the plural of a noun."""
    return f"{noun.removesuffix('y')}ies" if noun.endswith("ty") else f"{noun}s"
