from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest

import spanscore as ss
from formats.awkward import MARKS, SPANS, TEXT, corpus, detected, offsets, rewritten, spans
from spanscore.formats import read_chunks

DOCUMENTED = (
    "T1\tOrganization 0 4\tSony\n"
    "T2\tMERGE-ORG 14 27\tjoint venture\n"
    "T3\tOrganization 33 41\tEricsson\n"
    "E1\tMERGE-ORG:T2 Org1:T1 Org2:T3\n"
    "T4\tCountry 75 81\tSweden\n"
    "R1\tOrigin Arg1:T3 Arg2:T4\n"
    "*\tEquiv T1 T3\n"
    "A1\tNegation E1\n"
    "A2\tConfidence T1 L1\n"
    "N1\tReference T3 Wikipedia:534366\tEricsson\n"
    "#1\tAnnotatorNotes T4\ta country\n"
)
SONY = "Sony formed a joint venture with Ericsson, a mobile phone company based in Sweden.\nSony announced today that ...\n"


def pair(folder: Path, name: str, text: str | None, ann: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    if text is not None:
        (folder / f"{name}.txt").write_bytes(text.encode())
    (folder / f"{name}.ann").write_bytes(ann.encode())
    return folder


def ann(places: list[tuple[int, int]]) -> str:
    lines = zip(places, MARKS, strict=True)
    marked = (f"{label} {start} {end}\t{surface}" for (start, end), (surface, label) in lines)
    return "".join(f"T{number}\t{line}\n" for number, line in enumerate(marked, 1))


def test_the_layout_of_the_documentation(tmp_path: Path) -> None:
    folder = pair(tmp_path / "data", "DOC-1000", SONY, DOCUMENTED)
    assert detected(folder) == "brat"
    read = ss.read(folder)
    assert list(read.ids) == ["DOC-1000"]
    (document,) = read.documents()
    assert [(span.label, SONY[span.start : span.end], span.attrs) for span in document.spans] == [
        ("Organization", "Sony", {"Confidence": "L1"}),
        ("MERGE-ORG", "joint venture", None),
        ("Organization", "Ericsson", {"kbid": "Wikipedia:534366"}),
        ("Country", "Sweden", {"note": "a country"}),
    ]
    assert any("left out: events (1), relations (1), equivalences (1)" in note for note in read.notes)


def test_one_file_with_its_text_beside_it(tmp_path: Path) -> None:
    pair(tmp_path, "a", TEXT, ann(offsets()))
    assert detected(tmp_path / "a.ann") == "brat"
    read = ss.read(tmp_path / "a.ann")
    assert (list(read.ids), spans(read)) == (["a"], SPANS)
    assert read.text is not None
    assert read.text[0] == TEXT


def test_folders_in_folders_and_zip_files(tmp_path: Path) -> None:
    folder = pair(tmp_path / "data" / "in", "a", TEXT, ann(offsets()))
    (folder / "b.txt").write_text("no annotations")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for path in folder.iterdir():
            archive.write(path, f"in/{path.name}")
    for path in (tmp_path / "data", tmp_path / "a.zip"):
        read = ss.read(path)
        assert (list(read.ids), spans(read)) == (["in/a"], SPANS)
        assert read.text is not None
        assert read.text[0] == TEXT
        assert any("left out: .txt files without an .ann file (1)" in note for note in read.notes)


@pytest.mark.parametrize(
    ("convention", "option"), [({"unit": "utf16"}, "unit=utf16"), ({"newline": "lf"}, "newline=lf")]
)
def test_other_conventions_are_named(convention: dict[str, str], option: str, tmp_path: Path) -> None:
    folder = pair(tmp_path / "data", "a", TEXT, ann(offsets(**convention)))
    with pytest.raises(ss.InputError, match=rf"brat\({option}\)"):
        ss.read(folder)
    assert spans(ss.read(folder, f"brat({option})")) == SPANS


def test_fragments_are_split_or_their_hull(tmp_path: Path) -> None:
    folder = pair(tmp_path / "data", "a", "North and South America", "T1\tLocation 0 5;16 23\tNorth America\n")
    assert spans(ss.read(folder)) == [(0, 5, "Location"), (16, 23, "Location")]
    assert spans(ss.read(folder, "brat(fragments=hull)")) == [(0, 23, "Location")]


def test_a_line_that_is_no_annotation(tmp_path: Path) -> None:
    folder = pair(tmp_path / "data", "a", "x", "T1\tX 0 1\tx\nfoo\n")
    with pytest.raises(ss.InputError, match="a.ann:2: this line is not an annotation"):
        ss.read(folder)


def test_it_is_written(tmp_path: Path) -> None:
    attrs = {"kbid": "Wikidata:Q1", "sure": True, "level": "L1", "note": "a {b} c", "age": 3}
    read, lost = rewritten(corpus("in/d1", score=0.5, attrs=attrs), "brat", tmp_path / "out")
    assert spans(read) == SPANS
    assert list(read.ids) == ["in/d1"]
    assert (tmp_path / "out" / "in" / "d1.txt").read_bytes().decode() == TEXT
    (document,) = read.documents()
    assert [span.attrs for span in document.spans] == [{key: attrs[key] for key in attrs if key != "age"}] * 3
    assert lost == {"scores": 3, "attributes": 3}


@pytest.mark.parametrize("name", ["../up", "/etc/passwd", "a//b", ".hidden", "", "x" * 300, "a\0b", "con:1", " "])
def test_ids_stay_in_the_folder(name: str, tmp_path: Path) -> None:
    given = corpus(name)
    read, lost = rewritten(given, "brat", tmp_path / "out")
    assert spans(read) == SPANS
    assert lost == {"ids that are no file names (written in another form)": 1}
    assert {path.parts[-2] for path in tmp_path.iterdir()} == {tmp_path.name}


def test_labels_have_no_spaces(tmp_path: Path) -> None:
    given = ss.Corpus.from_documents(
        [{"id": "a", "text": "x", "spans": [{"start": 0, "end": 1, "label": "phone number"}]}]
    )
    read, lost = rewritten(given, "brat", tmp_path / "out")
    assert spans(read) == [(0, 1, "phone_number")]
    assert lost == {"labels with white space (written with _)": 1}


def test_predictions_without_texts_take_those_of_the_gold_data(tmp_path: Path) -> None:
    folder = pair(tmp_path / "pred", "d1", None, ann(offsets()))
    (read,) = read_chunks(folder, "brat", companion=corpus)
    assert spans(read) == SPANS
    shifted = pair(tmp_path / "shifted", "d1", None, ann(offsets(unit="utf16")))
    with pytest.raises(ss.InputError, match=r"brat\(unit=utf16\)"):
        list(read_chunks(shifted, "brat", companion=corpus))
    (read,) = read_chunks(shifted, "brat(unit=utf16)", companion=corpus)
    assert spans(read) == SPANS


def test_a_byte_order_mark_counts(tmp_path: Path) -> None:
    folder = pair(tmp_path / "data", "a", "\ufeffAnn", "T1\tX 1 4\tAnn\n")
    assert spans(ss.read(folder)) == [(1, 4, "X")]


def test_notes_of_many_files_are_one(tmp_path: Path) -> None:
    for number in range(10):
        pair(tmp_path / "data", f"d{number}", "Ann", "\ufeffT1\tX 0 3\tAnn\nR1\tknows Arg1:T1 Arg2:T1\n")
    notes = ss.read(tmp_path / "data").notes
    assert sum("byte order mark" in note for note in notes) == 3
    assert any(note.endswith("7 more notes of this kind.") for note in notes)
    assert any(note.endswith("left out: relations (10).") for note in notes)


def test_pipes_and_links_that_lead_out_of_the_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("root:x:0")

    def link(path: Path) -> None:
        path.symlink_to(tmp_path / "secret")

    for name, made in {"pipe": os.mkfifo, "link": link}.items():
        for ending in ("txt", "ann"):
            folder = tmp_path / f"{name}-{ending}"
            folder.mkdir()
            (folder / "a.ann").write_text("T1\tP 0 4\troot\n")
            (folder / "a.txt").write_text("root:x:0")
            (folder / f"a.{ending}").unlink()
            made(folder / f"a.{ending}")
            with pytest.raises(ss.InputError, match=f"a.{ending}: this .* (copy the file into it|remove it)"):
                ss.read(folder, "brat")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "a.ann").write_text("T1\tP 0 4\troot\n")
    (inside / "b.txt").write_text("root:x:0")
    (inside / "a.txt").symlink_to("b.txt")
    assert ss.read(inside, "brat").text is not None
