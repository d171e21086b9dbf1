"""CSV tables of false positives and false negatives, safe to open in a spreadsheet."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from spanscore.files import write_csv
from spanscore.result.privacy import excerpt, shape
from spanscore.verdicts import SIDES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from spanscore.arguments import Text
    from spanscore.result import Scores
    from spanscore.verdicts import Error

BLOCK, CHARACTERS = 10_000, 10_000_000
"""Lines that are made at once, and characters of their spans."""
AROUND = 40
"""Characters of context on either side."""


def write_errors(gold: IO[bytes], predicted: IO[bytes], scores: Scores, *, text: Text) -> dict[str, int]:
    """Write a line for every gold and predicted span that is not correct, and return the number of each."""
    assert scores.pairing is not None
    texts = scores.pairing.own_texts()
    counts = {}
    for side, file in zip(SIDES, (gold, predicted), strict=True):
        blocks = in_blocks(scores.errors(ids=text == "show", sides=(side,)))
        counts[side] = write_csv(file, (_columns(some, texts, text) for some in blocks))
    return counts


def in_blocks(errors: Iterable[Error]) -> Iterator[list[Error]]:
    """Yield errors in blocks, to bound the memory of their strings; at least one, which may be empty."""
    block: list[Error] = []
    characters = 0
    for error in errors:
        block.append(error)
        characters += len(error.text or "")
        if len(block) >= BLOCK or characters >= CHARACTERS:
            yield block
            block, characters = [], 0
    yield block


def _columns(errors: Sequence[Error], texts: Mapping[str, str | None], text: Text) -> dict[str, list[Any]]:
    """Return the columns of errors on one side."""
    pairs = [(one.span, one.counterpart) if one.side == "gold" else (one.counterpart, one.span) for one in errors]
    shown = [excerpt(one.text, text) or "" for one in errors]
    return {
        "document": [one.document for one in errors],
        "start": [one.span.start for one in errors],
        "end": [one.span.end for one in errors],
        "text": shown,
        "context": [
            _context(one, texts.get(one.document) or "", inside, text)
            for one, inside in zip(errors, shown, strict=True)
        ],
        "gold_type": ["" if gold is None else gold.label for gold, _ in pairs],
        "predicted_type": ["" if pred is None else pred.label for _, pred in pairs],
        "score": ["" if pred is None or pred.score is None else repr(pred.score) for _, pred in pairs],
        "iou": [f"{one.iou:.6f}" for one in errors],
        "verdict": [one.verdict for one in errors],
        "explanation": [one.explanation for one in errors],
    }


def _context(error: Error, content: str, inside: str, text: Text) -> str:
    """Return the span, as it is shown, in brackets with the text around it."""
    if not content or text == "hide" or error.verdict == "invented":
        return ""
    start, end = error.span[:2]
    before, after = content[max(0, start - AROUND) : start], content[end : end + AROUND]
    if text != "show":
        before, after = shape(before), shape(after)
    return f"{'…' if start > AROUND else ''}{before}[{inside}]{after}{'…' if end + AROUND < len(content) else ''}"
