"""sets and overlap: neleval's measures of mentions, links and types, whole or by the share that is covered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from spanscore.columns import ranges
from spanscore.errors import InputError, UsageError
from spanscore.measures.exact import identical
from spanscore.measures.keys import FIELDS, FILTERS, codes_of, elements, fields_of, filtered, values_of
from spanscore.measures.measure import Judgement, Measure, parameter
from spanscore.measures.spec import Spec
from spanscore.measures.weights import Weights, weights
from spanscore.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spanscore.align import Pairing
    from spanscore.columns import Bools, Floats, Ints, Longs
    from spanscore.corpus import Corpus

UNIT = 2.0**-36
"""Credit that is not whole is counted in these units: sums of whole numbers do not depend on their order."""


@dataclass(frozen=True, repr=False)
class Keyed(Measure):
    """What neleval's measures have in common: a filter, a key, and P and R with numerators of their own."""

    undefined: ClassVar[float] = 0.0
    filter: str = parameter("none", "which mentions count", choices=FILTERS)
    key: str = parameter(
        "span", "what must be the same: docid start end span type kbid eid or an attribute, joined by +"
    )
    called: str = field(default="", kw_only=True, compare=False)
    """The name that stands for this aggregate, filter and key."""

    def __post_init__(self) -> None:
        super().__post_init__()
        fields_of(self.key)

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """neleval writes no filter as nothing, or as None."""
        given = tuple(
            (key, "none" if key == "filter" and text in ("", "None") else text) for key, text in spec.parameters
        )
        return super().from_spec(Spec(spec.name, given))

    def __repr__(self) -> str:
        given = dict(self._given())
        if self.called:
            return str(Spec(self.called, tuple(one for one in given.items() if one[0] not in ("filter", "key"))))
        if given.keys() - {"filter", "key"}:
            return str(Spec(self.name, tuple(given.items())))
        return f"{self.name}:{'' if self.filter == 'none' else self.filter}:{self.key}"

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of the key."""
        return fields_of(self.key)

    @property
    def needs(self) -> tuple[str, ...]:
        """The attributes in the key; mentions without an entity are legal."""
        return tuple(name for name in self.fields if name not in FIELDS)

    def ratios(self, counts: Mapping[str, Any]) -> tuple[Any, Any, Any, Any]:
        """The credit of predicted mentions over their number, that of gold mentions over theirs."""
        return tuple(_whole(counts, name) for name in ("ptp", "predicted", "rtp", "annotated"))

    def shown(self, counts: Mapping[str, Any]) -> dict[str, Any]:
        """The four counts of neleval's table."""
        ptp, predicted, rtp, annotated = self.ratios(counts)
        return {"ptp": ptp, "fp": predicted - ptp, "rtp": rtp, "fn": annotated - rtp}


@dataclass(frozen=True, repr=False)
class Weighted(Keyed):
    """What sets and overlap have in common: related types and entries that count in part."""

    type_weights: str = parameter("none", "a table of gold type, system type, weight", choices=("none", "@file"))
    kb_weights: str = parameter("none", "a table of gold id, system id, weight", choices=("none", "@file"))

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, fields in (("type_weights", {"type"}), ("kb_weights", {"kbid", "eid"})):
            if getattr(self, name) != "none" and not fields & set(self.fields):
                told = " or ".join(sorted(fields))
                raise UsageError(f"{self.called or self.name}: {name} needs {told} in the key, which is {self.key}.")

    @property
    def by_type(self) -> bool:
        """There are types if the key has the type."""
        return "type" in self.fields

    @property
    def settings(self) -> str:
        """The repr; files of weights are told by what they hold."""
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
        """How much pairs of rows count that agree in what is not weighed."""
        weight = np.ones(len(gold))
        for name, table in self._tables.items():
            mine, other = codes_of(pairing, name)
            weight *= table.look_up(mine[gold], other[pred], values_of(pairing, name))
        return weight

    def _own(self, pairing: Pairing) -> tuple[Floats | None, Floats | None]:
        """How much each mention counts against itself: one, unless the tables say otherwise."""
        if not self._tables:
            return None, None
        own = [np.ones(len(side.doc)) for side in (pairing.gold, pairing.pred)]
        for name, table in self._tables.items():
            for weight, codes in zip(own, codes_of(pairing, name), strict=True):
                weight *= table.look_up(codes, codes, values_of(pairing, name))
        return own[0], own[1]


@dataclass(frozen=True, repr=False)
class Sets(Weighted):
    """Mentions whose key is in both sets, as neleval's `sets` and all the names that stand for it.

    A mention's key is made of the fields that are named; gold and predicted mentions are two sets of keys, and a key
    in both counts on both sides. P = ptp / (ptp + fp), R = rtp / (rtp + fn). With weights, keys that differ only in
    related types or entries count their weight: each mention that of the best on the other side.

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
    def whole(self) -> bool:
        """Keys without a document may be in several."""
        return not {"docid", "span"} & set(self.fields)

    def tally(self, pairing: Pairing) -> Tally:
        """Count keys."""
        seen = filtered(pairing, self.filter)
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
        return Tally.count(pairing.as_one() if self.whole else pairing, events, typed=self.by_type)

    def judge(self, pairing: Pairing) -> Judgement:
        """A mention is right if its key counts in full."""
        seen = filtered(pairing, self.filter)
        gold, pred = elements(seen, self.fields)
        return judge_by_key(seen, gold, pred)

    def _credit(self, seen: Pairing) -> tuple[tuple[Longs, Floats], tuple[Longs, Floats]]:
        """For each side the rows that stand for its keys, and how much each of them counts."""
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
        a, b = np.repeat(np.arange(len(gold)), counts), order[ranges(low, counts)]
        weight = self._weigh(seen, gold[a], pred[b])
        found, right = np.zeros(len(gold)), np.zeros(len(pred))
        np.maximum.at(found, a, weight)
        np.maximum.at(right, b, weight)
        return (gold, found), (pred, right)

    def _same_place(self, seen: Pairing) -> tuple[Longs, Longs]:
        """Rows with the same key, found through the overlaps."""
        a, b = identical(seen, same_label=False)
        for name in self.fields:
            if name not in ("span", "docid", "start", "end"):
                mine, other = codes_of(seen, name)
                same = mine[a] == other[b]
                a, b = a[same], b[same]
        return a, b


@dataclass(frozen=True, repr=False)
class Overlap(Weighted):
    """What all overlap measures do; the two strategies are in the name."""

    strategies: ClassVar[tuple[str, str]]
    others: str = parameter(
        "drop",
        "what becomes of mentions that the filter leaves out: they do not count, or (as in neleval 3.1.1) as wrong",
        choices=("drop", "count"),
    )

    def tally(self, pairing: Pairing) -> Tally:
        """Count the share of every mention that the other side covers."""
        seen, shares = self._shares(pairing)
        own = self._own(seen)
        events: dict[str, tuple[Any, ...]] = {}
        mentions = pairing.mentions if self.others == "count" else seen
        for number, (names, side, everyone) in enumerate(
            (
                (("rtp", "annotated"), seen.gold, mentions.gold),
                (("ptp", "predicted"), seen.pred, mentions.pred),
            )
        ):
            share = shares[number][self.strategies[number]]
            events |= _events(names[0], side.doc, side.label, share, split=True)
            full = None if self.others == "count" else own[number]
            events |= _events(names[1], everyone.doc, everyone.label, full, split=True)
        return Tally.count(pairing, events, typed=self.by_type)

    def judge(self, pairing: Pairing) -> Judgement:
        """A mention is right if all of it is covered."""
        seen, shares = self._shares(pairing)
        gold, pred = (shares[number][self.strategies[number]] for number in range(2))
        both = seen.overlaps
        partner, best = np.full(len(gold), -1), np.zeros(len(gold))
        iou = seen.iou
        order = np.lexsort((-both.pred, iou))
        partner[both.gold[order]], best[both.gold[order]] = both.pred[order], iou[order]
        found = gold >= 1
        cell = np.where(found, seen.gold.label, -1).astype(np.int32)
        right = pred >= 1
        return Judgement(
            seen, cell, np.where(found, partner, -1), best, right, np.full(len(pred), -1), np.flatnonzero(~right)
        )

    def _shares(self, pairing: Pairing) -> tuple[Pairing, tuple[dict[str, Floats], dict[str, Floats]]]:
        """The mentions that count, and how much of each is covered: by the best other (max), or by all (sum)."""
        seen = filtered(pairing, self.filter)
        key = ("shares", self.key, self.type_weights, self.kb_weights)
        return seen, seen.once(key, self._covered)

    def _covered(self, seen: Pairing) -> tuple[dict[str, Floats], dict[str, Floats]]:
        fields = tuple(name for name in self._plain_fields if name not in ("span", "docid"))
        if "span" not in self.fields and "docid" not in self.fields:
            raise UsageError(f"{self!r}: the key of an overlap measure must have the span.")
        grouped: tuple[Ints | Longs, Ints | Longs] = seen.gold.doc, seen.pred.doc
        if fields:
            grouped = elements(seen, ("docid", *fields))
        for side, group in zip((seen.gold, seen.pred), grouped, strict=True):
            refuse_overlapping(side, group, repr(self))
        both = seen.overlaps
        a, b, shared = both.gold, both.pred, both.shared
        if fields:
            same = grouped[0][a] == grouped[1][b]
            a, b, shared = a[same], b[same], shared[same]
        weight = self._weigh(seen, a, b) if self._tables else None
        covered = []
        for side, rows in ((seen.gold, a), (seen.pred, b)):
            length = (side.end - side.start)[rows]
            share = np.where(length == 0, 1.0, shared / np.maximum(length, 1))
            share = share if weight is None else share * weight
            best = np.zeros(len(side.doc))
            np.maximum.at(best, rows, share)
            credit = shared.astype(np.float64) if weight is None else shared * weight
            total = np.bincount(rows, np.where(length == 0, share, credit), minlength=len(side.doc))
            covered.append({"max": best, "sum": total / np.maximum(side.end - side.start, 1)})
        return covered[0], covered[1]


class OverlapMaxMax(Overlap):
    """The share of each mention that its best counterpart covers, as LoReHLT's approximate matching.

    R is the mean over gold mentions of the share of their characters that the other side covers, P that over predicted
    ones. The name says how it is covered: for recall (first) and precision (second) by the best single mention (max),
    or by any (sum). Only mentions whose key agrees but for the span count for each other, in full or by weights of
    related types and entries; mentions of one side that agree so must not overlap each other.

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
    """The share of each gold mention that the best prediction covers; of each prediction, that all gold mentions cover.

    As `overlap-maxmax`, with the sum for precision.
    """

    name: ClassVar[str] = "overlap-maxsum"
    strategies: ClassVar[tuple[str, str]] = ("max", "sum")


class OverlapSumMax(Overlap):
    """The share of each gold mention that all predictions cover; of each prediction, that the best gold mention covers.

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


def judge_by_key(seen: Pairing, gold: Longs, pred: Longs) -> Judgement:
    """A mention is right if one of the other side has the same key."""
    partner = np.full(int(max(gold.max(initial=-1), pred.max(initial=-1))) + 2, -1)
    partner[pred[::-1]] = np.arange(len(pred))[::-1]
    partner = partner[gold]
    cell = np.where(partner >= 0, seen.gold.label, -1).astype(np.int32)
    right = np.isin(pred, gold)
    found = (partner >= 0).astype(np.float64)
    return Judgement(seen, cell, partner, found, right, np.full(len(pred), -1), np.flatnonzero(~right))


def refuse_overlapping(side: Corpus, group: Ints | Longs, measure: str) -> None:
    """Mentions of one group that overlap each other are an error."""
    order = np.lexsort((side.end, side.start, group)) if group is not side.doc else np.arange(len(group))
    for rows in (order[side.start[order] < side.end[order]], order[side.start[order] == side.end[order]]):
        group_, start, end = group[rows], side.start[rows], side.end[rows]
        bad = np.flatnonzero((group_[1:] == group_[:-1]) & ((start[1:] < end[:-1]) | (start[1:] == start[:-1])))
        if bad.size:
            a, b = (side.span_name(int(rows[bad[0] + i])) for i in range(2))
            what = f"{a} and {b} overlap, which {measure} does not allow"
            raise InputError(f"{what}; give --resolve score or longest.", side.place(int(side.doc[rows[bad[0]]])))


def _repeats(side: Corpus) -> bool:
    """Whether two mentions, which are in order, are in the same place."""
    same: Bools = (side.start[1:] == side.start[:-1]) & (side.end[1:] == side.end[:-1])
    return bool((same & (side.doc[1:] == side.doc[:-1])).any())


def _events(
    name: str, doc: Any, label: Any, credit: Floats | None, *, split: bool = False
) -> dict[str, tuple[Any, ...]]:
    """Events of a field; credit that is not whole goes into a field of its own, in units of 2**-36."""
    if credit is None:
        return {name: (doc, label)}
    full = credit == 1
    events: dict[str, tuple[Any, ...]] = {name: (doc[full], label[full])}
    if split:
        part = ~full & (credit > 0)
        events[f"{name}_part"] = (doc[part], label[part], np.rint(credit[part] / UNIT).astype(np.int64))
    return events


def _whole(counts: Mapping[str, Any], name: str) -> Any:
    part = counts.get(f"{name}_part")
    return counts[name] if part is None else counts[name] + part * UNIT
