"""`spanscore check`: the input doctor."""

from __future__ import annotations

from typing import Any

import click

from spanscore.cli.reading import chunks, tag_options


@click.command("check")
@click.argument("files", nargs=-1, required=True)
@click.option("--format", "format_", help="The files' format, if it is not to be told from their content.")
@tag_options
def command(files: tuple[str, ...], format_: str | None, tags: dict[str, Any]) -> None:
    """Read FILES as scoring would, and say what is in them; the first thing that is wrong ends it with exit code 2."""
    import numpy as np

    from spanscore.align.pairing import without_repeats
    from spanscore.errors import plural, printable
    from spanscore.formats import whole

    for file in files:
        corpus = whole(chunks(file, format_, tags))
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
            click.echo(f"  note: {plural(repeated, 'duplicate span')} count once.")
        if empty:
            click.echo(f"  note: {plural(empty, 'span')} without a character (start = end).")
        click.echo(f"  fingerprint {corpus.fingerprint}")
