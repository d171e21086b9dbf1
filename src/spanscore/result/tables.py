"""Result tables for the terminal, Markdown, CSV and TSV."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING
from unicodedata import combining, east_asian_width

from spanscore.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spanscore.result import Result, Score, Scores
    from spanscore.stats import Bootstrap, Interval

ALL = "all"
FEW = 5
"""With at most this many misses the bootstrap is too optimistic, so the exact bound is shown as well."""
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
UNSEEN = " \u00a0\u200b\ufeff"
"""Characters that a spreadsheet may skip before a formula."""


@dataclass(frozen=True)
class Row:
    """A table row: one system and measure, overall, for one type, for one slice of a split, or an average."""

    system: str
    measure: str
    type: str | None
    score: Score
    by: str | None = None
    slice: str | None = None
    interval: Interval | None = None
    average: str | None = None
    """`micro`, `macro` or `weighted`: an average over types, or over the slices of `by`."""


def rows(result: Result, *, averages: bool = False) -> Iterator[Row]:
    """Yield all rows, the overall row of each measure before its types.

    Averages over types come with `averages`, or if the scores are split by type.
    """
    for one in result.scores:
        yield from _rows(one, result.by, result.bootstrap, averages=averages or "type" in result.by)


def _rows(one: Scores, splits: tuple[str, ...], bootstrap: Bootstrap | None, *, averages: bool) -> Iterator[Row]:
    name = repr(one.measure)
    yield Row(one.system, name, None, one.overall, interval=_interval(one, bootstrap, None))
    for label, score in one.by_type.items():
        yield Row(one.system, name, label, score, interval=_interval(one, bootstrap, label))
    if averages and one.measure.by_type:
        for average, score in one.averages("type").items():
            yield Row(one.system, name, None, score, average=average)
    for by in splits:
        if by == "type" and one.measure.by_type:
            continue  # these rows are there already
        for part, score in one.by(by).items():
            yield Row(one.system, name, None, score, by, part)
        for average, score in one.averages(by).items():
            yield Row(one.system, name, None, score, by, average=average)


def _interval(one: Scores, bootstrap: Bootstrap | None, label: str | None) -> Interval | None:
    return None if bootstrap is None else one.interval(bootstrap, label)


def plain(result: Result, width: int | None = None, *, bold: bool = False) -> str:
    """Return the scores as a text table; with a width, one that fits, with fewer counts if it is narrow.

    With `bold`, overall rows are printed bold, for terminals.
    """
    lines = list(rows(result))
    counts = _count_names(lines)
    several = len({line.system for line in lines}) > 1
    texts = 3 if several else 2
    heads = ["P", "R", f"F{_beta(lines)}"]
    if result.bootstrap is not None:
        heads = [cell for head in heads for cell in (head, f"{100 * result.bootstrap.level:g}%")]
    table = [[*(["system"] if several else []), "measure", "type", *heads, *counts]]
    before: tuple[str, str] | None = None
    for line in lines:
        names = [printable(line.system), line.measure] if several else [line.measure]
        first, before = before != (line.system, line.measure), (line.system, line.measure)
        numbers = []
        for name in ("precision", "recall", "f"):
            numbers.append(shown(getattr(line.score, name)))
            if result.bootstrap is not None:
                numbers.append(between(getattr(line.interval, name, None)))
        kind = _kind(line) if line.type is None else printable(line.type)
        cells = [*(names if first else [""] * len(names)), kind, *numbers]
        table.append([*cells, *(_count(line.score.counts.get(name)) for name in counts)])
    while width is not None and counts and _wide(table) > width:
        counts.pop()
        table = [row[:-1] for row in table]
    spaced = _spaced(table, texts, width)
    drawn = [spaced[0], "─" * max(map(_cells_wide, spaced))]
    for number, (line, row) in enumerate(zip(lines, spaced[1:], strict=True)):
        overall = line.type is None and line.by is None and line.average is None
        drawn += [""] if overall and number else []
        drawn.append(f"\x1b[1m{row}\x1b[0m" if bold and overall else row)
    return "\n".join(drawn)


def _spaced(table: list[list[str]], texts: int, width: int | None) -> list[str]:
    """Lay the cells out in columns; columns of text that are too wide are cut off."""
    widths = _widths(table)
    while width is not None and sum(widths) + 3 * (len(widths) - 1) > width and max(widths[:texts]) > 8:
        widest = max(range(texts), key=widths.__getitem__)
        widths[widest] -= 1
    drawn = []
    for row in table:
        cells = []
        for number, (cell, size) in enumerate(zip(row, widths, strict=True)):
            cut = cell
            while _cells_wide(cut) > size:
                cut = cut.removesuffix("…")[:-1] + "…"
            blank = " " * (size - _cells_wide(cut))
            cells.append(cut + blank if number < texts else blank + cut)
        drawn.append("   ".join(cells).rstrip())
    return drawn


def _widths(table: list[list[str]]) -> list[int]:
    return [max(map(_cells_wide, column)) for column in zip(*table, strict=True)]


def _wide(table: list[list[str]]) -> int:
    widths = _widths(table)
    return sum(widths) + 3 * (len(widths) - 1)


def _cells_wide(text: str) -> int:
    """Return how many cells of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def markdown(result: Result) -> str:
    """Return a Markdown table with all markup characters escaped."""
    head, body, texts = _cells(result)
    aligned = [":---" if i < texts else "---:" for i in range(len(head))]
    lines = [head, aligned, *([escape(cell) for cell in row] for row in body)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def separated(result: Result, delimiter: str, *, signatures: bool = False) -> str:
    """Return CSV or TSV with full precision; undefined scores and the type of overall rows are empty cells.

    Cells that a spreadsheet would run as a formula are quoted.
    """
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    head, body, texts = _cells(result, exact=True)
    lines = {(one.system, repr(one.measure)): one.signature for one in result.scores}
    writer.writerow([*head, "signature"] if signatures else head)
    for row in body:
        cells = [safe_cell(cell).replace("\r", "\\r") if i < texts else cell for i, cell in enumerate(row)]
        writer.writerow([*cells, lines[row[0], row[1]]] if signatures else cells)
    return out.getvalue()


def safe_cell(text: str) -> str:
    """Prefix a would-be formula with a single quote so that spreadsheets treat it as text.

    >>> safe_cell("=1+1"), safe_cell("PERSON")
    ("'=1+1", 'PERSON')
    """
    return f"'{text}" if text.lstrip(UNSEEN).startswith(FORMULA) else text


def shown(value: float) -> str:
    """Format a number with three decimals; undefined is –.

    >>> shown(0.5), shown(float("nan"))
    ('0.500', '–')
    """
    return "–" if math.isnan(value) else f"{value:.3f}"


def known(value: float | None) -> float | None:
    """Return the number, or None if it is undefined, for JSON and Arrow tables.

    >>> known(0.5), known(float("nan"))
    (0.5, None)
    """
    return None if value is None or math.isnan(value) else value


def few_misses(result: Result) -> Iterator[str]:
    """Yield a line with the exact upper bound of the miss rate for each type with few misses."""
    for line in rows(result):
        if line.interval is not None and line.interval.missed is not None and result.bootstrap is not None:
            missed, annotated, share = line.interval.missed
            if missed <= FEW:
                kind = ALL if line.type is None else printable(line.type)
                bound = f"miss rate at most {_percent(share)}% ({100 * result.bootstrap.level:g}% confidence)"
                yield f"{line.system}, {line.measure}, {kind}: {missed} of {annotated} missed, {bound}"


def _percent(share: float) -> str:
    """Return a share as a percentage with two significant digits."""
    return f"{100 * share:.2g}" if share < 0.0995 else f"{100 * share:.0f}"


def between(interval: tuple[float, float] | None) -> str:
    """Format an interval.

    >>> between((0.5, 0.75)), between(None)
    ('0.500–0.750', '–')
    """
    return "–" if interval is None or math.isnan(interval[0]) else f"{interval[0]:.3f}–{interval[1]:.3f}"


def aligned(lines: Sequence[Sequence[str]], texts: int) -> list[str]:
    """Align cells in columns: the first `texts` columns to the left, the others to the right.

    >>> aligned([["type", "P"], ["URL", "0.500"]], 1)
    ['type      P', 'URL   0.500']
    """
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if i < texts else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


def _kind(line: Row) -> str:
    part = f"<{line.average}>" if line.average else printable(line.slice or "")
    if line.by is None:
        return part if line.average else ALL
    return f"{line.by}: {part}"


def _cells(result: Result, *, exact: bool = False) -> tuple[list[str], list[list[str]], int]:
    """Return the header, the body, and the number of text columns."""
    lines = list(rows(result))
    counts = _count_names(lines)
    split = any(line.by for line in lines)
    averaged = any(line.average for line in lines)
    head = ["system", "measure", "type", *(["by", "slice"] if split else []), *(["average"] if averaged else [])]
    texts = len(head)
    with_intervals = result.bootstrap is not None
    for head_ in ("precision", "recall", f"f{_beta(lines)}"):
        head += [head_, f"{head_}_low", f"{head_}_high"] if with_intervals else [head_]
    head += counts
    body = []
    for line in lines:
        numbers = []
        for name in ("precision", "recall", "f"):
            numbers.append(getattr(line.score, name))
            if with_intervals:
                numbers += getattr(line.interval, name, (math.nan, math.nan))
        formatted = [("" if math.isnan(n) else repr(n)) if exact else shown(n) for n in numbers]
        kind = ("" if exact or line.average else ALL) if line.type is None else line.type
        slices = [line.by or "", line.slice or ""] if split else []
        slices += [line.average or ""] if averaged else []
        numbers_ = [_count(line.score.counts.get(name), exact=exact) for name in counts]
        body.append([line.system, line.measure, kind, *slices, *formatted, *numbers_])
    return head, body, texts


def _count_names(lines: list[Row]) -> list[str]:
    return list(dict.fromkeys(name for line in lines for name in line.score.counts))


def _count(value: float | None, *, exact: bool = False) -> str:
    if value is None:
        return ""
    return f"{value:.3f}" if isinstance(value, float) and not exact else repr(value)


def _beta(lines: list[Row]) -> str:
    return f"{lines[0].score.beta:g}" if lines else "1"


def escape(cell: str) -> str:
    """Escape text so that Markdown shows it verbatim."""
    shown_ = printable(cell, limit=200).replace("\\", "\\\\")
    return "".join(f"\\{c}" if c in "|*_`<>[]" else c for c in shown_)
