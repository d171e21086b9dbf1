"""The modules of `spanscore.compat` and the libraries whose shape they have give the same, on random input."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from dataclasses import asdict
from importlib.metadata import version
from itertools import product
from typing import Any

import evaluate
import nervaluate
import numpy as np
import pandas as pd
import pytest
import seqeval.metrics
import seqeval.scheme
import spacy
from presidio_evaluator import InputSample, Span
from presidio_evaluator.evaluation import SpanEvaluator
from presidio_evaluator.models import BaseModel
from seqeval.metrics.sequence_labeling import get_entities
from seqeval.metrics.sequence_labeling import precision_recall_fscore_support as four_scores

import spanscore as ss
from spanscore.compat import huggingface, presidio
from spanscore.compat import nervaluate as our_nervaluate
from spanscore.compat import seqeval as ours
from spanscore.compat.tag_chunks import strict_chunks

SCHEMES = ("IOB1", "IOB2", "IOE1", "IOE2", "IOBES", "BILOU")
ODD = ["PER", "X-A", "B", "I", "E", "S", "O-A", "B-", "I--A", "B-A-B", ".-A", "Z", "-A", "O-", "S-_", "I-_"]
"""Tags that no scheme allows, but that seqeval's default mode reads somehow."""

Tags = list[list[str]]


def tags(rng: random.Random) -> tuple[Tags, Tags, bool]:
    """Return random gold and predicted tags, most of them illegal, and whether their prefix is a suffix."""
    prefixes, labels = rng.choice(["BIO", "BIESO", "IEO", "BILUO"]), rng.choice(["A", "ABC"])
    odd, suffix = rng.choice([0, 0, 0.2]), rng.random() < 0.3

    def tag() -> str:
        prefix = rng.choice(prefixes)
        if rng.random() < odd:
            return rng.choice(ODD)
        label = rng.choice(labels)
        return "O" if prefix == "O" else f"{label}-{prefix}" if suffix else f"{prefix}-{label}"

    gold = [[tag() for _ in range(rng.randint(0, 9))] for _ in range(rng.randint(1, 6))]
    used = [one for sentence in gold for one in sentence]
    return gold, [[one if rng.random() < 0.6 else rng.choice(used) for one in sentence] for sentence in gold], suffix


def called(function: Callable[..., Any], *arguments: Any, **options: Any) -> tuple[Any, list[str]]:
    """Return the result, or the name of the error, and the texts of warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = function(*arguments, **options)
        except Exception as error:
            result = "ValueError" if isinstance(error, KeyError) else type(error).__name__  # unknown prefixes
    return result, sorted({str(one.message) for one in caught})


def same(theirs: Any, our: Any) -> bool:
    """Compare to the last digit; types must be the same too."""
    if type(theirs) is not type(our):
        return False
    if isinstance(theirs, dict):
        return list(theirs) == list(our) and all(same(value, our[key]) for key, value in theirs.items())
    if isinstance(theirs, tuple | list):
        return len(theirs) == len(our) and all(map(same, theirs, our))
    if isinstance(theirs, str):
        return bool(theirs == our)
    return np.array_equal(np.asarray(theirs), np.asarray(our), equal_nan=True)


@pytest.mark.parametrize("seed", range(40))
def test_seqeval(seed: int) -> None:
    assert version("seqeval") == "1.2.2"
    rng = random.Random(seed)
    gold, pred, suffix = tags(rng)
    for zero, scheme in product(("warn", 0, 1), (None, "auto", *SCHEMES)):
        kind = getattr(seqeval.scheme, scheme or "", None)
        options = {"suffix": suffix, "zero_division": zero, "mode": scheme and "strict", "scheme": kind}
        for name, average in product(
            ("f1_score", "precision_score", "recall_score"), ("micro", "macro", "weighted", None)
        ):
            theirs = called(getattr(seqeval.metrics, name), gold, pred, average=average, **options)
            our = called(getattr(ours, name), gold, pred, average=average, **options)
            assert same(theirs, our), (name, average, options, theirs, our)
        for as_dict in (True, False):
            reports = [
                called(module.classification_report, gold, pred, digits=3, output_dict=as_dict, **options)
                for module in (seqeval.metrics, ours)
            ]
            assert same(*reports), options
    for name in ("accuracy_score", "performance_measure"):
        assert same(called(getattr(seqeval.metrics, name), gold, pred), called(getattr(ours, name), gold, pred))
    assert called(get_entities, gold, suffix)[0] == called(ours.get_entities, gold, suffix)[0]
    for beta in (0.5, 2, np.inf):
        both = [
            called(function, gold, pred, average="macro", beta=beta, suffix=suffix)
            for function in (four_scores, ours.precision_recall_fscore_support)
        ]
        assert same(*both)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_all_short_sequences_in_strict_mode(scheme: str) -> None:
    kind = getattr(seqeval.scheme, scheme)
    prefixes = {"IOB1": "BI", "IOB2": "BI", "IOE1": "IE", "IOE2": "IE", "IOBES": "BIES", "BILOU": "BILU"}[scheme]
    known = ["O", *(f"{prefix}{label}" for prefix in prefixes for label in ("-A", "-B", ""))]
    sentences = [list(one) for size in (1, 2, 3) for one in product(known, repeat=size)]
    for one in sentences:
        found = seqeval.scheme.Tokens(one, kind).entities
        theirs = [(entity.tag, entity.start, entity.end) for entity in found]
        (chunks,), names, _ = strict_chunks([[one]], {"BILOU": "BILUO"}.get(scheme, scheme), suffix=False)
        rows = zip(chunks.type.tolist(), chunks.begin.tolist(), chunks.end.tolist(), strict=True)
        assert [(names[code], begin, end) for code, begin, end in rows] == theirs, one


def plain(results: dict[str, Any]) -> dict[str, Any]:
    """Return results of nervaluate as dictionaries, types in order."""
    found = {key: {name: asdict(one) for name, one in results[key].items()} for key in ("overall", "overall_indices")}
    for key in ("entities", "entity_indices"):
        found[key] = {
            tag: {name: asdict(one) for name, one in results[key][tag].items()} for tag in sorted(results[key])
        }
    return found


@pytest.mark.parametrize("seed", range(100))
def test_nervaluate(seed: int) -> None:
    assert version("nervaluate") == "1.2.1"
    rng = random.Random(seed)
    known = ["O", "O", *(f"{prefix}-{label}" for prefix in "BI" for label in "ABC"[: rng.randint(1, 3)])]
    gold = [[rng.choice(known) for _ in range(rng.randint(1, 12))] for _ in range(rng.randint(1, 6))]
    pred = [[tag if rng.random() < 0.5 else rng.choice(known) for tag in one] for one in gold]
    options: dict[str, Any] = {
        "tags": rng.choice([["A", "B", "C"], ["A", "B"]]),
        "min_overlap_percentage": rng.choice([1.0, 25.0, 50.0, 75.0, 100.0]),
    }
    text = ["\n\n".join("\n".join(f"w\t{tag}" for tag in one) for one in side) for side in (gold, pred)]
    overlapping = [[placed(rng) for _ in range(4)] for _ in range(2)]
    for sides, loader in (((gold, pred), "list"), ((gold, pred), "default"), (text, "conll"), (overlapping, "dict")):
        theirs, our = (module.Evaluator(*sides, loader=loader, **options) for module in (nervaluate, our_nervaluate))
        assert plain(theirs.evaluate()) == plain(our.evaluate())
        assert theirs.results_to_csv() == our.results_to_csv()
        for mode, scheme in product(("overall", "entities"), ("strict", "exact", "partial", "ent_type")):
            assert theirs.summary_report(mode, scheme) == our.summary_report(mode, scheme)


def placed(rng: random.Random) -> list[dict[str, Any]]:
    """Return entities in order that may overlap each other."""
    starts = [rng.randint(0, 12) for _ in range(rng.randint(0, 6))]
    found = [{"label": rng.choice("AB"), "start": start, "end": start + rng.randint(0, 5)} for start in starts]
    return sorted(found, key=lambda one: (one["start"], one["end"], one["label"]))


def test_the_metric_is_one_of_evaluate() -> None:
    metric = huggingface.load()
    assert isinstance(metric, evaluate.Metric)
    gold, pred = [["B-PER", "I-PER", "O"], ["B-LOC"]], [["B-PER", "I-PER", "O"], ["O"]]
    expected = huggingface.compute(pred, gold, zero_division=0)
    assert metric.compute(predictions=pred, references=gold, zero_division=0) == expected
    for one, other in zip(pred, gold, strict=True):
        metric.add(prediction=one, reference=other)
    assert metric.compute(zero_division=0) == expected
    spans = [[{"start": 0, "end": 3, "label": "PER"}], []]
    assert huggingface.load("exact").compute(predictions=spans, references=spans)["overall_f1"] == 1.0


class Fixed(BaseModel):  # type: ignore[misc]
    """A model with given tags."""

    def __init__(self, found: list[list[str]]) -> None:
        super().__init__()
        self.found = found

    def predict(self, sample: InputSample, **kwargs: Any) -> list[str]:
        raise NotImplementedError

    def batch_predict(self, dataset: list[InputSample], **kwargs: Any) -> list[list[str]]:
        return self.found


WORDS = ["Ann", "Lee", "Oslo", "of", "the", "May", ",", "--", "U.S.", "don't", "Zoë", "x"]


def frame(seed: int) -> tuple[pd.DataFrame, list[InputSample]]:
    """Return the frame of `predict_dataset`, and the samples."""
    rng, nlp = random.Random(seed), spacy.blank("en")
    samples, found = [], []
    for number in range(40):
        doc = nlp(
            "".join(rng.choice(WORDS) + rng.choice([" ", " ", "  ", "\n", ""]) for _ in range(rng.randint(1, 12)))
        )
        tags_ = [rng.choice(["O", "PERSON", "LOC"]) for _ in doc]
        runs = [(token, tag) for token, tag in zip(doc, tags_, strict=True) if tag != "O"]
        spans = [Span(tag, token.text, token.idx, token.idx + len(token)) for token, tag in runs]
        starts = [token.idx for token in doc]
        sample = InputSample(doc.text, spans, tokens=doc, tags=tags_, sample_id=number, start_indices=starts)
        samples.append(sample)
        found.append([tag if rng.random() < 0.7 else rng.choice(["O", "PERSON"]) for tag in tags_])
    return Fixed(found).predict_dataset(samples), samples


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("words", [None, [], ["of", ",", "\n"]], ids=str)
def test_presidio_evaluator(seed: int, words: list[str] | None) -> None:
    table, _ = frame(seed)
    for threshold, characters in product((0.4, 0.9), (True, False)):
        options: dict[str, Any] = {"iou_threshold": threshold, "char_based": characters, "skip_words": words}
        theirs, our = (
            evaluator(**options).calculate_score_on_df(table, beta=2)
            for evaluator in (SpanEvaluator, presidio.SpanEvaluator)
        )
        known = {name: one for name, one in theirs.per_type.items() if one.num_annotated or one.num_predicted}
        assert set(known) == set(our.per_type)
        for name, one in known.items():
            ours_ = our.per_type[name]
            for number in ("precision", "recall", "f_beta", "num_predicted", "num_annotated", "true_positives"):
                assert np.array_equal(getattr(ours_, number), getattr(one, number), equal_nan=True), (name, number)
            assert (
                ours_.false_negatives == ours_.num_annotated - ours_.true_positives
            )  # the tool's do not always add up
            assert ours_.false_positives == ours_.num_predicted - ours_.true_positives
        for number in ("precision", "recall", "f", "predicted", "annotated", "true_positives"):
            assert np.array_equal(getattr(our, f"pii_{number}"), getattr(theirs, f"pii_{number}"), equal_nan=True), (
                number
            )
        assert our.n == theirs.n


def test_samples_of_presidio_evaluator() -> None:
    table, samples = frame(0)
    read = ss.Corpus.from_presidio_evaluator(samples)
    assert [document.text for document in read.documents()] == [sample.full_text for sample in samples]
    assert [len(document.spans) for document in read.documents()] == [len(sample.spans) for sample in samples]
    of_frame = ss.Corpus.from_presidio_evaluator(table)
    kept = {document.id: document.tokens for document in read.documents() if document.tokens}
    assert {document.id: document.tokens for document in of_frame.documents()} == kept
