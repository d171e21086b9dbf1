from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spanscore as ss
from spanscore.align import pair
from spanscore.corpus import Corpus
from spanscore.overlap import Join, overlaps
from spanscore.testing import pairs


@given(pairs(max_spans=12))
def test_it_finds_every_pair_and_no_other(both: tuple[Corpus, Corpus]) -> None:
    pairing = pair(*both)
    gold, pred = pairing.gold, pairing.pred
    found = pairing.overlaps
    expected = set()
    for i in range(len(gold.start)):
        for j in range(len(pred.start)):
            shared = min(gold.end[i], pred.end[j]) - max(gold.start[i], pred.start[j])
            empty = gold.start[i] == gold.end[i] or pred.start[j] == pred.end[j]
            same = (gold.start[i], gold.end[i]) == (pred.start[j], pred.end[j])
            if gold.doc[i] == pred.doc[j] and (same if empty else shared > 0):
                expected.add((i, j, max(int(shared), 0)))
    listed = list(zip(found.gold.tolist(), found.pred.tolist(), found.shared.tolist(), strict=True))
    assert len(set(listed)) == len(listed)
    assert set(listed) == expected


def test_a_document_of_many_spans_costs_its_overlaps_alone() -> None:
    """300,000 spans a side in one document: a quadratic join would need 9e10 comparisons and never end."""
    count = 300_000
    start = np.arange(count) * 10
    zeros = np.zeros(count, np.int64)
    gold = Corpus.from_arrays(["d"], zeros, start, start + 8, ["A"] * count)
    pred = Corpus.from_arrays(["d"], zeros, start + 4, start + 12, ["A"] * count)
    found = overlaps(gold, pred)
    assert len(found) == 2 * count - 1
    assert int(found.shared.sum()) == 4 * count + 2 * (count - 1)


def test_one_span_around_many() -> None:
    count = 50_000
    start = np.arange(count) * 3
    inner = Corpus.from_arrays(["d"], np.zeros(count, np.int64), start, start + 2, ["A"] * count)
    outer = Corpus.from_arrays(["d"], [0, 0], [0, 1], [3 * count, 4], ["A", "B"])
    assert len(overlaps(outer, inner)) == count + 2
    assert len(overlaps(inner, outer)) == count + 2


@given(pairs(max_spans=12), st.integers(0, 40))
def test_blocks_hold_all_pairs_and_no_more_than_they_may(both: tuple[Corpus, Corpus], limit: int) -> None:
    pairing = pair(*both)
    join = Join(pairing.gold, pairing.pred)
    whole = join.all()
    assert join.pairs == len(whole)
    assert join.by_gold.tolist() == np.bincount(whole.gold, minlength=len(pairing.gold.doc)).tolist()
    expected = sorted(zip(whole.gold.tolist(), whole.pred.tolist(), whole.shared.tolist(), strict=True))
    documents = np.bincount(pairing.gold.doc[whole.gold], minlength=len(pairing)).tolist()
    assert join.by_document.tolist() == documents
    for blocks, most in ((join.blocks, join.by_gold), (join.document_blocks, join.by_document)):
        with mock.patch.object(Join, "_limit", limit):
            found = list(blocks())
        assert all(len(one) <= max(limit, most.max(initial=0)) for one in found)
        rows = [set(one.gold.tolist()) for one in found]
        assert sum(map(len, rows)) == len(set().union(*rows))
        listed = [(a, b, c) for one in found for a, b, c in zip(one.gold, one.pred, one.shared, strict=True)]
        assert sorted(listed) == expected


def test_a_dense_document_is_announced_before_it_is_scored(caplog: pytest.LogCaptureFixture) -> None:
    nested = ss.Corpus.from_arrays(["d"], [0] * 1100, range(1100), range(3000, 1900, -1), ["A"] * 1100)
    ss.score(nested, nested, "exact")
    spans = 'document "d" has 1100 gold and 1100 predicted spans that overlap in 1210000 pairs'
    assert caplog.messages == [f"{spans}: scoring it takes time in proportion."]
