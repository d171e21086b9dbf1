"""The offset doctor over all formats with surface strings: it names the right convention, and else keeps silent."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np
import pytest

import spanscore as ss
from spanscore.formats import REGISTRY, Format, read_chunks, together
from spanscore.formats.documents import DocumentFormat
from spanscore.formats.offsets import ENDS, NATIVE, NEWLINES, UNITS, Convention

TEXT = "Dr 😀 Zoe\u0308 saw\r\nA\u030angström,\nשלום כהן,\r\nin 👩\u200d👧 Köln\nand Oslo."
NAMES = {"Zoe\u0308": "PERSON", "A\u030angström": "PERSON", "שלום כהן": "PERSON", "Köln": "CITY", "Oslo": "CITY"}
"""Before the last name there is at least one of everything that conventions count differently."""
EVERY = [Convention(a, b, c, d) for a in UNITS for b in ENDS for c in (0, 1, -1) for d in NEWLINES]


class Mark(NamedTuple):
    """A span as a file has it."""

    start: int
    end: int
    label: str
    surface: str


class Doc(NamedTuple):
    """A document as a file has it."""

    id: str
    text: str
    marks: list[Mark]


def marked(name: str, text: str, convention: Convention) -> Doc:
    """Return a document with all names in the text marked, in a convention."""
    found = sorted((text.index(surface), surface) for surface in NAMES)
    start = np.array([at for at, _ in found], np.int64)
    end = start + np.array([len(surface) for _, surface in found])
    low, high = (side.tolist() for side in convention.write(text, start, end))
    marks = [Mark(a, b, NAMES[surface], surface) for a, b, (_, surface) in zip(low, high, found, strict=True)]
    return Doc(name, text, marks)


def right(text: str) -> set[tuple[int, int, str]]:
    return {(text.index(surface), text.index(surface) + len(surface), label) for surface, label in NAMES.items()}


def as_json(value: Any) -> bytes:
    return json.dumps(value).encode()


def fields_of(one: Doc, *names: str) -> list[dict[str, Any]]:
    """Return marks as objects with these names for start, end, label and surface."""
    return [dict(zip(names, mark, strict=True)) for mark in one.marks]


def presidio(docs: list[Doc]) -> bytes:
    names = ("start_position", "end_position", "entity_type", "entity_value")
    return as_json([{"full_text": one.text, "sample_id": one.id, "spans": fields_of(one, *names)} for one in docs])


def dlp(docs: list[Doc]) -> bytes:
    def finding(mark: Mark) -> dict[str, Any]:
        place = {"start": str(mark.start), "end": str(mark.end)}
        location = {"codepointRange": place, "byteRange": place}
        return {"quote": mark.surface, "infoType": {"name": mark.label}, "location": location}

    return as_json([{"result": {"findings": [finding(mark) for mark in one.marks]}} for one in docs])


def labelstudio(docs: list[Doc]) -> bytes:
    def result(mark: Mark) -> dict[str, Any]:
        value = {"start": mark.start, "end": mark.end, "text": mark.surface, "labels": [mark.label]}
        return {"from_name": "label", "to_name": "text", "type": "labels", "value": value}

    return as_json(
        [
            {
                "id": one.id,
                "data": {"text": one.text},
                "annotations": [{"id": 1, "result": list(map(result, one.marks))}],
            }
            for one in docs
        ]
    )


def csv(docs: list[Doc]) -> bytes:
    rows = [f'{one.id},{mark.start},{mark.end},{mark.label},"{mark.surface}"' for one in docs for mark in one.marks]
    return "\n".join(["id,start,end,label,text", *rows]).encode()


def records(docs: list[Doc]) -> bytes:
    return as_json([{"id": one.id, "text": one.text, "x": fields_of(one, "b", "e", "t", "w")} for one in docs])


def tab(docs: list[Doc]) -> bytes:
    names = ("start_offset", "end_offset", "entity_type", "span_text")
    more = {"identifier_type": "DIRECT", "entity_id": "e", "entity_mention_id": "m", "edit_type": "check"}
    return as_json(
        [
            {
                "doc_id": one.id,
                "text": one.text,
                "annotations": {"a1": {"entity_mentions": [{**mark, **more} for mark in fields_of(one, *names)]}},
            }
            for one in docs
        ]
    )


def i2b2(docs: list[Doc]) -> bytes:
    (one,) = docs
    tags = "".join(
        f'<NAME id="P{i}" start="{mark.start}" end="{mark.end}" text={quoteattr(mark.surface)} TYPE="{mark.label}" />'
        for i, mark in enumerate(one.marks)
    )
    text = f"<TEXT><![CDATA[{one.text}]]></TEXT>"
    return f'<?xml version="1.0" encoding="UTF-8" ?><deIdi2b2>{text}<TAGS>{tags}</TAGS></deIdi2b2>'.encode()


def langextract(docs: list[Doc]) -> bytes:
    def extraction(mark: Mark) -> dict[str, Any]:
        place = {"start_pos": mark.start, "end_pos": mark.end}
        words = {"extraction_class": mark.label, "extraction_text": mark.surface}
        return {**words, "char_interval": place, "alignment_status": "match_exact"}

    return as_json(
        [{"document_id": d.id, "text": d.text, "extractions": [extraction(mark) for mark in d.marks]} for d in docs]
    )


KINDS = {"PERSON": "textPersonNameAnnotations", "CITY": "textLocationAnnotations"}
SANDBOX = {"PERSON": "PERSON", "CITY": "CITY", "PERSON_NAME": "PERSON", "LOCATION": "CITY"}
"""Labels as NLP Sandbox has them, and those of the others -> those of the others."""


def nlpsandbox(docs: list[Doc]) -> bytes:
    def listed(one: Doc, label: str) -> list[dict[str, Any]]:
        marks = (mark for mark in one.marks if mark.label == label)
        return [{"start": mark.start, "length": mark.end, "text": mark.surface, "confidence": 95} for mark in marks]

    return as_json(
        [
            {
                "annotationSource": {"resourceSource": {"name": one.id}},
                **{kind: listed(one, label) for label, kind in KINDS.items()},
            }
            for one in docs
        ]
    )


Builder = Callable[[list[Doc]], bytes]
BUILDERS: dict[str, Builder] = {
    "ai4privacy": lambda docs: as_json(
        [
            {"id": d.id, "source_text": d.text, "privacy_mask": fields_of(d, "start", "end", "label", "value")}
            for d in docs
        ]
    ),
    "aws": lambda docs: as_json(
        [{"id": d.id, "Entities": fields_of(d, "BeginOffset", "EndOffset", "Type", "Text")} for d in docs]
    ),
    "azure": lambda docs: as_json(
        {"documents": [{"id": d.id, "entities": fields_of(d, "offset", "length", "category", "text")} for d in docs]}
    ),
    "csv": csv,
    "dlp": dlp,
    "gliner": lambda docs: as_json([fields_of(d, "start", "end", "label", "text") for d in docs]),
    "i2b2": i2b2,
    "labelstudio": labelstudio,
    "langextract": langextract,
    "nlpsandbox": nlpsandbox,
    "presidio": presidio,
    "prodigy": lambda docs: as_json(
        [{"text": d.text, "spans": fields_of(d, "start", "end", "label", "text"), "meta": {"id": d.id}} for d in docs]
    ),
    "records": records,
    "tab": tab,
}
GIVEN = {"records": "records(spans=x, start=b, end=e, label=t, surface=w)"}
SINGLE = ("i2b2",)
"""Formats of one document per file."""
ELSEWHERE = {
    "brat": "its text is in a file of its own; see test_brat",
    "doccano": "no surface strings",
    "hf": "no surface strings",
    "hipe": "tokens",
    "llm": "no offsets",
    "recognizer-results": "no surface strings",
    "spacy": "no surface strings",
    "webanno": "offsets are those of its tokens; see test_webanno",
}
"""Formats of documents that are not tested here, and why."""


def test_every_format_with_surface_strings_is_tested() -> None:
    formats = {one.name for one in REGISTRY.classes() if issubclass(one, DocumentFormat)}
    assert formats - set(ELSEWHERE) == set(BUILDERS)


def made(name: str) -> Format:
    return REGISTRY.make(GIVEN.get(name, name))


def own(name: str) -> Convention:
    """Return the convention of a format without options; one whose unit is decided by its content counts UTF-16."""
    found = made(name).convention
    assert found is not None
    return found if found.unit in UNITS else Convention("utf16", found.end, found.base, found.newline)


def read(path: Path, spec: str, docs: list[Doc]) -> ss.Corpus:
    gold = ss.Corpus.from_documents([{"id": one.id, "text": one.text, "spans": []} for one in docs])
    return together(read_chunks(path, spec, companion=lambda: gold))


def spans(corpus: ss.Corpus) -> list[set[tuple[int, int, str]]]:
    return [{(span.start, span.end, SANDBOX[span.label]) for span in one.spans} for one in corpus.documents()]


def check(name: str, shifted: Convention, folder: Path) -> bool:
    """Read a file in a convention; what is read must be right, or the error must name how. Return whether it did."""
    docs = [marked("d0", TEXT, shifted)]
    path = folder / "d0.xml"
    path.write_bytes(BUILDERS[name](docs))
    spec = GIVEN.get(name, name)
    try:
        assert spans(read(path, spec, docs)) == [right(TEXT)]
        return False
    except ss.InputError as error:
        message = str(error)
    assert "read the file with " in message, (shifted, message)
    named = message.rpartition("read the file with ")[2].rstrip(".")
    assert spans(read(path, named, docs)) == [right(TEXT)], (shifted, named)
    found = REGISTRY.make(named).convention
    assert found is not None
    assert marked("d0", TEXT, found).marks == docs[0].marks
    return True


@pytest.mark.parametrize("name", BUILDERS)
def test_a_file_in_another_convention(name: str, tmp_path: Path) -> None:
    usual = own(name)
    assert not check(name, usual, tmp_path)
    others = [one for one in EVERY if sum(getattr(one, f.name) != getattr(usual, f.name) for f in fields(one)) == 1]
    assert len(others) == 9
    named = [check(name, one, tmp_path) for one in others]
    distinct = [marked("d0", TEXT, one).marks != marked("d0", TEXT, usual).marks for one in others]
    decided = [name == "labelstudio" and one in (NATIVE, usual) for one in others]
    assert named == [a and not b for a, b in zip(distinct, decided, strict=True)]


def test_all_conventions(tmp_path: Path) -> None:
    assert sum(check("presidio", one, tmp_path) for one in EVERY) >= len(EVERY) - 3


PIECES = ("Dr", "saw", "the", "😀", "a\u0301", "é", "\r\n", "\n", "שלום", "👩\u200d👧", "🇩🇪", "中", "١", "of")


@pytest.mark.parametrize("name", [name for name in BUILDERS if name not in SINGLE])
def test_silence_on_ten_thousand_right_spans(name: str, tmp_path: Path) -> None:
    rng = random.Random(name)
    texts = []
    for number in range(2000):
        words = [rng.choice(PIECES) for _ in range(12)]
        for surface in NAMES:
            words.insert(rng.randrange(len(words)), f"{surface} {number}")
        texts.append(" ".join(words))
    docs = [marked(f"d{number}", text, own(name)) for number, text in enumerate(texts)]
    path = tmp_path / "data"
    path.write_bytes(BUILDERS[name](docs))
    corpus = read(path, GIVEN.get(name, name), docs)
    assert len(corpus.start) == 10_000
    assert corpus.notes == ()
    assert spans(corpus) == list(map(right, texts))


def spacy(docs: list[Doc]) -> bytes:
    return as_json([{"text": d.text, "ents": fields_of(d, "start", "end", "label", "x"), "tokens": []} for d in docs])


@pytest.mark.parametrize("shifted", [one for one in EVERY if NATIVE.differences(one) == 1], ids=repr)
def test_without_surface_strings(shifted: Convention, tmp_path: Path) -> None:
    """Five spans without surface strings: if some are outside the text, cut words show which convention is right."""
    docs = [marked("0", TEXT, shifted)]
    path = tmp_path / "a.json"
    path.write_bytes(spacy(docs))
    try:
        read_spans = spans(ss.read(path, "spacy"))
    except ss.InputError as error:
        named = str(error).rpartition("read the file with ")[2].rstrip(".")
        assert spans(ss.read(path, named)) == [right(TEXT)]
    else:
        assert read_spans == [right(TEXT)] or all(mark.end <= len(TEXT) for mark in docs[0].marks)


def test_conventions_that_fit_equally_are_all_named(tmp_path: Path) -> None:
    """Nothing shows whether "d" or the hyphen before it is meant, so that no single convention is named."""
    path = tmp_path / "a.json"
    path.write_bytes(
        as_json([{"text": "😀😀 a-b-c-d", "ents": [{"start": 10, "end": 11, "label": "X"}], "tokens": []}])
    )
    with pytest.raises(
        ss.InputError, match=r"UTF-16 code units or .* from 1: .* spacy\(unit=utf16\) or .* spacy\(base=1\)"
    ):
        ss.read(path, "spacy")


def test_suspicion_names_the_convention_of_formats_that_count_otherwise(tmp_path: Path) -> None:
    text = "Dr 😀 Ann saw Bob in Oslo and Bonn."
    shifted = Convention("utf16", "inclusive")
    places = [(text.index(name), text.index(name) + len(name)) for name in ("Ann", "Bob", "Oslo", "Bonn")]
    start, end = shifted.write(text, *np.array(places).T)
    ents = [{"start": int(a), "end": int(b), "label": "X"} for a, b in zip(start, end, strict=True)]
    path = tmp_path / "a.json"
    path.write_bytes(as_json([{"text": text, "ents": ents, "tokens": []}] * 4))
    (note,) = ss.read(path, "spacy(unit=utf16)").notes
    assert "100% of spans" in note
    assert "with spacy(unit=utf16, end=inclusive), 0% do." in note


HEBREW = "דנה גרה בתל אביב ועובדת במשרד של רות"


def test_attached_prefixes_are_no_reason_for_suspicion(tmp_path: Path) -> None:
    """Hebrew and Arabic write prepositions as part of the next word, so that right spans begin inside words."""
    arabic = "ذهب أحمد إلى والقاهرة"
    marks = [(HEBREW, "תל אביב"), (HEBREW, "משרד"), (arabic, "القاهرة")] * 3
    documents: list[dict[str, Any]] = [
        {"id": i, "text": text, "spans": [{"start": (at := text.index(name)), "end": at + len(name), "label": "X"}]}
        for i, (text, name) in enumerate(marks)
    ]
    checked = ss.check(ss.Corpus.from_documents(documents))
    assert not {one.kind for one in checked.files[0].findings} & {"suspicious offsets", "half word"}
    for one in documents:
        one["spans"][0]["end"] -= 1
    checked = ss.check(ss.Corpus.from_documents(documents))
    assert {one.kind for one in checked.files[0].findings} >= {"suspicious offsets", "half word"}
