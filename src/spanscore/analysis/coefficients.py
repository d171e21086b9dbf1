"""Coefficients of agreement from the values of tokens: Cohen's kappa and Krippendorff's alpha, with intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spanscore.stats import Bootstrap, Kinds, stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from spanscore.corpus.columns import Floats, Longs

MISSING, OUTSIDE = -1, 0
"""The values of a token in a document that an annotator does not have, and of one that no span covers."""

EQUAL = 1e-9
"""Coefficients of resamples that differ by less than this are equal."""


@dataclass(frozen=True)
class Coefficient:
    """A coefficient of agreement with its confidence interval over documents, and the number of tokens behind it.

    The interval is NaN with a single document, and where all resamples have the same value.
    """

    value: float
    interval: tuple[float, float]
    tokens: int


@dataclass(frozen=True)
class Estimate:
    """Coefficients from counts per document, which are resampled for the interval."""

    doc: NDArray[np.int32]
    documents: int
    how: Bootstrap

    def kappa(self, first: Longs, second: Longs, size: int, name: str) -> Coefficient:
        """Return Cohen's kappa of the tokens that both have: (p_o - p_e) / (1 - p_e)."""
        both = np.flatnonzero((first != MISSING) & (second != MISSING))
        a, b, doc = first[both], second[both], self.doc[both]
        columns = [self._sum(doc, (a == b).astype(np.float64)), self._sum(doc, np.ones(len(doc)))]
        columns += [self._sum(doc, (side == value).astype(np.float64)) for side in (a, b) for value in range(size)]

        def statistic(sums: Floats) -> Floats:
            with np.errstate(invalid="ignore", divide="ignore"):
                agreed, total = sums[:, 0], sums[:, 1]
                chance = (sums[:, 2 : 2 + size] * sums[:, 2 + size :]).sum(axis=1) / total**2
                found: Floats = (agreed / total - chance) / (1 - chance)
                return np.where(np.abs(1 - chance) < 1e-12, math.nan, found)

        return self._coefficient(np.stack(columns, axis=1), statistic, len(both), name)

    def alpha(self, values: Longs, size: int, name: str) -> Coefficient:
        """Return Krippendorff's alpha of the tokens with at least two values: 1 - D_o / D_e, for nominal values."""
        present = (values != MISSING).sum(axis=0)
        several = np.flatnonzero(present >= 2)
        seen, doc = values[:, several], self.doc[several]
        counts = np.stack([(seen == value).sum(axis=0) for value in range(size)])
        same = (counts * (counts - 1)).sum(axis=0) / (present[several] - 1)
        columns = [self._sum(doc, same), *(self._sum(doc, one.astype(np.float64)) for one in counts)]

        def statistic(sums: Floats) -> Floats:
            with np.errstate(invalid="ignore", divide="ignore"):
                total = sums[:, 1:].sum(axis=1)
                expected = (total**2 - (sums[:, 1:] ** 2).sum(axis=1)) / (total - 1)
                found: Floats = 1 - (total - sums[:, 0]) / expected
                return np.where(expected <= 1e-12, math.nan, found)

        return self._coefficient(np.stack(columns, axis=1), statistic, len(several), name)

    def _sum(self, doc: NDArray[np.int32], weight: Floats) -> Floats:
        found: Floats = np.bincount(doc, weight, minlength=self.documents).astype(np.float64)
        return found

    def _coefficient(
        self, counts: Floats, statistic: Callable[[Floats], Floats], tokens: int, name: str
    ) -> Coefficient:
        value = float(statistic(counts.sum(axis=0)[None])[0])
        kinds = Kinds.of(counts[counts.any(axis=1)])
        if math.isnan(value) or not len(kinds.rows):
            return Coefficient(math.nan, (math.nan, math.nan), tokens)
        weight = int(kinds.frequency.sum())
        drawn = kinds.weighted_sums(self.how.resamples, np.random.default_rng(list(stream(self.how.seed, name))))
        found = statistic(drawn)
        tail = (1 - self.how.level) / 2
        low, high = np.nanquantile(found, [tail, 1 - tail]) if weight > 1 else (math.nan, math.nan)
        if np.nanmax(found) - np.nanmin(found) < EQUAL:  # resampling cannot show how uncertain the value is
            low = high = math.nan
        return Coefficient(value, (float(low), float(high)), tokens)
