"""Error analysis: a verdict and a one-sentence explanation for every gold and predicted span."""

from __future__ import annotations

from heapq import merge
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Bools, Floats, Longs
    from spanscore.measures import Judgement

VERDICTS = (
    "correct",
    "wrong type",
    "wrong attribute",
    "too short",
    "too long",
    "shifted",
    "split",
    "merged",
    "missed",
    "spurious",
)
CORRECT, WRONG_TYPE, WRONG_ATTRIBUTE, TOO_SHORT, TOO_LONG, SHIFTED, SPLIT, MERGED, MISSED, SPURIOUS = range(10)


class Place(NamedTuple):
    """The offsets, label and score of a span."""

    start: int
    end: int
    label: str
    score: float | None = None

    def __str__(self) -> str:
        return f"{self.label} [{self.start}, {self.end})"


class Error(NamedTuple):
    """The verdict on a span: its `side`, the `counterpart` that it was compared with, and an explanation."""

    document: str
    side: str
    span: Place
    verdict: str
    iou: float
    counterpart: Place | None
    explanation: str
    text: str | None


class Verdicts(NamedTuple):
    """For every span of one side: its verdict, the row of its counterpart on the other side, and their IoU."""

    verdict: Longs
    partner: Longs
    iou: Floats


def verdicts(judgement: Judgement) -> tuple[Verdicts, Verdicts]:
    """Return the verdicts on the gold spans and on the predictions."""
    pairing = judgement.pairing
    gold, pred = pairing.gold, pairing.pred
    both, iou = pairing.overlaps, pairing.iou
    same = gold.label[both.gold] == pred.label[both.pred]
    by_gold = _Best(both.gold, both.pred, iou, same, len(gold.start))
    by_pred = _Best(both.pred, both.gold, iou, same, len(pred.start))

    gold_verdict = _boundary(gold, pred, by_gold, by_pred, flipped=False)
    gold_verdict[judgement.cell >= 0] = WRONG_TYPE
    gold_verdict[judgement.cell == gold.label] = CORRECT
    gold_partner = np.where(judgement.partner >= 0, judgement.partner, by_gold.partner)
    gold_iou = np.where(judgement.iou > 0, judgement.iou, by_gold.iou)

    pred_verdict = _boundary(pred, gold, by_pred, by_gold, flipped=True)
    pred_verdict[judgement.wrong_for >= 0] = WRONG_TYPE
    pred_verdict[judgement.right] = CORRECT
    pred_partner = np.where(judgement.wrong_for >= 0, judgement.wrong_for, by_pred.partner)
    about_it = (pred_partner >= 0) & (
        (judgement.wrong_for >= 0) | ((by_pred.same > 0) & _not_retyped(judgement, pred_partner))
    )
    pred_iou = np.where(about_it, gold_iou[pred_partner] if len(gold_iou) else 0.0, by_pred.iou)
    return Verdicts(gold_verdict, gold_partner, gold_iou), Verdicts(pred_verdict, pred_partner, pred_iou)


def errors(judgement: Judgement, *, correct: bool = False) -> Iterator[Error]:
    """Yield every wrong span (with `correct`, every span), sorted by document and offset, gold before predicted."""
    pairing = judgement.pairing
    gold, pred = pairing.gold, pairing.pred
    found = []
    for name, mine, other, (verdict, partner, overlap) in zip(
        ("gold", "predicted"), (gold, pred), (pred, gold), verdicts(judgement), strict=True
    ):
        chosen = np.arange(len(verdict)) if correct else np.flatnonzero(verdict != CORRECT)
        columns = (mine.doc[chosen], verdict[chosen], overlap[chosen])
        places_ = zip(places(mine, chosen), places(other, partner[chosen]), strict=True)
        listed = zip(places_, *(column.tolist() for column in columns), strict=True)
        found.append([(doc, span, VERDICTS[what], iou, name, near) for (span, near), doc, what, iou in listed if span])
    texts, ids = pairing.text, gold.ids.tolist()
    for doc, span, what, iou, name, near in merge(*found, key=lambda one: (one[0], one[1].start, one[1].end)):
        text = texts[doc]
        yield Error(
            document=ids[doc],
            side=name,
            span=span,
            verdict=what,
            iou=iou,
            counterpart=near,
            explanation=explain(name, span, what, near, iou),
            text=None if text is None else text[span.start : span.end],
        )


def places(side: Corpus, rows: Longs) -> Iterator[Place | None]:
    """Yield the spans in these rows, or None for a row of -1."""
    if not len(side.doc):
        yield from [None] * len(rows)
        return
    scores = [None] * len(rows) if side.score is None else side.score[rows].tolist()
    columns = side.start[rows].tolist(), side.end[rows].tolist(), side.label[rows].tolist()
    for row, start, end, label, score in zip(rows.tolist(), *columns, scores, strict=True):
        known = None if score is None or score != score else score
        yield None if row < 0 else Place(start, end, side.labels[label], known)


def _not_retyped(judgement: Judgement, rows: Longs) -> Bools:
    """Return whether the judged IoU of each gold row is with predictions of its own type."""
    if not len(judgement.cell):
        return np.zeros(len(rows), np.bool_)
    own: Bools = (judgement.cell < 0) | (judgement.cell == judgement.pairing.gold.label)
    return own[rows]


def explain(side: str, span: Place, verdict: str, counterpart: Place | None, iou: float) -> str:
    """Return one sentence that explains the verdict on a span.

    >>> explain("gold", Place(8, 18, "PERSON"), "too short", Place(8, 16, "PERSON"), 0.8)
    'Gold PERSON [8, 18) was predicted as PERSON [8, 16), 2 characters short at the end (IoU 0.80).'
    >>> explain("predicted", Place(0, 4, "URL"), "spurious", None, 0.0)
    'Predicted URL [0, 4) overlaps no gold span.'
    """
    gold, pred = (span, counterpart) if side == "gold" else (counterpart, span)
    subject = f"{side.capitalize()} {span}"
    if counterpart is None or gold is None or pred is None:
        other = "prediction" if side == "gold" else "gold span"
        return f"{subject} overlaps no {other}."
    how = f"(IoU {iou:.2f})"
    if verdict == "correct":
        return f"{subject} matches {counterpart} {how}."
    if verdict == "wrong type":
        relation = "was predicted as" if side == "gold" else "corresponds to gold"
        what = "which is the wrong type" if side == "gold" else "but has the wrong type"
        return f"{subject} {relation} {counterpart}, {what} {how}."
    if verdict == "wrong attribute":
        relation = "was predicted" if side == "gold" else "matches a gold span"
        return f"{subject} {relation} with the same boundaries and type, but with different attributes {how}."
    if verdict in ("missed", "spurious"):
        other = "prediction" if side == "gold" else "gold span"
        return f"{subject} matches no {other}; the nearest is {counterpart} {how}."
    relation = "was predicted as" if side == "gold" else "corresponds to gold"
    if verdict == "split":
        what = "one of several predictions for it" if side == "gold" else "as one of several predictions"
        return f"{subject} {relation} {counterpart}, {what} {how}."
    if verdict == "merged":
        what = "which also overlaps another gold span" if side == "gold" else "and also overlaps another gold span"
        return f"{subject} {relation} {counterpart}, {what} {how}."
    return f"{subject} {relation} {counterpart}, {_difference(gold, pred)} {how}."


def _difference(gold: Place, pred: Place) -> str:
    parts = []
    for amount, where in ((pred.start - gold.start, "at the start"), (gold.end - pred.end, "at the end")):
        if amount:
            unit = "character" if abs(amount) == 1 else "characters"
            parts.append(f"{abs(amount)} {unit} {'short' if amount > 0 else 'too many'} {where}")
    return " and ".join(parts)


class _Best:
    """The best partner of each span of one side (by same label, then IoU, then order).

    `same` is the number of overlapping spans on the other side that have the same label.
    """

    def __init__(
        self, mine: Longs, other: Longs, iou: np.ndarray[tuple[int], np.dtype[np.float64]], same: Bools, size: int
    ) -> None:
        order = np.lexsort((other, -iou, ~same, mine))
        order = order[np.concatenate([[True], mine[order][1:] != mine[order][:-1]])[: len(order)]]
        self.partner = np.full(size, -1)
        self.partner[mine[order]] = other[order]
        self.iou = np.zeros(size)
        self.iou[mine[order]] = iou[order]
        self.same = np.bincount(mine[same], minlength=size)


def _boundary(mine: Corpus, other: Corpus, best: _Best, others_best: _Best, *, flipped: bool) -> Longs:
    """Return verdicts from the boundaries of same-label partners; a span without one is missed or spurious."""
    partner = np.maximum(best.partner, 0)
    verdict = np.full(len(mine.start), SPURIOUS if flipped else MISSED)
    if not len(other.start):
        return verdict
    gold, pred = (other, mine) if flipped else (mine, other)
    gold_row, pred_row = (partner, np.arange(len(mine.start))) if flipped else (np.arange(len(mine.start)), partner)
    inside = (pred.start[pred_row] >= gold.start[gold_row]) & (pred.end[pred_row] <= gold.end[gold_row])
    around = (pred.start[pred_row] <= gold.start[gold_row]) & (pred.end[pred_row] >= gold.end[gold_row])
    kind = np.where(inside, TOO_SHORT, np.where(around, TOO_LONG, SHIFTED))
    kind = np.where(inside & around, WRONG_ATTRIBUTE, kind)
    several, shares = (MERGED, SPLIT) if flipped else (SPLIT, MERGED)
    kind = np.where(others_best.same[partner] > 1, shares, kind)
    kind = np.where(best.same > 1, several, kind)
    return np.where(best.same > 0, kind, verdict)
