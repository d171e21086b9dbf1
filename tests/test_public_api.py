"""The public API, what `--help` may import, and who may print."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import spanscore

ROOT = Path(spanscore.__file__).parent


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
    code += "print([m for m in sys.modules if m.split('.')[0] in ('numpy', 'rich', 'msgspec', 'scipy')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
