"""`spanscore sweep`: scores at every threshold."""

from __future__ import annotations

import math
from typing import Any

import click

from spanscore.cli import options as shared
from spanscore.cli.labels import label_options
from spanscore.cli.options import OUTPUT, SCORING, option
from spanscore.errors import UsageError


@shared.command("sweep")
@shared.scoring_options
@label_options
@shared.entities_option
@shared.resolve_option("score")
@option(
    SCORING,
    "--recall",
    type=shared.share,
    help="Find the best precision with at least this recall, instead of the best F.",
)
@option(SCORING, "--at", type=float, multiple=True, help="Also show the scores at this threshold; repeat for several.")
@option(SCORING, "--bins", type=int, default=10, show_default=True, help="Number of bins for calibration.")
@option(OUTPUT, "--json", "json_", metavar="FILE", help="Write the curves as JSON; '-' prints only JSON.")
@option(
    OUTPUT,
    "--format",
    "format_",
    type=click.Choice(["table", "csv"]),
    default="table",
    show_default=True,
    help="A table of the best thresholds, or every point of every curve.",
)
@shared.quiet_option
def command(
    gold: str,
    pred: tuple[str, ...],
    measures: tuple[str, ...],
    recall: float | None,
    at: tuple[float, ...],
    json_: str | None,
    format_: str,
    quiet: bool,
    **settings: Any,
) -> None:
    """Score systems (PRED, or NAME=PRED) at every threshold of their predictions' scores.

    A PRED may be the folder of a run; it is then scored with the settings of the run, but
    with predictions of any score.

    \b
    spanscore sweep gold.jsonl pred.jsonl -m iou
    spanscore sweep gold.jsonl pred.jsonl -m iou.pii --recall 0.95 --at 0.5
    """
    from spanscore.analysis.sweep import sweep
    from spanscore.files import atomic_file, check_outputs
    from spanscore.report import thresholds

    if recall is not None and not 0 <= recall <= 1:
        raise UsageError("--recall must be between 0 and 1.")
    if not all(map(math.isfinite, at)):
        raise UsageError("--at must be a number.")
    check_outputs(json_, None)
    found = sweep(gold, shared.systems(gold, pred), measures or None, **shared.given(settings))
    shared.print_warnings(found.warnings, quiet=quiet)
    if json_ == "-":
        shared.print_data(thresholds.to_json(found, recall, at))
        return
    if json_ is not None:
        with atomic_file(json_) as file:
            file.write(thresholds.to_json(found, recall, at))
    if format_ == "csv":
        shared.print_data(thresholds.separated(found))
    else:
        click.echo(thresholds.plain(found, recall, at))
