"""conlleval's, seqeval's and seqscore's numbers on tagged files, through the conll reader and `exact`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import spanscore as ss

HERE = Path(__file__).parent
CONLL = json.loads((HERE / "conlleval_seqeval.json").read_text())
SEQSCORE = json.loads((HERE / "seqscore.json").read_text())


def write(path: Path, sentences: list[list[str]]) -> Path:
    path.write_text("\n".join("".join(f"w{i} {tag}\n" for i, tag in enumerate(tags)) for tags in sentences))
    return path


def test_the_conll_2000_sample(tmp_path: Path) -> None:
    gold, pred = (
        ss.read(write(tmp_path / name, [tags.split() for tags in CONLL[name]]), "conll", scheme="IOB2")
        for name in ("true", "pred")
    )
    scores = ss.score(gold, pred, ["exact"])["exact"]
    expected = CONLL["expected_conlleval"]
    assert scores.counts["tp"] == expected["correct"]
    assert (scores.counts["predicted"], scores.counts["annotated"]) == (expected["found"], expected["gold"])
    assert round(100 * scores.f, 2) == expected["FB1"]
    for label, (precision, recall, f, found) in expected["types"].items():
        score = scores.by_type[label]
        assert score.counts["predicted"] == found
        assert (round(100 * score.precision, 2), round(100 * score.recall, 2)) == (precision, recall)
        assert f == 0 or round(100 * score.f, 2) == f
    macro = CONLL["expected_seqeval_default"]["macro avg"]
    assert scores.macro("type").recall == pytest.approx(macro["recall"], abs=1e-6)


@pytest.mark.parametrize("case", [c for c in CONLL["small_cases"] if c["mode"] == "default"], ids=lambda c: c["name"])
def test_seqeval_cases(case: dict[str, Any], tmp_path: Path) -> None:
    gold, pred = (ss.read(write(tmp_path / side, case[side]), "conll", scheme="IOB2") for side in ("true", "pred"))
    scores = ss.score(gold, pred, ["exact"])["exact"]
    found = [scores.precision, scores.recall, 0.0 if scores.counts["tp"] == 0 else scores.f]
    assert found == pytest.approx(case["micro"], abs=1e-4)


@pytest.mark.parametrize("case", SEQSCORE["cases"], ids=["mixed", "begin", "discard"])
def test_seqscore_cases(case: dict[str, Any], tmp_path: Path) -> None:
    def tagged(name: str, packed: str) -> Path:
        path = tmp_path / name
        path.write_text(packed.replace("|", "\n") + "\n")
        return path

    repair = "discard" if case.get("repair") == "discard" else "begin"
    gold = ss.read(tagged("gold", SEQSCORE["reference"]), "conll")
    pred = ss.read(tagged("pred", case["pred"]), "conll", scheme="IOB2", repair=repair)
    scores = ss.score(gold, pred, ["exact"])["exact"]
    if repair == "discard":
        assert (scores.counts["annotated"], scores.counts["predicted"], scores.counts["tp"]) == (3, 2, 2)
        return
    for label, (precision, recall, f, annotated, predicted, correct) in case["expected"].items():
        score = scores.overall if label == "ALL" else scores.by_type[label]
        assert (score.counts["annotated"], score.counts["predicted"], score.counts["tp"]) == (
            annotated,
            predicted,
            correct,
        )
        assert [round(100 * n, 2) for n in (score.precision, score.recall, score.f)] == [precision, recall, f]
    assert bool(pred.notes) == (case.get("repair") is not None)
