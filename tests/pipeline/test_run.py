"""`spanscore run` with the real presidio-analyzer, from a dataset to the output files."""

from __future__ import annotations

import csv
import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import spanscore as ss
from calls import spanscore, write
from spanscore.detectors import detector, texts_of
from spanscore.generate import generate

HERE = Path(__file__).parent
FILES = {
    "alignment.json",
    "report.html",
    "results.json",
    "confusion_matrix.html",
    "false_negatives.csv",
    "false_positives.csv",
    "leaks.csv",
    "summary.html",
    "metrics.json",
    "predictions.jsonl",
    "run.json",
}


def made_up(path: Path, count: int, locale: str = "en_US", seed: int = 7) -> None:
    lines = [
        json.dumps({"id": d.id, "text": d.text, "spans": [_span(s) for s in d.spans]})
        for d in generate(count, locale=locale, seed=seed)
    ]
    path.write_text("\n".join(lines) + "\n")


def _span(span: Any) -> dict[str, Any]:
    return {"start": span.start, "end": span.end, "label": span.label}


BLANK = ("--detector", "presidio(model=blank)")
"""Presidio without a model: the same everywhere, and quick."""


def metrics(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "metrics.json").read_text())
    return found


def numbers(folder: Path) -> dict[str, Any]:
    """Return the scores and counts, without what only the detector itself knows."""
    return {name: value for name, value in metrics(folder)["details"].items() if name != "not_looked_for"}


@pytest.mark.parametrize(("language", "locale"), [("en", "en_US"), ("de", "de_DE")])
def test_presidio_over_a_dataset(language: str, locale: str, tmp_path: Path) -> None:
    made_up(tmp_path / "data.jsonl", 60, locale)
    done = spanscore("run", "data.jsonl", *BLANK, "--language", language, "-o", "out", cwd=tmp_path)
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
    said = metrics(tmp_path / "out")
    assert list(said)[:4] == ["precision", "recall", "f1_score", "details"]
    details = said["details"]
    assert (details["total_samples"], details["samples_evaluated"], details["samples_discarded"]) == (60, 60, 0)
    assert details["pii_precision"] == said["precision"]
    p, r = said["precision"], said["recall"]
    assert said["f1_score"] == pytest.approx(5 * p * r / (4 * p + r))
    assert details["entity_recall_dict"]["EMAIL_ADDRESS"] == 1.0
    assert details["entity_precision_dict"]["PERSON"] is None
    assert {"LOCATION", "ORGANIZATION", "PERSON", "TITLE"} <= set(details["not_looked_for"])
    assert "EMAIL_ADDRESS" not in details["not_looked_for"]
    assert "the detector does not look for" in done.stderr.partition("detected 60")[0]
    assert re.search(r"PERSON \(not looked for\) +– +– +–", done.stdout)
    assert '>PERSON <span class="quiet">(not looked for)</span><' in (tmp_path / "out" / "summary.html").read_text()
    # scoring the predictions that were written gives the same numbers
    result = ss.score(
        ss.read(tmp_path / "data.jsonl"),
        _resolved(tmp_path / "out" / "predictions.jsonl"),
        ["iou", "iou.pii"],
        beta=2,
    )
    assert result["iou.pii"].recall == said["recall"]
    known = details["entity_recall_dict"]
    assert {k: None if math.isnan(v.recall) else v.recall for k, v in result["iou"].by_type.items()} == known


def _resolved(path: Path) -> ss.Corpus:
    from spanscore.align.pairing import without_repeats
    from spanscore.align.resolve import resolved

    return resolved(without_repeats(ss.read(path)), "score")[0]


def test_context_words_work_on_the_blank_pipeline() -> None:
    texts = ["My social security number is 536-22-1234.", "Order 536-22-1234 is on its way."]
    corpus = ss.Corpus.from_documents([{"id": str(i), "text": text, "spans": []} for i, text in enumerate(texts)])
    found = ss.detect(corpus, "presidio", language="en")
    assert found.score is not None
    scores = {
        found.ids[doc]: score
        for doc, label, score in zip(found.doc, found.label, found.score, strict=True)
        if found.labels[label] == "US_SSN"
    }
    assert scores["0"] > scores["1"]


@pytest.mark.slow
def test_offsets_in_unusual_texts(tmp_path: Path) -> None:
    mail = "ann.lee@example.com"
    texts = [
        f"Dr 😀 Zoë wrote: {mail}.",
        f"\u202bשלום {mail} مرحبا\u202c",
        f"line one\r\nline two: {mail}\r\n",
        "x " * 520_000 + mail,
        "a\u0301 " + mail + " 👩‍👩‍👧",
    ]
    documents = [
        {
            "id": f"=d{i}",
            "text": text,
            "spans": [{"start": text.index(mail), "end": text.index(mail) + len(mail), "label": "E-Mail"}],
        }
        for i, text in enumerate(texts)
    ]
    write(tmp_path / "data.jsonl", documents)
    spanscore("run", "data.jsonl", *BLANK, "-o", "out", cwd=tmp_path)
    said = metrics(tmp_path / "out")
    assert said["details"]["entity_recall_dict"] == {"EMAIL_ADDRESS": 1.0}
    found = ss.read(tmp_path / "out" / "predictions.jsonl")
    mails = found.label == found.labels.index("EMAIL_ADDRESS")
    for doc, start, end in zip(found.doc[mails], found.start[mails], found.end[mails], strict=True):
        assert texts[doc][start:end] == mail


@pytest.mark.slow
def test_documents_or_spans_of_unmapped_types_are_left_out(tmp_path: Path) -> None:
    text = "Ask ann@example.com at Camelot."
    mail = {"start": 4, "end": 19, "label": "email"}
    castle = {"start": 23, "end": 30, "label": "CASTLE"}
    write(
        tmp_path / "data.jsonl",
        [{"id": "a", "text": text, "spans": [mail]}, {"id": "b", "text": text, "spans": [mail, castle]}],
    )
    done = spanscore("run", "data.jsonl", *BLANK, "-o", "out", cwd=tmp_path)
    assert "1 document left out for entity types that no source knows: CASTLE" in done.stderr
    assert (
        "CASTLE; its 2 gold spans do not count (recall would be 0.333 instead of 1.000 (iou.pii) and 0.333 instead "
        "of 1.000 (iou) with them as missed); --allow-missing-mappings leaves out only the spans"
    ) in done.stderr
    details = metrics(tmp_path / "out")["details"]
    assert (details["samples_evaluated"], details["samples_discarded"], details["spans_discarded"]) == (1, 1, 2)
    said = json.loads((tmp_path / "out" / "alignment.json").read_text())
    assert said["gold"] == [
        {"label": "CASTLE", "to": None, "why": "not found in any source"},
        {"label": "email", "to": "EMAIL_ADDRESS", "why": "the default Presidio map"},
    ]
    assert said["discarded"] == [{"document": "b", "types": ["CASTLE"]}]
    spanscore("run", "data.jsonl", *BLANK, "-o", "out2", "--allow-missing-mappings", cwd=tmp_path)
    details = metrics(tmp_path / "out2")["details"]
    assert (details["samples_evaluated"], details["pii_counts"]["annotated"]) == (2, 2)
    assert (details["samples_discarded"], details["spans_discarded"]) == (0, 1)
    (tmp_path / "map.txt").write_text("CASTLE: LOCATION\n")
    spanscore("run", "data.jsonl", *BLANK, "-o", "out3", "--map", "map.txt", cwd=tmp_path)
    details = metrics(tmp_path / "out3")["details"]
    assert details["entity_recall_dict"] == {"EMAIL_ADDRESS": 1.0, "LOCATION": 0.0}
    assert details["spans_discarded"] == 0


def test_recall_with_the_spans_of_left_out_documents_as_missed(tmp_path: Path) -> None:
    text = "Ask ann@example.com or bob@example.com at Camelot, or Ann."
    mails = [{"start": 4, "end": 19, "label": "EMAIL"}, {"start": 23, "end": 38, "label": "EMAIL"}]
    castle = {"start": 42, "end": 49, "label": "CASTLE"}
    ann, dropped = {"start": 54, "end": 57, "label": "PERSON"}, {"start": 0, "end": 3, "label": "VERB"}
    documents = [
        {"id": "a", "text": text, "spans": [*mails, ann]},
        {"id": "b", "text": text, "spans": [*mails, castle, castle, dropped]},
        {"id": "c", "text": text, "spans": [{**castle, "label": "MOAT"}, ann]},
    ]
    write(tmp_path / "data.jsonl", documents)
    (tmp_path / "map.txt").write_text("VERB: null\n")
    done = spanscore("run", "data.jsonl", *BLANK, "-o", "out", "--map", "map.txt", cwd=tmp_path)
    assert (
        "2 documents left out for entity types that no source knows: CASTLE, MOAT; their 5 gold spans do not count "
        "(recall would be 0.250 instead of 0.667 (iou.pii) and 0.250 instead of 0.667 (iou) with them as missed)"
    ) in done.stderr
    said = metrics(tmp_path / "out")
    assert said["recall"] == pytest.approx(2 / 3)
    assert said["details"]["spans_discarded"] == 5
    # the same documents with their types known and nothing found in two of them
    kept = [json.loads(line) for line in (tmp_path / "out" / "predictions.jsonl").read_text().splitlines()]
    write(tmp_path / "kept.jsonl", [*kept, {"id": "b", "spans": []}, {"id": "c", "spans": []}])
    (tmp_path / "all.txt").write_text("VERB: null\nCASTLE: CASTLE\nMOAT: MOAT\n")
    replay = ("--detector", "replay(file=kept.jsonl)", "--map", "all.txt")
    spanscore("run", "data.jsonl", *BLANK, "-o", "all", *replay, cwd=tmp_path)
    assert metrics(tmp_path / "all")["recall"] == 0.25


def spacy_model(folder: Path, language: str = "en", **names: str) -> None:
    """Save a spaCy pipeline that finds these names."""
    import spacy

    pipeline = spacy.blank(language)
    ruler: Any = pipeline.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": label, "pattern": name} for label, name in names.items()])
    pipeline.to_disk(folder)


@pytest.mark.slow
def test_configurations_and_languages(tmp_path: Path) -> None:
    settings = (
        "nlp_engine_name: spacy\nmodels:\n  - lang_code: en\n    model_name: {}\n"
        "ner_model_configuration:\n  model_to_presidio_entity_mapping:\n    BURG: CASTLE\n"
    )
    (tmp_path / "nlp.yaml").write_text(settings.format("model"))
    (tmp_path / "missing.yaml").write_text(settings.format("no_such_model"))
    spacy_model(tmp_path / "model", BURG="Camelot")
    (tmp_path / "recognizers.yaml").write_text(
        "supported_languages: [en]\nrecognizers:\n  - name: Robot\n    type: custom\n    supported_entity: ROBOT\n"
        "    supported_languages: [en]\n    patterns:\n      - {name: robot, regex: 'R[0-9]D[0-9]', score: 0.9}\n"
    )
    (tmp_path / "odd.yaml").write_text("models: 5\nrecognizers: 5\nsupported_languages: 5\n")
    (tmp_path / "analyzer.yaml").write_text("supported_languages: [en, es]\ndefault_score_threshold: 0\n")
    spans = [{"start": 0, "end": 4, "label": "robot"}, {"start": 12, "end": 19, "label": "burg"}]
    write(tmp_path / "data.jsonl", [{"id": "a", "text": "R2D2 visits Camelot.", "spans": spans}])
    files = "nlp_config=nlp.yaml, recognizers_config=recognizers.yaml, analyzer_config=analyzer.yaml"
    configs = ("--detector", f"presidio({files})")
    done = spanscore("run", "data.jsonl", "-o", "out", *configs, cwd=tmp_path)
    assert "detector: spaCy model en_pipeline 0.0.0" in done.stderr
    details = metrics(tmp_path / "out")["details"]
    assert details["entity_recall_dict"] == {"CASTLE": 1.0, "ROBOT": 1.0}
    assert details["not_looked_for"] == []
    why = {one["label"]: one["why"] for one in json.loads((tmp_path / "out" / "alignment.json").read_text())["gold"]}
    assert why == {
        "burg": "the NLP configuration's model_to_presidio_entity_mapping",
        "robot": "the recognizers configuration's supported_entity",
    }
    for call, words in (
        ("nlp_config=missing.yaml", "missing.yaml: the spaCy model no_such_model is not installed (install it with: "),
        ("nlp_config=nlp.yaml, language=es", "nlp.yaml: no model is configured for es (only for en)"),
        ("nlp_config=nlp.yaml, model=blank", "the model is chosen by nlp.yaml; leave out model"),
        ("model=no_such_model", "the spaCy model no_such_model is not installed"),
        ("model=", "model is empty; model must be a string"),
        ("nlp_config=odd.yaml", "odd.yaml: cannot build Presidio from its configuration"),
        ("recognizers_config=odd.yaml", "odd.yaml: cannot build Presidio from its configuration"),
        ("analyzer_config=odd.yaml", "odd.yaml: cannot build Presidio from its configuration"),
    ):
        wrong = ("--detector", f"presidio({call})")
        assert words in spanscore("run", "data.jsonl", "-o", "o", *wrong, cwd=tmp_path, code=2).stderr
    said = spanscore("run", "data.jsonl", "-o", "o", *configs, "--language", "de", cwd=tmp_path, code=2).stderr
    assert said.endswith("the language 'de' is not supported; these are: en, es.\n")
    assert (
        "is not supported; these are: "
        in spanscore("run", "data.jsonl", "-o", "o", "--language", "xyz", cwd=tmp_path, code=2).stderr
    )
    said = spanscore("run", "data.jsonl", "-o", "o", "--entities", "ROBOT", cwd=tmp_path, code=2).stderr
    assert "There is no entity type .ROBOT." in said.replace("'", ".")
    (tmp_path / "nlp.yaml").write_text("a: [")
    assert (
        "nlp.yaml:1: the configuration is not valid YAML"
        in spanscore("run", "data.jsonl", "-o", "o", *configs, cwd=tmp_path, code=2).stderr
    )
    assert not (tmp_path / "o").exists()


@pytest.mark.slow
def test_a_language_that_no_recognizer_serves(tmp_path: Path) -> None:
    (tmp_path / "recognizers.yaml").write_text(
        "supported_languages: [en, de]\nrecognizers:\n  - name: Robot\n    type: custom\n    supported_entity: ROBOT\n"
        "    supported_languages: [{language: en}, {language: de}]\n    patterns:\n"
        "      - {name: robot, regex: 'R[0-9]D[0-9]', score: 0.9}\n"
    )
    spans = [{"start": 0, "end": 4, "label": "robot"}]
    write(tmp_path / "data.jsonl", [{"id": "a", "text": "R2D2 arrive.", "spans": spans}])
    call = ("run", "data.jsonl", "--detector", "presidio(recognizers_config=recognizers.yaml)")
    said = spanscore(*call, "--language", "fr", "-o", "out", cwd=tmp_path, code=2).stderr
    assert "no recognizer serves fr: the configured ones serve de, en, and no spaCy model for fr is installed" in said
    assert not (tmp_path / "out").exists()
    spanscore(*call, "--language", "de", "-o", "out", cwd=tmp_path)
    assert metrics(tmp_path / "out")["recall"] == 1.0


@pytest.mark.slow
def test_the_language_of_the_detector(tmp_path: Path) -> None:
    made_up(tmp_path / "data.jsonl", 10, "de_DE")
    spanscore("run", "data.jsonl", "--language", "de", "-o", "option", cwd=tmp_path)
    spanscore("run", "data.jsonl", "--detector", "presidio(language=de)", "-o", "detector", cwd=tmp_path)
    both = ("--detector", "presidio(language=de)", "--language", "de")
    spanscore("run", "data.jsonl", *both, "-o", "both", cwd=tmp_path)
    spanscore("run", "data.jsonl", "-o", "neither", cwd=tmp_path)
    found = {
        name: json.loads((tmp_path / name / "run.json").read_text())["detection"]["language"]
        for name in ("option", "detector", "both", "neither")
    }
    assert found == {"option": "de", "detector": "de", "both": "de", "neither": "en"}
    assert metrics(tmp_path / "option") == metrics(tmp_path / "detector") == metrics(tmp_path / "both")


def test_error_tables_are_safe_and_complete(tmp_path: Path) -> None:
    text = '=cmd|calc, "Ann"\nann@example.com'
    spans = [{"start": 12, "end": 15, "label": "PERSON"}, {"start": 0, "end": 9, "label": "PERSON"}]
    write(tmp_path / "data.jsonl", [{"id": "+1", "text": text, "spans": spans}])
    spanscore("run", "data.jsonl", *BLANK, "-o", "out", cwd=tmp_path)
    with (tmp_path / "out" / "false_negatives.csv").open(newline="") as file:
        missed = list(csv.DictReader(file))
    with (tmp_path / "out" / "false_positives.csv").open(newline="") as file:
        wrong = list(csv.DictReader(file))
    assert [row["text"] for row in missed] == ["'=cmd|calc", "Ann"]
    assert missed[0]["document"] == "'+1"
    assert missed[0]["verdict"] == "missed"
    assert [(row["predicted_type"], row["gold_type"], row["score"], row["text"]) for row in wrong] == [
        ("EMAIL_ADDRESS", "", "1.0", "ann@example.com")
    ]
    spanscore("run", "data.jsonl", *BLANK, "-o", "out2", "--no-text", cwd=tmp_path)
    assert "ann@" not in (tmp_path / "out2" / "false_positives.csv").read_text()


def test_replay_gives_the_same_numbers_without_detecting_again(tmp_path: Path) -> None:
    made_up(tmp_path / "data.jsonl", 40)
    spanscore("run", "data.jsonl", "-o", "out", cwd=tmp_path)
    replay = ("--detector", "replay(file=out/predictions.jsonl)")
    spanscore("run", "data.jsonl", "-o", "again", *replay, cwd=tmp_path)
    first = metrics(tmp_path / "out")
    assert numbers(tmp_path / "out") == numbers(tmp_path / "again")
    strict = ("--score-threshold", "0.6", "--beta", "1")
    spanscore("run", "data.jsonl", "-o", "strict", *replay, *strict, cwd=tmp_path)
    assert (
        metrics(tmp_path / "strict")["details"]["pii_counts"]["predicted"] < first["details"]["pii_counts"]["predicted"]
    )


PROGRAM = r"""
import json, re, sys
for line in sys.stdin:
    document = json.loads(line)
    if document["id"] == "bad":
        print(json.dumps({"error": "no"}))
        continue
    found = [{"start": m.start(), "end": m.end(), "label": "EMAIL", "score": 0.9} for m in re.finditer(r"\S+@\S+", document["text"])]
    print(json.dumps({"spans": found}))
"""


def test_any_program_and_any_function(tmp_path: Path) -> None:
    documents = [
        {"id": str(i), "text": f"write to a{i}@b.org", "spans": [{"start": 9, "end": 17 + (i > 9), "label": "EMAIL"}]}
        for i in range(30)
    ]
    write(tmp_path / "data.jsonl", documents)
    (tmp_path / "program.py").write_text(PROGRAM)
    call = ("--detector", f'command(run="{sys.executable} program.py")')
    spanscore("run", "data.jsonl", "-o", "out", *call, cwd=tmp_path)
    assert metrics(tmp_path / "out")["recall"] == 1.0
    (tmp_path / "mine.py").write_text(
        "import re\ndef find(text, language):\n    return [{'start': m.start(), 'end': m.end(), 'label': 'EMAIL'} for m in re.finditer(r'\\S+@\\S+', text)]\n"
    )
    function = ("--detector", "python(function=mine:find)", "--jobs", "2")
    spanscore("run", "data.jsonl", "-o", "py", *function, cwd=tmp_path)
    assert metrics(tmp_path / "py")["details"] == metrics(tmp_path / "out")["details"]
    write(tmp_path / "data.jsonl", [*documents[:3], {"id": "bad", "text": "x", "spans": []}])
    said = spanscore("run", "data.jsonl", "-o", "bad", *call, cwd=tmp_path, code=2).stderr
    why = "the command reported an error (its message may hold text and is not shown; let it write to stderr)"
    assert f'document "bad": the detector failed: {why}; that is more than --max-failures 0' in said
    done = spanscore("run", "data.jsonl", "-o", "bad", "--resume", "--max-failures", "1", *call, cwd=tmp_path)
    assert "the detector failed on 1 document; its gold spans count as missed." in done.stderr
    assert metrics(tmp_path / "bad")["failures"] == 1
    lines = [json.loads(line) for line in (tmp_path / "bad" / "predictions.jsonl").read_text().splitlines()]
    assert lines[-1]["meta"] == {"failure": why}
    for command, words in (
        ("false", "ended with exit code 1 after 0 answers"),
        ("no-such-program-here", "cannot run the command 'no-such-program-here'"),
        (
            f"{sys.executable} -c 'print(1); print(2); print(3); print(4); print(5)'",
            "is not a JSON object",
        ),
    ):
        wrong = ("--detector", f'command(run="{command}")', "--max-failures", "9", "--resume")
        assert words in spanscore("run", "data.jsonl", "-o", "bad2", *wrong, cwd=tmp_path, code=2).stderr


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    process = subprocess.Popen([sys.executable, str(HERE / "service.py")], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    port = process.stdout.readline().strip()
    yield f"http://127.0.0.1:{port}"
    process.kill()
    process.wait()
    process.stdout.close()


@pytest.mark.slow
def test_a_service_that_misbehaves(service: str, tmp_path: Path) -> None:
    made_up(tmp_path / "data.jsonl", 30)
    spanscore("run", "data.jsonl", *BLANK, "-o", "direct", cwd=tmp_path)
    http = ("--detector", f'http(url="{service}", timeout=1)')
    spanscore("run", "data.jsonl", "-o", "http", *http, "--jobs", "4", cwd=tmp_path)
    assert numbers(tmp_path / "http") == numbers(tmp_path / "direct")
    documents = [
        {
            "id": fault,
            "text": f"{{{fault}}} ann@example.com",
            "spans": [{"start": len(fault) + 3, "end": len(fault) + 18, "label": "EMAIL"}],
        }
        for fault in ("500", "drop", "slow", "junk", "none")
    ]
    write(tmp_path / "faults.jsonl", documents)
    spanscore("run", "faults.jsonl", "-o", "faults", *http, cwd=tmp_path)
    assert metrics(tmp_path / "faults")["details"]["entity_recall_dict"] == {"EMAIL_ADDRESS": 1.0}
    write(
        tmp_path / "worse.jsonl",
        [{**documents[0], "id": name, "text": f"{{{name}}} ann@example.com"} for name in ("always", "refuse")],
    )
    once_more = ("--detector", f'http(url="{service}", timeout=1, retries=1)', "--max-failures", "2")
    spanscore("run", "worse.jsonl", "-o", "worse", *once_more, cwd=tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "worse" / "predictions.jsonl").read_text().splitlines()]
    assert [line["meta"]["failure"] for line in lines] == [
        "the service answered with status 500 (2 tries)",
        "the service answered with status 400",
    ]


def test_a_service_can_be_used_again(service: str) -> None:
    text = "Write to ann@example.com."
    corpus = ss.Corpus.from_documents([{"id": str(i), "text": text, "spans": []} for i in range(5)])
    http = detector("http", url=service, retries=0, concurrency=2)
    assert "EMAIL_ADDRESS" in (http.describe().types.supported or ())
    found = [list(http.detect(texts_of(corpus))) for _ in range(2)]
    assert found[0] == found[1]
    assert all(isinstance(spans, list) and spans for spans in found[0])
    next(http.detect(texts_of(corpus)))  # not read to its end
    http.close()
    assert list(http.detect(texts_of(corpus))) == found[0]
    http.close()


def test_a_service_that_cannot_be_reached(tmp_path: Path) -> None:
    made_up(tmp_path / "data.jsonl", 3)
    call = ("run", "data.jsonl", "-o", "out", "--detector", 'http(url="http://127.0.0.1:9", retries=1)')
    assert "cannot reach the service at http://127.0.0.1:9: " in spanscore(*call, cwd=tmp_path, code=2).stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_run_that_was_killed_can_be_resumed(tmp_path: Path) -> None:
    made_up(tmp_path / "data.jsonl", 2000)
    call = [sys.executable, "-m", "spanscore", "run", "data.jsonl", "-o", "cut", "--jobs", "2"]
    process = subprocess.Popen(call, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    partial = tmp_path / "cut" / "predictions.partial.jsonl"
    deadline = time.monotonic() + 120
    while not (partial.exists() and partial.read_bytes().count(b"\n") > 300):
        assert process.poll() is None
        assert time.monotonic() < deadline
        os.sched_yield()
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = partial.read_bytes()
    assert 300 < kept.count(b"\n") < 2000
    assert not (tmp_path / "cut" / "metrics.json").exists()
    partial.write_bytes(kept + b'{"id": "torn')
    said = spanscore("run", "data.jsonl", "-o", "cut", cwd=tmp_path, code=2).stderr
    assert "this folder holds an unfinished run; give --resume" in said
    said = spanscore("run", "data.jsonl", "-o", "cut", "--resume", "--language", "de", cwd=tmp_path, code=2).stderr
    assert "this folder holds a different run (not the same language)" in said
    spanscore("run", "data.jsonl", "-o", "cut", "--resume", "--jobs", "2", cwd=tmp_path)
    done_before = len({json.loads(line)["id"] for line in kept.splitlines() if line.endswith(b"}")})
    about = json.loads((tmp_path / "cut" / "run.json").read_text())
    assert about["documents_detected_now"] == 2000 - done_before
    spanscore("run", "data.jsonl", "-o", "whole", "--jobs", "2", cwd=tmp_path)
    for name in ("metrics.json", "predictions.jsonl", "false_positives.csv", "confusion_matrix.html"):
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    assert {path.name for path in (tmp_path / "cut").iterdir()} == FILES
    spanscore("run", "data.jsonl", "-o", "whole", "--resume", cwd=tmp_path)
    assert json.loads((tmp_path / "whole" / "run.json").read_text())["documents_detected_now"] == 0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (["--detector", "nobody"], "There is no detector 'nobody'"),
        (["--detector", "http"], "http needs url (Address of the service"),
        (["--detector", "http(uri=x)"], "http has no option 'uri'; did you mean 'url'?"),
        (["--detector", "presidio(url=x)"], "presidio has no option 'url'"),
        (["--detector", "http(url=http://a=b)"], "quote the value of url"),
        (["--detector", "http(url=x, url=y)"], "url is given twice"),
        (["--detector", "http(url=x, timeout=0)"], "timeout must be a number greater than 0"),
        (["--detector", "command"], "command needs run (Program and its arguments"),
        (["--detector", "command(run='a \"b')"], "has an unclosed quotation mark"),
        (["--detector", "replay(file=none.jsonl)"], "none.jsonl: "),
        (["--detector", "python"], "python needs function (Function to call"),
        (["--detector", "python(function=nowhere)"], "write module:function"),
        (["--detector", "python(function=nowhere:f)"], "cannot import the module 'nowhere'"),
        (["--detector", "python(function=nowhere:f)", "--jobs", "2"], "cannot import the module 'nowhere'"),
        (["--detector", "replay(file=p.jsonl, language=de)", "--language", "fr"], "contradict each other"),
        (["--detector", "replay(file=p.jsonl, language=en)", "--language", "de"], "contradict each other"),
        (["--threshold", "2"], "between 0 and 1"),
        (["--jobs", "0"], "at least 1"),
        (["--entities", ","], "--entities needs at least one type"),
        (["--detector", "presidio(nlp_config=none.yaml)"], "none.yaml: cannot read the configuration"),
        (["--detector", "replay(file=p.jsonl, nlp_config=x)"], "replay has no option 'nlp_config'"),
    ],
)
def test_wrong_calls(call: list[str], words: str, tmp_path: Path) -> None:
    write(tmp_path / "data.jsonl", [{"id": "a", "text": "x", "spans": []}])
    assert words in spanscore("run", "data.jsonl", "-o", "out", *call, cwd=tmp_path, code=2).stderr
    assert not (tmp_path / "out").exists()


def test_a_dataset_without_text_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "data.jsonl", [{"id": "a", "spans": []}])
    said = spanscore("run", "data.jsonl", "-o", "out", cwd=tmp_path, code=2).stderr
    assert 'document "a": the document has no text, which a detector needs' in said
