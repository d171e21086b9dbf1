"""Read files that consist of one JSON list of records, with errors located by line and index."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec

from spanscore.corpus.records import field_error
from spanscore.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.formats.source import Source

T = TypeVar("T")

_list = msgspec.json.Decoder(list[msgspec.Raw])


def records(source: Source, kind: type[T]) -> Iterator[tuple[T, str]]:
    """Yield the records of a JSON list, or of a single object, each with its location: file, line, index."""
    data = source.read_all()
    blank = len(data) - len(data.lstrip())
    if data.startswith(b"{", blank):
        raws, at = [msgspec.Raw(data.strip())], 0
    else:
        raws, at = _decode_list(data, source.name), blank + 1
    decoder = msgspec.json.Decoder(kind)
    line, counted = 1, 0
    for number, raw in enumerate(raws):
        at = data.find(bytes(raw), at)
        line, counted = line + data.count(b"\n", counted, at), at
        where = f"{source.name}:{line}: [{number}]"
        try:
            yield decoder.decode(raw), where
        except msgspec.ValidationError as error:
            message = field_error(error)
            raise InputError(message, where) from None
        except UnicodeDecodeError:
            raise InputError("a string is not UTF-8; convert the file to UTF-8.", where) from None
        except RecursionError:
            raise InputError("the JSON is nested too deeply.", where) from None
        except msgspec.DecodeError as error:
            raise InputError(f"this is not JSON: {error}.", where) from None
        at += len(raw)


def _decode_list(data: bytes, name: str) -> list[msgspec.Raw]:
    try:
        return _list.decode(data)
    except msgspec.ValidationError as error:
        raise InputError(field_error(error), name) from None
    except RecursionError:
        raise InputError("the JSON is nested too deeply.", name) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"this is not JSON: {_where_broken(error, data)}", name) from None


def _where_broken(error: Exception, data: bytes) -> str:
    what = str(error).removeprefix("JSON is malformed: ").rstrip(".")
    byte = what.rpartition("(byte ")[2].rstrip(")")
    if not byte.isdigit():
        return f"{what} (line {data.count(bytes([10])) + 1})."
    return f"{what.partition(' (byte')[0]} (line {data.count(bytes([10]), 0, int(byte)) + 1})."
