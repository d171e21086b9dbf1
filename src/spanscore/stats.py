"""Uncertainty of scores, computed from counts: bootstrap, exact intervals, permutation tests and corrections.

Documents with the same counts are interchangeable, so a bootstrap resample is a multinomial draw over the distinct rows
of counts. This is the ordinary bootstrap over documents, but its running time grows with the number of distinct rows
rather than with the corpus, and its result depends only on the counts and the seed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from spanscore.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from spanscore.corpus.columns import Floats, Longs

Counts = NDArray[Any]
DRAWS = 1 << 22
"""Number of random draws per batch, which bounds memory use."""


@dataclass(frozen=True)
class Bootstrap:
    """Settings of bootstrap confidence intervals; `cluster` is a metadata field whose values are drawn as a whole."""

    level: float = 0.95
    resamples: int = 1000
    seed: int = 0
    cluster: str | None = None

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise UsageError("the confidence level must be between 0 and 1, for example 0.95.")
        if not 1 <= self.resamples <= 1_000_000:
            raise UsageError("the number of resamples must be between 1 and 1000000.")
        if self.cluster is not None and not self.cluster.startswith("meta."):
            raise UsageError("documents can only be clustered by a metadata field; use meta.KEY.")

    def __str__(self) -> str:
        return f"bootstrap/{self.cluster or 'documents'}/{self.level:g}/{self.resamples}/seed {self.seed}"


@dataclass(frozen=True)
class Interval:
    """Confidence intervals of precision, recall and F, plus an exact bound on misses for measures that count spans."""

    precision: tuple[float, float]
    recall: tuple[float, float]
    f: tuple[float, float]
    missed: tuple[int, int, float] | None = None
    """Number missed, number annotated, and the upper confidence bound of the miss rate (Clopper-Pearson)."""


@dataclass(frozen=True)
class Kinds:
    """Distinct rows of counts and how often each occurs, in an order that does not depend on the input's order."""

    rows: Counts
    frequency: Longs

    @classmethod
    def of(cls, counts: Counts, zeros: int = 0) -> Kinds:
        """Return the distinct rows of `counts` together with `zeros` rows of zeros.

        >>> kinds = Kinds.of(np.array([[1, 0], [0, 1], [1, 0]]))
        >>> kinds.rows.tolist(), kinds.frequency.tolist()
        ([[0, 1], [1, 0]], [1, 2])
        """
        if zeros:
            found = cls.of(counts)
            return cls(
                np.concatenate([np.zeros_like(counts[:1], shape=(1, counts.shape[1])), found.rows]),
                np.concatenate([[zeros], found.frequency]),
            )
        if not len(counts):
            return cls(counts, np.zeros(0, np.int64))
        codes = np.zeros(len(counts), np.int64)
        for field in range(counts.shape[1]):
            values, place = np.unique(counts[:, field], return_inverse=True)
            if len(values) > 1:
                codes = np.unique(codes * len(values) + place, return_inverse=True)[1]
        _, first, frequency = np.unique(codes, return_index=True, return_counts=True)
        return cls(counts[first], frequency)

    def resamples(self, number: int, seed: Sequence[int]) -> Counts:
        """Return the summed counts of `number` bootstrap resamples."""
        generator = np.random.default_rng(list(seed))
        size = int(self.frequency.sum())
        sums = np.zeros((number, self.rows.shape[1]), np.float64 if self.rows.dtype.kind == "f" else np.int64)
        if not size:
            return sums
        step = max(1, DRAWS // len(self.frequency))
        for first in range(0, number, step):
            drawn = generator.multinomial(size, self.frequency / size, size=min(step, number - first))
            sums[first : first + step] = drawn @ self.rows
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


def percentile_interval(values: Floats, level: float) -> tuple[float, float]:
    """Return the central interval that holds the share `level` of the values, ignoring NaN.

    >>> low, high = percentile_interval(np.arange(101) / 100, 0.9)
    >>> round(low, 6), round(high, 6)
    (0.05, 0.95)
    """
    defined = values[~np.isnan(values)]
    if not len(defined):
        return math.nan, math.nan
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


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


def spread_of_difference(
    first: Counts, second: Counts, statistic: Callable[[Counts], Floats], resamples: int, seed: Any
) -> Floats:
    """Return the statistic of `first` minus that of `second` for each resample; both have one row per document."""
    drawn = Kinds.of(np.concatenate([first, second], axis=1)).resamples(resamples, seed)
    width = first.shape[1]
    return statistic(drawn[:, :width]) - statistic(drawn[:, width:])


def permutation_p(
    first: Counts, second: Counts, statistic: Callable[[Counts], Floats], *, number: int, seed: Sequence[int]
) -> float:
    """Return the two-sided p-value of the difference between two systems.

    This is paired approximate randomization: it randomly swaps the two systems' counts of each document, and estimates
    how often the difference is at least as large as observed. An undefined difference counts as 0.
    """
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
