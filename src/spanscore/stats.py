"""Uncertainty of scores, computed from counts: bootstrap, exact bounds, permutation tests and corrections.

Documents with the same counts are interchangeable, so resampling works on the distinct rows of counts and on how often
each occurs. This is the bootstrap over documents, but its running time grows with the number of distinct rows rather
than with the corpus, and its result depends only on the counts and the seed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from spanscore.arguments import check_fields
from spanscore.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from spanscore.corpus.columns import Bools, Floats, Longs

Counts = NDArray[Any]
DRAWS = 1 << 22
"""Number of random draws per batch, which bounds memory use."""
FEW = 1 << 20
"""Number of possible rows of counts up to which rows are counted in a table instead of sorted."""
ROUNDING = 1e-12
"""Differences below this are rounding errors."""


@dataclass(frozen=True)
class Bootstrap:
    """Settings of bootstrap confidence intervals; `cluster` is a metadata field whose values are drawn as a whole."""

    level: float = 0.95
    resamples: int = 1000
    seed: int = 0
    cluster: str | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        if not 0 < self.level < 1:
            raise UsageError("the confidence level must be between 0 and 1, for example 0.95.")
        if not 1 <= self.resamples <= 1_000_000:
            raise UsageError("the number of resamples must be between 1 and 1000000.")
        if self.seed < 0:
            raise UsageError("the seed must not be negative.")
        if self.cluster is not None and not self.cluster.startswith("meta."):
            raise UsageError("documents can only be clustered by a metadata field; use meta.KEY.")

    def __str__(self) -> str:
        return f"bootstrap/{self.cluster or 'documents'}/{self.level:g}/{self.resamples}/seed {self.seed}"


@dataclass(frozen=True)
class Missed:
    """How many spans were missed, and the upper confidence bounds of the miss rate."""

    missed: int
    annotated: int
    units: int
    """Documents, or clusters of documents, that hold such spans."""
    at_most: float
    """The bound over documents: 1 minus the lower end of recall."""
    at_most_spans: float
    """The exact bound on spans (Clopper-Pearson), which holds if each span is missed independently of all others."""


@dataclass(frozen=True)
class Interval:
    """Confidence intervals of precision, recall and F, plus the bounds on misses for measures that count spans."""

    precision: tuple[float, float]
    recall: tuple[float, float]
    f: tuple[float, float]
    missed: Missed | None = None


@dataclass(frozen=True)
class Kinds:
    """Distinct rows of counts and how often each occurs, in an order that does not depend on the input's order."""

    rows: Counts
    frequency: Longs

    @classmethod
    def of(cls, counts: Counts) -> Kinds:
        """Return the distinct rows of `counts`.

        >>> kinds = Kinds.of(np.array([[1, 0], [0, 1], [1, 0]]))
        >>> kinds.rows.tolist(), kinds.frequency.tolist()
        ([[0, 1], [1, 0]], [1, 2])
        """
        if not len(counts):
            return cls(counts, np.zeros(0, np.int64))
        whole = counts.astype(np.int64)
        sizes = tuple((whole.max(axis=0) + 1).tolist())
        dense = math.prod(sizes) <= min(FEW, 32 * len(counts))
        if dense and (whole >= 0).all() and (whole == counts).all():  # small numbers need no sorting
            frequency = np.bincount(np.ravel_multi_index(tuple(whole.T), sizes))
            present = np.flatnonzero(frequency)
            return cls(np.stack(np.unravel_index(present, sizes), axis=1).astype(counts.dtype), frequency[present])
        codes = np.zeros(len(counts), np.int64)
        for field in range(counts.shape[1]):
            values, place = np.unique(counts[:, field], return_inverse=True)
            if len(values) > 1:
                codes = np.unique(codes * len(values) + place, return_inverse=True)[1]
        _, first, frequency = np.unique(codes, return_index=True, return_counts=True)
        return cls(counts[first], frequency)

    def choose(self, among: Bools, choice: Floats) -> Counts:
        """Return a row for each of these numbers from 0 to 1, at random from the marked ones by their frequency."""
        weight = np.cumsum(np.where(among, self.frequency, 0))
        place = np.searchsorted(weight, choice * weight[-1], side="right")
        chosen: Counts = self.rows[np.minimum(place, len(self.rows) - 1)]
        return chosen

    def weighted_sums(self, number: int, generator: np.random.Generator) -> Floats:
        """Return `number` sums of the rows, each row weighted by a draw from the exponential distribution.

        Divided by their sum, such weights are those of the Bayesian bootstrap (Rubin 1981). A row that occurs n times
        gets the sum of n weights, which follows a gamma distribution.
        """
        rows = self.rows.astype(np.float64)
        sums = np.zeros((number, rows.shape[1]))
        step = max(1, DRAWS // max(len(self.frequency), 1))
        for first in range(0, number, step):
            drawn = generator.standard_gamma(self.frequency, size=(min(step, number - first), len(self.frequency)))
            sums[first : first + step] = drawn @ rows
        return sums

    def swaps(self, number: int, seed: Sequence[int]) -> Counts:
        """Return the summed counts of `number` random subsets that include each row with probability 1/2."""
        generator = np.random.default_rng(list(seed))
        sums = np.zeros((number, self.rows.shape[1]), np.float64 if self.rows.dtype.kind == "f" else np.int64)
        step = max(1, DRAWS // max(len(self.frequency), 1))
        for first in range(0, number, step):
            drawn = generator.binomial(self.frequency, 0.5, size=(min(step, number - first), len(self.frequency)))
            sums[first : first + step] = drawn @ self.rows
        return sums


def stream(seed: int, name: str) -> tuple[int, int]:
    """Return a seed for the random stream called `name`, independent of whatever else is computed."""
    return seed, crc32(name.encode("utf-8", "surrogatepass"))


def intervals(
    units: Kinds, statistics: Sequence[Callable[[Counts], Floats]], how: Bootstrap, seed: Sequence[int]
) -> list[tuple[float, float]]:
    """Return the confidence interval of each statistic of documents, which is a proportion or combines proportions.

    The columns of `units` are numerators and denominators in turn; a statistic takes rows of them and returns values
    from 0 to 1, where 1 is reached if all numerators equal their denominators.

    Both ends are quantiles of a Bayesian bootstrap over documents with one more document than was seen. For the lower
    end, it is one of the documents with errors or, with a chance of 1 / (1 + e), one in which everything is wrong; e is
    the number of such documents to which the errors of all documents amount. For the upper end, it is the mirror image.
    If documents are all right or all wrong, this is the Clopper-Pearson interval of the number of right documents, so
    that the interval does not collapse where every resample is equal.
    """
    return _intervals(units, statistics, how, seed, [_End(1.0, 0.0, (False,)), _End(0.0, 1.0, (True,))])


def difference_interval(
    first: Counts, second: Counts, statistic: Callable[[Counts], Floats], how: Bootstrap, seed: Sequence[int]
) -> tuple[float, float]:
    """Return the confidence interval of the statistic of `first` minus that of `second`, as `intervals` does.

    Both have one row per document. Here, the document that is added is one in which the first is worse or, with the
    corresponding chance, one in which it is better, with the two swapped, as a permutation test swaps them. If they are
    equal in all documents, it is one in which the first is all wrong and the second all right; for the upper end the
    reverse. Swapping `first` and `second` changes only the sign.
    """
    if first.tobytes() > second.tobytes():
        low, high = difference_interval(second, first, statistic, how, seed)
        return -high, -low
    width = first.shape[1]
    ends = [_End(0.0, -1.0, (False, True)), _End(0.0, 1.0, (True, False))]

    def gap(rows: Counts) -> Floats:
        return statistic(rows[:, :width]) - statistic(rows[:, width:])

    return _intervals(Kinds.of(np.concatenate([first, second], axis=1)), [gap], how, seed, ends)[0]


@dataclass(frozen=True)
class _End:
    """An end of an interval: the values of a document without errors and of the worst one, and what that is like."""

    good: float
    bad: float
    right: tuple[bool, ...]
    """Whether numerators equal denominators in the worst document, for each equal part of the columns."""

    def bound(
        self,
        units: Kinds,
        value: Floats,
        statistic: Callable[[Counts], Floats],
        drawn: _Drawn,
        worst_unit: Floats,
        level: float,
    ) -> float:
        """Return the end of the interval; `value` is the statistic of each kind of document."""
        counted = ~np.isnan(value)
        severity = np.where(counted, np.clip((self.good - value) / (self.good - self.bad), 0.0, 1.0), 0.0)
        severity[severity < ROUNDING] = 0.0
        number = int(units.frequency[counted].sum())
        if not number:
            return math.nan
        if (np.abs(value[counted] - self.good) < ROUNDING).all():  # every resample would be equal
            return self.good - (self.good - self.bad) * binomial_most(0, number, level)
        worst = drawn.chance * (1 + np.sum(severity * units.frequency)) < 1
        better = np.where(counted, (value - self.good) / (self.good - self.bad), 0.0) > ROUNDING
        unseen = _swapped(units.choose(better, drawn.choice)) if better.any() else worst_unit
        extra = np.where(worst[:, None], unseen, units.choose(severity > 0, drawn.choice))
        values = statistic(drawn.sums + drawn.weight[:, None] * extra)
        tail = (1 - level) / 2
        return _quantile(values[~np.isnan(values)], tail if self.bad < self.good else 1 - tail)

    def worst(self, units: Kinds) -> Floats:
        """Return the worst document; it is as large as the one that holds a span chosen at random, on average."""
        rows = units.rows.astype(np.float64)
        size, squared = units.frequency @ rows[:, 1::2], units.frequency @ rows[:, 1::2] ** 2
        mean = np.where(size > 0, squared / np.where(size > 0, size, 1), 0.0)
        if len(mean) > 1:  # of a side without spans: as many as on the other side
            pairs = mean.reshape(-1, 2)
            mean = np.where(pairs > 0, pairs, pairs[:, ::-1]).ravel()
        row = np.empty(rows.shape[1])
        row[1::2] = mean
        row[::2] = mean * np.repeat(self.right, len(mean) // len(self.right))
        return row


def _quantile(values: Floats, share: float) -> float:
    """Return a quantile, interpolated as np.quantile does, which takes ten times as long for a thousand values.

    >>> _quantile(np.array([3.0, 1.0, 2.0]), 0.25), _quantile(np.zeros(0), 0.5)
    (1.5, nan)
    """
    if not len(values):
        return math.nan
    place = share * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    ordered = np.partition(values, (low, high))
    below, above, part = float(ordered[low]), float(ordered[high]), place - low
    gap = above - below
    return below + gap * part if part < 0.5 else above - gap * (1 - part)


def _swapped(rows: Counts) -> Counts:
    """Return rows of two systems with the systems swapped."""
    return np.roll(rows, rows.shape[1] // 2, axis=1)


@dataclass(frozen=True)
class _Drawn:
    """Random numbers for one resample each: weighted sums of documents, and which document is added to them."""

    sums: Floats
    weight: Floats
    chance: Floats
    choice: Floats


def _intervals(
    units: Kinds,
    statistics: Sequence[Callable[[Counts], Floats]],
    how: Bootstrap,
    seed: Sequence[int],
    ends: Sequence[_End],
) -> list[tuple[float, float]]:
    generator = np.random.default_rng(list(seed))
    weight, chance, choice = (
        generator.exponential(size=how.resamples),
        generator.random(how.resamples),
        generator.random(how.resamples),
    )
    drawn = _Drawn(units.weighted_sums(how.resamples, generator), weight, chance, choice)
    worst = [one.worst(units) for one in ends]
    found = []
    for statistic in statistics:
        point = float(statistic((units.frequency @ units.rows)[None])[0]) if len(units.rows) else math.nan
        if math.isnan(point):
            found.append((math.nan, math.nan))
            continue
        value = statistic(units.rows)
        low, high = (
            one.bound(units, value, statistic, drawn, unit, how.level) for one, unit in zip(ends, worst, strict=True)
        )
        found.append((min(low, point), max(high, point)))
    return found


def binomial_bounds(hits: int, trials: int, level: float = 0.95) -> tuple[float, float]:
    """Return the exact (Clopper-Pearson) confidence interval of a proportion.

    >>> low, high = binomial_bounds(0, 300)
    >>> low, round(high, 4)
    (0.0, 0.0122)
    """
    return 1 - binomial_most(trials - hits, trials, level), binomial_most(hits, trials, level)


def binomial_most(hits: int, trials: int, level: float = 0.95) -> float:
    """Return the upper bound of the exact (Clopper-Pearson) confidence interval of a proportion."""
    if trials <= 0:
        return math.nan
    if hits >= trials:
        return 1.0
    from scipy.special import betaincinv

    return float(betaincinv(hits + 1, trials - hits, (1 + level) / 2))


def permutation_p(
    first: Counts, second: Counts, statistic: Callable[[Counts], Floats], *, number: int, seed: Sequence[int]
) -> float:
    """Return the two-sided p-value of the difference between two systems.

    This is paired approximate randomization: it randomly swaps the two systems' counts of each document, and estimates
    how often the difference is at least as large as observed. An undefined difference counts as 0. The order of the two
    does not matter.
    """
    if first.tobytes() > second.tobytes():
        first, second = second, first
    total_first, total_second = first.sum(axis=0)[None], second.sum(axis=0)[None]
    observed = abs(_difference(statistic(total_first), statistic(total_second))[0])
    moved = Kinds.of(second - first).swaps(number, seed)
    found = np.abs(_difference(statistic(total_first + moved), statistic(total_second - moved)))
    return float((1 + np.count_nonzero(found >= observed - 1e-12)) / (1 + number))


def _difference(a: Floats, b: Floats) -> Floats:
    """Return the difference of two arrays, 0 where either is undefined."""
    gap: Floats = a - b
    return np.where(np.isnan(gap), 0.0, gap)


def holm(values: Sequence[float]) -> list[float]:
    """Return p-values corrected for multiple comparisons (Holm 1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(values)), key=lambda i: values[i])
    corrected = [0.0] * len(values)
    worst = 0.0
    for rank, i in enumerate(order):
        worst = max(worst, min(1.0, values[i] * (len(values) - rank)))
        corrected[i] = worst
    return corrected


def kendall(a: Sequence[float], b: Sequence[float]) -> float:
    """Return Kendall's tau-b of two lists of numbers, or NaN if all values of either list are equal.

    >>> round(kendall([1, 2, 3], [1, 3, 2]), 9)
    0.333333333
    """
    if len(set(a)) < 2 or len(set(b)) < 2:
        return math.nan
    from scipy.stats import kendalltau

    return float(kendalltau(a, b).statistic)
