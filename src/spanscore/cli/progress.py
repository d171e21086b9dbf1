"""The progress of detection: a bar on a terminal, and a line from time to time elsewhere."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from spanscore.cli import options as shared
from spanscore.errors import printable
from spanscore.pipeline import Observer, Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

EVERY = 10.0
"""Seconds between two lines."""


@contextmanager
def shown_run(*, quiet: bool) -> Iterator[ShownRun]:
    """Show the progress of a run on standard error; only warnings if it should be quiet."""
    if quiet:
        yield ShownRun(quiet=True)
    elif not sys.stderr.isatty():
        yield ShownRun(draw=_lines())
    else:
        with _bar() as draw:
            yield ShownRun(draw=draw)


class ShownRun(Observer):
    """Prints warnings before detection starts, remembers which ones, and draws the progress."""

    def __init__(self, draw: Callable[[Progress, Pace], None] | None = None, *, quiet: bool = False) -> None:
        self.warned: list[str] = []
        self._draw, self._quiet = draw, quiet
        self._pace: Pace | None = None

    def ready(self, uses: str, notes: Sequence[str]) -> None:
        """Print what the detector uses, and the warnings."""
        if uses and not self._quiet:
            click.echo(f"detector: {printable(uses, limit=1000)}", err=True)
        self.warned = list(notes)
        shared.print_warnings(self.warned, quiet=self._quiet)

    def progress(self, done: Progress) -> None:
        """Draw the progress."""
        self._pace = self._pace or Pace(done)
        if self._draw is not None:
            self._draw(done, self._pace)


class Pace:
    """The speed of a run since its first report, and the time left, estimated from characters."""

    def __init__(self, first: Progress) -> None:
        self._first, self._began = first, time.monotonic()

    def rates(self, done: Progress) -> tuple[float, float]:
        """Return documents and characters per second."""
        seconds = max(time.monotonic() - self._began, 1e-9)
        return (done.documents - self._first.documents) / seconds, (done.characters - self._first.characters) / seconds

    def left(self, done: Progress) -> float | None:
        """Return the estimated seconds left, or None if they cannot be estimated."""
        documents, characters = self.rates(done)
        if characters:
            return (done.all_characters - done.characters) / characters
        return (done.all_documents - done.documents) / documents if documents else None

    def said(self, done: Progress) -> str:
        """Return the rates in words."""
        documents, characters = self.rates(done)
        return f"{documents:,.0f} documents/s, {characters:,.0f} characters/s"


def _lines() -> Callable[[Progress, Pace], None]:
    last = time.monotonic()

    def draw(done: Progress, pace: Pace) -> None:
        nonlocal last
        complete = done.documents == done.all_documents
        if complete or time.monotonic() - last >= EVERY:
            last = time.monotonic()
            seconds = None if complete else pace.left(done)
            left = "" if seconds is None else f", {_duration(seconds)} left"
            click.echo(
                f"detected {done.documents} of {done.all_documents} documents ({pace.said(done)}{left})", err=True
            )

    return draw


@contextmanager
def _bar() -> Iterator[Callable[[Progress, Pace], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = ("detecting", BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[said]}"))
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, said="", visible=False)

        def draw(done: Progress, pace: Pace) -> None:
            seconds = pace.left(done)
            left = "" if seconds is None else f", {_duration(seconds)} left"
            said = f"{pace.said(done)}{left}"
            bar.update(task, completed=done.documents, total=done.all_documents, said=said, visible=True)

        yield draw


def _duration(seconds: float) -> str:
    """Format a duration for display.

    >>> _duration(41.7), _duration(605), _duration(7384)
    ('42 s', '10:05', '2:03:04')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
