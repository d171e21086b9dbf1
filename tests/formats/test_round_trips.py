"""Every writer of the registry: what is written is read again, and what the format cannot hold is counted."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import spanscore as ss
from formats.awkward import rewritten
from spanscore.formats import REGISTRY, Format

WRITERS = [one for one in REGISTRY.classes() if one.writes()]
PIECES = (
    *("Ann", "Lee", "of", "Köln", "a\u0301", "é", "😀", "👩\u200d👧", "🇩🇪", "שלום", "\u200f", "١", "İ", "中文"),
    *(" ", "  ", "\n", "\r\n", "\t", "\u2028", "\u00a0", ".", ",", ";", "-", "'", '"', "\\", "/", "#", "|", "=1", "_"),
    *("<b>", "&amp;", "]]>", "[1]", "*", "O", "B-PER", "-DOCSTART-", "{}", "null"),
)
"""Pieces of texts: characters that are easy to miscount, and what means something in one of the formats."""
Key = tuple[str, int, int, str]


@st.composite
def corpora(draw: st.DrawFn) -> ss.Corpus:
    """Draw documents with texts, and spans that may be empty, equal, nested or crossing, anywhere in them."""
    documents = []
    for number in range(draw(st.integers(1, 3))):
        text = "".join(draw(st.lists(st.sampled_from(PIECES), max_size=12)))
        spans = []
        for _ in range(draw(st.integers(0, 4))):
            start, end = sorted((draw(st.integers(0, len(text))), draw(st.integers(0, len(text)))))
            span: dict[str, Any] = {
                "start": start,
                "end": end,
                "label": draw(st.sampled_from(["PERSON", "LOC-2", "x"])),
            }
            if draw(st.booleans()):
                span |= {"score": draw(st.sampled_from([0.1, 0.85, 1.0])), "attrs": {"kbid": "Q1"}}
            spans.append(span)
        documents.append({"id": f"d{number}", "text": text, "spans": spans, "meta": {"language": "en"}})
    return ss.Corpus.from_documents(documents)


def spans(corpus: ss.Corpus) -> Counter[Key]:
    return Counter((str(one.id), span.start, span.end, span.label) for one in corpus.documents() for span in one.spans)


def scores(corpus: ss.Corpus) -> Counter[float]:
    return Counter(span.score for one in corpus.documents() for span in one.spans if span.score is not None)


@pytest.mark.parametrize("kind", WRITERS, ids=[one.name for one in WRITERS])
@given(corpus=corpora())
def test_read_write_read(kind: type[Format], corpus: ss.Corpus, tmp_path_factory: pytest.TempPathFactory) -> None:
    place = tmp_path_factory.getbasetemp() / f"round-trip-{kind.name}"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    how = ASKED.get(kind.name, kind.name)
    once, lost = rewritten(corpus, how, place / "once")
    twice, lost_again = rewritten(once, how, place / "twice")
    assert spans(twice) == spans(once)
    assert not [what for what in lost_again if "span" in what]
    left_out = sum(count for what, count in lost.items() if "span" in what)
    assert len(once.start) == len(corpus.start) - left_out
    if "scores" not in lost and not left_out:
        assert scores(once) == scores(corpus)
    if once.text is not None and once.text == corpus.text:
        assert once.ids.tolist() == corpus.ids.tolist()
        assert spans(once) <= spans(corpus)
    if kind.name in KEEPS_TEXT:
        assert once.text == corpus.text


ASKED = {"doccano": "doccano(unit=utf16)"}
"""Formats whose files do not say what offsets count, so that the reader asks."""
KEEPS_TEXT = ("spanscore", "parquet", "presidio", "hf", "doccano", "prodigy", "labelstudio", "i2b2", "brat", "spacy")
"""Formats whose texts come back as they were; others rebuild them from tokens, or hold none."""


def test_all_promised_formats_are_written() -> None:
    """A format that loses its writer would leave the test above unnoticed."""
    assert {one.name for one in WRITERS} >= {"spanscore", "parquet", "presidio", "hf", "csv"}


def test_losses_are_counted(tmp_path: Path) -> None:
    first = {"start": 0, "end": 3, "label": "A", "score": 0.5, "attrs": {"kbid": "Q1", "n": 1}}
    crossing = {"start": 2, "end": 5, "label": "B"}
    document = {"id": "d", "text": "Ann Lee", "spans": [first, crossing], "meta": {"l": "en"}, "tokens": [[0, 3]]}
    corpus = ss.Corpus.from_documents([document])
    losses = {name: rewritten(corpus, name, tmp_path / name)[1] for name in ("csv", "hf", "presidio", "spanscore")}
    assert losses == {
        "csv": {"texts": 1, "metadata fields": 1, "tokens": 1},
        "hf": {"scores": 1, "attributes": 2, "metadata fields": 1, "overlapping spans": 1},
        "presidio": {"scores": 1, "attributes": 2, "tokens": 1},
        "spanscore": {},
    }


@pytest.mark.parametrize("name", ["presidio", "hf"])
def test_formats_of_texts_need_texts(name: str, tmp_path: Path) -> None:
    corpus = ss.Corpus.from_documents([{"id": "d", "spans": []}])
    with pytest.raises(ss.errors.InputError, match=f'document "d": {name} cannot be written without the text'):
        rewritten(corpus, name, tmp_path / "out")
