"""The report in a browser without a network: what a person does with it."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

import spanscore as ss
from calls import run, write
from report_page import count, opened
from spanscore.generate import generate


def noisy(documents: list[dict[str, Any]], seed: int) -> list[dict[str, Any]]:
    """Predictions with every kind of error, each with a score."""
    rng = random.Random(seed)
    found = []
    for one in documents:
        spans = []
        for span in one["spans"]:
            chance = rng.random()
            start, end, label = span["start"], span["end"], span["label"]
            if chance < 0.2:
                continue
            if chance < 0.3:
                end = max(start + 1, end - 2)
            elif chance < 0.4:
                label = "PERSON" if label != "PERSON" else "LOCATION"
            elif chance < 0.5 and end - start > 3:
                middle = (start + end) // 2
                spans.append({"start": start, "end": middle - 1, "label": label, "score": 0.35})
                start = middle
            spans.append({"start": start, "end": end, "label": label, "score": round(rng.uniform(0.3, 1), 2)})
        if rng.random() < 0.4:
            spans.append({"start": 0, "end": min(4, len(one["text"])), "label": "URL", "score": 0.31})
        found.append({"id": one["id"], "spans": spans})
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two systems compared, with a report."""
    path = tmp_path_factory.mktemp("report")
    gold = []
    for number, one in enumerate(generate(60, seed=3)):
        spans = [{"start": span.start, "end": span.end, "label": span.label} for span in one.spans]
        gold.append({"id": one.id, "text": one.text, "spans": spans, "meta": {"ward": "ab"[number % 2]}})
    write(path / "gold.jsonl", gold)
    write(path / "one.jsonl", noisy(gold, 1))
    write(path / "two.jsonl", noisy(gold, 2))
    run(
        "compare",
        "gold.jsonl",
        "one=one.jsonl",
        "two=two.jsonl",
        "-m",
        "iou(threshold=0.6)",
        "-m",
        "exact",
        "-o",
        "out",
        cwd=path,
    )
    return path


def rows_of(folder: Path, system: str, measure: str) -> dict[str | None, dict[str, Any]]:
    said = json.loads((folder / "out" / "results.json").read_text())["results"]
    return {
        row["type"]: row for row in said if (row["system"], row["measure"]) == (system, measure) and "by" not in row
    }


def click_cell(page: Any, gold: str, taken: str) -> None:
    """Click a cell of the heatmap, once it tells what it is."""
    at = page.evaluate(
        """([gold, taken]) => {
            const plot = document.getElementById("heatmap"), layout = plot._fullLayout;
            plot.scrollIntoView({block: "center"});
            const x = layout.xaxis.ticktext.indexOf(taken), y = layout.yaxis.ticktext.indexOf(gold);
            const box = plot.getBoundingClientRect();
            return [box.x + layout.margin.l + layout.xaxis.d2p(x), box.y + layout.margin.t + layout.yaxis.d2p(y)];
        }""",
        [gold, taken],
    )
    page.mouse.move(0, 0)
    page.mouse.move(*at)
    expect(page.locator("#heatmap .hovertext")).to_contain_text(f"gold {gold}predicted {taken}")
    page.mouse.click(*at)


def test_a_cell_shows_exactly_its_examples(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html")
    page.wait_for_selector("#heatmap .heatmaplayer image")
    kinds = rows_of(folder, "one", "iou(threshold=0.6)")
    name = max((kind for kind in kinds if kind), key=lambda kind: kinds[kind]["counts"]["tp"])
    click_cell(page, name, name)
    expect(page).to_have_url(re.compile("g="))
    assert count(page) == kinds[name]["counts"]["tp"]
    told = page.locator(".example .top span:nth-child(2)").all_inner_texts()
    assert set(told) == {f"{name} → {name}"}
    result = ss.score(ss.read(folder / "gold.jsonl"), ss.read(folder / "one.jsonl"), "iou(threshold=0.6)")
    confusion = result["iou"].confusion
    missed = next(kind for kind, other in confusion if other is None)
    click_cell(page, str(missed), "(missed)")
    expect(page).to_have_url(re.compile("c=-1"))
    assert count(page) == confusion[missed, None]
    wrong = next((a, b) for a, b in confusion if a and b and a != b)
    click_cell(page, str(wrong[0]), str(wrong[1]))
    expect(page.locator("#count")).to_have_text(re.compile(f"^{confusion[wrong]} "))
    assert count(page) == confusion[wrong]


def test_rows_columns_and_the_table_of_the_matrix(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html")
    result = ss.score(ss.read(folder / "gold.jsonl"), ss.read(folder / "one.jsonl"), "iou(threshold=0.6)")
    confusion = result["iou"].confusion
    page.click("#matrix summary")
    page.click("#confusion tbody th button:text-is('PERSON')")
    assert count(page) == sum(number for (a, _), number in confusion.items() if a == "PERSON")
    page.click("#confusion thead th button:text-is('(missed)')")
    assert count(page) == sum(number for (_, b), number in confusion.items() if b is None)
    page.click("#confusion tbody th button:text-is('(spurious)')")
    assert count(page) == sum(number for (a, _), number in confusion.items() if a is None)
    page.locator("#heatmap .ytick text", has_text="PERSON").first.click()
    assert count(page) == sum(number for (a, _), number in confusion.items() if a == "PERSON")
    page.locator("#heatmap .xtick text", has_text="URL").first.click()
    assert count(page) == sum(number for (_, b), number in confusion.items() if b == "URL")
    shown = page.locator("#confusion tbody td button").all_inner_texts()
    assert sum(int(text.replace(",", "")) for text in shown) == sum(confusion.values())


def test_every_number_is_that_of_the_results(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html")
    for measure in range(2):
        page.select_option("#m", str(measure))
        for system in ("one", "two"):
            page.select_option("#s", "0" if system == "one" else "1")
            name = page.locator("#m option").all_inner_texts()[measure]
            wanted = rows_of(folder, system, name)
            for line in page.locator("#types tbody tr").all():
                kind = line.locator("th").inner_text()
                numbers = [text.split()[0] for text in line.locator("td").all_inner_texts()]
                score = wanted[kind]
                spelt = ["–" if score[n] is None else f"{score[n]:.3f}" for n in ("precision", "recall", "f")]
                assert numbers[:3] == spelt
                assert numbers[3:] == [str(number) for number in score["counts"].values()]


def test_filters(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html")
    everything = count(page)
    for option in page.locator("#v option").all():
        value, told = option.get_attribute("value"), option.inner_text()
        if "(" in told:
            page.select_option("#v", value)
            assert count(page) == int(told.split("(")[1].rstrip(")"))
            texts = page.locator(".example .verdict").all_inner_texts()
            assert {text[2:] for text in texts} == {value}
            page.select_option("#v", "errors")
    assert count(page) == everything
    page.focus("#smin")
    page.keyboard.type("0.9")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "smax"  # the focus goes on where a reader expects it
    high = count(page)
    assert 0 < high < everything
    page.click("#clear")
    page.fill("#lmax", "5")
    page.press("#lmax", "Enter")
    assert 0 < count(page) < everything
    page.click("#clear")
    document = json.loads((folder / "gold.jsonl").read_text().splitlines()[7])
    page.fill("#q", document["text"][3:25].upper())
    expect(page.locator("#count")).not_to_have_text(re.compile(f"^{everything} |Unpacking"))
    assert set(page.locator(".example .id").all_inner_texts()) == {document["id"]}
    page.click("#clear")
    page.select_option("#sl", "meta.ward=1")
    ids = {
        json.loads(line)["id"]: json.loads(line)["meta"]["ward"]
        for line in (folder / "gold.jsonl").read_text().splitlines()
    }
    assert {ids[name] for name in page.locator(".example .id").all_inner_texts()} == {"b"}


def test_keys_and_a_link_that_shows_the_same(page: Any, browser: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html", "#v=all")

    def selected() -> int:
        return int(page.get_attribute(".example[aria-current]", "aria-posinset"))

    assert selected() == 1
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert selected() == 2
    page.keyboard.press("n")
    assert page.inner_text(".example[aria-current] .verdict").startswith("✗")
    for _ in range(30):
        page.keyboard.press("j")
    box, frame = page.locator(".example[aria-current]").bounding_box(), page.locator("#list").bounding_box()
    assert frame["y"] - 1 <= box["y"] <= frame["y"] + frame["height"] - box["height"] + 1
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "q"
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#help")).to_be_hidden()
    page.keyboard.press("o")
    page.wait_for_selector("#dialog[open] .lanes")
    assert page.inner_text("#dialog-title") == page.inner_text(".example[aria-current] .id")
    page.keyboard.press("Escape")
    expect(page.locator("#dialog")).to_be_hidden()
    page.select_option("#theme", "dark")
    page.select_option("#s", "1")
    page.select_option("#v", "missed")
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
            assert cells[:3] == ["–" if at[n] is None else f"{at[n]:.3f}" for n in ("precision", "recall", "f")]


def test_counts_and_names_show_what_is_behind_them(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html", "#q=zzz&smin=0.99")
    rows = rows_of(folder, "one", "iou(threshold=0.6)")
    for kind in ("PERSON", "URL"):
        line = page.locator("#types tbody tr", has=page.locator(f"th:has-text('{kind}')")).first
        counts = rows[kind]["counts"]
        for name in ("tp", "fp", "fn"):
            number = counts[name]
            if number:
                place = list(counts).index(name) + 3
                line.locator("td").nth(place).locator("button").click()
                expect(page.locator("#count")).to_have_text(re.compile(f"^{number} "))
        line.locator("th button").click()
        expect(page.locator("#count")).to_have_text(re.compile(f"^{counts['fp'] + counts['fn']} "))


def test_the_focus_stays_and_the_slider_can_be_dragged(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html")
    page.focus("#sort-recall")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "sort-recall"
    assert page.get_attribute("#types th:nth-child(3)", "aria-sort") == "descending"
    page.focus("#m")
    page.select_option("#m", "1")
    assert page.evaluate("document.activeElement.id") == "m"
    page.select_option("#m", "0")
    page.locator("#slider").scroll_into_view_if_needed()
    box = page.locator("#slider").bounding_box()
    told = []
    page.mouse.move(box["x"] + 8, box["y"] + box["height"] / 2)
    page.mouse.down()
    for part in (0.2, 0.4, 0.6, 0.8):
        page.mouse.move(box["x"] + box["width"] * part, box["y"] + box["height"] / 2)
        told.append(page.inner_text("#threshold"))
    page.mouse.up()
    assert len(set(told)) == 4


def test_marks_do_not_move_the_list(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html", "#v=all")
    page.evaluate("document.getElementById('list').scrollTop = 2000")
    expect(page.locator(".example").nth(8)).to_be_visible()
    page.locator(".example button", has_text="gold is wrong").nth(8).click()
    assert page.evaluate("document.getElementById('list').scrollTop") == 2000
    assert page.locator("[data-mark][aria-pressed=true]").count() == 1
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


def test_a_missing_shard_is_told(page: Any, folder: Path, tmp_path: Path) -> None:
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
        assert int(button.inner_text().split()[0]) == counts[status]
        button.click()
        assert count(page) == counts[status]
    page.click("#systems summary")
    page.wait_for_selector("#disagreement")
    shown = [int(text.replace(",", "")) for text in page.locator("#disagreement tbody td button").all_text_contents()]
    assert sum(shown) == sum(counts[status] for status in ("broken", "fixed", "both wrong", "both right"))
    page.locator("#disagreement thead th button", has_text="PERSON").first.click()
    column = page.locator("#disagreement thead th").all_inner_texts().index("PERSON") + 1
    numbers = page.locator(f"#disagreement tbody td:nth-child({column + 1})").all_inner_texts()
    assert count(page) == sum(int(text) for text in numbers)
    page.click("#suspected")
    told = int(page.inner_text("#suspected").split()[1])
    assert count(page) == told > 0
    page.locator(".example button", has_text="gold is wrong").nth(0).click()
    page.locator(".example button", has_text="gold is wrong").nth(1).click()
    assert "w=" in page.url
    with page.expect_download() as download:
        page.click("#export")
    lines = [json.loads(line) for line in Path(download.value.path()).read_text().splitlines()]
    assert len(lines) == 2
    assert {"document", "start", "end", "gold", "taken_for", "verdict"} == set(lines[0])


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("state", ["", "&doc=1"], ids=["page", "document"])
def test_nothing_stands_in_the_way_of_assistive_technology(page: Any, folder: Path, theme: str, state: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    opened(page, folder / "out" / "report.html", f"#theme={theme}&v=all{state}")
    page.wait_for_selector("#heatmap .heatmaplayer image")
    for one in page.locator("details").all():
        one.evaluate("one => { one.open = true; }")
    found = Axe().run(page)
    grave = [
        (one["id"], one["nodes"][0]["html"][:200])
        for one in found.response["violations"]
        if one["impact"] in ("serious", "critical")
    ]
    assert grave == []


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
