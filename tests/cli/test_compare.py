"""Comparing systems and gating results, as a user does."""

from __future__ import annotations

import csv
import json
import random
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

import spanscore as ss
from calls import run, write


def masked(cwd: Path, documents: int, missed: int) -> None:
    """19 gold spans in some documents, of which the first are missed; scored with intervals into `out`."""
    gold: list[Any] = [{"id": str(number), "spans": []} for number in range(documents)]
    for number in range(19):
        place = 10 * (number // documents)
        kind = "PERSON" if number % 2 else "DATE"
        gold[number % documents]["spans"].append({"start": place, "end": place + 5, "label": kind})
    write(cwd / "gold.jsonl", gold)
    write(cwd / "pred.jsonl", [{**one, "spans": one["spans"][int(i < missed) :]} for i, one in enumerate(gold)])
    call = ("score", "gold.jsonl", "pred.jsonl", "-m", "leak", "-m", "iou", "--beta", "2", "--ci", "0.95", "-o", "out")
    run(*call, "-q", "--no-report", cwd=cwd)


def test_a_gate_on_the_lower_bound_knows_that_few_documents_prove_little(tmp_path: Path) -> None:
    masked(tmp_path, 12, 0)
    said, _ = run("gate", "out", "--min", "recall=0.9", "--on", "lower-bound", cwd=tmp_path, code=1)
    assert said.count("the lower bound of recall is 0.7354 (minimum 0.9)") == 2  # 0.025 ** (1 / 12)
    run("gate", "out", "--min", "recall=73%", "--on", "lower-bound", cwd=tmp_path)


def test_a_failed_condition_says_that_the_type_was_not_looked_for(tmp_path: Path) -> None:
    gold = ss.Corpus.from_arrays(["d"], [0, 0], [0, 4], [3, 7], ["PERSON", "DATE"])
    pred = ss.Corpus.from_arrays(["d"], [0], [4], [7], ["DATE"])
    result = ss.score(gold, pred, ["exact", "leak"]).with_settings(not_looked_for=["PERSON"])
    result.save(tmp_path)
    skipped = "; not looked for by the detector"
    for given in (result, tmp_path):
        found = ss.gate(given, min=["PERSON:recall=0.9", "DATE:recall=0.9"], max=["missed:PERSON=0", "fn=0"])
        said = {one.name: one.message for one in found.checks}
        assert said["pred exact PERSON recall"] == f"recall is 0.0000 (minimum 0.9){skipped}"
        assert said["pred leak PERSON missed"] == f"missed is 1 (maximum 0){skipped}"
        assert sum(skipped in message for message in said.values()) == 4
        assert all(" PERSON " in name for name, message in said.items() if skipped in message)
    assert not any(skipped in one.message for one in ss.gate(result, min="exact:PERSON:recall=0").checks)


def test_a_gate_on_types_of_a_measure_that_ignores_types(tmp_path: Path) -> None:
    masked(tmp_path, 12, 3)  # 1 of 9 PERSON spans and 2 of 10 DATE spans are missed
    call = ("score", "gold.jsonl", "pred.jsonl", "-m", "char.pii", "-m", "exact", "-q", "--no-report")
    run(*call, "--by", "type", "--ci", "0.95", "-o", "eo", cwd=tmp_path)
    said, _ = run("gate", "eo", "--min", "char.pii:PERSON:recall=0.5", cwd=tmp_path)
    assert said == "pass  pred char.pii PERSON recall: recall is 0.8889 (minimum 0.5)\n"
    said, _ = run("gate", "eo", "--min", "DATE:recall=0.85", cwd=tmp_path, code=1)
    assert said.count("FAIL  pred ") == 2
    assert "char.pii DATE recall: recall is 0.8000" in said
    said, _ = run("gate", "eo", "--min", "recall=0.5", cwd=tmp_path)
    assert said.count("pass") == 2  # overall rows alone
    run("gate", "eo", "--min", "char.pii:DATE:recall=0.7", "--on", "lower-bound", cwd=tmp_path, code=1)
    run("gate", "eo", "--max-drop", "char.pii:DATE:recall=0.1", "--baseline", "eo", cwd=tmp_path)
    result = ss.score(tmp_path / "gold.jsonl", tmp_path / "pred.jsonl", "char.pii", by="type")
    assert not ss.gate(result, min="char.pii:DATE:recall=0.85")
    run(*call, "-o", "without", cwd=tmp_path)
    error = run("gate", "without", "--min", "char.pii:DATE:recall=0.5", cwd=tmp_path, code=2)[1]
    assert "no results have recall for char.pii, type DATE" in error


def test_a_gate_on_counts(tmp_path: Path) -> None:
    masked(tmp_path, 12, 3)
    assert "exposed is 3 (maximum 0)" in run("gate", "out", "--max", "leak.exposed=0", cwd=tmp_path, code=1)[0]
    run("gate", "out", "--max", "leak:exposed=3", "--max", "missed=3", "--max", "iou:fn=3", cwd=tmp_path)
    said, _ = run("gate", "out", "--max", "missed:PERSON=0", "--max", "DATE:missed=2", cwd=tmp_path, code=1)
    assert said.count("missed is 1 (maximum 0)") == 2  # by both measures
    assert said.count("missed is 2 (maximum 2)") == 2


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        (("--min", "recal=0.9"), "did you mean 'recall'"),
        (("--min", "recall=90"), "write recall=0.9"),
        (("--min", "f1=0.5"), "these results have f2, not f1"),
        (("--min", "person:recall=0.5"), "Known: DATE, PERSON"),
        (("--min", "exposed=0"), "is a count; use --max"),
        (("--max", "recall=0.5"), "is a score; use --min"),
        (("--max", "leak.exposes=0"), "did you mean 'exposed'"),
        (("--max", "leak.exposed=-1"), "not negative"),
        (("--max", "iou.exposed=0"), "no results have exposed for iou"),
    ],
)
def test_a_wrong_condition_is_answered_with_the_right_one(
    condition: tuple[str, ...], said: str, tmp_path: Path, few: Path
) -> None:
    assert said in run("gate", str(few / "out"), *condition, cwd=tmp_path, code=2)[1]


@pytest.mark.parametrize(
    "condition", ["f2=0.5", "F=0.5", "PERSON:recall=50%", "recall:iou:PERSON=0.5", "iou.recall=.5"]
)
def test_conditions_are_understood_in_any_order(condition: str, few: Path) -> None:
    run("gate", str(few / "out"), "--min", condition, cwd=few)


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("few")
    masked(folder, 12, 3)
    return folder


@pytest.fixture
def systems(tmp_path: Path) -> Path:
    """Gold data, a weak and a good system, and one as good as the weak one."""
    gold = [
        {
            "id": f"d{i}",
            "text": "=x " * 30,
            "spans": [{"start": 9 * j, "end": 9 * j + 2, "label": "AB"[j % 2]} for j in range(4)],
        }
        for i in range(120)
    ]

    def some(share: float, seed: int) -> list[dict[str, Any]]:
        chance = random.Random(seed)
        return [{"id": d["id"], "spans": [s for s in d["spans"] if chance.random() < share]} for d in gold]

    write(tmp_path / "gold.jsonl", gold)
    write(tmp_path / "weak.jsonl", some(0.6, 1))
    write(tmp_path / "good.jsonl", some(0.9, 2))
    write(tmp_path / "alike.jsonl", some(0.6, 3))
    return tmp_path


CALL = ("compare", "gold.jsonl", "weak=weak.jsonl", "good=good.jsonl", "alike=alike.jsonl", "-m", "exact")


def test_letters_show_which_system_is_better(systems: Path) -> None:
    table, _ = run(*CALL, "-o", "out", cwd=systems)
    lines = [line.split() for line in table.splitlines()]
    good = next(line for line in lines if "good" in line)
    assert good.count("ac") == 2  # recall and F; all are precise
    assert any(cell.endswith("*") for cell in good)
    said = json.loads((systems / "out" / "comparison.json").read_text())
    assert said["ranks"]["exact"] == {"weak": 2, "good": 1, "alike": 2}
    by_pair = {(d["first"], d["second"]): d for d in said["differences"] if d["number"] == "recall"}
    assert by_pair["weak", "good"]["p_holm"] < 0.001
    assert by_pair["weak", "good"]["difference"] < 0
    low, high = by_pair["weak", "good"]["interval"]
    assert low < by_pair["weak", "good"]["difference"] < high < 0
    assert by_pair["weak", "alike"]["p_holm"] > 0.05
    assert all(one["p_holm"] >= one["p"] for one in said["differences"])


def test_the_same_seed_gives_the_same_bytes(systems: Path) -> None:
    for folder in ("a", "b"):
        run(*CALL, "-o", folder, cwd=systems)
    for name in ("comparison.json", "diff.csv", "diff.jsonl", "results.json"):
        assert (systems / "a" / name).read_bytes() == (systems / "b" / name).read_bytes()


def test_the_diff_lists_regressions_first(systems: Path) -> None:
    said, _ = run(*CALL[:4], "-m", "exact", "-o", "out", cwd=systems)
    with (systems / "out" / "diff.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 480
    kinds = [row["status"] for row in rows]
    assert kinds == sorted(kinds, key=["broken", "fixed", "both wrong", "both right"].index)
    assert rows[0]["text"].startswith("'=")
    weak, good = (ss.read(systems / f"{name}.jsonl") for name in ("weak", "good"))
    both = {(weak.ids[d], s) for d, s in zip(weak.doc.tolist(), weak.start.tolist(), strict=True)}
    other = {(good.ids[d], s) for d, s in zip(good.doc.tolist(), good.start.tolist(), strict=True)}
    assert kinds.count("fixed") == len(other - both)
    assert kinds.count("broken") == len(both - other)
    assert f"{len(other - both)} spans fixed, {len(both - other)} broken" in said
    run(*CALL[:4], "-m", "exact", "-o", "bare", "--no-text", cwd=systems)
    assert "text" not in (systems / "bare" / "diff.csv").read_text().splitlines()[0]


def test_tables_for_papers(systems: Path) -> None:
    markdown, _ = run(*CALL, "--format", "markdown", cwd=systems)
    assert "**" in markdown
    latex, _ = run(*CALL, "--format", "latex", cwd=systems)
    assert latex.startswith("\\begin{tabular}")
    assert "$^{\\mathrm{ac}}$" in latex


def test_measures_are_correlated_over_systems(systems: Path) -> None:
    found = ss.compare(
        ss.read(systems / "gold.jsonl"),
        {name: ss.read(systems / f"{name}.jsonl") for name in ("weak", "good", "alike")},
        ["exact", "char", "muc"],
    )
    assert found.agreement()["exact", "char"] == 1.0
    assert not [one for one in found.differences if one.measure == "muc"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (CALL[:3], "at least two systems"),
        ((*CALL[:3], "weak=good.jsonl"), "two systems are called 'weak'"),
        ((*CALL, "--alpha", "2"), "alpha between 0 and 1"),
        ((*CALL, "--permutations", "0"), "permutations must be between 1"),
        ((*CALL, "--by", "meta.x"), "There is no metadata field 'x'"),
    ],
)
def test_wrong_comparisons(call: tuple[str, ...], words: str, systems: Path) -> None:
    assert words in run(*call, cwd=systems, code=2)[1]


@pytest.fixture
def scored(systems: Path) -> Path:
    for name in ("weak", "good"):
        run(
            "score",
            "gold.jsonl",
            f"s={name}.jsonl",
            "-m",
            "exact",
            "-m",
            "overlap-maxmax::span",
            "--ci",
            "0.95",
            "-o",
            name,
            "-q",
            cwd=systems,
        )
    return systems


@pytest.mark.parametrize(
    ("conditions", "code"),
    [
        (("--min", "recall=0.85"), 0),
        (("--min", "exact:recall=0.85", "--min", "exact:A:recall=0.8"), 0),
        (("--min", "A:recall=0.8", "--min", "overlap-maxmax::span:recall=0.8"), 0),
        (("--min", "exact:A:recall=0.99"), 1),
        (("--min", "recall=0.89", "--on", "lower-bound"), 1),
        (("--max-drop", "f=0.01", "--baseline", "weak"), 0),
        (("--max-drop", "f=0.01", "--baseline", "good/results.json"), 0),
    ],
)
def test_the_gate(conditions: tuple[str, ...], code: int, scored: Path) -> None:
    said, _ = run("gate", "good", *conditions, "--junit", "j.xml", "--markdown", "m.md", cwd=scored, code=code)
    assert ("FAIL" in said) == bool(code)
    suite = ET.fromstring((scored / "j.xml").read_text())
    assert (int(suite.attrib["failures"]) > 0) == bool(code)
    assert len(suite) == len(said.splitlines())
    assert ("❌" in (scored / "m.md").read_text()) == bool(code)


def test_a_drop_is_a_regression_only_past_its_interval(scored: Path) -> None:
    drop = ("--max-drop", "exact:recall=0.01", "--baseline", "good")
    said, _ = run("gate", "weak", *drop, cwd=scored, code=1)
    assert "recall fell by 0." in said
    assert "paired by document" in said
    old = json.loads((scored / "good" / "results.json").read_text())
    weak = json.loads((scored / "weak" / "results.json").read_text())
    now = {(row["measure"], row["type"]): row["recall"] for row in weak["results"] if "average" not in row}
    for row in (row for row in old["results"] if "average" not in row):
        row["recall"] = now[row["measure"], row["type"]] + 0.03
        row["interval"]["recall"] = [row["recall"] - 0.05, row["recall"] + 0.05]
    (scored / "near.json").write_text(json.dumps(old))
    (scored / "good" / "tallies.npz").unlink()
    said, _ = run("gate", "weak", "--max-drop", "exact:recall=0", "--baseline", "near.json", cwd=scored)
    assert "recall fell by 0.0300" in said
    assert "not significant" in said


@pytest.mark.slow
def test_a_small_drop_in_the_same_documents_is_seen(systems: Path) -> None:
    """Two of many: each result's own interval is far wider than what the two have apart."""
    lines = (systems / "weak.jsonl").read_text().splitlines()
    fewer = [json.loads(line) for line in lines]
    for one in fewer[:25]:
        one["spans"] = one["spans"][1:]
    write(systems / "fewer.jsonl", fewer)
    for name in ("weak", "fewer"):
        call = ("score", "gold.jsonl", f"sys={name}.jsonl", "-m", "exact", "--ci", "0.95", "-o", name, "-q")
        run(*call, cwd=systems)
    gate = ("gate", "fewer", "--max-drop", "recall=0.01", "--baseline", "weak/results.json")
    said, _ = run(*gate, cwd=systems, code=1)
    assert "paired by document" in said
    other = ("--ci", "0.9", "--seed", "3", "--resamples", "500", "-o", "fewer", "-q")
    run("score", "gold.jsonl", "sys=fewer.jsonl", "-m", "exact", *other, cwd=systems)
    assert "paired by document" in run(*gate, cwd=systems, code=1)[0]
    (systems / "weak" / "tallies.npz").write_bytes(b"not a zip file")
    assert "weak/tallies.npz: the file is damaged" in run(*gate, cwd=systems, code=2)[1]
    (systems / "weak" / "tallies.npz").unlink()
    said, _ = run(*gate, cwd=systems)
    assert "(unpaired)" in said
    assert "not significant" in said
    run(
        "score",
        "gold.jsonl",
        "sys=weak.jsonl",
        "-m",
        "exact",
        "--beta",
        "2",
        "--ci",
        "0.9",
        "-o",
        "weak",
        "-q",
        cwd=systems,
    )
    assert (
        "different betas" in run("gate", "fewer", "--max-drop", "f=0.01", "--baseline", "weak", cwd=systems, code=2)[1]
    )
    run("score", "gold.jsonl", "sys=weak.jsonl", "-m", "iou", "-o", "weak", "-q", cwd=systems)
    assert "the baseline has no recall" in run(*gate, cwd=systems, code=2)[1]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda row: row.update(recall="x"),
        lambda row: row.update(recall=10),
        lambda row: row.update(measure=[]),
        lambda row: row.update(interval=5),
        lambda row: row.update(interval={"recall": ["a", "b"]}),
        lambda row: row.update(interval={"recall": []}),
        lambda row: row.update(recall=True),
        lambda row: row.pop("type"),
    ],
)
def test_damaged_results_are_no_failed_gate(scored: Path, spoil: Any) -> None:
    said = json.loads((scored / "good" / "results.json").read_text())
    spoil(said["results"][0])
    (scored / "good" / "results.json").write_text(json.dumps(said))
    for more in (("--on", "lower-bound"), ("--max-drop", "f=0.1", "--baseline", "weak")):
        _, error = run("gate", "good", "--min", "recall=0.1", *more, cwd=scored, code=2)
        assert "results[0]" in error


def test_the_diff_by_type_and_slice(systems: Path) -> None:
    gold = [json.loads(line) for line in (systems / "gold.jsonl").read_text().splitlines()]
    for number, one in enumerate(gold):
        one["meta"] = {"ward": "=north" if number % 3 else "south"}
    write(systems / "gold.jsonl", gold)
    call = ("compare", "gold.jsonl", "weak=weak.jsonl", "good=good.jsonl", "-m", "exact", "-o", "out")
    said, _ = run(*call, "--by", "type", "--by", "meta.ward", cwd=systems)
    listed = [json.loads(line) for line in (systems / "out" / "diff.jsonl").read_text().splitlines()]
    counts = json.loads((systems / "out" / "comparison.json").read_text())["diff"]
    for row in counts:
        part = [
            one
            for one in listed
            if row["by"] is None
            or row["slice"] == (one["label"] if row["by"] == "type" else one["slices"]["meta.ward"])
        ]
        for status in ("broken", "fixed", "both right", "both wrong"):
            assert row[status] == sum(one["status"] == status for one in part)
        if row["by"]:
            assert f"{row['by']} {row['slice']}: {row['fixed']} fixed, {row['broken']} broken" in said
    assert {(row["by"], row["slice"]) for row in counts} == {
        (None, None),
        ("type", "A"),
        ("type", "B"),
        ("meta.ward", "=north"),
        ("meta.ward", "south"),
    }
    with (systems / "out" / "diff.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["meta.ward"] for row in rows} == {"'=north", "south"}


def test_clusters_are_swapped_whole(systems: Path) -> None:
    gold = [json.loads(line) for line in (systems / "gold.jsonl").read_text().splitlines()]
    for number, one in enumerate(gold):
        one["meta"] = {"patient": number // 40}
    write(systems / "gold.jsonl", gold)
    run(*CALL, "--cluster", "meta.patient", "-o", "out", cwd=systems)
    said = json.loads((systems / "out" / "comparison.json").read_text())
    assert min(one["p"] for one in said["differences"]) > 0.1  # three patients: no swap is rarer than 1 of 4


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (("gate", "good"), "give at least one condition"),
        (("gate", "good", "--min", "recall"), "is not a valid condition"),
        (("gate", "good", "--min", "recall=2"), "is not a valid condition"),
        (("gate", "good", "--min", "recall=1.2"), "(a share is between 0 and 1)"),
        (("gate", "good", "--min", "iuo:recall=0.5"), "There is no measure or type 'iuo'"),
        (("gate", "good", "--max-drop", "f=0.1"), "--max-drop needs --baseline"),
        (("gate", "gold.jsonl", "--min", "f=0.1"), "gold.jsonl"),
        (("gate", "none", "--min", "f=0.1"), "none: the results cannot be read"),
    ],
)
def test_wrong_gates(call: tuple[str, ...], words: str, scored: Path) -> None:
    assert words in run(*call, cwd=scored, code=2)[1]


@pytest.mark.parametrize("more", [(), ("--jobs", "2"), ("--format", "markdown")], ids=" ".join)
def test_spans_scored_in_chunks_are_compared_like_those_that_are_kept(systems: Path, more: tuple[str, ...]) -> None:
    lines = (systems / "good.jsonl").read_text().splitlines()
    (systems / "turned.jsonl").write_text("\n".join(lines[::-1]) + "\n")
    call = (*CALL, "turned=turned.jsonl", "-m", "iou", *more)
    kept, _ = run(*call, "-o", "out", "--no-report", cwd=systems)
    gone_by, _ = run(*call, cwd=systems)
    assert gone_by == kept
    assert "fixed" in kept or more[:1] == ("--format",)


def test_names_of_systems_change_no_interval(systems: Path) -> None:
    gold = ss.read(str(systems / "gold.jsonl"))
    first, second = (ss.read(str(path)) for path in (systems / "weak.jsonl", systems / "alike.jsonl"))
    found = [ss.compare(gold, {x: first, y: second}, ["exact"]) for x, y in (("base", "new"), ("zeta", "alpha"))]
    numbers = [[(one.number, one.interval, one.p) for one in each.differences] for each in found]
    assert numbers[0] == numbers[1]


def test_a_gate_says_that_nothing_changed(scored: Path) -> None:
    said, _ = run("gate", "weak", "--max-drop", "exact:recall=0", "--baseline", "weak", cwd=scored)
    assert "recall is unchanged at 0." in said
    assert "-0.000" not in said


def test_the_gate_and_a_comparison_say_the_same_of_a_pair(tmp_path: Path) -> None:
    """The new system finds one of two spans less in 8 of 40 documents, more in none; a third one finds nothing."""
    spans = [{"start": 0, "end": 3, "label": "P"}, {"start": 4, "end": 7, "label": "P"}]
    missed = {"old": 10, "new": 18}
    write(tmp_path / "gold.jsonl", [{"id": f"d{i}", "spans": spans} for i in range(40)])
    for name in ("old", "new"):
        write(
            tmp_path / f"{name}.jsonl", [{"id": f"d{i}", "spans": spans[: 2 - (i < missed[name])]} for i in range(40)]
        )
    write(tmp_path / "none.jsonl", [{"id": f"d{i}", "spans": []} for i in range(40)])
    for name in ("old", "new", "none"):
        scored = ("gold.jsonl", f"s={name}.jsonl", "-m", "exact", "--ci", "0.95", "-o", name, "-q")
        run("score", *scored, cwd=tmp_path)
    for later in ("new", "none"):
        systems = ("gold.jsonl", "old=old.jsonl", f"later={later}.jsonl", "-m", "exact", "-o", f"c{later}", "-q")
        run("compare", *systems, cwd=tmp_path)
        found = json.loads((tmp_path / f"c{later}" / "comparison.json").read_text())["differences"]
        drops = ("--max-drop", "recall=0.01", "--max-drop", "f=0.01", "--baseline", "old")
        said = run("gate", later, *drops, cwd=tmp_path, code=1)[0].splitlines()
        for one, line in zip((one for one in found if one["number"] != "precision"), said, strict=True):
            low, high = one["interval"]
            assert 0 < low < one["difference"] <= high <= 1
            assert line.startswith("FAIL")
            assert f"interval of the drop {low:.4f} to {high:.4f}, p {one['p']:.4f} (paired by document)" in line


def test_a_condition_without_a_level_holds_for_all(tmp_path: Path) -> None:
    text = {"id": "d", "text": "Ann", "spans": [{"start": 0, "end": 3, "label": "PERSON"}]}
    write(tmp_path / "g.jsonl", [text])
    run("score", "g.jsonl", "p=g.jsonl", "-m", "exact", "-m", "leak", "--level", "branch,type", "-o", "o", cwd=tmp_path)
    for condition, levels in (("leak.exposed=0", ["branch", "type"]), ("leak@type.exposed=0", ["type"])):
        said = run("gate", "o", "--max", condition, cwd=tmp_path)[0].splitlines()
        assert said == [f"pass  p leak@{level} all exposed: exposed is 0 (maximum 0)" for level in levels]
    assert len(run("gate", "o", "--min", "exact:recall=1", cwd=tmp_path)[0].splitlines()) == 2


def test_a_comparison_as_json(systems: Path) -> None:
    """The keys are those of `score`, and what `-o` writes to comparison.json."""
    call = ("compare", "gold.jsonl", "good=good.jsonl", "weak=weak.jsonl", "-m", "exact")
    said, _ = run(*call, "--json", "-", "-o", "out", cwd=systems)
    found = json.loads(said)
    assert found["comparison"] == json.loads((systems / "out" / "comparison.json").read_text())
    assert {row["system"] for row in found["results"]} == {"good", "weak"}
    run(*call, "--json", "file.json", "-q", cwd=systems)
    assert json.loads((systems / "file.json").read_text())["results"] == found["results"]


def test_the_gate_counts_what_was_not_found_by_any_measure(tmp_path: Path) -> None:
    """A span with a wrong type or boundaries is missed, too; counts that a row does not have are not zero."""
    gold = [
        {"start": 0, "end": 3, "label": "A"},
        {"start": 5, "end": 9, "label": "A"},
        {"start": 20, "end": 22, "label": "A"},
    ]
    pred = [
        {"start": 0, "end": 3, "label": "A"},
        {"start": 5, "end": 8, "label": "B"},
        {"start": 30, "end": 31, "label": "A"},
    ]
    write(tmp_path / "gold.jsonl", [{"id": "d", "text": "x" * 40, "spans": gold}])
    write(tmp_path / "pred.jsonl", [{"id": "d", "spans": pred}])
    measures = [
        one for name in ("semeval.strict", "sixway.strict", "exact", "leak", "tab.mention") for one in ("-m", name)
    ]
    run("score", "gold.jsonl", "pred.jsonl", *measures, "-o", "out", "-q", cwd=tmp_path)
    said = run("gate", "out", "--max", "missed:A=1", cwd=tmp_path, code=1)[0]
    assert said.count("missed is 2") == 5
    rows = json.loads((tmp_path / "out" / "results.json").read_text())["results"]
    (row,) = (one for one in rows if (one["measure"], one["type"]) == ("leak", "A"))
    assert (row["counts"]["annotated"], row["counts"]["predicted"], row["counts"]["needless"]) == (3, None, None)
    for wrong, words in (
        ("leak:A:needless=0", "no results have needless for leak, type A"),
        ("leak.exposed=10%", "is a percentage, but this limit is a number"),
        ("tab.entity.missed=1", "these results have no such measure, only exact, leak, semeval.strict, sixway.strict"),
        (
            "leak.document:missed=1",
            "these results have no such measure, only exact, leak, semeval.strict, sixway.strict",
        ),
        ("iou:missed=1", "these results have no such measure, only exact"),
        ("leak.char:missed=1", "these results have no such measure, only exact"),
    ):
        assert words in run("gate", "out", "--max", wrong, cwd=tmp_path, code=2)[1]


def test_changes_by_a_measure_without_types_are_listed_by_the_gold_type(tmp_path: Path) -> None:
    gold = [{"start": 0, "end": 3, "label": "PER"}, {"start": 10, "end": 14, "label": "LOC"}]
    write(tmp_path / "gold.jsonl", [{"id": "d", "text": "Ann lives Oslo", "spans": gold}])
    write(tmp_path / "a.jsonl", [{"id": "d", "spans": [{"start": 0, "end": 3, "label": "X"}]}])
    write(tmp_path / "b.jsonl", [{"id": "d", "spans": [{"start": 10, "end": 14, "label": "X"}]}])
    call = ("compare", "gold.jsonl", "a=a.jsonl", "b=b.jsonl", "--by", "type", "-m", "iou.pii", "-m", "leak", "-q")
    run(*call, "-o", "out", cwd=tmp_path)
    found = json.loads((tmp_path / "out" / "comparison.json").read_text())
    for name in ("iou.pii", "leak"):
        by_type = {
            one["slice"]: (one["fixed"], one["broken"]) for one in found["diff"] if one["measure"] == name and one["by"]
        }
        assert by_type == {"PER": (0, 1), "LOC": (1, 0)}
    assert run(*call, cwd=tmp_path)[0].count("most broken: PER 1") == 2


@pytest.mark.parametrize("measure", ["exact(typed=false)", "meddocan.spans"])
def test_nested_gold_spans_keep_their_types_where_types_do_not_count(tmp_path: Path, measure: str) -> None:
    places = {"FIRST": (0, 3), "NAME": (0, 7), "CITY": (19, 24), "LOC": (19, 30)}
    gold = [{"start": start, "end": end, "label": label} for label, (start, end) in places.items()]
    write(tmp_path / "gold.jsonl", [{"id": "d", "text": "Ann Lee visited in Paris Texas", "spans": gold}])
    write(tmp_path / "all.jsonl", [{"id": "d", "spans": gold}])
    write(tmp_path / "none.jsonl", [{"id": "d", "spans": []}])
    call = ("compare", "gold.jsonl", "a=none.jsonl", "b=all.jsonl", "--by", "type", "-m", measure, "-q", "-o", "out")
    run(*call, cwd=tmp_path)
    found = json.loads((tmp_path / "out" / "comparison.json").read_text())["diff"]
    assert {one["slice"]: one["fixed"] for one in found if one["by"]} == dict.fromkeys(places, 1)
