"""Readers: files in the formats that people have, as corpora."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from spanscore.corpus import Corpus
from spanscore.corpus.memory import keep_freed_memory
from spanscore.corpus.records import refuse_repeated_ids
from spanscore.errors import InputError, UsageError, unknown
from spanscore.formats.recognise import sniff
from spanscore.formats.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

__all__ = ["FORMATS", "Source", "read", "read_chunks", "sniff", "whole"]

FORMATS = {
    "conll": "spanscore.formats.conll",
    "neleval": "spanscore.formats.neleval",
    "nlpsandbox": "spanscore.formats.nlpsandbox",
    "parquet": "spanscore.formats.parquet",
    "presidio": "spanscore.formats.presidio",
    "spanscore": "spanscore.formats.spanscore",
}
"""Formats by name, and the modules whose `read(source, **options)` yields corpora."""


def read(path: str | Path, format: str | None = None, **options: Any) -> Corpus:  # noqa: A002
    """The corpus in a file: `-` is standard input, gzip is unpacked, the format is told from the content if not given.

    Options of `conll`: `scheme`, `repair`, `tag_column`; other formats have none.
    """
    return whole(read_chunks(path, format, options))


def whole(chunks: Iterable[Corpus]) -> Corpus:
    """The corpus of all chunks, whose documents must have distinct ids."""
    corpus = Corpus.concat([chunk.packed() for chunk in chunks])
    refuse_repeated_ids(corpus.ids, corpus.source)
    return corpus


def read_chunks(
    path: str | Path,
    format: str | None = None,  # noqa: A002
    options: Mapping[str, Any] | None = None,
    *,
    part: tuple[int, int] | None = None,
    progress: Callable[[int], object] | None = None,
) -> Iterator[Corpus]:
    """The same in pieces of some thousand documents, to score in little memory.

    `part` is what to read of a file: from which byte up to which, or in Parquet, rows; `progress` is told of bytes as
    they are read.
    """
    keep_freed_memory()
    if format is not None and format not in FORMATS:
        raise UsageError(unknown("format", format, FORMATS))
    rows = part if format == "parquet" else None
    with Source(path, part if rows is None else None, progress) as source:
        reason = "as asked"
        if format is None:
            format, reason = sniff(source.head, source.name)  # noqa: A001
        reader: Callable[..., Iterator[Corpus]] = import_module(FORMATS[format]).read
        empty = True
        given = {"rows": rows} if rows is not None else options if format == "conll" else None
        for corpus in reader(source, **(given or {})):
            empty = empty and not len(corpus)
            notes = (*source.notes, *corpus.notes)
            yield corpus.with_columns(source=source.name, format=format, format_reason=reason, notes=notes)
        if empty:
            raise InputError("there is no document in this file.", source.name)
