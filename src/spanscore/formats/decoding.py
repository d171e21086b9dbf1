"""The size of Arrow data once it is decoded: a dictionary whose values many rows share is small until then."""

from __future__ import annotations

import struct
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from spanscore.corpus.arrow import pyarrow
from spanscore.formats.parquet_footer import Chunk, chunks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

POINTER = 8
"""Least bytes of a value: in a list, it takes as many."""
VIEW = np.dtype([("length", np.int32), ("rest", np.uint8, 12)])
"""How Arrow stores a string whose characters are elsewhere, perhaps those of other strings as well."""
DICTIONARY_PAGE = 2


def decoded_size(column: Any) -> int:
    """Return how many bytes an Arrow array, table or batch takes once every row has values of its own.

    >>> import pyarrow
    >>> decoded_size(pyarrow.array(["a" * 100]).dictionary_encode().take([0] * 50))
    5400
    """
    pa = pyarrow()
    if isinstance(column, pa.RecordBatch | pa.Table):
        return sum(map(decoded_size, column.columns)) + POINTER * len(column)
    if isinstance(column, pa.ChunkedArray):
        return sum(map(decoded_size, column.chunks))
    if isinstance(column, pa.ExtensionArray):
        return decoded_size(column.storage)
    return POINTER * len(column) + _beyond_pointers(pa, column)


def _beyond_pointers(pa: Any, column: Any) -> int:
    """Return the bytes of values that take more than a pointer."""
    kind, types = column.type, pa.types
    if types.is_dictionary(kind):
        lengths = _lengths(pa, column.dictionary)
        codes = column.indices.drop_null().to_numpy(zero_copy_only=False)
        return int(lengths.take(codes).sum())
    if types.is_struct(kind):
        return sum(map(decoded_size, column.flatten()))
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return decoded_size(column.flatten())
    if types.is_map(kind):
        low, high = (column.offsets[place].as_py() for place in (0, -1))
        return sum(decoded_size(side.slice(low, high - low)) for side in (column.keys, column.items))
    if types.is_nested(kind) or types.is_run_end_encoded(kind):  # rows may share values: views, unions, runs
        return len(column) * int(column.nbytes)
    return int(_lengths(pa, column).sum())


def _lengths(pa: Any, column: Any) -> Any:
    """Return the bytes of each value, those that fit a pointer left out; all values may be as long as a nested one."""
    kind, types = column.type, pa.types
    if types.is_string_view(kind) or types.is_binary_view(kind):
        views = column.buffers()[1]
        rows = np.frombuffer(views, VIEW)[column.offset :][: len(column)] if views else np.zeros(0, VIEW)
        found = np.maximum(rows["length"], 0).astype(np.int64)
        return np.where(column.is_null().to_numpy(zero_copy_only=False), 0, found)
    if any(of(kind) for of in (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)):
        from pyarrow import compute

        return compute.binary_length(column).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    if types.is_fixed_size_binary(kind):
        return np.full(len(column), kind.byte_width)
    fixed = types.is_primitive(kind) or types.is_null(kind) or types.is_boolean(kind) or types.is_decimal(kind)
    return np.full(len(column), 0 if fixed else decoded_size(column))


def shared_strings(file: IO[bytes], metadata: Any, limit: int) -> list[str]:
    """Return the columns of a Parquet file whose dictionaries may decode to more than a limit, by their paths.

    The size of a dictionary is that of its page, which is what is decompressed, not what the metadata of the file says.
    """
    groups = chunks(file)
    found = []
    for number in range(metadata.num_columns):
        column = metadata.schema.column(number)
        if column.physical_type == "BYTE_ARRAY":
            parts = [group[number] for group in groups if number < len(group)]
            sizes = [one.values * _dictionary_size(file, one, limit) for one in parts]
            if sum(sizes) > limit and _with_longest(file, metadata, column.path, parts, sizes, limit) > limit:
                found.append(column.path)
    return found


def _with_longest(
    file: IO[bytes], metadata: Any, path: str, parts: Sequence[Chunk], sizes: Sequence[int], limit: int
) -> int:
    """Return the bytes of a column if each value were the longest of its dictionary; or more than a limit."""
    pa = pyarrow()
    from pyarrow import parquet

    coded = parquet.ParquetFile(file, metadata=metadata, read_dictionary=[path], pre_buffer=False)
    total = 0
    for group, (part, size) in enumerate(zip(parts, sizes, strict=True)):
        if not size:
            continue
        try:
            first = next(coded.iter_batches(1, [group], [path], use_threads=False)).column(0)
        except (StopIteration, pa.ArrowNotImplementedError):
            return limit + 1
        while not pa.types.is_dictionary(first.type):
            if not pa.types.is_list(first.type) and not pa.types.is_struct(first.type):
                return limit + 1
            first = first.values if pa.types.is_list(first.type) else first.field(0)
        total += part.values * int(_lengths(pa, first.dictionary).max(initial=0))
        if total > limit:
            break
    return total


def _dictionary_size(file: IO[bytes], chunk: Chunk, unknown: int) -> int:
    """Return the bytes of the dictionary of a column chunk, which its first page has; 0 without one."""
    file.seek(chunk.begins)
    try:
        kind, size = _page_header(iter(file.read(32)))
    except (StopIteration, ValueError):
        return unknown
    return size if kind == DICTIONARY_PAGE else 0


def _page_header(data: Iterator[int]) -> tuple[int, int]:
    """Return the type and the unpacked size of a page: the first two fields of its header, in Thrift's compact form.

    >>> _page_header(iter(bytes([0x15, 4, 0x15, 0x90, 3])))
    (2, 200)
    """
    values = []
    for _ in range(2):
        if next(data) != 0x15:
            raise ValueError("the next field is no integer")
        number = shift = 0
        while (byte := next(data)) & 0x80:
            number, shift = number | (byte & 0x7F) << shift, shift + 7
        values.append((number | byte << shift) >> 1)
    return values[0], values[1]


def is_compressed(message: Any) -> bool:
    """Return whether the buffers of an Arrow message are compressed: pyarrow would unpack them whatever their size.

    pyarrow does not tell, so this looks it up in the message's flatbuffer, where field 3 of a batch is its compression.
    """
    data = message.metadata.to_pybytes()
    try:
        if message.type not in ("dictionary", "record batch"):
            return False
        batch = _table(data, _integer(data, "<I", 0), 2)
        if message.type == "dictionary":
            batch = _table(data, batch, 1)
        return _field(data, batch, 3) > 0
    except (struct.error, IndexError):
        return False  # damaged, as pyarrow will say


def _table(data: bytes, table: int, number: int) -> int:
    """Return the position of the table that a field of a table points to."""
    at = table + _field(data, table, number)
    return at + _integer(data, "<I", at)


def _field(data: bytes, table: int, number: int) -> int:
    """Return where a field is in its table, or 0 if it is not there."""
    known = table - _integer(data, "<i", table)
    place = 4 + 2 * number
    return _integer(data, "<H", known + place) if place < _integer(data, "<H", known) else 0


def _integer(data: bytes, kind: str, at: int) -> int:
    found: int = struct.unpack_from(kind, data, at)[0]
    return found
