"""summary.html in a browser without a network: looked at, and printed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe

from spanscore.generate import generate


def test_the_summary_of_a_run_fits_on_one_page(page: Any, tmp_path: Path) -> None:
    lines: list[str] = []
    for one in generate(120, seed=7):
        spans = [{"start": span.start, "end": span.end, "label": span.label} for span in one.spans]
        meta = {"ward": f"ward {len(lines) % 9}", "year": 2000 + len(lines) % 7}
        lines.append(json.dumps({"id": one.id, "text": one.text, "spans": spans, "meta": meta}))
    (tmp_path / "data.jsonl").write_text("\n".join(lines))
    by = ("--by", "meta.ward", "--by", "meta.year")
    call = [
        sys.executable,
        "-m",
        "spanscore",
        "run",
        "data.jsonl",
        "--detector",
        "presidio(model=blank)",
        *by,
        "-o",
        "out",
    ]
    subprocess.run(call, cwd=tmp_path, check=True, capture_output=True)
    page.goto((tmp_path / "out" / "summary.html").as_uri())
    said = json.loads((tmp_path / "out" / "metrics.json").read_text())["details"]["leak"]
    lead = page.text_content(".lead")
    assert lead.startswith(f"{said['readable']} of {said['counts']['annotated']} private spans stay readable: ")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    first = page.text_content("table tbody tr:first-child")
    assert first.startswith("PERSON")
    assert page.text_content("caption") == "Types with the most readable spans"
    readable = [int(text) for text in page.locator("table").first.locator("tbody td:nth-child(2)").all_inner_texts()]
    assert readable == sorted(readable, reverse=True)
    assert [one["id"] for one in Axe().run(page).response["violations"]] == []
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 360, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 22, 22)"
    name = page.locator("tbody th", has_text="PERSON").first
    assert name.bounding_box()["width"] > 60  # a name is not broken into letters
    printed = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", printed)) == 1


def test_the_summary_with_very_long_names_fits_on_one_page(page: Any, tmp_path: Path) -> None:
    gold, found = [], []
    for number, one in enumerate(generate(120, seed=7)):
        spans = [
            {"start": span.start, "end": span.end, "label": (span.label + "_AN_EXTREMELY_LONG_NAME" * 3)[:60]}
            for span in one.spans
        ]
        meta = {"ward": f"ward {number % 9} " + "of a name that goes on " * 3, "year": f"{number % 7}" + "YEAR" * 20}
        gold.append(json.dumps({"id": one.id, "text": one.text, "spans": spans, "meta": meta}))
        found.append(json.dumps({"id": one.id, "spans": spans[::2]}))
    (tmp_path / "gold.jsonl").write_text("\n".join(gold))
    (tmp_path / "found.jsonl").write_text("\n".join(found))
    by = ("--by", "meta.ward", "--by", "meta.year")
    call = ("run", "gold.jsonl", "--detector", "replay(file=found.jsonl)", *by, "-o", "out")
    subprocess.run([sys.executable, "-m", "spanscore", *call], cwd=tmp_path, check=True, capture_output=True)
    page.goto((tmp_path / "out" / "summary.html").as_uri())
    heights = page.locator("tbody tr").evaluate_all("rows => rows.map(row => row.offsetHeight)")
    assert max(heights) <= 2.2 * min(heights)  # names may take two lines, numbers one
    printed = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", printed)) == 1
    page.set_viewport_size({"width": 360, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
