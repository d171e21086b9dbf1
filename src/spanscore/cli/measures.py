"""`spanscore measures`: the measures and what they mean."""

from __future__ import annotations

import click

from spanscore.cli import options as shared


@shared.command("measures")
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """List the measures, or explain one: definition, options and a worked example."""
    from spanscore.cli.catalogue import list_values, print_columns, print_explanation
    from spanscore.measures import GROUPS, REGISTRY, find, measure
    from spanscore.measures.neleval_names import NAMED

    if name is None:
        list_values(REGISTRY)
        click.echo("\nneleval's names for aggregate:filter:key (which can also be written out):")
        print_columns({known: f"{a}:{'' if b == 'none' else b}:{key}" for known, (a, b, key) in NAMED.items()})
        click.echo("\nGroups of measures, of neleval and of shared tasks:")
        print_columns({group: ", ".join(members) for group, members in GROUPS.items()})
        click.echo("\nExplain one with: spanscore measures NAME")
    elif name in GROUPS:
        click.echo(f"{name}: a group of measures, {', '.join(GROUPS[name])}.")
    elif name in NAMED:
        aggregate, which, key = NAMED[name]
        click.echo(f"{name} stands for {aggregate}:{'' if which == 'none' else which}:{key}.\n")
        print_explanation(find(name))
    else:
        print_explanation(
            find(name) if name.isidentifier() or ("(" not in name and ":" not in name) else type(measure(name))
        )
