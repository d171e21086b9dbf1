"""Sweeping thresholds, as a user does."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from calls import run
from spanscore.align.score_thresholds import ScoreThresholds


@pytest.fixture
def files(tmp_path: Path) -> Path:
    spans = [{"start": 10 * i, "end": 10 * i + 5, "label": "AB"[i % 2]} for i in range(4)]
    pred = [
        {**spans[0], "score": 0.9},
        {**spans[1], "score": 0.8},
        {"start": 60, "end": 65, "label": "A", "score": 0.6},
        {**spans[2], "score": 0.4},
    ]
    (tmp_path / "gold.jsonl").write_text(json.dumps({"id": "d", "spans": spans}) + "\n")
    (tmp_path / "pred.jsonl").write_text(json.dumps({"id": "d", "spans": pred}) + "\n")
    return tmp_path


def test_the_table(files: Path) -> None:
    said, _ = run("sweep", "gold.jsonl", "pred.jsonl", "-m", "exact", "--at", "0.7", cwd=files)
    assert said.splitlines()[:3] == [
        "measure  type     AP    ECE  threshold      P      R     F1",
        "exact    all   0.688  0.375       0.4*  0.750  0.750  0.750",
        "                                  0.7   1.000  0.500  0.667",
    ]
    said, _ = run("sweep", "gold.jsonl", "pred.jsonl", "-m", "exact", "--recall", "0.5", cwd=files)
    assert said.splitlines()[1].split() == ["exact", "all", "0.688", "0.375", "0.8", "1.000", "0.500", "0.667"]


def test_json_and_csv_have_every_point(files: Path) -> None:
    said = json.loads(run("sweep", "gold.jsonl", "pred.jsonl", "-m", "exact", "--json", "-", cwd=files)[0])
    assert said["schema"] == "spanscore.sweep/1"
    overall = next(curve for curve in said["curves"] if curve["type"] is None)
    assert overall["threshold"] == [0.9, 0.8, 0.6, 0.4]
    assert overall["recall"] == [0.25, 0.5, 0.5, 0.75]
    assert overall["best"]["counts"] == {"tp": 3, "predicted": 4, "annotated": 4, "fp": 1, "fn": 1}
    assert sum(overall["calibration"]["predictions"]) == 4
    table = list(csv.DictReader(io.StringIO(run("sweep", "gold.jsonl", "pred.jsonl", "--format", "csv", cwd=files)[0])))
    exact = [row for row in table if row["measure"] == "exact" and not row["type"]]
    assert [float(row["recall"]) for row in exact] == overall["recall"]


def test_numbers_at_a_threshold_are_those_of_the_predictions_above_it(files: Path) -> None:
    said = json.loads(run("sweep", "gold.jsonl", "pred.jsonl", "--at", "0.6", "--json", "-", cwd=files)[0])
    document = json.loads((files / "pred.jsonl").read_text())
    document["spans"] = [span for span in document["spans"] if span["score"] >= 0.6]
    (files / "above.jsonl").write_text(json.dumps(document) + "\n")
    score = json.loads(run("score", "gold.jsonl", "above.jsonl", "--json", "-", cwd=files)[0])
    wanted = {(row["measure"], row["type"]): row["counts"] for row in score["results"] if "average" not in row}
    assert {(curve["measure"], curve["type"]): curve["at"][0]["counts"] for curve in said["curves"]} == wanted


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (("gold.jsonl", "gold.jsonl"), 'gold.jsonl: document "d", A [0, 5): a prediction has no score'),
        (("gold.jsonl", "pred.jsonl", "--recall", "2"), "--recall must be"),
        (("gold.jsonl", "pred.jsonl", "--at", "nan"), "--at must be"),
        (("gold.jsonl", "pred.jsonl", "--bins", "0"), "bins must be"),
        (("gold.jsonl", "pred.jsonl", "-m", "muc"), "counts across documents"),
        (("gold.jsonl", "pred.jsonl", "--json", "no/where.json"), "cannot write this file"),
    ],
)
def test_wrong_calls(call: tuple[str, ...], words: str, files: Path) -> None:
    said, error = run("sweep", *call, cwd=files, code=2)
    assert words in error
    assert not said


def test_types_without_precision_have_recall_alone(files: Path) -> None:
    def rows(*options: str) -> list[list[str]]:
        said, _ = run("sweep", "gold.jsonl", "pred.jsonl", "-m", "leak", *options, cwd=files)
        return [line.split()[-8:] for line in said.splitlines()[1:4]]

    overall, a, b = rows()
    assert overall[4] == "0.4"
    assert a == ["leak", "A", "–", "–", "0.4", "–", "1.000", "–"]
    assert b == ["leak", "B", "–", "–", "0.4", "–", "0.500", "–"]
    overall, a, b = rows("--recall", "0.5", "--json", "curves.json")
    assert a == ["leak", "A", "–", "–", "0.9", "–", "0.500", "–"]
    assert b == ["leak", "B", "–", "–", "0.8", "–", "0.500", "–"]
    assert [row[4] for row in rows("--recall", "0.9")] == ["–", "0.4", "–"]
    thresholds = ScoreThresholds.of(str(files / "curves.json"))
    assert thresholds == ScoreThresholds(others=float(overall[4]))


def test_a_score_threshold_warns_about_predictions_without_a_score(files: Path) -> None:
    call = ("score", "gold.jsonl", "gold.jsonl", "-m", "exact", "--score-threshold")
    said, warned = run(*call, "0.5", cwd=files)
    assert said.splitlines()[2].split()[:5] == ["exact", "all", "1.000", "1.000", "1.000"]
    assert "gold: 4 predictions without a score were kept: --score-threshold does not apply to them." in warned
    assert ": 2 predictions without a score were kept" in run(*call, "A=0.5", cwd=files)[1]
    assert "without a score" not in run("score", "gold.jsonl", "pred.jsonl", "--score-threshold", "0.5", cwd=files)[1]
