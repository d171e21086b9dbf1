"""Errors for users; each message says in one sentence what is wrong, where, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


LONGEST = 1500
"""Maximum number of characters of a message about data, which may quote names from it."""


class SpanscoreError(Exception):
    """Base class of all errors that a user can cause and fix."""


class InputError(SpanscoreError):
    """Invalid or unreadable data; `where` is a file and line, or a document."""

    of_another_file = False
    """Whether it is about a file that is read for the sake of another one, such as the gold data for their texts."""

    def __init__(self, message: str, where: str = "") -> None:
        super().__init__(printable(f"{where}: {message}" if where else message, limit=LONGEST))
        self.has_place = bool(where)


class UsageError(SpanscoreError):
    """A call with an unknown name, an invalid value, or options that cannot be combined."""


class MissingExtraError(SpanscoreError):
    """A feature whose optional dependency is not installed."""

    def __init__(self, feature: str, extra: str, note: str = "") -> None:
        install = f"pip install 'spanscore[{extra}]'"
        super().__init__(f"{feature} needs an optional dependency; install it with: {install}{note}.")


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """Return an error message for an unknown name that suggests the closest known one.

    >>> unknown("column", "lable", ["id", "label"])
    "There is no column 'lable'; did you mean 'label'? Known: id, label."
    """
    names = sorted(known)
    near = nearest(name, names)
    hint = f"; did you mean '{near}'?" if near else "."
    return f"There is no {kind} '{printable(name)}'{hint}" + (f" Known: {', '.join(names)}." if names else "")


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most similar to this one, the first of several, or None; case does not matter."""
    if len(name) > 100:  # the time to compare grows with the square of the length
        return None
    from difflib import SequenceMatcher, get_close_matches

    folded: dict[str, str] = {}
    for one in known:
        folded.setdefault(one.casefold(), one)
    close = set(get_close_matches(name.casefold(), list(folded)))
    matcher = SequenceMatcher(b=name.casefold())

    def similarity(one: str) -> float:
        matcher.set_seq1(one)
        return matcher.ratio()

    return folded[max((one for one in folded if one in close), key=similarity)] if close else None


def printable(text: str, limit: int = 60) -> str:
    """Return user-supplied text in a form that is safe to print: one line, no control characters, not too long.

    >>> printable("a\\x1b[31m\\nb"), printable("\\n" * 9, limit=6)
    ('a\\\\x1b[31m\\\\nb', '\\\\n\\\\n\\\\n…')
    """
    cut = text[:limit]
    shown = cut if cut.isprintable() else cut.encode("unicode_escape", "backslashreplace").decode("ascii")
    return shown[:limit] + ("…" if len(text) > limit or len(shown) > limit else "")


def listed(counts: Mapping[str, int]) -> str:
    """Return what was counted, without what occurs never.

    >>> listed({"scores": 1, "tokens": 0, "overlapping spans": 2})
    'scores (1), overlapping spans (2)'
    """
    return ", ".join(f"{what} ({count})" for what, count in counts.items() if count)


def plural(count: int, noun: str) -> str:
    """Return a count with its noun in the singular or plural.

    >>> plural(1, "span"), plural(2, "span"), plural(2, "entity")
    ('1 span', '2 spans', '2 entities')
    """
    return f"{count} {noun if count == 1 else plural_of(noun)}"


def plural_of(noun: str) -> str:
    """Return the plural of a noun."""
    return f"{noun.removesuffix('y')}ies" if noun.endswith("ty") else f"{noun}s"
