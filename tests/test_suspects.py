"""Probable errors in gold data: what is suspected and why, tasks for annotation tools, and corrections read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import spanscore as ss
from calls import run, write
from spanscore.analysis.correction_tasks import task_format, tasks
from spanscore.analysis.suspects import Suspects

TEXT = "Ann met Bob in Oslo. Ann left Annapolis. Washington saw Washington near Washington. 😀 Zoë!"


def span(surface: str, label: str, nth: int = 0, score: float | None = None, **attrs: Any) -> dict[str, Any]:
    at = -1
    for _ in range(nth + 1):
        at = TEXT.index(surface, at + 1)
    more = {**({} if score is None else {"score": score}), **({"attrs": attrs} if attrs else {})}
    return {"start": at, "end": at + len(surface), "label": label, **more}


GOLD: list[dict[str, Any]] = [
    {
        "id": "d1",
        "text": TEXT,
        "meta": {"lang": "en"},
        "spans": [
            span("Ann", "PER", kbid="Q1"),
            span("Washington", "PER"),
            span("Washington", "LOC", 1),
            span("Washington", "LOC", 2),
            span("Zoë", "PER"),
        ],
    },
    {"id": "d2", "text": "Nothing here.", "spans": []},
]
A: list[dict[str, Any]] = [
    {
        "id": "d1",
        "spans": [
            span("Bob", "PER", 0, 0.9),
            span("Oslo", "LOC", 0, 0.8),
            span("left", "ORG", 0, 0.4),
            span("Zoë!", "PER", 0, 0.7),
        ],
    },
    {"id": "d2", "spans": []},
]
B: list[dict[str, Any]] = [
    {
        "id": "d1",
        "spans": [
            span("Bob", "PER", 0, 0.6),
            span("Oslo", "LOC", 0, 0.9),
            span("left", "ORG", 0, 0.9),
            span("Zoë!", "PER", 0, 0.5),
        ],
    }
]


def corpora(*given: list[dict[str, Any]]) -> list[ss.Corpus]:
    return [ss.Corpus.from_documents(one) for one in given]


def found(**settings: Any) -> Suspects:
    gold, a, b = corpora(GOLD, A, B)
    return ss.suspects(gold, {"a": a, "b": b}, **settings)


def summary(suspects: Any) -> list[tuple[Any, ...]]:
    return [(one.text, one.label, one.reasons, one.systems, one.score and round(one.score, 3)) for one in suspects]


def test_worked_example() -> None:
    """By systems and score, then what the gold data itself contradicts; "Ann" in "Annapolis" is another word."""
    both = ("a", "b")
    assert summary(found().found) == [
        ("Oslo", "LOC", ("systems",), both, 0.85),
        ("Bob", "PER", ("systems",), both, 0.75),
        ("Zoë!", "PER", ("systems",), both, 0.6),
        ("Washington", "LOC", ("two labels",), (), None),
        ("Ann", "PER", ("repeat",), (), None),
    ]
    oslo, _, zoe, washington, ann = found().found
    assert oslo.explanation == (
        "2 of 2 systems found LOC [15, 19) with a mean score of 0.85; the gold data has nothing there."
    )
    assert zoe.gold == ((zoe.start, zoe.end - 1, "PER"),)
    assert washington.gold == ((washington.start, washington.end, "PER"),)
    assert washington.explanation == "Its text is labelled LOC 2 times and PER once in the gold data."
    assert (ann.start, ann.explanation) == (21, "The same text is PER [0, 3) in this document.")


def test_confidence_and_number_of_systems() -> None:
    assert [one[0] for one in summary(found(min_score=0.65).found) if one[3]] == ["Oslo"]
    alone = [one for one in summary(found(min_systems=1).found) if len(one[3]) == 1]
    assert alone == [("left", "ORG", ("systems",), ("b",), 0.9)]
    gold, _, b = corpora(GOLD, A, B)
    assert len([one for one in ss.suspects(gold, {"b": b}).found if one.systems]) == 4
    assert {one.reasons for one in ss.suspects(gold, {}).found} == {("two labels",), ("repeat",)}
    mapped = ss.suspects(gold, {"b": b}, pred_map={"ORG": None, "LOC": "CITY"}).found
    assert {one.label for one in mapped if one.systems} == {"PER", "CITY"}
    for wrong in ({"min_score": 2}, {"min_systems": 3}, {"annotator": "all"}):
        with pytest.raises(ss.UsageError):
            found(**wrong)


def test_two_reasons_for_one_span_are_one_suspect() -> None:
    gold, a = corpora(
        [{"id": "d", "text": "Ann saw Ann", "spans": [{"start": 0, "end": 3, "label": "PER"}]}],
        [{"id": "d", "spans": [{"start": 8, "end": 11, "label": "PER"}]}],
    )
    (one,) = ss.suspects(gold, {"a": a}).found
    assert (one.reasons, one.systems, one.score) == (("systems", "repeat"), ("a",), None)


def test_a_text_with_both_labels_in_one_place_is_no_contradiction() -> None:
    both = [{"start": 0, "end": 3, "label": label} for label in ("PER", "ORG")]
    (gold,) = corpora([{"id": "d", "text": "Ann", "spans": both}])
    assert ss.suspects(gold, {}).found == ()


def test_the_order_of_documents_spans_and_systems_changes_nothing() -> None:
    gold, a, b = corpora(GOLD[::-1], A, B)
    shuffled = ss.Corpus.from_documents([{**one, "spans": one["spans"][::-1]} for one in GOLD])
    first = summary(found().found)
    assert summary(ss.suspects(gold, {"a": a, "b": b}).found) == first
    assert summary(ss.suspects(shuffled, {"a": a, "b": b}).found) == first
    other = summary(ss.suspects(gold, {"b": b, "a": a}).found)
    assert [(*one[:3], sorted(one[3]), one[4]) for one in other] == [
        (*one[:3], sorted(one[3]), one[4]) for one in first
    ]


WANTED = [
    (0, 3, "PER"),
    (8, 11, "PER"),
    (15, 19, "LOC"),
    (21, 24, "PER"),
    *((one["start"], one["end"], "LOC") for one in (span("Washington", "", n) for n in range(3))),
    (span("Zoë!", "")["start"], span("Zoë!", "")["end"], "PER"),
]


@pytest.mark.parametrize("tool", ["labelstudio", "doccano"])
def test_corrected_tasks_become_gold(tool: str, tmp_path: Path) -> None:
    write(tmp_path / "gold.jsonl", GOLD)
    write(tmp_path / "a.jsonl", A)
    write(tmp_path / "b.jsonl", B)
    run("suspects", "gold.jsonl", "a.jsonl", "b.jsonl", "--to", tool, "-o", "tasks", cwd=tmp_path)
    if tool == "labelstudio":  # the annotator accepts the suggestion, but for the last span
        (task,) = json.loads((tmp_path / "tasks").read_text())
        gold, suggested = task["predictions"]
        assert (gold["model_version"], suggested["model_version"]) == ("gold", "suggested")
        assert len(gold["result"]) == 5
        assert "1. 2 of 2 systems found LOC" in task["data"]["suspects"]
        export = {**task, "id": 17, "annotations": [{"completed_by": 3, "result": suggested["result"][:-1]}]}
        (tmp_path / "export").write_text(json.dumps([export]))
    else:
        line = json.loads((tmp_path / "tasks").read_text())
        assert line["label"][-1][1] == len(TEXT.encode("utf-16-le")) // 2  # doccano counts UTF-16 code units
        (tmp_path / "export").write_text(json.dumps({**line, "label": line["label"][:-1]}) + "\n")
    run("suspects", "gold.jsonl", "--corrected", "export", "-o", "better.jsonl", cwd=tmp_path)
    first, second = ss.read(tmp_path / "better.jsonl").documents()
    assert [(one.start, one.end, one.label) for one in first.spans] == WANTED[:-1]
    assert (first.spans[0].attrs, first.meta) == ({"kbid": "Q1"}, {"lang": "en"})
    assert (second.id, second.spans, second.text) == ("d2", [], "Nothing here.")


def test_tasks_accepted_as_they_are_leave_nothing_suspicious() -> None:
    gold, a, b = corpora(GOLD, A, B)
    better = ss.corrected(gold, tasks(found(), both=False))
    (first, _) = better.documents()
    assert [(one.start, one.end, one.label) for one in first.spans] == WANTED
    assert ss.suspects(better, {"a": a, "b": b}).found == ()


def test_several_correctors_and_wrong_files() -> None:
    gold, _, _ = corpora(GOLD, A, B)
    spans = [{**span("Bob", "PER"), "attrs": {"annotator": name}} for name in ("x", "y", "z")][:2]
    (export,) = corpora([{"id": "d1", "text": TEXT, "spans": spans, "meta": {"annotators": "x,y,z"}}])
    (first, _) = ss.corrected(gold, export, annotator="majority").documents()
    assert [(one.start, one.attrs) for one in first.spans] == [(8, None)]
    (other,) = corpora([{"id": "d9", "text": "Another text.", "spans": []}])
    with pytest.raises(ss.InputError, match='document "d9": this document is not in the gold data'):
        ss.corrected(gold, other)
    (changed,) = corpora([{"id": "d1", "text": "Ann", "spans": []}])
    with pytest.raises(ss.InputError, match="the text differs"):
        ss.corrected(gold, changed)
    with pytest.raises(ss.UsageError, match="doccano or labelstudio, not as conll"):
        task_format("conll")


def test_tasks_with_new_ids_are_found_by_their_texts(tmp_path: Path) -> None:
    """Some versions of doccano number the documents anew, here with the id of another document of the gold data."""
    write(tmp_path / "gold.jsonl", GOLD)
    write(tmp_path / "export.jsonl", [{"id": "d2", "text": TEXT, "label": [[8, 11, "PER"]]}])
    call = ("suspects", "gold.jsonl", "--corrected", "export.jsonl", "-o", "better.jsonl")
    run(*call, cwd=tmp_path)
    first, second = ss.read(tmp_path / "better.jsonl").documents()
    assert (first.id, [(one.start, one.end, one.label) for one in first.spans]) == ("d1", [(8, 11, "PER")])
    assert (second.id, second.spans) == ("d2", [])
    write(tmp_path / "export.jsonl", [{"id": n, "text": TEXT, "label": [[8, 11, "PER"]]} for n in (7, 8)])
    assert 'document "8": several tasks refer to document "d1"' in run(*call, cwd=tmp_path, code=2)[1]
    write(tmp_path / "gold.jsonl", [*GOLD, {**GOLD[0], "id": "d3"}])
    write(tmp_path / "export.jsonl", [{"id": 7, "text": TEXT, "label": [[8, 11, "PER"]]}])
    assert 'document "7": this document is not in the gold data' in run(*call, cwd=tmp_path, code=2)[1]


def test_the_command(tmp_path: Path) -> None:
    write(tmp_path / "gold.jsonl", GOLD)
    write(tmp_path / "a.jsonl", A)
    write(tmp_path / "b.jsonl", B)
    shown, _ = run("suspects", "gold.jsonl", "a.jsonl", "b.jsonl", "-o", "suspects.jsonl", cwd=tmp_path)
    assert "5 suspects in 1 document (systems 3, two labels 1, repeat 1)." in shown
    rows = [json.loads(line) for line in (tmp_path / "suspects.jsonl").read_text().splitlines()]
    assert [(row["rank"], row["text"]) for row in rows[:2]] == [(1, "Oslo"), (2, "Bob")]
    hidden, _ = run("suspects", "gold.jsonl", "a.jsonl", "b.jsonl", "-o", "-", "--no-text", cwd=tmp_path)
    assert "Oslo" not in hidden
    assert len(hidden.splitlines()) == 5
    for wrong, reason in (
        (["--to", "labelstudio"], "tasks need -o FILE"),
        (["--to", "conll", "-o", "x"], "doccano or labelstudio"),
        (["a.jsonl", "--corrected", "b.jsonl", "-o", "x"], "and no predictions"),
        (["a.jsonl", "--min-systems", "2"], "between 1 and 1"),
    ):
        assert reason in run("suspects", "gold.jsonl", *wrong, cwd=tmp_path, code=2)[1]
    assert not (tmp_path / "x").exists()
