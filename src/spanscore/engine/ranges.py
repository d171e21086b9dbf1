"""Two files scored by several processes, each with its own range of both.

A range of the predictions begins with the document that the gold's range begins with. Where the files turn out not to
have the same documents in the same order, or anything is wrong with them, nothing is said here: one process scores them
then, and knows what to say, and in which line.
"""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from spanscore.engine.local import in_step
from spanscore.engine.parts import Part
from spanscore.errors import InputError, SpanscoreError
from spanscore.readers import read_chunks

if TYPE_CHECKING:
    from spanscore.engine.parts import Plan

FORMAT = "spanscore"
"""The format that has a document a line."""
LEAST = 1 << 22
"""Fewer bytes are not worth a process."""
AROUND = 1 << 20
"""How far from where it should be a document is looked for."""


class _Id(msgspec.Struct):
    id: str | int


class _OutOfStepError(SpanscoreError):
    """The two ranges are not of the same documents in the same order."""


def count_ranges(
    plan: Plan, gold: tuple[str, str | None], pred: tuple[str, str | None], system: str, jobs: int
) -> Part | None:
    """Count two files, each with its format if one was given, by so many processes; None if one must do it."""
    try:
        ranges = _ranges(gold, pred, jobs)
        if ranges is None:
            return None
        tasks = [(plan, (gold, first), (pred, second), system) for first, second in ranges]
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(len(tasks) - 1, mp_context=context) as pool:
            others = [pool.submit(_count, *task) for task in tasks[1:]]
            merged = Part.merged([_count(*tasks[0]), *(one.result() for one in others)])
    except (SpanscoreError, OSError, ValueError, BrokenProcessPool):
        return None
    return None if merged.repeats() else merged


def _count(plan: Plan, gold: tuple[Any, Any], pred: tuple[Any, Any], system: str) -> Part:
    """Count a range of both files, which must have the same documents in the same order."""
    parts: list[Part] = []
    sides = (read_chunks(path, given if not part[0] else FORMAT, part=part) for (path, given), part in (gold, pred))
    for ours, theirs in in_step(*sides):
        if ours.ids != theirs.ids:
            raise _OutOfStepError("the files are not in the same order.")
        parts.append(Part.of(plan, ours, theirs, system))
        if len(parts) == 64:
            parts = [Part.merged(parts)]
    return Part.merged(parts)


def _ranges(
    gold_file: tuple[str, str | None], pred_file: tuple[str, str | None], jobs: int
) -> list[tuple[tuple[int, int], tuple[int, int]]] | None:
    """Ranges of bytes of both files that begin with the same documents; None if there are not at least two."""
    for name, given in (gold_file, pred_file):
        if name == "-" or given not in (None, FORMAT):
            return None
    gold, pred = Path(gold_file[0]), Path(pred_file[0])
    sizes = [path.stat().st_size if path.is_file() else 0 for path in (gold, pred)]
    parts = min(jobs, sizes[0] // LEAST)
    if parts < 2:
        return None
    cuts = [(0, 0)]
    with gold.open("rb") as ours, pred.open("rb") as theirs:
        for number in range(1, parts):
            ours.seek(sizes[0] * number // parts)
            ours.readline()
            place = ours.tell()
            line = ours.readline()
            found = _find(theirs, _name(line), sizes[1] * place // sizes[0], sizes[1])
            if found is None or place <= cuts[-1][0] or found <= cuts[-1][1]:
                return None
            cuts.append((place, found))
    ends = [*cuts[1:], (sizes[0], sizes[1])]
    return [((a, c), (b, d)) for (a, b), (c, d) in zip(cuts, ends, strict=True)]


def _find(file: Any, name: str, near: int, size: int) -> int | None:
    """Where the line of a document begins in a file, near a place."""
    begin = max(0, near - AROUND - size // 50)
    file.seek(begin)
    data = file.read(2 * (near - begin) + AROUND)
    at = -1
    spelt = msgspec.json.encode(name)
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
