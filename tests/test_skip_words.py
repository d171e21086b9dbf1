"""Lists of skip words, and the search for their words among tokens."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spanscore as ss
from spanscore.align.characters import Letters
from spanscore.align.skipwords import presidio_skip_words, skip_words, words_of
from spanscore.align.vocabulary import Vocabulary
from spanscore.measures import measure

PARTS = ["a", "B", "the", "The", "\n", " ", "\0", ",", "é", "É", "İ", "i\u0307", "\u212a", "Σ", "ß", "long" * 6]
words = st.lists(st.sampled_from(PARTS), max_size=3).map("".join)


@given(st.frozensets(words, max_size=8), st.lists(st.none() | st.lists(words, max_size=6), max_size=3))
def test_a_vocabulary_finds_the_same_words_as_a_set(listed: frozenset[str], documents: list[list[str] | None]) -> None:
    rows = [(doc, word) for doc, tokens in enumerate(documents) for word in (["lost"] if tokens is None else tokens)]
    texts = [None if tokens is None else "".join(tokens) for tokens in documents]
    lengths = [np.cumsum([0, *map(len, ["lost"] if tokens is None else tokens)]) for tokens in documents]
    start, end = (np.concatenate([np.zeros(0, int), *(one[cut] for one in lengths)]) for cut in (np.s_[:-1], np.s_[1:]))
    found = Vocabulary(listed).has(Letters(texts), np.array([doc for doc, _ in rows], np.int32), start, end)
    assert found.tolist() == [texts[doc] is not None and word.lower() in listed for doc, word in rows]


def test_escapes() -> None:
    text = "# a comment\n\n  of \r\n#\n\\n\n\\t\\s\n\\r\\v\\f\n\\u00a0\n\\\\n\n\\\n\\e\nc:\\x\n"
    assert words_of(text) == {"of", "#", "\n", "\t ", "\r\v\f", "\u00a0", "\\n", "\\", "", "c:\\x"}


def test_capitals_match_in_the_lists_of_iou_but_not_in_those_of_the_tool(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("Of\n")
    assert "of" in skip_words(f"@{path}")
    assert "of" not in presidio_skip_words(f"@{path}")
    assert "Of" not in presidio_skip_words(f"@{path}")


def test_the_signature_tells_lists_of_white_space_apart(tmp_path: Path) -> None:
    seen = set()
    for number, text in enumerate(("\\n\\n", "\\e\n\\n", "\\\\n\\\\n", "of")):
        path = tmp_path / f"{number}.txt"
        path.write_text(text)
        seen.add(presidio_skip_words(f"@{path}").digest)
        assert measure(f"presidio(skip=@{path})").settings.endswith(presidio_skip_words(f"@{path}").digest)
    assert len(seen) == 4


@pytest.mark.parametrize("spec", ["presidio(skip=english)", "presidio(version=0.3.1)", "presidio(tokenizer=treebank)"])
def test_what_the_preset_refuses(spec: str) -> None:
    with pytest.raises(ss.UsageError, match="must be one of"):
        measure(spec)


def test_the_preset_leaves_its_defaults_out() -> None:
    assert repr(measure('presidio(version="0.3.2", skip=default, tokenizer=input)')) == "presidio"
