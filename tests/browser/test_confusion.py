"""confusion_matrix.html in a browser without a network."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from spanscore.generate import generate
from spanscore.report import confusion


@pytest.fixture
def hostile() -> dict[tuple[str | None, str | None], int]:
    bad = "</script><script>alert(1)</script>"
    more = '<img src=x onerror="alert(2)">'
    link = '<a href="javascript:alert(3)">x</a>'
    return {
        ("PERSON", "PERSON"): 1200,
        ("PERSON", None): 3,
        (bad, more): 2,
        (None, link): 7,
        ("\u202eRTL\x00", "{{7*7}}"): 1,
    }


def texts(page: Any, selector: str) -> list[str]:
    found: list[str] = page.eval_on_selector_all(selector, "all => all.map(one => one.textContent)")
    return found


def test_the_matrix_of_a_run(page: Any, tmp_path: Path) -> None:
    lines = []
    for one in generate(60, seed=7):
        spans = [{"start": span.start, "end": span.end, "label": span.label} for span in one.spans]
        lines.append(json.dumps({"id": one.id, "text": one.text, "spans": spans}))
    (tmp_path / "data.jsonl").write_text("\n".join(lines) + "\n")
    call = [sys.executable, "-m", "spanscore", "run", "data.jsonl", "-o", "out", "-q"]
    subprocess.run(call, cwd=tmp_path, check=True, capture_output=True)
    page.goto((tmp_path / "out" / "confusion_matrix.html").as_uri())
    page.wait_for_selector("#confusion-matrix .heatmaplayer image")
    names = texts(page, "#confusion-matrix .xaxislayer-above text, #confusion-matrix .xtick text")
    assert "EMAIL_ADDRESS" in names
    assert "(missed)" in names
    counts = json.loads((tmp_path / "out" / "metrics.json").read_text())["details"]["entity_counts"]
    cell = _cell(page, "EMAIL_ADDRESS", "EMAIL_ADDRESS")
    page.mouse.move(*cell)
    page.wait_for_selector("#confusion-matrix .hoverlayer .hovertext")
    told = texts(page, "#confusion-matrix .hoverlayer .hovertext")[0]
    assert "actual EMAIL_ADDRESS" in told
    assert f"count {counts['EMAIL_ADDRESS']['tp']}" in told
    page.screenshot(path=str(tmp_path / "matrix.png"))


def _cell(page: Any, actual: str, predicted: str) -> tuple[float, float]:
    """The middle of a cell on the screen."""
    found = page.evaluate(
        """([actual, predicted]) => {
            const plot = document.getElementById("confusion-matrix"), layout = plot._fullLayout;
            const x = layout.xaxis.ticktext.indexOf(predicted), y = layout.yaxis.ticktext.indexOf(actual);
            const box = plot.getBoundingClientRect();
            return [box.x + layout.margin.l + layout.xaxis.d2p(x), box.y + layout.margin.t + layout.yaxis.d2p(y)];
        }""",
        [actual, predicted],
    )
    return found[0], found[1]


def test_hostile_types_are_shown_and_nothing_runs(page: Any, hostile: dict[Any, int], tmp_path: Path) -> None:
    path = tmp_path / "matrix.html"
    path.write_text(confusion.page(hostile, "</title><script>alert(4)</script>", "<b>x</b>"), encoding="utf-8")
    page.goto(path.as_uri())
    page.wait_for_selector("#confusion-matrix .heatmaplayer image")
    assert page.title() == "</title><script>alert(4)</script>"
    heads = texts(page, "table thead th")
    assert '<img src=x onerror="alert(2)">' in heads
    assert page.eval_on_selector_all("a[href^=javascript]", "all => all.length") == 0
    assert page.eval_on_selector_all("img", "all => all.length") == 0
    numbers = texts(page, "table tbody td")
    assert sum(map(int, numbers)) == sum(hostile.values())


def test_the_same_matrix_gives_the_same_bytes(hostile: dict[Any, int]) -> None:
    assert confusion.page(hostile, "a", "b") == confusion.page(hostile, "a", "b")
