"""Hypothesis strategies for corpora: nested, crossing, adjacent, duplicate and empty spans, in any script."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from spanscore.corpus import Corpus
from spanscore.errors import MissingExtraError

try:
    from hypothesis import strategies as st
except ImportError:
    raise MissingExtraError("spanscore.testing", "testing") from None

PIECES = ("Ann", "Bob", "of", "the", "May", " ", "  ", "\n", ".", ",", "-", "é", "😀", "١", "a\u0301", "\u200f", "İ")
"""Building blocks of texts: names, skip words, whitespace, punctuation, and characters that are easy to miscount."""

ATTRIBUTES = {
    "kbid": ("Q1", "Q2", "NIL1", "NIL2", None),
    "locationType": ("city", "CITY", "hospital", "State", None),
    "dateFormat": ("MM", "mm"),
    "text": ("Ann", "U.S. May", None),
    "category": ("NAME", "DATE", None),
    "annotator": ("ann1", "ann2"),
    "identifier": ("DIRECT", "QUASI", "NO_MASK"),
    "entity": ("e1", "e2", None),
}
"""Attributes of spans: entity ids, subtypes that differ only in case, texts of annotations, categories, annotators."""


@st.composite
def pairs(
    draw: st.DrawFn,
    *,
    max_documents: int = 3,
    max_spans: int = 6,
    texts: bool | None = None,
    tokens: bool | None = None,
    attributes: bool | None = None,
) -> tuple[Corpus, Corpus]:
    """Draw a gold corpus and predictions for all or some of its documents.

    `texts`, `tokens` and `attributes` say whether documents have texts and tokens and spans have attributes: always
    (True), never (False) or sometimes (None).
    """
    gold, pred = [], []
    attributed = draw(st.booleans()) if attributes is None else attributes
    for number in range(draw(st.integers(1, max_documents))):
        text = "".join(draw(st.lists(st.sampled_from(PIECES), max_size=10)))
        document: dict[str, Any] = {
            "id": f"d{number}",
            "spans": draw(_spans(len(text), "ABC", max_spans, attributed=attributed)),
        }
        if draw(st.booleans()) if texts is None else texts:
            document["text"] = text
        if draw(st.booleans()):
            document["meta"] = {"sentences": draw(st.integers(0, 3))}
        if draw(st.booleans()) if tokens is None else tokens:
            document["tokens"] = draw(_tokens(len(text)))
        gold.append(document)
        if draw(st.integers(0, 9)):
            spans = draw(_spans(len(text), "ABD", max_spans, attributed=attributed, scored=True))
            pred.append({"id": f"d{number}", "spans": spans})
    if not pred:
        pred.append({"id": "d0", "spans": []})
    return Corpus.from_documents(gold), Corpus.from_documents(draw(st.permutations(pred)))


def corpora(**limits: Any) -> st.SearchStrategy[Corpus]:
    """Draw a single corpus; accepts the arguments of `pairs`."""
    return pairs(**limits).map(lambda both: both[0])


@st.composite
def _spans(
    draw: st.DrawFn, length: int, labels: str, most: int, *, attributed: bool, scored: bool = False
) -> list[dict[str, Any]]:
    found = []
    for _ in range(draw(st.integers(0, most))):
        a, b = sorted((draw(st.integers(0, length)), draw(st.integers(0, length))))
        span: dict[str, Any] = {"start": a, "end": b, "label": draw(st.sampled_from(labels))}
        if attributed:
            attrs = {name: draw(st.sampled_from(values)) for name, values in ATTRIBUTES.items() if draw(st.booleans())}
            span["attrs"] = {name: value for name, value in attrs.items() if value is not None}
        if scored and draw(st.booleans()):
            span["score"] = draw(st.sampled_from([0.1, 0.5, 0.85, 1.0]))
        found.append(span)
    if found and draw(st.integers(0, 3)) == 0:
        found.append(dict(found[0]))
    if found and attributed and draw(st.integers(0, 3)) == 0:
        found.append({**found[0], "attrs": {"kbid": "Q3"}})
    return found


@st.composite
def _tokens(draw: st.DrawFn, length: int) -> list[list[int]]:
    cuts = sorted(draw(st.sets(st.integers(0, length), max_size=8)))
    return [[a, b] for a, b in pairwise(cuts) if draw(st.booleans())]
