"""Threshold sweeps as a table, as CSV with every point, and as JSON."""

from __future__ import annotations

import csv
import io
import math
from typing import TYPE_CHECKING, Any

import msgspec

from spanscore.errors import printable
from spanscore.result.tables import ALL, aligned, known, safe_cell, shown
from spanscore.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spanscore.analysis.sweep import Calibration, Curve, Sweep
    from spanscore.corpus.columns import Floats

SCHEMA = "spanscore.sweep/1"


def plain(found: Sweep, recall: float | None, at: Sequence[float]) -> str:
    """Return a line per type: average precision, calibration error, and the scores at the best threshold.

    Each threshold in `at` adds another line.
    """
    several = len({curve.system for curve in found.curves}) > 1
    beta = f"F{found.curves[0].beta:g}" if found.curves else "F1"
    head = [*(["system"] if several else []), "measure", "type", "AP", "ECE", "threshold", "P", "R", beta]
    lines = [head]
    for curve in found.curves:
        best = curve.best(recall)
        error = math.nan if curve.calibration is None else curve.calibration.error
        for number, threshold in enumerate((best, *at)):
            score = None if threshold is None else curve.at(threshold)
            names = [*([curve.system] if several else []), repr(curve.measure), curve.type or ALL]
            leading = [*map(printable, names), shown(curve.average_precision), shown(error)]
            numbers = ["–"] * 3 if score is None else [shown(n) for n in (score.precision, score.recall, score.f)]
            mark = "" if not at else "*" if number == 0 and best is not None else " "
            lines.append(
                [*(leading if number == 0 else [""] * len(leading)), format_threshold(threshold) + mark, *numbers]
            )
    goal = f"the highest {beta}" if recall is None else f"the highest precision at a recall of at least {recall:g}"
    legend = f"{'*' if at else 'threshold'}: keeping only predictions with at least this score gives {goal}; –: none"
    return "\n".join([*aligned(lines, len(head) - 6), "", legend])


def format_threshold(threshold: float | None) -> str:
    """Format a threshold with as few digits as identify it exactly.

    >>> format_threshold(0.85), format_threshold(None)
    ('0.85', '–')
    """
    return "–" if threshold is None else repr(threshold)


def separated(found: Sweep) -> str:
    """Return every point of every curve as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["system", "measure", "type", "threshold", "precision", "recall", "f"])
    for curve in found.curves:
        names = [safe_cell(name).replace("\r", "\\r") for name in (curve.system, repr(curve.measure), curve.type or "")]
        columns = [_defined(column) for column in (curve.threshold, *curve.numbers)]
        for point in zip(*columns, strict=True):
            writer.writerow([*names, *("" if number is None else repr(number) for number in point)])
    return out.getvalue()


def to_json(found: Sweep, recall: float | None, at: Sequence[float]) -> bytes:
    """Return the sweep as indented JSON, each curve as columns."""
    document = {
        "schema": SCHEMA,
        "version": __version__,
        "goal": "f" if recall is None else {"recall": recall},
        "warnings": list(found.warnings),
        "curves": [_curve(curve, recall, at) for curve in found.curves],
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def _curve(curve: Curve, recall: float | None, at: Sequence[float]) -> dict[str, Any]:
    names = ("precision", "recall", "f")
    best = curve.best(recall)
    points = [(None if best is None else _point(curve, best)), *(_point(curve, threshold) for threshold in at)]
    return {
        "system": curve.system,
        "measure": repr(curve.measure),
        "type": curve.type,
        "beta": curve.beta,
        "average_precision": known(curve.average_precision),
        "best": points[0],
        **({"at": points[1:]} if at else {}),
        "calibration": _calibration(curve.calibration),
        "threshold": curve.threshold.tolist(),
        **{name: _defined(column) for name, column in zip(names, curve.numbers, strict=True)},
        "signature": curve.signature,
    }


def _point(curve: Curve, threshold: float) -> dict[str, Any]:
    score = curve.at(threshold)
    numbers = {name: known(getattr(score, name)) for name in ("precision", "recall", "f")}
    return {"threshold": threshold, **numbers, "counts": score.counts}


def _calibration(found: Calibration | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "error": found.error,
        "predictions": found.predictions.tolist(),
        "score": _defined(found.score),
        "right": _defined(found.right),
    }


def _defined(column: Floats) -> list[float | None]:
    return [known(value) for value in column.tolist()]
