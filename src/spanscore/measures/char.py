"""char: characters, by type or regardless of type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from spanscore.align.spans import merged, one_label
from spanscore.measures.interface import Measure, Untyped
from spanscore.measures.judgement import Judgement
from spanscore.tally import Tally

if TYPE_CHECKING:
    from spanscore.align import Pairing


def judge_by_coverage(pairing: Pairing) -> Judgement:
    """Judge a gold span as right if all its characters are predicted as its type, and a prediction the other way round.

    A gold span that is not right is a wrong type if a prediction of another type covers all of it. Spans of one side
    and type must not overlap.
    """
    gold, pred, both = pairing.gold, pairing.pred, pairing.overlaps
    same = gold.label[both.gold] == pred.label[both.pred]
    sizes = (gold.end - gold.start, pred.end - pred.start)
    found, right = (
        np.bincount(rows[same], both.shared[same], minlength=len(size)) == size
        for rows, size in zip((both.gold, both.pred), sizes, strict=True)
    )
    over = np.flatnonzero(~same & (both.shared == sizes[0][both.gold]) & ~found[both.gold])
    over = over[np.lexsort((both.pred[over], pred.label[both.pred[over]], both.gold[over]))]
    over = over[np.concatenate([[True], both.gold[over][1:] != both.gold[over][:-1]])[: len(over)]]
    a, b = both.gold[over], both.pred[over]
    cell, partner = np.where(found, gold.label, -1).astype(np.int32), np.full(len(gold.start), -1)
    cell[a], partner[a] = pred.label[b], b
    wrong_for = np.full(len(pred.start), -1)
    wrong_for[b] = a
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
        gold, pred, both = pairing.gold, pairing.pred, pairing.overlaps
        same = gold.label[both.gold] == pred.label[both.pred]
        rows = both.gold[same]
        events = {
            "tp": (gold.doc[rows], gold.label[rows], both.shared[same]),
            "predicted": (pred.doc, pred.label, pred.end - pred.start),
            "annotated": (gold.doc, gold.label, gold.end - gold.start),
        }
        return Tally.count(pairing, events)

    def judge(self, pairing: Pairing) -> Judgement:
        """Judge a span as right if all its characters are."""
        return judge_by_coverage(self._view(pairing))

    def _view(self, pairing: Pairing) -> Pairing:
        return pairing.once(merge_touching)


class CharPii(Untyped, Char):
    """Characters covered by any prediction, of those covered by any gold span: what masking hides and what it leaks.

    >>> import spanscore as ss
    >>> gold = ss.Corpus.from_arrays(["d"], [0], [0], [10], ["PERSON"])
    >>> pred = ss.Corpus.from_arrays(["d"], [0, 0], [0, 2], [4, 6], ["PERSON", "URL"])
    >>> ss.score(gold, pred, ["char.pii"])["char.pii"].counts
    {'tp': 6, 'predicted': 6, 'annotated': 10, 'fp': 0, 'fn': 4}
    """

    name: ClassVar[str] = "char.pii"

    def _view(self, pairing: Pairing) -> Pairing:
        return super()._view(pairing.once(one_label, "PII"))
