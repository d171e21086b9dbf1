"""leaks.csv: every gold span that stays readable after masking, the strings that leak most often first."""

from __future__ import annotations

from collections import Counter
from itertools import repeat
from typing import IO, TYPE_CHECKING, Any

from xxhash import xxh3_128_digest

from spanscore.files import write_csv
from spanscore.report.error_tables import BLOCK
from spanscore.result.privacy import excerpt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spanscore.arguments import Text
    from spanscore.result import Scores
    from spanscore.verdicts import Error

NAME = "leaks.csv"
COLUMNS = (
    "occurrences",
    "document",
    "start",
    "end",
    "text",
    "gold_type",
    "verdict",
    "readable",
    "readable_text",
)


def write_leaks(file: IO[bytes], scores: Scores, *, text: Text) -> int:
    """Write a line for every gold span that is not hidden, and return how many there are.

    `occurrences` is how often the same text, in upper or lower case, leaks; the most frequent ones come first, and
    those of one text stand together. Without text, every leak counts as one of its own.
    """
    keys: list[bytes | None] = []
    rows: list[tuple[Any, ...]] = []
    for one in scores.errors(sides=("gold",)):
        keys.append(None if one.text is None else xxh3_128_digest(one.text.casefold().encode("utf-8", "replace")))
        rows.append(_row(one, text))
    times: Counter[bytes | None] = Counter(keys)
    times[None] = 1
    first: dict[bytes | None, int] = {}
    for place, key in enumerate(keys):
        first.setdefault(key, place)
    order = sorted(range(len(rows)), key=lambda place: (-times[keys[place]], first[keys[place]]))

    def columns(first: int) -> dict[str, Sequence[Any]]:
        table = [(times[keys[place]], *rows[place]) for place in order[first : first + BLOCK]]
        return dict(zip(COLUMNS, zip(*table, strict=True) if table else repeat(()), strict=False))

    return write_csv(file, map(columns, range(0, max(len(order), 1), BLOCK)))


def _row(leak: Error, text: Text) -> tuple[Any, ...]:
    """Return the cells after the number of occurrences."""
    start, end, label = leak.span[:3]
    content, readable = leak.text or "", leak.readable
    shown = excerpt(leak.text, text) or ""
    if readable == ((start, end),):  # as nearly all leaks are
        return leak.document, start, end, shown, label, leak.verdict, f"{start}:{end}", shown
    parts = " … ".join([content[a - start : b - start] for a, b in readable])
    places = " ".join([f"{a}:{b}" for a, b in readable])
    return leak.document, start, end, shown, label, leak.verdict, places, excerpt(parts, text) or ""
