from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import spanscore as ss
from spanscore.align import pair
from spanscore.corpus import Corpus
from spanscore.overlap import count_overlaps, overlaps
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


@given(pairs())
def test_counting_pairs_counts_the_pairs(both: tuple[ss.Corpus, ss.Corpus]) -> None:
    pairing = pair(*both)
    gold, pred = (side.with_spans(np.flatnonzero(side.start < side.end)) for side in (pairing.gold, pairing.pred))
    assert count_overlaps(gold, pred) == len(overlaps(gold, pred))


def test_a_dense_document_is_announced_before_it_is_scored(caplog: pytest.LogCaptureFixture) -> None:
    nested = ss.Corpus.from_arrays(["d"], [0] * 1100, range(1100), range(3000, 1900, -1), ["A"] * 1100)
    ss.score(nested, nested, "exact")
    spans = 'document "d" has 1100 gold and 1100 predicted spans that overlap in 1210000 pairs'
    assert caplog.messages == [f"{spans}: scoring it takes time and memory in proportion."]
