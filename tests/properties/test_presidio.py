"""The `presidio` measures and their plain implementation, on tagged tokens with white space and lists of skip words."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import spanscore as ss
from spanscore.measures import measure
from spanscore.testing import reference_tally

if TYPE_CHECKING:
    from pathlib import Path

TOKENS = ("Ann", "Oslo", "of", "The", "x", ",", "\n", "\n\n\n\n\n", "  ", "\u00a0", "İİ", "’s")
LISTS = {"zzz": "zzz", "line break": "\\n\nof", "empty word": "\\e\nof", "both": "\\e\n\\n\n,\n\\s\\s"}
tags = st.sampled_from(["O", "A", "B"])
documents = st.lists(st.tuples(st.sampled_from(TOKENS), tags, tags), max_size=12)


def corpus(document: list[tuple[str, str, str]], side: int) -> ss.Corpus:
    places, text = [], ""
    for token, *_ in document:
        places.append([len(text), len(text) + len(token)])
        text += token + " " * (len(text) % 2)
    spans: list[dict[str, Any]] = []
    for label, run in groupby(zip(document, places, strict=True), key=lambda one: one[0][side]):
        run_places = [place for _, place in run]
        if label != "O":
            spans.append({"start": run_places[0][0], "end": run_places[-1][1], "label": label})
    return ss.Corpus.from_documents([{"id": "d", "text": text, "tokens": places, "spans": spans}])


@pytest.fixture(scope="module")
def lists(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder: Path = tmp_path_factory.mktemp("lists")
    for name, text in LISTS.items():
        (folder / name).write_text(text)
    return ["none", "default", *(f"@{folder / name}" for name in LISTS)]


@given(document=documents, unit=st.sampled_from(["char", "token"]), number=st.integers(0, 5))
def test_tagged_tokens(lists: list[str], document: list[tuple[str, str, str]], unit: str, number: int) -> None:
    gold, pred = corpus(document, 1), corpus(document, 2)
    for name in ("presidio", "presidio.pii"):
        one = measure(f'{name}(threshold=0.6, unit={unit}, skip="{lists[number]}")')
        counts = ss.score(gold, pred, [one]).scores[0].counts
        expected = reference_tally(one, gold, pred).values()
        for key in ("tp", "predicted", "annotated"):
            assert counts[key] == sum(row.get(key, 0) for row in expected)
