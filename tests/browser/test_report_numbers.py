"""The numbers of the report in a browser: headline, tiles, table and matrix."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

import spanscore as ss
from calls import run, write
from report_page import click_cell, opened, rows_of
from spanscore.generate import generate


def test_a_cell_shows_exactly_its_examples(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html", "#z=all")
    kinds = rows_of(folder, "one", "iou(threshold=0.6)")
    name = max((kind for kind in kinds if kind), key=lambda kind: kinds[kind]["counts"]["tp"])
    click_cell(page, name, name)
    expect(page).to_have_url(re.compile("g="))
    expect(page.locator("#count")).to_have_text(re.compile(f"^{kinds[name]['counts']['tp']:,} "))
    told = page.locator(".example .types").all_inner_texts()
    assert set(told) == {f"{name} → {name}"}
    result = ss.score(ss.read(folder / "gold.jsonl"), ss.read(folder / "one.jsonl"), "iou(threshold=0.6)")
    confusion = result["iou"].confusion
    for gold, taken in confusion:
        click_cell(page, gold or "(spurious)", taken or "(missed)")
        expect(page.locator("#count")).to_have_text(re.compile(f"^{confusion[gold, taken]} "))
        expect(page.locator("#confusion button[aria-pressed=true]")).to_have_count(1)


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
    for head, number in {
        "tbody th button:text-is('PERSON')": sum(n for (gold, _), n in confusion.items() if gold == "PERSON"),
        "thead th button:text-is('(missed)')": sum(n for (_, taken), n in confusion.items() if taken is None),
        "tbody th button:text-is('(spurious)')": sum(n for (gold, _), n in confusion.items() if gold is None),
        "thead th button:text-is('URL')": sum(n for (_, taken), n in confusion.items() if taken == "URL"),
    }.items():
        page.click(f"#confusion {head}")
        expect(page.locator("#count")).to_have_text(re.compile(f"^{number} "))
    shown = page.locator("#confusion tbody td button").all_inner_texts()
    assert sum(int(text.replace(",", "")) for text in shown) == sum(confusion.values())
    sums = page.locator("#confusion tr:has(th button:text-is('PERSON')) td.sum").inner_text()
    assert int(sums) == sum(number for (a, _), number in confusion.items() if a == "PERSON")
    assert int(page.locator("#confusion td.sum").last.inner_text().replace(",", "")) == sum(confusion.values())
    page.click("#share-1")
    expect(page.locator("#confusion td.cell").first).to_have_text(re.compile("%$"))


def test_zoom_keeps_the_sums_and_the_types_with_most_errors(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html", "#z=all")
    total, types = page.locator("#confusion td.sum").last.inner_text(), page.locator("#confusion tbody th").count()
    first = page.locator("#confusion tbody th").nth(1).inner_text()
    page.select_option("#z", "6")
    expect(page.locator("#confusion tbody th")).to_have_count(9)
    rows = page.locator("#confusion tbody th").all_inner_texts()
    assert len(rows) == 9 < types  # spurious, six types, the others, the sums
    assert rows[1] == first
    assert rows[-2] == f"({types - 8} other types)"
    expect(page.locator("#confusion td.sum").last).to_have_text(total)


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
            expect(page.locator("#types caption")).to_contain_text(f"{system} by type, measured by {name};")
            lines = page.locator("#types tbody tr").all()
            assert len(lines) == len(wanted)
            for line in lines:
                kind = line.locator("th").inner_text()
                score = wanted[None if kind == "all types" else kind]
                for number in ("precision", "recall", "f"):
                    shown = line.locator(f"[data-column={number}]").inner_text().split()[0]
                    assert shown == ("–" if score[number] is None else f"{score[number]:.3f}")
                for number, value in score["counts"].items():
                    expect(line.locator(f"[data-column={number}]")).to_have_text(str(value))
                missed = line.locator("[data-column=missed]").inner_text()
                assert missed == f"{score['counts']['fn']} of {score['counts']['annotated']}"


def test_the_table_is_sorted_by_what_is_not_found_and_by_any_column(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html")

    def column(name: str) -> list[float]:
        texts = page.locator(f"#types tbody tr:not(.total) [data-column={name}]").all_inner_texts()
        return [float(text.split()[0].replace("–", "-1")) for text in texts]

    assert column("missed") == sorted(column("missed"), reverse=True)
    expect(page.locator("#types th:has(#sort-missed)")).to_have_attribute("aria-sort", "descending")
    for name in ("recall", "precision", "f", "wrong"):
        head = page.locator(f"#types th:has(#sort-{name})")
        page.click(f"#sort-{name}")
        expect(head).to_have_attribute("aria-sort", "descending")
        assert column(name) == sorted(column(name), reverse=True)
        page.click(f"#sort-{name}")
        expect(head).to_have_attribute("aria-sort", "ascending")
        assert column(name) == sorted(column(name))
    page.click("#sort-name")
    expect(page.locator("#types th:has(#sort-name)")).to_have_attribute("aria-sort", "ascending")
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
    expect(page.locator("#toggle-ci")).to_be_focused()
    expect(line.locator("[data-column=recall]")).to_contain_text(tip.strip('"'))
    expect(page.locator("#types svg.spark")).to_have_count(page.locator("#types tbody tr").count())


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
    expect(page.locator("#loading")).to_have_count(0)
    lead = page.inner_text("#lead")
    summary = (tmp_path / "out" / "summary.html").read_text()
    assert lead in summary
    assert lead.startswith(f"{leak['readable']} of {leak['counts']['annotated']} private spans stay readable: ")
    worst = page.locator("#worst button").all_inner_texts()
    for text in worst:
        name, counts = text.split(" ", 1)
        row = leak["by_type"][name]
        assert counts.rstrip(",.") == f"{row['readable']} of {row['counts']['annotated']}"
    documents = leak["documents"]
    expect(page.locator("#worst")).to_contain_text(f"{documents['affected']} of {documents['annotated']} documents")
    assert [one.get_attribute("data-tile") for one in page.locator(".tile").all()] == [
        "leak",
        "recall",
        "precision",
        "f",
        "documents",
    ]
    expect(page.locator("[data-tile=documents] .value")).to_have_text(str(documents["affected"]))
    assert re.fullmatch(r"\[\d+%, \d+%\]", page.inner_text("[data-tile=leak] .interval"))
    for name in said["not_looked_for"]:
        assert name in page.inner_text("#notes")
    for part in ("#lead", "#worst", "#tiles", "#notes"):
        expect(page.locator(part)).to_be_in_viewport(ratio=1)
    name = worst[0].split(" ")[0]
    page.locator("#worst button").first.click()
    expect(page.locator("#count")).to_have_text(re.compile(f"^{leak['by_type'][name]['readable']:,} "))
    assert set(page.locator(".example .types").all_inner_texts()) == {name}


def test_headline_tiles_table_and_matrix_are_by_one_measure(page: Any, leaking: Path) -> None:
    leak = json.loads((leaking / "out" / "metrics.json").read_text())["details"]["leak"]
    opened(page, leaking / "out" / "report.html", "#z=all")
    expect(page.locator("#m option:checked")).to_have_text("leak")
    total = f"{leak['readable']} of {leak['counts']['annotated']}"
    assert page.inner_text("#lead").startswith(total)
    expect(page.locator("#types tr.total [data-column=missed]")).to_have_text(total)
    expect(page.locator("[data-tile=recall] .value")).to_have_text(page.inner_text("#types tr.total .tip").split()[0])
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
    expect(page.locator("[data-tile=recall] .note")).to_have_text("by iou")


def test_each_cell_of_what_masking_leaves_shows_its_examples(page: Any, leaking: Path) -> None:
    leak = json.loads((leaking / "out" / "metrics.json").read_text())["details"]["leak"]
    opened(page, leaking / "out" / "report.html", "#z=all")
    for name in ("PERSON", "DATE_TIME"):
        for fate, field in (("exposed", "exposed"), ("partly hidden", "partly"), ("hidden", "hidden")):
            number = leak["by_type"][name]["counts"][field]
            cell = page.locator(f'#confusion button[aria-label^="gold {name}, after masking {fate}: "]')
            expect(cell).to_have_count(int(bool(number)))
            if number:
                cell.click()
                expect(page.locator("#count")).to_have_text(re.compile(f"^{number} "))
                assert {text[2:] for text in page.locator(".example .verdict").all_inner_texts()} == {fate}
                expect(page.locator("#confusion button[aria-pressed=true]")).to_have_count(1)
    page.click("#confusion thead th button:text-is('exposed')")
    expect(page.locator("#count")).to_have_text(re.compile(f"^{leak['counts']['exposed']:,} "))
    ranked = page.locator("#confusions li")
    counts = [int(text) for text in ranked.locator("b").all_inner_texts()]
    assert counts == sorted(counts, reverse=True)
    for place in range(len(counts)):
        ranked.nth(place).locator("button").click()
        expect(page.locator("#count")).to_have_text(re.compile(f"^{counts[place]} "))
    expect(page.locator("#c")).to_have_count(0)  # there are no predicted types to filter by


def test_types_that_were_not_looked_for_are_marked_and_have_scores_if_types_are_ignored(
    page: Any, leaking: Path
) -> None:
    said = json.loads((leaking / "out" / "metrics.json").read_text())["details"]["not_looked_for"]
    assert "PERSON" in said
    opened(page, leaking / "out" / "report.html")
    for table in ("#types", "#at-threshold"):
        line = page.locator(f"{table} tbody tr", has=page.locator("th:has-text('PERSON')")).first
        for measure, shown in (("iou", ["–", "–", "–"]), ("leak", ["0.000"])):
            page.select_option("#m", label=measure)
            cells = line.locator("td:nth-child(n + 3)" if table == "#types" else "td")
            texts = [text.split()[0] for text in cells.all_inner_texts()[: len(shown)]]
            assert texts == shown, (table, measure)
            expect(line.locator(".tag")).to_have_count(int(table == "#types" or measure == "iou"))
    page.select_option("#m", label="iou")
    found = page.locator("#types tbody tr", has=page.locator("th:has-text('EMAIL_ADDRESS')"))
    expect(found.locator("[data-column=recall] .tip")).to_contain_text("1.000")
    expect(page.locator("#types tbody tr", has=page.locator(".tag"))).to_have_count(len(said))


def test_the_note_on_types_that_were_not_looked_for_is_about_the_selected_measure(page: Any, leaking: Path) -> None:
    opened(page, leaking / "out" / "report.html")
    note = page.locator("#notes li").first
    expect(note).to_contain_text("counted as missed where no other prediction covers them).")
    page.select_option("#m", label="iou")
    expect(note).to_contain_text("counted as missed).")
    page.select_option("#m", label="iou.pii")
    expect(note).to_contain_text("counted as missed where no other prediction covers them).")


def test_columns_without_a_value_for_any_type_are_left_out(page: Any, leaking: Path) -> None:
    leak = json.loads((leaking / "out" / "metrics.json").read_text())["details"]["leak"]["counts"]
    opened(page, leaking / "out" / "report.html", "#sort=precision")
    names = page.locator("#types thead th").all_inner_texts()
    assert names[:3] == ["type", "readable ▼", "R"]  # the order is that of a column that is there
    assert not {"P", "F2", "needless"} & set(names)
    expect(page.locator("#types caption")).to_contain_text(f"{leak['needless']} needless")
    at = page.locator("#at-threshold thead th").all_inner_texts()
    assert at == ["type", "R"]
    expect(page.locator("#at-note")).to_contain_text("Over all types only: P ")
    expect(page.locator("#types caption")).to_contain_text("Over all types only: P ")
    page.select_option("#m", label="iou")
    assert page.locator("#types thead th").all_inner_texts()[2:6] == ["R", "P", "F2", "wrong"]
    assert page.locator("#at-threshold thead th").all_inner_texts()[1:4] == ["R", "P", "F2"]


@pytest.mark.parametrize("measure", [0, 1])
def test_counts_of_all_types_and_of_systems_show_what_is_behind_them(page: Any, folder: Path, measure: int) -> None:
    opened(page, folder / "out" / "report.html", f"#m={measure}&ty=1&q=zzz")
    name = page.locator("#m option").nth(measure).inner_text()
    for place, system in enumerate(("one", "two", "one")):
        counts = rows_of(folder, system, name)[None]["counts"]
        for table in ("#overall tbody tr", "#types tr.total"):
            for column, number in (("missed", counts["fn"]), ("wrong", counts["fp"])):
                line = page.locator(table).nth(place % 2 if table.startswith("#overall") else 0)
                line.locator(f"[data-column={column}] button").click()
                expect(page.locator("#count")).to_have_text(re.compile(f"^{number} "))
                expect(page.locator("#s")).to_have_value(str(place % 2))
                expect(page.locator("#verdict-errors")).to_have_attribute("aria-pressed", "true")
                expect(page.locator("#ty")).to_have_value("")
                expect(page.locator("#g" if column == "missed" else "#c")).to_have_value("some")
        expect(page.locator("#examples-title")).to_have_text(f"Examples: {system}")


def test_counts_of_slices_show_what_is_behind_them(page: Any, folder: Path) -> None:
    opened(page, folder / "out" / "report.html", "#by=meta.ward")
    lines = page.locator("#types tbody tr")
    expect(lines).to_have_count(2)
    for line in lines.all():
        for column in ("missed", "wrong"):
            link = line.locator(f"[data-column={column}] button")
            number = link.inner_text().split(" ")[0]
            link.click()
            expect(page.locator("#count")).to_have_text(re.compile(f"^{number} "))
            expect(line).to_have_class("selected")


def test_counts_of_what_masking_leaves_show_what_is_behind_them(page: Any, leaking: Path, tmp_path: Path) -> None:
    leak = json.loads((leaking / "out" / "metrics.json").read_text())["details"]["leak"]
    opened(page, leaking / "out" / "report.html")
    page.click("#types tr.total [data-column=missed] button")
    expect(page.locator("#count")).to_have_text(re.compile(f"^{leak['readable']} "))
    expect(page.locator("#verdict-needless b")).to_have_text("0")
    expect(page.locator("#types tr.total")).to_have_class(re.compile("selected"))
    gold, pred = str(leaking / "data.jsonl"), str(leaking / "out" / "predictions.jsonl")
    run("score", gold, f"a={pred}", f"b={pred}", "-m", "leak", "-o", "out", cwd=tmp_path)
    opened(page, tmp_path / "out" / "report.html")
    page.locator("#overall tbody tr").nth(1).locator("[data-column=wrong] button").click()
    expect(page.locator("#count")).to_have_text(
        re.compile(f"^{leak['needless'] if 'needless' in leak else leak['counts']['needless']} ")
    )
    expect(page.locator("#s")).to_have_value("1")
    expect(page.locator(".example .verdict").first).to_have_text("+ needless")


def test_filters_offer_the_types_of_the_measure(page: Any, leaking: Path) -> None:
    opened(page, leaking / "out" / "report.html")
    page.select_option("#m", label="iou.pii")
    assert page.locator("#g option").all_text_contents() == ["any", "some type", "PII", "none (spurious)"]
    page.select_option("#m", label="iou")
    kinds = page.locator("#g option").all_text_contents()
    assert "PII" not in kinds
    assert "PERSON" in kinds
