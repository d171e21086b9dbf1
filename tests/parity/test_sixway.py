"""sixway against a plain implementation of its definition, written for this test alone."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

import spanscore as ss

Span = tuple[int, int, str]


def plain(gold: list[Span], pred: list[Span], threshold: Fraction) -> dict[str, Counter[str]]:
    """Label every prediction by its best gold span, and every gold span that none took as a miss; by gold type."""
    counts: dict[str, Counter[str]] = {}
    taken: set[Span] = set()
    for start, end, label in pred:
        best: tuple[Fraction, bool, tuple[int, int, str]] | None = None
        for other in gold:
            shared = min(end, other[1]) - max(start, other[0])
            if shared <= 0:
                continue
            ratio = Fraction(shared, max(end - start, other[1] - other[0]))
            rank = (ratio, other[2] == label)
            if best is None or rank > best[:2] or (rank == best[:2] and other < best[2]):
                best = (*rank, other)
        if best is None:
            counts.setdefault(label, Counter())["spurious"] += 1
            continue
        ratio, same, span = best
        taken.add(span)
        if ratio == 1 and same:
            kind = "strict"
        elif ratio < threshold:
            kind = "incorrect"
        else:
            kind = "exact" if same else "partial"
        counts.setdefault(span[2], Counter())[kind] += 1
    for span in gold:
        if span not in taken:
            counts.setdefault(span[2], Counter())["miss"] += 1
    return counts


def spans(rng: random.Random) -> list[Span]:
    found = set()
    for _ in range(rng.randint(0, 8)):
        start = rng.randint(0, 40)
        found.add((start, start + rng.randint(1, 12), rng.choice("ABC")))
    return sorted(found)


def corpus(documents: list[list[Span]]) -> ss.Corpus:
    return ss.Corpus.from_documents(
        {"id": str(number), "spans": [{"start": a, "end": b, "label": label} for a, b, label in rows]}
        for number, rows in enumerate(documents)
    )


@pytest.mark.parametrize("threshold", ["0.5", "0.25", "0.8", "1", "0"])
def test_sixway(threshold: str) -> None:
    rng = random.Random(threshold)
    gold, pred = ([spans(rng) for _ in range(2000)] for _ in range(2))
    result = ss.score(corpus(gold), corpus(pred), [f"sixway.{kind}(threshold={threshold})" for kind in CREDIT])
    expected: dict[str, Counter[str]] = {}
    for mine, other in zip(gold, pred, strict=True):
        for label, row in plain(mine, other, Fraction(threshold)).items():
            expected.setdefault(label, Counter()).update(row)
    names = ("strict", "exact", "partial", "incorrect", "spurious", "miss")
    for scores, credit in zip(result.scores, CREDIT.values(), strict=True):
        assert {label: [row.counts[name] for name in names] for label, row in scores.by_type.items()} == {
            label: [row[name] for name in names] for label, row in expected.items()
        }
        total: Any = sum(expected.values(), Counter())
        hits = sum(part * total[name] for part, name in zip(credit, names, strict=False))
        paired = sum(total[name] for name in names[:4])
        assert scores.precision == pytest.approx(hits / (paired + total["spurious"]))
        assert scores.recall == pytest.approx(hits / (paired + total["miss"]))


CREDIT = {"strict": (1, 0, 0), "flexible": (1, 1, 0), "partial": (1, 1, 0.5)}
