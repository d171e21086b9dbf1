"""sixway: predictions are strict, exact, partial, incorrect or spurious; a gold span that none took is a miss."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from spanscore.measures.exact_ratios import at_least
from spanscore.measures.interface import Measure
from spanscore.measures.judgement import Judgement
from spanscore.spec import parameter
from spanscore.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spanscore.align import Pairing
    from spanscore.corpus.columns import Bools, Floats, Longs

STRICT, EXACT, PARTIAL, INCORRECT, SPURIOUS = range(5)
LABELS = ("strict", "exact", "partial", "incorrect", "spurious")


@dataclass(frozen=True, repr=False)
class SixWayStrict(Measure):
    """Predictions with the boundaries and the type of a gold span.

    Each prediction takes its best gold span by the ratio of shared characters to the length of the longer of the two
    (ties: same type first, then start, end and type) and is strict (same type and boundaries), exact (same type, ratio
    in [threshold, 1)), partial (other type, ratio in [threshold, 1]), incorrect (ratio below) or spurious (none). A
    gold span that no prediction took is a miss. possible = strict + exact + partial + incorrect + miss, actual =
    strict + exact + partial + incorrect + spurious; P = strict / actual, R = strict / possible.

    >>> import spanscore as ss
    >>> gold = ss.Corpus.from_arrays(["d"], [0] * 5, [0, 20, 40, 60, 70], [10, 30, 50, 65, 80],
    ...                              ["PERSON", "CITY", "DATE", "ZIP", "ORG"])
    >>> pred = ss.Corpus.from_arrays(["d"], [0] * 5, [0, 20, 40, 62, 90], [10, 26, 50, 72, 95],
    ...                              ["PERSON", "CITY", "TIME", "ZIP", "URL"])
    >>> result = ss.score(gold, pred, ["sixway.strict", "sixway.flexible", "sixway.partial"])
    >>> result["sixway.strict"].precision, result["sixway.flexible"].recall, result["sixway.partial"].f
    (0.2, 0.4, 0.5)
    """

    name: ClassVar[str] = "sixway.strict"
    recall_of_spans: ClassVar[bool] = False  # a gold span counts once for each prediction that takes it
    credit: ClassVar[tuple[float, float, float]] = (1.0, 0.0, 0.0)
    """The credit of a strict, an exact and a partial prediction."""
    threshold: float = parameter(0.5, "Minimum overlap ratio for exact and partial.", low=0.0, high=1.0)

    @property
    def local(self) -> bool:
        """A prediction takes a gold span that it overlaps."""
        return True

    def tally(self, pairing: Pairing) -> Tally:
        """Count predictions by their label, under the type of the gold span that they took."""
        return pairing.once(_count, self.threshold)

    def ratios(self, counts: Mapping[str, Any]) -> tuple[Any, Any, Any, Any]:
        """Return the credit over all predictions, and over all possible matches."""
        credit = sum(part * counts[name] for part, name in zip(self.credit, LABELS, strict=False))
        took = sum(counts[name] for name in LABELS[:SPURIOUS])
        return credit, took + counts["spurious"], credit, took + counts["miss"]

    def shown(self, counts: Mapping[str, Any]) -> dict[str, Any]:
        """Return the six counts and their totals."""
        _, actual, _, possible = self.ratios(counts)
        return {**{name: counts[name] for name in (*LABELS, "miss")}, "possible": possible, "actual": actual}

    def judge(self, pairing: Pairing) -> Judgement:
        """Judge a prediction as right if it gets full credit."""
        taken, ratio, kind = pairing.once(_take, self.threshold)
        pred = np.flatnonzero(taken >= 0)
        pred = pred[np.lexsort((pred, kind[pred], taken[pred]))]
        right = (kind[pred] == STRICT) | ((kind[pred] == EXACT) & (self.credit[EXACT] == 1))
        near = right | (kind[pred] == PARTIAL)
        best = np.zeros(len(pairing.gold.start))
        np.maximum.at(best, taken[pred], ratio[pred])
        judged = Judgement.from_pairs(pairing, taken[pred[near]], pred[near], right[near])
        return replace(judged, iou=best)


def _count(pairing: Pairing, threshold: float) -> Tally:
    gold, pred = pairing.gold, pairing.pred
    taken, _, kind = pairing.once(_take, threshold)
    label = np.where(taken >= 0, gold.label[taken] if len(gold.label) else 0, pred.label)
    events: dict[str, tuple[Any, ...]] = {
        name: (pred.doc[kind == code], label[kind == code]) for code, name in enumerate(LABELS)
    }
    missed = np.ones(len(gold.start), np.bool_)
    missed[taken[taken >= 0]] = False
    events["miss"] = (gold.doc[missed], gold.label[missed])
    return Tally.count(pairing, events)


def _take(pairing: Pairing, threshold: float) -> tuple[Longs, Floats, Longs]:
    """Return for each prediction the gold row that it takes (-1: none), their ratio, and its label."""
    gold, pred = pairing.gold, pairing.pred
    sizes = gold.end - gold.start, pred.end - pred.start
    taken, ratios, kinds = (
        np.full(len(pred.start), -1),
        np.zeros(len(pred.start)),
        np.full(len(pred.start), SPURIOUS),
    )
    for both in pairing.overlap_blocks():
        longer = np.maximum(sizes[0][both.gold], sizes[1][both.pred])
        ratio = np.where(longer == 0, 1.0, both.shared / np.maximum(longer, 1))
        same = gold.label[both.gold] == pred.label[both.pred]
        pairs = np.arange(len(both))
        if len(both) and (np.bincount(both.pred) > 1).any():
            pairs = _best(both.gold, both.pred, ratio, same)
        near = at_least(both.shared[pairs], longer[pairs], threshold)
        kind = np.where(same[pairs], np.where(ratio[pairs] == 1, STRICT, EXACT), PARTIAL)
        kind = np.where(near | (kind == STRICT), kind, INCORRECT)
        rows, new = both.pred[pairs], both.gold[pairs]
        if (taken[rows] >= 0).any():  # a block before this one has gold rows for it, which come first
            typed = same[pairs] & (gold.label[taken[rows]] != pred.label[rows])
            better = (ratio[pairs] > ratios[rows]) | (typed & (ratio[pairs] == ratios[rows])) | (taken[rows] < 0)
            rows, new, kind, pairs = rows[better], new[better], kind[better], pairs[better]
        taken[rows], ratios[rows], kinds[rows] = new, ratio[pairs], kind
    return taken, ratios, kinds


def _best(gold: Longs, pred: Longs, ratio: Floats, same: Bools) -> Longs:
    """Return for each prediction its best pair: the highest ratio, then the same type, then the first gold row."""
    highest = np.zeros(int(pred.max()) + 1)
    np.maximum.at(highest, pred, ratio)
    pairs = np.flatnonzero(ratio == highest[pred])
    typed = np.zeros(len(highest), np.bool_)
    typed[pred[pairs][same[pairs]]] = True
    pairs = pairs[same[pairs] | ~typed[pred[pairs]]]
    first = np.full(len(highest), int(gold.max()) + 1)
    np.minimum.at(first, pred[pairs], gold[pairs])
    best: Longs = pairs[gold[pairs] == first[pred[pairs]]]
    return best


class SixWayFlexible(SixWayStrict):
    """Predictions with the type of a gold span and similar boundaries.

    As `sixway.strict`, but exact ones count too: P = (strict + exact) / actual, R = (strict + exact) / possible.
    """

    name: ClassVar[str] = "sixway.flexible"
    credit: ClassVar[tuple[float, float, float]] = (1.0, 1.0, 0.0)


class SixWayPartial(SixWayStrict):
    """As flexible, with half credit for predictions of another type with similar boundaries.

    As `sixway.strict`, but P = (strict + exact + partial / 2) / actual, R = (strict + exact + partial / 2) / possible.
    """

    name: ClassVar[str] = "sixway.partial"
    credit: ClassVar[tuple[float, float, float]] = (1.0, 1.0, 0.5)
