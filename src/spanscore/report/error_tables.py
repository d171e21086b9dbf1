"""Errors as CSV tables: what was wrongly predicted, and what was not found; nothing in them is a formula."""

from __future__ import annotations

import csv
import io
from typing import IO, TYPE_CHECKING

from spanscore.report.tables import safe_cell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.result import Scores
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


def write_errors(file: IO[bytes], scores: Scores, side: str, *, text: bool) -> int:
    """Write a line for every span of a side that is not right, and say how many there are."""
    wrapper = io.TextIOWrapper(file, "utf-8", "backslashreplace", newline="", write_through=True)
    writer = csv.writer(wrapper, lineterminator="\n")
    writer.writerow(COLUMNS)
    count = 0
    for row in _rows(scores, side, text=text):
        writer.writerow(row)
        count += 1
    wrapper.detach()
    return count


def _rows(scores: Scores, side: str, *, text: bool) -> Iterator[list[str]]:
    assert scores.pairing is not None
    texts = dict(zip(scores.pairing.gold.ids, scores.pairing.text, strict=True)) if text else {}
    for error in scores.errors():
        if error.side != side:
            continue
        other = None if error.counterpart is None else error.counterpart
        gold, pred = (error.span, other) if side == "gold" else (other, error.span)
        whole = texts.get(error.document) or ""
        cells = [
            error.document,
            str(error.span.start),
            str(error.span.end),
            whole[error.span.start : error.span.end],
            _context(error, whole),
            "" if gold is None else gold.label,
            "" if pred is None else pred.label,
            "" if pred is None or pred.score is None else repr(pred.score),
            f"{error.iou:.6f}",
            error.verdict,
            error.explanation,
        ]
        yield [safe_cell(cell) for cell in cells]


def _context(error: Error, whole: str) -> str:
    """What stands around a span, the span itself in brackets."""
    if not whole:
        return ""
    start, end = error.span.start, error.span.end
    before, after = whole[max(0, start - AROUND) : start], whole[end : end + AROUND]
    return (
        f"{'…' if start > AROUND else ''}{before}[{whole[start:end]}]{after}{'…' if end + AROUND < len(whole) else ''}"
    )
