"""`spanscore suspects`: probable errors in gold data, as a list or as tasks to correct them."""

from __future__ import annotations

from typing import Any

import click

from spanscore.cli import options as shared
from spanscore.cli.options import INPUT, OUTPUT, SCORING, option
from spanscore.errors import UsageError


@shared.command("suspects")
@click.argument("gold")
@click.argument("pred", nargs=-1)
@option(INPUT, "--gold-format", metavar="FORMAT", help="Format of the gold data (default: auto-detected).")
@option(INPUT, "--pred-format", metavar="FORMAT", help="Format of the predictions (default: auto-detected).")
@option(INPUT, "--pred-map", metavar="FILE", help="Lines 'from: to' that rename labels of predictions.")
@shared.annotators_option("Gold data with several annotators: look at {}.")
@shared.max_bytes_option
@option(SCORING, "--min-score", type=float, default=0.5, show_default=True, help="Minimum score of a prediction.")
@option(
    SCORING,
    "--min-systems",
    type=int,
    metavar="N",
    help="Minimum number of systems that find a span (default: 2, or 1 if only one is given).",
)
@option(INPUT, "--corrected", metavar="FILE", help="Corrected tasks; write GOLD with these documents replaced.")
@option(INPUT, "--corrected-format", metavar="FORMAT", help="Format of the corrected tasks (default: auto-detected).")
@option(OUTPUT, "-o", "--output", metavar="FILE", help="File to write; '-' prints only its content.")
@option(
    OUTPUT,
    "--to",
    metavar="FORMAT",
    help="Write tasks with pre-annotations, labelstudio or doccano, instead of a list; with --corrected, any format.",
)
@shared.text_options
@shared.quiet_option
def command(
    gold: str,
    pred: tuple[str, ...],
    gold_format: str | None,
    pred_format: str | None,
    pred_map: str | None,
    annotator: str | None,
    min_score: float,
    min_systems: int | None,
    corrected: str | None,
    corrected_format: str | None,
    output: str | None,
    to: str | None,
    text: Any,
    quiet: bool,
) -> None:
    """Find spans of GOLD that may be wrong, with or without predictions of systems (PRED, or NAME=PRED).

    Suspects are spans on which confident systems agree with each other but not with the gold data, text labelled in two
    ways, and text labelled in one place in a document but not elsewhere. Export them as tasks, correct them in Label
    Studio or doccano, and read the export back with --corrected.

    \b
    spanscore suspects gold.jsonl a.jsonl b.jsonl -o suspects.jsonl
    spanscore suspects gold.jsonl a.jsonl b.jsonl --to labelstudio -o tasks.json
    spanscore suspects gold.jsonl --corrected export.json -o better.jsonl
    """
    from spanscore.analysis.correction_tasks import corrected as with_corrections
    from spanscore.analysis.correction_tasks import task_format, tasks
    from spanscore.analysis.suspects import suspects
    from spanscore.engine.conversion import write_corpus
    from spanscore.files import atomic_file, check_outputs, standard_output
    from spanscore.report import suspects as report

    check_outputs(output, None)
    if corrected is not None:
        if pred or output is None:
            raise UsageError("--corrected needs GOLD and -o FILE, and no predictions.")
        how = {"gold_format": gold_format, "tasks_format": corrected_format, "annotator": annotator}
        better = with_corrections(gold, corrected, **how)
        shared.print_warnings(better.notes, quiet=quiet)
        write_corpus(output, to, lambda: iter([better]))
        return
    form = None if to is None else task_format(to)
    if form is not None and (output is None or text != "show"):
        raise UsageError("tasks need -o FILE, and the text of the documents.")
    found = suspects(
        gold,
        shared.systems(gold, pred) if pred else {},
        min_score=min_score,
        min_systems=min_systems,
        gold_format=gold_format,
        pred_format=pred_format,
        pred_map=shared.label_map_of(pred_map),
        annotator=annotator,
    )
    shared.print_warnings(found.warnings, quiet=quiet)
    if form is not None and output is not None:
        corpus = tasks(found, both=form.name == "labelstudio")
        write_corpus(output, form, lambda: iter([corpus]))
    elif output == "-":
        with standard_output() as file:
            report.write(found, file, text=text)
    elif output is not None:
        with atomic_file(output) as file:
            report.write(found, file, text=text)
    if output != "-":
        click.echo(report.plain(found, text=text))
