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


def test_both_tables_of_extras_are_the_same_and_complete() -> None:
    readme, page = (
        re.findall(r"^\| (`.*) \| (.*) \|$", text[text.index("| extra | for |") :].partition("\n\n")[0], re.MULTILINE)
        for path in ("README.md", "docs/how-to/install.md")
        if (text := (ROOT / path).read_text(encoding="utf-8"))
    )
    assert readme == page
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    listed = {name for names, _ in page for name in re.findall(r"`(\w+)`", names)}
    for_developers = {"testing", "dev", "docs", "browser", "bench", "notebook", "fuzz", "parity"}
    assert listed == set(extras) - for_developers


def test_the_list_of_guides_has_the_titles_and_the_order_of_the_sidebar() -> None:
    folder = ROOT / "docs" / "how-to"
    text = (folder / "index.md").read_text(encoding="utf-8")
    links = re.findall(r"^- \[(.*?)\]\((.*?)\.md\)", text, re.MULTILINE)
    assert [page for _, page in links] == text.partition(":hidden:\n\n")[2].splitlines()[:-1]
    for title, page in links:
        assert (folder / f"{page}.md").read_text(encoding="utf-8").startswith(f"# {title}\n")
    assert {page for _, page in links} == {path.stem for path in folder.glob("*.md")} - {"index"} | {
        "coming-from/index"
    }


def test_examples_of_commands_are_code_on_the_page_of_commands() -> None:
    """With quotes and dashes that a shell understands."""
    conf = runpy.run_path(str(ROOT / "docs" / "conf.py"))
    assert conf["smartquotes"] is False
    lines = ["Score PRED.", "", "| spanscore score a b", '| spanscore score a c -m "iou"', "", "More.", ""]
    conf["examples_as_code"](None, None, lines)
    code = ["   spanscore score a b", '   spanscore score a c -m "iou"', ""]
    assert lines == ["Score PRED.", "", ".. code-block:: text", "", *code, "More.", ""]
