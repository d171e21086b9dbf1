"""`spanscore convert`: from any format that can be read to any that can be written."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from spanscore.cli import options as shared
from spanscore.cli.options import INPUT, OUTPUT, option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.corpus import Corpus


@shared.command("convert")
@click.argument("source")
@click.argument("target")
@option(INPUT, "--from", "from_", metavar="FORMAT", help=shared.format_help)
@option(OUTPUT, "--to", metavar="FORMAT", help="Output format (default: by the ending of TARGET, else spanscore).")
def command(source: str, target: str, from_: str | None, to: str | None) -> None:
    """Read SOURCE and write it to TARGET in another format. '-' is standard input or output.

    \b
    spanscore convert train.conll train.jsonl
    spanscore convert data.jsonl data.parquet
    """
    from spanscore.corpus.duplicates import once
    from spanscore.engine import Input
    from spanscore.files import atomic_file, check_outputs
    from spanscore.formats import writer

    chosen = writer(target, to)
    check_outputs(target, None)
    given = Input.of(source, from_)
    kept = None if given.readable_again and target != "-" else given.corpus()

    def chunks() -> Iterator[Corpus]:
        return iter([kept]) if kept is not None else once(given.chunks())

    if target == "-":
        chosen.write(chunks, sys.stdout.buffer)
        return
    with atomic_file(target) as file:
        chosen.write(chunks, file)
