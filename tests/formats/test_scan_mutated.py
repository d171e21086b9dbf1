"""The fast reader of JSON Lines against a plain one, on files that were damaged a little."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import spanscore as ss
from fuzz.mutate import mutated
from spanscore.corpus.corpus import MAX_LABEL, MAX_OFFSET
from spanscore.corpus.records import Document
from spanscore.errors import SpanscoreError

Row = tuple[str, str | None, list[tuple[int, int, str, float | None]]]


def plain(data: bytes) -> list[Row] | None:
    """What a file holds, read line by line with nothing but a JSON decoder; None if it is to be refused."""
    found: list[Row] = []
    for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        if not line.strip():
            continue
        try:
            line.decode()  # JSON is UTF-8, also in keys that nobody knows
            document = msgspec.json.decode(line, type=Document)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None
        for span in document.spans:
            inside = document.text is None or span.end <= len(document.text)
            finite = span.score is None or np.isfinite(span.score)
            if not (
                0 <= span.start <= span.end <= MAX_OFFSET and 0 < len(span.label) <= MAX_LABEL and inside and finite
            ):
                return None
        spans = [(span.start, span.end, span.label, span.score) for span in document.spans]
        found.append((str(document.id), document.text, spans))
    return found if len({name for name, *_ in found}) == len(found) else None


def rows(corpus: ss.Corpus) -> list[Row]:
    return [
        (str(one.id), one.text, [(span.start, span.end, span.label, span.score) for span in one.spans])
        for one in corpus.documents()
    ]


def lines(rng: random.Random) -> bytes:
    """A file in one of the layouts that the scanner reads."""
    scored, texted, spacing = rng.random() < 0.5, rng.random() < 0.5, rng.choice([(", ", ": "), (",", ":")])
    documents = []
    for number in range(rng.choice([1, 3, 12])):
        spans: list[dict[str, Any]] = []
        for _ in range(rng.choice([0, 1, 3])):
            start = rng.randint(0, 30)
            spans.append(
                {"start": start, "end": start + rng.randint(0, 8), "label": rng.choice(["PER", "LOCATION", "É"])}
            )
            if scored:
                spans[-1]["score"] = round(rng.random(), 3)
        document: dict[str, Any] = {"id": f"d{number}"}
        if texted:
            document["text"] = "Ann Lee lives in Oslo, Norway. é😀 " * 2
        documents.append({**document, "spans": spans})
    return b"".join(json.dumps(one, separators=spacing, ensure_ascii=False).encode() + b"\n" for one in documents)


@pytest.mark.parametrize("seed", range(4))
def test_both_read_the_same_or_nothing(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spanscore.formats.source.HEAD", 300)
    monkeypatch.setattr("spanscore.formats.source.BLOCK", 500)
    rng = random.Random(seed)
    counts = {"read": 0, "refused": 0}
    path = tmp_path / "a.jsonl"
    for _ in range(400):
        data = lines(rng)
        for _ in range(rng.choice([0, 1, 1, 1, 2])):
            data = mutated([data], [lines(rng)], rng)
        if data[:2] in (b"\x1f\x8b", b"PK"):
            continue
        path.write_bytes(data)
        expected = plain(data)
        try:
            found = rows(ss.read(path, "spanscore"))
        except SpanscoreError:
            assert expected is None, data
            counts["refused"] += 1
            continue
        assert found == expected, data
        counts["read"] += 1
    assert min(counts.values()) > 50, counts
