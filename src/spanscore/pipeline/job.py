"""A run as requested, and its outcome."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanscore.align.annotators import ALL, chosen_gold
from spanscore.align.labels import LabelMap
from spanscore.align.score_thresholds import ScoreThresholds
from spanscore.align.taxonomy import Taxonomy, levels_of
from spanscore.arguments import check_fields, checked, names_of
from spanscore.detectors import REGISTRY
from spanscore.errors import UsageError, printable
from spanscore.spec import Spec, without_values
from spanscore.stats import Bootstrap

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spanscore.align.entities import Alignment
    from spanscore.align.labels import GivenMap
    from spanscore.align.resolve import Resolve
    from spanscore.align.taxonomy import Level
    from spanscore.corpus import Corpus
    from spanscore.detectors import Detection, Detector
    from spanscore.pipeline.left_out import LeftOut
    from spanscore.result import Result, Scores


@dataclass(frozen=True)
class Job:
    """A run as requested: a detector over a dataset, and where to write."""

    dataset: Corpus
    detector: Detector
    folder: Path
    threshold: float = 0.9
    beta: float = 2.0
    score_threshold: ScoreThresholds = field(default_factory=ScoreThresholds)
    entities: tuple[str, ...] = ()
    label_map: GivenMap = None
    """User label map for both sides, which overrides the entity alignment."""
    gold_map: GivenMap = None
    """User label map for gold labels, which overrides `label_map`."""
    pred_map: GivenMap = None
    """User label map for predicted labels, which overrides `label_map`."""
    taxonomy: Taxonomy | None = None
    """The taxonomy by which types are aligned, instead of the default map."""
    levels: tuple[Level, ...] = ()
    """The levels of the taxonomy at which to score."""
    shared_types: bool = False
    """Whether only types that the dataset has and the detector can find are scored."""
    allow_missing_mappings: bool = False
    resolve: Resolve = "score"
    jobs: int = 1
    resume: bool = False
    resume_anyway: bool = False
    """Whether to resume although the detector has changed."""
    max_failures: int = 0
    ci: Bootstrap | None = None
    by: tuple[str, ...] = ()
    annotator: str = ""
    """Whose annotations are the gold data, if it has several: a name, all, majority, union or intersection."""

    def __post_init__(self) -> None:
        check_fields(self)

    @classmethod
    @checked
    def of(
        cls,
        dataset: Corpus,
        detector: Detector,
        folder: str | Path,
        *,
        threshold: float = 0.9,
        beta: float = 2.0,
        score_threshold: ScoreThresholds | float | str | Mapping[str, Any] | None = None,
        entities: str | Sequence[str] = (),
        label_map: GivenMap = None,
        gold_map: GivenMap = None,
        pred_map: GivenMap = None,
        align: str | None = None,
        taxonomy: Taxonomy | str | Path | None = None,
        levels: str | Sequence[str] = (),
        shared_types: bool = False,
        allow_missing_mappings: bool = False,
        resolve: Resolve = "score",
        jobs: int = 1,
        resume: bool = False,
        resume_anyway: bool = False,
        max_failures: int = 0,
        ci: Bootstrap | float | None = None,
        by: str | Sequence[str] = (),
        annotator: str | None = None,
    ) -> Job:
        """Build a job from what users write; `ci` may be a confidence level."""
        return cls(
            dataset,
            detector,
            Path(folder),
            threshold,
            beta,
            ScoreThresholds.of(score_threshold),
            (entities,) if isinstance(entities, str) else tuple(entities),
            label_map,
            gold_map,
            pred_map,
            Taxonomy.chosen(align, taxonomy, levels),
            levels_of(levels),
            shared_types,
            allow_missing_mappings,
            resolve,
            jobs,
            resume,
            resume_anyway,
            max_failures,
            Bootstrap(ci) if isinstance(ci, float | int) else ci,
            (by,) if isinstance(by, str) else tuple(by),
            annotator or "",
        )

    @cached_property
    def maps(self) -> dict[str, LabelMap]:
        """The maps that the user gave, by the name of their setting; empty ones are left out."""
        found = {name: LabelMap.of(getattr(self, name)) for name in ("label_map", "gold_map", "pred_map")}
        return {name: one for name, one in found.items() if one.to}

    @cached_property
    def gold(self) -> Corpus:
        """The spans that count: those of the chosen annotator, or of all where each of them counts."""
        return self.dataset if self.annotator == ALL else chosen_gold(self.dataset, self.annotator)


SETTINGS = names_of(Job.of)
"""What users can set for a run."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run: the result, and everything else that is written."""

    job: Job
    result: Result
    alignment: Alignment
    left_out: tuple[LeftOut, ...]
    spans_discarded: int
    """Gold spans that do not count because a type is unknown: theirs, or that of another span of their document."""
    predictions: tuple[tuple[str, Detection], ...]
    notes: tuple[str, ...]
    about: Mapping[str, Any]
    not_looked_for_by_language: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Types that are not looked for in one language, if each document has its own."""

    @property
    def shown(self) -> tuple[Scores, ...]:
        """The scores by each measure that metrics and tables show: those at the coarsest level that has types."""
        return at_coarsest_level(self.result)


def at_coarsest_level(result: Result) -> tuple[Scores, ...]:
    """Return the scores by each measure at the coarsest level that has types."""
    levels = dict.fromkeys(one.level for one in result.scores)
    level = next((one for one in levels if one != "pii"), "pii")
    return tuple(one for one in result.scores if one.level == level)


def chosen_detector(spec: str | Detector, *, language: str | None = None) -> Detector:
    """Return the detector of a spec.

    Without a language, the detector keeps its own; a language that contradicts that of the spec is an error.

    >>> chosen_detector("presidio(language=de)"), chosen_detector("presidio", language="de")
    (presidio(language=de), presidio(language=de))
    """
    made = REGISTRY.make(spec)
    if language is not None and made.language != language:
        given = Spec.parse(spec).arguments if isinstance(spec, str) else made.given()
        if any(name == "language" for name, _ in given):
            raise UsageError(
                f"'{without_values(str(spec))}' and the language {printable(language)} contradict each other."
            )
        made = replace(made, language=language)
    return made
