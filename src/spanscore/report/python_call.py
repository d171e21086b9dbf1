"""`spanscore.report`: write the HTML report of a result, or of the results in a folder."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from spanscore.arguments import checked
from spanscore.engine.rescore import rescore
from spanscore.errors import UsageError
from spanscore.report.page import MAX_MB, RIGHT, check_target
from spanscore.report.page_report import NAME, write_report
from spanscore.result import Result

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spanscore.arguments import Text


@checked
def report(
    results: str | Path | Result,
    output: str | Path | None = None,
    *,
    gold: str | None = None,
    systems: Mapping[str, str] | None = None,
    text: Text | None = None,
    folder: bool = False,
    max_mb: float = MAX_MB,
    right: int = RIGHT,
    title: str | None = None,
) -> Path:
    """Write a page with the scores and every error behind them, and return its path.

    Of results in a folder, the scored files are read again; `gold` and `systems` say where they are if they have moved.
    `text` is `show`, `mask` or `hide`; results that were made without text stay without it unless you say `show`.
    """
    if isinstance(results, Result):
        if output is None:
            raise UsageError("name the page to write: report(result, 'report.html').")
        target, result = Path(output), results
        check_target(target, folder=folder)
    else:
        beside = Path(results) if Path(results).is_dir() else Path(results).parent
        target = Path(output) if output is not None else beside / ("report" if folder else NAME)
        check_target(target, folder=folder)
        result = rescore(results, gold=gold, systems=systems)
    how = text or result.settings.get("text", "show")
    note = write_report(result, target, text=how, folder=folder, max_mb=max_mb, right=right, title=title)
    if note is not None:
        warnings.warn(note, stacklevel=3)
    return target / "index.html" if folder else target
