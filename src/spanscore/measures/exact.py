"""exact: spans with the same start, end and type, as CoNLL counts them."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from spanscore.align.spans import one_label
from spanscore.corpus.columns import ranges
from spanscore.measures.assignment import refuse_too_many
from spanscore.measures.interface import Measure
from spanscore.measures.judgement import Judgement
from spanscore.spec import parameter
from spanscore.tally import Tally

if TYPE_CHECKING:
    from spanscore.align import Pairing
    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Longs


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
    typed: bool = parameter(True, "Whether the type must match too; false compares boundaries only.")

    @property
    def local(self) -> bool:
        """Spans are compared with spans in the same place."""
        return True

    def tally(self, pairing: Pairing) -> Tally:
        """Count the spans in both sets."""
        pairing = self._view(pairing)
        return Tally.of_found(pairing, pairing.gold, pairing.pred, identical(pairing, same_label=True)[0])

    def judge(self, pairing: Pairing) -> Judgement:
        """Pair identical spans, then spans in the same place with another type."""
        pairing = self._view(pairing)
        return judge_in_place(pairing, *identical(pairing, same_label=True))

    def _view(self, pairing: Pairing) -> Pairing:
        return pairing if self.typed else pairing.once(one_label, "SPAN")


def judge_in_place(pairing: Pairing, gold: Longs, pred: Longs) -> Judgement:
    """Judge matching rows as right, and pair each remaining gold span with a span of another type in the same place.

    Each predicted span is paired at most once.
    """
    free_gold, free_pred = np.ones(len(pairing.gold.doc), np.bool_), np.ones(len(pairing.pred.doc), np.bool_)
    free_gold[gold], free_pred[pred] = False, False
    a, b = _of_other_types(pairing, np.flatnonzero(free_gold), np.flatnonzero(free_pred))
    right = np.concatenate([np.ones(len(gold), np.bool_), np.zeros(len(a), np.bool_)])
    both = np.concatenate([gold, a]), np.concatenate([pred, b])
    return Judgement.from_pairs(pairing, *both, right, iou=np.ones(len(right)))


def identical(pairing: Pairing, *, same_label: bool) -> tuple[Longs, Longs]:
    """Return the gold and predicted rows with the same boundaries, and if asked for the same label.

    Both sides are sorted by document, start, end and label, so that no overlap join is needed.
    """
    return _equal(*_codes(pairing, same_label=same_label))


def _codes(pairing: Pairing, *, same_label: bool) -> tuple[Longs, Longs]:
    """Return a number for each row of the two sides, in ascending order; equal numbers are equal places."""
    sides = pairing.gold, pairing.pred
    base = 1 + max(int(side.end.max(initial=0)) for side in sides)
    labels = len(pairing.labels) if same_label else 1
    if float(len(pairing)) * base * base * max(labels, 1) >= 2.0**63:
        return _large_codes(sides, same_label=same_label)
    gold, pred = ((side.doc.astype(np.int64) * base + side.start) * base + side.end for side in sides)
    if same_label:
        gold, pred = gold * labels + pairing.gold.label, pred * labels + pairing.pred.label
    return gold, pred


def _equal(gold: Longs, pred: Longs) -> tuple[Longs, Longs]:
    """Return the pairs of equal numbers in two sorted arrays.

    A stable sort merges two sorted runs, which is several times faster than searching one for each of the other.
    """
    if (gold[1:] > gold[:-1]).all() and (pred[1:] > pred[:-1]).all():
        merged = np.concatenate([gold, pred])
        order = np.argsort(merged, kind="stable")
        merged = merged.take(order)
        first = np.flatnonzero(merged[1:] == merged[:-1])
        return order.take(first), order.take(first + 1) - len(gold)
    low = np.searchsorted(pred, gold, "left")
    counts = np.searchsorted(pred, gold, "right") - low
    refuse_too_many(int(counts.sum()) - len(gold) - len(pred), "spans in the same place")
    return np.repeat(np.arange(len(gold)), counts), ranges(low, counts)


def _large_codes(sides: tuple[Corpus, Corpus], *, same_label: bool) -> tuple[Longs, Longs]:
    """Do the same where offsets are too large to be packed into one number."""
    code = np.zeros(sum(len(side.doc) for side in sides), np.int64)
    for name in ("doc", "start", "end", *(["label"] if same_label else [])):
        column = np.concatenate([getattr(side, name) for side in sides])
        values, place = np.unique(column, return_inverse=True)
        code = np.unique(code * len(values) + place, return_inverse=True)[1]
    return code[: len(sides[0].doc)], code[len(sides[0].doc) :]


def _of_other_types(pairing: Pairing, gold: Longs, pred: Longs) -> tuple[Longs, Longs]:
    """Pair each of these gold rows, in order, with the first row left in the same place that has another label."""
    codes = _codes(pairing, same_label=False)
    gold, pred = gold[np.isin(codes[0][gold], codes[1][pred])], pred[np.isin(codes[1][pred], codes[0][gold])]
    waiting: dict[int, dict[int, list[int]]] = {}
    for row, label, place in zip(*(c.tolist() for c in (pred, pairing.pred.label[pred], codes[1][pred])), strict=True):
        waiting.setdefault(place, {}).setdefault(label, []).append(row)
    heads = {place: [(rows.pop(0), label) for label, rows in by.items()] for place, by in waiting.items()}
    for first in heads.values():
        heapify(first)
    for by in waiting.values():
        for rows in by.values():
            rows.reverse()
    found: list[tuple[int, int]] = []
    for row, own, place in zip(*(c.tolist() for c in (gold, pairing.gold.label[gold], codes[0][gold])), strict=True):
        first = heads[place]
        same = heappop(first) if first and first[0][1] == own else None
        if first:
            partner, label = heappop(first)
            found.append((row, partner))
            if rest := waiting[place][label]:
                heappush(first, (rest.pop(), label))
        if same is not None:
            heappush(first, same)
    pairs = np.array(found, np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]
