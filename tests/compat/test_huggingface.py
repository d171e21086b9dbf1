"""A metric in the shape of Hugging Face's `evaluate`, without that package; the parity tests have it."""

from __future__ import annotations

import numpy as np
import pytest

import spanscore as ss
from spanscore.compat import huggingface

GOLD = [["O", "O", "O", "B-MISC", "I-MISC", "I-MISC", "O"], ["B-PER", "I-PER", "O"]]
PRED = [["O", "O", "B-MISC", "I-MISC", "I-MISC", "I-MISC", "O"], ["B-PER", "I-PER", "O"]]


def test_the_example_of_the_metric_seqeval() -> None:
    found = huggingface.load().compute(predictions=PRED, references=GOLD)
    assert list(found) == ["MISC", "PER", *(f"overall_{name}" for name in ("precision", "recall", "f1", "accuracy"))]
    assert found["overall_f1"] == 0.5
    assert found["PER"] == {"precision": 1.0, "recall": 1.0, "f1": 1.0, "number": 1}
    assert found["overall_accuracy"] == 0.8


def test_batches() -> None:
    metric = huggingface.load(zero_division=0)
    for pred, gold in zip(PRED, GOLD, strict=True):
        metric.add(prediction=pred, reference=gold)
    assert metric.compute()["overall_f1"] == 0.5
    assert metric.compute(predictions=PRED[1:], references=GOLD[1:])["overall_f1"] == 1.0
    arrays = {"predictions": np.array(PRED, object), "references": np.array(GOLD, object)}
    assert metric.compute(**arrays)["overall_f1"] == 0.5


def test_spans_by_any_measure() -> None:
    metric = huggingface.load("iou(threshold=0.5)")
    gold = [[{"start": 0, "end": 10, "label": "A"}], []]
    pred = [[{"start": 0, "end": 6, "label": "A"}], [{"start": 0, "end": 3, "label": "B"}]]
    found = metric.compute(predictions=pred, references=gold)
    assert (found["overall_precision"], found["overall_recall"]) == (0.5, 1.0)
    assert found["A"] == {"precision": 1.0, "recall": 1.0, "f1": 1.0, "number": 1}
    assert huggingface.load("exact").compute(predictions=PRED, references=GOLD)["overall_f1"] == 0.5
    with pytest.raises(ss.UsageError, match="there are 1 prediction, but 2 references"):
        metric.compute(predictions=pred[:1], references=gold)


def test_unknown_schemes_and_measures_are_refused() -> None:
    for mode in (None, "strict"):
        with pytest.raises(ValueError, match="There is no scheme XX; choose one of IOB1, IOB2"):
            huggingface.compute(PRED, GOLD, scheme="XX", mode=mode)
    assert huggingface.compute(PRED, GOLD, scheme="IOB2", mode="strict")["overall_f1"] == 0.5
    with pytest.raises(ss.UsageError, match="There is no measure 'nope'"):
        huggingface.load("nope")
