"""`spanscore.testing.pytest`: assertions whose failures tell counts and intervals."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spanscore as ss
from spanscore.testing.pytest import assert_f, assert_precision, assert_recall


def scored(found: int, measures: list[str] | None = None, **more: Any) -> ss.Result:
    spans = [{"start": 0, "end": 3, "label": "PERSON"}]
    gold = ss.Corpus.from_documents([{"id": f"d{i}", "spans": spans} for i in range(40)])
    pred = ss.Corpus.from_documents([{"id": f"d{i}", "spans": spans[: i < found]} for i in range(40)])
    return ss.score(gold, {"mine": pred}, measures or ["exact"], **more)


def test_what_is_good_enough_passes() -> None:
    result = scored(36)
    assert_recall(result, "PERSON", at_least=0.9)
    assert_recall(result, at_least=0.9, measure="exact", system="mine")
    assert_precision(result, "PERSON", at_least=1.0)
    assert_f(result, at_least=0.94)
    assert_recall(result, "PERSON", at_least=0.7, lower_bound=True)


def test_a_score_that_is_exactly_the_limit_passes() -> None:
    """In floating point, F of P = 1 and R = 1/9 is 0.19999999999999998, and 0.9 - 0.89 is 0.010000000000000009."""

    def exact(found: int, spans: int) -> ss.Result:
        gold = ss.Corpus.from_arrays(["a"], [0] * spans, range(spans), range(1, spans + 1), ["A"] * spans)
        return ss.score(gold, gold.with_spans(np.arange(found)), "exact")

    result = exact(1, 9)
    assert result.scores[0].f < 0.2
    assert_f(result, at_least=0.2)
    assert ss.gate(result, min="f=0.2")
    assert not ss.gate(result, min="f=0.2000001")
    assert ss.gate(exact(89, 100), max_drop="recall=0.01", baseline=exact(90, 100))
    assert not ss.gate(exact(89, 100), max_drop="recall=0.0099", baseline=exact(90, 100))


def test_a_failure_shows_counts_and_interval() -> None:
    result = scored(30, ci=0.9)
    interval = result["exact"].interval(ss.Bootstrap(0.9), "PERSON")
    assert interval is not None
    with pytest.raises(AssertionError) as failed:
        assert_recall(result, "PERSON", at_least=0.9)
    low, high = interval.recall
    assert str(failed.value) == (
        f"recall of PERSON by exact is 0.7500 (30 of 40, 90% interval {low:.3f} to {high:.3f}); expected at least 0.9"
    )
    with pytest.raises(AssertionError, match=r"is 0.7500 .* expected a lower bound of at least 0.75"):
        assert_recall(result, "PERSON", at_least=0.75, lower_bound=True)
    with pytest.raises(AssertionError, match=r"^f by exact is 0.8571 \(90% interval"):
        assert_f(result, at_least=0.9)
    with pytest.raises(AssertionError, match="precision of PERSON by exact is undefined"):
        assert_precision(scored(0), "PERSON", at_least=0.1)


def test_wrong_calls() -> None:
    with pytest.raises(ss.UsageError, match="There is no type 'PERSN'; did you mean 'PERSON'"):
        assert_recall(scored(3), "PERSN", at_least=0.5)
    with pytest.raises(ss.UsageError, match="the result has several scores; name the measure and the system"):
        assert_recall(scored(3, ["exact", "iou"]), at_least=0.5)
    with pytest.raises(ss.UsageError, match="at_least must be between 0 and 1"):
        assert_recall(scored(3), at_least=90)
    assert_recall(scored(3, ["exact", "iou"]), at_least=0.05, measure="iou")


def test_measures_that_ignore_types_score_each_type() -> None:
    with pytest.raises(AssertionError, match=r"recall of PERSON by iou.pii is 0.7500; expected"):
        assert_recall(scored(30, ["iou.pii"]), "PERSON", at_least=0.9)


def test_fixtures_without_an_import(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["spanscore.testing.pytest"]\n')
    (tmp_path / "test_mine.py").write_text(
        "import spanscore as ss\n"
        "def test_recall(assert_recall, assert_precision, assert_f):\n"
        "    gold = ss.Corpus.from_arrays(['d'], [0, 0], [0, 5], [3, 8], ['A', 'A'])\n"
        "    pred = ss.Corpus.from_arrays(['d'], [0], [0], [3], ['A'])\n"
        "    result = ss.score(gold, pred, 'exact')\n"
        "    assert_precision(result, at_least=1)\n"
        "    assert_f(result, at_least=0.6)\n"
        "    assert_recall(result, 'A', at_least=0.9)\n"
    )
    call = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:benchmark", "."]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "AssertionError: recall of A by exact is 0.5000 (1 of 2, " in done.stdout
    assert "spanscore/testing/pytest.py" not in done.stdout, "the traceback shows the inside of the assertion"
