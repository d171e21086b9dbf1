"""The report of data of all kinds: any script, hostile, large, and without plotly.js."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

import spanscore as ss
from report_page import count, opened
from spanscore.report.page import write as page_writer
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
    # both cut Ann Lee short (twice: the gold span, and the prediction), both miss Oslo, both add Kim; only one has Bob
    assert count(page) == 4
    assert page.locator("#off-sus").is_visible()
    starts = page.locator(".example .why").all_inner_texts()
    assert not any("[12, " in text for text in starts)


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
    page.wait_for_selector("#heatmap .heatmaplayer image")
    assert page.title() == "</title><script>alert(4)</script>"
    shown = page.locator("#types tbody th").all_inner_texts()
    assert set(BAD) - {BAD[4], BAD[5]} <= set(shown)
    assert "nul␀nul" in shown
    assert "▯evil▯" in shown
    for _ in range(count(page)):
        page.keyboard.press("j")
    page.keyboard.press("o")
    page.wait_for_selector("#dialog[open] .lanes")
    assert page.inner_text("#dialog-title") == "long"
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
    assert "'unsafe-inline'" not in policy[1].replace("style-src-attr 'unsafe-inline'", "")
    assert "http" not in policy[1]
    (tmp_path / "bad.html").write_text(text.replace("</body>", "<script>document.title = 'ran'</script></body>"))
    blocked: list[str] = []
    fresh = page.context.new_page()
    fresh.on("console", lambda message: blocked.append(message.text))
    fresh.goto((tmp_path / "bad.html").as_uri())
    fresh.wait_for_selector("html[data-ready]")
    assert fresh.title() != "ran"
    assert any("Content Security Policy" in one for one in blocked)


def test_without_plotly_there_is_a_table(page: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_writer, "find_spec", lambda name: None)
    gold, pred = hostile()
    write_report(ss.score(gold, pred, "exact"), tmp_path / "r.html")
    assert (tmp_path / "r.html").stat().st_size < 1_500_000
    opened(page, tmp_path / "r.html")
    assert page.locator("#heatmap").count() == 0
    page.click("#confusion tbody th button:text-is('X')")
    assert count(page) == len(BAD) + 1
    assert page.locator("#at-threshold tbody tr").count() > 1


def test_a_long_list_draws_what_is_in_view(page: Any, tmp_path: Path) -> None:
    gold = [
        {"id": f"d{i}", "text": f"some words {i} here", "spans": [{"start": 5, "end": 10, "label": "X"}]}
        for i in range(5000)
    ]
    pred = [{"id": one["id"], "spans": []} for one in gold]
    result = ss.score(ss.Corpus.from_documents(gold), ss.Corpus.from_documents(pred), "exact")
    write_report(result, tmp_path / "r.html")
    opened(page, tmp_path / "r.html")
    assert count(page) == 5000
    for share in (0.0, 0.31, 0.77, 1.0, 0.5):
        blank = page.evaluate(
            """async share => {
                const list = document.getElementById("list");
                list.scrollTop = share * list.scrollHeight;
                await new Promise(requestAnimationFrame);
                await new Promise(requestAnimationFrame);
                const box = list.getBoundingClientRect();
                const rows = [...list.querySelectorAll(".example")].map(one => one.getBoundingClientRect()).sort((a, b) => a.top - b.top);
                const first = rows[0].top, last = rows[rows.length - 1].bottom;
                return [rows.length, Math.max(0, first - box.top - 1), Math.max(0, box.bottom - last - 1)];
            }""",
            share,
        )
        assert blank[0] < 60
        assert blank[1:] == [0, 0]
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
    note = write_report(result, tmp_path / "small.html", max_mb=5.4)
    assert (tmp_path / "small.html").stat().st_size <= 5_400_000
    assert note is not None
    told = re.fullmatch(r"the report omits (\d+) documents with errors and 1000 documents without errors\.", note)
    assert told is not None
    opened(page, tmp_path / "small.html")
    assert f"omitted: {told[1]} documents with errors and 1,000 documents without errors" in page.inner_text("#shown")
    assert count(page) == 500 - int(told[1])
    write_report(result, tmp_path / "folder", folder=True)
    opened(page, tmp_path / "folder" / "index.html", "#v=all")
    assert count(page) == 1500
    page.wait_for_selector(".example .lanes")
