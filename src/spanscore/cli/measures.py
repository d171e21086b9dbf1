"""`spanscore measures`: what there is to count, and what it means."""

from __future__ import annotations

import inspect

import click


@click.command("measures")
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """List the measures, or explain one: its formula, parameters and a worked example."""
    from spanscore.measures.registry import find, names

    if name is None:
        width = max(map(len, names()))
        for known in names():
            click.echo(f"{known:<{width}}  {_first_line(find(known))}")
        click.echo("\nExplain one with: spanscore measures NAME")
        return
    from spanscore.measures.spec import Spec

    measure = find(Spec.parse(name).name)
    text, _, example = (inspect.getdoc(measure) or "").partition(">>>")
    click.echo(f"{measure.name}: {text.strip()}\n")
    if measure.parameters():
        click.echo("Parameters:")
        for one in measure.parameters():
            click.echo(f"  {one.name}={one.write(one.default)}  {one.means} ({one.allowed()})")
        click.echo()
    if example:
        click.echo("Worked example, in Python:")
        click.echo("".join(f"  {line}\n" for line in f">>>{example}".splitlines()).rstrip())


def _first_line(measure: type) -> str:
    return (inspect.getdoc(measure) or "").split("\n", 1)[0]
