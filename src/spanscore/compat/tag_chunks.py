"""Entities of tag sequences as columns, found as seqeval 1.2.2 finds them, for all sentences at once.

All sentences are one column of tags with an O after each. Whether an entity begins, continues or ends at a tag depends
only on the tag and the one before it, so that every rule is a comparison of two columns.
"""

from __future__ import annotations

import warnings
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from spanscore.corpus import LabelTable
from spanscore.formats import tag_columns
from spanscore.formats.tag_columns import Chunks, TagTable, before, last_before
from spanscore.formats.tags import SCHEMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from spanscore.corpus.columns import Bools, Ints

UNTYPED = "_"
POSITIONS = "OBIES."
"""The positions that the default mode has rules for; all others are one class."""
OTHER = len(POSITIONS)
BEFORE_ALL = -1
"""The code of what stands before the first tag: outside, and of no type."""
STACK = 5
"""Frames from a warning in this module to the caller of a function in `seqeval`."""


def columns(sides: Sequence[Sequence[Sequence[str]]]) -> tuple[list[Ints], list[str]]:
    """Return the codes of all tags of each side, with O after each sentence, and the distinct tags."""
    table = LabelTable(O=0)
    return [_with_ends(_codes(side, table), side) for side in sides], list(table)


def _codes(side: Sequence[Sequence[str]], table: LabelTable) -> NDArray[np.uint8] | Ints:
    """Return the codes of all tags: as bytes, which are faster to build, unless there are too many distinct ones."""
    try:
        return np.frombuffer(bytes(map(table.__getitem__, chain.from_iterable(side))), np.uint8)
    except ValueError:
        return np.fromiter(map(table.__getitem__, chain.from_iterable(side)), np.int32)


def _with_ends(codes: NDArray[np.uint8] | Ints, side: Sequence[Sequence[str]]) -> Ints:
    """Return the codes with that of O, which is 0, after each sentence."""
    lengths = np.fromiter(map(len, side), np.int64)
    last = np.cumsum(lengths + 1) - 1
    found = np.empty(len(codes) + len(lengths), np.int32)
    inside = np.ones(len(found), np.bool_)
    inside[last] = False
    found[last], found[inside] = 0, codes
    return found


def default_chunks(
    sides: Sequence[Sequence[Sequence[str]]], *, suffix: bool
) -> tuple[list[Chunks], tuple[str, ...], int]:
    """Return the entities of each side as conlleval finds them, the names of types, and the number of tags.

    An entity ends before a tag of another type, so that illegal tags begin and end entities too.
    """
    codes, tags = columns(sides)
    _warn_of_odd_tags(tags, suffix=suffix)
    split = [_split_default(tag, suffix=suffix) for tag in tags]
    table = TagTable.of(tags, POSITIONS, split)
    return [_default(side, table) for side in codes], table.types, max(map(len, codes))


def strict_chunks(
    sides: Sequence[Sequence[Sequence[str]]], scheme: str, *, suffix: bool
) -> tuple[list[Chunks], tuple[str, ...], int]:
    """Return the entities of each side whose transitions the scheme allows, the names of types, and the size."""
    codes, tags = columns(sides)
    prefixes = {"O": "O", **SCHEMES[scheme].prefixes}
    split = []
    for tag in tags:
        prefix, name = (tag[-1:], tag[:-1]) if suffix else (tag[:1], tag[1:])
        if prefix not in prefixes:
            allowed = ", ".join(prefixes)
            raise ValueError(f"Invalid token is found: {tag}. Allowed prefixes are: {allowed}.")
        split.append((prefixes[prefix], name.strip("-") or UNTYPED))
    table = TagTable.of(tags, tag_columns.POSITIONS, split)
    return [tag_columns.strict_chunks(side, table, scheme) for side in codes], table.types, max(map(len, codes))


def _split_default(tag: str, *, suffix: bool) -> tuple[str, str]:
    """Return the position and the type of a tag; a tag without a type has the type _."""
    if suffix:
        return tag[-1], tag[:-1].rsplit("-", maxsplit=1)[0] or UNTYPED
    return tag[0], tag[1:].split("-", maxsplit=1)[-1] or UNTYPED


def _warn_of_odd_tags(tags: Iterable[str], *, suffix: bool) -> None:
    """Warn once of each tag that does not look like one."""
    for tag in tags:
        looks = tag.endswith(("-B", "-I", "-E", "-S")) if suffix else tag.startswith(("B-", "I-", "E-", "S-"))
        if not looks and tag not in ("O", "B", "I", "E", "S"):
            warnings.warn(f"{tag} seems not to be NE tag.", stacklevel=STACK)


def _default(codes: Ints, table: TagTable) -> Chunks:
    starts, ends = _borders(before(codes, BEFORE_ALL), codes, table)
    end = np.flatnonzero(ends)
    return Chunks(last_before(starts, end), end, table.type.take(codes.take(end - 1)))


def _borders(earlier: Ints, later: Ints, table: TagTable) -> tuple[Bools, Bools]:
    """Return where entities start, and where they end, between two tags; each distinct pair is looked at once."""
    tags = len(table.tags) + 1
    if tags * tags < len(later):
        every = np.arange(-1, tags - 1, dtype=np.int32)
        grid = _borders(every.repeat(tags), np.tile(every, tags), table)
        pair = (earlier + np.int32(1)) * np.int32(tags) + (later + np.int32(1))
        return grid[0].take(pair), grid[1].take(pair)
    position = np.append(table.position, np.int8(POSITIONS.index("O")))
    kind = np.append(table.type, np.int32(BEFORE_ALL))
    changed = kind.take(earlier, mode="wrap") != kind.take(later, mode="wrap")
    first, second = position.take(earlier, mode="wrap"), position.take(later, mode="wrap")
    classes: NDArray[np.int8] = first * np.int8(OTHER + 1) + second
    return _STARTS.take(classes) | (changed & _TYPED.take(second)), _ENDS.take(classes) | (changed & _TYPED.take(first))


def _pairs(listed: str) -> Bools:
    """Return a table of pairs of positions; `E*` is E before anything."""
    size = OTHER + 1
    marked = np.zeros((size, size), np.bool_)
    for one in listed.split():
        before, after = (slice(None) if position == "*" else POSITIONS.index(position) for position in one)
        marked[before, after] = True
    return marked.ravel()


_STARTS = _pairs("*B *S EE EI SE SI OE OI")
_ENDS = _pairs("E* S* BB BS BO IB IS IO")
_TYPED = np.array([position not in "O." for position in POSITIONS] + [True])
"""Positions at which another type begins an entity, and after which another type ends one."""
