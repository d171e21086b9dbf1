"""Threshold sweeps as a table, as CSV with every point, and as JSON."""

from __future__ import annotations

import csv
import io
import math
from typing import TYPE_CHECKING, Any

import msgspec

from spanscore.errors import printable
from spanscore.files import safe_cell
from spanscore.result.tables import ALL, aligned, known, shown
from spanscore.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spanscore.analysis.sweep import Calibration, Curve, Sweep
    from spanscore.corpus.columns import Floats

SCHEMA = "spanscore.sweep/1"


def plain(found: Sweep, recall: float | None, at: Sequence[float]) -> str:
    """Return a line per type: average precision, calibration error, and the scores at the best threshold.

    Each threshold in `at` adds another line. Types without a precision have no best F: their recall is shown at the
    best threshold of all types together.
    """
    head, lines, legend = cells(found, recall, at)
    return "\n".join([*aligned([head, *lines], len(head) - 6), "", legend])


def cells(found: Sweep, recall: float | None, at: Sequence[float]) -> tuple[list[str], list[list[str]], str]:
    """Return the header, the rows and the legend of the table."""
    several = len({curve.system for curve in found.curves}) > 1
    beta = f"F{found.curves[0].beta:g}" if found.curves else "F1"
    head = [*(["system"] if several else []), "measure", "type", "AP", "ECE", "threshold", "P", "R", beta]
    lines = []
    for curve, best in zip(found.curves, _best(found, recall), strict=True):
        error = math.nan if curve.calibration is None else curve.calibration.error
        for number, threshold in enumerate((best, *at)):
            score = None if threshold is None else curve.at(threshold)
            names = [*([curve.system] if several else []), curve.name, curve.type or ALL]
            leading = [*map(printable, names), shown(curve.average_precision), shown(error)]
            numbers = ["–"] * 3 if score is None else [shown(n) for n in (score.precision, score.recall, score.f)]
            mark = "" if not at else "*" if number == 0 and best is not None else " "
            lines.append(
                [*(leading if number == 0 else [""] * len(leading)), format_threshold(threshold) + mark, *numbers]
            )
    goal = f"the highest {beta}" if recall is None else f"the highest precision at a recall of at least {recall:g}"
    missing = "none" if recall is None else "no threshold reaches that recall"
    mark = "*" if at else "threshold"
    legend = f"{mark}: keeping only predictions with at least this score gives {goal}; –: {missing}"
    if found.curves and found.curves[0].beta > 1:
        legend += f"; of equal ones, the lowest, since F{found.curves[0].beta:g} puts recall first"
    if any(curve.type is not None and not curve.has_precision for curve in found.curves):
        one = "the best one of all types" if recall is None else "the highest with that recall"
        legend += f"; for types without a precision, {one}"
    return head, lines, legend


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
    leveled = any(curve.level for curve in found.curves)
    level = ["level"] if leveled else []
    writer.writerow(["system", "measure", *level, "type", "threshold", "precision", "recall", "f"])
    for curve in found.curves:
        named = [curve.system, repr(curve.measure), *([curve.level or ""] if leveled else []), curve.type or ""]
        names = [safe_cell(name).replace("\r", "\\r") for name in named]
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
        "curves": [_curve(*one, at) for one in zip(found.curves, _best(found, recall), strict=True)],
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def _best(found: Sweep, recall: float | None) -> list[float | None]:
    """Return the best threshold of each curve; without a minimum recall, types without precision use the overall."""
    best: list[float | None] = []
    overall: float | None = None  # the overall curve of a measure comes before its types
    for curve in found.curves:
        one = curve.best(recall)
        if curve.type is None:
            overall = one
        elif recall is None and not curve.has_precision:
            one = overall
        best.append(one)
    return best


def _curve(curve: Curve, best: float | None, at: Sequence[float]) -> dict[str, Any]:
    names = ("precision", "recall", "f")
    points = [(None if best is None else _point(curve, best)), *(_point(curve, threshold) for threshold in at)]
    return {
        "system": curve.system,
        "measure": repr(curve.measure),
        **({"level": curve.level} if curve.level else {}),
        "type": curve.type,
        "beta": curve.beta,
        "has_precision": curve.has_precision,
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
    absent = () if curve.type is None else curve.measure.counts_without_type
    counts = {name: None if name in absent else value for name, value in score.counts.items()}
    return {"threshold": threshold, **numbers, "counts": counts}


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
