"""presidio-evaluator's SpanEvaluator; the parity tests compare it with the tool itself."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from spanscore.compat.presidio import SpanEvaluator

FRAME = pd.DataFrame(
    {
        "sentence_id": [0] * 5 + [1] * 3,
        "token": ["John", "Smith", "Johnson", "in", "Oslo", "University", "of", "Washington"],
        "annotation": ["PERSON"] * 3 + ["O", "LOCATION", "ORG", "O", "ORG"],
        "prediction": ["PERSON", "LOCATION", "PERSON", "O", "O", "ORG", "ORG", "ORG"],
        "start_indices": [0, 5, 11, 19, 22, 0, 11, 14],
    }
)


def test_the_worked_example() -> None:
    found = SpanEvaluator(iou_threshold=0.5, char_based=False).calculate_score_on_df(FRAME)
    person = found.per_type["PERSON"]
    assert (person.true_positives, person.num_annotated) == (1, 1)
    assert (found.per_type["LOCATION"].num_predicted, found.per_type["LOCATION"].true_positives) == (1, 0)
    assert found.per_type["ORG"].recall == 1.0  # "of" is a skip word
    assert (found.n, found.pii_annotated) == (3, 2)  # "in" is one too: as PII, the name and the city are one span
    assert found.pii_recall == 1.0
    assert found.entity_recall_dict["PERSON"] == 1.0
    assert found.to_log()["PERSON_recall"] == 1.0


def test_levels_and_skip_words() -> None:
    only = SpanEvaluator(skip_words=[]).calculate_score_on_df(FRAME, level="entity")
    assert only.pii_f is None
    assert only.per_type["ORG"].num_annotated == 2  # without skip words, these are two spans
    pii = SpanEvaluator(skip_words=["of", " ", "\\"]).calculate_score_on_df(FRAME, level="pii")
    assert pii.per_type == {}
    assert pii.pii_f is not None
    assert not math.isnan(pii.pii_f)


def test_a_model_is_refused() -> None:
    with pytest.raises(ValueError, match="predict_dataset"):
        SpanEvaluator(model=object())  # type: ignore[arg-type]
