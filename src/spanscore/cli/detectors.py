"""`spanscore detectors`: the detectors that `run` can use."""

from __future__ import annotations

import click

from spanscore.cli import options as shared


@shared.command("detectors")
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """List the detectors, or explain one and its options."""
    from spanscore.cli.catalogue import list_values, print_explanation
    from spanscore.detectors import REGISTRY

    if name is None:
        list_values(REGISTRY)
        click.echo("\nExplain one with: spanscore detectors NAME")
        return
    print_explanation(REGISTRY.find(name) if "(" not in name else type(REGISTRY.make(name)))
