"""`spanscore report`: a page that shows every error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from spanscore.cli.reading import named
from spanscore.cli.writing import text_options


@click.command("report")
@click.argument("results")
@click.argument("pred", nargs=-1)
@click.option("--gold", metavar="FILE", help="Where the gold data is, if not where it was.")
@click.option("-o", "--output", metavar="FILE", help="The page to write; default: report.html beside the results.")
@click.option("--folder", is_flag=True, help="Write a folder instead: for more documents than one page can hold.")
@click.option("--max-mb", type=float, default=25.0, show_default=True, help="The most megabytes of a page.")
@click.option("--right", type=int, default=1000, show_default=True, help="Documents without errors to show too.")
@click.option("--title", help="The title of the page.")
@text_options
@click.option("--show-text", is_flag=True, help="Show text though the results were made with --mask or --no-text.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing on stderr but errors.")
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
    """Write a page that shows the numbers of RESULTS (a folder of score, compare or run) and every error behind them.

    The files that the results are of are read again; NAME=PRED and --gold say where they are now.

    \b
    spanscore report out
    spanscore report out --mask -o share.html
    """
    from spanscore.engine.rescore import score_again
    from spanscore.errors import UsageError
    from spanscore.report.page import check_target
    from spanscore.report.page_report import NAME, write_report

    if output == "-":
        raise UsageError("name a file to write the page to.")
    if right < 0:
        raise UsageError("--right must not be below 0.")
    beside = Path(results) if Path(results).is_dir() else Path(results).parent
    target = Path(output) if output is not None else beside / ("report" if folder else NAME)
    check_target(target, folder=folder)
    result = score_again(results, gold=gold, systems=dict(named(one) for one in pred))
    how = text if text != "show" or show_text else result.settings.get("text", "show")
    note = write_report(result, target, text=how, folder=folder, max_mb=max_mb, right=right, title=title)
    if note is not None and not quiet:
        click.echo(f"warning: {note}", err=True)
    click.echo(f"Open {target / 'index.html' if folder else target} in a browser.")
