"""`spanscore score`: systems against gold data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from spanscore.cli import options as shared
from spanscore.cli.options import OTHER, OUTPUT, SCORING, STATISTICS, option
from spanscore.errors import UsageError

if TYPE_CHECKING:
    from spanscore.result import Result


@shared.command("score")
@shared.scoring_options
@shared.by_option
@shared.resolve_option("score", "longest")
@option(SCORING, "--type-weights", metavar="FILE", help="sets, overlap: lines of gold type, system type, weight.")
@option(SCORING, "--kb-weights", metavar="FILE", help="sets, overlap: lines of gold id, system id, weight.")
@option(SCORING, "--hipaa-table", metavar="FILE", help="sandbox.hipaa: lines of address type, yes or no.")
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
    label_map: str | None,
    type_weights: str | None,
    kb_weights: str | None,
    hipaa_table: str | None,
    level: float | None,
    resamples: int,
    seed: int,
    cluster: str | None,
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

    \b
    spanscore score gold.jsonl pred.jsonl
    spanscore score gold.json base=a.jsonl new=b.jsonl -m iou -m iou.pii -o out
    spanscore score eval.txt eval.txt --gold-format 'conll(column=1)' --pred-format 'conll(column=2)'
    """
    from spanscore.engine import Inputs, Plan, evaluate
    from spanscore.files import atomic_file, check_outputs
    from spanscore.measures import with_tables
    from spanscore.result.files import to_json
    from spanscore.stats import Bootstrap

    if level is None and cluster is not None:
        raise UsageError("--cluster is for intervals; give --ci 0.95 too.")
    if master is not None and engine != "spark":
        raise UsageError("--master is for --engine spark.")
    plan = Plan.of(
        with_tables(measures or None, type_weights=type_weights, kb_weights=kb_weights, table=hipaa_table),
        label_map=shared.label_map_of(label_map),
        ci=None if level is None else Bootstrap(level, resamples, seed, cluster),
        keep_spans=output is not None,
        **settings,
    )
    check_outputs(json_, output)
    inputs = Inputs.of(gold, shared.systems(gold, pred), gold_format=gold_format, pred_format=pred_format)
    with shared.reading_bar([gold, *(one.path or "" for one in inputs.systems.values())], quiet=quiet) as progress:
        spark = None if engine == "local" else master or ""
        result = evaluate(plan, inputs, jobs=jobs, spark=spark, progress=progress)
    if text != "show":
        result = result.with_settings(text=text)
    if not quiet:
        shared.print_inputs(result)
    shared.print_warnings(result.warnings, quiet=quiet)
    if output is not None:
        shared.save_all(result, output, text=text, report=not no_report, quiet=quiet)
    if json_ == "-":
        click.echo(to_json(result), nl=False)
        return
    if json_ is not None:
        with atomic_file(json_) as file:
            file.write(to_json(result))
    _print(result, format_, signature)


def _print(result: Result, format_: str, signature: bool) -> None:
    from spanscore.result import tables

    if format_ in ("csv", "tsv"):
        click.echo(tables.separated(result, "," if format_ == "csv" else "\t", signatures=signature), nl=False)
        return
    if format_ == "markdown":
        click.echo(tables.markdown(result), nl=False)
    else:
        shared.print_table(result)
        for sentence in tables.few_misses(result):
            click.echo(sentence)
    if signature:
        click.echo()
        for one in result.scores:
            click.echo(f"{one.system}: {one.signature}")
