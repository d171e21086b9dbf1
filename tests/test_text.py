"""Questions about characters: the answers that Python's strings would give."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spanscore.align.characters import Letters

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
