"""exact: the same start, end and type, as CoNLL counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from spanscore.align.spans import one_label
from spanscore.measures.measure import Judgement, Measure, parameter
from spanscore.tally import Tally

if TYPE_CHECKING:
    from spanscore.align import Pairing
    from spanscore.columns import Bools, Longs


@dataclass(frozen=True, repr=False)
class Exact(Measure):
    """Spans with the same document, start, end and type.

    Gold and predicted spans are two sets of (document, start, end, type); a span in both is a true positive.
    P = tp / predicted, R = tp / annotated.

    >>> import spanscore as ss
    >>> gold = ss.Corpus.from_arrays(["d"], [0, 0], [0, 9], [4, 12], ["PERSON", "DATE"])
    >>> pred = ss.Corpus.from_arrays(["d"], [0, 0], [0, 9], [4, 13], ["PERSON", "DATE"])
    >>> ss.score(gold, pred, ["exact"])["exact"].counts
    {'tp': 1, 'predicted': 2, 'annotated': 2, 'fp': 1, 'fn': 1}
    """

    name: ClassVar[str] = "exact"
    symmetric: ClassVar[bool] = True
    typed: bool = parameter(True, "whether the type must be the same too; false: boundaries only")

    @property
    def local(self) -> bool:
        """Spans are compared with spans in the same place."""
        return True

    def tally(self, pairing: Pairing) -> Tally:
        """Count spans that are in both sets."""
        pairing = self._view(pairing)
        return Tally.of_found(pairing, pairing.gold, pairing.pred, identical(pairing, same_label=True)[0])

    def judge(self, pairing: Pairing) -> Judgement:
        """A gold span with no equal is taken for a span in the same place that no other gold span is taken for."""
        pairing = self._view(pairing)
        return judge_in_place(pairing, *identical(pairing, same_label=True))

    def _view(self, pairing: Pairing) -> Pairing:
        return pairing if self.typed else pairing.once("untyped", lambda it: one_label(it, "SPAN"))


def judge_in_place(pairing: Pairing, a: Longs, b: Longs) -> Judgement:
    """Rows that match are right; another gold span is taken for a span of another type in the same place, if there is
    one that no other is taken for.
    """
    gold, pred = pairing.gold, pairing.pred
    partner, owner = np.full(len(gold.start), -1), np.full(len(pred.start), -1)
    partner[a], owner[b] = b, a
    a, b = identical(pairing, same_label=False)
    open_ = (partner[a] < 0) & (owner[b] < 0) & (gold.label[a] != pred.label[b])
    a, b = _in_turn(a[open_], b[open_])
    right = owner >= 0
    partner[a], owner[b] = b, a
    return Judgement(
        pairing,
        cell=np.where(partner < 0, -1, pred.label[partner] if len(pred.label) else -1).astype(np.int32),
        partner=partner,
        iou=(partner >= 0).astype(np.float64),
        right=right,
        taken=np.where(right, -1, owner),
        loose=np.flatnonzero(owner < 0),
    )


def identical(pairing: Pairing, *, same_label: bool) -> tuple[Longs, Longs]:
    """Gold and predicted rows with the same boundaries."""
    both, gold, pred = pairing.overlaps, pairing.gold, pairing.pred
    whole = both.shared == (gold.end - gold.start).take(both.gold)
    whole &= both.shared == (pred.end - pred.start).take(both.pred)
    if same_label:
        whole &= gold.label.take(both.gold) == pred.label.take(both.pred)
    rows = np.flatnonzero(whole)
    return both.gold.take(rows), both.pred.take(rows)


def _in_turn(a: Longs, b: Longs) -> tuple[Longs, Longs]:
    """Of all pairs of rows in the same place: the first with the first, the second with the second, and so on."""
    order = np.lexsort((b, a))
    a, b = a[order], b[order]
    chosen: Bools = np.zeros(len(a), np.bool_)
    used_a: set[int] = set()
    used_b: set[int] = set()
    for row, (gold, pred) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        if gold not in used_a and pred not in used_b:
            chosen[row] = True
            used_a.add(gold)
            used_b.add(pred)
    return a[chosen], b[chosen]
