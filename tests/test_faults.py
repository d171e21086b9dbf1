"""Faults of the machine, each with the real thing: full disks, read-only and vanished folders, closed streams, signals."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from calls import spanscore, write
from spanscore.files import OUTPUTS

pytestmark = pytest.mark.slow

ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


@pytest.fixture
def data(tmp_path: Path) -> Path:
    spans = [{"start": 0, "end": 3, "label": "PERSON", "score": 0.5}]
    write(tmp_path / "gold.jsonl", [{"id": str(i), "text": "Ann left.", "spans": spans} for i in range(50)])
    write(tmp_path / "pred.jsonl", [{"id": str(i), "spans": spans if i % 2 else []} for i in range(50)])
    (tmp_path / "mine.py").write_text(
        "import os, time\n\n\ndef find(text, language):\n"
        "    time.sleep(float(os.environ.get('PAUSE', 0)))\n    return []\n"
    )
    return tmp_path


CALLS = {
    "score": ("score", "gold.jsonl", "p=pred.jsonl", "-m", "exact", "-q", "-o", "out"),
    "compare": ("compare", "gold.jsonl", "a=pred.jsonl", "b=gold.jsonl", "-m", "exact", "--resamples", "9", "--permutations", "9", "-q", "-o", "out"),
    "run": ("run", "gold.jsonl", "--detector", "python(function=mine:find)", "-q", "-o", "out"),
    "convert": ("convert", "gold.jsonl", "out.parquet"),
    "report": ("report", "scored", "--folder", "-o", "out", "-q"),
    "json": ("score", "gold.jsonl", "p=pred.jsonl", "-q", "--json", "out.json"),
}  # fmt: skip


def start(*call: str, cwd: Path, **more: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "spanscore", *call], cwd=cwd, text=True, stderr=subprocess.PIPE, **more
    )


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_a_full_disk_leaves_everything_as_it_was(name: str, data: Path) -> None:
    """No file may grow past two kilobytes, as if the disk were full: the error comes from the system itself."""
    spanscore("score", "gold.jsonl", "p=pred.jsonl", "-m", "exact", "--no-report", "-q", "-o", "scored", cwd=data)
    for old in (data / "out", data / "scored") if name != "convert" else ():
        old.mkdir(exist_ok=True)
    if name not in ("convert", "json"):
        spanscore(*CALLS[name], cwd=data)
    before = tree(data)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    process = start(*CALLS[name], cwd=data, stdout=subprocess.DEVNULL, preexec_fn=limit)
    said = process.communicate(timeout=120)[1]
    assert process.returncode == 2, said
    assert said.count("\n") == 1
    assert "cannot write" in said
    after = tree(data)
    journal = {"out/predictions.partial.jsonl", "out/run.partial.json"}
    assert {path: content for path, content in after.items() if path not in journal} == before
    if name == "run":  # what was detected is kept, if it fitted on the disk
        spanscore(*CALLS[name], "--resume", cwd=data)
        assert not journal & tree(data).keys()


@pytest.fixture
def disk(data: Path) -> Iterator[Path]:
    """A disk of 64 KB of its own."""
    place = data / "disk"
    place.mkdir()
    call = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    if not ROOT or shutil.which("mount") is None or subprocess.run(call, check=False, capture_output=True).returncode:
        pytest.skip("only root can mount a disk, and not everywhere")
    yield place
    subprocess.run(["umount", place], check=True)


def test_a_small_disk(data: Path, disk: Path) -> None:
    """It has room for scores but not for a report."""
    call = ("score", "gold.jsonl", "p=pred.jsonl", "-m", "exact", "-q", "-o", "disk/out")
    spanscore(*call, "--no-report", cwd=data)
    before = tree(disk)
    said = spanscore(*call, cwd=data, code=2).stderr
    assert "No space left on device" in said
    assert tree(disk) == before


def test_a_read_only_disk(data: Path, disk: Path) -> None:
    spanscore("score", "gold.jsonl", "p=pred.jsonl", "-m", "exact", "--no-report", "-q", "-o", "disk/scored", cwd=data)
    before = tree(disk)
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    for name, call in CALLS.items():
        there = [f"disk/{word}" if word.startswith(("out", "scored")) else word for word in call]
        said = spanscore(*there, cwd=data, code=2).stderr
        assert "Read-only file system" in said, name
        assert said.count("\n") == 1, name
    assert tree(disk) == before


def test_a_place_where_nothing_can_be_written(data: Path) -> None:
    for target in ("/proc/out", "/dev/null/out"):
        said = spanscore("score", "gold.jsonl", "p=pred.jsonl", "-q", "-o", target, cwd=data, code=2).stderr
        assert "cannot" in said
        assert said.count("\n") == 1


def test_a_folder_that_vanishes_during_a_run(data: Path) -> None:
    process = start(*CALLS["run"], cwd=data, stdout=subprocess.DEVNULL, env={**os.environ, "PAUSE": "0.05"})
    journal = data / "out" / "predictions.partial.jsonl"
    while not (journal.exists() and journal.stat().st_size):
        assert process.poll() is None
        os.sched_yield()
    shutil.rmtree(data / "out")
    said = process.communicate(timeout=120)[1]
    assert process.returncode in (0, 2), said  # the folder is made again, or the run says that it cannot write
    assert "Traceback" not in said
    if process.returncode == 0:
        assert (data / "out" / "metrics.json").exists()


def test_a_reader_that_goes_away(data: Path) -> None:
    """As in `spanscore score ... | head -n 0`."""
    ours, theirs = os.pipe()
    os.close(ours)
    process = start("score", "gold.jsonl", "p=pred.jsonl", "--format", "csv", "-q", cwd=data, stdout=theirs)
    os.close(theirs)
    said = process.communicate(timeout=120)[1]
    assert process.returncode == 1
    assert said == ""


@pytest.mark.parametrize("streams", [(0,), (1,), (2,), (0, 1, 2)])
@pytest.mark.parametrize("name", ["score", "run", "json"])
def test_closed_streams(name: str, streams: tuple[int, ...], data: Path) -> None:
    closed = " ".join(f"{number}{'<' if number == 0 else '>'}&-" for number in streams)
    call = " ".join(f"'{word}'" for word in (sys.executable, "-m", "spanscore", *CALLS[name]))
    done = subprocess.run(
        ["bash", "-c", f"exec {call} {closed}"], cwd=data, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (data / ("out.json" if name == "json" else "out/results.json")).stat().st_size > 100


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_signals_end_a_program_that_reads_standard_input(number: signal.Signals, data: Path) -> None:
    """It waits for its input, so that the moment is known; nothing is written."""
    process = start("convert", "-", "out.jsonl", cwd=data, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert process.stdin is not None
    process.stdin.write((data / "gold.jsonl").read_text())
    process.stdin.flush()
    while not waits_for_input(process.pid):
        assert process.poll() is None
        os.sched_yield()
    process.send_signal(number)
    process.wait(timeout=60)
    process.stdin.close()
    assert process.stderr is not None
    said = process.stderr.read()
    process.stderr.close()
    assert process.returncode == (-number if number == signal.SIGKILL else 128 + number), said
    assert "Traceback" not in said
    assert sorted(path.name for path in data.iterdir()) == ["gold.jsonl", "mine.py", "pred.jsonl"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("becomes", ["ImportError('no numpy')", "spanscore.errors.UsageError('no numpy')"])
def test_a_signal_decides_the_exit_code_whatever_exception_it_becomes(number: signal.Signals, becomes: str) -> None:
    """A library that is being imported when the signal arrives may turn its exception into one of its own."""
    program = f"""
import os, sys, spanscore.cli, spanscore.errors
from spanscore.cli import convert
def interrupted(**options):
    try:
        os.kill(os.getpid(), {int(number)})
    except BaseException:
        raise {becomes} from None
convert.command.callback = interrupted
sys.argv = ["spanscore", "convert", "a.jsonl", "b.jsonl"]
spanscore.cli.main()
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.returncode == 128 + number, ended.stderr
    assert "Traceback" not in ended.stderr


def waits_for_input(pid: int) -> bool:
    """Whether a process handles its signals and sleeps, which it does only where it reads its input."""
    status = Path(f"/proc/{pid}/status").read_text()
    caught = int(next(line for line in status.splitlines() if line.startswith("SigCgt")).split()[1], 16)
    return bool(caught >> (signal.SIGTERM - 1) & 1) and "State:\tS" in status


@pytest.mark.parametrize("source", ["/dev/zero", "blanks"])
def test_an_endless_input_is_refused(source: str, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import spanscore as ss
    from spanscore.formats import source as sources

    monkeypatch.setattr(sources, "MAX_LINE", 9 << 20)
    if source == "blanks":
        (data / "blanks").write_bytes(b" \n" * (5 << 20))
    with pytest.raises(ss.InputError, match="longer than 9 MB|more than 9 MB of whitespace"):
        ss.read(data / source, "spanscore" if source == "/dev/zero" else None)


EVIL = ["../../victim", "/etc/victim", "a/b", "..", ".", "con", "x" * 5000, "a\nb", "-rf", "~", "%2e%2e%2f", "a\\b", "\u202e", "\ud800".encode("utf-8", "replace").decode(), ""]  # fmt: skip


def test_no_path_is_made_from_an_id(data: Path) -> None:
    """Whatever ids, labels and metadata say, files appear only under the names that the docs list."""
    spans = [{"start": 0, "end": 3, "label": "../../victim"}]
    documents = [{"id": name, "text": "Ann", "spans": spans, "meta": {"../k": name}} for name in EVIL]
    write(data / "gold.jsonl", documents)
    write(data / "pred.jsonl", [{"id": name, "spans": []} for name in EVIL])
    before = set(tree(data.parent))
    spanscore(*CALLS["score"], cwd=data)
    spanscore("report", "out", "--folder", "-o", "page", "-q", cwd=data)
    spanscore(*CALLS["run"][:-1], "ran", cwd=data)
    new = {Path(path).name for path in set(tree(data.parent)) - before}
    assert new <= {*OUTPUTS, "shard-0.js"}
    assert {"results.json", "index.html", "metrics.json"} <= new


def test_no_format_writes_outside_of_its_folder(tmp_path: Path) -> None:
    """Formats that are written as folders make file names from ids, which may be anything."""
    import spanscore as ss
    from fuzz.targets import formats

    for kind in formats():
        if not kind.writes_folders():
            continue
        for number, name in enumerate(EVIL):
            place = tmp_path / kind.name / str(number)
            inside = place / "deep" / "er"
            inside.mkdir(parents=True)
            spans = [{"start": 0, "end": 3, "label": "PERSON"}]
            corpus = ss.Corpus.from_documents([{"id": name, "text": "Ann", "spans": spans}])
            with suppress(ss.SpanscoreError):
                kind().write_folder(partial(list, [corpus]), inside)
            outside = [path for path in place.rglob("*") if path.is_file() and inside not in path.parents]
            assert outside == [], (kind.name, name)
            assert not Path("/etc/victim").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
@pytest.mark.parametrize("times", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_a_function_that_never_lets_go_does_not_keep_the_run_alive(
    number: signal.Signals, times: int, tmp_path: Path
) -> None:
    """A second signal ends it at once, and a single one after a few seconds."""
    (tmp_path / "mine.py").write_text(
        "import pathlib, time\n\n\ndef find(text, language):\n    pathlib.Path('called').touch()\n"
        "    while True:\n        try:\n            time.sleep(60)\n"
        "        except BaseException:\n            pathlib.Path('caught').touch()\n"
    )
    write(tmp_path / "data.jsonl", [{"id": "a", "text": "Ann", "spans": []}])
    call = [sys.executable, "-m", "spanscore", "run", "data.jsonl", "-o", "out"]
    call += ["--detector", "python(function=mine:find)"]
    process = subprocess.Popen(call, cwd=tmp_path, stderr=subprocess.DEVNULL)
    for name in ["called", "caught"][:times]:
        while not (tmp_path / name).exists():
            assert process.poll() is None
            os.sched_yield()
        process.send_signal(number)
    assert process.wait(timeout=60) == 128 + number
