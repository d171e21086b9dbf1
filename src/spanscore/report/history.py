"""The trend of scores: a table for terminals, and a page with a chart of each."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from spanscore.errors import plural, printable
from spanscore.result.tables import UNDEFINED, aligned, between, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spanscore.analysis.history import Point, Trend

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
BARS = "▁▂▃▄▅▆▇█"
LATEST = 20
"""Maximum number of values in a line of bars."""
CHARTS = 400
"""Maximum number of charts on a page."""
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 560, 170, 40, 14, 12, 26
STYLE = """
:root { color-scheme: light dark; --ink: #1b1b1b; --quiet: #555; --line: #d5d5d5; --paper: #fff; --data: #1f5fa3;
  --band: #1f5fa333; --mark: #a3361f }
@media (prefers-color-scheme: dark) { :root { --ink: #ececec; --quiet: #b0b0b0; --line: #444; --paper: #161616;
  --data: #7db4f0; --band: #7db4f033; --mark: #f0937d } }
* { box-sizing: border-box }
body { font: 15px/1.4 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; color: var(--ink);
  background: var(--paper); max-width: 76rem; margin: 1.5rem auto; padding: 0 1rem }
h1 { font-size: 1.35rem; margin: 0 0 .2rem }
h2 { font-size: 1.05rem; margin: 1.4rem 0 .4rem; padding-top: .6rem; border-top: 1px solid var(--line);
  overflow-wrap: anywhere }
.quiet { color: var(--quiet); margin: .2rem 0 }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 27rem), 1fr)); gap: 1rem 1.6rem }
figure { margin: 0; min-width: 0 }
figcaption { font-weight: 600; overflow-wrap: anywhere }
figcaption span { font-weight: 400; color: var(--quiet) }
svg { width: 100%; height: auto; display: block }
svg text { fill: var(--quiet); font-size: 11px }
.grid { stroke: var(--line); stroke-width: 1 }
.band { fill: var(--band) }
.bar { stroke: var(--data); stroke-width: 1.5 }
.path { fill: none; stroke: var(--data); stroke-width: 2 }
.point { fill: var(--data) }
.data { stroke: var(--mark); stroke-dasharray: 3 3 }
details { margin-top: .2rem; font-size: .88rem }
summary { cursor: pointer; color: var(--quiet) }
.wide { overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th, td { text-align: right; padding: .1rem .5rem; border-bottom: 1px solid var(--line); white-space: nowrap }
th:first-child, td:first-child, th:nth-child(2), td:nth-child(2) { text-align: left }
td:nth-child(2) { white-space: normal; overflow-wrap: anywhere }
"""


def plain(trends: Sequence[Trend], *, every: bool = False) -> str:
    """Return a line for each trend, or with `every` a line for each of its values."""
    levels = {point.entry.level for trend in trends for point in trend.points if point.entry.level is not None}
    level = f"{100 * levels.pop():g}%" if len(levels) == 1 else "interval"
    several = len({trend.system for trend in trends}) > 1
    heads = [*(["system"] if several else []), "measure", "type", "score"]
    texts = len(heads) + (2 if every else 0)
    if every:
        lines = [[*heads, "logged (UTC)", "name", "value", level, "change"]]
    else:
        lines = [[*heads, "logged", "trend", "latest", level, "change"]]
    for trend in trends:
        names = [*([printable(trend.system)] if several else []), printable(trend.measure)]
        names += ["all" if trend.type is None else printable(trend.type), trend.number]
        if every:
            lines += [
                [
                    *names,
                    f"{point.entry.logged:%Y-%m-%d %H:%M}",
                    printable(point.entry.name) or UNDEFINED,
                    *_cells(point),
                ]
                for point in trend.points
            ]
        else:
            lines.append([*names, str(len(trend.points)), bars(trend), *_cells(trend.points[-1])])
    return "\n".join(aligned(lines, texts))


def bars(trend: Trend) -> str:
    """Return the latest values as bars of eight heights, from 0 to 1."""
    values = [point.value for point in trend.points[-LATEST:]]
    return "".join("·" if value is None else BARS[min(int(value * len(BARS)), len(BARS) - 1)] for value in values)


def _cells(point: Point) -> list[str]:
    value = UNDEFINED if point.value is None else shown(point.value)
    change = "new data" if point.new_data else UNDEFINED if point.change is None else f"{point.change:+z.3f}"
    return [value, between(point.interval), change]


def page(trends: Sequence[Trend], title: str) -> str:
    """Return a page with a chart and a table of each trend; it holds names, but no text of documents."""
    groups: dict[tuple[str, str], list[Trend]] = {}
    for trend in trends[:CHARTS]:
        groups.setdefault((trend.system, trend.measure), []).append(trend)
    runs = len({(point.entry.logged, point.entry.name) for trend in trends for point in trend.points})
    parts = [f"<h1>{_safe(title)}</h1>"]
    about = f"{plural(len(trends), 'trend')} of {plural(runs, 'logged result')}"
    more = f"; only the first {CHARTS} are drawn" if len(trends) > CHARTS else ""
    parts.append(
        f'<p class="quiet">{about}{more}. Bands are confidence intervals. A dashed line marks new gold data: scores '
        "before and after it are not comparable.</p>"
    )
    for (system, measure), listed in groups.items():
        charts = "\n".join(_figure(trend) for trend in listed)
        parts.append(f'<h2>{_safe(system)}: {_safe(measure)}</h2>\n<div class="charts">\n{charts}\n</div>')
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{_safe(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(parts)
        + "\n</main>\n</body>\n</html>\n"
    )


def _figure(trend: Trend) -> str:
    name = "all types" if trend.type is None else trend.type
    value, interval, change = _cells(trend.points[-1])
    latest = f"{trend.number} {value}" + (f" ({interval})" if trend.points[-1].interval else "")
    head = "".join(
        f'<th scope="col">{cell}</th>' for cell in ("logged (UTC)", "name", trend.number, "interval", "change")
    )
    rows = "".join(
        f"<tr><td>{point.entry.logged:%Y-%m-%d %H:%M}</td><td>{_safe(point.entry.name)}</td>"
        + "".join(f"<td>{cell}</td>" for cell in _cells(point))
        + "</tr>"
        for point in reversed(trend.points)
    )
    moved = "" if change == UNDEFINED else f", {change}"
    return (
        f"<figure><figcaption>{_safe(name)} <span>{latest}{moved}</span></figcaption>{_chart(trend, name)}"
        f"<details><summary>{plural(len(trend.points), 'value')}</summary>"
        f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div></details></figure>'
    )


def _chart(trend: Trend, name: str) -> str:
    """Return a trend as SVG: the values at even distances, their intervals as a band, and where the data changed."""
    points, last = trend.points, max(len(trend.points) - 1, 1)
    drawn = [point.value for point in points if point.value is not None]
    ends = [end for point in points if point.interval for end in point.interval]
    least = max(0.0, min([*drawn, *ends, 0.9]) - 0.05)
    least = int(least * 5) / 5

    def x(place: int) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (place / last if len(points) > 1 else 0.5)

    def y(value: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - (value - least) / (1 - least))

    parts = []
    for step in range(5):
        value = least + (1 - least) * step / 4
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(value):.1f}" y2="{y(value):.1f}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{value:.2f}</text>')
    for place, point in enumerate(points):
        if point.new_data:
            middle = (x(place - 1) + x(place)) / 2
            parts.append(
                f'<line class="data" x1="{middle:.1f}" x2="{middle:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}">'
                "<title>new gold data</title></line>"
            )
    for run in _runs(trend):
        known = [(place, points[place]) for place in run]
        band = [(x(place), point.interval) for place, point in known if point.interval is not None]
        if len(band) == len(known) > 1:
            over = [f"{at:.1f},{y(ends[1]):.1f}" for at, ends in band if ends]
            under = [f"{at:.1f},{y(ends[0]):.1f}" for at, ends in reversed(band) if ends]
            parts.append(f'<polygon class="band" points="{" ".join([*over, *under])}"/>')
        line = " ".join(f"{x(place):.1f},{y(point.value):.1f}" for place, point in known if point.value is not None)
        parts.append(f'<polyline class="path" points="{line}"/>')
    for place, point in enumerate(points):
        if point.value is None:
            continue
        at, (score, interval, _) = f"{x(place):.1f}", _cells(point)
        if point.interval:
            low, high = (f"{y(end):.1f}" for end in point.interval)
            parts.append(f'<line class="bar" x1="{at}" x2="{at}" y1="{low}" y2="{high}"/>')
        hint = _safe(f"{point.entry.logged:%Y-%m-%d %H:%M} {point.entry.name}: {score} ({interval})")
        parts.append(f'<circle class="point" cx="{at}" cy="{y(point.value):.1f}" r="4"><title>{hint}</title></circle>')
    for place, anchor in {0: "start", len(points) - 1: "end"}.items() if len(points) > 1 else [(0, "middle")]:
        date = f"{points[place].entry.logged:%Y-%m-%d}"
        parts.append(f'<text x="{x(place):.1f}" y="{HEIGHT - 8}" text-anchor="{anchor}">{date}</text>')
    label = f"{trend.number} of {name} by {trend.measure}, {plural(len(points), 'value')}"
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{_safe(label)}">{"".join(parts)}</svg>'


def _runs(trend: Trend) -> list[list[int]]:
    """Return the places of values that are connected: neighbours on the same gold data."""
    found: list[list[int]] = []
    broken = True
    for place, point in enumerate(trend.points):
        if point.value is None:
            broken = True
            continue
        if broken or point.new_data:
            found.append([])
        found[-1].append(place)
        broken = False
    return found


def _safe(text: str) -> str:
    return html.escape(printable(text, limit=300))
