"""The report as tests open it: ready, and saying how many examples it lists."""

from __future__ import annotations

import json
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


def rows_of(folder: Path, system: str, measure: str) -> dict[str | None, dict[str, Any]]:
    """The rows of results.json on one system by one measure, by type."""
    said = json.loads((folder / "out" / "results.json").read_text())["results"]
    return {
        row["type"]: row
        for row in said
        if (row["system"], row["measure"]) == (system, measure) and not {"by", "average"} & set(row)
    }


def click_cell(page: Any, gold: str, taken: str) -> None:
    """Click a cell of the matrix."""
    page.locator(f'#confusion td button[aria-label^="gold {gold}, predicted {taken}: "]').click()
