"""Probable errors of gold data as JSON Lines and as a table."""

from __future__ import annotations

from collections import Counter
from typing import IO, TYPE_CHECKING, Any

import msgspec

from spanscore.errors import plural, printable
from spanscore.result.privacy import allowed
from spanscore.result.tables import aligned, shown

if TYPE_CHECKING:
    from spanscore.analysis.suspects import Suspect, Suspects
    from spanscore.arguments import Text

SHOWN = 20
"""Suspects that a table lists."""


def record(one: Suspect, rank: int, *, text: Text) -> dict[str, Any]:
    """Return a suspect as a record of suspects.jsonl."""
    found: dict[str, Any] = {
        "rank": rank,
        "document": one.document,
        "start": one.start,
        "end": one.end,
        "label": one.label,
        "reasons": list(one.reasons),
        "systems": list(one.systems),
        "score": None if one.score is None else round(one.score, 6),
        "gold": [span._asdict() for span in one.gold],
        "explanation": one.explanation,
    }
    covered = allowed(one.text, text)
    return found if covered is None else {**found, "text": covered}


def write(found: Suspects, file: IO[bytes], *, text: Text) -> None:
    """Write the suspects as JSON Lines, the most probable errors first."""
    encoder = msgspec.json.Encoder()
    for rank, one in enumerate(found.found, 1):
        file.write(encoder.encode(record(one, rank, text=text)) + b"\n")


def plain(found: Suspects, *, text: Text) -> str:
    """Return the first suspects as aligned text, and how many there are for each reason."""
    lines = [["document", "span", "label", "gold", "why", "systems", "score"]]
    for one in found.found[:SHOWN]:
        covered = allowed(one.text, text)
        place = f"[{one.start}, {one.end})" + ("" if covered is None else f" {printable(covered, limit=30)}")
        gold = ", ".join(map(str, one.gold)) or "–"
        score = "–" if one.score is None else shown(one.score)
        why = ", ".join(one.reasons)
        lines.append([printable(one.document), place, printable(one.label), gold, why, str(len(one.systems)), score])
    reasons = Counter(reason for one in found.found for reason in one.reasons)
    counts = ", ".join(f"{reason} {count}" for reason, count in reasons.items())
    documents = len({one.document for one in found.found})
    total = f"{plural(len(found.found), 'suspect')} in {plural(documents, 'document')}"
    more = f"; the first {SHOWN} are shown" if len(found.found) > SHOWN else ""
    table = "\n".join(aligned(lines, 5)) if found.found else ""
    return f"{table}\n\n{total} ({counts}){more}." if table else "Nothing is suspicious."
