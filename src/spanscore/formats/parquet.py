"""`parquet`: the own format's twin, a row a document; row groups are the chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spanscore.corpus import LabelTable
from spanscore.corpus.arrow import from_table, pyarrow
from spanscore.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from spanscore.corpus import Corpus
    from spanscore.formats.source import Source

COLUMNS = ("id", "text", "spans", "tokens", "meta")
BATCH = 8192
"""Documents a corpus."""
SMALL = 1024
"""Documents a row group, below which groups are read together."""


def read(source: Source, rows: tuple[int, int] | None = None) -> Iterator[Corpus]:
    """A corpus for every few thousand documents; of these rows alone, if they are given."""
    pa = pyarrow()
    from pyarrow import parquet

    if source.path is None:
        raise InputError("Parquet is read from files, not from standard input.", source.name)
    labels = LabelTable()
    try:
        metadata = parquet.read_metadata(source.path)
        groups, skip, left = _groups(metadata, rows)
        for batch in _batches(source.path, metadata, groups):
            source.advance(len(batch) / max(metadata.num_rows, 1))
            part = batch.slice(skip, left)
            skip, left = max(0, skip - len(batch)), left - len(part)
            if len(part):
                yield from_table(pa.Table.from_batches([part]), labels, source.name)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
        raise InputError(
            f"the Parquet data is damaged or of a kind that is not known ({_first(error)}).", source.name
        ) from None
    if left:
        raise InputError(
            f"{left} of {metadata.num_rows} documents could not be read; write the file anew.", source.name
        )


def _batches(path: Path, metadata: Any, groups: list[int]) -> Iterator[Any]:
    """The rows of these groups in batches, labels as the codes that they are stored as where that can be done.

    pyarrow reads codes inside lists only from one group at a time, and not where a group has pages of both kinds.
    """
    from pyarrow import ArrowNotImplementedError, parquet

    leaves = [metadata.schema.column(number).path for number in range(len(metadata.schema))]
    labels = [path for path in leaves if path.startswith("spans.") and path.endswith(".label")]
    small = metadata.num_rows < SMALL * metadata.num_row_groups
    with (
        parquet.ParquetFile(path, metadata=metadata, pre_buffer=False) as plain,
        parquet.ParquetFile(path, metadata=metadata, read_dictionary=labels, pre_buffer=False) as coded,
    ):
        columns = [name for name in COLUMNS if name in plain.schema_arrow.names]
        alone = [[group] for group in groups]
        for some in [groups] if small else alone:
            ways = [(plain, [some]), (plain, alone)] if small else [(coded, [some]), (plain, [some])]
            done = 0
            for number, (file, parts) in enumerate(ways, 1):
                found = (
                    batch for part in parts for batch in file.iter_batches(BATCH, part, columns, use_threads=False)
                )
                try:
                    for batch in _after(done, found):
                        done += len(batch)
                        yield batch
                    break
                except ArrowNotImplementedError:
                    if number == len(ways):
                        raise


def _after(rows: int, batches: Iterable[Any]) -> Iterator[Any]:
    """What comes after the first rows."""
    for batch in batches:
        if len(rest := batch.slice(rows)):
            yield rest
        rows = max(0, rows - len(batch))


def _groups(metadata: Any, rows: tuple[int, int] | None) -> tuple[list[int], int, int]:
    """The row groups that hold these rows, how many of the first to skip, and how many rows there are to read."""
    first, last = rows or (0, metadata.num_rows)
    begin, skip = 0, 0
    groups: list[int] = []
    for number in range(metadata.num_row_groups):
        end = begin + metadata.row_group(number).num_rows
        if begin < last and end > first:
            skip = first - begin if not groups else skip
            groups.append(number)
        begin = end
    return groups, skip, last - first


def _first(error: Exception) -> str:
    return str(error).split("\n", 1)[0].rstrip(".")[:200]
