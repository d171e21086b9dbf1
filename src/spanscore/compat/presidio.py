"""presidio-evaluator's SpanEvaluator with the numbers of presidio-evaluator 0.3.2.

Scores, true positives, and numbers of annotated and predicted spans are the tool's to the last digit. False positives
and false negatives are what is left of the predicted and annotated spans; the tool's own do not always add up.
Import SpanEvaluator from `spanscore.compat.presidio` instead of `presidio_evaluator.evaluation`.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from spanscore.arguments import checked
from spanscore.corpus import Corpus
from spanscore.engine import score

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spanscore.result import Score, Scores

__all__ = ["EvaluationResult", "PIIEvaluationMetrics", "SpanEvaluator"]

_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", " ": "\\s", "\\": "\\\\"}


@dataclass
class PIIEvaluationMetrics:
    """The scores and counts of one entity type."""

    precision: float = 0.0
    recall: float = 0.0
    f_beta: float = 0.0
    num_predicted: int = 0
    num_annotated: int = 0
    true_positives: int = 0
    false_positives: int = 0
    false_negatives: int = 0


@dataclass
class EvaluationResult:
    """The scores of each type (`per_type`) and of everything as PII (`pii_*`), and the confusion matrix (`results`)."""

    per_type: dict[str, PIIEvaluationMetrics] = field(default_factory=dict)
    results: Counter[tuple[str, str]] = field(default_factory=Counter)
    n: int | None = None
    pii_precision: float | None = None
    pii_recall: float | None = None
    pii_f: float | None = None
    pii_predicted: int = 0
    pii_annotated: int = 0
    pii_true_positives: int = 0
    pii_false_positives: int = 0
    pii_false_negatives: int = 0

    @property
    def entity_precision_dict(self) -> dict[str, float]:
        """The precision of each type."""
        return {name: one.precision for name, one in self.per_type.items()}

    @property
    def entity_recall_dict(self) -> dict[str, float]:
        """The recall of each type."""
        return {name: one.recall for name, one in self.per_type.items()}

    @property
    def n_dict(self) -> dict[str, int]:
        """The number of predicted spans of each type."""
        return {name: one.num_predicted for name, one in self.per_type.items()}

    def to_log(self) -> dict[str, Any]:
        """Return all scores as one dictionary, for example for an experiment tracker."""
        found: dict[str, Any] = {f"pii_{name}": getattr(self, f"pii_{name}") for name in ("f", "recall", "precision")}
        found["n"] = self.n
        found |= {f"{name}_precision": value for name, value in self.entity_precision_dict.items()}
        found |= {f"{name}_recall": value for name, value in self.entity_recall_dict.items()}
        return {**found, **self.n_dict} if self.n else found


class SpanEvaluator:
    """Score a frame of tagged tokens by overlap of spans, as presidio-evaluator does.

    `entities_to_keep`, `generic_entities` and `verbose` are accepted and have no effect, as in the tool's scores.
    Without `skip_words`, those of the tool are used; an empty list means none.
    """

    def __init__(
        self,
        verbose: bool = False,
        model: None = None,
        entities_to_keep: list[str] | None = None,
        generic_entities: list[str] | None = None,
        skip_words: Iterable[str] | None = None,
        iou_threshold: float = 0.9,
        char_based: bool = True,
    ) -> None:
        if model is not None:
            raise ValueError(
                "give the predictions of the model: calculate_score_on_df(model.predict_dataset(dataset))."
            )
        self.skip_words = None if skip_words is None else list(skip_words)
        self.iou_threshold = iou_threshold
        self.char_based = char_based

    @checked
    def calculate_score_on_df(
        self, results_df: Iterable[Any], beta: float = 2, level: Literal["entity", "pii", "both"] = "both", **_: Any
    ) -> EvaluationResult:
        """Return the scores of a frame with sentence_id, token, annotation, prediction and start_indices."""
        gold, pred = (Corpus.from_presidio_evaluator(results_df, side) for side in ("annotation", "prediction"))
        found = EvaluationResult()
        with tempfile.TemporaryDirectory() as folder:
            options = f"threshold={self.iou_threshold!r}, unit={'char' if self.char_based else 'token'}"
            options += f", skip={self._skip(Path(folder))}"
            if level in ("entity", "both"):
                self._add_types(found, score(gold, pred, f"presidio({options})", beta=beta).scores[0])
            if level in ("pii", "both"):
                self._add_pii(found, score(gold, pred, f"presidio.pii({options})", beta=beta).scores[0].overall)
        return found

    def _skip(self, folder: Path) -> str:
        """Write the skip words to a file, and return the measure's parameter for it."""
        if not self.skip_words:
            return "default" if self.skip_words is None else "none"
        path = folder / "skip.txt"
        lines = ["".join(_ESCAPES.get(c, c) for c in word) or "\\e" for word in self.skip_words]
        path.write_text("\n".join(lines), encoding="utf-8")
        return f'"@{path}"'

    def _add_types(self, found: EvaluationResult, scores: Scores) -> None:
        for label, one in scores.by_type.items():
            found.per_type[label] = PIIEvaluationMetrics(
                one.precision, one.recall, one.f, one.counts["predicted"], one.counts["annotated"], *_counts(one)
            )
        found.n = sum(one.num_annotated for one in found.per_type.values())
        found.results = Counter({(gold or "O", pred or "O"): n for (gold, pred), n in scores.confusion.items() if n})

    def _add_pii(self, found: EvaluationResult, one: Score) -> None:
        found.pii_precision, found.pii_recall, found.pii_f = one.precision, one.recall, one.f
        found.pii_predicted, found.pii_annotated = one.counts["predicted"], one.counts["annotated"]
        found.pii_true_positives, found.pii_false_positives, found.pii_false_negatives = _counts(one)


def _counts(one: Score) -> tuple[int, int, int]:
    return one.counts["tp"], one.counts["fp"], one.counts["fn"]
