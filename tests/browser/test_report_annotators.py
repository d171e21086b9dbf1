"""Annotators in the report: who marked what, where they disagree, and the reader's verdicts on it."""

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

TEXT = "Ann met Bob in Oslo on Monday."
MARKS = {
    "d1": {"ann": [(0, 3, "PER"), (15, 19, "LOC")], "bob": [(0, 3, "PER"), (8, 11, "PER")], "cid": [(15, 19, "ORG")]},
    "d2": {"ann": [(0, 3, "PER")], "bob": [(0, 3, "PER"), (15, 19, "LOC")]},
    "d3": {"ann": [(8, 11, "PER")], "bob": []},
}
PREDICTED = {"d1": [(0, 3, "PER"), (15, 19, "LOC")], "d2": [(0, 7, "PER")], "d3": []}


def spans(marks: list[tuple[int, int, str]], **attrs: str) -> list[dict[str, Any]]:
    return [{"start": a, "end": b, "label": label} | ({"attrs": attrs} if attrs else {}) for a, b, label in marks]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("annotators")
    gold = [
        {
            "id": name,
            "text": TEXT,
            "meta": {"annotators": ",".join(by)},
            "spans": [span for who, marks in by.items() for span in spans(marks, annotator=who)],
        }
        for name, by in MARKS.items()
    ]
    write(path / "gold.jsonl", gold)
    for who in ("ann", "bob"):
        write(path / f"{who}.jsonl", [{"id": n, "text": TEXT, "spans": spans(by[who])} for n, by in MARKS.items()])
    write(path / "pred.jsonl", [{"id": name, "spans": spans(marks)} for name, marks in PREDICTED.items()])
    run("agree", "gold.jsonl", "-m", "exact", "-o", "agreed", cwd=path)
    run("agree", "ann.jsonl", "bob.jsonl", "-m", "exact", "-o", "two", cwd=path)
    call = ("score", "gold.jsonl", "pred.jsonl", "-m", "exact", "--agreement", "agreed", "--ci", "0.95")
    run(*call, "--annotator", "all", "-o", "all", cwd=path)
    run(*call, "-o", "mixed", cwd=path)
    return path


def listed(page: Any) -> list[tuple[str, str]]:
    """The document and the votes of each example."""
    rows: list[list[str]] = page.eval_on_selector_all(
        ".example", "all => all.map(one => ['.id', '.votes'].map(name => one.querySelector(name)?.textContent ?? ''))"
    )
    return [(row[0], row[1]) for row in rows]


def test_each_annotator_beside_the_others_and_the_system(page: Any, folder: Path) -> None:
    opened(page, folder / "all" / "report.html")
    agreed = ss.agree(folder / "gold.jsonl", "exact")
    rows = [one.split("\t") for one in page.locator("#each-annotator tbody tr").all_inner_texts()]
    assert [row[:3] for row in rows] == [
        ["all annotators", "3", "9"],  # documents once, spans of all
        ["ann", "3", "4"],
        ["bob", "3", "4"],
        ["cid", "1", "1"],
    ]
    assert rows[0][3] == f"{agreed.scores[0].f:.3f}"
    shown = ss.score(folder / "gold.jsonl", folder / "pred.jsonl", "exact", annotator="all")["exact"]
    by = shown.by("meta.annotator")
    for row in rows[1:]:
        assert row[4].split()[0] == f"{by[row[0]].recall:.3f}"
        assert row[6].split()[0] == f"{by[row[0]].f:.3f}"
    expect(page.locator(".tile[data-tile=f]")).to_contain_text(f"annotators agree at {agreed.scores[0].f:.3f} [")
    expect(page.locator("#notes")).to_contain_text("Every annotator counts")
    expect(page.locator("#worst")).to_contain_text("of 3 documents with annotations")
    expect(page.locator("[data-tile=documents]")).to_contain_text("of 3 with annotations")
    expect(page.locator("#shown")).to_contain_text("7 of 7 document-annotator pairs shown")
    page.click("#annotators summary")
    expect(page.locator("#agreement-types tbody tr")).to_have_count(4)
    types = [one.split("\t") for one in page.locator("#agreement-types tbody tr").all_inner_texts()]
    assert types[0][0] == "all types"
    assert types[0][2].split()[0] == f"{shown.f:.3f}"
    assert {row[0] for row in types[1:]} == {"PER", "LOC", "ORG"}


def test_an_annotator_and_disagreements_can_be_selected(page: Any, folder: Path) -> None:
    opened(page, folder / "all" / "report.html", "#v=all")
    # 9 annotations, and 2 predictions near none of the annotator's
    expect(page.locator("#count")).to_have_text(re.compile("^11 "))
    page.click("#annotator-1")
    page.wait_for_selector("html[data-printable]")  # the list is drawn
    assert {name for name, _ in listed(page)} == {"d1 (bob)", "d2 (bob)"}
    expect(page.locator("#an")).to_have_value("1")
    expect(page.locator("[data-row='an=1']")).to_have_class("selected")
    page.click("#clear")
    page.click("#disputed")
    page.wait_for_selector("html[data-printable]")  # the list is drawn
    found = listed(page)
    assert count(page) == len(found) > 0
    assert ("d1 (ann)", "2 of 3 annotators") in found
    assert ("d2 (bob)", "1 of 2 annotators") in found  # only bob has LOC
    assert ("d3 (ann)", "1 of 2 annotators") in found  # bob saw d3 and marked nothing
    assert ("d1 (bob)", "1 of 3 annotators") in found  # a needless prediction, for bob, that ann has
    disputed = count(page)
    page.select_option("#ag", "same")
    page.wait_for_selector("html[data-printable]")  # the list is drawn
    assert {votes for _, votes in listed(page)} == {""}
    expect(page.locator("#count")).to_have_text(re.compile(f"^{11 - disputed:,} "))


def test_a_document_shows_what_every_annotator_marked(page: Any, folder: Path) -> None:
    opened(page, folder / "all" / "report.html", "#v=all&an=0&doc=1")
    bars = page.locator("#dialog .lanes .lane.gold")
    expect(bars).to_have_count(5)
    assert sorted(bars.all_inner_texts()) == ["ann · LOC", "ann · PER", "bob · PER", "bob · PER", "cid · ORG"]
    text = page.locator("#dialog .lanes").bounding_box()
    for bar in bars.all():
        box = bar.bounding_box()
        assert box["y"] + box["height"] <= text["y"] + text["height"] / 2 + 2
    tops = {bar.inner_text().split(" ")[0]: bar.bounding_box()["y"] for bar in bars.all()}
    assert len(set(tops.values())) == 3
    expect(page.locator("#dialog .key .lane")).to_have_text(["ann", "bob", "cid", "pred"])
    page.click("#dialog summary")
    sources = ["ann", "ann", "bob", "bob", "cid", "pred", "pred"]
    expect(page.locator("#dialog tbody tr td:first-child")).to_have_text(sources)


def test_annotators_that_count_together_are_named(page: Any, folder: Path) -> None:
    """Without --annotator, all spans are gold spans of their document."""
    opened(page, folder / "mixed" / "report.html", "#v=all")
    expect(page.locator("#each-annotator tbody th")).to_have_text(["all annotators", "ann", "bob", "cid"])
    assert ("d1", "2 of 3 annotators") in listed(page)
    page.select_option("#an", "2")
    page.wait_for_selector("html[data-printable]")  # the list is drawn
    assert listed(page) == [("d1", "1 of 3 annotators")]


def test_verdicts_on_disagreements_can_be_exported(page: Any, folder: Path) -> None:
    opened(page, folder / "two" / "report.html")
    agreed = ss.agree({"ann": folder / "ann.jsonl", "bob": folder / "bob.jsonl"}, "exact")
    expect(page.locator("#lead")).to_contain_text("bob did not mark 2 of ann's 4 spans: 50% [")
    expect(page.locator("#lead")).to_contain_text("ann did not mark 2 of bob's 4 spans: 50% [")
    assert page.locator("#types thead th").all_inner_texts()[1].startswith("only ann")
    assert page.locator("#verdicts [data-verdict=correct]").inner_text().startswith("✓ same")
    reasons = page.locator(".example .why").all_inner_texts()
    assert "PER [8, 11) is marked by bob; ann marked nothing that overlaps it." in reasons
    assert not any(word in " ".join(reasons) for word in ("gold", "Gold", "redicted"))
    pair = page.locator("#annotator-pairs tbody tr").nth(1).inner_text().split("\t")
    assert (pair[0], pair[1]) == ("ann and bob", "3")
    assert pair[2].split()[0] == f"{agreed.pairs[0].result['exact'].f:.3f}"
    assert pair[3].split()[0] == f"{agreed.pairs[0].kappa.value:.3f}"
    expect(page.locator("#confusion thead th").first).to_have_text("(only ann)")
    expect(page.locator("#confusion tbody th").first).to_have_text("(only bob)")
    assert {text[2:] for text in page.locator(".example .verdict").all_inner_texts()} == {"only ann", "only bob"}
    expect(page.locator("#export")).to_be_hidden()
    page.locator(".example select").nth(0).select_option("1")
    page.locator(".example select").nth(1).select_option("2")
    expect(page.locator("#export")).to_have_text("Export 2 verdicts")
    page.reload()
    page.wait_for_selector("html[data-ready]")
    expect(page.locator(".example select").nth(0)).to_have_value("1")
    with page.expect_download() as download:
        page.click("#export")
    lines = [json.loads(line) for line in Path(download.value.path()).read_text().splitlines()]
    assert lines[0] == {
        "document": "d1",
        "start": 8,
        "end": 11,
        "gold": None,
        "predicted": "PER",
        "annotators": ["ann", "bob"],
        "verdict": "bob is right",
    }
    assert lines[1]["verdict"] == "neither is right"
    page.locator(".example select").nth(1).select_option("")
    expect(page.locator("#export")).to_have_text("Export 1 verdict")


def test_a_report_of_three_annotators_is_about_their_majority(page: Any, folder: Path) -> None:
    opened(page, folder / "agreed" / "report.html")
    assert page.locator("#annotator-pairs tbody th").all_inner_texts()[1:] == [
        "ann and bob",
        "ann and cid",
        "bob and cid",
    ]
    expect(page.locator("#lead")).to_contain_text("of the majority's")
    options = page.locator(".example select").first.locator("option").all_inner_texts()
    assert options[1:] == ["the majority is right", "the annotator is right", "neither is right"]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["all", "two"])
def test_annotators_and_assistive_technology(page: Any, folder: Path, name: str, theme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    opened(page, folder / name / "report.html", f"#theme={theme}&v=all")
    found = Axe().run(page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
