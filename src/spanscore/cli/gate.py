"""`spanscore gate`: pass or fail results by conditions."""

from __future__ import annotations

import os
import sys
from pathlib import Path

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
    help="Minimum, such as recall=0.9, recall=90% or iou:PERSON:recall=0.95.",
)
@option(
    SCORING,
    "--max",
    "maxima",
    multiple=True,
    metavar="COND",
    help="Maximum of a count, such as leak.exposed=0 or missed:PERSON=2, or of seconds, such as latency.p95=0.2.",
)
@option(
    SCORING,
    "--max-drop",
    "drops",
    multiple=True,
    metavar="COND",
    help="Largest allowed drop from --baseline, such as f=0.01.",
)
@option(
    INPUT, "--baseline", metavar="RESULTS", help="Earlier results, their folder, or a file written by agree --json."
)
@option(
    STATISTICS,
    "--on",
    type=click.Choice(["value", "lower-bound"]),
    default="value",
    show_default=True,
    help="Compare the minimum with the score, or with the lower bound of its interval.",
)
@option(
    OUTPUT,
    "--format",
    "format_",
    type=click.Choice(["text", "github"]),
    default="text",
    show_default=True,
    help="How to print the checks; github adds annotations and a job summary.",
)
@option(OUTPUT, "--junit", metavar="FILE", help="Write JUnit XML to this file.")
@option(OUTPUT, "--markdown", metavar="FILE", help="Write a Markdown summary to this file.")
@shared.max_bytes_option
def command(
    results: str,
    minima: tuple[str, ...],
    maxima: tuple[str, ...],
    drops: tuple[str, ...],
    baseline: str | None,
    on: str,
    format_: str,
    junit: str | None,
    markdown: str | None,
) -> None:
    """Check RESULTS (results.json or its folder) against conditions; exit code 1 if one fails.

    A condition is [measure:][type:]number=value, in any order, where number is precision, recall or f or, for --max,
    a count in the results or `missed`; leak.exposed=0 means leak:exposed=0. It applies to all systems in the results.
    Results of a run also have latency.p50, p95 and p99, in seconds per document (--max), and
    latency.characters_per_second (--min). A drop that is not statistically significant does not fail the gate: by a
    paired permutation test if both results have counts per document, otherwise by their confidence intervals.

    \b
    spanscore gate out --min recall=0.9 --min iou:PERSON:recall=0.95
    spanscore gate out --min recall=99% --on lower-bound --max leak.exposed=0 --max missed:PERSON=2
    spanscore gate out --max latency.p95=0.2
    spanscore gate out --max-drop f=0.01 --baseline old/results.json
    spanscore gate out --max-drop f=0.02 --baseline agreement.json
    spanscore gate out --min recall=0.9 --format github
    """
    from spanscore.analysis import gate
    from spanscore.files import atomic_file, check_outputs

    if not minima and not maxima and not drops:
        what = "--min recall=0.9, --max leak.exposed=0, or --max-drop f=0.01 --baseline FILE"
        raise UsageError(f"give at least one condition: {what}.")
    if bool(drops) != (baseline is not None):
        raise UsageError("--max-drop needs --baseline, and --baseline needs --max-drop.")
    for file in (junit, markdown):
        check_outputs(file, None)
    lower_bound = on == "lower-bound"
    outcome = gate.gate(results, min=minima, max=maxima, max_drop=drops, baseline=baseline, lower_bound=lower_bound)
    found = outcome.checks
    for path, text in ((junit, gate.junit(found)), (markdown, gate.markdown(found))):
        if path is not None:
            with atomic_file(path) as file_:
                file_.write(text.encode("utf-8", "backslashreplace"))
    for line in gate.lines(found):
        click.echo(line)
    if format_ == "github":
        for line in gate.workflow_commands(found):
            click.echo(line)
        _add_to_summary(gate.markdown(found))
    if not outcome.passed:
        sys.stdout.flush()
        sys.exit(1)


def _add_to_summary(text: str) -> None:
    """Append Markdown to the job summary of GitHub Actions, the file named by GITHUB_STEP_SUMMARY."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if path:
        with Path(path).open("ab") as file:
            file.write(text.encode("utf-8", "backslashreplace") + b"\n")
