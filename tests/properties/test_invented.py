"""An invented mention counts, in every measure, as a wrong prediction on a text of its own that gold leaves empty."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import spanscore as ss
from spanscore.align import pair
from spanscore.corpus import Corpus
from spanscore.engine.partial import tally_all
from spanscore.measures import Measure, measure, names
from spanscore.measures.clustering import Clustering
from spanscore.measures.neleval import Overlap
from spanscore.measures.neleval_names import NAMED
from spanscore.tally import Tally
from spanscore.testing import pairs, reference_tally

VARIANTS = (
    "iou(threshold=0.5, skip=english)",
    "iou(threshold=0.5, skip=punct, unit=token)",
    "iou(threshold=0.5, view=tokens, skip=english)",
    "iou.pii(threshold=0.5, merge=false, count=spans)",
    "exact(typed=false)",
    "presidio(threshold=0.5, skip=none)",
    "sandbox.token(key=text)",
)
ALL = [
    one
    for spec in (*(name for name in names() if name not in NAMED), *VARIANTS)
    if not isinstance(one := measure(spec), Clustering | Overlap) and not one.needs
]
DOCUMENTS = [one for one in ALL if one.name in ("leak.document", "meddocan.leak")]
"""Their counts are of documents, of which each counts once, and of sentences."""
MENTION = st.lists(st.sampled_from(("Ann", "Bob", "of", "the", " ", ".", "é", "😀", "-")), min_size=1, max_size=4)


@given(data=st.data())
def test_an_invented_mention_is_one_wrong_prediction(data: st.DataObject) -> None:
    gold, pred = data.draw(pairs(texts=True, attributes=False))
    documents = [ss_document(document) for document in pred.documents()]
    added: list[tuple[str, str, str]] = []
    for document in documents:
        for _ in range(data.draw(st.integers(0, 2))):
            mention = "".join(data.draw(MENTION))
            if mention.strip():
                added.append((document["id"], mention.strip(), data.draw(st.sampled_from("ABD"))))
                made: dict[str, Any] = {"start": 0, "end": 0, "label": added[-1][2], "attrs": {"invented": mention}}
                document["spans"].append(made)
    with_them = Corpus.from_documents(documents)
    for one in ALL:
        if one in DOCUMENTS:
            continue
        note(repr(one))
        expected = counted(one, gold, pred)
        for name, mention, label in added:
            alone = {"id": name, "text": mention, "spans": []}
            found = {"id": name, "spans": [{"start": 0, "end": len(mention), "label": label}]}
            for key, counts in counted(one, Corpus.from_documents([alone]), Corpus.from_documents([found])).items():
                expected.setdefault(key, Counter()).update(counts)
        tally = tally_all(pair(gold, with_them), [one])[0]
        assert as_counts(tally) == {key: dict(row) for key, row in expected.items()}


def counted(one: Measure, gold: Corpus, pred: Corpus) -> dict[tuple[str, str], Counter[str]]:
    return {key: Counter(row) for key, row in reference_tally(one, gold, pred).items()}


def as_counts(tally: Tally) -> dict[tuple[str, str], dict[str, float]]:
    rows = zip(tally.doc.tolist(), tally.label.tolist(), tally.counts.tolist(), strict=True)
    return {
        (tally.documents[doc], tally.labels[label]): {
            name: value for name, value in zip(tally.fields, row, strict=True) if value
        }
        for doc, label, row in rows
        if any(row)
    }


def ss_document(document: Any) -> dict[str, Any]:
    listed = [{"start": one.start, "end": one.end, "label": one.label, "score": one.score} for one in document.spans]
    return {"id": str(document.id), "spans": listed}


def test_errors_show_what_was_invented() -> None:
    gold = Corpus.from_documents([{"id": "d", "text": "Ann left.", "spans": [{"start": 0, "end": 3, "label": "P"}]}])
    made = {"start": 9, "end": 9, "label": "P", "attrs": {"invented": "Eve"}}
    pred = Corpus.from_documents([{"id": "d", "spans": [{"start": 0, "end": 3, "label": "P"}, made, made]}])
    result = ss.score(gold, pred, ["iou", "exact", "char", "leak"])
    for one in result.scores:
        assert [(error.verdict, error.text, error.span[:2], error.explanation) for error in one.errors()] == [
            ("invented", "Eve", (9, 9), "Predicted P is not in the text.")
        ] * 2
    assert result["iou"].counts == {"tp": 1, "predicted": 3, "annotated": 1, "fp": 2, "fn": 0}
    assert result["char"].counts["fp"] == 6
    assert result["iou"].confusion == {("P", "P"): 1, (None, "P"): 2}


@pytest.mark.parametrize("gold", [{"id": "d", "spans": []}, {"id": "d", "spans": [], "tokens": [[0, 3]]}])
def test_without_text(gold: dict[str, Any]) -> None:
    made = {"start": 0, "end": 0, "label": "P", "attrs": {"invented": True}}
    pred = Corpus.from_documents([{"id": "d", "spans": [made, {"start": 0, "end": 3, "label": "P"}]}])
    for name in ("exact", "iou", *(["token"] if "tokens" in gold else [])):
        assert ss.score(Corpus.from_documents([gold]), pred, [name])[name].counts["fp"] == 2


def test_scored_regions_do_not_excuse_an_invention() -> None:
    gold = {"id": "d", "text": "Ann left. Bob too.", "spans": [], "meta": {"scored_regions": "0-9"}}
    made = {"start": 18, "end": 18, "label": "P", "attrs": {"invented": "Eve"}}
    pred = {"id": "d", "spans": [made, {"start": 10, "end": 13, "label": "P"}]}
    found = ss.score(Corpus.from_documents([gold]), Corpus.from_documents([pred]), ["exact"])["exact"]
    assert found.counts["fp"] == 1
