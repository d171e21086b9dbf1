"""Two large files scored by several processes, each with a range of both.

A range of the predictions begins with the document that the gold range begins with. If the files turn out not to have
the same documents in the same order, or anything is wrong with them, nothing is reported here: the caller then scores
them in one process, which reports the file and line.
"""

from __future__ import annotations

from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from spanscore.engine.evaluate import in_step
from spanscore.engine.partial import PartialResult
from spanscore.engine.processes import ProcessPool
from spanscore.engine.summary import doubting
from spanscore.errors import SpanscoreError
from spanscore.formats import read_chunks, recognise
from spanscore.formats.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spanscore.corpus import Corpus
    from spanscore.engine.inputs import Input, Inputs
    from spanscore.engine.plan import Plan
    from spanscore.formats.interface import Format, Range

WORTHWHILE = 1 << 22
"""Minimum bytes of a file that is worth several processes."""
SHARES = 16
"""Ranges per process: with many small ones, all processes finish at about the same time."""


class _OutOfStepError(SpanscoreError):
    """The two ranges do not hold the same documents in the same order."""


@dataclass(frozen=True)
class File:
    """A file, its format, and why it was recognised."""

    path: str
    format: Format
    reason: str

    @classmethod
    def of(cls, one: Input) -> File | None:
        """Return the file of an input, if parts of it can be read."""
        if one.path is None or one.path == "-" or not Path(one.path).is_file():
            return None
        if one.format is not None:
            found = cls(one.path, one.format, "as given")
        else:
            with Source(one.path) as source:
                found = cls(one.path, *recognise(source))
        return found if found.format.part_unit else None


@dataclass(frozen=True)
class RangePair:
    """A range of the gold file and one of the predictions, to be counted together."""

    gold: File
    pred: File
    ranges: tuple[Range, Range]


class RangeCounter:
    """Counts systems by ranges in several processes."""

    def __init__(self, plan: Plan, inputs: Inputs, jobs: int) -> None:
        self._plan, self._gold = plan, inputs.gold
        self._jobs = jobs
        self._pool = ProcessPool(jobs - 1) if inputs.gold.size >= WORTHWHILE else None  # this process works too

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.close()

    def count(self, system: str, pred: Input) -> PartialResult | None:
        """Count a system, or return None if one process must do it."""
        if self._pool is None:
            return None
        try:
            tasks = plan_ranges(self._gold, pred, SHARES * self._jobs)
            if len(tasks) < 2:
                return None
            parts = self._pool.share(partial(count_range, self._plan, system), tasks)
        except (SpanscoreError, OSError, ValueError, BrokenProcessPool):
            return None
        return merge_ranges(parts, tasks[0])


def count_range(plan: Plan, system: str, task: RangePair) -> PartialResult:
    """Count a range of both files, which must hold the same documents in the same order."""
    files = zip((task.gold, task.pred), task.ranges, strict=True)
    sides = [read_chunks(file.path, file.format, part=part) for file, part in files]

    def parts() -> Iterator[PartialResult]:
        for ours, theirs in in_step(*sides):
            if ours.ids is not theirs.ids:
                raise _OutOfStepError("the files are not in the same order.")
            yield PartialResult.of(plan, ours, theirs, system)

    total = PartialResult.total(parts())
    if total is None:
        raise _OutOfStepError("there is no document in this range.")
    return total


def plan_ranges(gold: Input, pred: Input, count: int) -> list[RangePair]:
    """Cut both files into ranges that begin with the same documents; none if that is not worthwhile or not possible."""
    files = File.of(gold), File.of(pred)
    if files[0] is None or files[1] is None or files[0].format != files[1].format:
        return []
    cuts = files[0].format.cut(Path(files[0].path), Path(files[1].path), count)
    return [RangePair(files[0], files[1], cut) for cut in cuts]


def merge_ranges(parts: Sequence[PartialResult], task: RangePair) -> PartialResult | None:
    """Merge all ranges; None if two documents have one id."""
    merged = PartialResult.merged(parts)
    if merged.has_duplicates():
        return None
    ours, theirs = next(in_step(*(read_chunks(file.path, file.format) for file in (task.gold, task.pred))))
    merged = with_notes(merged, ours, doubting(ours, theirs))  # as if the files had been read as a whole
    sides = [
        replace(side, format_reason=file.reason) for side, file in ((merged.gold, task.gold), (merged.pred, task.pred))
    ]
    return replace(merged, gold=sides[0], pred=sides[1])


def with_notes(part: PartialResult, gold: Corpus, pred: Corpus) -> PartialResult:
    """Return a partial result with the notes of the first chunks of both files, which say what is suspicious."""
    sides = [
        replace(side, notes=tuple(dict.fromkeys((*chunk.notes, *side.notes))))
        for side, chunk in ((part.gold, gold), (part.pred, pred))
    ]
    return replace(part, gold=sides[0], pred=sides[1])
