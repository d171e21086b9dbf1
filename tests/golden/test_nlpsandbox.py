"""NLP Sandbox's own test data and the worked examples of its document (values: golden/nlpsandbox.json)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import spanscore as ss
from golden.golden import load

GOLDEN = load("nlpsandbox.json")
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
    "token_strict": "sandbox.token(tokenizer=treebank, key=position)",
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
    return ss.read(path, format="nlpsandbox(lengths=trust)")  # some lengths of the client's data are wrong


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


PUBLISHED = (("EHMS", 3598, 4), ("U.S.", 3598, 4), ("98110", 3598, 5))
"""The three objects of the published example: text, start and length as they stand in the document."""


def addresses(path: Path, *kinds: str, rows: tuple[tuple[str, int, int], ...] = PUBLISHED) -> ss.Corpus:
    """Write the rows with these address types as a file of annotations, and read it back."""
    listed = [
        {"start": start, "length": length, "text": text, "addressType": kind}
        for (text, start, length), kind in zip(rows, kinds, strict=True)
    ]
    note = {"annotationSource": {"resourceSource": {"name": "note"}}, "textPhysicalAddressAnnotations": listed}
    path.write_text(json.dumps([note]))
    return ss.read(path)


def test_the_published_example(tmp_path: Path) -> None:
    """Instance 1, address type 2/3; HIPAA 2/3 by the document's table, and 1, as it prints, if hospitals are PHI."""
    gold = addresses(tmp_path / "gold.json", "organization", "country", "zip")
    pred = addresses(tmp_path / "pred.json", "hospital", "country", "zip")
    table = tmp_path / "phi.tsv"
    table.write_text("organization\tYes\nHOSPITAL\tyes\ncountry\tno\nzip\tyes\n")
    own = f"sandbox.hipaa(table=@{table})"
    result = ss.score(
        gold, pred, ["sandbox.instance", "sandbox.subtype", "sandbox.hipaa", own, "sandbox.hipaa(table=i2b2)"]
    )
    for name, expected in (
        ("sandbox.instance", 1.0),
        ("sandbox.subtype", 2 / 3),
        ("sandbox.hipaa", 2 / 3),
        (own, 1.0),
        ("sandbox.hipaa(table=i2b2)", 1.0),
    ):
        found = result[name]
        assert (found.counts["predicted"], found.counts["annotated"]) == (3, 3), name
        assert [found.precision, found.recall, found.f] == pytest.approx([expected] * 3), name
    assert result.warnings == ()
    assert "#" in result[own].signature
    assert sum(result["sandbox.subtype"].confusion.values()) == 4  # two found, one missed, one spurious


def test_annotations_in_one_place_are_one_only_if_text_and_subtype_agree(tmp_path: Path) -> None:
    rows = (*PUBLISHED, PUBLISHED[0], PUBLISHED[0])
    gold = addresses(tmp_path / "gold.json", "zip", "zip", "zip", "zip", "city", rows=rows)
    result = ss.score(gold, gold, ["sandbox.instance", "exact"])
    assert result["sandbox.instance"].counts["annotated"] == 4
    assert result["exact"].counts["annotated"] == 2
    assert result.warnings == (
        "gold: 3 duplicate spans count once.",
        "gold: 1 duplicate span counts once in sandbox.instance.",
        "pred: 3 duplicate spans count once.",
        "pred: 1 duplicate span counts once in sandbox.instance.",
        "pred: the gold data and the predictions are the same; is one of the files the wrong one?",
    )


def test_hipaa_is_for_addresses_and_subtypes_for_kinds_that_have_one(tmp_path: Path) -> None:
    rows = [
        ["PersonName", "0", 0, 3, "Ann", None],
        ["Date", "0", 9, 4, "2020", "YYYY"],
        ["Location", "0", 20, 2, "WA", "other"],
    ]
    gold = notes(rows, tmp_path / "gold.json")
    found = {one.measure.name: one.counts["annotated"] for one in ss.score(gold, gold, list(SUBTYPED)).scores}
    assert found == SUBTYPED


SUBTYPED = {"sandbox.instance": 3, "sandbox.subtype": 2, "sandbox.hipaa": 1}


def test_a_date_format_that_neither_side_has_is_equal_and_one_that_only_one_side_has_is_not(tmp_path: Path) -> None:
    def date(name: str, **more: str) -> ss.Corpus:
        (tmp_path / name).write_text(
            json.dumps({"textDateAnnotations": [{"start": 0, "length": 4, "text": "2020", **more}]})
        )
        return ss.read(tmp_path / name)

    without, with_ = date("a.json"), date("b.json", dateFormat="YYYY")
    assert ss.score(without, without, "sandbox.subtype")["sandbox.subtype"].f == 1.0
    assert ss.score(without, with_, "sandbox.subtype")["sandbox.subtype"].f == 0.0


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        ({"start": 0, "length": 4}, r"textDateAnnotations\[0\]: the field 'text' is missing"),
        ({"start": 0, "length": 5, "text": "2020"}, r"\[0\].length: the length 5 differs from that of the text, 4"),
    ],
)
def test_text_is_required_and_must_have_the_length(annotation: dict[str, Any], message: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"textDateAnnotations": [annotation]}))
    with pytest.raises(ss.InputError, match=message):
        ss.read(tmp_path / "a.json")


def test_an_unknown_address_type_is_an_error_that_lists_the_known_ones(tmp_path: Path) -> None:
    gold = addresses(tmp_path / "gold.json", "CASTLE", rows=PUBLISHED[:1])
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
        ("Children's hospital", "Children hospital", "sandbox.token", (1, 2, 2)),
        ("Children's hospital", "Children hospital", "sandbox.token(key=position)", (0, 2, 2)),
    ],
)
def test_worked_examples(gold: str, pred: str, measure: str, counts: tuple[int, int, int]) -> None:
    found = ss.score(text_spans(gold), text_spans(pred), measure)[measure].counts
    assert (found["tp"], found["predicted"], found["annotated"]) == counts


def test_anchor_both_lets_the_start_move_too() -> None:
    gold, pred = text_spans("Seattle, WA"), text_spans("eattle, WA", start=1)
    result = ss.score(gold, pred, ["sandbox.instance-relax", "sandbox.instance-relax(anchor=both)"])
    assert [one.recall for one in result.scores] == [0, 1]
