"""Scores in parts: what is counted of some documents, and how parts become a result.

A part holds counts, and what is to be said of the documents they are of. Parts add, in whatever order and from
whichever process they come: chunks of a file, ranges of it, partitions of a cluster.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spanscore.align import LabelMap, Pairing, pair
from spanscore.align.pairing import describe
from spanscore.corpus.columns import one_table
from spanscore.errors import UsageError, printable, unknown
from spanscore.measures import Measure, expand
from spanscore.measures.neleval_keys import FIELDS
from spanscore.result import Result, Scores
from spanscore.signature import signature
from spanscore.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from spanscore.align.pairing import Account, Extra
    from spanscore.align.resolve import Resolve
    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Bools, Ints
    from spanscore.measures.judgement import Judgement
    from spanscore.stats import Bootstrap

BLOCK = 8192
"""Documents a block: what fits the processor's cache."""


@dataclass(frozen=True)
class Plan:
    """How systems are scored."""

    measures: tuple[Measure, ...]
    beta: float = 1.0
    label_map: LabelMap = field(default_factory=LabelMap)
    extra_documents: Extra = "refuse"
    resolve: Resolve = "none"
    resolve_gold: bool = True
    ci: Bootstrap | None = None
    each_span: bool = False
    """Whether to remember which gold spans are found."""

    def pair(self, gold: Corpus, pred: Corpus, system: str) -> Pairing:
        """Gold and a system on one footing."""
        return pair(
            gold,
            pred,
            system=system,
            label_map=self.label_map,
            extra_documents=self.extra_documents,
            resolve=self.resolve,
            resolve_gold=self.resolve_gold,
        )

    def signature(self, measure: Measure, gold: str, pred: str) -> str:
        """What a number by this measure of data with these fingerprints depends on."""
        settled = self.resolve if self.resolve_gold or self.resolve == "none" else f"{self.resolve}:pred"
        line = signature(measure, gold, pred, self.label_map, self.extra_documents, settled, self.beta)
        return line if self.ci is None else f"{line}|ci:{self.ci}"

    @property
    def in_parts(self) -> bool:
        """Whether documents can be counted some at a time; clusterings and clusters of documents need all."""
        return not any(one.needs_all_documents for one in self.measures) and (self.ci is None or self.ci.cluster is None)

    def settings(self, by: Sequence[str] = ()) -> dict[str, Any]:
        """What it takes to score the same again, as JSON can say it."""
        ci = self.ci
        return {
            "measures": [repr(one) for one in self.measures],
            "beta": self.beta,
            "label_map": dict(self.label_map.to),
            "extra_documents": self.extra_documents,
            "resolve": self.resolve,
            **({} if ci is None else {"ci": [ci.level, ci.resamples, ci.seed, ci.cluster]}),
            **({} if self.resolve_gold else {"resolve_gold": False}),
            **({"by": list(by)} if by else {}),
        }


def choose(measures: str | Measure | Sequence[str | Measure], beta: float) -> tuple[Measure, ...]:
    """The measures that were named, and beta looked at."""
    chosen = expand(measures)
    if not chosen:
        raise UsageError("name at least one measure.")
    if not 0 < beta <= 1000:
        raise UsageError("beta must be a number from 0 to 1000, but not 0.")
    return tuple(chosen)


def refuse_unknown_attributes(measures: Sequence[Measure], attributes: set[str]) -> None:
    """An attribute that a measure compares, but that no span has, is a slip of the pen."""
    for one in measures:
        for name in one.needs:
            if name not in attributes:
                raise UsageError(
                    f"{printable(repr(one))}: {unknown('attribute of spans', name, {*attributes, *FIELDS})}"
                )


def tally_all(pairing: Pairing, measures: Sequence[Measure], *, by_document: bool = True) -> list[Tally]:
    """The tallies of several measures, block by block; without documents' own counts if nobody asks for them."""
    inside = [one for one in measures if not one.needs_all_documents]
    blocks = [[one.tally(piece) for one in inside] for piece in pairing.blocks(BLOCK, by_document=by_document)]
    found = {id(one): Tally.concat(parts) for one, parts in zip(inside, zip(*blocks, strict=True), strict=False)}
    tallies = [found[id(one)] if id(one) in found else one.tally(pairing) for one in measures]
    return tallies if by_document else [tally.together() for tally in tallies]


@dataclass
class About:
    """What is said of an input: where it is from, how much there is, and what tells it from others."""

    source: str = ""
    format: str = ""
    format_reason: str = ""
    documents: int = 0
    spans: int = 0
    sum: int = 0
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, corpus: Corpus) -> About:
        """What is said of a corpus."""
        return cls(
            corpus.source,
            corpus.format,
            corpus.format_reason,
            len(corpus),
            len(corpus.start),
            corpus.fingerprint_sum,
            corpus.notes,
        )

    def __add__(self, other: About) -> About:
        named = self if self.source else other
        return About(
            named.source,
            named.format,
            named.format_reason,
            self.documents + other.documents,
            self.spans + other.spans,
            (self.sum + other.sum) % 2**64,
            tuple(dict.fromkeys((*self.notes, *other.notes))),
        )

    @property
    def fingerprint(self) -> str:
        """The fingerprint of all that was added up."""
        return f"{self.sum:016x}"

    def shown(self) -> dict[str, object]:
        """The same for the results."""
        return {
            "source": self.source or None,
            "format": self.format or None,
            "format_reason": self.format_reason or None,
            "documents": self.documents,
            "spans": self.spans,
            "fingerprint": self.fingerprint,
        }


@dataclass(frozen=True, eq=False)
class Found:
    """The gold spans as a measure sees them, in order: their labels, and whether they are found."""

    labels: tuple[str, ...]
    label: Ints
    right: Bools

    @classmethod
    def of(cls, judgement: Judgement) -> Found:
        """The gold spans of a judgement."""
        gold = judgement.pairing.gold
        return cls(gold.labels, gold.label, judgement.cell == gold.label)

    @staticmethod
    def concat(parts: Sequence[Found]) -> Found:
        """The spans of all these."""
        labels, recode = one_table([part.labels for part in parts])
        codes = [new.take(part.label) for new, part in zip(recode, parts, strict=True)]
        return Found(labels, np.concatenate(codes), np.concatenate([part.right for part in parts]))


@dataclass(frozen=True, eq=False)
class Part:
    """What was counted of some documents."""

    tallies: tuple[Tally, ...]
    gold: About
    pred: About
    account: Account
    labels: frozenset[str]
    attributes: frozenset[str]
    checks: NDArray[np.uint64]
    """A number for each document, by which two with one id would be found."""
    found: tuple[Found, ...] = ()
    """What became of each gold span by each measure, if that is asked for."""

    @classmethod
    def of(cls, plan: Plan, gold: Corpus, pred: Corpus, system: str) -> Part:
        """Count these documents."""
        pairing = plan.pair(gold, pred, system)
        return cls(
            tuple(tally_all(pairing, plan.measures, by_document=plan.ci is not None)),
            About.of(gold),
            About.of(pred),
            pairing.account,
            frozenset((*gold.labels, *pred.labels)),
            frozenset((*gold.attrs, *pred.attrs)),
            pairing.gold.ids.marks,
            tuple(Found.of(one.judge(pairing)) for one in plan.measures) if plan.each_span else (),
        )

    @staticmethod
    def merged(parts: Sequence[Part]) -> Part:
        """All these as one."""
        if len(parts) == 1:
            return parts[0]
        gold, pred, account = About(), About(), Counter[tuple[str, str, str]]()
        for part in parts:
            gold, pred = gold + part.gold, pred + part.pred
            account.update(part.account)
        tallies = [Tally.concat(same) for same in zip(*(part.tallies for part in parts), strict=True)]
        return Part(
            tuple(one if one.documents else one.together() for one in tallies),
            gold,
            pred,
            account,
            frozenset().union(*(part.labels for part in parts)),
            frozenset().union(*(part.attributes for part in parts)),
            np.concatenate([part.checks for part in parts]),
            tuple(Found.concat(same) for same in zip(*(part.found for part in parts), strict=True)),
        )

    @staticmethod
    def total(parts: Iterable[Part]) -> Part | None:
        """All that come in as one, merged as they come, so that they need little memory; None if none come."""
        kept: list[Part] = []
        for part in parts:
            kept.append(part)
            if len(kept) == 64:
                kept = [Part.merged(kept)]
        return Part.merged(kept) if kept else None

    def without_checks(self) -> Part:
        """The same, where it is known already that no two documents have one id."""
        return replace(self, checks=self.checks[:0])

    def repeats(self) -> bool:
        """Whether two documents seem to have one id."""
        ordered = np.sort(self.checks)
        return bool((ordered[1:] == ordered[:-1]).any())


def result_of(plan: Plan, systems: Mapping[str, Part]) -> Result:
    """The scores of what was counted of each system."""
    parts = list(systems.values())
    refuse_unknown_attributes(plan.measures, {name for part in parts for name in part.attributes})
    scores, notes = [], [*parts[0].gold.notes, *plan.label_map.unused({one for part in parts for one in part.labels})]
    for system, part in systems.items():
        notes += [*part.pred.notes, *describe(part.account)]
        for one, tally in zip(plan.measures, part.tallies, strict=True):
            line = plan.signature(one, part.gold.fingerprint, part.pred.fingerprint)
            scores.append(Scores(system, one, tally, plan.beta, line))
    inputs = {"gold": parts[0].gold.shown(), "systems": {name: part.pred.shown() for name, part in systems.items()}}
    return Result(tuple(scores), inputs, tuple(dict.fromkeys(notes)), bootstrap=plan.ci, settings=plan.settings())
