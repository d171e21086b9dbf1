"""`spanscore perturb` and `spanscore stress`: what noise and other names cost a detector."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import spanscore as ss
from calls import run, spanscore, write
from spanscore.detectors import detector
from spanscore.stats import Bootstrap

FIND = """
import re
def capitals(text, language):
    return [{"start": m.start(), "end": m.end(), "label": "PERSON"} for m in re.finditer(r"[A-Z][a-z]+", text)]
def western(text, language):
    return [one for one in capitals(text, language) if not text[one["start"]:].startswith(("Ng", "Xu"))]
"""


def documents(count: int = 40) -> list[dict[str, Any]]:
    return [
        {
            "id": f"d{i}",
            "text": f"it was {'Ann' if i % 2 else 'Bo'} again",
            "spans": [{"start": 7, "end": 10 if i % 2 else 9, "label": "PERSON"}],
        }
        for i in range(count)
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(FIND)
    write(tmp_path / "gold.jsonl", documents())
    (tmp_path / "names.tsv").write_text("name\tgroup\nNg\teast\nXu\teast\nTom\twest\nKim\twest\n")
    return tmp_path


def test_the_drop_is_paired_with_the_original(folder: Path) -> None:
    call = (
        "stress",
        "gold.jsonl",
        "--detector",
        "python(function=mine:capitals)",
        "--with",
        "upper,whitespace",
        "--rate",
        "1",
    )
    out, _ = run(*call, "-o", "out", "-q", cwd=folder)
    stressed = json.loads((folder / "out" / "stress.json").read_text())
    assert stressed["perturbations"] == ["original", "upper", "whitespace"]
    drops = {
        (one["measure"], one["type"], one["perturbation"]): one
        for one in stressed["drops"]
        if one["number"] == "recall"
    }
    lost = drops["iou", "PERSON", "upper"]
    assert (lost["original"], lost["value"], lost["drop"]) == (1.0, 0.0, 1.0)
    assert 0.8 < lost["interval"][0] < lost["interval"][1] == 1.0
    assert lost["corrected"] < 0.05
    kept = drops["iou", None, "whitespace"]
    assert kept["drop"] == 0.0
    assert kept["interval"][0] < 0 < kept["interval"][1]
    assert kept["p"] == 1.0
    assert "upper         PERSON     1.000    0.000  1.000" in out
    results = json.loads((folder / "out" / "results.json").read_text())
    assert any("variants together" in warning for warning in results["warnings"])
    sliced = {
        row["slice"]: row["recall"]
        for row in results["results"]
        if row.get("by") == "meta.perturbation" and "slice" in row and row["measure"] == "iou"
    }
    assert sliced == {"original": 1.0, "upper": 0.0, "whitespace": 1.0}


def test_python_and_command_line_give_the_same(folder: Path) -> None:
    names: dict[str, Any] = {}
    exec(FIND, names)  # the detector that the command line imports
    call = (
        "stress",
        "gold.jsonl",
        "--detector",
        "python(function=mine:western)",
        "--with",
        "typos,swap-names:names.tsv",
    )
    run(*call, "--seed", "3", "--resamples", "200", "-o", "out", "-q", cwd=folder)
    found = ss.stress(
        folder / "gold.jsonl",
        detector("python", function=names["western"]),
        f"typos,swap-names:{folder / 'names.tsv'}",
        seed=3,
        ci=Bootstrap(0.95, 200, 3),
    )
    written = json.loads((folder / "out" / "stress.json").read_text())
    ours = json.loads(json.dumps(found.to_dict()))
    assert ours["drops"] == written["drops"]
    assert ours["gaps"] == written["gaps"]


def test_groups_of_names_have_a_gap(folder: Path) -> None:
    call = ("stress", "gold.jsonl", "--detector", "python(function=mine:western)", "--with", "swap-names:names.tsv")
    out, _ = run(*call, "-o", "out", "-q", cwd=folder)
    gap = next(
        one
        for one in json.loads((folder / "out" / "stress.json").read_text())["gaps"]
        if (one["measure"], one["type"], one["number"]) == ("iou", "PERSON", "recall")
    )
    assert (gap["highest"], gap["lowest"], gap["difference"]) == ("west", "east", 1.0)
    assert gap["interval"][0] > 0.8
    assert "PERSON: recall differs by 1.000" in out
    assert "between names of west and of east" in out


def test_groups_of_names_without_a_gap_are_called_equal(folder: Path) -> None:
    call = ("stress", "gold.jsonl", "--detector", "python(function=mine:capitals)", "--with", "swap-names:names.tsv")
    out, _ = run(*call, "-o", "equal", "-q", cwd=folder)
    assert "all: recall is equal for names of all groups (" in out
    assert "differs by 0.000" not in out


def test_the_interval_of_a_drop_is_that_of_compare(folder: Path) -> None:
    """A variant scored on its own, against the original as another system, gives the same difference."""
    names: dict[str, Any] = {}
    exec(FIND, names)
    made = detector("python", function=names["capitals"])
    gold = ss.Corpus.from_documents(documents())
    found = ss.stress(gold, made, "typos,ocr", rate=0.7, threshold=0.5)
    drop = next(
        one
        for one in found.drops
        if (one.measure, one.type, one.perturbation, one.number) == ("iou(threshold=0.5)", None, "ocr", "recall")
    )
    variant = ss.perturb(gold, "ocr", rate=0.7)
    recalls = [ss.score(one, ss.detect(one, made), "iou(threshold=0.5)").scores[0].recall for one in (gold, variant)]
    assert 0 < recalls[1] < 1
    assert math.isclose(drop.drop, recalls[0] - recalls[1])
    assert drop.interval[0] < drop.drop < drop.interval[1]


def test_an_interrupted_stress_run_goes_on(folder: Path) -> None:
    (folder / "mine.py").write_text(
        FIND + "def flaky(text, language):\n    import os\n    if os.path.exists('broken') and 'IT' in text:\n"
        "        raise ValueError('no')\n    open('calls', 'a').write('x')\n    return capitals(text, language)\n"
    )
    call = ("stress", "gold.jsonl", "--detector", "python(function=mine:flaky)", "--with", "upper", "-o", "out", "-q")
    (folder / "broken").touch()
    said = spanscore(*call, cwd=folder, code=2).stderr
    assert "d0~upper" in said
    (folder / "broken").unlink()
    run(*call, "--resume", cwd=folder)
    assert len((folder / "calls").read_text()) == 80
    run("run", "gold.jsonl", "--detector", "python(function=mine:capitals)", "-o", "out", "-q", cwd=folder)
    assert not (folder / "out" / "stress.json").exists(), "the files of another run stay beside the new ones"


def test_a_report_of_a_stress_run_needs_its_variants(folder: Path) -> None:
    call = (
        "stress",
        "gold.jsonl",
        "--detector",
        "python(function=mine:capitals)",
        "--with",
        "upper",
        "-o",
        "out",
        "-q",
    )
    run(*call, cwd=folder)
    said = spanscore("report", "out", "-o", "again.html", cwd=folder, code=2).stderr
    assert "these results were not made from files; give the places of files with --gold FILE" in said
    run("perturb", "gold.jsonl", "--with", "original,upper", "-o", "all.jsonl", "-q", cwd=folder)
    run("report", "out", "--gold", "all.jsonl", "-o", "again.html", cwd=folder)
    assert (folder / "again.html").is_file()


def test_perturb_writes_files_that_can_be_read(folder: Path) -> None:
    _, said = run(
        "perturb", "gold.jsonl", "--with", "original,upper,swap-names:names.tsv", "-o", "more.jsonl", cwd=folder
    )
    assert said == "more.jsonl: 160 documents\n"
    corpus = ss.read(folder / "more.jsonl")
    assert corpus.text is not None
    texts = dict(zip(corpus.ids, corpus.text.tolist(), strict=True))
    assert texts["d0~upper"] == "IT WAS BO AGAIN"
    assert texts["d0~swap-names:east"] in ("it was Ng again", "it was Xu again")
    again, _ = run("perturb", "gold.jsonl", "--with", "original,upper,swap-names:names.tsv", cwd=folder)
    assert again == (folder / "more.jsonl").read_text()
    run("check", "more.jsonl", cwd=folder)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("gold.jsonl", "--with", "uper"), "There is no perturbation 'uper'; did you mean 'upper'?"),
        (("gold.jsonl", "--with", "swap-names:names.tsv", "--names", "PER"), "no span has the label PER"),
        (("gold.jsonl", "--with", "typos", "--rate", "2"), "the rate must be greater than 0 and at most 1"),
        (("gold.jsonl", "--with", "typos", "--seed", "-1"), "the seed must not be negative"),
        (("more.jsonl", "--with", "typos"), "the documents have meta.perturbation already"),
        (("notext.jsonl", "--with", "typos"), 'document "d": the document has no text'),
        (("gold.jsonl", "--with", "swap-names:odd.tsv"), "odd.tsv:2: each line needs a name"),
        (("gold.jsonl", "--with", "swap-names:half.tsv"), "some names have a group and others have none"),
        (("gold.jsonl", "--with", "swap-names:none.tsv"), "the table of names is empty"),
    ],
)
def test_wrong_calls_get_one_sentence(arguments: tuple[str, ...], said: str, folder: Path) -> None:
    write(folder / "more.jsonl", [{**documents(1)[0], "meta": {"perturbation": "typos"}}])
    write(folder / "notext.jsonl", [{"id": "d", "spans": []}])
    (folder / "odd.tsv").write_text("a\tb\nc\td\te\n")
    (folder / "half.tsv").write_text("a\tb\nc\n")
    (folder / "none.tsv").write_text("\n")
    _, error = run("perturb", *arguments, "-o", "new.jsonl", cwd=folder, code=2)
    assert said in error
    assert error.count("\n") == 1
    assert not (folder / "new.jsonl").exists()
