"""How fast each format is read, compared with only decoding the same file by a common library."""

from __future__ import annotations

import csv
import json
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import spanscore as ss
from corpora import write
from spanscore.corpus.records import Document
from spanscore.formats import REGISTRY, read_chunks, together

DATA = Path(__file__).parent / "data"
ROUNDS = 3
ENOUGH = 10
"""Seconds of a format after which it is not read again."""


@dataclass(frozen=True)
class Reading:
    """The best times of reading a file as a corpus, and of only decoding it."""

    name: str
    megabytes: float
    seconds: float
    alone: float
    alone_by: str

    @property
    def rate(self) -> float:
        """Megabytes per second."""
        return self.megabytes / self.seconds


def marks(one: Document, *names: str) -> list[dict[str, Any]]:
    """The spans of a document with these names for start, end, label and surface."""
    text = one.text or ""
    rows = ((span.start, span.end, span.label, text[span.start : span.end]) for span in one.spans)
    return [dict(zip(names, row, strict=False)) for row in rows]


def findings(one: Document) -> dict[str, Any]:
    """An answer of Cloud DLP."""
    found = [
        {
            "quote": mark["quote"],
            "infoType": {"name": mark["label"]},
            "likelihood": "LIKELY",
            "location": {"codepointRange": {"start": str(mark["start"]), "end": str(mark["end"])}},
        }
        for mark in marks(one, "start", "end", "label", "quote")
    ]
    return {"result": {"findings": found}}


def lengths(one: Document) -> list[dict[str, Any]]:
    """Entities of Azure."""
    found = marks(one, "offset", "length", "category", "text")
    return [{**mark, "length": mark["length"] - mark["offset"], "confidenceScore": 0.9} for mark in found]


LINES: dict[str, Callable[[Document], Any]] = {
    "ai4privacy": lambda one: {
        "source_text": one.text,
        "privacy_mask": marks(one, "start", "end", "label", "value"),
        "uid": one.id,
    },
    "aws": lambda one: {"id": one.id, "Entities": marks(one, "BeginOffset", "EndOffset", "Type")},
    "azure": lambda one: {"id": one.id, "entities": lengths(one)},
    "dlp": findings,
    "gliner": lambda one: marks(one, "start", "end", "label", "text"),
    "langextract": lambda one: {
        "document_id": one.id,
        "text": one.text,
        "extractions": [
            {
                "extraction_class": mark["label"],
                "extraction_text": mark["text"],
                "char_interval": {"start_pos": mark["start"], "end_pos": mark["end"]},
            }
            for mark in marks(one, "start", "end", "label", "text")
        ],
    },
    "llm": lambda one: {"id": one.id, "text": one.text, "entities": marks(one, "start", "end", "type", "text")},
    "recognizer-results": lambda one: marks(one, "start", "end", "entity_type"),
    "records": lambda one: {"id": one.id, "body": one.text, "ents": marks(one, "b", "e", "t", "w")},
    "tab": lambda one: {
        "doc_id": one.id,
        "text": one.text,
        "annotations": {"a": {"entity_mentions": marks(one, "start_offset", "end_offset", "entity_type", "span_text")}},
    },
}
"""A line of each format that is read only and may be JSON Lines."""


def _candidates(one: Document) -> str:
    """The lines of a document in neleval's format, whose ends are inclusive."""
    return "".join(f"{one.id}\t{s.start}\t{s.end - 1}\tNIL\t1\t{s.label}\n" for s in one.spans if s.end > s.start)


def _note(one: Document) -> dict[str, Any]:
    """The annotations of a note in NLP Sandbox's format."""
    found = marks(one, "start", "length", "label", "text")
    dates = [{**mark, "length": mark["length"] - mark["start"], "confidence": 95} for mark in found]
    return {"annotationSource": {"resourceSource": {"name": one.id}}, "textDateAnnotations": dates}


LINES["nlpsandbox"] = _note


def _tagged(one: Document) -> Iterator[tuple[int, str, str]]:
    """The white-space tokens of a document with their start and tag; a token that a span overlaps is part of it."""
    spans = iter(sorted(one.spans, key=lambda span: span.start))
    span, before = next(spans, None), None
    for match in re.finditer(r"\S+", one.text or ""):
        while span is not None and span.end <= match.start():
            span = next(spans, None)
        inside = span if span is not None and span.start < match.end() else None
        yield (
            match.start(),
            match.group(),
            "O" if inside is None else f"{'I' if inside is before else 'B'}-{inside.label}",
        )
        before = inside


def _hipe(one: Document) -> str:
    """The lines of a document in HIPE's format."""
    words = "".join(f"{word}\t{tag}\t_\n" for _, word, tag in _tagged(one))
    return f"# hipe2022:document_id = {one.id}\n{words}\n"


def _webanno(one: Document) -> str:
    """A document as WebAnno TSV, in one sentence; the numbers of multi-token marks count up."""
    lines, number = [], 0
    for place, (start, word, tag) in enumerate(_tagged(one), 1):
        number += tag.startswith("B-")
        mark = "_" if tag == "O" else f"{tag[2:]}[{number}]"
        lines.append(f"1-{place}\t{start}-{start + len(word)}\t{word}\t{mark}\t\n")
    layer = "#FORMAT=WebAnno TSV 3.3\n#T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|value\n\n\n"
    return f"{layer}#Text={one.text}\n{''.join(lines)}\n"


OPTIONS = {
    "records": "records(text=body, spans=ents, start=b, end=e, label=t, surface=w)",
    "doccano": "doccano(unit=utf16)",
}


def make(name: str, gold: ss.Corpus, folder: Path) -> Path | None:
    """Write the documents in a format; None if it is neither written nor JSON Lines."""
    path = folder / f"read-{name}"
    if path.exists():
        return path
    if name in LINES:
        with path.open("w") as file:
            file.writelines(json.dumps(LINES[name](one)) + "\n" for one in gold.documents())
        return path
    if name == "neleval":
        path.write_text("".join(map(_candidates, gold.documents())))
        return path
    if name == "hipe":
        path.write_text("TOKEN\tNE-COARSE-LIT\tMISC\n" + "".join(map(_hipe, gold.documents())))
        return path
    if name == "webanno":
        path.mkdir()
        for number, one in enumerate(gold.documents()):
            (path / f"{number}.tsv").write_text(_webanno(one))
        return path
    chosen = REGISTRY.make(OPTIONS.get(name, name))
    if chosen.writes_folders():
        path.mkdir()
        chosen.write_folder(lambda: [gold], path)
    elif chosen.writes():
        with path.open("wb") as file:
            chosen.write(lambda: [gold], file)
    else:
        return None
    return path


def alone(path: Path) -> tuple[str, Callable[[], object]]:
    """What only decodes a file, and its name."""
    if path.is_dir():
        if any(path.glob("*.xml")):
            return "xml.etree alone", lambda: [ElementTree.parse(one) for one in path.glob("*.xml")]
        return "reading the files alone", lambda: [one.read_text() for one in path.iterdir()]
    with path.open("rb") as file:
        head = file.read(4096)
    if head.startswith(b"PAR1"):
        from pyarrow import parquet

        return "pyarrow alone", lambda: parquet.read_table(path)
    if head.startswith(b"["):
        first = head.split(b"\n", 1)[0]
        if first.rstrip().endswith(b"]"):
            return "json.loads alone", lambda: _loads_lines(path)
        return "json.loads alone", lambda: json.loads(path.read_bytes())
    if head.startswith(b"{"):
        return "json.loads alone", lambda: _loads_lines(path)
    if b"," in head.split(b"\n", 1)[0]:
        return "csv.reader alone", lambda: _count(csv.reader(path.open(newline="")))
    return "splitting lines alone", lambda: [line.split() for line in path.open()]


def _loads_lines(path: Path) -> None:
    with path.open("rb") as lines:
        _count(map(json.loads, lines))


def _count(items: Iterator[Any]) -> int:
    return sum(1 for _ in items)


def readings(gold: ss.Corpus, folder: Path, rounds: int = ROUNDS) -> Iterator[Reading]:
    """Measure every format that can be made here; files without texts are read with those of the gold data."""
    for name in REGISTRY.names():
        path = make(name, gold, folder)
        if path is None:
            continue
        what, decode = alone(path)
        spec = OPTIONS.get(name, name)
        times = {"ours": float("inf"), "alone": float("inf")}
        read = lambda path=path, spec=spec: together(read_chunks(path, spec, companion=lambda: gold))  # noqa: E731
        began = time.perf_counter()
        for number in range(rounds):
            if number and time.perf_counter() - began > ENOUGH:
                break
            for key, action in (("ours", read), ("alone", decode)):
                start = time.perf_counter()
                action()
                times[key] = min(times[key], time.perf_counter() - start)
        files = [path] if path.is_file() else [one for one in path.rglob("*") if one.is_file()]
        yield Reading(name, sum(one.stat().st_size for one in files) / 1e6, times["ours"], times["alone"], what)


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    place = DATA / f"readers-{number}"
    place.mkdir(parents=True, exist_ok=True)
    try:
        for one in readings(ss.read(write(DATA, number)[0]), place, rounds=1):
            size, ratio = f"{one.megabytes:8.2f} MB {one.rate:6.1f} MB/s", f"{one.seconds / one.alone:6.2f}"
            print(f"{one.name:20} {size} {ratio} x {one.alone_by}")
    finally:
        shutil.rmtree(place)
