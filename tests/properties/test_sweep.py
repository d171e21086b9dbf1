"""A sweep is what scoring the predictions at or above each threshold gives, for every measure that can be swept."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spanscore as ss
from spanscore.align import pair
from spanscore.analysis import sweep as engine
from spanscore.corpus import Corpus
from spanscore.errors import InputError, UsageError
from spanscore.measures import measure, names
from spanscore.measures.neleval import Overlap
from spanscore.testing import pairs

MEASURES = [one for one in map(measure, names()) if not one.needs_all_documents] + [
    measure("iou(threshold=0.5)"),
    measure("iou(threshold=0.5, merge=false, count=spans)"),
    measure("iou.pii(threshold=0.5)"),
    measure("sixway.partial(threshold=0.3)"),
]


def at_least(pred: Corpus, threshold: float) -> Corpus:
    assert pred.score is not None
    return pred.with_spans(np.flatnonzero(pred.score >= threshold))


@pytest.mark.parametrize("crowded", [0, 32], ids=["in stretches", "whole documents"])
@settings(max_examples=settings().max_examples // 2)  # each is one of all measures at six thresholds
@given(both=pairs(texts=True), rows=st.sampled_from([1, 7, 1 << 19]), apart=st.booleans())
def test_every_threshold_is_a_score(both: tuple[Corpus, Corpus], rows: int, apart: bool, crowded: int) -> None:
    gold, pred = both
    if apart:
        settled = pair(gold, pred, resolve="longest")
        gold, pred = settled.gold, settled.pred
    pred = pred.with_columns(score=np.tile([0.5, 0.1, 0.85, 0.1, 1.0], len(pred.start))[: len(pred.start)])
    assert pred.score is not None
    attributes = {*gold.attrs, *pred.attrs}
    chosen = [one for one in MEASURES if attributes.issuperset(one.needs) and (apart or not isinstance(one, Overlap))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "ROWS", rows)
        patch.setattr(engine, "CROWDED", crowded)
        found = engine.sweep(gold, {"pred": pred}, chosen, extra_documents="score")
    for threshold in (0.1, 0.5, 0.7, 0.85, 1.0, 2.0):
        said = ss.score(gold, at_least(pred, threshold), chosen, extra_documents="score")
        for curve in found.curves:
            scores = said[repr(curve.measure)]
            wanted = scores.overall if curve.type is None else scores.by_type.get(curve.type)
            got = curve.at(threshold)
            if wanted is None:
                assert not any(np.nan_to_num([*got.counts.values()])), (curve.measure, curve.type, threshold)
            else:
                assert got.counts == pytest.approx(wanted.counts, nan_ok=True), (curve.measure, curve.type, threshold)
                numbers = [(getattr(one, name)) for name in ("precision", "recall", "f") for one in (got, wanted)]
                assert numbers[::2] == pytest.approx(numbers[1::2], nan_ok=True)
        for scores in said.scores:
            shown = {curve.type for curve in found.curves if curve.measure == scores.measure}
            assert set(scores.by_type) <= shown


@given(both=pairs(), threshold=st.sampled_from([0.1, 0.5, 0.85, 1.0]))
def test_settling_by_score_is_the_same_before_and_after_a_threshold(
    both: tuple[Corpus, Corpus], threshold: float
) -> None:
    gold, pred = both
    if not len(pred.start):
        return
    scored = np.tile([0.1, 0.5, 0.85, 1.0], len(pred.start))[: len(pred.start)]
    pred = pred.with_columns(score=scored)
    curve = engine.sweep(gold, {"pred": pred}, "iou", resolve="score").curves[0]
    said = ss.score(gold, at_least(pred, threshold), "iou", resolve="score")["iou"]
    # gold spans have no scores: they are settled the same way whatever the threshold
    assert curve.at(threshold).counts == said.counts


def ranked(right: list[bool], scores: list[float], annotated: int) -> tuple[Corpus, Corpus]:
    """Predictions in places of their own, right or not."""
    starts = [10 * i for i in range(len(right))]
    gold = [start for start, good in zip(starts, right, strict=True) if good]
    gold += [10 * (len(right) + i) for i in range(annotated - len(gold))]
    labels: Any = ["A"] * len(gold)
    return (
        Corpus.from_arrays(["d"], [0] * len(gold), gold, [start + 5 for start in gold], labels),
        Corpus.from_arrays(
            ["d"], [0] * len(starts), starts, [start + 5 for start in starts], ["A"] * len(starts), score=scores
        ),
    )


def test_average_precision_is_the_mean_of_precision_at_each_hit() -> None:
    gold, pred = ranked([True, False, True, True, False], [0.9, 0.8, 0.7, 0.6, 0.5], annotated=4)
    curve = engine.sweep(gold, {"pred": pred}, "exact").curves[0]
    assert curve.average_precision == pytest.approx((1 / 1 + 2 / 3 + 3 / 4) / 4)


def test_equal_scores_are_one_threshold() -> None:
    gold, pred = ranked([True, False, True], [0.9, 0.5, 0.5], annotated=2)
    curve = engine.sweep(gold, {"pred": pred}, "exact").curves[0]
    assert curve.threshold.tolist() == [0.9, 0.5]
    assert curve.average_precision == pytest.approx(0.5 * 1 + 0.5 * 2 / 3)


def test_best_thresholds() -> None:
    gold, pred = ranked([True, False, True, True, False], [0.9, 0.8, 0.7, 0.6, 0.5], annotated=4)
    curve = engine.sweep(gold, {"pred": pred}, "exact").curves[0]
    assert curve.best() == 0.6
    assert curve.best(recall=0.5) == 0.6  # 3 of 4 are right there, 2 of 3 at 0.7
    assert curve.best(recall=0.2) == 0.9
    assert curve.best(recall=0.8) is None


def test_ties_go_to_the_lowest_threshold_if_recall_comes_first() -> None:
    """Of equal thresholds, also those count at which only a prediction that changes nothing comes in."""
    gold = ss.Corpus.from_arrays(["a", "b"], [0, 1], [0, 0], [10, 10], ["A"] * 2)
    score = [0.9, 0.3, 0.8]
    pred = ss.Corpus.from_arrays(["a", "b"], [0, 0, 1], [0, 2, 0], [10, 6, 10], ["A"] * 3, score=score)
    for beta, best in ((2, 0.3), (1, 0.8)):
        every, one = engine.sweep(gold, {"pred": pred}, "iou", beta=beta).curves
        assert (every.best(), one.best()) == (best, best)
        assert one.threshold.tolist() == [0.9, 0.8, 0.3]


def test_calibration_by_hand() -> None:
    gold, pred = ranked([True, True, False, False, True], [0.95, 0.91, 0.92, 0.35, 1.0], annotated=3)
    found = engine.sweep(gold, {"pred": pred}, "exact").curves[0].calibration
    assert found is not None
    assert found.predictions.tolist() == [0, 0, 0, 1, 0, 0, 0, 0, 0, 4]
    assert found.score[9] == pytest.approx((0.95 + 0.91 + 0.92 + 1.0) / 4)
    assert found.right[9] == 0.75
    assert found.error == pytest.approx(0.8 * abs(0.945 - 0.75) + 0.2 * 0.35)


def test_scores_that_are_no_probabilities_have_no_calibration() -> None:
    gold, pred = ranked([True, False], [7.0, -3.0], annotated=1)
    curve = engine.sweep(gold, {"pred": pred}, "exact").curves[0]
    assert curve.calibration is None
    assert curve.best() == 7.0


def test_a_document_with_many_spans_is_swept_in_stretches() -> None:
    count = 20_000  # by whole documents this would be 400 million spans
    gold, pred = ranked([i % 3 > 0 for i in range(count)], np.linspace(1, 0, count).tolist(), annotated=count)
    found = engine.sweep(gold, {"pred": pred}, "iou").curves[0]
    assert len(found.threshold) == count
    assert found.at(0.0).counts["tp"] == sum(i % 3 > 0 for i in range(count))


def test_types_that_not_every_block_has_stay_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "ROWS", 1)
    spans = [{"start": 0, "end": 4, "label": label, "score": 0.5, "attrs": {"category": "NAME"}} for label in "AB"]
    gold, pred = (
        Corpus.from_documents([{"id": span["label"], "spans": [span]} for span in side]) for side in (spans, spans[:1])
    )
    found = engine.sweep(gold, {"pred": pred}, "i2b2.strict")
    assert {curve.type: curve.at(0.5).recall for curve in found.curves} == {None: 0.5, "NAME/A": 1.0, "NAME/B": 0.0}


def test_sentences_count_once_at_every_threshold() -> None:
    spans = [{"start": 9 * i, "end": 9 * i + 4, "label": "A", "score": 0.5} for i in range(4)]
    document = {"id": "d", "text": "Anna met " * 4, "spans": spans, "meta": {"sentences": 2}}
    gold, pred = Corpus.from_documents([document]), Corpus.from_documents([{"id": "d", "spans": spans[:3]}])
    curve = engine.sweep(gold, {"pred": pred}, "meddocan.leak").curves[0]
    assert [(curve.at(at).counts["sentences"], curve.at(at).counts["leak"]) for at in (0.5, 2.0)] == [
        (2, 0.5),
        (2, 2.0),
    ]


def test_what_cannot_be_swept_is_told() -> None:
    gold, pred = ranked([True], [0.5], annotated=1)
    for settings_, words in (
        ({"measures": "muc"}, "counts across documents"),
        ({"measures": "exact", "resolve": "longest"}, "drops predictions regardless of score"),
        ({"measures": "exact", "bins": 0}, "bins must be"),
    ):
        with pytest.raises(UsageError, match=words):
            engine.sweep(gold, {"pred": pred}, **settings_)
    with pytest.raises(InputError, match=r'document "d", A \[0, 5\): a prediction has no score'):
        engine.sweep(gold, {"pred": replace(pred, score=None)}, "exact")
