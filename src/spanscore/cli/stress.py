"""`spanscore stress`: a detector over labelled variants of a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spanscore.cli import options as shared
from spanscore.cli.options import INPUT, OUTPUT, option
from spanscore.cli.perturb import perturbation_options
from spanscore.cli.run import check_folder_name, resumable, run_options
from spanscore.errors import printable

if TYPE_CHECKING:
    from spanscore.analysis.stress import Stress


@shared.command("stress")
@click.argument("gold")
@option(INPUT, "--format", "format_", metavar="FORMAT", help=shared.format_help)
@shared.max_bytes_option
@perturbation_options
@run_options
@shared.level_option
@shared.resamples_option
@shared.seed_option
@option(OUTPUT, "-o", "--output", metavar="DIR", required=True, help="Folder to write to.")
@shared.text_options
@shared.quiet_option
def command(
    gold: str,
    format_: str | None,
    perturbations: str,
    names: str,
    rate: float,
    detector: str,
    language: str | None,
    entities: str | None,
    level: float,
    resamples: int,
    seed: int,
    output: str,
    text: Any,
    quiet: bool,
    **settings: Any,
) -> None:
    """Run a detector over GOLD and its variants, and report how much each perturbation lowers its scores.

    Drops are paired by document and have confidence intervals; a star marks significant drops. If the swap-names table
    has groups, also report the largest gap between them. stress.json contains everything, including types that did not
    change; the other files are those that spanscore run writes, for all variants together.

    \b
    spanscore stress gold.jsonl --detector presidio --with typos,upper,ocr -o out
    spanscore stress gold.jsonl --with swap-names:names.tsv -o out
    """
    from spanscore.formats import read
    from spanscore.pipeline import Job, chosen_detector
    from spanscore.pipeline.outputs import write_all
    from spanscore.pipeline.stress import run_stress, with_variants
    from spanscore.report import stress as report
    from spanscore.stats import Bootstrap

    check_folder_name(output)
    made = chosen_detector(detector, language=language)
    listed = shared.listed_names(names, "--names")
    corpus = with_variants(read(gold, format_), perturbations, seed=seed, rate=rate, names=listed)
    job = Job.of(
        corpus,
        made,
        output,
        entities=shared.listed_types(entities),
        ci=Bootstrap(level, resamples, seed),
        **settings,
    )
    with resumable(corpus, output, quiet=quiet) as shown:
        outcome, journal, found = run_stress(job, shown)
    arguments = {"perturbations": perturbations, "names": listed, "rate": rate, "seed": seed}
    metrics = write_all(outcome, journal, text=text, arguments=arguments, more={report.NAME: found.to_dict()})
    shared.print_warnings([one for one in metrics["warnings"] if one not in shown.warned], quiet=quiet)
    _print(found)
    where = printable(str(Path(output) / report.NAME), limit=255)
    click.echo(f"\nAll results are in {where}; the same folder has the run's files for all variants.")


def _print(found: Stress) -> None:
    from spanscore.report import stress as report

    for number, one in enumerate(found.result.scores):
        measure = one.name
        click.echo(f"{'' if not number else chr(10)}Recall by {measure} (types that changed)")
        click.echo(report.plain(found, measure))
        for line in report.gap_lines(found, measure):
            click.echo(line)
