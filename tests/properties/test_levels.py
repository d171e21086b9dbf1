"""What holds at every level of the taxonomy, on random corpora."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

import spanscore as ss
from spanscore.align import LabelMap
from spanscore.align.taxonomy import LEVELS, Level, built_in
from spanscore.corpus import Corpus
from spanscore.testing import pairs

if TYPE_CHECKING:
    from spanscore.result import Result

MEASURES = ["exact", "iou(threshold=0.5)", "sixway.flexible", "leak", "sets::span+type"]
NAMES = {
    "A": ["FIRSTNAME", "first_name", "Castle"],
    "B": ["CITY", "US_SSN", "PERSON"],
    "C": ["STREET", "LASTNAME", "Ukulele"],
    "D": ["PERSON", "LOCATION", "ssn", "castle"],
}
Sides = tuple[Corpus, Corpus]


@st.composite
def labelled(draw: st.DrawFn) -> Sides:
    """Draw corpora whose labels are in the taxonomy, or nearly."""
    gold, pred = draw(pairs(texts=True))
    named = [{label: draw(st.sampled_from(names)) for label, names in NAMES.items()} for _ in range(2)]
    return LabelMap(named[0]).apply(gold)[0], LabelMap(named[1]).apply(pred)[0]


def composed(corpus: Corpus, level: Level) -> dict[str, str | None]:
    return {label: built_in().at(level, label) for label in corpus.labels}


def numbers(result: Result, name: str) -> tuple[object, ...]:
    scores = result[name]
    return repr(scores.overall), {label: repr(score) for label, score in scores.by_type.items()}


@given(labelled())
@settings(max_examples=15)
def test_raw_is_without_levels(sides: Sides) -> None:
    plain, leveled = ss.score(*sides, MEASURES), ss.score(*sides, MEASURES, levels="raw")
    for one, other in zip(plain.scores, leveled.scores, strict=True):
        assert numbers(plain, one.name) == numbers(leveled, other.name)
        assert (one.signature, one.level, other.level) == (other.signature, None, "raw")


@given(labelled())
@settings(max_examples=15)
def test_a_level_is_the_label_map_that_it_stands_for(sides: Sides) -> None:
    result = ss.score(*sides, MEASURES, levels=LEVELS)
    assert len(result.scores) == len(MEASURES) * len(LEVELS)
    for level in LEVELS:
        maps = [composed(side, level) for side in sides]
        by_hand = ss.score(*sides, MEASURES, gold_map=maps[0], pred_map=maps[1])
        for one in by_hand.scores:
            assert numbers(by_hand, one.name) == numbers(result, f"{one.name}@{level}")


@given(labelled(), st.sampled_from(LEVELS))
@settings(max_examples=15)
def test_chunks_and_whole_corpora_agree(sides: Sides, level: Level) -> None:
    gold, pred = sides
    documents = [gold.block(number, number + 1) for number in range(len(gold))]
    whole = ss.score(gold, pred, "exact", levels=[level], keep_spans=False)
    parts = ss.score(iter(documents), iter([pred]), "exact", levels=[level], keep_spans=False)
    assert numbers(whole, "exact") == numbers(parts, "exact")


def once(corpus: Corpus) -> Corpus:
    """Return a corpus with one span in each place."""
    found = []
    for document in corpus.documents():
        places = {(span.start, span.end): span for span in document.spans}
        spans = [{"start": a, "end": b, "label": span.label} for (a, b), span in places.items()]
        found.append({"id": document.id, "spans": spans})
    return Corpus.from_documents(found)


@given(labelled())
@settings(max_examples=40)
def test_a_coarser_level_finds_no_less(sides: Sides) -> None:
    """With one span in each place, spans that agree at a level agree at every coarser one."""
    gold, pred = map(once, sides)
    result = ss.score(gold, pred, "exact", levels=LEVELS)
    counts = [result[f"exact@{level}"].counts for level in LEVELS]
    assert [one["tp"] for one in counts] == sorted((one["tp"] for one in counts), reverse=True)
    assert len({(one["annotated"], one["predicted"]) for one in counts}) == 1
    assert counts[0]["tp"] == ss.score(gold, pred, "exact(typed=false)")["exact"].counts["tp"]


@given(labelled())
@settings(max_examples=15)
def test_shared_types_leave_out_what_one_side_does_not_have(sides: Sides) -> None:
    gold, pred = sides
    result = ss.score(gold, pred, "exact", levels=("branch", "type"), shared_types=True)
    for level in ("branch", "type"):
        named = [{built_in().at(level, label) for label in _used(side)} for side in sides]
        assert set(result[f"exact@{level}"].by_type) <= named[0] & named[1]


def _used(corpus: Corpus) -> set[str]:
    return {corpus.labels[code] for code in corpus.label.tolist()}
