"""Error analysis: a verdict and a one-sentence explanation for every gold and predicted span."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from spanscore.align.invented import is_invented
from spanscore.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

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
    "partly hidden",
    "exposed",
    "needless",
    "invented",
)
CORRECT, WRONG_TYPE, WRONG_ATTRIBUTE, TOO_SHORT, TOO_LONG, SHIFTED, SPLIT, MERGED, MISSED, SPURIOUS = range(10)
PARTLY_HIDDEN, EXPOSED, NEEDLESS, INVENTED = range(10, 14)
SIDES = ("gold", "predicted")
WRONG_LINK = "wrong link"
"""What a wrong attribute is called if it is the id of the entity."""
HIDDEN = "hidden"
"""What a correct gold span is called if a measure is about masking."""
ENTITY = "kbid"
"""The attribute that holds the id of a span's entity."""
LISTED = 5
"""Maximum number of readable ranges that an explanation lists."""


class Place(NamedTuple):
    """The offsets, label and score of a span, and the id of its entity if the measure is about that."""

    start: int
    end: int
    label: str
    score: float | None = None
    kbid: str | None = None

    def __str__(self) -> str:
        return f"{self.label} [{self.start}, {self.end})" + (f" ({self.kbid})" if self.kbid else "")


class Error(NamedTuple):
    """The verdict on a span: its `side`, and the `counterpart` that it was compared with."""

    document: str
    side: str
    span: Place
    verdict: str
    iou: float
    counterpart: Place | None
    text: str | None
    readable: tuple[tuple[int, int], ...] = ()
    """The ranges of a gold span that stay readable, if the measure is about masking."""

    @property
    def explanation(self) -> str:
        """One sentence that explains the verdict."""
        return explain(self.side, self.span, self.verdict, self.counterpart, self.iou, self.readable)


class Verdicts(NamedTuple):
    """For every span of one side: its verdict, the row of its counterpart on the other side, and their IoU."""

    verdict: Longs
    partner: Longs
    iou: Floats


def verdicts(judgement: Judgement) -> tuple[Verdicts, Verdicts]:
    """Return the verdicts on the gold spans and on the predictions, which are computed once for all outputs."""
    if judgement not in _KNOWN:
        _KNOWN[judgement] = _verdicts(judgement)
    return _KNOWN[judgement]


_KNOWN: WeakKeyDictionary[Judgement, tuple[Verdicts, Verdicts]] = WeakKeyDictionary()


def _verdicts(judgement: Judgement) -> tuple[Verdicts, Verdicts]:
    if judgement.exposure is not None:
        kinds = np.array([CORRECT, PARTLY_HIDDEN, EXPOSED])[judgement.exposure.fate]
        needless = np.where(judgement.right, CORRECT, NEEDLESS)
        needless[is_invented(judgement.pairing.pred)] = INVENTED
        return (
            Verdicts(kinds, judgement.partner, judgement.iou),
            Verdicts(needless, judgement.wrong_for, np.zeros(len(needless))),
        )
    pairing = judgement.pairing
    gold, pred = pairing.gold, pairing.pred
    by_gold, by_pred = _Best(len(gold.start)), _Best(len(pred.start))
    for both in pairing.overlap_blocks():
        iou = pairing.iou(both)
        same = (gold.label[both.gold] == pred.label[both.pred]) | (not judgement.typed)
        by_gold.see(both.gold, both.pred, iou, same)
        by_pred.see(both.pred, both.gold, iou, same)

    gold_verdict = _boundary(gold, pred, by_gold, by_pred, flipped=False)
    gold_verdict[judgement.cell >= 0] = WRONG_TYPE
    gold_verdict[judgement.cell == gold.label] = CORRECT
    gold_partner = np.where(judgement.partner >= 0, judgement.partner, by_gold.partner)
    gold_iou = np.where(judgement.iou > 0, judgement.iou, by_gold.iou)

    pred_verdict = _boundary(pred, gold, by_pred, by_gold, flipped=True)
    pred_verdict[judgement.wrong_for >= 0] = WRONG_TYPE
    pred_verdict[judgement.right] = CORRECT
    pred_verdict[is_invented(pred)] = INVENTED
    pred_partner = np.where(judgement.wrong_for >= 0, judgement.wrong_for, by_pred.partner)
    about_it = (pred_partner >= 0) & (
        (judgement.wrong_for >= 0) | ((by_pred.same > 0) & _not_retyped(judgement, pred_partner))
    )
    pred_iou = np.where(about_it, gold_iou[pred_partner] if len(gold_iou) else 0.0, by_pred.iou)
    return Verdicts(gold_verdict, gold_partner, gold_iou), Verdicts(pred_verdict, pred_partner, pred_iou)


def errors(
    judgement: Judgement,
    *,
    correct: bool = False,
    text_ends: Longs | None = None,
    ids: bool = False,
    sides: Sequence[str] = SIDES,
) -> Iterator[Error]:
    """Yield every wrong span (with `correct`, every span), sorted by document and offset, gold before predicted.

    With `ids`, spans are shown with the ids of their entities.

    An invented mention has no place in the text; its offsets are the end of the text (`text_ends`, by document).
    """
    pairing = judgement.pairing
    corpora = dict(zip(SIDES, (pairing.gold, pairing.pred), strict=True))
    judged = dict(zip(SIDES, verdicts(judgement), strict=True))
    ranges = None if judgement.exposure is None else judgement.exposure.readable()
    found: list[_Found] = []
    keys = []
    for side in sides:
        mine, other = corpora[side], next(corpora[one] for one in SIDES if one != side)
        known = judged[side]
        rows = np.arange(len(mine.start)) if correct else np.flatnonzero(known.verdict != CORRECT)
        verdict, partner, iou = known.verdict[rows], known.partner[rows], known.iou[rows]
        keys.append((mine.end[rows], mine.start[rows], mine.doc[rows]))
        spans, others = places(mine, rows, ids=ids), places(other, partner, ids=ids)
        kinds = [VERDICTS[code] for code in verdict.tolist()]
        for place in np.flatnonzero(verdict == WRONG_ATTRIBUTE).tolist():
            if others[place] is not None and others[place].kbid != spans[place].kbid:
                kinds[place] = WRONG_LINK
        readable: Iterable[tuple[tuple[int, int], ...]] = repeat(())
        if ranges is not None and side == "gold":
            kinds = [HIDDEN if kind == "correct" else kind for kind in kinds]
            readable = [ranges[row] for row in rows.tolist()]
        found += zip(repeat(side), spans, kinds, iou.tolist(), others, readable, strict=False)
    columns = [np.concatenate(both) for both in zip(*keys, strict=True)]
    order = np.lexsort(columns)
    names, texts = pairing.gold.ids.tolist(), pairing.text
    for place, doc in zip(order.tolist(), columns[2][order].tolist(), strict=True):
        side, span, kind, share, near, left = found[place]
        text = texts[doc]
        inside = None if text is None else text[span[0] : span[1]]  # not before it is asked for: spans may be nested
        if kind == "invented" and text_ends is not None:
            span = span._replace(start=int(text_ends[doc]), end=int(text_ends[doc]))
        yield Error(names[doc], side, span, kind, share, near, inside, left)


_Found = tuple[str, Place, str, float, Place | None, tuple[tuple[int, int], ...]]
"""Side, span, verdict, IoU, counterpart and readable ranges of an error."""


def places(side: Corpus, rows: Longs, *, ids: bool = False) -> list[Any]:
    """Return the spans in these rows, with the ids of their entities if asked for, or None for a row of -1."""
    present = np.flatnonzero(rows >= 0)
    at, names = rows[present], side.labels
    scores: Iterable[float | None] = repeat(None)
    if side.score is not None:
        scores = (None if score != score else score for score in side.score[at].tolist())
    entities: Iterable[str | None] = repeat(None)
    if ids and ENTITY in side.attrs:
        entities = (None if one is None else printable(str(one)) for one in side.attrs[ENTITY].take(at).tolist())
    labels = [names[code] for code in side.label[at].tolist()]
    known = list(map(Place, side.start[at].tolist(), side.end[at].tolist(), labels, scores, entities))
    if len(known) == len(rows):
        return known
    spans: list[Any] = [None] * len(rows)
    for place, span in zip(present.tolist(), known, strict=True):
        spans[place] = span
    return spans


def _not_retyped(judgement: Judgement, rows: Longs) -> Bools:
    """Return whether the judged IoU of each gold row is with predictions of its own type."""
    if not len(judgement.cell):
        return np.zeros(len(rows), np.bool_)
    own: Bools = (judgement.cell < 0) | (judgement.cell == judgement.pairing.gold.label)
    return own[rows]


def explain(
    side: str,
    span: Place,
    verdict: str,
    counterpart: Place | None,
    iou: float,
    readable: Sequence[tuple[int, int]] = (),
) -> str:
    """Return one sentence that explains the verdict on a span; `readable` are the ranges that masking leaves.

    >>> explain("gold", Place(8, 18, "PERSON"), "too short", Place(8, 16, "PERSON"), 0.8)
    'Gold PERSON [8, 18) was predicted as PERSON [8, 16), 2 characters short at the end (IoU 0.80).'
    >>> explain("gold", Place(0, 4, "CITY", None, "Q90"), "wrong link", Place(0, 4, "CITY", None, "Q830149"), 1.0)
    'Gold CITY [0, 4) (Q90) was predicted with the same boundaries and type, but linked to Q830149, not to Q90...'
    >>> explain("gold", Place(0, 13, "PERSON"), "partly hidden", None, 0.0, [(0, 2)])
    'Gold PERSON [0, 13) is partly hidden: [0, 2) stays readable.'
    >>> explain("predicted", Place(0, 4, "URL"), "spurious", None, 0.0)
    'Predicted URL [0, 4) overlaps no gold span.'
    """
    gold, pred = (span, counterpart) if side == "gold" else (counterpart, span)
    if verdict == VERDICTS[INVENTED]:
        return f"Predicted {span.label} is not in the text."
    subject = f"{side.capitalize()} {span}"
    if verdict == HIDDEN:
        return f"{subject} is hidden by predictions."
    if verdict in ("partly hidden", "exposed"):
        listed = ", ".join(f"[{start}, {end})" for start, end in readable[:LISTED])
        more = f" and {len(readable) - LISTED} more parts" if len(readable) > LISTED else ""
        return f"{subject} is {verdict}: {listed}{more} {'stay' if len(readable) > 1 else 'stays'} readable."
    if counterpart is None or gold is None or pred is None:
        if verdict == "correct":
            return f"{subject} overlaps a gold span."
        other = "prediction" if side == "gold" else "gold span"
        return f"{subject} overlaps no {other}."
    how = f"(IoU {iou:.2f})"
    if verdict == "correct":
        return f"{subject} matches {counterpart} {how}."
    if verdict == "wrong type":
        relation = "was predicted as" if side == "gold" else "corresponds to gold"
        what = "which is the wrong type" if side == "gold" else "but has the wrong type"
        return f"{subject} {relation} {counterpart}, {what} {how}."
    if verdict in ("wrong attribute", WRONG_LINK):
        relation = "was predicted" if side == "gold" else "matches a gold span"
        what = "with different attributes"
        if gold.kbid != pred.kbid:
            what = f"linked to {counterpart.kbid or 'nothing'}, not to {span.kbid or 'nothing'}"
        shared = "boundaries and type" if gold.label == pred.label else "boundaries"
        return f"{subject} {relation} with the same {shared}, but {what} {how}."
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

    `same` is the number of overlapping spans on the other side that have the same label (or any, if labels do not
    matter).
    """

    def __init__(self, size: int) -> None:
        self.partner = np.full(size, -1)
        self.iou = np.zeros(size)
        self.same = np.zeros(size, np.int64)
        self._own = np.zeros(size, np.bool_)
        """Whether the best partner has the same label."""

    def see(self, mine: Longs, other: Longs, iou: Floats, same: Bools) -> None:
        """Take more pairs into account; pairs of a later block have later gold spans."""
        order = np.lexsort((other, -iou, ~same, mine))
        order = order[np.concatenate([[True], mine[order][1:] != mine[order][:-1]])[: len(order)]]
        rows = mine[order]
        as_typed = same[order] == self._own[rows]
        better = (self.partner[rows] < 0) | (same[order] & ~as_typed) | (as_typed & (iou[order] > self.iou[rows]))
        rows, order = rows[better], order[better]
        self.partner[rows], self.iou[rows], self._own[rows] = other[order], iou[order], same[order]
        self.same += np.bincount(mine[same], minlength=len(self.same))


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
