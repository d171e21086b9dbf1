"""The cost of noise and of other names: scores of variants against the original, paired by document."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from spanscore.analysis.compare import differences, paired_tables
from spanscore.analysis.perturbation import ORIGINAL, PERTURBATION, SOURCE, SWAP
from spanscore.errors import UsageError, printable
from spanscore.result import NUMBERS
from spanscore.result.tables import known
from spanscore.stats import stream, widest_difference

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spanscore.analysis.compare import Difference
    from spanscore.result import Result, Scores
    from spanscore.stats import Bootstrap

PERMUTATIONS = 1000


@dataclass(frozen=True)
class Drop:
    """How far a score falls from the original to a variant, overall or for one type."""

    measure: str
    type: str | None
    perturbation: str
    number: str
    original: float
    value: float
    drop: float
    interval: tuple[float, float]
    p: float
    corrected: float
    """p-value after Holm correction over all perturbations."""


@dataclass(frozen=True)
class GroupGap:
    """The largest gap between groups of swapped names; its interval allows for the choice of the two groups."""

    measure: str
    type: str | None
    number: str
    highest: str
    lowest: str
    difference: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class Stress:
    """The result of a detector on original documents and their variants, and what each perturbation costs."""

    result: Result
    perturbations: tuple[str, ...]
    bootstrap: Bootstrap
    drops: tuple[Drop, ...]
    gaps: tuple[GroupGap, ...]

    def __repr__(self) -> str:
        return f"Stress({', '.join(map(printable, self.perturbations))}; {self.result!r})"

    @classmethod
    def of(cls, result: Result, bootstrap: Bootstrap) -> Stress:
        """Compare the variants in a result with the original; both are among its documents."""
        names: dict[str, None] = {}
        drops: list[Drop] = []
        gaps: list[GroupGap] = []
        for whole in result.scores:
            variants = _variants(whole)
            names |= dict.fromkeys(variants)
            if ORIGINAL not in variants or len(variants) < 2:
                raise UsageError("there is nothing to compare: the original documents or their variants are missing.")
            original = variants.pop(ORIGINAL)
            for label in (None, *original.by_type):
                typed = [_of_label(scores, label) for scores in (original, *variants.values())]
                pairs = [(0, place) for place in range(1, len(typed))]
                found = differences(typed, bootstrap, PERMUTATIONS, pairs)
                scores = {scores.system: scores for scores in typed}
                drops += [_drop(difference, scores, label) for difference in found]
                gaps += _group_gaps(
                    [scores for scores in typed if scores.system.startswith(f"{SWAP}:")], bootstrap, label
                )
        return cls(result, tuple(names), bootstrap, tuple(drops), tuple(gaps))

    def to_dict(self) -> dict[str, Any]:
        """Return the drops and gaps as they are written to stress.json."""
        return {
            "schema": "spanscore.stress/1",
            "perturbations": list(self.perturbations),
            "level": self.bootstrap.level,
            "signatures": [one.signature for one in self.result.scores],
            "drops": [_record(one) for one in self.drops],
            "gaps": [_record(one) for one in self.gaps],
        }


def _variants(scores: Scores) -> dict[str, Scores]:
    """Return the scores of each variant, as of a system of that name, by the IDs of the original documents."""
    assert scores.pairing is not None
    gold = scores.pairing.gold
    kinds, sources = gold.meta[PERTURBATION].tolist(), gold.meta[SOURCE].tolist()
    tally = scores.tally
    assert len(tally.documents) == len(kinds)
    found = {}
    for name in dict.fromkeys(kinds):
        docs = np.array([place for place, kind in enumerate(kinds) if kind == name], np.int64)
        place = np.full(len(kinds), -1, np.int32)
        place[docs] = np.arange(len(docs), dtype=np.int32)
        part = tally.of_rows(np.flatnonzero(place[tally.doc] >= 0))
        own = replace(part, documents=tuple(sources[doc] for doc in docs.tolist()), doc=place[part.doc])
        found[name] = replace(scores, system=name, tally=own, pairing=None)
    return found


def _of_label(scores: Scores, label: str | None) -> Scores:
    return replace(scores, tally=scores.tally.of_label(label))


def _drop(found: Difference, scores: dict[str, Scores], label: str | None) -> Drop:
    first, second = (getattr(scores[name], found.number) for name in (found.first, found.second))
    return Drop(
        found.measure,
        label,
        found.second,
        found.number,
        first,
        second,
        found.difference,
        found.interval,
        found.p,
        found.corrected,
    )


def _group_gaps(groups: Sequence[Scores], bootstrap: Bootstrap, label: str | None) -> Iterator[GroupGap]:
    """Yield the largest gap of each number, with an interval that holds for all pairs of groups together."""
    if len(groups) < 2:
        return
    measure = groups[0]
    tables = [measure.ratio_columns(table) for table in paired_tables(groups, bootstrap.cluster)]
    for number, statistic in zip(NUMBERS, measure.statistics, strict=True):
        values = [getattr(one, number) for one in groups]
        pairs = [
            (a, b)
            for a, b in permutations(range(len(groups)), 2)
            if values[a] > values[b] or (values[a] == values[b] and a < b)
        ]
        if not pairs:  # all are undefined, but for one
            continue
        gaps = [values[a] - values[b] for a, b in pairs]
        chosen = gaps.index(max(gaps))
        seed = stream(bootstrap.seed, f"{measure.name}|{number}|gap")
        of_pairs = [(tables[a], tables[b]) for a, b in pairs]
        interval = widest_difference(of_pairs, statistic, chosen, bootstrap, seed)
        highest, lowest = (groups[place].system.removeprefix(f"{SWAP}:") for place in pairs[chosen])
        yield GroupGap(measure.name, label, number, highest, lowest, gaps[chosen], interval)


def _record(one: Drop | GroupGap) -> dict[str, Any]:
    fields = {name: known(value) if isinstance(value, float) else value for name, value in vars(one).items()}
    return {**fields, "interval": [known(end) for end in one.interval]}
