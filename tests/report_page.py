"""The report as tests open it: ready, and saying how many examples it lists."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any


def opened(page: Any, path: Path, state: str = "") -> Any:
    """The page at this path, with what its address asks for, once it lists examples."""
    from playwright.sync_api import expect

    page.goto(path.as_uri() + state)
    page.wait_for_selector("html[data-ready]")
    expect(page.locator("#count")).to_contain_text("example")
    return page


def count(page: Any) -> int:
    """How many examples the page says that it lists."""
    return int(re.sub(r"\D", "", page.inner_text("#count").split("example")[0]))
