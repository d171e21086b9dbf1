"""The confusion matrix as a standalone page: an interactive heatmap and a table."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from spanscore.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MISSED, SPURIOUS = "(missed)", "(spurious)"
DIV = "confusion-matrix"
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"


def plotly() -> Any:
    """Import plotly, or raise an error that says how to install it."""
    try:
        import plotly.graph_objects as figures
        import plotly.offline as offline
    except ImportError:
        raise MissingExtraError("the confusion matrix", "report") from None
    figures.Figure(figures.Heatmap())  # plotly imports its submodules lazily, so import them now
    return figures, offline


def page(confusion: Mapping[tuple[str | None, str | None], int], title: str, subtitle: str) -> str:
    """Return a self-contained page: plotly.js is embedded, and nothing is loaded from the network."""
    figures, offline = plotly()
    rows, columns, counts = matrix(confusion)
    figure = figures.Figure(
        figures.Heatmap(
            z=[[_shade(count) for count in row] for row in counts],
            x=list(range(len(columns))),
            y=list(range(len(rows))),
            customdata=counts,
            text=[[str(count) if count else "" for count in row] for row in counts],
            texttemplate="%{text}",
            hovertext=[
                [f"actual {_safe(a)}<br>predicted {_safe(b)}<br>count {n}" for b, n in zip(columns, row, strict=True)]
                for a, row in zip(rows, counts, strict=True)
            ],
            hovertemplate="%{hovertext}<extra></extra>",
            colorscale="Blues",
            showscale=False,
            xgap=1,
            ygap=1,
        )
    )
    wide, high = 240 + 46 * len(columns), 220 + 34 * len(rows)
    figure.update_layout(
        width=max(wide, 560),
        height=max(high, 420),
        margin={"l": 170, "t": 30, "r": 20, "b": 150},
        xaxis={"title": "predicted", "tickvals": list(range(len(columns))), "ticktext": [_safe(c) for c in columns]},
        yaxis={
            "title": "actual",
            "tickvals": list(range(len(rows))),
            "ticktext": [_safe(r) for r in rows],
            "autorange": "reversed",
        },
    )
    options = {"displaylogo": False, "responsive": False}
    plot = figure.to_html(full_html=False, include_plotlyjs=False, div_id=DIV, config=options)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{html.escape(title)}</title>\n<style>{STYLE}</style>\n"
        f"<script>{offline.get_plotlyjs()}</script>\n</head>\n<body>\n"
        f"<h1>{html.escape(title)}</h1>\n<p>{html.escape(subtitle)}</p>\n{plot}\n"
        f"{_table(rows, columns, counts)}\n</body>\n</html>\n"
    )


def matrix(
    confusion: Mapping[tuple[str | None, str | None], int],
) -> tuple[list[str], list[str], list[list[int]]]:
    """Return row names (gold types and spurious), column names (predicted types and missed), and the counts."""
    types = sorted({name for cell in confusion for name in cell if name is not None})
    counts = [[confusion.get((a, b), 0) for b in (*types, None)] for a in (*types, None)]
    return [*types, SPURIOUS], [*types, MISSED], counts


STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;margin:2rem;color:#1b1b1b;background:#fff}"
    "table{border-collapse:collapse;font-size:.85rem}"
    "th,td{border:1px solid #767676;padding:.2rem .5rem;text-align:right}"
    "th{text-align:left}caption{text-align:left;font-weight:600;padding:.5rem 0}"
)


def _shade(count: int) -> float:
    """Return a color value on a logarithmic scale, so that small counts stay visible next to large ones."""
    return 0.0 if not count else 1.0 + len(bin(count)) + count / (1 << count.bit_length())


def _safe(label: str) -> str:
    """Escape a label, because plotly interprets markup in its texts."""
    return html.escape("".join(c if c.isprintable() else "\ufffd" for c in label))


def _table(rows: Sequence[str], columns: Sequence[str], counts: Sequence[Sequence[int]]) -> str:
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in columns)
    body = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th>{"".join(f"<td>{n}</td>" for n in row)}</tr>'
        for name, row in zip(rows, counts, strict=True)
    )
    caption = "Counts: rows are actual types, columns are predicted types"
    return f"<table><caption>{caption}</caption><thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table>"
