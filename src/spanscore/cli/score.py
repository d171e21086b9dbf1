"""`spanscore score`: systems against gold."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from spanscore.cli.reading import (
    chunks,
    in_parts,
    jobs_option,
    readable_again,
    resolve_option,
    scoring_options,
    systems,
    tag_options,
)
from spanscore.cli.writing import asked, save_all, text_options
from spanscore.errors import UsageError, plural

if TYPE_CHECKING:
    from spanscore.engine.parts import Plan
    from spanscore.engine.ranges import File
    from spanscore.measures import Measure
    from spanscore.result import Result


@click.command("score")
@scoring_options
@resolve_option("score", "longest")
@click.option(
    "--by",
    multiple=True,
    metavar="WHAT",
    help="Split the scores by document, type or meta.KEY, with micro and macro averages; give several.",
)
@click.option("--ci", "level", type=float, metavar="LEVEL", help="Intervals at this level, such as 0.95.")
@click.option("--resamples", type=int, default=1000, show_default=True, help="Resamples of documents for intervals.")
@click.option("--seed", type=int, default=0, show_default=True, help="The seed of the resamples.")
@click.option("--cluster", metavar="meta.KEY", help="Resample documents together that share this field.")
@jobs_option
@click.option(
    "--engine",
    type=click.Choice(["local", "spark"]),
    default="local",
    show_default=True,
    help="Score on this machine, or Parquet files on a Spark cluster.",
)
@click.option("--master", metavar="URL", help="spark: the cluster, such as spark://host:7077 or local[4].")
@click.option("--type-weights", metavar="FILE", help="sets, overlap: a table of gold type, system type, weight.")
@click.option("--kb-weights", metavar="FILE", help="sets, overlap: a table of gold id, system id, weight.")
@click.option("--hipaa-table", metavar="FILE", help="sandbox.hipaa: a table of address type, yes or no.")
@tag_options
@click.option(
    "--json", "json_", metavar="FILE", help="Write the results as JSON to this file; '-' prints nothing but JSON."
)
@click.option("-o", "--output", metavar="DIR", help="Write results, errors and a report into this folder.")
@click.option("--no-report", is_flag=True, help="Write no report.")
@text_options
@click.option(
    "--format",
    "format_",
    type=click.Choice(["table", "markdown", "csv", "tsv"]),
    default="table",
    show_default=True,
    help="How to print the results.",
)
@click.option("--signature", is_flag=True, help="Print what each number depends on, in one line a measure.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing on stderr but errors.")
def command(
    gold: str,
    pred: tuple[str, ...],
    measures: tuple[str, ...],
    gold_format: str | None,
    pred_format: str | None,
    beta: float,
    label_map: str | None,
    extra_documents: Any,
    resolve: Any,
    by: tuple[str, ...],
    level: float | None,
    resamples: int,
    seed: int,
    cluster: str | None,
    jobs: int,
    engine: str,
    master: str | None,
    type_weights: str | None,
    kb_weights: str | None,
    hipaa_table: str | None,
    tags: dict[str, Any],
    json_: str | None,
    output: str | None,
    no_report: bool,
    text: Any,
    format_: str,
    signature: bool,
    quiet: bool,
) -> None:
    """Score systems' spans (PRED, or NAME=PRED) against GOLD spans. '-' reads standard input.

    \b
    spanscore score gold.jsonl pred.jsonl
    spanscore score gold.json base=a.jsonl new=b.jsonl -m iou -m iou.pii -o out
    """
    from spanscore.engine import processes as workers

    alone = output is not None or by or engine != "local"
    others = click.get_current_context().with_resource(workers.beside(1 if alone else jobs, gold))
    from spanscore.align import LabelMap
    from spanscore.engine.local import DEFAULT_MEASURES, score_all
    from spanscore.engine.parts import Plan, choose, result_of
    from spanscore.files import check_outputs, whole
    from spanscore.formats import whole as whole_corpus
    from spanscore.measures import expand
    from spanscore.result.files import to_json
    from spanscore.stats import Bootstrap

    tables = {"type_weights": type_weights, "kb_weights": kb_weights, "table": hipaa_table}
    chosen = _with_tables(expand(measures or DEFAULT_MEASURES), tables)
    check_outputs(json_, output)
    mapping = LabelMap() if label_map is None else LabelMap.read(label_map)
    files = systems(gold, pred)
    settings: dict[str, Any] = {
        "beta": beta,
        "label_map": mapping,
        "extra_documents": extra_documents,
        "resolve": resolve,
        "ci": None if level is None else Bootstrap(level, resamples, seed, cluster),
    }
    if level is None and cluster is not None:
        raise UsageError("--cluster is for intervals; give --ci 0.95 too.")
    plan = Plan(choose(chosen, beta), beta, mapping, extra_documents, resolve, ci=settings["ci"])
    if engine == "spark":
        if output is not None or by:
            raise UsageError("-o and --by need all spans in one place; leave them out with --engine spark.")
        result = _on_spark(plan, (gold, gold_format), [(name, (path, pred_format)) for name, path in files], master)
    elif master is not None:
        raise UsageError("--master is for --engine spark.")
    elif output is None and not by and plan.in_parts and (len(files) == 1 or readable_again(gold)):
        result = result_of(plan, in_parts(plan, (gold, gold_format), files, pred_format, tags, others, quiet=quiet))
    else:
        read = {name: whole_corpus(chunks(path, pred_format, tags)) for name, path in files}
        keep = bool(by) or output is not None
        result = score_all(
            whole_corpus(chunks(gold, gold_format, tags)), read, chosen, by=by, by_document=keep, **settings
        )
    result = asked(result, tags, text)
    if not quiet:
        for about in (result.inputs["gold"], *result.inputs["systems"].values()):
            count = f"{plural(about['documents'], 'document')}, {plural(about['spans'], 'span')}"
            click.echo("{source}: {format} ({format_reason}), ".format(**about) + count, err=True)
        for warning in result.warnings:
            click.echo(f"warning: {warning}", err=True)
    if output is not None:
        save_all(result, output, text=text, report=not no_report, quiet=quiet)
    if json_ == "-":
        click.echo(to_json(result), nl=False)
        return
    if json_ is not None:
        with whole(json_) as file:
            file.write(to_json(result))
    _print(result, format_, signature)
    if level is not None and format_ == "table":
        from spanscore.result.tables import few_misses

        for sentence in few_misses(result):
            click.echo(sentence)
    if signature and format_ not in ("csv", "tsv"):
        click.echo()
        for one in result.scores:
            click.echo(f"{one.system}: {one.signature}")


def _on_spark(plan: Plan, gold: File, files: list[tuple[str, File]], master: str | None) -> Result:
    from spanscore.engine import spark

    for path, given in (gold, *(file for _, file in files)):
        if given not in (None, "parquet") or not path.endswith(".parquet"):
            raise UsageError(f"'{path}' is not called *.parquet, which the Spark engine reads; see spanscore convert.")
    return spark.score_files(plan, gold, files, master)


def _with_tables(measures: list[Measure], tables: dict[str, str | None]) -> list[Measure]:
    """The measures with these files for the parameters of that name; one that nobody has is a mistake."""
    options = {"type_weights": "--type-weights", "kb_weights": "--kb-weights", "table": "--hipaa-table"}
    for name, file in tables.items():
        if file is None:
            continue
        fields = {"type_weights": {"type"}, "kb_weights": {"kbid", "eid"}}.get(name)
        takes = [
            any(known.name == name for known in one.parameters())
            and (fields is None or bool(fields & set(getattr(one, "fields", ()))))
            for one in measures
        ]
        if not any(takes):
            needed = "" if fields is None else f", which needs {' or '.join(sorted(fields))} in its key"
            raise UsageError(f"no measure that was named takes {options[name]}{needed}.")
        measures = [
            replace(one, **{name: f"@{file}"}) if taking else one for one, taking in zip(measures, takes, strict=True)
        ]
    return measures


def _print(result: Any, format_: str, signature: bool) -> None:
    from spanscore.result import tables

    if format_ == "markdown":
        click.echo(tables.markdown(result), nl=False)
    elif format_ in ("csv", "tsv"):
        click.echo(tables.separated(result, "," if format_ == "csv" else "\t", signatures=signature), nl=False)
    else:
        from rich.console import Console

        console = Console()
        if console.is_terminal:
            console.print(tables.rich_table(result, console.width))
        else:
            click.echo(tables.plain(result))
