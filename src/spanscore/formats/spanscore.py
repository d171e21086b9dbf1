"""`spanscore`: the native format, JSON Lines with one document per line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, ClassVar, Literal

import msgspec
import numpy as np

from spanscore.corpus import Corpus, LabelTable
from spanscore.corpus.columns import Longs
from spanscore.corpus.records import Attr, Document, OffsetError, Regions, Span, build, document_columns, field_error
from spanscore.errors import InputError
from spanscore.formats.documents import OffsetFormat
from spanscore.formats.interface import CERTAIN, POSSIBLE, Claim, Range, Sample
from spanscore.formats.offsets import converted
from spanscore.formats.source import MARGIN
from spanscore.formats.span_scan import MARKER, Scan, SpanScanner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from spanscore.formats.source import Block, Source


class Line(msgspec.Struct, gc=False):
    """A document whose spans are not decoded yet."""

    id: str | int
    spans: msgspec.Raw
    text: str | None = None
    tokens: list[tuple[int, int]] | None = None
    meta: dict[str, Attr | Regions] | None = None


_lines = msgspec.json.Decoder(Line)
_spans = msgspec.json.Decoder(list[Span])


class _Id(msgspec.Struct):
    id: str | int


@dataclass(frozen=True, repr=False)
class Spanscore(OffsetFormat):
    """spanscore's native format: JSON Lines, one document per line, for gold data and predictions alike.

    A line is `{"id": "d1", "text": "...", "spans": [{"start": 9, "end": 19, "label": "PERSON", "score": 0.85,
    "attrs": {"kbid": "Q1"}}], "tokens": [[0, 4], [5, 9]], "meta": {"language": "en"}}`; text, tokens, meta, score and
    attrs are optional.
    """

    name: ClassVar[str] = "spanscore"
    suffixes: ClassVar[tuple[str, ...]] = (".jsonl",)
    checks_spans: ClassVar[bool] = True
    part_unit: ClassVar[Literal["bytes"]] = "bytes"

    @classmethod
    def recognise(cls, sample: Sample) -> Claim | None:
        """Claim JSON objects with id and spans; one that is damaged, or has no id, may be a faulty one."""
        if sample.top_keys & {"answer", "_input_hash"}:  # Prodigy's, whose rejected answers must not be read
            return None
        if sample.is_object and {"id", "spans"} <= sample.top_keys:
            return Claim(CERTAIN, 'the first line is a JSON object with "spans"')
        if sample.is_object and (b'"spans"' in sample.first_line or not sample.top_keys):
            spans = ' with "spans"' if b'"spans"' in sample.first_line else ""
            return Claim(POSSIBLE, f"the first line is a JSON object{spans}")
        return None

    def read(self, source: Source) -> Iterator[Corpus]:
        """Yield a corpus per block of lines."""
        scanner = SpanScanner(LabelTable())
        for block in source.blocks():
            corpus = (_scan_block(block, scanner) or _decode_block(block, scanner)) if block.is_utf8 else None
            if corpus is None or (self.convention.is_native and corpus.flaw()):
                corpus = _decode_lines(block, source.name, scanner.labels, native=self.convention.is_native)
            if len(corpus):
                yield converted(corpus, self.convention, source.name)

    def write(self, chunks: Callable[[], Iterable[Corpus]], file: IO[bytes]) -> None:
        """Write one line per document."""
        encoder = msgspec.json.Encoder()
        for corpus in chunks():
            file.writelines(encoder.encode(document) + b"\n" for document in corpus.documents())

    def cut(self, gold: Path, pred: Path, count: int) -> list[tuple[Range, Range]]:
        """Cut both files where a line begins, the predictions at the document where the gold part begins."""
        sizes = [path.stat().st_size for path in (gold, pred)]
        parts = min(count, sizes[0] // LEAST)
        cuts = [(0, 0)]
        with gold.open("rb") as ours, pred.open("rb") as theirs:
            for number in range(1, parts):
                ours.seek(sizes[0] * number // parts)
                ours.readline()
                place = ours.tell()
                found = _find_line(theirs, _id_of(ours.readline()), sizes[1] * place // sizes[0], sizes[1])
                if found is None or place <= cuts[-1][0] or found <= cuts[-1][1]:
                    return []
                cuts.append((place, found))
        ends = [*cuts[1:], (sizes[0], sizes[1])]
        return [((a, c), (b, d)) for (a, b), (c, d) in zip(cuts, ends, strict=True)]


LEAST = 1 << 22
"""Minimum bytes of a part: fewer are not worth a process."""
AROUND = 1 << 17
"""Bytes around its expected place in which a document is looked for first."""


def _find_line(file: IO[bytes], name: str, near: int, size: int) -> int | None:
    """Return where the line of a document begins, if that is not far from the expected place."""
    encoded = msgspec.json.encode(name)
    for reach in (AROUND, (1 << 20) + size // 50):
        begin = max(0, near - reach)
        file.seek(begin)
        data = file.read(near - begin + reach)
        at = -1
        while (at := data.find(encoded, at + 1)) >= 0:
            start = data.rfind(b"\n", 0, at) + 1
            end = data.find(b"\n", at)
            if (start or not begin) and end >= 0 and _id_of(data[start:end]) == name:
                return begin + start
    return None


def _id_of(line: bytes) -> str:
    try:
        return str(msgspec.json.decode(line, type=_Id).id)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise InputError("this is not a document.") from None


_ERRORS = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, InputError)


def _scan_block(block: Block, scanner: SpanScanner) -> Corpus | None:
    """Read all lines at once with the scanner; None if they are not one document per line in one layout."""
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
    """Read lines that hold only id, text and spans with the scanner."""
    try:
        found = scanner.line_layout.read(scan, block.lines) if scanner.line_layout else None
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return None if found is None else (found[0], {"ids": found[1], "text": found[2]})


def _decode_rest(block: Block, scan: Scan) -> tuple[Longs, dict[str, Any]] | None:
    """Decode what the scanner left of other lines with msgspec."""
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
    """Return whether there is one document per line: no blank line makes up for a line with two."""
    return documents == block.lines and _BLANK.search(block.buffer, MARGIN - 1, MARGIN + block.size) is None


_BLANK = re.compile(rb"[\0\n][ \t\r]*\n")


def _decode_block(block: Block, scanner: SpanScanner) -> Corpus | None:
    """Decode all lines at once with msgspec, and let the scanner learn; None if they are not one document per line."""
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


def _decode_lines(block: Block, name: str, labels: LabelTable, *, native: bool) -> Corpus:
    """Decode line by line: slower, but skips blank lines and reports which line is wrong."""
    documents = []
    for number, data in enumerate(block.data.split(b"\n"), block.first):
        if not data.strip():
            continue
        where = f"{name}:{number}"
        try:
            data.decode()  # msgspec does not look at the names of fields that it does not know
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
            raise InputError(_in_line(field_error(error)), where) from None
        except msgspec.DecodeError as error:
            what = str(error).removeprefix("JSON is malformed: ").rstrip(".")
            raise InputError(f"invalid JSON: {what}; each line must be one complete JSON object.", where) from None
        if native and (flaw := corpus.flaw()):
            raise InputError(flaw.message, f"{where}: {flaw.path(corpus)}")
    return build(documents, labels)


def _documents(lines: list[Line]) -> list[Document]:
    return [
        Document(id=line.id, text=line.text, spans=_spans.decode(line.spans), tokens=line.tokens, meta=line.meta)
        for line in lines
    ]


def _in_line(message: str) -> str:
    """Add `spans` to a message about them, which begins with an index or has no path; say how to do without ids."""
    if message == "the field 'id' is missing.":
        return f"{message[:-1]}; give each document one, or number them by reading the file as records(spans=spans)."
    if message.startswith("meta[...]"):
        hint = "metadata are strings, numbers, true or false, and scored_regions is a list of pairs such as [[0, 120]]"
        return f"{message[:-1]}; {hint}."
    if message.startswith("["):
        return f"spans{message}"
    return (
        message.replace("expected array", "spans: expected array") if message.startswith("expected array") else message
    )
