"""Comparison tables for the terminal, Markdown and LaTeX, and the diff of gold spans as JSON Lines and CSV."""

from __future__ import annotations

import csv
import io
from collections import Counter
from typing import IO, TYPE_CHECKING, Any

import msgspec

from spanscore.errors import InputError, plural, printable
from spanscore.files import safe_cell
from spanscore.result import NUMBERS, split_level
from spanscore.result.privacy import excerpt
from spanscore.result.tables import aligned, between, escape, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from spanscore.analysis.compare import Change, Comparison
    from spanscore.arguments import Text


NAME = "comparison.json"


class _System(msgspec.Struct):
    system: str
    letter: str


class _Difference(msgspec.Struct):
    measure: str
    number: str
    first: str
    second: str
    difference: float | None
    interval: tuple[float | None, float | None]
    p: float
    p_holm: float
    level: str | None = None


class _Record(msgspec.Struct):
    """The part of comparison.json that the report shows."""

    systems: list[_System]
    permutations: int
    alpha: float
    differences: list[_Difference]


def recorded(folder: Path) -> dict[str, Any] | None:
    """Return the comparison of systems in a folder of results; None if they were not compared."""
    path = folder / NAME
    try:
        record = msgspec.json.decode(path.read_bytes(), type=_Record)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"cannot read this file ({error.strerror}).", str(path)) from None
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise InputError("this is not a comparison; compare the systems again.", str(path)) from None
    found: dict[str, Any] = msgspec.to_builtins(record)
    return found


def cells(comparison: Comparison) -> tuple[list[str], list[list[tuple[str, bool]]]]:
    """Return the header and the rows; each cell comes with a flag for the best system of its measure."""
    level = f"{100 * comparison.bootstrap.level:g}%"
    beta = comparison.result.scores[0].beta
    head = ["measure", "", "system"]
    for name in ("P", "R", f"F{beta:g}"):
        head += [name, level, ">"]
    letters = comparison.letters()
    order = {name: place for place, name in enumerate(comparison.measures)}
    highest = {(name, number): comparison.best(name, number) for name in order for number in NUMBERS}
    rows = []
    for one in comparison.result.scores:
        measure = one.name
        interval = one.interval(comparison.bootstrap)
        row = [(measure, False), (letters[one.system], False), (one.system, False)]
        for number in NUMBERS:
            row.append((shown(getattr(one, number)), one.system in highest[measure, number]))
            row.append((between(getattr(interval, number, None)), False))
            row.append((comparison.better_than(measure, number, one.system), False))
        rows.append(row)
    rows.sort(key=lambda row: order[row[0][0]])
    return head, rows


def plain(comparison: Comparison) -> str:
    """Return the comparison as aligned text; * marks the best system of a measure."""
    head, rows = cells(comparison)
    lines = [head, *([printable(text) + ("*" if best else "") for text, best in row] for row in rows)]
    repeated = [bool(number) and line[0] == lines[number - 1][0] for number, line in enumerate(lines)]
    shown_ = [["", *line[1:]] if again else line for line, again in zip(lines, repeated, strict=True)]
    return "\n".join([*aligned(shown_, 3), "", legend(comparison)])


def legend(comparison: Comparison) -> str:
    """Return the legend of the table."""
    return (
        f"* best; > significantly better than these systems (paired permutation test, {comparison.permutations} "
        f"permutations, p < {comparison.alpha:g} after Holm correction)"
    )


def markdown(comparison: Comparison) -> str:
    """Return a Markdown table; the best system of a measure is bold."""
    head, rows = cells(comparison)
    aligned = [":---" if i < 3 else "---:" for i in range(len(head))]
    lines = [head, aligned, *([f"**{escape(t)}**" if best else escape(t) for t, best in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines) + f"\n{escape(legend(comparison))}\n"


def diff_lines(comparison: Comparison, changes: Sequence[Change]) -> Iterator[str]:
    """Yield a line for each slice with fixed or broken spans, the most broken first."""
    for by in comparison.result.by:
        for part, counts in comparison.diff(changes, by).items():
            if counts["broken"] or counts["fixed"]:
                yield f"  {printable(by)} {printable(part or '')}: {counts['fixed']} fixed, {counts['broken']} broken"


def to_json(found: dict[str, Any]) -> bytes:
    """Return a dictionary as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(found), indent=2) + b"\n"


def record(comparison: Comparison, changes: Mapping[str, Sequence[Change]]) -> dict[str, Any]:
    """Return the content of comparison.json: differences, ranks, and changed gold spans by measure and slice."""
    return {
        "systems": [{"system": name, "letter": letter} for name, letter in comparison.letters().items()],
        "permutations": comparison.permutations,
        "alpha": comparison.alpha,
        "bootstrap": str(comparison.bootstrap),
        "differences": [
            {
                **_measure(one.measure),
                "number": one.number,
                "first": one.first,
                "second": one.second,
                "difference": None if one.difference != one.difference else one.difference,
                "interval": [None if end != end else end for end in one.interval],
                "p": one.p,
                "p_holm": one.corrected,
            }
            for one in comparison.differences
        ],
        "diff": [
            {**_measure(name), "by": by, "slice": part, **counts}
            for name, listed in changes.items()
            for by in dict.fromkeys((None, "type", *comparison.result.by))
            for part, counts in comparison.diff(listed, by).items()
        ],
        "ranks": {name: comparison.ranks(name) for name in comparison.measures},
        "agreement": [
            {"first": a, "second": b, "kendall": None if tau != tau else tau}
            for (a, b), tau in comparison.agreement().items()
        ],
    }


def _measure(name: str) -> dict[str, str]:
    """Return a measure and, if there is one, its level."""
    measure, level = split_level(name)
    return {"measure": measure, **({} if level is None else {"level": level})}


def write_diff(lines: IO[bytes], table: IO[bytes], changes: Sequence[Change], *, text: Text) -> None:
    """Write the changes as JSON Lines and as CSV."""
    encoder = msgspec.json.Encoder()
    level = ("level",) if any(split_level(one.measure)[1] for one in changes) else ()
    names = ("status", "measure", *level, "document", "start", "end", "label", *(("text",) if text != "hide" else ()))
    slices = tuple(changes[0].slices) if changes else ()
    wrapper = io.TextIOWrapper(table, "utf-8", "backslashreplace", newline="")
    writer = csv.writer(wrapper, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow([*names, *map(safe_cell, slices)])
    for one in changes:
        known = {**vars(one), **_measure(one.measure), "text": excerpt(one.text, text)}
        values = {name: known[name] for name in names}
        lines.write(encoder.encode({**values, **({"slices": one.slices} if slices else {})}) + b"\n")
        cells = (*values.values(), *one.slices.values())
        writer.writerow([safe_cell(value) if isinstance(value, str) else value for value in cells])
    wrapper.detach()


def status_line(statuses: Counter[tuple[str, str]]) -> str:
    """Summarise how many gold spans were fixed and broken, and the types with the most regressions."""
    counts: Counter[str] = Counter()
    for (_, status), count in statuses.items():
        counts[status] += count
    broken = Counter({label: count for (label, status), count in statuses.items() if status == "broken" and count})
    worst = ", ".join(f"{printable(label)} {count}" for label, count in broken.most_common(3))
    several = len({label for label, _ in statuses}) > 1
    most = f" (most broken: {worst})" if worst and several else ""
    return (
        f"{plural(counts['fixed'], 'span')} fixed, {counts['broken']} broken, {counts['both right']} right and "
        f"{counts['both wrong']} wrong in both{most}"
    )
