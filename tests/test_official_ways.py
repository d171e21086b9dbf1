"""The official families give the same results from whole corpora, from streamed files and from several processes."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import spanscore as ss
from calls import write
from spanscore.engine import Inputs, Plan, evaluate, file_ranges
from spanscore.engine.partial import assemble
from spanscore.formats import spanscore as own
from spanscore.result.files import to_json

WORDS = ["Ann", "Lee", "of", "the", "Oslo", "clinic", "3", "May", "2024", "and", "Mr", "x-ray", "Lee's", "Oslo's"]
LABELS = ["PATIENT", "DOCTOR", "IDNUM", "CITY", "DATE", "AGE", "THING"]
CATEGORIES = [None, None, "NAME", "ID", "DATE"]
MEASURES = [
    "i2b2.strict",
    "i2b2.strict(hipaa=script)",
    "i2b2.strict(category=ID)",
    "i2b2.relaxed(hipaa=readme)",
    "i2b2.relaxed(binary=true)",
    "i2b2.token",
    "i2b2.token(hipaa=script, binary=true)",
    "meddocan.ner",
    "meddocan.spans",
    "meddocan.merged",
    "meddocan.leak",
    "tab.token",
    "tab.mention",
    "tab.mention(identifiers=quasi)",
    "tab.entity",
    "tab.entity(identifiers=direct)",
    "presidio.token",
    "presidio.token.pii",
]
DOCUMENTS = 300


def documents() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    rng = random.Random(11)
    gold, pred = [], []
    for number in range(DOCUMENTS):
        words = [rng.choice(WORDS) for _ in range(rng.randint(3, 30))]
        starts = [sum(len(word) + 1 for word in words[:i]) for i in range(len(words))]
        spans, found = [], []
        for _ in range(rng.randint(0, 6)):
            first = rng.randrange(len(words))
            last = min(first + rng.randint(0, 2), len(words) - 1)
            place: dict[str, Any] = {
                "start": starts[first],
                "end": starts[last] + len(words[last]),
                "label": rng.choice(LABELS),
            }
            attrs = {
                "category": rng.choice(CATEGORIES),
                "annotator": rng.choice(["ann1", "ann2"]),
                "identifier": rng.choice(["DIRECT", "QUASI", "NO_MASK"]),
                "entity": rng.choice(["e1", "e2", None]),
            }
            attrs = {name: value for name, value in attrs.items() if value is not None}
            if rng.random() < 0.8:
                spans.append({**place, "attrs": attrs})
            if rng.random() < 0.7:
                category = {"category": attrs["category"]} if "category" in attrs else {}
                end = place["end"] - (2 if words[last].endswith("'s") and rng.random() < 0.5 else 0)
                found.append({**place, "end": end, "attrs": category, "score": 0.5})
        meta = {"sentences": rng.randint(1, 4)}
        gold.append({"id": f"d{number}", "text": " ".join(words), "spans": spans, "meta": meta})
        pred.append({"id": f"d{number}", "spans": found})
    return gold, pred


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two files of several chunks, which two processes can share."""
    monkeypatch.setattr("spanscore.formats.source.HEAD", 3000)
    monkeypatch.setattr("spanscore.formats.source.BLOCK", 9000)
    monkeypatch.setattr(own, "LEAST", 1000)
    monkeypatch.setattr(file_ranges, "WORTHWHILE", 1000)
    for name, listed in zip(("gold", "pred"), documents(), strict=True):
        write(tmp_path / f"{name}.jsonl", listed)
    return tmp_path


def results(result: ss.Result) -> dict[str, Any]:
    """All rows, with averages over types and documents, and the warnings."""
    found: dict[str, Any] = json.loads(to_json(result))
    assert [row["counts"] for row in found["results"] if row["type"] is None and "average" not in row]
    return {name: found[name] for name in ("results", "warnings")}


@pytest.mark.parametrize("ci", [None, ss.Bootstrap(resamples=40)], ids=["sums", "by document"])
def test_whole_streamed_and_several_processes(files: Path, ci: ss.Bootstrap | None) -> None:
    gold, pred = str(files / "gold.jsonl"), str(files / "pred.jsonl")
    plan = Plan.of(MEASURES, ci=ci)
    inputs = Inputs.of(gold, {"pred": pred})
    with file_ranges.RangeCounter(plan, inputs, 2) as counter:
        part = counter.count("pred", inputs.systems["pred"])
    assert part is not None
    streamed = ss.score(gold, pred, MEASURES, keep_spans=False, ci=ci)
    assert to_json(assemble(plan, {"pred": part})) == to_json(evaluate(plan, inputs)) == to_json(streamed)
    assert results(streamed) == results(ss.score(ss.read(gold), ss.read(pred), MEASURES, ci=ci))
    for one, same in zip(streamed.scores, ss.score(gold, pred, MEASURES, ci=ci).scores, strict=True):
        assert str(one.macro("document")) == str(same.macro("document"))


@pytest.mark.parametrize("annotator", ["all", "majority", "union", "ann1"])
def test_with_a_choice_of_annotators(files: Path, annotator: str) -> None:
    gold, pred = str(files / "gold.jsonl"), str(files / "pred.jsonl")
    found = [
        results(ss.score(gold, pred, MEASURES, annotator=annotator, keep_spans=keep, jobs=jobs))
        for keep, jobs in ((True, 1), (False, 1), (False, 2))
    ]
    assert found[0] == found[1] == found[2]
