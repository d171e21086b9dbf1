"""neleval's measures of mentions, links and types: sets of keys, and overlap by the share that is covered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from spanscore.align.pairing import IDENTITY, PLACE
from spanscore.corpus.columns import pieces, ranges
from spanscore.errors import InputError, UsageError
from spanscore.measures.exact import identical
from spanscore.measures.interface import Measure
from spanscore.measures.judgement import Judgement
from spanscore.measures.neleval_keys import (
    ENTITY,
    FIELDS,
    FILTERS,
    codes_of,
    elements,
    fields_of,
    filtered,
    keep_filtered,
    values_of,
)
from spanscore.measures.weights import TAXONOMY, Weights, weights
from spanscore.overlap import BLOCK
from spanscore.spec import Spec, parameter
from spanscore.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spanscore.align import Pairing
    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Bools, Floats, Ints, Longs

UNIT = 2.0**-36
"""Unit of fractional credit: sums of whole numbers do not depend on their order."""


@dataclass(frozen=True, repr=False)
class Keyed(Measure):
    """Base of neleval's measures: a filter, a key, and separate numerators of precision and recall."""

    recall_of_spans: ClassVar[bool] = False  # what a key does not tell apart counts once
    filter: str = parameter("none", "Which mentions count.", choices=FILTERS)
    key: str = parameter(
        "span", "Fields that must match, joined by +: docid, start, end, span, type, kbid, eid or an attribute."
    )
    called: str = field(default="", kw_only=True, compare=False)
    """The name that stands for this aggregate, filter and key."""

    def __post_init__(self) -> None:
        super().__post_init__()
        fields_of(self.key)

    @classmethod
    def make(cls, arguments: Mapping[str, Any]) -> Self:
        """Accept neleval's other spellings of no filter: nothing, or None."""
        given = dict(arguments)
        if given.get("filter") in ("", "None"):
            given["filter"] = "none"
        return super().make(given)

    def __repr__(self) -> str:
        given = dict(self.given())
        if self.called:
            return str(Spec(self.called, tuple(one for one in given.items() if one[0] not in ("filter", "key"))))
        if given.keys() - {"filter", "key"}:
            return str(Spec(self.name, tuple(given.items())))
        return f"{self.name}:{'' if self.filter == 'none' else self.filter}:{self.key}"

    @property
    def identity(self) -> tuple[str, ...]:
        """The key. Without the span in it, mentions are distinct by place, and the key makes the sets."""
        places = {"span": PLACE, "kbid": (ENTITY,), "eid": (ENTITY,)}
        fields = [part for name in self.fields for part in places.get(name, (name,))]
        return tuple(dict.fromkeys(fields)) if set(fields) >= set(PLACE) else (*IDENTITY, *fields)

    def repeated(self, pairing: Pairing) -> tuple[int, int]:
        """Count the rows that the filter keeps and that repeat the key of another one."""
        every = pairing.rows or pairing
        kept = every if self.filter == "none" else every.once(keep_filtered, self.filter)
        once = filtered(pairing, self.filter, self.identity)
        return len(kept.gold.doc) - len(once.gold.doc), len(kept.pred.doc) - len(once.pred.doc)

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of the key."""
        return fields_of(self.key)

    @property
    def compares_ids(self) -> bool:
        """The key may hold the id of the entity."""
        return bool({"kbid", "eid"} & set(self.fields))

    @property
    def needs(self) -> tuple[str, ...]:
        """The attributes in the key; mentions without an entity are legal."""
        return tuple(name for name in self.fields if name not in FIELDS)

    def ratios(self, counts: Mapping[str, Any]) -> tuple[Any, Any, Any, Any]:
        """Return the credit of predicted mentions over their number, and that of gold mentions over theirs."""
        return tuple(_whole(counts, name) for name in ("ptp", "predicted", "rtp", "annotated"))

    def shown(self, counts: Mapping[str, Any]) -> dict[str, Any]:
        """Return the four counts of neleval's table."""
        ptp, predicted, rtp, annotated = self.ratios(counts)
        return {"ptp": ptp, "fp": predicted - ptp, "rtp": rtp, "fn": annotated - rtp}


@dataclass(frozen=True, repr=False)
class Weighted(Keyed):
    """Base of sets and overlap: related types and related entries get partial credit."""

    type_weights: str = parameter(
        "none",
        "File of gold type, system type, weight; or weights from the taxonomy.",
        choices=("none", "@file", "taxonomy(decay=0.5)"),
    )
    kb_weights: str = parameter("none", "File of gold id, system id, weight.", choices=("none", "@file"))

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, fields in (("type_weights", {"type"}), ("kb_weights", {"kbid", "eid"})):
            if getattr(self, name) != "none" and not fields & set(self.fields):
                needed = " or ".join(sorted(fields))
                raise UsageError(f"{self.called or self.name}: {name} needs {needed} in the key, which is {self.key}.")
        if self.type_weights.startswith(TAXONOMY):
            weights(self.type_weights)  # refuses a decay that is not possible

    @property
    def by_type(self) -> bool:
        """There is a row per type if the key has the type."""
        return "type" in self.fields

    @property
    def settings(self) -> str:
        """The repr, with digests of the weight files."""
        return "#".join([repr(self), *(table.digest for table in self._tables.values())])

    @property
    def _tables(self) -> dict[str, Weights]:
        """The tables of weights by the field of the key that they are for."""
        named = {"type": self.type_weights, "kbid": self.kb_weights, "eid": self.kb_weights}
        found = {name: weights(named.get(name, "none")) for name in self.fields}
        return {name: table for name, table in found.items() if table is not None}

    @property
    def _plain_fields(self) -> tuple[str, ...]:
        return tuple(name for name in self.fields if name not in self._tables)

    def _weigh(self, pairing: Pairing, gold: Longs, pred: Longs) -> Floats:
        """Return the weights of pairs of rows that agree in all unweighted fields."""
        weight = np.ones(len(gold))
        for name, table in self._tables.items():
            mine, other = codes_of(pairing, name)
            weight *= table.look_up(mine[gold], other[pred], values_of(pairing, name))
        return weight

    def _own(self, pairing: Pairing) -> tuple[Floats | None, Floats | None]:
        """Return the weight of each mention against itself: 1 unless the tables say otherwise."""
        if not self._tables:
            return None, None
        own = [np.ones(len(side.doc)) for side in (pairing.gold, pairing.pred)]
        for name, table in self._tables.items():
            for weight, codes in zip(own, codes_of(pairing, name), strict=True):
                weight *= table.look_up(codes, codes, values_of(pairing, name))
        return own[0], own[1]


@dataclass(frozen=True, repr=False)
class Sets(Weighted):
    """Mentions whose key is in both sets: neleval's `sets` and all names that stand for it.

    A mention's key consists of the named fields; gold and predicted mentions are two sets of keys, and a key in both
    counts on both sides. P = ptp / (ptp + fp), R = rtp / (rtp + fn). With weights, keys that differ only in related
    types or entries get the weight of the best mention on the other side.

    >>> import spanscore as ss
    >>> gold = ss.Corpus.from_arrays(["d"], [0, 0], [0, 9], [4, 12], ["PERSON", "DATE"])
    >>> pred = ss.Corpus.from_arrays(["d"], [0, 0], [0, 9], [4, 12], ["PERSON", "TIME"])
    >>> result = ss.score(gold, pred, ["strong_mention_match", "sets::span+type"])
    >>> result["strong_mention_match"].counts, result["sets::span+type"].recall
    ({'ptp': 2, 'fp': 0, 'rtp': 2, 'fn': 0}, 0.5)
    """

    name: ClassVar[str] = "sets"
    symmetric: ClassVar[bool] = True

    @property
    def needs_all_documents(self) -> bool:
        """Keys without a document may occur in several."""
        return not {"docid", "span"} & set(self.fields)

    def tally(self, pairing: Pairing) -> Tally:
        """Count keys."""
        seen = filtered(pairing, self.filter, self.identity)
        gold, pred = self._credit(seen)
        own = self._own(seen)
        events: dict[str, tuple[Any, ...]] = {}
        for names, side, (first, credit), full in (
            (("rtp", "annotated"), seen.gold, gold, own[0]),
            (("ptp", "predicted"), seen.pred, pred, own[1]),
        ):
            label = side.label[first]
            events |= _events(names[0], side.doc[first], label, credit, split=full is not None)
            events |= _events(names[1], side.doc[first], label, None if full is None else full[first], split=True)
        return Tally.count(pairing.as_one() if self.needs_all_documents else pairing, events, typed=self.by_type)

    def judge(self, pairing: Pairing) -> Judgement:
        """Judge a mention as right if its key gets full credit."""
        seen = filtered(pairing, self.filter, self.identity)
        gold, pred = elements(seen, self.fields)
        return judge_by_key(seen, gold, pred, typed="type" in self.fields)

    def _credit(self, seen: Pairing) -> tuple[tuple[Longs, Floats], tuple[Longs, Floats]]:
        """Return for each side one row per key, and the credit of each."""
        if not self._tables and "span" in self.fields and not (_repeats(seen.gold) or _repeats(seen.pred)):
            a, b = self._same_place(seen)
            rows = []
            for side, hit in ((seen.gold, a), (seen.pred, b)):
                credit = np.zeros(len(side.doc))
                credit[hit] = 1.0
                rows.append((np.arange(len(side.doc)), credit))
            return rows[0], rows[1]
        full = elements(seen, self.fields)
        gold, pred = (np.unique(codes, return_index=True)[1] for codes in full)
        base = elements(seen, self._plain_fields)
        order = np.argsort(base[1][pred], kind="stable")
        keys = base[1][pred][order]
        low = np.searchsorted(keys, base[0][gold], "left")
        counts = np.searchsorted(keys, base[0][gold], "right") - low
        found, right = np.zeros(len(gold)), np.zeros(len(pred))
        for first, last in pieces(counts, BLOCK):
            some = counts[first:last]
            a, b = np.repeat(np.arange(first, last), some), order[ranges(low[first:last], some)]
            weight = self._weigh(seen, gold[a], pred[b])
            np.maximum.at(found, a, weight)
            np.maximum.at(right, b, weight)
        return (gold, found), (pred, right)

    def _same_place(self, seen: Pairing) -> tuple[Longs, Longs]:
        """Return the rows with the same key."""
        a, b = identical(seen, same_label=False)
        for name in self.fields:
            if name not in ("span", "docid", "start", "end"):
                mine, other = codes_of(seen, name)
                same = mine[a] == other[b]
                a, b = a[same], b[same]
        return a, b


@dataclass(frozen=True, repr=False)
class Overlap(Weighted):
    """Base of the overlap measures; the name gives the strategies of recall and precision."""

    strategies: ClassVar[tuple[str, str]]
    others: str = parameter(
        "drop",
        "Whether mentions that the filter leaves out are dropped, or count as wrong (as in neleval 3.1.1).",
        choices=("drop", "count"),
    )

    def tally(self, pairing: Pairing) -> Tally:
        """Count the share of every mention that the other side covers."""
        seen, _ = self._shares(pairing)
        own = self._own(seen)
        events: dict[str, tuple[Any, ...]] = {}
        mentions = filtered(pairing, "none", self.identity) if self.others == "count" else seen
        for number, (names, everyone) in enumerate(
            ((("rtp", "annotated"), mentions.gold), (("ptp", "predicted"), mentions.pred))
        ):
            events |= seen.once(_share_events, self._plain, number, self.strategies[number], names[0])
            full = None if self.others == "count" else own[number]
            events |= _events(names[1], everyone.doc, everyone.label, full, split=True)
        return Tally.count(pairing, events, typed=self.by_type)

    def judge(self, pairing: Pairing) -> Judgement:
        """Judge a mention as right if all of it is covered."""
        seen, shares = self._shares(pairing)
        gold, pred = (shares[number][self.strategies[number]] for number in range(2))
        partner, best = np.full(len(gold), -1), np.zeros(len(gold))
        for both in seen.overlap_blocks():
            iou = seen.iou(both)
            order = np.lexsort((-both.pred, iou))
            partner[both.gold[order]], best[both.gold[order]] = both.pred[order], iou[order]
        found = gold >= 1
        cell = np.where(found, seen.gold.label, -1).astype(np.int32)
        right = pred >= 1
        return Judgement(
            seen,
            cell,
            np.where(found, partner, -1),
            best,
            right,
            wrong_for=np.full(len(pred), -1),
            unmatched=np.flatnonzero(~right),
            typed="type" in self.fields,
        )

    def _shares(self, pairing: Pairing) -> tuple[Pairing, tuple[dict[str, Floats], dict[str, Floats]]]:
        """Return the mentions that count, and the share of each that is covered: by the best other (max), or by all."""
        if "span" not in self.fields and "docid" not in self.fields:
            raise UsageError(f"{self!r}: the key of an overlap measure must include the span.")
        seen = filtered(pairing, self.filter, self.identity)
        if overlapping := seen.once(_overlapping, self._plain):
            side, a, b = overlapping
            refuse_overlapping(side, a, b, repr(self))
        return seen, seen.once(_covered_by, self._plain)

    @property
    def _plain(self) -> OverlapMaxMax:
        """The same measure but for its strategies: what is computed for it serves all of them."""
        return OverlapMaxMax(self.filter, self.key, self.type_weights, self.kb_weights)

    def grouped(self, seen: Pairing) -> tuple[Ints | Longs, Ints | Longs]:
        """Return the group of each mention: its document, and the unweighted fields of its key."""
        fields = tuple(name for name in self._plain_fields if name not in ("span", "docid"))
        return seen.once(elements, ("docid", *fields)) if fields else (seen.gold.doc, seen.pred.doc)

    def covered(self, seen: Pairing) -> tuple[dict[str, Floats], dict[str, Floats]]:
        """Return the share of each gold and each predicted mention that is covered, by strategy."""
        grouped = self.grouped(seen)
        sides = seen.gold, seen.pred
        best, total = ([np.zeros(len(side.doc)) for side in sides] for _ in range(2))
        for both in seen.overlap_blocks():
            a, b, shared = both.gold, both.pred, both.shared
            if grouped[0] is not seen.gold.doc:
                same = grouped[0][a] == grouped[1][b]
                a, b, shared = a[same], b[same], shared[same]
            weight = self._weigh(seen, a, b) if self._tables else None
            for number, (side, rows) in enumerate(zip(sides, (a, b), strict=True)):
                length = (side.end - side.start)[rows]
                share = np.where(length == 0, 1.0, shared / np.maximum(length, 1))
                share = share if weight is None else share * weight
                np.maximum.at(best[number], rows, share)
                credit = shared.astype(np.float64) if weight is None else shared * weight
                total[number] += np.bincount(rows, np.where(length == 0, share, credit), minlength=len(side.doc))
        gold, pred = (
            {"max": most, "sum": added / np.maximum(side.end - side.start, 1)}
            for side, most, added in zip(sides, best, total, strict=True)
        )
        return gold, pred


class OverlapMaxMax(Overlap):
    """The share of each mention that its best counterpart covers: LoReHLT's approximate matching.

    R is the mean over gold mentions of the share of their characters that the other side covers, P the mean over
    predicted mentions. The name gives the strategy, first for recall and then for precision: covered by the best single
    mention (max) or by any mention (sum). Mentions are compared only if their keys agree apart from the span, in full
    or by the weights of related types and entries; such mentions of one side must not overlap each other.

    >>> import spanscore as ss
    >>> gold = ss.Corpus.from_arrays(["d"], [0, 0], [1, 12], [11, 13], ["X", "X"])
    >>> pred = ss.Corpus.from_arrays(["d"], [0, 0], [1, 6], [6, 13], ["X", "X"])
    >>> result = ss.score(gold, pred, ["overlap-maxmax::span", "overlap-sumsum::span"])
    >>> [round(one.f, 3) for one in result.scores]
    [0.8, 0.963]
    """

    name: ClassVar[str] = "overlap-maxmax"
    strategies: ClassVar[tuple[str, str]] = ("max", "max")
    symmetric: ClassVar[bool] = True


class OverlapMaxSum(Overlap):
    """The share of each gold mention that its best prediction covers, and of each prediction that gold mentions cover.

    As `overlap-maxmax`, with the sum for precision.
    """

    name: ClassVar[str] = "overlap-maxsum"
    strategies: ClassVar[tuple[str, str]] = ("max", "sum")


class OverlapSumMax(Overlap):
    """The share of each gold mention that predictions cover, and of each prediction that its best gold mention covers.

    As `overlap-maxmax`, with the sum for recall.
    """

    name: ClassVar[str] = "overlap-summax"
    strategies: ClassVar[tuple[str, str]] = ("sum", "max")


class OverlapSumSum(Overlap):
    """The share of each mention that all mentions of the other side cover.

    As `overlap-maxmax`, with the sum for both.
    """

    name: ClassVar[str] = "overlap-sumsum"
    strategies: ClassVar[tuple[str, str]] = ("sum", "sum")
    symmetric: ClassVar[bool] = True


def _covered_by(seen: Pairing, measure: Overlap) -> tuple[dict[str, Floats], dict[str, Floats]]:
    return measure.covered(seen)


def _share_events(seen: Pairing, measure: Overlap, number: int, strategy: str, name: str) -> dict[str, tuple[Any, ...]]:
    """Return the events of the shares of one side, which two measures have in common."""
    side = (seen.gold, seen.pred)[number]
    return _events(name, side.doc, side.label, seen.once(_covered_by, measure)[number][strategy], split=True)


def _overlapping(seen: Pairing, measure: Overlap) -> tuple[Corpus, int, int] | None:
    """Return the first two mentions of one side that overlap, of all that are compared with each other."""
    for side, group in zip((seen.gold, seen.pred), measure.grouped(seen), strict=True):
        if found := overlapping(side, group):
            return side, *found
    return None


def judge_by_key(seen: Pairing, gold: Longs, pred: Longs, *, typed: bool) -> Judgement:
    """Judge a mention as right if one of the other side has the same key, which may include the type."""
    sides = []
    for mine, other in ((gold, pred), (pred, gold)):
        keys, first = np.unique(other, return_index=True)
        place = np.minimum(np.searchsorted(keys, mine), max(len(keys) - 1, 0))
        rows = np.flatnonzero(keys[place] == mine) if len(keys) else np.zeros(0, np.int64)
        sides.append((rows, first[place[rows]]))
    # the first partner of each mention: a list of all pairs that share a key would grow with their square
    a, b = (np.concatenate([sides[0][i], sides[1][1 - i]]) for i in range(2))
    return Judgement.from_pairs(seen, a, b, np.ones(len(a), np.bool_), typed=typed)


def overlapping(side: Corpus, group: Ints | Longs) -> tuple[int, int] | None:
    """Return the first two mentions of one group that overlap each other, or None."""
    order = np.lexsort((side.end, side.start, group)) if group is not side.doc else np.arange(len(group))
    for rows in (order[side.start[order] < side.end[order]], order[side.start[order] == side.end[order]]):
        group_, start, end = group[rows], side.start[rows], side.end[rows]
        bad = np.flatnonzero((group_[1:] == group_[:-1]) & ((start[1:] < end[:-1]) | (start[1:] == start[:-1])))
        if bad.size:
            return int(rows[bad[0]]), int(rows[bad[0] + 1])
    return None


def refuse_overlapping(side: Corpus, a: int, b: int, measure: str) -> None:
    """Raise an error about two mentions of one side that overlap."""
    what = f"{side.span_name(a)} and {side.span_name(b)} overlap, which {measure} does not allow"
    raise InputError(f"{what}; give --resolve score or longest.", side.place(int(side.doc[a])))


def _repeats(side: Corpus) -> bool:
    """Return whether two mentions, which are sorted, are in the same place."""
    same: Bools = (side.start[1:] == side.start[:-1]) & (side.end[1:] == side.end[:-1])
    return bool((same & (side.doc[1:] == side.doc[:-1])).any())


def _events(
    name: str, doc: Any, label: Any, credit: Floats | None, *, split: bool = False
) -> dict[str, tuple[Any, ...]]:
    """Return the events of a field; fractional credit goes into a field of its own, in units of 2**-36."""
    if credit is None:
        return {name: (doc, label)}
    full = np.flatnonzero(credit == 1)
    events: dict[str, tuple[Any, ...]] = {name: (doc.take(full), label.take(full))}
    if split:
        part = np.flatnonzero((credit != 1) & (credit > 0))
        weight = np.rint(credit.take(part) / UNIT).astype(np.int64)
        events[f"{name}_part"] = (doc.take(part), label.take(part), weight)
    return events


def _whole(counts: Mapping[str, Any], name: str) -> Any:
    part = counts.get(f"{name}_part")
    return counts[name] if part is None else counts[name] + part * UNIT
