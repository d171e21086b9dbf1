"""Scores as thresholds: precision, recall and F of the predictions at or above every score, and calibration.

What a threshold changes in a document, it changes there alone. So each document is counted once for each score in it,
by the measure's own counting, and the differences from one score to the next are sorted and summed up: one pass over
all thresholds, for every measure, types and all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from spanscore.align import LabelMap, Pairing, pair
from spanscore.align.documents import describe
from spanscore.align.spans import stretches
from spanscore.engine.local import DEFAULT_MEASURES
from spanscore.engine.parts import choose
from spanscore.errors import InputError, UsageError
from spanscore.result import Score, prf
from spanscore.signature import signature

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from spanscore.align.documents import Extra
    from spanscore.columns import Floats, Longs
    from spanscore.corpus import Corpus
    from spanscore.measures import Measure
    from spanscore.result import Result
    from spanscore.tally import Counts

ROWS = 1 << 19
"""Spans that are counted at once."""
MUCH = 20_000_000
"""More to count than this is not done unasked."""
CROWDED = 2
"""So many predictions in a document make it worth cutting it into stretches."""


@dataclass(frozen=True, eq=False)
class Curve:
    """Numbers at every threshold, of all types (`type` None) or of one; the highest threshold first.

    Row i of the counts is for predictions with a score of at least `threshold[i - 1]`; row 0 is without any.
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

    @cached_property
    def numbers(self) -> tuple[Floats, Floats, Floats]:
        """Precision, recall and F at each threshold."""
        return self.numbers_at(np.arange(1, len(self.counts)))

    def numbers_at(self, rows: Longs) -> tuple[Floats, Floats, Floats]:
        """Precision, recall and F of rows of the counts."""
        named = {name: self.counts[rows, i] for i, name in enumerate(self.fields)}
        return prf(self.measure, named, self.beta)

    def rows(self, thresholds: Floats) -> Longs:
        """The rows of the counts for these thresholds."""
        return np.searchsorted(-self.threshold, -thresholds, side="right")

    @cached_property
    def average_precision(self) -> float:
        """The mean of precision over recall: each step up in recall, times the precision there."""
        precision, recall, _ = self.numbers
        if not len(recall) or np.isnan(recall).all():
            return float("nan")
        reached = np.maximum.accumulate(np.nan_to_num(recall))
        steps = np.diff(reached, prepend=0.0)
        return float(np.sum(steps * np.nan_to_num(precision)))

    def at(self, threshold: float) -> Score:
        """The score of predictions with at least this score."""
        row = self.rows(np.array([threshold]))
        named = {name: self.counts[row, i] for i, name in enumerate(self.fields)}
        p, r, f = self.numbers_at(row)
        shown = {key: column[0].item() for key, column in self.measure.shown(named).items()}
        return Score(float(p[0]), float(r[0]), float(f[0]), self.beta, shown)

    def best(self, recall: float | None = None) -> float | None:
        """The threshold with the highest F; or, with at least this recall, with the highest precision. Of equals, the
        highest threshold; None where no threshold will do.
        """
        precision, recalls, f = self.numbers
        value = f if recall is None else np.where(recalls >= recall, precision, np.nan)
        return None if not len(value) or np.isnan(value).all() else float(self.threshold[int(np.nanargmax(value))])


@dataclass(frozen=True, eq=False)
class Calibration:
    """Whether scores are what they say: of predictions with a score of 0.8, 80% should be right.

    For each bin of scores of equal width: how many predictions there are, their mean score, and the share of them that
    is right.
    """

    predictions: Longs
    score: Floats
    right: Floats

    @classmethod
    def of(cls, score: Floats, right: Counts, bins: int) -> Calibration | None:
        """Put predictions into bins; None if a score is no probability."""
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
        """The expected calibration error: the mean distance of score and share right, over predictions."""
        apart = np.nan_to_num(np.abs(self.score - self.right))
        return float(np.sum(apart * self.predictions) / self.predictions.sum())


@dataclass(frozen=True)
class Sweep:
    """Curves of systems by measures, each measure's overall one before its types."""

    curves: tuple[Curve, ...]
    warnings: tuple[str, ...]


def sweep(
    gold: Corpus,
    systems: Mapping[str, Corpus],
    measures: str | Measure | Sequence[str | Measure] = DEFAULT_MEASURES,
    *,
    beta: float = 1.0,
    label_map: LabelMap | None = None,
    extra_documents: Extra = "refuse",
    resolve: str = "none",
    bins: int = 10,
) -> Sweep:
    """Score predictions at every threshold of their scores.

    >>> import spanscore as ss
    >>> gold = ss.Corpus.from_arrays(["d"], [0, 0], [0, 9], [4, 12], ["A", "A"])
    >>> pred = ss.Corpus.from_arrays(["d"], [0] * 3, [0, 5, 9], [4, 8, 12], ["A"] * 3, score=[0.9, 0.6, 0.3])
    >>> curve = sweep(gold, {"pred": pred}, "exact").curves[0]
    >>> curve.threshold.tolist(), curve.numbers[1].tolist(), round(curve.average_precision, 3), curve.best()
    ([0.9, 0.6, 0.3], [0.5, 0.5, 1.0], 0.833, 0.3)
    """
    chosen = choose(measures, beta)
    if whole := [one for one in chosen if one.whole]:
        raise UsageError(f"{whole[0]!r} counts over documents, which a threshold cannot be followed through.")
    if resolve not in ("none", "score"):
        raise UsageError("with thresholds, overlapping spans can only be settled by score.")
    if not 1 <= bins <= 1000:
        raise UsageError("bins must be a number from 1 to 1000.")
    mapping = label_map or LabelMap()
    curves: list[Curve] = []
    notes = [*gold.notes]
    for name, pred in systems.items():
        score = np.full(len(pred.start), np.nan) if pred.score is None else pred.score
        if unknown := np.flatnonzero(np.isnan(score)).tolist():
            where = f"{pred.place(int(pred.doc[unknown[0]]))}, {pred.span_name(unknown[0])}"
            raise InputError("a prediction has no score; thresholds need a score for each.", where)
        scored = pred if pred.score is not None else pred.with_columns(score=score)
        how: Any = resolve
        pairing = pair(gold, scored, system=name, label_map=mapping, extra_documents=extra_documents, resolve=how)
        notes += [*pred.notes, *describe(pairing.account)]
        for one in chosen:
            line = signature(one, gold.fingerprint, pred.fingerprint, mapping, extra_documents, resolve, beta)
            curves += _curves(pairing, one, name, beta, bins, line)
    return Sweep(tuple(curves), tuple(dict.fromkeys(notes)))


def curves_of(result: Result, bins: int = 10) -> tuple[list[Curve], list[str]]:
    """The curves of scores that are there already, of each system whose predictions all have a score; and a note for
    each that would take too long.
    """
    curves: list[Curve] = []
    notes: list[str] = []
    for one in result.scores:
        score = None if one.pairing is None else one.pairing.mentions.pred.score
        if score is None or one.pairing is None or one.measure.whole or result.settings.get("resolve") == "longest":
            continue
        if not len(score) or np.isnan(score).any():
            continue
        if _sizes(one.pairing, one.measure)[_levels(one.pairing)[0]].sum() > MUCH and not one.measure.local:
            notes.append(f"{one.system}: {one.measure!r} has no thresholds here; spanscore sweep makes them, in time.")
            continue
        curves += _curves(one.pairing, one.measure, one.system, one.beta, bins, one.signature)
    return curves, notes


def _curves(pairing: Pairing, measure: Measure, system: str, beta: float, bins: int, line: str) -> Iterator[Curve]:
    fields, labels, threshold, label, change = _changes(pairing, measure)
    judged = measure.judge(pairing)
    score, right, of = judged.pairing.pred.score, judged.right, judged.pairing.pred.label
    assert score is not None
    for kind in (None, *labels) if measure.by_type else (None,):
        mine = np.ones(len(label), np.bool_) if kind is None else label == labels.index(kind)
        if not mine.any():
            continue
        rows = slice(None) if kind is None else of == judged.pairing.labels.index(kind)
        steps, place = np.unique(-threshold[mine], return_inverse=True)
        sums = np.zeros((len(steps), change.shape[1]), change.dtype)
        np.add.at(sums, place, change[mine])
        if not len(steps) or steps[0] != -np.inf:
            steps, sums = np.append(-np.inf, steps), np.concatenate([np.zeros_like(sums[:1]), sums])
        if kind is not None:  # others' scores change nothing here
            changing = np.append(True, sums[1:].any(axis=1))
            steps, sums = steps[changing], sums[changing]
        calibration = Calibration.of(score[rows], right[rows], bins)
        counts = np.cumsum(sums, axis=0)
        yield Curve(system, measure, kind, beta, -steps[1:], fields, counts, calibration, line)


def _changes(pairing: Pairing, measure: Measure) -> tuple[tuple[str, ...], tuple[str, ...], Floats, Longs, Counts]:
    """By how much counts change at each threshold, for each label; what there is without predictions is at inf."""
    if measure.local and np.bincount(pairing.pred.doc).max(initial=0) > CROWDED:
        pairing = stretches(pairing)
    docs, levels = _levels(pairing)
    goes_on = np.append(docs[1:] == docs[:-1], False)
    found: list[tuple[Any, ...]] = []
    for first, last in _parts(_sizes(pairing, measure)[docs]):
        tally = measure.tally(_at(pairing, docs[first:last], levels[first:last]))
        fields, labels, at = tally.fields, tally.labels, tally.doc + first
        counts = tally.counts if tally.counts.dtype.kind == "f" else tally.counts.astype(np.int64)
        found.append((levels[at], tally.label, counts))
        undone = np.flatnonzero(goes_on[at])  # what is counted at the next level takes its place
        found.append((levels[at[undone] + 1], tally.label[undone], -counts[undone]))
    return fields, labels, *(np.concatenate(column) for column in zip(*found, strict=True))  # type: ignore[return-value]


def _levels(pairing: Pairing) -> tuple[Longs, Floats]:
    """Each document with each of its thresholds, from inf down."""
    pred = pairing.mentions.pred
    assert pred.score is not None
    doc = np.concatenate([np.arange(len(pairing)), pred.doc])
    level = np.concatenate([np.full(len(pairing), np.inf), pred.score])
    order = np.lexsort((-level, doc))
    doc, level = doc[order], level[order]
    new = np.ones(len(doc), np.bool_)
    new[1:] = (doc[1:] != doc[:-1]) | (level[1:] != level[:-1])
    return doc[new], level[new]


def _sizes(pairing: Pairing, measure: Measure) -> Longs:
    """How much there is to count in each document: its spans, and its words for a measure that looks at them."""
    size: Longs = np.diff(pairing.gold.bounds) + np.diff(pairing.pred.bounds) + 1
    if not measure.local:
        size = size + np.maximum(pairing.letters.strings.lengths, 0) // 4
    return size


def _parts(size: Longs) -> Iterator[tuple[int, int]]:
    """The levels in pieces of so much to count as fits the memory."""
    total = np.cumsum(size)
    first = 0
    while first == 0 or first < len(size):
        before = int(total[first - 1]) if first else 0
        last = max(int(np.searchsorted(total, before + ROWS, side="right")), first + 1)
        yield first, last
        first = last


def _at(pairing: Pairing, docs: Longs, levels: Floats) -> Pairing:
    """These documents, each with the predictions at or above its level."""
    pred = pairing.pred.take(docs)
    assert pred.score is not None
    kept = pred.with_spans(np.flatnonzero(pred.score >= levels[pred.doc]))
    attributed = None if pairing.attributed is None else _at(pairing.attributed, docs, levels)
    return Pairing(pairing.gold.take(docs), kept, attributed=attributed)
