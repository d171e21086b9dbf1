"""Write which golden entries were read, if the environment says where."""

from __future__ import annotations

import os
from pathlib import Path

from golden.golden import READ


def pytest_sessionfinish() -> None:
    if place := os.environ.get("SPANSCORE_GOLDEN_READ"):
        Path(place).write_text("\n".join(sorted(READ)))
