"""`spanscore agree`: the agreement of annotators."""

from __future__ import annotations

from typing import Any

import click

from spanscore.cli import options as shared
from spanscore.cli.options import INPUT, OUTPUT, SCORING, option


@shared.command("agree")
@click.argument("annotators", nargs=-1, required=True)
@option(INPUT, "--format", "format_", metavar="FORMAT", help=shared.format_help)
@option(
    INPUT,
    "--map",
    "label_map",
    metavar="FILE",
    help="Lines 'from: to' that rename labels; 'from: null' drops them.",
)
@shared.max_bytes_option
@option(
    SCORING,
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="MEASURE",
    help="Measure for pairs of annotators; repeat for several. Default: iou and exact.",
)
@option(SCORING, "--beta", type=float, default=1.0, show_default=True, help="Weight of recall in F-beta.")
@option(
    SCORING,
    "--tokenizer",
    "words",
    type=str,
    default="words",
    show_default=True,
    help="Tokenizer for documents without tokens: words, whitespace, treebank or spacy:LANG.",
)
@shared.level_option
@shared.resamples_option
@shared.seed_option
@option(OUTPUT, "--json", "json_", metavar="FILE", help="Write the agreement as JSON; '-' prints only JSON.")
@option(
    OUTPUT, "-o", "--output", metavar="DIR", help="Write agreement.json and a page of disagreements to this folder."
)
@shared.report_option
@shared.text_options
@shared.quiet_option
def command(
    annotators: tuple[str, ...],
    format_: str | None,
    label_map: str | None,
    measures: tuple[str, ...],
    words: str,
    level: float,
    resamples: int,
    seed: int,
    json_: str | None,
    output: str | None,
    no_report: bool,
    text: Any,
    quiet: bool,
    **settings: Any,
) -> None:
    """Compare ANNOTATORS (FILE, or NAME=FILE) of the same documents with each other.

    A single FILE must hold several annotators, such as a Label Studio export, or a folder with one brat folder per
    annotator.

    For each pair: precision, recall and F by any measure, Cohen's kappa on all tokens and on the tokens that at least
    one of the two marked, and a confusion matrix by the first measure. For all: Krippendorff's alpha on tokens.
    By type and overall, with intervals over documents.

    \b
    spanscore agree ann.jsonl bob.jsonl
    spanscore agree a=first.jsonl b=second.jsonl c=third.jsonl -m exact --json agreement.json
    spanscore agree export.json -m exact -o agreement
    """
    from spanscore.analysis.agreement import agree
    from spanscore.files import atomic_file, check_outputs
    from spanscore.report import agreement as report
    from spanscore.stats import Bootstrap

    check_outputs(json_, output)
    found = agree(
        shared.systems("", annotators),
        measures or None,
        ci=Bootstrap(level, resamples, seed),
        format=format_,
        words=words,
        label_map=shared.label_map_of(label_map),
        **settings,
    )
    if not quiet:
        shared.print_inputs(found.inputs.values())
    shared.print_warnings(found.warnings, quiet=quiet)
    if output is not None:
        note = report.write(found, output, text=text, report=not no_report)
        shared.print_warnings([] if note is None else [note], quiet=quiet)
    if json_ == "-":
        shared.print_data(report.to_json(found))
        return
    if json_ is not None:
        with atomic_file(json_) as file:
            file.write(report.to_json(found))
    click.echo(report.plain(found))
    click.echo(f"\n{report.matrices(found)}")
