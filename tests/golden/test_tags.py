"""conlleval's, seqeval's and seqscore's numbers on tagged files, through the conll reader and `exact`."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

import pytest

import spanscore as ss
from golden.golden import load

HERE = Path(__file__).parent
CONLL = load("conlleval_seqeval.json")
SEQSCORE = load("seqscore.json")


def write(path: Path, sentences: list[list[str]]) -> Path:
    path.write_text("\n".join("".join(f"w{i} {tag}\n" for i, tag in enumerate(tags)) for tags in sentences))
    return path


def sides(case: Any, tmp_path: Path, **options: Any) -> list[ss.Corpus]:
    found = []
    for name in ("true", "pred"):
        tags = [tags.split() if isinstance(tags, str) else list(tags) for tags in case[name]]
        found.append(ss.read(write(tmp_path / name, tags), "conll", **options))
    return found


def test_the_conll_2000_sample(tmp_path: Path) -> None:
    gold, pred = sides(CONLL, tmp_path, scheme="IOB2")
    scores = ss.score(gold, pred, ["exact"])["exact"]
    expected = CONLL["expected_conlleval"]
    assert scores.counts["tp"] == expected["correct"]
    assert (scores.counts["predicted"], scores.counts["annotated"]) == (expected["found"], expected["gold"])
    overall = [round(100 * number, 2) for number in (scores.precision, scores.recall, scores.f)]
    assert overall == [expected["precision"], expected["recall"], expected["FB1"]]
    for label, (precision, recall, f, found) in expected["types"].items():
        score = scores.by_type[label]
        assert score.counts["predicted"] == found
        assert [round(100 * n, 2) for n in (score.precision, score.recall, score.f)] == [precision, recall, f]
    tags = [tag.split() for side in ("true", "pred") for tag in CONLL[side]]
    assert sum(map(len, tags)) == 2 * expected["tokens"]
    pairs = zip(chain.from_iterable(tags[:40]), chain.from_iterable(tags[40:]), strict=True)
    right = sum(a == b for a, b in pairs)
    assert round(100 * right / expected["tokens"], 2) == expected["accuracy"]


@pytest.mark.parametrize(
    ("mode", "key"), [("default", "expected_seqeval_default"), ("strict", "expected_seqeval_strict_IOB2")]
)
def test_seqeval_on_the_conll_2000_sample(mode: str, key: str, tmp_path: Path) -> None:
    gold, pred = sides(CONLL, tmp_path, scheme="IOB2", mode=mode)
    scores = ss.score(gold, pred, ["exact"])["exact"]
    rows = {**scores.by_type, **{f"{name} avg": score for name, score in scores.averages().items()}}
    assert rows.keys() == CONLL[key].keys()
    for name, expected in CONLL[key].items():
        found = [0.0 if n != n else n for n in (rows[name].precision, rows[name].recall, rows[name].f)]
        assert found == pytest.approx([expected["precision"], expected["recall"], expected["f1-score"]], abs=1e-6), name
        support = rows[name] if name in scores.by_type else scores.overall
        assert support.counts["annotated"] == expected["support"]


@pytest.mark.parametrize("case", CONLL["small_cases"], ids=lambda c: dict(c)["name"])
def test_seqeval_cases(case: dict[str, Any], tmp_path: Path) -> None:
    gold, pred = sides(case, tmp_path, scheme=case["scheme"] or "IOB2", mode=case["mode"])
    scores = ss.score(gold, pred, ["exact"])["exact"]
    found = [0.0 if n != n else n for n in (scores.precision, scores.recall, scores.f)]
    assert found == pytest.approx(case["micro"], abs=1e-4)
    assert scores.counts["annotated"] == case["support"]


def test_where_conlleval_is_wrong_we_are_right(tmp_path: Path) -> None:
    """conlleval joins E and B of one type; the scheme says that E ends a span."""
    quirk = CONLL["conlleval_quirk"]
    case = {side: [list(quirk[side])] for side in ("true", "pred")}
    gold, pred = sides(case, tmp_path, scheme="IOBES")
    counts = ss.score(gold, pred, "exact")["exact"].counts
    assert f"{counts['annotated']} gold, {counts['predicted']} found, {counts['tp']} correct" == quirk["right"]


@pytest.mark.parametrize("case", SEQSCORE["cases"], ids=["mixed", "begin", "discard"])
def test_seqscore_cases(case: dict[str, Any], tmp_path: Path) -> None:
    def tagged(name: str, packed: str) -> Path:
        path = tmp_path / name
        path.write_text(packed.replace("|", "\n") + "\n")
        return path

    assert case["labels"] == "BIO"
    repair = "discard" if case.get("repair") == "discard" else "begin"
    gold = ss.read(tagged("gold", SEQSCORE["reference"]), "conll")
    pred = ss.read(tagged("pred", case["pred"]), "conll", scheme="IOB2", repair=repair)
    scores = ss.score(gold, pred, ["exact"])["exact"]
    if repair == "discard":
        counts = scores.counts
        numbers = f"predicted {counts['predicted']}, correct {counts['tp']}, reference {counts['annotated']}"
        assert case["effect"] == f"ORG mention removed: {numbers}"
        return
    for label, (precision, recall, f, annotated, predicted, correct) in case["expected"].items():
        score = scores.overall if label == "ALL" else scores.by_type[label]
        found = (score.counts["annotated"], score.counts["predicted"], score.counts["tp"])
        assert found == (annotated, predicted, correct)
        assert [round(100 * n, 2) for n in (score.precision, score.recall, score.f)] == [precision, recall, f]
    assert bool(pred.notes) == (case.get("repair") is not None)
    errors = [["FN" if e.side == "gold" else "FP", e.span.label, e.text, 1] for e in scores.errors()]
    expected = [list(row) for row in case.get("errors", [])]
    assert sorted(errors, key=str) == sorted(expected, key=str)
