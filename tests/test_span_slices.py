"""Recall by properties of gold spans: which group a span belongs to, groups that add up, and gaps between groups."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import spanscore as ss
from calls import run, write

TEXT = "Dr. Ana LOPEZ met o'neill in New York, room 12b, 2024, and ANA of McCoy & Sons Int'l Trading."


def spans(*texts: str, text: str = TEXT, **more: Any) -> list[dict[str, Any]]:
    return [{"start": text.index(t), "end": text.index(t) + len(t), "label": "X", **more} for t in texts]


def score(gold: list[Any], pred: list[Any], measures: Any = "exact", **settings: Any) -> ss.Result:
    return ss.score(ss.Corpus.from_documents(gold), ss.Corpus.from_documents(pred), measures, **settings)


def groups(by: str, *texts: str) -> dict[str, str]:
    """The group of each text."""
    found = {}
    for text in texts:
        gold = [{"id": "d", "text": TEXT, "spans": spans(text)}]
        (found[text],) = [name for name, one in score(gold, gold)["exact"].by(by).items() if one.counts["annotated"]]
    return found


def test_the_shape_of_a_text() -> None:
    assert groups("span.case", "Ana", "LOPEZ", "o'neill", "New York", "Ana LOPEZ", "McCoy", "2024", "room 12b") == {
        "Ana": "title",
        "LOPEZ": "upper",
        "o'neill": "lower",
        "New York": "title",
        "Ana LOPEZ": "mixed",
        "McCoy": "mixed",
        "2024": "(none)",
        "room 12b": "lower",
    }
    assert groups("span.digits", "Ana", "12b", "2024") == {
        "Ana": "no digits",
        "12b": "some digits",
        "2024": "only digits",
    }
    assert groups("span.words", "Ana", "New York", "McCoy & Sons", "McCoy & Sons Int'l Trading") == {
        "Ana": "1",
        "New York": "2",
        "McCoy & Sons": "3",
        "McCoy & Sons Int'l Trading": "4 and more",
    }
    assert groups("span.length", "12b", "2024", "LOPEZ", "Ana LOPEZ met", "McCoy & Sons Int'l Trading") == {
        "12b": "1–4",
        "2024": "1–4",
        "LOPEZ": "5–9",
        "Ana LOPEZ met": "10–19",
        "McCoy & Sons Int'l Trading": "20–49",
    }


def test_a_lexicon_knows_whole_texts_and_then_words(tmp_path: Path) -> None:
    table = tmp_path / "names.tsv"
    table.write_text("surface\tgroup\nana\tSpanish\nO'Neill\tIrish\nnew york\tplace\nYork\tEnglish\n")
    by = f"lexicon:{table}"
    assert groups(by, "Ana LOPEZ", "o'neill", "New York", "McCoy") == {
        "Ana LOPEZ": "Spanish",
        "o'neill": "Irish",
        "New York": "place",
        "McCoy": "(none)",
    }
    comma = tmp_path / "names.csv"
    comma.write_text('Ana,"Spanish, Portuguese"\n')
    assert groups(f"lexicon:{comma}", "Ana") == {"Ana": "Spanish, Portuguese"}


def test_texts_that_were_seen_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("ana\nNew  York\n")
    write(tmp_path / "train.jsonl", [{"id": "t", "text": TEXT, "spans": spans("ANA", "New York")}])
    for name in ("train.txt", "train.jsonl"):
        found = groups(f"span.seen:{tmp_path / name}", "Ana", "New York", "McCoy")
        assert found == {"Ana": "seen", "New York": "seen", "McCoy": "unseen"}


def test_attributes_without_a_value_are_a_group() -> None:
    marked = spans("Ana", attrs={"identifier": "DIRECT"}) + spans("2024", attrs={"identifier": "QUASI"}) + spans("12b")
    gold = [{"id": "d", "text": TEXT, "spans": marked}]
    pred = [{"id": "d", "spans": spans("Ana", "12b")}]
    found = score(gold, pred, ["exact", "leak.entity", "char"], by="attr.identifier", ci=0.95)
    for name in ("exact", "leak.entity", "char"):
        recalls = {group: one.recall for group, one in found[name].by("attr.identifier").items()}
        assert recalls == {"DIRECT": 1, "QUASI": 0, "(none)": 1}
    interval = found["exact"].intervals(ss.Bootstrap(), "attr.identifier")["DIRECT"]
    assert interval is not None
    assert interval.recall == pytest.approx((0.025, 1))
    with pytest.raises(ss.UsageError, match="did you mean 'identifier'"):
        score(gold, pred, by="attr.identifer")


def test_an_attribute_of_predictions_splits_precision() -> None:
    """The pattern finds one name and two others; the model finds what it predicts."""
    gold = [{"id": "d", "text": TEXT, "spans": spans("Ana", "2024", "12b")}]
    found = spans("Ana", "York", "met", attrs={"recognizer": "Pattern"}) + spans("2024", attrs={"recognizer": "Model"})
    pred = [{"id": "d", "spans": found + spans("12b")}]
    scored = score(gold, pred, ["exact", "iou", "leak"], by="attr.recognizer", ci=0.95)
    for name in ("exact", "iou", "leak"):
        groups_ = scored[name].by("attr.recognizer")
        assert {group: one.counts for group, one in groups_.items()} == {
            "Model": {"tp": 1, "predicted": 1, "fp": 0},
            "Pattern": {"tp": 1, "predicted": 3, "fp": 2},
            "(none)": {"tp": 1, "predicted": 1, "fp": 0},
        }
        assert groups_["Pattern"].precision == pytest.approx(1 / 3)
        assert math.isnan(groups_["Pattern"].recall)
        assert scored[name].gap("attr.recognizer") is None
    assert scored["exact"].intervals(ss.Bootstrap(), "attr.recognizer")["Pattern"] is not None
    with pytest.raises(ss.UsageError, match="token does not count spans"):
        score(gold, pred, "token", by="attr.recognizer")["token"].by("attr.recognizer")
    with pytest.raises(ss.UsageError, match="did you mean 'recognizer'"):
        score(gold, pred, by="attr.recogniser")


MEASURES = [
    "exact",
    "iou(threshold=0.5)",
    "iou.pii",
    "presidio",
    "leak",
    "semeval.strict",
    "semeval.exact",
    "sandbox.instance",
    "char",
    "leak.char",
    "token",
    "overlap-maxmax::span",
]


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("by", ["span.length", "span.case", "span.words", "span.digits"])
def test_groups_add_up_to_the_whole(measure: str, by: str) -> None:
    texts = ["Ana", "LOPEZ", "o'neill", "New York", "12b", "2024", "McCoy", "Sons"]
    gold: list[Any] = [{"id": str(i), "text": TEXT, "spans": spans(*texts[i:])} for i in range(6)]
    pred: list[Any] = [
        {**one, "spans": [s for s in one["spans"] if (s["start"] + i) % 3]} for i, one in enumerate(gold)
    ]
    pred[0]["spans"].append({"start": 4, "end": 20, "label": "X"})
    scores = score(gold, pred, measure, resolve="longest" if "overlap" in measure else "none").scores[0]
    parts = scores.by(by).values()
    found, annotated = (sum(one.counts[name] for one in parts) for name in ("found", "annotated"))
    assert len([one for one in parts if one.counts["annotated"]]) > 1
    assert found / annotated == pytest.approx(scores.recall)
    assert all(one.counts["missed"] == one.counts["annotated"] - one.counts["found"] for one in parts)


def test_the_gap_between_groups_has_an_interval(tmp_path: Path) -> None:
    """The second group is missed in a third of 60 documents, the first never."""
    table = tmp_path / "origin.tsv"
    table.write_text("Ana\tone\nMcCoy\ttwo\n")
    gold = [{"id": str(i), "text": TEXT, "spans": spans("Ana", "McCoy")} for i in range(60)]
    pred = [{**one, "spans": one["spans"][: 2 - (i % 3 == 0)]} for i, one in enumerate(gold)]
    found = score(gold, pred, by=f"lexicon:{table}", ci=0.95)["exact"].gap(f"lexicon:{table}", ss.Bootstrap())
    assert found is not None
    assert (found.highest, found.lowest) == ("one", "two")
    assert found.difference == pytest.approx(1 / 3)
    assert found.interval is not None
    assert 0.15 < found.interval[0] < 1 / 3 < found.interval[1] < 0.5
    same = score(gold, gold, by=f"lexicon:{table}")["exact"].gap(f"lexicon:{table}", ss.Bootstrap())
    assert same is not None
    assert same.difference == 0
    assert {same.highest, same.lowest} == {"one", "two"}
    assert same.interval == pytest.approx((-0.06, 0.06), abs=0.01)  # none of 60 documents, on either side


def test_the_interval_of_a_gap_allows_for_the_choice_among_many_groups(tmp_path: Path) -> None:
    """20 words in 60 documents: one is found in 55, one in 40, all others in 48; chance alone gives such gaps."""
    words = [f"w{number:02}" for number in range(20)]
    table = tmp_path / "groups.tsv"
    table.write_text("".join(f"{word}\t{word}\n" for word in words))
    hits = dict.fromkeys(words, 48) | {"w00": 55, "w01": 40}
    text = " ".join(words)
    every = {word: {"start": 4 * i, "end": 4 * i + 3, "label": "A"} for i, word in enumerate(words)}
    gold = [{"id": str(doc), "text": text, "spans": list(every.values())} for doc in range(60)]
    pred = [
        {**one, "spans": [every[word] for i, word in enumerate(words) if (doc + 7 * i) % 60 < hits[word]]}
        for doc, one in enumerate(gold)
    ]
    found = score(gold, pred, by=f"lexicon:{table}", ci=0.95)["exact"].gap(f"lexicon:{table}", ss.Bootstrap())
    assert found is not None
    assert (found.highest, found.lowest) == ("w00", "w01")
    assert found.interval is not None
    assert found.interval[0] < 0 < found.difference < found.interval[1]


def test_the_command_line(tmp_path: Path) -> None:
    gold = [{"id": str(i), "text": TEXT, "spans": spans("Ana", "McCoy", "2024")} for i in range(20)]
    write(tmp_path / "gold.jsonl", gold)
    write(tmp_path / "pred.jsonl", [{**one, "spans": one["spans"][i % 2 :]} for i, one in enumerate(gold)])
    write(tmp_path / "more.jsonl", [{**one, "spans": one["spans"][:2]} for one in gold])
    (tmp_path / "list.txt").write_text("mccoy\n")
    split = ("--by", "span.seen", "--seen", "list.txt", "--by", "span.digits")
    said, _ = run("score", "gold.jsonl", "pred.jsonl", "-m", "leak", *split, "--ci", "0.95", "-q", cwd=tmp_path)
    assert "span.seen: unseen" in said
    assert "recall falls by" in said
    found = json.loads(run("score", "gold.jsonl", "pred.jsonl", *split, "--ci", "0.9", "--json", "-", cwd=tmp_path)[0])
    rows = {(row["by"], row["slice"]): row for row in found["results"] if "by" in row and row["measure"] == "exact"}
    assert rows["span.seen", "seen"]["recall"] == 1
    assert rows["span.seen", "seen"]["missed"]["at_most"] == pytest.approx(1 - 0.05 ** (1 / 20))
    assert rows["span.seen", "unseen"]["precision"] is None
    assert {gap["by"] for gap in found["gaps"]} == {"span.seen", "span.digits"}
    said, _ = run("compare", "gold.jsonl", "a=pred.jsonl", "b=more.jsonl", "-m", "exact", *split, "-q", cwd=tmp_path)
    assert "span.digits only digits: 0 fixed, 20 broken" in said
    run("score", "gold.jsonl", "pred.jsonl", *split, "-o", "out", "-q", "--no-report", cwd=tmp_path)
    assert "leak" not in run("report", "out", "-o", "again", "-q", cwd=tmp_path)[1]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (("--by", "span.lenght"), "did you mean 'length'"),
        (("--by", "span.seen"), "give --seen FILE"),
        (("--seen", "list.txt"), "--seen requires --by span.seen"),
        (("--by", "lexicon:none.tsv"), "none.tsv: the file cannot be read"),
        (("--by", "lexicon:bad.tsv"), "bad.tsv:2: a line of a lexicon has a text and its group"),
        (("--by", "lexicon:two.tsv"), "two.tsv:2: this text has another group"),
        (("--by", "span.case"), "needs the text of every document"),
        (("--by", "colour"), "use type, document, meta.KEY, attr.KEY, span.PROPERTY or lexicon:FILE"),
    ],
)
def test_wrong_calls(call: tuple[str, ...], said: str, tmp_path: Path) -> None:
    write(tmp_path / "gold.jsonl", [{"id": "d", "spans": spans("Ana")}])
    (tmp_path / "bad.tsv").write_text("Ana\tone\nBob\n")
    (tmp_path / "two.tsv").write_text("Ana\tone\nANA\ttwo\n")
    assert said in run("score", "gold.jsonl", "gold.jsonl", *call, "-q", cwd=tmp_path, code=2)[1]


def test_an_entity_counts_once_with_all_its_mentions() -> None:
    """The first mention says that it is a direct identifier, the second one stays readable."""
    text = "Ana met Ana and Bo"
    mentions = [
        {"start": 0, "end": 3, "label": "X", "attrs": {"entity": "e1", "identifier": "DIRECT"}},
        {"start": 8, "end": 11, "label": "X", "attrs": {"entity": "e1"}},
        {"start": 16, "end": 18, "label": "X", "attrs": {"entity": "e2"}},
    ]
    gold = [{"id": "d", "text": text, "spans": mentions}]
    pred = [{"id": "d", "spans": [{"start": 0, "end": 3, "label": "Y"}, {"start": 16, "end": 18, "label": "Y"}]}]
    scores = score(gold, pred, "leak.entity", by=["attr.identifier"])["leak.entity"]
    assert (scores.counts["hidden"], scores.counts["annotated"]) == (1, 2)
    slices = {
        name: (one.counts["found"], one.counts["annotated"]) for name, one in scores.by("attr.identifier").items()
    }
    assert slices == {"DIRECT": (0, 1), "(none)": (1, 1)}


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ("attr.", "'attr.' is incomplete; write for example attr.gender"),
        ("span.", "'span.' is incomplete; write for example span.length"),
        ("lexicon:", "'lexicon:' is incomplete; write for example lexicon:names.csv"),
        ("span.length:3", "span.length takes no value; write span.length."),
    ],
)
def test_incomplete_properties(by: str, said: str) -> None:
    gold = [{"id": "d", "text": TEXT, "spans": spans("Ana")}]
    with pytest.raises(ss.UsageError, match=said):
        score(gold, gold, by=[by])
