"""Results and errors as Arrow tables, which polars, pandas and DuckDB read without conversion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spanscore.corpus.arrow import pyarrow
from spanscore.result import NUMBERS
from spanscore.result.tables import known, rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spanscore.result import Result
    from spanscore.verdicts import Error, Place

TEXTS = ("system", "measure", "level", "type", "by", "slice", "average")
SCORES = {*NUMBERS, *(f"{name}_{end}" for name in NUMBERS for end in ("low", "high")), "beta"}


def records(result: Result) -> list[dict[str, Any]]:
    """Return one row per system, measure, type and slice: scores, confidence intervals (if any) and counts."""
    lines = list(rows(result, averages=True))
    signatures = {(one.system, repr(one.measure), one.level): one.signature for one in result.scores}
    counts = list(dict.fromkeys(name for line in lines for name in line.score.counts))
    leveled = any(line.level for line in lines)
    texts = [name for name in TEXTS if name != "level" or leveled]
    found = []
    for line in lines:
        row: dict[str, Any] = {name: getattr(line, name) for name in texts}
        for name in NUMBERS:
            row[name] = known(getattr(line.score, name))
            if result.bootstrap is not None:
                ends = (None, None) if line.interval is None else getattr(line.interval, name)
                row[f"{name}_low"], row[f"{name}_high"] = map(known, ends)
        row["beta"] = line.score.beta
        row |= {name: line.counts.get(name) for name in counts}
        found.append({**row, "signature": signatures[line.system, line.measure, line.level]})
    return found


def results_table(result: Result) -> Any:
    """Return the rows of a result as an Arrow table; scores are numbers even where all are undefined."""
    pa = pyarrow("a table of results")
    listed = records(result)
    keys = listed[0] if listed else dict.fromkeys((*TEXTS, *NUMBERS, "beta", "signature"))
    columns = {}
    for key in keys:
        values = [row[key] for row in listed]
        integral = key not in SCORES and all(value is None or isinstance(value, int) for value in values)
        kind = pa.string() if key in (*TEXTS, "signature") else pa.int64() if integral else pa.float64()
        columns[key] = pa.array(values, kind)
    return pa.table(columns)


def errors_table(errors: Iterable[Error]) -> Any:
    """Return one row per error: location, verdict and explanation; `other_*` is the span it was compared with."""
    pa = pyarrow("a table of errors")
    listed = list(errors)
    others = [error.counterpart for error in listed]
    text = pa.string()
    columns: dict[str, Any] = {
        "document": pa.array([error.document for error in listed], text),
        "side": pa.array([error.side for error in listed], text),
        **_places(pa, "", [error.span for error in listed]),
        "verdict": pa.array([error.verdict for error in listed], text),
        "iou": pa.array([error.iou for error in listed], pa.float64()),
        **_places(pa, "other_", others),
        "explanation": pa.array([error.explanation for error in listed], text),
        "text": pa.array([error.text for error in listed], text),
    }
    return pa.table(columns)


def _places(pa: Any, prefix: str, places: list[Place | None] | list[Place]) -> dict[str, Any]:
    kinds = {"start": pa.int32(), "end": pa.int32(), "label": pa.string(), "score": pa.float64()}
    return {
        f"{prefix}{name}": pa.array([None if place is None else getattr(place, name) for place in places], kind)
        for name, kind in kinds.items()
    }
