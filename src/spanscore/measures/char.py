"""char: characters, by type or regardless of type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from spanscore.align.spans import merged, one_label
from spanscore.measures.interface import Measure, Untyped
from spanscore.measures.judgement import Judgement
from spanscore.tally import Counting, Tally

if TYPE_CHECKING:
    from spanscore.align import Pairing


def judge_by_coverage(pairing: Pairing) -> Judgement:
    """Judge a gold span as right if all its characters are predicted as its type, and vice versa for predictions.

    A gold span that is not right is a wrong type if a prediction of another type covers all of it. Spans of one side
    and type must not overlap.
    """
    gold, pred = pairing.gold, pairing.pred
    sizes = gold.end - gold.start, pred.end - pred.start
    covered = np.zeros(len(pred.start))
    found = np.zeros(len(gold.start), np.bool_)
    cell, partner = np.full(len(gold.start), -1, np.int32), np.full(len(gold.start), -1)
    wrong_for = np.full(len(pred.start), -1)
    for both in pairing.overlap_blocks():
        same = gold.label[both.gold] == pred.label[both.pred]
        found |= np.bincount(both.gold[same], both.shared[same], minlength=len(found)) == sizes[0]
        covered += np.bincount(both.pred[same], both.shared[same], minlength=len(covered))
        over = np.flatnonzero(~same & (both.shared == sizes[0][both.gold]) & ~found[both.gold])
        over = over[np.lexsort((both.pred[over], pred.label[both.pred[over]], both.gold[over]))]
        over = over[np.concatenate([[True], both.gold[over][1:] != both.gold[over][:-1]])[: len(over)]]
        a, b = both.gold[over], both.pred[over]
        cell[a], partner[a], wrong_for[b] = pred.label[b], b, a
    right = covered == sizes[1]
    cell[found] = gold.label[found]
    wrong_for[right] = -1
    unmatched = np.flatnonzero(~right & (wrong_for < 0))
    return Judgement(pairing, cell, partner, np.zeros(len(gold.start)), right, wrong_for, unmatched)


def merge_touching(pairing: Pairing) -> Pairing:
    """Merge the spans of each side and type that overlap or touch."""
    return pairing.map_sides(merged)


@dataclass(frozen=True, repr=False)
class Char(Measure):
    """Characters of each type that are predicted as that type.

    A character counts once for each type that it has. tp = characters that have a type in both gold and prediction;
    P = tp / predicted, R = tp / annotated.

    >>> import spanscore as ss
    >>> gold = ss.Corpus.from_arrays(["d"], [0], [0], [10], ["PERSON"])
    >>> pred = ss.Corpus.from_arrays(["d"], [0, 0], [0, 2], [4, 6], ["PERSON", "PERSON"])
    >>> ss.score(gold, pred, ["char"])["char"].counts
    {'tp': 6, 'predicted': 6, 'annotated': 10, 'fp': 0, 'fn': 4}
    """

    name: ClassVar[str] = "char"
    counts_spans: ClassVar[bool] = False
    symmetric: ClassVar[bool] = True

    @property
    def local(self) -> bool:
        """A character counts by itself."""
        return True

    def tally(self, pairing: Pairing) -> Tally:
        """Count characters."""
        pairing = self._view(pairing)
        gold, pred = pairing.gold, pairing.pred
        counting = Counting(pairing, "tp", "predicted", "annotated")
        for both in pairing.overlap_blocks():
            same = gold.label[both.gold] == pred.label[both.pred]
            rows = both.gold[same]
            counting.add("tp", gold.doc[rows], gold.label[rows], both.shared[same])
        counting.add("predicted", pred.doc, pred.label, pred.end - pred.start)
        counting.add("annotated", gold.doc, gold.label, gold.end - gold.start)
        return counting.tally()

    def judge(self, pairing: Pairing) -> Judgement:
        """Judge a span as right if all its characters are."""
        return judge_by_coverage(self._view(pairing))

    def _view(self, pairing: Pairing) -> Pairing:
        return pairing.once(merge_touching)


class CharPii(Untyped, Char):
    """Gold characters covered by any prediction, regardless of type: what masking hides and what it leaks.

    >>> import spanscore as ss
    >>> gold = ss.Corpus.from_arrays(["d"], [0], [0], [10], ["PERSON"])
    >>> pred = ss.Corpus.from_arrays(["d"], [0, 0], [0, 2], [4, 6], ["PERSON", "URL"])
    >>> ss.score(gold, pred, ["char.pii"])["char.pii"].counts
    {'tp': 6, 'predicted': 6, 'annotated': 10, 'fp': 0, 'fn': 4}
    """

    name: ClassVar[str] = "char.pii"

    def _view(self, pairing: Pairing) -> Pairing:
        return super()._view(pairing.once(one_label, "PII"))
