"""Inputs that may not belong together, spans that do not count, and the check of files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import spanscore as ss
from calls import run, write
from spanscore.analysis.check import check
from spanscore.testing import corpora


def corpus(
    *spans: tuple[int, int, str], text: str | None = None, meta: dict[str, Any] | None = None, **more: Any
) -> ss.Corpus:
    listed = [{"start": a, "end": b, "label": c, **more} for a, b, c in spans]
    return ss.Corpus.from_documents([{"id": "d", "text": text, "spans": listed, "meta": meta}])


@pytest.mark.parametrize(
    ("gold", "pred", "said"),
    [
        (corpus((0, 3, "PATIENT")), corpus((0, 3, "Patient")), "PATIENT in the gold data and Patient"),
        (
            corpus((0, 3, "PHONE_NUMBER")),
            corpus((0, 3, "phone-number")),
            "PHONE_NUMBER in the gold data and phone-number",
        ),
        (
            corpus((0, 3, "PER")),
            corpus((0, 3, "ORG")),
            "no label in common: the gold data has PER, the predictions ORG",
        ),
        (corpus((0, 3, "A"), score=0.5), corpus((0, 4, "A"), text="Anna"), "in the wrong order"),
    ],
)
def test_doubtful_pairs_are_reported(gold: ss.Corpus, pred: ss.Corpus, said: str) -> None:
    (warning,) = ss.score(gold, pred, "iou").warnings
    assert said in warning


def test_gold_data_as_predictions(tmp_path: Path) -> None:
    write(tmp_path / "gold.jsonl", [{"id": "d", "spans": [{"start": 0, "end": 3, "label": "A"}]}])
    (warning,) = ss.score(tmp_path / "gold.jsonl", tmp_path / "gold.jsonl").warnings
    assert "are the same" in warning


def test_predictions_as_gold_data(tmp_path: Path) -> None:
    for name, end in (("gold", 3), ("pred", 4)):
        write(
            tmp_path / f"{name}.jsonl", [{"id": "d", "spans": [{"start": 0, "end": end, "label": "A", "score": 0.5}]}]
        )
    (warning,) = ss.score(tmp_path / "gold.jsonl", tmp_path / "pred.jsonl").warnings
    assert "the gold data has scores and no text, as predictions do; is it the right file?" in warning
    (tmp_path / "gold.tsv").write_text("d\t0\t2\tNIL1\t1.0\tA\n")  # neleval's gold data has scores
    assert not ss.score(tmp_path / "gold.tsv", tmp_path / "pred.jsonl", "exact").warnings


def test_a_label_map_settles_it() -> None:
    gold, pred = corpus((0, 3, "PATIENT")), corpus((0, 3, "Patient"))
    assert not ss.score(gold, pred, "iou", label_map={"Patient": "PATIENT"}).warnings


@pytest.mark.parametrize("whole", [True, False])
def test_no_document_in_common(whole: bool, tmp_path: Path) -> None:
    write(tmp_path / "gold.jsonl", [{"id": "note-1", "spans": []}, {"id": "note-2", "spans": []}])
    write(tmp_path / "pred.jsonl", [{"id": "1", "spans": []}, {"id": "2", "spans": []}])
    with pytest.raises(ss.InputError, match='no document id in common.*"1".*"note-1"'):
        ss.score(tmp_path / "gold.jsonl", tmp_path / "pred.jsonl", keep_spans=whole)


def test_documents_whose_ids_are_paths(tmp_path: Path) -> None:
    write(tmp_path / "gold.jsonl", [{"id": "a", "spans": []}])
    write(tmp_path / "pred.jsonl", [{"id": "notes/a", "spans": []}])
    with pytest.raises(
        ss.InputError, match=r"use the same ids \(the id of a file is its path in the folder or zip file"
    ):
        ss.score(tmp_path / "gold.jsonl", tmp_path / "pred.jsonl")


def test_labels_of_options_that_no_span_has() -> None:
    gold, pred = corpus((0, 3, "PERSON")), corpus((0, 2, "PERSON"))
    said = ss.score(gold, pred, "iou", ignore="MISC", score_threshold="PERSN=0.5,PERSON=0.1").warnings
    assert "--ignore names MISC, but no span has that label." in said
    assert "--score-threshold names PERSN, but no span has that label." in said


def test_ignored_labels_are_neither_right_nor_wrong() -> None:
    gold = corpus((0, 10, "MISC"), (20, 30, "PER"), (40, 50, "PER"))
    pred = corpus((2, 8, "PER"), (20, 30, "PER"), (60, 70, "PER"), (80, 90, "MISC"))
    scores = ss.score(gold, pred, "iou", ignore="MISC")["iou"]
    assert (scores.counts["tp"], scores.counts["predicted"], scores.counts["annotated"]) == (1, 2, 2)
    assert "|ignore:MISC|" in scores.signature
    with pytest.raises(ss.UsageError, match="char"):
        ss.score(gold, pred, "char", ignore="MISC")


@given(corpora(), corpora(), st.sets(st.sampled_from(["PERSON", "LOCATION", "DATE"])))
def test_ignoring_equals_a_plain_rule(gold: ss.Corpus, pred: ss.Corpus, ignore: set[str]) -> None:
    def touch(a: Any, b: Any) -> bool:
        return bool(a["start"] < b["end"] and b["start"] < a["end"])

    ours = {one.id: [_plain(span) for span in one.spans] for one in gold.documents()}
    theirs = {one.id: [_plain(span) for span in one.spans] for one in pred.documents() if one.id in ours}
    kept_gold, kept_pred = [], []
    for name, spans in ours.items():
        scored = [span for span in spans if span["label"] not in ignore]
        unscored = [span for span in spans if span["label"] in ignore]
        kept_gold.append({"id": name, "spans": scored})
        if name in theirs:
            kept = [
                span
                for span in theirs[name]
                if span["label"] not in ignore
                and (not any(touch(span, one) for one in unscored) or any(touch(span, one) for one in scored))
            ]
            kept_pred.append({"id": name, "spans": kept})
    plain = ss.score(ss.Corpus.from_documents(kept_gold), ss.Corpus.from_documents(kept_pred), "exact")
    gold_only = ss.Corpus.from_documents([{"id": name, "spans": spans} for name, spans in ours.items()])
    pred_only = ss.Corpus.from_documents([{"id": name, "spans": spans} for name, spans in theirs.items()])
    found = ss.score(gold_only, pred_only, "exact", ignore=tuple(ignore))
    assert found["exact"].counts == plain["exact"].counts


def _plain(span: Any) -> dict[str, Any]:
    return {"start": span.start, "end": span.end, "label": span.label}


@pytest.mark.parametrize("regions", [[[0]], [["a", "b"]], "0", [[10, 0]], "[[10, 0]]", "[[0], [1, 2]]"])
def test_wrong_scored_regions_are_explained(regions: object, tmp_path: Path) -> None:
    write(tmp_path / "gold.jsonl", [{"id": "d", "spans": [], "meta": {"scored_regions": regions}}])
    with pytest.raises(ss.InputError, match=r"pairs.*\[\[0, 120\]"):
        ss.score(tmp_path / "gold.jsonl", tmp_path / "gold.jsonl", "exact")


def test_scored_regions_as_text(tmp_path: Path) -> None:
    """Tables hold metadata as text, so that a list of pairs may be JSON in a string."""
    spans = [{"start": 0, "end": 3, "label": "X"}, {"start": 12, "end": 15, "label": "X"}]
    write(tmp_path / "gold.jsonl", [{"id": "d", "spans": spans, "meta": {"scored_regions": "[[0, 10]]"}}])
    result = ss.score(tmp_path / "gold.jsonl", tmp_path / "gold.jsonl", "exact")
    assert result["exact"].counts["annotated"] == 1


def test_changed_words_point_to_the_option(tmp_path: Path) -> None:
    (tmp_path / "a.conll").write_text("Ann\tB-PER\n")
    (tmp_path / "b.conll").write_text("Anne\tB-PER\n")
    with pytest.raises(ss.InputError, match=r"read both files with conll\(words=ignore\)"):
        ss.score(tmp_path / "a.conll", tmp_path / "b.conll", "exact")
    (found,) = [
        one for one in ss.check(tmp_path / "a.conll", tmp_path / "b.conll").findings if one.kind == "different text"
    ]
    assert "conll(words=ignore)" in found.message


def test_errors_name_the_format_that_was_detected(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", [{"id": "d", "text": "Ann", "spans": [{"start": 0, "end": 9, "label": "X"}]}])
    with pytest.raises(ss.InputError, match=r"The file was read as spanscore"):
        ss.read(tmp_path / "a.jsonl")


def test_only_scored_regions_count(tmp_path: Path) -> None:
    spans = [{"start": a, "end": b, "label": "PER"} for a, b in ((0, 5), (8, 12), (20, 25))]
    write(tmp_path / "gold.jsonl", [{"id": "d", "spans": spans, "meta": {"scored_regions": [[0, 10], [18, 30]]}}])
    write(tmp_path / "pred.jsonl", [{"id": "d", "spans": [*spans, {"start": 40, "end": 45, "label": "PER"}]}])
    result = ss.score(tmp_path / "gold.jsonl", tmp_path / "pred.jsonl", "exact")
    counts = result["exact"].counts
    assert (counts["tp"], counts["predicted"], counts["annotated"]) == (2, 2, 2)
    assert result.warnings == (
        "gold: 1 span is neither right nor wrong (meta.scored_regions).",
        "pred: 2 spans are neither right nor wrong (meta.scored_regions).",
    )
    other = [{"id": "d", "spans": spans, "meta": {"scored_regions": "0-10"}}]
    assert ss.read(tmp_path / "gold.jsonl").fingerprint != ss.Corpus.from_documents(other).fingerprint
    for wrong in ("x", "5-3", "0-9,4-12"):
        with pytest.raises(ss.InputError, match="scored_regions"):
            ss.score(corpus((0, 3, "A"), meta={"scored_regions": wrong}), corpus((0, 3, "A")), "exact")


def test_check_compares_documents_and_labels(tmp_path: Path) -> None:
    spans = [{"start": 0, "end": 3, "label": "DOSE"}] * 2
    texts = {"a": "2mg daily", "b": "2mg daily", "c": "", "d": ""}
    gold = ss.Corpus.from_documents(
        [{"id": name, "text": text, "spans": spans if text else []} for name, text in texts.items()]
    )
    findings = {one.kind: one for one in check(gold).files[0].findings}
    assert findings["same text"].count == 1
    assert findings["same text"].examples == ('documents "a" and "b"',)
    assert findings["duplicate span"].count == 2
    assert [one.partition(",")[0] for one in findings["duplicate span"].examples] == ['document "a"', 'document "b"']
    assert [one.kind for one in check(gold, gold).findings] == ["same file"]
    other = ss.Corpus.from_documents([{"id": "a", "spans": [{"start": 0, "end": 3, "label": "DOSE_VALUE"}]}])
    (near,) = [one for one in check(gold, other).findings if one.kind == "similar labels"]
    assert "DOSE and DOSE_VALUE look similar" in near.message


def test_check_finds_what_is_wrong(tmp_path: Path) -> None:
    text = "Ann Lee met Ann near Annapolis."
    spans = [
        (0, 7, "PERSON"),
        (11, 15, "PERSON"),
        (12, 15, "NAME"),
        (21, 24, "NAME"),
        (21, 24, "NAME"),
        (3, 3, "PERSON"),
        (4, 7, "PERSON_NAME"),
    ]
    gold = corpus(*spans, text=text)
    kinds = {one.kind: one.count for one in check(gold).files[0].findings}
    assert kinds == {
        "duplicate span": 1, "empty span": 1, "space at boundary": 1, "half word": 2, "labelled two ways": 1, "similar labels": 2,
    }  # fmt: skip
    told = [one.message for one in check(gold).files[0].findings]
    assert "1 span that begins or ends with whitespace." in told
    assert "2 spans that begin or end inside a word." in told
    write(tmp_path / "gold.jsonl", [{"id": "d", "text": text, "spans": [{"start": 0, "end": 7, "label": "PERSON"}]}])
    write(
        tmp_path / "pred.jsonl", [{"id": "d", "text": text + " ", "spans": [{"start": 0, "end": 7, "label": "Person"}]}]
    )
    said, _ = run("check", "gold.jsonl", "pred.jsonl", cwd=tmp_path, code=1)
    assert "problem: pred.jsonl: 1 document whose text differs" in said
    assert "PERSON and Person differ only in case" in said
    assert "Ann" not in said
    record = json.loads(run("check", "gold.jsonl", "pred.jsonl", "--json", cwd=tmp_path, code=1)[0])
    assert [one["kind"] for one in record["findings"] if one["severity"] == "problem"] == [
        "different text",
        "similar labels",
    ]
    write(tmp_path / "pred.jsonl", [{"id": "d", "spans": [{"start": 0, "end": 70, "label": "PERSON"}]}])
    (finding,) = check(tmp_path / "gold.jsonl", tmp_path / "pred.jsonl").findings
    assert (finding.kind, finding.problem) == ("past the text", True)


def test_one_document_is_in_the_singular(tmp_path: Path) -> None:
    spans = [{"start": 0, "end": 1, "label": "A"}]
    for name, ids in (("gold", "abc"), ("pred", "ad"), ("more", "abcd")):
        lines = [json.dumps({"id": one, "text": "x", "spans": spans}) for one in ids]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    said = " ".join(run("check", "gold.jsonl", "pred.jsonl", cwd=tmp_path)[0].split())
    assert "2 documents of the first file are missing." in said
    assert "1 document is not in the first file." in said
    said = " ".join(run("check", "more.jsonl", "gold.jsonl", cwd=tmp_path)[0].split())
    assert "1 document of the first file is missing." in said
    _, error = run("score", "gold.jsonl", "more.jsonl", cwd=tmp_path, code=2)
    assert 'the document "d" is not in the gold data; give --extra-documents ignore' in error
