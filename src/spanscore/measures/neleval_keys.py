"""neleval's filters and keys: which mentions count, and what two of them must have in common."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from spanscore.errors import UsageError, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from spanscore.align import Pairing
    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Bools, Column, Ints, Longs

FILTERS = ("none", "is_linked", "is_nil", "is_first")
FIELDS = ("docid", "start", "end", "span", "type", "kbid", "eid")
_FIELD = re.compile(r"""[^:()+,"'=\s]+""")
ENTITY = "kbid"
"""The attribute that holds a mention's entity: a knowledge base id, or one that begins with NIL."""


def fields_of(key: str) -> tuple[str, ...]:
    """Return the fields that a key joins by `+`.

    >>> fields_of("span+type")
    ('span', 'type')
    """
    fields = tuple(part.strip() for part in key.split("+"))
    if not all(map(_FIELD.fullmatch, fields)):
        what = "has a field with characters that are not allowed" if all(fields) else "has an empty field"
        raise UsageError(f"the key '{printable(key)}' {what}; join fields by +, as in span+type.")
    return fields


def filtered(pairing: Pairing, name: str, identity: tuple[str, ...]) -> Pairing:
    """Return the mentions that a filter keeps, those that are identical in these fields once."""
    mentions = pairing.mentions
    kept = mentions if name == "none" else mentions.once(keep_filtered, name)
    return kept.distinct(identity)


def keep_filtered(mentions: Pairing, name: str) -> Pairing:
    """Return the mentions that a filter keeps."""
    return mentions.map_sides(lambda side: _keep(side, name))


def _keep(side: Corpus, name: str) -> Corpus:
    column = side.attrs.get(ENTITY)
    if name == "is_first":
        eid = np.full(len(side.doc), -1, np.int32) if column is None else column.codes
        order = np.lexsort((-side.end, side.start, eid, side.doc))
        new = np.ones(len(order), np.bool_)
        new[1:] = (eid[order][1:] != eid[order][:-1]) | (side.doc[order][1:] != side.doc[order][:-1])
        return side.with_spans(np.sort(order[new]))
    if column is None:
        return side.with_spans(np.zeros(0, np.int64))
    nil = _nil(column)
    return side.with_spans(np.flatnonzero((column.codes >= 0) & (nil if name == "is_nil" else ~nil)))


def _nil(column: Column) -> Bools:
    """Return which rows have an id that stands for no knowledge base entry."""
    codes, place = np.unique(column.codes, return_inverse=True)
    nil = [code >= 0 and str(column.values[code]).startswith("NIL") for code in codes.tolist()]
    return np.array(nil, np.bool_)[place]


def codes_of(pairing: Pairing, field: str) -> tuple[Ints, Ints]:
    """Return a field of every gold and predicted mention as codes; equal codes are equal values."""
    gold, pred = pairing.gold, pairing.pred
    plain: dict[str, Callable[[Corpus], Ints]] = {
        "docid": lambda side: side.doc,
        "start": lambda side: side.start,
        "end": lambda side: side.end,
        "type": lambda side: side.label,
    }
    if field in plain:
        return plain[field](gold), plain[field](pred)
    name = ENTITY if field in ("kbid", "eid") else field
    found = []
    for side in (gold, pred):
        column = side.attrs.get(name)
        codes = np.full(len(side.doc), -1, np.int32) if column is None else column.codes
        found.append(np.where(_nil(column), -1, codes) if column is not None and field == "kbid" else codes)
    return found[0], found[1]


def values_of(pairing: Pairing, field: str) -> Sequence[object]:
    """Return the values that the codes of a field stand for; -1 is None."""
    if field == "type":
        return (*pairing.labels, None)
    column = next((side.attrs[ENTITY] for side in (pairing.gold, pairing.pred) if ENTITY in side.attrs), None)
    return (None,) if column is None else (*column.values, None)


def elements(pairing: Pairing, fields: Sequence[str]) -> tuple[Longs, Longs]:
    """Return a code for every gold and predicted mention; equal codes are equal keys."""
    simple = [part for field in fields for part in (("docid", "start", "end") if field == "span" else (field,))]
    columns = [codes_of(pairing, field) for field in dict.fromkeys(simple)]
    size = len(pairing.gold.doc)
    code = np.zeros(size + len(pairing.pred.doc), np.int64)
    for gold, pred in columns:
        values, place = np.unique(np.concatenate([gold, pred]), return_inverse=True)
        code = code * len(values) + place
        if len(values) > 1:
            code = np.unique(code, return_inverse=True)[1]
    return code[:size], code[size:]
