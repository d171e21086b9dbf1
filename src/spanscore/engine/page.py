"""The report of a result: curves where predictions have scores, and the page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from spanscore.engine.sweep import curves_of
from spanscore.report.page import MAX_MB, RIGHT, Payload, told, write_folder, write_page

if TYPE_CHECKING:
    from spanscore.report.privacy import Text
    from spanscore.result import Result

NAME = "report.html"


def write_report(
    result: Result,
    path: str | Path,
    *,
    text: Text = "show",
    folder: bool = False,
    max_mb: float = MAX_MB,
    right: int = RIGHT,
    title: str | None = None,
) -> str | None:
    """Write the report as one page, or as a folder; what had to be left out is returned as a sentence.

    >>> import spanscore as ss, tempfile
    >>> gold = ss.Corpus.from_documents([{"id": "d1", "text": "Ann", "spans": [{"start": 0, "end": 3, "label": "A"}]}])
    >>> with tempfile.TemporaryDirectory() as place:
    ...     write_report(ss.score(gold, gold, "exact"), f"{place}/report.html")
    ...     Path(place, "report.html").stat().st_size < 6_000_000
    True
    """
    systems = list(dict.fromkeys(one.system for one in result.scores))
    source = result.inputs["gold"]["source"]
    named = title or f"{', '.join(systems)} on {Path(source).name if source else 'gold data'}"
    curves, notes = curves_of(result)
    payload = Payload(result, curves, text, named, notes)
    left_out = write_folder(payload, path) if folder else write_page(payload, path, max_mb=max_mb, right=right)
    return told(left_out)
