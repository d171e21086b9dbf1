"""Read JSON files of records: a list, a single object, or JSON Lines, with errors located by line and index."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

import msgspec

from spanscore.corpus.records import field_error
from spanscore.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.formats.source import Source

T = TypeVar("T")

_list = msgspec.json.Decoder(list[msgspec.Raw])
_raw = msgspec.json.Decoder(msgspec.Raw)
_PLACE = re.compile(r"(.*?):(\d+)(?:: (.*))?", re.DOTALL)
"""A location: file, line, and a path inside the value that begins there."""


def records(source: Source, kind: type[T]) -> Iterator[tuple[T, str]]:
    """Yield the records of a JSON list, of a single object, or of JSON Lines, each with its location."""
    decoder = msgspec.json.Decoder(kind)
    for number, (value, where) in enumerate(values(source)):
        if value.startswith(b"["):
            for item, place in items(value, where):
                yield decoded(decoder, item, place), place
        else:
            place = f"{where}: [{number}]"
            yield decoded(decoder, value, place), place


def values(source: Source) -> Iterator[tuple[bytes, str]]:
    """Yield the JSON value of a file, or those of its lines, each with its location: file and line."""
    data = source.read_all()
    if not data.isascii():
        _refuse_other_than_utf8(data, source)
    blank = len(data) - len(data.lstrip())
    end = data.find(b"\n", blank)
    if end >= 0 and _is_complete(data[blank:end]) and data[end:].strip():
        for number, line in enumerate(data.split(b"\n"), 1):
            if line := line.strip():
                yield line, f"{source.name}:{number}"
    elif data := data[blank:].rstrip():
        yield data, f"{source.name}:{source.head.count(LF, 0, blank) + 1}"


LF = b"\n"


def _refuse_other_than_utf8(data: bytes, source: Source) -> None:
    """Refuse bytes that are not UTF-8, even where the decoder does not look: in fields that it does not know."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        begin = data.rfind(LF, 0, error.start) + 1
        source.decode(data[begin : error.end], data.count(LF, 0, begin) + 1)


def items(data: bytes, where: str) -> Iterator[tuple[bytes, str]]:
    """Yield the items of a JSON list that begins at a location, each with its own: file, line, path."""
    file, line, path = _parts(where)
    at, counted = 1, 0
    raws = decoded(_list, data, where)
    for number, raw in enumerate(raws):
        item = bytes(raw)
        at = data.find(item, at)
        line, counted = line + data.count(LF, counted, at), at
        yield item, f"{file}:{line}: {path}[{number}]"
        at += len(item)


def field(data: bytes, key: str, value: msgspec.Raw, where: str) -> tuple[bytes, str]:
    """Return the value of a field of a JSON object that begins at a location, and its own: file, line, path."""
    file, line, path = _parts(where)
    found = bytes(value)
    line += data.count(LF, 0, max(data.find(found), 0))
    return found, f"{file}:{line}: {path}{'.' if path else ''}{key}"


def _parts(where: str) -> tuple[str, int, str]:
    """Return the file, the line and the path of a location.

    >>> _parts("a: b.json:3: documents[0]"), _parts("a.json:3")
    (('a: b.json', 3, 'documents[0]'), ('a.json', 3, ''))
    """
    found = _PLACE.fullmatch(where)
    assert found is not None, "a location has a line"
    return found[1], int(found[2]), found[3] or ""


def decoded(decoder: msgspec.json.Decoder[T], data: bytes, where: str) -> T:
    """Decode a JSON value; an error says where it is."""
    try:
        return decoder.decode(data)
    except msgspec.ValidationError as error:
        raise InputError(field_error(error), where) from None
    except UnicodeDecodeError:
        raise InputError("a string is not UTF-8; convert the file to UTF-8.", where) from None
    except RecursionError:
        raise InputError("the JSON is nested too deeply.", where) from None
    except msgspec.DecodeError as error:
        file, line, _ = _parts(where)
        raise InputError(f"this is not JSON: {_where_broken(error, data, line)}", file) from None


def _is_complete(line: bytes) -> bool:
    """Return whether a line is a whole JSON object or list."""
    try:
        return line[:1] in (b"{", b"[") and bool(_raw.decode(line))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False


def _where_broken(error: Exception, data: bytes, first: int) -> str:
    what = str(error).removeprefix("JSON is malformed: ").rstrip(".")
    byte = what.rpartition("(byte ")[2].rstrip(")")
    if not byte.isdigit():
        return f"{what} (line {first + data.count(LF)})."
    return f"{what.partition(' (byte')[0]} (line {first + data.count(LF, 0, int(byte))})."
