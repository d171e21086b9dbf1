"""Two files scored by several processes, each with its own range of both.

A range of the predictions begins with the document that the gold's range begins with. Where the files turn out not to
have the same documents in the same order, or anything is wrong with them, nothing is said here: one process scores them
then, and knows what to say, and in which line.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from spanscore.engine.local import in_step
from spanscore.engine.parts import Part
from spanscore.engine.processes import share
from spanscore.errors import InputError, SpanscoreError
from spanscore.formats import read_chunks
from spanscore.formats.recognise import sniff
from spanscore.formats.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spanscore.engine.parts import Plan
    from spanscore.engine.processes import Workers

LEAST = 1 << 22
"""Fewer bytes are not worth a process."""
SHARES = 16
"""Ranges for each process: whoever is done takes the next, so that all are done at about the same time."""
AROUND = 1 << 20
"""How far from where it should be a document is looked for first."""


class _Id(msgspec.Struct):
    id: str | int


class _OutOfStepError(SpanscoreError):
    """The two ranges are not of the same documents in the same order."""


File = tuple[str, str | None]
"""A file and its format, if one was given."""
Range = tuple[int, int]


def count_ranges(plan: Plan, gold: File, pred: File, system: str, workers: Workers) -> Part | None:
    """Count two files by this process and others; None if one must do it."""
    if not len(workers):
        return None
    try:
        tasks = plan_ranges(gold, pred, SHARES * (1 + len(workers)))
        if len(tasks) < 2:
            return None
        parts = share(partial(count_range, plan, system=system), tasks, workers)
    except (SpanscoreError, OSError, ValueError):
        return None
    return merge_ranges(parts, gold, pred)


@dataclass(frozen=True)
class Task:
    """A range of the gold file and one of the predictions, to be counted together."""

    gold: File
    pred: File
    ranges: tuple[Range, Range]


def count_range(plan: Plan, task: Task, system: str) -> Part:
    """Count a range of both files, which must have the same documents in the same order."""
    files = zip((task.gold, task.pred), task.ranges, strict=True)
    sides = [read_chunks(path, given, part=part) for (path, given), part in files]

    def parts() -> Iterator[Part]:
        for ours, theirs in in_step(*sides):
            if ours.ids is not theirs.ids:
                raise _OutOfStepError("the files are not in the same order.")
            yield Part.of(plan, ours, theirs, system)

    total = Part.total(parts())
    if total is None:
        raise _OutOfStepError("there is no document in this range.")
    return total


def plan_ranges(gold: File, pred: File, count: int) -> list[Task]:
    """Ranges of both files that begin with the same documents, so many if that is worth it; none if there are none."""
    formats = [_format(*file) for file in (gold, pred)]
    if formats == ["spanscore", "spanscore"]:
        cuts = _cut_lines(Path(gold[0]), Path(pred[0]), count)
    elif formats == ["parquet", "parquet"]:
        cuts = _cut_rows(Path(gold[0]), Path(pred[0]), count)
    else:
        return []
    files = [(path, kind) for (path, _), kind in zip((gold, pred), formats, strict=True)]
    return [Task(files[0], files[1], cut) for cut in cuts]


def merge_ranges(parts: Sequence[Part], gold: File, pred: File) -> Part | None:
    """All ranges as one, with the reason for the files' formats that reading them whole would give; None if an id is
    there twice.
    """
    merged = Part.merged(parts)
    if merged.repeats():
        return None
    sides = []
    for about, (path, given) in ((merged.gold, gold), (merged.pred, pred)):
        if given is None:
            with Source(path) as source:
                sides.append(replace(about, format_reason=sniff(source.head, source.name)[1]))
        else:
            sides.append(about)
    return replace(merged, gold=sides[0], pred=sides[1])


def _format(path: str, given: str | None) -> str | None:
    """The format of a file that can be read in ranges."""
    if given is not None or path == "-" or not Path(path).is_file():
        return given
    with Path(path).open("rb") as file:
        head = file.read(4)
    return "parquet" if head == b"PAR1" else "spanscore" if head.startswith(b"{") else None


def _cut_rows(gold: Path, pred: Path, count: int) -> list[tuple[Range, Range]]:
    """Rows of both files, cut where a row group of the gold file begins."""
    from pyarrow import parquet

    metadata = [parquet.read_metadata(path) for path in (gold, pred)]
    total = metadata[0].num_rows
    if metadata[1].num_rows != total:
        return []
    begins = [0]
    for number in range(metadata[0].num_row_groups):
        begins.append(begins[-1] + metadata[0].row_group(number).num_rows)
    wanted = {min(begins, key=lambda row: abs(row - total * part / count)) for part in range(1, count)}
    places = [0, *sorted(wanted - {0, total}), total]
    return [((a, b), (a, b)) for a, b in pairwise(places)]


def _cut_lines(gold: Path, pred: Path, count: int) -> list[tuple[Range, Range]]:
    """Bytes of both files, cut where a line begins."""
    sizes = [path.stat().st_size for path in (gold, pred)]
    parts = min(count, sizes[0] // LEAST)
    cuts = [(0, 0)]
    with gold.open("rb") as ours, pred.open("rb") as theirs:
        for number in range(1, parts):
            ours.seek(sizes[0] * number // parts)
            ours.readline()
            place = ours.tell()
            found = _find(theirs, _name(ours.readline()), sizes[1] * place // sizes[0], sizes[1])
            if found is None or place <= cuts[-1][0] or found <= cuts[-1][1]:
                return []
            cuts.append((place, found))
    ends = [*cuts[1:], (sizes[0], sizes[1])]
    return [((a, c), (b, d)) for (a, b), (c, d) in zip(cuts, ends, strict=True)]


def _find(file: Any, name: str, near: int, size: int) -> int | None:
    """Where the line of a document begins in a file: near a place, or at least not far from it."""
    spelt = msgspec.json.encode(name)
    for reach in (AROUND, AROUND + size // 50):
        begin = max(0, near - reach)
        file.seek(begin)
        data = file.read(near - begin + reach)
        at = -1
        while (at := data.find(spelt, at + 1)) >= 0:
            start = data.rfind(b"\n", 0, at) + 1
            end = data.find(b"\n", at)
            if (start or not begin) and end >= 0 and _name(data[start:end]) == name:
                return int(begin + start)
    return None


def _name(line: bytes) -> str:
    try:
        return str(msgspec.json.decode(line, type=_Id).id)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise InputError("this is not a document.") from None
