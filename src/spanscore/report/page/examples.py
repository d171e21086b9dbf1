"""The examples in the report as columns: one example for each unit counted in the confusion matrix.

Every gold span is one example, together with its predicted type. So is every prediction that is not matched to a gold
span, unless it is the other side of a gold span with a boundary error: the two are one example. As in the matrix, a
measure that groups predictions around gold spans has one example per group: a prediction that covers several gold
spans may be several examples, and several predictions on one gold span are one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spanscore.align.invented import ATTRIBUTE
from spanscore.result.privacy import allowed
from spanscore.verdicts import (
    CORRECT,
    INVENTED,
    MERGED,
    MISSED,
    VERDICTS,
    WRONG_ATTRIBUTE,
    explain,
    places,
    verdicts,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from spanscore.arguments import Text
    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Bools, Floats, Longs
    from spanscore.report.page.frequent import Frequent
    from spanscore.result import Scores
    from spanscore.verdicts import Verdicts

ENTITY = "kbid"
"""The attribute that holds the entity that a span is linked to."""


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
    twin: Bools
    """Which unmatched predictions are the other side of a gold span's boundary error."""
    also: Longs
    """The label of the twin of a gold span with a boundary error (-1: none)."""
    readable: list[tuple[tuple[int, int], ...]]
    """The ranges of each gold span that masking leaves readable, if the measure is about that."""
    ids: bool = False
    """Whether explanations show the ids of entities."""

    @classmethod
    def of(cls, scores: Scores) -> Examples:
        """Return all examples, sorted by document and offset."""
        judged = scores.judgement
        gold, pred, unmatched = judged.pairing.gold, judged.pairing.pred, judged.unmatched
        of_gold, of_pred = verdicts(judged)
        number = len(gold.start)
        unmatched_verdict = np.where(of_pred.verdict[unmatched] == CORRECT, MERGED, of_pred.verdict[unmatched])
        beside = of_pred.partner[unmatched] if judged.beside is None else judged.beside
        twin, of_twin = _twins(of_gold, beside, unmatched)
        also = np.full(number, -1)
        also[of_twin] = pred.label[unmatched[twin]]
        columns = {
            "doc": (gold.doc, pred.doc[unmatched]),
            "alone": (np.zeros(number, np.bool_), np.ones(len(unmatched), np.bool_)),
            "gold_row": (np.arange(number), beside),
            "pred_row": (of_gold.partner, unmatched),
            "cell": (judged.cell, pred.label[unmatched]),
            "verdict": (of_gold.verdict, unmatched_verdict),
            "iou": (of_gold.iou, _iou(gold, beside, pred, unmatched)),
            "twin": (np.zeros(number, np.bool_), twin),
            "also": (also, np.full(len(unmatched), -1)),
        }
        start = np.concatenate([gold.start, pred.start[unmatched]])
        order = np.lexsort((start, np.concatenate(columns["doc"])))
        readable = [] if judged.exposure is None else judged.exposure.readable()
        ordered = {name: np.concatenate(parts)[order] for name, parts in columns.items()}
        assert scores.pairing is not None
        return cls(gold, scores.pairing.in_text(pred), **ordered, readable=readable, ids=scores.measure.compares_ids)

    @property
    def wrong(self) -> Bools:
        """Return which examples are errors."""
        wrong: Bools = self.verdict != CORRECT
        return wrong

    def shown(
        self,
        number: Longs,
        label: dict[str, int],
        text: Text = "show",
        frequent: Frequent | None = None,
        *,
        entities: bool = False,
        marked_by: Callable[[Longs], list[int]] | None = None,
        annotators: tuple[str, str] | None = None,
    ) -> dict[str, list[Any]]:
        """Return the columns for the documents in the report, with labels as the report's label codes.

        `text` controls whether invented mentions are shown, `entities` whether linked entities are. `marked_by` returns
        the set of annotators who marked the span of each of these rows. `annotators` are the names of both sides, if
        they are annotators. A missed span has no score: the nearest prediction is another one.
        """
        rows = np.flatnonzero((number[self.doc] >= 0) & ~self.twin)
        codes = np.array([*(label.get(name, -1) for name in self.gold.labels), -1])
        gold_row, pred_row = np.where(self.alone[rows], -1, self.gold_row[rows]), self.pred_row[rows]
        spans = []
        for side, at in ((self.gold, gold_row), (self.pred, pred_row)):
            spans += [_at(column, at, -1) for column in (side.start, side.end, codes[side.label])]
        score = np.full(len(self.pred.start), np.nan) if self.pred.score is None else self.pred.score
        scored = np.where(self.verdict[rows] == MISSED, -1, pred_row)
        names = ("gs", "ge", "gl", "ps", "pe", "pl")
        found = {
            "doc": number[self.doc[rows]].tolist(),
            **{name: column.tolist() for name, column in zip(names, spans, strict=True)},
            "score": [None if value != value else value for value in _at(score, scored, np.nan).tolist()],
            "cell": codes[self.cell[rows]].tolist(),
            "verdict": self.verdict[rows].tolist(),
            "also": codes[self.also[rows]].tolist(),
            "iou": np.round(self.iou[rows], 4).tolist(),
            "why": self._why(rows, text, annotators),
        }
        if frequent is not None:
            found |= {"times": frequent.times[rows].tolist(), "string": frequent.group[rows].tolist()}
        if marked_by is not None:
            found["by"] = marked_by(rows)
        if entities:
            found |= {"ge_id": self._entity(self.gold, gold_row), "pe_id": self._entity(self.pred, pred_row)}
            for place in np.flatnonzero(self.verdict[rows] == WRONG_ATTRIBUTE).tolist():
                linked = found["ge_id"][place], found["pe_id"][place]
                if linked[0] != linked[1] and not self.ids:  # else the explanation has them
                    right, wrong = (name or "no entity" for name in linked)
                    found["why"][place] += f" It is linked to {wrong} instead of {right}."
        return found

    @staticmethod
    def _entity(side: Corpus, rows: Longs) -> list[str | None]:
        """Return the entity that each span is linked to."""
        column = side.attrs.get(ENTITY)
        names = [None] * len(side.start) if column is None else column.tolist()
        return [None if row < 0 or names[row] is None else encodable(str(names[row])) for row in rows.tolist()]

    def _why(self, rows: Longs, text: Text, annotators: tuple[str, str] | None) -> list[str]:
        """Return an explanation for each error, and an empty string for correct examples."""
        why = [""] * len(rows)
        wrong = np.flatnonzero(self.wrong[rows])
        at = rows[wrong]
        sides = (self.gold, self.gold_row[at]), (self.pred, self.pred_row[at])
        spans = [places(side, of, ids=self.ids and text == "show") for side, of in sides]
        columns = wrong.tolist(), self.alone[at].tolist(), self.verdict[at].tolist(), self.iou[at].tolist()
        for place, alone, verdict, iou, row, gold, pred in zip(
            *columns, self.gold_row[at].tolist(), *spans, strict=True
        ):
            side, span, other = ("predicted", pred, gold) if alone else ("gold", gold, pred)
            if span is not None and annotators is not None:
                who, whom = annotators[::-1] if alone else annotators
                theirs = "nothing that overlaps it" if other is None else f"{other} (IoU {iou:.2f})"
                why[place] = f"{span} is marked by {who}; {whom} marked {theirs}."
            elif span is not None:
                readable = self.readable[row] if self.readable and not alone else ()
                why[place] = explain(side, span, VERDICTS[verdict], other, iou, readable)
        invented = np.flatnonzero(self.verdict[rows] == INVENTED).tolist()
        mentions = self.pred.attrs[ATTRIBUTE].tolist() if invented else []
        for place in invented:
            mention = allowed(str(mentions[self.pred_row[rows[place]]]), text)
            why[place] += "" if mention is None else f" It says “{encodable(mention)}”."
        return why


def _twins(of_gold: Verdicts, beside: Longs, unmatched: Longs) -> tuple[Bools, Longs]:
    """Return which unmatched predictions are the partner of a gold span with wrong boundaries, and those gold rows."""
    twin = np.zeros(len(unmatched), np.bool_)
    near = np.flatnonzero(beside >= 0)
    gold = beside[near]
    verdict = of_gold.verdict[gold]
    same = (verdict >= WRONG_ATTRIBUTE) & (verdict <= MERGED) & (of_gold.partner[gold] == unmatched[near])
    _, first = np.unique(gold[same], return_index=True)
    rows = np.sort(near[same][first])
    twin[rows] = True
    return twin, beside[rows]


def _iou(gold: Corpus, a: Longs, pred: Corpus, b: Longs) -> Floats:
    """Return the IoU of gold rows and predicted rows; 0 where there is no gold row."""
    if not len(gold.start) or not len(b):
        return np.zeros(len(b))
    starts, ends = (gold.start[a], pred.start[b]), (gold.end[a], pred.end[b])
    shared = np.maximum(np.minimum(*ends) - np.maximum(*starts), 0)
    union = (ends[0] - starts[0]) + (ends[1] - starts[1]) - shared
    iou: Floats = np.where(a < 0, 0.0, np.where(union == 0, 1.0, shared / np.maximum(union, 1)))
    return iou


def encodable(text: str) -> str:
    """Replace lone surrogates, which cannot be encoded as UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _at(column: Any, rows: Longs, missing: float) -> Any:
    """Return the values at these rows, and `missing` for row -1."""
    return np.where(rows < 0, missing, column[rows]) if len(column) else np.full(len(rows), missing)
