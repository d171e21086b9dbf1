"""Files scored by several processes give the same bytes as one process, which takes over if they cannot."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from calls import spanscore, write
from spanscore.engine import Inputs, Plan, evaluate, file_ranges
from spanscore.engine.partial import PartialResult, assemble
from spanscore.engine.processes import ProcessPool
from spanscore.formats import read_chunks
from spanscore.formats import spanscore as own
from spanscore.result.files import to_json
from spanscore.stats import Bootstrap


def documents(count: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    rng = random.Random(4)
    gold, pred = [], []
    for number in range(count):
        text = "some words " * 8
        spans = [{"start": 11 * i, "end": 11 * i + rng.randint(1, 9), "label": rng.choice("ABC")} for i in range(8)]
        gold.append({"id": f"doc {number}", "text": text, "spans": spans})
        kept = [{**span, "score": 0.5} for span in spans if rng.random() < 0.7]
        pred.append({"id": f"doc {number}", "spans": kept})
    return gold, pred


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("converted")
    gold, pred = documents(400)
    write(folder / "gold.jsonl", gold)
    write(folder / "pred.jsonl", pred)
    for name in ("gold", "pred"):
        spanscore("convert", f"{name}.jsonl", f"{name}.parquet", cwd=folder)
    return folder


@pytest.fixture
def files(converted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(own, "LEAST", 1000)
    monkeypatch.setattr(file_ranges, "WORTHWHILE", 1000)
    shutil.copytree(converted, tmp_path, dirs_exist_ok=True)
    return tmp_path


PLAN = Plan.of(["iou", "exact", "presidio"])


def inputs(folder: Path, suffix: str) -> Inputs:
    return Inputs.of(str(folder / f"gold.{suffix}"), {"s": str(folder / f"pred.{suffix}")})


def in_ranges(plan: Plan, given: Inputs, jobs: int = 2) -> PartialResult | None:
    with file_ranges.RangeCounter(plan, given, jobs) as counter:
        return counter.count("s", given.systems["s"])


@pytest.mark.parametrize("ci", [None, Bootstrap(resamples=50)], ids=["sums", "by document"])
@pytest.mark.parametrize("jobs", [2, 3])
def test_several_processes_give_the_same_bytes(files: Path, jobs: int, ci: Bootstrap | None) -> None:
    plan, given = Plan.of(PLAN.measures, ci=ci), inputs(files, "jsonl")
    part = in_ranges(plan, given, jobs)
    assert part is not None
    assert to_json(assemble(plan, {"s": part})) == to_json(evaluate(plan, given))


@pytest.mark.parametrize("count", [2, 5, 17])
@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_ranges_have_every_document_once(files: Path, suffix: str, count: int) -> None:
    if suffix == "parquet":
        import pyarrow.parquet as pq

        for name, rows in (("gold", 30), ("pred", 41)):
            pq.write_table(pq.read_table(files / f"{name}.parquet"), files / f"{name}.parquet", row_group_size=rows)
    given = inputs(files, suffix)
    tasks = file_ranges.plan_ranges(given.gold, given.systems["s"], count)
    assert len(tasks) == min(count, 14 if suffix == "parquet" else count)
    ids: list[str] = []
    for task in tasks:
        sides = zip((task.gold, task.pred), task.ranges, strict=True)
        gold, pred = (
            [name for corpus in read_chunks(file.path, file.format, part=part) for name in corpus.ids]
            for file, part in sides
        )
        assert gold == pred
        ids += gold
    assert ids == [f"doc {number}" for number in range(400)]
    merged = file_ranges.merge_ranges([file_ranges.count_range(PLAN, "s", task) for task in tasks], tasks[0])
    assert merged is not None
    assert to_json(assemble(PLAN, {"s": merged})) == to_json(evaluate(PLAN, given))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda gold, pred: pred.reverse(),
        lambda gold, pred: pred.__setitem__(slice(10, 12), pred[10:12][::-1]),
        lambda gold, pred: pred.pop(30),
        lambda gold, pred: pred.append({"id": "more", "spans": []}),
        lambda gold, pred: (gold.append(gold[3]), pred.append(pred[3])),
        lambda gold, pred: gold.__setitem__(350, {"id": "doc 350", "spans": [{"start": 3}]}),
    ],
    ids=["reversed", "two swapped", "one less", "one more", "an id twice", "a wrong line"],
)
def test_one_process_does_what_ranges_cannot(files: Path, spoil: Any) -> None:
    gold, pred = documents(400)
    spoil(gold, pred)
    write(files / "gold.jsonl", gold)
    write(files / "pred.jsonl", pred)
    assert in_ranges(PLAN, inputs(files, "jsonl")) is None


@pytest.mark.slow
def test_the_command_line(tmp_path: Path) -> None:
    gold, pred = documents(9000)
    write(tmp_path / "gold.jsonl", gold)
    write(tmp_path / "pred.jsonl", pred)
    write(tmp_path / "other.jsonl", [{"id": one["id"], "spans": []} for one in pred])
    said = []
    for jobs in ("1", "2"):
        files_ = ["gold.jsonl", "pred.jsonl", "other.jsonl"]
        call = [sys.executable, "-m", "spanscore", "score", *files_, "--ci", "0.9", "--jobs", jobs, "--json", "-", "-q"]
        said.append(subprocess.run(call, cwd=tmp_path, check=True, capture_output=True).stdout)
    assert said[0] == said[1]
    gold[8000]["spans"][2]["end"] = -1
    write(tmp_path / "gold.jsonl", gold)
    call = [sys.executable, "-m", "spanscore", "score", "gold.jsonl", "pred.jsonl", "--jobs", "2"]
    done = subprocess.run(call, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert "gold.jsonl:8001: spans[2].end: the offset -1 is negative" in done.stderr


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPool]:
    with ProcessPool(2) as some:
        yield some


@pytest.mark.parametrize("wrong", [0, 3, 7])
def test_the_first_error_ends_the_work(wrong: int, pool: ProcessPool) -> None:
    with pytest.raises(ZeroDivisionError):
        list(pool.map(partial(divmod, 5), [number - wrong for number in range(8)]))


@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_results_come_back_in_order(count: int, pool: ProcessPool) -> None:
    assert list(pool.map(str, range(count))) == [str(number) for number in range(count)]


@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_this_process_works_too(count: int, pool: ProcessPool) -> None:
    assert pool.share(str, range(count)) == [str(number) for number in range(count)]
    if count:
        with pytest.raises(ZeroDivisionError):
            pool.share(partial(divmod, 5), range(count))


def test_a_process_that_dies_is_not_waited_for() -> None:
    with ProcessPool(1) as some, pytest.raises(BrokenProcessPool):
        some.submit(os._exit, 0).result()


def test_processes_do_not_import_from_the_current_folder(tmp_path: Path) -> None:
    gold, pred = documents(9000)
    write(tmp_path / "gold.jsonl", gold)
    write(tmp_path / "pred.jsonl", pred)
    for name in ("pickle", "selectors", "json", "numpy"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported from the current folder')")
    script = str(Path(sys.executable).with_name("spanscore"))
    call = [script, "score", "gold.jsonl", "pred.jsonl", "--jobs", "2", "-q", "--json", "-"]
    done = subprocess.run(call, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_interrupt_ends_all_processes(tmp_path: Path) -> None:
    """Interrupted somewhere in the middle, by a terminal, which interrupts every process."""
    gold, pred = documents(40_000)
    write(tmp_path / "gold.jsonl", gold)
    write(tmp_path / "pred.jsonl", pred)
    call = [sys.executable, "-m", "spanscore", "score", "gold.jsonl", "pred.jsonl", "--jobs", "2", "-m", "token"]
    process = subprocess.Popen(call, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True)
    while not children(process.pid):
        assert process.poll() is None
        os.sched_yield()
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in said


def children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
