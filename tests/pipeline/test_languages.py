"""Languages per document, types that are not looked for, and which recognizer made a prediction."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import spanscore as ss
from calls import spanscore, write
from spanscore.detectors import Failure, detector, texts_of
from spanscore.detectors.presidio import Presidio

ECHO = """
def find(text, language):
    return [{"start": 0, "end": len(text), "label": language.upper()}]
"""


def documents(*languages: Any) -> list[dict[str, Any]]:
    return [
        {"id": str(i), "text": f"text {i}", "spans": [], **({} if one is None else {"meta": {"language": one}})}
        for i, one in enumerate(languages)
    ]


def run(folder: Path, *more: str, code: int = 0) -> str:
    call = ("run", "data.jsonl", "-o", "out", "--detector", "python(function=echo:find)", *more)
    return spanscore(*call, cwd=folder, code=code).stderr


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_each_document_in_its_own_language(jobs: str, tmp_path: Path) -> None:
    (tmp_path / "echo.py").write_text(ECHO)
    write(tmp_path / "data.jsonl", documents(*["de-AT", "en", "DE", "fr_FR"] * 5))
    assert "warning" not in run(tmp_path, "--language", "auto", "--jobs", jobs)
    found = [json.loads(line) for line in (tmp_path / "out" / "predictions.jsonl").read_text().splitlines()]
    assert [one["id"] for one in found] == [str(i) for i in range(20)]
    assert [one["spans"][0]["label"] for one in found] == ["DE", "EN", "DE", "FR"] * 5
    about = json.loads((tmp_path / "out" / "run.json").read_text())
    assert about["detection"]["language"] == "auto"
    assert list(about["detection"]["fingerprint"]) == ["option function", "module echo", "Python"]


def test_documents_without_a_language_need_one(tmp_path: Path) -> None:
    (tmp_path / "echo.py").write_text(ECHO)
    write(tmp_path / "data.jsonl", documents("de", None, " "))
    said = run(tmp_path, "--language", "auto", code=2)
    assert 'document "1": 2 documents without meta.language; --language auto needs it in each' in said
    assert not (tmp_path / "out").exists()


def test_documents_in_another_language_are_counted_before_detection(tmp_path: Path) -> None:
    (tmp_path / "echo.py").write_text(ECHO)
    write(tmp_path / "data.jsonl", documents("de", "en-US", None, "fr", "de"))
    said = run(tmp_path, "--language", "en")
    warning = "3 of 5 documents name another language than en in meta.language: de (2), fr (1); --language auto"
    assert warning in said.partition("detected 5")[0]
    assert said.count(warning) == 1
    assert any(warning in one for one in json.loads((tmp_path / "out" / "metrics.json").read_text())["warnings"])


@pytest.mark.slow
def test_types_that_are_not_looked_for_in_one_language(tmp_path: Path) -> None:
    spans = [{"start": 0, "end": 4, "label": "ROBOT"}]
    both = [{**one, "text": "R2D2 a@b.org", "spans": spans} for one in documents("en", "de", "en")]
    write(tmp_path / "data.jsonl", both)
    call = ("run", "data.jsonl", "--detector", "presidio(model=blank)", "-o")
    (tmp_path / "map.txt").write_text("ROBOT: CREDIT_CARD\n")  # which Presidio looks for in English only
    said = spanscore(*call, "out", "--language", "auto", "--map", "map.txt", cwd=tmp_path).stderr
    what = "in de, the detector does not look for CREDIT_CARD (1 gold span)"
    assert f"{what}; it counts as missed where no other prediction covers it." in said
    assert "in en, the detector does not look for" not in said
    details = json.loads((tmp_path / "out" / "metrics.json").read_text())["details"]
    assert details["not_looked_for"] == []
    assert details["not_looked_for_by_language"] == {"de": ["CREDIT_CARD"]}
    assert "In de, the detector did not look for CREDIT_CARD" in (tmp_path / "out" / "summary.html").read_text()
    spanscore(*call, "de", "--language", "de", "--map", "map.txt", cwd=tmp_path)
    assert json.loads((tmp_path / "de" / "metrics.json").read_text())["details"]["not_looked_for"] == ["CREDIT_CARD"]


def test_ignored_labels_are_not_looked_for(tmp_path: Path) -> None:
    import spacy

    pipeline = spacy.blank("en")
    ruler: Any = pipeline.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "ORG", "pattern": "Acme"}, {"label": "PERSON", "pattern": "Ann"}])
    pipeline.to_disk(tmp_path / "model")
    (tmp_path / "nlp.yaml").write_text(
        f"nlp_engine_name: spacy\nmodels:\n  - lang_code: en\n    model_name: {tmp_path / 'model'}\n"
        "ner_model_configuration:\n  labels_to_ignore: [ORGANIZATION]\n"
        "  model_to_presidio_entity_mapping: {ORG: ORGANIZATION, PERSON: PERSON, GPE: LOCATION}\n"
    )
    looked = detector("presidio", nlp_config=str(tmp_path / "nlp.yaml")).describe().types.looked_for or ()
    assert "PERSON" in looked
    assert "ORGANIZATION" not in looked  # ignored
    assert "LOCATION" not in looked  # the model does not have it
    only = detector("presidio", nlp_config=str(tmp_path / "nlp.yaml"), entities=("PERSON",)).describe().types
    assert only.looked_for == ("PERSON",)


def test_the_recognizer_of_each_prediction_is_kept(tmp_path: Path) -> None:
    text = "Ask ann@example.com, or see https://example.org"
    spans = [{"start": 4, "end": 19, "label": "EMAIL_ADDRESS"}]
    write(tmp_path / "data.jsonl", [{"id": "a", "text": text, "spans": spans}])
    spanscore("run", "data.jsonl", "--detector", "presidio(model=blank)", "-o", "out", cwd=tmp_path)
    found = ss.read(tmp_path / "out" / "predictions.jsonl")
    assert set(found.attrs["recognizer"].tolist()) == {"EmailRecognizer", "UrlRecognizer"}


def test_a_text_that_fails_does_not_spoil_its_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """One text is analyzed wrongly by the NLP engine, whatever its batch."""
    presidio = Presidio(model="blank")
    presidio.describe()
    engine = presidio._loaded.nlp.engine
    convert = engine._doc_to_nlp_artifact

    def fail(doc: Any, language: str) -> Any:
        if "boom" in doc.text:
            raise ValueError(doc.text)
        return convert(doc, language)

    monkeypatch.setattr(engine, "_doc_to_nlp_artifact", fail)
    texts = ["a@example.com", "boom", "b@example.com"]
    corpus = ss.Corpus.from_documents([{"id": str(i), "text": text, "spans": []} for i, text in enumerate(texts)])
    first, second, third = presidio.detect(texts_of(corpus))
    assert second == Failure("Presidio raised ValueError")
    assert isinstance(first, list)
    assert isinstance(third, list)
    assert [one.label for one in (first[0], third[0])] == ["EMAIL_ADDRESS"] * 2


def test_a_detector_that_cannot_run_in_parallel_says_so(tmp_path: Path) -> None:
    write(tmp_path / "data.jsonl", documents("en", "en"))
    call = ("run", "data.jsonl", "-o", "out", "--detector", "replay(file=data.jsonl)", "--jobs", "2")
    said = spanscore(*call, cwd=tmp_path, code=2).stderr
    assert "the detector replay does not run in parallel; leave out --jobs" in said
    assert not (tmp_path / "out").exists()


def test_a_run_is_not_resumed_with_other_languages(tmp_path: Path) -> None:
    fails = "def find(text, language):\n    if text == 'text 2':\n        raise ValueError\n    return []\n"
    (tmp_path / "echo.py").write_text(fails)
    write(tmp_path / "data.jsonl", documents("de", "en", "en"))
    run(tmp_path, "--language", "auto", code=2)
    write(tmp_path / "data.jsonl", documents("en", "en", "en"))
    said = run(tmp_path, "--language", "auto", "--resume", code=2)
    assert "this folder holds a different run (not the same languages)" in said


def test_types_that_one_language_does_not_support_can_be_chosen(tmp_path: Path) -> None:
    """US_SSN has recognizers for English alone, and nothing looks for AGE."""
    text, german = "SSN 536-90-4399, ann@example.com", "Mail an ann@example.com, Alter 30"
    spans = [{"start": 4, "end": 15, "label": "US_SSN"}]
    age = [{"start": 31, "end": 33, "label": "AGE"}]
    data = [
        {"id": "a", "text": text, "spans": spans, "meta": {"language": "en"}},
        {"id": "b", "text": german, "spans": age, "meta": {"language": "de"}},
    ]
    write(tmp_path / "data.jsonl", data)
    call = ("run", "data.jsonl", "--detector", "presidio(model=blank)", "-o", "out", "-q", "--ci", "0.95")
    spanscore(*call, "--language", "auto", "--entities", "US_SSN,AGE", cwd=tmp_path)
    found = [json.loads(line) for line in (tmp_path / "out" / "predictions.jsonl").read_text().splitlines()]
    assert [[span["label"] for span in one["spans"]] for one in found] == [["US_SSN"], []]
    assert json.loads((tmp_path / "out" / "metrics.json").read_text())["details"]["not_looked_for"] == ["AGE"]
    said = spanscore(*call, "--entities", "US_SNN", cwd=tmp_path, code=2).stderr
    assert "did you mean 'US_SSN'" in said
    with pytest.raises(ss.UsageError, match="Presidio does not support AGE in en"):
        detector("presidio(entities=AGE, model=blank)").describe()


def test_detection_alone_takes_one_language() -> None:
    corpus = ss.Corpus.from_documents(documents("de", "en"))
    with pytest.raises(ss.UsageError, match="detect takes one language"):
        ss.detect(corpus, "presidio", language="auto")
