"""Pages that code writes are as that code writes them."""

from __future__ import annotations

import json
import os
import pkgutil
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import spanscore

DOCS = Path(__file__).parents[1] / "docs"


def test_the_page_of_all_schemes_is_what_the_code_writes() -> None:
    made = runpy.run_path(str(DOCS / "same_data.py"))
    assert made["page"]() == (DOCS / "explanation" / "same-data.md").read_text(encoding="utf-8")


def test_the_page_of_types_is_what_the_code_writes() -> None:
    made = runpy.run_path(str(DOCS / "types_audit.py"))
    assert made["page"]() == (DOCS / "reference" / "types.md").read_text(encoding="utf-8"), "run docs/types_audit.py"


def test_the_table_on_the_page_about_aligning_label_sets(tmp_path: Path) -> None:
    shown = re.search(
        r"```console\n\$ spanscore (.*?)\n(.*?)```", (DOCS / "how-to" / "types.md").read_text(), re.DOTALL
    )
    assert shown is not None
    for name, labels in (("gold", "FIRSTNAME LASTNAME CITY"), ("pred", "PERSON surname LOCATION")):
        spans = [{"start": 9 * n, "end": 9 * n + 5, "label": label} for n, label in enumerate(labels.split())]
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"id": "d", "spans": spans}) + "\n")
    call = [sys.executable, "-m", "spanscore", *shown[1].split()]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == shown[2]


def test_commands_shown_on_the_page_of_nelevals_measures(tmp_path: Path) -> None:
    shown = re.search(r"```console\n(.*?)```", (DOCS / "explanation" / "schemes" / "neleval.md").read_text(), re.DOTALL)
    assert shown is not None
    lines = shown[1].splitlines()
    (tmp_path / "types.json").write_text(lines[1])
    call = lines[2].replace("$ spanscore", f"{sys.executable} -m spanscore")
    done = subprocess.run(call, shell=True, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == lines[3:]


def test_the_import_graph_is_what_the_code_draws() -> None:
    made = runpy.run_path(str(DOCS / "architecture.py"))
    written = (DOCS / "explanation" / "architecture.md").read_text(encoding="utf-8")
    assert made["page"]() == written, "run python docs/architecture.py"


def test_every_function_on_the_page_of_the_architecture_exists() -> None:
    text = (DOCS / "explanation" / "architecture.md").read_text(encoding="utf-8")
    rooms = {path.stem for path in Path(spanscore.__file__).parent.iterdir()}
    names = [name for name in re.findall(r"`([a-z_]+(?:\.\w+)+)`", text) if name.partition(".")[0] in rooms]
    assert len(names) > 50
    for name in names:
        assert pkgutil.resolve_name(f"spanscore.{name}") is not None, name


def test_the_package_on_the_page_of_extensions_works(tmp_path: Path) -> None:
    """Its files are put where an installation would put them, and its commands give the output shown."""
    text = (DOCS / "how-to" / "extending.md").read_text(encoding="utf-8")
    for name, code in re.findall(r"```\w+\n# ([\w/]+\.\w+)\n(.*?)```", text, re.DOTALL):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(code, encoding="utf-8")
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text())["project"]
    about = tmp_path / "span_extras-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = (
        f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in entries.items())
        for group, entries in project["entry-points"].items()
    )
    (about / "entry_points.txt").write_text("".join(groups))
    block = re.search(r"```console\n(.*?)```", text, re.DOTALL)
    assert block is not None
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block[1], re.MULTILINE):
        call = re.sub(r"^spanscore", f"{sys.executable} -m spanscore", command)
        done = subprocess.run(
            call, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment
        )
        assert done.stderr + done.stdout == shown, command
