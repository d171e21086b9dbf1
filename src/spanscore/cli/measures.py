"""`spanscore measures`: what there is to count, and what it means."""

from __future__ import annotations

import inspect

import click


@click.command("measures")
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """List the measures, or explain one: its formula, parameters and a worked example."""
    from spanscore.measures import find, names
    from spanscore.measures import measure as from_spec
    from spanscore.measures.neleval_names import GROUPS, NAMED
    from spanscore.spec import Spec

    if name is None:
        own = [known for known in names() if known not in NAMED]
        spelt = {known: f"{aggregate}:{which}:{key}" for known, (aggregate, which, key) in NAMED.items()}
        _table({known: _first_line(find(known)) for known in own})
        click.echo("\nneleval's names for aggregate:filter:key (and for more, write them so):")
        _table({known: text.replace(":none:", "::") for known, text in spelt.items()})
        click.echo("\nneleval's groups of measures:")
        _table({group: ", ".join(members) for group, members in GROUPS.items()})
        click.echo("\nExplain one with: spanscore measures NAME")
        return
    if name in GROUPS:
        click.echo(f"{name}: a group of measures, {', '.join(GROUPS[name])}.")
        return
    spec = Spec.parse(name)
    measure = find(spec.name)
    if spec.parameters:
        from_spec(spec)
    text, _, example = (inspect.getdoc(measure) or "").partition(">>>")
    if spec.name in NAMED:
        aggregate, which, key = NAMED[spec.name]
        click.echo(f"{spec.name} stands for {aggregate}:{'' if which == 'none' else which}:{key}.\n")
    click.echo(f"{measure.name}: {text.strip()}\n")
    if measure.parameters():
        click.echo("Parameters:")
        for one in measure.parameters():
            click.echo(f"  {one.name}={one.write(one.default)}  {one.means} ({one.allowed()})")
        click.echo()
    if example:
        click.echo("Worked example, in Python:")
        click.echo("".join(f"  {line}\n" for line in f">>>{example}".splitlines()).rstrip())


def _table(rows: dict[str, str]) -> None:
    width = max(map(len, rows))
    for name, text in rows.items():
        click.echo(f"{name:<{width}}  {text}")


def _first_line(measure: type) -> str:
    return (inspect.getdoc(measure) or "").split("\n", 1)[0]
