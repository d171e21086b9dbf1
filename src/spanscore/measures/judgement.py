"""Judgements: what a measure decides about every span, from which verdicts and the confusion matrix follow."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from spanscore.overlap import Join, Overlaps

if TYPE_CHECKING:
    from spanscore.align import Pairing
    from spanscore.corpus.columns import Bools, Floats, Ints, Longs


HIDDEN, PARTLY, EXPOSED = range(3)
"""What masking all predictions does to a gold span."""


@dataclass(frozen=True, eq=False)
class Exposure:
    """What masking does to each gold span, and the ranges that stay readable: the gold row, start and end of each.

    The ranges are sorted by gold row and start.
    """

    fate: NDArray[np.uint8]
    row: Longs
    start: Longs
    end: Longs

    def readable(self) -> list[tuple[tuple[int, int], ...]]:
        """Return the readable ranges of each gold span."""
        bounds = np.searchsorted(self.row, np.arange(len(self.fate) + 1)).tolist()
        ranges = list(zip(self.start.tolist(), self.end.tolist(), strict=True))
        return [tuple(ranges[low:high]) for low, high in pairwise(bounds)]


@dataclass(frozen=True, eq=False)
class Judgement:
    """What a measure decides about every span of the pairing that it scored.

    `cell` is the label that each gold span was predicted as: its own if it was found, another for a wrong type, -1 if
    it was missed. `partner` is the predicted row behind the cell (-1: none) and `iou` its intersection over union; for
    a missed span, the IoU with predictions of its own type, or the best one (0: not computed). `right` marks the
    predicted spans that are right, and `wrong_for` is the gold row for which a predicted span is the wrong type (-1:
    none). `unmatched` lists the predicted rows that no cell accounts for. A prediction that overlaps several gold spans
    may be listed several times, each with its gold row in `beside` (-1: none; None: not recorded).
    """

    pairing: Pairing
    cell: Ints
    partner: Longs
    iou: Floats
    right: Bools
    wrong_for: Longs
    unmatched: Longs
    beside: Longs | None = None
    exposure: Exposure | None = None
    """What masking leaves readable, if the measure is about that."""
    typed: bool = True
    """Whether labels matter; if not, a span can be another one with wrong boundaries or a wrong id under any label."""

    @classmethod
    def from_pairs(
        cls,
        pairing: Pairing,
        gold: Longs,
        pred: Longs,
        right: Bools,
        *,
        iou: Floats | None = None,
        typed: bool = True,
    ) -> Judgement:
        """Build a judgement from pairs of a gold and a predicted row, and whether each pair is right.

        A pair that is not right and has two labels is a wrong type; one with the same label (a boundary error) leaves
        its gold span missed. Where a gold span has several pairs, right ones count first, then the earlier ones. `iou`
        is that of each pair (default: by their offsets).
        """
        sides = pairing.gold, pairing.pred
        if iou is None:
            apart = sides[0].doc[gold] != sides[1].doc[pred]
            iou = np.where(apart, 0.0, pairing.iou(pairing.shared_by(Overlaps(gold, pred, gold))))
        wrong = ~right & (sides[0].label[gold] != sides[1].label[pred])
        decided = np.flatnonzero(right | wrong)
        decided = decided[np.lexsort((decided, ~right[decided], gold[decided]))]
        decided = decided[np.concatenate([[True], gold[decided][1:] != gold[decided][:-1]])[: len(decided)]]
        a, b, hit = gold[decided], pred[decided], right[decided]
        cell, partner = np.full(len(sides[0].doc), -1, np.int32), np.full(len(sides[0].doc), -1)
        cell[a], partner[a] = np.where(hit, sides[0].label[a], sides[1].label[b]), b
        found, wrong_for = np.zeros(len(sides[1].doc), np.bool_), np.full(len(sides[1].doc), -1)
        found[pred[right]] = True
        wrong_for[b[~hit]] = a[~hit]
        wrong_for[found] = -1
        in_cell = np.zeros(len(sides[1].doc), np.bool_)
        in_cell[b] = True
        best = np.zeros(len(sides[0].doc))
        np.maximum.at(best, gold, iou)
        return cls(pairing, cell, partner, best, found, wrong_for, np.flatnonzero(~in_cell), typed=typed)

    def types_in(self, pairing: Pairing) -> tuple[tuple[str, ...], Ints]:
        """Return the labels of a pairing, and that of each gold span in it.

        Where the measure gives all spans one label, it is that of the span of the pairing with the same offsets; where
        it merges or trims spans, that of the span which shares most characters, the shortest such one.
        """
        mine, typed = self.pairing.gold, pairing.gold
        if mine.labels == typed.labels or not len(typed.doc):
            return mine.labels, mine.label
        stride = np.int64(1 + max(int(one.end.max(initial=0)) for one in (mine, typed)))
        begin, known = mine.doc * stride + mine.start, typed.doc * stride + typed.start
        first, last = np.searchsorted(known, begin), np.searchsorted(known, begin, side="right") - 1
        behind = np.searchsorted(known, known)  # the first row that begins at the same place
        place = np.searchsorted(behind * stride + typed.end, first * stride + mine.end)
        same = (place <= last) & (typed.end.take(place, mode="clip") == mine.end)
        changed = np.flatnonzero(~same)
        place[changed] = np.maximum(last[changed], 0)
        size = typed.end - typed.start
        for both in Join(mine.with_spans(changed), typed).blocks() if len(changed) else ():
            order = np.lexsort((both.pred, size[both.pred], -both.shared, both.gold))
            row, partner = both.gold[order], both.pred[order]
            best = np.concatenate([[True], row[1:] != row[:-1]])[: len(row)]
            place[changed[row[best]]] = partner[best]
        return typed.labels, typed.label[place]

    def confusion(self) -> dict[tuple[str | None, str | None], int]:
        """Count spans by gold label and predicted label; None is missed (as predicted) or spurious (as gold)."""
        labels = (*self.pairing.labels, None)
        size = len(labels)
        gold = np.concatenate([self.pairing.gold.label, np.full(len(self.unmatched), size - 1)])
        unmatched = self.pairing.pred.label[self.unmatched]
        pred = np.concatenate([np.where(self.cell < 0, size - 1, self.cell), unmatched])
        cells, counts = np.unique(gold.astype(np.int64) * size + pred, return_counts=True)
        return {
            (labels[cell // size], labels[cell % size]): count
            for cell, count in zip(cells.tolist(), counts.tolist(), strict=True)
        }
