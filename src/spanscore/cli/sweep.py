"""`spanscore sweep`: scores as thresholds."""

from __future__ import annotations

import math
from typing import Any

import click

from spanscore.cli.reading import chunks, resolve_option, scoring_options, systems, tag_options
from spanscore.errors import UsageError


@click.command("sweep")
@scoring_options
@resolve_option("score")
@click.option("--recall", type=float, help="Look for the best precision with at least this recall, not the best F.")
@click.option("--at", type=float, multiple=True, help="Show the numbers at this threshold too; give several.")
@click.option("--bins", type=int, default=10, show_default=True, help="The bins of scores for calibration.")
@tag_options
@click.option("--json", "json_", metavar="FILE", help="Write the curves as JSON to this file; '-' prints only JSON.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["table", "csv"]),
    default="table",
    show_default=True,
    help="A table of the best thresholds, or every point of every curve.",
)
@click.option("-q", "--quiet", is_flag=True, help="Say nothing on stderr but errors.")
def command(
    gold: str,
    pred: tuple[str, ...],
    measures: tuple[str, ...],
    gold_format: str | None,
    pred_format: str | None,
    beta: float,
    label_map: str | None,
    extra_documents: Any,
    resolve: str,
    recall: float | None,
    at: tuple[float, ...],
    bins: int,
    tags: dict[str, Any],
    json_: str | None,
    format_: str,
    quiet: bool,
) -> None:
    """Score systems (PRED, or NAME=PRED) at every threshold of their predictions' scores.

    \b
    spanscore sweep gold.jsonl pred.jsonl -m iou
    spanscore sweep gold.jsonl pred.jsonl -m iou.pii --recall 0.95 --at 0.5
    """
    from spanscore.align import LabelMap
    from spanscore.analysis.sweep import sweep
    from spanscore.engine.local import DEFAULT_MEASURES
    from spanscore.files import check_outputs, whole
    from spanscore.formats import whole as whole_corpus
    from spanscore.measures import expand
    from spanscore.report import thresholds

    if recall is not None and not 0 <= recall <= 1:
        raise UsageError("--recall must be a number from 0 to 1.")
    if not all(map(math.isfinite, at)):
        raise UsageError("--at must be a number.")
    chosen = expand(measures or DEFAULT_MEASURES)
    check_outputs(json_, None)
    files = systems(gold, pred)
    found = sweep(
        whole_corpus(chunks(gold, gold_format, tags)),
        {name: whole_corpus(chunks(path, pred_format, tags)) for name, path in files},
        chosen,
        beta=beta,
        label_map=LabelMap() if label_map is None else LabelMap.read(label_map),
        extra_documents=extra_documents,
        resolve=resolve,
        bins=bins,
    )
    if not quiet:
        for warning in found.warnings:
            click.echo(f"warning: {warning}", err=True)
    if json_ == "-":
        click.echo(thresholds.to_json(found, recall, at), nl=False)
        return
    if json_ is not None:
        with whole(json_) as file:
            file.write(thresholds.to_json(found, recall, at))
    if format_ == "csv":
        click.echo(thresholds.separated(found), nl=False)
    else:
        click.echo(thresholds.plain(found, recall, at))
