"""The speed of other scorers on the first documents of the same data, in memory (neleval: from its lines). The
reference tools have their own environment: `.venv-parity/bin/python bench/peers.py GOLD PRED` prints their figures as JSON.
"""

from __future__ import annotations

import collections
import collections.abc
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

Pair = tuple[dict[str, Any], dict[str, Any]]


def documents(gold: Path, pred: Path, count: int) -> list[Pair]:
    """The first documents of both files."""
    with gold.open() as ours, pred.open() as theirs:
        return [(json.loads(a), json.loads(b)) for a, b in islice(zip(ours, theirs, strict=True), count)]


def words(text: str) -> Iterator[tuple[str, int]]:
    """The words of a text, and where they begin."""
    at = 0
    for word in text.split(" "):
        if word:
            yield word, at
        at += len(word) + 1


def tags(text: str, spans: list[dict[str, Any]], *, begin: bool) -> list[str]:
    """A tag for each word, by the span that it begins in."""
    found = []
    for _, at in words(text):
        span = next((one for one in spans if one["start"] <= at < one["end"]), None)
        if span is None:
            found.append("O")
        else:
            found.append(f"{'B' if at == span['start'] else 'I'}-{span['label']}" if begin else span["label"])
    return found


def presidio_evaluator(pairs: list[Pair]) -> Callable[[], object]:
    """SpanEvaluator on a table of tokens."""
    import pandas as pd
    from presidio_evaluator.evaluation import SpanEvaluator

    rows = []
    for number, (gold, pred) in enumerate(pairs):
        sides = (tags(gold["text"], one["spans"], begin=False) for one in (gold, pred))
        for (word, at), a, b in zip(words(gold["text"]), *sides, strict=True):
            rows.append({"sentence_id": number, "token": word, "start_indices": at, "annotation": a, "prediction": b})
    frame = pd.DataFrame(rows)
    return lambda: SpanEvaluator(iou_threshold=0.9).calculate_score_on_df(frame, beta=1)


def seqeval(pairs: list[Pair]) -> Callable[[], object]:
    """classification_report on IOB2 tags."""
    from seqeval.metrics import classification_report

    sides = [
        [tags(gold["text"], one["spans"], begin=True) for gold, one in ((p[0], p[i]) for p in pairs)] for i in (0, 1)
    ]
    return lambda: classification_report(sides[0], sides[1], output_dict=True, zero_division=0)


def neleval(pairs: list[Pair]) -> Callable[[], object]:
    """Spans and types as sets, from neleval's own lines, the only input that it has."""
    setattr(collections, "Sequence", collections.abc.Sequence)  # noqa: B010 - neleval expects these where they used to be
    setattr(np, "int", int)  # noqa: B010
    from neleval.document import Reader
    from neleval.evaluate import Evaluate

    def lines(place: int) -> list[str]:
        return [
            f"{pair[0]['id']}\t{span['start']}\t{span['end'] - 1}\tQ1\t1.0\t{span['label']}\n"
            for pair in pairs
            for span in pair[place]["spans"]
        ]

    gold, pred = lines(0), lines(1)
    return lambda: Evaluate(list(Reader(pred)), list(Reader(gold)), ["sets::span+type"])()


def nervaluate(pairs: list[Pair]) -> Callable[[], object]:
    """All four schemes."""
    from nervaluate.evaluator import Evaluator

    sides = [[one[i]["spans"] for one in pairs] for i in (0, 1)]
    labels = sorted({span["label"] for side in sides for one in side for span in one})
    return lambda: Evaluator(sides[0], sides[1], tags=labels, loader="dict").evaluate()


def spacy_scorer(pairs: list[Pair]) -> Callable[[], object]:
    """score_spans on groups of spans."""
    import spacy
    from spacy.scorer import Scorer
    from spacy.training import Example

    nlp = spacy.blank("en")
    examples = []
    for gold, pred in pairs:
        docs = []
        for one in (gold, pred):
            doc = nlp.make_doc(gold["text"])
            found = (doc.char_span(s["start"], s["end"], s["label"], alignment_mode="expand") for s in one["spans"])
            doc.spans["sc"] = [span for span in found if span is not None]
            docs.append(doc)
        examples.append(Example(docs[1], docs[0]))
    return lambda: Scorer.score_spans(
        examples, "spans_sc", getter=lambda doc, _: doc.spans["sc"], allow_overlap=True, labeled=True
    )


PEERS: dict[str, tuple[Callable[[list[Pair]], Callable[[], object]], int]] = {
    "presidio-evaluator": (presidio_evaluator, 400),
    "nervaluate": (nervaluate, 5_000),
    "seqeval": (seqeval, 5_000),
    "neleval": (neleval, 5_000),
    "spaCy's Scorer": (spacy_scorer, 3_000),
}


def main() -> None:
    """Print the speed of each."""
    warnings.simplefilter("ignore")
    gold, pred = Path(sys.argv[1]), Path(sys.argv[2])
    found = {}
    for name, (make, count) in PEERS.items():
        pairs = documents(gold, pred, count)
        action = make(pairs)
        times = []
        for _ in range(2):
            began = time.perf_counter()
            action()
            times.append(time.perf_counter() - began)
        spans = sum(len(one["spans"]) for pair in pairs for one in pair)
        found[name] = {
            "documents": count,
            "spans": spans,
            "seconds": min(times),
            "spans_per_second": spans / min(times),
        }
    names = ("presidio-evaluator", "nervaluate", "seqeval", "neleval", "spacy")
    print(json.dumps({"rates": found, "versions": {name: version(name) for name in names}}))


if __name__ == "__main__":
    main()
