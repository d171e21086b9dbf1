"""Folders of runs as inputs: score, compare and sweep give the numbers of the run, and refuse runs that differ."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import spanscore as ss
from calls import run, write

TEXT = "Ana Lopez called on 2024-05-01 from 555-0199 in Berlin."
GOLD = [(0, 9, "PER"), (20, 30, "DATE"), (36, 44, "PHONE"), (48, 54, "GPE")]


def spans(*rows: tuple[int, int, str], scores: tuple[float, ...] = ()) -> list[dict[str, Any]]:
    scored = scores or (0.9,) * len(rows)
    return [{"start": a, "end": b, "label": c, "score": s} for (a, b, c), s in zip(rows, scored, strict=True)]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of the same settings, and one each with other ones; overlapping predictions, and one unknown gold type."""
    folder = tmp_path_factory.mktemp("runs")
    gold: list[Any] = [{"id": str(i), "text": TEXT, "spans": spans(*GOLD)} for i in range(9)]
    gold.append({"id": "odd", "text": TEXT, "spans": spans((0, 9, "CASTLE"))})
    write(folder / "gold.jsonl", gold)
    types = ((0, 9, "PERSON"), (20, 30, "DATE_TIME"), (36, 44, "PHONE_NUMBER"), (36, 40, "DATE_TIME"))
    one = [{"id": str(i), "spans": spans(*types, scores=(0.9, 0.4 + i / 20, 0.8, 0.3))} for i in range(9)]
    two = [{"id": str(i), "spans": spans(*types[: 1 + i % 3], scores=(0.9, 0.7, 0.8)[: 1 + i % 3])} for i in range(9)]
    for name, found in (("one", one), ("two", two)):
        write(folder / f"{name}.jsonl", [*found, {"id": "odd", "spans": []}])
    for name, source, options in (
        ("out1", "one", ()),
        ("out2", "two", ()),
        ("beta", "two", ("--beta", "1")),
        ("longest", "two", ("--resolve", "longest")),
        ("few", "two", ("--entities", "PERSON")),
        ("high", "one", ("--score-threshold", "DATE_TIME=0.6")),
        ("half", "one", ("--threshold", "0.5")),
    ):
        call = ("run", "gold.jsonl", "--detector", f"replay(file={source}.jsonl)", "-o", name, "-q", *options)
        run(*call, cwd=folder)
    return folder


def numbers(results: dict[str, Any]) -> dict[tuple[str, str | None], Any]:
    rows = [row for row in results["results"] if "average" not in row and "by" not in row]
    return {(row["measure"], row["type"]): (row["precision"], row["recall"], row["f"], row["counts"]) for row in rows}


@pytest.mark.parametrize("name", ["out1", "out2", "longest", "few", "high"])
def test_the_numbers_of_the_run(name: str, runs: Path) -> None:
    before = numbers(json.loads((runs / name / "results.json").read_text()))
    said = run("score", "gold.jsonl", name, "--json", "-", "-q", cwd=runs)[0]
    assert numbers(json.loads(said)) == before
    scored = ss.score(runs / "gold.jsonl", runs / name)
    assert {repr(one.measure): one.recall for one in scored.scores} == {
        measure: values[1] for (measure, type_), values in before.items() if type_ is None
    }
    run("score", "gold.jsonl", name, "-o", f"again-{name}", "-q", "--no-report", cwd=runs)
    run("report", f"again-{name}", "-q", cwd=runs)  # can be scored again


def test_compare_and_sweep_take_runs(runs: Path) -> None:
    found = ss.compare(runs / "gold.jsonl", {"base": runs / "out1", "new": runs / "out2"})
    for name, folder in (("base", "out1"), ("new", "out2")):
        before = numbers(json.loads((runs / folder / "results.json").read_text()))
        assert found.result["iou", name].f == before["iou", None][2]
    assert "base" in run("compare", "gold.jsonl", "base=out1", "new=out2", "-q", cwd=runs)[0]
    curve = ss.sweep(runs / "gold.jsonl", {"base": runs / "out1"}).curves[0]
    before = numbers(json.loads((runs / "out1" / "results.json").read_text()))
    assert curve.beta == 2
    assert curve.at(0.0).counts == before["iou", None][3]
    run("sweep", "gold.jsonl", "out1", "-q", cwd=runs)


@pytest.mark.parametrize(
    ("systems", "options", "said"),
    [
        (("a=out1", "b=beta"), (), "'a' and 'b' differ in beta (2.0 and 1.0)"),
        (("a=out1", "b=longest"), (), "differ in resolve"),
        (("a=out1", "b=few"), (), "differ in entities ([] and ['PERSON'])"),
        (("a=out1", "b=two.jsonl"), (), "'b' is not the folder of a run"),
        (("a=out1", "b=half"), (), "'a' and 'b' were scored by different measures (iou, iou.pii, leak and iou(thr"),
        (("a=out1", "b=out2"), ("--beta", "1"), "leave out --beta"),
        (("a=out1", "b=out2"), ("--map", "map.txt"), "leave out --map"),
    ],
)
def test_what_differs_is_refused(systems: tuple[str, ...], options: tuple[str, ...], said: str, runs: Path) -> None:
    (runs / "map.txt").write_text("PER: NAME\n")
    assert said in run("compare", "gold.jsonl", *systems, *options, "-q", cwd=runs, code=2)[1]


def test_runs_by_different_measures_can_be_compared_by_a_named_one(runs: Path) -> None:
    assert "exact" in run("compare", "gold.jsonl", "a=out1", "b=half", "-m", "exact", "-q", cwd=runs)[0]


def test_types_that_were_not_looked_for_are_marked(runs: Path) -> None:
    before = json.loads((runs / "out1" / "results.json").read_text())
    assert before["settings"].get("not_looked_for", []) == []
    before["settings"]["not_looked_for"] = ["LOCATION"]
    shutil.copytree(runs / "out1", runs / "skipped")
    (runs / "skipped" / "results.json").write_text(json.dumps(before))
    assert "LOCATION (not looked for)" in run("score", "gold.jsonl", "skipped", "-q", cwd=runs)[0]
    assert "not looked for" not in run("score", "gold.jsonl", "a=skipped", "b=out1", "-q", cwd=runs)[0]


def test_unknown_entities_are_refused(runs: Path) -> None:
    for command in ("score", "compare", "sweep"):
        said = run(command, "gold.jsonl", "a=one.jsonl", "b=two.jsonl", "--entities", "NOPE", cwd=runs, code=2)[1]
        assert "There is no entity type 'NOPE'" in said


def test_signatures_name_the_detector_of_each_run(runs: Path) -> None:
    def of(folder: str, system: str = "") -> set[frozenset[str]]:
        rows = json.loads((runs / folder / "results.json").read_text())["results"]
        found = (row["signature"].split("|") for row in rows if system in ("", row["system"]))
        return {frozenset(part for part in parts if not part.startswith("ci:")) for parts in found}

    assert all(any(part.startswith("detector:") for part in parts) for parts in (*of("out1"), *of("out2")))
    run("score", "gold.jsonl", "out1", "-o", "same", "-q", "--no-report", cwd=runs)
    assert of("same") == of("out1")
    run("compare", "gold.jsonl", "a=out1", "b=out2", "-o", "both", "-q", cwd=runs)
    assert (of("both", "a"), of("both", "b")) == (of("out1"), of("out2"))
    for folder in ("same", "both"):
        run("report", folder, "-q", cwd=runs)  # scored again, the signatures are the same


def test_other_gold_data_is_noticed(runs: Path) -> None:
    lines = (runs / "gold.jsonl").read_text().replace('"GPE"', '"ORG"', 1)
    (runs / "other.jsonl").write_text(lines)
    assert "not what out1 was run on" in run("score", "other.jsonl", "out1", cwd=runs)[1]
    (runs / "less.jsonl").write_text("".join(lines.splitlines(keepends=True)[:3]))
    assert "documents that the gold data does not" in run("score", "less.jsonl", "out1", cwd=runs, code=2)[1]
    (runs / "out2" / "alignment.json").write_text("{}")
    assert "damaged" in run("score", "gold.jsonl", "out2", cwd=runs, code=2)[1]


def test_thresholds_by_type_and_from_a_sweep(runs: Path, tmp_path: Path) -> None:
    gold, pred = str(runs / "gold.jsonl"), str(runs / "one.jsonl")
    (tmp_path / "map.txt").write_text("PER: PERSON\nDATE: DATE_TIME\nPHONE: PHONE_NUMBER\n")
    base = ("score", gold, pred, "-m", "exact", "--map", "map.txt", "--json", "-", "-q")

    def predicted(*options: str) -> dict[Any, int]:
        rows = numbers(json.loads(run(*base, *options, cwd=tmp_path)[0]))
        return {type_: values[3]["predicted"] for (_, type_), values in rows.items()}

    assert predicted()["DATE_TIME"] == 18
    by_type = predicted("--score-threshold", "DATE_TIME=0.5,PERSON=0.95")
    assert (by_type["DATE_TIME"], by_type["PHONE_NUMBER"]) == (7, 9)  # 0.5, 0.55, ... 0.8
    assert by_type.get("PERSON", 0) == 0
    assert predicted("--score-threshold", "0.85")[None] == 9
    run("sweep", gold, pred, "-m", "exact", "--map", "map.txt", "--json", "s.json", "-q", cwd=tmp_path)
    assert predicted("--score-threshold", "s.json")["DATE_TIME"] == 9  # the best F is at 0.4
    for wrong, said in (
        ("PERSON=high", "neither a score threshold nor a file"),
        ("nan", "finite number"),
        ("A=1,A=2", "two thresholds"),
        ("map.txt", "not a file of spanscore sweep"),
    ):
        assert said in run(*base, "--score-threshold", wrong, cwd=tmp_path, code=2)[1]


def test_entities(runs: Path) -> None:
    base = ("gold.jsonl", "one.jsonl", "-m", "exact", "-q")
    rows = numbers(json.loads(run("score", *base, "--entities", "PER,DATE", "--json", "-", cwd=runs)[0]))
    assert {type_ for _, type_ in rows} == {None, "PER", "DATE"}
    assert rows["exact", None][3]["annotated"] == 18
    assert "did you mean 'PERSON'" in run("score", *base, "--entities", "PERSONS", cwd=runs, code=2)[1]
    found = ss.sweep(runs / "gold.jsonl", {"one": runs / "one.jsonl"}, "exact", entities=("PER", "PERSON"))
    assert {curve.type for curve in found.curves} == {None, "PER", "PERSON"}
    run("compare", "gold.jsonl", "a=one.jsonl", "b=two.jsonl", "--entities", "PER", "-m", "exact", "-q", cwd=runs)


def test_ties_go_to_the_lowest_threshold_if_recall_comes_first() -> None:
    """The second prediction adds nothing to the first: F is 1 at both thresholds."""
    gold = ss.Corpus.from_arrays(["d"], [0], [0], [10], ["A"])
    pred = ss.Corpus.from_arrays(["d"], [0, 0], [0, 2], [10, 6], ["A", "A"], score=[0.9, 0.5])
    for beta, best in ((0.5, 0.9), (1.0, 0.9), (2.0, 0.5)):
        curve = ss.sweep(gold, {"p": pred}, "iou(merge=false)", beta=beta).curves[0]
        assert curve.numbers[2].tolist() == [1, 1]
        assert curve.best() == best


def test_unfinished_runs_are_called_so(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "fails.py").write_text("def find(text, language):\n    raise ValueError('no model')\n")
    gold = str(runs / "gold.jsonl")
    run("run", gold, "--detector", "python(function=fails:find)", "-o", "part", cwd=tmp_path, code=2)
    for call in (
        ("compare", gold, f"a={runs / 'out1'}", "b=part"),
        ("score", gold, "part"),
        ("summary", "part"),
        ("report", "part"),
    ):
        assert "part: this run is unfinished; continue it with" in run(*call, cwd=tmp_path, code=2)[1], call
