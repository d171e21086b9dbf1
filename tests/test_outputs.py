"""Outputs change as a whole, whatever happens while they are written, and stay where they belong."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from calls import spanscore, write
from spanscore.errors import InputError, UsageError
from spanscore.files import FolderLock, atomic_file, atomic_folder, finish_interrupted, output_folder


class Killed(BaseException):
    """What stands for the end of the process."""


def state(folder: Path) -> dict[str, str]:
    """The files of a folder that a user sees."""
    return {path.name: path.read_text() for path in folder.iterdir() if not path.name.startswith(".")}


def write_set(folder: Path, content: str, names: list[str], stale: list[str]) -> None:
    with output_folder(folder, last="results.json", stale=stale) as new:
        for name in names:
            (new / name).write_text(content)


OLD = ["results.json", "errors.jsonl", "report.html", "diff.csv"]
NEW = ["results.json", "errors.jsonl", "report.html", "tallies.npz"]


@pytest.mark.parametrize("step", range(12))
def test_a_folder_that_is_changed_holds_old_or_new_files_but_never_both(
    step: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process ends at each of the steps that change the folder."""
    write_set(tmp_path / "out", "old", OLD, [])
    (tmp_path / "out" / "mine.txt").write_text("mine")
    left = step
    for name in ("replace", "unlink"):
        real = getattr(Path, name)

        def step_or_end(path: Path, *more: Any, real: Any = real, **options: Any) -> Any:
            nonlocal left
            left -= 1
            if left == -1:
                raise Killed
            return real(path, *more, **options)

        monkeypatch.setattr(Path, name, step_or_end)
    try:
        write_set(tmp_path / "out", "new", NEW, OLD)
        ended = False
    except Killed:
        ended = True
    monkeypatch.undo()
    found = state(tmp_path / "out")
    assert found.pop("mine.txt") == "mine"
    old, new = dict.fromkeys(OLD, "old"), dict.fromkeys(NEW, "new")
    if not ended:
        assert found == new
        return
    assert found == old or set(found.values()) <= {"new"} or found.items() < old.items()
    finish_interrupted(tmp_path / "out")
    found = state(tmp_path / "out")
    assert found.pop("mine.txt") == "mine"
    assert found in (old, new)
    write_set(tmp_path / "out", "again", NEW, OLD)
    assert state(tmp_path / "out") == {**dict.fromkeys(NEW, "again"), "mine.txt": "mine"}
    assert not [path.name for path in (tmp_path / "out").iterdir() if path.name.startswith(".")]


def test_a_failure_while_files_are_written_changes_nothing(tmp_path: Path) -> None:
    write_set(tmp_path / "out", "old", OLD, [])
    with pytest.raises(InputError, match="cannot write to this folder"):
        write_set(tmp_path / "out", "new", ["results.json", "no/such.html"], OLD)
    assert state(tmp_path / "out") == dict.fromkeys(OLD, "old")
    with pytest.raises(ZeroDivisionError), output_folder(tmp_path / "none", last="results.json"):
        raise ZeroDivisionError
    assert not (tmp_path / "none").exists()


def test_a_plan_that_others_wrote_touches_nothing_else(tmp_path: Path) -> None:
    """A folder from elsewhere may hold anything, and its files are only data."""
    (tmp_path / "victim").write_text("mine")
    ready = tmp_path / "out" / ".spanscore.ready"
    ready.mkdir(parents=True)
    (ready / ".plan").write_text(json.dumps({"move": ["../victim", "x.py"], "remove": ["../victim", "/etc/passwd"]}))
    (ready / "x.py").write_text("x")
    finish_interrupted(tmp_path / "out")
    assert (tmp_path / "victim").read_text() == "mine"
    assert state(tmp_path / "out") == {}
    ready.mkdir()
    for broken in ("[", "[" * 100_000):
        (ready / ".plan").write_text(broken)
        with pytest.raises(InputError, match="not written by this program"):
            finish_interrupted(tmp_path / "out")


def test_commands_that_read_a_folder_finish_what_was_interrupted(tmp_path: Path) -> None:
    """Its files are complete, but not yet at their places: a run, the predictions of a run, and results."""
    write(tmp_path / "gold.jsonl", [{"id": "d", "text": "Ann", "spans": [{"start": 0, "end": 3, "label": "PERSON"}]}])
    (tmp_path / "mine.py").write_text("def find(text, language):\n    return []\n")
    call = ("run", "gold.jsonl", "--detector", "python(function=mine:find)", "--language", "en", "-q", "-o", "out")
    spanscore(*call, cwd=tmp_path)
    out = tmp_path / "out"
    names = [path.name for path in out.iterdir()]

    def interrupt() -> None:
        ready = out / ".spanscore.ready"
        ready.mkdir()
        for name in names:
            (out / name).replace(ready / name)
        (ready / ".plan").write_text(json.dumps({"move": names, "remove": []}))

    for command in (
        ("score", "gold.jsonl", "out", "-q"),
        ("score", "gold.jsonl", "out/predictions.jsonl", "-q"),
        ("gate", "out", "--max", "leak.exposed=1"),
        ("summary", "out"),
    ):
        interrupt()
        spanscore(*command, cwd=tmp_path)
        assert sorted(path.name for path in out.iterdir()) == sorted(names), command


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    with FolderLock(tmp_path), pytest.raises(UsageError, match="another process is writing"):
        FolderLock(tmp_path)
    FolderLock(tmp_path).release()
    assert list(tmp_path.iterdir()) == []


def test_temporary_files_of_dead_processes_are_removed(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys\nfrom spanscore.files import atomic_file, atomic_folder, output_folder\n"
        "with atomic_file('a.json') as file, atomic_folder('brat'), output_folder('out', last='x') as new:\n"
        "    file.write(b'half')\n    file.flush()\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 3
    with atomic_folder(tmp_path / "brat") as folder:
        (folder / "a.ann").write_text("")
    with atomic_file(tmp_path / "a.json") as file, output_folder(tmp_path / "out", last="results.json") as new:
        (new / "results.json").write_text("new")
        with atomic_file(tmp_path / "a.json") as other:  # the first one is alive
            other.write(b"2")
        file.write(b"1")
    assert (tmp_path / "a.json").read_bytes() == b"1"
    assert {path.name for path in tmp_path.rglob("*")} == {"a.json", "brat", "a.ann", "out", "results.json"}


def test_outputs_are_as_private_as_the_user_wants(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with atomic_file(tmp_path / "a"), atomic_file(tmp_path / "b", mode=0o600):
            pass
        write_set(tmp_path / "out", "x", OLD, [])
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}
    assert modes == {"a": 0o640, "b": 0o600, "out": 0o750, **dict.fromkeys(OLD, 0o640)}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    spans = [{"start": 0, "end": 3, "label": "PERSON", "score": 0.5}]
    write(tmp_path / "gold.jsonl", [{"id": str(i), "text": "Ann left.", "spans": spans} for i in range(20)])
    write(tmp_path / "pred.jsonl", [{"id": str(i), "spans": spans if i % 2 else []} for i in range(20)])
    (tmp_path / "mine.py").write_text("def find(text, language):\n    return []\n")
    return tmp_path


CALLS = {
    "score": ("score", "gold.jsonl", "p=pred.jsonl", "-m", "exact", "--ci", "0.95", "--resamples", "10", "-o", "out"),
    "compare": ("compare", "gold.jsonl", "a=pred.jsonl", "b=gold.jsonl", "-m", "exact", "--resamples", "10",
                "--permutations", "10", "-o", "out"),
    "run": ("run", "gold.jsonl", "--detector", "python(function=mine:find)", "--ci", "0.9", "--resamples", "10", "-o", "out"),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_nothing_is_written_through_planted_links(name: str, data: Path) -> None:
    spanscore(*CALLS[name], cwd=data)
    names = sorted(path.name for path in (data / "out").iterdir())
    more = {"run": ["predictions.partial.jsonl", "run.partial.json"]}.get(name, [])
    for path in (data / "out").iterdir():
        path.unlink()
    victims = {planted: data / f"victim-{planted}" for planted in (*names, *more)}
    for planted, victim in victims.items():
        if planted not in more:
            victim.write_text("mine")
        (data / "out" / planted).symlink_to(victim)
    spanscore(*CALLS[name], cwd=data)
    assert not any((data / "out" / planted).is_symlink() for planted in names)
    assert not any(victims[planted].exists() for planted in more)
    assert {victim.read_text() for planted, victim in victims.items() if planted not in more} == {"mine"}
    assert sorted(path.name for path in (data / "out").iterdir()) == names


PAGES = {
    "summary": ("summary", "out"),
    "report": ("report", "out"),
    "report -o": ("report", "out", "-o", "out/report.html"),
    "another name": ("report", "out", "-o", "out/mine.html"),
    "gate": ("gate", "out", "--min", "f=0", "--junit", "out/gate.xml"),
    "sweep": ("sweep", "gold.jsonl", "p=pred.jsonl", "--json", "out/sweep.json"),
    "convert": ("convert", "gold.jsonl", "out/all.jsonl"),
}


@pytest.mark.parametrize("name", PAGES)
def test_later_commands_replace_links_in_a_results_folder(name: str, data: Path) -> None:
    spanscore(*CALLS["run"], cwd=data)
    (data / "victim").write_text("mine")
    for planted in ("summary.html", "report.html", "mine.html", "gate.xml", "sweep.json", "all.jsonl"):
        (data / "out" / planted).unlink(missing_ok=True)
        (data / "out" / planted).symlink_to(data / "victim")
    before = {path.name for path in (data / "out").iterdir() if path.is_symlink()}
    spanscore(*PAGES[name], cwd=data)
    assert (data / "victim").read_text() == "mine"
    assert len(before - {path.name for path in (data / "out").iterdir() if path.is_symlink()}) == 1


def test_a_journal_that_is_a_link_is_not_continued(data: Path) -> None:
    (data / "mine.py").write_text("def find(text, language):\n    raise ValueError\n")
    spanscore(*CALLS["run"], cwd=data, code=2)
    journal = data / "out" / "predictions.partial.jsonl"
    (data / "victim").write_bytes(journal.read_bytes() + b"half a line")
    before = (data / "victim").read_bytes()
    journal.unlink()
    journal.symlink_to(data / "victim")
    assert "cannot write to this folder" in spanscore(*CALLS["run"], "--resume", cwd=data, code=2).stderr
    assert (data / "victim").read_bytes() == before


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can make links of other users")
def test_a_link_of_another_user_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("mine")
    (tmp_path / "a.json").symlink_to("victim")
    os.lchown(tmp_path / "a.json", 12345, 12345)
    with pytest.raises(InputError, match="a symbolic link of another user"), atomic_file(tmp_path / "a.json"):
        pass
    assert (tmp_path / "victim").read_text() == "mine"


def test_no_file_of_an_earlier_command_stays_beside_new_results(data: Path) -> None:
    (data / "out").mkdir()
    (data / "out" / "notes.txt").write_text("mine")
    (data / "out" / "diff.csv").write_text("mine")  # made by hand
    spanscore(*CALLS["score"], cwd=data)
    assert (data / "out" / "diff.csv").read_text() == "mine"
    spanscore(*CALLS["compare"], cwd=data)
    named = {"results.json", "errors.jsonl", "tallies.npz", "report.html", "comparison.json", "diff.jsonl", "diff.csv"}
    assert {path.name for path in (data / "out").iterdir()} == {*named, "notes.txt"}
    call = ("score", "gold.jsonl", "p=pred.jsonl", "-m", "exact", "--no-report", "-o", "out")
    spanscore(*call, cwd=data)
    assert {path.name for path in (data / "out").iterdir()} == {"results.json", "errors.jsonl", "notes.txt"}


@pytest.mark.parametrize("name", ["tallies.npz", "diff.csv", "comparison.json", "metrics.json", "report.html"])
@pytest.mark.parametrize("command", ["score", "compare", "run"])
def test_a_folder_in_the_place_of_an_output_is_refused_first(command: str, name: str, data: Path) -> None:
    (data / "out" / name).mkdir(parents=True)
    said = spanscore(*CALLS[command], cwd=data, code=2).stderr
    assert "a folder in it has the name of an output file" in said
    assert [path.name for path in (data / "out").iterdir()] == [name]


def test_scores_do_not_replace_the_files_of_a_run(data: Path) -> None:
    spanscore(*CALLS["run"], cwd=data)
    before = sorted(os.listdir(data / "out"))
    said = spanscore("score", "gold.jsonl", "out/predictions.jsonl", "-o", "out", cwd=data, code=2).stderr
    assert "this folder holds the files of a run" in said
    assert sorted(os.listdir(data / "out")) == before


@pytest.mark.slow
def test_runs_that_start_together_do_not_mix_their_detectors(data: Path) -> None:
    """Whoever comes second is refused, and all predictions are of the detector that the record names."""
    lines = [f"def find{n}(text, language):\n    return [dict(start=0, end=1, label='L{n}')]\n" for n in range(4)]
    (data / "mine.py").write_text("".join(lines))
    call = [sys.executable, "-m", "spanscore", "run", "gold.jsonl", "-q", "-o", "out", "--detector"]
    for _ in range(2):
        started = [
            subprocess.Popen([*call, f"python(function=mine:find{n})"], cwd=data, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
            for n in range(4)
        ]  # fmt: skip
        said = [process.communicate(timeout=120)[1] for process in started]
        codes = [process.returncode for process in started]
        assert 0 in codes
        assert set(codes) <= {0, 2}
        assert all(code == 0 or "another process is writing" in one for code, one in zip(codes, said, strict=True))
        record = json.loads((data / "out" / "run.json").read_text())
        winner = record["arguments"]["detector"].split("find")[1][0]
        found = [
            json.loads(line)["spans"][0]["label"]
            for line in (data / "out" / "predictions.jsonl").read_text().splitlines()
        ]
        assert found == [f"L{winner}"] * 20
        assert codes[int(winner)] == 0
