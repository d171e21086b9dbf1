"""leaks.csv: every gold span that stays readable after masking, the strings that leak most often first."""

from __future__ import annotations

import csv
import io
from collections import Counter
from typing import IO, TYPE_CHECKING

from spanscore.files import safe_cell
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
    leaks = [error for error in scores.errors() if error.side == "gold"]
    times = Counter(_folded(one) for one in leaks if one.text is not None)
    first: dict[str, int] = {}
    for place, one in enumerate(leaks):
        first.setdefault(_folded(one), place)

    def order(place: int) -> tuple[int, int, int]:
        return -times.get(_folded(leaks[place]), 1), first[_folded(leaks[place])], place

    wrapper = io.TextIOWrapper(file, "utf-8", "backslashreplace", newline="")
    writer = csv.writer(wrapper, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(COLUMNS)
    for one in (leaks[place] for place in sorted(range(len(leaks)), key=order)):
        start = one.span.start
        parts = [(one.text or "")[a - start : b - start] for a, b in one.readable]
        writer.writerow(
            [
                times.get(_folded(one), 1),
                safe_cell(one.document),
                start,
                one.span.end,
                safe_cell(excerpt(one.text, text) or ""),
                safe_cell(one.span.label),
                one.verdict,
                " ".join(f"{a}:{b}" for a, b in one.readable),
                safe_cell(" … ".join(excerpt(part, text) or "" for part in parts) if text != "hide" else ""),
            ]
        )
    wrapper.detach()
    return len(leaks)


def _folded(error: Error) -> str:
    return "" if error.text is None else error.text.casefold()
