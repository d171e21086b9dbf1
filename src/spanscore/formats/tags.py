"""Convert token tags to spans: IO, IOB1, IOB2, BILUO and IOBES, with a choice of how to repair illegal sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Scheme = Literal["IO", "IOB1", "IOB2", "BILUO", "IOBES"]
Repair = Literal["begin", "discard"]
SCHEMES: tuple[str, ...] = get_args(Scheme)
REPAIRS: tuple[str, ...] = get_args(Repair)

_PREFIXES = {
    "IO": "",
    "IOB1": "IB",
    "IOB2": "IB",
    "BILUO": "BILU",
    "IOBES": "IBES",
}


def split_tag(tag: str, scheme: str) -> tuple[str, str]:
    """Split a tag into its position (B, I, E, S or O) and its label; L and U are other names for E and S."""
    if tag in ("O", ""):
        return "O", ""
    if scheme == "IO":
        return "I", tag.removeprefix("I-")
    position, dash, label = tag.partition("-")
    if dash and label and position in _PREFIXES[scheme]:
        return {"L": "E", "U": "S"}.get(position, position), label
    raise ValueError(tag)


def guess_scheme(sentences: Iterable[Sequence[str]]) -> Scheme:
    """Guess the scheme of the tags of a file. IOB1 and IOB2 differ in when a B is required.

    >>> guess_scheme([["I-PER", "I-PER", "B-PER"]]), guess_scheme([["B-PER", "O"]]), guess_scheme([["PER", "O"]])
    ('IOB1', 'IOB2', 'IO')
    """
    kept = [list(tags) for tags in sentences]
    parts = {tag.partition("-")[0] if "-" in tag else "" for tags in kept for tag in tags if tag not in ("O", "")}
    prefixed = sum(tag[1:2] == "-" and tag[0] in "BILUES" for tags in kept for tag in tags)
    others = sum(tag not in ("O", "") for tags in kept for tag in tags) - prefixed
    if others > prefixed or not parts & set("BSEUL"):
        return "IO"
    if parts & set("LU"):
        return "BILUO"
    if parts & set("ES"):
        return "IOBES"
    legal_iob2 = needless_b = True
    for tags in kept:
        for before, tag in zip(["O", *tags], tags, strict=False):
            same = before != "O" and before[2:] == tag[2:]
            if tag.startswith("I-") and not same:
                legal_iob2 = False
            if tag.startswith("B-") and not same:
                needless_b = False
    return "IOB1" if not legal_iob2 and needless_b else "IOB2"


def decode_tags(
    tags: Sequence[str], scheme: Scheme, repair: Repair = "begin"
) -> tuple[list[tuple[int, int, str]], int]:
    """Return spans as (first token, token after the last, label), and the number of illegal tags.

    A tag that continues nothing begins a span (`begin`, as conlleval does), or its run is discarded (`discard`). In a
    scheme that closes spans, an unclosed span ends with its last tag.

    >>> decode_tags(["I-PER", "I-PER", "O", "B-LOC"], "IOB2")
    ([(0, 2, 'PER'), (3, 4, 'LOC')], 1)
    >>> decode_tags(["I-PER", "I-PER", "O", "B-LOC"], "IOB2", "discard")
    ([(3, 4, 'LOC')], 1)
    """
    spans: list[tuple[int, int, str]] = []
    repaired = 0
    closes = scheme in ("BILUO", "IOBES")
    begin, label, legal = -1, "", True

    def end(at: int) -> None:
        nonlocal begin
        if begin >= 0 and (legal or repair == "begin"):
            spans.append((begin, at, label))
        begin = -1

    for at, tag in enumerate([*tags, "O"]):
        position, name = split_tag(tag, scheme)
        goes_on = begin >= 0 and position in ("I", "E") and name == label
        if goes_on:
            if position == "E":
                end(at + 1)
            continue
        if begin >= 0:
            if closes:
                repaired += 1
            end(at)
        if position == "O":
            continue
        begin, label = at, name
        legal = position in ("B", "S") or scheme in ("IO", "IOB1")
        repaired += not legal
        if position in ("S", "E"):
            end(at + 1)
    return spans, repaired
