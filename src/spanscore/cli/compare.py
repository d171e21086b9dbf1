"""`spanscore compare`: which system is better, and how sure that is."""

from __future__ import annotations

from collections import Counter
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
from spanscore.errors import plural, printable

if TYPE_CHECKING:
    from spanscore.analysis.compare import Change, Comparison


@click.command("compare")
@scoring_options
@resolve_option("score", "longest")
@click.option("--by", multiple=True, metavar="WHAT", help="Split the scores by document, type or meta.KEY.")
@click.option("--ci", "level", type=float, default=0.95, show_default=True, help="The level of intervals.")
@click.option("--resamples", type=int, default=1000, show_default=True, help="Resamples of documents for intervals.")
@click.option("--cluster", metavar="meta.KEY", help="Take documents together that share this field.")
@click.option("--permutations", type=int, default=10_000, show_default=True, help="Permutations for p-values.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="The p-value that is significant.")
@click.option("--seed", type=int, default=0, show_default=True, help="The seed of resamples and permutations.")
@jobs_option
@tag_options
@click.option(
    "--format",
    "format_",
    type=click.Choice(["table", "markdown", "latex"]),
    default="table",
    show_default=True,
    help="How to print the comparison.",
)
@click.option("-o", "--output", metavar="DIR", help="Write results, comparison, diff and report into this folder.")
@click.option("--no-report", is_flag=True, help="Write no report.")
@text_options
@click.option("-q", "--quiet", is_flag=True, help="Say nothing on stderr but errors.")
def command(
    gold: str,
    pred: tuple[str, ...],
    measures: tuple[str, ...],
    gold_format: str | None,
    pred_format: str | None,
    beta: float,
    label_map: str | None,
    resolve: Any,
    extra_documents: Any,
    by: tuple[str, ...],
    level: float,
    resamples: int,
    cluster: str | None,
    permutations: int,
    alpha: float,
    seed: int,
    jobs: int,
    tags: dict[str, Any],
    format_: str,
    output: str | None,
    no_report: bool,
    text: Any,
    quiet: bool,
) -> None:
    """Compare systems (NAME=PRED ...) on the same GOLD data, document by document.

    \b
    spanscore compare gold.jsonl base=a.jsonl new=b.jsonl -m iou -m exact -o out
    """
    from spanscore.engine import processes as workers

    alone = output is not None or by
    others = click.get_current_context().with_resource(workers.beside(1 if alone else jobs, gold))
    from spanscore.align import LabelMap
    from spanscore.analysis.compare import check, compare, compare_parts
    from spanscore.engine.local import DEFAULT_MEASURES
    from spanscore.engine.parts import Plan, choose
    from spanscore.files import check_outputs
    from spanscore.formats import whole
    from spanscore.measures import expand
    from spanscore.report import comparison as report
    from spanscore.stats import Bootstrap

    chosen = expand(measures or DEFAULT_MEASURES)
    check_outputs(None, output)
    files = systems(gold, pred)
    check(len(files), permutations, alpha)
    mapping = LabelMap() if label_map is None else LabelMap.read(label_map)
    how = Bootstrap(level, resamples, seed, cluster)
    plan = Plan(choose(chosen, beta), beta, mapping, extra_documents, resolve, ci=how, each_span=True)
    settings: dict[str, Any] = {"permutations": permutations, "alpha": alpha}
    if output is None and not by and plan.in_parts and readable_again(gold):
        found = compare_parts(
            plan, in_parts(plan, (gold, gold_format), files, pred_format, tags, others, quiet=quiet), **settings
        )
    else:
        found = compare(
            whole(chunks(gold, gold_format, tags)),
            {name: whole(chunks(path, pred_format, tags)) for name, path in files},
            chosen,
            bootstrap=how,
            beta=beta,
            label_map=mapping,
            resolve=resolve,
            extra_documents=extra_documents,
            by=by,
            **settings,
        )
    if not quiet:
        for warning in found.result.warnings:
            click.echo(f"warning: {warning}", err=True)
    first, second = files[0][0], files[-1][0]
    kept = output is not None or by
    changes = {repr(one): found.changes(repr(one), first, second) if kept else [] for one in chosen}
    if output is not None:
        found = replace(found, result=asked(found.result, tags, text))
        save_all(found.result, output, text=text, report=not no_report, quiet=quiet)
        _write(found, changes, output, text=text)
    if format_ == "markdown":
        click.echo(report.markdown(found), nl=False)
    elif format_ == "latex":
        click.echo(report.latex(found), nl=False)
    else:
        click.echo(report.plain(found))
        for name, listed in changes.items():
            told = _told(found.statuses(name, first, second))
            click.echo(f"\n{name}, gold spans from {printable(first)} to {printable(second)}: {told}")
            for line in report.diff_lines(found, listed):
                click.echo(line)
        if by:
            from spanscore.result import tables

            click.echo(f"\n{tables.plain(found.result)}")


def _told(statuses: Counter[tuple[str, str]]) -> str:
    counts: Counter[str] = Counter()
    for (_, status), count in statuses.items():
        counts[status] += count
    broken = Counter({label: count for (label, status), count in statuses.items() if status == "broken" and count})
    worst = broken.most_common(3)
    most = f" (most broken: {', '.join(f'{printable(label)} {n}' for label, n in worst)})" if worst else ""
    return (
        f"{plural(counts['fixed'], 'span')} fixed, {counts['broken']} broken, {counts['both right']} right and "
        f"{counts['both wrong']} wrong in both{most}"
    )


def _write(found: Comparison, changes: dict[str, list[Change]], output: str, *, text: Any) -> None:
    from pathlib import Path

    import msgspec

    from spanscore.files import whole
    from spanscore.report import comparison as report

    folder = Path(output)
    with whole(folder / "diff.jsonl") as lines, whole(folder / "diff.csv") as table:
        report.write_diff(lines, table, [change for listed in changes.values() for change in listed], text=text)
    with whole(folder / "comparison.json") as file:
        file.write(msgspec.json.format(msgspec.json.encode(report.record(found, changes)), indent=2) + b"\n")
