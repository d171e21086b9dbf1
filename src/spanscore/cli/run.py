"""`spanscore run`: a detector over a labelled dataset."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spanscore.cli import options as shared
from spanscore.cli.options import DETECTION, INPUT, OUTPUT, SCORING, STATISTICS, option
from spanscore.errors import UsageError, plural, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spanscore.pipeline import Outcome


@shared.command("run")
@click.argument("dataset")
@option(INPUT, "--format", "format_", metavar="FORMAT", help=shared.format_help)
@option(
    DETECTION,
    "--detector",
    default="presidio",
    show_default=True,
    help="Detector, such as presidio or 'http(url=\"http://localhost:3000\")'; see: spanscore detectors.",
)
@option(DETECTION, "--language", help="Language of the texts (default: en, or the detector's).")
@option(DETECTION, "--entities", metavar="A,B", help="Look for and score only these types.")
@option(
    DETECTION, "--jobs", type=int, default=1, show_default=True, help="Detector processes, or requests at once (http)."
)
@option(DETECTION, "--resume", is_flag=True, help="Continue an interrupted run in this folder.")
@option(
    DETECTION,
    "--max-failures",
    type=int,
    default=0,
    show_default=True,
    help="Number of documents on which the detector may fail.",
)
@option(SCORING, "--threshold", type=float, default=0.9, show_default=True, help="Minimum IoU for a match.")
@option(SCORING, "--beta", type=float, default=2.0, show_default=True, help="Weight of recall in F-beta.")
@option(SCORING, "--score-threshold", type=float, help="Drop predictions with a lower score.")
@option(SCORING, "--map", "label_map", metavar="FILE", help="Lines 'from: to' that override the entity alignment.")
@option(
    SCORING,
    "--allow-missing-mappings",
    is_flag=True,
    help="Leave out spans of unknown types instead of their documents.",
)
@shared.resolve_option("score", "longest", default="score", what="predictions")
@option(STATISTICS, "--ci", "level", type=float, metavar="LEVEL", help="Add confidence intervals, such as 0.95.")
@shared.resamples_option
@shared.seed_option
@option(OUTPUT, "-o", "--output", metavar="DIR", required=True, help="Folder to write to.")
@shared.text_options
@shared.quiet_option
def command(
    dataset: str,
    detector: str,
    language: str | None,
    output: str,
    entities: str | None,
    label_map: str | None,
    format_: str | None,
    text: Any,
    quiet: bool,
    level: float | None,
    resamples: int,
    seed: int,
    **settings: Any,
) -> None:
    """Run a detector over a labelled DATASET, align the entity types, score, and write the results.

    \b
    spanscore run data.jsonl --detector presidio --language en -o out
    spanscore run data.jsonl --detector 'http(url="http://localhost:3000", timeout=60)' -o out
    spanscore run data.jsonl --detector 'command(run="./my-detector --fast")' -o out
    spanscore run data.jsonl --detector 'replay(file=out/predictions.jsonl)' -o again
    """
    from spanscore.align import LabelMap
    from spanscore.formats import read
    from spanscore.pipeline import Job, chosen_detector, run
    from spanscore.pipeline.outputs import FILES, check_folder, write_all
    from spanscore.report.confusion import plotly
    from spanscore.stats import Bootstrap

    plotly()
    types = tuple(name.strip() for name in (entities or "").split(",") if name.strip())
    if entities is not None and not types:
        raise UsageError("--entities names no type.")
    made = chosen_detector(detector, language=language, entities=types)
    if not output:
        raise UsageError("-o names no folder.")
    check_folder(Path(output))
    corpus = read(dataset, format_)
    job = Job(
        dataset=corpus,
        detector=made,
        folder=Path(output),
        entities=types,
        label_map=shared.label_map_of(label_map) or LabelMap(),
        ci=None if level is None else Bootstrap(level, resamples, seed),
        **settings,
    )
    if not quiet:
        count = f"{plural(len(corpus), 'document')}, {plural(len(corpus.start), 'span')}"
        click.echo(f"{corpus.source}: {corpus.format} ({corpus.format_reason}), {count}", err=True)
    try:
        with _progress(quiet=quiet) as progress:
            outcome, journal = run(job, progress)
    except KeyboardInterrupt:
        click.echo(f"spanscore: interrupted; continue with: --resume -o {printable(output, limit=255)}", err=True)
        sys.exit(130)
    if text != "show":
        outcome = replace(outcome, result=outcome.result.with_settings(text=text))
    arguments = {"dataset": corpus.source, "detector": repr(made), "output": output, "ci": level, **settings}
    metrics = write_all(outcome, journal, text=text, arguments=arguments)
    shared.print_warnings(metrics["warnings"], quiet=quiet)
    _print(outcome, metrics)
    listed = ", ".join(name for name in FILES if name != "metrics.json")
    click.echo(f"\nThe scores are in {Path(output) / 'metrics.json'}; beside it: {listed}.")


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """Show a bar with rate and time left on a terminal, and a line from time to time elsewhere."""
    if quiet:
        yield lambda done, total: None
        return
    began, first = time.monotonic(), -1

    def rate(done: int) -> float:
        nonlocal first
        first = done if first < 0 else first
        return (done - first) / max(time.monotonic() - began, 1e-9)

    if not sys.stderr.isatty():
        last = began

        def line(done: int, total: int) -> None:
            nonlocal last
            speed = rate(done)
            if done == total or time.monotonic() - last >= 10:
                last = time.monotonic()
                left = f", {(total - done) / speed:.0f} s left" if speed and done < total else ""
                click.echo(f"detected {done} of {total} documents ({speed:.0f}/s{left})", err=True)

        yield line
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = ("detecting", BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, rate="")
        yield lambda done, total: bar.update(task, completed=done, total=total, rate=f"{rate(done):.0f} documents/s")


def _print(outcome: Outcome, metrics: dict[str, Any]) -> None:
    changed = [one for one in (*outcome.alignment.gold, *outcome.alignment.pred) if one.to != one.label]
    if changed:
        click.echo("Aligned types (see alignment.json for the reasons):")
        for one in dict.fromkeys(changed):
            click.echo(f"  {printable(one.label)} -> {'left out' if one.to is None else printable(one.to)}")
        click.echo()
    shared.print_table(outcome.result)
    details, errors = metrics["details"], metrics["errors"]
    click.echo(
        f"\n{details['samples_evaluated']} of {plural(details['total_samples'], 'document')} evaluated, "
        f"{plural(errors['false_positives'], 'false positive')} and "
        f"{plural(errors['false_negatives'], 'false negative')} listed."
    )
