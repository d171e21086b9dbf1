"""`spanscore summary`: one page for the person who decides."""

from __future__ import annotations

import click

from spanscore.cli import options as shared
from spanscore.errors import printable


@shared.command("summary")
@click.argument("out")
def command(out: str) -> None:
    """Write summary.html into OUT, the folder of a run: what stays readable, on one page without text.

    Of attributes of spans, it lists only kinds of identifiers and names of recognizers; other values may be text.
    Print the page, or save it as PDF, from any browser. `spanscore run` writes it too.

    \b
    spanscore summary out
    """
    from spanscore.report.summary import write_summary

    click.echo(f"Open {printable(str(write_summary(out)), limit=255)} in a browser.")
