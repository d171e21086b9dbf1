"""Listing and explaining measures, formats and detectors, all in the same way."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import click

from spanscore.errors import UsageError
from spanscore.spec import REQUIRED

if TYPE_CHECKING:
    from spanscore.spec import Registry, Value


def list_values(registry: Registry[Any]) -> None:
    """Print the names of all values of a kind with the first line of their documentation."""
    rows = {}
    for name in registry.names():
        try:
            rows[name] = _summary(registry.find(name))
        except UsageError as error:
            rows[name] = f"({error})"
    print_columns(rows)


def print_explanation(found: type[Value], facts: dict[str, str] | None = None) -> None:
    """Print the documentation, the options and the example of a measure, format or detector."""
    text, _, example = (inspect.getdoc(found) or "").partition(">>>")
    click.echo(f"{found.name}: {text.strip()}\n")
    for name, fact in (facts or {}).items():
        click.echo(f"{name}: {fact}")
    if facts:
        click.echo()
    if found.parameters():
        click.echo("Options:")
        for one in found.parameters():
            default = "" if one.default is REQUIRED else one.write(one.default) or '""'
            shown = one.name if one.default is REQUIRED else f"{one.name}={default}"
            needed = "required; " if one.default is REQUIRED else ""
            click.echo(f"  {shown}  {one.description.rstrip('.')} ({needed}{one.allowed().removeprefix('a ')}).")
        click.echo()
    if example:
        click.echo("Worked example, in Python:")
        click.echo("".join(f"  {line}\n" for line in f">>>{example}".splitlines()).rstrip())


def print_columns(rows: dict[str, str]) -> None:
    """Print names and texts in two columns."""
    width = max(map(len, rows))
    for name, text in rows.items():
        click.echo(f"{name:<{width}}  {text}")


def _summary(found: type) -> str:
    return (inspect.getdoc(found) or "").split("\n", 1)[0]
