"""From files, in small chunks, through the scanner: the same counts as the reference on the same documents."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

import spanscore as ss
from spanscore.align import pair
from spanscore.align.resolve import Resolve
from spanscore.formats import read_chunks
from spanscore.measures import Measure, measure, names
from spanscore.measures.clustering import Clustering
from spanscore.measures.neleval import Overlap
from spanscore.testing import reference_tally

PIECES = ["Ann", "Bob", "of", "the", "May", " ", "  ", "\n", ".", ",", "-", "é", "😀", '"', "\\", "{", "[]}"]
MORE = [
    "iou(threshold=0.5, skip=english)",
    "iou(unit=token, threshold=0.4, skip=punct)",
    "presidio(threshold=0.5, skip=none, unit=token)",
]
ALL = [measure(spec) for spec in (*names(), *MORE)]
APART = [one for one in ALL if isinstance(one, Clustering | Overlap)]
"""Measures that refuse spans of one side that overlap, or must see all documents at once."""


def corpora(rng: random.Random, documents: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    layout = rng.choice([["start", "end", "label"], ["label", "start", "end"], ["start", "end", "label", "score"]])

    def spans(length: int, labels: str, fields: list[str]) -> list[dict[str, Any]]:
        found = []
        for _ in range(rng.choice([0, 1, 2, 3, 8])):
            start, end = sorted((rng.randint(0, length), rng.randint(0, length)))
            span = {
                "start": start,
                "end": end,
                "label": rng.choice(labels),
                "score": round(rng.random(), rng.choice([1, 6])),
            }
            found.append({field: span[field] for field in fields})
        return found

    gold: list[dict[str, Any]] = []
    pred: list[dict[str, Any]] = []
    for number in range(documents):
        text = "".join(rng.choice(PIECES) for _ in range(rng.randint(0, 25)))
        unscored = [field for field in layout if field != "score"]
        gold.append({"id": f"d{number}", "text": text, "spans": spans(len(text), "ABC", unscored)})
        if rng.random() < 0.02:
            gold[-1]["meta"] = {"odd": True}
        if rng.random() < 0.97:
            pred.append({"id": f"d{number}", "spans": spans(len(text), "ABD", layout)})
    if rng.random() < 0.3:
        rng.shuffle(pred)
    return gold, pred


@pytest.mark.parametrize("measures", [[one for one in ALL if one not in APART], APART], ids=["free", "apart"])
@pytest.mark.parametrize("seed", range(4))
def test_counts_from_files(seed: int, measures: list[Measure], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    sides = corpora(rng, documents=150)
    monkeypatch.setattr("spanscore.formats.source.HEAD", 3000)
    monkeypatch.setattr("spanscore.formats.source.BLOCK", 9000)
    for name, records in zip(("gold", "pred"), sides, strict=True):
        lines = [json.dumps(record, ensure_ascii=seed % 2 == 0) + "\n" for record in records]
        (tmp_path / name).write_text("".join(lines))
    gold, pred = map(ss.Corpus.from_documents, sides)
    resolve: Resolve = "longest" if measures is APART else "none"
    chunks = read_chunks(tmp_path / "gold"), read_chunks(tmp_path / "pred")
    in_chunks = ss.score(*chunks, measures, resolve=resolve, keep_spans=False)
    whole = ss.score(gold, pred, measures, resolve=resolve)
    if measures is APART:
        settled = pair(gold, pred, resolve=resolve)
        gold, pred = settled.gold, settled.pred
    for one, ours, same in zip(measures, in_chunks.scores, whole.scores, strict=True):
        expected: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for (_, label), row in reference_tally(one, gold, pred).items():
            for field, value in row.items():
                expected[label][field] += value
        for scores in (ours, same):
            rows = zip(scores.tally.labels, scores.tally.by_label().tolist(), strict=True)
            found = {
                label: {k: n for k, n in zip(scores.tally.fields, row, strict=True) if n}
                for label, row in rows
                if any(row)
            }
            assert found.keys() == expected.keys(), one
            assert all(found[label] == pytest.approx(expected[label], abs=1e-9) for label in found), one
        assert ours.signature == same.signature
