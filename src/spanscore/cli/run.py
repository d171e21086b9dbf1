"""`spanscore run`: a detector over a labelled dataset, to numbers, errors and a matrix."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spanscore.cli.reading import chunks, tag_options
from spanscore.cli.reading import given as given_tags
from spanscore.cli.writing import asked, text_options
from spanscore.errors import UsageError, plural, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@click.command("run")
@click.argument("dataset")
@click.option("--detector", default="presidio", show_default=True, help="presidio, http, command, python or replay.")
@click.option("--language", default="en", show_default=True, help="The language of the texts.")
@click.option("-o", "--output", metavar="DIR", required=True, help="The folder to write to.")
@click.option("--threshold", type=float, default=0.9, show_default=True, help="The least IoU that is right.")
@click.option("--beta", type=float, default=2.0, show_default=True, help="How much more recall counts in F.")
@click.option("--score-threshold", type=float, help="Leave out predictions with a lower score.")
@click.option("--ci", "level", type=float, metavar="LEVEL", help="Intervals at this level, such as 0.95.")
@click.option("--resamples", type=int, default=1000, show_default=True, help="Resamples of documents for intervals.")
@click.option("--seed", type=int, default=0, show_default=True, help="The seed of the resamples.")
@click.option("--entities", metavar="A,B", help="Look for and score these types only.")
@click.option("--map", "label_map", metavar="FILE", help="Lines 'from: to' that overrule the entity alignment.")
@click.option("--allow-missing-mappings", is_flag=True, help="Leave out spans of unknown types, not their documents.")
@click.option(
    "--resolve",
    type=click.Choice(["score", "longest", "none"]),
    default="score",
    show_default=True,
    help="Which of overlapping predictions stays.",
)
@click.option(
    "--jobs", type=int, default=1, show_default=True, help="Processes (presidio, python), or requests (http)."
)
@click.option("--resume", is_flag=True, help="Go on with a run that was cut off in this folder.")
@click.option("--max-failures", type=int, default=0, show_default=True, help="Documents that the detector may fail on.")
@click.option("--analyzer-config", metavar="FILE", help="presidio: its analyzer YAML.")
@click.option("--nlp-config", metavar="FILE", help="presidio: its NLP engine YAML.")
@click.option("--recognizers-config", metavar="FILE", help="presidio: its recognizers YAML.")
@click.option("--url", help="http: the service, such as http://localhost:3000.")
@click.option("--timeout", type=float, default=30.0, show_default=True, help="http: seconds to wait for an answer.")
@click.option("--retries", type=int, default=4, show_default=True, help="http: how often to try again.")
@click.option("--command", "command_", help="command: the program and its arguments.")
@click.option("--function", help="python: module:function, called with a text and the language.")
@click.option("--predictions", metavar="FILE", help="replay: the file of predictions.")
@click.option("--format", "format_", help="The dataset's format, if it is not to be told from its content.")
@tag_options
@text_options
@click.option("-q", "--quiet", is_flag=True, help="Say nothing on stderr but errors.")
def command(
    dataset: str,
    detector: str,
    language: str,
    output: str,
    entities: str | None,
    label_map: str | None,
    format_: str | None,
    tags: dict[str, Any],
    text: Any,
    quiet: bool,
    level: float | None,
    **given: Any,
) -> None:
    """Run a detector over a labelled DATASET, align the entity types, score, and write what people look at.

    \b
    spanscore run data.jsonl --detector presidio --language en -o out
    spanscore run data.jsonl --detector http --url http://localhost:3000 -o out
    spanscore run data.jsonl --detector command --command "./my-detector --fast" -o out
    spanscore run data.jsonl --detector replay --predictions out/predictions.jsonl -o again
    """
    from spanscore.align import LabelMap
    from spanscore.detectors import DetectorSpec
    from spanscore.formats import whole as whole_corpus
    from spanscore.pipeline import Job, run
    from spanscore.pipeline.outputs import FILES, check_folder, write_all
    from spanscore.report.confusion import plotly
    from spanscore.stats import Bootstrap

    plotly()
    chosen = tuple(name.strip() for name in entities.split(",") if name.strip()) if entities is not None else ()
    if entities is not None and not chosen:
        raise UsageError("--entities names no type.")
    spec = DetectorSpec(detector, _options(detector, language, chosen, given))
    spec.kind()
    if not output:
        raise UsageError("-o names no folder.")
    check_folder(Path(output))
    corpus = whole_corpus(chunks(dataset, format_, tags))
    job = Job(
        dataset=corpus,
        detector=spec,
        folder=Path(output),
        language=language,
        threshold=given["threshold"],
        beta=given["beta"],
        score_threshold=given["score_threshold"],
        entities=chosen,
        label_map=LabelMap() if label_map is None else LabelMap.read(label_map),
        allow_missing_mappings=given["allow_missing_mappings"],
        resolve=given["resolve"],
        jobs=given["jobs"],
        resume=given["resume"],
        max_failures=given["max_failures"],
        ci=None if level is None else Bootstrap(level, given["resamples"], given["seed"]),
        reading=given_tags(tags),
    )
    say: Callable[[str], None] = (lambda text: None) if quiet else (lambda text: click.echo(text, err=True))
    count = f"{plural(len(corpus), 'document')}, {plural(len(corpus.start), 'span')}"
    say(f"{corpus.source}: {corpus.format} ({corpus.format_reason}), {count}")
    try:
        with _progress(quiet=quiet) as progress:
            outcome, journal = run(job, progress)
    except KeyboardInterrupt:
        click.echo(f"spanscore: interrupted; go on with: --resume -o {printable(output, limit=255)}", err=True)
        sys.exit(130)
    outcome = replace(outcome, result=asked(outcome.result, {}, text))
    arguments = {
        "dataset": corpus.source,
        "detector": detector,
        "language": language,
        "output": output,
        "ci": level,
        **given,
    }
    said = write_all(outcome, journal, text=text, arguments=arguments)
    for note in said["warnings"]:
        say(f"warning: {note}")
    _show(outcome, said)
    listed = ", ".join(name for name in FILES if name != "metrics.json")
    click.echo(f"\nThe numbers are in {Path(output) / 'metrics.json'}; beside it: {listed}.")


def _options(detector: str, language: str, entities: tuple[str, ...], given: dict[str, Any]) -> dict[str, Any]:
    """The options of the detector that was named, which must be there; those of others are a mistake."""
    needed = {"http": "url", "command": "command_", "python": "function", "replay": "predictions"}
    named = {"command_": "command"}
    for name, option in needed.items():
        if given[option] is not None and name != detector:
            raise UsageError(f"--{named.get(option, option)} is for --detector {name}.")
        if given[option] is None and name == detector:
            raise UsageError(f"--detector {name} needs --{named.get(option, option)}.")
    configs = ("analyzer_config", "nlp_config", "recognizers_config")
    if detector != "presidio" and (extra := next((one for one in configs if given[one] is not None), None)):
        raise UsageError(f"--{extra.replace('_', '-')} is for --detector presidio.")
    if detector == "presidio":
        configured = {name: given[name] for name in configs if given[name] is not None}
        return {"language": language, **configured, **({"entities": list(entities)} if entities else {})}
    if detector == "http":
        several = {"timeout": given["timeout"], "retries": given["retries"], "concurrency": max(1, given["jobs"])}
        return {"url": given["url"], **several}
    key = {"command": "command", "python": "function", "replay": "file"}.get(detector)
    return {} if key is None else {key: given[needed[detector]]}


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """A bar with rate and time left on a terminal; elsewhere a plain line now and then."""
    if quiet:
        yield lambda done, total: None
        return
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            "detecting",
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("", total=None, rate="")
            began, first = time.monotonic(), -1

            def show(done: int, total: int) -> None:
                nonlocal first
                first = done if first < 0 else first
                rate = (done - first) / max(time.monotonic() - began, 1e-9)
                bar.update(task, completed=done, total=total, rate=f"{rate:.0f} documents/s")

            yield show
        return
    began, last, first = time.monotonic(), time.monotonic(), -1

    def tell(done: int, total: int) -> None:
        nonlocal last, first
        now = time.monotonic()
        first = done if first < 0 else first
        if done == total or now - last >= 10:
            last = now
            rate = (done - first) / max(now - began, 1e-9)
            left = f", {(total - done) / rate:.0f} s left" if rate and done < total else ""
            click.echo(f"detected {done} of {total} documents ({rate:.0f}/s{left})", err=True)

    yield tell


def _show(outcome: Any, said: dict[str, Any]) -> None:
    from rich.console import Console

    from spanscore.result import tables

    changed = [one for one in (*outcome.alignment.gold, *outcome.alignment.pred) if one.to != one.label]
    if changed:
        click.echo("Types that were aligned (alignment.json says why):")
        for one in dict.fromkeys(changed):
            click.echo(f"  {printable(one.label)} -> {'left out' if one.to is None else printable(one.to)}")
        click.echo()
    console = Console()
    if console.is_terminal:
        console.print(tables.rich_table(outcome.result, console.width))
    else:
        click.echo(tables.plain(outcome.result))
    details = said["details"]
    told = f"{details['samples_evaluated']} of {plural(details['total_samples'], 'document')} evaluated"
    click.echo(
        f"\n{told}, {plural(said['errors']['false_positives'], 'false positive')} and "
        f"{plural(said['errors']['false_negatives'], 'false negative')} listed."
    )
