"""Conversion of data from any format that can be read to any that can be written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanscore.align.annotators import chosen
from spanscore.arguments import checked
from spanscore.corpus.duplicates import once
from spanscore.engine.inputs import Input
from spanscore.files import atomic_file, atomic_folder, check_outputs, standard_output
from spanscore.formats import writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from spanscore.corpus import Corpus
    from spanscore.formats import Format


@checked
def convert(
    source: str | Path | Corpus,
    target: str | Path,
    *,
    from_format: str | Format | None = None,
    to_format: str | Format | None = None,
    annotator: str | None = None,
    notes: list[str] | None = None,
) -> dict[str, int]:
    """Write a file, folder or corpus to a file or folder in another format; return what that format cannot hold.

    Without formats, the input's is auto-detected, and the output's follows the ending of its name. `-` is standard
    input or output. Notes about the input, such as documents that were left out, are added to `notes`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     convert("examples/gold.jsonl", f"{folder}/gold.parquet")
    {}
    """
    given = Input.of(source, from_format, all_annotators=bool(annotator))
    streamed = given.readable_again and str(target) != "-" and not annotator
    kept = None if streamed else chosen(given.corpus(), annotator)  # before a file is begun

    told: dict[str, None] = {}

    def chunks() -> Iterator[Corpus]:
        for chunk in once(given.chunks()) if kept is None else iter([kept]):
            told.update(dict.fromkeys(chunk.notes))
            yield chunk

    lost = write_corpus(str(target), to_format, chunks)
    if notes is not None:
        notes += told
    return lost


def write_corpus(target: str, to: str | Format | None, chunks: Callable[[], Iterator[Corpus]]) -> dict[str, int]:
    """Write a corpus to a file, folder or standard output, and return what the format cannot hold."""
    made = writer(target, to)
    if made.writes_folders():
        with atomic_folder(target) as folder:
            lost = made.write_folder(chunks, folder)
    elif target == "-":
        with standard_output() as file:
            lost = made.write(chunks, file)
    else:
        check_outputs(target, None)
        with atomic_file(target) as file:
            lost = made.write(chunks, file)
    return {what: count for what, count in (lost or {}).items() if count}
