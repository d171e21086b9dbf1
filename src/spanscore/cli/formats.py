"""`spanscore formats`: the file formats that can be read and written."""

from __future__ import annotations

import click

from spanscore.cli import options as shared


@shared.command("formats")
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """List the file formats, or explain one: layout, offsets and options."""
    from spanscore.cli.catalogue import list_values, print_explanation
    from spanscore.formats import REGISTRY, Format
    from spanscore.formats.documents import OffsetFormat

    if name is None:
        list_values(REGISTRY)
        click.echo("\nExplain one with: spanscore formats NAME")
        return
    found = REGISTRY.find(name) if "(" not in name else type(REGISTRY.make(name))
    assert issubclass(found, Format)
    facts = {
        "Offsets": "set by the options unit, end, base and newline"
        if issubclass(found, OffsetFormat)
        else found.offsets,
        "Input": "files, folders and zip files" if found.folders else "files",
        "Can be written": "no" if not found.writes() else "as a folder" if found.writes_folders() else "yes",
    }
    print_explanation(found, facts)
