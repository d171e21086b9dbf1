"""history.html in a browser without a network, by day and by night."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

import spanscore as ss
from spanscore.analysis.history import log, read_history, trends
from spanscore.report.history import page as history_page

HOSTILE = "</title><script>alert(1)</script><img src=x onerror=alert(2)>&\"'"


def test_charts_show_the_scores_and_nothing_hostile_runs(page: Any, tmp_path: Path) -> None:
    history = tmp_path / "history.parquet"
    for day, (found, size) in enumerate([(20, 40), (30, 40), (33, 40), (45, 60)], 1):
        spans = [{"start": 0, "end": 3, "label": "PERSON"}, {"start": 5, "end": 9, "label": HOSTILE}]
        gold = ss.Corpus.from_documents([{"id": f"d{i}", "spans": spans} for i in range(size)])
        pred = ss.Corpus.from_documents([{"id": f"d{i}", "spans": spans if i < found else []} for i in range(size)])
        ss.score(gold, {HOSTILE: pred}, "exact", ci=0.95).save(tmp_path / f"out{day}")
        log(tmp_path / f"out{day}", history, name=f"{HOSTILE}{day}", at=datetime(2026, 1, day, tzinfo=UTC))
    shown = trends(read_history(history), "recall")
    (tmp_path / "history.html").write_text(history_page(shown, HOSTILE), encoding="utf-8")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for width in (1280, 360):
            page.set_viewport_size({"width": width, "height": 900})
            page.goto((tmp_path / "history.html").as_uri())
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (scheme, width)
        ink, paper = (page.evaluate(f"getComputedStyle(document.body).{name}") for name in ("color", "backgroundColor"))
        assert (ink, paper) == (
            ("rgb(27, 27, 27)", "rgb(255, 255, 255)")
            if scheme == "light"
            else ("rgb(236, 236, 236)", "rgb(22, 22, 22)")
        )
    expect(page.locator("svg")).to_have_count(3)
    expect(page.locator("svg circle")).to_have_count(12)
    expect(page.locator("svg line.data")).to_have_count(3)
    expect(page.locator("script, img, iframe, link")).to_have_count(0)
    heights = page.evaluate(
        "[...document.querySelector('svg').querySelectorAll('circle')].map(c => +c.getAttribute('cy'))"
    )
    assert heights[0] > heights[1] > heights[2] > heights[3] - 30
    page.locator("summary").first.click()
    expect(page.locator("details").first.locator("tbody tr")).to_have_count(4)
    expect(page.locator("details").first).to_contain_text("new data")


def test_the_page_has_no_accessibility_problems(page: Any, tmp_path: Path) -> None:
    from axe_playwright_python.sync_playwright import Axe

    spans = [{"start": 0, "end": 3, "label": "PERSON"}]
    gold = ss.Corpus.from_documents([{"id": f"d{i}", "spans": spans} for i in range(9)])
    ss.score(gold, {"mine": gold}, "exact", ci=0.95).save(tmp_path / "out")
    log(tmp_path / "out", tmp_path / "h.parquet", name="v1")
    (tmp_path / "h.html").write_text(
        history_page(trends(read_history(tmp_path / "h.parquet")), "History"), encoding="utf-8"
    )
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.goto((tmp_path / "h.html").as_uri())
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
