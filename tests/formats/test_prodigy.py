from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import spanscore as ss
from formats.awkward import SPANS, TEXT, corpus, detected, rewritten, spans


def answer(**fields: Any) -> dict[str, Any]:
    marked = [
        {"start": start, "end": end, "label": label, "token_start": 0, "token_end": 0} for start, end, label in SPANS
    ]
    return {
        "text": TEXT,
        "_input_hash": -1886656790,
        "_task_hash": 1577098426,
        "tokens": [{"text": "Dr", "start": 0, "end": 2, "id": 0, "ws": True}],
        "spans": marked,
        "_session_id": None,
        "_view_id": "ner_manual",
        "answer": "accept",
        **fields,
    }


def write(path: Path, *answers: Any) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in answers))
    return path


def test_an_export(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", answer())
    assert detected(path) == "prodigy"
    read = ss.read(path)
    assert spans(read) == SPANS
    assert list(read.ids) == ["-1886656790"]
    assert read.tokens is not None


def test_only_accepted_answers_are_read_even_with_ids(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.jsonl",
        answer(id="a"),
        answer(id="b", answer="reject"),
        answer(id="c", answer="ignore"),
        answer(id="d", answer="ignore"),
    )
    assert detected(path) == "prodigy"
    read = ss.read(path)
    assert list(read.ids) == ["a"]
    assert any("left out: reject answers (1), ignore answers (2)" in note for note in read.notes)


def test_several_sessions_need_a_choice_and_questions_about_one_text_are_one_document(tmp_path: Path) -> None:
    whole = answer()["spans"]
    path = write(
        tmp_path / "a.jsonl",
        answer(_session_id="ann", spans=whole[:1]),
        answer(_session_id="ann", spans=whole[:2]),
        answer(_session_id="bob", spans=whole[2:]),
    )
    with pytest.raises(ss.InputError, match=r"several annotators \(ann, bob\)"):
        ss.read(path)
    assert spans(ss.read(path, "prodigy(annotator=ann)")) == SPANS[:2]
    assert spans(ss.read(path, "prodigy(annotator=all)")) == SPANS


def test_the_same_hash_for_two_texts_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", answer(), answer(text="Other", spans=[]))
    with pytest.raises(ss.InputError, match="a.jsonl:2.*another text"):
        ss.read(path)


def test_it_is_written(tmp_path: Path) -> None:
    read, lost = rewritten(corpus(score=0.5, attrs={"a": 1}), "prodigy", tmp_path / "a.jsonl")
    assert (spans(read), list(read.ids), lost) == (SPANS, ["d1"], {"attributes": 3})
    assert read.score is not None
    assert detected(tmp_path / "a.jsonl") == "prodigy"


def test_a_file_without_accepted_answers_says_so(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", answer(answer="reject"))
    with pytest.raises(ss.InputError, match=r"nothing left to read; left out: reject answers \(1\).*read as prodigy"):
        ss.read(path)
