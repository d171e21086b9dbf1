"""These tests need Chromium; `make browser` runs them."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from calls import run, write
from spanscore.generate import generate

if TYPE_CHECKING:
    from playwright.sync_api import Browser

collect_ignore_glob = [] if os.environ.get("SPANSCORE_BROWSER") else ["test_*.py"]

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    assert path is not None, "Chromium is not installed; on Debian: apt-get install chromium"
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield made
        made.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Any]:
    """A page with the network cut off, which fails the test if anything is asked for or goes wrong."""
    context = browser.new_context(offline=True, viewport={"width": 1280, "height": 1000})
    made = context.new_page()
    wrong: list[str] = []
    made.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
    made.on("pageerror", lambda error: wrong.append(str(error)))

    def refuse(dialog: Any) -> None:
        wrong.append("dialog")
        dialog.dismiss()

    made.on("dialog", refuse)
    made.on(
        "request",
        lambda request: None if request.url.startswith(("file:", "data:", "blob:")) else wrong.append(request.url),
    )
    yield made
    context.close()
    assert not wrong


@pytest.fixture(scope="session")
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


@pytest.fixture(scope="session")
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
