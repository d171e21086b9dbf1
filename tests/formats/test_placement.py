"""Placement of mentions on a text, against a slow search that follows the rule word by word."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanscore.formats.placement import place, spans

PIECES = ("Ann", "ann", "AN", "n", "Bob", " ", "  ", "\n", ".", "-", "一", "ß", "ss", "e\u0301", "é", "İ", "😀", "1")


@given(
    text=st.lists(st.sampled_from(PIECES), max_size=14).map("".join),
    mentions=st.lists(st.lists(st.sampled_from(PIECES), max_size=3).map("".join), max_size=8),
)
def test_the_rule(text: str, mentions: list[str]) -> None:
    assert place(text, mentions) == slow(text, mentions)


def slow(text: str, mentions: list[str]) -> list[tuple[int, int] | None]:
    found: list[tuple[int, int] | None] = []
    after = 0
    everything = [(a, b) for a in range(len(text)) for b in range(a + 1, len(text) + 1)]
    whole = [(a, b) for a, b in everything if not inside_a_word(text, a) and not inside_a_word(text, b)]
    bare = [(a, b) for a, b in whole if not text[a].isspace() and not text[b - 1].isspace()]
    for mention in mentions:
        wanted = mention.strip()
        chosen = None
        exact = [(a, b) for a, b in whole if text[a:b] == wanted]
        blind = [(a, b) for a, b in bare if folded(text[a:b]) == folded(wanted)] if wanted else []
        for candidates in (exact, blind):
            free = [one for one in candidates if all(apart(one, other) for other in found if other)]
            new = [one for one in candidates if one not in found]
            behind = [one for one in free if one[0] >= after]
            chosen = chosen or next(iter([*behind, *free, *new]), None)
        if chosen:
            after = chosen[1]
        found.append(chosen)
    return found


def inside_a_word(text: str, at: int) -> bool:
    if not 0 < at < len(text):
        return False
    before, behind = text[at - 1], text[at]
    if unicodedata.category(behind).startswith("M"):
        return True
    unspaced = "一" in (before, behind)
    return all(c.isalnum() or c == "_" or unicodedata.category(c)[0] == "M" for c in (before, behind)) and not unspaced


def folded(text: str) -> str:
    return "".join(unicodedata.normalize("NFD", c).casefold() for c in text if not c.isspace())


def apart(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return a[1] <= b[0] or b[1] <= a[0]


@pytest.mark.parametrize(
    ("text", "mentions", "expected"),
    [
        ("Alexandria met Alex.", ["Alex", "Alex"], ["Alex@15", None]),
        ("Ann, ann and ANN", ["ANN", "Ann", "ann", "Ann"], ["ANN@13", "Ann@0", "ann@5", None]),
        ("Call 555 1234 or 5551234", ["5551234", "5551234"], ["5551234@17", "555 1234@5"]),
        ("Zoe\u0308 and Zoë", ["Zoë", "Zoe"], ["Zoë@9", None]),
        ("张伟去了北京", ["北京", "张伟"], ["北京@4", "张伟@0"]),
        ("Ann's dog, Ann-Marie", ["Ann", "Ann", "Ann"], ["Ann@0", "Ann@11", None]),
        (
            "University of Washington",
            ["University of Washington", "Washington"],
            ["University of Washington@0", "Washington@14"],
        ),
        ("MASSE", ["Maße", "Mas"], ["MASSE@0", None]),
        ("no names", ["", " ", "\n"], [None, None, None]),
    ],
)
def test_cases(text: str, mentions: list[str], expected: list[str | None]) -> None:
    found = [None if one is None else f"{text[slice(*one)]}@{one[0]}" for one in place(text, mentions)]
    assert found == expected


def test_repeated_places_are_not_searched_again() -> None:
    """A hundred thousand mentions of two names in a long text: quadratic work would take hours."""
    found = place("ab " * 50_000, ["ab"] * 60_000 + ["AB"] * 20_000 + ["ba"] * 20_000)
    assert found[49_999] == (149_997, 149_999)
    assert found[50_000:] == [None] * 50_000
    assert place("a" * 50_000, ["a" * n for n in range(1, 500)]) == [None] * 499


def test_what_is_not_there_keeps_label_score_and_attributes() -> None:
    _, made = spans("Ann", [("Ann", "PERSON", 0.5, {"kbid": "Q1"}), ("Eve", "PERSON", 0.5, {"kbid": "Q2"})])
    assert (made.start, made.end, made.label, made.score) == (3, 3, "PERSON", 0.5)
    assert made.attrs == {"kbid": "Q2", "invented": "Eve"}


@pytest.mark.parametrize(
    ("text", "mention", "expected"),
    [
        ("הוא גר בתל אביב", "תל אביב", (8, 15)),
        ("הוא גר בתל אביב, תל אביב", "תל אביב", (17, 24)),
        ("وصل بالقاهرة", "القاهرة", (5, 12)),
        ("وصل بالقاهرة", "قاهرة", (7, 12)),
        ("הוא גר בתל אביבית", "תל אביב", None),
        ("ירושלים", "שלים", None),
    ],
)
def test_attached_prefixes_are_the_last_resort(text: str, mention: str, expected: tuple[int, int] | None) -> None:
    assert place(text, [mention]) == [expected]
