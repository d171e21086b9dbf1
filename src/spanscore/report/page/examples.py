"""The examples in the report as columns: one example for each unit counted in the confusion matrix.

Every gold span is one example, together with its predicted type. So is every prediction that is not matched to a gold
span. As in the matrix, a measure that groups predictions around gold spans has one example per group: a prediction
that covers several gold spans may be several examples, and several predictions on one gold span are one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spanscore.verdicts import CORRECT, MERGED, VERDICTS, explain, places, verdicts

if TYPE_CHECKING:
    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Bools, Floats, Longs
    from spanscore.result import Scores


@dataclass(frozen=True, eq=False)
class Examples:
    """A row per example: its document, its gold and predicted span (-1: none), and the verdict.

    For an unmatched prediction, the gold span is the nearest one.
    """

    gold: Corpus
    pred: Corpus
    doc: Longs
    alone: Bools
    gold_row: Longs
    pred_row: Longs
    cell: Longs
    verdict: Longs
    iou: Floats

    @classmethod
    def of(cls, scores: Scores) -> Examples:
        """Return all examples, sorted by document and offset."""
        judged = scores.judgement
        gold, pred, unmatched = judged.pairing.gold, judged.pairing.pred, judged.unmatched
        of_gold, of_pred = verdicts(judged)
        number = len(gold.start)
        unmatched_verdict = np.where(of_pred.verdict[unmatched] == CORRECT, MERGED, of_pred.verdict[unmatched])
        beside = of_pred.partner[unmatched] if judged.beside is None else judged.beside
        columns = {
            "doc": (gold.doc, pred.doc[unmatched]),
            "alone": (np.zeros(number, np.bool_), np.ones(len(unmatched), np.bool_)),
            "gold_row": (np.arange(number), beside),
            "pred_row": (of_gold.partner, unmatched),
            "cell": (judged.cell, pred.label[unmatched]),
            "verdict": (of_gold.verdict, unmatched_verdict),
            "iou": (of_gold.iou, _iou(gold, beside, pred, unmatched)),
        }
        start = np.concatenate([gold.start, pred.start[unmatched]])
        order = np.lexsort((start, np.concatenate(columns["doc"])))
        return cls(gold, pred, **{name: np.concatenate(parts)[order] for name, parts in columns.items()})

    @property
    def wrong(self) -> Bools:
        """Return which examples are errors."""
        wrong: Bools = self.verdict != CORRECT
        return wrong

    def shown(self, number: Longs, label: dict[str, int]) -> dict[str, list[Any]]:
        """Return the columns for the documents in the report, with labels as the report's label codes."""
        rows = np.flatnonzero(number[self.doc] >= 0)
        codes = np.array([*(label.get(name, -1) for name in self.gold.labels), -1])
        gold_row, pred_row = np.where(self.alone[rows], -1, self.gold_row[rows]), self.pred_row[rows]
        spans = []
        for side, at in ((self.gold, gold_row), (self.pred, pred_row)):
            spans += [_at(column, at, -1) for column in (side.start, side.end, codes[side.label])]
        score = np.full(len(self.pred.start), np.nan) if self.pred.score is None else self.pred.score
        names = ("gs", "ge", "gl", "ps", "pe", "pl")
        return {
            "doc": number[self.doc[rows]].tolist(),
            **{name: column.tolist() for name, column in zip(names, spans, strict=True)},
            "score": [None if value != value else value for value in _at(score, pred_row, np.nan).tolist()],
            "cell": codes[self.cell[rows]].tolist(),
            "verdict": self.verdict[rows].tolist(),
            "iou": np.round(self.iou[rows], 4).tolist(),
            "why": self._why(rows),
        }

    def _why(self, rows: Longs) -> list[str]:
        """Return an explanation for each error, and an empty string for correct examples."""
        why = [""] * len(rows)
        wrong = np.flatnonzero(self.wrong[rows])
        at = rows[wrong]
        spans = places(self.gold, self.gold_row[at]), places(self.pred, self.pred_row[at])
        columns = wrong.tolist(), self.alone[at].tolist(), self.verdict[at].tolist(), self.iou[at].tolist()
        for place, alone, verdict, iou, gold, pred in zip(*columns, *spans, strict=True):
            side, span, other = ("predicted", pred, gold) if alone else ("gold", gold, pred)
            if span is not None:
                why[place] = explain(side, span, VERDICTS[verdict], other, iou)
        return why


def _iou(gold: Corpus, a: Longs, pred: Corpus, b: Longs) -> Floats:
    """Return the IoU of gold rows and predicted rows; 0 where there is no gold row."""
    if not len(gold.start) or not len(b):
        return np.zeros(len(b))
    starts, ends = (gold.start[a], pred.start[b]), (gold.end[a], pred.end[b])
    shared = np.maximum(np.minimum(*ends) - np.maximum(*starts), 0)
    union = (ends[0] - starts[0]) + (ends[1] - starts[1]) - shared
    iou: Floats = np.where(a < 0, 0.0, np.where(union == 0, 1.0, shared / np.maximum(union, 1)))
    return iou


def _at(column: Any, rows: Longs, missing: float) -> Any:
    """Return the values at these rows, and `missing` for row -1."""
    return np.where(rows < 0, missing, column[rows]) if len(column) else np.full(len(rows), missing)
