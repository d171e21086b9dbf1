"""`spanscore check`: what is in a file, or what is wrong with it."""

from __future__ import annotations

import click

from spanscore.cli import options as shared
from spanscore.cli.options import INPUT, option


@shared.command("check")
@click.argument("files", nargs=-1, required=True)
@option(INPUT, "--format", "format_", metavar="FORMAT", help=shared.format_help)
def command(files: tuple[str, ...], format_: str | None) -> None:
    """Read FILES as scoring would, and report their content or the first error.

    \b
    spanscore check gold.jsonl pred.jsonl
    """
    import numpy as np

    from spanscore.align.pairing import without_repeats
    from spanscore.errors import plural, printable
    from spanscore.formats import read

    for file in files:
        corpus = read(file, format_)
        repeated = len(corpus.start) - len(without_repeats(corpus).start)
        empty = int(np.count_nonzero(corpus.start == corpus.end))
        texts = 0 if corpus.text is None else corpus.text.present
        click.echo(f"{corpus.source}: {corpus.format} ({corpus.format_reason})")
        click.echo(f"  {plural(len(corpus), 'document')}, {texts} with text; {plural(len(corpus.start), 'span')}")
        counts = np.bincount(corpus.label, minlength=len(corpus.labels)).tolist()
        for label, count in sorted(zip(corpus.labels, counts, strict=True), key=lambda one: (-one[1], one[0])):
            click.echo(f"  {count:>8}  {printable(label)}")
        for note in corpus.notes:
            click.echo(f"  note: {note}")
        if repeated:
            click.echo(f"  note: {plural(repeated, 'duplicate span')} (same place and label) count once.")
        if empty:
            click.echo(f"  note: {plural(empty, 'span')} without a character (start = end).")
        click.echo(f"  fingerprint {corpus.fingerprint}")
