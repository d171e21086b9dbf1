"""`--jobs` with programs: several copies, answers in order, and no copy left behind."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from calls import started as spanscore
from calls import write

PROGRAM = """
import json, os, pathlib, sys
pathlib.Path(f"started-{os.getpid()}").touch()
for line in sys.stdin:
    document = json.loads(line)
    if document["text"] == sys.argv[1]:
        sys.exit(3)
    end = len(document["text"])
    print(json.dumps({"id": document["id"], "spans": [{"start": 0, "end": end, "label": "A"}]}), flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "program.py").write_text(PROGRAM)
    write(tmp_path / "data.jsonl", [{"id": str(i), "text": "x" * (i + 1), "spans": []} for i in range(25)])
    return tmp_path


def run(folder: Path, out: str, *more: str, fails_on: str = "", code: int = 0) -> str:
    command = f"command(run=\"{sys.executable} program.py '{fails_on}'\")"
    return spanscore("run", "data.jsonl", "--detector", command, "-o", out, *more, cwd=folder, code=code).stderr


def test_several_copies_of_a_program_give_the_same_bytes(folder: Path) -> None:
    run(folder, "one")
    assert len(list(folder.glob("started-*"))) == 1
    run(folder, "three", "--jobs", "3")
    assert len(list(folder.glob("started-*"))) == 4
    for name in ("predictions.jsonl", "metrics.json", "results.json"):
        assert (folder / "one" / name).read_bytes() == (folder / "three" / name).read_bytes(), name


def test_a_copy_that_fails_ends_the_others(folder: Path) -> None:
    said = run(folder, "out", "--jobs", "3", fails_on="x" * 8, code=2)
    assert "the command ended with exit code 3 after 2 answers, with documents left" in said
    kept = [json.loads(line)["id"] for line in (folder / "out" / "predictions.partial.jsonl").read_text().splitlines()]
    assert kept == [str(i) for i in range(7)]
    for started in folder.glob("started-*"):
        with pytest.raises(ProcessLookupError):
            os.kill(int(started.name.removeprefix("started-")), 0)
    run(folder, "out", "--jobs", "2", "--resume-anyway")
    assert len((folder / "out" / "predictions.jsonl").read_text().splitlines()) == 25
