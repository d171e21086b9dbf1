"""One sample per format in the layout of its own documentation, with everything that shifts offsets.

The text has an emoji, a combining mark, a right-to-left name and CR LF; formats of tokens have CR LF between lines. Files
without texts are read with that of the native sample. docs/reference/formats.md links each sample.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

import spanscore as ss
from spanscore.formats import REGISTRY, read_chunks, together

SAMPLES = Path(__file__).parent / "samples"
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "formats.md"
NATIVE = SAMPLES / "spanscore.jsonl"
TEXT = "Dr 😀 Zoe\u0308 Ng\r\nmet שלום כהן in Köln."
SURFACES = ("Zoe\u0308 Ng", "שלום כהן", "Köln")


class Sample(NamedTuple):
    """A file, the labels of its persons and of its city, and how to read it, if it is not auto-detected."""

    file: str
    person: str
    city: str
    read_as: str | None = None


TABLE = {
    "ai4privacy": Sample("ai4privacy.jsonl", "GIVENNAME", "CITY"),
    "aws": Sample("aws.json", "NAME", "ADDRESS"),
    "azure": Sample("azure.json", "Person", "Address"),
    "brat": Sample("brat", "Person", "City"),
    "conll": Sample("conll.txt", "PER", "LOC"),
    "csv": Sample("csv.csv", "PERSON", "CITY"),
    "dlp": Sample("dlp.json", "PERSON_NAME", "LOCATION"),
    "doccano": Sample("doccano.jsonl", "PER", "LOC"),
    "gliner": Sample("gliner.json", "person", "city"),
    "hf": Sample("hf.jsonl", "PER", "LOC"),
    "hipe": Sample("hipe.tsv", "pers", "loc"),
    "i2b2": Sample("i2b2.xml", "PATIENT", "CITY"),
    "labelstudio": Sample("labelstudio.json", "PER", "LOC"),
    "langextract": Sample("langextract.jsonl", "person", "city"),
    "llm": Sample("llm.jsonl", "PERSON", "CITY"),
    "neleval": Sample("neleval.tsv", "PER", "GPE"),
    "nlpsandbox": Sample("nlpsandbox.json", "PERSON_NAME", "PHYSICAL_ADDRESS"),
    "parquet": Sample("parquet.parquet", "PERSON", "CITY"),
    "presidio": Sample("presidio.json", "PERSON", "GPE"),
    "prodigy": Sample("prodigy.jsonl", "PERSON", "GPE"),
    "recognizer-results": Sample("recognizer-results.json", "PERSON", "LOCATION"),
    "records": Sample(
        "records.jsonl",
        "PERSON",
        "CITY",
        "records(id=key, text=doc.body, spans=ents, start=b, end=e, label=t, surface=w)",
    ),
    "spacy": Sample("spacy.json", "PERSON", "GPE"),
    "spanscore": Sample("spanscore.jsonl", "PERSON", "CITY"),
    "tab": Sample("tab.json", "PERSON", "LOC"),
    "webanno": Sample("webanno.tsv", "PER", "LOC"),
}
BINARY = ("parquet",)
"""Formats whose sample is made by the test."""
OF_TOKENS = ("conll", "hf", "hipe")
"""Formats that rebuild the text from tokens, so that CR LF is between their lines."""


def sample_path(name: str, folder: Path) -> Path:
    """Return the path of a sample; one that is binary is written to the folder."""
    file = TABLE[name].file
    if name in BINARY:
        ss.convert(NATIVE, folder / file)
        return folder / file
    return SAMPLES / file


def test_every_format_has_a_sample() -> None:
    assert sorted(TABLE) == REGISTRY.names()
    files = {one.file for name, one in TABLE.items() if name not in BINARY}
    assert {path.name for path in SAMPLES.iterdir()} == files


@pytest.mark.parametrize("name", REGISTRY.names())
def test_a_sample(name: str, tmp_path: Path) -> None:
    sample = TABLE[name]
    if name in BINARY:
        pytest.importorskip("pyarrow")
    path = sample_path(name, tmp_path)
    read = together(read_chunks(path, sample.read_as, companion=lambda: ss.read(NATIVE)))
    assert read.format.partition("(")[0] == name
    text = TEXT if read.text is None else read.text[0]
    assert text is not None
    spans = next(iter(read.documents())).spans
    labels = (sample.person, sample.person, sample.city)
    found = [(text[span.start : span.end], span.label) for span in spans]
    assert found == list(zip(SURFACES, labels, strict=True))
    assert not [note for note in read.notes if "offsets" in note and "as the spans show" not in note]
    if name in OF_TOKENS:
        assert "".join(text.split()) == "".join(TEXT.split())
        assert b"\r\n" in path.read_bytes()
    else:
        assert text == TEXT


@pytest.mark.parametrize("name", REGISTRY.names())
def test_the_page_links_each_sample(name: str) -> None:
    section = PAGE.read_text(encoding="utf-8").partition("## Samples")[2].partition("\n## ")[0]
    (row,) = [line for line in section.splitlines() if line.startswith(f"| `{name}` |")]
    links = re.findall(r"\]\(\.\./\.\./tests/formats/samples/([^)]+)\)", row)
    assert links
    expected = TABLE["spanscore"].file if name in BINARY else TABLE[name].file
    for link in links:
        assert (SAMPLES / link).is_file()
        assert link.split("/")[0] == expected
    if (how := TABLE[name].read_as) is not None:
        assert f"`{how}`" in row
