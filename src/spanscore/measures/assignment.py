"""The best one-to-one assignment: of all pairs that may be, those that together weigh most, none sharing a row."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from spanscore.columns import Bools, Longs

LARGE = 64
"""In components with more rows than this, which of several best assignments is taken is not settled by order."""


def best_pairs(a: Longs, b: Longs, weight: Longs) -> Longs:
    """Which of these pairs of rows, weighing more than nothing, make up the best assignment.

    Of several, the one that gives the first row of `a` a partner, the first possible one; then the second row, and so
    on. Each connected component is settled by itself: a pair that shares no row with another at once, a star by its
    best pair, and only the rest by shortest augmenting paths.

    >>> best_pairs(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([3, 2, 2])).tolist()
    [1, 2]
    """
    order = np.lexsort((b, a))
    order = order[weight[order] > 0]
    a, b, weight = a[order], b[order], weight[order]
    if not len(a):
        return order
    degree_a, degree_b = np.bincount(a), np.bincount(b)
    leaves_a = np.bincount(a, degree_b[b] == 1, minlength=len(degree_a)) == degree_a
    leaves_b = np.bincount(b, degree_a[a] == 1, minlength=len(degree_b)) == degree_b
    at_a = leaves_a[a]
    at_b = leaves_b[b] & ~at_a
    rest = np.flatnonzero(~at_a & ~at_b)
    chosen = [_heaviest(a, weight, np.flatnonzero(at_a)), _heaviest(b, weight, np.flatnonzero(at_b))]
    if rest.size:
        found = components(a[rest], b[rest])
        grouped = rest[np.argsort(found, kind="stable")]
        chosen += [
            group[_assign(a[group].tolist(), b[group].tolist(), weight[group].tolist())]
            for group in np.split(grouped, np.flatnonzero(np.diff(np.sort(found))) + 1)
        ]
    return np.sort(order[np.concatenate(chosen)])


def components(a: Longs, b: Longs) -> Longs:
    """The number of the connected component of each pair of rows.

    >>> components(np.array([0, 0, 1, 2]), np.array([0, 1, 2, 1])).tolist()
    [0, 0, 1, 0]
    """
    size = int(a.max(initial=-1)) + 1
    other = b + size
    label = np.arange(size + int(b.max(initial=-1)) + 1)
    while True:
        low = np.minimum(label[a], label[other])
        before = label.copy()
        np.minimum.at(label, a, low)
        np.minimum.at(label, other, low)
        label = label[label]
        if (label == before).all():
            return np.unique(label[a], return_inverse=True)[1]


def _heaviest(key: Longs, weight: Longs, rows: Longs) -> Longs:
    """For each key the first of its heaviest rows."""
    rows = rows[np.lexsort((rows, -weight[rows], key[rows]))]
    new: Bools = np.ones(len(rows), np.bool_)
    new[1:] = key[rows][1:] != key[rows][:-1]
    return rows[new]


def _assign(a: Sequence[int], b: Sequence[int], weight: Sequence[int]) -> list[int]:
    """The best assignment of one component, whose pairs are in order: their places in the sequences.

    Rows are taken in one by one, each along the cheapest path of alternating pairs to a free column or to nothing
    (Dijkstra's algorithm on costs reduced by potentials); all in whole numbers, so that there is no rounding.
    """
    edges: dict[int, list[tuple[int, int, int]]] = {}
    for place, cost in enumerate(_settled(a, weight)):
        edges.setdefault(a[place], []).append((b[place], -cost, place))
    row_potential: dict[int, int] = {}
    potential = dict.fromkeys(b, 0)
    taken: dict[int, tuple[int, int]] = {}
    column_of: dict[int, int] = {}
    for new in edges:
        row_potential[new] = min(0, *(cost - potential[column] for column, cost, _ in edges[new]))
        reached: dict[int, int] = {}
        came: dict[int, tuple[int, int]] = {}
        heap: list[tuple[int, int, int, int, int]] = []
        row, base = new, 0
        while True:
            heappush(heap, (base - row_potential[row], 0, -1, row, -1))
            for column, cost, place in edges[row]:
                if column not in reached:
                    distance = base + cost - row_potential[row] - potential[column]
                    heappush(heap, (distance, int(column in taken), column, row, place))
            while heap[0][2] in reached:
                heappop(heap)
            base, _, column, row, place = heappop(heap)
            if column < 0:
                break
            came[column] = (row, place)
            if column not in taken:
                break
            reached[column] = base
            row = taken[column][0]
        row_potential[new] += base
        for seen, distance in reached.items():
            row_potential[taken[seen][0]] += base - distance
            potential[seen] += distance - base
        if column < 0 and row != new:  # a row on the path is better off without a partner
            column = column_of.pop(row)
            row, place = came[column]
        while column >= 0:  # hand on partners along the path, from its end to the new row
            before = column_of.get(row, -1)
            taken[column], column_of[row] = (row, place), column
            column = before if row != new else -1
            row, place = came.get(column, (new, -1))
    return sorted(place for _, place in taken.values())


def _settled(a: Sequence[int], weight: Sequence[int]) -> Iterable[int]:
    """The weights with so little added that only one assignment is best: the first, as `best_pairs` says."""
    rows = list(dict.fromkeys(a))
    if len(rows) > LARGE:
        return weight
    degree = dict.fromkeys(rows, 0)
    rank = []
    for row in a:
        rank.append(degree[row])
        degree[row] += 1
    base = max(degree.values()) + 1
    digit = {row: base ** (len(rows) - 1 - number) for number, row in enumerate(rows)}
    top = base ** len(rows)
    return [w * top + (base - 1 - k) * digit[row] for row, w, k in zip(a, weight, rank, strict=True)]
