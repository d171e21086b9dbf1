"""A measure, a folder format and a detector from another installed package work as the built-in ones do."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PYPROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "spanscore-toys"
version = "1.0"

[tool.hatch.build.targets.wheel]
only-include = ["toys.py"]

[project.entry-points."spanscore.measures"]
dice = "toys:Dice"
broken = "toys:missing"
wrong = "toys:PUNCTUATION"

[project.entry-points."spanscore.formats"]
notes = "toys:Notes"

[project.entry-points."spanscore.detectors"]
capitals = "toys:Capitals"
"""
MODULE = '''"""Toys."""

from dataclasses import dataclass

import numpy as np

from spanscore.corpus.records import Document, Span, build
from spanscore.detectors import Detector, spans_of
from spanscore.formats import Claim, Format
from spanscore.measures import Judgement, Measure
from spanscore.spec import parameter
from spanscore.tally import Tally

PUNCTUATION = "."


@dataclass(frozen=True, repr=False)
class Dice(Measure):
    """Spans of one type whose Dice coefficient reaches a threshold."""

    name = "dice"
    threshold: float = parameter(0.5, "Minimum Dice coefficient.", low=0.0, high=1.0)

    def tally(self, pairing):
        gold, pred, _ = self._pairs(pairing)
        return Tally.of_found(pairing, pairing.gold, pairing.pred, np.unique(gold))

    def judge(self, pairing):
        gold, pred, dice = self._pairs(pairing)
        return Judgement.from_pairs(pairing, gold, pred, np.ones(len(gold), bool), iou=dice)

    def _pairs(self, pairing):
        both, gold, pred = pairing.overlaps, pairing.gold, pairing.pred
        size = (gold.end - gold.start)[both.gold] + (pred.end - pred.start)[both.pred]
        dice = 2 * both.shared / np.maximum(size, 1)
        near = (dice >= self.threshold) & (gold.label[both.gold] == pred.label[both.pred])
        return both.gold[near], both.pred[near], dice[near]


@dataclass(frozen=True, repr=False)
class Notes(Format):
    """A folder of notes: x.txt is the text, x.spans has lines of start, end and label."""

    name = "notes"
    folders = True
    separator: str = parameter(" ", "What separates the columns.")

    @classmethod
    def recognise(cls, sample):
        return Claim(3, "it has .spans files") if any(name.endswith(".spans") for name in sample.files) else None

    def read(self, source):
        documents = []
        for name in source.files(".txt"):
            with source.open(name) as text, source.open(name.replace(".txt", ".spans")) as spans:
                rows = [line.split(self.separator) for _, line in spans.lines() if line]
                found = [Span(int(start), int(end), label) for start, end, label in rows]
                documents.append(Document(id=name, text=text.read_all().decode(), spans=found))
        yield build(documents)


@dataclass(frozen=True, repr=False)
class Capitals(Detector):
    """Words that begin with a capital letter."""

    name = "capitals"
    in_processes = True
    label: str = parameter("PERSON", "Label of the spans.")

    def detect(self, documents):
        for document in documents:
            found, at = [], 0
            for word in document.text.split():
                at = document.text.index(word, at)
                if word[0].isupper():
                    found.append({"start": at, "end": at + len(word), "label": self.label})
            yield spans_of(found, len(document.text))
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the package into an environment of its own that sees this one."""
    folder = tmp_path_factory.mktemp("toys")
    package = folder / "package"
    package.mkdir()
    (package / "pyproject.toml").write_text(PYPROJECT)
    (package / "toys.py").write_text(MODULE)
    subprocess.run(
        [sys.executable, "-m", "venv", "--system-site-packages", "--without-pip", folder / "env"], check=True
    )
    inside = next((folder / "env").glob("lib/python*/site-packages"))
    here = next(path for path in map(Path, sys.path) if path.name == "site-packages")
    (inside / "outer.pth").write_text(f"import site; site.addsitedir({str(here)!r})\n")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*install, "--target", inside, package], check=True)
    notes = folder / "notes"
    notes.mkdir()
    for name, text, spans in (("a", "Ann met Bob Lee", "0 3 PERSON\n8 15 PERSON\n"), ("b", "no one", "\n3 6 PERSON\n")):
        (notes / f"{name}.txt").write_text(text)
        (notes / f"{name}.spans").write_text(spans)
    return folder


def spanscore(folder: Path, *call: str, code: int = 0) -> str:
    python = folder / "env" / "bin" / "python"
    done = subprocess.run([python, "-m", "spanscore", *call], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout if code == 0 else done.stderr


def test_they_are_listed_and_explained(folder: Path) -> None:
    assert "Spans of one type whose Dice" in spanscore(folder, "measures")
    assert "threshold=0.5  Minimum Dice coefficient (number from 0 to 1)." in spanscore(folder, "measures", "dice")
    assert "A folder of notes" in spanscore(folder, "formats")
    assert "files, folders and zip files" in spanscore(folder, "formats", "notes")
    assert "label=PERSON  Label of the spans (string)." in spanscore(folder, "detectors", "capitals")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_plug_in_detector_runs_over_a_plug_in_folder_format(folder: Path, jobs: str) -> None:
    call = ("run", "notes", "--detector", "capitals(label=PERSON)", "--jobs", jobs, "-o", f"out{jobs}")
    spanscore(folder, *call)
    metrics = json.loads((folder / f"out{jobs}" / "metrics.json").read_text())
    assert metrics["details"]["entity_counts"]["PERSON"] == {
        "tp": 2,
        "predicted": 2,
        "annotated": 3,
        "fp": 0,
        "fn": 1,
    }
    about = json.loads((folder / f"out{jobs}" / "run.json").read_text())
    assert about["arguments"]["detector"] == "capitals"


def test_a_plug_in_measure_scores_a_folder(folder: Path) -> None:
    spanscore(folder, "convert", "notes", "gold.jsonl")
    call = ("score", "notes", "gold.jsonl", "-m", "dice(threshold=0.6)", "--json", "-", "-o", "scored")
    found = json.loads(spanscore(folder, *call))
    assert (found["results"][0]["measure"], found["results"][0]["f"]) == ("dice(threshold=0.6)", 1.0)
    assert found["inputs"]["gold"]["format"] == "notes"
    assert "Open" in spanscore(folder, "report", "scored")
    assert "notes" in spanscore(folder, "check", "notes", "--format", "notes(separator=' ')")


def test_wrong_plug_ins_and_options_are_explained(folder: Path) -> None:
    assert "cannot be loaded (AttributeError" in spanscore(folder, "score", "notes", "notes", "-m", "broken", code=2)
    assert "not a subclass of Measure" in spanscore(folder, "score", "notes", "notes", "-m", "wrong", code=2)
    assert "did you mean 'dice'?" in spanscore(folder, "score", "notes", "notes", "-m", "dicee", code=2)
    wrong = ("score", "notes", "notes", "--gold-format", "notes(sep=x)")
    assert "notes has no option 'sep'" in spanscore(folder, *wrong, code=2)
    run = ("run", "notes", "--detector", "capitals(lable=X)", "-o", "never")
    assert "capitals has no option 'lable'; did you mean 'label'?" in spanscore(folder, *run, code=2)
    assert "but conll reads single files" in spanscore(folder, "check", "notes", "--format", "conll", code=2)
    (folder / "other").mkdir(exist_ok=True)
    assert "this is a folder or zip file without files" in spanscore(folder, "check", "other", code=2)
    (folder / "other" / "readme").write_text("Nothing.")
    assert "no known folder format matches this folder" in spanscore(folder, "check", "other", code=2)
