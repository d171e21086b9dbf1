"""Pages that code writes are as that code writes them."""

from __future__ import annotations

import os
import pkgutil
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import spanscore

DOCS = Path(__file__).parents[1] / "docs"


def test_the_page_of_all_schemes_is_what_the_code_writes() -> None:
    made = runpy.run_path(str(DOCS / "same_data.py"))
    assert made["page"]() == (DOCS / "explanation" / "same-data.md").read_text(encoding="utf-8")


def test_the_page_of_types_is_what_the_code_writes() -> None:
    made = runpy.run_path(str(DOCS / "types_audit.py"))
    assert made["page"]() == (DOCS / "reference" / "types.md").read_text(encoding="utf-8"), "run docs/types_audit.py"


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
    """It has the files that the page prints and no others, can be installed, and its commands give the output shown."""
    text = (DOCS / "how-to" / "extending.md").read_text(encoding="utf-8")
    tree = re.search(r"```text\n(span-extras/\n.*?)```", text, re.DOTALL)
    assert tree is not None
    printed = dict(re.findall(r"```\w+\n# ([\w/]+\.\w+)\n(.*?)```", text, re.DOTALL))
    files = list(_files(tree[1]))
    assert sorted(files) == sorted([*printed, "span_extras/__init__.py"])
    for name in files:
        (tmp_path / "span-extras" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "span-extras" / name).write_text(printed.get(name, ""), encoding="utf-8")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*install, "--target", tmp_path / "site", "./span-extras"], cwd=tmp_path, check=True)
    block = re.search(r"```console\n(.*?)```", text, re.DOTALL)
    assert block is not None
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block[1], re.MULTILINE):
        call = re.sub(r"^spanscore", f"{sys.executable} -m spanscore", command)
        done = subprocess.run(
            call, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment
        )
        assert done.stderr + done.stdout == shown, command


def _files(tree: str) -> Iterator[str]:
    """Yield the paths of the files in a printed tree, without the folder that holds everything."""
    folders: list[str] = []
    for line in tree.splitlines()[1:]:
        drawn, name = re.fullmatch(r"([│├└─ ]*)(.+)", line).groups()  # type: ignore[union-attr]  # every line matches
        folders = folders[: len(drawn) // 4 - 1]
        if name.endswith("/"):
            folders.append(name.rstrip("/"))
        else:
            yield "/".join([*folders, name])
