from __future__ import annotations

import zipfile
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest

import spanscore as ss
from formats.awkward import MARKS, SPANS, TEXT, corpus, detected, offsets, rewritten, spans


def xml(places: list[tuple[int, int]], text: str = TEXT, newline: str = "\n") -> bytes:
    """A file in the layout of the 2014 task."""
    tags = "".join(
        f'<NAME id="P{number}" start="{start}" end="{end}" text={quoteattr(surface)} TYPE="{label}" comment="" />\n'
        for number, ((start, end), (surface, label)) in enumerate(zip(places, MARKS, strict=True))
    )
    head = f'<?xml version="1.0" encoding="UTF-8" ?>\n<deIdi2b2>\n<TEXT><![CDATA[{text}]]></TEXT>\n'
    lines = f"{head}<TAGS>\n{tags}</TAGS>\n</deIdi2b2>\n"
    return (lines if newline == "\n" else lines.replace("\r\n", "\n").replace("\n", newline)).encode()


def test_the_layout_of_the_task_and_the_exact_text(tmp_path: Path) -> None:
    (tmp_path / "220-01.xml").write_bytes(xml(offsets()))
    assert detected(tmp_path / "220-01.xml") == "i2b2"
    read = ss.read(tmp_path / "220-01.xml")
    assert (list(read.ids), spans(read)) == (["220-01"], SPANS)
    (document,) = read.documents()
    assert document.text == TEXT
    assert document.spans[0].attrs == {"category": "NAME"}


def test_a_folder_and_a_zip_file(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    with zipfile.ZipFile(tmp_path / "notes.zip", "w") as archive:
        for name in ("a", "b"):
            (tmp_path / "notes" / f"{name}.xml").write_bytes(xml(offsets()))
            archive.write(tmp_path / "notes" / f"{name}.xml", f"{name}.xml")
    for path in (tmp_path / "notes", tmp_path / "notes.zip"):
        assert detected(path) == "i2b2"
        read = ss.read(path)
        assert (list(read.ids), spans(read)) == (["a", "b"], SPANS * 2)


def test_files_whose_line_ends_were_converted_shift_offsets_and_the_error_says_how(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_bytes(xml(offsets(newline="lf"), newline="\r\n"))
    with pytest.raises(ss.InputError, match=r"i2b2\(newline=lf\)"):
        ss.read(path)
    assert spans(ss.read(path, "i2b2(newline=lf)")) == SPANS


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>'
EXTERNAL = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
REMOTE = '<!DOCTYPE x SYSTEM "http://example.org/x.dtd">'


@pytest.mark.parametrize("declared", [BOMB, EXTERNAL, REMOTE])
def test_entities_and_document_types_are_refused(declared: str, tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(f'<?xml version="1.0"?>\n{declared}<deIdi2b2><TEXT>&a;</TEXT><TAGS></TAGS></deIdi2b2>')
    with pytest.raises(ss.InputError, match="a document type or entities, which are refused"):
        ss.read(path)


def test_unusable_files_say_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text("<deIdi2b2><TAGS/></deIdi2b2>")
    with pytest.raises(ss.InputError, match="no element TEXT.*read as i2b2"):
        ss.read(path)
    path.write_text("<deIdi2b2>\n<TEXT>a & b</TEXT></deIdi2b2>")
    with pytest.raises(ss.InputError, match="a.xml:2: this is not well-formed XML"):
        ss.read(path)
    path.write_text('<deIdi2b2><TEXT>ab</TEXT><TAGS><NAME start="x" end="1"/></TAGS></deIdi2b2>')
    with pytest.raises(ss.InputError, match="the start is not a whole number"):
        ss.read(path)


def test_tags_without_offsets_are_counted_and_without_type_named_by_element(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text('<r><TEXT>ab</TEXT><TAGS><SMOKER status="x"/><AGE start="0" end="1" text="a"/></TAGS></r>')
    read = ss.read(path)
    assert spans(read) == [(0, 1, "AGE")]
    assert any("left out: tags without start and end (1)" in note for note in read.notes)


@pytest.mark.parametrize("encoding", ["ISO-8859-1", "UTF-16"])
def test_other_encodings(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    text = f'<?xml version="1.0" encoding="{encoding}"?><r><TEXT>Zoë\r\nb</TEXT><TAGS><A start="5" end="6"/></TAGS></r>'
    path.write_bytes(text.encode(encoding))
    read = ss.read(path, "i2b2")
    assert spans(read) == [(5, 6, "A")]


def test_it_is_written_so_that_any_parser_finds_the_exact_text(tmp_path: Path) -> None:
    from defusedxml.ElementTree import parse

    attrs = {"category": "NAME", "comment": 'a "b" <c>', "age": 3}
    read, lost = rewritten(corpus(score=0.5, attrs=attrs), "i2b2", tmp_path / "out")
    assert (spans(read), list(read.ids)) == (SPANS, ["d1"])
    assert parse(tmp_path / "out" / "d1.xml").find("TEXT").text == TEXT
    (document,) = read.documents()
    assert document.spans[0].attrs == {"category": "NAME", "comment": 'a "b" <c>'}
    assert lost == {"scores": 3, "attributes": 3}


def test_characters_that_xml_forbids_are_replaced_and_counted(tmp_path: Path) -> None:
    text = "a\x0c\x00]]> b"
    given = ss.Corpus.from_documents([{"id": "a", "text": text, "spans": [{"start": 7, "end": 8, "label": "DOCTOR"}]}])
    read, lost = rewritten(given, "i2b2", tmp_path / "out")
    (document,) = read.documents()
    assert document.text == "a\ufffd\ufffd]]> b"
    assert document.spans[0].attrs == {"category": "NAME"}
    assert lost == {"control characters (replaced by U+FFFD)": 2}


def test_the_only_file_of_a_zip_file_names_its_document_and_a_folder_needs_files(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("in/220-01.xml", xml(offsets()))
    assert list(ss.read(tmp_path / "all.zip").ids) == ["220-01"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(ss.InputError, match="there are no .xml files in this folder"):
        ss.read(tmp_path / "empty", "i2b2")
