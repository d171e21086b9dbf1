"""seqeval 1.2.2 and `exact` give the same numbers on random IOB2 tags."""

from __future__ import annotations

import random
from importlib.metadata import version
from pathlib import Path

import pytest
from seqeval.metrics import classification_report
from seqeval.scheme import IOB2

import spanscore as ss


def sentence(rng: random.Random) -> list[str]:
    found: list[str] = []
    for _ in range(rng.randint(1, 6)):
        label = rng.choice("ABC")
        found += rng.choice(
            [["O"], [f"B-{label}"], [f"B-{label}", f"I-{label}"], [f"B-{label}", f"I-{label}", f"I-{label}"]]
        )
    return found


def noisy(tags: list[str], rng: random.Random) -> list[str]:
    other = [tag if rng.random() < 0.8 else rng.choice(["O", "B-A", "B-B"]) for tag in tags]
    for i, tag in enumerate(other):
        if tag.startswith("I-") and (i == 0 or other[i - 1][2:] != tag[2:]):
            other[i] = "B" + tag[1:]
    return other


def write(path: Path, sentences: list[list[str]]) -> Path:
    path.write_text("\n".join("".join(f"w{i} {tag}\n" for i, tag in enumerate(tags)) for tags in sentences))
    return path


@pytest.mark.parametrize("seed", range(5))
def test_exact(seed: int, tmp_path: Path) -> None:
    assert version("seqeval") == "1.2.2"
    rng = random.Random(seed)
    gold = [sentence(rng) for _ in range(1000)]
    pred = [noisy(tags, rng) for tags in gold]
    report = classification_report(gold, pred, mode="strict", scheme=IOB2, output_dict=True, zero_division=0)
    sides = [ss.read(write(tmp_path / name, tags), "conll", scheme="IOB2") for name, tags in (("g", gold), ("p", pred))]
    ours = ss.score(sides[0], sides[1], ["exact"])["exact"]
    for label in "ABC":
        score = ours.by_type[label]
        theirs = report[label]
        assert (score.precision, score.recall) == (theirs["precision"], theirs["recall"])
        assert score.f == pytest.approx(theirs["f1-score"], abs=1e-12)
        assert score.counts["annotated"] == theirs["support"]
    assert ours.precision == report["micro avg"]["precision"]
