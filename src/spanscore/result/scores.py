"""Precision, recall and F of one system by one measure: overall, by type, by document and by slice."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from spanscore.align.span_groups import NONE, SpanGroups, is_span_property, slice_name
from spanscore.errors import UsageError, printable, unknown
from spanscore.measures.span_precision import SpanPrecision
from spanscore.measures.span_recall import SpanRecall
from spanscore.stats import Interval, Kinds, Missed, binomial_most, intervals, stream, widest_gap
from spanscore.tally import NO_TYPE
from spanscore.verdicts import SIDES, Error, errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from spanscore.align import Pairing
    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Floats, Longs
    from spanscore.measures import Judgement, Measure
    from spanscore.stats import Bootstrap
    from spanscore.tally import Counts, Tally

NUMBERS = ("precision", "recall", "f")


@dataclass(frozen=True)
class Score:
    """Precision, recall and F-beta, and the counts behind them; undefined values are NaN."""

    precision: float
    recall: float
    f: float
    beta: float
    counts: dict[str, Any] = field(hash=False)


@dataclass(frozen=True)
class Gap:
    """The largest gap of recall between two slices; its confidence interval allows for the choice of the two."""

    highest: str
    lowest: str
    difference: float
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of one system by one measure: overall, by type and by document."""

    system: str
    measure: Measure
    tally: Tally
    beta: float
    signature: str
    pairing: Pairing | None = None
    level: str | None = None
    """The level of the taxonomy at which labels were compared, if levels were asked for."""

    @property
    def name(self) -> str:
        """The measure, followed by `@` and the level if there is one: `iou@branch`."""
        return repr(self.measure) if self.level is None else f"{self.measure!r}@{self.level}"

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
    def f1(self) -> float:
        """Return the F1 of precision and recall, whatever beta is."""
        return self.f if self.beta == 1 else replace(self, beta=1.0).f

    @property
    def summary(self) -> str:
        """The measure and its scores in a line."""
        p, r, f = ("–" if math.isnan(number) else f"{number:.3f}" for number in (self.precision, self.recall, self.f))
        return f"{self.measure!r}: P {p}, R {r}, F{self.beta:g} {f}"

    def __repr__(self) -> str:
        return f"Scores({printable(self.system)}, {self.summary})"

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
        """Return confidence intervals of the overall score, or of one type.

        None if there are no counts per document, as for clustering measures.
        """
        known = self._known_intervals
        if (bootstrap, label) not in known:
            over = "type" if label else None
            known[bootstrap, label] = self._interval(self.tally.of_label(label), bootstrap, over)
        return known[bootstrap, label]

    @cached_property
    def _known_intervals(self) -> dict[tuple[Bootstrap, str | None], Interval | None]:
        """The intervals that were computed: several outputs show the same ones."""
        return {}

    def intervals(self, bootstrap: Bootstrap, what: str) -> dict[str, Interval | None]:
        """Return confidence intervals of each slice; a single document has none."""
        if what == "document":
            return {}
        if is_span_property(what):
            groups = self.of_spans(what)
            return {name: groups._interval(tally, bootstrap) for name, tally in groups.parts("type")}
        return {name: self._interval(tally, bootstrap, what) for name, tally in self.parts(what)}

    def gap(self, what: str, bootstrap: Bootstrap | None = None) -> Gap | None:
        """Return the gap between the slices with the highest and the lowest recall; None if fewer than two have any.

        The interval holds for all pairs of slices together. Spans and documents without a value form no slice here.
        """
        recalls = {name: one.recall for name, one in self.by(what).items() if name != NONE and one.recall >= 0}
        if len(recalls) < 2:
            return None
        ordered = sorted(recalls, key=recalls.__getitem__)  # if all are equal, these still are two slices
        high, low = ordered[-1], ordered[0]
        difference = recalls[high] - recalls[low]
        split, over = (self.of_spans(what), "type") if is_span_property(what) else (self, what)
        if bootstrap is None or what == "document" or split.measure.needs_all_documents:
            return Gap(high, low, difference)
        groups = {name: split._resampled(bootstrap, one) for name, one in split.parts(over) if name in recalls}
        chosen = list(groups).index(high), list(groups).index(low)
        recall = split.statistics[NUMBERS.index("recall")]
        interval = widest_gap(list(groups.values()), recall, chosen, bootstrap, stream(bootstrap.seed, "gap"))
        return Gap(high, low, difference, interval)

    def _resampled(self, bootstrap: Bootstrap, tally: Tally) -> Floats:
        """Return the numerators and denominators of what is resampled: documents, or clusters of them."""
        return self.ratio_columns(self.units(bootstrap.cluster, tally).present())

    def _interval(self, tally: Tally, bootstrap: Bootstrap, over: str | None = None) -> Interval | None:
        if self.measure.needs_all_documents or not tally.documents:
            return None
        units = self._resampled(bootstrap, tally)
        seed = stream(bootstrap.seed, "")  # whatever a slice is called: equal counts have equal intervals
        found = intervals(Kinds.of(units), self.statistics, bootstrap, seed)
        total = self._prf(units.sum(axis=0)[None], over)
        p, r, f = (
            (math.nan, math.nan) if math.isnan(point[0]) else ends for point, ends in zip(total, found, strict=True)
        )
        return Interval(p, r, f, self._missed(units, r[0], bootstrap.level))

    def _missed(self, units: Counts, least: float, level: float) -> Missed | None:
        """Return the bounds on misses; None for measures that do not count spans as wholly found or missed."""
        hit, annotated = units[:, 2], units[:, 3]
        if not self.measure.finds_spans or not annotated.any() or (hit % 1).any():
            return None
        missed, total = round((annotated - hit).sum()), round(annotated.sum())
        holding = int(np.count_nonzero(annotated))
        return Missed(missed, total, holding, 1 - least, binomial_most(missed, total, level))

    def ratio_columns(self, counts: Counts) -> Floats:
        """Return the numerator and denominator of precision, then of recall, for rows of counts."""
        named = {name: counts[:, i] for i, name in enumerate(self.tally.fields)}
        return np.stack([np.asarray(column, np.float64) for column in self.measure.ratios(named)], axis=1)

    @property
    def statistics(self) -> list[Callable[[Counts], Floats]]:
        """Return functions that compute precision, recall and F from `ratio_columns`, with F = 0 without hits."""
        return [partial(_number, place, self.beta) for place in range(len(NUMBERS))]

    def numbers(self, sums: Counts) -> tuple[Floats, Floats, Floats]:
        """Return precision, recall and F of rows of counts, with F = 0 if nothing is right."""
        return prf_of_ratios(self.ratio_columns(sums), self.beta)

    def units(self, cluster: str | None, tally: Tally | None = None) -> Tally:
        """Return the counts per resampling unit: a document, or a cluster of documents that share a metadata value."""
        tally = self.tally if tally is None else tally
        if cluster is None:
            return tally
        group, names = self.slices(cluster)
        return replace(tally, documents=tuple(names), doc=group[tally.doc].astype(np.int32))

    def by(self, what: str) -> dict[str, Score]:
        """Return the score of each `type`, each `document`, or each value of the metadata field `meta.KEY`.

        A measure that ignores types scores the spans of each type separately.
        """
        if is_span_property(what):
            return self.of_spans(what).by("type")
        names, counts = self.split(what)
        return dict(zip(names, self._scores(counts, what), strict=True))

    def micro(self, over: str = "type") -> Score:
        """Return the score of the counts summed over types, documents or metadata values."""
        if is_span_property(over):
            return self.of_spans(over).micro("type")
        if over == "type" and (self.measure.by_type or self.measure.type_blind):
            return self.overall  # what belongs to no type counts too
        return self._scores(self.split(over)[1].sum(axis=0)[None])[0]

    def macro(self, over: str = "type") -> Score:
        """Return the mean of each score and count over all types, documents or slices with annotations or predictions.

        An undefined precision or recall counts 0 in the mean, as in scikit-learn and seqeval. Over documents, a measure
        may take the mean over all of them, and F from the mean precision and recall (`Measure.macro_over_documents`).
        """
        if is_span_property(over):
            return self.of_spans(over).macro("type")
        rows = self._averaged(over)
        p, r, f = (_mean([getattr(row, name) for row in rows]) for name in NUMBERS)
        if over == "document" and self.measure.macro_over_documents:
            f = (1 + self.beta**2) * p * r / (self.beta**2 * p + r) if p + r > 0 else math.nan
        names = rows[0].counts if rows else ()
        means = {name: _mean([row.counts[name] for row in rows]) for name in names}
        p, f = (p, f) if self.measure.has_precision(over) else (math.nan, math.nan)
        return Score(p, r, f, self.beta, means)

    def _averaged(self, over: str) -> list[Score]:
        """Return the scores that the macro average averages."""
        counts = self.split(over)[1]
        every = over == "document" and self.measure.macro_over_documents
        return self._scores(counts if every else counts[counts.any(axis=1)])

    def weighted(self, over: str = "type") -> Score:
        """Return the mean of each score weighted by what is annotated; undefined scores count 0."""
        if is_span_property(over):
            return self.of_spans(over).weighted("type")
        counts = self.split(over)[1]
        named = {name: counts[:, i] for i, name in enumerate(self.tally.fields)}
        weight = np.asarray(self.measure.ratios(named)[3], np.float64)
        total = math.fsum(weight.tolist())
        p, r, f = (
            math.fsum((np.nan_to_num(column) * weight).tolist()) / total if total else math.nan
            for column in prf(self.measure, named, self.beta)
        )
        p, f = (p, f) if self.measure.has_precision(over) else (math.nan, math.nan)
        return Score(p, r, f, self.beta, {})

    def averages(self, over: str = "type") -> dict[str, Score]:
        """Return the micro, macro and weighted averages."""
        return {"micro": self.micro(over), "macro": self.macro(over), "weighted": self.weighted(over)}

    def undefined(self, over: str = "type") -> dict[str, int]:
        """Count the types, documents or slices whose precision or recall is undefined and counts 0 in averages."""
        if is_span_property(over):
            return self.of_spans(over).undefined("type")
        rows = self._averaged(over)
        undefined = {name: sum(math.isnan(getattr(row, name)) for row in rows) for name in ("precision", "recall")}
        return undefined if self.measure.has_precision(over) else {**undefined, "precision": 0}

    def split(self, what: str) -> tuple[Sequence[str], Counts]:
        """Return the names of the slices and one row of counts for each."""
        known: dict[str, tuple[Sequence[str], Counts]] = self.__dict__.setdefault("_splits", {})
        if what not in known:  # averages and several outputs need the same ones
            known[what] = self._split(what)
        return known[what]

    def _split(self, what: str) -> tuple[Sequence[str], Counts]:
        if what == "document" and not self.measure.needs_all_documents:
            return self.tally.documents, self.tally.by_document()
        named = dict(self.parts(what))
        return list(named), np.array([one.total() for one in named.values()]).reshape(-1, len(self.tally.fields))

    def span_groups(self, what: str) -> SpanGroups:
        """Return the groups of gold spans by a property."""
        return SpanGroups.of(what, _read)

    def splits_predictions(self, what: str) -> bool:
        """Return whether this is an attribute that only predictions have, so that precision is split by it."""
        return is_span_property(what) and self.span_groups(what).of_predictions(self._kept)

    def of_spans(self, what: str) -> Scores:
        """Return the recall of gold spans by a property of theirs, as scores whose types are the groups of spans.

        For an attribute that only predictions have, it is the precision of predictions.
        """
        known: dict[str, Scores] = self.__dict__.setdefault("_of_spans", {})
        if what not in known:
            split = SpanPrecision if self.splits_predictions(what) else SpanRecall
            measure = split(self.measure, self.span_groups(what))
            known[what] = replace(self, measure=measure, tally=measure.tally(self._kept))
        return known[what]

    def parts(self, what: str) -> Iterator[tuple[str, Tally]]:
        """Yield the name and the counts of each type, document or value of a metadata field."""
        measure, tally = self.measure, self.tally
        names: Sequence[str]
        if what == "type" and measure.by_type:
            for row in np.flatnonzero(tally.by_label().any(axis=1)).tolist():
                if tally.labels[row] != NO_TYPE:
                    yield tally.labels[row], tally.of_label(tally.labels[row])
            return
        if what == "type":
            spans = measure.counted_spans(self._kept)
            named = (
                dict(spans.of_gold_type())
                if measure.type_blind
                else dict(zip(spans.labels, spans.of_type(), strict=True))
            )
            names, parts = list(named), iter(named.values())
        elif what == "document":
            names, parts = self._kept.gold.ids, self._kept.blocks(1) if len(self._kept) else iter(())
        else:
            group, names = self.slices(what)
            if not measure.needs_all_documents:
                yield from zip(names, self._groups(group, len(names)), strict=True)
                return
            parts = (self._kept.take(np.flatnonzero(group == number)) for number in range(len(names)))
        for name, part in zip(names, parts, strict=True):
            yield name, measure.tally(part)

    def _groups(self, group: Longs, number: int) -> Iterator[Tally]:
        """Yield the counts of each group of documents."""
        if not self.tally.documents:
            raise UsageError("counts per document were not kept; score whole corpora to split the scores.")
        of = group[self.tally.doc]
        order = np.argsort(of, kind="stable")
        bounds = np.searchsorted(of[order], np.arange(number + 1)).tolist()
        for first, last in pairwise(bounds):
            yield self.tally.of_rows(order[first:last])

    def slices(self, what: str) -> tuple[Longs, list[str]]:
        """Return the index of each document's slice by a metadata field, and the names of the slices."""
        refuse_unknown_split(what, *((self.pairing.gold, self.pairing.pred) if self.pairing else ()))
        key = what.removeprefix("meta.")
        column = next(side.meta[key] for side in (self._kept.gold, self._kept.pred) if key in side.meta)
        values = [slice_name(value) for value in (*column.values, None)]
        names = sorted({values[code] for code in set(column.codes.tolist())})
        place = {name: number for number, name in enumerate(names)}
        return np.array([place.get(value, 0) for value in values])[column.codes], names

    @property
    def _kept(self) -> Pairing:
        if self.pairing is None:
            raise UsageError("spans are not kept when scoring in chunks; score whole corpora to split the scores.")
        return self.pairing

    def errors(self, *, correct: bool = False, ids: bool = True, sides: Sequence[str] = SIDES) -> Iterator[Error]:
        """Yield every span that this measure counts as wrong, with a verdict and an explanation.

        Without `ids`, the ids of entities, which may reveal what a text says, are left out. `sides` are gold, predicted
        or both.
        """
        shown = ids and self.measure.compares_ids
        return errors(self.judgement, correct=correct, text_ends=self._kept.text_ends, ids=shown, sides=sides)

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

    def _prf(self, columns: Floats, over: str | None) -> tuple[Floats, Floats, Floats]:
        return prf_of_ratios(
            columns,
            self.beta,
            self.measure.f_without_hits,
            has_precision=over is None or self.measure.has_precision(over),
        )

    def _scores(self, counts: Any, over: str | None = None) -> list[Score]:
        named = {name: counts[:, i] for i, name in enumerate(self.tally.fields)}
        precision, recall, f = self._prf(self.ratio_columns(counts), over)
        shown = self.measure.shown(named)
        return [
            Score(float(p), float(r), float(f_), self.beta, {key: column[i].item() for key, column in shown.items()})
            for i, (p, r, f_) in enumerate(zip(precision, recall, f, strict=True))
        ]


def refuse_unknown_split(what: str, *corpora: Corpus) -> None:
    """Raise an error unless the scores can be split by type, document, a metadata field or a property of spans."""
    if what in ("type", "document"):
        return
    if is_span_property(what):
        SpanGroups.of(what, _read).check(*corpora[:2])
        return
    if not what.startswith("meta."):
        known_ = "type, document, meta.KEY, attr.KEY, span.PROPERTY or lexicon:FILE"
        raise UsageError(f"cannot split scores by '{printable(what)}'; use {known_}.")
    known = {key for corpus in corpora for key in corpus.meta}
    if what.removeprefix("meta.") not in known:
        raise UsageError(unknown("metadata field", what.removeprefix("meta."), known))


def _read(path: str) -> Corpus:
    from spanscore.formats import read

    return read(path)


def prf(
    measure: Measure, counts: dict[str, Any], beta: float, *, has_precision: bool = True
) -> tuple[Floats, Floats, Floats]:
    """Return precision, recall and F = (1 + b²)PR / (b²P + R) from columns of counts; 0/0 is NaN.

    F is undefined only where nothing was annotated and nothing predicted, or where the measure has no precision; where
    something was and nothing is right, it is 0 (for the `presidio` presets: NaN, as in the tool).
    """
    columns = np.stack([np.asarray(column, np.float64) for column in measure.ratios(counts)], axis=1)
    return prf_of_ratios(columns, beta, measure.f_without_hits, has_precision=has_precision)


def prf_of_ratios(
    columns: Floats, beta: float, f_without_hits: float = 0.0, *, has_precision: bool = True
) -> tuple[Floats, Floats, Floats]:
    """Return precision, recall and F from the numerator and denominator of precision, then of recall."""
    a, b, c, d = columns.T
    with np.errstate(divide="ignore", invalid="ignore"):
        precision, recall = a / b, c / d
        if not has_precision:
            return np.full_like(recall, np.nan), recall, np.full_like(recall, np.nan)
        f = (1 + beta**2) * precision * recall / (beta**2 * precision + recall)
        return precision, recall, np.where((a == 0) & (c == 0) & (b + d > 0), f_without_hits, f)


def _number(place: int, beta: float, columns: Counts) -> Floats:
    """Return precision, recall or F; the first two need only their own columns."""
    if NUMBERS[place] == "f":
        return prf_of_ratios(columns, beta)[place]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: Floats = columns[:, 2 * place] / columns[:, 2 * place + 1]
        return ratio


def _mean(values: list[float]) -> float:
    """Return the mean, with 0 for NaN."""
    return math.fsum(0.0 if np.isnan(value) else value for value in values) / len(values) if values else math.nan
