"""Assertions about scores for pytest; their failures show counts and intervals.

Import the functions, or load them as fixtures with `pytest_plugins = ["spanscore.testing.pytest"]` in `conftest.py`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from spanscore.arguments import checked
from spanscore.errors import UsageError, printable, unknown
from spanscore.measures.exact_ratios import reaches
from spanscore.result import NUMBERS
from spanscore.stats import Bootstrap

try:
    import pytest
except ImportError:
    from spanscore.errors import MissingExtraError

    raise MissingExtraError("spanscore.testing.pytest", "testing") from None

if TYPE_CHECKING:
    from collections.abc import Callable

    from spanscore.result import Result, Scores

__all__ = ["assert_f", "assert_precision", "assert_recall"]


@checked
def assert_recall(result: Result, type: str | None = None, *, at_least: float, **more: Any) -> None:  # noqa: A002
    """Fail unless the recall, overall or of one type, is at least this high.

    `measure` and `system` are needed if the result has several. With `lower_bound=True`, the lower end of the
    confidence interval must be that high.

    >>> import spanscore as ss
    >>> spans = [{"start": 0, "end": 3, "label": "PERSON"}]
    >>> gold = ss.Corpus.from_documents([{"id": str(i), "spans": spans} for i in range(20)])
    >>> half = ss.Corpus.from_documents([{"id": str(i), "spans": spans[: i % 2]} for i in range(20)])
    >>> assert_recall(ss.score(gold, gold, "exact"), "PERSON", at_least=0.9)
    >>> assert_recall(ss.score(gold, half, "exact"), "PERSON", at_least=0.9)
    Traceback (most recent call last):
    AssertionError: recall of PERSON by exact is 0.5000 (10 of 20, 95% interval 0.271 to 0.724); expected at least 0.9
    """
    __tracebackhide__ = True
    _assert("recall", result, type, at_least, **more)


@checked
def assert_precision(result: Result, type: str | None = None, *, at_least: float, **more: Any) -> None:  # noqa: A002
    """Fail unless the precision, overall or of one type, is at least this high; see `assert_recall`."""
    __tracebackhide__ = True
    _assert("precision", result, type, at_least, **more)


@checked
def assert_f(result: Result, type: str | None = None, *, at_least: float, **more: Any) -> None:  # noqa: A002
    """Fail unless F, overall or of one type, is at least this high; see `assert_recall`."""
    __tracebackhide__ = True
    _assert("f", result, type, at_least, **more)


def _assert(
    number: str,
    result: Result,
    label: str | None,
    at_least: float,
    *,
    measure: str | None = None,
    system: str | None = None,
    lower_bound: bool = False,
) -> None:
    __tracebackhide__ = True
    if not 0 <= at_least <= 1:
        raise UsageError("at_least must be between 0 and 1.")
    scores = _chosen(result, measure, system)
    score = scores.overall if label is None else scores.by("type").get(label)
    if score is None:
        raise UsageError(unknown("type", label or "", scores.by("type")))
    value = getattr(score, number)
    bootstrap = result.bootstrap or Bootstrap()
    interval = scores.interval(bootstrap, label) if label is None or scores.measure.by_type else None
    ends = None if interval is None or math.isnan(value) else getattr(interval, number)
    if lower_bound and ends is None and not math.isnan(value):
        raise UsageError(f"{scores.measure!r} has no interval here; leave lower_bound out.")
    if reaches(ends[0] if lower_bound and ends else value, at_least):
        return
    whose = "" if label is None else f" of {printable(label)}"
    about = [*_fraction(scores, number, label)]
    if ends is not None:
        about.append(f"{100 * bootstrap.level:g}% interval {ends[0]:.3f} to {ends[1]:.3f}")
    said = "undefined" if math.isnan(value) else f"{value:.4f}"
    told = f" ({', '.join(about)})" if about else ""
    side = "a lower bound of at least" if lower_bound else "at least"
    raise AssertionError(f"{number}{whose} by {scores.measure!r} is {said}{told}; expected {side} {at_least:g}")


def _chosen(result: Result, measure: str | None, system: str | None) -> Scores:
    among = [one for one in result.scores if system in (None, one.system)]
    if measure is None and len(among) != 1:
        listed = ", ".join(f"{one.measure!r} of {printable(one.system)}" for one in result.scores)
        raise UsageError(f"the result has several scores; name the measure and the system: {listed}.")
    if measure is None:
        return among[0]
    return result[measure] if system is None else result[measure, system]


def _fraction(scores: Scores, number: str, label: str | None) -> list[str]:
    """Return the fraction behind a score in words."""
    if number == "f" or not (label is None or scores.measure.by_type):
        return []
    row = np.asarray(scores.ratio_columns(scores.tally.of_label(label).total()[None]))[0]
    first = 2 * NUMBERS.index(number)
    return [f"{row[first]:g} of {row[first + 1]:g}"]


@pytest.fixture(name="assert_recall")
def _assert_recall() -> Callable[..., None]:
    """Return the function `assert_recall`."""
    return assert_recall


@pytest.fixture(name="assert_precision")
def _assert_precision() -> Callable[..., None]:
    """Return the function `assert_precision`."""
    return assert_precision


@pytest.fixture(name="assert_f")
def _assert_f() -> Callable[..., None]:
    """Return the function `assert_f`."""
    return assert_f
