"""Presidio Evaluator's own numbers, where its two versions agree and nothing is in dispute."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

import spanscore as ss
from golden.golden import load

CASES = load("presidio_cases.json")["cases"]
GOLDEN = [case for case in CASES if case["category"] == "golden"]


def corpus(case: dict[str, Any], side: str) -> ss.Corpus:
    tokens = [[start, start + len(word)] for start, word in zip(case["start_indices"], case["tokens"], strict=True)]
    spans = []
    for label, run in groupby(zip(case[side], tokens, strict=True), key=lambda one: one[0]):
        places = [place for _, place in run]
        if label != "O":
            spans.append({"start": places[0][0], "end": places[-1][1], "label": label})
    return ss.Corpus.from_documents([{"id": "case", "text": case["text"], "tokens": tokens, "spans": spans}])


@pytest.mark.parametrize("view", ["chars", "tokens"])
@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["name"])
def test_iou_gives_the_same_counts(case: dict[str, Any], view: str, tmp_path: Path) -> None:
    config = case["config"]
    words = tmp_path / "skip.txt"
    words.write_text("\n".join(config["skip_words"]))
    unit = "char" if config["char_based"] else "token"
    settings = f"(threshold={config['iou_threshold']}, unit={unit}, skip=@{words}, view={view})"
    result = ss.score(
        corpus(case, "annotation"), corpus(case, "prediction"), [f"iou{settings}", f"iou.pii{settings}"], beta=2
    )
    expected = case["upstream_0_3_2"]
    found = {label: _counts(score.counts) for label, score in result["iou"].by_type.items()}
    assert found == {label: _upstream(row) for label, row in expected["per_type"].items()}
    assert _counts(result["iou.pii"].counts) == _upstream(expected["pii"])
    for label, numbers in expected["per_type_metrics"].items():
        score = result["iou"].by_type[label]
        # of a type that was never found, the tool has no F, and ours is 0
        f2 = 0.0 if numbers["f2"] is None and score.counts["tp"] == 0 else numbers["f2"]
        assert [score.precision, score.recall, score.f] == [
            pytest.approx(float("nan") if n is None else n, nan_ok=True, abs=1e-6)
            for n in (numbers["precision"], numbers["recall"], f2)
        ]


def test_there_are_twelve() -> None:
    assert len(GOLDEN) == 12


def _counts(counts: dict[str, int]) -> tuple[int, ...]:
    return counts["tp"], counts["predicted"], counts["annotated"]


def _upstream(row: dict[str, int]) -> tuple[int, ...]:
    return row["TP"], row["num_predicted"], row["num_annotated"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_both_releases_of_the_tool_agree_where_the_file_says_so(case: dict[str, Any]) -> None:
    old, new = case["upstream_head_0_2_4"], case["upstream_0_3_2"]
    same = [old[level] == new[level] for level in ("per_type", "pii")]
    assert all(same) == case["counts_agree"]
    assert case["golden"] == (case["category"] == "golden")
    assert case["golden"] <= case["counts_agree"]
    if case["category"] == "golden":
        for row in (*new["per_type"].values(), new["pii"]):
            assert (row["FP"], row["FN"]) == (row["num_predicted"] - row["TP"], row["num_annotated"] - row["TP"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_preset_gives_the_same_counts_defects_and_all(case: dict[str, Any], tmp_path: Path) -> None:
    config = case["config"]
    words = tmp_path / "skip.txt"
    words.write_text("\n".join(config["skip_words"]))
    unit = "char" if config["char_based"] else "token"
    settings = f"(threshold={config['iou_threshold']}, unit={unit}, skip=@{words})"
    sides = corpus(case, "annotation"), corpus(case, "prediction")
    result = ss.score(*sides, [f"presidio{settings}", f"presidio.pii{settings}"], beta=2)
    expected = case["upstream_0_3_2"]
    found = {label: _counts(score.counts) for label, score in result["presidio"].by_type.items()}
    assert found == {label: _upstream(row) for label, row in expected["per_type"].items()}
    assert _counts(result["presidio.pii"].counts) == _upstream(expected["pii"])
    for label, numbers in expected["per_type_metrics"].items():
        score = result["presidio"].by_type[label]
        assert [score.precision, score.recall, score.f] == [
            pytest.approx(float("nan") if n is None else n, nan_ok=True, abs=1e-6)
            for n in (numbers["precision"], numbers["recall"], numbers["f2"])
        ]
    pii = result["presidio.pii"]
    assert [pii.precision, pii.recall, pii.f] == [
        pytest.approx(float("nan") if n is None else n, nan_ok=True, abs=1e-6)
        for n in (expected["pii_metrics"][key] for key in ("precision", "recall", "f2"))
    ]


WHITE_SPACE = "Oslo\nNorway"


@pytest.mark.parametrize(
    ("skip", "annotated"),
    [("none", 2), ("zzz", 2), ("default", 1), (r"\n", 2), (r"\e", 1)],
)
def test_a_line_break_is_a_token(skip: str, annotated: int, tmp_path: Path) -> None:
    """What presidio-evaluator 0.3.2 gives for these tokens with the skip words [], ["zzz"], its own, ["\\n"] and [""]."""
    if skip not in ("none", "default"):
        (tmp_path / "skip.txt").write_text(skip)
        skip = f"@{tmp_path / 'skip.txt'}"
    tokens = [[0, 4], [4, 5], [5, 11]]
    spans = [{"start": 0, "end": 4, "label": "LOC"}, {"start": 5, "end": 11, "label": "LOC"}]
    gold = ss.Corpus.from_documents([{"id": "d", "text": WHITE_SPACE, "tokens": tokens, "spans": spans}])
    for name in ("presidio", "presidio.pii"):
        assert ss.score(gold, gold, f"{name}(skip={skip})").scores[0].counts["annotated"] == annotated


def test_a_dataset_keeps_its_line_breaks(tmp_path: Path) -> None:
    sample = {"full_text": WHITE_SPACE, "tokens": ["Oslo", "\n", "Norway"], "tags": ["LOC", "O", "LOC"]}
    path = tmp_path / "dataset.json"
    path.write_text(json.dumps([sample]))
    gold = ss.read(path)
    result = ss.score(gold, gold, ["presidio(skip=none)", "iou", "token", "iou(unit=token)"])
    assert [scores.counts["annotated"] for scores in result.scores] == [2, 1, 2, 1]
