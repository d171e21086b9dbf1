from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import spanscore as ss
from formats.awkward import MARKS, corpus, rewritten, spans
from spanscore.formats.tags import SCHEMES, decode_tags, encode_tags


def test_words_and_tags(tmp_path: Path) -> None:
    read, lost = rewritten(corpus("1", score=0.5), "conll", tmp_path / "a.conll")
    (document,) = read.documents()
    text = document.text or ""
    assert [(text[start:end], label) for start, end, label in spans(read)] == MARKS
    assert lost == {"scores": 3, "texts whose white space changes": 1}
    lines = (tmp_path / "a.conll").read_text().split("\n")
    assert lines[:7] == ["-DOCSTART-\tO", "", "Dr\tO", "😀\tO", "Zoe\u0308\tB-PERSON", "A\u030angström\tI-PERSON", ""]


def test_the_ending_of_a_file_chooses_the_format(tmp_path: Path) -> None:
    ss.convert(ss.Corpus.from_tags([["Ann"]], [["B-PER"]]), tmp_path / "a.conll")
    assert "Ann\tB-PER" in (tmp_path / "a.conll").read_text()


def test_tokens_of_the_corpus_are_used_and_offsets_stay_if_the_text_does(tmp_path: Path) -> None:
    given = ss.Corpus.from_documents(
        [
            {
                "id": "1",
                "text": "# e-mail -\nx",
                "tokens": [[0, 1], [2, 8], [9, 10], [10, 11], [11, 12]],
                "spans": [{"start": 2, "end": 8, "label": "phone number"}, {"start": 11, "end": 12, "label": "B"}],
            },
            {"id": "2", "text": "a b", "tokens": [[0, 1], [2, 3]], "spans": []},
        ]
    )
    read, lost = rewritten(given, "conll", tmp_path / "a.conll")
    assert spans(read) == [(2, 8, "phone number"), (11, 12, "B")]
    assert [document.text for document in read.documents()] == ["# e-mail -\nx", "a b"]
    assert lost == {}


def test_what_tags_cannot_hold_is_counted(tmp_path: Path) -> None:
    text = "Alexandria Lee  Smith"
    marks = [(0, 4, "A"), (11, 21, "B"), (16, 21, "C"), (11, 15, "D"), (3, 3, "E")]
    documents: list[dict[str, Any]] = [
        {"id": "x", "text": text, "spans": [{"start": a, "end": b, "label": label} for a, b, label in marks]},
        {"id": "y", "text": " ", "spans": []},
    ]
    read, lost = rewritten(ss.Corpus.from_documents(documents), "conll", tmp_path / "a.conll")
    assert spans(read) == [(11, 20, "B")]
    assert lost == {
        "overlapping spans": 2,
        "empty spans": 1,
        "spans that do not begin and end at tokens": 1,
        "documents without words": 1,
        "ids": 1,
        "texts whose white space changes": 1,
    }


@pytest.mark.parametrize("scheme", sorted(SCHEMES))
def test_every_scheme_comes_back(scheme: str, tmp_path: Path) -> None:
    runs = [(0, 1, "A"), (1, 3, "A"), (3, 6, "B"), (7, 8, "A")]
    tags = encode_tags(runs, 9, scheme)
    merged = [(0, 3, "A"), *runs[2:]] if scheme == "IO" else runs
    lone = scheme == "IOE1"  # seqeval's table of IOE1 has no transition from O to E, so a lone E counts as repaired
    assert decode_tags(tags, scheme) == (merged, int(lone))
    words = "a b c d e f g h i"
    places = [{"start": 2 * first, "end": 2 * last - 1, "label": label} for first, last, label in runs]
    given = ss.Corpus.from_documents([{"id": "1", "text": words, "spans": places}])
    read, lost = rewritten(given, f"conll(scheme={scheme})", tmp_path / "a.conll")
    assert spans(read) == [(2 * first, 2 * last - 1, label) for first, last, label in merged]
    assert lost == ({"spans right after one with the same label": 1} if scheme == "IO" else {})


def test_the_export_of_label_studio_is_doubted(tmp_path: Path) -> None:
    path = tmp_path / "result.conll"
    path.write_text("-DOCSTART- -X- O\nAnn -X- _ B-PER\nlives -X- _ O\n\n")
    read = ss.read(path)
    assert spans(read) == [(0, 3, "PER")]
    assert any("CoNLL export of Label Studio" in note for note in read.notes)
