"""`spanscore run`: a detector over a labelled dataset."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spanscore.cli import options as shared
from spanscore.cli.labels import level_options, map_options
from spanscore.cli.options import DETECTION, INPUT, OUTPUT, SCORING, STATISTICS, option, together
from spanscore.errors import UsageError, plural, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.align.entities import Alignment
    from spanscore.corpus import Corpus
    from spanscore.pipeline import Outcome


run_options = together(
    option(
        DETECTION,
        "--detector",
        metavar="DETECTOR",
        default="presidio",
        show_default=True,
        help="Detector, such as presidio or 'http(url=\"http://localhost:3000\")'; see: spanscore detectors.",
    ),
    option(
        DETECTION,
        "--language",
        help="Language of the texts; auto uses meta.language of each document (default: the detector's).",
    ),
    option(DETECTION, "--entities", metavar="A,B", help="Detect and score only these types."),
    option(
        DETECTION,
        "--jobs",
        type=int,
        default=1,
        show_default=True,
        help="Number of parallel detector processes, programs or requests.",
    ),
    option(DETECTION, "--resume", is_flag=True, help="Continue an interrupted run in this folder."),
    option(
        DETECTION,
        "--resume-anyway",
        is_flag=True,
        help="Resume even if the detector has changed; run.json records what changed.",
    ),
    option(
        DETECTION,
        "--max-failures",
        type=int,
        default=0,
        show_default=True,
        help="Number of documents on which the detector may fail.",
    ),
    option(SCORING, "--threshold", type=float, default=0.9, show_default=True, help="Minimum IoU for a match."),
    option(SCORING, "--beta", type=float, default=2.0, show_default=True, help="Weight of recall in F-beta."),
    shared.score_threshold_option,
    map_options,
    option(
        SCORING,
        "--allow-missing-mappings",
        is_flag=True,
        help="Leave out spans of unknown types instead of their documents.",
    ),
    shared.resolve_option("score", "longest", default="score", what="predictions"),
)
"""What a detector does, and how it is scored."""


@shared.command("run")
@click.argument("dataset")
@option(INPUT, "--format", "format_", metavar="FORMAT", help=shared.format_help)
@shared.annotator_option
@shared.max_bytes_option
@run_options
@level_options
@shared.by_option
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
    format_: str | None,
    text: Any,
    quiet: bool,
    level: float | None,
    resamples: int,
    seed: int,
    annotator: str | None,
    **settings: Any,
) -> None:
    """Run a detector over a labelled DATASET, align the entity types, score, and write the results.

    \b
    spanscore run data.jsonl --detector presidio --language en -o out
    spanscore run data.jsonl --detector 'http(url="http://localhost:3000", timeout=60)' -o out
    spanscore run data.jsonl --detector 'command(run="./my-detector --fast")' -o out
    spanscore run data.jsonl --detector 'replay(file=out/predictions.jsonl)' -o again
    """
    from spanscore.engine.inputs import Input
    from spanscore.pipeline import Job, chosen_detector, run
    from spanscore.pipeline.outputs import FILES, write_all
    from spanscore.stats import Bootstrap

    check_folder_name(output)
    made = chosen_detector(detector, language=language)
    corpus = Input.of(dataset, format_, all_annotators=bool(annotator)).corpus()
    job = Job.of(
        corpus,
        made,
        output,
        entities=shared.listed_types(entities),
        ci=None if level is None else Bootstrap(level, resamples, seed),
        annotator=annotator,
        **settings,
    )
    with resumable(corpus, output, quiet=quiet) as shown:
        outcome, journal = run(job, shown)
    metrics = write_all(outcome, journal, text=text)
    shared.print_warnings([one for one in metrics["warnings"] if one not in shown.warned], quiet=quiet)
    _print(outcome, metrics)
    listed = ", ".join(name for name in FILES if name != "report.html")
    page = printable(str(Path(output) / "report.html"), limit=255)
    click.echo(f"\nOpen {page} in a browser. Beside it: {listed}.")


def check_folder_name(output: str) -> None:
    """Raise if a run cannot be written to this folder, or if a library for its files is missing."""
    from spanscore.files import check_folder
    from spanscore.report.confusion import plotly

    plotly()
    if not output:
        raise UsageError("-o needs the name of a folder.")
    check_folder(output)


@contextmanager
def resumable(corpus: Corpus, output: str, *, quiet: bool) -> Iterator[Any]:
    """Show the dataset and the progress of a run; if it is interrupted, print how to continue."""
    from spanscore.cli.progress import shown_run
    from spanscore.engine.run_folders import UNFINISHED

    if not quiet:
        count = f"{plural(len(corpus), 'document')}, {plural(len(corpus.start), 'span')}"
        click.echo(f"{corpus.source}: {corpus.format} ({corpus.format_reason}), {count}", err=True)
    try:
        with shown_run(quiet=quiet) as shown:
            yield shown
    except KeyboardInterrupt:
        if (Path(output) / UNFINISHED).exists():
            click.echo(f"spanscore: interrupted; continue with: --resume -o {printable(output, limit=255)}", err=True)
        raise


def _print(outcome: Outcome, metrics: dict[str, Any]) -> None:
    from spanscore.report.summary import headline
    from spanscore.result import tables

    if changed := list(dict.fromkeys(_aligned(outcome.alignment))):
        click.echo("Aligned types (see alignment.json for the reasons):")
        for line in changed:
            click.echo(f"  {line}")
        click.echo()
    shared.print_table(outcome.result)
    for sentence in (*tables.few_misses(outcome.result), *tables.gap_lines(outcome.result)):
        click.echo(sentence)
    details, errors = metrics["details"], metrics["errors"]
    click.echo(
        f"\n{details['samples_evaluated']} of {plural(details['total_samples'], 'document')} evaluated, "
        f"{plural(errors['false_positives'], 'false positive')} and "
        f"{plural(errors['false_negatives'], 'false negative')} listed."
    )
    click.echo(headline(details["leak"]))


def _aligned(alignment: Alignment) -> Iterator[str]:
    """Yield the labels that have another name after alignment, with their side where the two sides differ."""
    gold, pred = ({one.label: one.to for one in side} for side in (alignment.gold, alignment.pred))
    for side, ours, theirs in (("gold", gold, pred), ("predicted", pred, gold)):
        for label, to in ours.items():
            if to != label:
                which = "" if theirs.get(label, to) == to else f" ({side})"
                yield f"{printable(label)}{which} -> {'left out' if to is None else printable(to)}"
