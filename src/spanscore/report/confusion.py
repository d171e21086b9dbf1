"""The confusion matrix as a standalone page: an interactive heatmap, the top confusions, and a table."""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from spanscore.errors import MissingExtraError
from spanscore.report.page.write import hashed, policy

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Confusion = Mapping[tuple[str | None, str | None], int]

MISSED, SPURIOUS = "(missed)", "(spurious)"
DIV = "confusion-matrix"
OTHER = "(other types)"
MOST = 100
"""Types with a row and a column of their own; the rarer ones share one."""
CONFUSIONS = 10
"""Length of the list of the most frequent errors."""
LONGEST, NARROW = 30, 13
"""Letters of a name along the axes, on wide and on narrow screens; the box beside a cell has all of them."""
NARROW_SCREEN = "(max-width: 45rem)"
LINE = 32
"""Letters of a line in the box beside a cell."""


def plotly() -> Any:
    """Import plotly, or raise an error that says how to install it."""
    try:
        import plotly.graph_objects as figures
        import plotly.io as pages
        import plotly.offline as offline
    except ImportError:
        raise MissingExtraError("the confusion matrix", "report", " (the extra presidio includes it)") from None
    return figures, pages, offline


def page(confusion: Confusion, title: str, subtitle: str, signature: str = "") -> str:
    """Return a self-contained page: plotly.js is embedded, and nothing is loaded from the network."""
    _, pages, offline = plotly()
    confusion, left_out = most_frequent(confusion)
    if left_out:
        subtitle += f" The {MOST} most frequent types have a row of their own, {left_out:,} others share one."
    rows, columns, counts = matrix(confusion)
    size = range(len(columns))
    wide, narrow = _frame(rows, columns, LONGEST), _frame(rows, columns, NARROW)
    layout = {
        **{name: wide[name] for name in ("width", "height", "margin")},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "system-ui, sans-serif"},
        "xaxis": {
            "title": {"text": "predicted", "standoff": 15},
            "automargin": True,
            "side": "top",
            "tickangle": -60,
            "tickvals": list(size),
            "ticktext": wide["xaxis.ticktext"],
            "showgrid": False,
            "zeroline": False,
            "range": [-0.5, len(columns) - 0.5],
        },
        "yaxis": {
            "title": {"text": "gold", "standoff": 15},
            "automargin": True,
            "tickvals": list(size),
            "ticktext": wide["yaxis.ticktext"],
            "showgrid": False,
            "zeroline": False,
            "range": [len(rows) - 0.5, -0.5],
        },
    }
    options = {"displaylogo": False, "responsive": False}
    figure = {"data": [_layer(kind, rows, columns, counts) for kind in KINDS], "layout": layout}
    shape: dict[str, Any] = {"full_html": False, "include_plotlyjs": False, "div_id": DIV, "config": options}
    plot = pages.to_html(figure, validate=False, **shape)  # validating a plain figure takes longer than drawing it
    drawing = offline.get_plotlyjs()
    fitted = _fitted(wide, narrow)
    scripts = (drawing, *re.findall(r"<script[^>]*>(.*?)</script>", plot, re.DOTALL), THEME, fitted)
    legend = "".join(f'<li><span class="{kind}">{mark}</span> {name}</li>' for kind, (mark, name, _) in KINDS.items())
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(scripts)}">\n'
        '<meta name="viewport" content="width=device-width">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{html.escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{_no_map_sheets(drawing)}"
        f"<script>{drawing}</script>\n<main>\n<h1>{html.escape(title)}</h1>\n<p>{html.escape(subtitle)}</p>\n"
        f'<ul class="legend">{legend}</ul>\n'
        f'<div class="scroll" tabindex="0" role="group" aria-label="Heatmap">{plot}</div>\n'
        f"<script>{THEME}</script>\n<script>{fitted}</script>\n"
        f"{_top(rows, columns, counts)}\n{_table(rows, columns, counts)}\n"
        f'<p class="signature">{html.escape(signature)}</p>\n</main>\n</body>\n</html>\n'
    )


def _frame(rows: Sequence[str], columns: Sequence[str], most: int) -> dict[str, Any]:
    """Return the names of at most so many letters along the axes, and a size that has room for them."""
    longest = min(max(map(len, columns)), most)
    return {
        "width": max(60 + 11 * longest + 44 * len(columns), 360),
        "height": max(60 + 6 * longest + 30 * len(rows), 300),
        "margin": {"l": 40 + 7 * longest, "t": 40 + 6 * longest, "r": 20 + 4 * longest, "b": 20},
        "xaxis.ticktext": [_safe(_shortened(name, most)) for name in columns],
        "yaxis.ticktext": [_safe(_shortened(name, most)) for name in rows],
    }


def _shortened(name: str, most: int) -> str:
    """Return the beginning and the end of a long name, because names that differ often share one of them.

    >>> _shortened("EMAIL_ADDRESS", 13), _shortened("EMAIL_ADDRESS_OF_A_PERSON", 13)
    ('EMAIL_ADDRESS', 'EMAIL_…PERSON')
    """
    if len(name) <= most:
        return name
    end = (most - 1) // 2
    return f"{name[: most - 1 - end]}…{name[-end:]}"


def _fitted(wide: dict[str, Any], narrow: dict[str, Any]) -> str:
    """Return a script that chooses the names along the axes by the width of the screen."""
    frames = json.dumps([wide, narrow]).replace("<", "\\u003c")  # which cannot end the script
    return f"""
(() => {{
  const screen = matchMedia("{NARROW_SCREEN}"), frames = {frames};
  const choose = () => {{
    const plot = document.getElementById("{DIV}"), frame = frames[Number(screen.matches)];
    for (const side of ["width", "height"]) plot.parentElement.style[side] = `${{frame[side]}}px`;
    Plotly.relayout(plot, frame);
  }};
  if (screen.matches) choose();
  screen.addEventListener("change", choose);
}})();
"""


def _broken(label: str) -> str:
    """Return a label in lines that fit in the box beside a cell."""
    return "<br>".join(_safe(label[at : at + LINE]) for at in range(0, len(label), LINE))


def _layer(kind: str, rows: Sequence[str], columns: Sequence[str], counts: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Return the cells of one kind as a heatmap of its own, because each kind has its own color."""
    shown = [
        [count if count and _kind(i, j) == kind else None for j, count in enumerate(row)]
        for i, row in enumerate(counts)
    ]
    most = max((count for row in counts for count in row), default=0)
    return {
        "type": "heatmap",
        "name": kind,
        "z": [[None if count is None else _shade(count) for count in row] for row in shown],
        "zmin": 0.0,
        "zmax": max(_shade(most), 1.0),
        "x": list(range(len(columns))),
        "y": list(range(len(rows))),
        "text": [["" if count is None else f"{count:,}" for count in row] for row in shown],
        "texttemplate": "%{text}",
        "hovertext": [
            [
                "" if n is None else f"{_broken(f'gold {a}')}<br>{_broken(f'predicted {b}')}<br>count {n}"
                for b, n in zip(columns, row, strict=True)
            ]
            for a, row in zip(rows, shown, strict=True)
        ],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "hoverongaps": False,
        "colorscale": [[0, "#ffffff"], [1, KINDS[kind][2]]],
        "showscale": False,
        "xgap": 1,
        "ygap": 1,
    }


def _kind(row: int, column: int) -> str:
    """Return what a cell counts: the first row is spurious, the first column missed, the diagonal right."""
    return "needless" if row == 0 else "missed" if column == 0 else "right" if row == column else "wrong"


def _policy(scripts: Sequence[str]) -> str:
    """Return the policy of the report, except for what plotly.js needs.

    It inserts an empty style sheet, sets style attributes, draws the cells as an image (data:), and makes another one
    when the picture is downloaded (blob:).
    """
    strict = policy(scripts, STYLE)
    return strict.replace(
        f"style-src {hashed(STYLE)}",
        f"style-src-elem {hashed(STYLE)} {hashed('')}; style-src-attr 'unsafe-inline'; img-src data: blob:",
    )


def _no_map_sheets(drawing: str) -> str:
    """Return elements that keep plotly.js from adding style sheets for maps, which are not drawn."""
    sheets = re.findall(r'getElementById\("([0-9a-f]{64})"\)', drawing)
    return "".join(f'<template id="{name}"></template>\n' for name in sheets)


def most_frequent(confusion: Confusion) -> tuple[Confusion, int]:
    """Count all but the most frequent types as one, and return how many types that are."""
    frequency: Counter[str] = Counter()
    for cell, count in confusion.items():
        for name in {name for name in cell if name is not None}:
            frequency[name] += count
    if len(frequency) <= MOST:
        return confusion, 0
    named = sorted(frequency, key=lambda name: (-frequency[name], name))[:MOST]
    shown: dict[str | None, str | None] = {None: None}
    shown.update({name: name for name in named})
    sums: Counter[tuple[str | None, str | None]] = Counter()
    for (gold, pred), count in confusion.items():
        sums[shown.get(gold, OTHER), shown.get(pred, OTHER)] += count
    return sums, len(frequency) - MOST


def matrix(confusion: Confusion) -> tuple[list[str], list[str], list[list[int]]]:
    """Return the names of rows and columns, and the counts: spurious and missed first, then the types.

    Rows and columns have the same types in the order of the report: those with the most errors first, then the most
    frequent ones.
    """
    errors: Counter[str] = Counter()
    every: Counter[str] = Counter()
    for (gold, pred), count in confusion.items():
        for name in {name for name in (gold, pred) if name is not None}:
            errors[name] += 0 if gold == pred else count
            every[name] += count
    types = (None, *sorted(every, key=lambda name: (name == OTHER, -errors[name], -every[name], name)))
    counts = [[confusion.get((a, b), 0) for b in types] for a in types]
    return [name or SPURIOUS for name in types], [name or MISSED for name in types], counts


KINDS = {
    "right": ("✓", "right (the diagonal)", "#2e9e5b"),
    "wrong": ("≠", "wrong type", "#e0a030"),
    "missed": ("✗", "missed (the first column)", "#dd4a4a"),
    "needless": ("+", "spurious (the first row)", "#8f7cb8"),
}
"""What a cell may count: a symbol, a name and a color."""
STYLE = (
    ":root{color-scheme:light dark;--ink:#1c2024;--paper:#fff;--line:#d9dce1;--soft:#565c64}"
    "@media screen and (prefers-color-scheme:dark){:root{--ink:#e8eaed;--paper:#16181b;--line:#3a3f46;--soft:#aeb4bc}}"
    "*{box-sizing:border-box}"
    "body{font:15px/1.5 system-ui,sans-serif;margin:0;color:var(--ink);background:var(--paper)}"
    "main{max-width:90rem;margin:0 auto;padding:1.2rem clamp(.75rem,3vw,2rem) 3rem}"
    "h1{font-size:1.35rem;margin:0 0 .2rem;overflow-wrap:anywhere}p{color:var(--soft);margin:.2rem 0;max-width:75ch}"
    ".scroll{overflow:auto;max-width:100%}"
    ".legend{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;list-style:none;margin:.6rem 0;padding:0;font-size:.9rem}"
    ".legend span,.mark{display:inline-block;width:1.4em;text-align:center;border-radius:3px;color:#16181b}"
    + "".join(f".legend .{kind},.mark.{kind}{{background:{color}}}" for kind, (_, _, color) in KINDS.items())
    + "table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums}"
    "th,td{border:1px solid var(--line);padding:.2rem .5rem;text-align:right}"
    "th{text-align:left;overflow-wrap:anywhere}tbody th{min-width:11rem}td.zero{color:var(--soft)}"
    "thead th{vertical-align:bottom;text-align:left}"
    "thead th span{writing-mode:vertical-rl;transform:rotate(180deg);max-height:14rem;overflow:hidden}"
    ".signature{font:.75rem/1.4 ui-monospace,monospace;overflow-wrap:anywhere;max-width:none;margin-top:1rem}"
    "caption{text-align:left;font-weight:600;padding:.5rem 0}"
    "caption span{display:inline-block;position:sticky;left:0;max-width:calc(100vw - 2rem)}"
    "h2{font-size:1rem;margin:1rem 0 .2rem}ol{margin:.2rem 0;padding-left:2rem;font-size:.9rem}"
    "li{overflow-wrap:anywhere}"
    "td.sum{color:var(--soft)}"
    "@media print{@page{size:A4 landscape;margin:10mm}:root{color-scheme:light}main{padding:0;max-width:none}"
    "*{print-color-adjust:exact;-webkit-print-color-adjust:exact}.scroll{overflow:visible}.modebar{display:none}"
    ".scroll>*{zoom:var(--fit,1)}h2{break-after:avoid}li,table,.plotly-graph-div{break-inside:avoid}}"
)
PAPER = (1040, 570)
"""Pixels for a printed heatmap or table: A4 landscape without its margins and the lines above the heatmap."""
THEME = f"""
(() => {{
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const colors = {[color for _, _, color in KINDS.values()]};
  const draw = (night) => {{
    const [ink, paper] = night ? ["#e8eaed", "#16181b"] : ["#1c2024", "#ffffff"];
    const scales = colors.map((color) => [[0, paper], [1, night ? dimmed(color) : color]]);
    Plotly.update("{DIV}", {{colorscale: scales, "textfont.color": ink}}, {{"font.color": ink}});
  }};
  const dimmed = (color) => {{
    const parts = [1, 3, 5].map((at) => Math.round(parseInt(color.slice(at, at + 2), 16) * 0.62));
    return `rgb(${{parts.join(",")}})`;
  }};
  const fit = () => {{
    for (const one of document.querySelectorAll(".scroll > *")) {{
      one.style.setProperty("--fit", 1);
      one.style.setProperty("--fit", 1 / Math.max(1, one.scrollWidth / {PAPER[0]}, one.scrollHeight / {PAPER[1]}));
    }}
  }};
  draw(dark.matches);
  dark.addEventListener("change", () => draw(dark.matches));
  addEventListener("beforeprint", () => {{ fit(); draw(false); }});
  addEventListener("afterprint", () => draw(dark.matches));
}})();
"""
"""Colors for light and dark screens; on paper, which is light, the heatmap and the table are scaled to fit."""


def _shade(count: int) -> float:
    """Return a color value on a logarithmic scale, so that small counts stay visible next to large ones."""
    return 0.0 if not count else 1.0 + len(bin(count)) + count / (1 << count.bit_length())


def _safe(label: str) -> str:
    """Escape a label, because plotly interprets markup in its texts."""
    return html.escape("".join(c if c.isprintable() else "\ufffd" for c in label))


def _count(number: int) -> str:
    return f"<td>{number}</td>" if number else '<td class="zero">0</td>'


def _sum(numbers: Iterable[int]) -> str:
    return f'<td class="sum">{sum(numbers)}</td>'


def _top(rows: Sequence[str], columns: Sequence[str], counts: Sequence[Sequence[int]]) -> str:
    """Return the largest cells beside the diagonal as a list."""
    wrong = [(count, i, j) for i, row in enumerate(counts) for j, count in enumerate(row) if i != j and count]
    ranked = sorted(wrong, key=lambda one: (-one[0], one[1:]))[:CONFUSIONS]
    items = "".join(
        f'<li><span class="mark {_kind(i, j)}">{KINDS[_kind(i, j)][0]}</span> '
        f"{html.escape(rows[i])} → {html.escape(columns[j])} <b>{count:,}</b></li>"
        for count, i, j in ranked
    )
    return f"<h2>Top confusions</h2>\n<ol>{items}</ol>" if items else ""


def _table(rows: Sequence[str], columns: Sequence[str], counts: Sequence[Sequence[int]]) -> str:
    head = "".join(f'<th scope="col"><span>{html.escape(name)}</span></th>' for name in columns)
    body = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th>{"".join(map(_count, row))}{_sum(row)}</tr>'
        for name, row in zip(rows, counts, strict=True)
    )
    sums = f"{''.join(map(_sum, zip(*counts, strict=True)))}{_sum(map(sum, counts))}"
    body += f'<tr><th scope="row">sum</th>{sums}</tr>'
    table = f'<thead><tr><td></td>{head}<th scope="col"><span>sum</span></th></tr></thead><tbody>{body}</tbody>'
    caption = "<span>Counts: gold types in rows, predicted types in columns</span>"
    return (
        '<div class="scroll" tabindex="0" role="group" aria-label="Counts">'
        f"<table><caption>{caption}</caption>{table}</table></div>"
    )
