"""Comparison of systems on the same gold data, with significance tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, islice, product
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from spanscore.align.span_groups import is_span_property
from spanscore.arguments import checked
from spanscore.engine.evaluate import partial_results
from spanscore.engine.partial import FoundSpans, assemble
from spanscore.engine.plan import SETTINGS
from spanscore.engine.task import Task
from spanscore.errors import UsageError, plural, printable, unknown
from spanscore.result import NUMBERS
from spanscore.result.views import Rows, Views
from spanscore.spec import from_above
from spanscore.stats import (
    Bootstrap,
    difference_interval,
    holm,
    kendall,
    permutation_p,
    stream,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from spanscore.corpus.columns import Bools, Floats
    from spanscore.engine.inputs import Data, Systems
    from spanscore.formats import Format
    from spanscore.measures import Measure
    from spanscore.result import Result, Scores
    from spanscore.tally import Counts

SHOWN = 4
"""Systems that the repr of a comparison names."""
PERMUTATIONS = 10_000
"""Permutations for a p-value, unless told otherwise."""
STATUS = ("broken", "fixed", "both wrong", "both right")
"""How the outcome for a gold span changed from the first to the second system; regressions first."""


@dataclass(frozen=True)
class Difference:
    """The first system's score minus the second's, with its confidence interval and p-value."""

    measure: str
    number: str
    first: str
    second: str
    difference: float
    interval: tuple[float, float]
    p: float
    corrected: float
    """p-value after Holm correction over all pairs of systems."""


@dataclass(frozen=True)
class Change:
    """A gold span and whether the first and the second system found it."""

    status: str
    measure: str
    document: str
    start: int
    end: int
    label: str
    text: str | None
    slices: dict[str, str] = field(hash=False, default_factory=dict)
    """The document's value of each metadata field that scores are split by."""


@dataclass(frozen=True)
class Comparison(Views, Rows):
    """The scores of several systems by the same measures, and the differences between every pair."""

    result: Result
    systems: tuple[str, ...]
    differences: tuple[Difference, ...]
    bootstrap: Bootstrap
    permutations: int
    alpha: float
    found: Mapping[tuple[str, str], FoundSpans] = field(default_factory=dict, repr=False)
    """The outcome for each gold span by measure and system, if the spans themselves were not kept."""

    def __repr__(self) -> str:
        names = ", ".join(printable(name) for name in self.systems[:SHOWN])
        more = f", … {len(self.systems) - SHOWN} more" if len(self.systems) > SHOWN else ""
        significant = sum(one.corrected < self.alpha and one.difference != 0 for one in self.differences)
        of = f"{significant} of {plural(len(self.differences), 'difference')} significant"
        return f"Comparison({names}{more} by {', '.join(self.measures)}; {of})"

    def __str__(self) -> str:
        return cast("str", from_above("report.comparison", "plain")(self))

    def records(self) -> list[dict[str, Any]]:
        """Return a row for each difference of two systems by a measure: its interval and p-values."""
        rows = []
        for one in self.differences:
            low, high = one.interval
            fields = {name: getattr(one, name) for name in ("measure", "number", "first", "second", "difference")}
            rows.append({**fields, "low": low, "high": high, "p": one.p, "corrected": one.corrected})
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Return what `spanscore compare` writes to comparison.json, without the changes of gold spans."""
        return cast("dict[str, Any]", from_above("report.comparison", "record")(self, {}))

    def plot(self, measure: str | None = None) -> Any:
        """Return a Plotly figure with bars of all systems."""
        return self.result.plot("bars", measure)

    @property
    def measures(self) -> list[str]:
        """The measures, each at its level if levels were asked for, in order."""
        return _names(self.result)

    def changes_by_measure(self) -> dict[str, list[Change]]:
        """Return the changes from the first to the last system by each measure."""
        return {name: self.changes(name, self.systems[0], self.systems[-1]) for name in self.measures}

    def letters(self) -> dict[str, str]:
        """Assign a letter to each system."""
        return dict(zip(self.systems, _letters(len(self.systems)), strict=True))

    def better_than(self, measure: str, number: str, system: str) -> str:
        """Return the letters of the systems that this one is significantly better than."""
        return "".join(sorted(self._beaten.get((measure, number, system), ())))

    @cached_property
    def _beaten(self) -> dict[tuple[str, str, str], list[str]]:
        """The letters of the systems that each one is significantly better than, by measure and number."""
        letters = self.letters()
        beaten: dict[tuple[str, str, str], list[str]] = {}
        for one in self.differences:
            if one.corrected < self.alpha and one.difference:
                winner, loser = (one.first, one.second) if one.difference > 0 else (one.second, one.first)
                beaten.setdefault((one.measure, one.number, winner), []).append(letters[loser])
        return beaten

    def best(self, measure: str, number: str) -> set[str]:
        """Return the systems with the highest score."""
        found = {
            one.system: getattr(one, number)
            for one in self.result.scores
            if one.name == measure and not np.isnan(getattr(one, number))
        }
        highest = max(found.values(), default=0.0)
        return {system for system, value in found.items() if value == highest}

    def ranks(self, measure: str, number: str = "f") -> dict[str, int]:
        """Return the rank of each system: one plus the number of significantly better systems."""
        better = dict.fromkeys(self.systems, 0)
        for one in self.differences:
            if (one.measure, one.number) == (measure, number) and one.corrected < self.alpha and one.difference:
                better[one.second if one.difference > 0 else one.first] += 1
        return {system: 1 + count for system, count in better.items()}

    def agreement(self, number: str = "f") -> dict[tuple[str, str], float]:
        """Return Kendall's tau between the system rankings of every pair of measures."""
        values: dict[str, list[float]] = {}
        for one in self.result.scores:
            values.setdefault(one.name, []).append(getattr(one, number))
        return {
            (a, b): kendall(np.nan_to_num(values[a]).tolist(), np.nan_to_num(values[b]).tolist())
            for a, b in combinations(values, 2)
        }

    def changes(self, measure: str, first: str, second: str) -> list[Change]:
        """Return how the outcome for each gold span changed from the first to the second system, regressions first."""
        by = [what for what in self.result.by if what not in ("type", "document")]
        return sorted(
            _changes(self.result[measure, first], self.result[measure, second], by),
            key=lambda one: (STATUS.index(one.status), one.document, one.start, one.end, one.label),
        )

    def statuses(self, measure: str, first: str, second: str) -> Counter[tuple[str, str]]:
        """Count the broken, fixed and unchanged gold spans of each label from the first to the second system."""
        a, b = (self._found(measure, system) for system in (first, second))
        _refuse_other_spans(measure, len(a.label), len(b.label))
        counts = np.bincount(4 * a.label.astype(np.int64) + 2 * a.right + b.right, minlength=4 * len(a.labels))
        status = ("both wrong", "fixed", "broken", "both right")
        return Counter(
            {(label, status[i]): n for (label, i), n in zip(product(a.labels, range(4)), counts.tolist(), strict=True)}
        )

    def _found(self, measure: str, system: str) -> FoundSpans:
        found = self.found.get((measure, system))
        if found is not None:
            return found
        scores = self.result[measure, system]
        assert scores.pairing is not None
        return FoundSpans.of(scores.judgement, scores.pairing)

    def diff(self, changes: Sequence[Change], by: str | None = None) -> dict[str | None, dict[str, int]]:
        """Count the broken, fixed and unchanged gold spans overall, or by type, document or `meta.KEY`."""
        found: dict[str | None, Counter[str]] = {}
        for one in changes:
            named = {"type": one.label, "document": one.document, **one.slices}
            part = None if by is None else named[by]
            found.setdefault(part, Counter())[one.status] += 1
        order = sorted(found, key=lambda part: (-found[part]["broken"], -found[part]["fixed"], part or ""))
        return {part: {status: found[part][status] for status in STATUS} for part in order}


@checked(settings=SETTINGS)
def compare(
    gold: Data,
    systems: Systems,
    measures: str | Measure | Sequence[str | Measure] | None = None,
    *,
    ci: Bootstrap | float = 0.95,
    permutations: int = PERMUTATIONS,
    alpha: float = 0.05,
    gold_format: str | Format | None = None,
    pred_format: str | Format | None = None,
    keep_spans: bool = True,
    jobs: int = 1,
    progress: Callable[[int], object] | None = None,
    against: str | None = None,
    **settings: Any,
) -> Comparison:
    """Score systems by the same measures, and test every pair for significance, paired by document.

    Inputs and settings are the same as for `score`. With `against`, only pairs with that system are tested.

    >>> import spanscore as ss
    >>> spans = [{"start": 0, "end": 3, "label": "A"}]
    >>> gold = ss.Corpus.from_documents([{"id": str(i), "spans": spans} for i in range(40)])
    >>> half = ss.Corpus.from_documents([{"id": str(i), "spans": spans[: i % 2]} for i in range(40)])
    >>> found = compare(gold, {"good": gold, "half": half}, "exact")
    >>> found.better_than("exact", "recall", "good"), found.differences[1].difference
    ('b', 0.5)
    """
    if not isinstance(systems, Mapping):
        raise UsageError('a comparison needs systems by name: {"old": corpus or path, "new": corpus or path}.')
    check(len(systems), permutations, alpha)
    kept = {"ci": ci, "keep_spans": keep_spans, "keep_found": not keep_spans}
    task = Task.of(
        gold,
        systems,
        measures,
        gold_format=gold_format,
        pred_format=pred_format,
        settings={**settings, **kept},
    )
    how = task.plan.ci
    assert how is not None
    pairs = _pairs(list(task.inputs.systems), against)
    _refuse_many(len(task.inputs.systems), len(pairs), len(task.plan.columns))
    task = task.sharing_types()
    parts = partial_results(task.plan, task.inputs, jobs=jobs, progress=progress)
    result = task.finished(assemble(task.plan, parts))
    names = _names(result)
    found = {
        (name, system): one for system, part in parts.items() for name, one in zip(names, part.found, strict=False)
    }
    differences = _all_differences(result, how, permutations, pairs)
    return Comparison(result, tuple(parts), differences, how, permutations, alpha, found)


def check(systems: int, permutations: int, alpha: float) -> None:
    """Raise an error if the systems cannot be compared with these settings."""
    if systems < 2:
        raise UsageError("a comparison needs at least two systems.")
    if not 1 <= permutations <= 1_000_000 or not 0 < alpha < 1:
        raise UsageError("permutations must be between 1 and 1000000, and alpha between 0 and 1.")


PAIRS = 10_000
"""Pairs of systems, times measures, that are tested: each takes several milliseconds for each number."""


def _pairs(systems: list[str], against: str | None) -> list[tuple[int, int]]:
    """Return the pairs of systems to test: all, or those with one of them."""
    if against is not None and against not in systems:
        raise UsageError(unknown("system", against, systems))
    pairs = combinations(range(len(systems)), 2)
    place = None if against is None else systems.index(against)
    return [pair for pair in pairs if place is None or place in pair]


def _refuse_many(systems: int, pairs: int, measures: int) -> None:
    if pairs * measures > PAIRS:
        what = (
            f"{systems} systems are {pairs:,} pairs, by {plural(measures, 'measure')} more than the limit of {PAIRS:,}"
        )
        raise UsageError(f"{what} tests; compare them with one system (--against NAME), or compare fewer.")


def _all_differences(
    result: Result, how: Bootstrap, permutations: int, pairs: list[tuple[int, int]]
) -> tuple[Difference, ...]:
    found: list[Difference] = []
    for name in _names(result):
        scores = [one for one in result.scores if one.name == name]
        if not scores[0].measure.needs_all_documents:
            found += differences(scores, how, permutations, pairs)
    return tuple(found)


def differences(
    scores: Sequence[Scores], how: Bootstrap, permutations: int, pairs: Sequence[tuple[int, int]]
) -> Iterator[Difference]:
    """Yield the differences of pairs of scores by one measure, paired by document.

    The p-values are corrected for the number of pairs.
    """
    name = scores[0].name
    tables = paired_tables(scores, how.cluster)
    for number in NUMBERS:
        found = []
        for a, b in pairs:
            ends, p = paired_test(scores[a], (tables[a], tables[b]), number, how, permutations)
            gap = getattr(scores[a], number) - getattr(scores[b], number)
            found.append((scores[a].system, scores[b].system, gap, ends, p))
        corrected = holm([one[-1] for one in found])
        for (first, second, gap, interval, p), after in zip(found, corrected, strict=True):
            yield Difference(name, number, first, second, gap, interval, p, after)


def paired_test(
    scores: Scores,
    tables: tuple[Counts, Counts],
    number: str,
    how: Bootstrap,
    permutations: int = PERMUTATIONS,
    label: str | None = None,
) -> tuple[tuple[float, float], float]:
    """Return the confidence interval and the p-value of the difference of a score in two tables of the same documents.

    The measure is that of `scores`; `label` names the type that the counts are of.
    """
    kind = () if label is None else (label,)
    seed = stream(how.seed, "|".join((scores.name, number, *kind)))  # whatever the systems are called
    a, b = (scores.ratio_columns(table) for table in tables)
    interval = difference_interval(a, b, scores.statistics[NUMBERS.index(number)], how, seed)
    return interval, permutation_p(*tables, statistic_of(scores, number), number=permutations, seed=seed)


def paired_tables(scores: Sequence[Scores], cluster: str | None) -> list[Counts]:
    """Return each system's counts by document (or cluster of documents), with rows in the same order."""
    units = [one.units(cluster) for one in scores]
    first = units[0].documents
    if all(one.documents == first for one in units[1:]):
        listed = list(first)
        order = sorted(range(len(listed)), key=listed.__getitem__)
        return [one.by_document()[order] for one in units]
    names = sorted({name for one in units for name in one.documents})
    return [one.of_documents(names) for one in units]


def statistic_of(scores: Scores, number: str) -> Callable[[Counts], Floats]:
    """Return a function that computes this score from rows of counts."""
    place = NUMBERS.index(number)
    return lambda counts: scores.numbers(counts)[place]


def _changes(first: Scores, second: Scores, by: Sequence[str]) -> Iterator[Change]:
    judgements = [one.judgement for one in (first, second)]
    gold, text = judgements[0].pairing.gold, judgements[0].pairing.text
    _refuse_other_spans(first.name, len(gold.doc), len(judgements[1].pairing.gold.doc))
    found: list[Bools] = [one.cell == one.pairing.gold.label for one in judgements]
    names = {(True, False): "broken", (False, True): "fixed", (False, False): "both wrong", (True, True): "both right"}
    slices = {what: _slices(first, what) for what in by}
    ids = gold.ids.tolist()
    assert first.pairing is not None
    labels, types = judgements[0].types_in(first.pairing)
    columns = gold.doc.tolist(), gold.start.tolist(), gold.end.tolist(), types.tolist()
    for row, (doc, start, end, label, a, b) in enumerate(zip(*columns, *(one.tolist() for one in found), strict=True)):
        content = text[doc]
        covered = None if content is None else content[start:end]
        parts = {what: groups[row] for what, groups in slices.items()}
        yield Change(names[a, b], first.name, ids[doc], start, end, labels[label], covered, parts)


def _slices(scores: Scores, what: str) -> list[str]:
    """Return the slice of each gold span, as the measure sees it."""
    spans = scores.judgement.pairing
    if is_span_property(what):
        if scores.splits_predictions(what):
            raise UsageError(f"{printable(what)} is an attribute of predictions; systems are compared by gold spans.")
        codes, names = scores.span_groups(what).group(spans)
        return [names[code] for code in codes.tolist()]
    group, parts = scores.slices(what)
    return [parts[code] for code in group[spans.gold.doc].tolist()]


def _refuse_other_spans(measure: str, ours: int, theirs: int) -> None:
    if ours != theirs:
        raise UsageError(f"{measure} does not score the same gold spans for both systems; choose another measure.")


def _names(result: Result) -> list[str]:
    return list(dict.fromkeys(one.name for one in result.scores))


def _letters(count: int) -> list[str]:
    """Return a name of few letters for each system: a to z, aa to zz, aaa and so on."""
    names = ("".join(letters) for length in (1, 2, 3, 4) for letters in product(ascii_lowercase, repeat=length))
    return list(islice(names, count))
