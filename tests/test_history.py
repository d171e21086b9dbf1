"""`spanscore log` and `spanscore history`: results over time, in one file that several processes may add to."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

import spanscore as ss
from calls import run, spanscore
from spanscore.analysis.history import entries, log, read_history, trends
from spanscore.report.history import bars, page, plain
from spanscore.report.mlflow_store import metrics

HOSTILE = "</title><script>alert(1)</script>&\"'\x1b[31m"


def scored(folder: Path, found: int, *, label: str = "PERSON", ci: bool = True, gold: int = 40) -> Path:
    """Results in which so many of the gold spans are found."""
    spans = [{"start": 0, "end": 3, "label": label}]
    annotated = ss.Corpus.from_documents([{"id": f"d{i}", "spans": spans} for i in range(gold)])
    predicted = ss.Corpus.from_documents([{"id": f"d{i}", "spans": spans[: i < found]} for i in range(gold)])
    ss.score(annotated, {"mine": predicted}, "exact", ci=0.95 if ci else None).save(folder)
    return folder


def test_rows_are_those_of_the_results(tmp_path: Path) -> None:
    out, history = scored(tmp_path / "out", 30), tmp_path / "history.parquet"
    assert log(out, history, name="v1", at=datetime(2026, 1, 31, 12, tzinfo=UTC)) == 2
    rows = json.loads((out / "results.json").read_text())["results"]
    overall, person = read_history(history)
    assert (overall.type, person.type) == (None, "PERSON")
    for entry, row in ((overall, rows[0]), (person, rows[1])):
        assert [entry.precision, entry.recall, entry.f] == [row["precision"], row["recall"], row["f"]]
        assert entry.interval("recall") == tuple(row["interval"]["recall"])
        assert (entry.signature, entry.beta, entry.level) == (row["signature"], 1.0, 0.95)
        assert json.loads(entry.counts) == row["counts"]
        assert (entry.name, entry.logged) == ("v1", datetime(2026, 1, 31, 12, tzinfo=UTC))


def test_the_same_result_is_logged_once_and_an_interval_is_added(tmp_path: Path) -> None:
    history = tmp_path / "history.parquet"
    early, late = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)
    bare = scored(tmp_path / "bare", 30, ci=False)
    assert log(bare, history, name="a", at=early) == 2
    before = history.read_bytes()
    assert log(bare, history, name="a", at=late) == log(bare, history, at=late) == 0
    assert history.read_bytes() == before
    assert log(scored(tmp_path / "full", 30), history, name="a", at=late) == 0
    found = read_history(history)
    assert all(one.interval("f") is not None and (one.name, one.logged) == ("a", early) for one in found)
    assert log(bare, history, at=late) == 0
    assert read_history(history) == found, "an interval was lost"


def test_a_reverted_version_is_the_latest_again(tmp_path: Path) -> None:
    history = tmp_path / "history.parquet"
    good, bad = scored(tmp_path / "good", 30), scored(tmp_path / "bad", 10)
    for day, (folder, name) in enumerate([(good, "v1"), (bad, "v2"), (good, "v3")], 1):
        assert log(folder, history, name=name, at=datetime(2026, 1, day, tzinfo=UTC)) == 2
    points = trends(read_history(history), "recall")[0].points
    assert [(one.entry.name, one.value) for one in points] == [("v1", 0.75), ("v2", 0.25), ("v3", 0.75)]


def test_a_history_has_the_name_of_a_parquet_file(tmp_path: Path) -> None:
    scored(tmp_path / "out", 30)
    said = spanscore("log", "out", "--to", "h.csv", cwd=tmp_path, code=2).stderr
    assert said == "spanscore: a history is a Parquet file; 'h.csv' must end in .parquet.\n"
    assert not (tmp_path / "h.csv").exists()


def test_processes_that_log_at_once_lose_nothing(tmp_path: Path) -> None:
    folders = [scored(tmp_path / f"out{number}", number, ci=False) for number in range(1, 13)]
    code = "import sys\nfrom spanscore.analysis.history import log\nfor one in sys.argv[2:]: log(one, sys.argv[1])\n"
    history = tmp_path / "history.parquet"
    calls = [
        subprocess.Popen([sys.executable, "-c", code, str(history), *map(str, [*folders[n::3], folders[0]])])
        for n in range(3)
    ]
    assert [call.wait() for call in calls] == [0, 0, 0]
    found = read_history(history)
    assert len({one.key for one in found}) == len(found) == 24
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["history.parquet"]


def test_trends_do_not_compare_across_gold_data(tmp_path: Path) -> None:
    history = tmp_path / "history.parquet"
    for day, (found, size) in enumerate([(20, 40), (30, 40), (45, 60)], 1):
        folder = scored(tmp_path / f"out{day}", found, gold=size)
        log(folder, history, name=f"v{day}", at=datetime(2026, 1, day, tzinfo=UTC))
    trend = trends(read_history(history), "recall")[0]
    assert [point.value for point in trend.points] == [0.5, 0.75, 0.75]
    assert [point.change for point in trend.points] == [None, 0.25, None]
    assert [point.new_data for point in trend.points] == [False, False, True]
    assert bars(trend) == "▅▇▇"
    out, _ = run("history", "history.parquet", "--score", "recall", "--every", "--type", "PERSON", cwd=tmp_path)
    lines = [line.split() for line in out.splitlines()[1:]]
    assert [line[5:7] for line in lines] == [["v1", "0.500"], ["v2", "0.750"], ["v3", "0.750"]]
    assert [" ".join(line[8:]) for line in lines] == ["–", "+0.250", "new data"]
    out, _ = run("history", "history.parquet", cwd=tmp_path)
    assert out.splitlines()[1].split()[:3] == ["exact", "all", "f"]


def test_the_commands_say_what_they_did(tmp_path: Path) -> None:
    scored(tmp_path / "out", 30)
    call = ("log", "out", "--to", "history.parquet", "--at", "2026-01-31T12:00")
    assert run(*call, cwd=tmp_path)[0] == "history.parquet: 2 new rows\n"
    assert (
        run(*call, cwd=tmp_path)[0]
        == "history.parquet: already logged; nothing is new (another --name logs it again)\n"
    )
    _, said = run("history", "history.parquet", "-o", "history.html", cwd=tmp_path)
    assert said == "Open history.html in a browser.\n"
    text = (tmp_path / "history.html").read_text()
    assert "default-src 'none'; style-src 'unsafe-inline'" in text
    assert "<script" not in text


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    history = tmp_path / "history.parquet"
    log(scored(tmp_path / "out", 30, label=HOSTILE), history, name=HOSTILE)
    found = trends(read_history(history))
    text = page(found, HOSTILE)
    assert "<script" not in text
    assert "\x1b" not in text + plain(found) + plain(found, every=True)
    assert not re.search(
        r"<(?!/?(?:!DOCTYPE|html|head|meta|title|style|body|main|h1|h2|p|div|figure|figcaption|span|svg|line|text|"
        r"polygon|polyline|circle|details|summary|table|thead|tbody|tr|th|td)\b)",
        text,
    )
    keys = metrics(entries(tmp_path / "out"))
    assert all(re.fullmatch(r"[\w.:/-]+", key) and ".." not in key.split("/") for key in keys)


def test_keys_for_mlflow_are_never_the_same(tmp_path: Path) -> None:
    spans = [{"start": n, "end": n + 1, "label": label} for n, label in enumerate(["A B", "A_B", "A/B", "..", "é"])]
    gold = ss.Corpus.from_documents([{"id": "d", "spans": spans}])
    ss.score(gold, {"mine": gold}, ["exact", "iou(threshold=0.5)"]).save(tmp_path / "out")
    found = metrics(entries(tmp_path / "out"))
    assert len(found) == 2 * 6 * 3
    assert "iou_threshold_0.5_/all/recall" in found


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (("log", "out"), "choose where to log"),
        (("log", "none", "--to", "h.parquet"), "the results cannot be read"),
        (("log", "out", "--to", "no/h.parquet"), "its folder does not exist"),
        (("log", "out", "--to", "corpus.parquet"), "this is not a history of spanscore log"),
        (("log", "out", "--to", "text.parquet"), "it is no Parquet file, or damaged"),
        (("history", "none.parquet"), "there is no such file; make it with spanscore log"),
        (("history", "ok.parquet", "-m", "exakt"), "There is no measure 'exakt'; did you mean 'exact'?"),
        (("history", "ok.parquet", "--type", "PRSON"), "did you mean 'PERSON'?"),
        (("log", "out", "--mlflow", "sqlite:///m.db"), "pip install 'spanscore[mlflow]'"),
    ],
)
def test_wrong_calls_get_one_sentence(call: tuple[str, ...], said: str, tmp_path: Path) -> None:
    scored(tmp_path / "out", 3, ci=False)
    log(tmp_path / "out", tmp_path / "ok.parquet")
    (tmp_path / "text.parquet").write_text("text")
    (tmp_path / "gold.jsonl").write_text('{"id": "d", "text": "Ann", "spans": []}\n')
    if "corpus.parquet" in call:
        run("convert", "gold.jsonl", "corpus.parquet", cwd=tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.glob("*.parquet")}
    out, error = run(*call, cwd=tmp_path, code=2)
    assert said in error
    assert (out, error.count("\n")) == ("", 1)
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*.parquet")} == before


def test_a_run_is_logged_when_it_finished(tmp_path: Path) -> None:
    out = scored(tmp_path / "out", 3, ci=False)
    (out / "run.json").write_text('{"finished": "2026-02-03T04:05:06+00:00"}')
    assert {one.logged for one in entries(out)} == {datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)}
