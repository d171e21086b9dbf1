from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import pytest

import spanscore as ss
from formats.awkward import MARKS, SPANS, TEXT, corpus, detected, rewritten, spans
from spanscore.formats import writer

ENTS: list[dict[str, Any]] = [{"start": start, "end": end, "label": label} for start, end, label in SPANS]


@pytest.fixture(scope="module")
def doc() -> Any:
    spacy = pytest.importorskip("spacy", reason="DocBin needs the extra spacy")
    nlp = spacy.blank("xx")
    made = nlp.make_doc(TEXT)
    made.set_ents([made.char_span(start, end, label=label, kb_id="Q1") for start, end, label in SPANS])
    made.spans["sc"] = [made.char_span(*SPANS[1][:2], label="X"), made.char_span(*SPANS[1][:2], label="Y")]
    return made


@pytest.mark.parametrize("lines", [False, True])
def test_documents_as_spacy_writes_them(doc: Any, lines: bool, tmp_path: Path) -> None:
    path = tmp_path / "docs.json"
    written = json.dumps(doc.to_json())
    path.write_text(f"{written}\n{written}\n" if lines else f"[{written},\n{written}]")
    assert detected(path) == "spacy"
    read = ss.read(path)
    assert spans(read) == SPANS * 2
    assert list(read.ids) == ["0", "1"]
    assert next(iter(read.documents())).tokens == [(token.idx, token.idx + len(token)) for token in doc]


def test_groups_of_spans(doc: Any, tmp_path: Path) -> None:
    path = tmp_path / "doc.json"
    path.write_text(json.dumps(doc.to_json()))
    assert [label for _, _, label in spans(ss.read(path, "spacy(group=sc)"))] == ["X", "Y"]
    with pytest.raises(ss.InputError, match="no group of spans 'x'; there are sc"):
        ss.read(path, "spacy(group=x)")


def test_a_doc_bin(doc: Any, tmp_path: Path) -> None:
    from spacy.tokens import DocBin

    path = tmp_path / "train.spacy"
    DocBin(docs=[doc, doc], attrs=["ENT_IOB", "ENT_TYPE", "ENT_KB_ID"]).to_disk(path)
    assert detected(path) == "spacy"
    read = ss.read(path)
    assert spans(read) == SPANS * 2
    first = next(iter(read.documents()))
    assert first.text == TEXT
    assert first.spans[0].attrs == {"kbid": "Q1"}
    assert spans(ss.read(path, "spacy(group=sc)"))[0][2] == "X"


def test_damaged_and_huge_doc_bins_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.spacy"
    path.write_bytes(zlib.compress(b"attrs and more"))
    with pytest.raises(ss.InputError, match="not a DocBin that spaCy"):
        ss.read(path, "spacy")
    path.write_bytes(zlib.compress(b"attrs" + bytes(100 << 20)))
    with pytest.raises(ss.InputError, match="unpack to more than"):
        ss.read(path, "spacy")


TUPLE = [TEXT, {"entities": [[start, end, label] for start, end, label in SPANS]}]


@pytest.mark.parametrize(
    "written",
    [
        json.dumps([TUPLE]),
        json.dumps([TUPLE], indent=1),
        json.dumps(TUPLE) + "\n" + json.dumps(["", {"entities": []}]) + "\n",
        json.dumps({"classes": ["PERSON"], "annotations": [TUPLE, None]}),
    ],
)
def test_training_tuples(written: str, tmp_path: Path) -> None:
    path = tmp_path / "train.json"
    path.write_text(written)
    assert detected(path) == "spacy"
    assert spans(ss.read(path)) == SPANS


def test_old_training_data_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "train.json"
    path.write_text(json.dumps([{"id": 0, "paragraphs": [{"sentences": [{"tokens": [{"orth": "x", "ner": "O"}]}]}]}]))
    with pytest.raises(ss.InputError, match="training data of spaCy 2; convert it with: spacy convert"):
        ss.read(path)


def test_json_is_written_as_spacy_reads_it(tmp_path: Path) -> None:
    read, lost = rewritten(corpus(score=0.5, attrs={"kbid": "Q1", "n": 1}), "spacy", tmp_path / "a.json")
    assert (spans(read), list(read.ids), lost) == (SPANS, ["d1"], {"scores": 3, "attributes": 3})
    assert detected(tmp_path / "a.json") == "spacy"


def test_tuples_are_written(tmp_path: Path) -> None:
    read, lost = rewritten(corpus(), "spacy(layout=tuples)", tmp_path / "a.json")
    assert (spans(read), lost) == (SPANS, {"ids": 1})


def test_a_doc_bin_is_written_for_its_ending(doc: Any, tmp_path: Path) -> None:
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    chosen = writer(str(tmp_path / "train.spacy"))
    assert repr(chosen) == "spacy(layout=docbin)"
    part = {"start": 6, "end": 8, "label": "PART"}
    marks = [*ENTS, part, {**ENTS[0], "label": "INNER", "end": ENTS[0]["start"] + 4}]
    given = ss.Corpus.from_documents(
        [
            {"id": "d1", "text": TEXT, "spans": marks},
            {"id": "e", "text": "word", "spans": [{**part, "start": 1, "end": 2}]},
        ]
    )
    read, lost = rewritten(given, repr(chosen), tmp_path / "train.spacy")
    assert (spans(read), list(read.ids)) == (SPANS, ["d1", "e"])
    assert lost == {"overlapping spans": 2, "spans that do not begin and end at tokens": 1}
    (made, _) = DocBin().from_disk(tmp_path / "train.spacy").get_docs(Vocab())
    assert [(ent.text, ent.label_) for ent in made.ents] == MARKS


def test_any_damage_to_a_doc_bin_is_an_error_and_not_a_crash(doc: Any, tmp_path: Path) -> None:
    from spacy.tokens import DocBin

    data = zlib.decompress(DocBin(docs=[doc], store_user_data=True).to_bytes())
    path = tmp_path / "a.spacy"
    refused = 0
    for at in range(0, len(data), 7):
        path.write_bytes(zlib.compress(data[:at] + bytes([data[at] ^ 0x81]) + data[at + 1 :]))
        try:
            ss.read(path, "spacy")
        except ss.InputError:
            refused += 1
    assert refused > len(data) // 20


def test_groups_are_named_where_there_are_no_entities(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    doc = {
        "text": "Ann left",
        "ents": [],
        "tokens": [],
        "spans": {"sc": [{"start": 0, "end": 3, "label": "X"}], "e": []},
    }
    path.write_text(json.dumps([doc]))
    (note,) = ss.read(path).notes
    assert "there are no entities, but groups of spans; read one with spacy(group=sc)." in note
    assert spans(ss.read(path, "spacy(group=sc)")) == [(0, 3, "X")]
    assert not ss.read(path, "spacy(group=e)").notes
    del doc["ents"]
    path.write_text(json.dumps([doc]))
    with pytest.raises(ss.InputError, match=r"'ents' is missing; read a group of spans with spacy\(group=sc\)"):
        ss.read(path, "spacy")
