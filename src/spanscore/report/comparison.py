"""Comparison tables for the terminal, Markdown and LaTeX, and the diff of gold spans as JSON Lines and CSV."""

from __future__ import annotations

import csv
import io
from collections import Counter
from typing import IO, TYPE_CHECKING, Any

import msgspec

from spanscore.errors import plural, printable
from spanscore.result import NUMBERS
from spanscore.result.privacy import allowed
from spanscore.result.tables import aligned, between, escape, safe_cell, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from spanscore.analysis.compare import Change, Comparison
    from spanscore.result.privacy import Text


def cells(comparison: Comparison) -> tuple[list[str], list[list[tuple[str, bool]]]]:
    """Return the header and the rows; each cell comes with a flag for the best system of its measure."""
    level = f"{100 * comparison.bootstrap.level:g}%"
    beta = comparison.result.scores[0].beta
    head = ["measure", "", "system"]
    for name in ("P", "R", f"F{beta:g}"):
        head += [name, level, ">"]
    letters = comparison.letters()
    rows = []
    for one in comparison.result.scores:
        measure = repr(one.measure)
        interval = one.interval(comparison.bootstrap)
        row = [(measure, False), (letters[one.system], False), (one.system, False)]
        for number in NUMBERS:
            best = one.system in comparison.best(measure, number)
            row.append((shown(getattr(one, number)), best))
            row.append((between(getattr(interval, number, None)), False))
            row.append((comparison.better_than(measure, number, one.system), False))
        rows.append(row)
    rows.sort(key=lambda row: [repr(one.measure) for one in comparison.result.scores].index(row[0][0]))
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


def latex(comparison: Comparison) -> str:
    """Return a LaTeX table; the best is bold, superscripts are the letters of significantly worse systems."""
    beta = comparison.result.scores[0].beta
    lines = [r"\begin{tabular}{lllrrr}", rf"measure & & system & P & R & F$_{{{beta:g}}}$ \\", r"\hline"]
    for row in cells(comparison)[1]:
        shown_ = [_tex(text) for text, _ in row[:3]]
        for i in range(3, len(row), 3):
            (number, best), (beaten, _) = row[i], row[i + 2]
            text = rf"\textbf{{{_tex(number)}}}" if best else _tex(number)
            shown_.append(text + (rf"$^{{\mathrm{{{beaten}}}}}$" if beaten else ""))
        lines.append(" & ".join(shown_) + r" \\")
    return "\n".join([*lines, r"\end{tabular}", f"% {legend(comparison)}"]) + "\n"


def diff_lines(comparison: Comparison, changes: Sequence[Change]) -> Iterator[str]:
    """Yield a line for each slice with fixed or broken spans, the most broken first."""
    for by in comparison.result.by:
        for part, counts in comparison.diff(changes, by).items():
            if counts["broken"] or counts["fixed"]:
                yield f"  {by} {printable(part or '')}: {counts['fixed']} fixed, {counts['broken']} broken"


def record(comparison: Comparison, changes: Mapping[str, Sequence[Change]]) -> dict[str, Any]:
    """Return the content of comparison.json: differences, ranks, and changed gold spans by measure and slice."""
    names = dict.fromkeys(repr(one.measure) for one in comparison.result.scores)
    return {
        "systems": [{"system": name, "letter": letter} for name, letter in comparison.letters().items()],
        "permutations": comparison.permutations,
        "alpha": comparison.alpha,
        "bootstrap": str(comparison.bootstrap),
        "differences": [
            {
                "measure": one.measure,
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
            {"measure": name, "by": by, "slice": part, **counts}
            for name, listed in changes.items()
            for by in dict.fromkeys((None, "type", *comparison.result.by))
            for part, counts in comparison.diff(listed, by).items()
        ],
        "ranks": {name: comparison.ranks(name) for name in names},
        "agreement": [
            {"first": a, "second": b, "kendall": None if tau != tau else tau}
            for (a, b), tau in comparison.agreement().items()
        ],
    }


def write_diff(lines: IO[bytes], table: IO[bytes], changes: Sequence[Change], *, text: Text) -> None:
    """Write the changes as JSON Lines and as CSV."""
    encoder = msgspec.json.Encoder()
    names = ("status", "measure", "document", "start", "end", "label", *(("text",) if text != "hide" else ()))
    slices = tuple(changes[0].slices) if changes else ()
    wrapper = io.TextIOWrapper(table, "utf-8", "backslashreplace", newline="")
    writer = csv.writer(wrapper, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow([*names, *map(safe_cell, slices)])
    for one in changes:
        values = {name: getattr(one, name) if name != "text" else allowed(one.text, text) for name in names}
        lines.write(encoder.encode({**values, **({"slices": one.slices} if slices else {})}) + b"\n")
        cells = (*values.values(), *one.slices.values())
        writer.writerow([safe_cell(value) if isinstance(value, str) else value for value in cells])
    wrapper.detach()


_TEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "<": "$<$",
    ">": "$>$",
}


def _tex(text: str) -> str:
    return "".join(_TEX.get(c, f"\\{c}" if c in "&%$#_{}" else c) for c in printable(text, limit=200))


def status_line(statuses: Counter[tuple[str, str]]) -> str:
    """Summarise how many gold spans were fixed and broken, and the types with the most regressions."""
    counts: Counter[str] = Counter()
    for (_, status), count in statuses.items():
        counts[status] += count
    broken = Counter({label: count for (label, status), count in statuses.items() if status == "broken" and count})
    worst = ", ".join(f"{printable(label)} {count}" for label, count in broken.most_common(3))
    most = f" (most broken: {worst})" if worst else ""
    return (
        f"{plural(counts['fixed'], 'span')} fixed, {counts['broken']} broken, {counts['both right']} right and "
        f"{counts['both wrong']} wrong in both{most}"
    )
