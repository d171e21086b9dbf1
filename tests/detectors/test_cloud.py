"""Requests and answers of cloud providers behind the detector `http`, by their documentation, over real HTTP."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import spanscore as ss
from spanscore.corpus.records import Document
from spanscore.detectors import Failure, detector
from spanscore.detectors.services import read_aws, read_azure, read_gcp

TEXT = "👩‍👩‍👧 Zoë Ångström, ann@example.org"
NAME, MAIL = "Zoë Ångström", "ann@example.org"
PLACES = {one: (TEXT.index(one), TEXT.index(one) + len(one)) for one in (NAME, MAIL)}


def in_units(unit: str) -> dict[str, tuple[int, int]]:
    """Return start and length of both in a unit of Azure's; the first character is one of its text elements."""
    sizes = {"utf16": [1 + (ord(c) > 0xFFFF) for c in TEXT], "codepoint": [1] * len(TEXT)}
    sizes["grapheme"] = [1, 0, 0, 0, 0] + [1] * (len(TEXT) - 5)
    size = sizes[unit]
    return {one: (sum(size[:a]), sum(size[a:b])) for one, (a, b) in PLACES.items()}


def azure(unit: str = "codepoint") -> dict[str, Any]:
    places = in_units(unit)
    entities = [
        {
            "text": NAME,
            "category": "Person",
            "offset": places[NAME][0],
            "length": places[NAME][1],
            "confidenceScore": 0.9,
        },
        {
            "text": MAIL,
            "category": "Email",
            "offset": places[MAIL][0],
            "length": places[MAIL][1],
            "confidenceScore": 0.8,
        },
    ]
    documents = [{"redactedText": "*", "id": "1", "entities": entities, "warnings": []}]
    return {
        "kind": "PiiEntityRecognitionResults",
        "results": {"documents": documents, "errors": [], "modelVersion": "1"},
    }


def aws() -> dict[str, Any]:
    (a, b), (c, d) = PLACES.values()
    name = {"Score": 0.9, "Type": "NAME", "BeginOffset": a, "EndOffset": b}
    return {"Entities": [name, {"Score": 0.8, "Type": "EMAIL", "BeginOffset": c, "EndOffset": d}]}


def gcp() -> dict[str, Any]:
    findings = []
    for said, kind, likelihood in ((NAME, "PERSON_NAME", "LIKELY"), (MAIL, "EMAIL_ADDRESS", "VERY_LIKELY")):
        start, end = PLACES[said]
        ranges = {"codepointRange": {"start": str(start), "end": str(end)}, "byteRange": {"start": "0", "end": "1"}}
        findings.append({"quote": said, "infoType": {"name": kind}, "likelihood": likelihood, "location": ranges})
    return {"result": {"findings": findings}}


@contextmanager
def serving(answer: Any) -> Iterator[tuple[str, list[Any]]]:
    """Serve one answer, and record the requests."""
    asked: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append((self.path, dict(self.headers), body))
            data = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

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


def found_by(url: str, **options: Any) -> list[tuple[str, str, float | None]]:
    made = detector("http", url=url, **options)
    made.describe()
    assert "key=" not in json.dumps(made.fingerprint())
    (found,) = made.detect([Document(id="d", text=TEXT, spans=[])])
    assert isinstance(found, list), found
    return [(TEXT[one.start : one.end], one.label, one.score) for one in found]


def test_aws() -> None:
    with serving(aws()) as (url, asked):
        assert found_by(url, request="aws") == [(NAME, "NAME", 0.9), (MAIL, "EMAIL", 0.8)]
    path, headers, body = asked[0]
    assert path == "/"
    assert headers["X-Amz-Target"] == "Comprehend_20171127.DetectPiiEntities"
    assert headers["Content-Type"] == "application/x-amz-json-1.1"
    assert body == {"LanguageCode": "en", "Text": TEXT}


def test_azure() -> None:
    with serving(azure()) as (url, asked):
        place = f"{url}/language/:analyze-text?api-version=2024-11-01&key=s3cret"
        assert found_by(place, request="azure", language="de") == [(NAME, "Person", 0.9), (MAIL, "Email", 0.8)]
    path, _, body = asked[0]
    assert path == "/language/:analyze-text?api-version=2024-11-01&key=s3cret"
    assert body["kind"] == "PiiEntityRecognition"
    assert body["parameters"]["stringIndexType"] == "UnicodeCodePoint"
    assert body["analysisInput"]["documents"] == [{"id": "1", "language": "de", "text": TEXT}]


def test_gcp() -> None:
    with serving(gcp()) as (url, asked):
        found = found_by(f"{url}/v2/projects/p/content:inspect", response="gcp", request="gcp")
    assert found == [(NAME, "PERSON_NAME", 0.8), (MAIL, "EMAIL_ADDRESS", 1.0)]
    assert asked[0][0] == "/v2/projects/p/content:inspect"
    assert asked[0][2] == {"item": {"value": TEXT}, "inspectConfig": {"includeQuote": True}}


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("gcp", {"result": {"findings": [{"infoType": "EMAIL", "location": {"codepointRange": [1, 2]}}]}}),
        ("azure", {"results": {"documents": [], "errors": [{"id": "1", "error": "boom"}]}}),
        ("aws", {"Entities": "none"}),
    ],
)
def test_a_malformed_answer_is_a_failure_of_its_document(name: str, answer: Any) -> None:
    with serving(answer) as (url, _):
        (found,) = detector("http", url=url, request=name).detect([Document(id="d", text=TEXT, spans=[])])
    assert isinstance(found, Failure)
    assert found.why.startswith("the service's answer does not have the expected layout: Expected `")


def test_a_custom_request(tmp_path: Path) -> None:
    (tmp_path / "request.json").write_text('{"documents": [{"text": "$text", "language": "$language", "id": "7"}]}')
    with serving(azure("utf16")["results"]) as (url, asked):
        found = found_by(f"{url}/v3.1", request=f"@{tmp_path}/request.json", response="azure")
    assert [one[0] for one in found] == [NAME, MAIL]
    assert asked[0][2] == {"documents": [{"text": TEXT, "language": "en", "id": "7"}]}
    (tmp_path / "request.json").write_text("{")
    with pytest.raises(ss.InputError, match="request.json: the request is not JSON"):
        detector("http", url="http://localhost:1", request=f"@{tmp_path}/request.json").describe()
    (tmp_path / "request.json").write_text('{"document": "text"}')
    with pytest.raises(ss.InputError, match=r'request.json: the request has no value "\$text"'):
        detector("http", url="http://localhost:1", request=f"@{tmp_path}/request.json").describe()


def test_the_query_of_an_address_is_sent() -> None:
    with serving([]) as (url, asked):
        assert found_by(f"{url}/analyze?model=v2") == []
    assert asked[0][0] == "/analyze?model=v2"


@pytest.mark.parametrize("secret", ["Bearer s3cret\n", "  Bearer s3cret\r\n"])
def test_white_space_around_a_secret_is_removed(secret: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPANSCORE_TEST_KEY", secret)
    with serving([]) as (url, asked):
        assert found_by(url, auth_env="SPANSCORE_TEST_KEY") == []
    assert asked[0][1]["Authorization"] == "Bearer s3cret"


@pytest.mark.parametrize("secret", ["Bearer s3\ncret", "Bearer €s3", "Bearer s3\x7f", "\n"])
def test_a_secret_that_no_header_can_have_is_refused(secret: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPANSCORE_TEST_KEY", secret)
    with pytest.raises(ss.UsageError, match="the environment variable SPANSCORE_TEST_KEY (has|is)") as caught:
        detector("http", url="http://localhost:1", auth_env="SPANSCORE_TEST_KEY").describe()
    assert "s3" not in str(caught.value)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("X Key: s3cret", "expected a header, Name: value."),
        ("X-Ké: s3cret", "expected a header, Name: value."),
        ("X-Key: €s3cret", "the value of the header has characters that a header cannot have"),
        ("X-Key: s3\0cret", "the value of the header has characters that a header cannot have"),
    ],
)
def test_headers_that_cannot_be_sent_are_refused(line: str, why: str, tmp_path: Path) -> None:
    file = tmp_path / "headers"
    file.write_text(f"\ufeffX-Fine: é\n{line}\n")
    with pytest.raises(ss.InputError, match=f"headers:2: {why}") as caught:
        detector("http", url="http://localhost:1", headers=str(file)).describe()
    assert "cret" not in str(caught.value)


@pytest.mark.parametrize("unit", ["codepoint", "utf16", "grapheme"])
def test_azure_counts_what_it_was_asked_to_count(unit: str) -> None:
    found = read_azure(azure(unit), TEXT)
    assert isinstance(found, list)
    assert [TEXT[one.start : one.end] for one in found] == [NAME, MAIL]


def test_a_start_of_zero_is_left_out() -> None:
    ranges = {"codepointRange": {"end": "3"}}
    finding = {"infoType": {"name": "PERSON_NAME"}, "location": ranges, "quote": "Ann"}
    found = read_gcp({"result": {"findings": [finding]}}, "Ann left")
    assert isinstance(found, list)
    assert [(one.start, one.end) for one in found] == [(0, 3)]
    assert read_gcp({"result": {}}, "") == []


@pytest.mark.parametrize(
    ("read", "answer", "why"),
    [
        (read_aws, {"Message": "no"}, "missing required field `Entities`"),
        (read_aws, [], "Expected `object`, got `array`"),
        (read_aws, {"Entities": [{"Type": "NAME", "Score": 1}]}, "`BeginOffset` - at `$.Entities[0]`"),
        (read_aws, {"Entities": [{"Type": "NAME", "BeginOffset": 0, "EndOffset": 99}]}, "not inside the text"),
        (read_azure, {"results": {"errors": [{"id": "1", "error": {"code": "InvalidDocument"}}]}}, "InvalidDocument"),
        (read_azure, {"results": {"errors": [{"id": "1", "error": "boom"}]}}, "at `$.errors[0].error`"),
        (read_azure, {"results": {"documents": []}}, "has no documents"),
        (read_azure, azure("utf16"), "do not match the strings it returned"),
        (read_gcp, {"result": {"findingsTruncated": True}}, "left out some of its findings"),
        (read_gcp, {"error": {}}, "missing required field `result`"),
        (read_gcp, {"result": {"findings": [{"infoType": "EMAIL"}]}}, "Expected `object`, got `str`"),
        (read_gcp, {"result": {"findings": [{"infoType": {"name": "A"}, "location": "x"}]}}, "at `$.result.findings"),
    ],
)
def test_answers_of_another_shape_are_failures(read: Any, answer: Any, why: str) -> None:
    found = read(answer, "Ann left")
    assert isinstance(found, Failure)
    assert why in found.why
