"""What the README and the documentation show is what comes out."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import shell_pages

ROOT = Path(__file__).parents[1]
TUTORIALS = ROOT / "docs" / "tutorials"
ELSEWHERE = {"docs/how-to/extending.md", "docs/tutorials/index.md"}
"""Pages whose commands need more than examples: tests/test_docs.py installs a package; the clone below makes an environment."""
SLOW = {"docs/tutorials/presidio.md"}
PAGES = [
    pytest.param(page, id=page, marks=[pytest.mark.slow] if page in SLOW else [])
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if (page := path.relative_to(ROOT).as_posix()) not in ELSEWHERE
    and not page.startswith("docs/_build")
    and "```console\n" in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("page", PAGES)
def test_every_command_gives_the_output_shown(page: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("node_modules"))
    assert shell_pages.check(ROOT / page, tmp_path) > 0


def test_the_four_tutorials_are_among_them() -> None:
    pages = {str(one.id) for one in PAGES}
    assert {f"docs/tutorials/{name}.md" for name in ("presidio", "ner", "hospital", "linking")} <= pages
    assert "README.md" in pages


@pytest.mark.slow
def test_the_tutorials_run_in_a_fresh_clone_as_printed(tmp_path: Path) -> None:
    """The installation too: nothing of the environment that runs this test is used but Python."""
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--no-hardlinks", str(ROOT), str(clone)], check=True)
    pages = [TUTORIALS / "index.md", *sorted(set(TUTORIALS.glob("*.md")) - {TUTORIALS / "index.md"})]
    whole = tmp_path / "all.md"
    whole.write_text("\n".join(page.read_text(encoding="utf-8") for page in pages), encoding="utf-8")
    assert shell_pages.check(whole, clone, installed=False) > 20


def test_a_wrong_output_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```console\n$ false\n$ echo $?\n1\n$ printf 'a\\nb\\nc\\n'\na\n...\nc\n```\n")
    assert shell_pages.check(page, tmp_path) == 3
    for wrong in ("$ false", "$ echo 1\n2", "$ printf 'a\\nb\\n'\na\n...\nc"):
        page.write_text(f"```console\n{wrong}\n```\n")
        with pytest.raises(AssertionError):
            shell_pages.check(page, tmp_path)
