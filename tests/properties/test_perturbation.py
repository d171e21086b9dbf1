"""Perturbations: offsets are exact after every edit, and depend on nothing but the document and the seed."""

from __future__ import annotations

import random
import unicodedata
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import spanscore as ss
from spanscore.analysis.perturbation import Perturbation, perturbations
from spanscore.analysis.text_edits import Edit, all_cuts, edited, span_cuts
from spanscore.analysis.text_noise import NOISE
from spanscore.corpus.records import Document, Span

PIECES = (
    "Ann", "Straße", "İstanbul", "ΟΔΟΣ", "Zoë", "Zoe\u0308", "modern", "Ill 0815", "ŉ", "ǰ", "ﬃ", "😀", "👩\u200d👩\u200d👧", "नमस्ते",
    "مرحبا", "東京都庁", " ", "  ", "\n", "-", ".", "e\u0301\u0323", "Łódź", "İ", "ß", "K",
)  # fmt: skip


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """A document with nested, crossing, touching, equal and empty spans, tokens and scored regions."""
    text = "".join(draw(st.lists(st.sampled_from(PIECES), max_size=12)))
    offsets = st.integers(0, len(text))
    spans = []
    for a, b in draw(st.lists(st.tuples(offsets, offsets), max_size=6)):
        low, high = min(a, b), max(a, b)
        attrs: dict[str, Any] | None = {"text": text[low:high]} if draw(st.booleans()) else None
        spans.append(Span(low, high, draw(st.sampled_from(["PERSON", "CITY"])), attrs=attrs))
    cuts = sorted(draw(st.sets(offsets, max_size=6)))
    tokens = [(a, b) for a, b in pairwise(cuts)] if draw(st.booleans()) else None
    meta: dict[str, Any] | None = {"scored_regions": f"{cuts[0]}-{cuts[1]}"} if len(cuts) > 1 else None
    return Document(id=draw(st.sampled_from(["d", "7"])), text=text, spans=spans, tokens=tokens, meta=meta)


def edits_of(name: str, document: Document, rate: float = 1.0) -> list[Edit]:
    return Perturbation(name).edits(document, seed=0, rate=rate)


def replaced(document: Document, edits: list[Edit]) -> list[str]:
    """What stands for each character afterwards, spelled out: the slow way to know where everything is."""
    out = list(document.text or "")
    for start, end, text in edits:
        if len(text) == end - start:
            out[start:end] = text
        else:
            out[start:end] = [text, *[""] * (end - start - 1)]
    return out


@pytest.mark.parametrize("name", NOISE)
@given(document=documents())
def test_every_offset_is_exact(name: str, document: Document) -> None:
    edits = edits_of(name, document)
    after, out = edited(document, edits), replaced(document, edits)
    assert after.text == "".join(out)
    assert len(after.spans) == len(document.spans)
    for old, new in zip(document.spans, after.spans, strict=True):
        assert (new.start, new.end) == (len("".join(out[: old.start])), len("".join(out[: old.end])))
        assert after.text[new.start : new.end] == "".join(out[old.start : old.end])
        assert new.label == old.label
        assert (new.start < new.end) == (old.start < old.end), "a span became empty"
        if old.attrs:
            assert new.attrs == {"text": after.text[new.start : new.end]}
    assert len(after.tokens or ()) == len(document.tokens or ())
    for (a, b), (c, d) in zip(document.tokens or (), after.tokens or (), strict=True):
        assert (c, d) == (len("".join(out[:a])), len("".join(out[:b])))


@pytest.mark.parametrize("name", NOISE)
@given(document=documents())
def test_the_way_back_restores_the_document(name: str, document: Document) -> None:
    edits = edits_of(name, document)
    after = edited(document, edits)
    back, shift = [], 0
    for edit in edits:
        first = edit.start + shift
        old = (document.text or "")[edit.start : edit.end]
        if edit.text:  # what was removed is put back with the character before it
            back.append(Edit(first, first + len(edit.text), old))
        elif back and back[-1].end == first:
            back[-1] = Edit(back[-1].start, first, back[-1].text + old)
        else:
            back.append(Edit(first - 1, first, (after.text or "")[first - 1] + old))
        shift += len(edit.text) - (edit.end - edit.start)
    restored = edited(after, back)
    assert restored.text == document.text


@given(document=documents())
def test_case_and_accents_are_those_of_the_whole_text(document: Document) -> None:
    text = document.text or ""
    assert edited(document, edits_of("upper", document)).text == text.upper()
    assert edited(document, edits_of("lower", document)).text == text.lower()
    for old, new in zip(document.spans, edited(document, edits_of("upper", document)).spans, strict=True):
        assert text.upper()[new.start : new.end] == text[old.start : old.end].upper()
    free = without_spans(document)
    plain = edited(free, edits_of("accents", free)).text or ""
    accents = range(0x0300, 0x0370)
    latin = [c for c in unicodedata.normalize("NFD", plain) if ord(c) in accents]
    assert not latin


def without_spans(document: Document) -> Document:
    return Document(id=document.id, text=document.text, spans=[])


@pytest.mark.parametrize("name", ["typos", "ocr", "whitespace"])
@given(document=documents(), rate=st.sampled_from([0.3, 1.0]))
def test_noise_stays_inside_the_borders_of_spans(name: str, document: Document, rate: float) -> None:
    """The pieces between borders change on their own: none gives a letter to its neighbour, and none vanishes."""
    edits = edits_of(name, document, rate)
    cuts = all_cuts(document)
    assert not any(edit.cut_by(cuts) for edit in edits)
    text = document.text or ""
    touched = {offset for edit in edits for offset in range(edit.start, edit.end)}
    for offset in touched:
        if name == "whitespace":
            assert text[offset] == " "
        else:
            assert unicodedata.category(text[offset])[0] in "LN"
            following = text[max(edit.end for edit in edits if edit.start <= offset < edit.end) :][:1]
            assert not (following and (unicodedata.combining(following) or following in "\u200d\ufe0f"))


@given(document=documents())
def test_swapped_names_change_nothing_else(document: Document) -> None:
    swap = Perturbation("swap-names", ("Ng", "Aloysius Bartholomew O’Neill"))
    edits = swap.edits(document, seed=0, rate=0.1)
    after, text = edited(document, edits), document.text or ""
    assert not any(edit.cut_by(span_cuts(document)) for edit in edits)
    names = {(one.start, one.end) for one in document.spans if one.label == "PERSON"}
    assert {(edit.start, edit.end) for edit in edits} <= names
    out = replaced(document, edits)
    for old, new in zip(document.spans, after.spans, strict=True):
        assert (after.text or "")[new.start : new.end] == "".join(out[old.start : old.end])
        if any((edit.start, edit.end) == (old.start, old.end) for edit in edits):
            assert (after.text or "")[new.start : new.end] in swap.surfaces
    kept = sum(edit.end - edit.start for edit in edits)
    assert len(after.text or "") == len(text) - kept + sum(len(edit.text) for edit in edits)
    corpus = ss.Corpus.from_documents(
        [{"id": "d", "text": after.text, "spans": [], "tokens": after.tokens or []}]
    )  # tokens are in order and do not overlap
    assert len(corpus) == 1


@given(found=st.lists(documents(), min_size=1, max_size=4), seed=st.integers(0, 3))
def test_variants_depend_only_on_document_and_seed(found: list[Document], seed: int) -> None:
    given_ = [
        {
            "id": f"d{n}",
            "text": one.text,
            "spans": [{"start": s.start, "end": s.end, "label": s.label} for s in one.spans],
        }
        for n, one in enumerate(found)
    ]
    mixed = random.Random(1).sample(given_, len(given_))
    names = ["original", *NOISE]
    first, second = (
        {one.id: one for one in ss.perturb(ss.Corpus.from_documents(d), names, seed=seed, rate=0.5).documents()}
        for d in (given_, mixed)
    )
    assert first == second
    for number, one in enumerate(found):
        assert first[f"d{number}~original"].text == one.text


def test_the_same_name_stays_the_same_and_groups_are_paired(tmp_path: Path) -> None:
    table = tmp_path / "names.tsv"
    table.write_text("name\tgroup\nAnna\tA\nBerta\tA\nFatima\tB\nLeyla\tB\n", encoding="utf-8")
    chosen = perturbations(f"swap-names:{table}")
    assert [one.name for one in chosen] == ["swap-names:A", "swap-names:B"]
    text = "Ann met Bo. ANN left Bo."
    spans = [{"start": a, "end": b, "label": "PERSON"} for a, b in ((0, 3), (8, 10), (12, 15), (21, 23))]
    gold = ss.Corpus.from_documents([{"id": "d", "text": text, "spans": spans}])
    variants = {one.id: one for one in ss.perturb(gold, chosen).documents()}
    for name, pool in (("d~swap-names:A", {"Anna", "Berta"}), ("d~swap-names:B", {"Fatima", "Leyla"})):
        found = [(variants[name].text or "")[s.start : s.end] for s in variants[name].spans]
        assert set(found) <= pool
        assert found[0] == found[2]
        assert found[1] == found[3]
        assert variants[name].meta == {"perturbation": name[2:], "perturbed_from": "d"}


def test_nested_names_stay_and_a_note_says_so(tmp_path: Path) -> None:
    table = tmp_path / "names.tsv"
    table.write_text("Zoë\n", encoding="utf-8")
    nested = [{"start": 0, "end": 7, "label": "PERSON"}, {"start": 4, "end": 7, "label": "FAMILY"}]
    documents_ = [{"id": "a", "text": "Ann Lee", "spans": nested}, {"id": "b", "text": "Ann Lee", "spans": nested[:1]}]
    found = ss.perturb(ss.Corpus.from_documents(documents_), f"swap-names:{table}")
    assert found.text is not None
    assert found.text.tolist() == ["Ann Lee", "Zoë"]
    assert found.notes == ("1 document kept names that have the border of another span inside.",)


def test_words_of_a_swapped_name_become_its_tokens() -> None:
    document = Document(id=1, text="Dr. Ann Lee's", spans=[Span(4, 11, "PERSON")], tokens=[(0, 3), (4, 7), (8, 13)])
    after = edited(document, [Edit(4, 11, "Olu de la Cruz")])
    assert after.text == "Dr. Olu de la Cruz's"
    assert [after.text[a:b] for a, b in after.tokens or ()] == ["Dr.", "Olu", "de", "la", "Cruz", "'s"]


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        ("tpyos", "There is no perturbation 'tpyos'; did you mean 'typos'?"),
        ("swap-names", "swap-names needs a table of names: swap-names:FILE."),
        ("upper,upper", "the perturbation 'upper' is listed twice."),
        (" , ", "name at least one perturbation"),
        ("swap-names:/no/such", "the file cannot be read"),
    ],
)
def test_wrong_lists_are_refused(given_: str, said: str) -> None:
    with pytest.raises(ss.SpanscoreError, match=said.replace("(", r"\(")):
        perturbations(given_)


def test_letters_that_are_spans_of_their_own_are_neither_lost_nor_swapped() -> None:
    """Over many seeds, so that every kind of error is tried at every letter."""
    alone = Document(id="d", text="word", spans=[Span(n, n + 1, "A") for n in range(4)])
    free = Document(id="d", text="word", spans=[Span(0, 4, "A")])
    kinds: dict[str, set[int]] = {"alone": set(), "free": set()}
    for seed in range(300):
        for name, document in (("alone", alone), ("free", free)):
            (edit,) = Perturbation("typos").edits(document, seed=seed, rate=1.0)
            kinds[name].add(10 * (edit.end - edit.start) + len(edit.text))
    assert kinds == {"alone": {11, 12}, "free": {10, 11, 12, 22}}


def test_an_accent_that_is_a_span_of_its_own_stays() -> None:
    text = "e\u0301 e\u0301"
    document = Document(id="d", text=text, spans=[Span(0, 1, "A"), Span(1, 2, "B"), Span(3, 5, "A")])
    after = edited(document, edits_of("accents", document))
    assert after.text == "e\u0301 e"
    assert [(one.start, one.end) for one in after.spans] == [(0, 1), (1, 2), (3, 4)]
