"""Nested, crossing and repeated places: the fast ways for many overlaps give what the plain ways give."""

from __future__ import annotations

import random

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import spanscore as ss
from spanscore.align import Pairing, pair
from spanscore.measures import measure, sandbox_tokens
from spanscore.measures.assignment import DENSE, best_pairs, components

TEXT = "to be, or not to be: \u00e9t\u00e9 \u2003 😀😀 ab\nab abc " * 40


def spans(rng: random.Random, number: int, kind: str) -> list[dict[str, object]]:
    made: list[dict[str, object]] = []
    for i in range(number):
        start, end = {
            "nested": (i, len(TEXT) - i - rng.randint(0, 1)),
            "crossing": (3 * i + rng.randint(0, 1), 3 * i + 600),
            "one place": (7, 30),
            "any": sorted(rng.randint(0, len(TEXT)) for _ in range(2)),
        }[kind]
        label = f"L{i}" if kind == "one place" else rng.choice("AB")
        made.append({"start": start, "end": end, "label": label})
    return made


def pairing(kind: str, number: int, seed: int = 0) -> Pairing:
    rng = random.Random(seed)
    sides = [ss.Corpus.from_documents([{"id": "d", "text": TEXT, "spans": spans(rng, number, kind)}]) for _ in range(2)]
    return pair(*sides)


KINDS = ["nested", "crossing", "one place", "any"]


@pytest.mark.parametrize("kind", KINDS)
def test_annotations_are_connected_as_their_overlaps_are(kind: str) -> None:
    for seed in range(5):
        given = pairing(kind, 60, seed)
        both = given.overlaps
        same = given.gold.label[both.gold] == given.pred.label[both.pred]
        a, b = both.gold[same], both.pred[same]
        expected = components(a, b)
        mine, other = sandbox_tokens._linked(given)
        assert (mine[a] == other[b]).all()
        number = dict(zip(mine[a].tolist(), expected.tolist(), strict=True))
        assert [number[one] for one in mine[a].tolist()] == expected.tolist()
        assert len(set(number.values())) == len(number)
        assert not set(np.delete(mine, a).tolist()) & set(other.tolist())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("key", ["text", "position"])
def test_tokens_are_those_of_each_annotation_by_itself(kind: str, key: str) -> None:
    one = measure(f"sandbox.token(key={key})")
    for seed in range(5):
        given = pairing(kind, 40, seed)
        gold, pred = sandbox_tokens.tokens_of(given, "whitespace")
        coded = sandbox_tokens._cut_by(given, "whitespace")
        for fast, slow in zip((gold, pred), coded, strict=True):
            rows = [np.stack([w.doc, w.label, w.start, w.end, w.owner], axis=1).tolist() for w in (fast, slow)]
            assert sorted(rows[0]) == sorted(rows[1])
        right = sandbox_tokens.right_by_text(given, *coded) if key == "text" else sandbox_tokens.right_by_offset(*coded)
        assert one.tally(given).total()[0] == len(right)


def test_tokens_whose_hashes_collide_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    given = pairing("any", 40)
    expected = measure("sandbox.token").tally(given).by_label().tolist()
    monkeypatch.setattr(sandbox_tokens, "_hashes", lambda characters, length: np.zeros(len(length), np.uint64))
    fresh = Pairing(given.gold, given.pred)
    assert measure("sandbox.token").tally(fresh).by_label().tolist() == expected


@pytest.mark.parametrize("collide", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_parts_of_long_words_are_hashed_without_laying_them_out(
    kind: str, collide: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(5):
        given = pairing(kind, 40, seed)
        expected = measure("sandbox.token").tally(given).by_label().tolist()
        with monkeypatch.context() as patch:
            patch.setattr(sandbox_tokens, "FEW", -(10**9))
            patch.setattr(sandbox_tokens, "LONG", seed)
            patch.setattr(sandbox_tokens, "BLOCK", 3)
            if collide:
                patch.setattr(
                    sandbox_tokens, "randbelow", lambda _: -(2**16)
                )  # all powers are 0: only the first counts
            assert measure("sandbox.token").tally(Pairing(given.gold, given.pred)).by_label().tolist() == expected


@pytest.mark.parametrize("share", [1.0, 0.6, 0.1])
def test_many_pairs_are_assigned_best(share: float) -> None:
    rng = np.random.default_rng(0)
    weights = rng.integers(1, 1000, (300, 320)) * (rng.random((300, 320)) < share)
    a, b = np.nonzero(weights)
    assert (len(a) > DENSE) == (share > 0.5)
    order = rng.permutation(len(a))
    a, b = a[order] + 1000, 3 * b[order]
    weight = weights[a - 1000, b // 3]
    chosen = best_pairs(a, b, weight)
    assert len(set(a[chosen].tolist())) == len(set(b[chosen].tolist())) == len(chosen)
    assert weight[chosen].sum() == weights[linear_sum_assignment(weights, maximize=True)].sum()
    assert (np.diff(chosen) > 0).all()
    back = np.argsort(order)
    assert set(zip(a[chosen].tolist(), b[chosen].tolist(), strict=True)) == {
        (int(a[back][i]), int(b[back][i])) for i in best_pairs(a[back], b[back], weight[back])
    }


@pytest.mark.parametrize(
    "name", ["exact", "sets::span", "sets::span+type", "sandbox.instance", "sandbox.token", "token", "b_cubed"]
)
def test_measures_that_need_no_list_of_overlaps(name: str) -> None:
    given = pairing("nested", 50)
    measure(name).tally(given)
    assert "overlaps" not in given.__dict__
