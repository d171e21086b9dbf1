"""The detector `openai` against a real HTTP server that speaks the protocol and can misbehave."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import spanscore as ss
from calls import spanscore, write
from spanscore.corpus.records import Document
from spanscore.detectors import Failure, detector
from spanscore.detectors.interface import Detection

KEY = "SPANSCORE_TEST_KEY"


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    server = Path(__file__).with_name("chat_server.py")
    process = subprocess.Popen([sys.executable, server], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield int(process.stdout.readline())
    process.kill()
    process.wait()
    process.stdout.close()


@pytest.fixture
def prompt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(KEY, "Bearer secret")
    (tmp_path / "prompt.txt").write_text("Find names in $language.")
    return str(tmp_path / "prompt.txt")


def ask(port: int, prompt: str, *texts: str, **options: Any) -> list[Detection]:
    documents = [Document(id=str(number), text=text, spans=[]) for number, text in enumerate(texts)]
    given = {"model": "tiny", "prompt": prompt, "auth_env": KEY, "wait": 0.01, **options}
    made = detector("openai", url=f"http://127.0.0.1:{port}/v1", **given)
    made.describe()
    return list(made.detect(documents))


def surfaces(found: Detection, text: str) -> list[str]:
    assert isinstance(found, list), found
    return [text[one.start : one.end] or f"invented {(one.attrs or {})['invented']}" for one in found]


def test_answers_are_placed_on_the_text(port: int, prompt: str) -> None:
    text = "😀 Zoe met Ann and [ann]. Zoe left."
    for options in ({}, {"schema": False}, {"labels": "person", "seed": 1}):
        (found,) = ask(port, prompt, text, **options)
        assert surfaces(found, text) == ["Zoe", "Ann", "Zoe", "invented nna"]
        assert {one.label for one in found} == {"person" if "labels" in options else "PERSON"}  # type: ignore[union-attr]  # surfaces checks it


@pytest.mark.parametrize(
    "fault", ["429", "500", "cut", "half", "schema", "choices", "fences", "think", "parts", "tool"]
)
def test_faults_that_pass(port: int, prompt: str, fault: str) -> None:
    text = f"{{{fault}}} Ann left."
    (found,) = ask(port, prompt, text)
    assert surfaces(found, text) == ["Ann"]


@pytest.mark.parametrize(
    ("fault", "options", "why"),
    [
        ("slow", {"timeout": 0.2, "retries": 0}, "did not answer within 0.2 seconds"),
        ("type", {"labels": "PERSON", "retries": 1}, r"a type that it was not given \(2 tries\)"),
        ("half", {"retries": 0}, r"does not follow the JSON schema \(1 try\)"),
        ("cut", {"retries": 0}, "the model's answer is cut off"),
        ("always", {"retries": 1}, r"status 500 \(2 tries\)"),
        ("filter", {}, "the service's content filter blocked the answer$"),
        ("refusal", {}, "the model refused to answer$"),
        ("tool", {"retries": 0}, r"the model called a tool instead of answering \(1 try\)"),
        (
            "model",
            {"model": "other"},
            "status 400, type invalid_request_error; if it does not support JSON schemas, use schema=false$",
        ),
        (
            "model",
            {"model": "other", "schema": False},
            "the service answered with status 400, type invalid_request_error$",
        ),
    ],
)
def test_faults_that_stay(port: int, prompt: str, fault: str, options: dict[str, Any], why: str) -> None:
    text = f"{{{fault}}} Ann stays {fault}."
    (found,) = ask(port, prompt, text, **options)
    assert isinstance(found, Failure)
    assert "Ann" not in found.why
    assert re.search(why, found.why), found.why


def test_a_run_counts_inventions(port: int, prompt: str, tmp_path: Path) -> None:
    gold = [{"start": 0, "end": 3, "label": "PERSON"}]
    write(tmp_path / "data.jsonl", [{"id": str(i), "text": f"Ann left {i} [evah].", "spans": gold} for i in range(5)])
    spec = f'openai(url="http://127.0.0.1:{port}/v1/chat/completions", model=tiny, prompt="{prompt}", auth_env={KEY})'
    spanscore("run", "data.jsonl", "--detector", spec, "-q", "-o", "out", "--jobs", "2", cwd=tmp_path)
    metrics = json.loads((tmp_path / "out" / "metrics.json").read_text())
    assert (metrics["recall"], metrics["precision"]) == (1.0, 0.5)
    assert (tmp_path / "out" / "false_positives.csv").read_text().count('"invented"') == 5
    run = (tmp_path / "out" / "run.json").read_text()
    assert "secret" not in run
    assert json.loads(run)["detection"]["detector"] == "openai"


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ss.InputError, match="cannot read the prompt"):
        detector("openai", url="http://localhost:1", model="m", prompt=str(tmp_path / "none")).describe()
    with pytest.raises(ss.UsageError, match="openai needs model"):
        detector("openai", url="http://localhost:1")
