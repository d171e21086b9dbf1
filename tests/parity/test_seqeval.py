"""seqeval 1.2.2 and `exact` give the same numbers on random tags, most of them illegal, in all schemes and both modes."""

from __future__ import annotations

import random
import warnings
from importlib.metadata import version
from pathlib import Path

import pytest
from seqeval.metrics import classification_report
from seqeval.scheme import BILOU, IOB1, IOB2, IOBES, IOE1, IOE2

import spanscore as ss

SCHEMES = {
    "IOB1": (IOB1, "IBO"),
    "IOB2": (IOB2, "IBO"),
    "IOE1": (IOE1, "IEO"),
    "IOE2": (IOE2, "IEO"),
    "IOBES": (IOBES, "IBESO"),
    "BILUO": (BILOU, "BILUO"),
}
CASES = [("strict", name) for name in SCHEMES] + [("default", name) for name in SCHEMES if name != "BILUO"]
"""seqeval's default mode does not know L and U."""


def tags(rng: random.Random, prefixes: str) -> list[str]:
    """Tags drawn one by one, so that most transitions are illegal."""
    drawn = (rng.choice(prefixes) for _ in range(rng.randint(1, 9)))
    return ["O" if prefix == "O" else f"{prefix}-{rng.choice('ABC')}" for prefix in drawn]


def noisy(rng: random.Random, given: list[str], prefixes: str) -> list[str]:
    other = tags(rng, prefixes) * 9
    return [tag if rng.random() < 0.7 else other[place] for place, tag in enumerate(given)]


def write(path: Path, sentences: list[list[str]]) -> Path:
    path.write_text("\n".join("".join(f"w{i} {tag}\n" for i, tag in enumerate(given)) for given in sentences))
    return path


@pytest.mark.parametrize(("mode", "scheme"), CASES)
@pytest.mark.parametrize("seed", range(3))
def test_exact(mode: str, scheme: str, seed: int, tmp_path: Path) -> None:
    assert version("seqeval") == "1.2.2"
    rng = random.Random(seed)
    kind, prefixes = SCHEMES[scheme]
    gold = [tags(rng, prefixes) for _ in range(1000)]
    pred = [noisy(rng, given, prefixes) for given in gold]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        strict = {"mode": "strict", "scheme": kind} if mode == "strict" else {}
        report = classification_report(gold, pred, output_dict=True, zero_division=0, **strict)
    sides = [
        ss.read(write(tmp_path / name, given), "conll", scheme=scheme, mode=mode)
        for name, given in (("g", gold), ("p", pred))
    ]
    ours = ss.score(sides[0], sides[1], ["exact"])["exact"]
    rows = {**ours.by_type, **{f"{name} avg": score for name, score in ours.averages().items()}}
    assert rows.keys() == report.keys()
    for name, theirs in report.items():
        found = [0.0 if n != n else n for n in (rows[name].precision, rows[name].recall, rows[name].f)]
        expected = [theirs["precision"], theirs["recall"], theirs["f1-score"]]
        assert found == pytest.approx(expected, abs=1e-12), (name, scheme, mode)
        counted = rows[name] if name in ours.by_type else ours.overall
        assert counted.counts["annotated"] == theirs["support"]
