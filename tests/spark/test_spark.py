"""Scoring on Spark: on this machine's cores, and on a real cluster of a master and two workers."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import spanscore as ss
from spanscore.corpus.arrow import schema_for, write_parquet
from spanscore.engine import Inputs, Plan, evaluate
from spanscore.engine.spark import session
from spanscore.errors import InputError, UsageError
from spanscore.pipeline.spark import detect
from spanscore.result.files import to_json
from spanscore.stats import Bootstrap

pytestmark = pytest.mark.filterwarnings("ignore")
MEASURES = ["iou", "exact", "presidio.pii", "leak", "leak.entity", "leak.document", "leak.char"]


def corpora(count: int, seed: int = 1) -> tuple[ss.Corpus, ss.Corpus]:
    rng = random.Random(seed)
    gold, pred = [], []
    for number in range(count):
        spans = [{"start": 11 * i, "end": 11 * i + rng.randint(1, 9), "label": rng.choice("ABC")} for i in range(6)]
        gold.append({"id": f"doc {number}", "text": "some words " * 6, "spans": spans, "meta": {"ward": "x"}})
        kept = [{**span, "score": 0.5, "attrs": {"kbid": "Q1"}} for span in spans if rng.random() < 0.7]
        pred.append({"id": f"doc {number}", "spans": kept})
    return ss.Corpus.from_documents(gold), ss.Corpus.from_documents(pred)


def write(folder: Path, gold: ss.Corpus, pred: ss.Corpus, rows: int = 64) -> tuple[str, str]:
    paths = folder / "gold.parquet", folder / "pred.parquet"
    for path, corpus in zip(paths, (gold, pred), strict=True):
        with path.open("wb") as file:
            write_parquet(file, [corpus], schema_for([corpus]), rows)
    return str(paths[0]), str(paths[1])


def results(said: bytes) -> Any:
    return json.loads(said)["results"]


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    started = session("local[2]")
    yield started
    started.stop()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    return write(tmp_path_factory.mktemp("parquet"), *corpora(1000))


@pytest.mark.parametrize("ci", [None, Bootstrap(resamples=100)], ids=["sums", "by document"])
def test_dataframes_give_the_same_numbers_as_files(spark: Any, files: tuple[str, str], ci: Bootstrap | None) -> None:
    gold, pred = (spark.read.parquet(path) for path in files)
    found = ss.score(gold, pred.orderBy("id"), MEASURES, ci=ci)
    local = ss.score(ss.read(files[0]), ss.read(files[1]), MEASURES, ci=ci)
    assert results(to_json(found)) == results(to_json(local))
    assert found.inputs["gold"]["fingerprint"] == local.inputs["gold"]["fingerprint"]


def test_files_give_the_same_json(spark: Any, files: tuple[str, str]) -> None:
    plan = Plan.of(MEASURES, beta=2.0, ci=Bootstrap(resamples=50))
    found = evaluate(plan, Inputs.of(files[0], {"pred": files[1]}), spark="local[2]")
    local = ss.score(*files, MEASURES, keep_spans=False, beta=2.0, ci=Bootstrap(resamples=50))
    assert to_json(found) == to_json(local)


def test_levels_and_shared_types_of_dataframes_and_files(spark: Any, files: tuple[str, str]) -> None:
    labels = sorted({label for path in files for label in ss.read(path).labels})
    names = ("FIRSTNAME", "PERSON", "CITY", "DATE", "castle")
    maps = [{label: names[(number + side) % len(names)] for number, label in enumerate(labels)} for side in (0, 1)]
    settings: dict[str, Any] = {"levels": "pii,branch,type,raw", "gold_map": maps[0], "pred_map": maps[1]}
    settings["shared_types"] = True
    local = ss.score(*files, "exact", keep_spans=False, **settings)
    gold, pred = (spark.read.parquet(path) for path in files)
    frames = ss.score(gold, pred, "exact", **settings)
    assert results(to_json(frames)) == results(to_json(local))
    found = evaluate(Plan.of("exact", **settings), Inputs.of(files[0], {"pred": files[1]}), spark="local[2]")
    assert to_json(found) == to_json(local)


def test_files_in_a_different_order_with_a_missing_document(spark: Any, tmp_path: Path) -> None:
    import numpy as np

    gold, pred = corpora(300)
    files = write(tmp_path, gold, pred.take(np.random.default_rng(0).permutation(299)))
    found = evaluate(Plan.of(MEASURES), Inputs.of(files[0], {"pred": files[1]}), spark="local[2]")
    local = ss.score(ss.read(files[0]), ss.read(files[1]), MEASURES)
    assert results(to_json(found)) == results(to_json(local))
    assert found.warnings == local.warnings
    assert local.warnings[-1] == "pred: 1 gold document without output; its spans count as missed."


def test_the_command_line(files: tuple[str, str]) -> None:
    said = []
    for more in ([], ["--engine", "spark", "--master", "local[2]"]):
        call = [sys.executable, "-m", "spanscore", "score", *files, *more, "--json", "-", "-q"]
        said.append(subprocess.run(call, check=True, capture_output=True).stdout)
    assert said[0] == said[1]


def test_errors_are_one_sentence(spark: Any, files: tuple[str, str]) -> None:
    gold, pred = (spark.read.parquet(path) for path in files)
    with pytest.raises(UsageError, match="need all documents in one place"):
        ss.score(gold, pred, "muc")
    with pytest.raises(InputError, match="needs the columns id and spans"):
        ss.score(gold.drop("spans"), pred)
    with pytest.raises(InputError, match='two documents have the id "doc 1'):
        ss.score(gold.union(gold), pred)
    with pytest.raises(InputError, match="not in the gold data"):
        ss.score(gold.where("id <> 'doc 7'"), pred)
    with pytest.raises(UsageError, match="score DataFrames with DataFrames, or files with files"):
        ss.score(gold, files[1])
    for more, words in (
        (["gold.jsonl", files[1], "--engine", "spark"], "is not a *.parquet file"),
        ([*files, "--engine", "spark", "-o", "out"], "score them without Spark"),
        ([*files, "--master", "local[2]"], "--master requires --engine spark"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "spanscore", "score", *more], capture_output=True, text=True, check=False
        )
        assert done.returncode == 2
        assert words in done.stderr
        assert "Traceback" not in done.stderr


def test_one_document_with_a_million_spans(spark: Any, tmp_path: Path) -> None:
    import numpy as np

    gold, pred = corpora(200)
    count = 1_000_000
    start = np.arange(count) * 4
    huge = ss.Corpus.from_arrays(["huge"], np.zeros(count, int), start, start + 3, ["A"] * count)
    files = write(tmp_path, ss.Corpus.concat([gold, huge]), ss.Corpus.concat([pred, huge]))
    found = ss.score(spark.read.parquet(files[0]), spark.read.parquet(files[1]), "exact")
    local = ss.score(ss.read(files[0]), ss.read(files[1]), "exact")
    assert found["exact"].counts == local["exact"].counts
    assert found["exact"].counts["tp"] > count


def test_detection_by_partitions(spark: Any, files: tuple[str, str]) -> None:
    frame = spark.read.parquet(files[0]).repartition(3)
    found = detect(frame, "python", function=words)
    gold = spark.read.parquet(files[0])
    result = ss.score(gold, found, "exact")
    local = ss.score(ss.read(files[0]), ss.detect(ss.read(files[0]), "python", function=words), "exact")
    assert result["exact"].counts == local["exact"].counts
    assert result["exact"].counts["predicted"] > 5000


def words(text: str, language: str) -> list[dict[str, Any]]:
    return [{"start": m.start(), "end": m.end(), "label": "A"} for m in re.finditer(r"\w+", text)]


class Cluster:
    """A master and two workers, each in its own process."""

    def __init__(self, folder: Path) -> None:
        import pyspark

        self.home = Path(pyspark.__file__).parent
        self.folder = folder
        self.master, line = self._start(
            "master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0", said="Starting Spark master at"
        )
        self.url = line.split("Starting Spark master at ")[1].strip()
        self.workers = [self._worker(number)[0] for number in range(2)]

    def _worker(self, number: int) -> tuple[subprocess.Popen[str], str]:
        place = ("--work-dir", str(self.folder / f"work{number}"), "--webui-port", "0", "--host", "127.0.0.1")
        return self._start(
            "worker.Worker",
            *place,
            "--cores",
            "1",
            "--memory",
            "1g",
            self.url,
            said="Successfully registered with master",
        )

    def _start(self, name: str, *arguments: str, said: str) -> tuple[subprocess.Popen[str], str]:
        call = [str(self.home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *arguments]
        environment = {**os.environ, "SPARK_NO_DAEMONIZE": "1", "SPARK_LOCAL_IP": "127.0.0.1"}
        process = subprocess.Popen(
            call, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, start_new_session=True
        )
        assert process.stdout is not None
        for line in process.stdout:
            if said in line:
                threading.Thread(target=process.stdout.read, daemon=True).start()
                return process, line
        raise AssertionError(f"{name} did not start")

    def stop(self) -> None:
        for process in (*self.workers, self.master):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    from pyspark.sql import SparkSession

    if (before := SparkSession.getActiveSession()) is not None:
        before.stop()
    made = Cluster(tmp_path)
    yield made
    if (active := SparkSession.getActiveSession()) is not None:
        active.stop()
    made.stop()


def test_losing_a_worker_does_not_change_the_numbers(cluster: Cluster, files: tuple[str, str], tmp_path: Path) -> None:
    from pyspark import cloudpickle

    register: Any = cloudpickle.register_pickle_by_value
    register(sys.modules[__name__])  # workers cannot import the tests
    settings = {"spark_executor_memory": "512m", "spark_cores_max": "2", "spark_driver_host": "127.0.0.1"}
    spark = session(cluster.url, **settings)
    gold, pred = (spark.read.parquet(path) for path in files)
    local = ss.score(ss.read(files[0]), ss.read(files[1]), MEASURES)
    begun = tmp_path / "begun"
    begun.mkdir()
    found = detect(gold.repartition(16), "python", function=slowly(begun, tmp_path / "go"))
    done: list[Any] = []

    def job() -> None:
        done.append(ss.score(gold, found, "exact"))

    thread = threading.Thread(target=job)
    thread.start()
    wait_until(lambda: len(list(begun.iterdir())) >= 1)
    os.killpg(cluster.workers[0].pid, signal.SIGKILL)  # in the middle of the job
    (tmp_path / "go").touch()
    thread.join(timeout=240)
    assert done
    wanted = ss.score(ss.read(files[0]), ss.detect(ss.read(files[0]), "python", function=words), "exact")
    assert done[0]["exact"].counts == wanted["exact"].counts
    again = ss.score(gold, pred, MEASURES)
    assert results(to_json(again)) == results(to_json(local))


def slowly(begun: Path, go: Path) -> Callable[[str, str], list[dict[str, Any]]]:
    """Return a detector whose tasks leave a file when they begin, and wait for one before they go on."""
    said: list[int] = []

    def find(text: str, language: str) -> list[dict[str, Any]]:
        if not said:
            said.append(1)
            (begun / str(os.getpid())).touch()
            wait_until(go.exists)
        return [{"start": m.start(), "end": m.end(), "label": "A"} for m in re.finditer(r"\w+", text)]

    return find


def wait_until(true: Callable[[], bool]) -> None:
    """Poll until other processes have done something; they have no handle to wait on."""
    event = threading.Event()
    for _ in range(2400):
        if true():
            return
        event.wait(0.05)
    raise AssertionError("nothing happened")
