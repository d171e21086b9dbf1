"""`spanscore`: the own format, JSON Lines, gold and predictions alike."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from spanscore.corpus import Corpus, LabelTable
from spanscore.corpus.columns import Longs
from spanscore.corpus.records import Attr, Document, OffsetError, Span, build, document_columns, explain
from spanscore.errors import InputError
from spanscore.formats.source import MARGIN
from spanscore.formats.span_scan import MARKER, Scan, SpanScanner

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.formats.source import Block, Source


class Line(msgspec.Struct, gc=False):
    """A document whose spans are still bytes."""

    id: str | int
    spans: msgspec.Raw
    text: str | None = None
    tokens: list[tuple[int, int]] | None = None
    meta: dict[str, Attr] | None = None


_lines = msgspec.json.Decoder(Line)
_spans = msgspec.json.Decoder(list[Span])


def read(source: Source) -> Iterator[Corpus]:
    """A corpus per block of lines."""
    scanner = SpanScanner(LabelTable())
    for block in source.blocks():
        corpus = _scan_block(block, scanner) or _decode_block(block, scanner)
        if corpus is None or corpus.flaw():
            corpus = _decode_lines(block, source.name, scanner.labels)
        if len(corpus):
            yield corpus


_ERRORS = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, InputError)


def _scan_block(block: Block, scanner: SpanScanner) -> Corpus | None:
    """All lines at once, the spans by the scanner; None if they are not a document a line, all in one layout."""
    scanner.guess(block)
    known = len(scanner.labels)
    scan = scanner.scan(block)
    found = None if scan is None else _scan_lines(block, scan, scanner) or _decode_rest(block, scan)
    if scan is None or found is None:
        scanner.forget(known)
        return None
    counts, columns = found
    corpus = Corpus(
        doc=np.repeat(np.arange(len(counts), dtype=np.int32), counts),
        start=scan.start,
        end=scan.end,
        label=scan.label,
        labels=tuple(scanner.labels),
        score=scan.score,
        **columns,
    )
    corpus.__dict__["bounds"] = np.concatenate([[0], np.cumsum(counts)])
    return corpus


def _scan_lines(block: Block, scan: Scan, scanner: SpanScanner) -> tuple[Longs, dict[str, Any]] | None:
    """Lines of id, text and spans alone, by the scanner."""
    try:
        found = scanner.line_layout.read(scan, block.lines) if scanner.line_layout else None
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return None if found is None else (found[0], {"ids": found[1], "text": found[2]})


def _decode_rest(block: Block, scan: Scan) -> tuple[Longs, dict[str, Any]] | None:
    """Other lines, what is left of them by msgspec."""
    try:
        lines = _lines.decode_lines(scan.rest())
        columns = document_columns(lines)
    except _ERRORS:
        return None
    arrays = [line.spans for line in lines]
    filled = np.fromiter(map(len, arrays), np.int64, len(lines)) == len(MARKER)
    found = scan.arrays[2]
    if not _one_a_line(len(lines), block) or np.count_nonzero(filled) != len(found):
        return None
    if b"".join(arrays) != b"".join(map((b"[]", MARKER).__getitem__, filled.tolist())):
        return None
    counts = np.zeros(len(lines), np.int64)
    counts[filled] = found
    return counts, columns


def _one_a_line(documents: int, block: Block) -> bool:
    """Whether so many documents can be one a line: no line is blank, to make up for one that has two."""
    return documents == block.lines and _BLANK.search(block.buffer, MARGIN - 1, MARGIN + block.size) is None


_BLANK = re.compile(rb"[\0\n][ \t\r]*\n")


def _decode_block(block: Block, scanner: SpanScanner) -> Corpus | None:
    """All lines at once, all by msgspec; None if they are not a document a line. The scanner learns from them."""
    known = len(scanner.labels)
    try:
        lines = _lines.decode_lines(block.data)
        if not _one_a_line(len(lines), block):
            return None
        corpus = build(_documents(lines), scanner.labels)
    except _ERRORS:
        scanner.forget(known)
        return None
    array = next((bytes(line.spans) for line in lines if len(line.spans) > 2), b"")
    scanner.learn(block.data[: block.data.find(b"\n") + 1], array)
    return corpus


def _decode_lines(block: Block, name: str, labels: LabelTable) -> Corpus:
    """Line by line: slower, skips blank lines, and says which line is wrong."""
    documents = []
    for number, data in enumerate(block.data.split(b"\n"), block.first):
        if not data.strip():
            continue
        where = f"{name}:{number}"
        try:
            documents += _documents([_lines.decode(data)])
            corpus = build(documents[-1:])
        except OffsetError as error:
            raise InputError(error.message, f"{where}: {error.path}") from None
        except InputError as error:
            raise InputError(str(error), where) from None
        except UnicodeDecodeError as error:
            raise InputError(f"a string is not UTF-8 ({error.reason}); convert the file to UTF-8.", where) from None
        except RecursionError:
            raise InputError("the JSON is nested too deeply.", where) from None
        except msgspec.ValidationError as error:
            raise InputError(_in_line(explain(error)), where) from None
        except msgspec.DecodeError as error:
            what = str(error).removeprefix("JSON is malformed: ").rstrip(".")
            raise InputError(
                f"this is not a line of JSON: {what}; each line must be one whole JSON object.", where
            ) from None
        if flaw := corpus.flaw():
            raise InputError(flaw.message, f"{where}: {flaw.path(corpus)}")
    return build(documents, labels)


def _documents(lines: list[Line]) -> list[Document]:
    return [
        Document(id=line.id, text=line.text, spans=_spans.decode(line.spans), tokens=line.tokens, meta=line.meta)
        for line in lines
    ]


def _in_line(message: str) -> str:
    """A message about the spans alone begins with an index or has no path: name the field that it is in."""
    if message.startswith("["):
        return f"spans{message}"
    return (
        message.replace("expected array", "spans: expected array") if message.startswith("expected array") else message
    )
