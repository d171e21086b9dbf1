"""`spanscore log --mlflow` with MLflow itself and a tracking store in SQLite."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import spanscore as ss
from calls import content, run, write

FIND = """
def find(text, language):
    return [{"start": 0, "end": 6, "label": "PERSON"}] if text.endswith("0") else []
"""
HOSTILE = "../<script>'\" é"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the results of a run, logged to a store."""
    folder = tmp_path_factory.mktemp("mlflow")
    (folder / "mine.py").write_text(FIND)
    documents = [
        {"id": f"d{i}", "text": f"Zqxley {i}", "spans": [{"start": 0, "end": 6, "label": "PERSON"}]} for i in range(40)
    ]
    write(folder / "gold.jsonl", documents)
    run("run", "gold.jsonl", "--detector", "python(function=mine:find)", "--ci", "0.95", "-o", "out", "-q", cwd=folder)
    said, _ = run("log", "out", "--experiment", "pii", "--name", "v1", "--mlflow", "sqlite:///m.db", cwd=folder)
    assert said.startswith("MLflow: run ")
    (folder / "id").write_text(said.split()[-1])
    return folder


@pytest.fixture
def client(made: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    from mlflow import MlflowClient

    monkeypatch.chdir(made)
    return MlflowClient(tracking_uri="sqlite:///m.db")


def test_the_store_holds_the_scores_of_the_results(made: Path, client: Any) -> None:
    logged = client.get_run((made / "id").read_text())
    assert (logged.info.status, logged.info.run_name) == ("FINISHED", "v1")
    assert client.get_experiment(logged.info.experiment_id).name == "pii"
    rows = json.loads((made / "out" / "results.json").read_text())["results"]
    wanted: dict[str, float | None] = {}
    for row in rows:
        if "average" in row or "by" in row:
            continue
        for number in ("precision", "recall", "f"):
            key = f"{row['measure']}/{row['type'] or 'all'}/{number}"
            ends = row.get("interval", {}).get(number, (None, None))
            wanted |= {key: row[number], f"{key}_low": ends[0], f"{key}_high": ends[1]}
    assert logged.data.metrics == {key: value for key, value in wanted.items() if value is not None}
    assert logged.data.metrics["iou/PERSON/recall"] == 0.1
    signatures = {row["measure"]: row["signature"] for row in rows}
    for measure, signature in signatures.items():
        assert logged.data.tags[f"spanscore.signature/python/{measure}"] == signature


def test_only_files_without_text_are_artifacts(made: Path, client: Any) -> None:
    listed = {one.path for one in client.list_artifacts((made / "id").read_text())}
    assert listed == {"results.json", "metrics.json", "summary.html", "confusion_matrix.html"}
    copied = Path(client.download_artifacts((made / "id").read_text(), "results.json"))
    assert copied.read_bytes() == (made / "out" / "results.json").read_bytes()
    for name in listed:
        assert b"Zqxley" not in content(made / "out" / name)


def test_the_same_result_is_logged_once(made: Path, client: Any) -> None:
    said, _ = run("log", "out", "--experiment", "pii", "--mlflow", "sqlite:///m.db", cwd=made)
    assert said == "MLflow: already logged; nothing is new\n"
    place = client.get_experiment_by_name("pii").experiment_id
    assert len(client.search_runs([place])) == 1


def test_the_store_may_come_from_the_environment_and_names_may_be_anything(
    made: Path, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    spans = [{"start": n, "end": n + 1, "label": label} for n, label in enumerate([HOSTILE, "A/B", "A_B", "x" * 900])]
    gold = ss.Corpus.from_documents([{"id": "d", "spans": spans}])
    ss.score(gold, {"one": gold, HOSTILE: gold}, "exact").save(made / "odd")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "sqlite:///m.db")
    said, _ = run("log", "odd", "--to", "h.parquet", "--mlflow", cwd=made)
    assert said.startswith("h.parquet: 10 new rows\nMLflow: run ")
    logged = client.get_run(said.split()[-1])
    assert len(logged.data.metrics) == 2 * 5 * 3
    assert set(logged.data.metrics.values()) == {1.0}


def test_a_store_that_does_not_work_gets_one_sentence(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "out", tmp_path / "out")
    _, said = run("log", "out", "--mlflow", "nonsense://here", cwd=tmp_path, code=2)
    assert "cannot log to MLflow (" in said.splitlines()[-1]
    assert os.listdir(tmp_path) == ["out"]
