"""presidio-evaluator 0.3.2 and the `presidio` presets give the same numbers on random tagged documents."""

from __future__ import annotations

import random
from importlib.metadata import version
from itertools import groupby, product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from presidio_evaluator.evaluation import SpanEvaluator

import spanscore as ss

WORDS = ["Ann", "Lee", "of", "the", "Oslo", "and", "Acme", "x", "visited", ",", "Washington", "May"]
SKIP = ["of", "the", "and", ",", "may"]
DOCUMENTS = 400

Document = tuple[list[str], list[int], list[str], list[str]]


def tags(rng: random.Random, size: int) -> list[str]:
    found: list[str] = []
    while len(found) < size:
        found += [rng.choice(["O", "O", "PERSON", "LOC", "ORG"])] * rng.randint(1, 3)
    return found[:size]


def documents(seed: int) -> list[Document]:
    rng = random.Random(seed)
    made = []
    for _ in range(DOCUMENTS):
        words = [rng.choice(WORDS) for _ in range(rng.randint(1, 14))]
        starts, at = [], 0
        for word in words:
            starts.append(at)
            at += len(word) + rng.choice([1, 1, 1, 2])
        gold = tags(rng, len(words))
        pred = [tag if rng.random() < 0.7 else rng.choice(["O", "PERSON", "LOC"]) for tag in gold]
        made.append((words, starts, gold, pred))
    return made


def corpus(made: list[Document], side: int) -> ss.Corpus:
    records = []
    for number, document in enumerate(made):
        words, starts = document[0], document[1]
        places = [[start, start + len(word)] for start, word in zip(starts, words, strict=True)]
        text = ""
        for word, start in zip(words, starts, strict=True):
            text = text.ljust(start) + word
        spans = []
        for label, run in groupby(zip(document[side], places, strict=True), key=lambda one: one[0]):
            tokens = [place for _, place in run]
            if label != "O":
                spans.append({"start": tokens[0][0], "end": tokens[-1][1], "label": label})
        records.append({"id": str(number), "text": text, "tokens": places, "spans": spans})
    return ss.Corpus.from_documents(records)


def frame(made: list[Document]) -> Any:
    rows = [
        {"sentence_id": number, "token": word, "start_indices": start, "annotation": gold, "prediction": pred}
        for number, document in enumerate(made)
        for word, start, gold, pred in zip(*document, strict=True)
    ]
    return pd.DataFrame(rows)


def test_the_version() -> None:
    assert version("presidio-evaluator") == "0.3.2"


@pytest.mark.parametrize(
    ("threshold", "unit", "skip"), list(product([0.5, 0.75, 0.9], ["char", "token"], [[], SKIP])), ids=str
)
def test_equal_to_the_last_digit(threshold: float, unit: str, skip: list[str], tmp_path: Path) -> None:
    made = documents(seed=int(100 * threshold) + len(skip))
    evaluator = SpanEvaluator(iou_threshold=threshold, char_based=unit == "char", skip_words=skip)
    theirs = evaluator.calculate_score_on_df(frame(made), beta=2)
    words = tmp_path / "skip.txt"
    words.write_text("\n".join(skip))
    settings = f"(threshold={threshold}, unit={unit}, skip=@{words})"
    measures = [f"presidio{settings}", f"presidio.pii{settings}"]
    ours = ss.score(corpus(made, 2), corpus(made, 3), measures, beta=2)
    rows = {label: row for label, row in theirs.per_type.items() if row.num_annotated or row.num_predicted}
    assert set(rows) == set(ours["presidio"].by_type)
    for label, row in rows.items():
        score = ours["presidio"].by_type[label]
        counts = (row.true_positives, row.num_predicted, row.num_annotated)
        assert (score.counts["tp"], score.counts["predicted"], score.counts["annotated"]) == counts
        assert (score.precision, score.recall, score.f) == (row.precision, row.recall, row.f_beta)
    pii = ours["presidio.pii"]
    counts = (theirs.pii_true_positives, theirs.pii_predicted, theirs.pii_annotated)
    assert (pii.counts["tp"], pii.counts["predicted"], pii.counts["annotated"]) == counts
    assert (pii.precision, pii.recall, pii.f) == (theirs.pii_precision, theirs.pii_recall, theirs.pii_f)
