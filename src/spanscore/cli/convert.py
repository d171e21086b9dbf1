"""`spanscore convert`: any known format to spanscore's own."""

from __future__ import annotations

from typing import Any

import click

from spanscore.cli.reading import chunks, tag_options


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

    from spanscore.readers import whole as whole_corpus
    from spanscore.report.files import check_outputs, whole

    check_outputs(target, None)
    corpus = whole_corpus(chunks(source, format_, tags))
    if target.endswith(".parquet"):
        from spanscore.arrow import write_parquet

        with whole(target) as file:
            write_parquet(file, corpus)
        return
    encoder = msgspec.json.Encoder()
    lines = (encoder.encode(document) + b"\n" for document in corpus.documents())
    if target == "-":
        sys.stdout.buffer.writelines(lines)
        return
    with whole(target) as file:
        file.writelines(lines)
