"""Threshold sweeps: precision, recall and F at every score threshold, and calibration.

Documents are independent of each other: a threshold changes the counts of a document only if one of its predictions has
that score. So the measure counts each document once per distinct score in it, and the changes from one score to the
next are sorted and summed up. One pass yields all thresholds, for any measure, overall and by type.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import msgspec
import numpy as np

from spanscore.align import Pairing
from spanscore.align.account import describe
from spanscore.align.annotators import names_in, refuse_unknown
from spanscore.align.spans import stretches
from spanscore.arguments import checked
from spanscore.corpus.columns import pieces
from spanscore.engine.partial import in_views
from spanscore.engine.plan import SETTINGS
from spanscore.engine.task import Task
from spanscore.errors import InputError, UsageError, printable
from spanscore.result import NUMBERS, Score, prf
from spanscore.result.tables import known
from spanscore.result.views import Rows, Views
from spanscore.spec import from_above
from spanscore.tally import NO_TYPE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spanscore.corpus.columns import Floats, Ints, Longs
    from spanscore.engine.inputs import Data
    from spanscore.formats import Format
    from spanscore.measures import Measure
    from spanscore.result import Result
    from spanscore.tally import Counts

SHOWN = 4
"""Curves that the repr of a sweep shows."""
ROWS = 1 << 19
"""Maximum number of spans to count at once."""
MUCH, TOO_MUCH = 20_000_000, 2_000_000_000
"""Maximum amount of counting for the curves of a report, and for a sweep on request."""
MANY = 200
"""Maximum number of types with a curve in a report."""
HELD = 1 << 21
"""Changes of counts to hold before those that cancel out are removed."""
CROWDED = 2
"""With more predictions than this in a document, it pays to split documents into stretches."""


@dataclass(frozen=True, eq=False)
class Curve:
    """Scores at every threshold, overall (`type` is None) or for one type; the highest threshold comes first.

    Row i of the counts covers predictions with a score of at least `threshold[i - 1]`; row 0 covers none.
    """

    system: str
    measure: Measure
    type: str | None
    beta: float
    threshold: Floats
    fields: tuple[str, ...]
    counts: Counts
    calibration: Calibration | None
    signature: str
    level: str | None = None
    """The level of the taxonomy, if levels were asked for."""

    @property
    def name(self) -> str:
        """The measure, followed by `@` and the level if there is one."""
        return repr(self.measure) if self.level is None else f"{self.measure!r}@{self.level}"

    @property
    def has_precision(self) -> bool:
        """Whether there is a precision, on which F, average precision and calibration depend."""
        return self.measure.has_precision("all" if self.type is None else "type")

    @cached_property
    def numbers(self) -> tuple[Floats, Floats, Floats]:
        """Return precision, recall and F at each threshold."""
        return self.numbers_at(np.arange(1, len(self.counts)))

    def numbers_at(self, rows: Longs) -> tuple[Floats, Floats, Floats]:
        """Return precision, recall and F for rows of the counts."""
        named = {name: self.counts[rows, i] for i, name in enumerate(self.fields)}
        return prf(self.measure, named, self.beta, has_precision=self.has_precision)

    def rows(self, thresholds: Floats) -> Longs:
        """Return the rows of the counts for these thresholds."""
        return np.searchsorted(-self.threshold, -thresholds, side="right")

    @cached_property
    def average_precision(self) -> float:
        """Return the average precision: the sum of each increase in recall times the precision there."""
        precision, recall, _ = self.numbers
        if not self.has_precision or not len(recall) or np.isnan(recall).all():
            return float("nan")
        reached = np.maximum.accumulate(np.nan_to_num(recall))
        steps = np.diff(reached, prepend=0.0)
        return float(np.sum(steps * np.nan_to_num(precision)))

    def at(self, threshold: float) -> Score:
        """Return the result of keeping only predictions with at least this score."""
        row = self.rows(np.array([threshold]))
        named = {name: self.counts[row, i] for i, name in enumerate(self.fields)}
        p, r, f = self.numbers_at(row)
        shown = {key: column[0].item() for key, column in self.measure.shown(named).items()}
        return Score(float(p[0]), float(r[0]), float(f[0]), self.beta, shown)

    def best(self, recall: float | None = None) -> float | None:
        """Return the threshold with the highest F or, given a minimum recall, with the highest precision.

        Ties go to the highest threshold, or for a beta above 1, where recall comes first, to the lowest; None if no
        threshold qualifies. Without a precision, it is the highest threshold with that recall.
        """
        precision, recalls, f = self.numbers
        if recall is not None and not self.has_precision:
            enough = np.flatnonzero(recalls >= recall)
            return float(self.threshold[enough[0]]) if enough.size else None
        value = f if recall is None else np.where(recalls >= recall, precision, np.nan)
        if not len(value) or np.isnan(value).all():
            return None
        tied = np.flatnonzero(value == np.nanmax(value))
        return float(self.threshold[tied[-1 if self.beta > 1 else 0]])


@dataclass(frozen=True, eq=False)
class Calibration:
    """Calibration of scores: of the predictions with a score of 0.8, 80% should be correct.

    For each equal-width bin of scores: the number of predictions, their mean score, and the fraction that is correct.
    """

    predictions: Longs
    score: Floats
    right: Floats

    @classmethod
    def of(cls, score: Floats, right: Counts, bins: int) -> Calibration | None:
        """Bin the predictions by score; return None if any score lies outside 0 to 1."""
        if not len(score) or score.min() < 0 or score.max() > 1:
            return None
        place = np.minimum((score * bins).astype(np.int64), bins - 1)
        number = np.bincount(place, minlength=bins)
        with np.errstate(invalid="ignore"):
            return cls(
                number,
                np.bincount(place, score, minlength=bins) / number,
                np.bincount(place, right, minlength=bins) / number,
            )

    @property
    def error(self) -> float:
        """Return the expected calibration error: the mean gap between score and accuracy, weighted by predictions."""
        apart = np.nan_to_num(np.abs(self.score - self.right))
        return float(np.sum(apart * self.predictions) / self.predictions.sum())


@dataclass(frozen=True)
class Sweep(Views, Rows):
    """The curves of all systems and measures, the overall curve of each measure before its types."""

    curves: tuple[Curve, ...]
    warnings: tuple[str, ...]

    def __repr__(self) -> str:
        shown = [
            f"{printable(one.system)}, {one.measure!r}: AP {one.average_precision:.3f}"
            for one in self.curves
            if one.type is None
        ]
        more = f"; … {len(shown) - SHOWN} more" if len(shown) > SHOWN else ""
        return f"Sweep({'; '.join(shown[:SHOWN])}{more})"

    def __str__(self) -> str:
        return cast("str", from_above("report.thresholds", "plain")(self, None, ()))

    def records(self) -> list[dict[str, Any]]:
        """Return a row for each point of each curve: threshold, precision, recall and F."""
        rows = []
        for curve in self.curves:
            named = {"system": curve.system, "measure": repr(curve.measure), "type": curve.type}
            columns = (curve.threshold, *curve.numbers)
            for threshold, *numbers in zip(*(column.tolist() for column in columns), strict=True):
                scores = {name: known(number) for name, number in zip(NUMBERS, numbers, strict=True)}
                rows.append({**named, "threshold": known(threshold), **scores})
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Return what `spanscore sweep --json` writes."""
        written = from_above("report.thresholds", "to_json")(self, None, ())
        return cast("dict[str, Any]", msgspec.json.decode(written))

    def plot(self) -> Any:
        """Return a Plotly figure of precision over recall, for all types together."""
        return from_above("report.figures", "curve_figure")([one for one in self.curves if one.type is None])


@checked(settings=SETTINGS)
def sweep(
    gold: Data,
    systems: Data | Mapping[str, Data],
    measures: str | Measure | Sequence[str | Measure] | None = None,
    *,
    bins: int = 10,
    gold_format: str | Format | None = None,
    pred_format: str | Format | None = None,
    **settings: Any,
) -> Sweep:
    """Score the predictions of one system, or of several by name, at every threshold.

    Inputs and settings are the same as for `score`.

    >>> import spanscore as ss
    >>> gold = ss.Corpus.from_arrays(["d"], [0, 0], [0, 9], [4, 12], ["A", "A"])
    >>> pred = ss.Corpus.from_arrays(["d"], [0] * 3, [0, 5, 9], [4, 8, 12], ["A"] * 3, score=[0.9, 0.6, 0.3])
    >>> curve = sweep(gold, pred, "exact").curves[0]
    >>> curve.threshold.tolist(), curve.numbers[1].tolist(), round(curve.average_precision, 3), curve.best()
    ([0.9, 0.6, 0.3], [0.5, 0.5, 1.0], 0.833, 0.3)
    """
    systems = systems if isinstance(systems, Mapping) else {"pred": systems}
    task = Task.of(
        gold,
        systems,
        measures,
        gold_format=gold_format,
        pred_format=pred_format,
        all_scores=True,
        settings=settings,
    )
    plan = task.plan
    if unsupported := [one for one in plan.measures if one.needs_all_documents]:
        raise UsageError(f"{unsupported[0]!r} counts across documents and cannot be swept; choose another measure.")
    if plan.resolve not in ("none", "score"):
        what = "this run was scored with" if task.runs is not None else "you asked for"
        raise UsageError(
            f"{what} --resolve {plan.resolve}, which drops predictions regardless of score; a threshold sweep needs "
            "none or score."
        )
    if not 1 <= bins <= 1000:
        raise UsageError("bins must be between 1 and 1000.")
    task = task.sharing_types()
    plan, inputs = task.plan, task.inputs
    annotated = inputs.gold.corpus()
    refuse_unknown(plan.annotator, names_in(annotated))
    curves: list[Curve] = []
    notes = [*(() if task.runs is None else task.runs.notes), *annotated.notes]
    predicted = {name: data.corpus() for name, data in inputs.systems.items()}
    plan.refuse_unknown_entities(annotated.labels, {label for pred in predicted.values() for label in pred.labels})
    for name, pred in predicted.items():
        score = np.full(len(pred.start), np.nan) if pred.score is None else pred.score
        if unknown := np.flatnonzero(np.isnan(score)).tolist():
            where = f"{pred.place(int(pred.doc[unknown[0]]))}, {pred.span_name(unknown[0])}"
            raise InputError("a prediction has no score; a threshold sweep needs a score for every prediction.", where)
        scored = pred if pred.score is not None else pred.with_columns(score=score)
        pairings = [plan.pair(annotated, scored, name, view) for view in plan.views]
        notes += [*pred.notes, *in_views(plan, [describe(one.account) for one in pairings])]
        for one, number in plan.columns:
            pairing, view = pairings[number], plan.views[number]
            if (work := _work(pairing, one)) > TOO_MUCH:
                what = f"{one!r} at every threshold would count {work:,} spans and overlaps"
                raise UsageError(f"{what}, more than {TOO_MUCH:,}; round the scores, or score in parts.")
            line = plan.signature(one, annotated.fingerprint, pred.fingerprint, view)
            curves += _curves(pairing, one, name, plan.beta, bins, line, view.level)
    return Sweep(tuple(curves), tuple(dict.fromkeys(notes)))


def curves_of(result: Result, bins: int = 10) -> tuple[list[Curve], list[str]]:
    """Return the curves of every system whose predictions all have scores, and notes about skipped curves.

    Curves that would take too long to compute are skipped; of many types, only the most frequent ones have curves.
    """
    curves: list[Curve] = []
    notes: list[str] = []
    for one in result.scores:
        if one.pairing is None or one.measure.needs_all_documents or result.settings.get("resolve") == "longest":
            continue
        pairing = one.measure.counted_spans(one.pairing)
        score = pairing.pred.score
        if score is None or not len(score) or np.isnan(score).any():
            continue
        spans = len(pairing.gold.doc) + len(score)
        if _work(pairing, one.measure) > (max(MUCH, 64 * spans) if one.measure.local else MUCH):
            notes.append(
                f"{one.system}: threshold curves of {one.name} omitted, too slow; run spanscore sweep instead."
            )
            continue
        types = None  # measures may have other types than the labels
        if one.measure.by_type and len(pairing.labels) > MANY:
            types = _most_frequent(pairing)
            what = f"threshold curves of {one.name} shown only for the {MANY} most frequent types"
            notes.append(f"{one.system}: {what}; run spanscore sweep for all of them.")
        curves += _curves(one.pairing, one.measure, one.system, one.beta, bins, one.signature, one.level, types)
    return curves, notes


def _most_frequent(pairing: Pairing) -> frozenset[str]:
    """Return up to `MANY` types with the most spans on both sides."""
    number = np.bincount(np.concatenate([pairing.gold.label, pairing.pred.label]), minlength=len(pairing.labels))
    return frozenset(name for _, name in sorted(zip((-number).tolist(), pairing.labels, strict=False))[:MANY])


def _curves(
    pairing: Pairing,
    measure: Measure,
    system: str,
    beta: float,
    bins: int,
    line: str,
    level: str | None,
    types: frozenset[str] | None = None,
) -> Iterator[Curve]:
    """Yield the overall curve and that of each type, or only of these types."""
    pairing = measure.counted_spans(pairing)
    fields, labels, threshold, label, change = _changes(pairing, measure)
    order = np.argsort(-threshold, kind="stable")
    threshold, label, change = threshold[order], label[order], change[order]
    judged = measure.judge(pairing)
    score, right, of = judged.pairing.pred.score, judged.right, judged.pairing.pred.label
    assert score is not None
    for kind in (None, *sorted(labels)) if measure.by_type else (None,):
        if kind == NO_TYPE or (types is not None and kind is not None and kind not in types):
            continue
        mine = np.ones(len(label), np.bool_) if kind is None else label == labels.index(kind)
        if not mine.any():
            continue
        rows = slice(None) if kind is None or measure.type_blind else of == judged.pairing.labels.index(kind)
        steps = -threshold[mine]
        first = np.flatnonzero(np.append(True, steps[1:] != steps[:-1]))
        steps, sums = steps[first], np.add.reduceat(change[mine], first, axis=0)
        if steps[0] != -np.inf:
            steps, sums = np.append(-np.inf, steps), np.concatenate([np.zeros_like(sums[:1]), sums])
        has_precision = measure.has_precision("all" if kind is None else "type")
        if kind is not None:  # scores of other types change nothing here
            own = np.isin(-steps[1:], _scores_of(pairing, kind) if has_precision else [])
            kept = np.append(True, own | sums[1:].any(axis=1))
            steps, sums = steps[kept], sums[kept]
        calibration = Calibration.of(score[rows], right[rows], bins) if has_precision else None
        counts = np.cumsum(sums, axis=0)
        yield Curve(system, measure, kind, beta, -steps[1:], fields, counts, calibration, line, level)


def _scores_of(pairing: Pairing, kind: str) -> Floats:
    """Return the scores of the predictions of a type; none if the measure has other types than the labels."""
    assert pairing.pred.score is not None
    code = pairing.labels.index(kind) if kind in pairing.labels else -1
    scores: Floats = pairing.pred.score[pairing.pred.label == code]
    return scores


def _changes(pairing: Pairing, measure: Measure) -> tuple[tuple[str, ...], tuple[str, ...], Floats, Ints, Counts]:
    """Return the change of the counts at each threshold by label; counts without predictions are at inf."""
    pairing = pairing.once(_in_stretches, measure.local)
    docs, levels = _levels(pairing)
    goes_on = np.append(docs[1:] == docs[:-1], False)
    found: list[tuple[Floats, Ints, Counts]] = []
    fields: tuple[str, ...] = ()
    codes: dict[str, int] = {}  # a measure may have labels of its own, in each piece others
    for first, last in pieces(_sizes(pairing, measure)[docs], ROWS) if len(docs) else [(0, 0)]:
        tally = measure.tally(_at(pairing, docs[first:last], levels[first:last]))
        fields, at = tally.fields, tally.doc + first
        label = np.array([codes.setdefault(name, len(codes)) for name in tally.labels], np.int32)[tally.label]
        counts = tally.counts if tally.counts.dtype.kind == "f" else tally.counts.astype(np.int64)
        found.append((levels[at], label, counts))
        undone = np.flatnonzero(goes_on[at])  # the counts at the next level replace these
        found.append((levels[at[undone] + 1], label[undone], -counts[undone]))
        if sum(len(part[0]) for part in found) > HELD:
            found = [_without_zeros(*_joined(found))]
    return fields, tuple(codes), *_joined(found)


def _joined(parts: list[tuple[Floats, Ints, Counts]]) -> tuple[Floats, Ints, Counts]:
    threshold, label, change = (np.concatenate(column) for column in zip(*parts, strict=True))
    return threshold, label, change


def _without_zeros(threshold: Floats, label: Ints, change: Counts) -> tuple[Floats, Ints, Counts]:
    """Add up the changes at each threshold by label, and remove those that cancel out."""
    order = np.lexsort((label, threshold))
    threshold, label, change = threshold[order], label[order], change[order]
    first = np.flatnonzero(np.append(True, (threshold[1:] != threshold[:-1]) | (label[1:] != label[:-1])))
    threshold, label, change = threshold[first], label[first], np.add.reduceat(change, first, axis=0)
    kept = change.any(axis=1) | np.append(True, threshold[1:] != threshold[:-1])  # each threshold stays a point
    return threshold[kept], label[kept], change[kept]


def _in_stretches(pairing: Pairing, local: bool) -> Pairing:
    """Split documents with many predictions, if the measure is local."""
    crowded = local and np.bincount(pairing.pred.doc).max(initial=0) > CROWDED
    return stretches(pairing) if crowded else pairing


def _work(pairing: Pairing, measure: Measure) -> int:
    """Estimate how much there is to count at all thresholds."""
    pairing = pairing.once(_in_stretches, measure.local)
    docs = _levels(pairing)[0]
    return int((_sizes(pairing, measure) + pairing.join.by_document)[docs].sum())


def _levels(pairing: Pairing) -> tuple[Longs, Floats]:
    """Return each document paired with each of its thresholds, from inf down."""
    pred = (pairing.rows or pairing).pred
    assert pred.score is not None
    doc = np.concatenate([np.arange(len(pairing)), pred.doc])
    level = np.concatenate([np.full(len(pairing), np.inf), pred.score])
    order = np.lexsort((-level, doc))
    doc, level = doc[order], level[order]
    new = np.ones(len(doc), np.bool_)
    new[1:] = (doc[1:] != doc[:-1]) | (level[1:] != level[:-1])
    return doc[new], level[new]


def _sizes(pairing: Pairing, measure: Measure) -> Longs:
    """Estimate the counting work per document: its spans, plus its words for measures that need the text."""
    size: Longs = np.diff(pairing.gold.bounds) + np.diff(pairing.pred.bounds) + 1
    if not measure.local:
        size = size + np.maximum(pairing.letters.strings.lengths, 0) // 4
    return size


def _at(pairing: Pairing, docs: Longs, levels: Floats) -> Pairing:
    """Return these documents, each with the predictions at or above its level."""
    pred = pairing.pred.take(docs)
    assert pred.score is not None
    kept = pred.with_spans(np.flatnonzero(pred.score >= levels[pred.doc]))
    rows = None if pairing.rows is None else _at(pairing.rows, docs, levels)
    return Pairing(pairing.gold.take(docs), kept, rows=rows)
