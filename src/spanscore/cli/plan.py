"""`spanscore plan`: sample size for a claim, or what you may claim."""

from __future__ import annotations

from typing import Any

import click

from spanscore.cli import options as shared
from spanscore.cli.options import INPUT, OUTPUT, SCORING, STATISTICS, option


@shared.command("plan")
@option(
    STATISTICS,
    "--recall",
    type=shared.share,
    help="Recall to claim, such as 0.99 or 99%; without it, show what you may claim.",
)
@option(STATISTICS, "--confidence", type=shared.share, default=0.95, show_default=True, help="Confidence of the claim.")
@option(STATISTICS, "--misses", type=int, default=0, show_default=True, help="Number of misses allowed, or observed.")
@option(INPUT, "--spans", type=int, help="Number of gold spans.")
@option(INPUT, "--documents", type=int, help="Number of documents that contain these spans.")
@option(
    INPUT, "--per-document", type=float, help="Mean number of spans in documents that have any, if there is no pilot."
)
@option(
    INPUT,
    "--correlation",
    type=float,
    help="Correlation of misses within a document, if there is no pilot: from 0 (independent) to 1 (all or none).",
)
@option(INPUT, "--pilot", metavar="OUT", help="Folder of earlier results, for sizes and correlation by type.")
@option(
    SCORING,
    "-m",
    "--measure",
    metavar="MEASURE",
    help="Measure of the pilot that finds or misses whole spans, entities or documents (default: leak, or else the "
    "first one of spans).",
)
@option(OUTPUT, "--json", "json_", metavar="FILE", help="Write the plan as JSON; '-' prints only JSON.")
@shared.max_bytes_option
def command(json_: str | None, **settings: Any) -> None:
    """Compute how much to annotate for a claim about recall, or what existing results allow you to claim.

    \b
    spanscore plan --recall 0.99 --confidence 0.95
    spanscore plan --recall 0.99 --misses 2 --pilot out
    spanscore plan --spans 412 --documents 120
    spanscore plan --pilot out
    """
    from spanscore.analysis.sample_size import plan
    from spanscore.files import atomic_file, check_outputs
    from spanscore.report import planning

    check_outputs(json_, None)
    found = plan(**settings)
    if json_ == "-":
        shared.print_data(planning.to_json(found))
        return
    if json_ is not None:
        with atomic_file(json_) as file:
            file.write(planning.to_json(found))
    click.echo(planning.plain(found))
