"""nervaluate 1.2.1 and the semeval measures give the same numbers where each span overlaps at most one other."""

from __future__ import annotations

import random
from importlib.metadata import version
from typing import Any

import pytest
from nervaluate import Evaluator

import spanscore as ss

LABELS = ["PER", "ORG", "LOC"]
SCHEMES = {"strict": "strict", "exact": "exact", "partial": "partial", "ent_type": "type"}
DOCUMENTS = 1000

Span = dict[str, Any]


def documents(seed: int) -> tuple[list[list[Span]], list[list[Span]]]:
    """Return spans in slots of forty characters with gaps between them, so that only spans of one slot overlap."""
    rng = random.Random(seed)
    sides: tuple[list[list[Span]], list[list[Span]]] = ([], [])
    for _ in range(DOCUMENTS):
        for side in sides:
            side.append([])
        for slot in range(rng.randint(0, 7)):
            start, size = 40 * slot + rng.randint(0, 5), rng.randint(1, 8)
            gold = {"label": rng.choice(LABELS), "start": start, "end": start + size}
            moved = start + rng.choice([0, 0, 0, 1, size + 1])
            pred = {"label": rng.choice([gold["label"], rng.choice(LABELS)]), "start": moved}
            pred["end"] = moved + (size if rng.random() < 0.7 else rng.randint(1, 4))
            for side, span, share in zip(sides, (gold, pred), (0.9, 0.85), strict=True):
                if rng.random() < share:
                    side[-1].append(span)
        rng.shuffle(sides[1][-1])
    return sides


def corpus(spans: list[list[Span]]) -> ss.Corpus:
    return ss.Corpus.from_documents([{"id": str(i), "spans": one} for i, one in enumerate(spans)])


def inclusive(spans: list[list[Span]]) -> list[list[Span]]:
    """Return the spans with inclusive ends, as nervaluate expects them: otherwise neighbours would overlap."""
    return [[{**span, "end": span["end"] - 1} for span in one] for one in spans]


def test_the_version() -> None:
    assert version("nervaluate") == "1.2.1"


@pytest.mark.parametrize("least", [0.01, 0.5])
@pytest.mark.parametrize("seed", range(3))
def test_counts_and_scores(seed: int, least: float) -> None:
    gold, pred = documents(seed)
    evaluator = Evaluator(
        inclusive(gold), inclusive(pred), tags=LABELS, loader="dict", min_overlap_percentage=100 * least
    )
    expected = evaluator.evaluate()["overall"]
    for scheme, ours in SCHEMES.items():
        scores = ss.score(corpus(gold), corpus(pred), f"semeval.{ours}(overlap={least})").scores[0]
        known = expected[scheme]
        for count, value in scores.counts.items():
            assert value == getattr(known, count), (scheme, count)
        assert (scores.precision, scores.recall, scores.f) == pytest.approx((known.precision, known.recall, known.f1))
