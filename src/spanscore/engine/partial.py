"""Partial results: what was counted in some documents, and how partial results become a result.

They add in any order and from any process: chunks of a file, ranges of it, partitions of a cluster.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from spanscore.align.account import describe
from spanscore.align.annotators import names_in, refuse_unknown
from spanscore.align.pairing import IDENTITY
from spanscore.corpus.columns import one_table
from spanscore.engine.summary import InputSummary, doubts
from spanscore.errors import printable
from spanscore.overlap import Join
from spanscore.result import Result, Scores
from spanscore.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from spanscore.align import Pairing
    from spanscore.align.account import Account
    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Bools, Ints
    from spanscore.engine.plan import Plan
    from spanscore.measures import Judgement, Measure

DENSE = 1_000_000
"""Overlapping pairs in one document that take time and memory worth a warning."""
BLOCK = 8192
"""Documents per block: what fits the processor's cache."""


def tally_all(pairing: Pairing, measures: Sequence[Measure], *, by_document: bool = True) -> list[Tally]:
    """Tally several measures block by block; without `by_document`, documents' own counts are not kept."""
    inside = [one for one in measures if not one.needs_all_documents]
    blocks = [[one.tally(piece) for one in inside] for piece in pairing.blocks(BLOCK, by_document=by_document)]
    found = {id(one): Tally.concat(parts) for one, parts in zip(inside, zip(*blocks, strict=True), strict=False)}
    tallies = [found[id(one)] if id(one) in found else one.tally(pairing) for one in measures]
    return tallies if by_document else [tally.together() for tally in tallies]


@dataclass(frozen=True, eq=False)
class FoundSpans:
    """The gold spans as a measure sees them, in order: their labels, and whether they were found."""

    labels: tuple[str, ...]
    label: Ints
    right: Bools

    @classmethod
    def of(cls, judgement: Judgement, pairing: Pairing) -> FoundSpans:
        """Return the gold spans of a judgement of a pairing."""
        return cls(*judgement.types_in(pairing), judgement.cell == judgement.pairing.gold.label)

    @staticmethod
    def concat(parts: Sequence[FoundSpans]) -> FoundSpans:
        """Return the spans of all parts."""
        labels, recode = one_table([part.labels for part in parts])
        codes = [new.take(part.label) for new, part in zip(recode, parts, strict=True)]
        return FoundSpans(labels, np.concatenate(codes), np.concatenate([part.right for part in parts]))


@dataclass(frozen=True, eq=False)
class PartialResult:
    """What was counted in some documents of one system."""

    tallies: tuple[Tally, ...]
    """The counts of each column of the plan."""
    gold: InputSummary
    pred: InputSummary
    accounts: tuple[Account, ...]
    """What was left out or merged, for each view of the plan."""
    attributes: frozenset[str]
    annotators: frozenset[str]
    marks: NDArray[np.uint64]
    """A hash of each document's id, by which duplicates are found."""
    found: tuple[FoundSpans, ...] = ()
    """Which gold spans each measure found, by the columns of the plan, if it asks for that."""
    pairings: tuple[Pairing, ...] = ()
    """The spans themselves in each view, if the plan keeps them; such a part is complete and cannot be merged."""

    @classmethod
    def of(cls, plan: Plan, gold: Corpus, pred: Corpus, system: str) -> PartialResult:
        """Count these documents."""
        scoreless = plan.score_threshold.without_score(pred, plan.views[0].pred)
        pred = plan.score_threshold.apply(pred, plan.views[0].pred)
        kept: Account = Counter({(system, "scoreless", ""): scoreless} if scoreless else {})
        pairings: list[Pairing] = []
        accounts, tallies, found = [], [], []
        for number, view in enumerate(plan.views):
            pairing = plan.pair(gold, pred, system, view)
            if not number:
                _warn_if_dense(pairing)
            tallies.append(tally_all(pairing, plan.measures, by_document=plan.needs_documents))
            before = pairing.account + _repeated(plan, pairing, system) + kept
            accounts.append(sum((one.notes(pairing) for one in plan.measures), before))
            if plan.keep_found:
                found.append([FoundSpans.of(one.judge(pairing), pairing) for one in plan.measures])
            marks = pairing.gold.ids.marks
            if plan.needs_spans:
                pairings.append(pairing)
        return cls(
            tuple(chain.from_iterable(zip(*tallies, strict=True))),
            InputSummary.of(gold),
            InputSummary.of(pred),
            tuple(accounts),
            frozenset((*gold.attrs, *pred.attrs)),
            names_in(gold) if plan.annotator else frozenset(),
            marks,
            tuple(chain.from_iterable(zip(*found, strict=True))),
            tuple(pairings),
        )

    @staticmethod
    def merged(parts: Sequence[PartialResult]) -> PartialResult:
        """Return all parts as one."""
        if len(parts) == 1:
            return parts[0]
        gold, pred = InputSummary(), InputSummary()
        accounts: tuple[Account, ...] = tuple(Counter() for _ in parts[0].accounts)
        for part in parts:
            gold, pred = gold + part.gold, pred + part.pred
            for account, more in zip(accounts, part.accounts, strict=True):
                account.update(more)
        tallies = [Tally.concat(same) for same in zip(*(part.tallies for part in parts), strict=True)]
        return PartialResult(
            tuple(one if one.documents else one.together() for one in tallies),
            gold,
            pred,
            accounts,
            frozenset().union(*(part.attributes for part in parts)),
            frozenset().union(*(part.annotators for part in parts)),
            np.concatenate([part.marks for part in parts]),
            tuple(FoundSpans.concat(same) for same in zip(*(part.found for part in parts), strict=True)),
        )

    @staticmethod
    def total(parts: Iterable[PartialResult]) -> PartialResult | None:
        """Merge parts as they come in, so that they need little memory; None if none come."""
        kept: list[PartialResult] = []
        for part in parts:
            kept.append(part)
            if len(kept) == 64:
                kept = [PartialResult.merged(kept)]
        return PartialResult.merged(kept) if kept else None

    def without_marks(self) -> PartialResult:
        """Return the same part, for callers that have checked for duplicate ids themselves."""
        return replace(self, marks=self.marks[:0])

    def has_duplicates(self) -> bool:
        """Return whether two documents seem to have one id."""
        ordered = np.sort(self.marks)
        return bool((ordered[1:] == ordered[:-1]).any())


def _warn_if_dense(pairing: Pairing) -> None:
    """Say before the work starts if a document has many overlapping pairs, which take long."""
    sizes = [np.diff(side.bounds) for side in (pairing.gold, pairing.pred)]
    for doc in np.flatnonzero(sizes[0] * sizes[1] > DENSE).tolist():
        pairs = Join(pairing.gold.block(doc, doc + 1), pairing.pred.block(doc, doc + 1)).pairs
        if pairs > DENSE:
            import logging

            spans = f"{sizes[0][doc]} gold and {sizes[1][doc]} predicted spans"
            logging.getLogger("spanscore").warning(
                'document "%s" has %s that overlap in %d pairs: scoring it takes time in proportion.',
                printable(pairing.gold.ids[doc]),
                spans,
                pairs,
            )


def _repeated(plan: Plan, pairing: Pairing, system: str) -> Account:
    """Count the rows that are identical to another row in the eyes of some measures."""
    found: Account = Counter()
    alike: dict[tuple[object, ...], list[Measure]] = {}
    for one in plan.measures:
        alike.setdefault((one.identity, getattr(one, "filter", "none")), []).append(one)
    for (identity, _), measures in alike.items():
        if pairing.rows is None and set(IDENTITY) <= set(measures[0].identity):
            continue
        detail = "" if identity == IDENTITY else ", ".join(map(repr, measures))
        for side, count in zip(("gold", system), measures[0].repeated(pairing), strict=True):
            if count:
                found[side, "repeated", detail] += count
    return found


def assemble(plan: Plan, systems: Mapping[str, PartialResult]) -> Result:
    """Return the result of what was counted of each system."""
    parts = list(systems.values())
    plan.refuse_unknown_attributes({name for part in parts for name in part.attributes})
    refuse_unknown(plan.annotator, {name for part in parts for name in part.annotators})
    labels = [{label for part in parts for label in side(part).labels} for side in map(attrgetter, ("gold", "pred"))]
    plan.refuse_unknown_entities(*labels)
    scores, notes = [], [*parts[0].gold.notes, *plan.notes(*labels)]
    for system, part in systems.items():
        notes += part.pred.notes
        notes += in_views(plan, [describe(account) for account in part.accounts])
        notes += in_views(plan, [doubts(part.gold, part.pred, system, view) for view in plan.views])
        for (one, number), tally in zip(plan.columns, part.tallies, strict=True):
            view = plan.views[number]
            line = plan.signature(one, part.gold.fingerprint, part.pred.fingerprint, view)
            pairing = part.pairings[number] if part.pairings else None
            scores.append(Scores(system, one, tally, plan.beta, line, pairing, view.level))
    inputs = {"gold": parts[0].gold.shown(), "systems": {name: part.pred.shown() for name, part in systems.items()}}
    return Result(
        tuple(scores), inputs, tuple(dict.fromkeys(notes)), bootstrap=plan.ci, by=plan.by, settings=plan.settings()
    )


def in_views(plan: Plan, sentences: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the sentences about each view; those that do not hold for every view name their level."""
    for view, listed in zip(plan.views, sentences, strict=True):
        for sentence in listed:
            if all(sentence in others for others in sentences):
                yield sentence
            else:
                yield f"{sentence.removesuffix('.')}{view.suffix}."
