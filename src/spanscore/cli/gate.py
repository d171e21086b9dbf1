"""`spanscore gate`: pass or fail results by conditions."""

from __future__ import annotations

import sys

import click

from spanscore.cli import options as shared
from spanscore.cli.options import INPUT, OUTPUT, SCORING, STATISTICS, option
from spanscore.errors import UsageError


@shared.command("gate")
@click.argument("results")
@option(
    SCORING,
    "--min",
    "minima",
    multiple=True,
    metavar="COND",
    help="Minimum, such as recall=0.9 or iou:PERSON:recall=0.95.",
)
@option(
    SCORING,
    "--max-drop",
    "drops",
    multiple=True,
    metavar="COND",
    help="Largest allowed drop from --baseline, such as f=0.01.",
)
@option(INPUT, "--baseline", metavar="RESULTS", help="Earlier results, or their folder.")
@option(
    STATISTICS,
    "--on",
    type=click.Choice(["value", "lower-bound"]),
    default="value",
    show_default=True,
    help="What must reach the minimum: the score, or the lower bound of its interval.",
)
@option(OUTPUT, "--junit", metavar="FILE", help="Write JUnit XML to this file.")
@option(OUTPUT, "--markdown", metavar="FILE", help="Write a Markdown summary to this file.")
def command(
    results: str,
    minima: tuple[str, ...],
    drops: tuple[str, ...],
    baseline: str | None,
    on: str,
    junit: str | None,
    markdown: str | None,
) -> None:
    """Check RESULTS (results.json or its folder) against conditions; exit code 1 if one fails.

    A condition is [measure:][type:]number=value, where number is precision, recall or f; it applies to all systems in
    the results. A drop that may be due to chance, by the interval of the difference, does not fail the gate.

    \b
    spanscore gate out --min recall=0.9 --min iou:PERSON:recall=0.95
    spanscore gate out --max-drop f=0.01 --baseline old/results.json
    """
    from spanscore.analysis import gate
    from spanscore.files import atomic_file, check_outputs

    if not minima and not drops:
        raise UsageError("give at least one condition: --min recall=0.9, or --max-drop f=0.01 --baseline FILE.")
    if bool(drops) != (baseline is not None):
        raise UsageError("--max-drop and --baseline belong together.")
    for file in (junit, markdown):
        check_outputs(file, None)
    rows = gate.read_results(results)
    found = gate.checks(
        rows,
        [gate.Condition.parse(text, rows) for text in minima],
        [gate.Condition.parse(text, rows, drop=True) for text in drops],
        gate.read_results(baseline) if baseline is not None else [],
        lower_bound=on == "lower-bound",
        paired=None if baseline is None else gate.Paired.of(results, baseline),
    )
    for path, text in ((junit, gate.junit(found)), (markdown, gate.markdown(found))):
        if path is not None:
            with atomic_file(path) as file_:
                file_.write(text.encode("utf-8", "backslashreplace"))
    for line in gate.lines(found):
        click.echo(line)
    if any(not one.passed for one in found):
        sys.stdout.flush()
        sys.exit(1)
