"""Results: precision, recall and F of systems by measures, overall, by type and by document."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from spanscore.errors import UsageError, unknown
from spanscore.measures import measure as as_measure
from spanscore.verdicts import Error, errors

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from spanscore.align import Pairing
    from spanscore.corpus import Floats
    from spanscore.measures import Judgement, Measure
    from spanscore.tally import Tally


@dataclass(frozen=True)
class Score:
    """Precision, recall and F-beta, and the counts behind them; undefined is nan."""

    precision: float
    recall: float
    f: float
    beta: float
    counts: dict[str, Any] = field(hash=False)


@dataclass(frozen=True)
class Average:
    """Means of precision, recall and F over types or documents where they are defined."""

    precision: float
    recall: float
    f: float


@dataclass(frozen=True, eq=False)
class Scores:
    """One system by one measure: the overall score's fields, and the same by type and document."""

    system: str
    measure: Measure
    tally: Tally
    beta: float
    signature: str
    pairing: Pairing | None = None

    @cached_property
    def overall(self) -> Score:
        """The score over all types and documents."""
        return self._scores(self.tally.total()[None])[0]

    @property
    def precision(self) -> float:
        """The share of what was predicted that is right."""
        return self.overall.precision

    @property
    def recall(self) -> float:
        """The share of what was annotated that was found."""
        return self.overall.recall

    @property
    def f(self) -> float:
        """F-beta of precision and recall."""
        return self.overall.f

    @property
    def counts(self) -> dict[str, Any]:
        """The counts behind the overall score."""
        return self.overall.counts

    @cached_property
    def by_type(self) -> dict[str, Score]:
        """The score of each type that was annotated or predicted; nothing for a measure that is blind to types."""
        if not self.measure.by_type:
            return {}
        counts = self.tally.by_label()
        scores = zip(self.tally.labels, self._scores(counts), counts, strict=True)
        return {label: score for label, score, row in scores if row.any()}

    @cached_property
    def by_document(self) -> dict[str, Score]:
        """The score of each document, if documents' own counts were kept."""
        return dict(zip(self.tally.documents, self._scores(self.tally.by_document()), strict=True))

    def macro(self, over: str = "type") -> Average:
        """The mean over types or documents of each number, leaving out those where it is undefined."""
        if over not in ("type", "document"):
            raise UsageError("macro averages are over 'type' or 'document'.")
        rows = (self.by_type if over == "type" else self.by_document).values()
        return Average(*(_mean([getattr(row, name) for row in rows]) for name in ("precision", "recall", "f")))

    def errors(self, *, correct: bool = False) -> Iterator[Error]:
        """Every span that this measure does not count as right, with verdict and explanation."""
        return errors(self._judgement, correct=correct)

    @cached_property
    def confusion(self) -> dict[tuple[str | None, str | None], int]:
        """Counts by gold type and predicted type; None is missed (as predicted) or spurious (as gold)."""
        return self._judgement.confusion()

    @property
    def _judgement(self) -> Judgement:
        if self.pairing is None:
            raise UsageError("errors are not kept when scoring in chunks; score whole corpora to see them.")
        return self.measure.judge(self.pairing)

    def _scores(self, counts: Any) -> list[Score]:
        named = {name: counts[:, i] for i, name in enumerate(self.tally.fields)}
        precision, recall, f = prf(self.measure, named, self.beta)
        shown = self.measure.shown(named)
        return [
            Score(float(p), float(r), float(f_), self.beta, {key: column[i].item() for key, column in shown.items()})
            for i, (p, r, f_) in enumerate(zip(precision, recall, f, strict=True))
        ]


@dataclass(frozen=True, eq=False)
class Result:
    """All systems by all measures.

    `result["iou"]` are the scores by a measure: by its repr, or by its name where only one has it. With several
    systems, `result["iou", "system"]`.
    """

    scores: tuple[Scores, ...]
    inputs: dict[str, Any]
    warnings: tuple[str, ...]

    def __getitem__(self, key: str | tuple[str, str]) -> Scores:
        measure, system = (key, None) if isinstance(key, str) else key
        if "(" in measure:
            measure = repr(as_measure(measure))
        among = [one for one in self.scores if system in (None, one.system)]
        found = [one for one in among if repr(one.measure) == measure] or [
            one for one in among if one.measure.name == measure
        ]
        if len(found) == 1:
            return found[0]
        if not found:
            raise UsageError(unknown("result for", str(key), {repr(one.measure) for one in self.scores}))
        listed = ", ".join(f'["{one.measure!r}", "{one.system}"]' for one in found)
        raise UsageError(f"'{key}' names several results; take one of {listed}.")

    def errors(self, measure: str, system: str | None = None, *, correct: bool = False) -> list[Error]:
        """The spans that a measure does not count as right (or all of them), with verdict and explanation."""
        return list(self[measure if system is None else (measure, system)].errors(correct=correct))

    def save(self, folder: str | Path, *, text: bool = True) -> None:
        """Write results.json and errors.jsonl into a folder, each whole or not at all."""
        from spanscore.report.files import save

        save(self, folder, text=text)

    def __str__(self) -> str:
        from spanscore.report.tables import plain

        return plain(self)


def prf(measure: Measure, counts: dict[str, Any], beta: float) -> tuple[Floats, Floats, Floats]:
    """Precision, recall and F = (1 + b²)PR / (b²P + R) from columns of counts; 0/0 is nan."""
    a, b, c, d = (np.asarray(column, np.float64) for column in measure.ratios(counts))
    with np.errstate(divide="ignore", invalid="ignore"):
        precision, recall = a / b, c / d
        return precision, recall, (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


def _mean(values: list[float]) -> float:
    defined = [value for value in values if not np.isnan(value)]
    return float(np.mean(defined)) if defined else float("nan")
