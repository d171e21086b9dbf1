"""`spanscore types`: what labels mean, and which of them meet."""

from __future__ import annotations

from typing import Any

import click

from spanscore.cli import options as shared
from spanscore.cli.labels import map_options, taxonomy_option
from spanscore.cli.options import INPUT, OUTPUT, option


@shared.command("types")
@click.argument("files", nargs=-1)
@option(INPUT, "--format", "format_", metavar="FORMAT", help=shared.format_help)
@map_options
@taxonomy_option
@shared.max_bytes_option
@option(OUTPUT, "--json", "json_", is_flag=True, help="Print JSON.")
def command(files: tuple[str, ...], format_: str | None, json_: bool, taxonomy: Any, **maps: Any) -> None:
    """Show the type of each label of FILES, how it was found, and which labels have no match on the other side.

    The first file is the gold data, the others are systems. A FILE may be the name of a label set, such as Presidio.
    Without files, list the taxonomy: its branches, types and label sets.

    \b
    spanscore types
    spanscore types gold.jsonl pred.jsonl
    spanscore types gold.jsonl Presidio
    """
    import msgspec

    from spanscore.align.taxonomy import Taxonomy
    from spanscore.analysis.types import types
    from spanscore.report import types_table

    if files:
        audit = types(*files, format=format_, taxonomy=taxonomy, **maps)
        said: Any = audit.to_dict()
        table = types_table.plain(audit).rstrip("\n")
    else:
        chosen = Taxonomy.of(taxonomy)
        said = {
            "schema": "spanscore.taxonomy/1",
            "digest": chosen.digest,
            "entries": [one._asdict() for one in chosen.entries],
        }
        table = types_table.overview(chosen)
    if json_:
        shared.print_data(msgspec.json.format(msgspec.json.encode(said), indent=2) + b"\n")
    else:
        click.echo(table)
