"""`spanscore completion`: shell completion."""

from __future__ import annotations

import click


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print a shell completion script.

    \b
    eval "$(spanscore completion bash)"
    """
    from click.shell_completion import get_completion_class

    from spanscore.cli import cli

    complete = get_completion_class(shell)
    assert complete is not None
    source = complete(cli, {}, "spanscore", "_SPANSCORE_COMPLETE")
    click.echo(complete.source_template % source.source_vars())
