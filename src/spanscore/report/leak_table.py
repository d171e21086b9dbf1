"""leaks.csv: every gold span that stays readable after masking, the strings that leak most often first."""

from __future__ import annotations

import csv
import io
from collections import Counter
from typing import IO, TYPE_CHECKING

from xxhash import xxh3_128_digest

from spanscore.files import safe_cell
from spanscore.report.error_tables import safe_label
from spanscore.result.privacy import excerpt

if TYPE_CHECKING:
    from spanscore.result import Scores
    from spanscore.result.privacy import Text
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
    rows: list[list[str | int]] = []
    for one in scores.errors():
        if one.side == "gold":
            keys.append(None if one.text is None else xxh3_128_digest(one.text.casefold().encode("utf-8", "replace")))
            rows.append(_row(one, text))
    times: Counter[bytes | None] = Counter(key for key in keys if key is not None)
    first: dict[bytes | None, int] = {}
    for place, key in enumerate(keys):
        first.setdefault(key, place)

    def order(place: int) -> tuple[int, int, int]:
        return -times.get(keys[place], 1), first[keys[place]], place

    wrapper = io.TextIOWrapper(file, "utf-8", "backslashreplace", newline="")
    writer = csv.writer(wrapper, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(COLUMNS)
    for place in sorted(range(len(rows)), key=order):
        writer.writerow([times.get(keys[place], 1), *rows[place]])
    wrapper.detach()
    return len(rows)


def _row(one: Error, text: Text) -> list[str | int]:
    """Return the cells after the number of occurrences."""
    start = one.span.start
    parts = " … ".join((one.text or "")[a - start : b - start] for a, b in one.readable)
    return [
        safe_cell(one.document),
        start,
        one.span.end,
        safe_cell(excerpt(one.text, text) or ""),
        safe_label(one.span.label),
        one.verdict,
        " ".join(f"{a}:{b}" for a, b in one.readable),
        safe_cell(excerpt(parts, text) or ""),
    ]
