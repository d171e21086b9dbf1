"""`spanscore types`, and the options that align labels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import spanscore as ss
from calls import run, write

GOLD = ["FIRSTNAME", "CITY", "Zpicode", "castle", "AGE"]
PRED = ["given_name", "LOCATION", "ZIPCODE", "US_SSN"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, labels in (("gold", GOLD), ("pred", PRED)):
        spans = [{"start": 9 * n, "end": 9 * n + 5, "label": label, "score": 0.9} for n, label in enumerate(labels)]
        write(tmp_path / f"{name}.jsonl", [{"id": "d", "spans": spans}])
    return tmp_path


def test_the_audit_of_two_files(folder: Path) -> None:
    said = run("types", "gold.jsonl", "pred.jsonl", cwd=folder)[0]
    rows = {line.split()[0]: " ".join(line.split()) for line in said.splitlines() if line.startswith("  ")}
    assert rows["FIRSTNAME"] == "FIRSTNAME FIRST_NAME PERSON exact given_name 1"
    assert rows["given_name"] == "given_name FIRST_NAME PERSON alias FIRSTNAME 1"
    assert rows["CITY"] == "CITY CITY LOCATION exact only in its branch: LOCATION, ZIPCODE 1"
    assert rows["Zpicode"] == "Zpicode – – none –; similar: ZIPCODE 1"
    assert rows["castle"].startswith("castle – – none –")
    assert rows["US_SSN"] == "US_SSN SOCIAL_SECURITY_NUMBER GOVERNMENT_ID country prefix – 1"
    assert "left out by --shared-types at level branch: AGE (1), Zpicode (1), castle (1)" in said
    assert "left out by --shared-types at level branch: US_SSN (1)" in said


def test_json_maps_and_label_sets(folder: Path) -> None:
    (folder / "map.txt").write_text("castle: null\nZpicode: ZIP\n")
    said = json.loads(run("types", "gold.jsonl", "Presidio", "--gold-map", "map.txt", "--json", cwd=folder)[0])
    assert (said["schema"], [side["name"] for side in said["sides"]]) == (
        "spanscore.types/1",
        ["gold.jsonl", "Presidio"],
    )
    labels = {one["label"]: one for one in said["sides"][0]["labels"]}
    assert labels["castle"] | {"count": 1} == {
        "label": "castle",
        "count": 1,
        "mapped": None,
        "type": None,
        "branch": None,
        "why": "the map",
        "meets": [],
        "near": [],
        "similar": [],
    }
    assert (labels["Zpicode"]["mapped"], labels["Zpicode"]["type"]) == ("ZIP", "POSTAL_CODE")
    assert labels["Zpicode"]["meets"] == ["CA_POSTAL_CODE", "DE_PLZ", "UK_POSTCODE"]
    assert said["sides"][0]["left_out"]["branch"] == {"castle": 1}


def test_the_taxonomy_itself(folder: Path) -> None:
    (folder / "types.tsv").write_text("!replace\nPLACE\tCASTLE\tours\tBurg\n")
    said = run("types", "--taxonomy", "types.tsv", cwd=folder)[0]
    assert said.split() == ["branch", "types", "PLACE", "CASTLE", "label", "set", "labels", "ours", "1"]
    entries = json.loads(run("types", "--json", cwd=folder)[0])["entries"]
    assert {one["label_set"] for one in entries} >= {"i2b2", "Presidio", "TAB"}


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (("types", "nothing"), "nothing: this is neither a file nor a label set (label sets: AWS,"),
        (("types", "nothing.jsonl"), "nothing.jsonl: no such file"),
        (("types", "gold.jsonl", "--taxonomy", "none.tsv"), "none.tsv: cannot read the taxonomy"),
        (("score", "gold.jsonl", "pred.jsonl", "--level", "kind"), "There is no level 'kind'"),
        (("score", "gold.jsonl", "pred.jsonl", "--level", ","), "name a level: pii, branch, type, raw."),
        (("score", "gold.jsonl", "pred.jsonl", "--pred-map", "none.txt"), "none.txt: cannot read the label map"),
        (
            ("score", "gold.jsonl", "pred.jsonl", "--type-weights", "taxonomy"),
            "none of the measures takes --type-weights",
        ),
        (
            ("score", "gold.jsonl", "pred.jsonl", "-m", "sets::span+type", "--type-weights", "taxonomy(decay=2)"),
            "--type-weights: the decay of taxonomy weights must be between 0 and 1.",
        ),
    ],
)
def test_wrong_calls(call: tuple[str, ...], what: str, folder: Path) -> None:
    said = run(*call, cwd=folder, code=2)[1]
    assert said.startswith(f"spanscore: {what}")
    assert said.count("\n") == 1


def test_another_alignment(folder: Path) -> None:
    said = run("score", "gold.jsonl", "pred.jsonl", "--align", "spelling", cwd=folder, code=2)[1]
    assert said.startswith("spanscore: Invalid value for '--align': 'spelling' is not 'taxonomy'.")


def test_levels_everywhere(folder: Path) -> None:
    options = ("-m", "exact", "--level", "branch,type", "-q")
    rows = json.loads(run("score", "gold.jsonl", "pred.jsonl", *options, "--json", "-", cwd=folder)[0])["results"]
    recall = {row["level"]: row["recall"] for row in rows if row["type"] is None and "average" not in row}
    assert recall == {"branch": 0.4, "type": 0.2}
    few = ("--permutations", "50", "--resamples", "50")
    run("compare", "gold.jsonl", "a=pred.jsonl", "b=gold.jsonl", *options, *few, "-o", "out", cwd=folder)
    compared = json.loads((folder / "out" / "comparison.json").read_text())
    assert {(one["measure"], one["level"]) for one in compared["differences"]} == {
        ("exact", "branch"),
        ("exact", "type"),
    }
    assert (folder / "out" / "diff.csv").read_text().startswith('"status","measure","level","document"')
    swept = json.loads(run("sweep", "gold.jsonl", "pred.jsonl", *options, "--json", "-", cwd=folder)[0])["curves"]
    assert {curve["level"] for curve in swept} == {"branch", "type"}
    run("report", "out", "-o", "page.html", cwd=folder)
    passed = run("gate", "out", "--min", "exact@branch:PERSON:recall=0.9", cwd=folder)[0]
    assert "pass  a exact@branch PERSON recall: recall is 1.0000" in passed


def test_check_names_labels_of_the_same_type(folder: Path) -> None:
    found = ss.check(folder / "gold.jsonl", folder / "pred.jsonl").findings
    assert [one.message.partition(": ")[2] for one in found if one.kind == "labels of the same type"] == [
        "1 label with another name for the same type: FIRSTNAME and given_name; score with --level type."
    ]
