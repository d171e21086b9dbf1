"""`parquet`: the own format's twin, a row a document; row groups are the chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanscore.arrow import from_table, pyarrow
from spanscore.corpus import LabelTable
from spanscore.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.corpus import Corpus
    from spanscore.readers.source import Source

COLUMNS = ("id", "text", "spans", "tokens", "meta")
BATCH = 8192
"""Documents a corpus."""


def read(source: Source) -> Iterator[Corpus]:
    """A corpus for every few thousand documents."""
    pa = pyarrow()
    from pyarrow import parquet

    if source.path is None:
        raise InputError("Parquet is read from files, not from standard input.", source.name)
    labels = LabelTable()
    try:
        with parquet.ParquetFile(source.path) as file:
            columns = [name for name in COLUMNS if name in file.schema_arrow.names]
            for batch in file.iter_batches(BATCH, columns=columns):
                if len(batch):
                    yield from_table(pa.Table.from_batches([batch]), labels, source.name)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
        raise InputError(
            f"the Parquet data is damaged or of a kind that is not known ({_first(error)}).", source.name
        ) from None


def _first(error: Exception) -> str:
    return str(error).split("\n", 1)[0].rstrip(".")[:200]
