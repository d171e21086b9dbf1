"""`spanscore run` with label maps of one side: what is scored, what is said of it, and what is made of the folder later."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import spanscore as ss
from calls import run, write

TEXT = "Ann asked Bob (bob@example.com) on 2024-05-01."
GOLD = [("Ann", "PER"), ("Bob", "STAFF"), ("bob@example.com", "EMAIL"), ("2024-05-01", "DATE")]
FOUND = [("Ann", "PER"), ("Bob", "PERSON"), ("bob@example.com", "EMAIL_ADDRESS"), ("2024-05-01", "DATE")]
MAPS = {
    "map.txt": "PER: PERSON\nSTAFF: PERSON\nDATE: DAY\n",
    "gold.txt": "per: CLIENT\nSTAFF: EMPLOYEE\nNOPE: X\n",
    "pred.txt": "DATE: null\nPERSON: EMPLOYEE\nSTAFF: PERSON\n",
}
OPTIONS = ("--map", "map.txt", "--gold-map", "gold.txt", "--pred-map", "pred.txt")
RECALL = {"CLIENT": 0.0, "DAY": 0.0, "EMAIL_ADDRESS": 1.0, "EMPLOYEE": 1.0, "PERSON": None}
"""A gold PER is a CLIENT, a predicted one a PERSON; a gold DATE is a DAY, a predicted one is dropped."""


def spans(listed: list[tuple[str, str]]) -> list[dict[str, Any]]:
    places = ((TEXT.index(surface), surface, label) for surface, label in listed)
    return [{"start": at, "end": at + len(surface), "label": label, "score": 0.9} for at, surface, label in places]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, listed in (("data", GOLD), ("found", FOUND), ("more", [*FOUND, ("asked", "VERB")])):
        write(tmp_path / f"{name}.jsonl", [{"id": str(i), "text": TEXT, "spans": spans(listed)} for i in range(3)])
    for name, lines in MAPS.items():
        (tmp_path / name).write_text(lines)
    return tmp_path


def called(folder: Path, *options: str, file: str = "found", output: str = "out") -> str:
    call = ("run", "data.jsonl", "--detector", f"replay(file={file}.jsonl)", "-o", output, *options)
    return run(*call, cwd=folder)[0]


def content(folder: Path, name: str, output: str = "out") -> Any:
    return json.loads((folder / output / name).read_text())


def rows(results: Any) -> list[Any]:
    return [(row["measure"], row.get("average"), row["type"], row["counts"], row["f"]) for row in results["results"]]


def test_each_side_has_its_own_names(folder: Path) -> None:
    said = called(folder, *OPTIONS)
    assert content(folder, "metrics.json")["details"]["entity_recall_dict"] == RECALL
    for line in ("PER (gold) -> CLIENT", "PER (predicted) -> PERSON", "DATE (predicted) -> left out"):
        assert line in said
    alignment = content(folder, "alignment.json")
    to = {side: {one["label"]: one["to"] for one in alignment[side]} for side in ("gold", "predicted")}
    assert to["gold"] == {"DATE": "DAY", "EMAIL": "EMAIL_ADDRESS", "PER": "CLIENT", "STAFF": "EMPLOYEE"}
    assert to["predicted"] == {
        "DATE": None,
        "EMAIL_ADDRESS": "EMAIL_ADDRESS",
        "PER": "PERSON",
        "PERSON": "EMPLOYEE",
    }
    why = {(side, one["label"]): one["why"] for side in to for one in alignment[side]}
    assert {label for label, reason in why.items() if reason == "the user's map"} == {
        (side, label)
        for side, labels in (("gold", ("DATE", "PER", "STAFF")), ("predicted", ("DATE", "PER", "PERSON")))
        for label in labels
    }


def test_entries_that_no_span_has_are_told_by_side(folder: Path) -> None:
    called(folder, *OPTIONS)
    warnings = content(folder, "metrics.json")["warnings"]
    assert [one for one in warnings if "has an entry" in one] == [
        "the gold map has an entry for NOPE, but no gold span has that label.",
        "the predicted map has an entry for STAFF, but no predicted span has that label.",
    ]
    assert "replay: 3 spans labelled DATE were left out by the label map." in warnings


def test_the_maps_are_recorded(folder: Path) -> None:
    called(folder, *OPTIONS)
    arguments = content(folder, "run.json")["arguments"]
    assert arguments["gold_map"] == {"per": "CLIENT", "STAFF": "EMPLOYEE", "NOPE": "X"}
    assert arguments["pred_map"] == {"DATE": None, "PERSON": "EMPLOYEE", "STAFF": "PERSON"}
    assert arguments["label_map"]["DATE"] == "DAY"
    (signature,) = {one.partition("|extra")[0] for one in content(folder, "run.json")["signatures"] if "iou|" in one}
    assert "gold-map:" in signature
    assert "pred-map:" in signature


def test_in_python_and_with_stress(folder: Path) -> None:
    maps: dict[str, Any] = {
        "label_map": {"PER": "PERSON", "STAFF": "PERSON", "DATE": "DAY"},
        "gold_map": {"per": "CLIENT", "STAFF": "EMPLOYEE"},
        "pred_map": {"DATE": None, "PERSON": "EMPLOYEE"},
    }
    result = ss.run(folder / "data.jsonl", f"replay(file={folder / 'found.jsonl'})", folder / "out", **maps)
    assert set(result["iou"].by_type) == set(RECALL)
    assert result["iou"].by_type["EMPLOYEE"].recall == 1
    (folder / "mine.py").write_text(
        "def find(text, language):\n    at = text.lower().find('bob')\n"
        "    return [{'start': at, 'end': at + 3, 'label': 'PERSON'}]\n"
    )
    call = ("stress", "data.jsonl", "--detector", "python(function=mine:find)", "--with", "upper", "-o", "stressed")
    run(*call, *OPTIONS, "-q", cwd=folder)
    found = content(folder, "metrics.json", "stressed")["details"]["entity_recall_dict"]
    assert found == {"CLIENT": 0.0, "DAY": 0.0, "EMAIL_ADDRESS": 0.0, "EMPLOYEE": 1.0}


def test_the_folder_gives_the_numbers_of_the_run(folder: Path) -> None:
    called(folder, *OPTIONS)
    before = rows(content(folder, "results.json"))
    assert rows(json.loads(run("score", "data.jsonl", "out", "--json", "-", "-q", cwd=folder)[0])) == before
    warnings = run("score", "data.jsonl", "out", cwd=folder)[1]
    assert "has an entry" not in warnings  # the run has said that
    run("score", "data.jsonl", "out", "-o", "again", "-q", "--no-report", cwd=folder)
    run("report", "again", "-q", cwd=folder)
    run("report", "out", "-o", "page.html", "-q", cwd=folder)
    curves = ss.sweep(folder / "data.jsonl", {"out": folder / "out"}).curves
    assert {curve.type for curve in curves if curve.measure.name == "iou"} == {None, *RECALL}


def test_runs_are_compared_if_their_maps_are_equal(folder: Path) -> None:
    called(folder, *OPTIONS)
    called(folder, *OPTIONS, file="more", output="more")
    found = ss.compare(folder / "data.jsonl", {"a": folder / "out", "b": folder / "more"})
    for name, output in (("a", "out"), ("b", "more")):
        (overall,) = [
            row["counts"]
            for row in content(folder, "results.json", output)["results"]
            if (row["measure"], row["type"]) == ("iou", None) and "average" not in row
        ]
        assert found.result["iou", name].counts == overall
    assert not [one for one in found.result.warnings if "has an entry" in one]
    for left_out, side, ends in (
        ("--gold-map", "gold PER", "CLIENT and PERSON"),
        ("--pred-map", "predicted DATE", "left out and DAY"),
    ):
        at = OPTIONS.index(left_out)
        called(folder, *OPTIONS[:at], *OPTIONS[at + 2 :], file="more", output=left_out)
        said = run("compare", "data.jsonl", "a=out", f"b={left_out}", cwd=folder, code=2)[1]
        assert f"'a' and 'b' differ in alignment or entities: {side} is {ends}; run both with the same maps" in said
    for option in ("--gold-map", "--pred-map"):
        said = run("compare", "data.jsonl", "a=out", "b=more", option, "gold.txt", cwd=folder, code=2)[1]
        assert f"leave out {option}" in said


def test_a_run_that_was_stopped_goes_on_with_maps(folder: Path) -> None:
    (folder / "found.py").write_text(
        "import json, pathlib\n"
        "SPANS = json.loads(pathlib.Path('found.jsonl').read_text().splitlines()[0])['spans']\n"
        "def find(text, language):\n"
        "    if pathlib.Path('stop').exists():\n"
        "        raise ValueError('stopped')\n"
        "    return SPANS\n"
    )
    call = ("run", "data.jsonl", "--detector", "python(function=found:find)", "-o", "out", "-q")
    (folder / "stop").touch()
    run(*call, *OPTIONS, cwd=folder, code=2)
    (folder / "stop").unlink()
    run(*call, *OPTIONS, "--resume", cwd=folder)
    resumed = content(folder, "results.json")
    called(folder, *OPTIONS, output="whole")
    assert rows(resumed) == rows(content(folder, "results.json", "whole"))


def test_shared_types_and_chosen_types_are_those_after_the_maps(folder: Path) -> None:
    called(folder, *OPTIONS, "--shared-types")
    assert set(content(folder, "metrics.json")["details"]["entity_recall_dict"]) == {"EMAIL_ADDRESS", "EMPLOYEE"}
    called(folder, *OPTIONS, "--entities", "EMPLOYEE", output="few")
    assert content(folder, "metrics.json", "few")["details"]["entity_recall_dict"] == {"EMPLOYEE": 1.0}
    before = rows(content(folder, "results.json", "few"))
    assert rows(json.loads(run("score", "data.jsonl", "few", "--json", "-", "-q", cwd=folder)[0])) == before


def test_presidio_is_asked_for_its_own_types(folder: Path) -> None:
    """What is scored as CONTACT, Presidio calls EMAIL_ADDRESS; what it calls PERSON, nothing does without a model."""
    (folder / "gold.txt").write_text("EMAIL: CONTACT\nPER: CLIENT\n")
    (folder / "pred.txt").write_text("EMAIL_ADDRESS: CONTACT\nURL: null\n")
    base = ("run", "data.jsonl", "--detector", "presidio(model=blank)", "--gold-map", "gold.txt", "-q")
    run(*base, "--pred-map", "pred.txt", "--entities", "CONTACT,CLIENT", "-o", "out", cwd=folder)
    details = content(folder, "metrics.json")["details"]
    assert details["entity_recall_dict"] == {"CLIENT": 0.0, "CONTACT": 1.0}
    assert details["not_looked_for"] == ["CLIENT"]
    run(*base, "--allow-missing-mappings", "-o", "one", cwd=folder)
    assert {"CLIENT", "CONTACT"} <= set(content(folder, "metrics.json", "one")["details"]["not_looked_for"])


def test_chosen_types_of_the_taxonomy(folder: Path) -> None:
    """A branch chooses its types, at every level."""
    (folder / "gold.txt").write_text("STAFF: DOCTOR\nPER: FIRST_NAME\n")
    options = ("--gold-map", "gold.txt", "--level", "branch,type", "--entities", "PERSON")
    called(folder, *options)
    found = {
        (row["level"], row["type"]): row["counts"]["annotated"]
        for row in content(folder, "results.json")["results"]
        if row["measure"] == "iou" and "average" not in row
    }
    assert found["branch", None] == found["type", None] == 6
    assert {type_ for level, type_ in found if level == "branch"} == {None, "PERSON"}
    run("run", "data.jsonl", "--detector", "presidio(model=blank)", *options, "-o", "other", "-q", cwd=folder)
    assert content(folder, "metrics.json", "other")["details"]["not_looked_for"] == ["PERSON"]
