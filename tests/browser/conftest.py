"""These tests need Chromium; `make browser` runs them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

collect_ignore_glob = [] if os.environ.get("SPANSCORE_BROWSER") else ["test_*.py"]

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    assert path is not None, "Chromium is not installed; on Debian: apt-get install chromium"
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield made
        made.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Any]:
    """A page with the network cut off, which fails the test if anything is asked for or goes wrong."""
    context = browser.new_context(offline=True, viewport={"width": 1280, "height": 1000})
    made = context.new_page()
    wrong: list[str] = []
    made.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
    made.on("pageerror", lambda error: wrong.append(str(error)))

    def refuse(dialog: Any) -> None:
        wrong.append("dialog")
        dialog.dismiss()

    made.on("dialog", refuse)
    made.on(
        "request",
        lambda request: None if request.url.startswith(("file:", "data:", "blob:")) else wrong.append(request.url),
    )
    yield made
    context.close()
    assert not wrong
