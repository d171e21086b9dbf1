"""Presidio with a model: what batches gain, what spanscore adds to it, and what a second process gains."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import spanscore as ss
from spanscore.detectors import texts_of
from spanscore.detectors.presidio import Presidio
from spanscore.pipeline import Job, run
from spanscore.pipeline.outputs import write_all

DATA = Path(__file__).parent / "data"
DOCUMENTS = 2000
ROUNDS = 3


def made_up() -> Path:
    """Write the documents."""
    DATA.mkdir(exist_ok=True)
    path = DATA / "names.jsonl"
    _spanscore("generate", "-n", str(DOCUMENTS), "--locale", "en_US", "--seed", "1", "-o", str(path))
    return path


def batches(path: Path) -> dict[str, float]:
    """Return the seconds of Presidio's own calls, text by text, and of the detector; they take turns."""
    documents = texts_of(ss.read(path))
    detector = Presidio()
    analyzer = detector._loaded.analyzer
    if not detector.describe().uses:
        raise SystemExit("no spaCy model for en is installed; run: make .venv/model")
    found = {"text by text": float("inf"), "batches": float("inf")}
    for _ in range(ROUNDS):
        began = time.perf_counter()
        for document in documents:
            analyzer.analyze(text=document.text or "", language="en")
        between = time.perf_counter()
        for _ in detector.detect(documents):
            pass
        ended = time.perf_counter()
        found["text by text"] = min(found["text by text"], between - began)
        found["batches"] = min(found["batches"], ended - between)
    return found


def overhead(path: Path) -> dict[str, float]:
    """Return the seconds inside Presidio's calls, and those of everything else in a run but loading.

    Everything is reading, aligning, the journal, scoring, and writing all files with the report. What is imported first
    is measured elsewhere, so a few documents come first.
    """
    from presidio_analyzer import BatchAnalyzerEngine

    inside = 0.0
    analyze = BatchAnalyzerEngine.analyze_iterator

    def timed(*arguments: Any, **options: Any) -> Any:
        nonlocal inside
        began = time.perf_counter()
        try:
            return analyze(*arguments, **options)
        finally:
            inside += time.perf_counter() - began

    detector = Presidio()
    few = DATA / "few-names.jsonl"
    few.write_text("".join(path.read_text().splitlines(keepends=True)[:20]))
    _whole_run(few, detector)
    setattr(BatchAnalyzerEngine, "analyze_iterator", timed)  # noqa: B010 - mypy refuses an assignment to a method
    try:
        began = time.perf_counter()
        _whole_run(path, detector)
        total = time.perf_counter() - began
    finally:
        setattr(BatchAnalyzerEngine, "analyze_iterator", analyze)  # noqa: B010 - as above
    return {"inside": inside, "outside": total - inside}


def _whole_run(path: Path, detector: Presidio) -> None:
    folder = DATA / "names-run"
    shutil.rmtree(folder, ignore_errors=True)
    outcome, journal = run(Job(dataset=ss.read(path), detector=detector, folder=folder))
    write_all(outcome, journal, text="show", arguments={})


def jobs(path: Path) -> dict[str, float]:
    """Return the seconds of detection by one and by two processes."""
    found = {}
    for number in (1, 2):
        folder = DATA / f"names-{number}"
        shutil.rmtree(folder, ignore_errors=True)
        _spanscore("run", str(path), "--jobs", str(number), "-o", str(folder), "-q")
        found[f"by {number}"] = json.loads((folder / "run.json").read_text())["seconds"]["detection"]
    return found


def _spanscore(*call: str) -> None:
    subprocess.run([sys.executable, "-m", "spanscore", *call], check=True, capture_output=True)


if __name__ == "__main__":
    data = made_up()
    for part in (batches, overhead, jobs):
        print(part.__name__, {name: round(seconds, 3) for name, seconds in part(data).items()}, flush=True)
