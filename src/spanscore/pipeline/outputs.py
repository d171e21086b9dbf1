"""The output files of a run, each written completely or not at all, metrics.json last."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from spanscore.align.invented import ATTRIBUTE
from spanscore.detectors import Failure
from spanscore.errors import printable
from spanscore.files import atomic_file, output_folder
from spanscore.pipeline.journal import FINISHED, RUN, write
from spanscore.report import confusion, error_tables, leak_table, summary
from spanscore.report.metrics import metrics
from spanscore.report.page_report import write_report
from spanscore.result import tallies
from spanscore.result.files import earlier_files, to_json
from spanscore.result.privacy import allowed
from spanscore.spec import Spec

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from spanscore.arguments import Text
    from spanscore.detectors import Detection
    from spanscore.pipeline.job import Job, Outcome
    from spanscore.pipeline.journal import Journal

FILES = (
    FINISHED,
    "alignment.json",
    "false_positives.csv",
    "false_negatives.csv",
    leak_table.NAME,
    "confusion_matrix.html",
    "results.json",
    "report.html",
    summary.NAME,
    RUN,
    "metrics.json",
)
RECORDED = (
    "threshold",
    "beta",
    "shared_types",
    "allow_missing_mappings",
    "resolve",
    "jobs",
    "resume",
    "resume_anyway",
    "max_failures",
    "by",
    "annotator",
)
"""Settings of a job that run.json shows as they are."""


def write_all(
    outcome: Outcome,
    journal: Journal,
    *,
    text: Text,
    arguments: Mapping[str, Any] | None = None,
    more: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Write all files of a run, which replace those of an earlier one together, metrics.json last.

    `arguments` are recorded beside those of the job; `more` is the content of further JSON files by name. Return the
    content of metrics.json.
    """
    folder = outcome.job.folder
    arguments = {**_arguments(outcome.job), **(arguments or {})}
    if text != "show":
        outcome = replace(outcome, result=outcome.result.with_settings(text=text))
    try:
        with output_folder(folder, last="metrics.json", stale=earlier_files(folder), lock=journal.lock) as new:
            for name, content in (more or {}).items():
                _json(new / name, content)
            said = _write_into(new, outcome, text=text, arguments=arguments)
        journal.finish()
    finally:
        journal.close()
    return said


def _write_into(folder: Path, outcome: Outcome, *, text: Text, arguments: Mapping[str, Any]) -> dict[str, Any]:
    began = time.perf_counter()
    by_type, pii, leak = outcome.shown
    with atomic_file(folder / FINISHED) as file:
        write(file, (_without_text(*one, text) for one in outcome.predictions))
    listed = [{"document": name, "types": types} for name, types in outcome.left_out]
    _json(folder / "alignment.json", {**outcome.alignment.to_dict(), "discarded": listed})
    with atomic_file(folder / "false_negatives.csv") as gold, atomic_file(folder / "false_positives.csv") as predicted:
        found = error_tables.write_errors(gold, predicted, by_type, text=text)
    counts = {"false_positives": found["predicted"], "false_negatives": found["gold"]}
    with atomic_file(folder / leak_table.NAME) as file:
        counts["leaks"] = leak_table.write_leaks(file, leak, text=text)
    title = f"Confusion matrix: {outcome.job.detector.name}, {outcome.job.detector.language}"
    with atomic_file(folder / "confusion_matrix.html") as file:
        page = confusion.page(by_type.confusion, title, f"Counted by {by_type.measure!r}.", by_type.signature)
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
    about |= {"arguments": shown, "warnings": notes}
    _json(folder / RUN, about, mode=0o600)
    more = {"warnings": notes, "errors": counts, "failures": about["failures"]}
    said = metrics(
        by_type,
        pii,
        leak,
        total=len(outcome.job.gold),
        discarded=len(outcome.left_out),
        spans_discarded=outcome.spans_discarded,
        not_looked_for=outcome.result.not_looked_for,
        not_looked_for_by_language=outcome.not_looked_for_by_language,
        more=more,
        bootstrap=outcome.result.bootstrap,
        by=outcome.result.by,
    )
    with atomic_file(folder / summary.NAME) as file:
        file.write(summary.page(said, about, inputs=outcome.result.inputs).encode("utf-8", "backslashreplace"))
    _json(folder / "metrics.json", said)
    return said


def _arguments(job: Job) -> dict[str, Any]:
    """Return the settings of a job as run.json records them."""
    by_taxonomy = {} if job.taxonomy is None else {"taxonomy": job.taxonomy.digest, "levels": list(job.levels)}
    return {
        "dataset": job.dataset.source,
        "detector": str(Spec(job.detector.name, job.detector.recorded())),
        "output": str(job.folder),
        "ci": None if job.ci is None else job.ci.level,
        "score_threshold": job.score_threshold.setting(),
        **by_taxonomy,
        **{name: dict(one.to) for name, one in job.maps.items()},
        **{name: getattr(job, name) for name in RECORDED},
    }


def _without_text(name: str, detection: Detection, text: Text) -> tuple[str, Detection]:
    """Mask or hide invented mentions, the only text that predictions hold."""
    if text == "show" or isinstance(detection, Failure):
        return name, detection
    return name, [
        msgspec.structs.replace(
            span, attrs={**span.attrs, ATTRIBUTE: allowed(str(span.attrs[ATTRIBUTE]), text) or True}
        )
        if span.attrs and ATTRIBUTE in span.attrs
        else span
        for span in detection
    ]


def _json(path: Path, said: Any, mode: int = 0o666) -> None:
    with atomic_file(path, mode=mode) as file:
        file.write(msgspec.json.format(msgspec.json.encode(said), indent=2) + b"\n")
