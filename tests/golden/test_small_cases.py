"""Small cases from the test suites of edsnlp, spaCy, deidentify and nervaluate's issues."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import spanscore as ss

CASES = json.loads((Path(__file__).parent / "small_unit_cases.json").read_text())


def corpus(documents: dict[str, tuple[str | None, list[Any]]]) -> ss.Corpus:
    return ss.Corpus.from_documents(
        {
            "id": name,
            **({} if text is None else {"text": text}),
            "spans": [{"label": label, "start": start, "end": end} for label, start, end in spans],
        }
        for name, (text, spans) in documents.items()
    )


def test_edsnlp() -> None:
    docs = CASES["edsnlp"]["docs"]
    gold, pred = (corpus({str(i): (doc["text"], doc[side]) for i, doc in enumerate(docs)}) for side in ("gold", "pred"))
    result = ss.score(gold, pred, ["exact", "token"])
    for name in ("exact", "token"):
        expected, found = CASES["edsnlp"]["expected"][name], result[name]
        counts = found.counts
        assert (counts["tp"], counts["predicted"], counts["annotated"]) == (
            expected["tp"],
            expected["positives"],
            expected["support"],
        )
        assert [found.precision, found.recall, found.f] == pytest.approx([expected[k] for k in "prf"], abs=1e-6)


def test_spacy() -> None:
    case = CASES["spacy"]
    gold, pred = (corpus({"d": (case["text"], case[side])}) for side in ("gold", "pred"))
    found = ss.score(gold, pred, "exact")["exact"]
    assert [found.precision, found.recall, found.f] == pytest.approx([2 / 3] * 3)
    for label, (precision, recall, _) in case["expected"]["per_type"].items():
        score = found.by_type[label]
        assert score.recall == recall
        assert score.precision == precision or score.counts["predicted"] == 0


def test_deidentify_tokens() -> None:
    for name, measure in (("token", "token"), ("token_blind", "token.pii")):
        case = CASES["deidentify"][name]
        gold, pred = (
            corpus({document: (case["text"], spans) for document, spans in case[side].items()})
            for side in ("gold", "pred")
        )
        found = ss.score(gold, pred, measure).scores[0]
        rows = {"PII": found.overall} if name == "token_blind" else found.by_type
        expected = {"PII": case["expected"]} if name == "token_blind" else case["expected"]
        for label, numbers in expected.items():
            score = rows[label]
            assert [score.precision, score.recall, score.f] == pytest.approx(numbers, abs=1e-4)


@pytest.mark.parametrize("reverse", [False, True])
def test_nervaluate_issues(reverse: bool) -> None:
    case = CASES["nervaluate_issue_29"]
    gold, pred = (list(reversed(case[side])) if reverse else case[side] for side in ("gold", "pred"))
    found = ss.score(corpus({"d": (None, gold)}), corpus({"d": (None, pred)}), ["exact"])["exact"]
    assert (found.recall, found.precision) == (1 / 2, 1 / 3)
