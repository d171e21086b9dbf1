"""`spanscore convert`: from any format that can be read to any that can be written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from spanscore.cli import options as shared
from spanscore.cli.options import INPUT, OUTPUT, option
from spanscore.errors import listed, printable

if TYPE_CHECKING:
    from collections.abc import Mapping


@shared.command("convert")
@click.argument("source")
@click.argument("target")
@option(INPUT, "--from", "from_", metavar="FORMAT", help=shared.format_help)
@shared.annotators_option(
    "Data with several annotators: write {}; or all: write each document once for each annotator."
)
@shared.max_bytes_option
@option(OUTPUT, "--to", metavar="FORMAT", help="Output format (default: by the extension of TARGET, or spanscore).")
@shared.quiet_option
def command(source: str, target: str, from_: str | None, annotator: str | None, to: str | None, quiet: bool) -> None:
    """Read SOURCE and write it to TARGET in another format. '-' is standard input or output.

    Counts of everything dropped on reading or writing are printed to stderr.

    \b
    spanscore convert train.conll train.jsonl
    spanscore convert data.jsonl data.parquet
    spanscore convert export.json gold.jsonl --annotator majority
    """
    from spanscore.engine.conversion import convert

    notes: list[str] = []
    lost = convert(source, target, from_format=from_, to_format=to, annotator=annotator, notes=notes)
    shared.print_warnings(notes, quiet=quiet)
    if not quiet:
        print_lost(target, lost)


def print_lost(target: str, lost: Mapping[str, int]) -> None:
    """Print to stderr what the format of a file cannot hold."""
    if lost:
        what = f"the format cannot store everything; dropped: {listed(lost)}"
        click.echo(f"{printable(target, limit=255)}: {what}.", err=True)
