from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import spanscore as ss
from formats.awkward import MARKS, SPANS, TEXT, corpus, detected, offsets, rewritten, spans


def results(places: list[tuple[int, int]]) -> list[dict[str, Any]]:
    return [
        {
            "value": {"start": start, "end": end, "text": surface, "labels": [label]},
            "id": f"r{start}",
            "from_name": "label",
            "to_name": "text",
            "type": "labels",
            "origin": "manual",
        }
        for (start, end), (surface, label) in zip(places, MARKS, strict=True)
    ]


def task(number: int = 1, **changes: Any) -> dict[str, Any]:
    """A task as in the documentation of the JSON format of annotated tasks."""
    annotation = {
        "id": 1001,
        "result": results(offsets()),
        "was_cancelled": False,
        "ground_truth": False,
        "created_at": "2021-03-09T22:16:08.728353Z",
        "updated_at": "2021-03-09T22:16:08.728378Z",
        "lead_time": 4.288,
        "result_count": 0,
        "task": 1,
        "completed_by": 10,
    }
    return {
        "id": number,
        "created_at": "2021-03-09T21:52:49.513742Z",
        "updated_at": "2021-03-09T22:16:08.746926Z",
        "project": 83,
        "data": {"text": TEXT, "language": "en"},
        "annotations": [{**annotation, **changes}],
        "predictions": [],
    }


def write(path: Path, *tasks: Any) -> Path:
    path.write_text(json.dumps(tasks, indent=2))
    return path


def test_the_layout_of_the_documentation(tmp_path: Path) -> None:
    path = write(tmp_path / "export.json", task())
    assert detected(path) == "labelstudio"
    read = ss.read(path)
    assert spans(read) == SPANS
    assert list(read.ids) == ["1"]
    assert [document.meta for document in read.documents()] == [{"language": "en"}]


def test_the_minimal_layout(tmp_path: Path) -> None:
    label = [result["value"] for result in results(offsets())]
    record = {"text": TEXT, "id": 7, "label": label, "annotator": 3, "annotation_id": 5, "lead_time": 4.2}
    path = write(tmp_path / "min.json", record, {**record, "id": 8, "label": [], "annotation_id": 6})
    assert detected(path) == "labelstudio"
    read = ss.read(path)
    assert spans(read) == SPANS
    assert list(read.ids) == ["7", "8"]
    untimed = write(tmp_path / "untimed.json", {key: value for key, value in record.items() if key != "lead_time"})
    assert spans(ss.read(untimed, "labelstudio")) == SPANS


def test_old_exports_count_utf16_and_the_error_says_so(tmp_path: Path) -> None:
    path = write(tmp_path / "old.json", task(result=results(offsets(unit="utf16"))))
    with pytest.raises(ss.InputError, match=r"labelstudio\(unit=utf16\)"):
        ss.read(path)
    assert spans(ss.read(path, "labelstudio(unit=utf16)")) == SPANS


def test_several_annotators_need_a_choice(tmp_path: Path) -> None:
    one = task()
    one["annotations"].append({**one["annotations"][0], "completed_by": {"id": 2, "email": "b@x.org"}, "result": []})
    path = write(tmp_path / "two.json", one, task(2))
    with pytest.raises(ss.InputError, match=r"several annotators \(10, b@x.org\).*annotator=all; for gold data,"):
        ss.read(path)
    assert spans(ss.read(path, "labelstudio(annotator=10)")) == SPANS * 2
    theirs = ss.read(path, "labelstudio(annotator=b@x.org)")
    assert (list(theirs.ids), spans(theirs)) == (["1"], [])
    assert any("left out 1 document without annotations by b@x.org" in note for note in theirs.notes)
    everything = [
        span.attrs for document in ss.read(path, "labelstudio(annotator=all)").documents() for span in document.spans
    ]
    assert everything == [{"annotator": "10"}] * 6
    with pytest.raises(ss.UsageError, match="there is no annotator 'c'; there are 10, b@x.org"):
        ss.read(path, "labelstudio(annotator=c)")


def test_what_is_not_a_finished_annotation_is_left_out_and_counted(tmp_path: Path) -> None:
    other = {"value": {"choices": ["good"]}, "type": "choices", "from_name": "c", "to_name": "text"}
    path = write(
        tmp_path / "a.json",
        task(result=[*results(offsets()), other]),
        task(2, was_cancelled=True),
        {**task(3), "annotations": []},
    )
    read = ss.read(path)
    assert list(read.ids) == ["1"]
    note = next(note for note in read.notes if "left out" in note)
    for what in (
        "cancelled annotations (1)",
        "tasks without annotations (2)",
        "results that are not labelled text spans (1)",
    ):
        assert what in note


def test_predictions_have_scores(tmp_path: Path) -> None:
    scored = [{**result, "score": 0.5} for result in results(offsets())]
    one = {**task(), "predictions": [{"model_version": "m1", "result": scored}]}
    read = ss.read(write(tmp_path / "a.json", one), "labelstudio(results=predictions)")
    assert spans(read) == SPANS
    assert read.score is not None
    assert read.score.tolist() == [0.5] * 3


def test_a_text_that_is_a_link_is_reported(tmp_path: Path) -> None:
    one = task()
    one["data"] = {"text": "https://example.org/note.txt"}
    read = ss.read(write(tmp_path / "a.json", one))
    assert read.text is None
    assert any("texts are links" in note for note in read.notes)


def test_the_text_may_be_in_another_field(tmp_path: Path) -> None:
    one = task()
    one["data"] = {"body": TEXT, "title": "x"}
    with pytest.raises(ss.InputError, match=r"\(body, title\); give labelstudio\(field=NAME\)"):
        ss.read(write(tmp_path / "a.json", one))
    assert spans(ss.read(tmp_path / "a.json", "labelstudio(field=body)")) == SPANS


def test_it_is_written(tmp_path: Path) -> None:
    read, lost = rewritten(corpus(score=0.25, attrs={"kbid": "Q1"}), "labelstudio(unit=utf16)", tmp_path / "a.json")
    assert spans(read) == SPANS
    assert read.score is not None
    assert read.score.tolist() == [0.25] * 3
    assert list(read.ids) == ["d1"]
    assert lost == {"attributes": 3}
    assert detected(tmp_path / "a.json") == "labelstudio"


def test_exports_without_text_spans_say_what_they_have(tmp_path: Path) -> None:
    box = {"value": {"x": 1.0, "rectanglelabels": ["Car"]}, "type": "rectanglelabels", "to_name": "img"}
    with pytest.raises(
        ss.InputError, match=r"no result is a span of plain text.* types of the results are: rectanglelabels"
    ):
        ss.read(write(tmp_path / "a.json", {**task(result=[box]), "data": {"img": "https://x.org/1.jpg"}}))
    predicted = {**task(), "annotations": [], "predictions": [{"result": results(offsets())}]}
    with pytest.raises(ss.InputError, match=r"nothing left to read; .* labelstudio\(results=predictions\) reads \(1\)"):
        ss.read(write(tmp_path / "b.json", predicted))
