"""The example `examples/compromise`: a JavaScript package behind the detector `command`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import spanscore as ss
from calls import started as spanscore
from calls import write

SCRIPT = Path(__file__).parents[3] / "examples" / "compromise" / "detect.mjs"
RUN = f"node {SCRIPT}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Barack Obama visited Paris.", [("Barack Obama", "PERSON"), ("Paris", "LOCATION")]),
        ("😀😀 Barack Obama visited 𝒳 Paris, France.", [("Barack Obama", "PERSON"), ("Paris, France", "LOCATION")]),
        ('She met "Barack Obama" there.', [("Barack Obama", "PERSON")]),
        ("😀 She met “Barack Obama” in\r\nParis.", [("Barack Obama", "PERSON"), ("Paris", "LOCATION")]),
        ("Barack Obama's house is in (Germany).", [("Barack Obama", "PERSON"), ("Germany", "LOCATION")]),
        ("e\u0301 👩‍👩‍👧 Barack Obama", [("Barack Obama", "PERSON")]),
        ("", []),
        ("nothing here", []),
    ],
)
def test_offsets_are_code_points_of_the_names(text: str, expected: list[tuple[str, str]]) -> None:
    corpus = ss.Corpus.from_documents([{"id": "d", "text": text, "spans": []}])
    found = next(iter(ss.detect(corpus, "command", run=RUN).documents())).spans
    assert [(text[one.start : one.end], one.label) for one in found] == expected


def test_a_run(tmp_path: Path) -> None:
    documents = []
    for number in range(50):
        text = "😀 " * number + "Barack Obama met Angela Merkel in Paris."
        names = [
            (text.index(name), name, label)
            for name, label in (("Barack Obama", "PERSON"), ("Angela Merkel", "PERSON"), ("Paris", "LOCATION"))
        ]
        spans = [{"start": start, "end": start + len(name), "label": label} for start, name, label in names]
        documents.append({"id": str(number), "text": text, "spans": spans})
    write(tmp_path / "data.jsonl", documents)
    spanscore("run", "data.jsonl", "--detector", f'command(run="{RUN}")', "-q", "-o", "out", cwd=tmp_path)
    metrics = json.loads((tmp_path / "out" / "metrics.json").read_text())
    assert (metrics["recall"], metrics["precision"]) == (1.0, 1.0)
