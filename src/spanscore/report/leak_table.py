"""leaks.csv: every gold span that stays readable after masking, the strings that leak most often first."""

from __future__ import annotations

from collections import Counter
from typing import IO, TYPE_CHECKING, Any

from xxhash import xxh3_128_digest

from spanscore.files import write_csv
from spanscore.report.error_tables import in_blocks
from spanscore.result.privacy import excerpt

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spanscore.result import Scores
    from spanscore.result.privacy import Text
    from spanscore.verdicts import Error

NAME = "leaks.csv"


def write_leaks(file: IO[bytes], scores: Scores, *, text: Text) -> int:
    """Write a line for every gold span that is not hidden, and return how many there are.

    `occurrences` is how often the same text, in upper or lower case, leaks; the most frequent ones come first, and
    those of one text stand together. Without text, every leak counts as one of its own.
    """
    leaks = [one for one in scores.errors() if one.side == "gold"]
    keys = [None if one.text is None else _key(one.text) for one in leaks]
    times: Counter[bytes | None] = Counter(keys)
    times[None] = 1
    first: dict[bytes | None, int] = {}
    for place, key in enumerate(keys):
        first.setdefault(key, place)
    order = sorted(range(len(leaks)), key=lambda place: (-times[keys[place]], first[keys[place]]))
    occurrences = iter([times[keys[place]] for place in order])
    write_csv(file, (_columns(some, occurrences, text) for some in in_blocks([leaks[place] for place in order])))
    return len(leaks)


def _key(text: str) -> bytes:
    return xxh3_128_digest(text.casefold().encode("utf-8", "replace"))


def _columns(leaks: Sequence[Error], occurrences: Iterator[int], text: Text) -> dict[str, list[Any]]:
    return {
        "occurrences": [next(occurrences) for _ in leaks],
        "document": [one.document for one in leaks],
        "start": [one.span.start for one in leaks],
        "end": [one.span.end for one in leaks],
        "text": [excerpt(one.text, text) or "" for one in leaks],
        "gold_type": [one.span.label for one in leaks],
        "verdict": [one.verdict for one in leaks],
        "readable": [" ".join([f"{start}:{end}" for start, end in one.readable]) for one in leaks],
        "readable_text": [excerpt(_readable(one), text) or "" for one in leaks],
    }


def _readable(leak: Error) -> str:
    start, content = leak.span.start, leak.text or ""
    return " … ".join([content[a - start : b - start] for a, b in leak.readable])
