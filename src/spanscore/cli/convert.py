"""`spanscore convert`: any known format to spanscore's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from spanscore.cli.reading import chunks, readable_again, tag_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.corpus import Corpus


@click.command("convert")
@click.argument("source")
@click.argument("target")
@click.option("--format", "format_", help="The file's format, if it is not to be told from its content.")
@tag_options
def command(source: str, target: str, format_: str | None, tags: dict[str, Any]) -> None:
    """Read SOURCE and write it to TARGET in spanscore's own format: as JSON Lines, or as Parquet if TARGET is called
    so (*.parquet). '-' is standard input or output.
    """
    import sys

    import msgspec

    from spanscore.corpus.duplicates import once
    from spanscore.files import check_outputs, whole
    from spanscore.formats import whole as whole_corpus

    check_outputs(target, None)

    def read() -> Iterator[Corpus]:
        return once(chunks(source, format_, tags))

    if target.endswith(".parquet"):
        from spanscore.corpus.arrow import schema_for, write_parquet

        kept = [whole_corpus(read())] if not readable_again(source) else None
        wanted = schema_for(kept or read())
        with whole(target) as file:
            write_parquet(file, kept or read(), wanted)
        return
    encoder = msgspec.json.Encoder()
    if target == "-":
        corpus = whole_corpus(read())
        sys.stdout.buffer.writelines(encoder.encode(document) + b"\n" for document in corpus.documents())
        return
    with whole(target) as file:
        for corpus in read():
            file.writelines(encoder.encode(document) + b"\n" for document in corpus.documents())
