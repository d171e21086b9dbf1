"""Commands that are killed at random moments lose nothing, mix nothing and leave nothing half-written.

SPANSCORE_KILLS sets how often each command is killed; by default, all together are killed about 100 times.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from calls import started as spanscore
from calls import write
from spanscore.files import finish_interrupted

pytestmark = pytest.mark.slow
KILLS = int(os.environ.get("SPANSCORE_KILLS", "15"))
Files = dict[str, bytes]
LABELS = ("PERSON", "CITY", "DATE")
DETECTOR = """
import time
def find(text, language):
    time.sleep(0.002)
    return [{"start": 0, "end": 3, "label": "PERSON", "score": 0.5}] if text.endswith("1") else []
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rng = random.Random(0)

    def spans(share: float) -> list[dict[str, object]]:
        found = [(n * 7, rng.choice(LABELS)) for n in range(4) if rng.random() < share]
        return [{"start": at, "end": at + 5, "label": label, "score": round(rng.random(), 3)} for at, label in found]

    names = [f"d{n}" for n in range(300)]
    text = "Ann Lee of Oslo saw Bob Roe there. No "
    write(tmp_path / "gold.jsonl", [{"id": n, "text": text + n, "spans": spans(0.8)} for n in names])
    write(tmp_path / "a.jsonl", [{"id": n, "spans": spans(0.7)} for n in names])
    write(tmp_path / "b.jsonl", [{"id": n, "spans": spans(0.5)} for n in names])
    (tmp_path / "mine.py").write_text(DETECTOR)
    return tmp_path


def start(call: tuple[str, ...], folder: Path) -> subprocess.Popen[bytes]:
    """Start a command in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "spanscore", *call],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


class Clock:
    """How long an undisturbed command takes, by the latest that was not killed; machines are busy at times."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.ended = 0

    def end(self, process: subprocess.Popen[bytes], share: float, number: signal.Signals) -> None:
        """End a process with a signal after a share of its time, if it is still running then."""
        began = time.monotonic()
        try:
            process.wait(timeout=self.seconds * share)
        except subprocess.TimeoutExpired:
            process.send_signal(number)
            process.wait(timeout=120)
            # it ended by the signal, in its own words, or had just finished
            assert process.returncode in (0, -number, 128 + number)
            self.ended += process.returncode != 0
            return
        assert process.returncode == 0
        self.seconds = time.monotonic() - began


def moments() -> list[tuple[float, signal.Signals]]:
    """Random moments as shares of a command's time, most of them while it works and writes, and signals."""
    rng = random.Random(1)
    numbers = [signal.SIGKILL] * 4 + [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]
    return [((rng.uniform(0.5, 1.0) if n % 4 else rng.random()), rng.choice(numbers)) for n in range(KILLS)]


def files(place: Path) -> Files:
    """What a user sees: the files of a folder, or a single one."""
    if place.is_file():
        return {place.name: place.read_bytes()}
    if not place.exists():
        return {}
    return {path.name: path.read_bytes() for path in place.iterdir() if not path.name.startswith(".")}


def strays(place: Path) -> list[str]:
    return [path.name for path in place.iterdir() if path.name.startswith(".")]


def attack(calls: Sequence[tuple[str, ...]], target: str, folder: Path) -> None:
    """Let two commands replace each other's files, killed again and again."""
    expected: list[Files] = []
    seconds = 0.0
    for call in calls:
        began = time.monotonic()
        spanscore(*call, cwd=folder)
        seconds = time.monotonic() - began
        expected.append(files(folder / target))
    assert expected[0] != expected[1]
    clock = Clock(seconds)
    for turn, (share, number) in enumerate(moments()):
        clock.end(start(calls[turn % 2], folder), share, number)
        found = files(folder / target)
        for whole in expected:  # no file of one beside a file of the other
            mixed = [name for name, content in found.items() if whole.get(name) != content]
            if not mixed:
                break
        else:
            raise AssertionError(f"turn {turn}, {number.name} after {share:.0%}: mixed or half-written {sorted(found)}")
        if (folder / target).is_dir():
            finish_interrupted(folder / target)
        assert files(folder / target) in expected, f"turn {turn}: files are missing"
    assert clock.ended  # on a machine whose load changes, most kills may come too late
    for call, whole in zip(calls, expected, strict=True):
        spanscore(*call, cwd=folder)
        assert files(folder / target) == whole
    assert strays(folder) == []
    assert not (folder / target).is_dir() or strays(folder / target) == []


def test_score(data: Path) -> None:
    def call(name: str) -> tuple[str, ...]:
        return (
            "score",
            "gold.jsonl",
            f"p={name}.jsonl",
            "-m",
            "exact",
            "--ci",
            "0.95",
            "--resamples",
            "50",
            "-o",
            "out",
        )

    attack([call("a"), call("b")], "out", data)


def test_compare(data: Path) -> None:
    more = ("-m", "exact", "--resamples", "50", "--permutations", "50", "-o", "out")
    calls = [("compare", "gold.jsonl", f"x={one}.jsonl", f"y={other}.jsonl", *more) for one, other in ("ab", "ba")]
    attack(calls, "out", data)


def test_report_folder(data: Path) -> None:
    for name in ("a", "b"):
        spanscore("score", "gold.jsonl", f"p={name}.jsonl", "-m", "exact", "--no-report", "-o", name, cwd=data)
    attack([("report", name, "--folder", "-o", "page") for name in ("a", "b")], "page", data)


@pytest.mark.parametrize("target", ["t.jsonl", "t.parquet"])
def test_convert(target: str, data: Path) -> None:
    attack([("convert", f"{name}.jsonl", target) for name in ("a", "b")], target, data)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_run(jobs: str, data: Path) -> None:
    call = ("run", "gold.jsonl", "--detector", "python(function=mine:find)", "--jobs", jobs, "-q", "-o")
    began = time.monotonic()
    spanscore(*call, "whole", cwd=data)
    seconds = time.monotonic() - began
    expected = settled(data / "whole")
    folder, kept, finished = data / "out0", 0, 0
    clock = Clock(seconds)
    for share, number in moments():
        process = start((*call, folder.name, "--resume"), data)
        clock.end(process, share, number)
        wait_for_group(process.pid)
        journal = folder / "predictions.partial.jsonl"
        if journal.exists():
            lines = journal.read_bytes().split(b"\n")[:-1]
            assert all(json.loads(line)["id"] for line in lines)
            assert len(lines) >= kept, "detections were lost"
            kept = len(lines)
            continue
        finish_interrupted(folder) if folder.exists() else None
        if (folder / "metrics.json").exists():
            assert settled(folder) == expected
            finished += 1
            folder, kept = data / f"out{finished}", 0
        else:
            assert kept == 0, "detections were lost"
    spanscore(*call, folder.name, "--resume", cwd=data)
    assert settled(folder) == expected
    assert strays(folder) == []
    assert clock.ended  # on a machine whose load changes, most kills may come too late


def settled(folder: Path) -> Files:
    """The files of a run, without its times."""
    found = files(folder)
    record = json.loads(found["run.json"])
    assert found.pop("summary.html").endswith(b"</html>\n")
    return {**found, "run.json": json.dumps([record["detection"], record["signatures"], record["failures"]]).encode()}


def wait_for_group(group: int, seconds: float = 30) -> None:
    """Wait until all processes that a command started have ended."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        os.sched_yield()
    raise AssertionError("processes of a killed command are still running")
