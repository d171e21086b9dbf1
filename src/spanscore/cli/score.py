"""`spanscore score`: systems against gold data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from spanscore.cli import options as shared
from spanscore.cli.labels import label_options
from spanscore.cli.options import OTHER, OUTPUT, SCORING, STATISTICS, option
from spanscore.errors import UsageError

if TYPE_CHECKING:
    from spanscore.result import Result


@shared.command("score")
@shared.scoring_options
@label_options
@shared.entities_option
@shared.score_threshold_option
@shared.by_option
@shared.resolve_option("score", "longest")
@option(
    SCORING,
    "--type-weights",
    metavar="FILE",
    help="For sets and overlap measures: lines of gold type, system type, weight; or 'taxonomy(decay=0.5)'.",
)
@option(
    SCORING, "--kb-weights", metavar="FILE", help="For sets and overlap measures: lines of gold id, system id, weight."
)
@option(SCORING, "--hipaa-table", metavar="FILE", help="For sandbox.hipaa: lines of address type, yes or no.")
@option(STATISTICS, "--ci", "level", type=float, metavar="LEVEL", help="Add confidence intervals, such as 0.95.")
@shared.resamples_option
@shared.seed_option
@shared.cluster_option
@option(OUTPUT, "--json", "json_", metavar="FILE", help="Write the results as JSON; '-' prints only JSON.")
@option(OUTPUT, "-o", "--output", metavar="DIR", help="Write results, errors and a report to this folder.")
@shared.report_option
@shared.text_options
@option(
    OUTPUT,
    "--format",
    "format_",
    type=click.Choice(["table", "markdown", "csv", "tsv"]),
    default="table",
    show_default=True,
    help="How to print the results.",
)
@option(
    STATISTICS,
    "--agreement",
    metavar="FILE",
    help="Show the agreement of annotators, a file written by agree --json, next to F.",
)
@option(OUTPUT, "--signature", is_flag=True, help="Print the signature of each measure.")
@shared.jobs_option
@option(
    OTHER,
    "--engine",
    type=click.Choice(["local", "spark"]),
    default="local",
    show_default=True,
    help="Score on this machine, or Parquet files on Spark.",
)
@option(OTHER, "--master", metavar="URL", help="Spark master, such as spark://host:7077 or local[4].")
@shared.quiet_option
def command(
    gold: str,
    pred: tuple[str, ...],
    measures: tuple[str, ...],
    gold_format: str | None,
    pred_format: str | None,
    type_weights: str | None,
    kb_weights: str | None,
    hipaa_table: str | None,
    level: float | None,
    resamples: int,
    seed: int,
    cluster: str | None,
    agreement: str | None,
    jobs: int,
    engine: str,
    master: str | None,
    json_: str | None,
    output: str | None,
    no_report: bool,
    text: Any,
    format_: str,
    signature: bool,
    quiet: bool,
    **settings: Any,
) -> None:
    """Score systems (PRED, or NAME=PRED) against GOLD spans. '-' reads standard input.

    A PRED may be the folder of a run; it is then scored with the settings of the run.

    \b
    spanscore score gold.jsonl pred.jsonl
    spanscore score gold.json base=a.jsonl new=b.jsonl -m iou -m iou.pii -o out
    spanscore score eval.txt eval.txt --gold-format 'conll(column=1)' --pred-format 'conll(column=2)'
    """
    from spanscore.analysis.agreement_beside import read_agreement, with_agreement
    from spanscore.engine.evaluate import score_systems
    from spanscore.files import atomic_file, check_outputs
    from spanscore.result.files import to_json
    from spanscore.stats import Bootstrap

    if level is None and cluster is not None:
        raise UsageError("--cluster requires intervals; add --ci 0.95.")
    if master is not None and engine != "spark":
        raise UsageError("--master requires --engine spark.")
    systems = shared.systems(gold, pred)
    check_outputs(json_, output)
    if agreement is not None:
        read_agreement(agreement)  # a wrong file is reported before anything is scored
    intervals = {} if level is None else {"ci": Bootstrap(level, resamples, seed, cluster)}
    with shared.reading_bar([gold, *systems.values()], quiet=quiet) as progress:
        result = score_systems(
            gold,
            systems,
            measures or None,
            gold_format=gold_format,
            pred_format=pred_format,
            tables={"type_weights": type_weights, "kb_weights": kb_weights, "table": hipaa_table},
            keep_spans=output is not None,
            jobs=jobs,
            spark=None if engine == "local" else master or "",
            progress=progress,
            settings={**shared.given(settings), **intervals},
        )
    if text != "show":
        result = result.with_settings(text=text)
    if agreement is not None:
        result = with_agreement(result, agreement)
    if not quiet:
        shared.print_inputs([result.inputs["gold"], *result.inputs["systems"].values()])
    shared.print_warnings(result.warnings, quiet=quiet)
    if output is not None:
        shared.save_all(result, output, text=text, report=not no_report, quiet=quiet)
    if json_ == "-":
        shared.print_data(to_json(result))
        return
    if json_ is not None:
        with atomic_file(json_) as file:
            file.write(to_json(result))
    _print(result, format_, signature)
    if output is not None and not no_report and not quiet:
        shared.print_report(output)


def _print(result: Result, format_: str, signature: bool) -> None:
    from spanscore.analysis.agreement_beside import beside
    from spanscore.result import tables

    if format_ in ("csv", "tsv"):
        shared.print_data(tables.separated(result, "," if format_ == "csv" else "\t", signatures=signature))
        return
    if format_ == "markdown":
        click.echo(tables.markdown(result), nl=False)
    else:
        shared.print_table(result)
        for sentence in (*beside(result), *tables.few_misses(result), *tables.gap_lines(result)):
            click.echo(sentence)
    if signature:
        click.echo()
        for one in result.scores:
            click.echo(f"{one.system}: {one.signature}")
