"""SemEval-2013 9.1 and nervaluate's own examples (values: golden/semeval2013_9_1.json, golden/nervaluate.json)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import spanscore as ss
from golden.golden import load

HERE = Path(__file__).parent
SEMEVAL = load("semeval2013_9_1.json")
NERVALUATE = load("nervaluate.json")
COUNTS = ("correct", "incorrect", "partial", "missed", "spurious")
SCHEMES = {"strict": "strict", "exact": "exact", "partial": "partial", "ent_type": "type", "entitytype": "type"}


def corpus(rows: list[Any], longer: int = 0) -> ss.Corpus:
    spans = [{"start": start, "end": end + longer, "label": label} for label, start, end in rows]
    return ss.Corpus.from_documents([{"id": "d", "spans": spans}])


@pytest.mark.parametrize("scheme", ["strict", "exact", "partial", "type"])
def test_the_task_table(scheme: str) -> None:
    scores = ss.score(corpus(SEMEVAL["gold"]), corpus(SEMEVAL["pred"]), f"semeval.{scheme}")[f"semeval.{scheme}"]
    expected = SEMEVAL["expected"][scheme]
    assert [scores.counts[name] for name in COUNTS] == [expected[key] for key in ("COR", "INC", "PAR", "MIS", "SPU")]
    assert (scores.counts["possible"], scores.counts["actual"]) == (6, 6)
    assert [scores.precision, scores.recall, scores.f] == pytest.approx([expected[key] for key in ("P", "R", "F1")])
    names = {"COR": "correct", "INC": "incorrect", "PAR": "partial", "MIS": "missed", "SPU": "spurious"}
    verdicts = [names[row[scheme]] for row in SEMEVAL["verdicts"]]
    assert [verdicts.count(name) for name in COUNTS] == [scores.counts[name] for name in COUNTS]
    by_type = [sum(row.counts[name] for row in scores.by_type.values()) for name in COUNTS]
    assert by_type == [scores.counts[name] for name in COUNTS]


@pytest.mark.parametrize("case", NERVALUATE["strategy_cases"], ids=lambda case: case["test"])
def test_cases_of_nervaluate(case: dict[str, Any]) -> None:
    least = case["min_overlap_pct"] / 100
    name = f"semeval.{SCHEMES[case['scheme']]}(overlap={least})"
    scores = ss.score(corpus(case["true"], longer=1), corpus(case["pred"], longer=1), name)[name]
    assert [scores.counts[name] for name in COUNTS] == case["expected"]


def test_the_readme_of_nervaluate(tmp_path: Path) -> None:
    sides = []
    for side in ("true", "pred"):
        lines = ["\n".join(f"w{i} {tag}" for i, tag in enumerate(tags)) for tags in NERVALUATE["readme"][side]]
        (tmp_path / f"{side}.conll").write_text("\n\n".join(lines) + "\n")
        sides.append(ss.read(tmp_path / f"{side}.conll"))
    for scheme, expected in NERVALUATE["readme"]["expected_counts_cor_inc_par_mis_spu"].items():
        scores = ss.score(sides[0], sides[1], f"semeval.{SCHEMES[scheme]}").scores[0]
        assert [scores.counts[name] for name in COUNTS] == expected
        assert scores.f == pytest.approx(NERVALUATE["readme"]["expected_f1"][scheme])


def test_the_order_of_predictions_does_not_matter() -> None:
    case = NERVALUATE["order_dependence"]
    for order in ("pred_order_1", "pred_order_2"):
        found = ss.score(corpus(case["true"], longer=1), corpus(case[order], longer=1), "semeval.strict")
        assert found["semeval.strict"].f == case["optimal_strict_f1"]
