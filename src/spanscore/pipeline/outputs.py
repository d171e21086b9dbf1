"""What a run leaves behind, each file whole or not at all, the metrics last."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import msgspec

from spanscore.errors import InputError
from spanscore.pipeline.journal import FINISHED, RUN, write
from spanscore.report import confusion, error_tables
from spanscore.report.files import whole
from spanscore.report.metrics import metrics

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from spanscore.pipeline.journal import Journal
    from spanscore.pipeline.run import Outcome

FILES = (
    FINISHED,
    "alignment.json",
    "false_positives.csv",
    "false_negatives.csv",
    "confusion_matrix.html",
    RUN,
    "metrics.json",
)


def write_all(outcome: Outcome, journal: Journal, *, text: bool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Write all files of a run; what is returned is metrics.json."""
    began = time.perf_counter()
    folder, result = outcome.job.folder, outcome.result
    by_type, pii = result.scores
    if any((folder / name).is_dir() for name in FILES):
        raise InputError("it cannot be written: a folder is in the way.", str(folder))
    with whole(folder / FINISHED) as file:
        write(file, outcome.predictions)
    listed = [{"document": name, "types": types} for name, types in outcome.discarded]
    _json(folder / "alignment.json", {**outcome.alignment.to_dict(), "discarded": listed})
    with whole(folder / "false_negatives.csv") as gold, whole(folder / "false_positives.csv") as predicted:
        found = error_tables.write_errors(gold, predicted, by_type, text=text)
    counts = {"false_positives": found["predicted"], "false_negatives": found["gold"]}
    title = f"Confusion matrix: {outcome.job.detector.name}, {outcome.job.language}"
    with whole(folder / "confusion_matrix.html") as file:
        page = confusion.page(by_type.confusion, title, by_type.signature)
        file.write(page.encode("utf-8", "backslashreplace"))
    about = dict(outcome.about)
    about["seconds"] = {**about["seconds"], "writing": round(time.perf_counter() - began, 3)}
    _json(folder / RUN, {**about, "arguments": dict(arguments), "warnings": list(outcome.notes)})
    more = {"warnings": list(outcome.notes), "errors": counts, "failures": about["failures"]}
    total, discarded = len(outcome.job.dataset), len(outcome.discarded)
    said = metrics(by_type, pii, total=total, discarded=discarded, more=more)
    _json(folder / "metrics.json", said)
    journal.finish()
    return said


def _json(path: Path, said: Any) -> None:
    with whole(path) as file:
        file.write(msgspec.json.format(msgspec.json.encode(said), indent=2) + b"\n")
