"""Pictures of the report for these pages: light, dark, narrow and printed; one and three systems, linking, no text.

`make screenshots` runs this on what `make demo` has written.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import spanscore as ss
from spanscore.report import comparison
from spanscore.report.page_report import write_report

HERE = Path(__file__).parent
DEMO = HERE.parent / "demo-out"
CITIES = {
    "Paris": ("Q90", "Q830149"),
    "London": ("Q84", "Q92561"),
    "Georgia": ("Q230", "Q1428"),
    "Lima": ("Q2868", "Q2868"),
}
"""Names with the right entity, and the one that the linker of the picture confuses it with, from Wikidata."""


def three_systems(folder: Path) -> Path:
    """Compare the demo's two English runs, and the second one with its sure findings only."""
    kept = []
    for line in (DEMO / "en" / "predictions.jsonl").read_text("utf-8").splitlines():
        one = json.loads(line)
        one["spans"] = [span for span in one["spans"] if span["score"] >= 0.8]
        kept.append(json.dumps(one))
    (folder / "sure.jsonl").write_text("\n".join(kept), "utf-8")
    files = {"patterns": DEMO / "other" / "predictions.jsonl", "names": DEMO / "en" / "predictions.jsonl"}
    systems = {**files, "sure": folder / "sure.jsonl"}
    found = ss.compare(DEMO / "en.jsonl", systems, ["iou(threshold=0.5)", "leak"], beta=2.0)
    record = comparison.record(found, found.changes_by_measure())
    write_report(found.result, folder / "three.html", comparison=record)
    return folder / "three.html"


def linking(folder: Path) -> Path:
    """Score a linker that confuses cities of the same name, and misses some."""
    gold, pred = [], []
    for number in range(40):
        name, other = list(CITIES)[number % 4], list(CITIES)[(number + 1) % 4]
        text = f"Document {number}: the flight from {name} to {other} was late."
        spans, found = [], []
        for place, city in enumerate((name, other)):
            start = text.index(city)
            span = {"start": start, "end": start + len(city), "label": "CITY"}
            right, wrong = CITIES[city]
            spans.append({**span, "attrs": {"kbid": right}})
            if (number + place) % 5:
                found.append({**span, "attrs": {"kbid": wrong if number % 3 == place else right}})
        gold.append({"id": f"d{number}", "text": text, "spans": spans})
        pred.append({"id": f"d{number}", "spans": found})
    corpora = ss.Corpus.from_documents(gold), ss.Corpus.from_documents(pred)
    write_report(
        ss.score(*corpora, ["strong_link_match", "strong_mention_match"]), folder / "linking.html", title="A linker"
    )
    return folder / "linking.html"


def without_text(folder: Path) -> Path:
    """Write the report of the demo's English run without text."""
    from spanscore.engine.rescore import rescore

    write_report(rescore(DEMO / "en"), folder / "no-text.html", text="hide", title="presidio on en.jsonl")
    return folder / "no-text.html"


def take(browser: Any, report: Path, name: str, size: tuple[int, int], state: str, part: str | None = None) -> None:
    """Open a report and take a picture of it, or from one of its sections on."""
    page = browser.new_context(offline=True, viewport=dict(zip(("width", "height"), size, strict=True))).new_page()
    page.goto(report.as_uri() + state)
    page.wait_for_selector("html[data-ready]")
    page.wait_for_selector(".example .why")
    if name == "report-print":
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
    if part is not None:
        page.locator(part).evaluate("one => one.scrollIntoView()")
    page.screenshot(path=str(HERE / "images" / f"{name}.png"))
    page.context.close()


def main() -> None:
    """Take all pictures."""
    from playwright.sync_api import sync_playwright

    (HERE / "images").mkdir(exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    assert chromium is not None, "Chromium is not installed; on Debian: apt-get install chromium"
    report, light, wide = DEMO / "en" / "report.html", "#theme=light", (1440, 900)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as temporary:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        folder = Path(temporary)
        take(browser, report, "report-light", wide, light)
        take(browser, report, "report-matrix", wide, f"{light}&m=1&v=missed", "#matrix")
        take(browser, report, "report-dark", wide, "#theme=dark&v=partly+hidden")
        take(browser, report, "report-narrow", (420, 900), light)
        take(browser, report, "report-print", (794, 1123), light)
        take(browser, three_systems(folder), "report-three-systems", (1440, 1000), f"{light}&s=1")
        take(browser, linking(folder), "report-linking", wide, light)
        take(browser, without_text(folder), "report-no-text", wide, light)
        browser.close()


if __name__ == "__main__":
    main()
