"""Every wrong input gets one sentence that says what, where and what to do: exit code 2, no traceback, nothing written."""

from __future__ import annotations

import gzip
import os
import subprocess
from pathlib import Path

import pytest

import spanscore as ss
from calls import fork, spanscore
from spanscore import SpanscoreError

GOOD = b'{"id": "d1", "text": "Ann saw Bob", "spans": [{"start": 0, "end": 3, "label": "P"}]}\n'


def line(spans: str, before: str = '"id": "d2", "text": "Ann saw Bob", ') -> bytes:
    return GOOD + b"{" + before.encode() + b'"spans": ' + spans.encode() + b"}\n"


def span(fields: str) -> bytes:
    return line("[{" + fields + "}]")


FILES = {
    "truncated line": (GOOD + GOOD[:40] + b"\n", ["bad.jsonl:2", "JSON"]),
    "not an object": (GOOD + b"[1, 2]\n", ["bad.jsonl:2", "expected object"]),
    "spans is no list": (line('"x"'), ["bad.jsonl:2", "spans", "expected array"]),
    "span is no object": (line("[1]"), ["bad.jsonl:2", "spans[0]", "expected object"]),
    "start is text": (span('"start": "0", "end": 3, "label": "P"'), ["bad.jsonl:2", "spans[0].start", "expected int"]),
    "start is a float": (span('"start": 0.5, "end": 3, "label": "P"'), ["bad.jsonl:2", "spans[0].start", "float"]),
    "start is a whole float": (span('"start": 0.0, "end": 3, "label": "P"'), ["bad.jsonl:2", "spans[0].start", "float"]),
    "start is a boolean": (span('"start": true, "end": 3, "label": "P"'), ["bad.jsonl:2", "spans[0].start", "bool"]),
    "start is negative": (span('"start": -1, "end": 3, "label": "P"'), ["bad.jsonl:2", "spans[0].start", "negative"]),
    "end before start": (span('"start": 3, "end": 1, "label": "P"'), ["bad.jsonl:2", "spans[0].end", "before the start"]),
    "end past the text": (span('"start": 0, "end": 12, "label": "P"'), ["bad.jsonl:2", "spans[0].end", "past the end of the text", "11"]),
    "huge offset": (span('"start": 0, "end": 99999999999999999999999, "label": "P"'), ["bad.jsonl:2", "spans[0].end", "larger"]),
    "large offset": (span('"start": 0, "end": 4294967296, "label": "P"'), ["bad.jsonl:2", "spans[0].end", "larger"]),
    "no end": (span('"start": 0, "label": "P"'), ["bad.jsonl:2", "spans[0]", "'end' is missing"]),
    "no label": (span('"start": 0, "end": 3'), ["bad.jsonl:2", "spans[0]", "'label' is missing"]),
    "empty label": (span('"start": 0, "end": 3, "label": ""'), ["bad.jsonl:2", "spans[0].label", "empty"]),
    "label is null": (span('"start": 0, "end": 3, "label": null'), ["bad.jsonl:2", "spans[0].label", "expected str"]),
    "score is NaN": (span('"start": 0, "end": 3, "label": "P", "score": NaN'), ["bad.jsonl:2", "JSON"]),
    "score is infinite": (span('"start": 0, "end": 3, "label": "P", "score": 1e999'), ["bad.jsonl:2", "spans[0].score"]),
    "score is text": (span('"start": 0, "end": 3, "label": "P", "score": "high"'), ["bad.jsonl:2", "spans[0].score"]),
    "no spans": (GOOD + b'{"id": "d2"}\n', ["bad.jsonl:2", "'spans' is missing"]),
    "no id": (GOOD + b'{"spans": []}\n', ["bad.jsonl:2", "'id' is missing; give each document one"]),
    "id is null": (GOOD + b'{"id": null, "spans": []}\n', ["bad.jsonl:2", "id", "null"]),
    "two documents of one id": (GOOD + GOOD, ["bad.jsonl", '"d1"', "unique"]),
    "text is a number": (GOOD + b'{"id": "d2", "text": 5, "spans": []}\n', ["bad.jsonl:2", "text", "expected str"]),
    "bad UTF-8": (GOOD + b'{"id": "d2", "text": "\xff", "spans": []}\n', ["bad.jsonl:2", "UTF-8"]),
    "bad UTF-8 in a label": (span('"start": 0, "end": 1, "label": "P').replace(b'"P}', b'"\xff"}'), ["bad.jsonl:2"]),
    "NUL byte": (GOOD + b'{"id": "d2", "text": "a\0b", "spans": []}\n', ["bad.jsonl:2", "JSON"]),
    "only NULs": (b"\0" * 500, ["bad.jsonl", "neither UTF-8 text"]),
    "nested deeply": (GOOD + b'{"id": "d2", "x": ' + b"[" * 50_000 + b"]" * 50_000 + b', "spans": []}\n', ["bad.jsonl:2", "deeply"]),
    "unpaired surrogate": (GOOD + b'{"id": "d2", "text": "\\ud800", "spans": []}\n', ["bad.jsonl:2", "JSON"]),
    "tokens in disorder": (line("[]", '"id": "d2", "tokens": [[4, 7], [0, 3]], '), ["bad.jsonl:2", "tokens[1]"]),
    "token of three": (line("[]", '"id": "d2", "tokens": [[4, 7, 8]], '), ["bad.jsonl:2", "tokens[0]"]),
    "empty file": (b"", ["bad.jsonl", "empty"]),
    "only blank lines": (b"\n\n \n", ["bad.jsonl", "empty"]),
    "damaged gzip": (gzip.compress(GOOD * 100)[:60], ["bad.jsonl", "packed data"]),
    "JSON of no known format": (b'[{"a": 1}]', ["bad.jsonl", "--gold-format"]),
    "text of no known format": (b"just some secret prose\n", ["bad.jsonl", "--gold-format"]),
    "an image": (b"\x89PNG\r\n\x1a\n\xff\xfe\xfd" * 9, ["bad.jsonl", "neither UTF-8 text"]),
    "presidio with a wrong field": (b'[{"full_text": "Ann",\n "spans": [{"entity_type": "P", "start_position": "0"}]}]', ["bad.jsonl:1: [0]", "start_position"]),
    "presidio cut off": (b'[{"full_text": "Ann", "spans": [', ["bad.jsonl", "not JSON"]),
    "presidio past the text": (b'[\n{"full_text": "Ann", "spans": [{"entity_type": "P", "start_position": 0, "end_position": 9}]}]', ["bad.jsonl:2: [0]", "outside the text", "3 characters"]),
    "nlpsandbox with a negative length": (b'{"textDateAnnotations": [{"start": 1, "length": -1, "text": "x"}]}', ["bad.jsonl:1: [0].textDateAnnotations[0].length", "negative"]),
    "nlpsandbox without a name": (b'[{"annotationSource": {}, "textDateAnnotations": []}]', ["bad.jsonl:1: [0]", "resourceSource"]),
    "neleval with a reversed mention": (b"doc\t1\t4\ndoc\t9\t5\n", ["bad.jsonl:2", "before the start"]),
    "neleval with a wrong score": (b"doc\t1\t4\tQ1\tnan\tPER\n", ["bad.jsonl:1", "score"]),
    "conll with one column": (b"Ann B-PER\nleft\n", ["bad.jsonl:2", "column"]),
    "conll with a wrong tag": (b"Ann B-PER\nleft X-PER\nx U-PER\n", ["bad.jsonl:2", "does not hold a tag"]),
}  # fmt: skip


def run(*arguments: str | Path, cwd: Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return fork([str(one) for one in arguments], cwd, stdin=stdin, timeout=60)


def refused(done: subprocess.CompletedProcess[bytes], words: list[str]) -> str:
    message = done.stderr.decode()
    assert done.returncode == 2, message
    assert "Traceback" not in message
    assert done.stdout == b""
    for word in words:
        assert word in message, message
    return message


@pytest.mark.parametrize("side", ["gold", "pred"])
@pytest.mark.parametrize("what", FILES)
def test_a_wrong_file(what: str, side: str, tmp_path: Path) -> None:
    data, words = FILES[what]
    (tmp_path / "bad.jsonl").write_bytes(data)
    (tmp_path / "good.jsonl").write_bytes(GOOD)
    files = ["bad.jsonl", "good.jsonl"] if side == "gold" else ["good.jsonl", "bad.jsonl"]
    before = sorted(os.listdir(tmp_path))
    message = refused(run("score", *files, "-o", "out", "--json", "out.json", cwd=tmp_path), words)
    assert len(message.strip().splitlines()) == 1
    assert sorted(os.listdir(tmp_path)) == before


CALLS: dict[str, tuple[list[str], list[str]]] = {
    "no such file": (["score", "none.jsonl", "g.jsonl"], ["none.jsonl", "no such file"]),
    "a folder": (["score", "folder", "g.jsonl"], ["folder", "this is a folder"]),
    "unknown measure": (["score", "g.jsonl", "g.jsonl", "-m", "iuo"], ["did you mean 'iou'"]),
    "unknown parameter": (["score", "g.jsonl", "g.jsonl", "-m", "iou(treshold=1)"], ["did you mean 'threshold'"]),
    "measure without parameters": (["score", "g.jsonl", "g.jsonl", "-m", "char(x=1)"], ["char has no option 'x'"]),
    "not a measure": (["score", "g.jsonl", "g.jsonl", "-m", "iou("], ["cannot be parsed"]),
    "threshold too high": (["score", "g.jsonl", "g.jsonl", "-m", "iou(threshold=1.5)"], ["threshold=1.5", "from 0 to 1"]),
    "threshold is no number": (["score", "g.jsonl", "g.jsonl", "-m", "iou(threshold=x)"], ["threshold=x", "a number"]),
    "threshold is nan": (["score", "g.jsonl", "g.jsonl", "-m", "iou(threshold=nan)"], ["threshold=nan", "a number"]),
    "parameter twice": (["score", "g.jsonl", "g.jsonl", "-m", "iou(skip=none,skip=none)"], ["given twice"]),
    "unknown choice": (["score", "g.jsonl", "g.jsonl", "-m", "iou(unit=word)"], ["unit=word", "char, token"]),
    "no list of skip words": (["score", "g.jsonl", "g.jsonl", "-m", "iou(skip=@none.txt)"], ["none.txt"]),
    "unknown format": (["score", "g.jsonl", "g.jsonl", "--gold-format", "spanscor"], ["did you mean 'spanscore'"]),
    "unknown command": (["scor"], ["did you mean 'score'"]),
    "unknown option": (["score", "--mesure", "x", "g.jsonl", "g.jsonl"], ["--mesure"]),
    "negative beta": (["score", "g.jsonl", "g.jsonl", "--beta", "-1"], ["beta"]),
    "two systems of one name": (["score", "g.jsonl", "g.jsonl", "g.jsonl"], ["'g'", "a=FILE"]),
    "stdin twice": (["score", "-", "-"], ["standard input"]),
    "no label map": (["score", "g.jsonl", "g.jsonl", "--map", "none.txt"], ["none.txt", "label map"]),
    "a wrong label map": (["score", "g.jsonl", "g.jsonl", "--map", "map.txt"], ["map.txt:2", "from: to"]),
    "extra documents": (["score", "g.jsonl", "other.jsonl"], ["other.jsonl", "no document id in common"]),
    "another text": (["score", "g.jsonl", "text.jsonl"], ["text.jsonl", '"d1"', "differs", "character 4"]),
    "a prediction past the gold text": (["score", "g.jsonl", "past.jsonl"], ["past.jsonl", '"d1"', "past the gold text"]),
    "no text for skip words": (["score", "notext.jsonl", "notext.jsonl", "-m", "iou(skip=punct)"], ['"d1"', "neither text nor tokens"]),
    "no folder to write to": (["score", "g.jsonl", "g.jsonl", "-o", "g.jsonl/out"], ["g.jsonl/out"]),
    "unknown tag scheme": (["score", "c.conll", "c.conll", "--gold-format", "conll(scheme=BIO2)"], ["scheme=BIO2", "IOB2"]),
}  # fmt: skip


@pytest.mark.parametrize("what", CALLS)
def test_a_wrong_call(what: str, tmp_path: Path) -> None:
    arguments, words = CALLS[what]
    (tmp_path / "folder").mkdir()
    (tmp_path / "g.jsonl").write_bytes(GOOD)
    (tmp_path / "c.conll").write_bytes(b"Ann B-PER\n")
    (tmp_path / "other.jsonl").write_bytes(GOOD.replace(b"d1", b"d9"))
    (tmp_path / "text.jsonl").write_bytes(GOOD.replace(b"saw", b"SAW"))
    (tmp_path / "past.jsonl").write_bytes(b'{"id": "d1", "spans": [{"start": 0, "end": 99, "label": "P"}]}\n')
    (tmp_path / "notext.jsonl").write_bytes(b'{"id": "d1", "spans": [{"start": 0, "end": 9, "label": "P"}]}\n')
    (tmp_path / "map.txt").write_text("A: B\nnonsense\n")
    before = sorted(os.listdir(tmp_path))
    refused(
        run(*arguments, "--json", "out.json", cwd=tmp_path)
        if arguments[0] == "score"
        else run(*arguments, cwd=tmp_path),
        words,
    )
    assert sorted(os.listdir(tmp_path)) == before


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    """Root may read every file, but not even root this one."""
    path, why = tmp_path / "g.jsonl", "Permission denied"
    path.write_bytes(GOOD)
    path.chmod(0)
    if os.geteuid() == 0:
        path, why = Path("/proc/self/mem"), "Input/output error"
    refused(run("score", path, path, cwd=tmp_path), [str(path), why])


def test_a_repeated_id_in_a_later_chunk(tmp_path: Path) -> None:
    many = b"".join(GOOD.replace(b"d1", b"x%d" % i) for i in range(40_000))
    (tmp_path / "g.jsonl").write_bytes(GOOD + many + GOOD)
    refused(run("score", "g.jsonl", "g.jsonl", cwd=tmp_path), ["g.jsonl", '"d1"', "unique"])


def test_nothing_of_the_text_is_in_a_message(tmp_path: Path) -> None:
    for data, _ in FILES.values():
        (tmp_path / "bad.jsonl").write_bytes(data.replace(b"Ann saw Bob", b"SecretName x"))
        try:
            said = repr(ss.check(tmp_path / "bad.jsonl"))
        except SpanscoreError as error:
            said = str(error)
        assert "SecretName" not in said


def test_each_bad_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text('{"id": "a", "text": "abc", "spans": [{"start": 0, "end": 9, "label": "X"}]}\n')
    (tmp_path / "bad2.jsonl").write_text('{"id": "a", "spans": 3}\n')
    (tmp_path / "ok.jsonl").write_text('{"id": "a", "text": "abc", "spans": [{"start": 0, "end": 3, "label": "X"}]}\n')
    done = spanscore("check", "--each", "bad.jsonl", "ok.jsonl", "bad2.jsonl", cwd=tmp_path, code=2)
    assert [line.split(":")[1].strip() for line in done.stderr.splitlines()] == ["bad.jsonl", "bad2.jsonl"]
    assert "ok.jsonl: spanscore" in done.stdout
