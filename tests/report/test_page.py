"""What the report page says first, and which examples it lists."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spanscore as ss
from calls import run, write
from spanscore.report.page import Payload
from spanscore.report.page.answer import answers, notes, skipped_types
from spanscore.report.page.examples import Examples
from spanscore.report.page.frequent import Frequent
from spanscore.report.summary import worst_first


def corpus(*documents: list[tuple[int, int, str]], text: str | None = "Ann Lee met Bob Ray in Oslo") -> ss.Corpus:
    found = []
    for number, spans in enumerate(documents):
        listed = [{"start": start, "end": end, "label": label} for start, end, label in spans]
        found.append({"id": f"d{number}", "spans": listed, **({} if text is None else {"text": text})})
    return ss.Corpus.from_documents(found)


NAMES = [(0, 7, "PERSON"), (12, 19, "PERSON"), (23, 27, "CITY")]


def test_the_headline_of_leaks() -> None:
    gold, pred = corpus(NAMES, NAMES, []), corpus(NAMES[:1], NAMES[:2], [])
    found = answers(ss.score(gold, pred, ["exact", "leak"]), ss.Bootstrap())
    assert [one["lead"] for one in found] == [found[0]["lead"]] * 2
    assert found[0]["lead"].startswith("3 of 6 private spans stay readable: 50% [")
    assert found[0]["worst"] == [["CITY", 2, 2], ["PERSON", 1, 4]]
    assert found[0]["documents"].startswith("2 of 2 documents with annotations are affected: 100% [")
    assert [tile["name"] for tile in found[0]["tiles"]] == ["leak", "recall", "precision", "f", "documents"]
    assert [tile["shown"] for tile in found[0]["tiles"]] == ["50%", "0.500", "1.000", "0.667", "2"]
    assert [tile["note"] for tile in found[0]["tiles"]] == [
        "3 of 6 private spans, by leak",
        "by exact",
        "by exact",
        "by exact",
        "of 2 with annotations, by leak",
    ]
    assert found[1]["tiles"][0]["note"] == "3 of 6 private spans"
    assert found[1]["tiles"][1]["note"] == "by leak"


def test_the_page_opens_with_the_measure_of_the_headline() -> None:
    gold, pred = corpus(NAMES), corpus(NAMES[:1])

    def first(*measures: str, gold_name: str = "gold") -> str:
        result = ss.score(gold, pred, list(measures))
        head = Payload(result, gold=gold_name).head(np.zeros(1, np.int64), {})
        return str(head["measures"][0])

    assert first("exact", "leak", "iou") == "leak"
    assert first("exact", "leak.char") == "exact"
    assert first("exact", "leak", gold_name="ann") == "exact"  # annotators do not leak


def test_types_with_the_most_readable_spans_come_first() -> None:
    rows = {
        name: {"readable": readable, "readable_share": readable / total, "interval": [low, 1.0]}
        for name, readable, total, low in (
            ("A", 30, 30, 0.9),
            ("B", 67, 129, 0.4),
            ("C", 67, 79, 0.7),
            ("D", 0, 9, 0.0),
        )
    }
    assert [name for name, _ in worst_first(rows)] == ["C", "B", "A"]


def test_the_headline_of_mentions() -> None:
    """A measure of mentions counts errors as the others do."""
    gold, pred = corpus(NAMES, NAMES), corpus(NAMES[:1], NAMES[:2])
    found = answers(ss.score(gold, pred, "strong_mention_match"), ss.Bootstrap())[0]
    assert found["lead"].startswith("3 of 6 annotated mentions are missed or wrong: 50% [")
    assert " 0 of 3 predictions are wrong: 0% [" in found["lead"]


def test_what_masking_leaves_of_each_type() -> None:
    gold, pred = corpus(NAMES, NAMES), corpus([(0, 7, "CITY"), (12, 15, "CITY")], [(0, 19, "URL")])
    head = Payload(ss.score(gold, pred, ["leak", "exact"])).head(np.zeros(1, np.int64), {})
    leak, exact = head["scores"]
    assert leak["outcomes"]["verdicts"] == ["exposed", "partly hidden", "correct"]
    assert [[head["labels"][code], *counts] for code, *counts in leak["outcomes"]["types"]] == [
        ["CITY", 2, 0, 0],
        ["PERSON", 0, 1, 3],
    ]
    assert (leak["masking"], exact["masking"], exact["outcomes"]) == (True, False, None)


def test_a_measure_without_types_has_outcomes_instead_of_confusions() -> None:
    """Wrong links are shown as such, under any type."""
    sides = []
    for label, entity in (("CITY", "Q90"), ("PERSON", "Q830149")):
        span = {"start": 0, "end": 7, "label": label, "attrs": {"kbid": entity}}
        more = [{"start": 12, "end": 15, "label": "CITY", "attrs": {"kbid": "Q1"}}] if label == "CITY" else []
        sides.append(ss.Corpus.from_documents([{"id": "d", "spans": [span, *more]}]))
    scores = Payload(ss.score(sides[0], sides[1], "strong_link_match")).head(np.zeros(1, np.int64), {})["scores"][0]
    assert scores["outcomes"]["verdicts"] == ["missed", "wrong attribute", "correct"]
    assert [row[1:] for row in scores["outcomes"]["types"]] == [[1, 1, 0]]


def test_a_missed_span_has_no_score() -> None:
    """The nearest prediction has one, but is another span."""
    gold = corpus([(0, 7, "PERSON")])
    spans = [{"start": 4, "end": 11, "label": "CITY", "score": 0.85}]
    pred = ss.Corpus.from_documents([{"id": "d0", "spans": spans}])
    shown = Examples.of(ss.score(gold, pred, "iou").scores[0]).shown(np.zeros(1, np.int64), {"CITY": 0, "PERSON": 1})
    assert list(zip(shown["gl"], shown["score"], strict=True)) == [(1, None), (-1, 0.85)]


def test_a_document_of_several_annotators_counts_once() -> None:
    texts = [{"id": f"d{i}", "text": "Ann met Bob", "meta": {"annotators": "ann,bob"}} for i in range(4)]
    span = {"start": 0, "end": 3, "label": "PERSON"}
    marked = [{**span, "attrs": {"annotator": who}} for who in ("ann", "bob")]
    gold = ss.Corpus.from_documents([{**one, "spans": marked} for one in texts])
    pred = ss.Corpus.from_documents([{"id": "d0", "spans": [span]}])
    found = answers(ss.score(gold, pred, ["leak", "exact"], annotator="all"), ss.Bootstrap())
    for one in found:
        assert one["documents"].startswith("3 of 4 documents with annotations are affected: ")
    errors = answers(ss.score(gold, pred, "exact", annotator="all"), ss.Bootstrap())[0]
    assert errors["documents"].startswith("3 of 4 documents with annotations have missed or wrong spans: ")


def test_the_headline_of_errors() -> None:
    gold, pred = corpus(NAMES, NAMES, []), corpus(NAMES[:1], NAMES[:2], [(8, 11, "CITY")])
    found = answers(ss.score(gold, pred, "exact"), ss.Bootstrap())[0]
    assert found["kind"] == "errors"
    assert found["lead"].startswith("3 of 6 annotated spans are missed or wrong: 50% [")
    assert " 1 of 4 predictions is wrong: 25% [" in found["lead"]
    assert found["worst"] == [["CITY", 2, 2], ["PERSON", 1, 4]]
    assert [tile["name"] for tile in found["tiles"]] == ["recall", "precision", "f", "documents"]


def test_a_measure_across_documents_has_no_documents() -> None:
    linked = [{"id": "d", "spans": [{"start": 0, "end": 3, "label": "X", "attrs": {"kbid": "Q1"}}]}]
    gold = ss.Corpus.from_documents(linked)
    found = answers(ss.score(gold, gold, "b_cubed"), ss.Bootstrap())[0]
    assert found["lead"] == "Recall 1.000, precision 1.000, F1 1.000 by b_cubed."
    assert found["documents"] is None


def test_nothing_annotated_and_nothing_predicted() -> None:
    found = answers(ss.score(corpus([]), corpus([]), "exact"), ss.Bootstrap())[0]
    assert found["lead"] == "The data has no spans, so there are no errors."
    assert found["worst"] == []


def test_notes_begin_with_what_was_left_out() -> None:
    result = ss.score(corpus(NAMES, NAMES), corpus(NAMES), "exact").with_settings(not_looked_for=["CITY"])
    result = result.with_warnings(["a note.", "the detector does not look for CITY (2)."])
    first, rest = notes(result, ["another note."])
    assert skipped_types(result) == (
        "Not looked for by the detector: CITY (2 spans, counted as missed).",
        "Not looked for by the detector: CITY (2 spans, counted as missed where no other prediction covers them).",
    )
    assert skipped_types(ss.score(corpus(NAMES), corpus(NAMES), "leak")) is None
    assert "1 gold document without output" in first[0]
    assert rest == ["a note.", "another note."]


def test_a_boundary_error_is_one_example_and_still_two_cells() -> None:
    gold, pred = corpus(NAMES), corpus([(0, 3, "PERSON"), (13, 19, "PERSON"), (8, 11, "CITY")])
    scores = ss.score(gold, pred, "exact").scores[0]
    examples = Examples.of(scores)
    assert examples.twin.sum() == 2
    shown = examples.shown(np.zeros(1, np.int64), {"CITY": 0, "PERSON": 1})
    assert len(shown["doc"]) == 4
    assert shown["also"].count(1) == 2
    cells = Counter(zip(shown["gl"], shown["cell"], strict=True)) + Counter(
        (-1, code) for code in shown["also"] if code >= 0
    )
    names = {None: -1, "CITY": 0, "PERSON": 1}
    assert cells == {(names[a], names[b]): count for (a, b), count in scores.confusion.items()}


@pytest.mark.parametrize(("how", "strings"), [("show", {"Oslo": 3, "Ann Lee": 2}), ("mask", {"Xxxx": 3, "Xxx Xxx": 3})])
def test_frequent_strings(how: Any, strings: dict[str, int]) -> None:
    gold = corpus(NAMES, [NAMES[0], NAMES[2]], [NAMES[2]])
    result = ss.score(gold, corpus([], [], []), "exact")
    found = Frequent.of(Examples.of(result.scores[0]), result.scores[0].pairing, how)  # type: ignore[arg-type]
    assert found is not None
    assert {string: count for _, _, string, count in found.listed} == strings
    assert Counter(found.group.tolist())[0] == found.listed[0][3]


def test_no_frequent_strings_without_text() -> None:
    for how, text in (("hide", "Ann Lee met Bob Ray in Oslo"), ("show", None)):
        gold = corpus(NAMES, NAMES, text=text)
        scores = ss.score(gold, corpus([], [], text=text), "exact").scores[0]
        assert Frequent.of(Examples.of(scores), scores.pairing, how) is None  # type: ignore[arg-type]


@pytest.fixture
def compared(tmp_path: Path) -> Path:
    listed = [{"start": start, "end": end, "label": label} for start, end, label in NAMES]
    for name, spans in (("gold", listed), ("a", listed[:1]), ("b", listed[:2])):
        text = {"text": "Ann Lee met Bob Ray in Oslo"} if name == "gold" else {}
        write(tmp_path / f"{name}.jsonl", [{"id": f"d{i}", **text, "spans": spans} for i in range(30)])
    run("compare", "gold.jsonl", "a.jsonl", "b.jsonl", "-m", "exact", "-o", "out", "-q", cwd=tmp_path)
    return tmp_path


def test_the_report_of_a_comparison_can_be_written_again(compared: Path) -> None:
    made = (compared / "out" / "report.html").read_bytes()
    run("report", "out", "-o", "again.html", cwd=compared)
    assert (compared / "again.html").read_bytes() == made
    (compared / "out" / "comparison.json").unlink()
    run("report", "out", "-o", "without.html", cwd=compared)
    assert (compared / "without.html").read_bytes() != made


@pytest.mark.parametrize("content", ["{}", "[1", '{"systems": 3}'])
def test_a_damaged_comparison_is_refused(compared: Path, content: str) -> None:
    (compared / "out" / "comparison.json").write_text(content)
    _, error = run("report", "out", "-o", "again.html", cwd=compared, code=2)
    assert "comparison.json: this is not a comparison; compare the systems again." in error
    assert not (compared / "again.html").exists()


def test_scores_with_levels_are_distinguished() -> None:
    gold, pred = corpus(NAMES), corpus(NAMES[:2])
    both = ss.score(gold, {"a": pred, "b": gold}, ["exact", "leak"], levels=["type", "raw"])
    head = Payload(both).head(np.zeros(1, np.int64), {})
    assert set(head["levels"]) == {"type", "raw"}
    assert head["laneLevel"] == "type"
    named = {(one["system"], one["measure"], one["level"]) for one in head["scores"]}
    assert len(named) == len(head["scores"]) == 8
    assert all(one["answer"]["kind"] == "leak" for one in head["scores"])
    pairs = {(one["measure"], one["level"], one["first"], one["second"]) for one in head["pairs"]}
    assert pairs == {(measure, level, "a", "b") for measure in ("exact", "leak") for level in ("type", "raw")}


def test_the_summary_says_which_slices_it_leaves_out(tmp_path: Path) -> None:
    spans = [{"start": 0, "end": 7, "label": "PERSON", "attrs": {"name": "Ann Lee"}}]
    meta = {"ward": "a", "year": 2024, "site": "x"}
    write(tmp_path / "gold.jsonl", [{"id": "d", "text": "Ann Lee is in Oslo", "spans": spans, "meta": meta}])
    (tmp_path / "mine.py").write_text(
        "def find(text, language):\n    return [{'start': 0, 'end': 3, 'label': 'PERSON'}]\n"
    )
    by = [part for what in ("attr.name", "meta.ward", "meta.year", "meta.site") for part in ("--by", what)]
    call = ("run", "gold.jsonl", "--detector", "python(function=mine:find)", *by, "-q")
    for how in ("--mask", "--no-text"):
        folder = how.strip("-")
        run(*call, how, "-o", folder, cwd=tmp_path)
        made = (tmp_path / folder / "summary.html").read_text()
        run("summary", folder, cwd=tmp_path)
        for content in (made, (tmp_path / folder / "summary.html").read_text()):
            assert "<caption>Slices by meta.year with the most readable spans</caption>" in content
            assert "Not shown here, but in metrics.json: slices by meta.site." in content
            assert "Not shown: slices by attr.name (1 group), because values of attributes may be text." in content
            assert "Ann Lee" not in content
    run(*call, "-o", "shown", cwd=tmp_path)
    written = (tmp_path / "shown" / "summary.html").read_text()
    assert "Ann Lee" not in written  # whatever other files may show
    run("summary", "shown", cwd=tmp_path)
    assert (tmp_path / "shown" / "summary.html").read_text() == written


@pytest.mark.parametrize(
    ("name", "values", "shown"),
    [
        ("identifier", ("DIRECT", "QUASI", "NO_MASK"), True),
        ("identifier", ("DIRECT", "Ann Lee", "QUASI"), False),
        ("recognizer", ("SpacyRecognizer", "Pattern", "Pattern"), True),
        ("entity", ("Ann Lee", "Bo", "Bo"), False),
    ],
)
def test_the_summary_shows_no_values_of_attributes_that_may_be_text(
    name: str, values: tuple[str, ...], shown: bool, tmp_path: Path
) -> None:
    places = ((0, 3), (4, 7), (11, 15))
    spans: list[Any] = [
        {"start": start, "end": end, "label": "PERSON", "attrs": {name: value}}
        for (start, end), value in zip(places, values, strict=True)
    ]
    spans.append({"start": 8, "end": 10, "label": "PERSON"})
    write(tmp_path / "gold.jsonl", [{"id": "d", "text": "Ann Lee is Oslo", "spans": spans}])
    write(tmp_path / "none.jsonl", [{"id": "d", "spans": []}])
    call = ("run", "gold.jsonl", "--detector", "replay(file=none.jsonl)", "--by", f"attr.{name}", "-o", "out", "-q")
    run(*call, cwd=tmp_path)
    content = (tmp_path / "out" / "summary.html").read_text()
    for value in values:
        assert (f'<th scope="row">{value}</th>' in content) == shown
        assert (value in content) == shown
    left_out = f"slices by attr.{name} ({len(set(values))} groups), because values of attributes may be text."
    assert (left_out in content) != shown


def test_the_summary_shortens_long_names(tmp_path: Path) -> None:
    kind, ward = "A_VERY_LONG_TYPE_" * 4, "ward " * 16
    spans = [{"start": 0, "end": 3, "label": kind}]
    write(tmp_path / "gold.jsonl", [{"id": "d", "text": "Ann", "spans": spans, "meta": {"ward": ward}}])
    write(tmp_path / "none.jsonl", [{"id": "d", "spans": []}])
    call = ("run", "gold.jsonl", "--detector", "replay(file=none.jsonl)", "--by", "meta.ward", "-o", "out", "-q")
    run(*call, cwd=tmp_path)
    content = (tmp_path / "out" / "summary.html").read_text()
    for name in (kind, ward):
        assert f'<th scope="row">{name[:40]}…<' in content
        assert f'<th scope="row">{name[:41]}' not in content
    assert "td { white-space: nowrap }" in content


def test_the_summary_of_data_without_private_spans_lists_no_types(tmp_path: Path) -> None:
    write(tmp_path / "gold.jsonl", [{"id": "d", "text": "Ann", "spans": []}])
    run("run", "gold.jsonl", "--detector", "replay(file=gold.jsonl)", "-o", "out", "-q", cwd=tmp_path)
    content = (tmp_path / "out" / "summary.html").read_text()
    assert "nothing can be said about leaks" in content
    assert "Where it is worst" not in content
    assert "nothing stays readable" not in content
