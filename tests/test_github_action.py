"""The GitHub Action: its scripts run as the runner runs them, with files in the place of the runner's."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from calls import content, run, write

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
HOSTILE = "$(touch pwned) `touch pwned`; \"x\" 'y' ::error::z\n::set-output name=a::b"
"""A file name that a shell, a workflow command or an output file could be fooled by."""


def annotated(found: int = 40, label: str = "PERSON", count: int = 40) -> list[dict[str, Any]]:
    spans = [{"start": 0, "end": 6, "label": label}]
    return [{"id": f"d{i}", "text": "Zqxley left.", "spans": spans[: i < found]} for i in range(count)]


class Runner:
    """Runs steps of the action in a folder, with inputs as their `env` passes them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("output", "summary"):
            (folder / f".{name}").touch()

    def step(self, name: str, code: int = 0, **inputs: str) -> str:
        """Run a step, and return what it prints."""
        step = next(one for one in STEPS if one["name"] == name)
        given = {key: one.get("default", "") for key, one in ACTION["inputs"].items()}
        given |= {key.replace("_", "-"): value for key, value in inputs.items()}
        values = {
            variable: given[re.fullmatch(r"\$\{\{ inputs\.([a-z-]+) \}\}", text)[1]]  # type: ignore[index]
            for variable, text in step["env"].items()
        }
        files = {
            f"GITHUB_{key}": str(self.folder / f".{name}")
            for key, name in (("OUTPUT", "output"), ("STEP_SUMMARY", "summary"))
        }
        environment = {
            **os.environ,
            **values,
            **files,
            "GITHUB_ACTION_PATH": str(ROOT),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        }
        call = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]]
        done = subprocess.run(call, cwd=self.folder, capture_output=True, text=True, check=False, env=environment)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    @property
    def outputs(self) -> dict[str, str]:
        """The outputs, parsed as the runner does."""
        found, lines = {}, iter((self.folder / ".output").read_text().split("\n")[:-1])
        for line in lines:
            name, _, end = line.partition("<<")
            assert end, line
            value = []
            while (part := next(lines)) != end:
                value.append(part)
            found[name] = "\n".join(value)
        return found

    @property
    def summary(self) -> str:
        return (self.folder / ".summary").read_text()


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    write(tmp_path / "gold.jsonl", annotated())
    write(tmp_path / "pred.jsonl", annotated(30))
    return Runner(tmp_path)


def test_inputs_reach_scripts_only_through_the_environment() -> None:
    for step in STEPS:
        if "run" in step:
            assert "${{" not in step["run"]
            assert re.fullmatch(r'bash "\$GITHUB_ACTION_PATH/action/[a-z]+\.sh"', step["run"])
            assert step["shell"] == "bash"
            assert all(re.fullmatch(r"\$\{\{ inputs\.[a-z-]+ \}\}", text) for text in step["env"].values())
    used = set(re.findall(r"inputs\.([a-z-]+)", (ROOT / "action.yml").read_text()))
    assert used == set(ACTION["inputs"])
    for path in (ROOT / "action").iterdir():
        needed = set(re.findall(r"INPUT_[A-Z_]+", path.read_text()))
        given = {name for step in STEPS if path.name in step.get("run", "") for name in step["env"]}
        assert needed == given, path.name
        subprocess.run(["bash", "-n", str(path)], check=True)


def test_scores_that_pass(runner: Runner) -> None:
    runner.step("Evaluate", gold="gold.jsonl", predictions="mine=pred.jsonl", measures="exact\niou(threshold=0.5)\n")
    said = runner.step("Gate", min="recall=0.5\nexact:PERSON:precision=0.9")
    assert "::error" not in said
    assert runner.outputs["passed"] == "true"
    assert "spanscore gate: passed" in runner.summary
    results = json.loads((runner.folder / runner.outputs["output"] / "results.json").read_text())
    assert {row["measure"] for row in results["results"]} == {"exact", "iou(threshold=0.5)"}
    assert "interval" in results["results"][0]
    comment = (runner.folder / runner.outputs["comment"]).read_text()
    assert comment.startswith("<!-- spanscore -->\n### spanscore gate: passed\n")
    assert not any(b"Zqxley" in content(path) for path in (runner.folder / "spanscore-out").iterdir())


def test_scores_that_fail(runner: Runner) -> None:
    runner.step("Evaluate", gold="gold.jsonl", predictions="pred.jsonl", measures="exact")
    said = runner.step("Gate", code=1, min="recall=0.9", max="missed=0", on="lower-bound")
    assert "::error title=spanscore gate%3A pred exact all recall::the lower bound of recall is 0." in said
    assert said.count("\n::error") == 2
    assert runner.outputs["passed"] == "false"
    assert "2 of 2 checks failed" in runner.summary
    suite = ElementTree.parse(runner.folder / runner.outputs["junit"]).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "2")
    assert "❌" in (runner.folder / runner.outputs["comment"]).read_text()


def test_a_detector_is_run_and_compared_with_a_baseline(runner: Runner) -> None:
    (runner.folder / "mine.py").write_text("def find(text, language):\n    print('::error::obeyed')\n    return []\n")
    runner.step("Evaluate", gold="gold.jsonl", predictions="python=gold.jsonl", measures="iou", output="old")
    said = runner.step("Evaluate", gold="gold.jsonl", detector="python(function=mine:find)", output="new")
    stopped = re.search(r"^::stop-commands::(resume_[0-9a-f]{32})$", said, re.MULTILINE)
    assert stopped is not None
    assert said.index("::stop-commands::") < said.index("::error::obeyed") < said.index(f"::{stopped[1]}::\n")
    assert runner.outputs["output"] == "new"
    said = runner.step("Gate", code=1, max_drop="iou:recall=0.01", baseline="old/results.json", output="new")
    assert "recall fell by 1.0000 from 1.0000" in said


def test_hostile_names_are_names(runner: Runner) -> None:
    write(runner.folder / HOSTILE.replace("/", ""), annotated(label=HOSTILE))
    (runner.folder / "-rf.jsonl").write_bytes((runner.folder / HOSTILE).read_bytes())
    said = runner.step("Evaluate", gold=HOSTILE, predictions="a b=-rf.jsonl", measures="exact", output=f"o {HOSTILE}")
    resumed = re.search(r"^::stop-commands::(.*)$", said, re.MULTILINE)
    assert resumed is not None
    inside = said.split(f"::stop-commands::{resumed[1]}\n")[1].split(f"\n::{resumed[1]}::\n")
    assert len(inside) == 2
    assert runner.outputs == {"output": f"o {HOSTILE}"}
    said = runner.step("Gate", min="recall=1\nprecision=1", output=f"o {HOSTILE}")
    assert not re.search(r"^::", said, re.MULTILINE)
    said = runner.step("Gate", code=1, max="tp=1", output=f"o {HOSTILE}")
    assert [line[:14] for line in said.splitlines() if line.startswith("::")] == ["::error title="]
    assert not (runner.folder / "pwned").exists()
    assert runner.outputs["output"] == f"o {HOSTILE}"
    assert set(runner.outputs) == {"output", "passed", "comment", "junit"}


@pytest.mark.parametrize("value", [HOSTILE, "recall=0.5; touch pwned", "--junit=pwned"])
def test_hostile_conditions_are_wrong_conditions(value: str, runner: Runner) -> None:
    runner.step("Evaluate", gold="gold.jsonl", predictions="pred.jsonl", measures="exact")
    said = runner.step("Gate", code=2, min=value)
    assert [line for line in said.splitlines() if line.startswith("::")] == [
        "::error title=spanscore::the conditions could not be checked; see the message above."
    ]
    assert not (runner.folder / "pwned").exists()
    assert "passed" not in runner.outputs


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({}, "gold: name the gold data."),
        ({"gold": "gold.jsonl"}, "give a detector or predictions."),
        ({"gold": "g", "predictions": "p", "detector": "presidio"}, "give either a detector or predictions."),
        ({"gold": "g", "predictions": "p", "text": "all"}, "text: expected hide, mask or show."),
        ({"gold": "g", "predictions": "p", "output": ""}, "output: name a folder."),
    ],
)
def test_wrong_inputs_are_errors_of_the_job(inputs: dict[str, str], said: str, runner: Runner) -> None:
    assert runner.step("Evaluate", code=2, **inputs) == f"::error title=spanscore::{said}\n"


def test_without_conditions_nothing_is_checked(runner: Runner) -> None:
    runner.step("Evaluate", gold="gold.jsonl", predictions="pred.jsonl", measures="exact")
    assert "nothing is checked" in runner.step("Gate")
    assert runner.outputs["passed"] == "true"


def test_extras_are_names(runner: Runner) -> None:
    said = runner.step("Install spanscore", code=2, extras="x]; touch pwned #")
    assert said.startswith("::error title=spanscore::extras: expected names")
    pip = runner.folder / "bin" / "python3"
    pip.parent.mkdir()
    pip.write_text('#!/bin/sh\nprintf "%s\\n" "$@" >> called\n')
    pip.chmod(0o755)
    environment = {**os.environ, "PATH": f"{pip.parent}:{os.environ['PATH']}", "GITHUB_ACTION_PATH": str(ROOT)}
    script = ["bash", str(ROOT / "action" / "install.sh")]
    given = {"INPUT_EXTRAS": "presidio, parquet", "INPUT_REQUIREMENTS": ""}
    subprocess.run(script, cwd=runner.folder, check=True, env={**environment, **given})
    calls = (runner.folder / "called").read_text().splitlines()
    assert calls.count("pip") == 1
    assert calls[-1] == f"{ROOT}[presidio,parquet]"
    given["INPUT_REQUIREMENTS"] = HOSTILE
    (runner.folder / "called").unlink()
    subprocess.run(script, cwd=runner.folder, check=True, env={**environment, **given})
    said = (runner.folder / "called").read_text()
    assert said.count("pip\n") == 2
    assert said.endswith(f"--no-deps\n--require-hashes\n--requirement={HOSTILE}\n")
    assert not (runner.folder / "pwned").exists()


def test_the_example_of_the_guide_installs_the_model_that_finds_names() -> None:
    """Without a model, Presidio does not look for names, and a minimum recall of PERSON cannot be reached."""
    blocks = re.findall(r"```(yaml|text)\n(.*?)```", (ROOT / "docs" / "how-to" / "ci.md").read_text(), re.DOTALL)
    (job,) = (yaml.safe_load(text)["jobs"]["recall"] for kind, text in blocks if text.startswith("jobs:"))
    inputs = job["steps"][-1]["with"]
    assert set(inputs) <= set(ACTION["inputs"])
    assert "PERSON:recall" in inputs["min"]
    pinned = next(text for kind, text in blocks if "--hash" in text).strip()
    assert pinned == (ROOT / "demo" / "model.txt").read_text().splitlines()[-1]
    assert inputs["requirements"] == "model.txt"


def test_the_format_github_escapes_and_mentions_nobody(tmp_path: Path) -> None:
    label = "A:B,50%@team\n::error::x"
    write(tmp_path / "gold.jsonl", annotated(label=label))
    write(tmp_path / "pred.jsonl", annotated(5, label=label))
    run("score", "gold.jsonl", "pred.jsonl", "-m", "exact", "-o", "out", "-q", cwd=tmp_path)
    call = [sys.executable, "-m", "spanscore", "gate", "out", "--min", f"{label}:recall=0.9", "--format", "github"]
    environment = {**os.environ, "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
    (tmp_path / "summary.md").write_text("before\n")
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 1, done.stderr
    first, second = done.stdout.splitlines()
    assert first.startswith("FAIL  pred exact A:B,50%@team\\n::error::x recall: ")
    assert second == (
        "::error title=spanscore gate%3A pred exact A%3AB%2C50%25@team\\n%3A%3Aerror%3A%3Ax recall::"
        "recall is 0.1250 (minimum 0.9)"
    )
    summary = (tmp_path / "summary.md").read_text()
    assert summary.startswith("before\n### spanscore gate: 1 of 1 checks failed\n")
    assert "@team" not in summary
    assert "@<!-- -->team" in summary


def test_the_hook_of_pre_commit(tmp_path: Path) -> None:
    """Its entry gets the names of changed files, as pre-commit passes them."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert (hook["id"], hook["language"]) == ("spanscore-check", "python")
    write(tmp_path / "good.jsonl", annotated())
    write(tmp_path / "other.jsonl", [{"id": "x", "text": "Bob", "spans": []}])
    (tmp_path / "bad.jsonl").write_text('{"id": "d", "text": "Ann", "spans": [{"start": 0, "end": 9, "label": "A"}]}\n')
    assert re.search(hook["files"], "data/gold.jsonl")
    assert not re.search(hook["files"], "README.md")
    program, *arguments = shlex.split(hook["entry"])
    assert program == "spanscore"
    out, _ = run(*arguments, "good.jsonl", "other.jsonl", cwd=tmp_path)
    assert "documents" in out
    _, error = run(*arguments, "good.jsonl", "bad.jsonl", cwd=tmp_path, code=2)
    assert "bad.jsonl:1" in error
