"""Result tables for the terminal, Markdown, CSV and TSV."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from unicodedata import combining, east_asian_width

from spanscore.align.span_groups import is_span_property, shown_split
from spanscore.errors import plural, printable
from spanscore.files import safe_cell
from spanscore.stats import ROUNDING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spanscore.result import Result, Score, Scores
    from spanscore.result.scores import Gap
    from spanscore.stats import Bootstrap, Interval

ALL = "all"
UNDEFINED = "–"
NOT_LOOKED_FOR = "not looked for"
FEW = 5
"""With at most this many misses, the bounds of the miss rate are printed below the table."""


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
    absent: tuple[str, ...] = ()
    """The counts that such a row does not have, such as those of predictions where these have no type."""
    looked_for: bool = True
    """Whether the detector looked for the type."""
    level: str | None = None
    """The level of the taxonomy, if levels were asked for."""

    @property
    def has_scores(self) -> bool:
        """Whether its scores say something; predictions of other types may hide a type that is not looked for."""
        masked = "predicted" in self.absent  # whatever types predictions have
        return self.looked_for or masked or self.score.recall > 0

    @property
    def counts(self) -> dict[str, Any]:
        """The counts; None are those that such a row does not have."""
        return {name: None if name in self.absent else value for name, value in self.score.counts.items()}

    @property
    def name(self) -> str:
        """The measure, followed by `@` and the level if there is one."""
        return self.measure if self.level is None else f"{self.measure}@{self.level}"


def rows(result: Result, *, averages: bool = False) -> Iterator[Row]:
    """Yield all rows, the overall row of each measure before its types.

    Averages over types come with `averages`, or if the scores are split by type.
    """
    for one in result.scores:
        yield from _rows(one, result, averages=averages or "type" in result.by)


def _rows(one: Scores, result: Result, *, averages: bool) -> Iterator[Row]:
    splits, bootstrap, skipped = result.by, result.bootstrap, result.not_looked_for
    row = partial(Row, one.system, repr(one.measure), level=one.level)
    yield row(None, one.overall, interval=_interval(one, bootstrap, None))
    for label, score in sorted(one.by_type.items(), key=lambda item: item[0] in skipped):
        interval = _interval(one, bootstrap, label)
        absent = one.measure.counts_without_type
        yield row(label, score, interval=interval, looked_for=label not in skipped, absent=absent)
    if averages and one.measure.by_type:
        for average, score in one.averages("type").items():
            absent = one.measure.counts_without_type if average == "macro" else ()
            yield row(None, score, average=average, absent=absent)
    if one.measure.macro_over_documents and "document" not in splits:
        yield row(None, one.macro("document"), "document", average="macro")
    for by in splits:
        if by == "type" and one.measure.by_type:
            continue  # these rows are there already
        bounds = {} if bootstrap is None else one.intervals(bootstrap, by)
        absent = one.measure.counts_without_type if by == "type" else ()
        for part, score in one.by(by).items():
            yield row(None, score, shown_split(by), part, bounds.get(part), absent=absent)
        if is_span_property(by):
            continue  # these have no precision, and their micro average is the overall recall
        for average, score in one.averages(by).items():
            yield row(None, score, by, average=average, absent=absent if average == "macro" else ())


def _interval(one: Scores, bootstrap: Bootstrap | None, label: str | None) -> Interval | None:
    return None if bootstrap is None else one.interval(bootstrap, label)


def plain(result: Result, width: int | None = None, *, bold: bool = False) -> str:
    """Return the scores as a text table; with a width, one that fits, with fewer counts if it is narrow.

    With `bold`, overall rows are printed bold, for terminals.
    """
    lines = list(rows(result))
    counts = _count_names(lines)
    several, leveled = len({line.system for line in lines}) > 1, any(line.level for line in lines)
    texts = 2 + several + leveled
    heads = ["P", "R", f"F{_beta(lines)}"]
    if result.bootstrap is not None:
        heads = [cell for head in heads for cell in (head, f"{100 * result.bootstrap.level:g}%")]
    table = [[*(["system"] if several else []), "measure", *(["level"] if leveled else []), "type", *heads, *counts]]
    before: list[str] = []
    for line in lines:
        names = [*([printable(line.system)] if several else []), line.measure, *([line.level or ""] if leveled else [])]
        first, before = [line.system, *names] != before, [line.system, *names]
        numbers = []
        for name in ("precision", "recall", "f"):
            numbers.append(shown(getattr(line.score, name)) if line.has_scores else UNDEFINED)
            if result.bootstrap is not None:
                numbers.append(between(getattr(line.interval, name, None) if line.has_scores else None))
        kind = _kind(line) if line.type is None else _type(line)
        cells = [*(names if first else [""] * len(names)), kind, *numbers]
        table.append([*cells, *(_count(line, name) for name in counts)])
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
    """Return the width of a text in terminal cells."""
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
    names = head.index("type")
    lines = {(one.system, repr(one.measure), one.level)[:names]: one.signature for one in result.scores}
    writer.writerow([*head, "signature"] if signatures else head)
    for row in body:
        cells = [safe_cell(cell).replace("\r", "\\r") if i < texts else cell for i, cell in enumerate(row)]
        writer.writerow([*cells, lines[tuple(row[:names])]] if signatures else cells)
    return out.getvalue()


def shown(value: float) -> str:
    """Format a number with three decimals; undefined is –.

    >>> shown(0.5), shown(-0.0001), shown(float("nan"))
    ('0.500', '0.000', '–')
    """
    return UNDEFINED if math.isnan(value) else f"{value:z.3f}"


def known(value: float | None) -> float | None:
    """Return the number, or None if it is undefined, for JSON and Arrow tables.

    >>> known(0.5), known(float("nan"))
    (0.5, None)
    """
    return None if value is None or math.isnan(value) else value


def few_misses(result: Result) -> Iterator[str]:
    """Yield a line with the upper bounds of the miss rate for each row with few misses."""
    if result.bootstrap is None:
        return
    level = f"{100 * result.bootstrap.level:g}% confidence"
    unit = "document" if result.bootstrap.cluster is None else "cluster"
    for line in rows(result):
        found = None if line.interval is None else line.interval.missed
        if found is None or found.missed > FEW:
            continue
        kind = _kind(line) if line.type is None else printable(line.type)
        yield (
            f"{printable(line.system)}, {line.name}, {kind}: {found.missed} of {found.annotated} missed in "
            f"{plural(found.units, unit)}, miss rate at most {_percent(found.at_most)}% ({level}); bound on spans, if "
            f"each is missed independently: {_percent(found.at_most_spans)}%"
        )


def gaps(result: Result) -> Iterator[tuple[Scores, str, Gap]]:
    """Yield the largest gap between groups of spans, for each measure and each property of spans in `by`."""
    for one in result.scores:
        for by in filter(is_span_property, result.by):
            if (found := one.gap(by, result.bootstrap)) is not None:
                yield one, shown_split(by), found


def gap_lines(result: Result) -> Iterator[str]:
    """Yield a line for each gap between groups of spans."""
    for one, by, gap in gaps(result):
        who = f"{printable(one.system)}, {one.name}, {printable(by)}"
        groups = f"from {printable(gap.highest)} to {printable(gap.lowest)}"
        level = "" if result.bootstrap is None else f"{100 * result.bootstrap.level:g}% interval "
        interval = "" if gap.interval is None else f" ({level}{gap.interval[0]:z.3f} to {gap.interval[1]:z.3f})"
        if gap.difference < ROUNDING:
            yield f"{who}: recall is equal in all groups{interval}"
        else:
            yield f"{who}: recall falls by {gap.difference:.3f}{interval} {groups}"


def _percent(share: float) -> str:
    """Return a share as a percentage with two significant digits."""
    return f"{100 * share:.2g}" if share < 0.0995 else f"{100 * share:.0f}"


def between(interval: tuple[float, float] | None) -> str:
    """Format an interval.

    >>> between((0.5, 0.75)), between(None)
    ('0.500–0.750', '–')
    """
    return "–" if interval is None or math.isnan(interval[0]) else f"{interval[0]:z.3f}–{interval[1]:z.3f}"


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


def _type(line: Row) -> str:
    return printable(line.type or "") + ("" if line.looked_for else f" ({NOT_LOOKED_FOR})")


def _kind(line: Row) -> str:
    part = f"<{line.average}>" if line.average else printable(line.slice or "")
    if line.by is None:
        return part if line.average else ALL
    return f"{printable(line.by)}: {part}"


def _cells(result: Result, *, exact: bool = False) -> tuple[list[str], list[list[str]], int]:
    """Return the header, the body, and the number of text columns."""
    lines = list(rows(result))
    counts = _count_names(lines)
    split = any(line.by for line in lines)
    averaged = any(line.average for line in lines)
    leveled = any(line.level for line in lines)
    head = ["system", "measure", *(["level"] if leveled else []), "type"]
    head += [*(["by", "slice"] if split else []), *(["average"] if averaged else [])]
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
        if not (line.has_scores or exact):
            formatted = [UNDEFINED] * len(formatted)
        named = line.type if exact else _type(line)
        kind = ("" if exact or line.average else ALL) if line.type is None else named or ""
        slices = [line.by or "", line.slice or ""] if split else []
        slices += [line.average or ""] if averaged else []
        numbers_ = [_count(line, name, exact=exact) for name in counts]
        level = [line.level or ""] if leveled else []
        body.append([line.system, line.measure, *level, kind, *slices, *formatted, *numbers_])
    return head, body, texts


def _count_names(lines: list[Row]) -> list[str]:
    return list(dict.fromkeys(name for line in lines for name in line.score.counts))


def _count(line: Row, name: str, *, exact: bool = False) -> str:
    value = line.counts.get(name)
    if value is None or value != value:
        return "" if value is None or exact else UNDEFINED
    return f"{value:z.3f}" if isinstance(value, float) and not exact else repr(value)


def _beta(lines: list[Row]) -> str:
    return f"{lines[0].score.beta:g}" if lines else "1"


def escape(cell: str) -> str:
    """Escape text so that Markdown shows it verbatim."""
    shown_ = printable(cell, limit=200).replace("\\", "\\\\")
    return "".join(f"\\{c}" if c in "|*_`<>[]" else c for c in shown_)
