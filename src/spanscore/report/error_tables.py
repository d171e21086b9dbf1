"""CSV tables of false positives and false negatives, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
from functools import lru_cache
from typing import IO, TYPE_CHECKING

from spanscore.files import safe_cell
from spanscore.result.privacy import allowed, excerpt

if TYPE_CHECKING:
    from spanscore.result import Scores
    from spanscore.result.privacy import Text
    from spanscore.verdicts import Error

COLUMNS = (
    "document",
    "start",
    "end",
    "text",
    "context",
    "gold_type",
    "predicted_type",
    "score",
    "iou",
    "verdict",
    "explanation",
)
AROUND = 40
"""Characters of context on either side."""


safe_label = lru_cache(safe_cell)
"""Labels are few and repeat."""


def write_errors(gold: IO[bytes], predicted: IO[bytes], scores: Scores, *, text: Text) -> dict[str, int]:
    """Write a line for every gold and predicted span that is not correct, and return the number of each."""
    assert scores.pairing is not None
    texts = dict(zip(scores.pairing.gold.ids, scores.pairing.text, strict=True))
    counts = {"gold": 0, "predicted": 0}
    wrappers = {
        side: io.TextIOWrapper(file, "utf-8", "backslashreplace", newline="")
        for side, file in (("gold", gold), ("predicted", predicted))
    }
    writers = {
        side: csv.writer(wrapper, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
        for side, wrapper in wrappers.items()
    }
    for writer in writers.values():
        writer.writerow(COLUMNS)
    for error in scores.errors(ids=text == "show"):
        writers[error.side].writerow(_row(error, texts.get(error.document) or "", text))
        counts[error.side] += 1
    for wrapper in wrappers.values():
        wrapper.detach()
    return counts


def _row(error: Error, content: str, text: Text) -> list[str | int]:
    span, other = error.span, error.counterpart
    gold, pred = (span, other) if error.side == "gold" else (other, span)
    return [
        safe_cell(error.document),
        span.start,
        span.end,
        safe_cell(excerpt(error.text, text) or ""),
        safe_cell(_context(error, content, text)),
        "" if gold is None else safe_label(gold.label),
        "" if pred is None else safe_label(pred.label),
        "" if pred is None or pred.score is None else repr(pred.score),
        f"{error.iou:.6f}",
        error.verdict,
        safe_cell(error.explanation),
    ]


def _context(error: Error, content: str, text: Text) -> str:
    """Return the span in brackets with the text around it."""
    if not content or text == "hide" or error.verdict == "invented":
        return ""
    start, end = error.span.start, error.span.end
    before, after = (
        allowed(one, text) for one in (content[max(0, start - AROUND) : start], content[end : end + AROUND])
    )
    inside = excerpt(content[start:end], text)
    return f"{'…' if start > AROUND else ''}{before}[{inside}]{after}{'…' if end + AROUND < len(content) else ''}"
