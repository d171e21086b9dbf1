"""What the README shows is what comes out."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_every_command_gives_the_output_shown(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / "demo-out").mkdir()
    blocks = re.findall(r"```console\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    ran = 0
    for block in blocks:
        for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            if command.startswith("make"):
                continue
            call = command.replace(".venv/bin/spanscore", f"{sys.executable} -m spanscore")
            done = subprocess.run(call, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
            assert done.stderr + done.stdout == shown, command
            ran += 1
    assert ran == 5
