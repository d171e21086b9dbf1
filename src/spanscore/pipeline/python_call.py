"""`spanscore.run`: a detector over a labelled dataset, as the command of this name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanscore.arguments import checked
from spanscore.corpus import Corpus
from spanscore.engine.inputs import Input
from spanscore.files import check_folder
from spanscore.pipeline.job import SETTINGS, Job, chosen_detector
from spanscore.pipeline.outputs import write_all
from spanscore.pipeline.run import run as run_job
from spanscore.report.confusion import plotly

if TYPE_CHECKING:
    from spanscore.arguments import Text
    from spanscore.detectors import Detector
    from spanscore.formats import Format
    from spanscore.result import Result


@checked(settings=SETTINGS)
def run(
    dataset: str | Path | Corpus,
    detector: str | Detector = "presidio",
    output: str | Path = "out",
    *,
    language: str | None = None,
    format: str | Format | None = None,  # noqa: A002  # the user's word
    annotator: str | None = None,
    text: Text = "show",
    **settings: Any,
) -> Result:
    """Run a detector over a labelled dataset, align the entity types, score, and write all files to a folder.

    Further settings are the same as for the command: `entities`, `threshold`, `beta`, `score_threshold`, `label_map`,
    `gold_map`, `pred_map`, `align`, `taxonomy`, `levels`, `shared_types`, `allow_missing_mappings`, `resolve`, `by`,
    `ci`, `jobs`, `max_failures`, `resume` and `resume_anyway`. The result has the warnings of the run.
    """
    plotly()
    made = chosen_detector(detector, language=language)
    check_folder(str(output))
    corpus = Input.of(dataset, format, all_annotators=bool(annotator)).corpus()
    job = Job.of(corpus, made, output, annotator=annotator, **settings)
    outcome, journal = run_job(job)
    metrics = write_all(outcome, journal, text=text)
    result = outcome.result if text == "show" else outcome.result.with_settings(text=text)
    return result.with_warnings(metrics["warnings"])
