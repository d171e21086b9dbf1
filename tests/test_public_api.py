"""The public API, what `--help` may import, and who may print."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import spanscore

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(spanscore.__file__).parent


def test_all_is_sorted_and_complete() -> None:
    assert sorted(spanscore.__all__) == spanscore.__all__
    assert all(hasattr(spanscore, name) for name in spanscore.__all__)
    tree = ast.parse(Path(spanscore.__file__).read_text())
    typed = next(one for one in tree.body if isinstance(one, ast.If) and ast.unparse(one.test) == "TYPE_CHECKING")
    imported = [one for one in (*tree.body, *typed.body) if isinstance(one, ast.ImportFrom)]
    names = {name.name for one in imported if (one.module or "").startswith("spanscore") for name in one.names}
    assert names == set(spanscore.__all__)  # what a type checker sees
    assert set(spanscore._LAZY) < names


def test_report_is_a_room_and_a_function(tmp_path: Path) -> None:
    from spanscore.report import comparison

    assert callable(comparison.plain)
    page = spanscore.report(spanscore.score("examples/gold.jsonl", "examples/base.jsonl", "exact"), tmp_path / "r.html")
    assert page.read_text().startswith("<!DOCTYPE html>")


def test_report_has_the_signature_of_its_function() -> None:
    assert list(inspect.signature(spanscore.report).parameters)[:3] == ["results", "output", "gold"]


GOLD, BASE, TUNED = "examples/gold.jsonl", "examples/base.jsonl", "examples/tuned.jsonl"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda ss: ss.score(GOLD, [BASE, TUNED]), "not a collection of str; name several inputs as {name: path}"),
        (lambda ss: ss.score([{"id": "d", "spans": []}], GOLD), "not a collection of dict"),
        (lambda ss: ss.agree([GOLD, BASE]), "not a collection of str"),
        (lambda ss: ss.compare(GOLD, BASE), "a comparison needs systems by name"),
        (lambda ss: ss.compare(GOLD, [BASE, TUNED]), "a comparison needs systems by name"),
        (lambda ss: ss.score(GOLD, BASE, ci="0.95"), "ci must be a Bootstrap, a number or None, not str"),
        (lambda ss: ss.gate(ss.score(GOLD, BASE, "iou"), min=0.9), "write a condition as a string"),
        (lambda ss: ss.gate(ss.score(GOLD, BASE, "iou"), min={"recall": 0.9}), "write a condition as a string"),
        (lambda ss: ss.run(GOLD, f"replay(file={BASE})", "out", treshold=0.5), "did you mean 'threshold'?"),
        (lambda ss: ss.stress(GOLD, "presidio", "upper", treshold=0.5), "did you mean 'threshold'?"),
        (lambda ss: ss.check(), "name at least one file or corpus to check"),
    ],
)
def test_wrong_calls_are_explained(call: Callable[[Any], object], message: str) -> None:
    with pytest.raises(spanscore.UsageError, match=re.escape(message)):
        call(spanscore)


def test_one_label_needs_no_list(tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("Zed\n")
    swapped = spanscore.perturb(GOLD, f"swap-names:{tmp_path / 'names.txt'}", names="PERSON")
    assert "Zed" in (next(swapped.documents()).text or "")
    run = spanscore.run(GOLD, f"replay(file={BASE})", tmp_path / "out", entities="PERSON")
    assert list(run["iou"].by_type) == ["PERSON"]


def test_a_sweep_of_one_system_needs_no_name() -> None:
    alone, named = spanscore.sweep(GOLD, BASE, "iou"), spanscore.sweep(GOLD, {"pred": BASE}, "iou")
    assert alone.records() == named.records()


def test_values_have_a_short_repr_and_print_as_the_commands_do() -> None:
    systems = {"base": BASE, "tuned": TUNED}
    for value, short, long in (
        (spanscore.compare(GOLD, systems, "iou"), "Comparison(base, tuned by iou; ", "* best; > significantly better"),
        (spanscore.sweep(GOLD, BASE, "iou"), "Sweep(pred, iou: AP 0.426)", "threshold: keeping only predictions"),
        (spanscore.agree({"a": GOLD, "b": BASE}), "Agreement(a, b: alpha 0.725)", "kappa, all tokens"),
        (
            spanscore.plan(0.99),
            "SamplePlan(recall 0.99, confidence 0.95: 299 independent spans)",
            "- 299 spans if each",
        ),
        (spanscore.plan(spans=100), "SamplePlan(recall at least 0.9705, confidence 0.95)", "0.9705"),
        (spanscore.types(GOLD, BASE), f"TypeAudit({GOLD}: 11 labels, {BASE}: 10 labels)", "left out by --shared-types"),
        (spanscore.check(GOLD, BASE), "Check(2 files, 0 problems, 1 note)", "Check(2 files"),
        (spanscore.suspects(GOLD, systems), "Suspects(0 spans)", "Suspects(0 spans)"),
        (spanscore.read(GOLD), "Corpus(10 documents, 31 spans, 11 labels)", "Corpus("),
    ):
        assert repr(value).startswith(short)
        assert long in str(value)


def test_only_the_command_line_prints() -> None:
    for path in ROOT.rglob("*.py"):
        if path.parent.name != "cli":
            assert not re.search(r"^\s*print\(", path.read_text(), re.MULTILINE), path


@pytest.mark.parametrize("call", [["--help"], ["score", "--help"], ["--version"]])
def test_help_is_light(call: list[str]) -> None:
    code = (
        f"import sys; sys.argv[1:] = {call!r}\nfrom spanscore.cli import main\ntry: main()\nexcept SystemExit: pass\n"
    )
    code += "print([m for m in sys.modules if m.split('.')[0] in ('numpy', 'rich', 'msgspec', 'scipy')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
