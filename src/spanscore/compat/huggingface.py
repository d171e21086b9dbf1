"""A metric in the shape of Hugging Face's `evaluate`: `load().compute(predictions=..., references=...)`.

It needs neither the network nor the package `evaluate`. If that is installed, the metric is an `evaluate.Metric`.

>>> metric = load()
>>> found = metric.compute(predictions=[["B-PER", "O"]], references=[["B-PER", "I-PER"]])
>>> float(found["overall_precision"]), int(found["PER"]["number"]), found["overall_accuracy"]
(0.0, 1, 0.5)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spanscore.compat.seqeval import accuracy_score, classification_report, refuse_unknown_scheme
from spanscore.corpus import Corpus
from spanscore.engine import score
from spanscore.errors import UsageError, plural
from spanscore.measures import measure as as_measure

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["compute", "load"]

SEQEVAL = "seqeval"
DESCRIPTION = "Precision, recall and F1 of entities, by the rules of seqeval or by any measure of spanscore."
INPUTS = """
Args:
    predictions: for each document, a list of tags, or of spans: {"start": 0, "end": 3, "label": "PERSON"}.
    references: the same for the gold data.
Returns:
    A dictionary for each type (precision, recall, f1, number), and overall_precision, overall_recall, overall_f1.
"""


def load(measure: str = SEQEVAL, **options: Any) -> Any:
    """Return a metric: by the rules of seqeval, with the output of `evaluate.load("seqeval")`, or by a measure.

    `load("iou(threshold=0.5)")` scores spans, or the spans of tags. Options are those of `compute`, and its defaults.
    """
    if measure != SEQEVAL:
        as_measure(measure)  # an unknown one is an error here, not after training
    return _class()(measure, options)


def compute(
    predictions: Sequence[Sequence[Any]],
    references: Sequence[Sequence[Any]],
    measure: str = SEQEVAL,
    *,
    suffix: bool = False,
    scheme: str | None = None,
    mode: str | None = None,
    sample_weight: Sequence[int] | None = None,
    zero_division: str | int = "warn",
) -> dict[str, Any]:
    """Return the scores of each type and overall; the arguments after `measure` apply only to seqeval's rules."""
    if measure == SEQEVAL:
        return _by_seqeval(predictions, references, suffix, scheme, mode, zero_division)
    if len(predictions) != len(references):
        documents = plural(len(predictions), "prediction")
        raise UsageError(f"there are {documents}, but {plural(len(references), 'reference')}; give one per document.")
    scores = score(_corpus(references), _corpus(predictions), measure).scores[0]
    found: dict[str, Any] = {
        label: {**_numbers(one.precision, one.recall, one.f), "number": one.counts.get("annotated")}
        for label, one in scores.by_type.items()
    }
    overall = _numbers(scores.precision, scores.recall, scores.f)
    return {**found, **{f"overall_{name}": number for name, number in overall.items()}}


def _by_seqeval(
    predictions: Any, references: Any, suffix: bool, scheme: Any, mode: str | None, zero_division: str | int
) -> dict[str, Any]:
    refuse_unknown_scheme(scheme)
    report = classification_report(
        y_true=references,
        y_pred=predictions,
        suffix=suffix,
        output_dict=True,
        scheme=scheme,
        mode=mode,
        zero_division=zero_division,
    )
    found: dict[str, Any] = {
        name: {**_numbers(row["precision"], row["recall"], row["f1-score"]), "number": row["support"]}
        for name, row in report.items()
        if not name.endswith(" avg")
    }
    micro = report["micro avg"]
    overall = _numbers(micro["precision"], micro["recall"], micro["f1-score"])
    accuracy = accuracy_score(y_true=references, y_pred=predictions)
    return {**found, **{f"overall_{name}": one for name, one in overall.items()}, "overall_accuracy": accuracy}


def _numbers(precision: float, recall: float, f: float) -> dict[str, float]:
    return {"precision": precision, "recall": recall, "f1": f}


def _corpus(side: Sequence[Sequence[Any]]) -> Corpus:
    """Return lists of tags or of spans as a corpus; a tag stands for a word of one character."""
    rows = [list(one) for one in side]
    if any(isinstance(one, str) for row in rows for one in row):
        return Corpus.from_tags([["x"] * len(row) for row in rows], rows)
    return Corpus.from_documents([{"id": str(number), "spans": row} for number, row in enumerate(rows)])


class _Plain:
    """A metric without `evaluate`: batches are kept until `compute`."""

    name = "spanscore"

    def __init__(self, measure: str, options: dict[str, Any]) -> None:
        self._measure, self._options = measure, options
        self._kept: dict[str, list[Any]] = {"predictions": [], "references": []}

    def add_batch(self, *, predictions: Sequence[Any], references: Sequence[Any]) -> None:
        """Keep a batch of documents."""
        self._kept["predictions"].extend(predictions)
        self._kept["references"].extend(references)

    def add(self, *, prediction: Any, reference: Any) -> None:
        """Keep a document."""
        self.add_batch(predictions=[prediction], references=[reference])

    def compute(
        self, *, predictions: Sequence[Any] | None = None, references: Sequence[Any] | None = None, **options: Any
    ) -> dict[str, Any]:
        """Return the scores of these documents and of those that were added before."""
        if predictions is not None or references is not None:
            self.add_batch(
                predictions=[] if predictions is None else predictions,
                references=[] if references is None else references,
            )
        kept, self._kept = self._kept, {"predictions": [], "references": []}
        return compute(kept["predictions"], kept["references"], self._measure, **{**self._options, **options})

    def __repr__(self) -> str:
        return f"Metric({self._measure})"


def _class() -> Any:
    """Return the class of metrics: a subclass of `evaluate.Metric` if that is installed."""
    try:
        import datasets
        import evaluate
    except ImportError:
        return _Plain

    tags = datasets.Sequence(datasets.Value("string"))
    spans = [{"start": datasets.Value("int64"), "end": datasets.Value("int64"), "label": datasets.Value("string")}]

    class Spanscore(evaluate.Metric):  # type: ignore[misc]  # evaluate has no types
        """A metric of `evaluate`, which keeps what is added in its cache."""

        def __init__(self, measure: str, options: dict[str, Any]) -> None:
            super().__init__(keep_in_memory=True)
            self._measure, self._options = measure, options

        def _info(self) -> Any:
            both = [{"predictions": one, "references": one} for one in (tags, spans)]
            return evaluate.MetricInfo(
                description=DESCRIPTION,
                citation="",
                inputs_description=INPUTS,
                features=[datasets.Features(one) for one in both],
            )

        def _compute(self, predictions: Any, references: Any, **options: Any) -> dict[str, Any]:
            return compute(predictions, references, self._measure, **{**self._options, **options})

    return Spanscore
