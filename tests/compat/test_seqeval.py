"""seqeval's functions: the cases of its own tests, its README and the CoNLL-2000 sample."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spanscore.compat import seqeval
from spanscore.compat.tag_chunks import strict_chunks

HERE = Path(__file__).parent
CASES = json.loads((HERE / "cases" / "seqeval.json").read_text())
CONLL = json.loads((HERE.parent / "golden" / "conlleval_seqeval.json").read_text())
GOLD, PRED = [["B-A", "B-B", "O", "B-A"]], [["O", "B-B", "B-C", "B-A"]]
OURS = {"BILOU": "BILUO"}


@pytest.mark.parametrize(("scheme", "tags", "expected"), CASES["entities"])
def test_entities_of_the_strict_mode(scheme: str, tags: str, expected: list[str]) -> None:
    (found,), names, _ = strict_chunks([[tags.split()]], OURS.get(scheme, scheme), suffix=False)
    rows = zip(found.type.tolist(), found.begin.tolist(), found.end.tolist(), strict=True)
    assert [f"{names[kind]} {begin} {end}" for kind, begin, end in rows] == expected


@pytest.mark.parametrize(("tags", "scheme"), CASES["detected"])
def test_detected_scheme(tags: str, scheme: str | None) -> None:
    if scheme is None:
        with pytest.raises(ValueError, match="This scheme is not supported"):
            seqeval._detected([tags.split()], suffix=False)
    else:
        assert seqeval._detected([tags.split()], suffix=False) == scheme


@pytest.mark.parametrize(
    ("tag", "scheme"), [("E", "IOB1"), ("S", "IOB2"), ("B", "IOE1"), ("S", "IOE2"), ("X", "IOBES")]
)
def test_prefixes_that_a_scheme_does_not_have(tag: str, scheme: str) -> None:
    with pytest.raises(ValueError, match="Invalid token is found"):
        seqeval.f1_score([[tag]], [["O"]], mode="strict", scheme=scheme)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("mode", "key"), [(None, "default"), ("strict", "strict_IOB2")])
def test_the_conll_2000_sample(mode: str | None, key: str) -> None:
    gold, pred = ([tags.split() for tags in CONLL[side]] for side in ("true", "pred"))
    found = seqeval.classification_report(gold, pred, output_dict=True, mode=mode, scheme="IOB2")
    expected = CONLL[f"expected_seqeval_{key}"]
    assert list(found) == list(expected)
    for name, row in expected.items():
        assert {number: round(float(value), 6) for number, value in found[name].items()} == row
    assert round(100 * seqeval.accuracy_score(gold, pred), 2) == CONLL["expected_conlleval"]["accuracy"]
    reversed_ = [
        [[tag[2:] + "-" + tag[0] if "-" in tag else tag for tag in one] for one in side] for side in (gold, pred)
    ]
    assert seqeval.f1_score(*reversed_, suffix=True) == seqeval.f1_score(gold, pred)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CONLL["small_cases"], ids=lambda case: case["name"])
def test_small_cases(case: dict[str, Any]) -> None:
    options = {"mode": "strict", "scheme": case["scheme"]} if case["mode"] == "strict" else {}
    scores = [
        function(case["true"], case["pred"], **options)
        for function in (seqeval.precision_score, seqeval.recall_score, seqeval.f1_score)
    ]
    assert [round(float(one), 4) for one in scores] == case["micro"]


@pytest.mark.filterwarnings("ignore")
def test_scores_per_type_and_averages() -> None:
    per_type = seqeval.precision_recall_fscore_support(GOLD, PRED, average=None)
    assert [np.round(one, 2).tolist() for one in per_type] == [[1, 1, 0], [0.5, 1, 0], [0.67, 1, 0], [2, 1, 0]]
    for average, expected in (
        ("micro", [0.67, 0.67, 0.67, 3]),
        ("macro", [0.67, 0.50, 0.56, 3]),
        ("weighted", [1.00, 0.67, 0.78, 3]),
    ):
        scores = seqeval.precision_recall_fscore_support(GOLD, PRED, average=average)
        assert np.round(np.array(scores, float), 2).tolist() == expected
    infinite = seqeval.precision_recall_fscore_support(GOLD, PRED, average="macro", beta=np.inf)
    assert np.round(np.array(infinite, float), 2).tolist() == [0.67, 0.5, 0.5, 3]


def test_report_text() -> None:
    with pytest.warns(seqeval.UndefinedMetricWarning, match="Recall and F-score are ill-defined"):
        report = seqeval.classification_report(GOLD, PRED)
    assert report == (
        "              precision    recall  f1-score   support\n\n"
        "           A       1.00      0.50      0.67         2\n"
        "           B       1.00      1.00      1.00         1\n"
        "           C       0.00      0.00      0.00         0\n\n"
        "   micro avg       0.67      0.67      0.67         3\n"
        "   macro avg       0.67      0.50      0.56         3\n"
        "weighted avg       1.00      0.67      0.78         3\n"
    )


def test_wrong_calls() -> None:
    for call, error in (
        (lambda: seqeval.f1_score([["O"]], [["O"]], average="mega"), ValueError),
        (lambda: seqeval.f1_score([["B-PER"]], [["B-PER", "O"]]), ValueError),
        (lambda: seqeval.f1_score(["B-PER"], ["B-PER"]), TypeError),
        (lambda: seqeval.f1_score([["O"]], [["O"]], mode="strict", scheme="IOB9"), ValueError),
        (lambda: seqeval.precision_recall_fscore_support([["O"]], [["O"]], beta=-0.1), ValueError),
        (lambda: seqeval.classification_report([["O"]], [["O"]]), ValueError),
    ):
        with pytest.raises(error):
            call()


def test_undefined_scores() -> None:
    with pytest.warns(seqeval.UndefinedMetricWarning, match="F-score is ill-defined .* due to no true nor predicted"):
        assert seqeval.f1_score([["O"]], [["O"]]) == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert seqeval.f1_score([["O"]], [["O"]], zero_division=1) == 1
        assert seqeval.f1_score([["O"]], [["O"]], average="weighted", zero_division=0) == 0


def test_entities_and_tags() -> None:
    tags = ["O", "O", "O", "B-MISC", "I-MISC", "I-MISC", "O", "B-PER", "I-PER"]
    assert seqeval.get_entities(tags) == [("MISC", 3, 5), ("PER", 7, 8)]
    turned = [tag if tag == "O" else f"{tag[2:]}-{tag[0]}" for tag in tags]
    assert seqeval.get_entities(turned, suffix=True) == [("MISC", 3, 5), ("PER", 7, 8)]
    nested = [["O", "O", "O", "B", "I", "I", "O"], ["B", "I", "O"]]
    assert seqeval.get_entities(nested) == [("_", 3, 5), ("_", 8, 9)]
    with pytest.warns(UserWarning, match="MISC seems not to be NE tag"):
        seqeval.get_entities(["O", "MISC", "MISC"])
    gold = [["O", "O", "O", "B-MISC", "I-MISC", "O", "B-ORG"], ["B-PER", "I-PER", "O", "B-PER"]]
    pred = [["O", "O", "B-MISC", "I-MISC", "I-MISC", "O", "O"], ["B-PER", "I-PER", "O", "B-MISC"]]
    assert seqeval.performance_measure(gold, pred) == {"TP": 3, "FP": 3, "FN": 1, "TN": 4}
    assert seqeval.accuracy_score(["B-A", "O"], ["B-A", "B-A"]) == 0.5
