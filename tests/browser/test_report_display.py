"""How the report looks: assistive technology, narrow and dark screens, print, and pages without text."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import spanscore as ss
from calls import run
from report_page import count, opened
from spanscore.report.page_report import write_report


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("state", ["", "&doc=1"], ids=["page", "document"])
def test_nothing_stands_in_the_way_of_assistive_technology(page: Any, folder: Path, theme: str, state: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    opened(page, folder / "out" / "report.html", f"#theme={theme}&v=all{state}")
    for one in page.locator("details").all():
        one.evaluate("one => { one.open = true; }")
    found = Axe().run(page)
    grave = [
        (one["id"], one["nodes"][0]["html"][:200])
        for one in found.response["violations"]
        if one["impact"] in ("serious", "critical")
    ]
    assert grave == []


def test_a_narrow_screen_has_one_column_and_no_page_wider_than_it(page: Any, folder: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    opened(page, folder / "out" / "report.html", "#ci=1&cn=1&z=all")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    numbers, examples = page.locator("#numbers").bounding_box(), page.locator("#examples").bounding_box()
    assert examples["y"] > numbers["y"] + numbers["height"]
    page.set_viewport_size({"width": 1400, "height": 800})
    numbers, examples = page.locator("#numbers").bounding_box(), page.locator("#examples").bounding_box()
    assert examples["x"] > numbers["x"] + numbers["width"]


def test_the_head_of_an_example_fits_on_a_narrow_screen(page: Any, folder: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    opened(page, folder / "out" / "report.html", "#v=all")
    row = page.locator(".example").first
    edge = row.bounding_box()["x"] + row.bounding_box()["width"]
    for part in (".verdict", ".types", ".id", "button:text-is('open')", "button:text-is('gold is wrong')"):
        box = row.locator(part).bounding_box()
        assert box["width"] > 20
        assert box["x"] + box["width"] <= edge
    types = row.locator(".types")
    assert types.evaluate("one => one.scrollWidth <= one.clientWidth")
    assert types.bounding_box()["y"] < row.locator(".id").bounding_box()["y"]


def test_dark_as_the_system_asks(browser: Any, folder: Path) -> None:
    context = browser.new_context(offline=True, color_scheme="dark")
    page = opened(context.new_page(), folder / "out" / "report.html")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.select_option("#theme", "light")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != dark
    context.close()


@pytest.mark.parametrize("how", ["hide", "mask"])
def test_no_text_leaves_the_page_without_it(page: Any, folder: Path, tmp_path: Path, how: str) -> None:
    option = {"hide": "--no-text", "mask": "--mask"}[how]
    run("report", "out", option, "-o", str(tmp_path / "r.html"), cwd=folder)
    opened(page, tmp_path / "r.html", "#v=all")
    unpacked = page.evaluate(
        """async () => {
            const all = [];
            for (const one of document.querySelectorAll("script[id^=shard]")) {
                const bytes = Uint8Array.from(atob(one.textContent), c => c.charCodeAt(0));
                all.push(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text());
            }
            return all.join("");
        }"""
    )
    shown = page.content()
    for line in (folder / "gold.jsonl").read_text().splitlines():
        one = json.loads(line)
        assert one["text"][:15] not in unpacked
        assert len(one["text"]) < 30 or one["text"] not in shown
    if how == "mask":
        assert re.search(r"X[Xx,. 9]+", page.locator(".example .lanes").first.inner_text())
    else:
        assert page.locator(".example .lanes").count() == 0


@pytest.mark.parametrize(("scheme", "state"), [("dark", ""), ("light", "#theme=dark")])
def test_print_is_light(browser: Any, folder: Path, scheme: str, state: str) -> None:
    context = browser.new_context(offline=True, color_scheme=scheme)
    page = opened(context.new_page(), folder / "out" / "report.html", state)
    tokens = """() => {
        const style = getComputedStyle(document.documentElement);
        return ["ink", "soft", "paper", "line", "accent", "missed", "right-fill"].map((name) => style.getPropertyValue(`--${name}`));
    }"""
    dark = page.evaluate(tokens)
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
    page.emulate_media(media="print", color_scheme=scheme)
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"
    light = page.evaluate(tokens)
    assert not set(light) & set(dark)
    assert light[:3] == ["#1c2024", "#565c64", "#ffffff"]
    context.close()


def test_print_restores_what_was_open(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html")
    page.click("#systems summary")
    page.wait_for_selector("#disagreement")
    inside = "main details:not(.more), #about details"
    before = page.eval_on_selector_all(inside, "all => all.map(one => one.open)")
    assert set(before) == {True, False}
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("main details:not(.more, [open])").count() == 0
    assert page.locator("#types caption .screen").is_hidden()
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.eval_on_selector_all(inside, "all => all.map(one => one.open)") == before


def test_print_says_how_many_examples_it_leaves_out(page: Any, tmp_path: Path) -> None:
    documents = [{"id": f"d{i}", "text": "Ann", "spans": [{"start": 0, "end": 3, "label": "A"}]} for i in range(250)]
    empty = [{"id": one["id"], "spans": []} for one in documents]
    gold, pred = map(ss.Corpus.from_documents, (documents, empty))
    write_report(ss.score(gold, pred, "exact"), tmp_path / "r.html")
    opened(page, tmp_path / "r.html")
    assert page.locator("#printed").is_hidden()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.inner_text("#printed") == "The first 200 of 250 examples are printed."
    assert page.locator(".example").count() == 200


def test_print_shows_the_examples(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html")
    total = min(count(page), 200)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("#controls").is_hidden()
    assert page.locator(".example").count() == total
    assert page.locator("#confusion").is_visible()
    height = page.evaluate("document.documentElement.scrollHeight")
    assert height < 200 * total + 12_000
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(".example").count() < 40
    assert len(page.pdf()) > 20_000


@pytest.mark.parametrize(
    "name", ["a", "g", "c", "ty", "at", "m", "s", "l", "vs", "st", "sl", "ct", "t", "doc", "v", "o", "fs", "z", "sort"]
)
def test_an_address_that_names_what_is_not_there_opens_the_page(page: Any, folder: Path, name: str) -> None:
    """The page itself fails the test if any script throws."""
    page.goto((folder / "out" / "report.html").as_uri() + f"#{name}=9999")
    page.wait_for_selector("html[data-ready]")


@pytest.mark.parametrize("state", ["#ci=1", "#ci=1&m=1", ""])
def test_the_table_fits_on_common_screens(page: Any, leaking: Path, state: str) -> None:
    for width in (1000, 1090, 1180, 1280, 1440, 1600, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        opened(page, leaking / "out" / "report.html", state)
        page.reload()
        page.wait_for_selector("#types")
        assert page.eval_on_selector("#types", "one => one.parentElement.scrollWidth <= one.parentElement.clientWidth")


def test_the_matrix_fits_on_paper_and_is_not_torn(page: Any, leaking: Path) -> None:
    page.set_viewport_size({"width": 703, "height": 1000})  # A4 without its margins
    opened(page, leaking / "out" / "report.html", "#z=all&m=1")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    box = page.locator("#confusion").bounding_box()
    assert box["x"] + box["width"] <= 703
    assert box["height"] < 1000
    assert page.eval_on_selector("#confusion", "one => getComputedStyle(one).breakInside") == "avoid"
    assert page.eval_on_selector_all(".lanes.line", "all => all.every(one => one.scrollWidth <= one.clientWidth + 1)")
