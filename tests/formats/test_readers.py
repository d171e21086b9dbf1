from __future__ import annotations

import gzip
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

import spanscore as ss
from spanscore.formats import REGISTRY, read_chunks, recognise
from spanscore.formats.source import Source
from spanscore.formats.tags import SCHEMES, decode_tags


def spans(corpus: ss.Corpus) -> list[tuple[str, int, int, str]]:
    return [(str(d.id), s.start, s.end, s.label) for d in corpus.documents() for s in d.spans]


def write(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


OWN = {
    "id": "d1",
    "text": "Dr 😀 Zoë",
    "spans": [{"start": 5, "end": 8, "label": "PERSON", "score": 0.85, "attrs": {"kbid": "Q1", "n": 2}}],
    "tokens": [[0, 2], [3, 4], [5, 8]],
    "meta": {"language": "de", "age": 3},
}


def test_the_own_format_comes_back_as_it_was(tmp_path: Path) -> None:
    corpus = ss.read(write(tmp_path / "a.jsonl", OWN, {"id": 2, "spans": []}))
    assert corpus.format == "spanscore"
    assert corpus.text == ("Dr 😀 Zoë", None)
    back = [json.loads(json.dumps(_plain(document))) for document in corpus.documents()]
    assert back == [OWN, {"id": "2", "spans": [], "tokens": []}]


def _plain(document: Any) -> Any:
    import msgspec

    plain = msgspec.to_builtins(document)
    plain.setdefault("spans", [])
    return plain


@pytest.mark.parametrize("how", ["gzip", "bom", "crlf", "blank lines", "no last newline"])
def test_what_files_are_like(how: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", OWN, {**OWN, "id": "d2"})
    data = path.read_bytes()
    if how == "gzip":
        path.write_bytes(gzip.compress(data))
    elif how == "bom":
        path.write_bytes(b"\xef\xbb\xbf" + data)
    elif how == "crlf":
        path.write_bytes(data.replace(b"\n", b"\r\n"))
    elif how == "blank lines":
        path.write_bytes(b"\n" + data.replace(b"\n", b"\n\n"))
    else:
        path.write_bytes(data.removesuffix(b"\n"))
    corpus = ss.read(path)
    assert spans(corpus) == [("d1", 5, 8, "PERSON"), ("d2", 5, 8, "PERSON")]
    assert bool(corpus.notes) == (how == "bom")


def test_reading_is_the_concatenation_of_its_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.jsonl", *({**OWN, "id": f"d{i}"} for i in range(50)))
    for size in ("HEAD", "BLOCK"):
        monkeypatch.setattr(f"spanscore.formats.source.{size}", 700)
    chunks = list(read_chunks(path))
    assert len(chunks) > 5
    monkeypatch.undo()
    assert spans(ss.Corpus.concat(chunks)) == spans(ss.read(path))
    assert ss.Corpus.concat(chunks).fingerprint == ss.read(path).fingerprint


def test_presidio(tmp_path: Path) -> None:
    samples = [
        {
            "full_text": "Ann in Oslo",
            "masked": "{{NAME}} in {{CITY}}",
            "spans": [
                {"entity_type": "CITY", "entity_value": "Oslo", "start_position": 7, "end_position": 11},
                {"entity_type": "NAME", "entity_value": "Ann", "start_position": 0, "end_position": 3},
            ],
            "template_id": 3,
            "metadata": None,
        },
        {"full_text": "Bob", "spans": [], "sample_id": "x", "metadata": {"lang": "en", "list": [1]}},
        {"full_text": "Eve left", "tokens": ["Eve", "left"], "tags": ["U-NAME", "O"]},
    ]
    path = tmp_path / "a.json"
    path.write_text(json.dumps(samples, indent=1))
    corpus = ss.read(path)
    assert corpus.format == "presidio"
    assert sorted(spans(corpus)) == [("0", 0, 3, "NAME"), ("0", 7, 11, "CITY"), ("2", 0, 3, "NAME")]
    assert corpus.ids == ("0", "x", "2")
    assert corpus.meta["lang"].tolist() == [None, "en", None]


@pytest.mark.parametrize(
    ("start", "end", "hint"),
    [
        (6, 9, "presidio(unit=utf16)"),
        (8, 12, "presidio(unit=byte)"),
        (5, 7, "presidio(end=inclusive)"),
        (4, 7, "presidio(base=-1)"),
        (5, 3, "presidio(end=length)"),
        (0, 3, "presidio(on_error=skip)"),
    ],
)
def test_presidio_offsets_must_fit_the_value(start: int, end: int, hint: str, tmp_path: Path) -> None:
    entity = {"entity_type": "NAME", "entity_value": "Zoë", "start_position": start, "end_position": end}
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"full_text": "Dr 😀 Zoë Ångström", "spans": [entity]}]))
    with pytest.raises(ss.InputError, match=re.escape(hint)):
        ss.read(path)


def test_nlpsandbox(tmp_path: Path) -> None:
    note = {
        "annotationSource": {"resourceSource": {"name": "note/1"}},
        "textDateAnnotations": [{"start": 3, "length": 4, "text": "2020", "dateFormat": "YYYY", "confidence": 95.5}],
        "textPhysicalAddressAnnotations": [{"start": 9, "length": 4, "text": "Oslo", "addressType": "city"}],
    }
    path = tmp_path / "a.json"
    path.write_text(json.dumps([note, {**note, "textDateAnnotations": [], "textPhysicalAddressAnnotations": []}]))
    corpus = ss.read(path)
    assert corpus.format == "nlpsandbox"
    assert spans(corpus) == [("note/1", 3, 7, "DATE"), ("note/1", 9, 13, "PHYSICAL_ADDRESS")]
    assert corpus.score is not None
    assert corpus.score[0] == 0.955
    assert corpus.attrs["addressType"].tolist() == [None, "city"]
    path.write_text(json.dumps({key: value for key, value in note.items() if key != "annotationSource"}))
    assert ss.read(path).ids == ("0",)


def test_neleval(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text(
        'doc1\t0\t2\ndoc2\t7\t8\tQ1\t0.5\tGPE\tQ2\t0.9\tORG\ndoc1\t7\t8\tNIL3\t1.0\t{"type": "PER", "sex": "f"}\n'
    )
    corpus = ss.read(path)
    assert corpus.format == "neleval"
    assert spans(corpus) == [("doc1", 0, 3, "MENTION"), ("doc1", 7, 9, "PER"), ("doc2", 7, 9, "ORG")]
    assert corpus.attrs["kbid"].tolist() == [None, "NIL3", "Q2"]
    assert corpus.attrs["sex"].tolist() == [None, "f", None]


CONLL = "-DOCSTART- -X- O\n\nAnn NNP B-PER\nLee NNP I-PER\nsaw V O\n\nOslo NNP B-LOC\n\n-DOCSTART- -X- O\n\nHi X O\n"


def test_conll(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text(CONLL)
    corpus = ss.read(path)
    assert corpus.format == "conll"
    assert corpus.text == ("Ann Lee saw\nOslo", "Hi")
    assert spans(corpus) == [("1", 0, 7, "PER"), ("1", 12, 16, "LOC")]
    path.write_text("Ann B-PER\n\nOslo B-LOC\n")
    assert spans(ss.read(path)) == [("1", 0, 3, "PER"), ("2", 0, 4, "LOC")]
    path.write_text("B-PER x Ann\nO x left\n")
    with pytest.raises(ss.InputError, match="a.conll:1"):
        ss.read(path, "conll", scheme="IOB2")
    assert spans(ss.read(path, "conll", column=0)) == [("1", 0, 5, "PER")]


@pytest.mark.parametrize(
    ("scheme", "tags", "found", "repaired"),
    [
        ("IO", ["A", "A", "O", "B"], [(0, 2, "A"), (3, 4, "B")], 0),
        ("IOB1", ["I-A", "I-A", "B-A", "I-B"], [(0, 2, "A"), (2, 3, "A"), (3, 4, "B")], 0),
        ("IOB2", ["B-A", "I-A", "B-A", "I-B"], [(0, 2, "A"), (2, 3, "A"), (3, 4, "B")], 1),
        ("BILUO", ["B-A", "I-A", "L-A", "U-B", "O"], [(0, 3, "A"), (3, 4, "B")], 0),
        ("BILUO", ["B-A", "I-A", "O", "L-A"], [(0, 2, "A"), (3, 4, "A")], 2),
        ("IOBES", ["B-A", "E-A", "S-A", "S-A"], [(0, 2, "A"), (2, 3, "A"), (3, 4, "A")], 0),
    ],
)
def test_tags(scheme: Any, tags: list[str], found: list[Any], repaired: int) -> None:
    assert scheme in SCHEMES
    assert decode_tags(tags, scheme) == (found, repaired)


def test_an_illegal_tag_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text("Ann B-PER\nOslo I-LOC\n\nBob B-PER\n")
    corpus = ss.read(path)
    assert corpus.notes == (f"{path}: 1 transition is not legal in IOB2; each began a span (repair=begin).",)


def test_a_format_can_be_forced_and_every_format_says_why(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", {"id": "1", "spans": [], "full_text": "x"})
    assert ss.read(path).format == "spanscore"
    forced = ss.read(path, "presidio")
    assert (forced.format, forced.format_reason) == ("presidio", "as given")
    assert {"conll", "neleval", "nlpsandbox", "parquet", "presidio", "spanscore"} <= set(REGISTRY.names())


def test_presidio_tags_replace_an_empty_list_of_spans(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    sample = {"full_text": "Ann left", "spans": [], "tokens": ["Ann", "left"], "tags": ["U-PERSON", "O"]}
    path.write_text(json.dumps([sample, {**sample, "tags": ["O", "O"]}]))
    assert [[(one.start, one.end, one.label) for one in d.spans] for d in ss.read(path).documents()] == [
        [(0, 3, "PERSON")],
        [],
    ]


@pytest.mark.parametrize("blank", [b"", b"\n \n", b"\xef\xbb\xbf"])
def test_a_first_line_that_is_longer_than_a_block_is_recognised_by_all_its_keys(blank: bytes, tmp_path: Path) -> None:
    """The key that tells Prodigy's file from the native format may come after a long text."""
    native = {"id": "d1", "text": "Ann " * 30_000, "spans": [{"start": 0, "end": 3, "label": "A"}], "meta": {"a": "b"}}
    rejected = {**native, "answer": "reject"}
    for name, record in (("spanscore", native), ("prodigy", rejected)):
        path = tmp_path / f"{name}.jsonl"
        path.write_bytes(blank + json.dumps(record).encode() + b"\n")
        packed = tmp_path / f"{name}.jsonl.gz"
        packed.write_bytes(gzip.compress(path.read_bytes()))
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as archive:
            archive.write(path, "a.jsonl")
        for file in (path, packed, tmp_path / f"{name}.zip"):
            with Source(file) as source:
                assert recognise(source)[0].name == name
            if name == "spanscore":
                assert len(ss.read(file).start) == 1
