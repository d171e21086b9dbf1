"""The scanner reads what msgspec reads, or nothing."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from spanscore.corpus import Corpus, LabelTable
from spanscore.formats.source import Block
from spanscore.formats.span_scan import SpanScanner
from spanscore.formats.spanscore import _decode_block, _scan_block

PLAIN = ["PER", "LOCATION", "A_LABEL_OF_SIXTEEN", "é", "12345678", "x" * 31]
IDS = st.sampled_from(["", "document ", "é😀"])
TEXTS = st.sampled_from(["", "Ann", "é😀", 'say "hi"', "a\nb\\", '", "spans": [{"start": 1', "x" * 90, "[]}"])
SCORES = st.one_of(st.sampled_from([0.85, 1.0, 1e-7, 123.5, 0.30000000000000004]), st.floats(0, 1), st.integers(0, 5))


def rarely(draw: st.DrawFn) -> bool:
    return draw(st.integers(0, 60)) == 37


@st.composite
def blocks(draw: st.DrawFn) -> list[bytes]:
    """Two blocks of lines spelt nearly alike: one to learn from, with all the plain labels, and one to scan."""
    scored, texted, ascii_ = draw(st.booleans()), draw(st.booleans()), draw(st.booleans())
    order = draw(st.permutations(["start", "end", "label", *(["score"] if scored else [])]))
    spacing = draw(st.sampled_from([(", ", ": "), (",", ":")]))

    def line(name: str, labels: list[str]) -> bytes:
        spans = []
        for label in labels:
            start = draw(st.integers(0, 12_000_000 if rarely(draw) else 999_999))
            fields: dict[str, Any] = {"start": start, "end": start + draw(st.integers(0, 99)), "label": label}
            if scored:
                fields["score"] = draw(SCORES)
            span = {key: fields[key] for key in order}
            if rarely(draw):
                span["attrs"] = {"start": 1}
            spans.append(span)
        record: dict[str, Any] = {"id": draw(IDS) + name}
        if rarely(draw):
            record["id"] += draw(st.sampled_from(['a"b', "x" * 70, "tab\t"]))
        if texted:
            record["text"] = draw(TEXTS)
        if rarely(draw):
            record["other"] = {"spans": [{"start": 1, "end": 2, "label": "PER"}]}
        record["spans"] = spans
        if rarely(draw):
            record["meta"] = {"note": '{"start": 1, "end": 2} [{ ]'}
        odd = (" , ", ":") if rarely(draw) else spacing
        return json.dumps(record, separators=odd, ensure_ascii=ascii_ or rarely(draw)).encode() + b"\n"

    known = [*PLAIN, 'quoted "NEW"', "tab\t", "too long " * 9] if rarely(draw) else [*PLAIN, "NEW", "ANOTHER"]
    labels = st.lists(st.sampled_from(known), max_size=4)
    learn = [line("0", PLAIN), *(line(f"a{i}", draw(labels)) for i in range(draw(st.integers(0, 2))))]
    scan = [line(f"b{i}", draw(labels)) for i in range(draw(st.integers(1, 4)))]
    return [b"".join(learn), b"".join(scan)]


@settings(max_examples=1000)
@given(blocks(), st.booleans())
def test_it_reads_what_msgspec_reads_or_nothing(made: list[bytes], taught: bool) -> None:
    scanner = SpanScanner(LabelTable())
    if taught:
        _decode_block(Block.of(1, made[0]), scanner)
    known = list(scanner.labels)
    scanned = _scan_block(Block.of(1, made[1]), scanner)
    event(f"taught: {taught}, scanned: {scanned is not None}")
    if scanned is None:
        assert list(scanner.labels) == known
    else:
        decoded = _decode_block(Block.of(1, made[1]), SpanScanner(LabelTable()))
        assert decoded is not None
        assert rows(scanned) == rows(decoded)
        assert scanned.ids == decoded.ids
        assert scanned.text == decoded.text


def rows(corpus: Corpus) -> list[tuple[Any, ...]]:
    labels = [corpus.labels[code] for code in corpus.label]
    scores = [None] * len(labels) if corpus.score is None else [None if np.isnan(s) else float(s) for s in corpus.score]
    columns = (corpus.doc.tolist(), corpus.start.tolist(), corpus.end.tolist(), labels, scores)
    return list(zip(*columns, strict=True))


SPAN = b'{"start": 3, "end": 5, "label": "PER"}'
LEARN = b'{"id": "a", "spans": [' + SPAN + b", " + SPAN + b"]}\n"


@pytest.mark.parametrize(
    "line",
    [
        b'{"id": "b", "spans": [{"start": 03, "end": 5, "label": "PER"}]}\n',
        b'{"id": "b", "spans": [{"start": 3, "end": 5, "label": "L\\u004fC"}]}\n',
        b'{"id": "b", "spans": [{"start": 3, "end": 5, "label": "\xff"}]}\n',
        b'{"id": "b", "spans": [{"start": 3, "end": 5, "label": "PER\0"}]}\n',
        b'{"id": "b", "spans": [{"start": 3, "end": 5, "label": "LOC\0\0"}]}\n',
        b'{"id": "b", "spans": [{"start": 3, "end": 5, "label": "a\x01b"}]}\n',
        b'{"id": "b", "spans": [{"start": 3, "end": 5, "label": "PER"},, {"start": 3, "end": 5, "label": "PER"}]}\n',
        b'{"id": "b", "spans": [{"start": 3, "end": 5, "label": "PER"}}\n',
        b'{"id": "b", "spans": {"start": 3, "end": 5, "label": "PER"}}\n',
        b'{"id": "b", "spans": [[{"start": 3, "end": 5, "label": "PER"}]]}\n',
        b'{"id": "b", "spans": [{"start": -3, "end": 5, "label": "PER"}]}\n',
        b'{"id": "b", "spans": [{"start": 3.0, "end": 5, "label": "PER"}]}\n',
        b'{"id": "b", "spans": [{"start": 123456789, "end": 5, "label": "PER"}]}\n',
        b'{"id": "b", "spans": [{"start": 3, "end": 5, "label": "PER", "x": 1}]}\n',
        b'{"id": "b", "meta": {"spans": [{"start": 3, "end": 5, "label": "PER"}]}, "spans": []}\n',
        b'{"id": "b", "x": [{"start": 3, "end": 5, "label": "PER"}], "spans": []}\n',
        b'{"id": "b", "x": [{"start": 3, "end": 5, "label": "NEW"}], "spans": []}\n',
    ],
)
def test_what_it_leaves_to_msgspec(line: bytes) -> None:
    scanner = SpanScanner(LabelTable())
    learnt = _scan_block(Block.of(1, LEARN), scanner)
    assert learnt is not None
    assert rows(learnt) == [(0, 3, 5, "PER", None)] * 2
    assert _scan_block(Block.of(1, line), scanner) is None
    assert list(scanner.labels) == ["PER"]


@pytest.mark.parametrize(
    "line",
    [
        b'{"id":"a","spans":[{"start":1 "end":2 "label":"X"}]}\n',
        b'{"id":"a","spans":[{"start":1,"end":2,"label":"X",}]}\n',
        b'{"id":"a","spans":[{"start":1 9,"end":2,"label":"X"}]}\n',
        b'{"id":"a","spans":[{junk"start":1,"end":2,"label":"X"}]}\n',
        b'{"id":"a","spans":[{"start":1,"end":2,"label":"X"},\v{"start":1,"end":3,"label":"X"}]}\n',
        b'{"id":"a",\v"spans":[{"start":1,"end":2,"label":"X"}]}\n',
        b'{"id":"a","spans":[{"start":1,"end":2,"label":"X"}]\v}\n',
    ],
)
def test_no_spelling_is_learnt_from_what_is_not_json(line: bytes) -> None:
    scanner = SpanScanner(LabelTable())
    assert _scan_block(Block.of(1, line), scanner) is None
    assert _decode_block(Block.of(1, line), scanner) is None
    assert not scanner.labels
