"""How the report looks: assistive technology, narrow and dark screens, print, and pages without text."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

import spanscore as ss
from calls import run, write
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
    boxes = '["#numbers", "#examples"].map(one => document.querySelector(one).getBoundingClientRect())'
    page.wait_for_function(f"() => {{ const [numbers, examples] = {boxes}; return examples.top > numbers.bottom; }}")
    page.set_viewport_size({"width": 1400, "height": 800})
    page.wait_for_function(f"() => {{ const [numbers, examples] = {boxes}; return examples.left > numbers.right; }}")


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


@pytest.mark.parametrize("width", [320, 390, 700])
def test_the_verdict_on_annotators_can_be_chosen_on_a_narrow_screen(page: Any, tmp_path: Path, width: int) -> None:
    spans = [{"start": 0, "end": 11, "label": "CREDIT_CARD"}, {"start": 17, "end": 23, "label": "DATE_TIME"}]
    marked = [
        {**span, "attrs": {"annotator": who}} for who in ("ann", "bob", "chris") for span in spans[: 2 - (who == "ann")]
    ]
    text = "Card 4736 5 until Monday."
    write(tmp_path / "multi.jsonl", [{"id": "en_US-1", "text": text, "spans": marked}])
    run("agree", "multi.jsonl", "-m", "exact", "-o", "agree", cwd=tmp_path)
    page.set_viewport_size({"width": width, "height": 844})
    opened(page, tmp_path / "agree" / "report.html", "#v=all")
    verdicts = page.locator(".example .verdict")
    expect(verdicts).to_have_text(["✓ same", "✗ only the majority"])
    for row in page.locator(".example").all():
        head = row.locator(".top").bounding_box()
        for part in ("select", "button:text-is('open')", ".verdict", ".types"):
            box = row.locator(part).bounding_box()
            assert box["y"] + box["height"] <= head["y"] + head["height"]
            assert box["x"] + box["width"] <= head["x"] + head["width"]
        assert row.locator("select").bounding_box()["width"] > 100
        assert row.locator(".verdict").evaluate("one => one.scrollWidth <= one.clientWidth")
        row.locator("select").select_option("the majority is right")
    expect(page.locator("#export")).to_have_text("Export 2 verdicts")


def test_dark_as_the_system_asks(browser: Any, folder: Path) -> None:
    context = browser.new_context(offline=True, color_scheme="dark")
    page = opened(context.new_page(), folder / "out" / "report.html")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.select_option("#theme", "light")
    expect(page.locator("body")).not_to_have_css("background-color", dark)
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
        expect(page.locator(".example .lanes")).to_have_count(0)


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
    expect(page.locator("main details:not(.more, [open])")).to_have_count(0)
    expect(page.locator("#types caption .screen")).to_be_hidden()
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.wait_for_function(
        "([inside, before]) => String([...document.querySelectorAll(inside)].map(one => one.open)) === String(before)",
        arg=[inside, before],
    )


def test_print_says_how_many_examples_it_leaves_out(page: Any, tmp_path: Path) -> None:
    documents = [{"id": f"d{i}", "text": "Ann", "spans": [{"start": 0, "end": 3, "label": "A"}]} for i in range(250)]
    empty = [{"id": one["id"], "spans": []} for one in documents]
    gold, pred = map(ss.Corpus.from_documents, (documents, empty))
    write_report(ss.score(gold, pred, "exact"), tmp_path / "r.html")
    opened(page, tmp_path / "r.html")
    expect(page.locator("#printed")).to_be_hidden()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    expect(page.locator("#printed")).to_have_text("The first 200 of 250 examples are printed.")
    expect(page.locator(".example")).to_have_count(200)


def test_print_shows_the_examples(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html")
    total = min(count(page), 200)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    expect(page.locator("#controls")).to_be_hidden()
    expect(page.locator(".example")).to_have_count(total)
    expect(page.locator("#confusion")).to_be_visible()
    height = page.evaluate("document.documentElement.scrollHeight")
    assert height < 200 * total + 12_000
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.wait_for_function("document.querySelectorAll('.example').length < 40")
    assert len(page.pdf()) > 20_000


def many_documents(path: Path, *, folder: bool = False) -> None:
    """A report of three shards, in which every third document has an error: 200 errors in all of them."""
    documents = [
        {"id": f"d{i}", "text": f"Ann met number {i}.", "spans": [{"start": 0, "end": 3, "label": "A"}]}
        for i in range(600)
    ]
    pred = [{"id": one["id"], "spans": one["spans"] if i % 3 else []} for i, one in enumerate(documents)]
    gold, found = map(ss.Corpus.from_documents, (documents, pred))
    write_report(ss.score(gold, found, "exact"), path, folder=folder)


def printed(page: Any) -> list[tuple[str, int]]:
    """Print the page once it is printable, and return the text and the number of lanes of each example on paper."""
    page.wait_for_selector("html[data-printable]")
    page.evaluate(
        """() => addEventListener("beforeprint", () => {
            globalThis.onPaper = [...document.querySelectorAll(".example")].map(one =>
                [one.querySelector(".lanes")?.firstChild.data ?? one.querySelector(".room").textContent, one.querySelectorAll(".lane").length]);
        }, {once: true})"""
    )
    page.pdf()
    return [(text, lanes) for text, lanes in page.evaluate("onPaper")]


@pytest.mark.parametrize("folder_", [False, True], ids=["page", "folder"])
def test_print_has_the_text_of_every_printed_example(page: Any, tmp_path: Path, folder_: bool) -> None:
    """Printing does not wait for data that is not unpacked, so that the page unpacks it before."""
    target = tmp_path / "r" if folder_ else tmp_path / "r.html"
    many_documents(target, folder=folder_)
    opened(page, target / "index.html" if folder_ else target)
    assert printed(page) == [(f"Ann met number {i}.", 1) for i in range(0, 600, 3)]
    page.click("#verdict-correct")
    right = [i for i in range(600) if i % 3]
    assert printed(page) == [(f"Ann met number {i}.", 2) for i in right[:200]]
    page.fill("#q", "number 59")
    expect(page.locator("#count")).to_have_text(re.compile("^8 examples"))
    assert printed(page) == [(f"Ann met number {i}.", 2) for i in (59, 590, 592, 593, 595, 596, 598, 599)]


def test_print_says_which_text_it_cannot_show(page: Any, tmp_path: Path) -> None:
    many_documents(tmp_path / "r", folder=True)
    (tmp_path / "r" / "shard-1.js").unlink()
    fresh = opened(page.context.new_page(), tmp_path / "r" / "index.html")
    shown = [text for text, _ in printed(fresh)]
    missing = "Cannot show the document: shard-1.js is missing from the report folder."
    assert shown == [missing if 250 <= i < 500 else f"Ann met number {i}." for i in range(0, 600, 3)]


def test_intervals_stay_in_their_tiles_on_paper(page: Any, leaking: Path) -> None:
    page.set_viewport_size({"width": 703, "height": 1000})  # A4 without its margins
    opened(page, leaking / "out" / "report.html")
    page.emulate_media(media="print")
    for tile in page.locator(".tile").all():
        box = tile.bounding_box()
        for part in tile.locator(".interval .unbroken").all():
            inside = part.bounding_box()
            assert inside["x"] + inside["width"] <= box["x"] + box["width"] - 8, tile.inner_text()


@pytest.mark.parametrize("paper", [False, True], ids=["screen", "paper"])
def test_what_explains_the_thresholds_is_not_as_narrow_as_their_table(page: Any, leaking: Path, paper: bool) -> None:
    opened(page, leaking / "out" / "report.html")
    if paper:
        page.set_viewport_size({"width": 703, "height": 1000})
        page.emulate_media(media="print")
    note, table, curve = (page.locator(one).bounding_box() for one in ("#at-note", "#at-threshold", "#curve-plot"))
    assert table["width"] < 300 < note["width"]
    assert note["height"] < 50  # at most two lines
    assert curve["x"] > table["x"] + table["width"]  # beside each other
    assert abs(curve["y"] - table["y"]) < 20


@pytest.mark.parametrize("width", [360, 375, 390, 400])
def test_the_matrix_of_what_stays_readable_fits_on_a_narrow_screen(page: Any, leaking: Path, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    opened(page, leaking / "out" / "report.html", "#z=all")
    heads = page.locator("#confusion thead th button")
    assert heads.all_inner_texts() == ["exposed", "partly hidden", "hidden"]
    for head in heads.all():
        words = len(head.inner_text().split())
        assert head.bounding_box()["height"] < 24 * words  # a line for each word at most
    caption = page.locator("#confusion caption").bounding_box()
    assert caption["x"] + caption["width"] <= width
    assert page.eval_on_selector("#confusion", "one => one.parentElement.scrollWidth <= one.parentElement.clientWidth")


def test_the_sums_of_columns_stand_under_their_cells(page: Any, leaking: Path) -> None:
    opened(page, leaking / "out" / "report.html")
    for place in (0, 2):
        cells = page.locator(f"#confusion tbody td:nth-child({place + 2})")
        head = page.locator(f"#confusion thead th:nth-child({place + 2}) span").first
        middles = [
            one.evaluate(
                """one => {
                    const range = document.createRange();
                    range.selectNodeContents(one);
                    const box = range.getBoundingClientRect();
                    return box.x + box.width / 2;
                }"""
            )
            for one in (head, cells.first, cells.last)
        ]
        assert max(middles) - min(middles) < 2
        expect(cells.last).to_have_class("sum")


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
