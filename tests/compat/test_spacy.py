"""The scorer for spaCy: found by its name, and used by a training config."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.cli.init_config import fill_config
from spacy.cli.train import train
from spacy.tokens import DocBin, Span
from spacy.training import Example
from spacy.util import registry

import spanscore as ss

CONFIG = """
[paths]
train = ""
dev = ""

[nlp]
lang = "en"
pipeline = ["ner"]

[components]

[components.ner]
factory = "ner"

[components.ner.scorer]
@scorers = "spanscore.scorer.v1"
measures = ["exact", "iou(threshold=0.5)", "leak"]

[corpora]

[corpora.train]
@readers = "spacy.Corpus.v1"
path = ${paths.train}

[corpora.dev]
@readers = "spacy.Corpus.v1"
path = ${paths.dev}

[training]
train_corpus = "corpora.train"
dev_corpus = "corpora.dev"
max_steps = 6
eval_frequency = 3
seed = 0

[training.optimizer]
@optimizers = "Adam.v1"

[training.batcher]
@batchers = "spacy.batch_by_sequence.v1"
size = 8

[training.score_weights]
exact_f = 0.5
iou_f = 0.5
"""


def examples() -> list[Any]:
    nlp = spacy.blank("en")
    found = []
    for gold, guess in ((("PERSON", 0, 2), ("PERSON", 0, 1)), (("CITY", 2, 3), ("CITY", 2, 3))):
        predicted, reference = nlp("Ann Lee saw Oslo"), nlp("Ann Lee saw Oslo")
        reference.ents = [Span(reference, gold[1], gold[2], label=gold[0])]
        predicted.ents = [Span(predicted, guess[1], guess[2], label=guess[0])]
        found.append(Example(predicted, reference))
    return found


def test_scores() -> None:
    scorer = registry.scorers.get("spanscore.scorer.v1")(measures=["exact", "iou(threshold=0.4)"])
    scores = scorer(examples())
    assert (scores["exact_p"], scores["exact_r"], scores["exact_f"]) == (0.5, 0.5, 0.5)
    assert scores["exact_per_type"]["CITY"] == {"p": 1.0, "r": 1.0, "f": 1.0}
    assert scores["iou_f"] == 1.0
    assert scorer([]) == dict.fromkeys(scores)


def test_examples_without_annotation_do_not_count() -> None:
    nlp = spacy.blank("en")
    scorer = registry.scorers.get("spanscore.scorer.v1")()
    assert scorer([Example(nlp("Ann"), nlp("Ann"))])["exact_f"] is None


def test_two_measures_of_one_name_are_refused() -> None:
    with pytest.raises(ss.UsageError, match="two measures have the same name"):
        registry.scorers.get("spanscore.scorer.v1")(measures=["iou", "iou(threshold=0.5)"])


@pytest.mark.filterwarnings("ignore")
def test_training(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    docs = DocBin()
    for name in ("Ann", "Bob", "Eve", "Zoe"):
        doc = nlp(f"{name} Lee saw Oslo .")
        doc.ents = [Span(doc, 0, 2, label="PERSON"), Span(doc, 3, 4, label="CITY")]
        docs.add(doc)
    docs.to_disk(tmp_path / "data.spacy")
    (tmp_path / "base.cfg").write_text(CONFIG)
    fill_config(tmp_path / "config.cfg", tmp_path / "base.cfg", silent=True)
    paths = {f"paths.{name}": str(tmp_path / "data.spacy") for name in ("train", "dev")}
    train(tmp_path / "config.cfg", tmp_path / "out", overrides=paths)
    trained = spacy.load(tmp_path / "out" / "model-last")
    performance = trained.meta["performance"]
    gold = ss.Corpus.from_spacy(docs.get_docs(trained.vocab))
    pred = ss.Corpus.from_spacy(trained(doc.text) for doc in docs.get_docs(trained.vocab))
    result = ss.score(gold, pred, ["exact", "iou(threshold=0.5)"])
    assert {name: performance[f"{name}_f"] for name in ("exact", "iou")} == {
        one.measure.name: pytest.approx(one.f) for one in result.scores
    }
    assert performance["iou_f"] > 0
