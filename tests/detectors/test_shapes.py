"""What people's functions return: spans of spaCy, Presidio, Hugging Face pipelines and GLiNER."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spanscore as ss
from spanscore.corpus.records import Span
from spanscore.detectors import Failure, spans_of

TEXT = "😀 Ann Lee left."
ANN = (2, 9)


def spacy_doc() -> Any:
    spacy = pytest.importorskip("spacy")
    doc = spacy.blank("en")(TEXT)
    doc.ents = [doc.char_span(*ANN, label="PERSON")]
    return doc


def presidio_result() -> Any:
    analyzer = pytest.importorskip("presidio_analyzer")
    about = {"recognizer_name": "Mine"}
    return analyzer.RecognizerResult("PERSON", *ANN, 0.85, recognition_metadata=about)


@pytest.mark.parametrize(
    ("returned", "score", "attrs"),
    [
        (lambda: spacy_doc(), None, None),
        (lambda: spacy_doc().ents, None, None),
        (lambda: list(spacy_doc().ents), None, None),
        (lambda: spacy_doc().to_json(), None, None),
        (lambda: {"spans": [{"start": 2, "end": 9, "label": "PERSON"}]}, None, None),
        (lambda: {"entities": [{"start": 2, "end": 9, "label": "PERSON"}]}, None, None),
        (lambda: [presidio_result()], 0.85, {"recognizer": "Mine"}),
        (lambda: [presidio_result().to_dict()], 0.85, {"recognizer": "Mine"}),
        (
            lambda: [{"entity_group": "PERSON", "score": np.float32(0.5), "word": "Ann Lee", "start": 2, "end": 9}],
            0.5,
            None,
        ),
        (lambda: [{"start": 2, "end": 9, "text": "Ann Lee", "label": "PERSON", "score": 0.5}], 0.5, None),
        (lambda: ({"start": np.int64(2), "end": 9, "label": "PERSON"} for _ in range(1)), None, None),
        (lambda: [Span(2, 9, "PERSON", 0.25, {"kbid": "Q1"})], 0.25, {"kbid": "Q1"}),
        (lambda: [{"start": 2, "end": 9, "label": "PERSON", "attrs": {"a": 1, "b": [1]}}], None, {"a": 1}),
    ],
)
def test_shapes(returned: Any, score: float | None, attrs: Any) -> None:
    assert spans_of(returned(), len(TEXT)) == [Span(*ANN, "PERSON", score, attrs)]
    corpus = ss.Corpus.from_documents([{"id": "d", "text": TEXT, "spans": []}])
    found = ss.detect(corpus, "python", function=lambda text, language: returned())
    assert [(one.start, one.end, one.label) for one in next(iter(found.documents())).spans] == [(*ANN, "PERSON")]


def stops() -> Iterator[Any]:
    yield {"start": 0, "end": 1, "label": "A"}
    raise ValueError("text")


@pytest.mark.parametrize(
    ("returned", "why"),
    [
        ([{"entity": "B-PER", "index": 1, "score": 0.5, "word": "Ann", "start": 2, "end": 5}], "aggregation_strategy"),
        ({"start": 2, "end": 9, "label": "PERSON"}, "expected a list of spans, not a single span"),
        ({"persons": []}, 'the list "spans" is missing'),
        ([(2, 9, "PERSON")], "a span must be an object with start, end and label, not a tuple"),
        ([[2, 9, "PERSON"]], "a span must be an object with start, end and label, not a list"),
        (["Ann"], "a span must be an object with start, end and label, not a str"),
        ("Ann", "expected a list of spans, not str"),
        (None, "expected a list of spans, not NoneType"),
        ([{"start": None, "end": None, "entity_group": "PER"}], "no integer start and end"),
        (count(), "expected at most 1,000,000 spans for a text"),
        (stops(), r"cannot be read \(ValueError\)"),
    ],
)
def test_what_is_refused(returned: Any, why: str) -> None:
    found = spans_of(returned, len(TEXT))
    assert isinstance(found, Failure)
    assert re.search(why, found.why)


@pytest.mark.filterwarnings("error")
def test_asynchronous_functions_are_refused() -> None:
    async def find(text: str, language: str) -> list[Any]:
        return []

    corpus = ss.Corpus.from_documents([{"id": "d", "text": TEXT, "spans": []}])
    with pytest.raises(ss.UsageError, match=r"asynchronous \(async def\)"):
        ss.detect(corpus, "python", function=find)
    with pytest.raises(ss.SpanscoreError, match="returned a coroutine"):
        ss.detect(corpus, "python", function=lambda text, language: find(text, language))


ANSWERS = {
    "list": '[{"entity_group": "PERSON", "start": 2, "end": 9, "word": "Ann Lee"}]',
    "spacy": '{"text": "x", "ents": [{"start": 2, "end": 9, "label": "PERSON"}], "tokens": []}',
    "entities": '{"entities": [{"start": 2, "end": 9, "label": "PERSON"}]}',
    "spans": '{"id": "d", "spans": [{"entity_type": "PERSON", "start": 2, "end": 9, "score": 0.5}]}',
}


def answered(answer: str, folder: Path) -> ss.Corpus:
    """Return what a program finds that gives this answer to one line."""
    (folder / "answer").write_text(answer)
    corpus = ss.Corpus.from_documents([{"id": "d", "text": TEXT, "spans": []}])
    return ss.detect(corpus, "command", run=f"sh -c 'cat > /dev/null; cat {folder}/answer'")


@pytest.mark.parametrize("name", ANSWERS)
def test_programs_answer_in_the_same_shapes(name: str, tmp_path: Path) -> None:
    found = answered(ANSWERS[name], tmp_path)
    assert [(one.start, one.end, one.label) for one in next(iter(found.documents())).spans] == [(*ANN, "PERSON")]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ('{"id": "d"}', 'the list "spans" is missing'),
        ('{"error": "Ann Lee is unknown"}', "its message may hold text and is not shown; let it write to stderr"),
        ("[1]", "not a JSON object"),
        ('[[2, 9, "PERSON"]]', "a span must be an object with start, end and label, not a list"),
        ('{"start": 2, "end": 9, "label": "Ann"}', "expected a list of spans, not a single span"),
    ],
)
def test_answers_of_programs_that_are_refused(answer: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(ss.SpanscoreError, match=why) as caught:
        answered(answer, tmp_path)
    assert "Ann" not in str(caught.value)


def test_spans_of_a_group_need_their_doc() -> None:
    def group() -> Any:
        doc = spacy_doc()
        doc.spans["sc"] = list(doc.ents)
        return doc.spans["sc"]

    found = spans_of(group(), len(TEXT))
    assert isinstance(found, Failure)
    assert found.why.endswith("SpanGroup, which is useless without its Doc; return list(doc.spans[...])")
    kept = spacy_doc()
    kept.spans["sc"] = list(kept.ents)
    for held in (kept.spans["sc"], list(kept.spans["sc"])):
        assert spans_of(held, len(TEXT)) == [Span(*ANN, "PERSON", None)]
    corpus = ss.Corpus.from_documents([{"id": "d", "text": TEXT, "spans": []}])
    with pytest.raises(ss.SpanscoreError, match=r"return list\(doc.spans\[...\]\)"):
        ss.detect(corpus, "python", function=lambda text, language: group())
