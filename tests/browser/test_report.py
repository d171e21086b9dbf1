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
from spanscore.report.page_report import write_report


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
        row["type"]: row
        for row in said
        if (row["system"], row["measure"]) == (system, measure) and not {"by", "average"} & set(row)
    }


def click_cell(page: Any, gold: str, taken: str) -> None:
    """Click a cell of the matrix."""
    page.locator(f'#confusion td button[aria-label^="gold {gold}, predicted {taken}: "]').click()


def test_a_cell_shows_exactly_its_examples(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html", "#z=all")
    kinds = rows_of(folder, "one", "iou(threshold=0.6)")
    name = max((kind for kind in kinds if kind), key=lambda kind: kinds[kind]["counts"]["tp"])
    click_cell(page, name, name)
    expect(page).to_have_url(re.compile("g="))
    assert count(page) == kinds[name]["counts"]["tp"]
    told = page.locator(".example .types").all_inner_texts()
    assert set(told) == {f"{name} → {name}"}
    result = ss.score(ss.read(folder / "gold.jsonl"), ss.read(folder / "one.jsonl"), "iou(threshold=0.6)")
    confusion = result["iou"].confusion
    for gold, taken in confusion:
        click_cell(page, gold or "(spurious)", taken or "(missed)")
        expect(page.locator("#count")).to_have_text(re.compile(f"^{confusion[gold, taken]} "))
        assert page.locator("#confusion button[aria-pressed=true]").count() == 1


def test_a_cell_selects_examples_without_scrolling_on_a_wide_screen(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html")
    page.locator("#matrix").evaluate("one => one.scrollIntoView()")
    before = page.evaluate("scrollY")
    click_cell(page, "PERSON", "(missed)")
    assert page.evaluate("scrollY") == before > 0
    expect(page.locator(".example .verdict").first).to_be_in_viewport()
    page.set_viewport_size({"width": 600, "height": 800})
    click_cell(page, "PERSON", "PERSON")
    expect(page.locator("#examples-title")).to_be_in_viewport()


def test_rows_columns_and_sums_of_the_matrix(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html", "#z=all")
    result = ss.score(ss.read(folder / "gold.jsonl"), ss.read(folder / "one.jsonl"), "iou(threshold=0.6)")
    confusion = result["iou"].confusion
    rows = page.locator("#confusion tbody th").all_inner_texts()
    columns = page.locator("#confusion thead th").all_inner_texts()
    assert (rows[0], columns[0]) == ("(spurious)", "(missed)")
    assert rows[1:] == columns[1:]
    page.click("#confusion tbody th button:text-is('PERSON')")
    assert count(page) == sum(number for (a, _), number in confusion.items() if a == "PERSON")
    page.click("#confusion thead th button:text-is('(missed)')")
    assert count(page) == sum(number for (_, b), number in confusion.items() if b is None)
    page.click("#confusion tbody th button:text-is('(spurious)')")
    assert count(page) == sum(number for (a, _), number in confusion.items() if a is None)
    page.click("#confusion thead th button:text-is('URL')")
    assert count(page) == sum(number for (_, b), number in confusion.items() if b == "URL")
    shown = page.locator("#confusion tbody td button").all_inner_texts()
    assert sum(int(text.replace(",", "")) for text in shown) == sum(confusion.values())
    sums = page.locator("#confusion tr:has(th button:text-is('PERSON')) td.sum").inner_text()
    assert int(sums) == sum(number for (a, _), number in confusion.items() if a == "PERSON")
    assert int(page.locator("#confusion td.sum").last.inner_text().replace(",", "")) == sum(confusion.values())
    page.click("#share-1")
    assert page.locator("#confusion td.cell").first.inner_text().endswith("%")


def test_zoom_keeps_the_sums_and_the_types_with_most_errors(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html", "#z=all")
    total, types = page.locator("#confusion td.sum").last.inner_text(), page.locator("#confusion tbody th").count()
    first = page.locator("#confusion tbody th").nth(1).inner_text()
    page.select_option("#z", "6")
    rows = page.locator("#confusion tbody th").all_inner_texts()
    assert len(rows) == 9 < types  # spurious, six types, the others, the sums
    assert rows[1] == first
    assert rows[-2] == f"({types - 8} other types)"
    assert page.locator("#confusion td.sum").last.inner_text() == total


def test_top_confusions_are_the_largest_cells(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html")
    result = ss.score(ss.read(folder / "gold.jsonl"), ss.read(folder / "one.jsonl"), "iou(threshold=0.6)")
    wrong = sorted((n for (a, b), n in result["iou"].confusion.items() if a != b), reverse=True)
    counts = [int(text) for text in page.locator("#confusions li b").all_inner_texts()]
    assert counts == wrong[: len(counts)]
    page.locator("#confusions li button").nth(2).click()
    expect(page.locator("#count")).to_have_text(re.compile(f"^{counts[2]} "))


def test_every_number_is_that_of_the_results(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html", "#cn=1")
    for measure in range(2):
        page.select_option("#m", str(measure))
        for system in ("one", "two"):
            page.select_option("#s", "0" if system == "one" else "1")
            name = page.locator("#m option").all_inner_texts()[measure]
            wanted = rows_of(folder, system, name)
            lines = page.locator("#types tbody tr").all()
            assert len(lines) == len(wanted)
            for line in lines:
                kind = line.locator("th").inner_text()
                score = wanted[None if kind == "all types" else kind]
                for number in ("precision", "recall", "f"):
                    shown = line.locator(f"[data-column={number}]").inner_text().split()[0]
                    assert shown == ("–" if score[number] is None else f"{score[number]:.3f}")
                for number, value in score["counts"].items():
                    assert line.locator(f"[data-column={number}]").inner_text() == str(value)
                missed = line.locator("[data-column=missed]").inner_text()
                assert missed == f"{score['counts']['fn']} of {score['counts']['annotated']}"


def test_the_table_is_sorted_by_what_is_not_found_and_by_any_column(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html")

    def column(name: str) -> list[float]:
        texts = page.locator(f"#types tbody tr:not(.total) [data-column={name}]").all_inner_texts()
        return [float(text.split()[0].replace("–", "-1")) for text in texts]

    assert column("missed") == sorted(column("missed"), reverse=True)
    assert page.get_attribute("#types th:has(#sort-missed)", "aria-sort") == "descending"
    for name in ("recall", "precision", "f", "wrong"):
        page.click(f"#sort-{name}")
        assert column(name) == sorted(column(name), reverse=True)
        page.click(f"#sort-{name}")
        assert column(name) == sorted(column(name))
    page.click("#sort-name")
    names = page.locator("#types tbody tr:not(.total) th").all_inner_texts()
    assert names == sorted(names)


def test_bars_intervals_and_sparklines(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html")
    line = page.locator("#types tbody tr:not(.total)").first
    missed, annotated = map(int, line.locator("[data-column=missed]").inner_text().split(" of "))
    share = line.locator(".bar").evaluate("bar => bar.firstChild.offsetWidth / bar.offsetWidth")
    assert share == pytest.approx(missed / annotated, abs=0.02)
    widths = page.eval_on_selector_all("#types .bar", "all => all.map(one => one.getBoundingClientRect().width)")
    assert max(widths) - min(widths) < 1  # bars can be compared
    number = line.locator("[data-column=recall] .tip")
    number.focus()
    tip = number.evaluate("one => getComputedStyle(one, '::after').content")
    assert re.search(r"\[0\.\d{3}, [01]\.\d{3}\]", tip)
    page.click("#toggle-ci")
    assert page.evaluate("document.activeElement.id") == "toggle-ci"
    assert tip.strip('"') in line.locator("[data-column=recall]").inner_text()
    assert page.locator("#types svg.spark").count() == page.locator("#types tbody tr").count()


def test_the_first_screen_is_the_answer(page: Any, tmp_path: Path) -> None:
    """The headline, the tiles and the box of a run, with the numbers of metrics.json, all above the fold."""
    gold = []
    for one in generate(80, seed=5):
        spans = [{"start": span.start, "end": span.end, "label": span.label} for span in one.spans]
        gold.append({"id": one.id, "text": one.text, "spans": spans})
    write(tmp_path / "data.jsonl", gold)
    run("run", "data.jsonl", "--detector", "presidio(model=blank)", "-o", "out", "-q", cwd=tmp_path)
    said = json.loads((tmp_path / "out" / "metrics.json").read_text())["details"]
    leak = said["leak"]
    opened(page, tmp_path / "out" / "report.html")
    assert page.locator("#loading").count() == 0
    lead = page.inner_text("#lead")
    summary = (tmp_path / "out" / "summary.html").read_text()
    assert lead in summary
    assert lead.startswith(f"{leak['readable']} of {leak['counts']['annotated']} private spans stay readable: ")
    worst = page.locator("#worst button").all_inner_texts()
    for text in worst:
        name, counts = text.split(" ", 1)
        row = leak["by_type"][name]
        assert counts == f"{row['readable']} of {row['counts']['annotated']}"
    documents = leak["documents"]
    assert f"{documents['affected']} of {documents['annotated']} documents" in page.inner_text("#worst")
    assert [one.get_attribute("data-tile") for one in page.locator(".tile").all()] == [
        "leak",
        "recall",
        "precision",
        "f",
        "documents",
    ]
    assert page.inner_text("[data-tile=documents] .value") == str(documents["affected"])
    assert re.fullmatch(r"\[\d+%, \d+%\]", page.inner_text("[data-tile=leak] .interval"))
    for name in said["not_looked_for"]:
        assert name in page.inner_text("#notes")
    for part in ("#lead", "#worst", "#tiles", "#notes"):
        expect(page.locator(part)).to_be_in_viewport(ratio=1)
    name = worst[0].split(" ")[0]
    page.locator("#worst button").first.click()
    assert count(page) == leak["by_type"][name]["readable"]
    assert set(page.locator(".example .types").all_inner_texts()) == {name}


@pytest.fixture(scope="module")
def leaking(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a detector that does not look for names."""
    path = tmp_path_factory.mktemp("leaking")
    gold = []
    for one in generate(80, seed=5):
        spans = [{"start": span.start, "end": span.end, "label": span.label} for span in one.spans]
        gold.append({"id": one.id, "text": one.text, "spans": spans})
    write(path / "data.jsonl", gold)
    run("run", "data.jsonl", "--detector", "presidio(model=blank)", "-o", "out", "-q", cwd=path)
    return path


def test_headline_tiles_table_and_matrix_are_by_one_measure(page: Any, leaking: Path) -> None:
    leak = json.loads((leaking / "out" / "metrics.json").read_text())["details"]["leak"]
    opened(page, leaking / "out" / "report.html", "#z=all")
    assert page.locator("#m option:checked").inner_text() == "leak"
    total = f"{leak['readable']} of {leak['counts']['annotated']}"
    assert page.inner_text("#lead").startswith(total)
    assert page.inner_text("#types tr.total [data-column=missed]") == total
    assert page.inner_text("[data-tile=recall] .value") == page.inner_text("#types tr.total .tip").split()[0]
    columns = page.locator("#confusion thead th").all_inner_texts()
    assert columns == ["exposed", "partly hidden", "hidden", "sum"]
    sums = [int(text.replace(",", "")) for text in page.locator("#confusion tbody tr:last-child td").all_inner_texts()]
    counts = leak["counts"]
    assert sums == [counts["exposed"], counts["partly"], counts["hidden"], counts["annotated"]]
    names = page.locator("#confusion tbody th").all_inner_texts()[:-1]
    readable = [leak["by_type"][name]["readable"] for name in names]
    assert readable == sorted(readable, reverse=True)
    page.select_option("#m", label="iou")
    assert page.inner_text("[data-tile=leak] .note").endswith(", by leak")
    assert page.inner_text("[data-tile=documents] .note").endswith(", by leak")
    assert page.inner_text("[data-tile=recall] .note") == "by iou"


def test_each_cell_of_what_masking_leaves_shows_its_examples(page: Any, leaking: Path) -> None:
    leak = json.loads((leaking / "out" / "metrics.json").read_text())["details"]["leak"]
    opened(page, leaking / "out" / "report.html", "#z=all")
    for name in ("PERSON", "DATE_TIME"):
        for fate, field in (("exposed", "exposed"), ("partly hidden", "partly"), ("hidden", "hidden")):
            number = leak["by_type"][name]["counts"][field]
            cell = page.locator(f'#confusion button[aria-label^="gold {name}, after masking {fate}: "]')
            assert cell.count() == bool(number)
            if number:
                cell.click()
                expect(page.locator("#count")).to_have_text(re.compile(f"^{number} "))
                assert {text[2:] for text in page.locator(".example .verdict").all_inner_texts()} == {fate}
                assert page.locator("#confusion button[aria-pressed=true]").count() == 1
    page.click("#confusion thead th button:text-is('exposed')")
    assert count(page) == leak["counts"]["exposed"]
    ranked = page.locator("#confusions li")
    counts = [int(text) for text in ranked.locator("b").all_inner_texts()]
    assert counts == sorted(counts, reverse=True)
    for place in range(len(counts)):
        ranked.nth(place).locator("button").click()
        expect(page.locator("#count")).to_have_text(re.compile(f"^{counts[place]} "))
    assert page.locator("#c").count() == 0  # there are no predicted types to filter by


def test_types_that_were_not_looked_for_are_marked_and_have_their_scores(page: Any, leaking: Path) -> None:
    said = json.loads((leaking / "out" / "metrics.json").read_text())["details"]["not_looked_for"]
    assert "PERSON" in said
    opened(page, leaking / "out" / "report.html")
    page.select_option("#m", label="iou")
    line = page.locator("#types tbody tr", has=page.locator("th:has-text('PERSON')")).first
    assert "not looked for" in line.locator("th").inner_text()
    shown = [line.locator(f"[data-column={name}]").inner_text().split()[0] for name in ("recall", "precision", "f")]
    assert shown == ["0.000", "–", "0.000"]


def test_columns_without_a_value_for_any_type_are_left_out(page: Any, leaking: Path) -> None:
    leak = json.loads((leaking / "out" / "metrics.json").read_text())["details"]["leak"]["counts"]
    opened(page, leaking / "out" / "report.html", "#sort=precision")
    names = page.locator("#types thead th").all_inner_texts()
    assert names[:3] == ["type", "readable ▼", "R"]  # the order is that of a column that is there
    assert not {"P", "F2", "needless"} & set(names)
    assert f"{leak['needless']} needless" in page.inner_text("#types caption")
    at = page.locator("#at-threshold thead th").all_inner_texts()
    assert at == ["type", "R"]
    assert "Only for all types: P " in page.inner_text("#at-threshold caption")
    page.select_option("#m", label="iou")
    assert page.locator("#types thead th").all_inner_texts()[2:6] == ["R", "P", "F2", "wrong"]
    assert page.locator("#at-threshold thead th").all_inner_texts()[1:4] == ["R", "P", "F2"]


def test_another_system_drops_filters_that_hold_for_one(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html")
    everything = count(page)
    page.locator("#frequent li button").nth(1).click()
    expect(page.locator("#off-fs")).to_be_visible()
    page.select_option("#s", "1")
    expect(page.locator("#off-fs")).to_have_count(0)
    assert "fs=" not in page.url
    page.click("#system-0")
    expect(page.locator("#count")).to_have_text(re.compile(f"^{everything} "))
    page.locator("#frequent li button").nth(1).click()
    page.click("#system-1")
    assert "fs=" not in page.url
    page.click("#system-0")
    page.locator("#frequent li button").nth(1).click()
    page.select_option("#m", "1")
    assert "fs=" not in page.url


def test_back_undoes_a_selection_but_no_mark(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html")
    everything = count(page)
    page.click("#verdict-missed")
    missed = count(page)
    page.keyboard.press("j")
    page.locator(".example button", has_text="gold is wrong").first.click()
    page.select_option("#m", "1")
    other = count(page)
    page.keyboard.press("o")
    expect(page.locator("#dialog")).to_be_visible()
    page.go_back()
    expect(page.locator("#dialog")).to_be_hidden()
    assert page.input_value("#m") == "1"
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
    assert count(page) == 6
    page.click("#clear")
    expect(chips["errors"]).to_have_text("6")
    nothing = page.locator("#types tbody tr", has=page.locator("th:has-text('C')")).last
    assert nothing.locator("[data-column=missed]").inner_text() == "0 of 0"
    assert nothing.locator(".bar").count() == 0


def test_filters_offer_the_types_of_the_measure(page: Any, leaking: Path) -> None:
    opened(page, leaking / "out" / "report.html")
    page.select_option("#m", label="iou.pii")
    assert page.locator("#g option").all_text_contents() == ["any", "PII", "none (spurious)"]
    page.select_option("#m", label="iou")
    kinds = page.locator("#g option").all_text_contents()
    assert "PII" not in kinds
    assert "PERSON" in kinds


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


def test_frequent_errors_and_the_order_of_examples(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html")
    listed = page.locator("#frequent li button").all_inner_texts()
    assert listed
    first = page.locator("#frequent li button").first
    times = int(first.locator("b").inner_text().rstrip("×"))
    string = first.locator("q").inner_text().strip('“”"')
    first.click()
    expect(page.locator("#off-fs")).to_be_visible()
    assert count(page) == times > 1
    for text in page.locator(".example .lanes").all_inner_texts():
        assert string.lower() in text.lower()
    page.click("#off-fs")

    def numbers(what: str) -> list[float]:
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
    widths = [
        page.locator(f".example[aria-posinset='{n}'] .lane.focus").first.evaluate("one => one.offsetWidth")
        for n in (1, 5)
    ]
    assert widths[0] >= widths[1]


def test_a_boundary_error_is_one_example_with_both_sides(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html", "#v=too+short&m=1")
    result = ss.score(ss.read(folder / "gold.jsonl"), ss.read(folder / "one.jsonl"), "exact")
    short = [error for error in result.errors("exact") if error.verdict == "too short"]
    assert count(page) == sum(error.side == "gold" for error in short) > 0
    types = page.locator(".example .types").all_inner_texts()
    assert all(gold == taken for gold, taken in (text.split(" → ") for text in types))
    page.wait_for_selector(".example[aria-posinset='1'] .lane.gold.focus")
    assert page.locator(".example[aria-posinset='1'] .lane.system.focus").count() == 1


def test_filters(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html")
    everything = count(page)
    chips = page.locator("#verdicts button").all()
    assert len(chips) > 5
    for chip in chips:
        value = chip.get_attribute("data-verdict")
        chip.click()
        expect(chip).to_have_attribute("aria-pressed", "true")
        assert count(page) == int(chip.locator("b").inner_text().replace(",", ""))
        texts = page.locator(".example .verdict").all_inner_texts()
        if value not in ("errors", "all"):
            assert {text[2:] for text in texts} == {value}
    page.click("#verdict-errors")
    assert count(page) == everything
    page.click("#more summary")
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
    assert page.inner_text("#more summary") == "More filters"
    page.select_option("#sl", "meta.ward=1")
    assert page.inner_text("#more summary") == "More filters (1 active)"
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
        both = page.locator(".example .types").all_inner_texts().count(f"{kind} → {kind}")
        assert count(page) == counts["fp"] + counts["fn"] - both
        expect(line).to_have_class("selected")


def test_the_focus_stays_and_the_slider_can_be_dragged(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html")
    page.focus("#sort-recall")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "sort-recall"
    assert page.get_attribute("#types th:has(#sort-recall)", "aria-sort") == "descending"
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
    mark = page.locator(".example[aria-posinset='20'] button", has_text="gold is wrong")  # drawn once the list moved
    mark.scroll_into_view_if_needed()
    before = page.evaluate("document.getElementById('list').scrollTop")
    mark.click()
    assert page.evaluate("document.getElementById('list').scrollTop") == before > 1000
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
        assert int(button.inner_text().split()[0]) == counts[status]
        button.click()
        assert count(page) == counts[status]
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
    assert count(page) == sum(int(text) for text in numbers[:-1] if text != "·")
    page.click("#suspected")
    told = int(page.inner_text("#suspected").split()[1])
    assert count(page) == told > 0
    page.locator(".example button", has_text="gold is wrong").nth(0).click()
    page.locator(".example button", has_text="gold is wrong").nth(1).click()
    assert "w=" in page.url
    page.click("#more summary")
    with page.expect_download() as download:
        page.click("#export")
    lines = [json.loads(line) for line in Path(download.value.path()).read_text().splitlines()]
    assert len(lines) == 2
    assert {"document", "start", "end", "gold", "predicted", "verdict"} == set(lines[0])


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
