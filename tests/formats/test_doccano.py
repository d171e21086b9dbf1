from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spanscore as ss
from formats.awkward import SPANS, TEXT, corpus, detected, json_file, offsets, rewritten, spans

DOCUMENTED = """{"text": "EU rejects German call to boycott British lamb.", "label": [ [0, 2, "ORG"], [11, 17, "MISC"] ]}
{"text": "Peter Blackburn", "label": [ [0, 15, "PERSON"] ]}
{"text": "President Obama", "label": [ [10, 15, "PERSON"] ]}
"""


def line(places: list[tuple[int, int]], **fields: Any) -> str:
    label = [[start, end, label] for (start, end), (_, _, label) in zip(places, SPANS, strict=True)]
    return json.dumps({"id": 1, "text": TEXT, "label": label, **fields}) + "\n"


def test_the_layout_of_the_documentation(tmp_path: Path) -> None:
    path = tmp_path / "admin.jsonl"
    path.write_text(DOCUMENTED)
    assert detected(path) == "doccano"
    read = ss.read(path)
    assert spans(read) == [(0, 2, "ORG"), (11, 17, "MISC"), (0, 15, "PERSON"), (10, 15, "PERSON")]
    assert list(read.ids) == ["0", "1", "2"]


@pytest.mark.parametrize("unit", ["utf16", "grapheme"])
def test_the_unit_is_decided_from_spans_inside_words(unit: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(line(offsets(unit=unit)))
    read = ss.read(path)
    assert spans(read) == SPANS
    assert any("as the spans show" in note for note in read.notes)


def test_a_unit_that_cannot_be_decided_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"id": 1, "text": "😀 a-b-c", "label": [[3, 4, "X"]]}) + "\n")
    with pytest.raises(ss.InputError, match=r"a.jsonl:1.* does not say what offsets count.*doccano\(unit=utf16\)"):
        ss.read(path)
    assert spans(ss.read(path, "doccano(unit=codepoint)")) == [(3, 4, "X")]


@pytest.mark.parametrize("option", ["end=inclusive", "base=1", "base=-1", "end=inclusive, base=1", "newline=lf"])
def test_the_unit_is_not_guessed_where_another_convention_fits(option: str, tmp_path: Path) -> None:
    shifted = ss.formats.REGISTRY.make(f"doccano(unit=utf16, {option})").convention
    assert shifted is not None
    start, end = shifted.write(TEXT, *np.array([span[:2] for span in SPANS]).T)
    labels = [[int(low), int(high), label] for low, high, (_, _, label) in zip(start, end, SPANS, strict=True)]
    path = json_file(tmp_path / "a.jsonl", [{"id": i, "text": TEXT, "label": labels} for i in range(130)])
    with pytest.raises(ss.InputError, match=r"inside a word or on whitespace; .*read the file with doccano") as caught:
        ss.read(path)
    named = str(caught.value).partition("read the file with ")[2].partition(". The file")[0]
    assert set(spans(ss.read(path, named))) == set(SPANS)


def test_the_unit_does_not_matter_before_the_first_emoji(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"id": 1, "text": "Ann 😀", "label": [[0, 3, "X"]]}) + "\n")
    assert spans(ss.read(path)) == [(0, 3, "X")]


def test_entities_with_relations(tmp_path: Path) -> None:
    places = offsets(unit="utf16")
    entities = [
        {"id": number, "label": label, "start_offset": start, "end_offset": end}
        for number, ((start, end), (_, _, label)) in enumerate(zip(places, SPANS, strict=True))
    ]
    relations = [{"id": 0, "from_id": 0, "to_id": 1, "type": "knows"}]
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"id": 1, "text": TEXT, "entities": entities, "relations": relations}) + "\n")
    assert detected(path) == "doccano"
    read = ss.read(path)
    assert spans(read) == SPANS
    assert any("left out: relations (1)" in note for note in read.notes)


def test_old_exports_name_users(tmp_path: Path) -> None:
    annotations = [
        {"label": 2, "start_offset": 0, "end_offset": 2, "user": 1},
        {"label": 2, "start_offset": 3, "end_offset": 6, "user": 7},
    ]
    path = tmp_path / "a.json1"
    path.write_text(json.dumps({"id": 1, "text": "EU and US", "annotations": annotations, "meta": {}}) + "\n")
    with pytest.raises(ss.InputError, match=r"several annotators \(1, 7\)"):
        ss.read(path)
    assert spans(ss.read(path, "doccano(annotator=7)")) == [(3, 6, "2")]


def test_it_is_written(tmp_path: Path) -> None:
    read, lost = rewritten(corpus(score=0.5), "doccano", tmp_path / "a.jsonl")
    assert json.loads((tmp_path / "a.jsonl").read_text())["label"][0][:2] == list(offsets(unit="utf16")[0])
    assert (spans(read), list(read.ids), lost) == (SPANS, ["d1"], {"scores": 3})
