"""Tokens of annotations on each side, and which ones both sides have."""

from __future__ import annotations

from dataclasses import dataclass
from secrets import randbelow
from typing import TYPE_CHECKING, Any

import numpy as np

from spanscore.align.characters import white_space
from spanscore.align.tokenizers import tokenizer
from spanscore.corpus.columns import mixed, ranges
from spanscore.errors import InputError, printable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spanscore.align import Pairing
    from spanscore.align.characters import Cut, Letters
    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Bools, Ints, Longs

PRIMES = (2**31 - 1, 2**31 - 19)
FEW, BLOCK, LONG = 1 << 16, 1 << 13, 200
"""Characters, and texts, that are few enough to be laid out side by side; characters of a text that is not."""
TEXT = "text"
"""The attribute that holds the text of an annotation."""


@dataclass(frozen=True, eq=False)
class InstanceTokens:
    """The tokens of one side, each once for each kind, offset and text.

    `owner` is the first annotation that has the token. Equal codes in `text` are equal texts; it is None for tokens of
    the document, whose offsets identify them, until texts are needed.
    """

    doc: Ints
    label: Ints
    start: Longs
    end: Longs
    owner: Longs
    text: Longs | None

    def take(self, rows: Longs) -> InstanceTokens:
        """Return some of the tokens."""
        text = None if self.text is None else self.text[rows]
        return InstanceTokens(
            self.doc[rows], self.label[rows], self.start[rows], self.end[rows], self.owner[rows], text
        )


def tokens_of(pairing: Pairing, named: str) -> tuple[InstanceTokens, InstanceTokens]:
    """Return the tokens of every annotation: of its text attribute, or of the document's text."""
    if named == "whitespace" and not any(TEXT in side.attrs for side in (pairing.gold, pairing.pred)):
        for side in (pairing.gold, pairing.pred):
            _refuse_without_text(pairing, side.doc)
        return pairing.once(distinct_tokens, white_space)
    return pairing.once(_cut_by, named)


def right_by_offset(gold: InstanceTokens, pred: InstanceTokens) -> Longs:
    """Return the gold tokens that the other side has at the same offset."""
    return _same_offset(gold, pred)[0]


def right_by_text(pairing: Pairing, gold: InstanceTokens, pred: InstanceTokens) -> Longs:
    """Return gold tokens that an overlapping annotation of the other side has, each of which matches once."""
    if gold.text is not None and pred.text is not None:
        linked = _linked_tokens(pairing, gold, pred)
        code = _codes((linked[: len(gold.doc)], linked[len(gold.doc) :]), (gold.text, pred.text))
        order = np.argsort(code)
        return _matched(order, code[order][1:] != code[order][:-1], len(gold.doc))
    a, b = _same_offset(gold, pred)  # tokens of the document in one place have one text, and their owners overlap
    left = [np.delete(np.arange(len(side.doc)), rows) for side, rows in ((gold, a), (pred, b))]
    if not all(map(len, left)):
        return a
    gold, pred = gold.take(left[0]), pred.take(left[1])
    groups = _groups_by_text(pairing.letters, _linked_tokens(pairing, gold, pred), gold, pred)
    return np.concatenate([a, left[0][_matched(*groups, len(gold.doc))]])


def _linked_tokens(pairing: Pairing, gold: InstanceTokens, pred: InstanceTokens) -> Longs:
    mine, other = pairing.once(_linked)
    return np.concatenate([mine[gold.owner], other[pred.owner]])


def _same_offset(gold: InstanceTokens, pred: InstanceTokens) -> tuple[Longs, Longs]:
    """Return the gold and the predicted tokens with the same offset, kind and text."""
    same = (gold.end, pred.end) if gold.text is None or pred.text is None else (gold.text, pred.text)
    code = _codes((gold.doc, pred.doc), (gold.start, pred.start), same, (gold.label, pred.label))
    order = np.argsort(code, kind="stable")
    in_order = code[order]
    twice = np.flatnonzero(in_order[1:] == in_order[:-1])
    return order[twice], order[twice + 1] - len(gold.doc)


def _matched(order: Longs, new: Bools, size: int) -> Longs:
    """Return the gold rows that have a partner, if those of a group are equal; rows from `size` on are predicted."""
    starts = np.concatenate([[True], new])[: len(order)]
    group = np.cumsum(starts) - 1
    from_gold = order < size
    before: Longs = np.cumsum(from_gold) - from_gold
    rank = before - before[np.flatnonzero(starts)][group]
    theirs = np.bincount(group[~from_gold], minlength=len(order) + 1)
    found: Longs = order[from_gold & (rank < theirs[group])]
    return found


def distinct_tokens(pairing: Pairing, at: Cut) -> tuple[InstanceTokens, InstanceTokens]:
    """Cut annotations at some characters; their documents must have texts."""
    sides, letters = (pairing.gold, pairing.pred), pairing.letters
    if all(_flat(side) for side in sides):
        gold, pred = (_cut_flat(letters, side, at) for side in sides)
        return gold, pred
    doc, start, end = letters.all_pieces(at)
    stride = np.int64(1 + max(int(column.max(initial=0)) for column in (end, sides[0].end, sides[1].end)))
    gold, pred = (_cut_side(side, doc * stride + start, doc * stride + end, stride) for side in sides)
    return gold, pred


def _flat(side: Corpus) -> bool:
    """Return whether no annotations overlap."""
    return bool(((side.doc[1:] != side.doc[:-1]) | (side.start[1:] >= side.end[:-1])).all())


def _cut_flat(letters: Letters, side: Corpus, at: Cut) -> InstanceTokens:
    """Return the tokens of annotations that do not overlap: no two of them are the same."""
    owner, start, end = letters.pieces(side.doc, side.start, side.end, at)
    return InstanceTokens(side.doc[owner], side.label[owner], start, end, owner, None)


def _cut_side(side: Corpus, begins: Longs, ends: Longs, stride: np.int64) -> InstanceTokens:
    """Return the distinct tokens of annotations, with documents and tokens in a line, `stride` apart.

    The tokens of the text that lie in an annotation are a range of all tokens; an annotation adds those of its range
    that are beyond the ones before it, so that nested annotations repeat none. If its start or its end is inside of a
    token, it has a part of that token as well.
    """
    low, high = side.doc * stride + side.start, side.doc * stride + side.end
    chain = side.doc.astype(np.int64) * (int(side.label.max(initial=0)) + 1) + side.label
    order = np.argsort(chain, kind="stable")
    first, beyond = np.searchsorted(begins, low[order]), np.searchsorted(ends, high[order], "right")
    first = np.maximum(first, _reached(chain[order], beyond))
    counts = np.maximum(beyond - first, 0)
    number = ranges(first, counts)
    owner, start, end = np.repeat(order, counts), begins[number], ends[number]
    if len(begins):
        last = len(begins) - 1
        at_low = np.minimum(np.searchsorted(ends, low, "right"), last)
        at_high = np.maximum(np.searchsorted(begins, high) - 1, 0)
        rows = np.concatenate([np.arange(len(low)), np.flatnonzero(at_high != at_low)])
        token = np.concatenate([at_low, at_high[rows[len(low) :]]])
        begin, finish = np.maximum(begins[token], low[rows]), np.minimum(ends[token], high[rows])
        part = (begin < finish) & ((begin > begins[token]) | (finish < ends[token]))
        rows, begin, finish = rows[part], begin[part], finish[part]
        kept = _once(rows, finish, begin, chain[rows])
        owner = np.concatenate([owner, rows[kept]])
        start, end = np.concatenate([start, begin[kept]]), np.concatenate([end, finish[kept]])
    doc = side.doc[owner]
    return InstanceTokens(doc, side.label[owner], start - doc * stride, end - doc * stride, owner, None)


def _reached(chain: Longs, beyond: Longs) -> Longs:
    """Return the largest number before each row of its chain; 0 for the first row."""
    follows = np.concatenate([[False], chain[1:] == chain[:-1]])[: len(chain)]
    stride = int(beyond.max(initial=0)) + 1
    base = np.cumsum(~follows) * stride
    furthest = np.maximum.accumulate(base + beyond) - base
    return np.where(follows, np.concatenate([[0], furthest[:-1]])[: len(chain)], 0)


def _once(owner: Longs, *columns: NDArray[Any]) -> Longs:
    """Return one row for each combination of values, that of the first owner."""
    order = np.lexsort((owner, *columns))
    differs = np.zeros(max(len(order) - 1, 0), np.bool_)
    for column in columns:
        differs |= column[order[1:]] != column[order[:-1]]
    kept: Longs = order[np.concatenate([[True], differs])[: len(order)]]
    return kept


def _cut_by(pairing: Pairing, named: str) -> tuple[InstanceTokens, InstanceTokens]:
    """Cut annotations with a tokenizer, each text once; texts of annotations need not be those of the document."""
    cut = tokenizer(named)
    annotations: dict[str, int] = {}
    words: dict[str, int] = {}
    pieces: list[tuple[int, int, int]] = []
    bounds = [0]

    def code(text: str) -> int:
        if text not in annotations:
            annotations[text] = len(annotations)
            pieces.extend((start, end, words.setdefault(text[start:end], len(words))) for start, end in cut(text))
            bounds.append(len(pieces))
        return annotations[text]

    sides = []
    for side in (pairing.gold, pairing.pred):
        given = side.attrs.get(TEXT)
        codes = np.full(len(side.doc), -1)
        if given is not None:
            used, place = np.unique(given.codes, return_inverse=True)
            codes = np.array([-1 if one < 0 else code(str(given.values[one])) for one in used.tolist()] or [-1])[place]
        open_ = np.flatnonzero(codes < 0)
        _refuse_without_text(pairing, side.doc[open_])
        rows = zip(side.doc[open_].tolist(), side.start[open_].tolist(), side.end[open_].tolist(), strict=True)
        codes[open_] = [code((pairing.text[doc] or "")[start:end]) for doc, start, end in rows]
        sides.append((side, codes))
    flat = np.array(pieces, np.int64).reshape(-1, 3)
    low = np.array(bounds)
    found = []
    for side, codes in sides:
        counts = (low[1:] - low[:-1])[codes]
        owner = np.repeat(np.arange(len(side.doc)), counts)
        of = flat[ranges(low[:-1][codes], counts)]
        doc, label, start, text = side.doc[owner], side.label[owner], side.start[owner] + of[:, 0], of[:, 2]
        kept = _once(owner, text, start, label, doc)
        end = start + of[:, 1] - of[:, 0]
        found.append(InstanceTokens(doc[kept], label[kept], start[kept], end[kept], owner[kept], text[kept]))
    return found[0], found[1]


def _linked(pairing: Pairing) -> tuple[Longs, Longs]:
    """Return a number for each gold and predicted annotation: those that overlaps of one kind connect share it.

    The partners of an annotation that start inside it are neighbours, so that it is enough to connect it with the first
    of them and each of them with the next: no list of all overlaps is needed.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    sides = pairing.gold, pairing.pred
    size = len(sides[0].doc)
    empty = np.concatenate([side.start == side.end for side in sides])  # overlaps only another one in the same place
    columns = [(one.astype(np.int64), other.astype(np.int64)) for one, other in ((s.doc, s.label) for s in sides)]
    doc, label = (np.concatenate([columns[0][i], columns[1][i]]) for i in range(2))
    stride = 2 + max(int(side.end.max(initial=0)) for side in sides)
    kind = (doc * len(pairing.labels) + label) * 2 + empty
    if len(pairing) * len(pairing.labels) * 2 * stride >= 2**63:
        kind = np.unique(kind, return_inverse=True)[1]
    starts = kind * stride + np.concatenate([side.start for side in sides])
    ends = kind * stride + np.concatenate([side.end for side in sides]) + empty
    orders = [np.argsort(starts[:size], kind="stable"), size + np.argsort(starts[size:], kind="stable")]
    edges = []
    for number, (mine, other) in enumerate((orders, orders[::-1])):
        first = np.searchsorted(starts[other], starts[mine], "right" if number else "left")
        beyond = np.searchsorted(starts[other], ends[mine])
        some = np.flatnonzero(first < beyond)
        edges.append((mine[some], other[first[some]]))
        steps = np.zeros(len(other) + 1, np.int64)
        np.add.at(steps, first[some], 1)
        np.add.at(steps, beyond[some] - 1, -1)
        joined = np.flatnonzero(np.cumsum(steps[:-1]) > 0)
        edges.append((other[joined], other[joined + 1]))
    one, two = (np.concatenate([edge[i] for edge in edges]) for i in range(2))
    graph = coo_array((np.ones(len(one), np.int8), (one, two)), shape=(len(doc), len(doc)))
    found = connected_components(graph, directed=False)[1].astype(np.int64) if len(doc) else np.zeros(0, np.int64)
    return found[:size], found[size:]


def _groups_by_text(letters: Letters, linked: Longs, gold: InstanceTokens, pred: InstanceTokens) -> tuple[Longs, Bools]:
    """Return an order of all tokens in which equal ones of connected annotations are neighbours, and where they change.

    Texts are compared by a hash of their characters; if tokens with the same hash differ after all, by themselves.
    """
    doc, start, end = (np.concatenate([getattr(gold, name), getattr(pred, name)]) for name in ("doc", "start", "end"))
    length = end - start
    codes, at = letters.places(doc, start)
    often = int(length.sum()) > FEW + 2 * len(codes)  # parts of the same long words
    hashed = _rolling_hashes(codes, at, length) if often else _hashes(codes.take(ranges(at, length)), length)
    hashed = mixed(mixed(linked.astype(np.uint64)) + hashed)
    order = np.argsort(hashed, kind="stable" if often else None)
    new = hashed[order][1:] != hashed[order][:-1]
    starts = np.concatenate([[True], new])[: len(order)]
    twin = np.empty(len(order), np.int64)
    twin[order] = order[np.flatnonzero(starts)][np.cumsum(starts) - 1]
    if (linked == linked[twin]).all() and (length == length[twin]).all() and _same(codes, at, at[twin], length):
        return order, new
    texts: dict[str, int] = {}
    places = zip(doc.tolist(), start.tolist(), end.tolist(), strict=True)
    text = np.array([texts.setdefault((letters.strings[d] or "")[a:b], len(texts)) for d, a, b in places], np.int64)
    order = np.lexsort((text, linked))
    return order, (np.diff(linked[order]) != 0) | (np.diff(text[order]) != 0)


def _hashes(characters: NDArray[Any], length: Longs) -> NDArray[np.uint64]:
    """Return a hash of each text; the texts are one after the other, and none of them is empty."""
    if not len(length):
        return np.zeros(0, np.uint64)
    first = np.cumsum(length) - length
    place = (np.arange(len(characters)) - np.repeat(first, length)).astype(np.uint64)
    return np.add.reduceat(mixed(characters.astype(np.uint64) + (place << np.uint64(21))), first)


def _rolling_hashes(codes: NDArray[Any], at: Longs, length: Longs) -> NDArray[np.uint64]:
    """Return a hash of each text, which may overlap others, from one pass over all characters.

    It is a polynomial of the characters modulo two primes, at a random number, so that nobody can prepare collisions.
    """
    found = np.zeros(len(at), np.uint64)
    for prime in PRIMES:
        power = _powers(2**16 + randbelow(2**30), len(codes) + 1, prime)
        sums = np.zeros(len(codes) + 1, np.int64)
        np.cumsum((codes.astype(np.int64) + 1) * power[:-1] % prime, out=sums[1:])
        part = (sums[at + length] - sums[at]) % prime * power[len(codes) - at] % prime
        found = (found << np.uint64(31)) + part.astype(np.uint64)
    return found


def _powers(number: int, count: int, prime: int) -> Longs:
    """Return the powers of a number from 0 on, modulo a prime.

    >>> _powers(3, 5, 7).tolist()
    [1, 3, 2, 6, 4]
    """
    found = np.ones(count, np.int64)
    known = 1
    while known < count:
        more = found[known : 2 * known]
        more[:] = found[: len(more)] * pow(number, known, prime) % prime
        known *= 2
    return found


def _same(codes: NDArray[Any], one: Longs, other: Longs, length: Longs) -> bool:
    """Return whether the texts at these places are equal; long ones are compared one by one, others in blocks."""
    apart = one != other
    for row in np.flatnonzero(apart & (length > LONG)).tolist():
        a, b, size = one[row], other[row], length[row]
        if codes[a : a + size].tobytes() != codes[b : b + size].tobytes():
            return False
    rows = np.flatnonzero(apart & (length <= LONG))
    for some in np.split(rows, range(BLOCK, len(rows), BLOCK)):
        a, b = (codes.take(ranges(at[some], length[some])) for at in (one, other))
        if (a != b).any():
            return False
    return True


def _codes(*columns: tuple[NDArray[Any], NDArray[Any]]) -> Longs:
    """Return a number for each row of the two sides, one after the other; equal numbers are equal in all columns."""
    code = np.zeros(len(columns[0][0]) + len(columns[0][1]), np.int64)
    for mine, other in columns:
        column = np.concatenate([mine, other]).astype(np.int64)
        values = int(column.max(initial=0)) + 1
        if (int(code.max(initial=0)) + 1) * values >= 2**63:
            code = np.unique(code, return_inverse=True)[1]
        code = code * values + column
    return code


def _refuse_without_text(pairing: Pairing, docs: Ints) -> None:
    if pairing.letters.complete:
        return
    for doc in np.unique(docs).tolist():
        if pairing.text[doc] is None:
            name = printable(pairing.gold.ids[doc])
            raise InputError(
                f'the document "{name}" has no text, which sandbox.token needs; add "text" to the gold data, '
                "or to every annotation."
            )
