"""The HTML report of a result, with threshold curves if the predictions have scores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanscore.analysis.sweep import curves_of
from spanscore.report.page import MAX_MB, RIGHT, Payload, omission_note, write_folder, write_page

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spanscore.arguments import Text
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
    comparison: Mapping[str, Any] | None = None,
    agreement: Mapping[str, Any] | None = None,
    gold: str = "gold",
) -> str | None:
    """Write the report as one page or as a folder, and return a note about any omitted documents.

    `comparison` is the content of comparison.json, if the systems were compared; `agreement` that of agreement.json, if
    they are annotators, and `gold` what to call the gold data then.

    >>> import spanscore as ss, tempfile
    >>> gold = ss.Corpus.from_documents([{"id": "d1", "text": "Ann", "spans": [{"start": 0, "end": 3, "label": "A"}]}])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(ss.score(gold, gold, "exact"), f"{folder}/report.html")
    ...     Path(folder, "report.html").stat().st_size < 300_000
    True
    """
    systems = list(dict.fromkeys(one.system for one in result.scores))
    source = result.inputs["gold"]["source"]
    named = title or f"{', '.join(systems)} on {Path(source).name if source else 'gold data'}"
    curves, notes = curves_of(result)
    payload = Payload(result, curves, text, named, notes, comparison, agreement, gold)
    left_out = write_folder(payload, path) if folder else write_page(payload, path, max_mb=max_mb, right=right)
    return omission_note(left_out)
