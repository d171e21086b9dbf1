"""Readers under attack: seeds for every format, and what must hold whatever bytes a reader gets.

All formats of the registry are covered, so a new one needs nothing here. Its seeds are written by its own writer; a
format that cannot be written gets better seeds from a line in `SEEDS`.
"""

from __future__ import annotations

import io
import json
import random
import re
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import spanscore as ss
from spanscore.errors import SpanscoreError
from spanscore.formats import REGISTRY, Format

DOCUMENTS: list[dict[str, Any]] = [
    {
        "id": "d1",
        "text": "Dr 😀 Zoë Lee, born 12/21/1971, lives in Oslo.",
        "spans": [
            {"start": 5, "end": 12, "label": "PERSON", "score": 0.85, "attrs": {"kbid": "Q1", "n": 2}},
            {"start": 19, "end": 29, "label": "DATE", "score": 1.0},
            {"start": 40, "end": 44, "label": "CITY"},
        ],
        "meta": {"language": "en", "age": 3},
    },
    {"id": "d2", "text": 'No one.\r\nÉlan\t"quoted" \\ back', "spans": [{"start": 9, "end": 13, "label": "PERSON"}]},
    {"id": "d3", "text": "", "spans": []},
]
NOTES = [{"identifier": "n1", "noteName": "n1", "textDateAnnotations": [{"start": 4, "length": 3, "text": "May", "dateFormat": "MM", "confidence": 95}], "textPersonNameAnnotations": [{"start": 0, "length": 3, "text": "Ann"}]}]  # fmt: skip
SAMPLES = [{"full_text": "Ann lives in Oslo", "masked": "{{PERSON}} lives in {{CITY}}", "spans": [{"entity_type": "PERSON", "entity_value": "Ann", "start_position": 0, "end_position": 3}, {"entity_type": "CITY", "entity_value": "Oslo", "start_position": 13, "end_position": 17}], "template_id": 1, "metadata": {}}]  # fmt: skip
_TEXT = "Dr 😀 Ann Lee"
_LANGEXTRACT = {"extractions": [{"extraction_class": "PERSON", "extraction_text": "Ann Lee", "char_interval": {"start_pos": 5, "end_pos": 12}, "alignment_status": "match_exact", "attributes": {"role": "guest"}}], "text": _TEXT, "document_id": "a"}  # fmt: skip
_LLM = [{"id": "a", "text": _TEXT, "entities": [{"text": "Ann Lee", "type": "PERSON"}]}, {"id": "b", "text": "x", "output": "<PERSON>x</PERSON>"}]  # fmt: skip
_WEBANNO = "#FORMAT=WebAnno TSV 3.3\n#T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|identifier|value\n\n\n#Text=Ms. Haag 😊\n1-1\t0-3\tMs.\t*[1]\tPER[1]\t\n1-2\t4-8\tHaag\t*[1]\tPER[1]\t\n1-3\t9-11\t😊\t_\t_\t\n"  # fmt: skip


def _lines(*records: Any) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in records)


SEEDS: dict[str, list[bytes]] = {
    "langextract": [_lines(_LANGEXTRACT)],
    "llm": [_lines(*_LLM)],
    "webanno": [_WEBANNO.encode()],
    "conll": [
        b"-DOCSTART- O\n\nAnn B-PER\nLee I-PER\nlives O\n\nOslo B-LOC\n",
        b"# comment\nAnn\tNNP\tB-NP\tS-PER\n\xc3\x89lan\tNNP\tB-NP\tB-ORG\nSA\tNN\tI-NP\tE-ORG\n\n",
        b"Ann PER-B\nLee PER-I\n\nx O\n",
    ],
    "ai4privacy": [
        b'{"source_text": "Ann", "privacy_mask": [{"label": "NAME", "start": 0, "end": 3, "value": "Ann"}], "uid": 1}\n',
        b"""{"unmasked_text": "Ann", "privacy_mask": "{'[A_1]': 'x'}", "span_labels": "[[0, 3, 'NAME'], [0, 1, 'O']]"}""",
    ],
    "aws": [
        b'{"Entities": [{"Score": 0.9, "Type": "NAME", "BeginOffset": 0, "EndOffset": 3}], "File": "a.txt", "Line": 0}\n',
        b'{"ResultList": [{"Index": 0, "Entities": [{"Type": "NAME", "BeginOffset": 0, "EndOffset": 3}]}]}',
    ],
    "azure": [b'{"documents": [{"id": "1", "entities": []}]}'],
    "csv": [b"id,start,end,label,score,text\nd1,0,3,NAME,0.5,Ann\nd2,,,,,\n"],
    "dlp": [b'{"result": {"findings": [{"infoType": {"name": "X"}, "location": {"codepointRange": {"end": "3"}}}]}}'],
    "gliner": [
        b'[[{"start": 0, "end": 3, "text": "Ann", "label": "person", "score": 0.9}], []]',
        b'{"tokenized_text": ["Ann", "Lee"], "ner": [[0, 1, "person"]]}',
    ],
    "hf": [
        b'{"id": "0", "tokens": ["Ann", "Lee"], "ner_tags": ["B-PER", "I-PER"]}\n',
        b'[{"entity": "B-PER", "index": 1, "score": 0.9, "word": "Ann", "start": 0, "end": 3}]',
    ],
    "hipe": [
        b"TOKEN\tNE-COARSE-LIT\tNEL-LIT\tMISC\n# hipe2022:document_id = d1\n# language = de\nAnn\tB-pers\tQ1\tNoSpaceAfter\n.\tO\t_\tEndOfLine\n\nOslo\tB-loc\tNIL\t_\n",
    ],
    "neleval": [
        b"d1\t0\t3\tQ1\t0.9\tPER\nd1\t10\t14\tNIL1\t1\tLOC\n",
        b'd2\t5\t9\tQ2\t0.5\t{"type": "ORG"}\n',
    ],
    "nlpsandbox": [json.dumps(NOTES).encode(), json.dumps(NOTES[0]).encode()],
    "presidio": [json.dumps(SAMPLES).encode(), json.dumps(SAMPLES[0]).encode() + b"\n"],
    "recognizer-results": [b'[[{"entity_type": "PERSON", "start": 0, "end": 3, "score": 0.85}], []]'],
    "records": [b'{"id": "d1", "start": 0, "end": 3, "label": "X"}\n', b"id;start;end;label\nd1;0;3;X\n"],
    "tab": [
        b'[{"doc_id": "d1", "text": "Ann", "annotations": {"a": {"entity_mentions": [{"entity_type": "PERSON", "start_offset": 0, "end_offset": 3, "span_text": "Ann", "identifier_type": "DIRECT", "entity_id": "e1"}]}}}]',
        b'{"d1": [[0, 3], [5, 9]], "d2": []}',
    ],
    "spanscore": [
        b"".join(
            b'{"id": %d, "spans": [{"start": 0, "end": 1, "label": "A", "score": 1e-3}], "tokens": [[0, 1]]}\n' % number
            for number in range(3)
        )
    ],
}
ANY = [
    b"<?xml version='1.0'?><root><TEXT><![CDATA[Ann lives]]></TEXT><TAGS><NAME id='P0' start='0' end='3' text='Ann' TYPE='DOCTOR'/></TAGS></root>",
    b"d1|t|Title of Ann\nd1|a|Abstract\nd1\t0\t3\tAnn\tDisease\tD001\n\n",
    b"T1\tPERSON 0 3\tAnn\nA1\tNegated T1\n#1\tNote T1\tx\n",
    b'{"text": "Ann", "label": [[0, 3, "PER"]]}\n',
    b"Ann lives\n",
]
"""For formats without seeds of their own; they become so anyway as mutations mix all seeds."""
_FILE = re.compile(rb"\x00FILE ([\w.-]{1,40})\x00")


@cache
def formats() -> tuple[type[Format], ...]:
    """All formats, in order of their names."""
    return tuple(sorted(REGISTRY.classes(), key=lambda one: one.name))


@cache
def seeds(name: str) -> tuple[bytes, ...]:
    """Valid files of a format; folders are packed into one string of bytes."""
    found = list(SEEDS.get(name, ()))
    made = REGISTRY.find(name)()
    corpus = ss.Corpus.from_documents(DOCUMENTS)
    try:
        if made.writes_folders():
            with tempfile.TemporaryDirectory() as folder:
                made.write_folder(lambda: [corpus], Path(folder))
                files = sorted(path for path in Path(folder).rglob("*") if path.is_file())
                found.append(pack({path.name: path.read_bytes() for path in files}))
        elif made.writes():
            file = io.BytesIO()
            made.write(lambda: [corpus], file)
            found.append(file.getvalue())
    except SpanscoreError:  # it cannot hold these documents, or an extra is missing
        pass
    if made.folders and not any(map(_FILE.match, found)):
        found += [pack({"a.txt": b"Ann lives\n", f"a{ending}": seed}) for seed in (*found, *ANY) for ending in (".ann", ".xml", ".a1")]  # fmt: skip
    return tuple(found or ANY)


def pack(files: dict[str, bytes]) -> bytes:
    """Return the files of a folder as one string of bytes, which can be mutated like a single file."""
    return b"".join(b"\x00FILE %s\x00%s" % (name.encode(), content) for name, content in files.items())


def lay_out(data: bytes, place: Path) -> Path:
    """Write an input as a file, or as a folder if it is packed, and return its path."""
    pieces = _FILE.split(data)
    if len(pieces) < 3:
        place.write_bytes(data)
        return place
    folder = place.with_name(f"{place.name}.d")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    files = dict(zip(pieces[1::2], pieces[2::2], strict=True))  # a mutation may repeat a name thousands of times
    for name, content in files.items():
        if name.strip(b"."):
            (folder / name.decode()).write_bytes(content)
    return folder


def variant(kind: type[Format], rng: random.Random) -> Format | None:
    """A format with its defaults, with random options, or None for auto-detection."""
    chance = rng.random()
    if chance < 0.2:
        return None
    if chance < 0.6:
        return kind()
    options: dict[str, Any] = {}
    for one in kind.parameters():
        if one.choices and rng.random() < 0.5:
            options[one.name] = rng.choice(list(one.choices))
        elif one.type is bool and rng.random() < 0.5:
            options[one.name] = rng.random() < 0.5
        elif one.type is int and rng.random() < 0.3:
            options[one.name] = rng.randint(-2, 3)
    try:
        return kind(**options)
    except (SpanscoreError, TypeError):  # these options do not go together, or one of them is required
        return kind()


def attack(path: Path, format: Format | None) -> bool:  # noqa: A002
    """Read any bytes: they give a sound corpus, or an error for users. Return whether they were read."""
    try:
        corpus = ss.read(path, format)
    except SpanscoreError as error:
        said = str(error)
        assert said.isprintable(), f"control characters in a message: {said!r}"
        assert 0 < len(said) < 2000, f"a message of {len(said)} characters"
        return False
    assert corpus.flaw() is None
    assert len(corpus.fingerprint) == 16
    assert sum(len(document.spans) for document in corpus.documents()) == len(corpus.start)
    assert (corpus.start >= 0).all()
    assert len(set(corpus.ids)) == len(corpus)
    return True
