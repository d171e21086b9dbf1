"""iou: spans matched by intersection over union, as Presidio Evaluator describes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from spanscore.align.skipwords import SkipWords, skip_words
from spanscore.align.spans import gaps_of, merged, one_label, trimmed
from spanscore.align.tokens import TokenTable, in_tokens, project, token_table
from spanscore.errors import InputError
from spanscore.measures.exact_ratios import at_least
from spanscore.measures.interface import Measure, Untyped
from spanscore.measures.iou_groups import Groups, groups
from spanscore.measures.judgement import Judgement
from spanscore.spec import parameter
from spanscore.tally import Counting, Tally

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from spanscore.align import Pairing
    from spanscore.corpus.columns import Bools, Longs
    from spanscore.overlap import Overlaps


@dataclass(frozen=True, repr=False)
class GroupedIoU(Measure):
    """Base of measures that group predictions by type around each gold span."""

    threshold: float = parameter(0.9, "Minimum IoU for a match.", low=0.0, high=1.0)
    unit: str = parameter(
        "char", "Unit of the IoU: characters, or tokens without skip words.", choices=("char", "token")
    )
    skip: str = parameter(
        "none",
        "Skip words, which are trimmed off the ends of spans and ignored by merge and by token IoU; `english` is "
        "punctuation and function words, `@file` a file with one word per line.",
        choices=("none", "punct", "english", "@file"),
    )
    merge: bool = field(default=True, init=False)
    view: str = field(default="chars", init=False)
    count: str = field(default="groups", init=False)

    @property
    def local(self) -> bool:
        """Only neighbouring spans are grouped or merged, unless tokens are involved."""
        return self.view == "chars" and self.unit == "char" and self.skip == "none"

    def tally(self, pairing: Pairing) -> Tally:
        """Count gold spans, groups and predictions."""
        seen, measured = self._seen(pairing)
        gold, pred = seen.gold, seen.pred
        by_group = self.count == "groups"
        counting = Counting(seen, "tp", "predicted", "annotated", *(() if by_group else ("tp_predicted",)))
        alone, right = np.ones(len(pred.start), np.bool_), np.zeros(len(pred.start), np.bool_)
        for both in self._overlaps(seen, measured):
            found = self._groups(measured, both)
            hit = self._hits(seen, found)
            tp = found.gold.compress(hit)
            counting.add("tp", gold.doc.take(tp), gold.label.take(tp))
            if by_group:
                alone[both.pred] = False
                counting.add("predicted", gold.doc.take(found.gold), found.label)
            else:
                right[both.pred[hit[found.of]]] = True
        counting.add("predicted", pred.doc.compress(alone), pred.label.compress(alone))
        counting.add("annotated", gold.doc, gold.label)
        if not by_group:
            counting.add("tp_predicted", pred.doc[right], pred.label[right])
        return counting.tally()

    def ratios(self, counts: Mapping[str, Any]) -> tuple[Any, Any, Any, Any]:
        """Return tp / predicted; with count=spans, the share of predictions in a group that matches."""
        right = counts["tp_predicted" if self.count == "spans" else "tp"]
        return right, counts["predicted"], counts["tp"], counts["annotated"]

    def shown(self, counts: Mapping[str, Any]) -> dict[str, Any]:
        """Add the predictions in matching groups if count=spans."""
        more = {"tp_predicted": counts["tp_predicted"]} if self.count == "spans" else {}
        return {**super().shown(counts), **more}

    def judge(self, pairing: Pairing) -> Judgement:
        """Judge a missed gold span as the wrong type whose group has the highest IoU of at least the threshold."""
        seen, measured = self._seen(pairing)
        gold, pred = seen.gold, seen.pred
        cell, partner = np.full(len(gold.start), -1, np.int32), np.full(len(gold.start), -1)
        best, wrong_for = np.zeros(len(gold.start)), np.full(len(pred.start), -1)
        right, alone = np.zeros(len(pred.start), np.bool_), np.ones(len(pred.start), np.bool_)
        others: list[tuple[Longs, Longs]] = []
        for both in self._overlaps(seen, measured):
            found = self._groups(measured, both)
            hit = self._hits(seen, found)
            near = np.flatnonzero(at_least(found.shared, found.union, self.threshold))
            order = near[np.lexsort((found.label[near], -found.iou[near], ~hit[near], found.gold[near]))]
            order = order[np.concatenate([[True], found.gold[order][1:] != found.gold[order][:-1]])[: len(order)]]
            is_cell = np.zeros(len(found.gold), np.bool_)
            is_cell[order] = True
            leader = np.full(len(found.gold), len(pred.start))
            np.minimum.at(leader, found.of, both.pred)
            np.maximum.at(best, found.gold, found.iou)
            own = found.label == gold.label[found.gold]
            best[found.gold[own]] = found.iou[own]
            rows = found.gold[order]
            cell[rows], partner[rows], best[rows] = found.label[order], leader[order], found.iou[order]
            wrong = (is_cell & ~hit)[found.of]
            wrong_for[both.pred[wrong]] = both.gold[wrong]
            right[both.pred[hit[found.of]]] = True
            alone[both.pred] = False
            others.append((leader[~is_cell], found.gold[~is_cell]))
            refuse_many_groups(sum(len(one) for one, _ in others), self)
        return Judgement(
            seen,
            cell=cell,
            partner=partner,
            iou=best,
            right=right,
            wrong_for=np.where(right, -1, wrong_for),
            unmatched=np.concatenate([*(one for one, _ in others), np.flatnonzero(alone)]),
            beside=np.concatenate([*(one for _, one in others), np.full(np.count_nonzero(alone), -1)]),
        )

    @property
    def settings(self) -> str:
        """The repr, with a digest of the skip word file if there is one."""
        return repr(self) if self.skip[0] != "@" else f"{self!r}#{self._skip_words().digest}"

    def _hits(self, seen: Pairing, found: Groups) -> Bools:
        same: Bools = found.label == seen.gold.label.take(found.gold)
        return same & at_least(found.shared, found.union, self.threshold)

    def _seen(self, pairing: Pairing) -> tuple[Pairing, Pairing]:
        """Return the spans as this measure sees them, and the same rows with offsets in its unit."""
        skip = self._skip_words()
        if self.view == "chars" and self.unit == "char" and not skip:
            labelled = self._labelled(pairing)
            seen = labelled.once(merge_neighbours, None, skip) if self.merge else labelled
            return seen, seen
        table = pairing.once(token_table, skip)
        if self.view == "tokens":
            pairing = pairing.once(_project, table)
        seen = self._labelled(pairing).once(normalise, table, skip, self.merge)
        return seen, seen if self.unit == "char" else seen.once(in_tokens, table)

    def _labelled(self, pairing: Pairing) -> Pairing:
        return pairing

    def _skip_words(self) -> SkipWords:
        return skip_words(self.skip)

    def _overlaps(self, seen: Pairing, measured: Pairing) -> Iterator[Overlaps]:
        """Yield the pairs of spans that share a character, and how much they share in the measure's unit."""
        return seen.overlap_blocks() if measured is seen else map(measured.shared_by, seen.overlap_blocks())

    def _groups(self, measured: Pairing, both: Overlaps) -> Groups:
        return groups(measured, both)


MANY = 1 << 25
"""Groups that can be listed one by one."""


def refuse_many_groups(number: int, measure: Measure) -> None:
    """Refuse to list more groups than memory may hold."""
    if number > MANY:
        what = f"{measure!r} groups predictions around gold spans in more than {MANY:,} ways, too many to list"
        raise InputError(f"{what}; score without -o, or give --resolve score or longest.")


def normalise(pairing: Pairing, table: TokenTable, skip: SkipWords, merge: bool) -> Pairing:
    """Merge neighbouring spans and trim skip words, each only if asked for."""
    if merge:
        pairing = merge_neighbours(pairing, table if skip else None, skip)
    if skip:
        pairing = pairing.map_sides(lambda side: trimmed(side, table, pairing.text, skip))
    return pairing


def merge_neighbours(pairing: Pairing, table: TokenTable | None, skip: SkipWords) -> Pairing:
    """Merge spans of one type with nothing but whitespace and skip words between them."""
    gaps = gaps_of(pairing, table, skip)
    return pairing.map_sides(lambda side: merged(side, gaps))


def _project(pairing: Pairing, table: TokenTable) -> Pairing:
    return pairing.map_sides(lambda side: project(side, table))


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
    merge: bool = parameter(True, "Whether to merge spans of one type separated only by whitespace and skip words.")
    view: str = parameter("chars", "Spans as they are, or projected on tokens first.", choices=("chars", "tokens"))
    count: str = parameter(
        "groups",
        "Count a prediction once for each gold span that it overlaps (groups), or just once (spans).",
        choices=("groups", "spans"),
    )


class IoUPii(Untyped, IoU):
    """Gold spans found by predictions of any type that cover them well enough.

    As `iou`, after renaming every label to PII before spans are merged. Is the text found at all, under any label?

    >>> import spanscore as ss
    >>> gold = ss.Corpus.from_arrays(["d"], [0], [8], [18], ["LOCATION"])
    >>> pred = ss.Corpus.from_arrays(["d"], [0], [8], [18], ["ORGANIZATION"])
    >>> result = ss.score(gold, pred, ["iou", "iou.pii"])
    >>> result["iou"].recall, result["iou.pii"].recall
    (0.0, 1.0)
    """

    name: ClassVar[str] = "iou.pii"

    def _labelled(self, pairing: Pairing) -> Pairing:
        return pairing.once(one_label, "PII")
