"""Questions about characters: the answers that Python's strings would give."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spanscore.align.characters import PUNCTUATION, Letters

TEXT = st.text(alphabet=" \t\n a_.\xa0\x85é😀", max_size=24)


@given(st.lists(st.one_of(st.none(), TEXT), min_size=1, max_size=4), st.data())
def test_white_space(texts: list[str | None], data: st.DataObject) -> None:
    letters = Letters(texts)
    stretches = []
    for doc, text in enumerate(texts):
        for _ in range(3):
            low, high = sorted(data.draw(st.integers(0, len(text or ""))) for _ in range(2))
            stretches.append((doc, low, high))
    doc, start, end = np.array(stretches, np.int32).T
    wanted = [(texts[d] or "")[a:b].isspace() for d, a, b in stretches]
    assert letters.blank(doc, start, end).tolist() == wanted


@given(st.lists(st.one_of(st.none(), TEXT), min_size=1, max_size=4), st.integers(1, 20), st.data())
def test_readable_characters(texts: list[str | None], repeats: int, data: st.DataObject) -> None:
    """Few ranges are looked at one by one, and ranges that overlap each other through the whole text."""
    letters = Letters(texts)
    ranges = []
    for doc, text in enumerate(texts):
        low, high = sorted(data.draw(st.integers(0, len(text or ""))) for _ in range(2))
        ranges += [(doc, low, high)] * repeats
    doc, start, end = np.array(ranges, np.int64).T
    told = ["" if text is None else "".join(c if c.isalnum() or c == "😀" else " " for c in text) for text in texts]
    inside = [told[d][a:b] for d, a, b in ranges]
    each = [(*one, part) for one, part in zip(ranges, inside, strict=True)]
    counts = [b - a if texts[d] is None else len(part.replace(" ", "")) for d, a, b, part in each]
    assert letters.readable(doc, start, end, PUNCTUATION).tolist() == counts
    wanted = [
        (a + len(part) - len(part.lstrip(" ")), a + len(part.rstrip(" "))) if part.strip(" ") else (a, a)
        for _, a, _, part in each
    ]
    trimmed = (column.tolist() for column in letters.trimmed(doc, start, end, PUNCTUATION))
    assert list(zip(*trimmed, strict=True)) == wanted
