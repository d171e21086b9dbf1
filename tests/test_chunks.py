"""Scoring chunks as they come in, in any order and size, gives the numbers of whole corpora."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spanscore as ss
from calls import run
from spanscore.corpus import Corpus, duplicates
from spanscore.corpus.arrow import schema_for, write_parquet
from spanscore.corpus.strings import Strings
from spanscore.errors import InputError
from spanscore.formats import read_chunks, source
from spanscore.result.files import to_json

LABELS = st.sampled_from(["A", "B"])


@st.composite
def corpora(draw: st.DrawFn, names: list[str], *, text: bool) -> Corpus:
    documents = []
    for name in names:
        starts = draw(st.lists(st.integers(0, 8), max_size=3))
        spans = [{"start": start, "end": start + draw(st.integers(0, 3)), "label": draw(LABELS)} for start in starts]
        more: dict[str, Any] = {"text": "Ann saw Zoë."} if text else {}
        if draw(st.booleans()):
            more |= {"meta": {"ward": "a"}, "tokens": [[0, 3]]}
        documents.append({"id": name, "spans": spans, **more})
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
            ss.score(*chunks, keep_spans=False, **settings)
        assert str(found.value).split(",")[0] == str(whole.value).split(",")[0]
        return
    assert to_json(ss.score(*chunks, keep_spans=False, **settings)) == to_json(ss.score(gold, pred, **settings))


@pytest.mark.parametrize("least", [2, 1 << 16])
@pytest.mark.parametrize("side", ["gold", "pred"])
@pytest.mark.parametrize("size", [1, 3])
def test_a_repeated_id_is_refused_wherever_it_is(
    side: str, size: int, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duplicates, "LEAST", least)
    once = Corpus.from_arrays(list("abcdefg"), [0], [0], [1], ["X"])
    twice = once.take(np.array([0, 1, 2, 3, 4, 5, 1]))
    sides = {"gold": once, "pred": once, side: replace(twice, source="twice.jsonl")}
    parts = pieces(sides["gold"], size), pieces(sides["pred"], size)
    with pytest.raises(InputError, match='twice.jsonl: two documents have the id "b"'):
        ss.score(*parts, ["exact"], extra_documents="ignore", keep_spans=False)


@pytest.mark.parametrize("text", ["Ann saw Ann. ", "Zoë saw Zoë. "])
@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_what_went_by_is_not_kept(text: str, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "BLOCK", 4000)
    monkeypatch.setattr(source, "HEAD", 2000)
    spans = [{"start": 0, "end": 3, "label": "A"}, {"start": 8, "end": 11, "label": "A"}]
    corpus = Corpus.from_documents([{"id": f"d{i}", "text": text, "spans": spans} for i in range(300)])
    path = tmp_path / f"data.{suffix}"
    if suffix == "parquet":
        with path.open("wb") as file:
            write_parquet(file, [corpus], schema_for([corpus]), rows=100)
    else:
        path.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in corpus.documents()))
    gc.collect()
    gc.disable()
    try:
        before = strings_alive()
        ss.score(path, path, ["iou", "iou.pii", "exact", "token"], keep_spans=False)
        assert strings_alive() == before
    finally:
        gc.enable()


def strings_alive() -> int:
    return sum(isinstance(one, Strings) for one in gc.get_objects())


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_progress_is_reported(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"gold.{suffix}"
    run("convert", "examples/gold.jsonl", str(path), cwd=Path.cwd())
    told: list[int] = []
    assert sum(map(len, read_chunks(path, progress=told.append))) == 10
    size = path.stat().st_size
    assert size <= sum(told) <= 2 * size
