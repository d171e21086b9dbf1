"""`spanscore.run`: a detector over a labelled dataset, as the command of this name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanscore.align.score_thresholds import ScoreThresholds
from spanscore.align.taxonomy import Taxonomy, levels_of
from spanscore.arguments import checked
from spanscore.corpus import Corpus
from spanscore.engine.inputs import Input
from spanscore.errors import UsageError, unknown
from spanscore.files import check_folder
from spanscore.pipeline.job import Job, chosen_detector
from spanscore.pipeline.outputs import write_all
from spanscore.pipeline.run import run as run_job
from spanscore.report.confusion import plotly
from spanscore.stats import Bootstrap

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spanscore.align.labels import GivenMap
    from spanscore.detectors import Detector
    from spanscore.formats import Format
    from spanscore.result import Result
    from spanscore.result.privacy import Text


SETTINGS = (
    "allow_missing_mappings",
    "beta",
    "jobs",
    "max_failures",
    "resolve",
    "resume",
    "resume_anyway",
    "shared_types",
    "threshold",
)
"""Settings of a job that are passed on as they are."""


@checked
def run(
    dataset: str | Path | Corpus,
    detector: str | Detector = "presidio",
    output: str | Path = "out",
    *,
    language: str | None = None,
    entities: str | Sequence[str] = (),
    format: str | Format | None = None,  # noqa: A002  # the user's word
    label_map: GivenMap = None,
    gold_map: GivenMap = None,
    pred_map: GivenMap = None,
    score_threshold: float | str | Mapping[str, Any] | None = None,
    ci: Bootstrap | float | None = None,
    by: str | Sequence[str] = (),
    align: str | None = None,
    taxonomy: Taxonomy | str | Path | None = None,
    levels: str | Sequence[str] = (),
    annotator: str | None = None,
    text: Text = "show",
    **settings: Any,
) -> Result:
    """Run a detector over a labelled dataset, align the entity types, score, and write all files to a folder.

    Further settings are those of the command: `threshold`, `beta`, `resolve`, `jobs`, `resume`, `resume_anyway`,
    `max_failures`, `shared_types` and `allow_missing_mappings`. The result has the warnings of the run.
    """
    for name in settings:
        if name not in SETTINGS:
            raise UsageError(unknown("setting", name, SETTINGS))
    plotly()
    made = chosen_detector(detector, language=language)
    check_folder(str(output))
    job = Job(
        dataset=Input.of(dataset, format, all_annotators=bool(annotator)).corpus(),
        detector=made,
        folder=Path(output),
        entities=(entities,) if isinstance(entities, str) else tuple(entities),
        label_map=label_map,
        gold_map=gold_map,
        pred_map=pred_map,
        ci=Bootstrap(ci) if isinstance(ci, float | int) else ci,
        by=(by,) if isinstance(by, str) else tuple(by),
        score_threshold=ScoreThresholds.of(score_threshold),
        taxonomy=Taxonomy.of(taxonomy) if align or taxonomy or levels else None,
        levels=levels_of(levels),
        annotator=annotator or "",
        **settings,
    )
    outcome, journal = run_job(job)
    metrics = write_all(outcome, journal, text=text)
    result = outcome.result if text == "show" else outcome.result.with_settings(text=text)
    return result.with_warnings(metrics["warnings"])
