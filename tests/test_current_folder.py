"""Code that lies in the current folder is not executed, whatever its name, by any process of any command."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from calls import write

pytestmark = pytest.mark.slow

MORE = [
    "numpy",
    "scipy",
    "msgspec",
    "click",
    "rich",
    "xxhash",
    "regex",
    "plotly",
    "pyarrow",
    "sitecustomize",
    "usercustomize",
]
TRAP = "open('executed', 'a').write(__name__ + chr(10))\nraise SystemExit('imported from the current folder')\n"
SPANS = [{"start": 0, "end": 3, "label": "PERSON"}]


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A folder in which every module of Python's library, and those that spanscore needs, is a trap."""
    for name in (*sys.stdlib_module_names, *MORE):
        (tmp_path / f"{name}.py").write_text(TRAP)
    text = "Ann lives here. " * 20
    write(tmp_path / "gold.jsonl", [{"id": str(i), "text": text, "spans": SPANS} for i in range(14_000)])
    return tmp_path


def commands() -> list[list[str]]:
    """The ways to start the program: as a module, and by its script."""
    script = shutil.which("spanscore", path=str(Path(sys.executable).parent))
    return [[sys.executable, "-m", "spanscore"], *([[script]] if script else [])]


@pytest.mark.parametrize("program", commands(), ids=lambda call: Path(call[-1]).name if len(call) == 1 else "module")
@pytest.mark.parametrize(
    "call",
    [
        ("score", "gold.jsonl", "p=gold.jsonl", "-m", "exact", "--jobs", "2", "-q"),
        ("compare", "gold.jsonl", "a=gold.jsonl", "b=gold.jsonl", "-m", "exact", "--jobs", "2", "--resamples", "9", "--permutations", "9", "-q"),
        ("run", "gold.jsonl", "--detector", "replay(file=gold.jsonl)", "-o", "out", "-q"),
        ("run", "gold.jsonl", "--detector", "command(run='true')", "-o", "out", "-q"),
        ("convert", "gold.jsonl", "out.parquet"),
        ("check", "gold.jsonl"),
    ],
    ids=lambda call: call[0],
)  # fmt: skip
def test_nothing_in_the_current_folder_is_executed(call: tuple[str, ...], program: list[str], trap: Path) -> None:
    if "-m" in program:  # Python itself imports these from the current folder, before it gets to spanscore
        for name in subprocess.check_output(
            [sys.executable, "-c", "import runpy, sys; print(*sys.modules)"], text=True
        ).split():
            (trap / f"{name}.py").unlink(missing_ok=True)
    done = subprocess.run([*program, *call], cwd=trap, capture_output=True, text=True, check=False)
    assert not (trap / "executed").exists(), (trap / "executed").read_text()
    assert done.returncode == (2 if "true" in str(call) else 0), done.stderr


def test_a_function_in_the_current_folder_is_imported_on_request_only(tmp_path: Path) -> None:
    write(tmp_path / "gold.jsonl", [{"id": "a", "text": "Ann", "spans": SPANS}])
    (tmp_path / "mine.py").write_text("open('executed', 'a').write('x')\ndef find(text, language):\n    return []\n")
    program = commands()[0]
    subprocess.run(
        [*program, "score", "gold.jsonl", "p=gold.jsonl", "-q"], cwd=tmp_path, check=True, capture_output=True
    )
    assert not (tmp_path / "executed").exists()
    call = ["run", "gold.jsonl", "--detector", "python(function=mine:find)", "--jobs", "2", "-q", "-o", "out"]
    subprocess.run([*program, *call], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "executed").exists()
    said = subprocess.run([*program, "detectors", "python"], check=True, capture_output=True, text=True, cwd=tmp_path)
    assert "imported from the current folder" in " ".join(said.stdout.split())
