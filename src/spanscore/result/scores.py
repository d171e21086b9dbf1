"""Precision, recall and F of one system by one measure: overall, by type, by document and by slice."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from spanscore.errors import UsageError, printable, unknown
from spanscore.stats import Bootstrap, Interval, Kinds, binomial_most, percentile_interval, stream
from spanscore.verdicts import Error, errors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from spanscore.align import Pairing
    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Floats, Longs
    from spanscore.measures import Judgement, Measure
    from spanscore.tally import Counts, Tally

NUMBERS = ("precision", "recall", "f")
NONE = "(none)"
"""Slice name for documents without a value."""


@dataclass(frozen=True)
class Score:
    """Precision, recall and F-beta, and the counts behind them; undefined values are NaN."""

    precision: float
    recall: float
    f: float
    beta: float
    counts: dict[str, Any] = field(hash=False)


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of one system by one measure: overall, by type and by document."""

    system: str
    measure: Measure
    tally: Tally
    beta: float
    signature: str
    pairing: Pairing | None = None

    @cached_property
    def overall(self) -> Score:
        """Return the score over all types and documents."""
        return self._scores(self.tally.total()[None])[0]

    @property
    def precision(self) -> float:
        """Return the fraction of predictions that are correct."""
        return self.overall.precision

    @property
    def recall(self) -> float:
        """Return the fraction of annotations that were found."""
        return self.overall.recall

    @property
    def f(self) -> float:
        """Return the F-beta of precision and recall."""
        return self.overall.f

    @property
    def counts(self) -> dict[str, Any]:
        """Return the counts behind the overall score."""
        return self.overall.counts

    @cached_property
    def by_type(self) -> dict[str, Score]:
        """Return the score of each annotated or predicted type; empty for measures that ignore types."""
        return self.by("type") if self.measure.by_type else {}

    @cached_property
    def by_document(self) -> dict[str, Score]:
        """Return the score of each document, if counts were kept per document."""
        return self.by("document")

    def interval(self, bootstrap: Bootstrap, label: str | None = None) -> Interval | None:
        """Return bootstrap confidence intervals of the overall score, or of one type.

        None if there are no counts per document, as for clustering measures.
        """
        if self.measure.needs_all_documents or not self.tally.documents:
            return None
        units = self.units(bootstrap.cluster)
        counts = units.of_label(label).present()
        kinds = Kinds.of(counts, len(units.documents) - len(counts))
        sums = kinds.resamples(bootstrap.resamples, stream(bootstrap.seed, label or ""))
        score = self.overall if label is None else self.by_type[label]
        p, r, f = (
            (math.nan, math.nan) if math.isnan(getattr(score, name)) else percentile_interval(values, bootstrap.level)
            for name, values in zip(NUMBERS, self.numbers(sums), strict=True)
        )
        annotated, missed = score.counts.get("annotated"), score.counts.get("fn")
        bounds = None
        if self.measure.counts_spans and isinstance(annotated, int) and isinstance(missed, int) and annotated:
            bounds = missed, annotated, binomial_most(missed, annotated, bootstrap.level)
        return Interval(p, r, f, bounds)

    def numbers(self, sums: Counts) -> tuple[Floats, Floats, Floats]:
        """Return precision, recall and F of rows of counts, with F = 0 if both are 0 (tables show it as undefined)."""
        named = {name: sums[:, i] for i, name in enumerate(self.tally.fields)}
        precision, recall, f = prf(self.measure, named, self.beta)
        return precision, recall, np.where((precision == 0) & (recall == 0), 0.0, f)

    def units(self, cluster: str | None) -> Tally:
        """Return the counts per resampling unit: a document, or a cluster of documents that share a metadata value."""
        if cluster is None:
            return self.tally
        group, names = self.slices(cluster)
        return replace(self.tally, documents=tuple(names), doc=group[self.tally.doc].astype(np.int32))

    def by(self, what: str) -> dict[str, Score]:
        """Return the score of each `type`, each `document`, or each value of the metadata field `meta.KEY`.

        A measure that ignores types scores the spans of each type separately.
        """
        names, counts = self.split(what)
        return dict(zip(names, self._scores(counts), strict=True))

    def micro(self, over: str = "type") -> Score:
        """Return the score of the counts summed over types, documents or metadata values."""
        return self._scores(self.split(over)[1].sum(axis=0)[None])[0]

    def macro(self, over: str = "type") -> Score:
        """Return the mean of each score and count over all types, documents or slices with annotations or predictions.

        An undefined precision or recall counts 0 in the mean, as in scikit-learn and seqeval.
        """
        counts = self.split(over)[1]
        rows = self._scores(counts[counts.any(axis=1)])
        p, r, f = (_mean([getattr(row, name) for row in rows]) for name in NUMBERS)
        names = rows[0].counts if rows else ()
        means = {name: _mean([row.counts[name] for row in rows]) for name in names}
        return Score(p, r, f, self.beta, means)

    def weighted(self, over: str = "type") -> Score:
        """Return the mean of each score weighted by what is annotated; undefined scores count 0."""
        counts = self.split(over)[1]
        named = {name: counts[:, i] for i, name in enumerate(self.tally.fields)}
        weight = np.asarray(self.measure.ratios(named)[3], np.float64)
        total = math.fsum(weight.tolist())
        p, r, f = (
            math.fsum((np.nan_to_num(column) * weight).tolist()) / total if total else math.nan
            for column in prf(self.measure, named, self.beta)
        )
        return Score(p, r, f, self.beta, {})

    def averages(self, over: str = "type") -> dict[str, Score]:
        """Return the micro, macro and weighted averages."""
        return {"micro": self.micro(over), "macro": self.macro(over), "weighted": self.weighted(over)}

    def undefined(self, over: str = "type") -> dict[str, int]:
        """Count the types, documents or slices whose precision or recall is undefined and counts 0 in averages."""
        counts = self.split(over)[1]
        rows = self._scores(counts[counts.any(axis=1)])
        return {name: sum(math.isnan(getattr(row, name)) for row in rows) for name in ("precision", "recall")}

    def split(self, what: str) -> tuple[Sequence[str], Counts]:
        """Return the names of the slices and one row of counts for each."""
        measure, tally = self.measure, self.tally
        if what == "type":
            if not measure.by_type:
                return self._kept.labels, self._alone(self._kept.of_type())
            counts = tally.by_label()
            rows = np.flatnonzero(counts.any(axis=1))
            return [tally.labels[row] for row in rows.tolist()], counts[rows]
        if what == "document":
            if measure.needs_all_documents:
                parts = self._kept.blocks(1) if len(self._kept) else ()
                return self._kept.gold.ids, self._alone(parts)
            return tally.documents, tally.by_document()
        group, names = self.slices(what)
        if measure.needs_all_documents:
            return names, self._alone(self._kept.take(np.flatnonzero(group == number)) for number in range(len(names)))
        if not tally.documents:
            raise UsageError("counts per document were not kept; score whole corpora to split the scores.")
        counts = tally.by_document()
        sums = np.zeros((len(names), counts.shape[1]), counts.dtype)
        np.add.at(sums, group, counts)
        return names, sums

    def slices(self, what: str) -> tuple[Longs, list[str]]:
        """Return the index of each document's slice by a metadata field, and the names of the slices."""
        refuse_unknown_split(what, *((self.pairing.gold, self.pairing.pred) if self.pairing else ()))
        key = what.removeprefix("meta.")
        column = next(side.meta[key] for side in (self._kept.gold, self._kept.pred) if key in side.meta)
        values = [_slice_name(value) for value in (*column.values, None)]
        names = sorted({values[code] for code in set(column.codes.tolist())})
        place = {name: number for number, name in enumerate(names)}
        return np.array([place.get(value, 0) for value in values])[column.codes], names

    def _alone(self, parts: Iterable[Pairing]) -> Counts:
        """Count each part of the data separately."""
        counts = [self.measure.tally(part).total() for part in parts]
        return np.array(counts).reshape(-1, len(self.tally.fields))

    @property
    def _kept(self) -> Pairing:
        if self.pairing is None:
            raise UsageError("spans are not kept when scoring in chunks; score whole corpora to split the scores.")
        return self.pairing

    def errors(self, *, correct: bool = False) -> Iterator[Error]:
        """Yield every span that this measure counts as wrong, with a verdict and an explanation."""
        return errors(self.judgement, correct=correct)

    @cached_property
    def confusion(self) -> dict[tuple[str | None, str | None], int]:
        """Return counts by gold and predicted type; None as predicted type is missed, None as gold type is spurious."""
        return self.judgement.confusion()

    @cached_property
    def judgement(self) -> Judgement:
        """Return the measure's judgement of every span."""
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


def refuse_unknown_split(what: str, *corpora: Corpus) -> None:
    """Raise an error unless the scores can be split by type, document or an existing metadata field."""
    if what in ("type", "document"):
        return
    if not what.startswith("meta."):
        raise UsageError(f"cannot split scores by '{printable(what)}'; use type, document or meta.KEY.")
    known = {key for corpus in corpora for key in corpus.meta}
    if what.removeprefix("meta.") not in known:
        raise UsageError(unknown("metadata field", what.removeprefix("meta."), known))


def prf(measure: Measure, counts: dict[str, Any], beta: float) -> tuple[Floats, Floats, Floats]:
    """Return precision, recall and F = (1 + b²)PR / (b²P + R) from columns of counts; 0/0 is NaN.

    F is undefined only where nothing was annotated and nothing predicted; where something was and nothing is right, it
    is 0 (for the `presidio` presets: NaN, as in the tool).
    """
    a, b, c, d = (np.asarray(column, np.float64) for column in measure.ratios(counts))
    with np.errstate(divide="ignore", invalid="ignore"):
        precision, recall = a / b, c / d
        f = (1 + beta**2) * precision * recall / (beta**2 * precision + recall)
        return precision, recall, np.where((a == 0) & (c == 0) & (b + d > 0), measure.f_without_hits, f)


def _mean(values: list[float]) -> float:
    """Return the mean, with 0 for NaN."""
    return math.fsum(0.0 if np.isnan(value) else value for value in values) / len(values) if values else math.nan


def _slice_name(value: object) -> str:
    """Return the slice name of a metadata value."""
    return NONE if value is None else str(value).lower() if isinstance(value, bool) else str(value)
