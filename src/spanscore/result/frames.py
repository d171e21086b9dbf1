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


def results_table(result: Result) -> Any:
    """Return one row per system, measure, type and slice: scores, confidence intervals (if any) and counts."""
    pa = pyarrow("a table of results")
    lines = list(rows(result, averages=True))
    signatures = {(one.system, repr(one.measure)): one.signature for one in result.scores}
    text, number = pa.string(), pa.float64()
    columns: dict[str, Any] = {
        name: pa.array([getattr(line, name) for line in lines], text)
        for name in ("system", "measure", "type", "by", "slice", "average")
    }
    for name in NUMBERS:
        columns[name] = pa.array([known(getattr(line.score, name)) for line in lines], number)
        if result.bootstrap is not None:
            for place, end in enumerate(("low", "high")):
                ends = [None if line.interval is None else getattr(line.interval, name)[place] for line in lines]
                columns[f"{name}_{end}"] = pa.array([known(value) for value in ends], number)
    columns["beta"] = pa.array([line.score.beta for line in lines], number)
    for name in dict.fromkeys(name for line in lines for name in line.score.counts):
        counts = [line.score.counts.get(name) for line in lines]
        integral = all(count is None or isinstance(count, int) for count in counts)
        columns[name] = pa.array(counts, pa.int64() if integral else number)
    columns["signature"] = pa.array([signatures[line.system, line.measure] for line in lines], text)
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
