"""The report and what else holds text, as a user asks for it."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from plotly.offline import get_plotlyjs

import spanscore as ss
from calls import content, run, write
from spanscore.report.page.examples import Examples


@pytest.fixture
def scored(tmp_path: Path) -> Path:
    text = "Zoe Quux, born 1987, lives in Örebro."
    spans = [{"start": 0, "end": 8, "label": "PERSON"}, {"start": 30, "end": 36, "label": "CITY"}]
    write(tmp_path / "gold.jsonl", [{"id": f"d{i}", "text": text, "spans": spans} for i in range(3)])
    wrong = [
        {"start": 0, "end": 3, "label": "PERSON", "score": 0.5},
        {"start": 15, "end": 19, "label": "DATE", "score": 0.4},
    ]
    write(tmp_path / "a.jsonl", [{"id": f"d{i}", "spans": wrong} for i in range(3)])
    write(tmp_path / "b.jsonl", [{"id": f"d{i}", "spans": [{**spans[0], "score": 1.0}]} for i in range(3)])
    run("score", "gold.jsonl", "a.jsonl", "-o", "out", "-q", cwd=tmp_path)
    return tmp_path


def test_the_same_results_give_the_same_page(scored: Path) -> None:
    made = (scored / "out" / "report.html").read_bytes()
    said, _ = run("report", "out", cwd=scored)
    assert said == "Open out/report.html in a browser.\n"
    assert (scored / "out" / "report.html").read_bytes() == made
    run("report", "out/results.json", "-o", "other.html", cwd=scored)
    assert (scored / "other.html").read_bytes() == made


def test_files_that_have_moved_can_be_named(scored: Path) -> None:
    (scored / "gold.jsonl").rename(scored / "moved.jsonl")
    _, error = run("report", "out", cwd=scored, code=2)
    assert "gold.jsonl was not found in the current folder or above the results; give the places" in error
    assert "--gold" in error
    run("report", "out", "--gold", "moved.jsonl", "a=a.jsonl", "-o", "r.html", cwd=scored)
    assert (scored / "r.html").exists()


def test_files_are_found_from_another_folder(scored: Path) -> None:
    (scored / "elsewhere").mkdir()
    made = (scored / "out" / "report.html").read_bytes()
    run("report", "../out", "-o", "r.html", cwd=scored / "elsewhere")
    assert (scored / "elsewhere" / "r.html").read_bytes() == made


def test_a_plan_names_only_its_own_options(scored: Path) -> None:
    (scored / "out" / "tallies.npz").unlink(missing_ok=True)
    (scored / "gold.jsonl").unlink()
    _, error = run("plan", "--pilot", "out", cwd=scored, code=2)
    assert "gold.jsonl was not found in the current folder" in error
    assert "--gold" not in error


def test_files_that_have_changed_are_refused(scored: Path) -> None:
    (scored / "a.jsonl").write_text((scored / "b.jsonl").read_text())
    (scored / "out" / "report.html").unlink()
    _, error = run("report", "out", cwd=scored, code=2)
    assert "have changed since" in error
    assert not (scored / "out" / "report.html").exists()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (("nothing",), "cannot read the results"),
        (("gold.jsonl",), "are no"),
        (("out", "c=a.jsonl"), "no system called 'c'"),
        (("out", "--max-mb", "0.2"), "--max-mb must be greater than"),
        (("out", "--right", "-1"), "--right must not be negative"),
        (("out", "-o", "no/where.html"), "cannot write the report"),
        (("out", "-o", "out"), "cannot write the report"),
        (("out", "--folder", "-o", "gold.jsonl"), "cannot write the report"),
        (("out", "--mask", "--no-text"), "cannot be combined"),
    ],
)
def test_wrong_calls(call: tuple[str, ...], words: str, scored: Path) -> None:
    assert words in run("report", *call, cwd=scored, code=2)[1]


@pytest.mark.parametrize(("option", "name", "year"), [("--mask", "Xxx Xxxx", "9999"), ("--no-text", "", "")])
def test_every_output_holds_only_as_much_text_as_it_may(scored: Path, option: str, name: str, year: str) -> None:
    run("score", "gold.jsonl", "a.jsonl", "-o", "s", option, "-q", cwd=scored)
    run("compare", "gold.jsonl", "a.jsonl", "b.jsonl", "-o", "c", option, "-q", cwd=scored)
    replay = ("--detector", "replay(file=a.jsonl)", "--allow-missing-mappings")
    run("run", "gold.jsonl", *replay, "-o", "r", option, "-q", cwd=scored)
    for folder in ("s", "c", "r"):
        for path in (scored / folder).iterdir():
            said = content(path).replace(get_plotlyjs().encode(), b"")
            for secret in ("Zoe", "Quux", "rebro"):
                assert secret.encode() not in said, path
    if option == "--mask":
        with (scored / "r" / "false_negatives.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert rows[0]["text"] == name
        assert year in rows[0]["context"]
        diff = [json.loads(line) for line in (scored / "c" / "diff.jsonl").read_text().splitlines()]
        assert {one["text"] for one in diff} == {name, "Xxxxxx"}
        errors = [json.loads(line) for line in (scored / "s" / "errors.jsonl").read_text().splitlines()]
        assert name in {one["text"] for one in errors}


def test_examples_are_the_units_of_the_matrix() -> None:
    """A prediction on two gold spans is two, and two on one gold span are one, as the matrix counts them."""
    gold = ss.Corpus.from_arrays(["d"], [0, 0, 0], [0, 10, 30], [5, 15, 40], ["A", "B", "A"])
    pred = ss.Corpus.from_arrays(["d"], [0] * 4, [2, 30, 36, 60], [12, 34, 40, 65], ["C", "A", "A", "C"])
    for name in ("iou(threshold=0.5, merge=false)", "exact", "sixway.strict", "semeval.strict", "char"):
        scores = ss.score(gold, pred, name).scores[0]
        examples = Examples.of(scores)
        labels = (*scores.judgement.pairing.labels, None)
        found: dict[tuple[str | None, str | None], int] = {}
        for alone, row, cell in zip(examples.alone, examples.gold_row, examples.cell, strict=True):
            key = (None if alone else labels[examples.gold.label[row]], labels[cell])
            found[key] = found.get(key, 0) + 1
        assert found == scores.confusion, name
        said = examples.shown(_one_document(), {label: i for i, label in enumerate("ABC")})
        assert all(bool(why) == (verdict != 0) for why, verdict in zip(said["why"], said["verdict"], strict=True))


def _one_document() -> Any:
    import numpy as np

    return np.zeros(1, np.int64)


def test_gold_spans_that_overlap_stay_where_only_predictions_are_settled() -> None:
    gold = ss.Corpus.from_arrays(["d"], [0, 0], [0, 2], [9, 5], ["A", "B"])
    pred = ss.Corpus.from_arrays(["d"], [0, 0], [0, 2], [9, 5], ["A", "B"], score=[0.5, 0.9])
    both = ss.score(gold, {"x": pred}, "exact", resolve="score")["exact"].counts
    only = ss.score(gold, {"x": pred}, "exact", resolve="score", resolve_gold=False)["exact"].counts
    assert (both["annotated"], only["annotated"], only["predicted"]) == (1, 2, 1)


def test_systems_cannot_be_taken_for_each_other(scored: Path) -> None:
    run("score", "gold.jsonl", "a.jsonl", "b.jsonl", "-o", "two", "-q", cwd=scored)
    _, error = run("report", "two", "a=b.jsonl", "b=a.jsonl", "-o", "swapped.html", cwd=scored, code=2)
    assert "have changed since" in error
    assert not (scored / "swapped.html").exists()


def test_a_folder_keeps_nothing_of_an_earlier_report(scored: Path) -> None:
    (scored / "out" / "report").mkdir()
    (scored / "out" / "report" / "shard-7.js").write_text("Zoe Quux")
    run("report", "out", "--folder", "--no-text", cwd=scored)
    assert sorted(path.name for path in (scored / "out" / "report").iterdir()) == ["index.html", "shard-0.js"]


def test_a_masked_report_stays_masked(scored: Path) -> None:
    run("score", "gold.jsonl", "a.jsonl", "-o", "m", "--mask", "-q", cwd=scored)
    run("report", "m", cwd=scored)
    assert b"Quux" not in content(scored / "m" / "report.html")
    run("report", "m", "--show-text", cwd=scored)
    assert b"Quux" in content(scored / "m" / "report.html")


def test_metadata_is_not_in_a_page_without_text(scored: Path) -> None:
    gold = [json.loads(line) for line in (scored / "gold.jsonl").read_text().splitlines()]
    write(scored / "gold.jsonl", [{**one, "meta": {"patient": f"Zoe {i}"}} for i, one in enumerate(gold)])
    for more, there in (([], True), (["--no-text"], False), (["--no-text", "--by", "meta.patient"], True)):
        run("score", "gold.jsonl", "a.jsonl", "-o", "x", *more, "-q", cwd=scored)
        assert (b"Zoe 1" in content(scored / "x" / "report.html")) == there


def test_systems_may_have_other_metadata(scored: Path) -> None:
    pred = [json.loads(line) for line in (scored / "a.jsonl").read_text().splitlines()]
    write(scored / "c.jsonl", [{**one, "meta": {"m": str(i)}} for i, one in enumerate(pred)])
    run("score", "gold.jsonl", "c.jsonl", "a.jsonl", "-o", "x", "-q", cwd=scored)
    (scored / "x" / "errors.jsonl").unlink()
    _, error = run("score", "gold.jsonl", "c.jsonl", "a.jsonl", "--by", "meta.m", "-o", "x", cwd=scored, code=2)
    assert "metadata field 'm'" in error
    assert not (scored / "x" / "errors.jsonl").exists()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda said: said.pop("settings"),
        lambda said: said["settings"].pop("measures"),
        lambda said: said["settings"].update(measures=["nope"]),
        lambda said: said["settings"].update(beta="x"),
        lambda said: said["settings"].update(label_map=5),
        lambda said: said["settings"].update(ci=[7]),
        lambda said: said["inputs"].update(gold=None),
        lambda said: said["inputs"].pop("systems"),
        lambda said: said.update(results=[{}]),
        lambda said: said.update(warnings=5),
    ],
)
def test_damaged_results(scored: Path, spoil: Any) -> None:
    said = json.loads((scored / "out" / "results.json").read_text())
    spoil(said)
    (scored / "out" / "results.json").write_text(json.dumps(said))
    _, error = run("report", "out", cwd=scored, code=2)
    assert "results.json" in error
    assert error.count("\n") == 1


def test_pipes_are_written_to_as_they_are(scored: Path) -> None:
    call = [sys.executable, "-m", "spanscore", "score", "gold.jsonl", "a.jsonl", "-q", "--json", "/dev/stdout"]
    done = subprocess.run(call, cwd=scored, capture_output=True, check=True)
    assert json.loads(done.stdout[: done.stdout.rindex(b"}") + 1])["schema"] == "spanscore.results/1"
