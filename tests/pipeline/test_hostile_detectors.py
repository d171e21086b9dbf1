"""Detectors that answer late, forever, too much, or for other documents: each ends in time, with one sentence."""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import spanscore as ss
from calls import started as spanscore
from calls import write
from spanscore.detectors import Failure, detector, http_client, texts_of
from spanscore.errors import SpanscoreError

DOCUMENTS = ss.Corpus.from_documents([{"id": "d1", "text": "Ann left.", "spans": []}])
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def drip(data: bytes) -> Iterator[bytes]:
    """One byte at a time, each well within the timeout of a single read."""
    for byte in data:
        time.sleep(0.05)
        yield bytes([byte])


FAULTS = {
    "silence": lambda: drip(b""),
    "a status line byte by byte": lambda: drip(HEAD * 9),
    "headers byte by byte": lambda: iter([HEAD, *drip(b"X-A: " + b"a" * 999)]),
    "a body byte by byte": lambda: iter([HEAD + b"Content-Length: 999\r\n\r\n", *drip(b" " * 999)]),
    "a chunk size byte by byte": lambda: iter([HEAD + b"Transfer-Encoding: chunked\r\n\r\n", *drip(b"0" * 999)]),
    "endless 100 Continue": lambda: iter(lambda: b"HTTP/1.1 100 Continue\r\n\r\n" * 50, b""),
    "endless 103 Early Hints": lambda: iter(lambda: b"HTTP/1.1 103 Early Hints\r\n\r\n" * 50, b""),
    "an endless body": lambda: endless(),
    "an endless header line": lambda: endless(HEAD + b"X-A: "),
    "endless headers": lambda: endless(HEAD, b"X-A: a\r\n" * 4096),
}  # fmt: skip


def endless(first: bytes = HEAD + b"\r\n[", more: bytes = b" " * 65536) -> Iterator[bytes]:
    yield first
    while True:
        yield more


@contextmanager
def server(fault: str) -> Iterator[str]:
    """A server that answers every request with a fault, until its clients have gone."""
    listening = socket.create_server(("127.0.0.1", 0))

    def answer(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.recv(65536)
            for piece in FAULTS[fault]():
                connection.sendall(piece)
            connection.recv(65536)  # wait for the client to hang up

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listening.accept()
                threading.Thread(target=answer, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        listening.close()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_service_has_one_deadline_for_its_whole_answer(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "LARGEST", 1 << 22)
    with server(fault) as url:
        made = detector("http", url=url, timeout=0.4, retries=0)
        began = time.monotonic()
        found = list(made.detect(texts_of(DOCUMENTS)))
        assert time.monotonic() - began < 5
    assert isinstance(found[0], Failure)
    assert any(
        words in found[0].why for words in ("did not answer within 0.4", "larger than", "connection", "status 103")
    ), found[0]


def test_a_program_that_is_ended_within_a_line_did_not_answer_in_time(tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text("import sys, time\nprint('{', end='', flush=True)\ntime.sleep(60)\n")
    made = detector("command", run=f"{sys.executable} {tmp_path / 'p.py'}", timeout=1)
    with pytest.raises(SpanscoreError, match="did not answer within 1 seconds"):
        list(made.detect(texts_of(DOCUMENTS)))


def test_a_packed_answer_is_not_unpacked() -> None:
    """A client that offers no encoding gets none; a few kilobytes would unpack to any size."""
    import gzip

    bomb = gzip.compress(b"[" + b" " * 50_000_000 + b"]")
    FAULTS["bomb"] = lambda: iter([HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb) + bomb])
    with server("bomb") as url:
        found = list(detector("http", url=url, retries=0).detect(texts_of(DOCUMENTS)))
    assert isinstance(found[0], Failure)
    assert "not JSON" in found[0].why


PROGRAMS = {
    "silent": "import time\nsys.stdin.read()\ntime.sleep(60)\n",
    "silent with a child": "import os, time\nos.fork()\ntime.sleep(60)\n",
    "endless line": "while True:\n    sys.stdout.write('x' * 65536)\n",
    "another id": "print(json.dumps({'id': 0, 'spans': []}))\nsys.stdin.read()\n",
    "an id that is true": "print(json.dumps({'id': True, 'spans': []}))\nsys.stdin.read()\n",
    "an id that is null": "print(json.dumps({'id': None, 'spans': []}))\nsys.stdin.read()\n",
    "an id that is a list": "print(json.dumps({'id': ['d1'], 'spans': []}))\nsys.stdin.read()\n",
}
WORDS = {"silent": "did not answer within 0.5 seconds", "endless": "line of more than", "another": "a different id than", "an": "a different id than"}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_that_hangs_or_answers_for_others(name: str, tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text("import json, sys\n" + PROGRAMS[name])
    patience = 0.5 if name.startswith("silent") else 30
    made = detector("command", run=f"{sys.executable} {tmp_path / 'p.py'}", timeout=patience)
    began = time.monotonic()
    with pytest.raises(SpanscoreError, match=WORDS[name.split()[0]]):
        list(made.detect(texts_of(DOCUMENTS)))
    assert time.monotonic() - began < 30


def test_an_answer_may_name_its_document_as_a_number(tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text(
        "import json, sys\nfor line in sys.stdin:\n    print(json.dumps({'id': 7, 'spans': []}))\n"
    )
    made = detector("command", run=f"{sys.executable} {tmp_path / 'p.py'}")
    seven = ss.Corpus.from_documents([{"id": "7", "text": "Ann", "spans": []}])
    assert list(made.detect(texts_of(seven))) == [[]]


FUNCTIONS = """
import re, time
def sleeps(text, language):
    time.sleep(60)
def swallows(text, language):
    while True:
        try:
            time.sleep(60)
        except Exception:
            pass
def backtracks(text, language):
    return re.match("(a*)*b", "a" * 60)
def surrogate(text, language):
    return [{"start": 0, "end": 1, "label": "A\\ud800"}]
def long(text, language):
    return [{"start": 0, "end": 1, "label": "A" * 1001}]
"""


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_function_that_does_not_return_is_a_failure_of_its_document(jobs: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(FUNCTIONS)
    write(tmp_path / "data.jsonl", [{"id": str(i), "text": "Ann", "spans": []} for i in range(2)])
    for name in ("sleeps", "swallows", "backtracks") if jobs == "1" else ("sleeps",):
        call = ("run", "data.jsonl", "--detector", f"python(function=mine:{name}, timeout=0.3)", "-o", name, "-q")
        spanscore(*call, "--max-failures", "2", "--jobs", jobs, cwd=tmp_path)
        lines = (tmp_path / name / "predictions.jsonl").read_text().splitlines()
        assert [json.loads(line)["meta"]["failure"] for line in lines] == [
            "the function did not return within 0.3 seconds"
        ] * 2
    for name, words in (("surrogate", "not valid Unicode"), ("long", "a label of 1001 characters")):
        call = ("run", "data.jsonl", "--detector", f"python(function=mine:{name})", "-o", name, "-q")
        assert words in spanscore(*call, "--jobs", jobs, cwd=tmp_path, code=2).stderr


@pytest.mark.parametrize("spec", ["http(url=localhost:1, retries=0)", f'command(run="{sys.executable} -c 1")'])
def test_a_text_that_is_not_unicode_is_not_sent(spec: str) -> None:
    corpus = ss.Corpus.from_documents([{"id": "d1", "text": "Ann \ud800", "spans": []}])
    with pytest.raises(SpanscoreError, match="d1.*a lone surrogate"):
        ss.detect(corpus, spec)


def test_a_program_that_ends_while_its_input_is_refused_is_cleaned_up_once() -> None:
    corpus = ss.Corpus.from_documents([{"id": "d1", "text": "Ann \ud800", "spans": []}])
    for _ in range(40):  # its output was closed while it was read, in one of six calls
        with pytest.raises(SpanscoreError, match="d1.*a lone surrogate"):
            ss.detect(corpus, "command(run=true)")


def test_the_arguments_of_a_program_are_not_recorded(tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text("import json, sys\nfor line in sys.stdin:\n    print(json.dumps({'spans': []}))\n")
    write(tmp_path / "data.jsonl", [{"id": "a", "text": "Ann", "spans": []}])

    def call(key: str, folder: str) -> tuple[str, ...]:
        named = f'command(run="{sys.executable} p.py --key {key}")'
        return ("run", "data.jsonl", "--detector", named, "-q", "-o", folder)

    spanscore(*call("s3cret", "one"), cwd=tmp_path)
    spanscore(*call("other", "two"), cwd=tmp_path)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path.name for path in files if b"s3cret" in path.read_bytes()]
    records = [json.loads((tmp_path / name / "run.json").read_text())["arguments"] for name in ("one", "two")]
    assert Path(sys.executable).name in records[0]["detector"]
    assert records[0]["detector"] != records[1]["detector"]  # another key is another run
    assert (tmp_path / "one" / "run.json").stat().st_mode & 0o777 == 0o600
    said = spanscore(*call("new", "one"), "--resume", cwd=tmp_path, code=2).stderr
    assert "changed" in said
    assert "--key" not in said


def test_a_query_in_an_address_is_not_recorded_but_counts() -> None:
    found = []
    for query in ("", "?key=s3cret", "?key=s3cret2"):
        made = detector("http", url=f"http://localhost:1/analyze{query}", retries=0)
        assert "s3cret" not in str(made.recorded())
        found.append(made.fingerprint()["option url"])
        with pytest.raises(SpanscoreError, match="cannot reach the service at http://localhost:1/analyze: "):
            made.describe()
    assert found[0] == "http://localhost:1/analyze"
    assert len(set(found)) == 3


@pytest.mark.parametrize(
    ("status", "header", "why"),
    [
        (b"503 No", "Retry-After: \u00b2".encode("latin-1"), "status 503 (1 try)"),
        (b"308 No", b"Location: http://[", "status 308, a redirect to something that is not an address"),
    ],
)
def test_headers_that_cannot_be_parsed_are_ignored(status: bytes, header: bytes, why: str) -> None:
    answer = b"HTTP/1.1 " + status + b"\r\n" + header + b"\r\nContent-Length: 0\r\n\r\n"
    FAULTS["header"] = lambda: iter([answer])
    with server("header") as url:
        (found,) = detector("http", url=url, retries=0, timeout=5).detect(texts_of(DOCUMENTS))
    assert isinstance(found, Failure)
    assert found.why.endswith(why)
