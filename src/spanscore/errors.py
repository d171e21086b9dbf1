"""What can go wrong, said in one sentence: what, where, and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class SpanscoreError(Exception):
    """The root of every error that a user can cause and mend."""


class InputError(SpanscoreError):
    """Data that cannot be read or does not fit; `where` is a file and line, or a document."""

    def __init__(self, message: str, where: str = "") -> None:
        super().__init__(f"{where}: {message}" if where else message)


class UsageError(SpanscoreError):
    """A call that asks for something that does not exist, or that cannot be combined."""


class MissingExtraError(SpanscoreError):
    """A feature whose optional dependency is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an optional dependency; install it with: pip install 'spanscore[{extra}]'.")


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """A sentence for a name that does not exist, with the nearest one that does.

    >>> unknown("measure", "iuo", ["exact", "iou"])
    "There is no measure 'iuo'; did you mean 'iou'? Known: exact, iou."
    """
    from difflib import get_close_matches

    names = sorted(known)
    near = get_close_matches(name, names, n=1)
    hint = f"; did you mean '{near[0]}'?" if near else "."
    return f"There is no {kind} '{printable(name)}'{hint}" + (f" Known: {', '.join(names)}." if names else "")


def printable(text: str, limit: int = 60) -> str:
    """A user's own name for something, safe to print: one line, no control characters, not too long.

    >>> printable("a\\x1b[31m\\nb")
    'a\\\\x1b[31m\\\\nb'
    """
    cut = text[:limit]
    shown = cut if cut.isprintable() else cut.encode("unicode_escape", "backslashreplace").decode("ascii")
    return shown + ("…" if len(text) > limit else "")


def file_stamp(path: str) -> tuple[int, int]:
    """What tells a file from what it was before: when it was changed, and its size; zeros where there is none."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return 0, 0
    return found.st_mtime_ns, found.st_size


def plural(count: int, noun: str) -> str:
    """A count with its noun.

    >>> plural(1, "span"), plural(2, "span")
    ('1 span', '2 spans')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
