"""What stays readable after masking: the worked values of `leak`, and what must hold on any data."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spanscore as ss
from spanscore.corpus import Corpus
from spanscore.result.tables import separated
from spanscore.testing import pairs

FAMILY = ["leak", "leak.entity", "leak.document", "leak.char"]


def document(spans: list[tuple[Any, ...]], text: str | None = None, name: str = "d", **more: Any) -> dict[str, Any]:
    listed = [
        {"label": label, "start": a, "end": b, **({"attrs": attrs[0]} if attrs else {})}
        for label, a, b, *attrs in spans
    ]
    return {"id": name, "spans": listed, **({} if text is None else {"text": text}), **more}


def corpus(spans: list[tuple[Any, ...]], text: str | None = None) -> Corpus:
    return Corpus.from_documents([document(spans, text)])


def counts(gold: Corpus, pred: Corpus, measure: str = "leak") -> tuple[int, int, int]:
    found = ss.score(gold, pred, measure).scores[0].counts
    assert found["hidden"] + found["partly"] + found["exposed"] == found["annotated"]
    return found["hidden"], found["partly"], found["exposed"]


def test_a_prediction_of_any_type_hides() -> None:
    scores = ss.score(corpus([("PATIENT", 0, 10)]), corpus([("DOCTOR", 0, 10)]), "leak")["leak"]
    assert scores.recall == 1
    assert {kind: score.recall for kind, score in scores.by_type.items()} == {"PATIENT": 1.0}


def test_a_part_that_is_not_covered_stays_readable() -> None:
    text = "Dr. Ana Lopez, M.D."
    gold, pred = corpus([("PERSON", 0, 13)], text), corpus([("PERSON", 4, 13)])
    assert counts(gold, pred) == (0, 1, 0)
    (error,) = ss.score(gold, pred, "leak").errors("leak")
    assert (error.verdict, error.readable) == ("partly hidden", ((0, 2),))
    assert error.explanation == "Gold PERSON [0, 13) is partly hidden: [0, 2) stays readable."


def test_punctuation_need_not_be_covered() -> None:
    gold, pred = corpus([("PERSON", 0, 10)], "Ana Lopez, and"), corpus([("PERSON", 0, 9)])
    assert counts(gold, pred) == (1, 0, 0)
    assert counts(gold, pred, "leak(ignore=space)") == (0, 1, 0)
    apart = corpus([("PERSON", 0, 3), ("PERSON", 4, 9), ("PERSON", 9, 10)])
    assert counts(gold, apart, "leak(ignore=space)") == (1, 0, 0)
    assert counts(gold, apart, "leak(ignore=none)") == (0, 1, 0)


def test_an_entity_is_hidden_only_if_all_its_mentions_are() -> None:
    text = "Ana Lopez met ANA LOPEZ."
    pred = corpus([("X", 0, 9)])
    for attrs in ([], [{"entity": "E1"}], [{"kbid": "Q1"}], [{"eid": 7}]):
        gold = corpus([("PERSON", 0, 9, *attrs), ("PERSON", 14, 23, *attrs)], text)
        assert counts(gold, pred, "leak.entity") == (0, 1, 0)
        assert ss.score(gold, pred, "leak.entity")["leak.entity"].recall == 0
        assert counts(gold, pred) == (1, 0, 1)
    for others in ([{"entity": "E1"}, {"entity": "E2"}], [{"entity": "E1"}, {}]):
        gold = corpus([("PERSON", 0, 9, others[0]), ("PERSON", 14, 23, others[1])], text)
        assert counts(gold, pred, "leak.entity") == (1, 0, 1)
    assert counts(corpus([("A", 0, 9), ("B", 14, 23)], text), pred, "leak.entity") == (1, 0, 1)


def test_a_text_in_another_case_may_have_another_length() -> None:
    gold = corpus([("STREET", 0, 6), ("STREET", 11, 18)], "Straße and STRASSE")
    assert counts(gold, corpus([("X", 0, 6)]), "leak.entity") == (0, 1, 0)


def test_documents_are_clean_if_nothing_in_them_is_readable() -> None:
    gold = [document([("A", 0, 3), ("A", 5, 8)], name="clean"), document([("A", 0, 3), ("A", 5, 8)], name="half")]
    gold += [document([("A", 0, 3)], name="open"), document([], name="nothing"), document([], name="masked")]
    pred = [document([("B", 0, 8)], name="clean"), document([("B", 0, 3)], name="half"), document([], name="open")]
    pred += [document([], name="nothing"), document([("B", 0, 3)], name="masked")]
    scores = ss.score(Corpus.from_documents(gold), Corpus.from_documents(pred), "leak.document")["leak.document"]
    assert scores.counts == {"hidden": 1, "partly": 1, "exposed": 1, "annotated": 3, "predicted": 3, "needless": 1}
    assert scores.recall == 1 / 3
    assert np.isnan(scores.precision)
    assert np.isnan(scores.f)
    assert not scores.by_type


def test_characters_count_once_for_each_type() -> None:
    gold = corpus([("A", 0, 6), ("A", 4, 10), ("B", 0, 3)], "abcdefghij")
    scores = ss.score(gold, corpus([("X", 2, 12 - 2)]), "leak.char")["leak.char"]
    assert scores.by_type["A"].counts["annotated"] == 10
    assert scores.by_type["A"].counts["hidden"] == 8
    assert scores.by_type["B"].recall == pytest.approx(1 / 3)


def test_a_span_of_punctuation_alone_counts_whole() -> None:
    gold = corpus([("PASSWORD", 4, 8)], "pwd ?!$% set")
    assert counts(gold, corpus([])) == (0, 0, 1)
    assert counts(gold, corpus([("X", 4, 6)])) == (0, 1, 0)
    assert counts(gold, corpus([("X", 4, 8)])) == (1, 0, 0)


def test_needless_predictions_lower_precision_alone() -> None:
    scores = ss.score(corpus([("A", 0, 3)]), corpus([("B", 0, 3), ("B", 3, 5), ("C", 8, 9)]), "leak")["leak"]
    assert scores.precision == pytest.approx(1 / 3)
    assert scores.recall == 1
    assert np.isnan(scores.by_type["A"].precision)
    assert scores.micro() == scores.overall
    assert np.isnan(scores.macro().precision)
    assert np.isnan(scores.macro().f)
    assert scores.macro().recall == scores.weighted().recall == 1
    assert scores.undefined() == {"precision": 0, "recall": 0}
    found = list(scores.errors(correct=True))
    assert [(one.side, one.verdict) for one in found] == [
        ("gold", "hidden"),
        ("predicted", "correct"),
        ("predicted", "needless"),
        ("predicted", "needless"),
    ]


def test_without_text_every_character_counts_and_the_result_says_so() -> None:
    gold, pred = corpus([("A", 0, 10)]), corpus([("A", 0, 9)])
    result = ss.score(gold, pred, ["leak", "leak(ignore=none)"])
    assert [one.counts["partly"] for one in result.scores] == [1, 1]
    assert result.warnings == (
        "gold: 1 document without text; in leak, whitespace and punctuation of its spans count too.",
    )
    assert not ss.score(corpus([("A", 0, 9)], "Ana Lopez,"), pred, FAMILY).warnings


@pytest.mark.parametrize("measure", ["char.pii", "token.pii", "iou.pii", "leak.document", "presidio.pii"])
def test_by_type_is_by_the_gold_type(measure: str) -> None:
    """A patient who is covered by a DOCTOR prediction is found, whatever the prediction is called."""
    gold = corpus([("PATIENT", 0, 9), ("CITY", 14, 18)], "Ana Lopez from Rome was seen in Lima"[:33])
    result = ss.score(gold, corpus([("DOCTOR", 0, 9), ("CITY", 30, 33)]), measure, by="type")
    by = result.scores[0].by("type")
    assert list(by) == ["CITY", "PATIENT"]
    assert (by["PATIENT"].recall, by["CITY"].recall) == (1, 0)
    assert all(math.isnan(one.precision) for one in by.values())  # predictions belong to no type
    assert result.scores[0].micro("type") is result.scores[0].overall


@pytest.mark.parametrize(
    ("left_out", "found"),
    [
        ({"entities": ["PERSON"]}, (2, 0, 2, 0)),
        ({"shared_types": True}, (2, 0, 2, 0)),
        ({"ignore": ["PLACE", "PHONE"]}, (2, 0, 2, 0)),
        ({"gold_map": {"PHONE": None}}, (2, 0, 2, 0)),
        ({"label_map": {"PLACE": None, "PHONE": None}}, (1, 1, 1, 0)),
    ],
    ids=str,
)
def test_types_that_are_not_scored_mask_text_all_the_same(left_out: dict[str, Any], found: tuple[int, ...]) -> None:
    """A mask on a gold span that is not scored is not needless; only a map says that predictions are not there."""
    gold = corpus([("PERSON", 0, 3), ("PERSON", 4, 7), ("PHONE", 8, 15)], "Ann Bob 5551234")
    pred = corpus([("PERSON", 0, 3), ("PLACE", 4, 7), ("PLACE", 8, 15)])
    counts = ss.score(gold, pred, "leak", **left_out)["leak"].counts
    assert tuple(counts[name] for name in ("hidden", "exposed", "predicted", "needless")) == found
    assert ss.score(iter([gold]), iter([pred]), "leak", keep_spans=False, **left_out)["leak"].counts == counts


def test_masking_takes_overlapping_predictions_together() -> None:
    gold = corpus([("A", 0, 10)], "abcdefghij")
    pred = Corpus.from_arrays(["d"], [0, 0], [0, 4], [6, 10], ["X", "Y"], score=[0.9, 0.5])
    result = ss.score(gold, pred, ["leak", "iou.pii(threshold=0.9)"], resolve="score")
    assert [one.recall for one in result.scores] == [1, 0]
    assert "resolve:none" in result["leak"].signature
    assert result["leak"].by_document["d"].recall == 1
    assert [curve.at(0.5).recall for curve in ss.sweep(gold, {"p": pred}, "leak", resolve="score").curves] == [1, 1]


def test_chunks_and_processes_give_the_same_counts(tmp_path: Path) -> None:
    rng = random.Random(3)
    files = []
    for side in ("gold", "pred"):
        documents = []
        for number in range(3000):
            starts = sorted(rng.sample(range(60), 4))
            spans = [(rng.choice("ABC"), a, min(a + rng.randint(1, 20), 66)) for a in starts]
            documents.append(document(spans, "Ann, bob or " * 5 + "Zoë Ann" if side == "gold" else None, str(number)))
        (tmp_path / side).write_text("".join(json.dumps(one) + "\n" for one in documents))
        files.append(tmp_path / side)
    gold, pred = files
    whole = ss.score(gold, pred, FAMILY)
    streamed = ss.score(gold, pred, FAMILY, keep_spans=False)
    shared = ss.score(gold, pred, FAMILY, keep_spans=False, jobs=2)
    for one, two, three in zip(whole.scores, streamed.scores, shared.scores, strict=True):
        assert one.counts == two.counts == three.counts
        by_type = [{name: row.counts for name, row in some.by_type.items()} for some in (one, two, three)]
        assert by_type[0] == by_type[1] == by_type[2]
        assert one.signature == two.signature == three.signature
        assert 0 < one.counts["hidden"] < one.counts["annotated"]


@settings(max_examples=200, deadline=None)
@given(both=pairs(), more=st.integers(0, 10))
def test_sums_hold_and_more_predictions_never_expose_anything(both: tuple[Corpus, Corpus], more: int) -> None:
    gold, pred = both
    fewer = pred.with_spans(np.arange(min(more, len(pred.start))))
    now, before = (ss.score(gold, side, FAMILY) for side in (pred, fewer))
    for after, earlier in zip(now.scores, before.scores, strict=True):
        for one in (after, earlier):
            rows = [one.overall, *one.by_type.values(), *one.by_document.values()]
            assert all(
                r.counts["hidden"] + r.counts["partly"] + r.counts["exposed"] == r.counts["annotated"] for r in rows
            )
            kinds = one.by_type.values()
            assert not kinds or sum(kind.counts["annotated"] for kind in kinds) == one.counts["annotated"]
        assert after.counts["hidden"] >= earlier.counts["hidden"]
        assert after.counts["exposed"] <= earlier.counts["exposed"]


@settings(max_examples=200, deadline=None)
@given(both=pairs())
def test_what_is_readable_is_what_no_prediction_covers(both: tuple[Corpus, Corpus]) -> None:
    gold, pred = both
    masked = {(d.id, i) for d in pred.documents() for s in d.spans for i in range(s.start, s.end)}
    texts = {str(d.id): d.text for d in gold.documents()}
    for measure in ("leak", "leak(ignore=none)"):
        result = ss.score(gold, pred, measure).scores[0]
        found = list(result.errors(correct=True))
        for error in found:
            shown = {i for start, end in error.readable for i in range(start, end)}
            assert not {(error.document, i) for i in shown} & masked
            if error.verdict not in ("partly hidden", "exposed"):
                assert not error.readable
                continue
            assert shown
            left = {i for i in range(error.span.start, error.span.end) if (error.document, i) not in masked}
            text = texts[error.document]
            if measure == "leak(ignore=none)" or text is None:
                assert shown == left
            else:
                assert all(not text[i].isalnum() for i in left - shown)
        for verdict, field in (("hidden", "hidden"), ("partly hidden", "partly"), ("exposed", "exposed")):
            assert sum(one.verdict == verdict for one in found) == result.counts[field]


def test_f_is_undefined_in_every_row_without_precision() -> None:
    gold = ss.Corpus.from_arrays(["d", "e"], [0, 1], [0, 0], [4, 4], ["HIDDEN", "EXPOSED"])
    pred = ss.Corpus.from_arrays(["d", "e"], [0], [0], [4], ["X"])
    result = ss.score(gold, pred, ["leak"], ci=0.95)
    scores = result["leak"]
    assert scores.f == pytest.approx(2 / 3)
    for label, recall in (("HIDDEN", 1.0), ("EXPOSED", 0.0)):
        row, interval = scores.by_type[label], scores.interval(ss.Bootstrap(), label)
        assert row.recall == recall
        assert np.isnan([row.precision, row.f]).all()
        assert interval is not None
        assert np.isnan([*interval.precision, *interval.f]).all()
        assert not np.isnan(interval.recall).any()
    lines = [line.split(",") for line in separated(result, ",").splitlines()]
    predicted = lines[0].index("predicted")
    assert [line[predicted] for line in lines[1:]] == ["1", "", ""]
