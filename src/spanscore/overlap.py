"""The interval join: every gold and predicted span that share a character, found once for all measures.

Two spans overlap in just one of two ways: the predicted one begins inside the gold one, or the gold one begins inside
the predicted one, after its first character. With both sides sorted by where they begin, each span's partners of either
kind are neighbours, so four counts of "how many begin before here" give every pair: O(n log n + pairs), whatever
is nested in or crosses what.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from spanscore.corpus import ranges

if TYPE_CHECKING:
    from spanscore.corpus import Corpus, Longs


@dataclass(frozen=True, eq=False)
class Overlaps:
    """Pairs of rows, gold and predicted, and how many characters they share."""

    gold: Longs
    pred: Longs
    shared: Longs

    def __len__(self) -> int:
        return len(self.gold)


def overlaps(gold: Corpus, pred: Corpus) -> Overlaps:
    """All pairs of overlapping spans of two corpora with the same documents, spans sorted by document and start.

    An empty span overlaps only an empty span in the same place, with which it shares no character.

    >>> from spanscore.corpus import Corpus
    >>> gold = Corpus.from_arrays(["d"], [0, 0], [0, 4], [10, 6], ["A", "A"])
    >>> pred = Corpus.from_arrays(["d"], [0, 0], [5, 10], [12, 12], ["A", "A"])
    >>> found = overlaps(gold, pred)
    >>> sorted(zip(found.gold.tolist(), found.pred.tolist(), found.shared.tolist()))
    [(0, 0, 5), (1, 0, 1)]
    """
    stride = 2 + max(int(side.end.max(initial=0)) for side in (gold, pred))
    gold_rows, gold_start, gold_end = _solid(gold, stride)
    pred_rows, pred_start, pred_end = _solid(pred, stride)
    low = _below(pred_start, gold_start, "left")
    in_gold = _below(pred_start, gold_end, "left") - low
    begins_after = _below(gold_start, pred_start, "right")
    in_pred = _below(gold_start, pred_end, "left") - begins_after
    a = np.concatenate([np.repeat(np.arange(len(gold_start)), in_gold), ranges(begins_after, in_pred)])
    b = np.concatenate([ranges(low, in_gold), np.repeat(np.arange(len(pred_start)), in_pred)])
    shared = np.minimum(gold_end[a], pred_end[b]) - np.maximum(gold_start[a], pred_start[b])
    a = a if gold_rows is None else gold_rows[a]
    b = b if pred_rows is None else pred_rows[b]
    if gold_rows is not None and pred_rows is not None:
        more = _same_place(gold, pred, stride)
        a, b = np.concatenate([a, more[0]]), np.concatenate([b, more[1]])
        shared = np.concatenate([shared, np.zeros(len(more[0]), np.int64)])
    return Overlaps(a, b, shared)


def _solid(side: Corpus, stride: int) -> tuple[Longs | None, Longs, Longs]:
    """Rows of the spans that are not empty (None: all), their starts and ends on one line of all documents."""
    base = side.doc.astype(np.int64) * stride
    start, end = base + side.start, base + side.end
    solid = side.start < side.end
    if solid.all():
        return None, start, end
    rows = np.flatnonzero(solid)
    return rows, start[rows], end[rows]


def _same_place(gold: Corpus, pred: Corpus, stride: int) -> tuple[Longs, Longs]:
    """Pairs of empty spans that stand in the same place."""
    rows = [np.flatnonzero(side.start == side.end) for side in (gold, pred)]
    places = [side.doc[row].astype(np.int64) * stride + side.start[row] for side, row in zip((gold, pred), rows, strict=True)]
    low = np.searchsorted(places[1], places[0], "left")
    counts = np.searchsorted(places[1], places[0], "right") - low
    return rows[0][np.repeat(np.arange(len(rows[0])), counts)], rows[1][ranges(low, counts)]


def _below(values: Longs, limits: Longs, side: Literal["left", "right"]) -> NDArray[Any]:
    """How many of the sorted values are below each limit (`right`: or equal to it).

    Where the limits are sorted too, merging two sorted runs is several times faster than searching for each.
    """
    if len(limits) < 64 or (limits[1:] < limits[:-1]).any():
        return np.searchsorted(values, limits, side)
    runs = (limits, values) if side == "left" else (values, limits)
    order = np.argsort(np.concatenate(runs), kind="stable")
    from_limits = order < len(limits) if side == "left" else order >= len(values)
    return np.flatnonzero(from_limits) - np.arange(len(limits))
