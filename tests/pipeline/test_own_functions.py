"""`spanscore run` with functions and programs of one's own, that fail, hang, leave and say odd things."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from calls import spanscore, write

MINE = """
import os, sys, time
def fine(text, language):
    with open("calls.log", "a") as file:
        file.write(text + chr(10))
    return [{"start": 0, "end": 1, "label": "PERSON", "score": 0.5}]
def leaves(text, language):
    sys.exit("secret " + text)
def nothing(text, language):
    return []
def hangs(text, language):
    time.sleep(600)
def flaky(text, language):
    if os.environ.get("FLAKY") and text.endswith("3"):
        raise ValueError(text)
    return fine(text, language)
def odd(text, language):
    return [{"start": 0, "end": 1, "label": "A", "score": 10**400}]
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(MINE)
    documents = [
        {"id": f"d{i}", "text": f"text {i}", "spans": [{"start": 0, "end": 1, "label": "PERSON"}]} for i in range(40)
    ]
    write(tmp_path / "data.jsonl", documents)
    return tmp_path


def function(name: str, *more: str) -> tuple[str, ...]:
    return ("run", "data.jsonl", "--detector", "python", "--function", f"mine:{name}", "-q", *more)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_function_that_leaves_does_not_take_the_run_with_it(jobs: str, mine: Path) -> None:
    said = spanscore(*function("leaves", "-o", "out", "--jobs", jobs), cwd=mine, code=2).stderr
    assert "the function raised SystemExit" in said
    assert "secret" not in said
    said = spanscore(*function("odd", "-o", "odd", "--jobs", jobs), cwd=mine, code=2).stderr
    assert "a score that is not a finite number" in said


def test_a_run_that_cannot_be_written_leaves_the_one_before(mine: Path) -> None:
    spanscore(*function("fine", "-o", "out"), cwd=mine)
    before = {path.name: path.read_bytes() for path in (mine / "out").iterdir()}
    call = f"ulimit -f 100; exec {sys.executable} -m spanscore {' '.join(function('nothing', '-o', 'out'))}"
    done = subprocess.run(
        ["bash", "-c", call],
        cwd=mine,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(mine)},
    )
    assert done.returncode == 2, done.stderr
    assert {name: (mine / "out" / name).read_bytes() for name in before} == before


def test_what_was_finished_is_not_detected_again(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLAKY", "1")
    spanscore(*function("flaky", "-o", "out", "--max-failures", "9"), cwd=mine)
    assert failures(mine / "out") == 4
    monkeypatch.delenv("FLAKY")
    (mine / "calls.log").unlink()
    spanscore(*function("flaky", "-o", "out", "--resume"), cwd=mine)
    assert len((mine / "calls.log").read_text().splitlines()) == 4
    assert failures(mine / "out") == 0


def failures(folder: Path) -> int:
    found: int = json.loads((folder / "metrics.json").read_text())["failures"]
    return found


def test_answers_that_may_be_of_other_documents_are_not_kept(mine: Path) -> None:
    (mine / "shifted.py").write_text(
        "import json, sys\nprint('building a cache')\nfor line in sys.stdin:\n    print(json.dumps({'spans': []}), flush=True)\n"
    )
    (mine / "more.py").write_text(
        "import json, sys\nprint(json.dumps({'spans': []}))\nfor line in sys.stdin:\n    print(json.dumps({'spans': []}), flush=True)\n"
    )
    for name, words in (("shifted", "is not a JSON object"), ("more", "wrote more lines than it was given")):
        call = ("run", "data.jsonl", "--detector", "command", "--command", f"{sys.executable} {name}.py", "-o", name)
        assert words in spanscore(*call, "--max-failures", "9", cwd=mine, code=2).stderr
        assert not (mine / name).exists()


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupt_ends_the_run_at_once(jobs: str, mine: Path) -> None:
    call = [sys.executable, "-m", "spanscore", *function("hangs", "-o", "out", "--jobs", jobs)]
    environment = {**os.environ, "PYTHONPATH": str(mine)}
    process = subprocess.Popen(
        call, cwd=mine, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    )
    while not (mine / "out" / "predictions.partial.jsonl").exists():
        assert process.poll() is None
        os.sched_yield()
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in said


def test_two_runs_do_not_share_a_folder(mine: Path) -> None:
    call = [sys.executable, "-m", "spanscore", *function("hangs", "-o", "out")]
    environment = {**os.environ, "PYTHONPATH": str(mine)}
    process = subprocess.Popen(call, cwd=mine, stderr=subprocess.DEVNULL, env=environment)
    while not (mine / "out" / "predictions.partial.jsonl").exists():
        assert process.poll() is None
        os.sched_yield()
    said = spanscore(*function("hangs", "-o", "out", "--resume"), cwd=mine, code=2).stderr
    process.kill()
    process.wait()
    assert "another run is at work in this folder" in said


def test_lines_of_errors_stay_lines(mine: Path) -> None:
    spans = [{"start": 0, "end": 6, "label": "PERSON"}]
    write(mine / "data.jsonl", [{"id": "a", "text": "x\r=1+1\n", "spans": spans}])
    spanscore(*function("nothing", "-o", "out"), cwd=mine)
    with (mine / "out" / "false_negatives.csv").open(newline="") as file:
        assert [row["text"] for row in csv.DictReader(file)] == ["x\r=1+1"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (("--beta", "nan"), "beta must be"),
        (("--score-threshold", "nan"), "finite number"),
        (("--entities", "NOSUCH"), "There is no entity type 'NOSUCH'"),
        (("--language", "é"), "not the code of a language"),
    ],
)
def test_what_cannot_be_is_told_before_anything_is_detected(call: tuple[str, ...], words: str, mine: Path) -> None:
    assert words in spanscore(*function("fine", "-o", "out", *call), cwd=mine, code=2).stderr
    assert not (mine / "calls.log").exists()
    assert not (mine / "out").exists()
