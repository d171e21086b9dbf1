from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import spanscore as ss
from formats.awkward import MARKS, SPANS, TEXT, detected, offsets, spans


def mentions(places: list[tuple[int, int]]) -> list[dict[str, Any]]:
    return [
        {
            "entity_type": label,
            "entity_mention_id": f"001-1_a1_em{number}",
            "start_offset": start,
            "end_offset": end,
            "span_text": surface,
            "edit_type": "check",
            "identifier_type": "QUASI",
            "entity_id": f"001-1_a1_e{number}",
            "confidential_status": "NOT_CONFIDENTIAL",
        }
        for number, ((start, end), (surface, label)) in enumerate(zip(places, MARKS, strict=True))
    ]


def case(**annotators: Any) -> dict[str, Any]:
    return {
        "annotations": {name: {"entity_mentions": found} for name, found in annotators.items()},
        "text": TEXT,
        "doc_id": "001-1",
        "meta": {"year": 1999, "countries": "GBR", "articles": [3]},
        "quality_checked": True,
        "task": "Task: ...",
        "dataset_type": "test",
    }


def test_the_layout_of_the_benchmark(tmp_path: Path) -> None:
    path = tmp_path / "echr_test.json"
    path.write_text(json.dumps([case(annotator1=mentions(offsets()))]))
    assert detected(path) == "tab"
    read = ss.read(path)
    assert (list(read.ids), spans(read)) == (["001-1"], SPANS)
    (document,) = read.documents()
    assert document.meta == {"year": 1999, "countries": "GBR", "dataset_type": "test"}
    assert document.spans[1].attrs == {
        "entity": "001-1_a1_e1",
        "identifier": "QUASI",
        "confidential_status": "NOT_CONFIDENTIAL",
    }


def test_annotators(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([case(annotator1=mentions(offsets()), annotator2=[])]))
    with pytest.raises(ss.InputError, match=r"\[0\]: there are several annotators \(annotator1, annotator2\)"):
        ss.read(path)
    assert spans(ss.read(path, "tab(annotator=annotator1)")) == SPANS
    assert spans(ss.read(path, "tab(annotator=annotator2)")) == []
    (document,) = ss.read(path, "tab(annotator=all)").documents()
    assert {(span.attrs or {})["annotator"] for span in document.spans} == {"annotator1"}


def test_masks_as_the_evaluation_reads_them(tmp_path: Path) -> None:
    path = tmp_path / "masked.json"
    path.write_text(json.dumps({"001-1": [[5, 9], [0, 2]], "001-2": []}))
    assert detected(path) == "tab"
    read = ss.read(path)
    assert (list(read.ids), spans(read)) == (["001-1", "001-2"], [(5, 9, "ENTITY"), (0, 2, "ENTITY")])


def test_shifted_offsets_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([case(a=mentions(offsets(unit="utf16")))]))
    with pytest.raises(ss.InputError, match=r"tab\(unit=utf16\)"):
        ss.read(path)
