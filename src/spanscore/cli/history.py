"""`spanscore history`: the trend of logged scores."""

from __future__ import annotations

from pathlib import Path

import click

from spanscore.cli import options as shared
from spanscore.cli.options import INPUT, OUTPUT, SCORING, option
from spanscore.errors import UsageError, printable, unknown


@shared.command("history")
@click.argument("history")
@option(INPUT, "--system", metavar="NAME", help="Show only this system.")
@option(SCORING, "-m", "--measure", metavar="MEASURE", help="Show only this measure.")
@option(SCORING, "--type", "type_", metavar="TYPE", help="Show only this type; 'all' is the score over all types.")
@option(
    SCORING,
    "--score",
    type=click.Choice(["precision", "recall", "f"]),
    help="Score to show (default: f, or recall where a measure has no f).",
)
@option(OUTPUT, "--every", is_flag=True, help="List every logged value, not only the latest.")
@option(OUTPUT, "-o", "--output", metavar="FILE", help="Write a page with charts to this file.")
@shared.max_bytes_option
def command(
    history: str,
    system: str | None,
    measure: str | None,
    type_: str | None,
    score: str | None,
    every: bool,
    output: str | None,
) -> None:
    """Show the trend of the scores in HISTORY, a file written by spanscore log, by measure and type.

    Changes are relative to the previous value and are omitted if the gold data changed.

    \b
    spanscore history history.parquet
    spanscore history history.parquet -m iou --type PERSON --every
    spanscore history history.parquet -o history.html
    """
    from spanscore.analysis.history import read_history, trends
    from spanscore.files import atomic_file, check_outputs
    from spanscore.report import history as report

    check_outputs(output, None)
    entries = read_history(history)
    for kind, wanted, names in (
        ("system", system, {one.system for one in entries}),
        ("measure", measure, {one.measure for one in entries}),
        ("type", type_, {one.type or "all" for one in entries}),
    ):
        if wanted is not None and wanted not in names:
            raise UsageError(unknown(kind, wanted, names))
    chosen = [
        one
        for one in entries
        if system in (None, one.system) and measure in (None, one.measure) and type_ in (None, one.type or "all")
    ]
    if not chosen:
        raise UsageError("the history has no such scores.")
    found = trends(chosen, score)
    if output is not None:
        with atomic_file(output) as file:
            file.write(report.page(found, f"History: {Path(history).name}").encode("utf-8", "backslashreplace"))
        click.echo(f"Open {printable(output, limit=255)} in a browser.", err=True)
        return
    click.echo(report.plain(found, every=every))
