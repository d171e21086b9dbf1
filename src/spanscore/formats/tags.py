"""Token tags as spans: every scheme is a table of transitions, from which reading, checking and repair follow.

Tags are B-X, I-X, E-X, S-X and O, or their other names (L and U for E and S, M and W for I and S), with the prefix
first or last, or without a type.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Repair = Literal["begin", "discard"]
REPAIRS: tuple[str, ...] = ("begin", "discard")
UNTYPED = "ENTITY"
"""The label of spans whose tags have no type."""


class Tag(NamedTuple):
    """A tag: its position (B, I, E, S or O) and its label."""

    position: str
    label: str


OUTSIDE = Tag("O", "")


@dataclass(frozen=True)
class Scheme:
    """A tag scheme: its prefixes, and the transitions that start, continue and end a span.

    A transition is written as the two positions and, if the labels matter, `=` (same) or `!` (different); `*` is any
    position: `II=` is I after I with the same label.
    """

    name: str
    prefixes: dict[str, str]
    """Prefix -> position."""
    starts: frozenset[str]
    continues: frozenset[str]
    ends: frozenset[str]

    def starts_span(self, before: Tag, tag: Tag) -> bool:
        """Return whether a span starts at a tag."""
        return tag.position != "O" and _holds(self.starts, before, tag)

    def continues_span(self, before: Tag, tag: Tag) -> bool:
        """Return whether a tag continues the span of the tag before it."""
        return before.position != "O" and tag.position != "O" and _holds(self.continues, before, tag)

    def ends_span(self, before: Tag, tag: Tag) -> bool:
        """Return whether the span of the tag before is complete when this tag does not continue it."""
        return before.position != "O" and _holds(self.ends, before, tag)

    def is_legal(self, before: Tag, tag: Tag) -> bool:
        """Return whether a tag may follow another one."""
        if self.continues_span(before, tag):
            return True
        begins = tag.position == "O" or self.starts_span(before, tag)
        return begins and (before.position == "O" or self.ends_span(before, tag))


def _holds(transitions: frozenset[str], before: Tag, tag: Tag) -> bool:
    relation = "=" if before.label == tag.label else "!"
    return any(
        f"{a}{b}{end}" in transitions
        for a in (before.position, "*")
        for b in (tag.position, "*")
        for end in (relation, "")
    )


def _scheme(name: str, prefixes: str, starts: str, continues: str, ends: str) -> Scheme:
    other = {"L": "E", "U": "S", "M": "I", "W": "S"}
    known = {prefix: other.get(prefix, prefix) for prefix in prefixes if prefix != "O"}
    return Scheme(name, known, frozenset(starts.split()), frozenset(continues.split()), frozenset(ends.split()))


_CLOSED = ("*B *S", "BI= BE= II= IE=", "E* S*")
SCHEMES: dict[str, Scheme] = {
    one.name: one
    for one in (
        _scheme("IO", "I", "OI II!", "II=", "II! IO"),
        _scheme("IOB1", "IB", "OI II! BI IB= BB=", "BI= II=", "II! IO IB BO BI! BB="),
        _scheme("IOB2", "IB", "*B", "BI= II=", "IO II! IB BO BI! BB"),
        _scheme("IOE1", "IE", "OI II! EI EE=", "II= IE=", "II! IO IE! EI= EE="),
        _scheme("IOE2", "IE", "OI OE EI EE II! IE!", "IE= II=", "E*"),
        _scheme("IOBES", "IBES", *_CLOSED),
        _scheme("BILUO", "BILU", *_CLOSED),
        _scheme("BMES", "BMES", *_CLOSED),
        _scheme("BMEOW", "BMEW", *_CLOSED),
    )
}
"""Scheme name -> its table."""


@lru_cache(maxsize=1 << 16)
def split_tag(tag: str, scheme: str, order: str = "prefix") -> Tag:
    """Split a tag into position and label; raise ValueError if it is not a tag of the scheme.

    >>> split_tag("U-PER", "BILUO"), split_tag("NP-B", "IOB2", "suffix"), split_tag("B", "IOB2")
    (Tag(position='S', label='PER'), Tag(position='B', label='NP'), Tag(position='B', label='ENTITY'))
    """
    if tag in ("O", ""):
        return OUTSIDE
    prefixes = SCHEMES[scheme].prefixes
    if tag in prefixes and (scheme != "IO" or tag == "I"):
        return Tag(prefixes[tag], UNTYPED)
    first, dash, rest = tag.partition("-") if order == "prefix" else tag.rpartition("-")
    position, label = (first, rest) if order == "prefix" else (rest, first)
    if dash and label and position in prefixes:
        return Tag(prefixes[position], label)
    if scheme == "IO" and not (dash and len(position) == 1 and not label):
        return Tag("I", tag)
    raise ValueError(tag)


@lru_cache(maxsize=1 << 16)
def looks_like_tag(tag: str, order: str = "prefix") -> bool:
    """Return whether a value is O or has the form of a tag with a prefix.

    >>> [looks_like_tag(tag) for tag in ("O", "B-PER", "B", "NNP", "I-", "2010-01-16")]
    [True, True, True, False, False, False]
    """
    position, dash, label = tag.partition("-")
    if order == "suffix":
        label, dash, position = tag.rpartition("-")
    return tag == "O" or (len(position) == 1 and position in "BIESLUMW" and bool(label) == bool(dash) and tag != "-")


def guess_scheme(sentences: Iterable[Sequence[str]], order: str = "prefix") -> str:
    """Guess the scheme of a file's tags: the first one in which all tags and all transitions are legal.

    If none is, it is the scheme with the fewest illegal transitions among those that have all prefixes.

    >>> guess_scheme([["I-PER", "I-PER", "B-PER"]]), guess_scheme([["B-PER", "O"]]), guess_scheme([["PER", "O"]])
    ('IOB1', 'IOB2', 'IO')
    """
    return scheme_of(transitions(sentences), order)


def transitions(sentences: Iterable[Iterable[str]]) -> Counter[tuple[str, str]]:
    """Count which tag follows which; O is before the first one of a sentence and after the last one.

    >>> dict(transitions([["B", "I"]]))
    {('O', 'B'): 1, ('B', 'I'): 1, ('I', 'O'): 1}
    """
    return Counter(pair for tags in sentences for pair in pairwise(chain("O", tags, "O")))


def scheme_of(found: Counter[tuple[str, str]], order: str = "prefix") -> str:
    """Guess the scheme from the transitions of a file, as `guess_scheme` does."""
    used = {tag for pair in found for tag in pair} - {"O", ""}
    tagged = sum(looks_like_tag(tag, order) for tag in used)
    typed = any(looks_like_tag(tag, order) and "-" in tag for tag in used)
    if 2 * tagged < len(used) or (used and 2 * tagged == len(used) and not typed):
        return "IO"
    positions = {tag[0] if order == "prefix" else tag[-1] for tag in used if looks_like_tag(tag, order)}
    candidates = [
        name
        for name in ("IOB2", "IOB1", "IOE2", "IOE1", "IOBES", "BILUO", "BMES", "BMEOW")
        if positions <= set(SCHEMES[name].prefixes)
    ]
    if positions <= {"I"} or not candidates:
        return "IO"
    if "S" in positions or ({"B", "E"} <= positions and "M" not in positions):
        candidates = [name for name in candidates if name not in ("BILUO", "BMES", "BMEOW")] or candidates
    pairs: Counter[tuple[str, str]] = Counter()
    for (before, tag), count in found.items():
        pairs[before if looks_like_tag(before, order) else "O", tag if looks_like_tag(tag, order) else "O"] += count
    return min(candidates, key=lambda name: count_illegal(pairs, name, order))


def count_illegal(pairs: Counter[tuple[str, str]], scheme: str, order: str = "prefix") -> int:
    """Return how many transitions are not legal in a scheme."""
    parsed = ((split_tag(a, scheme, order), split_tag(b, scheme, order), count) for (a, b), count in pairs.items())
    return sum(count for before, tag, count in parsed if not _is_legal(scheme, before, tag))


def decode_tags(
    tags: Sequence[str], scheme: str, repair: Repair = "begin", order: str = "prefix"
) -> tuple[list[tuple[int, int, str]], int]:
    """Return spans as (first token, token after the last, label), and the number of illegal transitions.

    With `begin`, a tag that continues nothing begins a span, and a span that is not closed ends with its last tag, as
    in conlleval and seqeval's default mode. With `discard`, only spans whose transitions are all in the scheme's table
    are kept, as in seqeval's strict mode.

    >>> decode_tags(["I-PER", "I-PER", "O", "B-LOC"], "IOB2")
    ([(0, 2, 'PER'), (3, 4, 'LOC')], 1)
    >>> decode_tags(["I-PER", "I-PER", "O", "B-LOC"], "IOB2", "discard")
    ([(3, 4, 'LOC')], 1)
    """
    return list(decoded(tags, scheme, repair, order)), count_illegal(transitions([tags]), scheme, order)


def decoded(
    tags: Iterable[str], scheme: str, repair: Repair = "begin", order: str = "prefix"
) -> Iterator[tuple[int, int, str]]:
    """Yield the spans of tags one by one, as `decode_tags` returns them."""
    parsed = chain((split_tag(tag, scheme, order) for tag in tags), [OUTSIDE])
    return _repaired(parsed) if repair == "begin" else _strict(parsed, SCHEMES[scheme])


def encode_tags(spans: Iterable[tuple[int, int, str]], count: int, scheme: str) -> list[str]:
    """Return the tags of `count` tokens for spans that do not overlap, in order; the opposite of `decode_tags`.

    >>> encode_tags([(0, 2, "PER"), (2, 3, "PER")], 4, "IOB2"), encode_tags([(0, 2, "PER"), (2, 3, "PER")], 4, "BILUO")
    (['B-PER', 'I-PER', 'B-PER', 'O'], ['B-PER', 'L-PER', 'U-PER', 'O'])
    """
    prefixes = {position: prefix for prefix, position in SCHEMES[scheme].prefixes.items()}
    tags = ["O"] * count
    before: tuple[int, str] | None = None
    for first, last, label in spans:
        adjacent = before == (first, label)
        positions = ["I"] * (last - first)
        if scheme == "IOB1" and adjacent:
            positions[0] = "B"
        elif scheme == "IOE1" and adjacent:
            tags[first - 1] = f"E-{label}"
        elif scheme == "IOE2":
            positions[-1] = "E"
        elif scheme == "IOB2":
            positions[0] = "B"
        elif "S" in prefixes:
            positions[0], positions[-1] = "B", "E"
            positions = ["S"] if len(positions) == 1 else positions
        tags[first:last] = [f"{prefixes[position]}-{label}" for position in positions]
        before = (last, label)
    return tags


@lru_cache(maxsize=1 << 16)
def _is_legal(scheme: str, before: Tag, tag: Tag) -> bool:
    return SCHEMES[scheme].is_legal(before, tag)


def _repaired(tags: Iterable[Tag]) -> Iterator[tuple[int, int, str]]:
    """Begin a span wherever a tag does not continue one, and end it wherever it is not continued."""
    begin, label = -1, ""
    for at, tag in enumerate(tags):
        if begin >= 0 and not (tag.position in "IE" and tag.label == label):
            yield begin, at, label
            begin = -1
        if tag.position == "O":
            continue
        if begin < 0:
            begin, label = at, tag.label
        if tag.position in "ES":
            yield begin, at + 1, label
            begin = -1


def _strict(tags: Iterable[Tag], table: Scheme) -> Iterator[tuple[int, int, str]]:
    """Keep the spans that start, go on and end as the table says."""
    begin, label, before = -1, "", OUTSIDE
    for at, tag in enumerate(tags):
        if begin >= 0 and not table.continues_span(before, tag):
            if table.ends_span(before, tag):
                yield begin, at, label
            begin = -1
        if begin < 0 and table.starts_span(before, tag):
            begin, label = at, tag.label
        before = tag
