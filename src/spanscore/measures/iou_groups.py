"""Groups: predictions by type around each gold span, and the IoU of each group."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from spanscore.align import Pairing
    from spanscore.corpus.columns import Bools, Floats, Ints, Longs
    from spanscore.overlap import Overlaps


@dataclass(frozen=True, eq=False)
class Groups:
    """Gold spans and the union of their overlapping predictions of each type: what they share, and cover together.

    `of` is the group of each overlapping pair, in the order of the overlaps.
    """

    gold: Longs
    label: Ints
    shared: Longs
    union: Longs
    of: Longs

    @cached_property
    def iou(self) -> Floats:
        """The IoU of each group; 1 where both are empty."""
        if self.union.all():
            return self.shared / self.union
        return np.where(self.union == 0, 1.0, self.shared / np.maximum(self.union, 1))


def groups(pairing: Pairing, both: Overlaps, *, off_by_one: bool = False, disjoint: bool = False) -> Groups:
    """Group overlaps of a pairing, all those of some gold spans: |gold ∩ union| / |gold ∪ union|.

    A group is nearly always a single prediction; unions are computed only where several predictions overlap a gold
    span. With `off_by_one`, they are computed as presidio-evaluator 0.3.2 does: the gold span and the first prediction
    of a type end one later, further predictions begin one earlier. With `disjoint`, predictions share nothing with each
    other, so that their sizes add up, and their positions do not matter.
    """
    gold, pred = pairing.gold, pairing.pred
    gold_length, pred_length = gold.end - gold.start, pred.end - pred.start
    label = pred.label.take(both.pred)
    shared, covered = both.shared, pred_length.take(both.pred).astype(np.int64)
    crowded = np.bincount(both.gold, minlength=len(gold.start)).take(both.gold) > 1
    if not crowded.any():
        union = gold_length.take(both.gold) + covered - shared
        return Groups(both.gold, label, shared, union, np.arange(len(both)))

    rows = np.flatnonzero(crowded)
    key = (both.gold[rows] * len(pairing.labels) + label[rows]) * np.int64(len(pred.start)) + both.pred[rows]
    rows = rows[np.argsort(key)]
    a, b = both.gold[rows], both.pred[rows]
    first = np.ones(len(rows), np.bool_)
    first[1:] = (a[1:] != a[:-1]) | (label[rows][1:] != label[rows][:-1])
    number = np.cumsum(first) - 1
    start, end, gold_end = pred.start[b], pred.end[b], gold.end[a]
    if off_by_one:
        start, end, gold_end = start - ~first, end + first, gold_end + 1
    if disjoint:
        inside, outside = (np.bincount(number, sizes[rows]).astype(np.int64) for sizes in (shared, covered))
    else:
        low, high = np.maximum(start, gold.start[a]), np.minimum(end, gold_end)
        inside, outside = _union(number, first, low, high, start, end)

    alone = np.flatnonzero(~crowded)
    of = np.empty(len(both), np.int64)
    of[alone] = np.arange(len(alone))
    of[rows] = number + len(alone)
    leaders = np.concatenate([alone, rows[first]])
    shared = np.concatenate([shared.take(alone), inside])
    covered = np.concatenate([covered.take(alone), outside])
    leader_gold = both.gold.take(leaders)
    size = gold_length.take(leader_gold).astype(np.int64)
    if off_by_one:
        size[len(alone) :] += 1
    return Groups(leader_gold, label.take(leaders), shared, size + covered - shared, of)


def _union(number: Longs, first: Bools, low: Ints, high: Ints, start: Ints, end: Ints) -> tuple[Longs, Longs]:
    """Return the sizes of unions of spans sorted by start: inside the gold span, and in total."""
    return tuple(  # type: ignore[return-value]
        np.bincount(number, np.maximum(right - np.maximum(left, _reached(number, first, right)), 0)).astype(np.int64)
        for left, right in ((low, high), (start, end))
    )


def _reached(number: Longs, first: Bools, end: Ints) -> Longs:
    """Return the furthest end of the spans before each one in its group."""
    stride = np.int64(int(end.max(initial=0)) + 1)
    furthest = np.maximum.accumulate(number * stride + end) - number * stride
    before = np.concatenate([[0], furthest[:-1]])
    return np.where(first, 0, before)
