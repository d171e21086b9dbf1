"""Frequent errors: the strings that are most often missed or needlessly predicted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spanscore.corpus.strings import short_key
from spanscore.report.page.examples import encodable
from spanscore.result.privacy import allowed
from spanscore.verdicts import INVENTED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.align import Pairing
    from spanscore.arguments import Text
    from spanscore.corpus.columns import Longs
    from spanscore.report.page.examples import Examples

MOST = 25
"""Maximum number of strings of each side."""
LENGTH = 80
"""Maximum number of characters shown of a string."""


@dataclass(frozen=True, eq=False)
class Frequent:
    """How often the string of each error occurs among the errors of its side and type.

    `listed` holds the most frequent ones: whether they are predictions, their label, the string and its count. `group`
    is the place of each example's string in that list (-1: not listed).
    """

    times: Longs
    group: Longs
    listed: list[tuple[bool, str, str, int]]

    @classmethod
    def of(cls, examples: Examples, pairing: Pairing, text: Text) -> Frequent | None:
        """Group the errors by string, upper or lower case; by its shape if the text is masked. None without text."""
        rows = np.flatnonzero(examples.wrong & ~examples.twin & (examples.verdict != INVENTED))
        if text == "hide" or not len(rows) or not pairing.letters:
            return None
        keys = list(_keys(examples, pairing, rows, text))
        counts = Counter(key for key, _ in keys)
        spelling = dict(reversed(keys))
        best: list[tuple[bool, str, str]] = []
        for side in (False, True):
            some = [key for key, count in counts.items() if key[0] == side and key[2] and count > 1]
            best += sorted(some, key=lambda key: (-counts[key], key))[:MOST]
        place = {key: number for number, key in enumerate(best)}
        times, group = np.zeros(len(examples.doc), np.int64), np.full(len(examples.doc), -1)
        times[rows] = [counts[key] if key[2] else 1 for key, _ in keys]
        group[rows] = [place.get(key, -1) for key, _ in keys]
        return cls(times, group, [(key[0], key[1], encodable(spelling[key]), counts[key]) for key in best])


def _keys(examples: Examples, pairing: Pairing, rows: Longs, text: Text) -> Iterator[tuple[tuple[bool, str, str], str]]:
    """Yield what makes two errors the same (side, label, key of the string), and the string as it is shown, cut off."""
    doc, alone = examples.doc[rows].tolist(), examples.alone[rows].tolist()
    at = np.where(examples.alone[rows], examples.pred_row[rows], examples.gold_row[rows]).tolist()
    columns = [(side.start.tolist(), side.end.tolist(), side.label.tolist()) for side in (examples.gold, examples.pred)]
    labels, texts = (examples.gold.labels, examples.pred.labels), pairing.text
    last, whole = -1, ""
    for number, predicted, row in zip(doc, alone, at, strict=True):
        start, end, label = columns[predicted]
        if number != last:
            last, whole = number, texts[number] or ""
        shown = whole[start[row] : end[row]]
        shown = shown if text == "show" else allowed(shown, text) or ""
        yield (predicted, labels[predicted][label[row]], short_key(shown.casefold())), shown[:LENGTH]
