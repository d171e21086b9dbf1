"""`spanscore report`: a page that shows every error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from spanscore.cli import options as shared
from spanscore.cli.options import INPUT, OUTPUT, named, option


@shared.command("report")
@click.argument("results")
@click.argument("pred", nargs=-1)
@option(INPUT, "--gold", metavar="FILE", help="Path of the gold data, if it has moved.")
@shared.max_bytes_option
@option(
    OUTPUT, "-o", "--output", metavar="FILE", help="Page to write (default: report.html in the folder of the results)."
)
@option(OUTPUT, "--folder", is_flag=True, help="Write a folder, for more documents than one page can hold.")
@option(OUTPUT, "--max-mb", type=float, default=25.0, show_default=True, help="Maximum size of a page in MB.")
@option(
    OUTPUT,
    "--right",
    type=int,
    default=1000,
    show_default=True,
    help="Maximum number of documents without errors to include.",
)
@option(OUTPUT, "--title", help="Title of the page.")
@shared.text_options
@option(OUTPUT, "--show-text", is_flag=True, help="Show text even if the results were made with --mask or --no-text.")
@shared.quiet_option
def command(
    results: str,
    pred: tuple[str, ...],
    gold: str | None,
    output: str | None,
    folder: bool,
    max_mb: float,
    right: int,
    title: str | None,
    text: Any,
    show_text: bool,
    quiet: bool,
) -> None:
    """Write a page with the scores of RESULTS (a folder of score, compare or run) and every error behind them.

    The scored files are read again; if they have moved, give their paths with NAME=PRED and --gold.

    \b
    spanscore report out
    spanscore report out --mask -o share.html
    """
    from spanscore.engine.rescore import rescore
    from spanscore.errors import UsageError, printable
    from spanscore.report.comparison import recorded
    from spanscore.report.page import check_target
    from spanscore.report.page_report import NAME, write_report

    if output == "-":
        raise UsageError("name a file to write the page to.")
    if right < 0:
        raise UsageError("--right must not be negative.")
    beside = Path(results) if Path(results).is_dir() else Path(results).parent
    target = Path(output) if output is not None else beside / ("report" if folder else NAME)
    check_target(target, folder=folder)
    result = rescore(results, gold=gold, systems=dict(named(one) for one in pred))
    how = text if text != "show" or show_text else result.settings.get("text", "show")
    note = write_report(
        result,
        target,
        text=how,
        folder=folder,
        max_mb=max_mb,
        right=right,
        title=title,
        comparison=recorded(beside),
    )
    shared.print_warnings([] if note is None else [note], quiet=quiet)
    click.echo(f"Open {printable(str(target / 'index.html' if folder else target), limit=255)} in a browser.")
