"""Files scored by several processes: the same bytes as by one, or one process does it and says why."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from calls import write
from spanscore.engine import ranges
from spanscore.engine.local import count_chunks
from spanscore.engine.parts import Plan, choose, result_of
from spanscore.engine.processes import Workers, share
from spanscore.formats import read_chunks
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


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(ranges, "LEAST", 1000)
    gold, pred = documents(400)
    write(tmp_path / "gold.jsonl", gold)
    write(tmp_path / "pred.jsonl", pred)
    for name in ("gold", "pred"):
        call = [sys.executable, "-m", "spanscore", "convert", f"{name}.jsonl", f"{name}.parquet"]
        subprocess.run(call, cwd=tmp_path, check=True)
    return tmp_path


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers(2) as some:
        yield some


PLAN = Plan(choose(["iou", "exact", "presidio"], 1.0))


def paths(folder: Path, suffix: str) -> list[ranges.File]:
    return [(str(folder / f"{name}.{suffix}"), None) for name in ("gold", "pred")]


def whole(plan: Plan, gold: ranges.File, pred: ranges.File) -> bytes:
    part = count_chunks(plan, read_chunks(*gold), read_chunks(*pred), "s")
    return to_json(result_of(plan, {"s": part}))


@pytest.mark.parametrize("ci", [None, Bootstrap(resamples=50)], ids=["sums", "by document"])
@pytest.mark.parametrize("jobs", [2, 3])
def test_several_processes_give_the_same_bytes(files: Path, jobs: int, ci: Bootstrap | None) -> None:
    plan = Plan(PLAN.measures, ci=ci)
    gold, pred = paths(files, "jsonl")
    with Workers(jobs - 1) as others:
        part = ranges.count_ranges(plan, gold, pred, "s", others)
    assert part is not None
    assert to_json(result_of(plan, {"s": part})) == whole(plan, gold, pred)


@pytest.mark.parametrize("count", [2, 5, 17])
@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_ranges_have_every_document_once(files: Path, suffix: str, count: int) -> None:
    gold, pred = paths(files, suffix)
    if suffix == "parquet":
        import pyarrow.parquet as pq

        for name, rows in (("gold", 30), ("pred", 41)):
            pq.write_table(pq.read_table(files / f"{name}.parquet"), files / f"{name}.parquet", row_group_size=rows)
    tasks = ranges.plan_ranges(gold, pred, count)
    assert len(tasks) == min(count, 14 if suffix == "parquet" else count)
    ids: list[str] = []
    for task in tasks:
        for side, part in ((task.gold, task.ranges[0]), (task.pred, task.ranges[1])):
            found = [name for corpus in read_chunks(*side, part=part) for name in corpus.ids]
            ids += found if side == task.gold else []
            assert found == [name for corpus in read_chunks(*task.gold, part=task.ranges[0]) for name in corpus.ids]
    assert ids == [f"doc {number}" for number in range(400)]
    parts = [ranges.count_range(PLAN, task, "s") for task in tasks]
    merged = ranges.merge_ranges(parts, gold, pred)
    assert merged is not None
    assert to_json(result_of(PLAN, {"s": merged})) == whole(PLAN, gold, pred)


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
def test_one_process_does_what_ranges_cannot(files: Path, workers: Workers, spoil: Any) -> None:
    gold, pred = documents(400)
    spoil(gold, pred)
    write(files / "gold.jsonl", gold)
    write(files / "pred.jsonl", pred)
    gold_file, pred_file = paths(files, "jsonl")
    assert ranges.count_ranges(PLAN, gold_file, pred_file, "s", workers) is None


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


@pytest.mark.parametrize("wrong", [0, 3, 7])
def test_the_first_error_ends_the_work(wrong: int, workers: Workers) -> None:
    with pytest.raises(ZeroDivisionError):
        share(partial(divmod, 5), [number - wrong for number in range(8)], workers)


@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_work_is_shared_and_comes_back_in_order(count: int, workers: Workers) -> None:
    assert share(str, range(count), workers) == [str(number) for number in range(count)]


def test_a_process_that_ends_is_not_waited_for(files: Path) -> None:
    with Workers(1) as some:
        with pytest.raises(ConnectionError):
            some.ask(0, os._exit, 0)
        with pytest.raises(ConnectionError):
            some.ask(0, str, 0)
        gold, pred = paths(files, "jsonl")
        assert ranges.count_ranges(PLAN, gold, pred, "s", some) is None


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
