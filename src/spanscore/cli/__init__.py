"""The command line: one module per command, imported only when it runs."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import click

from spanscore.errors import SpanscoreError, printable
from spanscore.termination import TERMINATION
from spanscore.version import __version__

SECTIONS = {
    "Prepare data": {
        "check": "Report the content of files, and problems in them.",
        "convert": "Convert files between formats.",
        "generate": "Generate labelled text from templates.",
        "perturb": "Make labelled variants of a dataset: noisy text, other names.",
    },
    "Evaluate": {
        "run": "Run a detector over a labelled dataset, and score it.",
        "score": "Score systems against gold data.",
        "compare": "Compare systems: which is better, and how certain is that?",
        "sweep": "Score at every threshold of the predictions' scores.",
        "report": "Write a page that shows the scores and every error.",
        "plan": "Compute the sample size for a claim, or what you may claim.",
        "summary": "Write a one-page summary without text.",
        "stress": "Run a detector over variants: how far do its scores drop?",
        "gate": "Check results against conditions; exit 1 if one fails.",
        "log": "Add results to a history, or to MLflow.",
        "history": "Show the trend of logged scores.",
        "agree": "Measure the agreement of annotators.",
        "suspects": "Find probable errors in gold data.",
    },
    "Look up": {
        "measures": "List the measures, or explain one.",
        "formats": "List the file formats, or explain one.",
        "detectors": "List the detectors, or explain one.",
        "types": "List the types, or audit which labels match.",
        "weights": "Compute weights for related types from a hierarchy.",
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
        """Return the command with this name; for an unknown name, suggest the closest one."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from spanscore.errors import unknown
            from spanscore.other_tools import COMMANDS as THEIRS

            if args[0] in THEIRS:
                ctx.fail(f"There is no command '{args[0]}'. {THEIRS[args[0]]}")
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
    """Run the command and exit: 0 done, 1 a gate failed, 2 wrong input or call, 128 + n ended by signal n.

    The exception of a signal may be raised anywhere, also while a library is imported that turns it into another
    exception, or while an error is printed. So the signal decides the exit code, not the exception that arrives here.
    """
    try:
        with suppress(ValueError):  # not in the main thread
            for name in ("SIGTERM", "SIGHUP", "SIGINT"):
                number = getattr(signal, name, None)
                if number is not None and signal.getsignal(number) != signal.SIG_IGN:  # as nohup sets it
                    signal.signal(number, TERMINATION.arrive)
        code = _run()
        TERMINATION.running = False
    except BaseException as error:
        TERMINATION.running = False
        if TERMINATION.number is None and isinstance(error, Exception | SystemExit):
            raise
        code = 130
        if TERMINATION.number is None and not isinstance(error, KeyboardInterrupt):
            click.echo(f"spanscore: a library failed with {printable(type(error).__name__)}.", err=True)
            code = 2
    TERMINATION.end_programs()
    sys.exit(code if TERMINATION.number is None else 128 + TERMINATION.number)


def _run() -> int:
    """Run the command and return its exit code; report errors that a user can fix in one sentence."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed before we started
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
    try:
        cli.main(prog_name="spanscore", standalone_mode=False)
        sys.stdout.flush()
    except SpanscoreError as error:
        click.echo(f"spanscore: {printable(str(error), limit=10_000)}", err=True)
        return 2
    except (click.exceptions.Abort, KeyboardInterrupt):
        return 130
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return 2
    except click.ClickException as error:
        hint = f" See: {error.ctx.command_path} --help." if isinstance(error, click.UsageError) and error.ctx else ""
        click.echo(f"spanscore: {' '.join(error.format_message().split())}{hint}", err=True)
        return 2
    except BrokenPipeError:
        _forget_stdout()
        return 1
    except OSError as error:
        name = "the output" if error.filename is None else printable(str(error.filename), limit=255)
        click.echo(f"spanscore: cannot read or write {name} ({error.strerror}).", err=True)
        _forget_stdout()
        return 2
    except MemoryError:
        click.echo("spanscore: not enough memory for this input.", err=True)
        return 2
    return 0


def _forget_stdout() -> None:
    """Keep Python from flushing stdout at exit when its reader is gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
