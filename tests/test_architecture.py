"""The shape that the design draws: stages import only from stages before them, and nothing heavy is imported early."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import spanscore

ROOT = Path(spanscore.__file__).parent
STAGES = [
    ["errors", "version", "memory"],
    ["columns"],
    ["corpus"],
    ["records"],
    ["overlap", "arrow"],
    ["readers", "align"],
    ["detectors"],
    ["tally"],
    ["measures"],
    ["signature", "verdicts", "stats"],
    ["result"],
    ["report"],
    ["engine"],
    ["pipeline"],
    ["generate"],
    ["testing"],
    ["cli"],
]
RANK = {name: number for number, names in enumerate(STAGES) for name in names}
LATE = {("corpus", "records"), ("result", "report")}
"""Conveniences that reach ahead inside a method: Corpus.from_documents, Result.save and print(result)."""


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        found |= {name.split(".")[1] for name in names if name.startswith("spanscore.")}
    return found


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_stage_imports_only_from_stages_before_it(path: Path) -> None:
    stage = path.relative_to(ROOT).parts[0].removesuffix(".py")
    if stage in ("__init__", "__main__"):
        return
    for other in imports(path) - {stage}:
        typing_only = re.search(rf"if TYPE_CHECKING:(.|\n)*?from spanscore\.{other}", path.read_text())
        assert RANK[other] < RANK[stage] or (stage, other) in LATE or typing_only, f"{stage} imports {other}"


def test_all_is_sorted_and_complete() -> None:
    assert sorted(spanscore.__all__) == spanscore.__all__
    assert all(hasattr(spanscore, name) for name in spanscore.__all__)


def test_only_the_command_line_prints() -> None:
    for path in ROOT.rglob("*.py"):
        if path.parent.name != "cli":
            assert not re.search(r"^\s*print\(", path.read_text(), re.MULTILINE), path


@pytest.mark.parametrize("call", [["--help"], ["score", "--help"], ["--version"]])
def test_help_is_light(call: list[str]) -> None:
    code = (
        f"import sys; sys.argv[1:] = {call!r}\nfrom spanscore.cli import main\ntry: main()\nexcept SystemExit: pass\n"
    )
    code += "print([m for m in sys.modules if m.split('.')[0] in ('numpy', 'rich', 'msgspec')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
