"""What many tests do: call the program as a user does, and write documents a line each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def spanscore(*arguments: str, cwd: Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    """A call of the program in a folder, whose modules it finds; it must end with this code, and never with a traceback."""
    call = [sys.executable, "-m", "spanscore", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(cwd)}
    done = subprocess.run(call, cwd=cwd, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == code, done.stderr + done.stdout
    assert "Traceback" not in done.stderr
    return done


def run(*arguments: str, cwd: Path, code: int = 0) -> tuple[str, str]:
    """What such a call says on both streams."""
    done = spanscore(*arguments, cwd=cwd, code=code)
    return done.stdout, done.stderr


def write(path: Path, documents: list[dict[str, Any]]) -> None:
    """A file of JSON Lines."""
    path.write_text("".join(json.dumps(one) + "\n" for one in documents))
