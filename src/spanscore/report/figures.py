"""Plotly figures of results: bars, the confusion matrix, and curves of precision and recall."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, Any

from spanscore.analysis.sweep import curves_of
from spanscore.errors import UsageError, printable, unknown
from spanscore.report.confusion import matrix, most_frequent, plotly
from spanscore.result import NUMBERS
from spanscore.result.tables import rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spanscore.analysis.sweep import Curve
    from spanscore.result import Result, Scores
    from spanscore.result.tables import Row

KINDS = ("bars", "matrix", "curve")
MOST = 40
"""Types that have bars, the most frequent ones."""


def figure_of(result: Result, kind: str, measure: str | None, system: str | None) -> Any:
    """Return a figure of a result."""
    if kind not in KINDS:
        raise UsageError(unknown("plot", kind, KINDS))
    chosen = [
        one
        for one in result.scores
        if measure in (None, repr(one.measure), one.measure.name) and system in (None, one.system)
    ]
    if not chosen:
        named = f"measure {measure}" if measure else f"system {system}"
        raise UsageError(f"the result has no {printable(named)}.")
    if kind == "matrix":
        return _matrix(_one(chosen, kind))
    if kind == "curve":
        signatures = {one.signature for one in chosen}
        curves, notes = curves_of(result)
        found = [curve for curve in curves if curve.type is None and curve.signature in signatures]
        if not found:
            raise UsageError(notes[0] if notes else "a curve needs predictions with scores.")
        return curve_figure(found)
    return _bars(result, chosen)


def _one(chosen: Sequence[Scores], kind: str) -> Scores:
    if len(chosen) == 1:
        return chosen[0]
    listed = ", ".join(f'plot("{kind}", "{one.measure!r}", "{one.system}")' for one in chosen[:6])
    raise UsageError(f"a {kind} shows one measure of one system; use one of {listed}.")


def _bars(result: Result, chosen: Sequence[Scores]) -> Any:
    figures, _, _ = plotly()
    keys = {(one.system, repr(one.measure)) for one in chosen}
    lines = [line for line in rows(result) if (line.system, line.measure) in keys and not (line.by or line.average)]
    figure = figures.Figure()
    if len(chosen) == 1:
        lines = [lines[0], *sorted(lines[1:], key=lambda line: -_size(line))[:MOST]]
        names = [_safe(line.type or "all") for line in lines]
    else:
        lines = [line for line in lines if line.type is None]
        names = [_safe(f"{line.system}, {line.measure}") for line in lines]
    beta = f"F{lines[0].score.beta:g}"
    for name, shown in zip(NUMBERS, ("precision", "recall", beta), strict=True):
        values = [_known(getattr(line.score, name)) for line in lines]
        bars = figures.Bar(name=shown, x=list(range(len(lines))), y=values, hovertext=names)
        if any(line.interval is not None for line in lines):
            ends = [getattr(line.interval, name, (math.nan, math.nan)) for line in lines]
            bars.error_y = {
                "type": "data",
                "symmetric": False,
                "array": [_known(high - (value or 0)) for (_, high), value in zip(ends, values, strict=True)],
                "arrayminus": [_known((value or 0) - low) for (low, _), value in zip(ends, values, strict=True)],
            }
        figure.add_trace(bars)
    figure.update_xaxes(tickmode="array", tickvals=list(range(len(lines))), ticktext=names, type="linear")
    figure.update_yaxes(range=[0, 1], title_text="score")
    title = _safe(chosen[0].summary) if len(chosen) == 1 else ""
    return figure.update_layout(barmode="group", title_text=title)


def _matrix(scores: Scores) -> Any:
    figures, _, _ = plotly()
    confusion, _ = most_frequent(scores.confusion)
    gold, predicted, counts = matrix(confusion)
    figure = figures.Figure(
        figures.Heatmap(
            z=[[math.log1p(count) for count in row] for row in counts],
            x=list(range(len(predicted))),
            y=list(range(len(gold))),
            text=[[str(count) if count else "" for count in row] for row in counts],
            texttemplate="%{text}",
            hoverinfo="text",
            colorscale="Blues",
            showscale=False,
        )
    )
    for axis, names, title in ((figure.update_xaxes, predicted, "predicted"), (figure.update_yaxes, gold, "gold")):
        axis(tickmode="array", tickvals=list(range(len(names))), ticktext=[_safe(n) for n in names], title_text=title)
    figure.update_yaxes(autorange="reversed")
    return figure.update_layout(title_text=_safe(f"{scores.system}, {scores.measure!r}"))


def curve_figure(curves: Sequence[Curve]) -> Any:
    """Return precision over recall, a point for each threshold."""
    figures, _, _ = plotly()
    figure = figures.Figure()
    for curve in curves:
        precision, recall, _ = curve.numbers
        defined = [(r, p, t) for r, p, t in zip(recall, precision, curve.threshold, strict=True) if r == r and p == p]
        figure.add_trace(
            figures.Scatter(
                x=[float(r) for r, _, _ in defined],
                y=[float(p) for _, p, _ in defined],
                customdata=[float(t) for _, _, t in defined],
                mode="lines+markers",
                line={"shape": "hv"},
                name=_safe(", ".join(filter(None, (curve.system, repr(curve.measure), curve.type)))),
                hovertemplate="recall %{x:.3f}<br>precision %{y:.3f}<br>threshold %{customdata}<extra></extra>",
            )
        )
    figure.update_xaxes(range=[0, 1.02], title_text="recall")
    return figure.update_yaxes(range=[0, 1.02], title_text="precision")


def _size(line: Row) -> float:
    counts = line.score.counts
    return float(counts.get("annotated", counts.get("possible", 0)) or 0)


def _known(value: float) -> float | None:
    return None if value is None or math.isnan(value) else float(value)


def _safe(text: str) -> str:
    """Escape a name, because plotly interprets markup in its texts."""
    return html.escape(printable(text))
