"""Options that commands share, in groups, and the help page that shows them so."""

from __future__ import annotations

import os
import sys
from collections import Counter
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spanscore.errors import UsageError, plural, printable
from spanscore.spec import parsed_share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from spanscore.result import Result

INPUT, VARIANTS, SCORING, STATISTICS, DETECTION, OUTPUT, OTHER = (
    "Input",
    "Variants",
    "Scoring",
    "Statistics",
    "Detection",
    "Output",
    "Other options",
)
LARGE = 50_000_000
"""Bytes that take long enough to read for a progress bar."""


class GroupedOption(click.Option):
    """An option that belongs to a group of the help page."""

    def __init__(self, *args: Any, group: str = OTHER, **more: Any) -> None:
        super().__init__(*args, **more)
        self.group = group


class GroupedCommand(click.Command):
    """A command whose help page shows its options in groups, and that knows the options of other tools."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; for an option of another tool, suggest ours."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            from spanscore.other_tools import OPTIONS

            if error.option_name not in OPTIONS:
                raise
            raise click.UsageError(
                f"There is no option {error.option_name}. {OPTIONS[error.option_name]}", ctx
            ) from None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options group by group."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for one in self.get_params(ctx):
            if isinstance(one, click.Option) and (record := one.get_help_record(ctx)) is not None:
                groups.setdefault(getattr(one, "group", OTHER), []).append(record)
        for name in (INPUT, VARIANTS, DETECTION, SCORING, STATISTICS, OUTPUT, OTHER):
            if name in groups:
                with formatter.section(name):
                    formatter.write_dl(groups[name])


def command(name: str) -> Callable[[Callable[..., Any]], click.Command]:
    """Declare a command with grouped options."""
    return click.command(name, cls=GroupedCommand)


def option(group: str, *names: str, **more: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare an option of a group."""
    return click.option(*names, cls=GroupedOption, group=group, **more)


def together(*options: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Combine options into one decorator, in the order in which the help page shows them."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for one in reversed(options):
            function = one(function)
        return function

    return decorate


def _limit_unpacking(ctx: click.Context, _: click.Parameter, value: int | None) -> None:
    """Limit the size of unpacked inputs while the command runs."""
    if value is not None:
        from spanscore.formats.source import MAX_BYTES

        token = MAX_BYTES.set(value)
        ctx.call_on_close(lambda: MAX_BYTES.reset(token))


max_bytes_option = option(
    INPUT,
    "--max-bytes",
    type=click.IntRange(min=1),
    metavar="N",
    expose_value=False,
    callback=_limit_unpacking,
    help="Maximum size of an unpacked input in bytes (default: 64 MiB, or 100 times its size).",
)
quiet_option = option(OTHER, "-q", "--quiet", is_flag=True, help="Only print errors to stderr.")
format_help = "Input format, such as conll or 'conll(column=1)' (default: auto-detected)."
_one_version = "the spans of one (NAME), or those marked by most (majority), any (union) or all of them (intersection)"


def annotators_option(what: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare --annotator with a help text; {} in it stands for the choices that all commands share."""
    return option(INPUT, "--annotator", metavar="WHO", help=what.format(_one_version))


annotator_option = annotators_option(
    "Gold data with several annotators: use {}; or all: score against each and sum the counts."
)
scoring_options = together(
    click.argument("gold"),
    click.argument("pred", nargs=-1, required=True),
    option(
        INPUT,
        "--gold-format",
        metavar="FORMAT",
        help="Format of the gold data, such as conll or 'conll(column=1)' (default: auto-detected).",
    ),
    option(INPUT, "--pred-format", metavar="FORMAT", help="Format of the predictions (default: auto-detected)."),
    option(
        INPUT,
        "--extra-documents",
        type=click.Choice(["refuse", "ignore", "score"]),
        default="refuse",
        show_default=True,
        help="What to do with documents that only a system has.",
    ),
    option(
        SCORING,
        "--ignore",
        multiple=True,
        metavar="LABEL",
        help="Do not score spans with this label: they are neither right nor wrong. Repeat for several.",
    ),
    annotator_option,
    max_bytes_option,
    option(
        SCORING,
        "-m",
        "--measure",
        "measures",
        multiple=True,
        metavar="MEASURE",
        help="Measure, such as iou or 'iou(threshold=0.5)'; repeat for several. Default: iou and exact, or "
        "neleval's linking measures if the gold data has entity ids.",
    ),
    option(SCORING, "--beta", type=float, default=1.0, show_default=True, help="Weight of recall in F-beta."),
)
_by_options = together(
    option(
        SCORING,
        "--by",
        multiple=True,
        metavar="WHAT",
        help="Split scores by type, document or meta.KEY; recall by a property of gold spans (attr.KEY, span.length, "
        "span.case, span.words, span.digits, span.seen or lexicon:FILE); or precision by an attr.KEY that only "
        "predictions have. Repeat for several.",
    ),
    option(
        SCORING, "--seen", metavar="FILE", help="For --by span.seen: other annotated data, or a .txt list of texts."
    ),
)


def by_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Declare --by and --seen, which reach the command as `by`."""

    @wraps(function)
    def with_seen(by: tuple[str, ...], seen: str | None, **rest: Any) -> Any:
        if seen is not None and "span.seen" not in by:
            raise UsageError("--seen requires --by span.seen.")
        return function(by=tuple(f"{one}:{seen}" if one == "span.seen" and seen else one for one in by), **rest)

    return _by_options(with_seen)


def listed_types(text: str | None) -> tuple[str, ...]:
    """Return the types of --entities."""
    return () if text is None else listed_names(text, "--entities")


def listed_names(text: str, option: str) -> tuple[str, ...]:
    """Return the types or labels that an option lists."""
    types = tuple(name.strip() for name in text.split(",") if name.strip())
    if not types:
        raise UsageError(f"{option} needs at least one type.")
    return types


def score_threshold_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Declare --score-threshold, which reaches the command as `ScoreThresholds`."""

    @wraps(function)
    def with_thresholds(score_threshold: str | None, **rest: Any) -> Any:
        from spanscore.align.score_thresholds import ScoreThresholds

        return function(score_threshold=ScoreThresholds.of(score_threshold), **rest)

    return option(
        SCORING,
        "--score-threshold",
        metavar="SCORE",
        help="Drop predictions with a lower score: 0.5, by type PERSON=0.5,DATE_TIME=0.7, or the JSON of sweep.",
    )(with_thresholds)


def entities_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Declare --entities, which reaches the command as a tuple of types."""

    @wraps(function)
    def with_entities(entities: str | None, **rest: Any) -> Any:
        return function(entities=listed_types(entities), **rest)

    what = "Score only these types, after --map."
    return option(SCORING, "--entities", metavar="A,B", help=what)(with_entities)


cluster_option = option(
    STATISTICS, "--cluster", metavar="meta.KEY", help="Resample documents that share this field together."
)
level_option = option(
    STATISTICS,
    "--ci",
    "level",
    type=float,
    default=0.95,
    show_default=True,
    metavar="LEVEL",
    help="Confidence level of intervals.",
)
resamples_option = option(
    STATISTICS, "--resamples", type=int, default=1000, show_default=True, help="Number of bootstrap resamples."
)
seed_option = option(STATISTICS, "--seed", type=int, default=0, show_default=True, help="Random seed.")
jobs_option = option(
    OTHER, "--jobs", type=int, default=1, show_default=True, help="Number of processes for large files."
)
report_option = option(OUTPUT, "--no-report", is_flag=True, help="Do not write report.html.")


def resolve_option(*choices: str, default: str = "none", what: str = "spans of one side") -> Callable[..., Any]:
    """Declare --resolve with the strategies that a command supports."""
    kept = "all, the best-scored or the longest" if "longest" in choices else "all, or the best-scored"
    return option(
        SCORING,
        "--resolve",
        type=click.Choice(["none", *choices]),
        default=default,
        show_default=True,
        help=f"Which overlapping {what} to keep: {kept}.",
    )


def text_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Declare --no-text and --mask, which reach the command as `text`: show, mask or hide."""

    @wraps(function)
    def with_text(no_text: bool, mask: bool, **rest: Any) -> Any:
        if no_text and mask:
            raise UsageError("--no-text and --mask cannot be combined.")
        return function(text="hide" if no_text else "mask" if mask else "show", **rest)

    return together(
        option(OUTPUT, "--no-text", is_flag=True, help="Leave the documents' text out of all files."),
        option(OUTPUT, "--mask", is_flag=True, help="Replace text with its shape: Xxxx 99."),
    )(with_text)


def label_map_of(path: str | None) -> Any:
    """Read a label map, if one is given."""
    from spanscore.align import LabelMap

    return None if path is None else LabelMap.read(path)


def given(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that the user gave, without defaults."""
    source = click.get_current_context().get_parameter_source
    default = click.core.ParameterSource.DEFAULT
    return {name: value for name, value in settings.items() if source(name) not in (None, default)}


def share(text: str | float) -> float:
    """Read the value of an option that is a share, such as 0.99 or 99%."""
    try:
        return parsed_share(str(text))
    except ValueError:
        raise click.UsageError(f"'{printable(str(text))}' is not a share; write for example 0.99 or 99%.") from None


def systems(gold: str, pred: tuple[str, ...]) -> dict[str, str]:
    """Return the files of the systems by name; names must differ, and only one input can be standard input."""
    files = [named(one) for one in pred]
    names = [name for name, _ in files]
    if twice := next((name for name, times in Counter(names).items() if times > 1), None):
        raise UsageError(f"two systems are called '{twice}'; name them: a=FILE b=FILE.")
    if [gold, *(path for _, path in files)].count("-") > 1:
        raise UsageError("only one input can be standard input.")
    return dict(files)


def named(argument: str) -> tuple[str, str]:
    """Split `NAME=FILE`; the name of a plain `FILE` is its stem.

    >>> named("base=out/pred.jsonl"), named("out/pred.jsonl.gz")
    (('base', 'out/pred.jsonl'), ('pred', 'out/pred.jsonl.gz'))
    """
    name, equals, path = argument.partition("=")
    if equals and name and not _exists(argument):
        if not path:
            raise UsageError(f"'{argument}' has no file name after the '='.")
        return printable(name, limit=255), path
    file = printable(Path(argument).name, limit=255)
    return ("stdin" if argument == "-" else file.removesuffix(".gz").rsplit(".", 1)[0] or file), argument


@contextmanager
def reading_bar(paths: Iterable[str], *, quiet: bool) -> Iterator[Callable[[int], object] | None]:
    """On a terminal, show a progress bar while large files are read."""
    size = sum(Path(path).stat().st_size for path in paths if _exists(path) and Path(path).is_file())
    if quiet or size < LARGE or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    columns = ("reading", BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=size)
        yield lambda count: bar.advance(task, count)


def print_inputs(inputs: Iterable[Mapping[str, Any]]) -> None:
    """Print what was read to stderr."""
    for about in inputs:
        count = f"{plural(about['documents'], 'document')}, {plural(about['spans'], 'span')}"
        click.echo("{source}: {format} ({format_reason}), ".format(**about) + count, err=True)


def print_warnings(warnings: Iterable[str], *, quiet: bool) -> None:
    """Print warnings to stderr."""
    for warning in () if quiet else warnings:
        click.echo(f"warning: {warning}", err=True)


def print_data(data: str | bytes) -> None:
    """Print JSON, CSV or TSV as it is, but to a terminal without control characters."""
    from spanscore.files import standard_output

    sys.stdout.flush()
    with standard_output() as file:
        file.write(data if isinstance(data, bytes) else data.encode("utf-8", "backslashreplace"))


def print_table(result: Result) -> None:
    """Print the scores as a table that fits the terminal."""
    from shutil import get_terminal_size

    from spanscore.result import tables

    terminal = sys.stdout.isatty() or bool(os.environ.get("FORCE_COLOR"))
    bold = terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    width = get_terminal_size().columns if terminal else None
    click.echo(tables.plain(result, width, bold=bold), color=bold)


def save_all(
    result: Result,
    folder: str,
    *,
    text: Any,
    report: bool,
    quiet: bool,
    more: Callable[[Path], None] = lambda folder: None,
    comparison: dict[str, Any] | None = None,
) -> None:
    """Write the results, the errors, `more` and, if `report` is set, the report (with a `comparison`)."""
    from spanscore.report.page_report import NAME, write_report
    from spanscore.result.files import saving

    with saving(result, folder, text=text) as new:
        more(new)
        note = write_report(result, new / NAME, text=text, comparison=comparison) if report else None
    print_warnings([] if note is None else [note], quiet=quiet)


def print_report(folder: str) -> None:
    """Print where the report in a folder of results is."""
    from spanscore.report.page_report import NAME

    click.echo(f"\nOpen {Path(folder) / NAME} in a browser.", err=True)


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False
