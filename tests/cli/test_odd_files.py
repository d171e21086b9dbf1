"""Odd files and calls that once went wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from calls import fork

LINES = [
    {
        "id": f"d{i}",
        "text": "x" * 200,
        "spans": [{"start": 9, "end": 19, "label": "P"}, {"start": 30, "end": 40, "label": "Q"}],
    }
    for i in range(2000)
]


def run(*arguments: str | bytes, cwd: Path, stdin: bytes = b"") -> tuple[int, bytes, str]:
    done = fork(arguments, cwd, stdin=stdin, timeout=60)
    assert b"Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout, done.stderr.decode()


def write(path: Path, *records: Any, last: bytes = b"") -> None:
    path.write_bytes(b"".join(json.dumps(record).encode() + b"\n" for record in records) + last)


def test_spans_are_never_taken_from_another_key(tmp_path: Path) -> None:
    evil = (
        b'{"id":"evil","old":[{"start": 60, "end": 99, "label": "Q"}],"spans":[{"end": 5,"start":1,"label":"P"}  ]}\n'
    )
    write(tmp_path / "a.jsonl", *LINES, last=evil)
    _, out, _ = run("convert", "a.jsonl", "-", cwd=tmp_path)
    assert json.loads(out.splitlines()[-1])["spans"] == [{"start": 1, "end": 5, "label": "P"}]


@pytest.mark.parametrize(("label", "spelt"), [("A\\", b"A\\"), ("A\t", b"A\t")])
def test_a_label_that_must_be_escaped(label: str, spelt: bytes, tmp_path: Path) -> None:
    first = [{**line, "spans": [{"start": 0, "end": 1, "label": label}]} for line in LINES[:10]]
    bad = b'{"id": "evil", "text": "xxxx", "spans": [{"start": 0, "end": 1, "label": "' + spelt + b'"}]}\n'
    write(tmp_path / "a.jsonl", *first, *LINES[10:], last=bad)
    code, _, message = run("check", "a.jsonl", cwd=tmp_path)
    assert (code, "a.jsonl:2001" in message) == (2, True)


@pytest.mark.parametrize("measure", ["iou", "iou(view=tokens)"])
def test_gold_past_the_text_of_the_predictions(measure: str, tmp_path: Path) -> None:
    write(tmp_path / "g.jsonl", {"id": "a", "spans": [{"start": 8, "end": 11, "label": "P"}]}, {"id": "b", "spans": []})
    write(tmp_path / "p.jsonl", {"id": "a", "text": "Ann ", "spans": []}, {"id": "b", "text": "    yyyyy", "spans": []})
    code, _, message = run("score", "g.jsonl", "p.jsonl", "-m", measure, cwd=tmp_path)
    assert (code, "g.jsonl" in message, "past the p text" in message) == (2, True, True)


@pytest.mark.parametrize("extra", ["refuse", "ignore", "score"])
def test_a_document_that_is_predicted_twice(extra: str, tmp_path: Path) -> None:
    write(tmp_path / "g.jsonl", {"id": "d1", "spans": []})
    write(tmp_path / "p.jsonl", {"id": "d1", "spans": []}, {"id": "d1", "spans": []})
    code, _, message = run("score", "g.jsonl", "p.jsonl", "--extra-documents", extra, cwd=tmp_path)
    assert (code, "p.jsonl" in message, "unique" in message) == (2, True, True)


def test_the_fingerprint_is_that_of_the_data_in_any_order(tmp_path: Path) -> None:
    scored = {"id": "s", "text": "x" * 200, "spans": [{"start": 1, "end": 2, "label": "P", "score": 0.5}]}
    write(tmp_path / "a.jsonl", *LINES, scored)
    write(tmp_path / "b.jsonl", *reversed([*LINES, scored]))
    outputs = [
        json.loads(run("score", gold, "p=a.jsonl", "-m", "exact", "--json", "-", *more, cwd=tmp_path)[1])["results"]
        for gold in ("a.jsonl", "b.jsonl")
        for more in ([], ["-o", "out"])
    ]
    assert outputs[0][0]["signature"].count("|gold:") == 1
    assert all(output == outputs[0] for output in outputs)


def test_the_fingerprint_covers_tokens(tmp_path: Path) -> None:
    prints = set()
    for tokens in ([[0, 4], [5, 9]], [[0, 2], [2, 4], [5, 9]]):
        write(tmp_path / "a.jsonl", {"id": "a", "text": "abcd efgh", "tokens": tokens, "spans": []})
        prints.add(run("check", "a.jsonl", cwd=tmp_path)[1].split()[-1])
    assert len(prints) == 2


WRONG: dict[str, tuple[bytes, str]] = {
    "carriage returns alone": (b"John B-PER\rSmith I-PER\r\rlives O\r", "a:1"),
    "one tag without a prefix": (b"John B-PER\nSmith I-PER\nx 0\n\nAnn B-PER\n", "a:3"),
    "an unknown kind of annotation": (b'{"textFooAnnotations":[{"start":0,"length":3}]}', "textFooAnnotations"),
    "annotations that are no list": (b'{"textDateAnnotations":""}', "a:1: [0].textDateAnnotations"),
    "two notes without a name": (b'[{"textDateAnnotations":[]},{"textDateAnnotations":[]}]', "a:1: [1]"),
    "a number for a type": (b'd\t0\t3\tQ\t1\t{"type": 5}\n', "a:1"),
    "a huge number in a type": (b'd\t0\t3\tQ\t1\t{"type": ' + b"9" * 5000 + b"}\n", "a:1"),
    "half a surrogate pair": (b'd\t0\t3\tQ\t1\t{"type": "\\ud800"}\n', "a:1"),
    "a late mention too far": (b"d\t0\t5\nd\t0\t6\nd\t0\t9999999999\n", "a:3"),
    "a name for an offset": (b"d\t0\t5\nd\t0\tSecretName\n", "a:2"),
    "tags that are none": (b'[{"full_text":"a b","tokens":["a","b"],"tags":["X-PER","B-PER"]}]', "a:1: [0].tags"),
    "blank lines before": (b'\n\n\n[\n{"full_text":"a b","spans":5}]', "a:5: [0]"),
    "two marks of byte order": (b"\xef\xbb\xbf" * 2 + b'{"id":"Lee","spans":[]}\n', "format"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_file(what: str, tmp_path: Path) -> None:
    data, place = WRONG[what]
    (tmp_path / "a").write_bytes(data)
    code, out, message = run("check", "a", cwd=tmp_path)
    assert (code, out, place in message, "SecretName" in message) == (2, b"", True, False), message


def test_legal_files_that_were_refused(tmp_path: Path) -> None:
    (tmp_path / "own").write_bytes(b'{"id":"a","spans":[],"meta":{"full_text":"x"}}\n')
    (tmp_path / "conll").write_bytes(b"[ O\nAnn B-PER\n")
    sample = {"full_text": "a  b", "tokens": ["a", " ", "b"], "tags": ["O", "O", "U-PER"]}
    (tmp_path / "presidio").write_text(json.dumps([sample]))
    (tmp_path / "neleval").write_bytes(b'd\t0\t3\tQ\t1\t{"type": null}\n')
    for name, format_ in (("own", "spanscore"), ("conll", "conll"), ("presidio", "presidio"), ("neleval", "neleval")):
        code, out, message = run("check", name, cwd=tmp_path)
        assert code == 0, message
        assert out.decode().split()[1] == format_
    assert b"MENTION" in out


CALLS: dict[str, list[str | bytes]] = {
    "beta too large": ["--beta", "1e200"],
    "a name too long for a file": ["a=" + "x" * 5000],
    "no file name": [""],
    "JSON into a folder": ["--json", "."],
    "JSON without a name": ["--json", ""],
    "JSON into no folder": ["--json", "no/x.json", "-o", "out"],
    "an output folder without a name": ["-o", ""],
    "a label map without a name": ["--map", ""],
    "a label map that maps twice": ["--map", "twice.json"],
    "a label map of half a surrogate pair": ["--map", "half.json"],
    "an unknown option": ["--bogus"],
    "a wrong choice": ["--format", "xml"],
}


@pytest.mark.parametrize("what", CALLS)
def test_a_wrong_call_is_one_sentence_and_writes_nothing(what: str, tmp_path: Path) -> None:
    write(tmp_path / "g.jsonl", {"id": "d1", "spans": []})
    (tmp_path / "twice.json").write_text('{"P": "A", "P": "B"}')
    (tmp_path / "half.json").write_text('{"P": "\\ud800"}')
    before = sorted(path.name for path in tmp_path.iterdir())
    code, out, message = run("score", "g.jsonl", "g.jsonl", *CALLS[what], cwd=tmp_path)
    assert (code, out, len(message.strip().splitlines())) == (2, b"", 1), message
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_odd_names_and_places(tmp_path: Path) -> None:
    odd = tmp_path / "a\nb.jsonl"
    write(odd, {"id": "d1", "spans": []})
    code, _, message = run("score", odd.name, odd.name, "--json", "-", cwd=tmp_path)
    assert (code, len(message.splitlines())) == (0, 2)
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to("real.json")
    run("score", odd.name, odd.name, "--json", "link.json", cwd=tmp_path)
    assert (tmp_path / "link.json").is_symlink()
    assert "spanscore.results/1" in (tmp_path / "real.json").read_text()
    run("score", odd.name, odd.name, "--json", "/dev/null", cwd=tmp_path)
    assert Path("/dev/null").is_char_device()
    call = f"{sys.executable} -m spanscore score '{odd}' '{odd}' -q > /dev/full"
    full = subprocess.run(call, shell=True, capture_output=True, check=False)
    assert full.returncode == 2
    assert b"Traceback" not in full.stderr


@pytest.mark.parametrize(
    "call",
    ["score {0} a={1} b={1} -q", "compare {0} a={1} b={1} -q", "convert {0} out.parquet", "convert {0} out.jsonl"],
)
def test_a_pipe_is_read_once(call: str, tmp_path: Path) -> None:
    gold, base = (Path("examples", f"{name}.jsonl").resolve() for name in ("gold", "base"))
    shell = f"{sys.executable} -m spanscore {call.format(f'<(cat {gold})', base)}"
    done = subprocess.run(["bash", "-c", shell], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("more", ["", ', "other": 1'])
def test_two_documents_in_one_line_are_refused_whatever_the_count_of_lines(more: str, tmp_path: Path) -> None:
    spans = '"spans": [{"start": 0, "end": 1, "label": "A"}]' + more
    one, two, three = (f'{{"id": "{name}", {spans}}}' for name in "abc")
    (tmp_path / "x.jsonl").write_text(f"{one}\r{two}\n \n{three}\n")
    code, _, said = run("check", "x.jsonl", cwd=tmp_path)
    assert code == 2
    assert "x.jsonl:1: invalid JSON" in said
