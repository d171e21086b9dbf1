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
    return _intervals(units, statistics, how, seed, PROPORTION)


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
    units = Kinds.of(np.concatenate([first, second], axis=1))
    return _intervals(units, [_gap(statistic)], how, seed, DIFFERENCE)[0]


def _gap(statistic: Callable[[Counts], Floats]) -> Callable[[Counts], Floats]:
    """Return the difference of a statistic between the first half of the columns and the second."""

    def gap(rows: Counts) -> Floats:
        width = rows.shape[1] // 2
        return statistic(rows[:, :width]) - statistic(rows[:, width:])

    return gap


def widest_gap(
    groups: Sequence[Counts],
    statistic: Callable[[Counts], Floats],
    chosen: tuple[int, int],
    how: Bootstrap,
    seed: Sequence[int],
) -> tuple[float, float]:
    """Return the interval of the difference between two groups of documents that were chosen for their difference.

    It holds for all pairs of groups together: how many standard errors it is wide is a quantile of the largest
    deviation of any pair in the bootstrap of `intervals` (Westfall and Young 1993), so that more groups need no more
    resamples. Groups are resampled independently of each other.
    """
    kinds = [Kinds.of(one) for one in groups]
    found = [
        _resampled(one, statistic, how, (*seed, rank), PROPORTION)
        for one, rank in zip(kinds, _ranks(kinds), strict=True)
    ]
    below, above = (np.stack([getattr(one, side) for one in found]) for side in ("below", "above"))
    errors = _error(below), _error(above)
    orders = [np.argsort(one, kind="stable") for one in errors]
    largest = np.zeros(how.resamples)
    for number in range(how.resamples):
        i, j = (_extreme(side[:, number], order) for side, order in zip((below, above), orders, strict=True))
        largest[number] = _ratio(
            below[i, number][:, None] + above[j, number], np.hypot(errors[0][i][:, None], errors[1][j])
        ).max()
    wide, (high, low) = _quantile(largest, how.level), chosen
    difference = found[high].value - found[low].value
    down, up = np.hypot(errors[0][high], errors[1][low]), np.hypot(errors[1][high], errors[0][low])
    return max(difference - wide * float(down), -1.0), min(difference + wide * float(up), 1.0)


def widest_difference(
    pairs: Sequence[tuple[Counts, Counts]],
    statistic: Callable[[Counts], Floats],
    chosen: int,
    how: Bootstrap,
    seed: Sequence[int],
) -> tuple[float, float]:
    """Return the interval of the difference of a pair that was chosen for it, as `widest_gap` does.

    The two of each pair have one row per document. The interval holds for all pairs together.
    """
    turned = [first.tobytes() > second.tobytes() for first, second in pairs]
    kinds = [
        Kinds.of(np.concatenate([pair[turn], pair[not turn]], axis=1)) for pair, turn in zip(pairs, turned, strict=True)
    ]
    largest = np.zeros(how.resamples)
    found = [
        _resampled(one, _gap(statistic), how, (*seed, rank), DIFFERENCE)
        for one, rank in zip(kinds, _ranks(kinds), strict=True)
    ]
    for one in found:
        for side in (one.below, one.above):
            largest = np.maximum(largest, _ratio(side, _error(side)))
    wide, one = _quantile(largest, how.level), found[chosen]
    low, high = one.value - wide * float(_error(one.below)), one.value + wide * float(_error(one.above))
    ends = max(low, -1.0), min(high, 1.0)
    return (-ends[1], -ends[0]) if turned[chosen] else ends


@dataclass(frozen=True)
class _Resampled:
    """A statistic, and how far it is above each resample of the lower end, and below each one of the upper end."""

    value: float
    below: Floats
    above: Floats


def _resampled(
    units: Kinds,
    statistic: Callable[[Counts], Floats],
    how: Bootstrap,
    seed: Sequence[int],
    ends: tuple[_End, _End],
) -> _Resampled:
    drawn = _Drawn.of(units, how, seed)
    point, value = float(statistic((units.frequency @ units.rows)[None])[0]), statistic(units.rows)
    low, high = (one.values(units, value, statistic, drawn, one.worst(units)) for one in ends)
    return _Resampled(point, np.nan_to_num(point - low), np.nan_to_num(high - point))


def _ranks(kinds: Sequence[Kinds]) -> list[int]:
    """Return the place of each in an order by counts alone; each place has random numbers of its own."""
    order = sorted(range(len(kinds)), key=lambda i: (kinds[i].rows.tobytes(), kinds[i].frequency.tobytes()))
    places = dict(zip(order, range(len(order)), strict=True))
    return [places[i] for i in range(len(order))]


def _error(deviations: Floats) -> Floats:
    """Return the root mean square of the deviations in the last axis."""
    error: Floats = np.sqrt(np.mean(deviations**2, axis=-1))
    return error


def _ratio(deviation: Floats, error: Floats) -> Floats:
    """Return deviations in standard errors; without any, it is 0."""
    return np.divide(deviation, error, out=np.zeros_like(deviation), where=error > 0)


def _extreme(deviation: Floats, order: Longs) -> Longs:
    """Return, of groups in the order of their errors, those that deviate more than all groups with a smaller error.

    No other group can have the largest deviation in standard errors, so that not all pairs must be looked at.
    """
    most = np.maximum.accumulate(deviation[order])
    chosen: Longs = order[np.append(True, most[1:] > most[:-1])]
    return chosen


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
        number = int(units.frequency[~np.isnan(value)].sum())
        if not number:
            return math.nan
        if self._without_errors(value):  # every resample would be equal
            return self.good - (self.good - self.bad) * binomial_most(0, number, level)
        values = self.values(units, value, statistic, drawn, worst_unit)
        tail = (1 - level) / 2
        return _quantile(values[~np.isnan(values)], tail if self.bad < self.good else 1 - tail)

    def _without_errors(self, value: Floats) -> bool:
        return bool((np.abs(value[~np.isnan(value)] - self.good) < ROUNDING).all())

    def values(
        self,
        units: Kinds,
        value: Floats,
        statistic: Callable[[Counts], Floats],
        drawn: _Drawn,
        worst_unit: Floats,
    ) -> Floats:
        """Return the resamples whose quantile is the end of the interval."""
        counted = ~np.isnan(value)
        if self._without_errors(value):  # the exact bound is a quantile of these
            number = int(units.frequency[counted].sum())
            missed: Floats = 1 - drawn.chance ** (1 / max(number, 1))
            return self.good - (self.good - self.bad) * missed
        severity = np.where(counted, np.clip((self.good - value) / (self.good - self.bad), 0.0, 1.0), 0.0)
        severity[severity < ROUNDING] = 0.0
        worst = drawn.chance * (1 + np.sum(severity * units.frequency)) < 1
        better = np.where(counted, (value - self.good) / (self.good - self.bad), 0.0) > ROUNDING
        unseen = _swapped(units.choose(better, drawn.choice)) if better.any() else worst_unit
        extra = np.where(worst[:, None], unseen, units.choose(severity > 0, drawn.choice))
        return statistic(drawn.sums + drawn.weight[:, None] * extra)

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


PROPORTION = _End(1.0, 0.0, (False,)), _End(0.0, 1.0, (True,))
"""The lower and the upper end for a proportion."""
DIFFERENCE = _End(0.0, -1.0, (False, True)), _End(0.0, 1.0, (True, False))
"""The lower and the upper end for the difference of two proportions."""


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

    @classmethod
    def of(cls, units: Kinds, how: Bootstrap, seed: Sequence[int]) -> _Drawn:
        """Draw for these documents."""
        generator = np.random.default_rng(list(seed))
        weight, chance, choice = (
            generator.exponential(size=how.resamples),
            generator.random(how.resamples),
            generator.random(how.resamples),
        )
        return cls(units.weighted_sums(how.resamples, generator), weight, chance, choice)


def _intervals(
    units: Kinds,
    statistics: Sequence[Callable[[Counts], Floats]],
    how: Bootstrap,
    seed: Sequence[int],
    ends: Sequence[_End],
) -> list[tuple[float, float]]:
    drawn = _Drawn.of(units, how, seed)
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
