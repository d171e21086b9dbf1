"""The worked values of each scheme's definition."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import spanscore as ss

Spans = list[tuple[str, int, int]]


def corpus(spans: Spans, text: str | None = None, tokens: list[list[int]] | None = None) -> ss.Corpus:
    document: dict[str, Any] = {"id": "d", "spans": [{"label": label, "start": a, "end": b} for label, a, b in spans]}
    if text is not None:
        document["text"] = text
    if tokens is not None:
        document["tokens"] = tokens
    return ss.Corpus.from_documents([document])


def scores(gold: Spans, pred: Spans, measure: str, text: str | None = None) -> Any:
    return ss.score(corpus(gold, text), corpus(pred), [measure]).scores[0]


@pytest.mark.parametrize(("threshold", "tp"), [(0.8, 1), (0.9, 0)])
def test_iou_at_the_threshold(threshold: float, tp: int) -> None:
    found = scores([("PERSON", 8, 18)], [("PERSON", 8, 16)], f"iou(threshold={threshold})")
    assert found.counts == {"tp": tp, "predicted": 1, "annotated": 1, "fp": 1 - tp, "fn": 1 - tp}


@pytest.mark.parametrize(("pieces", "iou"), [([("A", 0, 4), ("A", 6, 10)], 0.8), ([("A", 0, 5), ("A", 5, 10)], 1.0)])
def test_iou_of_several_predictions_is_that_of_their_union(pieces: Spans, iou: float) -> None:
    for merge in ("true", "false"):
        at, above = f"iou(threshold={iou}, merge={merge})", f"iou(threshold={min(iou + 0.01, 1)}, merge={merge})"
        assert scores([("A", 0, 10)], pieces, at).recall == 1
        assert scores([("A", 0, 10)], pieces, above).recall == (iou == 1.0)


def test_merge_across_a_skip_word(tmp_path: Path) -> None:
    text = "University of Washington"
    gold: Spans = [("ORG", 0, 10), ("ORG", 14, 24)]
    words = tmp_path / "words"
    words.write_text("of\n")
    assert scores(gold, [], "iou", text).counts["annotated"] == 2
    assert scores(gold, [], f"iou(skip=@{words})", text).counts["annotated"] == 1
    assert scores(gold, [("ORG", 0, 24)], f"iou(skip=@{words}, threshold=1)", text).recall == 1
    assert scores(gold, [], "iou(skip=english, merge=false)", text).counts["annotated"] == 2


def test_token_iou() -> None:
    text = "New York Mets"
    gold, pred = [("ORG", 0, 13)], [("ORG", 0, 3), ("ORG", 9, 13)]
    assert scores(gold, pred, "iou(unit=token, threshold=0.66)", text).recall == 1
    assert scores(gold, pred, "iou(unit=token, threshold=0.67)", text).recall == 0


@pytest.mark.parametrize("second", [(4, 5), (4, 4)], ids=["a character", "an empty span"])
def test_spans_that_share_a_token_but_no_character_do_not_overlap(second: tuple[int, int]) -> None:
    gold: Spans = [("A", 0, 3), ("A", *second)]
    found = scores(gold, gold, "iou(unit=token, threshold=0.5)", "a-bcd")
    assert found.counts == {"tp": 2, "predicted": 2, "annotated": 2, "fp": 0, "fn": 0}
    assert scores(gold[:1], gold[1:], "iou(unit=token, threshold=0)", "a-bcd").counts["tp"] == 0


def test_predictions_of_several_types_on_one_span() -> None:
    text = "John Smith Johnson"
    pred = [("PERSON", 0, 4), ("LOCATION", 5, 10), ("PERSON", 11, 18)]
    found = scores([("PERSON", 0, 18)], pred, "iou(unit=token, threshold=0.5)", text)
    assert found.by_type["PERSON"].counts["tp"] == 1
    assert found.by_type["LOCATION"].counts == {"tp": 0, "predicted": 1, "annotated": 0, "fp": 1, "fn": 0}


def test_a_wrong_type() -> None:
    gold, pred = [("LOCATION", 3, 9)], [("ORGANIZATION", 3, 9)]
    found = scores(gold, pred, "iou")
    assert found.by_type["LOCATION"].counts["fn"] == 1
    assert found.by_type["ORGANIZATION"].counts["fp"] == 1
    assert found.confusion == {("LOCATION", "ORGANIZATION"): 1}
    assert scores(gold, pred, "iou.pii").counts["tp"] == 1


def test_an_entity_that_is_a_skip_word_is_never_forgotten() -> None:
    for unit in ("char", "token"):
        found = scores([("PERSON", 0, 3)], [("PERSON", 0, 3)], f"iou(skip=english, unit={unit})", "May left")
        assert found.counts["tp"] == 1


def test_one_prediction_over_two_gold_spans() -> None:
    gold, pred = [("P", 0, 3), ("P", 8, 11)], [("P", 0, 11)]
    groups = scores(gold, pred, "iou(threshold=0.2)", "Ann met Bob")
    assert (groups.counts["predicted"], groups.counts["tp"]) == (2, 2)
    spans = scores(gold, pred, "iou(threshold=0.2, count=spans)", "Ann met Bob")
    assert spans.counts == {"tp": 2, "predicted": 1, "annotated": 2, "fp": 0, "fn": 0, "tp_predicted": 1}
    assert (spans.precision, spans.recall) == (1, 1)


def test_exact_without_types() -> None:
    gold, pred = [("A", 0, 3), ("B", 0, 3)], [("C", 0, 3), ("C", 4, 5)]
    assert scores(gold, pred, "exact").counts["tp"] == 0
    assert scores(gold, pred, "exact(typed=false)").counts == {
        "tp": 1,
        "predicted": 2,
        "annotated": 1,
        "fp": 1,
        "fn": 0,
    }


def test_char_pii_counts_each_character_once() -> None:
    found = scores([("A", 0, 6), ("B", 4, 10)], [("C", 2, 8), ("D", 3, 5)], "char.pii")
    assert found.counts == {"tp": 6, "predicted": 6, "annotated": 10, "fp": 0, "fn": 4}
    assert not found.by_type


def test_undefined_is_undefined() -> None:
    nothing = scores([], [], "exact")
    assert all(n != n for n in (nothing.precision, nothing.recall, nothing.f))
    missed = scores([("A", 0, 1)], [], "exact")
    assert missed.precision != missed.precision
    assert (missed.recall, missed.f) == (0, 0)


def test_averages_are_over_the_same_types() -> None:
    """A type that was never found counts 0 in all three means; a macro P and R of 0.5 is no macro F of 1."""
    found = scores([("A", 0, 1), ("B", 4, 5), ("B", 6, 7), ("B", 8, 9)], [("A", 0, 1)], "exact")
    assert [found.macro().precision, found.macro().recall, found.macro().f] == [0.5, 0.5, 0.5]
    assert [found.weighted().precision, found.weighted().recall, found.weighted().f] == [0.25, 0.25, 0.25]
    assert found.micro() == found.overall
    assert found.undefined() == {"precision": 1, "recall": 0}
    assert found.by_type["B"].f == 0


def test_f_beta() -> None:
    gold, pred = [("A", 0, 1), ("A", 2, 3), ("A", 4, 5), ("A", 6, 7)], [("A", 0, 1)]
    result = ss.score(corpus(gold), corpus(pred), ["exact"], beta=2)["exact"]
    assert result.f == pytest.approx(5 * 1 * 0.25 / (4 * 1 + 0.25))


@pytest.mark.parametrize(
    ("gold", "pred", "verdicts"),
    [
        ([("A", 0, 10)], [("A", 0, 10)], ["correct", "correct"]),
        ([("A", 0, 10)], [("B", 0, 10)], ["wrong type", "wrong type"]),
        ([("A", 0, 10)], [("A", 0, 5)], ["too short", "too short"]),
        ([("A", 2, 7)], [("A", 0, 10)], ["too long", "too long"]),
        ([("A", 0, 10)], [("A", 5, 15)], ["shifted", "shifted"]),
        ([("A", 0, 10)], [("A", 0, 3), ("A", 6, 8)], ["split", "split", "split"]),
        ([("A", 0, 3), ("A", 7, 10)], [("A", 0, 10)], ["merged", "merged", "merged"]),
        ([("A", 0, 3)], [], ["missed"]),
        ([], [("A", 0, 3)], ["spurious"]),
        ([("A", 0, 10)], [("B", 0, 2)], ["missed", "spurious"]),
    ],
)
def test_verdicts(gold: Spans, pred: Spans, verdicts: list[str]) -> None:
    for measure in ("iou", "exact"):
        found = list(scores(gold, pred, measure).errors(correct=True))
        assert sorted(error.verdict for error in found) == sorted(verdicts)
        assert all(error.explanation.endswith(".") for error in found)


def test_both_sides_of_a_wrong_type_show_the_same_iou() -> None:
    gold: Spans = [("ORG", 4, 30), ("LOCATION", 18, 24)]
    errors = list(scores(gold, [("ORG", 18, 24)], "iou").errors())
    told = {error.side: error.iou for error in errors if error.verdict == "wrong type"}
    assert told == {"gold": 1.0, "predicted": 1.0}


def test_a_split_span_shows_the_iou_of_all_its_pieces() -> None:
    errors = list(scores([("A", 37, 53)], [("A", 37, 41), ("A", 47, 53)], "iou(merge=false)").errors())
    assert {error.iou for error in errors} == {10 / 16}


def test_char_calls_a_span_right_if_its_characters_are() -> None:
    found = scores([("A", 0, 3), ("A", 4, 7)], [("A", 0, 9)], "char").errors(correct=True)
    assert [(error.side, error.verdict) for error in found] == [
        ("gold", "correct"),
        ("predicted", "merged"),
        ("gold", "correct"),
    ]


def test_results_by_any_spelling_of_a_measure() -> None:
    gold = corpus([("A", 0, 3)])
    result = ss.score(gold, gold, "iou(threshold=0.5)")
    assert result["iou(threshold=0.50)"] is result["iou"]
    with pytest.raises(ss.UsageError, match="expected a Corpus or a path, not int"):
        ss.score(7, gold)


def test_sixway_has_one_of_each() -> None:
    gold: Spans = [("PERSON", 0, 10), ("CITY", 20, 30), ("DATE", 40, 50), ("ZIP", 60, 65), ("ORG", 70, 80)]
    pred: Spans = [("PERSON", 0, 10), ("CITY", 20, 26), ("TIME", 40, 50), ("ZIP", 62, 72), ("URL", 90, 95)]
    for name, expected in (("strict", 0.2), ("flexible", 0.4), ("partial", 0.5)):
        found = scores(gold, pred, f"sixway.{name}")
        ones = dict.fromkeys(("strict", "exact", "partial", "incorrect", "spurious", "miss"), 1)
        assert found.counts == {**ones, "possible": 5, "actual": 5}
        assert (found.precision, found.recall) == (expected, expected)


def test_a_ratio_equal_to_the_threshold_is_exact_or_partial() -> None:
    assert scores([("A", 0, 10)], [("A", 0, 5)], "sixway.strict").counts["exact"] == 1
    assert scores([("A", 0, 10)], [("B", 0, 5)], "sixway.strict").counts["partial"] == 1
    assert scores([("A", 0, 10)], [("A", 0, 4)], "sixway.strict").counts["incorrect"] == 1
