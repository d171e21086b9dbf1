"""Pictures of the demo's report for these pages: light, dark and narrow. `make screenshots` runs this."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
REPORT = HERE.parent / "demo-out" / "en" / "report.html"


def take(browser: Any, name: str, width: int, height: int, state: str, part: str | None = None) -> None:
    """Open the report and take a picture of it, or from one of its sections on."""
    page = browser.new_context(offline=True, viewport={"width": width, "height": height}).new_page()
    page.goto(REPORT.as_uri() + state)
    page.wait_for_selector(".example .lanes")
    page.wait_for_selector("#heatmap .heatmaplayer image")
    if part is not None:
        page.locator(part).evaluate("one => one.scrollIntoView()")
    page.screenshot(path=str(HERE / "images" / f"report-{name}.png"))
    page.context.close()


def main() -> None:
    """Take all pictures."""
    from playwright.sync_api import sync_playwright

    (HERE / "images").mkdir(exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    assert chromium is not None, "Chromium is not installed; on Debian: apt-get install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        take(browser, "light", 1200, 1000, "#theme=light")
        take(browser, "matrix", 1200, 900, "#theme=light", "#matrix")
        take(browser, "dark", 1200, 900, "#theme=dark&v=wrong+type", "#examples")
        take(browser, "narrow", 420, 900, "#theme=light", "#examples")
        browser.close()


if __name__ == "__main__":
    main()
