"""presidio-evaluator 0.3.2 and the `presidio` presets give the same numbers, on tagged tokens and on spans."""

from __future__ import annotations

import json
import math
import random
from functools import cache
from importlib.metadata import version
from itertools import groupby, product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import spacy
from presidio_evaluator import InputSample, span_to_tag
from presidio_evaluator.evaluation import SpanEvaluator, TokenEvaluator
from presidio_evaluator.evaluation.skipwords import get_skip_words
from presidio_evaluator.models import BaseModel
from presidio_evaluator.span_to_tag import loaded_spacy

import spanscore as ss
from spanscore.align.skipwords import presidio_skip_words

WORDS = [
    *("Ann", "Lee", "Oslo", "Norway", "Acme", "x", "visited", "Washington", "O'Neil", "don't", "U.S.", "İzmir", "Zoë"),
    *("of", "the", "and", "May", "street", "St.", "Mr.", "this", "’s", "Us", "years"),
    *(",", ".", "-", "--", ">>", "(", ")", "$5", "50%", "a/b", "\\", "‘"),
]
GAPS = [" ", " ", " ", " ", " ", "", "  ", "   ", "\n", "\n\n", " \n", "\n\n\n\n\n", "\t", "\r\n", "\u00a0", "\u2003"]
LISTS: dict[str, list[str] | None] = {
    "default": None,
    "none": [],
    "words": ["of", "the", "and", ",", "may", "Us"],
    "unused": ["zzz"],
    "newline": ["\n", "of", " ", "\\"],
    "empty": ["", "of", ","],
}
DOCUMENTS = 120

Settings = tuple[str, float, str]
ALL = list(product(LISTS, (0.4, 0.75, 0.9), ("char", "token")))


@cache
def english() -> Any:
    return spacy.blank("en")


def text(rng: random.Random) -> str:
    return "".join(rng.choice(WORDS) + rng.choice(GAPS) for _ in range(rng.randint(1, 14)))


def tags(rng: random.Random, words: list[str]) -> list[str]:
    """Return random tags in runs, some of which go on after a skip word or white space."""
    skipped = {word for word in words if not word.strip() or word.lower() in presidio_skip_words("default").words}
    found: list[str] = []
    while len(found) < len(words):
        found += [rng.choice(["O", "PERSON", "LOC", "ORG"])] * rng.randint(1, 3)
    split = rng.random()
    return ["O" if word in skipped and rng.random() < split else tag for word, tag in zip(words, found, strict=False)]


def noisy(rng: random.Random, gold: list[str]) -> list[str]:
    kept = rng.choice([0.5, 0.8, 0.95])
    return [tag if rng.random() < kept else rng.choice(["O", "PERSON", "LOC"]) for tag in gold]


def tagged(seed: object) -> Any:
    """Return a data frame as the tool takes it: a row for each token of many documents."""
    rng = random.Random(str(seed))
    rows = []
    for number in range(DOCUMENTS):
        tokens = list(english()(text(rng)))
        gold = tags(rng, [token.text for token in tokens])
        for token, annotation, prediction in zip(tokens, gold, noisy(rng, gold), strict=True):
            rows.append([number, token.text, token.idx, annotation, prediction, str(token.doc)])
    return pd.DataFrame(rows, columns=["sentence_id", "token", "start_indices", "annotation", "prediction", "text"])


def corpus(frame: Any, column: str) -> ss.Corpus:
    """Return the spans of a column of tags, and all tokens."""
    records = []
    for number, rows in frame.groupby("sentence_id"):
        places = [[int(row.start_indices), int(row.start_indices) + len(row.token)] for row in rows.itertuples()]
        spans = []
        for label, run in groupby(zip(rows[column], places, strict=True), key=lambda one: one[0]):
            run_places = [place for _, place in run]
            if label != "O":
                spans.append({"start": run_places[0][0], "end": run_places[-1][1], "label": label})
        records.append({"id": str(number), "text": rows["text"].iloc[0], "tokens": places, "spans": spans})
    return ss.Corpus.from_documents(records)


def skip(name: str, folder: Path) -> str:
    """Return the parameter for a list of skip words."""
    words = LISTS[name]
    if not words:
        return "none" if words == [] else "default"
    escapes = {"\n": "\\n", "\t": "\\t", " ": "\\s", "\\": "\\\\"}
    path = folder / "skip.txt"
    path.write_text("\n".join("".join(escapes.get(c, c) for c in word) or "\\e" for word in words))
    return f"@{path}"


def compare(theirs: Any, gold: ss.Corpus, pred: ss.Corpus, parameters: str, name: str = "presidio") -> int:
    """Compare all counts and ratios; return how many spans or tokens are annotated."""
    measures = [f"{name}({parameters})", f"{name}.pii({parameters})"]
    ours = ss.score(gold, pred, measures, beta=2)
    rows = {label: row for label, row in theirs.per_type.items() if row.num_annotated or row.num_predicted}
    assert set(rows) == set(ours[name].by_type)
    for label, row in rows.items():
        score = ours[name].by_type[label]
        counts = (row.true_positives, row.num_predicted, row.num_annotated)
        assert (score.counts["tp"], score.counts["predicted"], score.counts["annotated"]) == counts
        assert all(map(same, (score.precision, score.recall, score.f), (row.precision, row.recall, row.f_beta)))
    pii = ours[f"{name}.pii"]
    counts = (theirs.pii_true_positives, theirs.pii_predicted, theirs.pii_annotated)
    assert (pii.counts["tp"], pii.counts["predicted"], pii.counts["annotated"]) == counts
    ratios = (theirs.pii_precision, theirs.pii_recall, theirs.pii_f)
    assert all(map(same, (pii.precision, pii.recall, pii.f), ratios))
    return int(theirs.pii_annotated)


def same(ours: float, theirs: float) -> bool:
    return ours == theirs or (math.isnan(ours) and math.isnan(theirs))


def test_the_version() -> None:
    assert version("presidio-evaluator") == "0.3.2"


def test_the_default_skip_words() -> None:
    assert presidio_skip_words("default").words == frozenset(get_skip_words())


@pytest.mark.parametrize(("words", "threshold", "unit"), ALL, ids=str)
def test_tagged_tokens(words: str, threshold: float, unit: str, tmp_path: Path) -> None:
    frame = tagged((words, threshold, unit))
    evaluator = SpanEvaluator(iou_threshold=threshold, char_based=unit == "char", skip_words=LISTS[words])
    theirs = evaluator.calculate_score_on_df(frame, beta=2)
    sides = corpus(frame, "annotation"), corpus(frame, "prediction")
    assert compare(theirs, *sides, f"threshold={threshold}, unit={unit}, skip={skip(words, tmp_path)}") > DOCUMENTS


@pytest.mark.parametrize("generic", [None, "ID", "NUMBER"])
@pytest.mark.parametrize("words", LISTS)
def test_tokens(words: str, generic: str | None, tmp_path: Path) -> None:
    """Some tags are generic, except those of skip words: see the next test."""
    frame = tagged(("tokens", words, generic))
    rng = random.Random(f"{words} {generic}")
    skipped = set(LISTS[words] or get_skip_words()) if words != "none" else set()
    for column in ("annotation", "prediction"):
        frame[column] = [
            generic if generic and tag != "O" and token.lower().strip() not in skipped and rng.random() < 0.3 else tag
            for token, tag in zip(frame["token"], frame[column], strict=True)
        ]
    theirs = TokenEvaluator(skip_words=LISTS[words]).calculate_score_on_df(frame, beta=2)
    sides = corpus(frame, "annotation"), corpus(frame, "prediction")
    assert compare(theirs, *sides, f"skip={skip(words, tmp_path)}", "presidio.token") > DOCUMENTS


def test_generic_tags_of_skip_words_are_subtracted_twice_by_the_tool() -> None:
    """The word "of", tagged PERSON in the gold data and ID by the system, leaves the tool with minus one token."""
    rows = [[0, "of", 0, "PERSON", "ID", "of"], [1, "Ann", 0, "PERSON", "ID", "Ann"]]
    frame = pd.DataFrame(rows, columns=["sentence_id", "token", "start_indices", "annotation", "prediction", "text"])
    theirs = TokenEvaluator(skip_words=["of"]).compare(
        InputSample(full_text="of", tokens=["of"], tags=["PERSON"]), ["ID"]
    )[0]
    assert theirs == {("PERSON", "ID"): -1, ("PERSON", "PERSON"): 1}
    ours = ss.score(corpus(frame, "annotation"), corpus(frame, "prediction"), "presidio.token")["presidio.token"]
    assert ours.counts == {"tp": 2, "predicted": 2, "annotated": 2, "fp": 0, "fn": 0}


def test_tokens_of_a_dataset_are_where_the_tool_has_them(tmp_path: Path) -> None:
    rng = random.Random("tokens")
    documents = [english()(rng.choice(GAPS) + text(rng)) for _ in range(2000)]
    path = tmp_path / "dataset.json"
    samples = [{"full_text": one.text, "tokens": [t.text for t in one], "tags": ["O"] * len(one)} for one in documents]
    path.write_text(json.dumps(samples))
    places = [[(token.idx, token.idx + len(token)) for token in document] for document in documents]
    assert [document.tokens for document in ss.read(path).documents()] == places


@pytest.mark.parametrize("words", LISTS)
def test_a_type_that_is_never_found_has_no_f(words: str, tmp_path: Path) -> None:
    frame = tagged(words).head(40)
    frame["prediction"] = "O"
    theirs = SpanEvaluator(skip_words=LISTS[words]).calculate_score_on_df(frame, beta=2)
    assert compare(theirs, corpus(frame, "annotation"), corpus(frame, "prediction"), f"skip={skip(words, tmp_path)}")
    frame["prediction"] = ["ID" if tag != "O" else "O" for tag in frame["annotation"]]
    theirs = SpanEvaluator(skip_words=LISTS[words]).calculate_score_on_df(frame, beta=2)
    assert compare(theirs, corpus(frame, "annotation"), corpus(frame, "prediction"), f"skip={skip(words, tmp_path)}")


Place = tuple[int, int, str, float]


class Results(BaseModel):  # type: ignore[misc]
    """A model that gives results of presidio-analyzer to the tool as `PresidioAnalyzerWrapper` does."""

    def __init__(self, results: list[list[Place]]) -> None:
        super().__init__()
        self.results = results

    def predict(self, sample: InputSample, **kwargs: Any) -> list[str]:
        raise NotImplementedError

    def batch_predict(self, dataset: list[InputSample], **kwargs: Any) -> list[list[str]]:
        found = []
        for sample, results in zip(dataset, self.results, strict=True):
            starts, ends, labels, scores = ([one[i] for one in results] for i in range(4))
            found.append(span_to_tag("IO", sample.full_text, starts, ends, labels, scores, sample.tokens))
        return found


def spans(rng: random.Random, tokens: Any, length: int, scores: list[float]) -> list[Place]:
    """Return spans of a document that overlap, touch, nest, cut through tokens, or are empty."""
    found = {}
    for _ in range(rng.choice([0, 1, 2, 2, 3, 4, 6])):
        edges = [rng.choice(tokens) for _ in range(2)] if rng.random() < 0.75 else []
        start, end = sorted(rng.randint(0, length) for _ in range(2))
        if edges:
            start, end = min(token.idx for token in edges), max(token.idx + len(token) for token in edges)
        found[start, end, rng.choice(["PERSON", "LOC", "ORG"])] = rng.choice(scores)
    places = [(*place, score) for place, score in found.items()]
    # the order of presidio-analyzer: EntityRecognizer.remove_duplicates
    return sorted(sorted(places, key=lambda one: one[2]), key=lambda one: (-one[3], one[0], one[0] - one[1]))


@pytest.mark.parametrize(("words", "threshold", "unit"), ALL, ids=str)
def test_spans(words: str, threshold: float, unit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(loaded_spacy, "en_core_web_sm", english())
    rng = random.Random(f"spans {words} {threshold} {unit}")
    samples, results = [], []
    for number in range(DOCUMENTS):
        document = english()(text(rng))
        gold = spans(rng, document, len(document.text), [0.5])
        entities = [
            {"entity_type": label, "entity_value": document.text[a:b], "start_position": a, "end_position": b}
            for a, b, label, _ in gold
        ]
        samples.append({"full_text": document.text, "spans": entities, "sample_id": number})
        near = [(a, b, label, rng.choice([0.4, 0.85, 1.0])) for a, b, label, _ in gold if rng.random() < 0.7]
        more = spans(rng, document, len(document.text), [0.4, 0.85, 0.85, 1.0]) if rng.random() < 0.5 else []
        known = {one[:3]: one for one in [*near, *more]}.values()
        by_type = sorted(known, key=lambda one: one[2])
        results.append(sorted(by_type, key=lambda one: (-one[3], one[0], one[0] - one[1])))
    path = tmp_path / "dataset.json"
    path.write_text(json.dumps(samples))
    frame = Results(results).predict_dataset(InputSample.read_dataset_json(path))
    evaluator = SpanEvaluator(iou_threshold=threshold, char_based=unit == "char", skip_words=LISTS[words])
    theirs = evaluator.calculate_score_on_df(frame, beta=2)
    pred = ss.Corpus.from_documents(
        {
            "id": str(n),
            "spans": [{"start": a, "end": b, "label": label, "score": score} for a, b, label, score in found],
        }
        for n, found in enumerate(results)
    )
    parameters = f"threshold={threshold}, unit={unit}, skip={skip(words, tmp_path)}, tokenizer=spacy:en"
    assert compare(theirs, ss.read(path), pred, parameters) > DOCUMENTS / 2
