"""What all commands that read files share: their options, and how they say what was read."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spanscore.errors import UsageError, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spanscore.corpus import Corpus
    from spanscore.engine.parts import Part, Plan
    from spanscore.engine.processes import Workers


LARGE = 50_000_000
"""So many bytes take long enough to read for a bar."""


def tag_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of files with a token a line, which reach the command as one dictionary, `tags`."""

    @wraps(command)
    def with_tags(tag_scheme: str | None, repair: str | None, tag_column: int | None, **rest: Any) -> Any:
        return command(tags={"scheme": tag_scheme, "repair": repair, "tag_column": tag_column}, **rest)

    decorated: Callable[..., Any] = with_tags
    for option in (
        click.option("--tag-column", type=int, help="conll: the column of the tag, from 0 (default: the last)."),
        click.option(
            "--repair",
            type=click.Choice(["begin", "discard"]),
            help="conll: whether an illegal tag begins a span, or its span is left out (default: begin).",
        ),
        click.option(
            "--tag-scheme",
            type=click.Choice(["IO", "IOB1", "IOB2", "BILUO", "IOBES"]),
            help="conll: the tags' scheme (default: told from the tags).",
        ),
    ):
        decorated = option(decorated)
    return decorated


def scoring_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What is scored against what, by which measures: the files and options of all commands that score."""
    for option in reversed(
        (
            click.argument("gold"),
            click.argument("pred", nargs=-1, required=True),
            click.option(
                "-m",
                "--measure",
                "measures",
                multiple=True,
                help='A measure, such as "iou(threshold=0.5)"; give several. Default: iou and exact.',
            ),
            click.option("--gold-format", help="The gold file's format, if it is not to be told from its content."),
            click.option("--pred-format", help="The systems' format, likewise."),
            click.option(
                "--beta", type=float, default=1.0, show_default=True, help="How much more recall counts in F."
            ),
            click.option(
                "--map",
                "label_map",
                help="A file of lines 'from: to' that renames labels on both sides; 'from: null' leaves them out.",
            ),
            click.option(
                "--extra-documents",
                type=click.Choice(["refuse", "ignore", "score"]),
                default="refuse",
                show_default=True,
                help="What to do with documents that only a system has.",
            ),
        )
    ):
        command = option(command)
    return command


def jobs_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """--jobs, for commands that can read and score ranges of files."""

    def at_least_one(_: click.Context, __: click.Parameter, jobs: int) -> int:
        if jobs < 1:
            raise UsageError("--jobs must be at least 1.")
        return jobs

    said = "Processes that read and score large files."
    return click.option("--jobs", type=int, default=1, show_default=True, callback=at_least_one, help=said)(command)


def resolve_option(*choices: str) -> Callable[..., Any]:
    """--resolve, with the ways of settling overlapping spans that a command can take."""
    return click.option(
        "--resolve",
        type=click.Choice(["none", *choices]),
        default="none",
        show_default=True,
        help="Which of overlapping spans of one side stays: all, that with the higher score, or the longest.",
    )


def readable_again(path: str) -> bool:
    """Whether a file can be read more than once; a pipe cannot."""
    return path != "-" and (Path(path).is_file() or not _exists(path))


def chunks(
    path: str, format_: str | None, tags: dict[str, Any], progress: Callable[[int], object] | None = None
) -> Iterator[Corpus]:
    """A file's documents as they are read; options of tags are for conll, other formats pass them over."""
    from spanscore.formats import read_chunks

    return read_chunks(path, format_, given(tags), progress=progress)


def in_parts(
    plan: Plan,
    gold: tuple[str, str | None],
    files: list[tuple[str, str]],
    pred_format: str | None,
    tags: dict[str, Any],
    workers: Workers,
    *,
    quiet: bool,
) -> dict[str, Part]:
    """Read and count some documents of each system at a time, in one process or in several."""
    from spanscore.engine.local import count_chunks
    from spanscore.engine.ranges import count_ranges

    parts = {}
    for name, path in files:
        part = count_ranges(plan, gold, (path, pred_format), name, workers)
        if part is None:
            with reading_bar(gold[0], path, quiet=quiet) as progress:
                sides = (chunks(*gold, tags, progress), chunks(path, pred_format, tags, progress))
                part = count_chunks(plan, *sides, name)
        parts[name] = part
    return parts


@contextmanager
def reading_bar(*paths: str, quiet: bool) -> Iterator[Callable[[int], object] | None]:
    """On a terminal, a bar of how much of large files is read."""
    size = sum(Path(path).stat().st_size for path in paths if Path(path).is_file())
    if quiet or size < LARGE or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    columns = ("reading", BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=size)
        yield lambda count: bar.advance(task, count)


def given(tags: dict[str, Any]) -> dict[str, Any]:
    """The options of tags that were given."""
    return {key: value for key, value in tags.items() if value is not None}


def systems(gold: str, pred: tuple[str, ...]) -> list[tuple[str, str]]:
    """The names and files of the systems; no two may have one name, and only one input can be standard input."""
    files = [named(one) for one in pred]
    names = [name for name, _ in files]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"two systems are called '{twice}'; name them: a=FILE b=FILE.")
    if [gold, *(path for _, path in files)].count("-") > 1:
        raise UsageError("only one input can be standard input.")
    return files


def named(argument: str) -> tuple[str, str]:
    """The name and the file of `NAME=FILE` or `FILE`, whose name is its stem.

    >>> named("base=out/pred.jsonl"), named("out/pred.jsonl.gz")
    (('base', 'out/pred.jsonl'), ('pred', 'out/pred.jsonl.gz'))
    """
    name, equals, path = argument.partition("=")
    if equals and name and not _exists(argument):
        if not path:
            raise UsageError(f"'{argument}' names no file after the '='.")
        return printable(name, limit=255), path
    file = printable(Path(argument).name, limit=255)
    return ("stdin" if argument == "-" else file.removesuffix(".gz").rsplit(".", 1)[0] or file), argument


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False
