"""Result files: results.json, errors.jsonl and the files beside them, replaced together."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from spanscore.files import SCORED, atomic_file, check_outputs, finish_interrupted, output_folder
from spanscore.result import tallies
from spanscore.result.privacy import excerpt
from spanscore.result.tables import gaps, known, rows
from spanscore.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.arguments import Text
    from spanscore.result import Result, Scores
    from spanscore.result.tables import Row
    from spanscore.verdicts import Error, Place

SCHEMA = "spanscore.results/1"


def to_json(result: Result) -> bytes:
    """Return the results as indented JSON; the same inputs always give the same bytes."""
    scores = {(one.system, repr(one.measure), one.level): one for one in result.scores}
    listed = [
        {
            "system": row.system,
            "measure": row.measure,
            **({"level": row.level} if row.level else {}),
            "type": row.type,
            **({"by": row.by} if row.by else {}),
            **({"slice": row.slice} if row.by and row.average is None else {}),
            **_average(row, scores[row.system, row.measure, row.level]),
            "precision": known(row.score.precision),
            "recall": known(row.score.recall),
            "f": known(row.score.f),
            "beta": row.score.beta,
            "counts": row.counts,
            **_interval(row, None if result.bootstrap is None else result.bootstrap.cluster),
            "signature": scores[row.system, row.measure, row.level].signature,
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
        **({"gaps": found} if (found := _gaps(result)) else {}),
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def _gaps(result: Result) -> list[dict[str, Any]]:
    """Return the largest gaps of recall between groups of spans."""
    return [
        {
            "system": one.system,
            "measure": repr(one.measure),
            **({"level": one.level} if one.level else {}),
            "by": by,
            "highest": gap.highest,
            "lowest": gap.lowest,
            "difference": gap.difference,
            **({} if gap.interval is None else {"interval": list(gap.interval)}),
        }
        for one, by, gap in gaps(result)
    ]


def _average(row: Row, scores: Scores) -> dict[str, Any]:
    """Return the kind of an average, and how many undefined scores count 0 in it."""
    if row.average is None:
        return {}
    undefined = {} if row.average == "micro" else scores.undefined(row.by or "type")
    return {"average": row.average, **({"undefined": undefined} if any(undefined.values()) else {})}


def _interval(row: Row, cluster: str | None) -> dict[str, Any]:
    """Return the confidence intervals of a row, if it has any, and the upper bounds of its miss rate."""
    if row.interval is None:
        return {}
    numbers = {name: [known(end) for end in getattr(row.interval, name)] for name in ("precision", "recall", "f")}
    fields: dict[str, Any] = {"interval": numbers}
    if (found := row.interval.missed) is not None:
        fields["missed"] = {
            "missed": found.missed,
            "annotated": found.annotated,
            "documents" if cluster is None else "clusters": found.units,
            "at_most": found.at_most,
            "at_most_spans": found.at_most_spans,
        }
    return fields


def error_record(error: Error, scores: Scores, *, text: Text) -> dict[str, Any]:
    """Return an error as a record of errors.jsonl."""
    record: dict[str, Any] = {
        "system": scores.system,
        "measure": repr(scores.measure),
        **({"level": scores.level} if scores.level else {}),
        "document": error.document,
        "side": error.side,
        "verdict": error.verdict,
        "iou": round(error.iou, 6),
        "span": _span(error.span),
        "counterpart": None if error.counterpart is None else _span(error.counterpart),
        "explanation": error.explanation,
    }
    if error.readable:
        record["readable"] = error.readable
    shown = excerpt(error.text, text)
    if shown is not None:
        record["text"] = shown
    return record


def save(result: Result, folder: str | Path, *, text: Text = "show") -> None:
    """Write results.json, errors.jsonl and, with confidence intervals, the counts per document.

    `text` controls how much document text is written: show, mask or hide.
    """
    with saving(result, folder, text=text):
        pass


@contextmanager
def saving(result: Result, folder: str | Path, *, text: Text = "show") -> Iterator[Path]:
    """Write the results to a new folder, to which the caller may add files; all replace earlier ones together."""
    check_outputs(None, str(folder))
    summary = to_json(result)  # first, so that an unknown split fails before any file is written
    encoder = msgspec.json.Encoder()
    with output_folder(folder, last="results.json", stale=earlier_files(folder)) as new:
        with atomic_file(new / "errors.jsonl") as file:
            for one in result.scores:
                for found in one.errors(ids=text == "show"):
                    file.write(encoder.encode(error_record(found, one, text=text)) + b"\n")
        if result.bootstrap is not None:
            with atomic_file(new / tallies.NAME) as file:
                tallies.write(file, result)
        yield new
        with atomic_file(new / "results.json") as file:
            file.write(summary)


def earlier_files(folder: str | Path) -> list[str]:
    """Return the names of the files that `score` or `compare` wrote to a folder earlier; none if it has no results."""
    finish_interrupted(folder)
    try:
        found = msgspec.json.decode((Path(folder) / "results.json").read_bytes(), type=_Schema)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return []
    compared = (Path(folder) / "comparison.json").exists()
    names = [name for name in SCORED if compared or not name.startswith("diff.")]
    return names if found.schema == SCHEMA else []


class _Schema(msgspec.Struct):
    schema: str


def _span(place: Place) -> dict[str, Any]:
    span: dict[str, Any] = {"start": place.start, "end": place.end, "label": place.label}
    more = {"score": place.score, "kbid": place.kbid}
    return {**span, **{name: value for name, value in more.items() if value is not None}}
