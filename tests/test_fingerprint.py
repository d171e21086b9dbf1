"""The fingerprint changes with every edit of the data, and with nothing else."""

from __future__ import annotations

from copy import deepcopy
from itertools import combinations
from pathlib import Path
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

import spanscore as ss
from calls import spanscore, write

TEXT = "Seen 12/21 by Ann; DOB 03/04/1971, MRN 0042-17, tel. 555-0199."


def fingerprint(*documents: dict[str, Any]) -> str:
    return ss.Corpus.from_documents(documents).fingerprint


def test_every_swap_and_every_single_character_edit_changes_it() -> None:
    texts = {TEXT}
    for i, j in combinations(range(len(TEXT)), 2):
        texts.add(TEXT[:i] + TEXT[j] + TEXT[i + 1 : j] + TEXT[i] + TEXT[j + 1 :])
    for i in range(len(TEXT)):
        texts |= {TEXT[:i] + TEXT[i + 1 :], *(TEXT[:i] + c + TEXT[i + 1 :] for c in "0123456789 aé\0")}
        texts |= {TEXT[:i] + c + TEXT[i:] for c in "0 \0"}
    assert len(texts) > 2000
    assert len({fingerprint({"id": "d", "text": text, "spans": []}) for text in texts}) == len(texts)


WORDS = st.text("ab1/ \0é😀", max_size=9)
SPANS = st.fixed_dictionaries(
    {"start": st.integers(0, 4), "end": st.integers(4, 9), "label": st.sampled_from(["A", "B", "AB"])},
    optional={"score": st.sampled_from([0.0, -0.0, 0.5, 1.0]), "attrs": st.dictionaries(WORDS, st.sampled_from([0, 1, "1", 0.0, True, "a='b'"]), max_size=2)},
)  # fmt: skip
DOCUMENTS = st.lists(
    st.fixed_dictionaries({"spans": st.lists(SPANS, max_size=3)}, optional={"text": WORDS.map("123456789".__add__)}),
    min_size=1,
    max_size=3,
)


def content(documents: list[dict[str, Any]]) -> list[Any]:
    """What a corpus holds, regardless of order."""
    return sorted(
        (d["id"], repr(d.get("text")), sorted(repr((s["start"], s["end"], s["label"], s.get("score"), sorted(s.get("attrs", {}).items()))) for s in d["spans"]))
        for d in documents
    )  # fmt: skip


@given(DOCUMENTS, DOCUMENTS, st.randoms(use_true_random=False))
def test_two_corpora_have_the_same_one_only_if_they_hold_the_same(
    one: list[dict[str, Any]], other: list[dict[str, Any]], rng: Any
) -> None:
    for documents in (one, other):
        for number, document in enumerate(documents):
            document["id"] = f"d{number}"
    assert (fingerprint(*one) == fingerprint(*other)) == (content(one) == content(other))
    shuffled = deepcopy(one)
    rng.shuffle(shuffled)
    for document in shuffled:
        rng.shuffle(document["spans"])
    assert fingerprint(*shuffled) == fingerprint(*one)


@given(DOCUMENTS, st.data())
def test_any_single_edit_changes_it(documents: list[dict[str, Any]], data: st.DataObject) -> None:
    for number, document in enumerate(documents):
        document["id"] = f"d{number}"
    edited = deepcopy(documents)
    document = data.draw(st.sampled_from(edited))
    kind = data.draw(st.sampled_from(["id", "text", "swap", "start", "label", "score", "attrs", "move", "drop"]))
    spans = document["spans"]
    assume(spans or kind in ("id", "text", "swap", "move"))
    if kind == "id":
        document["id"] += data.draw(st.sampled_from(["x", "\0", " "]))
    elif kind == "text":
        document["text"] = document.get("text", "123456789") + "1" if "text" in document else "123456789"
    elif kind == "swap":
        text = document.get("text", "12")
        i = data.draw(st.integers(0, len(text) - 2))
        assume(text[i] != text[i + 1])
        document["text"] = text[:i] + text[i + 1] + text[i] + text[i + 2 :] if "text" in document else "123456789"
    elif kind == "start":
        spans[0]["start"] = (spans[0]["start"] + 1) % 5
    elif kind == "label":
        spans[0]["label"] += "B"
    elif kind == "score":
        spans[0]["score"] = 0.25 if "score" in spans[0] else 0.0
    elif kind == "attrs":
        spans[0]["attrs"] = {**spans[0].get("attrs", {}), "new": 0}
    elif kind == "move":
        edited[0]["spans"], edited[-1]["spans"] = edited[-1]["spans"], edited[0]["spans"]
        assume(content(edited) != content(documents))
    else:
        spans.pop()
    assert fingerprint(*edited) != fingerprint(*documents)


def test_results_and_unfinished_runs_do_not_accept_a_changed_file(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def find(text, language):\n    return []\n")
    document = {"id": "d", "text": "Seen 12/21 by Ann", "spans": [{"start": 0, "end": 4, "label": "DATE"}]}
    write(tmp_path / "gold.jsonl", [document])
    spanscore("score", "gold.jsonl", "p=gold.jsonl", "-m", "exact", "-o", "out", cwd=tmp_path)
    spanscore("run", "gold.jsonl", "--detector", "python(function=mine:find)", "-o", "run", "-q", cwd=tmp_path)
    write(tmp_path / "gold.jsonl", [{**document, "text": "Seen 21/12 by Ann"}])
    assert "have changed" in spanscore("report", "out", cwd=tmp_path, code=2).stderr
    call = ("run", "gold.jsonl", "--detector", "python(function=mine:find)", "-o", "run", "-q", "--resume")
    assert "not the same dataset" in spanscore(*call, cwd=tmp_path, code=2).stderr
