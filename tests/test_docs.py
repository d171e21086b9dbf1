"""Pages that code writes are as that code writes them."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def test_the_page_of_all_schemes_is_what_the_code_writes() -> None:
    made = runpy.run_path(str(DOCS / "same_data.py"))
    assert made["page"]() == (DOCS / "same-data.md").read_text(encoding="utf-8")


def test_commands_shown_on_the_page_of_nelevals_measures(tmp_path: Path) -> None:
    shown = re.search(r"```console\n(.*?)```", (DOCS / "schemes" / "neleval.md").read_text(), re.DOTALL)
    assert shown is not None
    lines = shown[1].splitlines()
    (tmp_path / "types.json").write_text(lines[1])
    call = lines[2].replace("$ spanscore", f"{sys.executable} -m spanscore")
    done = subprocess.run(call, shell=True, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == lines[3:]
