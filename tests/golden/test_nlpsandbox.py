"""NLP Sandbox's own test data and the worked examples of its document (values: golden/nlpsandbox.json)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import spanscore as ss

GOLDEN = json.loads((Path(__file__).parent / "nlpsandbox.json").read_text())
LISTS = {
    "Date": ("textDateAnnotations", "dateFormat", "DATE"),
    "PersonName": ("textPersonNameAnnotations", None, "PERSON_NAME"),
    "Location": ("textLocationAnnotations", "locationType", "LOCATION"),
    "Id": ("textIdAnnotations", "idType", "ID"),
    "Contact": ("textContactAnnotations", "contactType", "CONTACT"),
}
KINDS = {"date": "DATE", "person": "PERSON_NAME", "location": "LOCATION", "id": "ID", "contact": "CONTACT"}
MEASURES = {
    "instance_strict": "sandbox.instance",
    "instance_relax": "sandbox.instance-relax",
    "token_strict": "sandbox.token(tokenizer=treebank)",
    "subtype_strict": "sandbox.subtype",
}


def notes(rows: list[Any], path: Path) -> ss.Corpus:
    """The rows as a file of annotation sets, read back."""
    documents: dict[str, dict[str, Any]] = {}
    for kind, note, start, length, text, subtype in rows:
        name, field, _ = LISTS[kind]
        lists: dict[str, list[Any]] = {name: [] for name, _, _ in LISTS.values()}
        document = documents.setdefault(note, {"annotationSource": {"resourceSource": {"name": note}}, **lists})
        annotation = {"start": start, "length": length, "text": text, "confidence": 95.5}
        document[name].append(annotation if field is None else {**annotation, field: subtype})
    path.write_text(json.dumps(list(documents.values())))
    return ss.read(path, format="nlpsandbox")


@pytest.mark.parametrize("kind", list(GOLDEN["expected"]))
def test_equal_to_the_client(kind: str, tmp_path: Path) -> None:
    """The client rounds P and R to two decimals, then makes F1 of these and rounds again."""
    gold, pred = notes(GOLDEN["gold"], tmp_path / "g.json"), notes(GOLDEN["pred"], tmp_path / "p.json")
    result = ss.score(gold, pred, list(MEASURES.values()))
    expected = GOLDEN["expected"][kind]
    if "all" in expected:
        expected = {f"{name}_PRF": [expected["all"]] * 3 for name in MEASURES}
    for name, numbers in expected.items():
        found = result[MEASURES[name.removesuffix("_PRF")]].by_type[KINDS[kind]]
        p, r = round(found.precision, 2), round(found.recall, 2)
        assert [p, r, round(2 * p * r / (p + r), 2)] == numbers, name


def spans(*rows: tuple[int, str, str]) -> ss.Corpus:
    made = [
        {
            "start": start,
            "end": start + len(text),
            "label": "PHYSICAL_ADDRESS",
            "attrs": {"text": text, "addressType": kind},
        }
        for start, text, kind in rows
    ]
    return ss.Corpus.from_documents([{"id": "note", "spans": made}])


def test_three_objects_at_one_start() -> None:
    gold = spans((0, "EHMS", "ORGANIZATION"), (0, "U.S.-", "country"), (0, "98110-", "zip"))
    pred = spans((0, "EHMS", "hospital"), (0, "U.S.-", "COUNTRY"), (0, "98110-", "ZIP"))
    result = ss.score(gold, pred, ["sandbox.instance", "sandbox.subtype", "sandbox.hipaa"])
    assert result["sandbox.instance"].f == 1
    assert result["sandbox.subtype"].f == result["sandbox.hipaa"].f == pytest.approx(2 / 3)


def test_the_published_example_holds_once_hospitals_are_phi(tmp_path: Path) -> None:
    table = tmp_path / "phi.tsv"
    table.write_text("organization\tYes\nHOSPITAL\tyes\ncountry\tno\nzip\tyes\n")
    gold = spans((0, "EHMS", "ORGANIZATION"), (0, "U.S.-", "country"), (0, "98110-", "zip"))
    pred = spans((0, "EHMS", "hospital"), (0, "U.S.-", "COUNTRY"), (0, "98110-", "ZIP"))
    name = f"sandbox.hipaa(table=@{table})"
    scores = ss.score(gold, pred, [name, "sandbox.hipaa(table=i2b2)"])
    assert [one.f for one in scores.scores] == [1, 1]
    assert "#" in scores[name].signature


def test_an_unknown_address_type_is_an_error_that_lists_the_known_ones() -> None:
    gold = spans((0, "EHMS", "CASTLE"))
    with pytest.raises(ss.SpanscoreError, match=r"document \"note\", addressType: .*'CASTLE'.*CITY, COUNTRY"):
        ss.score(gold, gold, "sandbox.hipaa")


def text_spans(text: str, start: int = 0) -> ss.Corpus:
    span = {"start": start, "end": start + len(text), "label": "LOCATION", "attrs": {"text": text}}
    return ss.Corpus.from_documents([{"id": "note", "spans": [span]}])


@pytest.mark.parametrize(
    ("gold", "pred", "measure", "counts"),
    [
        ("Jon Smith", "Jon", "sandbox.instance", (0, 1, 1)),
        ("Jon Smith", "Jon", "sandbox.token", (1, 1, 2)),
        ("Children's hospital", "Children hospital", "sandbox.instance", (0, 1, 1)),
        ("Children's hospital", "Children hospital", "sandbox.instance-relax", (1, 1, 1)),
        ("Children's hospital", "Children hospital", "sandbox.instance-relax(tolerance=1)", (0, 1, 1)),
        ("Children's hospital", "Children hospital", "sandbox.token", (0, 2, 2)),
        ("Children's hospital", "Children hospital", "sandbox.token(key=text)", (1, 2, 2)),
    ],
)
def test_worked_examples(gold: str, pred: str, measure: str, counts: tuple[int, int, int]) -> None:
    found = ss.score(text_spans(gold), text_spans(pred), measure)[measure].counts
    assert (found["tp"], found["predicted"], found["annotated"]) == counts


def test_anchor_both_lets_the_start_move_too() -> None:
    gold, pred = text_spans("Seattle, WA"), text_spans("eattle, WA", start=1)
    result = ss.score(gold, pred, ["sandbox.instance-relax", "sandbox.instance-relax(anchor=both)"])
    assert [one.recall for one in result.scores] == [0, 1]
