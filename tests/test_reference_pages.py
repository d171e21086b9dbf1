"""The pages of the reference are complete, and name only what there is."""

from __future__ import annotations

import re
import runpy
import tomllib
from pathlib import Path

import spanscore

ROOT = Path(__file__).parents[1]


def test_the_page_of_python_lists_each_public_name_once() -> None:
    """What no section lists comes from `__all__`, below "More functions and classes"."""
    text = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\.\. auto(?:function|class|exception):: spanscore\.(\w+)$", text, re.MULTILINE)
    (excluded,) = re.findall(r"^   :exclude-members: (.*)$", text, re.MULTILINE)
    assert sorted(excluded.split(", ")) == sorted({*listed, "__version__"})
    assert set(listed) < set(spanscore.__all__)


def test_every_extra_that_a_page_names_exists() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = {
        extra.strip()
        for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
        for group in re.findall(r"(?:spanscore|'\.)\[([a-z,]+)\]", path.read_text(encoding="utf-8"))
        for extra in group.split(",")
    }
    assert named
    assert named <= set(extras)


def test_examples_of_commands_are_code_on_the_page_of_commands() -> None:
    """With quotes and dashes that a shell understands."""
    conf = runpy.run_path(str(ROOT / "docs" / "conf.py"))
    assert conf["smartquotes"] is False
    lines = ["Score PRED.", "", "| spanscore score a b", '| spanscore score a c -m "iou"', "", "More.", ""]
    conf["examples_as_code"](None, None, lines)
    code = ["   spanscore score a b", '   spanscore score a c -m "iou"', ""]
    assert lines == ["Score PRED.", "", ".. code-block:: text", "", *code, "More.", ""]
