"""Results as files: JSON for programs, errors as JSON Lines; each written whole or not at all."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, TYPE_CHECKING, Any

import msgspec

from spanscore.errors import InputError
from spanscore.report import tallies
from spanscore.report.privacy import allowed
from spanscore.report.tables import known, rows
from spanscore.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.report.privacy import Text
    from spanscore.report.tables import Row
    from spanscore.result import Result, Scores
    from spanscore.verdicts import Error, Place

SCHEMA = "spanscore.results/1"


def to_json(result: Result) -> bytes:
    """The results as indented JSON; the same inputs give the same bytes."""
    signatures = {(one.system, repr(one.measure)): one.signature for one in result.scores}
    listed = [
        {
            "system": row.system,
            "measure": row.measure,
            "type": row.type,
            **({"by": row.by, "slice": row.slice} if row.by else {}),
            "precision": known(row.score.precision),
            "recall": known(row.score.recall),
            "f": known(row.score.f),
            "beta": row.score.beta,
            "counts": row.score.counts,
            **_interval(row),
            "signature": signatures[row.system, row.measure],
        }
        for row in rows(result)
    ]
    said = {
        "schema": SCHEMA,
        "version": __version__,
        "inputs": result.inputs,
        "settings": result.settings,
        "warnings": list(result.warnings),
        "results": listed,
        "averages": [average for one in result.scores for average in _averages(one)],
    }
    return msgspec.json.format(msgspec.json.encode(said), indent=2) + b"\n"


def _interval(row: Row) -> dict[str, Any]:
    """The interval of a row, if there is one, and the exact bound of what is missed."""
    if row.interval is None:
        return {}
    numbers = {name: [known(end) for end in getattr(row.interval, name)] for name in ("precision", "recall", "f")}
    said: dict[str, Any] = {"interval": numbers}
    if row.interval.missed is not None:
        missed, annotated, share = row.interval.missed
        said["missed"] = {"missed": missed, "annotated": annotated, "at_most": share}
    return said


def _averages(one: Scores) -> Iterator[dict[str, Any]]:
    if one.measure.by_type:
        mean = one.macro("type")
        numbers = {"precision": mean.precision, "recall": mean.recall, "f": mean.f}
        defined = {key: known(value) for key, value in numbers.items()}
        yield {"system": one.system, "measure": repr(one.measure), "average": "macro by type", **defined}


def error_record(error: Error, scores: Scores, *, text: Text) -> dict[str, Any]:
    """An error as a line of errors.jsonl."""
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
    said = allowed(error.text, text)
    if said is not None:
        record["text"] = said
    return record


def save(result: Result, folder: str | Path, *, text: Text = "show") -> None:
    """Write results.json, errors.jsonl and, where there are intervals, documents' counts.

    `text` says how much of the documents' text: show, mask or hide.
    """
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder cannot be made ({error.strerror}).", str(folder)) from None
    said = to_json(result)
    encoder = msgspec.json.Encoder()
    with whole(path / "errors.jsonl") as file:
        for one in result.scores:
            for found in one.errors():
                file.write(encoder.encode(error_record(found, one, text=text)) + b"\n")
    if result.bootstrap is not None:
        with whole(path / tallies.NAME) as file:
            tallies.write(file, result)
    with whole(path / "results.json") as file:
        file.write(said)


@contextmanager
def whole(path: str | Path) -> Iterator[IO[bytes]]:
    """A file that appears under its name only when all of it is written; a pipe or device is written to as it is."""
    target = Path(os.path.realpath(path))
    try:
        if Path(path).exists() and not Path(path).is_file():
            with Path(path).open("wb") as file:
                yield file
            return
        with NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
            try:
                yield file
                file.close()
                umask = os.umask(0)
                os.umask(umask)
                Path(file.name).chmod(0o666 & ~umask)
                Path(file.name).replace(target)
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        raise InputError(f"it cannot be written ({error.strerror}).", str(path)) from None


def check_outputs(file: str | None, folder: str | None) -> None:
    """Refuse what cannot be written before any work is done."""
    if (
        file is not None
        and file != "-"
        and (not file or Path(file).is_dir() or not Path(file).absolute().parent.is_dir())
    ):
        raise InputError("it cannot be written: it is a folder, or is in a folder that does not exist.", file or "''")
    if folder is not None:
        there = next(path for path in (Path(folder).absolute(), *Path(folder).absolute().parents) if path.exists())
        inside = [Path(folder) / name for name in ("results.json", "errors.jsonl", "report.html")]
        if not folder or not there.is_dir() or any(path.is_dir() for path in inside):
            raise InputError("it cannot be written: this is not a folder, or cannot become one.", folder or "''")


def _span(place: Place) -> dict[str, Any]:
    span: dict[str, Any] = {"start": place.start, "end": place.end, "label": place.label}
    return span if place.score is None else {**span, "score": place.score}
