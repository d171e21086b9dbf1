"""Gold data of several annotators: who saw what, which spans count, and what each choice scores."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import spanscore as ss
from calls import run, write
from spanscore.align.annotators import Annotators, chosen_gold
from spanscore.corpus.annotators import joined, separated

TEXT = "Ann met Bob in Oslo"
NAMES = ["ann", "bob", "Lee, Bo"]
Place = tuple[int, int, str]
PLACES = st.sets(st.sampled_from([(0, 3, "PER"), (8, 11, "PER"), (8, 11, "LOC"), (15, 19, "LOC")]))
DOCUMENT = st.dictionaries(st.sampled_from(NAMES), PLACES, min_size=1)
"""Who saw a document, and the spans of each."""


def document(name: str, by: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": name,
        "text": TEXT,
        "meta": {"annotators": joined(by)},
        "spans": [
            {"start": start, "end": end, "label": label, "attrs": {"annotator": who}}
            for who, places in by.items()
            for start, end, label in sorted(places)
        ],
    }


def corpus(documents: list[dict[str, Any]]) -> ss.Corpus:
    return ss.Corpus.from_documents(document(f"d{number}", by) for number, by in enumerate(documents))


def predictions(places: list[Any]) -> ss.Corpus:
    return ss.Corpus.from_documents(
        {"id": f"d{number}", "spans": [{"start": s, "end": e, "label": label} for s, e, label in sorted(one)]}
        for number, one in enumerate(places)
    )


def spans(found: ss.Corpus) -> dict[str, set[Place]]:
    return {str(one.id): {(span.start, span.end, span.label) for span in one.spans} for one in found.documents()}


def expected(by: dict[str, set[Place]], choice: str) -> set[Place] | None:
    """The definition: one document's spans by a choice; None if it is left out."""
    if choice not in ("majority", "union", "intersection"):
        return by.get(choice)
    votes = Counter(place for places in by.values() for place in places)
    least = {"union": 1, "majority": len(by) // 2 + 1, "intersection": len(by)}[choice]
    return {place for place, count in votes.items() if count >= least}


@given(st.lists(DOCUMENT, min_size=1, max_size=4), st.lists(PLACES, min_size=4, max_size=4), st.randoms())
def test_choices_are_what_their_definitions_say(
    documents: list[dict[str, set[Place]]], predicted: list[set[Place]], random: Random
) -> None:
    gold, pred = corpus(documents), predictions(predicted[: len(documents)])
    shuffled = [document(f"d{number}", by) for number, by in enumerate(documents)]
    for one in shuffled:
        random.shuffle(one["spans"])
    random.shuffle(shuffled)
    other = ss.Corpus.from_documents(shuffled)
    used = sorted({name for by in documents for name in by})
    for choice in (*used, "majority", "union", "intersection", "all"):
        if choice == "all":
            units = [(places, seen) for by, seen in zip(documents, predicted, strict=False) for places in by.values()]
        else:
            wanted = {f"d{n}": expected(by, choice) for n, by in enumerate(documents)}
            units = [(wanted[f"d{n}"], seen) for n, seen in enumerate(predicted[: len(documents)])]  # type: ignore[misc]
            units = [(places, seen) for places, seen in units if places is not None]
            assert spans(chosen_gold(gold, choice)) == {k: v for k, v in wanted.items() if v is not None}
        counts = ss.score(gold, pred, "exact", annotator=choice)["exact"].counts
        assert counts["tp"] == sum(len(places & seen) for places, seen in units)
        assert counts["annotated"] == sum(len(places) for places, _ in units)
        assert counts["predicted"] == sum(len(seen) for _, seen in units)
        assert ss.score(other, pred, "exact", annotator=choice)["exact"].counts == counts
        chunks = ss.score(iter([gold]), iter([pred]), "exact", annotator=choice, keep_spans=False)
        assert chunks["exact"].counts == counts


def test_worked_example() -> None:
    """Three annotators: 3 of 3 have Ann, 2 of 3 have Bob, 1 of 3 has Oslo; in d2, the second saw it and marked nothing."""
    ann, bob, oslo = (0, 3, "PER"), (8, 11, "PER"), (15, 19, "LOC")
    gold = corpus([{"a": {ann, bob, oslo}, "b": {ann, bob}, "c": {ann}}, {"a": {ann}, "b": set()}])
    pred = predictions([{ann, bob}, {ann, bob}])
    by_choice = {"a": (3, 4, 4), "c": (1, 2, 1), "majority": (2, 4, 2), "union": (3, 4, 4), "intersection": (1, 4, 1)}
    for choice, (right, predicted, annotated) in {**by_choice, "all": (6, 10, 7)}.items():
        counts = ss.score(gold, pred, "exact", annotator=choice)["exact"].counts
        assert (counts["tp"], counts["predicted"], counts["annotated"]) == (right, predicted, annotated), choice
    assert "gold: 1 document that c did not annotate was left out." in ss.score(gold, pred, annotator="c").warnings
    result = ss.score(gold, pred, "exact", annotator="all", by="meta.annotator")
    assert {name: one.recall for name, one in result["exact"].by("meta.annotator").items()} == {
        "a": 0.75,
        "b": 1,
        "c": 1,
    }
    assert "|annotator:all|" in result["exact"].signature
    assert any("several annotators, which count together" in one for one in ss.score(gold, pred).warnings)


def test_with_all_annotators_a_document_is_resampled_as_a_whole() -> None:
    """Annotators who agree completely add nothing: the interval is that of one of them."""
    places = [{(0, 3, "PER"), (8, 11, "PER")}, {(0, 3, "PER")}, set(), {(15, 19, "LOC")}, {(8, 11, "PER")}]
    pred = predictions([{(0, 3, "PER")}] * 5)
    one = ss.score(corpus([{"a": here} for here in places]), pred, "exact", annotator="a", ci=0.9)
    three = ss.score(
        corpus([{"a": here, "b": here, "c": here} for here in places]), pred, "exact", annotator="all", ci=0.9
    )
    assert three.bootstrap is not None
    assert one.bootstrap is not None
    assert three["exact"].counts["tp"] == 3 * one["exact"].counts["tp"]
    ours, theirs = three["exact"].interval(three.bootstrap), one["exact"].interval(one.bootstrap)
    assert ours is not None
    assert theirs is not None
    for number in ("precision", "recall", "f"):
        assert getattr(ours, number) == pytest.approx(getattr(theirs, number))


def test_all_pools_as_the_text_anonymization_benchmark_does(tmp_path: Path) -> None:
    """The benchmark's evaluation gives a mention recall of 0.778 here: 7 of the 9 mentions that either wants masked."""
    first = [(0, 13, "PERSON"), (46, 51, "PERSON"), (26, 30, "LOC"), (75, 79, "LOC"), (34, 44, "DATETIME")]
    second = [(3, 13, "PERSON"), (46, 51, "PERSON"), (34, 44, "DATETIME"), (63, 71, "PERSON")]
    text = "Mr John Smith was born in Oslo on 3 May 1970. Smith lives with Anna Lee in Oslo."
    by = {
        name: [
            {"entity_type": label, "start_offset": start, "end_offset": end, "span_text": text[start:end]}
            for start, end, label in places
        ]
        for name, places in (("ann1", first), ("ann2", second))
    }
    annotations = {name: {"entity_mentions": mentions} for name, mentions in by.items()}
    (tmp_path / "gold.json").write_text(json.dumps([{"doc_id": "d1", "text": text, "annotations": annotations}]))
    (tmp_path / "masks.json").write_text(json.dumps({"d1": [[0, 17], [46, 51], [34, 44], [63, 71]]}))
    found = ss.score(tmp_path / "gold.json", tmp_path / "masks.json", "leak", annotator="all")["leak"]
    assert (found.counts["hidden"], found.counts["annotated"], round(found.recall, 3)) == (7, 9, 0.778)


def test_names_with_commas_survive() -> None:
    assert separated(joined(NAMES)) == NAMES
    assert joined(["50%", "a,b"]) == "50%25,a%2Cb"
    assert Annotators.of(corpus([{"Lee, Bo": set(), "ann": set()}])).names == ("Lee, Bo", "ann")


def test_what_cannot_be_chosen() -> None:
    gold, pred = corpus([{"ann": {(0, 3, "PER")}}]), predictions([set()])
    with pytest.raises(ss.UsageError, match="no annotator 'anne'; did you mean 'ann'"):
        ss.score(gold, pred, annotator="anne")
    with pytest.raises(ss.UsageError, match="names no annotators"):
        ss.score(pred, pred, annotator="majority")
    with pytest.raises(ss.UsageError, match="names no annotators"):
        ss.sweep(pred, {"a": pred}, annotator="majority")


FORMATS = ["labelstudio", "prodigy", "doccano", "brat", "spanscore", "parquet"]


@pytest.mark.parametrize("name", FORMATS)
def test_formats_keep_annotators(name: str, tmp_path: Path) -> None:
    from spanscore.formats import REGISTRY

    ann, bob = (0, 3, "PER"), (8, 11, "PER")
    gold = corpus([{"ann": {ann, bob}, "bob@x.org": {ann}}, {"ann": {bob}, "bob@x.org": set()}])
    made, target = REGISTRY.make(name), tmp_path / "export"
    if made.writes_folders():
        target.mkdir()
        made.write_folder(lambda: [gold], target)
    else:
        with target.open("wb") as file:
            lost = made.write(lambda: [gold], file)
        silent = {"annotators who marked nothing in a document": 1} if name == "doccano" else {}
        assert {key: value for key, value in (lost or {}).items() if value} == silent
    read = ss.read(target, made.with_all_annotators())
    who = Annotators.of(read)
    assert who.names == ("ann", "bob@x.org")
    assert {one: spans(who.seen_by(one)) for one in who.names} == {
        "ann": {"d0": {ann, bob}, "d1": {bob}},
        "bob@x.org": {"d0": {ann}} if name == "doccano" else {"d0": {ann}, "d1": set()},
    }
    pred = predictions([{ann}, {bob}])
    if name not in ("spanscore", "parquet"):
        with pytest.raises(ss.UsageError, match="already"):
            ss.score(target, pred, gold_format=f"{name}(annotator=ann)", annotator="all")
    if name not in ("brat", "spanscore", "parquet"):
        with pytest.raises(ss.InputError, match="several annotators"):
            ss.score(target, pred)
    assert ss.score(target, pred, "exact", annotator="intersection")["exact"].counts["annotated"] == (
        2 if name == "doccano" else 1
    )


def test_brat_folders_of_annotators(tmp_path: Path) -> None:
    for who, lines in (("ann", "T1\tPER 0 3\tAnn\nT2\tPER 8 11\tBob\n"), ("bob", "T1\tPER 0 3\tAnn\n")):
        (tmp_path / "data" / who / "sub").mkdir(parents=True)
        (tmp_path / "data" / who / "sub" / "d.ann").write_text(lines)
    (tmp_path / "data" / "sub").mkdir()
    (tmp_path / "data" / "sub" / "d.txt").write_text(TEXT)
    read = ss.read(tmp_path / "data", "brat(annotator=all)")
    (one,) = read.documents()
    assert (one.id, one.text, one.meta) == ("sub/d", TEXT, {"annotators": "ann,bob"})
    assert spans(chosen_gold(read, "majority")) == {"sub/d": {(0, 3, "PER")}}
    assert spans(ss.read(tmp_path / "data", "brat(annotator=ann)")) == {"sub/d": {(0, 3, "PER"), (8, 11, "PER")}}
    (tmp_path / "data" / "bob" / "sub" / "d.txt").write_text("Ann met Rob in Oslo")
    (tmp_path / "data" / "ann" / "sub" / "d.txt").write_text(TEXT)
    with pytest.raises(ss.InputError, match="text differs from that of another annotator"):
        ss.read(tmp_path / "data", "brat(annotator=all)")
    (tmp_path / "flat").mkdir()
    (tmp_path / "flat" / "d.ann").write_text("T1\tPER 0 3\tAnn\n")
    with pytest.raises(ss.InputError, match="not in an annotator's folder"):
        ss.read(tmp_path / "flat", "brat(annotator=all)")


def test_the_commands_choose_alike_and_reports_can_be_made_again(tmp_path: Path) -> None:
    ann, bob = (0, 3, "PER"), (8, 11, "PER")
    by = [{"ann": {ann, bob}, "bob": {ann}}, {"ann": {bob}, "bob": {bob}}]
    write(tmp_path / "gold.jsonl", [document(f"d{number}", one) for number, one in enumerate(by)])
    found = [{"id": f"d{n}", "spans": [{"start": 0, "end": 3, "label": "PER", "score": 0.9}]} for n in range(2)]
    write(tmp_path / "pred.jsonl", found)
    run(
        "score",
        "gold.jsonl",
        "pred.jsonl",
        "-m",
        "exact",
        "--annotator",
        "all",
        "--ci",
        "0.9",
        "-o",
        "out",
        cwd=tmp_path,
    )
    saved = json.loads((tmp_path / "out" / "results.json").read_text())
    assert (saved["settings"]["annotator"], saved["results"][0]["counts"]["annotated"]) == ("all", 5)
    run("report", "out", cwd=tmp_path)
    shown, _ = run(
        "compare", "gold.jsonl", "a=pred.jsonl", "b=pred.jsonl", "-m", "exact", "--annotator", "majority", cwd=tmp_path
    )
    assert "1 right and 1 wrong in both" in shown
    sweep, _ = run(
        "sweep", "gold.jsonl", "pred.jsonl", "-m", "exact", "--annotator", "bob", "--format", "csv", cwd=tmp_path
    )
    assert sweep.splitlines()[1].startswith("pred,exact,,0.9,0.5,0.5,")
    run("convert", "gold.jsonl", "one.jsonl", "--annotator", "intersection", cwd=tmp_path)
    assert spans(ss.read(tmp_path / "one.jsonl")) == {"d0": {ann}, "d1": {bob}}
    assert (
        "no annotator 'cid'" in run("score", "gold.jsonl", "pred.jsonl", "--annotator", "cid", cwd=tmp_path, code=2)[1]
    )


def test_a_run_chooses_its_gold_data(tmp_path: Path) -> None:
    """Types of other annotators do not matter, and the folder of a run is scored as the run was."""
    ann, odd = (0, 3, "PERSON"), (8, 11, "ODD_TYPE")
    by = [{"ann": {ann}, "bob": {odd}}, {"bob": {ann}}]
    write(tmp_path / "gold.jsonl", [document(f"d{number}", one) for number, one in enumerate(by)])
    found = [{"id": f"d{n}", "spans": [{"start": 0, "end": 3, "label": "PERSON", "score": 0.9}]} for n in range(2)]
    write(tmp_path / "pred.jsonl", found)
    said, _ = run(
        "run", "gold.jsonl", "--detector", "replay(file=pred.jsonl)", "--annotator", "ann", "-o", "out", cwd=tmp_path
    )
    assert "1 of 1 document evaluated" in said
    saved = json.loads((tmp_path / "out" / "results.json").read_text())
    assert saved["settings"]["annotator"] == "ann"
    assert saved["results"][0]["counts"]["annotated"] == 1
    run("report", "out", cwd=tmp_path)
    again, _ = run("score", "gold.jsonl", "out", "-m", "iou(threshold=0.9)", "--json", "-", cwd=tmp_path)
    row = json.loads(again)["results"][0]
    assert (row["counts"], row["recall"]) == (saved["results"][0]["counts"], 1.0)
    reason = run("score", "gold.jsonl", "out", "--annotator", "bob", cwd=tmp_path, code=2)[1]
    assert "the runs have their own annotator" in reason
