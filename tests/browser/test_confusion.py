"""confusion_matrix.html in a browser without a network."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

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
    rows = texts(page, "#confusion-matrix .ytick text")
    assert (names[0], rows[0]) == ("(missed)", "(spurious)")
    assert names[1:] == rows[1:]  # all of them: none is cut off at the edge
    signature = json.loads((tmp_path / "out" / "metrics.json").read_text())["signatures"][0]
    assert texts(page, "h1 + p") == ["Counted by iou."]
    assert texts(page, ".signature") == [signature]
    counts = json.loads((tmp_path / "out" / "metrics.json").read_text())["details"]["entity_counts"]
    told = _hovered(page, "EMAIL_ADDRESS", "EMAIL_ADDRESS")
    assert "gold EMAIL_ADDRESS" in told
    assert f"count {counts['EMAIL_ADDRESS']['tp']}" in told
    page.screenshot(path=str(tmp_path / "matrix.png"))


def _hovered(page: Any, gold: str | int, predicted: str | int) -> str:
    """Return the label that the mouse brings up in the middle of a cell."""
    from playwright.sync_api import TimeoutError as NotYet

    label = page.locator("#confusion-matrix .hoverlayer .hovertext")
    for _ in range(30):  # a plot that is being drawn ignores the mouse, and may still move
        page.mouse.move(0, 0)
        page.mouse.move(*_cell(page, gold, predicted))
        with suppress(NotYet):
            label.first.wait_for(timeout=1000)
            break
    return texts(page, "#confusion-matrix .hoverlayer .hovertext")[0]


def _cell(page: Any, gold: str | int, predicted: str | int) -> tuple[float, float]:
    """Return the middle of a cell on the screen, given the names of its row and its column or their places.

    An axis knows where it starts; the margins of the layout do not, because they grow with the names of the types.
    """
    page.locator("#confusion-matrix").scroll_into_view_if_needed()
    found = page.evaluate(
        """([gold, predicted]) => {
            const plot = document.getElementById("confusion-matrix"), {xaxis, yaxis} = plot._fullLayout;
            const place = (axis, name) => typeof name === "number" ? name : axis.ticktext.indexOf(name);
            const middle = (axis, name) => axis._offset + axis.d2p(place(axis, name));
            const box = plot.getBoundingClientRect();
            return [box.x + middle(xaxis, predicted), box.y + middle(yaxis, gold)];
        }""",
        [gold, predicted],
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
    numbers = texts(page, "table tbody td:not(.sum)")
    assert sum(map(int, numbers)) == sum(hostile.values())
    sums = list(map(int, texts(page, "table td.sum")))
    types = len(texts(page, "table tbody tr")) - 1
    assert sums[-1] == sum(sums[:types]) == sum(sums[types:-1]) == sum(hostile.values())
    top = texts(page, "ol li")
    assert len(top) == 4  # all but the diagonal
    assert top[0].endswith('(spurious) → <a href="javascript:alert(3)">x</a> 7')
    assert top[1] == "✗ PERSON → (missed) 3"


def test_types_are_in_the_order_of_the_report() -> None:
    """The most errors first, then the most frequent ones, then by name."""
    cells: dict[tuple[str | None, str | None], int] = {
        ("A", "A"): 5,
        ("B", "B"): 9,
        ("C", "C"): 5,
        ("D", "D"): 1,
        ("D", None): 2,
    }
    assert confusion.matrix(cells)[0] == ["(spurious)", "D", "B", "A", "C"]


def test_the_same_matrix_gives_the_same_bytes(hostile: dict[Any, int]) -> None:
    assert confusion.page(hostile, "a", "b") == confusion.page(hostile, "a", "b")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_any_screen_in_any_theme(browser: Any, hostile: dict[Any, int], tmp_path: Path, theme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    path = tmp_path / "matrix.html"
    path.write_text(confusion.page(hostile, "Matrix", "Counted by iou."), encoding="utf-8")
    context = browser.new_context(offline=True, color_scheme=theme, viewport={"width": 420, "height": 800})
    page = context.new_page()
    page.goto(path.as_uri())
    page.wait_for_selector("#confusion-matrix .heatmaplayer image")
    ink = "rgb(28, 32, 36)" if theme == "light" else "rgb(232, 234, 237)"
    page.wait_for_function(
        "ink => getComputedStyle(document.querySelector('#confusion-matrix .xtick text')).fill === ink", arg=ink
    )
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("tbody th", has_text="PERSON").first.bounding_box()["height"] < 40  # not broken into letters
    caption = page.locator("caption span").bounding_box()
    assert caption["x"] + caption["width"] <= 420
    found = Axe().run(page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    context.close()


@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("letters", [34, 44, 66, 160])
def test_long_names_of_types_leave_room_for_the_cells(page: Any, tmp_path: Path, letters: int, width: int) -> None:
    names = [f"A_TYPE_{'WITH_A_NAME_THAT_GOES_ON_' * 7}"[: letters - 2] + f"_{n}" for n in range(4)]
    cells: dict[tuple[str | None, str | None], int] = {(a, b): 7 for a in names for b in (a, None)}
    cells[names[0], names[1]] = 1
    path = tmp_path / "matrix.html"
    path.write_text(confusion.page(cells, "Matrix", "Counted by iou."), encoding="utf-8")
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(path.as_uri())
    ticks = page.locator("#confusion-matrix .ytick text")
    expect(ticks.nth(1)).to_have_text(re.compile("^A_TYPE_.{8,}…" if width > 390 else "^A_TYPE….*_0$"))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    first, second = (_cell(page, *place) for place in ((1, 1), (2, 2)))
    assert second[0] - first[0] > 35
    assert second[1] - first[1] > 20
    assert first[0] < width
    columns = page.locator("#confusion-matrix .xtick text")
    expect(columns).to_have_count(5)
    plot = page.locator("#confusion-matrix .main-svg").first.bounding_box()
    for name in columns.all():
        assert name.bounding_box()["y"] >= plot["y"]
        assert name.bounding_box()["x"] + name.bounding_box()["width"] <= plot["x"] + plot["width"]
    heading = page.locator("h2").bounding_box()
    assert 0 < heading["y"] - plot["y"] - plot["height"] < 40  # no gap below the heatmap
    for line in page.locator("ol li").all():
        assert line.bounding_box()["x"] + line.bounding_box()["width"] <= width
    told = _hovered(page, 1, 2)
    assert told == f"gold {names[0]}predicted {names[1]}count 1"


def test_print_is_light_and_fits_on_a_page(browser: Any, tmp_path: Path) -> None:
    names = [f"A_TYPE_WITH_A_LONG_NAME_{number}" for number in range(30)]
    cells: dict[tuple[str | None, str | None], int] = {(a, b): 7 for a in names for b in (a, None)}
    path = tmp_path / "matrix.html"
    path.write_text(confusion.page(cells, "Matrix", "Counted by iou."), encoding="utf-8")
    context = browser.new_context(offline=True, color_scheme="dark", viewport={"width": 1046, "height": 718})
    page = context.new_page()
    page.goto(path.as_uri())
    page.wait_for_selector("#confusion-matrix .heatmaplayer image")
    tick = "getComputedStyle(document.querySelector('#confusion-matrix .xtick text')).fill"
    page.wait_for_function(f"{tick} === 'rgb(232, 234, 237)'")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print", color_scheme="dark")
    page.wait_for_function(f"{tick} === 'rgb(28, 32, 36)'")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    for part in ("#confusion-matrix", "table"):
        box = page.locator(part).first.bounding_box()
        assert box["x"] + box["width"] <= 1046
        assert box["height"] <= 718
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", page.pdf(prefer_css_page_size=True))) <= 3
    context.close()
