"""`parquet`: the native format as Parquet, one row per document; row groups are the chunks."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import IO, TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from spanscore.corpus import LabelTable
from spanscore.corpus.arrow import from_table, pyarrow, schema_for, write_parquet
from spanscore.errors import InputError
from spanscore.formats.decoding import decoded_size, shared_strings
from spanscore.formats.interface import CERTAIN, POSSIBLE, Claim, Format, Range, Sample
from spanscore.formats.source import refuse_unpacking, unpacking_limit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from spanscore.corpus import Corpus
    from spanscore.formats.source import Source

T = TypeVar("T")
COLUMNS = ("id", "text", "spans", "tokens", "meta")
BATCH = 8192
"""Documents per corpus."""
FEW = 64
"""Documents that are read at once where strings that many of them share cannot be read as codes."""
SMALL = 1024
"""Average documents per row group below which groups are read together."""


@dataclass(frozen=True, repr=False)
class Parquet(Format):
    """The native format as Parquet: one row per document with the columns id, text, spans, tokens and meta.

    It needs the extra `parquet`.
    """

    name: ClassVar[str] = "parquet"
    suffixes: ClassVar[tuple[str, ...]] = (".parquet",)
    checks_spans: ClassVar[bool] = True
    part_unit: ClassVar[Literal["rows"]] = "rows"

    @classmethod
    def recognise(cls, sample: Sample) -> Claim | None:
        """Claim files that begin with PAR1; one whose schema has no spans may be in another format."""
        if not sample.head.startswith(b"PAR1"):
            return None
        return Claim(CERTAIN if b"spans" in sample.tail() else POSSIBLE, "it begins with PAR1")

    def read(self, source: Source) -> Iterator[Corpus]:
        """Yield a corpus for every few thousand documents."""
        pa = pyarrow()
        from pyarrow import parquet

        if source.path is None:
            raise InputError("Parquet can only be read from files, not from standard input.", source.name)
        labels = LabelTable()
        try:
            metadata = parquet.read_metadata(source.path)
            unpacked = sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))
            refuse_unpacking(source.path.stat().st_size, unpacked, source.name)
            size, unpacked = source.path.stat().st_size, 0
            with source.path.open("rb") as file:
                shared = shared_strings(file, metadata, unpacking_limit(size))
            groups, skip, left = _groups(metadata, source.part)
            for batch in _ahead(_batches(source.path, metadata, groups, shared)):
                source.advance(len(batch) / max(metadata.num_rows, 1))
                unpacked += decoded_size(batch) if shared else batch.nbytes
                refuse_unpacking(size, unpacked, source.name)
                part = batch.slice(skip, left)
                skip, left = max(0, skip - len(batch)), left - len(part)
                if len(part):
                    yield from_table(pa.Table.from_batches([part]), labels, source.name)
        except MemoryError:
            raise InputError("there is not enough memory to read this file.", source.name) from None
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
            raise InputError(
                f"the Parquet data is damaged or not supported ({_first_line(error)}).", source.name
            ) from None
        except UnicodeDecodeError:
            raise InputError("the name of a column is not valid UTF-8.", source.name) from None
        if left:
            raise InputError(
                f"{left} of {metadata.num_rows} documents could not be read; write the file again.", source.name
            )

    def write(self, chunks: Callable[[], Iterable[Corpus]], file: IO[bytes]) -> None:
        """Write a row group for every few thousand documents."""
        write_parquet(file, chunks(), schema_for(chunks()))

    def cut(self, gold: Path, pred: Path, count: int) -> list[tuple[Range, Range]]:
        """Cut both files at the same rows, where a row group of the gold file begins."""
        from pyarrow import parquet

        metadata = [parquet.read_metadata(path) for path in (gold, pred)]
        total = metadata[0].num_rows
        if metadata[1].num_rows != total:
            return []
        begins = [0]
        for number in range(metadata[0].num_row_groups):
            begins.append(begins[-1] + metadata[0].row_group(number).num_rows)
        wanted = {min(begins, key=lambda row: abs(row - total * part / count)) for part in range(1, count)}
        places = [0, *sorted(wanted - {0, total}), total]
        return [((a, b), (a, b)) for a, b in pairwise(places)]


def _batches(path: Path, metadata: Any, groups: list[int], shared: list[str]) -> Iterator[Any]:
    """Yield the rows of these groups in batches, labels and `shared` strings as dictionary codes where possible.

    pyarrow reads codes inside lists only from one group at a time, and not where a group has pages of both kinds.
    """
    from pyarrow import ArrowNotImplementedError, parquet

    leaves = [metadata.schema.column(number).path for number in range(len(metadata.schema))]
    coded_ones = {*shared, *(path for path in leaves if path.startswith("spans.") and path.endswith(".label"))}
    small = metadata.num_rows < SMALL * metadata.num_row_groups and not shared
    with (
        parquet.ParquetFile(path, metadata=metadata, pre_buffer=False) as plain,
        parquet.ParquetFile(path, metadata=metadata, read_dictionary=list(coded_ones), pre_buffer=False) as coded,
    ):
        columns = [name for name in COLUMNS if name in plain.schema_arrow.names]
        alone = [[group] for group in groups]
        for some in [groups] if small else alone:
            ways = [(plain, [some]), (plain, alone)] if small else [(coded, [some]), (plain, [some])]
            done = 0
            for number, (file, parts) in enumerate(ways, 1):
                rows = FEW if shared and file is plain else BATCH
                found = (batch for part in parts for batch in file.iter_batches(rows, part, columns, use_threads=False))
                try:
                    for batch in _after(done, found):
                        done += len(batch)
                        yield batch
                    break
                except ArrowNotImplementedError:
                    if number == len(ways):
                        raise


def _ahead(items: Iterator[T]) -> Iterator[T]:
    """Yield items; while one is in use, a thread already makes the next one."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as thread:
        coming = thread.submit(next, items, None)
        while (found := coming.result()) is not None:
            coming = thread.submit(next, items, None)
            yield found


def _after(rows: int, batches: Iterable[Any]) -> Iterator[Any]:
    """Yield what comes after the first rows."""
    for batch in batches:
        if len(rest := batch.slice(rows)):
            yield rest
        rows = max(0, rows - len(batch))


def _groups(metadata: Any, rows: tuple[int, int] | None) -> tuple[list[int], int, int]:
    """Return the row groups that hold these rows, how many rows of the first to skip, and how many rows to read."""
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


def _first_line(error: Exception) -> str:
    return str(error).split("\n", 1)[0].rstrip(".")[:200]
