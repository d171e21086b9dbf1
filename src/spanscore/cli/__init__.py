"""The command line: one file a command, each imported only when it runs."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import click

from spanscore.errors import SpanscoreError, printable
from spanscore.version import __version__

COMMANDS = {
    "check": "Read files and say what is in them, or what is wrong.",
    "compare": "Say which system is better, and how sure that is.",
    "completion": "Print a script that completes commands in your shell.",
    "convert": "Turn a file of any known format into spanscore's own.",
    "gate": "Pass or fail results by conditions.",
    "generate": "Make up labelled text from templates.",
    "measures": "List the measures, or explain one.",
    "report": "Write a page that shows the numbers and every error.",
    "run": "Run a detector over a labelled dataset: detect, align, score, write.",
    "score": "Score systems' spans against gold spans.",
    "sweep": "Score at every threshold of predictions' scores.",
    "weights": "Make weights of related types from a hierarchy.",
}


class LazyGroup(click.Group):
    """Commands by name; listing them imports none of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command of this name."""
        if name not in COMMANDS:
            return None
        command: click.Command = import_module(f"spanscore.cli.{name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands in the help text."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is called; a name that is nearly one is told."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from spanscore.errors import unknown

            ctx.fail(unknown("command", args[0], COMMANDS))
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="spanscore")
def cli() -> None:
    """One scorer for everything that finds spans in text: PII and PHI detectors, NER models, entity linkers.

    \b
    Run a detector:      spanscore run data.jsonl --detector presidio -o out
    Score a system:      spanscore score gold.jsonl pred.jsonl -o out
    By other measures:   spanscore score gold.jsonl pred.jsonl -m "iou(threshold=0.5)" -m char.pii
    Which is better:     spanscore compare gold.jsonl base=a.jsonl new=b.jsonl
    What numbers mean:   spanscore measures iou
    """


def main() -> None:
    """Run the command; what a user can mend is told in one sentence, with exit code 2."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed before we began
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
    with suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # and clear up on the way
    try:
        cli.main(prog_name="spanscore", standalone_mode=False)
        sys.stdout.flush()
    except SpanscoreError as error:
        click.echo(f"spanscore: {printable(str(error), limit=10_000)}", err=True)
        sys.exit(2)
    except click.exceptions.Abort:
        sys.exit(130)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(2)
    except click.ClickException as error:
        hint = f" See: {error.ctx.command_path} --help." if isinstance(error, click.UsageError) and error.ctx else ""
        click.echo(f"spanscore: {' '.join(error.format_message().split())}{hint}", err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        _forget_stdout()
        sys.exit(1)
    except OSError as error:
        name = "the output" if error.filename is None else printable(str(error.filename), limit=255)
        click.echo(f"spanscore: {name} cannot be read or written ({error.strerror}).", err=True)
        _forget_stdout()
        sys.exit(2)
    except MemoryError:
        click.echo("spanscore: there is not enough memory for this input.", err=True)
        sys.exit(2)


def _forget_stdout() -> None:
    """What is left to be written has nowhere to go: keep Python from trying again at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
