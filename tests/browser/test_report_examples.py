"""The examples of the report in a browser: selecting, filtering, browsing, marking and linking."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

import spanscore as ss
from calls import run
from report_page import count, opened, rows_of
from spanscore.report.page_report import write_report


def test_another_system_drops_filters_that_hold_for_one(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html")
    everything = count(page)
    page.locator("#frequent li button").nth(1).click()
    expect(page.locator("#off-fs")).to_be_visible()
    page.select_option("#s", "1")
    expect(page.locator("#off-fs")).to_have_count(0)
    expect(page).not_to_have_url(re.compile("fs="))
    page.click("#system-0")
    expect(page.locator("#count")).to_have_text(re.compile(f"^{everything} "))
    page.locator("#frequent li button").nth(1).click()
    page.click("#system-1")
    expect(page).not_to_have_url(re.compile("fs="))
    page.click("#system-0")
    page.locator("#frequent li button").nth(1).click()
    page.select_option("#m", "1")
    expect(page).not_to_have_url(re.compile("fs="))


def test_back_undoes_a_selection_but_no_mark(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html")
    everything = count(page)
    page.click("#verdict-missed")
    page.wait_for_selector("html[data-printable]")  # the list is drawn
    missed = count(page)
    page.keyboard.press("j")
    page.locator(".example button", has_text="gold is wrong").first.click()
    page.select_option("#m", "1")
    page.wait_for_selector("html[data-printable]")  # the list is drawn
    other = count(page)
    page.keyboard.press("o")
    expect(page.locator("#dialog")).to_be_visible()
    page.go_back()
    expect(page.locator("#dialog")).to_be_hidden()
    expect(page.locator("#m")).to_have_value("1")
    page.go_back()
    expect(page.locator("#m")).to_have_value("0")
    expect(page.locator("#count")).to_have_text(re.compile(f"^{missed} "))
    expect(page.locator("#verdict-missed")).to_have_attribute("aria-pressed", "true")
    page.go_back()
    expect(page.locator("#count")).to_have_text(re.compile(f"^{everything} "))
    expect(page.locator("#export")).to_have_text("Export 1 marked gold error")
    page.go_forward()
    page.go_forward()
    expect(page.locator("#m")).to_have_value("1")
    expect(page.locator("#count")).to_have_text(re.compile(f"^{other} "))
    page.click("#verdict-missed")
    page.click("#clear")
    expect(page.locator("#count")).to_have_text(re.compile(f"^{other} "))
    page.go_back()
    expect(page.locator("#verdict-missed")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#m")).to_have_value("1")


def test_a_type_without_errors_says_so_and_shows_its_examples(page: Any, tmp_path: Path) -> None:
    spans = [{"start": 0, "end": 3, "label": "A"}, {"start": 4, "end": 7, "label": "B"}]
    documents = [{"id": f"d{i}", "text": "Ann Bob", "spans": spans} for i in range(6)]
    extra = [{"start": 4, "end": 7, "label": "C"}]
    pred = [{"id": one["id"], "spans": [spans[0], *extra]} for one in documents]
    result = ss.score(ss.Corpus.from_documents(documents), ss.Corpus.from_documents(pred), "exact")
    write_report(result, tmp_path / "r.html")
    opened(page, tmp_path / "r.html")
    page.click("#types th button:text-is('A')")
    expect(page.locator("#list")).to_contain_text("No errors: all 6 are right.")
    chips = {chip.get_attribute("data-verdict"): chip.locator("b") for chip in page.locator("#verdicts button").all()}
    assert {name: int(chip.inner_text()) for name, chip in chips.items()} == {
        "errors": 0,
        "correct": 6,
        "wrong type": 0,
        "all": 6,
    }
    page.click("#show-right")
    expect(page.locator("#count")).to_have_text(re.compile("^6 "))
    page.click("#clear")
    expect(chips["errors"]).to_have_text("6")
    nothing = page.locator("#types tbody tr", has=page.locator("th:has-text('C')")).last
    expect(nothing.locator("[data-column=missed]")).to_have_text("0 of 0")
    expect(nothing.locator(".bar")).to_have_count(0)


def test_frequent_errors_and_the_order_of_examples(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html")
    listed = page.locator("#frequent li button").all_inner_texts()
    assert listed
    first = page.locator("#frequent li button").first
    times = int(first.locator("b").inner_text().rstrip("×"))
    string = first.locator("q").inner_text().strip('“”"')
    first.click()
    expect(page.locator("#off-fs")).to_be_visible()
    assert times > 1
    expect(page.locator("#count")).to_have_text(re.compile(f"^{times} "))
    page.wait_for_selector("html[data-printable]")  # the list is drawn
    for text in page.locator(".example .lanes").all_inner_texts():
        assert string.lower() in text.lower()
    page.click("#off-fs")

    def numbers(what: str) -> list[float]:
        page.wait_for_selector("html[data-printable]")  # the list is drawn
        rows = page.locator(".example").all()
        rows.sort(key=lambda row: int(row.get_attribute("aria-posinset")))
        texts = [row.inner_text() for row in rows]
        return [float(found[1]) for found in (re.search(what, text) for text in texts) if found]

    for order, what in (("score", r"score ([\d.]+)"), ("iou", r"IoU ([\d.]+\d)"), ("frequency", r"(\d+)×")):
        page.select_option("#o", order)
        values = numbers(what)
        assert values == sorted(values, reverse=order == "frequency")
        if order != "frequency":
            page.select_option("#o", f"-{order}")
            values = numbers(what)
            assert len(values) > 3
            assert values == sorted(values, reverse=True)
    page.select_option("#o", "-length")
    page.wait_for_selector(".example[aria-posinset='1'] .lane.gold.focus")
    page.wait_for_selector("html[data-printable]")  # the list is drawn
    widths = [
        page.locator(f".example[aria-posinset='{n}'] .lane.focus").first.evaluate("one => one.offsetWidth")
        for n in (1, 5)
    ]
    assert widths[0] >= widths[1]


def test_a_click_on_any_part_of_a_frequent_string_selects_it(page: Any, folder: Path) -> None:
    """Its quotation marks, too, which the style sheet adds."""
    opened(page, folder / "out" / "report.html")
    shortest = min(page.locator("#frequent ol:visible q").all(), key=lambda one: len(one.inner_text()))
    shortest.scroll_into_view_if_needed()
    box = shortest.bounding_box()
    for part in (0.02, 0.98):
        page.mouse.click(box["x"] + part * box["width"], box["y"] + box["height"] / 2)
        expect(page.locator("#off-fs")).to_be_visible()
        page.click("#off-fs")
        expect(page.locator("#off-fs")).to_have_count(0)


def test_a_boundary_error_is_one_example_with_both_sides(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html", "#v=too+short&m=1")
    result = ss.score(ss.read(folder / "gold.jsonl"), ss.read(folder / "one.jsonl"), "exact")
    short = [error for error in result.errors("exact") if error.verdict == "too short"]
    examples = sum(error.side == "gold" for error in short)
    assert examples > 0
    expect(page.locator("#count")).to_have_text(re.compile(f"^{examples} "))
    types = page.locator(".example .types").all_inner_texts()
    assert all(gold == taken for gold, taken in (text.split(" → ") for text in types))
    page.wait_for_selector(".example[aria-posinset='1'] .lane.gold.focus")
    expect(page.locator(".example[aria-posinset='1'] .lane.system.focus")).to_have_count(1)


def test_filters(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html")
    everything = count(page)
    chips = page.locator("#verdicts button").all()
    assert len(chips) > 5
    for chip in chips:
        value = chip.get_attribute("data-verdict")
        chip.click()
        expect(chip).to_have_attribute("aria-pressed", "true")
        page.wait_for_selector("html[data-printable]")  # the list is drawn
        expect(page.locator("#count")).to_have_text(re.compile(f"^{chip.locator('b').inner_text()} "))
        texts = page.locator(".example .verdict").all_inner_texts()
        if value not in ("errors", "all"):
            assert {text[2:] for text in texts} == {value}
    page.click("#verdict-errors")
    expect(page.locator("#count")).to_have_text(re.compile(f"^{everything:,} "))
    page.click("#more summary")
    page.focus("#smin")
    page.keyboard.type("0.9")
    page.keyboard.press("Tab")
    expect(page.locator("#smax")).to_be_focused()  # the focus goes on where a reader expects it
    page.wait_for_selector("html[data-printable]")  # the list is drawn
    high = count(page)
    assert 0 < high < everything
    page.click("#clear")
    page.fill("#lmax", "5")
    page.press("#lmax", "Enter")
    page.wait_for_selector("html[data-printable]")  # the list is drawn
    assert 0 < count(page) < everything
    page.click("#clear")
    document = json.loads((folder / "gold.jsonl").read_text().splitlines()[7])
    page.fill("#q", document["text"][3:25].upper())
    expect(page.locator("#count")).not_to_have_text(re.compile(f"^{everything} |Unpacking"))
    assert set(page.locator(".example .id").all_inner_texts()) == {document["id"]}
    page.click("#clear")
    expect(page.locator("#more summary")).to_have_text("More filters")
    page.select_option("#sl", "meta.ward=1")
    expect(page.locator("#more summary")).to_have_text("More filters (1 active)")
    page.wait_for_selector("html[data-printable]")  # the list is drawn
    ids = {
        json.loads(line)["id"]: json.loads(line)["meta"]["ward"]
        for line in (folder / "gold.jsonl").read_text().splitlines()
    }
    assert {ids[name] for name in page.locator(".example .id").all_inner_texts()} == {"b"}


def test_keys_and_a_link_that_shows_the_same(page: Any, browser: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html", "#v=all")

    selected = page.locator(".example[aria-current]")
    expect(selected).to_have_attribute("aria-posinset", "1")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    expect(selected).to_have_attribute("aria-posinset", "2")
    page.keyboard.press("n")
    expect(selected.locator(".verdict")).to_contain_text("✗")
    for _ in range(30):
        page.keyboard.press("j")
    page.wait_for_function(
        """() => {
            const [box, frame] = [".example[aria-current]", "#list"].map(one => document.querySelector(one).getBoundingClientRect());
            return frame.top - 1 <= box.top && box.bottom <= frame.bottom + 1;
        }"""
    )
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#help")).to_be_hidden()
    page.keyboard.press("o")
    page.wait_for_selector("#dialog[open] .lanes")
    expect(page.locator("#dialog-title")).to_have_text(page.inner_text(".example[aria-current] .id"))
    page.keyboard.press("Escape")
    expect(page.locator("#dialog")).to_be_hidden()
    page.select_option("#theme", "dark")
    page.select_option("#s", "1")
    page.click("#verdict-missed")
    page.keyboard.press("j")
    address, told = page.url, page.inner_text("#count")
    other = browser.new_context(offline=True).new_page()
    other.goto(address)
    other.wait_for_selector(".example[aria-current]")
    assert other.inner_text("#count") == told
    assert other.input_value("#s") == "1"
    assert other.get_attribute("html", "data-theme") == "dark"
    assert other.get_attribute(".example[aria-current]", "aria-posinset") == page.get_attribute(
        ".example[aria-current]", "aria-posinset"
    )
    other.context.close()


def test_the_slider_shows_what_the_command_line_prints(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html")
    for place in (3, 20, 41):
        page.evaluate(
            """place => { const slider = document.getElementById("slider"); slider.value = place;
                          slider.dispatchEvent(new Event("input", {bubbles: true})); }""",
            place,
        )
        threshold = page.inner_text("#threshold").split()[-1]
        sweep = ("sweep", "gold.jsonl", "one=one.jsonl", "-m", "iou(threshold=0.6)", "--at", threshold, "--json", "-")
        said = json.loads(run(*sweep, cwd=folder)[0])
        wanted = {curve["type"] or "all types": curve for curve in said["curves"]}
        for line in page.locator("#at-threshold tbody tr").all():
            cells = line.locator("td").all_inner_texts()
            at = wanted[line.locator("th").inner_text()]["at"][0]
            assert cells[:3] == ["–" if at[n] is None else f"{at[n]:.3f}" for n in ("recall", "precision", "f")]


def test_counts_and_names_show_what_is_behind_them(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html", "#q=zzz&smin=0.99")
    rows = rows_of(folder, "one", "iou(threshold=0.6)")
    for kind in ("PERSON", "URL"):
        line = page.locator("#types tbody tr", has=page.locator(f"th:has-text('{kind}')")).first
        counts = rows[kind]["counts"]
        for name, column in (("fp", "wrong"), ("fn", "missed")):
            number = counts[name]
            if number:
                line.locator(f"[data-column={column}] button").click()
                expect(page.locator("#count")).to_have_text(re.compile(f"^{number} "))
        line.locator("th button").click()
        expect(page).to_have_url(re.compile("ty="))
        # what is on both sides of a boundary error counts twice in the scores, and is one example
        page.wait_for_selector("html[data-printable]")  # the list is drawn
        both = page.locator(".example .types").all_inner_texts().count(f"{kind} → {kind}")
        expect(page.locator("#count")).to_have_text(re.compile(f"^{counts['fp'] + counts['fn'] - both:,} "))
        expect(line).to_have_class("selected")


def test_the_focus_stays_and_the_slider_can_be_dragged(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html")
    page.focus("#sort-recall")
    page.keyboard.press("Enter")
    expect(page.locator("#sort-recall")).to_be_focused()
    expect(page.locator("#types th:has(#sort-recall)")).to_have_attribute("aria-sort", "descending")
    page.focus("#m")
    page.select_option("#m", "1")
    expect(page.locator("#m")).to_be_focused()
    page.select_option("#m", "0")
    page.locator("#slider").scroll_into_view_if_needed()
    box = page.locator("#slider").bounding_box()
    told = [page.inner_text("#threshold")]
    page.mouse.move(box["x"] + 8, box["y"] + box["height"] / 2)
    page.mouse.down()
    for part in (0.2, 0.4, 0.6, 0.8):
        page.mouse.move(box["x"] + box["width"] * part, box["y"] + box["height"] / 2)
        expect(page.locator("#threshold")).not_to_have_text(told[-1])
        told.append(page.inner_text("#threshold"))
    page.mouse.up()
    assert len(set(told)) == 5


def scrolled(page: Any) -> float:
    """How far the list is scrolled once that has not changed for five frames."""
    found: float = page.evaluate(
        """async () => {
            const list = document.getElementById("list");
            for (let same = 0, last = list.scrollTop; same < 5; same++) {
                await new Promise(requestAnimationFrame);
                if (list.scrollTop !== last) same = -1;
                last = list.scrollTop;
            }
            return list.scrollTop;
        }"""
    )
    return found


def test_marks_do_not_move_the_list(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html", "#v=all")
    page.evaluate("document.getElementById('list').scrollTop = 2000")
    mark = page.locator(".example[aria-posinset='20'] button", has_text="gold is wrong")  # drawn once the list moved
    mark.scroll_into_view_if_needed()
    before = scrolled(page)
    mark.click()
    expect(mark).to_have_attribute("aria-pressed", "true")
    assert scrolled(page) == before > 1000
    expect(page.locator("[data-mark][aria-pressed=true]")).to_have_count(1)
    expect(page.locator("#export")).to_have_text("Export 1 marked gold error")


def test_a_document_opens_again_after_help(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html")
    for _ in range(2):
        page.keyboard.press("o")
        expect(page.locator("#dialog")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator("#dialog")).to_be_hidden()
        page.keyboard.press("?")
        expect(page.locator("#help")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator("#help")).to_be_hidden()


def test_a_missing_shard_is_reported(page: Any, folder: Path, tmp_path: Path) -> None:
    run("report", "out", "--folder", "-o", str(tmp_path / "r"), cwd=folder)
    (tmp_path / "r" / "shard-0.js").unlink()
    fresh = page.context.new_page()
    fresh.goto((tmp_path / "r" / "index.html").as_uri())
    expect(fresh.locator(".example").first).to_contain_text("shard-0.js is missing from the report folder")
    fresh.fill("#q", "x")
    expect(fresh.locator("#count")).to_contain_text("shard-0.js is missing from the report folder")


def test_two_systems(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html")
    said = json.loads((folder / "out" / "comparison.json").read_text())["diff"]
    counts = next(row for row in said if row["measure"] == "iou(threshold=0.6)" and row["by"] is None)
    for status in ("broken", "fixed", "both wrong", "both right"):
        button = page.locator("#status button", has_text=status)
        expect(button).to_have_text(f"{counts[status]:,} {status}")
        button.click()
        expect(page.locator("#count")).to_have_text(re.compile(f"^{counts[status]:,} "))
    by_type = {row["slice"]: row for row in said if row["measure"] == "iou(threshold=0.6)" and row["by"] == "type"}
    for line in page.locator("#changed tbody tr").all():
        row = by_type[line.locator("th").inner_text()]
        shown = line.locator("td").all_inner_texts()
        assert list(map(int, shown[:4])) == [row[one] for one in ("broken", "fixed", "both wrong", "both right")]
    page.click("#systems summary")
    page.wait_for_selector("#disagreement")
    page.select_option("#z", "all")
    shown = [int(text.replace(",", "")) for text in page.locator("#disagreement tbody td button").all_text_contents()]
    assert sum(shown) == sum(counts[status] for status in ("broken", "fixed", "both wrong", "both right"))
    page.locator("#disagreement thead th button", has_text="PERSON").first.click()
    column = page.locator("#disagreement thead th").all_inner_texts().index("PERSON") + 1
    numbers = page.locator(f"#disagreement tbody td:nth-child({column + 1})").all_inner_texts()
    number = sum(int(text) for text in numbers[:-1] if text != "·")
    expect(page.locator("#count")).to_have_text(re.compile(f"^{number} "))
    page.click("#suspected")
    expect(page.locator("#suspected")).to_have_attribute("aria-pressed", "true")
    told = int(page.inner_text("#suspected").split()[1])
    assert told > 0
    expect(page.locator("#count")).to_have_text(re.compile(f"^{told} "))
    page.locator(".example button", has_text="gold is wrong").nth(0).click()
    page.locator(".example button", has_text="gold is wrong").nth(1).click()
    expect(page).to_have_url(re.compile("w="))
    page.click("#more summary")
    with page.expect_download() as download:
        page.click("#export")
    lines = [json.loads(line) for line in Path(download.value.path()).read_text().splitlines()]
    assert len(lines) == 2
    assert {"document", "start", "end", "gold", "predicted", "verdict"} == set(lines[0])
