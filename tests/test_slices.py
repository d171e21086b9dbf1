"""Slices and averages: in whatever order documents come, and from files that change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import spanscore as ss
from calls import spanscore, write


def document(name: str, spans: int, **span: Any) -> dict[str, Any]:
    return {"id": name, "spans": [{"start": i, "end": i + 1, "label": "A", **span} for i in range(spans)]}


def test_means_do_not_depend_on_the_order_of_documents() -> None:
    sizes = [3, 7, 9, 11, 13, 6]
    gold = [document(str(n), size) for n, size in enumerate(sizes)]
    pred = [document(str(n), 1) for n in range(len(sizes))]
    means = {
        ss.score(ss.Corpus.from_documents(order), ss.Corpus.from_documents(pred), "exact")["exact"]
        .macro("document")
        .recall
        for order in (gold, gold[::-1])
    }
    assert len(means) == 1


def test_zero_and_minus_zero_are_told_apart_in_any_order() -> None:
    both = [document("a", 1, attrs={"x": 0.0}), document("b", 1, attrs={"x": -0.0})]
    assert len({ss.Corpus.from_documents(order).fingerprint for order in (both, both[::-1])}) == 1


def test_nothing_at_all_can_be_split() -> None:
    empty = ss.Corpus.from_documents([])
    assert ss.score(empty, empty, ["muc", "exact"], by="document")["muc"].by("document") == {}


def test_a_table_that_changes_is_read_again(tmp_path: Path) -> None:
    gold = ss.Corpus.from_arrays(["d"], [0], [0], [3], ["A"])
    pred = ss.Corpus.from_arrays(["d"], [0], [0], [3], ["B"])
    table, found = tmp_path / "w.tsv", []
    for weight in ("0.5", "0.25"):
        table.write_text(f"A\tB\t{weight}\n")
        found.append(ss.score(gold, pred, f"sets(key=span+type, type_weights=@{table})").scores[0])
    assert [one.recall for one in found] == [0.5, 0.25]
    assert found[0].signature != found[1].signature


def test_many_labels_and_documents_take_little_memory() -> None:
    names = [f"L{i:05}" for i in range(3000)]
    docs = [{"id": str(i), "spans": [{"start": 0, "end": 1, "label": names[i]}]} for i in range(3000)]
    corpus = ss.Corpus.from_documents(docs)
    scores = ss.score(corpus, corpus, "exact")["exact"]
    assert scores.counts["tp"] == 3000
    assert scores.by("document")["7"].counts["tp"] == 1


def test_results_by_metadata_that_has_changed_are_out_of_date(tmp_path: Path) -> None:
    documents: list[dict[str, Any]] = [
        {"id": str(i), "text": "Ann", "spans": [], "meta": {"ward": "a"}} for i in range(4)
    ]
    documents[0]["spans"] = [{"start": 0, "end": 3, "label": "X"}]
    write(tmp_path / "gold.jsonl", documents)
    spanscore("score", "gold.jsonl", "gold.jsonl", "--by", "meta.ward", "-o", "out", cwd=tmp_path)
    spanscore("report", "out", cwd=tmp_path)
    documents[0]["meta"] = {"ward": "b"}
    write(tmp_path / "gold.jsonl", documents)
    said = spanscore("report", "out", cwd=tmp_path, code=2).stderr
    assert "the files or settings have changed since these results were made; score again." in said
