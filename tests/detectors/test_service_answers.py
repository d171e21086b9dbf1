"""How detectors behind a web service take errors, refusals and versions, over real HTTP."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from calls import spanscore, write
from spanscore.corpus.records import Document
from spanscore.detectors import Failure, detector
from spanscore.detectors.interface import Detection
from spanscore.detectors.web_service import UNVERSIONED

Reply = tuple[int, Any]
AWS = {"Entities": [{"Type": "NAME", "BeginOffset": 0, "EndOffset": 3}]}
TEXT = "Ann left."


@contextmanager
def serving(reply: Callable[[int, str, Any], Reply]) -> Iterator[tuple[str, list[Any]]]:
    """Serve what a function of the request's number, path and body returns, and record paths and bodies."""
    asked: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or "null")
            asked.append((self.path, body))
            status, said = reply(len(asked), self.path, body)
            data = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            self.do_POST()

        def log_message(self, *arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def found_in(text: str, name: str, **options: Any) -> Detection:
    (found,) = detector(name, wait=0.01, **options).detect([Document(id="d", text=text, spans=[])])
    return found


def why(found: Detection) -> str:
    assert isinstance(found, Failure), found
    assert "Ann" not in found.why
    return found.why


@pytest.fixture
def prompt(tmp_path: Path) -> str:
    (tmp_path / "prompt.txt").write_text("Find names.")
    return str(tmp_path / "prompt.txt")


@pytest.mark.parametrize(
    "named",
    [
        "com.amazonaws.comprehend#TooManyRequestsException",
        "ThrottlingException",
        "com.amazon.coral.availability#ThrottlingException:http://internal.amazon.com/",
        "ServiceUnavailableException",
    ],
)
def test_throttling_by_aws_is_retried(named: str) -> None:
    with serving(lambda number, *_: (400, {"__type": named}) if number < 3 else (200, AWS)) as (url, asked):
        assert isinstance(found_in(TEXT, "http", url=url, request="aws"), list)
    assert len(asked) == 3


def test_errors_of_aws_are_named_but_their_messages_are_not_shown() -> None:
    errors = [
        ("com.amazonaws.comprehend#TextSizeLimitExceededException", ", code TextSizeLimitExceededException"),
        ("Ann left.", ""),
        (["Ann"], ""),
        ("A" * 101, ""),
    ]
    for named, shown in errors:
        with serving(lambda *_, named=named: (400, {"__type": named, "Message": TEXT})) as (url, asked):
            said = why(found_in(TEXT, "http", url=url, request="aws"))
        assert (said, len(asked)) == (f"the service answered with status 400{shown}", 1)
    with serving(lambda *_: (400, {"__type": "ThrottlingException"})) as (url, asked):
        said = why(found_in(TEXT, "http", url=url, request="aws", retries=1))
    assert said == "the service answered with status 400, code ThrottlingException (2 tries)"


SCHEMA = "; if it does not support JSON schemas, use schema=false"
TEMPERATURE = "; if it takes no temperature, use temperature=none"


@pytest.mark.parametrize(
    ("error", "options", "said"),
    [
        ({"code": "context_length_exceeded", "param": "messages", "type": "invalid_request_error"}, {},
         ", code context_length_exceeded, param messages, type invalid_request_error"),
        ({"code": None, "param": "response_format", "type": "invalid_request_error"}, {},
         f", param response_format, type invalid_request_error{SCHEMA}"),
        ({"code": None, "param": "response_format"}, {"schema": False}, ", param response_format"),
        ({"message": "response_format: no such field", "code": "BadRequest"}, {}, f", code BadRequest{SCHEMA}"),
        ({"message": "Ann left.", "code": 400, "param": None}, {}, SCHEMA),
        ("Ann left.", {}, SCHEMA),
        ({"code": "unsupported_value", "param": "temperature"}, {},
         f", code unsupported_value, param temperature{TEMPERATURE}"),
        ({"message": "temperature must be 1"}, {}, TEMPERATURE),
        ({"param": "temperature"}, {"temperature": None}, ", param temperature"),
        ({"code": "the name Ann", "param": "Ann left."}, {"schema": False}, ""),
    ],
)  # fmt: skip
def test_a_bad_request_is_explained_by_what_it_names(error: Any, options: Any, said: str, prompt: str) -> None:
    with serving(lambda *_: (400, {"error": error})) as (url, asked):
        shown = why(found_in(TEXT, "openai", url=url, model="m", prompt=prompt, **options))
    assert (shown, len(asked)) == (f"the service answered with status 400{said}", 1)


def chat(**message: Any) -> Any:
    reason = message.pop("reason", "stop")
    return {"choices": [{"message": {"role": "assistant", **message}, "finish_reason": reason}]}


def test_the_temperature_can_be_left_out(prompt: str) -> None:
    answer = chat(content='{"entities": [{"text": "Ann", "type": "PERSON"}]}')
    with serving(lambda *_: (200, answer)) as (url, asked):
        for given in ("", ", temperature=0.5", ", temperature=none"):
            made = detector(f'openai(url="{url}", model=m, prompt="{prompt}"{given})')
            assert detector(repr(made)) == made
            (found,) = made.detect([Document(id="d", text=TEXT, spans=[])])
            assert isinstance(found, list)
    assert [body.get("temperature", "left out") for _, body in asked] == [0, 0.5, "left out"]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (chat(content=None, refusal="I cannot speak about Ann."), "the model refused to answer"),
        (chat(content="", reason="content_filter"), "the service's content filter blocked the answer"),
    ],
)
def test_a_refusal_is_not_asked_for_again(answer: Any, said: str, prompt: str) -> None:
    with serving(lambda *_: (200, answer)) as (url, asked):
        assert why(found_in(TEXT, "openai", url=url, model="m", prompt=prompt)) == said
    assert len(asked) == 1


def test_no_request_is_sent_for_an_empty_text(prompt: str) -> None:
    with serving(lambda *_: (400, {})) as (url, asked):
        for options in ({"request": "aws"}, {"request": "azure"}, {"request": "gcp"}, {}):
            assert found_in("", "http", url=url, **options) == []
        assert found_in("", "openai", url=url, model="m", prompt=prompt) == []
        assert not asked
        assert why(found_in(" ", "http", url=url))
        assert len(asked) == 1


def test_a_service_that_does_not_tell_its_version_causes_a_note() -> None:
    with serving(lambda _, path, body: (200, ["PERSON"]) if "supported" in path else (404, {})) as (url, _):
        described = detector("http", url=url).describe()
    assert (described.types.supported, described.notes) == (("PERSON",), (UNVERSIONED,))
    with serving(lambda _, path, body: (200, {"info": {"version": "2"}}) if "openapi" in path else (404, {})) as (
        url,
        _,
    ):
        made = detector("http", url=url)
        assert made.describe().notes == ()
        assert made.fingerprint()["service version"] == "2"


def test_the_version_of_a_service_is_asked_for_again() -> None:
    def reply(number: int, path: str, body: Any) -> Reply:
        return (503, {}) if number % 3 else (200, {"version": "7"} if path == "/version" else [])

    with serving(reply) as (url, asked):
        made = detector("http", url=url, wait=0.01)
        assert made.describe().notes == ()
        assert made.fingerprint()["service version"] == "7"
    assert [path.partition("?")[0] for path, _ in asked] == ["/supportedentities"] * 3 + ["/version"] * 3


def azure(version: str) -> Any:
    return {"results": {"documents": [{"id": "1", "entities": []}], "errors": [], "modelVersion": version}}


def answered_by(url: str, name: str, **options: Any) -> frozenset[str] | None:
    made = detector(name, url=url, **options)
    assert (UNVERSIONED in made.describe().notes) is (made.answered_by() is None)
    assert all(isinstance(one, list) for one in made.detect([Document(id="d", text=TEXT, spans=[])]))
    return made.answered_by()


@pytest.mark.parametrize(
    ("answer", "options", "told"),
    [
        (azure("2023-09-01"), {"request": "azure"}, {"2023-09-01"}),
        (azure("2023-09-01")["results"], {"request": "azure"}, {"2023-09-01"}),
        ({**AWS, "ModelVersion": "2.0.0"}, {"request": "aws-medical"}, {"2.0.0"}),
        ({**AWS, "ModelVersion": {"a": 1}}, {"request": "aws-medical"}, set()),
        (AWS, {"request": "aws"}, None),
        ({"result": {}}, {"request": "gcp"}, None),
    ],
)
def test_versions_in_answers(answer: Any, options: Any, told: Any) -> None:
    with serving(lambda *_: (200, answer)) as (url, _):
        assert answered_by(url, "http", **options) == told


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"model": "m-2024-08-06", "system_fingerprint": "fp_1"}, {"m-2024-08-06 fp_1"}),
        ({"model": "m", "system_fingerprint": "fp_1"}, {"m fp_1"}),
        ({"model": "m", "system_fingerprint": None}, set()),
        ({}, set()),
    ],
)
def test_versions_in_answers_of_language_models(more: Any, told: Any, prompt: str) -> None:
    with serving(lambda *_: (200, {**chat(content='{"entities": []}'), **more})) as (url, _):
        assert answered_by(url, "openai", model="m", prompt=prompt) == told


def test_a_run_records_the_versions_that_answered(tmp_path: Path) -> None:
    def reply(number: int, path: str, body: Any) -> Reply:
        text = body["analysisInput"]["documents"][0]["text"]
        return (404, {}) if version == "1" and "3" in text else (200, azure(version) if version else AZURE_SILENT)

    gold = [{"start": 0, "end": 3, "label": "PERSON"}]
    write(tmp_path / "data.jsonl", [{"id": str(i), "text": f"Ann {i}", "spans": gold} for i in range(4)])
    with serving(reply) as (url, _):

        def run(out: str, *more: str, code: int = 0) -> str:
            detector = f'http(url="{url}", request=azure)'
            return spanscore(
                "run", "data.jsonl", "--detector", detector, "-o", out, *more, cwd=tmp_path, code=code
            ).stderr

        version = "1"
        assert "does not tell its version" not in run("out", code=2)
        assert json.loads((tmp_path / "out" / "run.partial.json").read_text())["service_versions"] == ["1"]
        version = "2"
        several = "several versions of the service answered: 1, 2."
        assert several in run("out", "--resume")
        about = json.loads((tmp_path / "out" / "run.json").read_text())
        assert (about["service_versions"], about["versions"]["service"]) == (["1", "2"], "1, 2")
        assert several in about["warnings"]
        assert several in run("out", "--resume")  # which has nothing left to do
        assert "versions of the service" not in run("one")
        assert json.loads((tmp_path / "one" / "run.json").read_text())["service_versions"] == ["2"]
        version = ""
        assert UNVERSIONED in run("none")


AZURE_SILENT = {"results": {"documents": [{"id": "1", "entities": []}]}}
