"""Pages that code writes are as that code writes them."""

from __future__ import annotations

import inspect
import os
import pkgutil
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import spanscore
from calls import write

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


def named_functions(text: str) -> list[str]:
    """Everything on a page that is written like a function of a room."""
    rooms = {path.stem for path in Path(spanscore.__file__).parent.iterdir()}
    return [name for name in re.findall(r"`([a-z_]+(?:\.\w+)+)`", text) if name.partition(".")[0] in rooms]


def test_every_function_on_the_page_of_the_architecture_exists() -> None:
    text = (DOCS / "explanation" / "architecture.md").read_text(encoding="utf-8")
    names = named_functions(text)
    assert len(names) > 50
    for name in names:
        assert pkgutil.resolve_name(f"spanscore.{name}") is not None, name


CALLED = """
import sys
called = set()
def note(frame, event, argument):
    module = frame.f_globals.get("__name__", "")
    if event == "call" and module.startswith("spanscore."):
        called.add(f"{module}.{frame.f_code.co_qualname}")
from spanscore.cli import main
sys.setprofile(note)
try:
    main()
finally:
    sys.setprofile(None)
    print("called", *sorted(called), sep="\\n")
"""


@pytest.mark.parametrize("command", ["score", "run"])
def test_the_functions_on_the_page_of_the_architecture_are_called(command: str, tmp_path: Path) -> None:
    text = (DOCS / "explanation" / "architecture.md").read_text(encoding="utf-8")
    section = (
        text.partition(f"## One document through `{command}`")[2].partition("\n## ")[0].partition("Variations:")[0]
    )
    if command == "score":
        call = re.search(r"\nspanscore (.*)", section)
        assert call is not None
        arguments = [str(DOCS.parent / one) if one.startswith("examples") else one for one in call[1].split()]
    else:
        document = {
            "id": "d",
            "text": "Mail ann@example.org",
            "spans": [{"start": 5, "end": 20, "label": "EMAIL_ADDRESS"}],
        }
        write(tmp_path / "data.jsonl", [document])
        arguments = ["run", "data.jsonl", "--detector", "presidio(model=blank)", "--language", "en", "-o", "out"]
    done = subprocess.run(
        [sys.executable, "-c", CALLED, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    called = done.stdout.partition("\ncalled\n")[2].split()
    for name in named_functions(section):
        found = pkgutil.resolve_name(f"spanscore.{name}")
        found = getattr(found, "func", getattr(found, "fget", found))  # what a property calls
        found = getattr(found, "__func__", found)
        if inspect.ismodule(found) or name == "align.resolve.resolved":  # that one only if asked to
            continue
        own = inspect.unwrap(found) if inspect.isroutine(found) else getattr(found, "callback", found)
        place = f"{own.__module__}.{own.__qualname__}"
        assert any(one == place or one.startswith(f"{place}.") for one in called), name


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
