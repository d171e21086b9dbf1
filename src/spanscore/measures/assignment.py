"""One-to-one assignment: the set of pairs with the largest total weight in which no row occurs twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spanscore.corpus.columns import mixed
from spanscore.errors import InputError

if TYPE_CHECKING:
    from spanscore.corpus.columns import Bools, Floats, Longs

EXACT = 2.0**52
"""Sums of whole numbers below this are exact in floating point."""
SETTLED = 64
"""In components with more rows than this, ties between best assignments are not broken by the order of rows."""
DENSE = 1 << 14
"""More pairs than this are solved as one matrix if they fill a good part of it."""
MOST = 1 << 23
"""Pairs that can be considered at once: an assignment takes time with the cube of the spans, and a matrix."""


def refuse_too_many(pairs: int, where: str) -> None:
    """Refuse to choose among more pairs than time and memory allow."""
    if pairs > MOST:
        what = f"{pairs:,} pairs of spans are candidates for a one-to-one match, more than the limit of {MOST:,}"
        raise InputError(
            f"{what}; give --resolve score or longest, or choose a measure that does not pair spans.", where
        )


def best_pairs(a: Longs, b: Longs, weight: Longs) -> Longs:
    """Return which of these pairs of rows, with weights above 0, make up the best assignment.

    Of several best assignments, it is the one that gives the first row of `a` a partner, the first possible one; then
    the second row, and so on. Each connected component is solved by itself: an isolated pair at once, a star by its
    heaviest pair, and only the rest by SciPy. Many pairs that are a large share of all possible ones are one matrix.

    >>> best_pairs(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([3, 2, 2])).tolist()
    [1, 2]
    """
    if len(a) > DENSE and (found := _if_dense(a, b, weight)) is not None:
        return found
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
        grouped, first = rest, np.zeros(0, np.int64)
        if found.any():
            by_component = np.argsort(found, kind="stable")
            grouped, first = rest[by_component], np.flatnonzero(np.diff(found[by_component])) + 1
        chosen += [group[_assign(a[group], b[group], weight[group])] for group in np.split(grouped, first)]
    return np.sort(order[np.concatenate(chosen)])


def components(a: Longs, b: Longs) -> Longs:
    """Return the number of the connected component of each pair of rows.

    >>> components(np.array([0, 0, 1, 2]), np.array([0, 1, 2, 1])).tolist()
    [0, 0, 1, 0]
    """
    if not len(a):
        return np.zeros(0, np.int64)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    # pairs of one row one after the other: the first one, and that its partners belong together, say the same in less
    together, step = a[1:] == a[:-1], b[1:] - b[:-1]
    neighbours = np.zeros(int(b.max()) + 1, np.bool_)
    neighbours[b[:-1][together & (step == 1)]] = True
    first, apart = np.flatnonzero(np.concatenate([[True], ~together])), np.flatnonzero(together & (step != 1))
    size = int(a.max()) + 1
    beside = np.flatnonzero(neighbours) + size
    one = np.concatenate([a[first], b[:-1][apart] + size, beside])
    other = np.concatenate([b[first] + size, b[1:][apart] + size, beside + 1])
    nodes = size + len(neighbours) + 1
    graph = coo_array((np.ones(len(one), np.int8), (one, other)), shape=(nodes, nodes))
    found: Longs = _numbered(connected_components(graph, directed=False)[1][:size][a])[1]
    return found


def _if_dense(a: Longs, b: Longs, weight: Longs) -> Longs | None:
    """Return the best assignment of pairs that are a quarter or more of all that are possible, else None."""
    (rows, row), (columns, column) = _numbered(a), _numbered(b)
    if rows <= SETTLED or rows * columns > 4 * len(a):
        return None
    found = _solve(row, column, weight.astype(np.float64), rows, columns)
    return found[weight[found] > 0]


def _numbered(values: Longs) -> tuple[int, Longs]:
    """Return how many distinct values there are, and the rank of each one among them."""
    least, most = int(values.min()), int(values.max())
    if most - least > 4 * len(values):
        known, rank = np.unique(values, return_inverse=True)
        return len(known), rank
    present = np.zeros(most - least + 1, np.bool_)
    present[values - least] = True
    ranks = np.cumsum(present) - 1
    return int(ranks[-1]) + 1, ranks[values - least]


def _heaviest(key: Longs, weight: Longs, rows: Longs) -> Longs:
    """Return for each key the first of its heaviest rows."""
    rows = rows[np.lexsort((rows, -weight[rows], key[rows]))]
    new: Bools = np.ones(len(rows), np.bool_)
    new[1:] = key[rows][1:] != key[rows][:-1]
    return rows[new]


def _assign(a: Longs, b: Longs, weight: Longs) -> Longs:
    """Return the places of the best assignment in the pairs of one component, which are in order.

    Ties are broken a few rows at a time: a share of the weights too small to change the total prefers early partners.
    As soon as these rows are settled, they are taken out, and the next ones follow.
    """
    rows, row = _numbered(a)
    columns, column = _numbered(b)
    if rows > SETTLED:
        return _solve(row, column, weight.astype(np.float64), rows, columns)
    left = np.arange(len(a))
    settled: list[int] = []
    first = 0
    while len(left) and first < rows:
        base = float(columns + 1)
        room = EXACT / (float(weight[left].max()) * rows + 1)
        count = max(0, int(np.log(max(room, 1.0)) / np.log(base)))
        if not count:  # the weights leave no room for preferences
            return np.sort(np.array([*settled, *left[_solve_at(row, column, weight, left)]], np.int64))
        early = row[left] < first + count
        power = base ** np.maximum(first + count - 1 - row[left], 0)
        preference = np.where(early, (columns - column[left]) * power, 0.0)
        value = (weight[left] * base**count + preference).astype(np.float64)
        chosen = left[_solve(row[left], column[left], value, rows, columns)]
        kept = chosen[row[chosen] < first + count]
        settled += kept.tolist()
        first += count
        left = left[(row[left] >= first) & ~np.isin(column[left], column[kept])]
    return np.sort(np.array(settled, np.int64))


def _solve_at(row: Longs, column: Longs, weight: Longs, left: Longs) -> Longs:
    return _solve(row[left], column[left], weight[left].astype(np.float64), int(row.max()) + 1, int(column.max()) + 1)


def _solve(row: Longs, column: Longs, weight: Floats, rows: int, columns: int) -> Longs:
    """Return the places of the best assignment by SciPy: on a dense matrix, or on a sparse one if that is large."""
    if rows * columns <= max(16 * len(row), 1 << 16):
        from scipy.optimize import linear_sum_assignment

        # rows in their own order, as of nested spans, can take a hundred times as long as in any other
        turn = np.argsort(mixed(np.arange(rows, dtype=np.uint64))) if rows > SETTLED else np.arange(rows)
        place = np.empty(rows, np.int64)
        place[turn] = np.arange(rows)
        dense = np.zeros((rows, columns))
        dense[place[row], column] = weight
        partner = np.full(rows, -1)
        matched = linear_sum_assignment(dense, maximize=True)
        partner[turn[matched[0]]] = matched[1]
        return np.flatnonzero(partner[row] == column)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    # each row may also take a column of its own, which stands for no partner, so that a full matching exists
    own = np.arange(rows)
    values = np.concatenate([weight + 1, np.ones(rows)])
    graph = coo_array((values, (np.concatenate([row, own]), np.concatenate([column, columns + own])))).tocsr()
    partner = np.full(rows, -1)
    matched = min_weight_full_bipartite_matching(graph, maximize=True)
    partner[matched[0]] = matched[1]
    return np.flatnonzero(partner[row] == column)
