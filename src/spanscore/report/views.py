"""Results as HTML tables for notebooks and as LaTeX tables for papers."""

from __future__ import annotations

import html
from dataclasses import dataclass
from functools import singledispatch
from typing import TYPE_CHECKING

from spanscore.analysis.agreement import Agreement
from spanscore.analysis.compare import Comparison
from spanscore.analysis.sweep import Sweep
from spanscore.errors import plural, printable
from spanscore.report import agreement, comparison, thresholds
from spanscore.result import NUMBERS, Result
from spanscore.result.tables import ALL, NOT_LOOKED_FOR, UNDEFINED, between, rows, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST = 200
"""Rows of a table in a notebook."""
LONGEST = 80
"""Characters of a cell."""
CELL = "padding:.15em .6em;border:0;border-bottom:1px solid rgba(128,128,128,.35);background:transparent;color:inherit"
TABLE = "border-collapse:collapse;font-variant-numeric:tabular-nums;color:inherit;background:transparent"
"""Colors are those of the notebook, so that tables are readable on light and dark ground."""


@dataclass(frozen=True)
class Cell:
    """A cell: its text, whether it is the best of its kind, its interval, and letters of systems that are worse."""

    text: str
    best: bool = False
    interval: str = ""
    letters: str = ""


@dataclass(frozen=True)
class Grid:
    """A table: a header, rows, the number of columns with text, and a legend."""

    head: list[str]
    rows: list[list[Cell]]
    texts: int
    legend: str = ""


@singledispatch
def grid_of(value: object) -> Grid:
    """Return a result, comparison, sweep or agreement as a table."""
    raise TypeError(f"there is no table of {type(value).__name__}")


@grid_of.register
def _(value: Result) -> Grid:
    lines = list(rows(value))
    several = len({line.system for line in lines}) > 1
    counts = list(dict.fromkeys(name for line in lines for name in line.score.counts))
    beta = f"{lines[0].score.beta:g}" if lines else "1"
    head = [*(["system"] if several else []), "measure", "type", "P", "R", f"F{beta}", *counts]
    found = []
    for line in lines:
        kind = line.type if line.type is not None else line.slice if line.by else ALL
        kind = f"{line.average} average" if line.average else kind or ""
        kind += "" if line.looked_for else f" ({NOT_LOOKED_FOR})"
        names = [*([line.system] if several else []), line.measure, f"{line.by}: {kind}" if line.by else kind]
        numbers = []
        for name in NUMBERS:
            number = shown(getattr(line.score, name)) if line.has_scores else UNDEFINED
            ends = getattr(line.interval, name, None) if line.has_scores else None
            numbers.append(Cell(number, interval="" if ends is None else _interval(between(ends))))
        cells = ("" if name in line.absent else _count(line.score.counts.get(name)) for name in counts)
        found.append([*map(Cell, names), *numbers, *map(Cell, cells)])
    level = "" if value.bootstrap is None else f"{100 * value.bootstrap.level:g}% intervals"
    return Grid(head, found, 2 + several, level)


@grid_of.register
def _(value: Comparison) -> Grid:
    head, found = comparison.cells(value)
    merged = []
    for row in found:
        cells = [Cell(text) for text, _ in row[:3]]
        for i in range(3, len(row), 3):
            (number, best), (interval, _), (letters, _) = row[i : i + 3]
            cells.append(Cell(number, best, _interval(interval), letters))
        merged.append(cells)
    return Grid(
        [*head[:3], *head[3::3]], merged, 3, comparison.legend(value).replace("* best; >", "bold: best; letters:")
    )


@grid_of.register
def _(value: Sweep) -> Grid:
    head, lines, legend = thresholds.cells(value, None, ())
    return Grid(head, [list(map(Cell, line)) for line in lines], len(head) - 6, legend)


@grid_of.register
def _(value: Agreement) -> Grid:
    head, *lines = agreement.cells(value)
    return Grid(head, [list(map(Cell, line)) for line in lines], agreement.TEXTS)


def html_of(value: object) -> str:
    """Return a table without scripts and with inline styles, because web notebooks strip everything else."""
    grid = grid_of(value)
    head = "".join(_th(name, left=i < grid.texts) for i, name in enumerate(grid.head))
    body = "".join(f"<tr>{_html_row(row, grid.texts)}</tr>" for row in grid.rows[:MOST])
    notes = [grid.legend] if grid.legend else []
    if len(grid.rows) > MOST:
        notes.append(f"{plural(len(grid.rows) - MOST, 'more row')}: print the result, or use to_pandas()")
    caption = f'<p style="margin:.3em 0;opacity:.75">{html.escape("; ".join(notes))}</p>' if notes else ""
    return f'<div style="overflow-x:auto"><table style="{TABLE}"><tr>{head}</tr>{body}</table>{caption}</div>'


def _th(text: str, *, left: bool) -> str:
    return f'<th scope="col" style="{CELL};text-align:{"left" if left else "right"}">{_safe(text)}</th>'


def _html_row(row: Sequence[Cell], texts: int) -> str:
    cells = []
    for i, cell in enumerate(row):
        text = _safe(cell.text)
        text = f"<b>{text}</b>" if cell.best else text
        text += f"<sup style='line-height:0'>{_safe(cell.letters)}</sup>" if cell.letters else ""
        text += f' <span style="opacity:.7;font-size:.85em">{_safe(cell.interval)}</span>' if cell.interval else ""
        cells.append(f'<td style="{CELL};text-align:{"left" if i < texts else "right"}">{text}</td>')
    return "".join(cells)


def _safe(text: str) -> str:
    return html.escape(printable(text, limit=LONGEST))


def latex_of(value: object) -> str:
    """Return a table with rules of the package booktabs; superscripts name the systems that are significantly worse."""
    grid = grid_of(value)
    columns = "l" * grid.texts + "r" * (len(grid.head) - grid.texts)
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", " & ".join(map(tex, grid.head)) + r" \\", r"\midrule"]
    lines += [" & ".join(map(_latex_cell, row)) + r" \\" for row in grid.rows]
    legend = [f"% {tex(grid.legend)}"] if grid.legend else []
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", *legend]) + "\n"


def _latex_cell(cell: Cell) -> str:
    text = rf"\textbf{{{tex(cell.text)}}}" if cell.best else tex(cell.text)
    text += rf"$^{{\mathrm{{{cell.letters}}}}}$" if cell.letters else ""
    return text + (rf" {{\footnotesize [{tex(cell.interval)}]}}" if cell.interval else "")


_TEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "…": r"\dots{}",
    "<": "$<$",
    ">": "$>$",
    "|": r"\textbar{}",
    "[": "{[}",  # a row that begins with [ or * would be read as an argument of the rule or line break before it
    "*": "{*}",
}


def tex(text: str) -> str:
    r"""Escape the special characters of LaTeX.

    >>> print(tex("50% of A_1 & {B}"))
    50\% of A\_1 \& \{B\}
    >>> print(tex("[a|b]"))
    {[}a\textbar{}b]
    """
    return "".join(_TEX.get(c, f"\\{c}" if c in "&%$#_{}" else c) for c in printable(text, limit=200))


def _interval(shown_: str) -> str:
    return "" if shown_ == UNDEFINED else shown_


def _count(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:z.3f}" if isinstance(value, float) else str(value)
