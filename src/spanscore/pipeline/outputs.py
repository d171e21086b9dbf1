"""The output files of a run, each written completely or not at all, metrics.json last."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import msgspec

from spanscore.errors import InputError, printable
from spanscore.files import atomic_file
from spanscore.pipeline.journal import FINISHED, RUN, write
from spanscore.report import confusion, error_tables
from spanscore.report.metrics import metrics
from spanscore.report.page_report import write_report
from spanscore.result import tallies
from spanscore.result.files import to_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spanscore.pipeline.journal import Journal
    from spanscore.pipeline.run import Outcome
    from spanscore.result.privacy import Text

FILES = (
    FINISHED,
    "alignment.json",
    "false_positives.csv",
    "false_negatives.csv",
    "confusion_matrix.html",
    "results.json",
    "report.html",
    RUN,
    "metrics.json",
)


def check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be written to, before any work is done."""
    there = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    if not there.is_dir() or any((folder / name).is_dir() for name in FILES):
        what = "cannot write here: this is not a folder, or a folder has the name of an output file."
        raise InputError(what, str(folder))


def write_all(outcome: Outcome, journal: Journal, *, text: Text, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Write all files of a run beside those of an earlier one, then move them into place, metrics.json last.

    Return the content of metrics.json.
    """
    folder = outcome.job.folder
    try:
        with TemporaryDirectory(dir=folder, prefix=".writing-") as made:
            said = _write_into(Path(made), outcome, text=text, arguments=arguments)
            (folder / "metrics.json").unlink(missing_ok=True)
            (folder / tallies.NAME).unlink(missing_ok=True)
            for name in sorted(Path(made).iterdir(), key=lambda path: path.name == "metrics.json"):
                name.replace(folder / name.name)
    except OSError as error:
        raise InputError(f"cannot write to this folder ({error.strerror}).", str(folder)) from None
    journal.finish()
    return said


def _write_into(folder: Path, outcome: Outcome, *, text: Text, arguments: Mapping[str, Any]) -> dict[str, Any]:
    began = time.perf_counter()
    by_type, pii = outcome.result.scores
    with atomic_file(folder / FINISHED) as file:
        write(file, outcome.predictions)
    listed = [{"document": name, "types": types} for name, types in outcome.discarded]
    _json(folder / "alignment.json", {**outcome.alignment.to_dict(), "discarded": listed})
    with atomic_file(folder / "false_negatives.csv") as gold, atomic_file(folder / "false_positives.csv") as predicted:
        found = error_tables.write_errors(gold, predicted, by_type, text=text)
    counts = {"false_positives": found["predicted"], "false_negatives": found["gold"]}
    title = f"Confusion matrix: {outcome.job.detector.name}, {outcome.job.detector.language}"
    with atomic_file(folder / "confusion_matrix.html") as file:
        page = confusion.page(by_type.confusion, title, by_type.signature)
        file.write(page.encode("utf-8", "backslashreplace"))
    if outcome.result.bootstrap is not None:
        with atomic_file(folder / tallies.NAME) as file:
            tallies.write(file, outcome.result)
    with atomic_file(folder / "results.json") as file:
        file.write(to_json(outcome.result))
    written = time.perf_counter()
    left_out = write_report(outcome.result, folder / "report.html", text=text)
    notes = [*outcome.notes, *([] if left_out is None else [left_out])]
    about = dict(outcome.about)
    seconds = {"writing": round(written - began, 3), "report": round(time.perf_counter() - written, 3)}
    about["seconds"] = {**about["seconds"], **seconds}
    shown = {
        name: printable(value, limit=4096) if isinstance(value, str) else value for name, value in arguments.items()
    }
    _json(folder / RUN, {**about, "arguments": shown, "warnings": notes})
    more = {"warnings": notes, "errors": counts, "failures": about["failures"]}
    said = metrics(
        by_type,
        pii,
        total=len(outcome.job.dataset),
        discarded=len(outcome.discarded),
        spans_discarded=outcome.spans_discarded,
        more=more,
        bootstrap=outcome.result.bootstrap,
    )
    _json(folder / "metrics.json", said)
    return said


def _json(path: Path, said: Any) -> None:
    with atomic_file(path) as file:
        file.write(msgspec.json.format(msgspec.json.encode(said), indent=2) + b"\n")
