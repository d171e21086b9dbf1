"""What data can do to a spreadsheet or a terminal: nothing."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calls import spanscore, write
from spanscore.files import safe_cell, visible, write_csv

STARTS = tuple("=+-@\uff1d\uff0b\uff0d\uff20")
EVIL = [
    "X;=20+1;",
    "=1",
    'a;"=2"',
    "x\t=3",
    "a, =4",
    "b\r=5",
    "c\n@6",
    "|+7",
    ';"" =8',
    "\ufeff=9",
    "\tx",
    "'=10",
    "-11;-12",
    "\x01=12",
    "\u2060\u202e@13",
    "\xad\ufe0f=14",
    "\u3164=15",
    "\U000e0041=16",
]
FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180e\u180f\u2800\u3164\uffa0\ufff0\ufff9\ufffa\ufffb"
FILLERS += "\U0001d173\U000e0000\U000e0001\U000e0041\U000e007f\U000e0100\U000e01ef"
UNSEEN = ' \u00a0\u200b\ufeff"\r\n\t\x01\x7f\xad\u2060\u202e\ufe0f' + FILLERS


def cells(line: str, separator: str) -> list[str]:
    return [cell for row in csv.reader(io.StringIO(line, newline=""), delimiter=separator) for cell in row]


@given(st.lists(st.one_of(st.sampled_from(EVIL), st.text("=+-@;,\t\r\n\"'| aX\0\ud800", max_size=6)), max_size=5))
def test_columns_are_written_as_a_cell_by_cell_writer_does(texts: list[str]) -> None:
    out, table = io.StringIO(), io.BytesIO()
    writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(["text", "place"])
    writer.writerows([safe_cell(text), place] for place, text in enumerate(texts))
    places = list(range(len(texts)))
    write_csv(table, [{"text": texts[:2], "place": places[:2]}, {"text": texts[2:], "place": places[2:]}])
    assert table.getvalue() == out.getvalue().encode("utf-8", "backslashreplace")


@given(st.one_of(st.sampled_from(EVIL), st.text("=+-@;,'| aX\uff1d" + UNSEEN, max_size=12)))
def test_no_cell_is_a_formula_whatever_separates_cells(text: str) -> None:
    """A file with commas may be opened as one with semicolons or tabs: where its quotes do not begin a cell, they do not protect."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC).writerow(["id", safe_cell(text), 1])
    for separator in ",;\t|":
        for cell in cells(out.getvalue(), separator):
            assert not cell.lstrip(UNSEEN).startswith(STARTS), (separator, cell)
        for row in out.getvalue().splitlines():  # as programs do that know no quotes
            for cell in row.split(separator):
                assert not cell.lstrip(UNSEEN).startswith(STARTS), (separator, cell)


@pytest.mark.parametrize("filler", FILLERS, ids=ascii)
def test_no_filler_hides_a_formula(filler: str) -> None:
    assert safe_cell(f"{filler}=1") == f"{filler}'=1"


def test_plain_text_stays_as_it_is() -> None:
    for text in ("PERSON", "Ann Lee, 12-3", "a=b", "me@example.org", "3 + 4", "x;y", ""):
        assert safe_cell(text) == text


def on_terminal(*arguments: str, cwd: Path) -> bytes:
    """What the program writes to a real terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "spanscore", *arguments], cwd=cwd, stdout=theirs, stderr=subprocess.DEVNULL
    )
    os.close(theirs)
    written = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        written += piece
    os.close(ours)
    assert process.wait() == 0
    return written


@pytest.mark.parametrize(
    "more", [("--format", "csv"), ("--format", "tsv"), ("--format", "markdown"), ("--json", "-"), ("--format", "table")]
)
def test_a_terminal_gets_no_control_characters_from_data(more: tuple[str, ...], tmp_path: Path) -> None:
    label = "P\x1b]0;owned\x07\x9b31m\u202eX"
    spans = [{"start": 0, "end": 3, "label": label, "score": 0.5}]
    write(tmp_path / "gold.jsonl", [{"id": "a\x1b[2J", "text": "Ann", "spans": spans}])
    written = on_terminal(
        "score", "gold.jsonl", "p=gold.jsonl", "--by", "document", "-m", "exact", *more, cwd=tmp_path
    ).decode()
    own = written.replace("\x1b[1m", "").replace("\x1b[0m", "")  # bold rows of the table
    assert "owned" in own
    assert all(c in "\r\n\t" or c.isprintable() for c in own), own
    if more[0] == "--json":
        types = {row["type"] for row in json.loads(written)["results"]}
        assert label in types
    if more == ("--format", "csv"):
        piped = spanscore("score", "gold.jsonl", "p=gold.jsonl", "-m", "exact", *more, cwd=tmp_path).stdout
        assert label in piped


@pytest.mark.parametrize(
    "call",
    [
        ("convert", "gold.jsonl", "-"),
        ("convert", "gold.jsonl", "-", "--to", "csv"),
        ("convert", "gold.jsonl", "/dev/stdout", "--to", "csv"),
        ("perturb", "gold.jsonl", "--with", "upper", "-o", "/dev/stdout"),
        ("convert", "gold.jsonl", "-", "--to", "conll"),
        ("perturb", "gold.jsonl", "--with", "upper"),
        ("suspects", "gold.jsonl", "other.jsonl", "-o", "-"),
        ("suspects", "gold.jsonl", "other.jsonl", "-o", "-", "--to", "labelstudio"),
        ("generate", "-n", "2", "--templates", "gold.jsonl"),
        ("score", "gold.jsonl", "gold.jsonl", "--by", "meta.k\x9b31m\x1b[2J"),
        (
            "compare",
            "gold.jsonl",
            "a=gold.jsonl",
            "b=other.jsonl",
            "--by",
            "meta.k\x9b31m\x1b[2J",
            "--permutations",
            "9",
        ),
    ],
    ids=" ".join,
)
def test_data_on_a_terminal_has_no_control_characters(call: tuple[str, ...], tmp_path: Path) -> None:
    spans = [{"start": 0, "end": 3, "label": "P\x9b31m\x1b]0;owned\x07", "score": 0.9}]
    meta = {"k\x9b31m\x1b[2J": "v\x9b\x1b[2J"}
    for name, kept in (("gold.jsonl", spans), ("other.jsonl", [{**spans[0], "start": 1}])):
        lines = [{"id": "a\x1b[2J", "text": "Ann \x9b31m\x1b[2J", "spans": kept, "meta": meta}]
        (tmp_path / name).write_text("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines), "utf-8")
    own = on_terminal(*call, cwd=tmp_path).decode().replace("\x1b[1m", "").replace("\x1b[0m", "")
    assert "9b31m" in own
    assert all(c in "\r\n\t" or c.isprintable() for c in own), own


@pytest.mark.parametrize(
    "call",
    [
        ("perturb", "gold.jsonl", "--with", "upper", "-o"),
        ("generate", "-n", "1", "-o"),
        ("convert", "--to", "conll", "gold.jsonl"),
    ],
    ids=" ".join,
)
def test_names_of_files_are_printed_without_control_characters(call: tuple[str, ...], tmp_path: Path) -> None:
    spans = [{"start": 0, "end": 3, "label": "P", "score": 0.5}]
    write(tmp_path / "gold.jsonl", [{"id": "a", "text": "Ann", "spans": spans}])
    done = spanscore(*call, "x\x1b[31m", cwd=tmp_path)
    assert "x\\x1b[31m" in done.stderr
    assert "\x1b" not in done.stderr


def test_escapes_keep_json_valid() -> None:
    said = json.dumps({"a": "x\x9b\u202e\x7f"}, ensure_ascii=False)
    assert json.loads(visible(said)) == json.loads(said)
