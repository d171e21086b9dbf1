"""iou: span evaluation by intersection over union, as Presidio Evaluator describes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from spanscore.align.skipwords import SkipWords, skip_words
from spanscore.align.spans import gaps_of, merged, one_label, trimmed
from spanscore.align.tokens import TokenTable, in_tokens, project, token_table
from spanscore.measures.groups import Groups, groups
from spanscore.measures.measure import Judgement, Measure, Untyped, parameter
from spanscore.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spanscore.align import Pairing
    from spanscore.columns import Bools


@dataclass(frozen=True, repr=False)
class GroupedIoU(Measure):
    """What measures have in common that group predictions by type around each gold span."""

    threshold: float = parameter(0.9, "the least IoU that is right", low=0.0, high=1.0)
    unit: str = parameter(
        "char", "what IoU counts: characters, or tokens that are not skip words", choices=("char", "token")
    )
    skip: str = parameter(
        "none",
        "skip words: trimmed off the ends of spans, passed over by merge and by token IoU; english: punctuation and "
        "function words; @file: one word a line",
        choices=("none", "punct", "english", "@file"),
    )
    merge: bool = field(default=True, init=False)
    view: str = field(default="chars", init=False)
    count: str = field(default="groups", init=False)

    @property
    def local(self) -> bool:
        """Only neighbours group and merge; but tokens may be anywhere."""
        return self.view == "chars" and self.unit == "char" and self.skip == "none"

    def tally(self, pairing: Pairing) -> Tally:
        """Count gold spans, groups and predictions."""
        seen, measured = self._seen(pairing)
        gold, pred = seen.gold, seen.pred
        found = self._groups(measured)
        hit = self._hits(seen, found)
        apart = np.ones(len(pred.start), np.bool_)
        apart[measured.overlaps.pred] = False
        alone = np.flatnonzero(apart)
        tp = found.gold.compress(hit)
        events: dict[str, tuple[Any, ...]] = {"tp": (gold.doc.take(tp), gold.label.take(tp))}
        if self.count == "groups":
            events["predicted"] = (
                np.concatenate([gold.doc.take(found.gold), pred.doc.take(alone)]),
                np.concatenate([found.label, pred.label.take(alone)]),
            )
        else:
            events["predicted"] = (pred.doc, pred.label)
        events["annotated"] = (gold.doc, gold.label)
        if self.count == "spans":
            right = self._right(measured, found, hit)
            events["tp_predicted"] = (pred.doc[right], pred.label[right])
        return Tally.count(seen, events)

    def ratios(self, counts: Mapping[str, Any]) -> tuple[Any, Any, Any, Any]:
        """P = tp / predicted; with count=spans, the share of predictions that are in a group that is right."""
        right = counts["tp_predicted" if self.count == "spans" else "tp"]
        return right, counts["predicted"], counts["tp"], counts["annotated"]

    def shown(self, counts: Mapping[str, Any]) -> dict[str, Any]:
        """With count=spans, the right predictions beside the gold spans found."""
        more = {"tp_predicted": counts["tp_predicted"]} if self.count == "spans" else {}
        return {**super().shown(counts), **more}

    def judge(self, pairing: Pairing) -> Judgement:
        """A gold span that is not found is taken for the wrong type whose group has the highest IoU >= threshold."""
        seen, measured = self._seen(pairing)
        gold, pred, both = seen.gold, seen.pred, measured.overlaps
        found = self._groups(measured)
        hit = self._hits(seen, found)
        near = np.flatnonzero(found.iou >= self.threshold)
        order = near[np.lexsort((found.label[near], -found.iou[near], ~hit[near], found.gold[near]))]
        order = order[np.concatenate([[True], found.gold[order][1:] != found.gold[order][:-1]])[: len(order)]]
        chosen = np.full(len(gold.start), -1)
        chosen[found.gold[order]] = order
        is_cell = np.zeros(len(found.gold), np.bool_)
        is_cell[order] = True
        leader = np.full(len(found.gold), len(pred.start))
        np.minimum.at(leader, found.of, both.pred)
        best, own = np.zeros(len(gold.start)), found.label == gold.label[found.gold]
        np.maximum.at(best, found.gold, found.iou)
        best[found.gold[own]] = found.iou[own]
        of_chosen = chosen >= 0
        wrong = (is_cell & ~hit)[found.of]
        taken = np.full(len(pred.start), -1)
        taken[both.pred[wrong]] = both.gold[wrong]
        right = self._right(measured, found, hit)
        alone = np.ones(len(pred.start), np.bool_)
        alone[both.pred] = False
        cell, partner = np.full(len(gold.start), -1, np.int32), np.full(len(gold.start), -1)
        cell[of_chosen] = found.label[chosen[of_chosen]]
        partner[of_chosen] = leader[chosen[of_chosen]]
        best[of_chosen] = found.iou[chosen[of_chosen]]
        return Judgement(
            seen,
            cell=cell,
            partner=partner,
            iou=best,
            right=right,
            taken=np.where(right, -1, taken),
            loose=np.concatenate([leader[~is_cell], np.flatnonzero(alone)]),
            beside=np.concatenate([found.gold[~is_cell], np.full(np.count_nonzero(alone), -1)]),
        )

    @property
    def settings(self) -> str:
        """The repr; a file of skip words is told by what it holds."""
        return repr(self) if self.skip[0] != "@" else f"{self!r}#{skip_words(self.skip).digest}"

    def _hits(self, seen: Pairing, found: Groups) -> Bools:
        hits: Bools = (found.label == seen.gold.label.take(found.gold)) & (found.iou >= self.threshold)
        return hits

    def _right(self, measured: Pairing, found: Groups, hit: Bools) -> Bools:
        right = np.zeros(len(measured.pred.start), np.bool_)
        right[measured.overlaps.pred[hit[found.of]]] = True
        return right

    def _seen(self, pairing: Pairing) -> tuple[Pairing, Pairing]:
        """The spans as this measure sees them, and the same rows with offsets in the unit that it counts."""
        if self.view == "chars" and self.unit == "char" and self.skip == "none":
            labelled = self._labelled(pairing)
            if not self.merge:
                return labelled, labelled
            seen = labelled.once("merged", lambda it: _merge(it, None, skip_words("none")))
            return seen, seen
        table = pairing.once(("tokens", self.skip), lambda it: token_table(it, skip_words(self.skip)))
        if self.view == "tokens":
            pairing = pairing.once(("projected", self.skip), lambda it: it.map_sides(lambda side: project(side, table)))
        labelled = self._labelled(pairing)
        key = (self._normalised.__qualname__, self.skip, self.merge)
        seen = labelled.once(key, lambda it: self._normalised(it, table))
        if self.unit == "char":
            return seen, seen
        return seen, seen.once(("in tokens", self.skip), lambda it: in_tokens(it, table))

    def _labelled(self, pairing: Pairing) -> Pairing:
        return pairing

    def _groups(self, measured: Pairing) -> Groups:
        return groups(measured)

    def _normalised(self, pairing: Pairing, table: TokenTable) -> Pairing:
        """Merge, trim skip words: each only if asked for."""
        skip = skip_words(self.skip)
        if self.merge:
            pairing = _merge(pairing, table if skip else None, skip)
        if skip:
            pairing = pairing.map_sides(lambda side: trimmed(side, table, pairing.text, skip))
        return pairing


@dataclass(frozen=True, repr=False)
class IoU(GroupedIoU):
    """Gold spans found by predictions of their type that cover them well enough.

    For each gold span, the predictions that overlap it are grouped by type. A group's
    IoU is |gold ∩ union of the group| / |gold ∪ union of the group|. A group of the gold's type with IoU >= threshold
    is a true positive. Every gold span is annotated once; every group is predicted once, and so is every prediction
    that overlaps no gold span. P = tp / predicted, R = tp / annotated. Spans are merged first (see merge).

    >>> import spanscore as ss
    >>> gold = ss.Corpus.from_arrays(["d"], [0], [8], [18], ["PERSON"])
    >>> pred = ss.Corpus.from_arrays(["d"], [0], [8], [16], ["PERSON"])
    >>> ss.score(gold, pred, ["iou(threshold=0.8)"])["iou"].counts
    {'tp': 1, 'predicted': 1, 'annotated': 1, 'fp': 0, 'fn': 0}
    >>> ss.score(gold, pred, ["iou"])["iou"].counts
    {'tp': 0, 'predicted': 1, 'annotated': 1, 'fp': 1, 'fn': 1}
    """

    name: ClassVar[str] = "iou"
    merge: bool = parameter(True, "whether spans of one type with only white space and skip words between them are one")
    view: str = parameter("chars", "spans as they are, or projected on tokens first", choices=("chars", "tokens"))
    count: str = parameter(
        "groups",
        "whether a prediction counts once for each gold span that it overlaps, or just once",
        choices=("groups", "spans"),
    )


class IoUPii(Untyped, IoU):
    """Gold spans found by predictions of any type that cover them well enough.

    Every label becomes PII before spans are merged; then the same as `iou`. Is the text found at all, whatever as?

    >>> import spanscore as ss
    >>> gold = ss.Corpus.from_arrays(["d"], [0], [8], [18], ["LOCATION"])
    >>> pred = ss.Corpus.from_arrays(["d"], [0], [8], [18], ["ORGANIZATION"])
    >>> result = ss.score(gold, pred, ["iou", "iou.pii"])
    >>> result["iou"].recall, result["iou.pii"].recall
    (0.0, 1.0)
    """

    name: ClassVar[str] = "iou.pii"

    def _labelled(self, pairing: Pairing) -> Pairing:
        return pairing.once("pii", lambda it: one_label(it, "PII"))


def _merge(pairing: Pairing, table: TokenTable | None, skip: SkipWords) -> Pairing:
    gaps = gaps_of(pairing, table, skip)
    return pairing.map_sides(lambda side: merged(side, gaps))
