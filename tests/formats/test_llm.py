"""Answers of language models: mentions without offsets, tagged text, and langextract's documents."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

import spanscore as ss
from calls import content, spanscore, write
from spanscore.engine.rescore import rescore
from spanscore.formats import read_chunks
from spanscore.formats.llm import untagged
from spanscore.result.files import to_json

TEXT = "Zoë 😀 met Ann Lee.\r\nAnn Lee left for New\nYork with Alexandria. אבי"


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    places = [(0, 3), (10, 17), (20, 27)]
    found = [{"start": start, "end": end, "label": "PERSON"} for start, end in places]
    write(
        tmp_path / "gold.jsonl", [{"id": "a", "text": TEXT, "spans": found}, {"id": "b", "text": "none", "spans": []}]
    )
    return tmp_path


def surfaces(corpus: ss.Corpus, doc: int = 0) -> list[tuple[str, str]]:
    document = list(corpus.documents())[doc]
    return [(TEXT[span.start : span.end], span.label) for span in document.spans]


ANSWER = {
    "id": "a",
    "entities": [
        {"text": "Zoë", "type": "PERSON"},
        {"text": "ann lee", "type": "PERSON"},
        {"text": "Ann Lee", "type": "PERSON"},
        {"text": "New York", "type": "CITY"},
        {"text": "Alex", "type": "PERSON"},
        {"text": "אבי", "type": "PERSON"},
    ],
}
PLACED = [("Zoë", "PERSON"), ("Ann Lee", "PERSON"), ("Ann Lee", "PERSON"), ("New\nYork", "CITY"), ("", "PERSON")]


@pytest.mark.parametrize("lines", [True, False])
def test_mentions_are_placed_on_the_gold_text(gold: Path, lines: bool) -> None:
    answers = [ANSWER, {"id": "b", "entities": []}]
    content = "".join(json.dumps(one) + "\n" for one in answers) if lines else json.dumps(answers, indent=1)
    (gold / "llm.json").write_text(content)
    out = spanscore("score", "gold.jsonl", "llm.json", "-m", "exact", "--json", "-", "-o", "out", cwd=gold)
    counts = json.loads(out.stdout)["results"][0]["counts"]
    assert counts == {"tp": 3, "predicted": 6, "annotated": 3, "fp": 3, "fn": 0}
    assert "1 mention is not in the text, and counts as invented" in out.stderr
    errors = [json.loads(line) for line in (gold / "out" / "errors.jsonl").read_text().splitlines()]
    made = [one for one in errors if one["verdict"] == "invented"]
    assert [(one["text"], one["span"]["label"]) for one in made] == [("Alex", "PERSON")]


def test_texts_come_from_the_file_or_from_another_one(gold: Path) -> None:
    write(gold / "own.jsonl", [{**ANSWER, "text": TEXT}])
    assert surfaces(ss.read(gold / "own.jsonl"))[:5] == PLACED
    write(gold / "llm.jsonl", [ANSWER])
    assert surfaces(ss.read(gold / "llm.jsonl", "llm", texts=str(gold / "gold.jsonl")))[:5] == PLACED
    with pytest.raises(ss.InputError, match=r"llm.jsonl:1: \[0\]: mentions without offsets need the text"):
        ss.read(gold / "llm.jsonl")


def test_without_ids_documents_are_those_with_the_same_number(gold: Path) -> None:
    write(gold / "llm.jsonl", [{"entities": ANSWER["entities"]}, {"entities": [{"value": "none", "label": "X"}]}])
    found = ss.read(gold / "llm.jsonl", "llm", texts=str(gold / "gold.jsonl"))
    assert found.ids.tolist() == ["a", "b"]
    assert [(span.start, span.end, span.label) for span in list(found.documents())[1].spans] == [(0, 4, "X")]


@pytest.mark.parametrize("changed", [False, True])
def test_tagged_text(gold: Path, changed: bool) -> None:
    tagged = TEXT.replace("Ann Lee left", "<PERSON>Ann Lee</PERSON> left").replace(
        "New\nYork", "<CITY>New\nYork</CITY>"
    )
    tagged = tagged.replace("met ", "").replace("Zoë", "<PERSON>Zoe</PERSON>") if changed else tagged
    write(gold / "llm.jsonl", [{"id": "a", "tagged": tagged}])
    found = surfaces(ss.read(gold / "llm.jsonl", "llm", texts=str(gold / "gold.jsonl")))
    kept = next(iter(ss.read(gold / "llm.jsonl", "llm", texts=str(gold / "gold.jsonl")).documents())).spans
    assert found == ([("", "PERSON")] if changed else []) + [("Ann Lee", "PERSON"), ("New\nYork", "CITY")]
    assert kept[-2].start == (10 if changed else 20)  # a changed text says nothing about places


@pytest.mark.parametrize(
    ("tagged", "text", "spans"),
    [
        ("<A>x</A>", "x", [(0, 1, "A")]),
        ("a <b and c> d", "a <b and c> d", []),
        ("<A>x", "x", []),
        ("x</A>", "x", []),
        ("<A><A>x</A></A>", "x", [(0, 1, "A"), (0, 1, "A")]),
        ("<A>x<B>y</A>z</B>", "xyz", [(0, 2, "A")]),
        ("<A id=\"1\" kind='b c' n=3 >x</A >", "x", [(0, 1, "A")]),
        ("", "", []),
    ],
)
def test_tags(tagged: str, text: str, spans: list[tuple[int, int, str]]) -> None:
    alone = sum(tagged.count(mark) for mark in ("<A", "<B", "</A", "</B")) - 2 * len(spans)
    assert untagged(tagged) == (text, spans, alone)


def test_tags_of_the_text_itself_belong_to_it() -> None:
    text = "<b>Ann</b> <i> left<br>"
    tagged = "<b><P>Ann</P></b> <i> left<br>"
    assert untagged(tagged, text) == (text, [(3, 6, "P")], 0)


def test_tags_without_a_partner_are_counted(gold: Path) -> None:
    """The mention that was closed is read; the one that was not is counted in a note."""
    tagged = '<PER id="1">Zoe</PER> and <PER>Bob left'
    write(gold / "llm.jsonl", [{"id": "a", "tagged": tagged, "text": "Zoe and Bob left"}])
    read = ss.read(gold / "llm.jsonl", "llm")
    assert [(one.start, one.end, one.label) for one in next(iter(read.documents())).spans] == [(0, 3, "PER")]
    assert any("left out: tags without a partner (1)" in note for note in read.notes)


@pytest.mark.parametrize(
    ("entity", "words"),
    [({"text": "x"}, "the field 'type' is missing"), ({"type": "A"}, "the field 'text' is missing")],
)
def test_a_mention_needs_text_and_type(gold: Path, entity: dict[str, str], words: str) -> None:
    write(gold / "llm.jsonl", [{"id": "a", "text": "x", "entities": [entity]}])
    with pytest.raises(ss.InputError, match=rf"llm.jsonl:1: \[0\].entities\[0\]: {words}"):
        ss.read(gold / "llm.jsonl", "llm")


LANGEXTRACT: dict[str, Any] = {
    "extractions": [
        {
            "extraction_class": "PERSON",
            "extraction_text": "Ann Lee",
            "char_interval": {"start_pos": 10, "end_pos": 17},
            "alignment_status": "match_exact",
            "extraction_index": 1,
            "group_index": 0,
            "description": None,
            "attributes": {"role": "guest", "more": ["x"]},
        },
        {"extraction_class": "PERSON", "extraction_text": "Ann Lee", "char_interval": None, "alignment_status": None},
        {"extraction_class": "PERSON", "extraction_text": "Eve", "char_interval": {"start_pos": None, "end_pos": None}},
    ],
    "text": TEXT,
    "document_id": "a",
}


def test_langextract(gold: Path) -> None:
    write(gold / "found.jsonl", [LANGEXTRACT])
    found = ss.read(gold / "found.jsonl")
    assert found.format == "langextract"
    assert surfaces(found) == [("Ann Lee", "PERSON"), ("Ann Lee", "PERSON"), ("", "PERSON")]
    first, second, third = next(iter(found.documents())).spans
    assert first.attrs == {"role": "guest", "alignment_status": "match_exact"}
    assert (second.start, third.attrs) == (20, {"invented": "Eve"})
    wrong = json.loads(json.dumps(LANGEXTRACT))
    wrong["extractions"][0]["char_interval"]["end_pos"] = 999
    write(gold / "wrong.jsonl", [wrong])
    with pytest.raises(ss.InputError, match=r"extractions\[0\].char_interval: .* 10 and 999 is outside the text"):
        ss.read(gold / "wrong.jsonl")


def test_inventions_in_tables_and_report(gold: Path) -> None:
    """The mention is listed where text is shown, and nowhere where it is hidden."""
    write(
        gold / "llm.jsonl",
        [{"id": "a", "entities": [{"text": "Mallory", "type": "PERSON"}]}, {"id": "b", "entities": []}],
    )
    spanscore("convert", "llm.jsonl", "pred.jsonl", "--from", "llm(texts=gold.jsonl)", cwd=gold)
    for more in ([], ["--no-text"]):
        folder = f"out{len(more)}"
        call = ("run", "gold.jsonl", "--detector", "replay(file=pred.jsonl)", "-q", "-o", folder, *more)
        spanscore(*call, cwd=gold)
        with (gold / folder / "false_positives.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert [(row["verdict"], row["text"], row["start"]) for row in rows] == [
            ("invented", "" if more else "Mallory", str(len(TEXT)))
        ]
        shown = [path.name for path in (gold / folder).iterdir() if "Mallory" in path.read_text(errors="replace")]
        assert bool(shown) is not bool(more), shown


def test_check_reads_answers_with_the_texts_of_the_first_file(gold: Path) -> None:
    write(gold / "llm.jsonl", [{"id": "a", "entities": [{"text": "Eve", "type": "PERSON"}] * 2}])
    found = json.loads(spanscore("check", "gold.jsonl", "llm.jsonl", "--json", cwd=gold).stdout)
    kinds = {one["kind"]: one["count"] for one in found["files"][1]["findings"]}
    assert kinds["invented mention"] == 2
    said = [one for one in found["files"][1]["findings"] if "invented" in one["message"]]
    assert [one["examples"] for one in said] == [['document "a", PERSON'] * 2]  # once, without meaningless offsets
    assert not {"duplicate span", "empty span"} & set(kinds)


def test_an_id_that_the_gold_data_lacks_is_named(gold: Path) -> None:
    answers = gold / "answers.jsonl"
    write(answers, [{"id": "other", "entities": [{"text": "Ann", "type": "PERSON"}]}])
    with pytest.raises(ss.errors.InputError, match='no document "other" .* whose first one is "a"; give both'):
        ss.score(gold / "gold.jsonl", answers)


def test_an_error_in_the_gold_data_names_only_its_own_format(tmp_path: Path) -> None:
    table, answers = tmp_path / "gold.csv", tmp_path / "answers.jsonl"
    table.write_text("id,text,start,end,label\na,Ann,0,x,PERSON\n")
    write(answers, [{"id": "a", "entities": [{"text": "Ann", "type": "PERSON"}]}])
    with pytest.raises(ss.errors.InputError, match=r"gold\.csv:2") as error:
        list(read_chunks(answers, companion=lambda: ss.read(table)))
    assert str(error.value).count("The file was read as") == 1
    assert "read as csv" in str(error.value)


@pytest.mark.parametrize("option", ["--no-text", "--mask"])
def test_answers_are_read_again_with_the_texts_of_the_gold_data(gold: Path, option: str) -> None:
    """Reports and replayed predictions need the texts as scoring does, and hidden mentions are no other predictions."""
    write(gold / "llm.jsonl", [ANSWER, {"id": "b", "entities": [{"text": "Mallory", "type": "PERSON"}]}])
    spanscore("score", "gold.jsonl", "llm.jsonl", "-o", "scored", option, cwd=gold)
    replay = ("--detector", "replay(file=llm.jsonl)", "--allow-missing-mappings", "-q")
    spanscore("run", "gold.jsonl", *replay, "-o", "ran", option, cwd=gold)
    for folder in ("scored", "ran"):
        spanscore("report", folder, "-o", "page.html", cwd=gold)
        assert b"Mallory" not in content(gold / "page.html")
    again, before = (
        rescore(gold / "ran", gold=str(gold / "gold.jsonl")),
        json.loads((gold / "ran" / "results.json").read_text()),
    )
    assert json.loads(to_json(again))["results"] == before["results"]


def test_answers_without_ids_are_replayed_by_their_number_in_the_dataset(gold: Path) -> None:
    write(gold / "llm.jsonl", [{"entities": ANSWER["entities"]}, {"entities": []}])
    replay = ("--detector", "replay(file=llm.jsonl)", "--allow-missing-mappings", "-q")
    spanscore("run", "gold.jsonl", *replay, "-o", "ran", cwd=gold)
    assert surfaces(ss.read(gold / "ran" / "predictions.jsonl")) == [*PLACED[:4], ("אבי", "PERSON"), ("", "PERSON")]


def test_langextract_texts_are_checked_where_the_match_is_exact(gold: Path) -> None:
    """langextract compares words regardless of case; of other matches it says that the text differs."""
    one = json.loads(json.dumps(LANGEXTRACT))
    exact = one["extractions"][0]
    exact["extraction_text"] = "ANN  Lee"
    write(gold / "found.jsonl", [one])
    assert surfaces(ss.read(gold / "found.jsonl"))[0] == ("Ann Lee", "PERSON")
    for text, status in (("Eve", "match_exact"), ("Eve", None)):
        exact |= {"extraction_text": text, "alignment_status": status}
        write(gold / "found.jsonl", [one])
        with pytest.raises(ss.InputError, match="is not where its surface string is"):
            ss.read(gold / "found.jsonl")
    exact["alignment_status"] = "match_fuzzy"
    write(gold / "found.jsonl", [one])
    assert surfaces(ss.read(gold / "found.jsonl"))[0] == ("Ann Lee", "PERSON")
