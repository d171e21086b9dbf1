"""The detector `spacy` with a real pipeline, which the test makes from patterns and saves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import spanscore as ss
from calls import spanscore, write
from spanscore.corpus.records import Document
from spanscore.detectors import detector

TEXT = "😀 Zoë met Ann Lee in\u00a0Paris.\r\nمرحبا Ann Lee"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    spacy = pytest.importorskip("spacy")
    pipeline = spacy.blank("en")
    ruler = pipeline.add_pipe("entity_ruler")
    ruler.add_patterns(
        [
            {"label": "PERSON", "pattern": [{"TEXT": "Ann"}, {"TEXT": "Lee"}], "id": "Q1"},
            {"label": "PERSON", "pattern": "Zoë"},
            {"label": "GPE", "pattern": "Paris"},
        ]
    )
    folder: Path = tmp_path_factory.mktemp("spacy") / "model"
    pipeline.to_disk(folder)
    return folder


def test_entities_have_code_point_offsets(model: Path) -> None:
    texts = ss.Corpus.from_documents([{"id": "a", "text": TEXT, "spans": []}, {"id": "b", "text": "", "spans": []}])
    found = ss.detect(texts, "spacy", model=str(model))
    first, second = found.documents()
    assert [(TEXT[one.start : one.end], one.label) for one in first.spans] == [
        ("Zoë", "PERSON"),
        ("Ann Lee", "PERSON"),
        ("Paris", "GPE"),
        ("Ann Lee", "PERSON"),
    ]
    assert second.spans == []
    assert [(one.attrs or {}).get("kbid") for one in first.spans] == [None, "Q1", None, "Q1"]


def test_what_it_reports(model: Path, tmp_path: Path) -> None:
    made = detector("spacy", model=str(model), language="de")
    described = made.describe()
    assert described.types.supported == ("GPE", "PERSON")
    assert described.notes == ("the model is for the language en.",)
    before = made.fingerprint()
    assert before["package spacy"]
    assert str(model) not in json.dumps(before)
    moved = tmp_path / "copy"
    moved.mkdir()
    for path in model.rglob("*"):
        target = moved / path.relative_to(model)
        target.mkdir(exist_ok=True) if path.is_dir() else target.write_bytes(path.read_bytes())
    assert detector("spacy", model=str(moved), language="de").fingerprint() == before
    patterns = moved / "entity_ruler" / "patterns.jsonl"
    patterns.write_text(patterns.read_text().replace("Paris", "Rome"))
    assert detector("spacy", model=str(moved)).fingerprint() != before


@pytest.mark.parametrize("annotates", [True, False])
def test_a_span_ruler_counts_only_if_it_makes_entities(annotates: bool, tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy")
    pipeline = spacy.blank("en")
    ruler = pipeline.add_pipe("span_ruler", config={"annotate_ents": annotates})
    ruler.add_patterns([{"label": "PERSON", "pattern": "Ann"}])
    pipeline.to_disk(tmp_path / "model")
    described = detector("spacy", model=str(tmp_path / "model")).describe()
    assert described.types.supported == (("PERSON",) if annotates else None)
    assert described.notes == (() if annotates else ("the pipeline has no component that finds entities.",))


def test_the_time_of_a_batch_is_divided_among_its_documents(model: Path) -> None:
    documents = [Document(id=str(size), text="a" * size, spans=[]) for size in (9, 99, 0)]
    first, second, third = (seconds for _, seconds in detector("spacy", model=str(model)).timed(documents))
    assert 0 < third < first < second
    assert second == pytest.approx(10 * first)
    assert first == pytest.approx(10 * third)


def test_a_run(model: Path, tmp_path: Path) -> None:
    gold = [{"start": 10, "end": 17, "label": "PERSON"}]
    write(tmp_path / "data.jsonl", [{"id": str(i), "text": TEXT, "spans": gold} for i in range(3)])
    out = ("-q", "-o", "out", "--jobs", "2")
    spanscore("run", "data.jsonl", "--detector", f"spacy(model={model})", *out, cwd=tmp_path)
    metrics = json.loads((tmp_path / "out" / "metrics.json").read_text())
    assert (metrics["recall"], metrics["precision"]) == (1.0, 0.25)


def test_a_missing_model_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ss.UsageError, match="'nowhere' is neither installed nor a folder; installed: "):
        detector("spacy", model="nowhere").describe()
    texts = ss.Corpus.from_documents([{"id": "a", "text": TEXT, "spans": []}])
    with pytest.raises(ss.UsageError, match="'nowhere' is neither installed nor a folder"):
        ss.detect(texts, "spacy", model="nowhere")
    with pytest.raises(ss.SpanscoreError, match="cannot load the spaCy model"):
        detector("spacy", model=str(tmp_path)).describe()
