"""The command line: one module per command, imported only when it runs."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import click

from spanscore.errors import SpanscoreError, TerminatedError, printable
from spanscore.version import __version__

SECTIONS = {
    "Prepare data": {
        "check": "Read files and report their content, or what is wrong.",
        "convert": "Convert files between formats.",
        "generate": "Generate labelled text from templates.",
    },
    "Evaluate": {
        "run": "Run a detector over a labelled dataset, and score it.",
        "score": "Score systems against gold data.",
        "compare": "Compare systems: which is better, and how certain is that?",
        "sweep": "Score at every threshold of the predictions' scores.",
        "report": "Write a page that shows the scores and every error.",
        "gate": "Pass or fail results by conditions.",
    },
    "Look up": {
        "measures": "List the measures, or explain one.",
        "formats": "List the file formats, or explain one.",
        "detectors": "List the detectors, or explain one.",
        "weights": "Make weights of related types from a hierarchy.",
        "completion": "Print a shell completion script.",
    },
}
"""Commands in the order of a user's day."""
COMMANDS = {name: text for section in SECTIONS.values() for name, text in section.items()}


class LazyGroup(click.Group):
    """Commands by name; listing them imports none of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Return the command of this name."""
        if name not in COMMANDS:
            return None
        command: click.Command = import_module(f"spanscore.cli.{name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands to the help page, section by section."""
        for name, commands in SECTIONS.items():
            with formatter.section(name):
                formatter.write_dl(list(commands.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is called; for an unknown name, suggest the nearest one."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from spanscore.errors import unknown

            ctx.fail(unknown("command", args[0], COMMANDS))
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="spanscore")
def cli() -> None:
    """One scorer for everything that finds spans in text: PII and PHI detectors, NER models, entity linkers.

    \b
    Run a detector:        spanscore run data.jsonl --detector presidio -o out
    Score a system:        spanscore score gold.jsonl pred.jsonl -o out
    Use other measures:    spanscore score gold.jsonl pred.jsonl -m "iou(threshold=0.5)" -m char.pii
    Compare two systems:   spanscore compare gold.jsonl base=a.jsonl new=b.jsonl
    Explain a measure:     spanscore measures iou
    """


def main() -> None:
    """Run the command; report what a user can correct in one sentence, with exit code 2."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed before we started
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
    with suppress(ValueError):  # not in the main thread
        for name in ("SIGTERM", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), _terminate)
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
    except TerminatedError as error:
        sys.exit(128 + error.signal)
    except BrokenPipeError:
        _forget_stdout()
        sys.exit(1)
    except OSError as error:
        name = "the output" if error.filename is None else printable(str(error.filename), limit=255)
        click.echo(f"spanscore: cannot read or write {name} ({error.strerror}).", err=True)
        _forget_stdout()
        sys.exit(2)
    except MemoryError:
        click.echo("spanscore: not enough memory for this input.", err=True)
        sys.exit(2)


def _terminate(number: int, _: object) -> None:
    """End the program, and clean up files and processes on the way."""
    raise TerminatedError(number)


def _forget_stdout() -> None:
    """Keep Python from writing the rest of stdout, which has nowhere to go, at its exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
