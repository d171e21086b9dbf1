"""The report of data of all kinds: any script, hostile, large, with three systems, and linked."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

import spanscore as ss
from calls import content, run
from report_page import count, opened
from spanscore.report import comparison
from spanscore.report.page_report import write_report


def test_suspects_are_where_all_systems_say_the_same(page: Any, tmp_path: Path) -> None:
    text = "Ann Lee met Bob Ray in Oslo today with Kim."
    gold = [
        {"start": 0, "end": 7, "label": "P"},
        {"start": 12, "end": 19, "label": "P"},
        {"start": 23, "end": 27, "label": "L"},
    ]
    one = [
        {"start": 0, "end": 3, "label": "P"},
        {"start": 12, "end": 15, "label": "P"},
        {"start": 39, "end": 42, "label": "P"},
    ]
    two = [{"start": 0, "end": 3, "label": "P"}, {"start": 39, "end": 42, "label": "P"}]
    corpora = [ss.Corpus.from_documents([{"id": "d", "text": text, "spans": spans}]) for spans in (gold, one, two)]
    result = ss.score(corpora[0], {"one": corpora[1], "two": corpora[2]}, "exact")
    write_report(result, tmp_path / "r.html")
    opened(page, tmp_path / "r.html", "#sus=1&v=all")
    # both cut Ann Lee short, both miss Oslo, both add Kim; only one has Bob
    expect(page.locator("#count")).to_have_text(re.compile("^3 "))
    expect(page.locator("#off-sus")).to_be_visible()
    starts = page.locator(".example .why").all_inner_texts()
    assert not any("[12, " in text for text in starts)
    write_report(ss.score(corpora[0], {"one": corpora[1], "two": corpora[2]}, "leak"), tmp_path / "leak.html")
    opened(page, tmp_path / "leak.html", "#sus=1&v=all")
    # both leave the same part of Ann Lee and all of Oslo, both mask Kim; Bob Ray is readable in two ways
    expect(page.locator("#count")).to_have_text(re.compile("^3 "))
    assert not any("[12, " in text for text in page.locator(".example .why").all_inner_texts())
    expect(page.locator("#systems")).to_contain_text("Errors that all systems make in the same way")


def test_lanes_stand_where_the_letters_are(page: Any, tmp_path: Path) -> None:
    """Nested, crossing and empty spans, beyond the BMP, from right to left: each bar is over its letters."""
    text = "😀😀 Dr. Ann Lee-Smith of Oslo\n שלום עולם and 山田太郎"
    spans = [
        {"start": 3, "end": 20, "label": "PERSON"},
        {"start": 7, "end": 10, "label": "GIVEN"},
        {"start": 15, "end": 28, "label": "CROSSING"},
        {"start": 30, "end": 34, "label": "HEBREW"},
        {"start": 44, "end": 48, "label": "KANJI"},
        {"start": 5, "end": 5, "label": "EMPTY"},
    ]
    gold = ss.Corpus.from_documents([{"id": "d", "text": text, "spans": spans}])
    pred = ss.Corpus.from_documents([{"id": "d", "spans": [{**spans[1], "score": 0.5}, {**spans[4], "score": 0.25}]}])
    write_report(ss.score(gold, pred, "exact"), tmp_path / "r.html")
    opened(page, tmp_path / "r.html", "#v=all&doc=1")
    page.wait_for_selector("#dialog .lane")
    found = page.evaluate(
        """() => [...document.querySelectorAll("#dialog .lane")].map(bar => {
            const box = bar.getBoundingClientRect(), node = document.querySelector("#dialog .lanes").firstChild;
            const letters = [...node.data], range = document.createRange();
            let at = 0, under = "";
            for (const letter of letters) {
                range.setStart(node, at); at += letter.length; range.setEnd(node, at);
                const one = range.getBoundingClientRect(), middle = one.left + one.width / 2;
                const near = Math.abs(one.top - box.bottom) < 80 || Math.abs(box.top - one.bottom) < 80;
                if (middle > box.left && middle < box.right && near && letter !== "\\n") under += letter;
            }
            return [bar.classList.contains("gold") ? "gold" : "system", bar.textContent, under, box.top];
        })"""
    )
    by = {(side, label): under for side, label, under, _ in found}
    whole = list(text)
    for span in spans[:5]:
        start, end = int(str(span["start"])), int(str(span["end"]))
        wanted = "".join(whole[start:end]).replace("\n", "")
        assert wanted in by["gold", span["label"]].replace("\n", ""), span
    assert ("system", "GIVEN") in by
    assert ("gold", "EMPTY") in by
    tops = {label: top for side, label, _, top in found if side == "gold"}
    assert len({tops["PERSON"], tops["GIVEN"], tops["CROSSING"]}) >= 2


BAD = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "javascript:alert(3)",
    "{{7*7}} ${7*7} <%= 7*7 %>",
    "\u202eevil\u2066",
    "nul\x00nul",
    "<!-- --!> ]]> &lt;b&gt;",
    "'\"`;--",
    "__proto__",
    "constructor",
]


def hostile() -> tuple[ss.Corpus, ss.Corpus]:
    gold, pred = [], []
    for number, bad in enumerate(BAD):
        text = f"{bad} and {bad}"
        spans = [{"start": 0, "end": len(bad), "label": bad}, {"start": len(bad) + 5, "end": len(text), "label": "X"}]
        gold.append(
            {"id": f"{bad}#{number}", "text": text, "spans": spans, "meta": {bad: bad, "k": f"{bad}{number % 3}"}}
        )
        pred.append(
            {"id": f"{bad}#{number}", "spans": [{"start": 0, "end": len(bad), "label": BAD[number - 1], "score": 0.5}]}
        )
    line = "word " * 200_000
    gold.append({"id": "long", "text": line, "spans": [{"start": 500_000, "end": 500_004, "label": "X"}]})
    pred.append({"id": "long", "spans": [{"start": 0, "end": 4, "label": "X", "score": 0.1}]})
    return ss.Corpus.from_documents(gold), ss.Corpus.from_documents(pred)


@pytest.mark.parametrize("folder_", [False, True], ids=["page", "folder"])
def test_hostile_data_is_shown_and_nothing_runs(page: Any, tmp_path: Path, folder_: bool) -> None:
    gold, pred = hostile()
    result = ss.score(gold, {"<b>&": pred, "</title><script>alert(9)</script>": pred}, ["exact", "iou"])
    target = tmp_path / "r" if folder_ else tmp_path / "r.html"
    write_report(result, target, folder=folder_, title="</title><script>alert(4)</script>")
    opened(page, target / "index.html" if folder_ else target, "#v=all")
    assert page.title() == "</title><script>alert(4)</script>"
    shown = page.locator("#types tbody th").all_inner_texts()
    assert set(BAD) - {BAD[4], BAD[5]} <= set(shown)
    assert "nul␀nul" in shown
    assert "▯evil▯" in shown
    for _ in range(count(page)):
        page.keyboard.press("j")
    page.keyboard.press("o")
    page.wait_for_selector("#dialog[open] .lanes")
    expect(page.locator("#dialog-title")).to_have_text("long")
    page.keyboard.press("Escape")
    for query in ("onerror", "7*7", "evil"):
        page.fill("#q", query)
        expect(page.locator(".example .lanes").first).to_contain_text(query)
    assert page.evaluate("document.querySelectorAll('img, iframe, object, a[href^=javascript]').length") == 0
    assert page.evaluate("document.querySelectorAll('script').length") == page.evaluate(
        "document.querySelectorAll('script[id], script[src], script:not([id]):not([src])').length"
    )
    assert page.evaluate("typeof globalThis.evil") == "undefined"


def test_only_what_the_page_brought_may_run(page: Any, tmp_path: Path) -> None:
    gold, pred = hostile()
    write_report(ss.score(gold, pred, "exact"), tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert "unsafe-eval" not in policy[1]
    assert "unsafe" not in policy[1]
    assert "http" not in policy[1]
    (tmp_path / "bad.html").write_text(text.replace("</body>", "<script>document.title = 'ran'</script></body>"))
    blocked: list[str] = []
    fresh = page.context.new_page()
    fresh.on("console", lambda message: blocked.append(message.text))
    fresh.goto((tmp_path / "bad.html").as_uri())
    fresh.wait_for_selector("html[data-ready]")
    assert fresh.title() != "ran"
    assert any("Content Security Policy" in one for one in blocked)


def test_three_systems(page: Any, tmp_path: Path) -> None:
    """Any pair can be compared; the best is bold, and letters tell which differences are significant."""
    spans = [{"start": 0, "end": 3, "label": "A"}, {"start": 4, "end": 7, "label": "B"}]
    texts = [{"id": f"d{i}", "text": "Ann Bob and more"} for i in range(60)]
    gold = ss.Corpus.from_documents([{**one, "spans": spans} for one in texts])
    made = {
        "poor": ss.Corpus.from_documents([{**one, "spans": spans[: i % 2]} for i, one in enumerate(texts)]),
        "good": ss.Corpus.from_documents([{**one, "spans": spans} for one in texts]),
        "fair": ss.Corpus.from_documents([{**one, "spans": spans[:1]} for one in texts]),
    }
    found = ss.compare(gold, made, "exact")
    record = comparison.record(found, found.changes_by_measure())
    write_report(found.result, tmp_path / "r.html", comparison=record)
    opened(page, tmp_path / "r.html", "#s=2")
    best = page.locator("#overall tbody tr", has_text="good").locator("[data-column=recall]")
    assert "best" in (best.get_attribute("class") or "")
    expect(best.locator("sup")).to_have_text("ac")
    expect(page.locator("#overall .best[data-column=recall]")).to_have_count(1)
    expect(page.locator("[data-tile=recall] .change")).to_contain_text("than poor, p\u00a0<\u00a00.001")
    assert "30 broken" in page.inner_text("#status-broken") or "0 broken" in page.inner_text("#status-broken")
    page.select_option("#vs", "1")
    expect(page.locator("[data-tile=recall] .change")).to_contain_text("0.500 lower than good, p")
    expect(page.locator("#differences caption")).to_contain_text("fair minus good; ")
    expect(page.locator("#status-broken")).to_have_text("60 broken")
    assert page.locator("#differences tbody tr", has_text="R").first.locator("td").first.inner_text() == "−0.500"
    page.click("#status-broken")
    expect(page.locator("#count")).to_have_text(re.compile("^60 "))
    assert page.locator("#changed tbody tr", has_text="B").locator("td").last.inner_text() == "−60"
    page.click("#overall tbody tr:has-text('poor') button")
    expect(page.locator("#s")).to_have_value("0")
    page.click("#overall tbody tr:has-text('good') button")
    page.select_option("#vs", "2")
    expect(page.locator("[data-tile=recall] .change")).to_contain_text("0.500 higher than fair, p")
    assert page.inner_text("[data-tile=precision] .change") == "same as fair, p\u00a0=\u00a01.000"


def test_differences_are_those_of_the_tiles_and_of_the_file(page: Any, tmp_path: Path) -> None:
    """In the direction of what was broken and fixed, with enough digits to see on which side of zero an end is."""
    texts = [{"id": f"d{i}", "text": "Ann Bob and more"} for i in range(20)]
    spans = [{"start": 0, "end": 3, "label": "A"}]
    gold = ss.Corpus.from_documents([{**one, "spans": spans} for one in texts])
    some = ss.Corpus.from_documents([{**one, "spans": spans[: i % 2]} for i, one in enumerate(texts)])
    found = ss.compare(gold, {"some": some, "all": gold}, ["leak", "exact"])
    record = comparison.record(found, found.changes_by_measure())
    for one in record["differences"]:
        if (one["measure"], one["number"]) == ("leak", "recall"):
            one |= {"difference": -0.0132, "interval": [-0.0267, 0.00018], "p_holm": 0.003}
        elif (one["measure"], one["number"]) == ("leak", "f"):
            one |= {"difference": 0.0, "interval": [-0.1, 0.1], "p_holm": 0.003}
    write_report(found.result, tmp_path / "r.html", comparison=record)
    opened(page, tmp_path / "r.html")
    expect(page.locator("#differences caption")).to_contain_text("all minus some; ")
    expect(page.locator("#systems p", has_text="broken and fixed from some to all:")).to_have_count(1)
    rows = page.locator("#differences tbody tr")
    assert rows.nth(0).locator("td").all_inner_texts() == ["0.013", "[−0.0002, 0.027]", "0.003"]
    assert "best" in rows.nth(0).locator("td").last.get_attribute("class")
    assert "best" not in rows.nth(2).locator("td").last.get_attribute("class")  # no difference is not significant
    assert page.inner_text("[data-tile=leak] .change") == "50.0 points more than all, p\u00a0=\u00a00.003"
    expect(page.locator("[data-tile=leak] .change.worse")).to_have_count(1)
    expect(page.locator("[data-tile=documents] .change:is(.worse, .better)")).to_have_count(0)  # not tested
    page.select_option("#s", "1")
    expect(page.locator("#differences caption")).to_contain_text("all minus some; ")
    assert rows.nth(0).locator("td").all_inner_texts()[:2] == ["0.013", "[−0.0002, 0.027]"]
    expect(page.locator("[data-tile=documents] .change")).to_have_text("50.0 points less than some")
    page.select_option("#vs", "0")
    expect(page.locator("#differences caption")).to_contain_text("all minus some; ")
    page.select_option("#s", "0")
    page.select_option("#vs", "1")
    expect(page.locator("#differences caption")).to_contain_text("some minus all; ")
    expect(page.locator("#systems p", has_text="broken and fixed from all to some:")).to_have_count(1)


def test_wrong_links_are_shown_as_wrong_links(page: Any, tmp_path: Path) -> None:
    text = "Paris and Georgia and Lima"
    places = [(0, 5, "Q90", "Q830149"), (10, 17, "Q230", "Q230"), (22, 26, "Q2868", None)]
    gold = [{"start": a, "end": b, "label": "CITY", "attrs": {"kbid": right}} for a, b, right, _ in places]
    pred = [{"start": a, "end": b, "label": "CITY", "attrs": {"kbid": got}} for a, b, _, got in places if got]
    sides = [ss.Corpus.from_documents([{"id": "d", "text": text, "spans": spans}]) for spans in (gold, pred)]
    result = ss.score(sides[0], sides[1], "strong_link_match")
    write_report(result, tmp_path / "r.html")
    opened(page, tmp_path / "r.html")
    expect(page.locator("#lead")).to_contain_text("2 of 3 annotated links are missed or wrong: 67% [")
    page.click("#verdicts button:has-text('wrong link')")
    expect(page.locator("#count")).to_have_text(re.compile("^1 "))
    expect(page.locator(".example .verdict")).to_have_text("≠ wrong link")
    expect(page.locator(".example .entity")).to_have_text("Q90 → Q830149")
    expect(page.locator(".example .why")).to_contain_text("linked to Q830149, not to Q90")
    expect(page.locator(".example .lane.gold.focus")).to_contain_text("Q90")
    expect(page.locator(".example .lane.system.focus")).to_contain_text("Q8301")
    page.keyboard.press("o")
    page.wait_for_selector("#dialog[open] .lanes")
    page.click("#dialog summary")
    expect(page.locator("#dialog table")).to_contain_text("Q830149")
    for how in ("mask", "hide"):
        write_report(result, tmp_path / f"{how}.html", text=how)
        opened(page, tmp_path / f"{how}.html", "#v=all")
        expect(page.locator(".example .entity")).to_have_count(0)
        assert not any(entity in content(tmp_path / f"{how}.html") for entity in (b"Q90", b"Q830149"))


@pytest.fixture(scope="module")
def linking(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the example of entity linking, which has no text."""
    path = tmp_path_factory.mktemp("linking")
    example = Path(__file__).parents[2] / "examples" / "linking"
    run("score", str(example / "gold.tsv"), str(example / "system.tsv"), "-o", "out", cwd=path)
    return path / "out" / "report.html"


def test_buttons_of_linked_examples_can_be_clicked_on_a_narrow_screen(page: Any, linking: Path) -> None:
    page.set_viewport_size({"width": 400, "height": 900})
    opened(page, linking)
    for place in range(1, 14):
        row = page.locator(f".example[aria-posinset='{place}']")
        row.scroll_into_view_if_needed()
        for name in ("open", "gold is wrong"):
            button = row.locator(f"button:text-is('{name}')")
            button.click(trial=True)  # nothing covers it
            box, head, below = (one.bounding_box() for one in (button, row.locator(".top"), row.locator(".below")))
            assert box["height"] > 15
            assert box["y"] + box["height"] <= min(head["y"] + head["height"], below["y"])
        expect(row.locator(".entity")).to_be_visible()
        below, box = row.locator(".below").bounding_box(), row.bounding_box()
        assert below["y"] + below["height"] <= box["y"] + box["height"]
        page.locator("#list").focus()
        page.keyboard.press("j")


@pytest.mark.parametrize("width", [1280, 1440])
def test_both_types_of_linked_examples_can_be_read(page: Any, linking: Path, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 1000})
    opened(page, linking)
    assert "no match → GPE" in page.locator(".example .types").all_inner_texts()
    cut = "all => all.filter(one => one.scrollWidth > one.clientWidth).map(one => one.textContent)"
    assert page.eval_on_selector_all(".example .types, .example .entity, .example .id", cut) == []


def test_names_that_do_not_fit_stand_beside_their_bars_if_there_is_room(page: Any, tmp_path: Path) -> None:
    text = "Al went out for a long walk, and Bo Cy went home."
    marked = {"BESIDE": (0, 2), "CUT_BEFORE_THE_NEXT": (33, 35), "X": (36, 38)}
    spans = [{"start": start, "end": end, "label": label} for label, (start, end) in marked.items()]
    gold = ss.Corpus.from_documents([{"id": "d", "text": text, "spans": spans}])
    write_report(ss.score(gold, gold, "exact"), tmp_path / "r.html")
    opened(page, tmp_path / "r.html", "#v=all")
    row = page.locator(".example").first
    expect(row.locator(".lane.gold")).to_have_count(3)
    beside = row.locator(".lane.gold.short")
    expect(beside).to_have_text(["BESIDE"])
    name, box = beside.locator("span").bounding_box(), beside.bounding_box()
    assert name["x"] >= box["x"] + box["width"]
    assert name["x"] + name["width"] < row.locator(".lane.gold", has_text="CUT").bounding_box()["x"]


def test_names_in_bars_keep_their_underscores(page: Any, tmp_path: Path) -> None:
    """The line below the letters needs as much height in a thick border as in a thin one."""
    span = [{"start": 0, "end": 30, "label": "US_SSN"}, {"start": 31, "end": 60, "label": "DATE_TIME"}]
    gold = ss.Corpus.from_documents([{"id": "d", "text": "x" * 60, "spans": span}])
    write_report(ss.score(gold, {"a": gold, "b": gold, "c": gold}, "exact"), tmp_path / "r.html")
    opened(page, tmp_path / "r.html", "#v=all")
    bars = page.locator(".example[aria-posinset='1'] .lane")
    expect(bars).to_have_count(8)
    expect(page.locator(".example[aria-posinset='1'] .lane.focus")).to_have_count(2)
    for bar in bars.all():
        assert bar.evaluate("one => one.clientHeight") == 13
        expect(bar).to_have_css("line-height", "13px")


@pytest.mark.parametrize("width", [390, 1280])
def test_a_long_name_of_a_type_keeps_its_stop(page: Any, tmp_path: Path, width: int) -> None:
    spans = [{"start": 0, "end": 3, "label": "A_VERY_LONG_NAME_" * 8}, {"start": 4, "end": 7, "label": "B"}]
    documents = [{"id": f"d{i}", "text": "Ann Bob", "spans": spans} for i in range(3)]
    gold, pred = (ss.Corpus.from_documents(some) for some in (documents, [{**one, "spans": []} for one in documents]))
    write_report(ss.score(gold, pred, "leak"), tmp_path / "r.html")
    page.set_viewport_size({"width": width, "height": 900})
    opened(page, tmp_path / "r.html")
    expect(page.locator("#worst")).to_contain_text(f"{spans[0]['label']} 3 of 3, B 3 of 3. 3 of 3 documents")
    for one in page.locator("#worst button").all():
        name, stop = one.locator("b").bounding_box(), one.locator(".stop").bounding_box()
        counts = one.locator(".unbroken").bounding_box()
        assert stop["x"] > max(name["x"], counts["x"])
        assert abs(stop["y"] + stop["height"] / 2 - counts["y"] - counts["height"] / 2) < 4  # on the same line


def test_data_without_spans_says_so(page: Any, tmp_path: Path) -> None:
    spans = [{"start": 0, "end": 3, "label": "A"}]
    empty, some = (ss.Corpus.from_documents([{"id": "d", "text": "Ann Bob", "spans": found}]) for found in ([], spans))
    write_report(ss.score(empty, some, ["leak", "exact"]), tmp_path / "r.html")
    opened(page, tmp_path / "r.html")
    expect(page.locator("#numbers .none")).to_have_text(
        "No type has annotations that this measure counts, so there are no scores by type."
    )
    page.fill("#q", "zzz")
    expect(page.locator("#list .none")).to_have_text("No examples match these filters.")
    write_report(ss.score(empty, empty, ["leak", "exact"]), tmp_path / "r.html")
    opened(page, tmp_path / "r.html")
    page.reload()
    expect(page.locator("#list .none")).to_have_text(
        "There are no examples, because nothing is annotated or predicted."
    )
    page.select_option("#m", label="exact")
    expect(page.locator("#list .none")).to_contain_text("nothing is annotated or predicted")


def test_data_without_text_has_no_room_for_it(page: Any, tmp_path: Path) -> None:
    """The page says that it holds no text, though nobody asked to hide it; entities are shown."""
    spans = [{"start": 0, "end": 5, "label": "CITY", "attrs": {"kbid": "Q90"}}]
    gold, pred = (ss.Corpus.from_documents([{"id": "d", "spans": some}]) for some in (spans, []))
    write_report(ss.score(gold, pred, "strong_link_match"), tmp_path / "r.html")
    opened(page, tmp_path / "r.html")
    expect(page.locator("#banner")).to_contain_text("This page contains no document text")
    expect(page.locator(".example .entity")).to_have_text("Q90 → none")
    expect(page.locator(".key .lane")).to_have_count(0)
    assert page.locator(".example").bounding_box()["height"] < 90


def test_lanes_of_many_systems_stay_in_their_row(page: Any, tmp_path: Path) -> None:
    """Where spans of every system overlap, a row shows the example, and the document everything."""
    spans = [{"start": 0, "end": 4, "label": "A"}, {"start": 2, "end": 8, "label": "B"}]
    gold = ss.Corpus.from_documents([{"id": "d", "text": "some words", "spans": spans}])
    write_report(ss.score(gold, dict.fromkeys("xyz", gold), "exact"), tmp_path / "r.html")
    opened(page, tmp_path / "r.html", "#v=all&doc=1")
    expect(page.locator("#dialog .lanes .lane")).to_have_count(8)
    expect(page.locator("#dialog .key .lane")).to_have_text(["gold", "x", "y", "z"])
    row = page.locator(".example").first
    box, why = row.bounding_box(), row.locator(".why").bounding_box()
    expect(row.locator(".lane")).to_have_count(5)
    expect(row.locator(".lane.focus")).to_have_count(2)
    assert why["y"] + why["height"] <= box["y"] + box["height"]


def test_levels_have_a_switch(page: Any, tmp_path: Path) -> None:
    """Scores of one measure at several levels are told apart, and each has its own examples."""
    gold = [{"id": "d", "text": "Ann in Oslo", "spans": [{"start": 0, "end": 3, "label": "PATIENT"}]}]
    pred = [{"id": "d", "spans": [{"start": 0, "end": 3, "label": "PERSON"}]}]
    sides = ss.Corpus.from_documents(gold), ss.Corpus.from_documents(pred)
    write_report(ss.score(*sides, "exact", levels=["raw", "type", "pii"]), tmp_path / "r.html")
    opened(page, tmp_path / "r.html", "#v=all")
    levels = page.locator("#l option").all_inner_texts()
    assert sorted(levels) == ["pii", "raw", "type"]
    for level, recall, types in (
        ("raw", "0.000", "PATIENT → PERSON"),
        ("type", "1.000", "PERSON → PERSON"),
        ("pii", "1.000", "PII → PII"),
    ):
        page.select_option("#l", label=level)
        expect(page.locator("[data-tile=recall] .value")).to_have_text(recall)
        page.click("#verdict-all")
        expect(page.locator(".example .types")).to_have_text([types])
        expect(page.locator(".example .lane.gold.focus")).to_have_text(["PERSON"])


def test_a_long_list_draws_what_is_in_view(page: Any, tmp_path: Path) -> None:
    gold = [
        {"id": f"d{i}", "text": f"some words {i} here", "spans": [{"start": 5, "end": 10, "label": "X"}]}
        for i in range(5000)
    ]
    pred = [{"id": one["id"], "spans": []} for one in gold]
    result = ss.score(ss.Corpus.from_documents(gold), ss.Corpus.from_documents(pred), "exact")
    write_report(result, tmp_path / "r.html")
    opened(page, tmp_path / "r.html")
    expect(page.locator("#count")).to_have_text(re.compile("^5,000 "))
    for share in (0.0, 0.31, 0.77, 1.0, 0.5):
        page.evaluate(
            "share => { const one = document.getElementById('list'); one.scrollTop = share * one.scrollHeight; }", share
        )
        # Rows are drawn when the list says that it was scrolled: no blank above the first or below the last.
        page.wait_for_function(
            """() => {
                const list = document.getElementById("list");
                const box = list.getBoundingClientRect();
                const rows = [...list.querySelectorAll(".example")].map(one => one.getBoundingClientRect());
                return Math.min(...rows.map(one => one.top)) < box.top + 2 && Math.max(...rows.map(one => one.bottom)) > box.bottom - 2;
            }"""
        )
        assert page.locator(".example").count() < 60
    page.wait_for_selector(".example .lanes")


def test_a_page_says_what_it_leaves_out(page: Any, tmp_path: Path) -> None:
    rng = random.Random(1)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=7)) for _ in range(4000)]
    gold = [
        {"id": f"d{i}", "text": " ".join(rng.choices(words, k=400)), "spans": [{"start": 5, "end": 10, "label": "X"}]}
        for i in range(1500)
    ]
    pred = [{"id": one["id"], "spans": one["spans"] if i % 3 else []} for i, one in enumerate(gold)]
    result = ss.score(ss.Corpus.from_documents(gold), ss.Corpus.from_documents(pred), "exact")
    note = write_report(result, tmp_path / "small.html", max_mb=0.8)
    assert (tmp_path / "small.html").stat().st_size <= 800_000
    assert note is not None
    told = re.fullmatch(r"the report omits (\d+) documents with errors and 1000 documents without errors\.", note)
    assert told is not None
    opened(page, tmp_path / "small.html")
    expect(page.locator("#shown")).to_contain_text(
        f"omitted: {told[1]} documents with errors and 1,000 documents without errors"
    )
    expect(page.locator("#count")).to_have_text(re.compile(f"^{500 - int(told[1]):,} "))
    write_report(result, tmp_path / "folder", folder=True)
    opened(page, tmp_path / "folder" / "index.html", "#v=all")
    expect(page.locator("#count")).to_have_text(re.compile("^1,500 "))
    page.wait_for_selector(".example .lanes")
