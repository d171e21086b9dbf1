"""What all commands that read files share: their options, and how they say what was read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spanscore.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from spanscore.corpus import Corpus


def tag_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of files with a token a line."""
    for option in (
        click.option("--tag-column", type=int, help="conll: the column of the tag, from 0 (default: the last)."),
        click.option("--repair", help="conll: what an illegal tag does: begin a span, or discard it. [begin|discard]"),
        click.option("--tag-scheme", help="conll: the tags' scheme (default: told from the tags). [IO|IOB1|IOB2|BILUO|IOBES]"),
    ):
        command = option(command)
    return command


def read_file(path: str, format_: str | None, tags: dict[str, Any], *, quiet: bool) -> Corpus:
    """Read a file and say on stderr which format it was taken for, and why. Tag options go to conll alone."""
    from spanscore.read import Source
    from spanscore.read import read as read_corpus
    from spanscore.read.sniff import sniff

    given = {key: value for key, value in tags.items() if value is not None}
    if given and format_ is None and path != "-":
        source = Source(path)
        format_ = sniff(source.head, source.name)[0]
    corpus = read_corpus(path, format_, **(given if format_ == "conll" else {}))
    if not quiet:
        what = f"{len(corpus)} documents, {len(corpus.start)} spans"
        click.echo(f"{corpus.source}: {corpus.format} ({corpus.format_reason}), {what}", err=True)
    return corpus


def named(argument: str) -> tuple[str, str]:
    """The name and the file of `NAME=FILE` or `FILE`, whose name is its stem.

    >>> named("base=out/pred.jsonl"), named("out/pred.jsonl.gz")
    (('base', 'out/pred.jsonl'), ('pred', 'out/pred.jsonl.gz'))
    """
    name, equals, path = argument.partition("=")
    if equals and name and not Path(argument).exists():
        if not path:
            raise UsageError(f"'{argument}' names no file after the '='.")
        return name, path
    file = Path(argument).name
    return ("stdin" if argument == "-" else file.removesuffix(".gz").rsplit(".", 1)[0] or file), argument
