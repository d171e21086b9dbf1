"""Sample sizes: how much must be annotated to claim a recall, and what may be claimed for what was annotated.

A claim is one-sided: "recall is at least 0.99, with 95% confidence" holds if a system with a lower recall would have so
few misses in at most 5% of samples. It is the lower end of the two-sided 90% interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from spanscore.arguments import checked
from spanscore.engine.rescore import rescore
from spanscore.errors import InputError, UsageError, plural, unknown
from spanscore.result import tallies
from spanscore.spec import from_above
from spanscore.stats import Bootstrap, binomial_most

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.corpus.columns import Floats
    from spanscore.result import Scores

LARGE = 2**53
"""No sample is larger than this."""
PREFERRED = "leak"
"""The measure that a claim is usually about, if a pilot has it."""
UNITS = {"leak.entity": "entity", "leak.document": "document"}
"""What measures count that find or miss something else than spans."""
WORKING = "leak, leak.entity, leak.document, exact or iou"
WITHOUT_FILES = "go to the folder where they were made, or score again"


@dataclass(frozen=True)
class Needed:
    """What must be annotated to claim a recall, overall or for one type."""

    type: str | None
    independent_spans: int
    """Spans, if each is missed independently of all others; also documents with such spans, however misses are
    correlated within documents, if those with many spans are not missed more often."""
    per_document: float | None = None
    """Spans per document that holds any."""
    correlation: float | None = None
    """Correlation of misses within a document: 0 independent, 1 all or none."""
    share: float | None = None
    """Share of documents that hold such spans."""
    spans: int | None = None
    documents_with: int | None = None
    """Documents with such spans."""
    documents: int | None = None
    """Documents in all."""
    pilot_recall: float | None = None
    chance: float | None = None
    """The chance of no more misses than allowed, if recall is the same as in the pilot."""


@dataclass(frozen=True)
class Claim:
    """The recall that may be claimed, overall or for one type."""

    type: str | None
    misses: int
    spans: int | None
    documents: int | None
    recall: float | None
    """At least this, however misses are correlated within documents, if those with many spans are not missed more
    often."""
    recall_spans: float | None
    """At least this, if each span is missed independently of all others."""


@dataclass(frozen=True)
class SamplePlan:
    """Sample sizes for a claim (`needed`), or the claims that samples support (`claims`)."""

    confidence: float
    recall: float | None = None
    misses: int = 0
    measure: str | None = None
    pilot: str | None = None
    needed: tuple[Needed, ...] = ()
    claims: tuple[Claim, ...] = ()
    cluster: str | None = None
    """The metadata field, such as meta.patient, whose values stand for documents here, as in the pilot's intervals."""
    unit: str = "span"
    """What is called spans here: spans, or the entities or documents that the measure finds or misses as a whole."""

    def __repr__(self) -> str:
        if self.needed:
            needs = plural(self.needed[0].independent_spans, f"independent {self.unit}")
            return f"SamplePlan(recall {self.recall:g}, confidence {self.confidence:g}: {needs})"
        bounds = (self.claims[0].recall, self.claims[0].recall_spans) if self.claims else ()
        claim = next((f"recall at least {one:.4f}" for one in bounds if one is not None), "no claim")
        return f"SamplePlan({claim}, confidence {self.confidence:g})"

    def __str__(self) -> str:
        return cast("str", from_above("report.planning", "plain")(self))


@checked
def plan(
    recall: float | None = None,
    *,
    confidence: float = 0.95,
    misses: int = 0,
    spans: int | None = None,
    documents: int | None = None,
    per_document: float | None = None,
    correlation: float | None = None,
    pilot: str | Path | None = None,
    measure: str | None = None,
) -> SamplePlan:
    """Return how many spans and documents a claim needs or, without a recall, what may be claimed.

    A pilot (the folder of earlier results) gives the spans per document and the correlation of misses for each type;
    without one, `per_document` and `correlation` do. The supported claim is computed from `spans`, `documents` and
    `misses`, or from the pilot.

    >>> plan(0.99).needed[0].independent_spans
    299
    >>> plan(0.99, per_document=5, correlation=0.25).needed[0]
    ... # doctest: +ELLIPSIS
    Needed(type=None, independent_spans=299, ..., spans=598, documents_with=120, documents=None, ...)
    >>> claim = plan(spans=412, documents=120).claims[0]
    >>> round(claim.recall, 4), round(claim.recall_spans, 4)
    (0.9753, 0.9928)
    """
    _check(recall, confidence, misses, per_document, correlation)
    if pilot is not None:
        if (spans, documents, per_document, correlation) != (None,) * 4:
            raise UsageError("a pilot has spans, documents and their correlation; do not give them as well.")
        if recall is None and misses:
            raise UsageError("a pilot has misses of its own; give --misses only with a recall to claim.")
        scores, cluster = _pilot(Path(pilot), measure)
        found = list(_of_pilot(scores, recall, confidence, misses))
        if not found:
            raise InputError("this pilot has no gold spans, so it says nothing about recall.", str(pilot))
        needed = tuple(one for one in found if isinstance(one, Needed))
        claims = tuple(one for one in found if isinstance(one, Claim))
        unit = UNITS.get(scores.measure.name, "span")
        return SamplePlan(confidence, recall, misses, scores.name, str(pilot), needed, claims, cluster, unit)
    if measure is not None:
        raise UsageError("a measure applies only to a pilot; give the folder of its results.")
    if recall is None:
        if (per_document, correlation) != (None, None):
            raise UsageError("spans per document and their correlation apply only to a recall to claim.")
        return SamplePlan(confidence, None, misses, claims=(_claim(spans, documents, misses, confidence),))
    if spans is not None or documents is not None:
        raise UsageError("give the recall to claim, or the spans and documents that you have, not both.")
    if correlation and per_document is None:
        raise UsageError("a correlation needs the number of spans per document.")
    independent = _independent(recall, confidence, misses)
    sizes = None if per_document is None else (per_document, per_document)
    needed = (_needed(None, independent, sizes, correlation or 0.0, None),)
    return SamplePlan(confidence, recall, misses, needed=needed)


def _check(
    recall: float | None, confidence: float, misses: int, per_document: float | None, correlation: float | None
) -> None:
    if recall is not None and not 0 < recall < 1:
        raise UsageError("the recall must be between 0 and 1, for example 0.99.")
    if not 0.5 < confidence < 1:
        raise UsageError("the confidence must be between 0.5 and 1, for example 0.95.")
    if not 0 <= misses <= 1_000_000:
        raise UsageError("the number of misses must be between 0 and 1000000.")
    if per_document is not None and not 1 <= per_document <= 1_000_000:
        raise UsageError("the number of spans per document must be between 1 and 1000000.")
    if correlation is not None and not 0 <= correlation <= 1:
        raise UsageError("the correlation must be between 0 and 1.")


def _independent(recall: float, confidence: float, misses: int) -> int:
    """Return the smallest number of independent trials in which so few misses are unlikely at this recall."""
    low, high = misses, misses + 1
    while _at_most(misses, high, recall) > 1 - confidence:
        low, high = high, 2 * high
        if high > LARGE:
            raise UsageError("no sample is large enough for such a claim; ask for a lower recall or confidence.")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _at_most(misses, middle, recall) > 1 - confidence else (low, middle)
    return high


def _at_most(misses: int, trials: int, recall: float) -> float:
    """Return the chance of at most so many misses; `bdtr` would do, but only for up to 2**31 trials."""
    from scipy.special import betainc

    return float(betainc(trials - misses, misses + 1, recall)) if trials > misses else 1.0


def _needed(
    type_: str | None,
    independent: int,
    sizes: tuple[float, float] | None,
    correlation: float,
    share: float | None,
) -> Needed:
    """Return the sample size for documents of these sizes: the mean over documents, and the mean over spans.

    Spans of one document count less than independent ones, by the design effect 1 + (m - 1) r, where m is the mean
    size over spans and r the correlation; documents never count less than one independent span each.
    """
    if sizes is None:
        return Needed(type_, independent)
    spans = math.ceil(round(independent * (1 + (sizes[1] - 1) * correlation), 9))
    holding = math.ceil(round(spans / sizes[0], 9))
    if holding > independent:
        holding, spans = independent, math.ceil(round(independent * sizes[0], 9))
    return Needed(
        type_,
        independent,
        sizes[0],
        correlation,
        share,
        spans,
        holding,
        None if share is None else math.ceil(round(holding / share, 9)),
    )


def _claim(spans: int | None, documents: int | None, misses: int, confidence: float) -> Claim:
    if spans is None and documents is None:
        raise UsageError("give the recall to claim, or the spans and documents that you have.")
    for what, number in (("spans", spans), ("documents", documents)):
        if number is not None and not 1 <= number <= LARGE:
            raise UsageError(f"the number of {what} must be at least 1 and at most {LARGE:,}.")
    if spans is not None and misses > spans:
        raise UsageError("there cannot be more misses than spans.")
    if spans is not None and documents is not None and documents > spans:
        raise UsageError("there cannot be more documents with such spans than spans.")
    of_documents, of_spans = (
        None if number is None else 1 - binomial_most(min(misses, number), number, 2 * confidence - 1)
        for number in (documents, spans)
    )
    return Claim(None, misses, spans, documents, of_documents, of_spans)


def _pilot(folder: Path, measure: str | None) -> tuple[Scores, str | None]:
    """Return the scores of a pilot, by `measure` or by the first measure that finds or misses whole spans.

    With them comes the metadata field by which documents were clustered, if they were.
    """
    saved = tallies.read(folder)
    cluster = None if saved is None else saved[0].cluster
    found = list(saved[1].values()) if saved is not None else list(rescore(folder, advice=WITHOUT_FILES).scores)
    if len({one.system for one in found}) > 1:
        raise InputError("a pilot has one system, but these results have several.", str(folder))
    named = {one.name: one for one in found}
    if measure is not None:
        if measure not in named:
            raise UsageError(unknown("measure in the pilot", measure, named))
        if not _countable(named[measure]):
            use = ", ".join(one.name for one in found if _countable(one)) or WORKING
            what = (
                f"{measure} does not find or miss whole spans, so a number of spans says nothing about it; use {use}."
            )
            raise UsageError(what)
        return named[measure], cluster
    counted = [one for one in found if one.measure.finds_spans]
    if not counted:
        raise InputError(f"no measure of these results finds or misses whole spans; use {WORKING}.", str(folder))
    return next((one for one in counted if one.measure.name == PREFERRED), counted[0]), cluster


def _countable(scores: Scores) -> bool:
    """Return whether recall is a share of spans, entities or documents, which are found or missed as a whole."""
    return scores.measure.finds_spans or scores.measure.name in UNITS


def _of_pilot(scores: Scores, recall: float | None, confidence: float, misses: int) -> Iterator[Needed | Claim]:
    """Yield the sample size, or without a recall the claim, overall and for each type."""
    how = Bootstrap(2 * confidence - 1)
    for label in (None, *scores.by_type):
        units = scores.ratio_columns(scores.tally.of_label(label).present())
        hit, size = units[:, 2], units[:, 3]
        hit, size = hit[size > 0], size[size > 0]
        if not len(size):
            continue
        if recall is None:
            interval = scores.interval(how, label)
            assert interval is not None
            missed, total = round((size - hit).sum()), round(size.sum())
            partial = bool((hit % 1).any())
            on_spans = None if partial else 1 - binomial_most(missed, total, how.level)
            yield Claim(label, missed, total, len(size), interval.recall[0], on_spans)
            continue
        yield _needed_by_pilot(label, hit, size, len(scores.tally.documents), (recall, confidence, misses))


def _needed_by_pilot(
    label: str | None, hit: Floats, size: Floats, documents: int, target: tuple[float, float, int]
) -> Needed:
    independent = _independent(*target)
    sizes = float(size.mean()), float((size**2).sum() / size.sum())
    found = _needed(label, independent, sizes, intra_correlation(size - hit, size), len(size) / documents)
    rate = float(hit.sum() / size.sum())
    assert found.spans is not None
    assert found.documents_with is not None
    assert found.correlation is not None
    chance = chance_of_at_most(target[2], found.spans, found.documents_with, 1 - rate, found.correlation)
    return replace(found, pilot_recall=rate, chance=chance)


def chance_of_at_most(misses: int, spans: int, documents: int, rate: float, correlation: float) -> float:
    """Return the chance of at most so many misses in documents of equal size whose misses are correlated.

    The misses of a document follow a beta-binomial distribution with this mean rate and correlation: the binomial
    distribution if misses are independent, all or none if the correlation is 1.

    >>> round(chance_of_at_most(1, 100, 20, 0.01, 0.0), 4), round(chance_of_at_most(1, 100, 20, 0.01, 1.0), 4)
    (0.7358, 0.8179)
    """
    size, larger = divmod(spans, documents)
    total = np.ones(1)
    for of_each, number in ((size, documents - larger), (size + 1, larger)):
        one = _misses_of_one(of_each, rate, correlation)[: misses + 1]
        total = _of_two(total, _of_many(one, number, misses), misses)
    return float(np.clip(total.sum(), 0.0, 1.0))


def _misses_of_one(size: int, rate: float, correlation: float) -> Floats:
    """Return the probability of each number of misses in a document of so many spans."""
    from scipy.special import gammaln

    correlation = min(correlation, 1 - 1e-9)  # 1 would divide by zero
    more = np.arange(size) * correlation / (1 - correlation)  # each miss makes another one more likely, as do hits
    with np.errstate(divide="ignore"):
        missed, found, either = (np.append(0.0, np.cumsum(np.log(first + more))) for first in (rate, 1 - rate, 1.0))
    number = np.arange(size + 1)
    ways = gammaln(size + 1) - gammaln(number + 1) - gammaln(size - number + 1)
    chances: Floats = np.exp(ways + missed + found[::-1] - either[-1])
    return chances


def _of_many(one: Floats, number: int, most: int) -> Floats:
    """Return the distribution of the sum of so many numbers, up to `most`, by repeated squaring."""
    total = np.ones(1)
    while number:
        if number % 2:
            total = _of_two(total, one, most)
        number //= 2
        one = _of_two(one, one, most) if number else one
    return total


def _of_two(first: Floats, second: Floats, most: int) -> Floats:
    """Return the distribution of the sum of two numbers, up to `most`."""
    from scipy.signal import convolve

    total: Floats = convolve(first, second)[: most + 1]
    return total


def intra_correlation(missed: Floats, size: Floats) -> float:
    """Estimate the correlation of misses within documents, from the misses and the spans of each document.

    This is the analysis-of-variance estimate, with one completely missed document added, as the intervals do: without
    any miss, the correlation is unknown and taken as 1; the more misses are seen, the less that document matters.

    >>> intra_correlation(np.array([0.0, 0, 0]), np.array([4.0, 4, 4]))
    1.0
    >>> round(intra_correlation(np.array([1.0] * 50 + [0.0] * 50), np.array([2.0] * 100)), 2) < 0.1
    True
    """
    extra = float((size**2).sum() / size.sum())
    missed, size = np.append(missed, extra), np.append(size, extra)
    total, number = size.sum(), len(size)
    rate = missed.sum() / total
    shares = missed / size
    between = float((size * (shares - rate) ** 2).sum()) / (number - 1)
    within = float((size * shares * (1 - shares)).sum()) / max(total - number, 1e-9)
    typical = (total - (size**2).sum() / total) / (number - 1)
    spread = between + (typical - 1) * within
    return float(np.clip((between - within) / spread, 0.0, 1.0)) if spread > 0 else 1.0
