"""Read tables, one record per row: JSON, JSON Lines, CSV, TSV, Parquet, and Hugging Face datasets saved to disk."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import msgspec

from spanscore.corpus.arrow import pyarrow
from spanscore.errors import InputError, UsageError, printable
from spanscore.formats.decoding import decoded_size, is_compressed, shared_strings
from spanscore.formats.documents import DocumentFormat, RawDocument
from spanscore.formats.json_records import records
from spanscore.formats.source import refuse_unpacking, unpacking_limit
from spanscore.spec import parameter

if TYPE_CHECKING:
    from spanscore.formats.interface import Sample
    from spanscore.formats.source import Source

Record = dict[str, Any]
DELIMITERS = ("auto", "comma", "tab", "semicolon")
_CHARACTERS = {"comma": ",", "tab": "\t", "semicolon": ";"}
ARROW = b"\xff\xff\xff\xff"
"""How a file of a saved dataset begins."""
_SHARD = re.compile(r"-of-(\d{1,9})\.arrow$")
BATCH, FEW = 4096, 64
"""Rows that are decoded at once; the same where strings that many rows share cannot be read as codes."""
NO_MEMORY = "there is not enough memory to read this file."
LARGEST_CELL = 1 << 30
"""Characters of a cell; the csv module refuses texts of more than 131,072 by default."""


class Table(NamedTuple):
    """Records, each with its location, and the names of the values of columns that hold numbers for names.

    A field inside a column is named by its path, such as `spans.label`.
    """

    rows: Iterable[tuple[Record, str]]
    names: Mapping[str, list[str]] = {}


@dataclass(frozen=True, repr=False)
class TableFormat(DocumentFormat):
    """A format whose records may be in any kind of table. Subclasses implement `from_table`."""

    folders: ClassVar[bool] = True
    split: str = parameter("", "Split to read from a folder with several, such as a saved dataset; files have none.")
    delimiter: str = parameter("auto", "Column separator, if the file is a CSV or TSV file.", choices=DELIMITERS)

    def documents(self, source: Source) -> Iterator[RawDocument]:
        """Yield the documents of a table."""
        return self.from_table(self.table(source), source)

    def from_table(self, table: Table, source: Source) -> Iterator[RawDocument]:
        """Yield the documents of a table's records."""
        raise NotImplementedError

    def table(self, source: Source) -> Table:
        """Return the records of a source."""
        if source.is_folder:
            return self._dataset(source)
        if source.head.startswith(b"PAR1"):
            return _parquet(source)
        if source.head.startswith(ARROW):
            if (shards := _SHARD.search(source.file_name)) and int(shards[1]) > 1:
                note = f"this is one of {int(shards[1])} files of a saved dataset; name its folder to read all"
                source.notes.append(f"{source.name}: {note}.")
            return _arrow(source)
        if source.sample.is_json:
            return Table(records(source, Record))
        return Table(delimited(source, self.delimiter))

    def _all(self, source: Source) -> Iterator[RawDocument]:
        """Yield all documents; a folder is one table."""
        for number, document in enumerate(self.documents(source)):
            if document.id is None:
                document.id = str(number)
            yield document

    def _dataset(self, source: Source) -> Table:
        """Read a folder of Arrow files that `datasets` saved, or of Parquet files as they are on the Hub."""
        files = source.files(".arrow") or source.files(".parquet")
        if not files:
            raise InputError("this folder holds neither a saved dataset (.arrow) nor Parquet files.", source.name)
        splits: dict[str, list[str]] = {}
        for name in files:
            splits.setdefault(_split_of(name), []).append(name)
        if self.split not in splits and (self.split or len(splits) > 1):
            listed = ", ".join(printable(name) for name in splits)
            if self.split:
                raise UsageError(f"{source.name}: there is no split '{printable(self.split)}'; there are {listed}.")
            message = f"this dataset has several splits ({listed}); choose one with {self.name}(split=NAME)"
            raise InputError(f"{message}.", source.name)
        chosen = splits.get(self.split, files)
        return _joined([_opened(source, name) for name in chosen])


def schema_of(sample: Sample) -> bytes:
    """Return bytes in which the column names of a Parquet file or saved dataset occur; nothing for other files."""
    if sample.files:
        return sample.first(".arrow") or sample.last(".parquet")
    if sample.head.startswith(ARROW):
        return sample.head
    return sample.tail() if sample.head.startswith(b"PAR1") else b""


def _split_of(name: str) -> str:
    """Return the split that a file of a dataset belongs to: its folder in a saved dataset, else its name.

    >>> _split_of("train/data-00000-of-00001.arrow"), _split_of("data/test-00000-of-00002.parquet")
    ('train', 'test')
    """
    folder, _, file = name.rpartition("/")
    return folder if name.endswith(".arrow") else file.removesuffix(".parquet").partition("-")[0]


def _opened(source: Source, name: str) -> Table:
    with source.open(name) as opened:
        return _arrow(opened) if name.endswith(".arrow") else _parquet(opened)


def _joined(tables: list[Table]) -> Table:
    return Table((row for table in tables for row in table.rows), tables[0].names)


def _parquet(source: Source) -> Table:
    pa = pyarrow()
    from pyarrow import parquet

    data = source.read_all()
    try:
        metadata = parquet.read_metadata(pa.BufferReader(data))
        sizes = [metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups)]
        refuse_unpacking(len(data), sum(sizes), source.name)
        shared = shared_strings(BytesIO(data), metadata, unpacking_limit(len(data)))
        plain = parquet.ParquetFile(pa.BufferReader(data), metadata=metadata)
        batches = _coded(data, metadata, plain, shared, pa) if shared else plain.iter_batches()
        return Table(_rows(batches, len(data), source.name, pa), _class_names(plain.schema_arrow))
    except MemoryError:
        raise InputError(NO_MEMORY, source.name) from None
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError):
        raise InputError("the Parquet data is damaged or not supported.", source.name) from None


def _coded(data: bytes, metadata: Any, plain: Any, shared: list[str], pa: Any) -> Iterator[Any]:
    """Yield the rows in batches, strings that many rows share as dictionary codes where that is possible."""
    from pyarrow import parquet

    coded = parquet.ParquetFile(pa.BufferReader(data), metadata=metadata, read_dictionary=shared)
    for group in range(metadata.num_row_groups):
        done = 0
        try:
            for batch in coded.iter_batches(BATCH, [group]):
                done += len(batch)
                yield batch
        except pa.ArrowNotImplementedError:  # inside lists, if a group has pages of both kinds
            for batch in plain.iter_batches(FEW, [group]):
                if len(rest := batch.slice(done)):
                    yield rest
                done = max(0, done - len(batch))


def _arrow(source: Source) -> Table:
    pa = pyarrow("Reading a saved dataset", "hf")
    try:
        data = source.read_all()
        if any(map(is_compressed, pa.ipc.MessageReader.open_stream(pa.BufferReader(data)))):
            raise InputError("the Arrow data is compressed; save the dataset with the datasets library.", source.name)
        reader = pa.ipc.open_stream(pa.BufferReader(data))
        return Table(_rows(reader, len(data), source.name, pa), _class_names(reader.schema))
    except MemoryError:
        raise InputError(NO_MEMORY, source.name) from None
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError):
        raise InputError("the Arrow data is damaged or not supported.", source.name) from None


def _rows(batches: Iterable[Any], packed: int, name: str, pa: Any) -> Iterator[tuple[Record, str]]:
    """Yield the records of batches as long as they are not far larger than the file once they are decoded."""
    number = unpacked = 0
    try:
        for batch in batches:
            batch.validate(full=True)  # sizes that are not true could not be added
            unpacked += decoded_size(batch)
            refuse_unpacking(packed, unpacked, name)
            for first in range(0, len(batch), BATCH):
                for record in batch.slice(first, BATCH).to_pylist():
                    yield record, f"{name}: [{number}]"
                    number += 1
    except MemoryError:
        raise InputError(NO_MEMORY, f"{name}: [{number}]") from None
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError):
        raise InputError("the data is damaged or not supported.", f"{name}: [{number}]") from None


def _class_names(schema: Any) -> dict[str, list[str]]:
    """Return the names of classes by path, which `datasets` keeps in the metadata of a schema."""
    try:
        found = msgspec.json.decode((schema.metadata or {}).get(b"huggingface", b"{}"))
        return dict(_named_classes(found.get("info", {}).get("features", {}), ""))
    except (msgspec.DecodeError, AttributeError, RecursionError):
        return {}


def _named_classes(feature: Any, path: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the paths of classes below a feature, and the names of their values."""
    if isinstance(feature, list):  # a list of what is in it
        feature = feature[0] if feature else None
    if not isinstance(feature, Mapping):
        return
    if isinstance(names := feature.get("names"), list):
        yield path, [str(name) for name in names]
    elif "_type" in feature:
        yield from _named_classes(feature.get("feature"), path)
    else:
        for name, inside in feature.items():
            yield from _named_classes(inside, f"{path}.{name}" if path else name)


def delimited(source: Source, delimiter: str = "auto") -> Iterator[tuple[dict[str, str], str]]:
    """Yield the rows of a CSV or TSV file with a header as dictionaries, each with its location."""
    text = _decoded(source)
    character = _CHARACTERS.get(delimiter) or guess_delimiter(text.partition("\n")[0])
    csv.field_size_limit(LARGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=character, strict=True)
    line = 1
    try:
        head = [name.strip() for name in next(reader, [])]
        if len(set(head)) < len(head):
            raise InputError("two columns have the same name.", f"{source.name}:1")
        line = reader.line_num + 1
        for cells in reader:
            if len(cells) != len(head) and any(cells):
                message = f"there are {len(cells)} cells, but {len(head)} columns in the header"
                raise InputError(f"{message}; quote cells that hold the delimiter.", f"{source.name}:{line}")
            if any(cells):
                yield dict(zip(head, cells, strict=True)), f"{source.name}:{line}"
            line = reader.line_num + 1
    except csv.Error:
        raise InputError("this row is not CSV; check its quotation marks.", f"{source.name}:{line}") from None


def _decoded(source: Source) -> str:
    data = source.read_all()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return source.decode(data.split(b"\n")[line - 1], line)


def guess_delimiter(header: str) -> str:
    """Return the delimiter of a header: a tab, a semicolon or a comma.

    >>> guess_delimiter("id;start,1;end"), guess_delimiter("id")
    (';', ',')
    """
    if "\t" in header:
        return "\t"
    return ";" if header.count(";") > header.count(",") else ","
