"""Result files: results.json and errors.jsonl, each written atomically."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from spanscore.errors import InputError
from spanscore.files import atomic_file
from spanscore.result import tallies
from spanscore.result.privacy import allowed
from spanscore.result.tables import known, rows
from spanscore.version import __version__

if TYPE_CHECKING:
    from spanscore.result import Result, Scores
    from spanscore.result.privacy import Text
    from spanscore.result.tables import Row
    from spanscore.verdicts import Error, Place

SCHEMA = "spanscore.results/1"


def to_json(result: Result) -> bytes:
    """Return the results as indented JSON; the same inputs always give the same bytes."""
    signatures = {(one.system, repr(one.measure)): one.signature for one in result.scores}
    scores = {(one.system, repr(one.measure)): one for one in result.scores}
    listed = [
        {
            "system": row.system,
            "measure": row.measure,
            "type": row.type,
            **({"by": row.by} if row.by else {}),
            **({"slice": row.slice} if row.by and row.average is None else {}),
            **_average(row, scores[row.system, row.measure]),
            "precision": known(row.score.precision),
            "recall": known(row.score.recall),
            "f": known(row.score.f),
            "beta": row.score.beta,
            "counts": row.score.counts,
            **_interval(row),
            "signature": signatures[row.system, row.measure],
        }
        for row in rows(result, averages=True)
    ]
    document = {
        "schema": SCHEMA,
        "version": __version__,
        "inputs": result.inputs,
        "settings": result.settings,
        "warnings": list(result.warnings),
        "results": listed,
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def _average(row: Row, scores: Scores) -> dict[str, Any]:
    """Return the kind of an average, and how many undefined scores count 0 in it."""
    if row.average is None:
        return {}
    undefined = {} if row.average == "micro" else scores.undefined(row.by or "type")
    return {"average": row.average, **({"undefined": undefined} if any(undefined.values()) else {})}


def _interval(row: Row) -> dict[str, Any]:
    """Return the confidence intervals of a row, if it has any, and the exact upper bound of its miss rate."""
    if row.interval is None:
        return {}
    numbers = {name: [known(end) for end in getattr(row.interval, name)] for name in ("precision", "recall", "f")}
    fields: dict[str, Any] = {"interval": numbers}
    if row.interval.missed is not None:
        missed, annotated, share = row.interval.missed
        fields["missed"] = {"missed": missed, "annotated": annotated, "at_most": share}
    return fields


def error_record(error: Error, scores: Scores, *, text: Text) -> dict[str, Any]:
    """Return an error as a record of errors.jsonl."""
    record: dict[str, Any] = {
        "system": scores.system,
        "measure": repr(scores.measure),
        "document": error.document,
        "side": error.side,
        "verdict": error.verdict,
        "iou": round(error.iou, 6),
        "span": _span(error.span),
        "counterpart": None if error.counterpart is None else _span(error.counterpart),
        "explanation": error.explanation,
    }
    shown = allowed(error.text, text)
    if shown is not None:
        record["text"] = shown
    return record


def save(result: Result, folder: str | Path, *, text: Text = "show") -> None:
    """Write results.json, errors.jsonl and, with confidence intervals, the counts per document.

    `text` controls how much document text is written: show, mask or hide.
    """
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot create the folder ({error.strerror}).", str(folder)) from None
    summary = to_json(result)  # first, so that an unknown split fails before any file is written
    encoder = msgspec.json.Encoder()
    with atomic_file(path / "errors.jsonl") as file:
        for one in result.scores:
            for found in one.errors():
                file.write(encoder.encode(error_record(found, one, text=text)) + b"\n")
    if result.bootstrap is not None:
        with atomic_file(path / tallies.NAME) as file:
            tallies.write(file, result)
    with atomic_file(path / "results.json") as file:
        file.write(summary)


def _span(place: Place) -> dict[str, Any]:
    span: dict[str, Any] = {"start": place.start, "end": place.end, "label": place.label}
    return span if place.score is None else {**span, "score": place.score}
