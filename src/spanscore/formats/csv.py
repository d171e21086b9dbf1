"""`csv`: one span per row, with the columns id, start, end and label."""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, ClassVar

from spanscore.errors import InputError, unknown
from spanscore.files import CELL, FORMULA, LEADING
from spanscore.formats.documents import RawDocument, RawSpan
from spanscore.formats.interface import CERTAIN, Claim, Losses, Sample
from spanscore.formats.records import number, whole
from spanscore.formats.tables import Table, TableFormat, delimited, guess_delimiter
from spanscore.formats.writing import refuse_repetition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Self

    from spanscore.corpus import Corpus
    from spanscore.formats.source import Source

REQUIRED = ("id", "start", "end", "label")
KNOWN = (*REQUIRED, "score", "text")


@dataclass(frozen=True, repr=False)
class Csv(TableFormat):
    """CSV or TSV with a header and one span per row: id, start, end, label, and optionally score and text.

    `text` is the surface string of the span. Other columns become attributes, which are strings. A document without
    spans has a row with an empty start. Rows of a document need not be together. Cells that a spreadsheet would run as
    a formula begin with a single quote, which is removed again on reading.
    """

    name: ClassVar[str] = "csv"
    folders: ClassVar[bool] = False
    suffixes: ClassVar[tuple[str, ...]] = (".csv", ".tsv")

    @classmethod
    def for_file(cls, name: str) -> Self:
        """Return the format with tabs for files that end with .tsv."""
        return cls(delimiter="tab" if name.endswith(".tsv") else "auto")

    @classmethod
    def recognise(cls, sample: Sample) -> Claim | None:
        """Claim text whose first line names the columns id, start, end and label."""
        if sample.is_json or not sample.is_text:
            return None
        header = sample.first_line.decode("utf-8", "replace")
        names = {name.strip().strip('"') for name in header.split(guess_delimiter(header))}
        return Claim(CERTAIN, "its columns are id, start, end and label") if names.issuperset(REQUIRED) else None

    def table(self, source: Source) -> Table:
        """Return the rows."""
        return Table(delimited(source, self.delimiter))

    def from_table(self, table: Table, source: Source) -> Iterator[RawDocument]:
        """Yield documents in the order of their first rows."""
        found: dict[str, RawDocument] = {}
        for record, where in table.rows:
            quoted = any("'" in cell for cell in record.values())
            row = {name: _plain(cell) for name, cell in record.items()} if quoted else record
            if missing := next((name for name in REQUIRED if name not in row), None):
                raise InputError(unknown("column", missing, row), where)
            attributes = row.keys() - KNOWN
            if not row["id"]:
                raise InputError("the id is empty.", f"{where}: id")
            document = found.setdefault(row["id"], RawDocument(where=where, id=row["id"], spans=[]))
            if not row["start"]:
                if row["end"]:
                    raise InputError("the start is empty, but the end is not.", f"{where}: start")
                continue
            span = RawSpan(
                whole(row["start"], f"{where}: start"),
                whole(row["end"], f"{where}: end"),
                row["label"],
                number(row.get("score"), f"{where}: score"),
                {name: row[name] for name in row if name in attributes and row[name]} if attributes else None,
                row["text"] if record.get("text") and row["text"] == record["text"] else None,
            )
            document.spans.append(span)
        yield from found.values()

    def write(self, chunks: Callable[[], Iterable[Corpus]], file: IO[bytes]) -> Losses:
        """Write a row per span, and one per document without spans."""
        attributes = list(dict.fromkeys(name for corpus in chunks() for name in corpus.attrs if name not in KNOWN))
        scored = any(corpus.score is not None for corpus in chunks())
        surfaces = any(corpus.text is not None for corpus in chunks())
        head = [*REQUIRED, *(["score"] if scored else []), *(["text"] if surfaces else []), *attributes]
        ending = "\t" if self.delimiter == "tab" else ";" if self.delimiter == "semicolon" else ","
        lost: Counter[str] = Counter()
        file.write(_line(head, ending))
        for corpus in chunks():
            for document in corpus.documents():
                refuse_repetition(document, self)
                lost["texts"] += document.text is not None
                lost["metadata fields"] += len(document.meta or ())
                lost["tokens"] += len(document.tokens or ())
                empty = {"id": str(document.id)}
                rows = [] if document.spans else [empty]
                for span in document.spans:
                    row = {**empty, "start": str(span.start), "end": str(span.end), "label": span.label}
                    row["score"] = "" if span.score is None else repr(span.score)
                    row["text"] = "" if document.text is None else document.text[span.start : span.end]
                    row |= {key: str(value) for key, value in (span.attrs or {}).items() if key not in KNOWN}
                    lost["attributes"] += sum(key in KNOWN for key in span.attrs or ())
                    rows.append(row)
                file.writelines(_line([row.get(name, "") for name in head], ending) for row in rows)
        return lost


def _line(cells: list[str], delimiter: str) -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, lineterminator="\r\n").writerow([_quoted(cell) for cell in cells])
    return out.getvalue().removesuffix("\r\n").encode("utf-8") + b"\n"  # a cell with CR alone had to be quoted


def _quoted(cell: str) -> str:
    """Return a cell that no spreadsheet runs as a formula; `_plain` undoes it, also if the cell was quoted before."""
    safe = FORMULA.sub(r"\1'", CELL + cell)[1:]
    return f"'{safe}" if cell.lstrip("'").startswith(LEADING) else safe


def _plain(cell: str) -> str:
    """Undo `_quoted`.

    >>> [_plain(_quoted(cell)) == cell for cell in ("=1", "'=1", "''+", "'tis", "-3", "a;=1", "\\t=", "'\\t")]
    [True, True, True, True, True, True, True, True]
    """
    cell = cell[1:] if cell.startswith("'") and cell.lstrip("'").startswith(LEADING) else cell
    return FORMULA.sub(lambda match: match[1].removesuffix("'"), CELL + cell)[1:]
