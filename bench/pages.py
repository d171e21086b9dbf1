"""The report in a browser: how long a page takes to load, and whether its list is ever blank while it is scrolled."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import spanscore as ss
from spanscore.report.page_report import write_report

LIMIT_MB = 25.0
SCROLL = """async () => {
    const list = document.getElementById("list");
    let blank = 0;
    for (let step = 0; step < 60; step++) {
        list.scrollTop = list.scrollHeight * ((step * 37) % 60) / 60;
        await new Promise(requestAnimationFrame);
        const box = list.getBoundingClientRect();
        const rows = [...list.querySelectorAll(".example")].map(one => one.getBoundingClientRect());
        const first = Math.min(...rows.map(one => one.top)), last = Math.max(...rows.map(one => one.bottom));
        if (first > box.top + 1 || last < box.bottom - 1) blank++;
    }
    return blank;
}"""


@dataclass(frozen=True)
class Page:
    """The measurements of one page."""

    documents: int
    writing: float
    megabytes: float
    loading: float
    shown: int
    blank: int


def measure(gold: ss.Corpus, errors: int, folder: Path) -> Page:
    """Report on a system that misses this many spans, and open the page three times."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    assert chromium is not None, "Chromium is not installed; on Debian: apt-get install chromium"
    kept = np.ones(len(gold.start), np.bool_)
    kept[np.random.default_rng(0).choice(len(gold.start), errors, replace=False)] = False
    pred = gold.with_spans(np.flatnonzero(kept)).with_columns(text=None)
    result = ss.score(gold, pred, ["iou", "exact"])
    path = folder / f"report-{len(gold)}.html"
    began = time.perf_counter()
    write_report(result, path, max_mb=LIMIT_MB)
    writing = time.perf_counter() - began
    loading, said, blank = float("inf"), "", 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for _ in range(3):
            page: Any = browser.new_context(offline=True, viewport={"width": 1280, "height": 1000}).new_page()
            began = time.perf_counter()
            page.goto(path.as_uri())
            page.wait_for_selector(".example .lanes")
            loading = min(loading, time.perf_counter() - began)
            said = page.inner_text("#shown")
            blank = max(blank, page.evaluate(SCROLL))
            page.context.close()
        browser.close()
    shown = int(said.split(" ")[0].replace(",", ""))
    return Page(len(gold), writing, path.stat().st_size / 1e6, loading, shown, blank)
