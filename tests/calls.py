"""What many tests do: call the program as a user does, and write documents a line each."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any


def run(*arguments: str, cwd: Path, code: int = 0) -> tuple[str, str]:
    """What the program says on both streams; it must end with this code, and never with a traceback."""
    call = [sys.executable, "-m", "spanscore", *arguments]
    done = subprocess.run(call, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr + done.stdout
    assert "Traceback" not in done.stderr
    return done.stdout, done.stderr


def write(path: Path, documents: list[dict[str, Any]]) -> None:
    """A file of JSON Lines."""
    path.write_text("".join(json.dumps(one) + "\n" for one in documents))
