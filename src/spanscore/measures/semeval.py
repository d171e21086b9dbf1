"""semeval: gold and predicted spans paired one to one, each pair correct, incorrect or partial (SemEval-2013 9.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from spanscore.align.pairing import Pairing
from spanscore.measures.assignment import best_pairs, refuse_too_many
from spanscore.measures.exact import identical
from spanscore.measures.exact_ratios import at_least
from spanscore.measures.interface import Measure
from spanscore.measures.judgement import Judgement
from spanscore.overlap import Join, Overlaps
from spanscore.spec import parameter
from spanscore.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Bools, Ints, Longs

COUNTS = ("correct", "incorrect", "partial", "missed", "spurious")


@dataclass(frozen=True, repr=False)
class SemevalStrict(Measure):
    """Pairs of spans with the same boundaries and type.

    Gold and predicted spans are paired one to one: identical ones first, then those with the same boundaries, then
    those that overlap, with as many same-type pairs and then as many shared characters as possible. A
    pair is correct (same boundaries and type) or incorrect; a gold span without a partner is missed, a predicted one
    spurious. possible = correct + incorrect + partial + missed, actual = correct + incorrect + partial + spurious;
    P = correct / actual, R = correct / possible. A pair counts for the gold span's type.

    >>> import spanscore as ss
    >>> gold = ss.Corpus.from_arrays(["d"], [0] * 3, [0, 10, 20], [5, 15, 25], ["DRUG", "DRUG", "GROUP"])
    >>> pred = ss.Corpus.from_arrays(["d"], [0] * 3, [0, 10, 18], [5, 15, 25], ["DRUG", "BRAND", "GROUP"])
    >>> names = ["semeval.strict", "semeval.exact", "semeval.partial", "semeval.type"]
    >>> [round(one.f, 3) for one in ss.score(gold, pred, names).scores]
    [0.333, 0.667, 0.833, 0.667]
    """

    name: ClassVar[str] = "semeval.strict"
    overlap: float = parameter(
        0.0, "Minimum share of a gold span's characters that its partner must cover.", low=0.0, high=1.0
    )

    def tally(self, pairing: Pairing) -> Tally:
        """Count pairs, and spans without a partner."""
        gold, pred = pairing.gold, pairing.pred
        a, b = self._pairs(pairing)
        correct, partial = self._kinds(pairing, a, b)
        missed, spurious = np.ones(len(gold.doc), np.bool_), np.ones(len(pred.doc), np.bool_)
        missed[a], spurious[b] = False, False
        doc, label = gold.doc[a], gold.label[a]
        kinds = (correct, ~correct & ~partial, partial)
        events: dict[str, tuple[Any, ...]] = {
            name: (doc[kind], label[kind]) for name, kind in zip(COUNTS, kinds, strict=False)
        }
        events["missed"] = (gold.doc[missed], gold.label[missed])
        events["spurious"] = (pred.doc[spurious], pred.label[spurious])
        return Tally.count(pairing, events)

    def ratios(self, counts: Mapping[str, Any]) -> tuple[Any, Any, Any, Any]:
        """Return correct and half of partial, over all predictions and over all possible matches."""
        credit = counts["correct"] + 0.5 * counts["partial"]
        paired = counts["correct"] + counts["incorrect"] + counts["partial"]
        return credit, paired + counts["spurious"], credit, paired + counts["missed"]

    def shown(self, counts: Mapping[str, Any]) -> dict[str, Any]:
        """Return the five counts and their totals."""
        _, actual, _, possible = self.ratios(counts)
        return {**{name: counts[name] for name in COUNTS}, "possible": possible, "actual": actual}

    def judge(self, pairing: Pairing) -> Judgement:
        """Judge the spans of a correct pair as right, and other pairs of two types as wrong types."""
        gold, pred = pairing.gold, pairing.pred
        a, b = self._pairs(pairing)
        shared = np.minimum(gold.end[a], pred.end[b]) - np.maximum(gold.start[a], pred.start[b])
        union = np.maximum(gold.end[a], pred.end[b]) - np.minimum(gold.start[a], pred.start[b])
        iou = np.where(union == 0, 1.0, shared / np.maximum(union, 1))
        return Judgement.from_pairs(pairing, a, b, self._kinds(pairing, a, b)[0], iou=iou)

    def _pairs(self, pairing: Pairing) -> tuple[Longs, Longs]:
        """Return the pairs of spans, which all four measures share."""
        return pairing.once(_pair_up, self.overlap)

    def _kinds(self, pairing: Pairing, a: Longs, b: Longs) -> tuple[Bools, Bools]:
        """Return which pairs are correct, and which are partial."""
        same, exact = _alike(pairing, a, b)
        return same & exact, np.zeros(len(a), np.bool_)


class SemevalExact(SemevalStrict):
    """Pairs of spans with the same boundaries, of any types.

    As `semeval.strict`, but a pair with the same boundaries is correct.
    """

    name: ClassVar[str] = "semeval.exact"

    def _kinds(self, pairing: Pairing, a: Longs, b: Longs) -> tuple[Bools, Bools]:
        return _alike(pairing, a, b)[1], np.zeros(len(a), np.bool_)


class SemevalPartial(SemevalStrict):
    """Pairs of spans that overlap, of any types; half credit if their boundaries differ.

    As `semeval.exact`, but a pair with different boundaries is partial and counts half:
    P = (correct + partial / 2) / actual, R = (correct + partial / 2) / possible.
    """

    name: ClassVar[str] = "semeval.partial"

    def _kinds(self, pairing: Pairing, a: Longs, b: Longs) -> tuple[Bools, Bools]:
        exact = _alike(pairing, a, b)[1]
        return exact, ~exact


class SemevalType(SemevalStrict):
    """Pairs of spans that overlap and have the same type.

    As `semeval.strict`, but a pair of the same type is correct with any boundaries.
    """

    name: ClassVar[str] = "semeval.type"

    def _kinds(self, pairing: Pairing, a: Longs, b: Longs) -> tuple[Bools, Bools]:
        return _alike(pairing, a, b)[0], np.zeros(len(a), np.bool_)


def _alike(pairing: Pairing, a: Longs, b: Longs) -> tuple[Bools, Bools]:
    """Return whether pairs have the same type, and whether they have the same boundaries."""
    gold, pred = pairing.gold, pairing.pred
    return gold.label[a] == pred.label[b], (gold.start[a] == pred.start[b]) & (gold.end[a] == pred.end[b])


def _pair_up(pairing: Pairing, least: float) -> tuple[Longs, Longs]:
    gold, pred = pairing.gold, pairing.pred
    found = [identical(pairing, same_label=True)]
    found.append(_in_turn(pairing, *_free(pairing, found)))
    free = _free(pairing, found)
    if pairing.dense:
        rows = [np.flatnonzero(one) for one in free]
        join = Join(gold.with_spans(rows[0]), pred.with_spans(rows[1]))
        worst = int(np.argmax(join.by_document))
        refuse_too_many(int(join.by_document[worst]), gold.place(worst))
        blocks = (Overlaps(rows[0][one.gold], rows[1][one.pred], one.shared) for one in join.document_blocks())
    for both in blocks if pairing.dense else (pairing.overlaps,):
        a, b, shared = both.gold, both.pred, both.shared
        if not (free[0].all() and free[1].all()):
            left = np.flatnonzero(free[0][a] & free[1][b])
            a, b, shared = a[left], b[left], shared[left]
        if least > 0:
            enough = np.flatnonzero(at_least(shared, (gold.end - gold.start)[a], least))
            a, b, shared = a[enough], b[enough], shared[enough]
        weight = np.maximum(shared, 1)
        weight[gold.label[a] == pred.label[b]] += 1 + shared.sum()
        chosen = best_pairs(a, b, weight)
        found.append((a[chosen], b[chosen]))
    return np.concatenate([rows for rows, _ in found]), np.concatenate([rows for _, rows in found])


def _free(pairing: Pairing, found: list[tuple[Longs, Longs]]) -> tuple[Bools, Bools]:
    """Return which gold and which predicted rows are in none of these pairs."""
    free = np.ones(len(pairing.gold.doc), np.bool_), np.ones(len(pairing.pred.doc), np.bool_)
    for a, b in found:
        free[0][a], free[1][b] = False, False
    return free


def _in_turn(pairing: Pairing, *free: Bools) -> tuple[Longs, Longs]:
    """Pair spans with the same boundaries: in each place the first gold one with the first predicted one, and so on.

    Identical spans are paired already, so that no two types agree and all such pairs are worth the same.
    """
    rows = [np.flatnonzero(one) for one in free]
    gold, pred = (
        side.with_spans(row, label=_turn(side, row))
        for side, row in zip((pairing.gold, pairing.pred), rows, strict=True)
    )
    a, b = identical(Pairing(gold, pred), same_label=True)
    return rows[0][a], rows[1][b]


def _turn(side: Corpus, rows: Longs) -> Ints:
    """Return how many of these rows are in the place of each row, before it."""
    doc, start, end = side.doc[rows], side.start[rows], side.end[rows]
    moved = (doc[1:] != doc[:-1]) | (start[1:] != start[:-1]) | (end[1:] != end[:-1])
    number = np.arange(len(rows), dtype=np.int32)
    first = np.maximum.accumulate(np.where(np.concatenate([[True], moved])[: len(rows)], number, 0))
    turn: Ints = number - first
    return turn
