"""`spanscore run` by the taxonomy: alignment, levels, shared types, and what is made of the folder later."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import spanscore as ss
from calls import spanscore, write

TEXT = "Ann Lee of Oslo, aged 44, has green eyes and rang on 3 May."
GOLD = [
    ("Ann", "FIRSTNAME"),
    ("Lee", "LASTNAME"),
    ("Oslo", "CITY"),
    ("44", "AGE"),
    ("green", "EYECOLOR"),
    ("3 May", "DATE"),
]
FOUND = [("Ann", "PERSON"), ("Lee", "PERSON"), ("Oslo", "LOCATION"), ("3 May", "DATE_TIME"), ("rang", "URL")]


def spans(listed: list[tuple[str, str]]) -> list[dict[str, Any]]:
    places = ((TEXT.index(surface), surface, label) for surface, label in listed)
    return [{"start": at, "end": at + len(surface), "label": label, "score": 0.9} for at, surface, label in places]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "data.jsonl", [{"id": "d", "text": TEXT, "spans": spans(GOLD)}])
    write(tmp_path / "found.jsonl", [{"id": "d", "text": TEXT, "spans": spans(FOUND)}])
    return tmp_path


def run(folder: Path, *more: str, output: str = "out") -> dict[str, Any]:
    detector = ("--detector", "replay(file=found.jsonl)")
    spanscore("run", "data.jsonl", *detector, "-o", output, "-q", *more, cwd=folder)
    found: dict[str, Any] = json.loads((folder / output / "metrics.json").read_text())
    return found


def test_levels_of_a_run_and_of_its_folder(folder: Path) -> None:
    metrics = run(folder, "--level", "branch,type")
    assert metrics["details"]["entity_recall_dict"] == {
        "DATE_TIME": 1.0,
        "DEMOGRAPHIC": 0.0,
        "LOCATION": 1.0,
        "NETWORK": None,
        "PERSON": 1.0,
    }
    alignment = {one["label"]: one for one in json.loads((folder / "out" / "alignment.json").read_text())["gold"]}
    assert alignment["LASTNAME"] == {"label": "LASTNAME", "to": "LAST_NAME", "why": "the taxonomy (exact)"}
    rows = json.loads((folder / "out" / "results.json").read_text())["results"]
    assert {(row["measure"], row["level"]) for row in rows} == {
        (measure, level) for measure in ("iou", "iou.pii", "leak") for level in ("branch", "type")
    }
    again = ss.score(folder / "data.jsonl", folder / "out", "exact")
    assert [one.name for one in again.scores] == ["exact@branch", "exact@type"]
    assert again["exact@branch"].counts["tp"] == 4
    other = ss.score(folder / "data.jsonl", folder / "out", "exact", levels="pii")
    assert other["exact"].counts["tp"] == 4
    with pytest.raises(ss.UsageError, match="leave out --gold-map"):
        ss.score(folder / "data.jsonl", folder / "out", "exact", gold_map={"CITY": "X"})
    spanscore("report", "out", "-o", "page.html", cwd=folder)


def test_shared_types_of_a_run(folder: Path) -> None:
    metrics = run(folder, "--align", "taxonomy", "--shared-types")
    assert set(metrics["details"]["entity_recall_dict"]) == {"DATE_TIME", "LOCATION", "PERSON"}
    assert metrics["recall"] == 1.0
    warnings = " ".join(metrics["warnings"])
    assert "gold: 2 spans were left out because not every side has their types (--shared-types): AGE (1), EYECOLOR" in (
        warnings
    )
    assert "(--shared-types): URL (1)" in warnings


def test_types_that_presidio_does_not_look_for_are_not_shared(folder: Path) -> None:
    """Without a model, Presidio finds no names and places."""
    detector = ("--detector", "presidio(model=blank)", "--align", "taxonomy", "--shared-types")
    spanscore("run", "data.jsonl", *detector, "-o", "out", "-q", cwd=folder)
    metrics = json.loads((folder / "out" / "metrics.json").read_text())
    assert set(metrics["details"]["entity_recall_dict"]) == {"DATE_TIME"}
    assert not any("label map" in warning or "look for" in warning for warning in metrics["warnings"])
    assert any("gold: 5 spans were left out because not every side" in warning for warning in metrics["warnings"])
