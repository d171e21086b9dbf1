"""nervaluate's Evaluator: the cases of its own tests and README, and independence of order."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path
from typing import Any

import pytest

from spanscore.compat.nervaluate import OUTCOMES, Evaluator

HERE = Path(__file__).parent
CASES = json.loads((HERE / "cases" / "nervaluate.json").read_text())["cases"]
README = json.loads((HERE.parent / "golden" / "nervaluate.json").read_text())["readme"]
TRUE = [["O", "B-PER", "O", "B-ORG", "I-ORG", "B-LOC"], ["O", "B-PER", "O", "B-ORG"]]
PRED = [["O", "B-PER", "O", "B-ORG", "O", "B-PER"], ["O", "B-PER", "O", "B-LOC"]]
TAGS = ["PER", "ORG", "LOC"]


def entities(listed: list[list[Any]]) -> list[list[dict[str, Any]]]:
    return [[dict(zip(("label", "start", "end"), one, strict=True)) for one in listed]]


def counts(result: Any) -> list[int]:
    return [getattr(result, outcome) for outcome in OUTCOMES]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def test_cases_of_the_strategies(case: list[Any]) -> None:
    _, scheme, least, true, pred, expected = case
    labels = sorted({one[0] for one in (*true, *pred)})
    evaluator = Evaluator(
        entities(true), entities(pred), tags=labels, loader="dict", min_overlap_percentage=least
    ).evaluate()
    assert counts(evaluator["overall"][scheme]) == expected


def test_the_readme() -> None:
    found = Evaluator(README["true"], README["pred"], tags=[*TAGS, "DATE"], loader="list").evaluate()["overall"]
    for scheme, expected in README["expected_counts_cor_inc_par_mis_spu"].items():
        assert counts(found[scheme]) == expected
        assert found[scheme].f1 == pytest.approx(README["expected_f1"][scheme])


def test_order_changes_nothing() -> None:
    rng = random.Random(0)
    for _ in range(200):
        sides = []
        for _ in range(2):
            starts = [rng.randint(0, 12) for _ in range(6)]
            sides.append([[rng.choice("AB"), start, start + rng.randint(0, 5)] for start in starts])
        found = []
        for _ in range(3):
            for side in sides:
                rng.shuffle(side)
            results = Evaluator(entities(sides[0]), entities(sides[1]), tags=["A", "B"], loader="dict").evaluate()
            found.append((results["overall"], results["entities"]))
        assert found[0] == found[1] == found[2]


def test_indices_point_into_the_input() -> None:
    true = entities([["A", 20, 25], ["A", 0, 5]])
    pred = entities([["A", 20, 25], ["B", 40, 41], ["A", 0, 3]])
    evaluator = Evaluator(true, pred, tags=["A", "B"])
    indices = evaluator.evaluate()["overall_indices"]["strict"]
    assert indices.correct_indices == [(0, 0)]
    assert indices.incorrect_indices == [(0, 2)]
    assert indices.spurious_indices == [(0, 1)]
    report = evaluator.summary_report_indices()
    assert "Spurious             0          1        Label=B, Start=40, End=41" in report
    assert "\033[92mCorrect" in evaluator.summary_report_indices("entities", "exact", colors=True)


def test_tables(tmp_path: Path) -> None:
    evaluator = Evaluator(TRUE, PRED, TAGS, loader="list")
    table = list(csv.reader(io.StringIO(evaluator.results_to_csv() or "")))
    assert [row[0] for row in table] == ["Strategy", "strict", "partial", "ent_type", "exact"]
    by_type = list(csv.reader(io.StringIO(evaluator.results_to_csv("entities", "strict") or "")))
    assert [row[0] for row in by_type] == ["Entity", "LOC", "ORG", "PER"]
    path = tmp_path / "out.csv"
    assert evaluator.results_to_csv(file_path=str(path)) is None
    assert path.read_bytes().decode() == evaluator.results_to_csv()
    assert evaluator.summary_report("entities", "ent_type").startswith("Scenario: ent_type\n\n")
    assert Evaluator(TRUE, PRED, ["NONE"], loader="list").evaluate()["entities"] == {}


def test_tags_and_conll_text_give_the_same() -> None:
    texts = ["\n\n".join("\n".join(f"w\t{tag}" for tag in doc) for doc in side) for side in (TRUE, PRED)]
    assert Evaluator(texts[0], texts[1], TAGS).evaluate() == Evaluator(TRUE, PRED, TAGS).evaluate()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Evaluator(TRUE, PRED[:1], TAGS, loader="list"), "Number of predicted documents does not equal true"),
        (lambda: Evaluator([["O"]], [["O", "O"]], TAGS), "Document 0 has different lengths: true=1, pred=2"),
        (lambda: Evaluator(TRUE, PRED, TAGS, loader="xml"), "Unknown loader: xml"),
        (lambda: Evaluator(3, 3, TAGS), "Could not infer loader from input type"),
        (lambda: Evaluator([["X-A"]], [["O"]], TAGS), "Invalid tag format: X-A"),
        (lambda: Evaluator("w B-A", "w O", TAGS), "Invalid CoNLL format: line 1 does not contain a tab separator"),
        (lambda: Evaluator([[{"label": "A"}]], [[]], TAGS, loader="dict"), "Entity missing required keys"),
        (lambda: Evaluator(TRUE, PRED, TAGS, min_overlap_percentage=0.5), "must be between 1.0 and 100.0"),
        (lambda: Evaluator(TRUE, PRED, TAGS).summary_report(mode="all"), "Invalid mode"),
        (lambda: Evaluator(TRUE, PRED, TAGS).summary_report("entities", "loose"), "Invalid scenario"),
    ],
)
def test_wrong_calls(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
