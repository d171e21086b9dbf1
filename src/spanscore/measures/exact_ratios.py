"""Ratios against thresholds, compared exactly: 7 of 25 characters are a share of at least 0.28."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spanscore.corpus.columns import Bools

SIMPLE = 10**9
"""Largest denominator of a fraction that a threshold stands for; times an offset, it still fits 64 bits."""

ROUNDING = 1e-12
"""Far more than what scores are rounded by, and less than what two fractions of a million differ by."""


def at_least(part: NDArray[Any], whole: NDArray[Any], threshold: float) -> Bools:
    """Return where part / whole >= threshold, in whole numbers; nothing of nothing is enough.

    >>> at_least(np.array([7, 6, 0]), np.array([25, 25, 0]), 0.28).tolist()
    [True, False, True]
    """
    least = fraction(threshold)
    enough: Bools = part * np.int64(least.denominator) >= whole * np.int64(least.numerator)
    return enough


def reaches(score: float, threshold: float) -> bool:
    """Return whether a score is at least a threshold, but for the rounding of F, of means and of differences.

    >>> reaches(2 * 1 * (1 / 9) / (1 + 1 / 9), 0.2), reaches(0.9 - 0.89, 0.01), reaches(0.199999, 0.2)
    (True, True, False)
    """
    return score >= threshold - ROUNDING


@cache
def fraction(threshold: float) -> Fraction:
    """Return the fraction that a threshold from 0 to 1 stands for: the nearest one with a small denominator.

    >>> fraction(0.28), fraction(5 / 6)
    (Fraction(7, 25), Fraction(5, 6))
    """
    return Fraction(threshold).limit_denominator(SIMPLE)
