"""`spanscore compare`: which system is better, and how certain that is."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from spanscore.cli import options as shared
from spanscore.cli.labels import label_options
from spanscore.cli.options import OUTPUT, STATISTICS, option
from spanscore.errors import printable

if TYPE_CHECKING:
    from pathlib import Path

    from spanscore.analysis.compare import Change, Comparison


@shared.command("compare")
@shared.scoring_options
@label_options
@shared.entities_option
@shared.score_threshold_option
@shared.by_option
@shared.resolve_option("score", "longest")
@shared.level_option
@shared.resamples_option
@shared.cluster_option
@option(
    STATISTICS,
    "--permutations",
    type=int,
    default=10_000,
    show_default=True,
    help="Number of permutations for p-values.",
)
@option(STATISTICS, "--against", metavar="NAME", help="Test only pairs with this system (default: all pairs).")
@option(STATISTICS, "--alpha", type=float, default=0.05, show_default=True, help="Significance level.")
@shared.seed_option
@option(
    OUTPUT,
    "--format",
    "format_",
    type=click.Choice(["table", "markdown", "latex"]),
    default="table",
    show_default=True,
    help="How to print the comparison.",
)
@option(OUTPUT, "--json", "json_", metavar="FILE", help="Write scores and comparison as JSON; '-' prints only JSON.")
@option(OUTPUT, "-o", "--output", metavar="DIR", help="Write results, comparison, diff and report to this folder.")
@shared.report_option
@shared.text_options
@shared.jobs_option
@shared.quiet_option
def command(
    gold: str,
    pred: tuple[str, ...],
    measures: tuple[str, ...],
    level: float,
    resamples: int,
    cluster: str | None,
    seed: int,
    by: tuple[str, ...],
    format_: str,
    json_: str | None,
    output: str | None,
    no_report: bool,
    text: Any,
    quiet: bool,
    **settings: Any,
) -> None:
    """Compare systems (NAME=PRED ...) on the same GOLD data, document by document.

    A PRED may be the folder of a run; all are then scored with the settings of the runs, which must be the same.

    \b
    spanscore compare gold.jsonl base=a.jsonl new=b.jsonl -m iou -m exact -o out
    spanscore compare gold.jsonl base=out1 new=out2
    """
    from spanscore.analysis.compare import compare
    from spanscore.files import atomic_file, check_outputs
    from spanscore.report import comparison as report
    from spanscore.stats import Bootstrap

    check_outputs(json_, output)
    files = shared.systems(gold, pred)
    with shared.reading_bar([gold, *files.values()], quiet=quiet) as progress:
        found = compare(
            gold,
            files,
            measures or None,
            ci=Bootstrap(level, resamples, seed, cluster),
            by=by,
            keep_spans=output is not None,
            progress=progress,
            **shared.given(settings),
        )
    if not quiet:
        shared.print_inputs([found.result.inputs["gold"], *found.result.inputs["systems"].values()])
    shared.print_warnings(found.result.warnings, quiet=quiet)
    changes = found.changes_by_measure() if output is not None or by else {}
    record = report.record(found, changes) if json_ is not None or output is not None else {}
    if output is not None:
        result = found.result if text == "show" else found.result.with_settings(text=text)
        more = partial(_write, record, changes, text=text)
        report_ = not no_report
        shared.save_all(result, output, text=text, report=report_, quiet=quiet, more=more, comparison=record)
    if json_ == "-":
        shared.print_data(report.to_json({**found.result.to_dict(), "comparison": record}))
        return
    if json_ is not None:
        with atomic_file(json_) as file:
            file.write(report.to_json({**found.result.to_dict(), "comparison": record}))
    if format_ == "markdown":
        click.echo(report.markdown(found), nl=False)
    elif format_ == "latex":
        click.echo(found.to_latex(), nl=False)
    else:
        _print(found, changes, by)
    if output is not None and not no_report and not quiet:
        shared.print_report(output)


def _print(found: Comparison, changes: dict[str, list[Change]], by: tuple[str, ...]) -> None:
    from spanscore.report import comparison as report

    click.echo(report.plain(found))
    first, second = found.systems[0], found.systems[-1]
    for name in found.measures:
        counts = report.status_line(found.statuses(name, first, second))
        click.echo(f"\n{name}, gold spans from {printable(first)} to {printable(second)}: {counts}")
        for line in report.diff_lines(found, changes.get(name, [])):
            click.echo(line)
    if by:
        from spanscore.result import tables

        click.echo(f"\n{tables.plain(found.result)}")
        for line in tables.gap_lines(found.result):
            click.echo(line)


def _write(record: dict[str, Any], changes: dict[str, list[Change]], folder: Path, *, text: Any) -> None:
    from spanscore.files import atomic_file
    from spanscore.report import comparison as report

    with atomic_file(folder / "diff.jsonl") as lines, atomic_file(folder / "diff.csv") as table:
        report.write_diff(lines, table, [change for listed in changes.values() for change in listed], text=text)
    with atomic_file(folder / report.NAME) as file:
        file.write(report.to_json(record))
