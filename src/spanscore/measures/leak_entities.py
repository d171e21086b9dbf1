"""Entities: which gold spans of a document are mentions of the same person, place or number."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spanscore.corpus.columns import mixed

if TYPE_CHECKING:
    from spanscore.align import Pairing
    from spanscore.corpus.columns import Longs, Words

ATTRIBUTES = ("entity", "kbid", "eid")
"""Attributes that name the entity of a span; the first one that a span has decides."""


def entities(pairing: Pairing) -> tuple[Longs, Longs]:
    """Return the number of the entity of each gold span, and the first span of each entity.

    Spans of a document with the same attribute are mentions of one entity. Of spans without one, those with the same
    type and case-folded text are; without text, every span is an entity of its own.
    """
    gold = pairing.gold
    rows = np.arange(len(gold.doc))
    same = rows.copy()  # the first span of the entity of each span
    left = np.ones(len(rows), np.bool_)
    for place, name in enumerate(ATTRIBUTES):
        if name in gold.attrs and (named := np.flatnonzero(left & (gold.attrs[name].codes >= 0))).size:
            left[named] = False
            code = gold.attrs[name].codes[named].astype(np.int64) * len(ATTRIBUTES) + place
            key = gold.doc[named].astype(np.int64) * (int(code.max()) + 1) + code
            _, first, group = np.unique(key, return_index=True, return_inverse=True)
            same[named] = named[first][group]
    alike = _maybe_repeated(pairing, np.flatnonzero(left)) if pairing.letters else rows[:0]
    docs = np.unique(gold.doc[alike])
    known = dict(zip(docs.tolist(), pairing.letters.strings.take(docs).tolist(), strict=True))
    texts: dict[tuple[int, int, str], int] = {}
    for row, doc, label, start, end in zip(
        alike.tolist(),
        *(column[alike].tolist() for column in (gold.doc, gold.label, gold.start, gold.end)),
        strict=True,
    ):
        text = known[doc]
        if text is not None:
            same[row] = texts.setdefault((doc, label, text[start:end].casefold()), row)
    first = np.flatnonzero(same == rows)
    number = np.cumsum(same == rows) - 1
    return number[same], first


def _maybe_repeated(pairing: Pairing, rows: Longs) -> Longs:
    """Return which of these gold spans may have the same case-folded text as another of their document and type.

    Most spans are the only one of their type, or differ from the others in their first or last letter. Both are much
    faster to see than whole texts are to compare.
    """
    gold, letters = pairing.gold, pairing.letters
    kind = gold.doc[rows].astype(np.int64) * len(pairing.labels) + gold.label[rows]
    if len(pairing) * len(pairing.labels) <= 4 * len(rows):
        several = np.flatnonzero(np.bincount(kind).take(kind) > 1)
        rows, kind = rows[several], kind[several]
    doc, start, end = gold.doc[rows], gold.start[rows], gold.end[rows]
    codes, first = letters.places(doc, start)
    _, last = letters.places(doc, end)
    if not len(codes):
        return rows
    key: Words = kind.astype(np.uint64)
    for place, which in ((first, 0), (last - 1, -1)):
        folded = _folded(codes.take(place, mode="clip"), which)
        key = mixed(key) + np.where(start < end, folded, 0).astype(np.uint64)
    if letters.strings.ascii:  # no other case of a text is longer or shorter
        key = mixed(key) + (end - start).astype(np.uint64)
    known = np.sort(key)
    repeated = known[1:][known[1:] == known[:-1]]
    if not len(repeated):
        return rows[:0]
    marked = np.zeros(1 << 16, np.bool_)
    marked[_low_bits(repeated)] = True
    some = np.flatnonzero(marked.take(_low_bits(key)))  # most keys need no search
    alike: Longs = rows[some[repeated.take(np.searchsorted(repeated, key[some]), mode="clip") == key[some]]]
    return alike


def _low_bits(key: Words) -> NDArray[np.uint16]:
    return key.astype(np.uint16)


def _folded(codes: NDArray[Any], end: int) -> Longs:
    """Return the first (0) or last (-1) code point of each letter's case-folded form."""
    if codes.dtype == np.uint8:
        known: Longs = _table(end).take(codes)
        return known
    values, place = np.unique(codes, return_inverse=True)
    folded = np.array([ord(chr(code).casefold()[end]) for code in values.tolist()], np.int64)
    return folded[place]


@cache
def _table(end: int) -> Longs:
    """Return the case-folded forms of the first 256 code points."""
    return np.array([ord(chr(code).casefold()[end]) for code in range(256)], np.int64)
