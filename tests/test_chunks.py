"""Documents scored as they come in, in whatever order and pieces: the numbers of all at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spanscore as ss
from spanscore.corpus import Corpus
from spanscore.engine.local import score_chunks
from spanscore.errors import InputError
from spanscore.report.files import to_json

LABELS = st.sampled_from(["A", "B"])


@st.composite
def corpora(draw: st.DrawFn, names: list[str], *, text: bool) -> Corpus:
    documents = []
    for name in names:
        starts = draw(st.lists(st.integers(0, 8), max_size=3))
        spans = [{"start": start, "end": start + draw(st.integers(0, 3)), "label": draw(LABELS)} for start in starts]
        documents.append({"id": name, "spans": spans} | ({"text": "Ann saw Zoë."} if text else {}))
    return Corpus.from_documents(documents)


def pieces(corpus: Corpus, size: int) -> Iterator[Corpus]:
    for first in range(0, len(corpus), size):
        yield corpus.block(first, min(first + size, len(corpus)))


@given(st.data())
def test_any_order_and_any_pieces(data: st.DataObject) -> None:
    names = [f"d{number}" for number in range(data.draw(st.integers(1, 8)))]
    theirs = list(names)
    if data.draw(st.booleans()):
        theirs = data.draw(st.permutations([*names, "e1", "e2"]))[: data.draw(st.integers(1, 10))]
    gold, pred = (data.draw(corpora(list(each), text=data.draw(st.booleans()))) for each in (names, theirs))
    sizes = st.integers(1, 4)
    settings: dict[str, Any] = {
        "measures": ["iou", "exact"],
        "extra_documents": data.draw(st.sampled_from(["ignore", "score", "refuse"])),
    }
    chunks = pieces(gold, data.draw(sizes)), pieces(pred, data.draw(sizes))
    if settings["extra_documents"] == "refuse" and {"e1", "e2"} & set(theirs):
        with pytest.raises(InputError, match="not in the gold data") as whole:
            ss.score(gold, pred, **settings)
        with pytest.raises(InputError) as found:
            score_chunks(*chunks, **settings)
        assert str(found.value).split(",")[0] == str(whole.value).split(",")[0]
        return
    assert to_json(score_chunks(*chunks, **settings)) == to_json(ss.score(gold, pred, **settings))


@pytest.mark.parametrize("side", ["gold", "pred"])
@pytest.mark.parametrize("size", [1, 3])
def test_an_id_that_comes_again_is_refused_wherever_it_is(side: str, size: int) -> None:
    once = Corpus.from_arrays(list("abcdefg"), [0], [0], [1], ["X"])
    twice = once.take(np.array([0, 1, 2, 3, 4, 5, 1]))
    sides = {"gold": once, "pred": once, side: twice}
    with pytest.raises(InputError, match='two documents have the id "b"'):
        score_chunks(pieces(sides["gold"], size), pieces(sides["pred"], size), ["exact"], extra_documents="ignore")
