"""Corpora from objects in memory, and back: as the readers of the same layouts give them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest
import spacy
from hypothesis import given
from presidio_analyzer import RecognizerResult

import spanscore as ss
from spanscore.testing import pairs

TOKENS = [["Ann", "Lee", "met", "Bob"], ["Oslo"]]
TAGS = [["B-PER", "I-PER", "O", "B-PER"], ["B-LOC"]]


def spans(corpus: ss.Corpus) -> list[list[tuple[Any, ...]]]:
    return [[(one.start, one.end, one.label) for one in document.spans] for document in corpus.documents()]


PLACES = [[(0, 7, "PER"), (12, 15, "PER")], [(0, 4, "LOC")]]


def test_tags() -> None:
    corpus = ss.Corpus.from_tags(TOKENS, TAGS, ids=["a", "b"])
    assert spans(corpus) == PLACES
    assert corpus.ids.tolist() == ["a", "b"]
    assert next(corpus.documents()).text == "Ann Lee met Bob"
    assert corpus.tokens is not None


def test_illegal_tags_are_repaired_with_a_note_or_discarded() -> None:
    corpus = ss.Corpus.from_tags([["a", "b"]], [["I-X", "O"]], scheme="IOB2")
    assert spans(corpus) == [[(0, 1, "X")]]
    assert corpus.notes == (
        "1 of the transitions between tags are not legal in IOB2; each began a span (repair=begin).",
    )
    assert spans(ss.Corpus.from_tags([["a", "b"]], [["I-X", "O"]], scheme="IOB2", repair="discard")) == [[]]


@pytest.mark.parametrize(
    ("tokens", "tags", "message"),
    [
        ([["a"]], [], "from_tags: there are 1 list of tokens, but 0 of tags."),
        ([["a"]], [["O", "O"]], "tags[0]: there must be as many tags as tokens; there are 2 and 1."),
    ],
)
def test_tags_that_do_not_fit(tokens: Any, tags: Any, message: str) -> None:
    with pytest.raises(ss.InputError) as error:
        ss.Corpus.from_tags(tokens, tags)
    assert str(error.value) == message


@dataclass
class Names:
    names: list[str]


@dataclass
class Feature:
    feature: Names


class Dataset(list[dict[str, Any]]):
    """Rows with features, as a dataset of Hugging Face has them."""

    features: ClassVar[dict[str, Any]] = {"tokens": None, "ner_tags": Feature(Names(["O", "B-PER", "I-PER", "B-LOC"]))}


def test_dataset() -> None:
    numbers = [[1, 2, 0, 1], [3]]
    rows = [{"id": f"d{i}", "tokens": TOKENS[i], "ner_tags": numbers[i]} for i in range(2)]
    corpus = ss.Corpus.from_hf(Dataset(rows))
    assert spans(corpus) == PLACES
    assert corpus.ids.tolist() == ["d0", "d1"]
    assert spans(ss.Corpus.from_hf(rows, names=Dataset.features["ner_tags"].feature.names)) == PLACES
    with pytest.raises(ss.InputError, match="tags are numbers"):
        ss.Corpus.from_hf(rows)


def test_output_of_a_pipeline_with_numpy_numbers() -> None:
    output = [
        [{"entity_group": "PER", "score": np.float32(0.5), "word": "Ann Lee", "start": np.int64(0), "end": 7}],
        [],
        [
            {"entity": "B-LOC", "score": 0.5, "index": 1, "word": "Os", "start": 0, "end": 2},
            {"entity": "I-LOC", "score": 1.0, "index": 2, "word": "##lo", "start": 2, "end": 4},
        ],
    ]
    corpus = ss.Corpus.from_hf(output, texts=["Ann Lee met Bob", "x", "Oslo"])
    assert spans(corpus) == [[(0, 7, "PER")], [], [(0, 4, "LOC")]]
    assert corpus.score is not None
    assert corpus.score.tolist() == [0.5, 0.75]


def test_spacy_there_and_back() -> None:
    corpus = ss.Corpus.from_tags(TOKENS, TAGS, ids=["a", "b"])
    docs = corpus.to_spacy(spacy.blank("en"))
    assert [[(one.text, one.label_) for one in doc.ents] for doc in docs] == [
        [("Ann Lee", "PER"), ("Bob", "PER")],
        [("Oslo", "LOC")],
    ]
    assert ss.Corpus.from_spacy(docs).fingerprint == corpus.fingerprint
    grouped = corpus.to_spacy(language="en", group="sc")
    assert spans(ss.Corpus.from_spacy(grouped, group="sc")) == PLACES
    with pytest.raises(ss.InputError, match=r"docs\[0\]: expected a spaCy Doc, not str\."):
        ss.Corpus.from_spacy(["text"])


def test_what_spacy_cannot_hold_is_counted() -> None:
    corpus = ss.Corpus.from_arrays(["d"], [0, 0], [0, 1], [3, 3], ["A", "B"], text=["abc"])
    with pytest.warns(UserWarning, match="dropped: overlapping spans \\(1\\)"):
        (doc,) = corpus.to_spacy()
    assert [one.label_ for one in doc.ents] == ["A"]


def test_results_of_presidio() -> None:
    found = RecognizerResult("PERSON", 0, 7, 0.85, recognition_metadata={"recognizer_name": "SpacyRecognizer"})
    corpus = ss.Corpus.from_presidio([[found], []], ["Ann Lee met Bob", "Oslo"])
    assert spans(corpus) == [[(0, 7, "PERSON")], []]
    assert corpus.attrs["recognizer"].tolist() == ["SpacyRecognizer"]
    assert spans(ss.Corpus.from_presidio([[found.to_dict()], []], ids=["x", "y"])) == [[(0, 7, "PERSON")], []]
    with pytest.raises(ss.InputError, match=r"results\[0\]: \[0\]: the field 'entity_type' is missing"):
        ss.Corpus.from_presidio([[{"start": 0, "end": 1}]])
    with pytest.raises(ss.InputError, match="there are 1 list of results, but 2 texts"):
        ss.Corpus.from_presidio([[]], ["a", "b"])


def test_gliner() -> None:
    found = {"start": 0, "end": 7, "text": "Ann Lee", "label": "person", "score": np.float32(0.5)}
    corpus = ss.Corpus.from_gliner([[found]], ["Ann Lee met Bob"])
    assert spans(corpus) == [[(0, 7, "person")]]
    with pytest.raises(ss.InputError, match="not where the offsets say|is not"):
        ss.Corpus.from_gliner([[{**found, "start": 3}]], ["Ann Lee met Bob"])
    example = {"tokenized_text": TOKENS[0], "ner": [[0, 1, "PER"], [3, 3, "PER"]]}
    assert spans(ss.Corpus.from_gliner([example])) == PLACES[:1]


@dataclass
class Entity:
    entity_type: str
    entity_value: str
    start_position: int
    end_position: int


@dataclass
class InputSample:
    """The fields of presidio-evaluator's class of this name; the parity tests use the class itself."""

    full_text: str
    spans: list[Entity]
    tokens: Any = None
    tags: list[str] = field(default_factory=list)
    sample_id: int | None = None
    template_id: int | None = None
    metadata: dict[str, Any] | None = None


def test_samples_of_presidio_evaluator() -> None:
    doc = spacy.blank("en")("Ann Lee met Bob")
    samples = [
        InputSample(doc.text, [Entity("PERSON", "Ann Lee", 0, 7)], tokens=doc, tags=["PERSON"] * 2 + ["O"] * 2),
        InputSample("Oslo", [], sample_id=7, template_id=3, metadata={"Gender": "female"}),
    ]
    corpus = ss.Corpus.from_presidio_evaluator(samples)
    assert spans(corpus) == [[(0, 7, "PERSON")], []]
    assert corpus.ids.tolist() == ["0", "7"]
    assert corpus.meta["Gender"].tolist() == [None, "female"]
    tagged = InputSample("Ann Lee", [], tokens=["Ann", "Lee"], tags=["PERSON", "PERSON"])
    assert spans(ss.Corpus.from_presidio_evaluator([tagged])) == [[(0, 7, "PERSON")]]


FRAME = {
    "sentence_id": [0, 0, 0, 0, "b"],
    "token": ["Ann", "Lee", "met", "Bob", "Oslo"],
    "annotation": ["PERSON", "PERSON", "O", "PERSON", "LOCATION"],
    "prediction": ["PERSON", "O", "O", "O", "O"],
    "start_indices": [0, 4, 8, 12, 0],
}


def test_frame_of_presidio_evaluator() -> None:
    frame = pd.DataFrame(FRAME)
    gold = ss.Corpus.from_presidio_evaluator(frame)
    assert spans(gold) == [[(0, 7, "PERSON"), (12, 15, "PERSON")], [(0, 4, "LOCATION")]]
    assert [one.text for one in gold.documents()] == ["Ann Lee met Bob", "Oslo"]
    assert spans(ss.Corpus.from_presidio_evaluator(frame, "prediction")) == [[(0, 3, "PERSON")], []]
    with pytest.raises(ss.InputError, match="the frame has no column 'guess'"):
        ss.Corpus.from_presidio_evaluator(frame, "guess")
    with pytest.raises(ss.InputError, match="sentence_id 0: the token begins before the end of the one before it"):
        ss.Corpus.from_presidio_evaluator(frame.assign(start_indices=0))
    with pytest.raises(ss.InputError, match="characters are missing before this place"):
        ss.Corpus.from_presidio_evaluator(frame.assign(start_indices=[0, 4, 8, 10**12, 0]))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, lambda columns: pl.DataFrame(columns).to_arrow()])
def test_frames(make: Any) -> None:
    columns = {
        "id": ["a", "a", "b"],
        "start": [0, 12, None],
        "end": [7, 15, None],
        "label": ["PER", "PER", None],
        "score": [0.5, None, None],
    }
    corpus = ss.Corpus.from_pandas(make(columns))
    assert spans(corpus) == [[(0, 7, "PER"), (12, 15, "PER")], []]
    renamed = {"doc": columns["id"], "from": columns["start"], "to": columns["end"], "type": columns["label"]}
    fields = {"id": "doc", "start": "from", "end": "to", "label": "type"}
    assert spans(ss.Corpus.from_pandas(make(renamed), **fields)) == spans(corpus)
    with pytest.raises(ss.InputError, match="'start'"):
        ss.Corpus.from_pandas(make({"id": ["a"], "begin": [1]}))
    with pytest.raises(ss.UsageError, match="expected a data frame, not int"):
        ss.Corpus.from_pandas(3)


def test_a_row_with_an_end_needs_a_start(tmp_path: Path) -> None:
    with pytest.raises(ss.InputError, match=r"row\[1\].start: the start is empty, but the end is not"):
        ss.Corpus.from_pandas(pd.DataFrame({"id": ["a", "a"], "start": [0, None], "end": [3, 7], "label": ["P", "P"]}))
    path = tmp_path / "spans.csv"
    path.write_text("id,start,end,label\na,,7,P\n")
    with pytest.raises(ss.InputError, match="start: the start is empty, but the end is not"):
        ss.read(path)


def test_results_of_one_text_are_no_list_of_results() -> None:
    found: Any = [RecognizerResult("PERSON", 0, 3, 0.8)]
    with pytest.raises(ss.InputError, match="expected a list of results for each text, not RecognizerResult"):
        ss.Corpus.from_presidio(found, ["Ann"])
    with pytest.raises(ss.InputError, match="expected a list of results for each text, not dict"):
        ss.Corpus.from_presidio([{"entity_type": "PERSON", "start": 0, "end": 3, "score": 0.8}], ["Ann"])


@given(pair=pairs(texts=True))
def test_pandas_there_and_back(pair: tuple[ss.Corpus, ss.Corpus]) -> None:
    for corpus in pair:
        plain = corpus.with_columns(attrs={}, meta={}, tokens=None)
        again = ss.Corpus.from_pandas(plain.to_pandas(text=True))
        assert again.fingerprint == plain.fingerprint


def test_a_file_and_memory_give_the_same(tmp_path: Path) -> None:
    rows = [{"id": f"d{i}", "tokens": TOKENS[i], "ner_tags": TAGS[i]} for i in range(2)]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert ss.read(path, "hf").fingerprint == ss.Corpus.from_hf(rows).fingerprint
