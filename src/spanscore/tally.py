"""Tallies: additive counts per document and label, from which every score is computed without scoring again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spanscore.corpus.columns import one_table
from spanscore.corpus.strings import Strings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spanscore.align import Pairing
    from spanscore.corpus.columns import Ints, Longs

Counts = NDArray[Any]
NO_TYPE = ""
"""The label of counts that belong to no type."""


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts by document and label, one row for each pair with a nonzero count; tallies of disjoint documents add up.

    >>> a = Tally(("tp", "fp"), ("X",), ("d1",), np.array([0]), np.array([0]), np.array([[1, 2]]))
    >>> b = Tally(("tp", "fp"), ("Y",), ("d2",), np.array([0]), np.array([0]), np.array([[3, 4]]))
    >>> (a + b).by_label().tolist(), (a + b).by_document().tolist(), (a + b).total().tolist()
    ([[1, 2], [3, 4]], [[1, 2], [3, 4]], [4, 6])
    """

    fields: tuple[str, ...]
    labels: tuple[str, ...]
    documents: Sequence[str]
    doc: Ints
    label: Ints
    counts: Counts

    @classmethod
    def count(
        cls,
        pairing: Pairing,
        events: Mapping[str, tuple[Counts, ...]],
        *,
        typed: bool = True,
        labels: tuple[str, ...] | None = None,
    ) -> Tally:
        """Count the events of each field, given as their documents, their labels and optionally their weights.

        Counts are by document only if `pairing.by_document` is set, and by label only if `typed` is. `labels` is the
        table of labels if it is not that of the pairing; `NO_TYPE` in it is for events that belong to no type.
        """
        labels = (labels or pairing.labels) if typed else (NO_TYPE,)
        documents: Sequence[str] = pairing.gold.ids.packed if pairing.by_document else ()
        size = len(labels) * max(len(documents), 1)
        keys = []
        for doc, label, *_ in events.values():
            code = label if typed else np.zeros(len(doc), np.int64)
            keys.append(doc.astype(np.int64) * len(labels) + code if documents else code)
        cells = None
        if size > 1_000_000 and size > 4 * sum(map(len, keys)):  # a dense table would be mostly empty
            cells = np.unique(np.concatenate(keys))
            keys, size = [np.searchsorted(cells, key) for key in keys], len(cells)
        columns = [
            _summed(key, weight[0], size) if weight else np.bincount(key, minlength=size)
            for key, (_, _, *weight) in zip(keys, events.values(), strict=True)
        ]
        counts = np.stack(columns, axis=1)
        rows = np.flatnonzero(np.logical_or.reduce([column != 0 for column in columns]))
        place = rows if cells is None else cells[rows]
        doc, label = np.divmod(place, max(len(labels), 1))
        kept = _small(counts[rows]) if documents else counts[rows]
        return cls(tuple(events), labels, documents, doc.astype(np.int32), label.astype(np.int32), kept)

    @classmethod
    def sum(cls, parts: Sequence[Tally]) -> Tally:
        """Add tallies of the same documents and labels."""
        first = parts[0]
        width = np.int64(max(len(first.labels), 1))
        cells, place = np.unique(np.concatenate([part.doc * width + part.label for part in parts]), return_inverse=True)
        counts = _small(_sum(place, np.concatenate([part.counts for part in parts]), len(cells)))
        doc, label = np.divmod(cells, width)
        return replace(first, doc=doc.astype(np.int32), label=label.astype(np.int32), counts=counts)

    @classmethod
    def of_found(cls, pairing: Pairing, gold: Any, pred: Any, found: Counts) -> Tally:
        """Count annotated and predicted spans, and the rows of the gold side that were found."""
        rows = np.flatnonzero(found) if found.dtype == np.bool_ else found
        events = {
            "tp": (gold.doc.take(rows), gold.label.take(rows)),
            "predicted": (pred.doc, pred.label),
            "annotated": (gold.doc, gold.label),
        }
        return cls.count(pairing, events)

    def __add__(self, other: Tally) -> Tally:
        return Tally.concat([self, other])

    @staticmethod
    def concat(parts: Sequence[Tally]) -> Tally:
        """Concatenate tallies that have no document in common."""
        if len(parts) == 1:
            return parts[0]
        labels, recode = one_table([part.labels for part in parts])
        firsts = np.cumsum([0, *(len(part.documents) for part in parts)]).tolist()
        return Tally(
            parts[0].fields,
            labels,
            Strings.concat([Strings.of(part.documents) for part in parts]),
            np.concatenate([part.doc + np.int32(first) for part, first in zip(parts, firsts, strict=False)]),
            np.concatenate([codes[part.label] for part, codes in zip(parts, recode, strict=True)]),
            np.concatenate([part.counts for part in parts]),
        )

    def together(self) -> Tally:
        """Return the counts summed over all documents, as if they were one unnamed document."""
        counts = self.by_label()
        rows = np.arange(len(self.labels), dtype=np.int32)
        return Tally(self.fields, self.labels, (), np.zeros(len(rows), np.int32), rows, counts)

    def of_label(self, label: str | None) -> Tally:
        """Return the tally of one label, or of all labels if it is None."""
        if label is None:
            return self
        return self.of_rows(self._rows_of_labels.get(label, np.zeros(0, np.int64)))

    @cached_property
    def _rows_of_labels(self) -> dict[str, Longs]:
        """The rows of each label, for all labels at once: there may be thousands."""
        order = np.argsort(self.label, kind="stable")
        bounds = np.searchsorted(self.label[order], np.arange(len(self.labels) + 1)).tolist()
        return {label: order[low:high] for label, (low, high) in zip(self.labels, pairwise(bounds), strict=True)}

    def of_rows(self, rows: NDArray[Any]) -> Tally:
        """Return the tally of these rows only."""
        return replace(self, doc=self.doc[rows], label=self.label[rows], counts=self.counts[rows])

    def present(self) -> Counts:
        """Return one row of counts for each document that has any."""
        documents, place = np.unique(self.doc, return_inverse=True)
        return _sum(place.astype(np.int32), self.counts, len(documents))

    def of_documents(self, names: Sequence[str]) -> Counts:
        """Return one row of counts for each of these documents."""
        place = {name: row for row, name in enumerate(names)}
        rows = np.array([place.get(name, -1) for name in self.documents], np.int64)
        counts = self.by_document()
        table = np.zeros((len(names), counts.shape[1]), counts.dtype)
        table[rows[rows >= 0]] = counts[rows >= 0]
        return table

    def total(self) -> Counts:
        """Return the total counts."""
        total: Counts = self.counts.sum(axis=0, dtype=None if self.counts.dtype.kind == "f" else np.int64)
        return total

    def by_label(self) -> Counts:
        """Return one row of counts for each label."""
        return _sum(self.label, self.counts, len(self.labels))

    def by_document(self) -> Counts:
        """Return one row of counts for each document."""
        return _sum(self.doc, self.counts, len(self.documents))


class Counting:
    """Counts events as they come in, and holds only so many at once: for measures that see overlaps block by block."""

    def __init__(self, pairing: Pairing, *fields: str) -> None:
        self._pairing, self._fields = pairing, fields
        self._held: dict[str, list[tuple[Counts, ...]]] = {}
        self._size = 0
        self._done: list[Tally] = []

    def add(self, field: str, doc: Counts, label: Counts, *weight: Counts) -> None:
        """Add events of a field: their documents, their labels and optionally their weights."""
        if self._size > EVENTS:
            self._done = [self.tally()]
            self._held, self._size = {}, 0
        self._held.setdefault(field, []).append((doc, label, *weight))
        self._size += len(doc)

    def tally(self) -> Tally:
        """Return the counts of all events so far."""
        events = {name: _together(self._held.get(name, [])) for name in self._fields}
        found = Tally.count(self._pairing, events)
        return Tally.sum([*self._done, found]) if self._done else found


EVENTS = 1 << 21
"""Events to hold at once."""
_NONE = np.zeros(0, np.int64)


def _together(parts: list[tuple[Counts, ...]]) -> tuple[Counts, ...]:
    if len(parts) < 2:
        return parts[0] if parts else (_NONE, _NONE)
    return tuple(np.concatenate(columns) for columns in zip(*parts, strict=True))


def _small(counts: Counts) -> Counts:
    """Convert integer counts to the smallest integer type that holds them."""
    if counts.dtype.kind == "f" or not counts.size:
        return counts
    return counts.astype(np.int16 if counts.max() < 2**15 else np.int32 if counts.max() < 2**31 else np.int64)


def _sum(key: Counts, counts: Counts, size: int) -> Counts:
    columns = [_summed(key, counts[:, field], size) for field in range(counts.shape[1])]
    return np.stack(columns, axis=1)


def _summed(key: Counts, weight: Counts, size: int) -> Counts:
    """Return the sum of weights for each key; sums of integers are exact."""
    if weight.dtype.kind == "f":
        return np.bincount(key, weight, minlength=size)
    if np.sum(weight, dtype=np.float64) < 2.0**53:
        return np.bincount(key, weight, minlength=size).astype(np.int64)
    high, low = (np.bincount(key, part, minlength=size).astype(np.int64) for part in np.divmod(weight, 2**26))
    return high * 2**26 + low
