"""`hipe`: CLEF-HIPE's TSV, a token per line with several columns of tags that the header names."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from spanscore.corpus.records import Attr, Document, Span, build
from spanscore.errors import InputError, unknown
from spanscore.formats.interface import CERTAIN, Claim, Format, Sample
from spanscore.formats.tags import decode_tags, guess_scheme
from spanscore.spec import parameter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.corpus import Corpus
    from spanscore.formats.source import Source

_ABOUT = re.compile(r"#\s*(?:([\w-]+):)?\s*([\w-]+)\s*=\s*(.*)")
ABOUT = ("date", "language", "dataset", "document_type", "newspaper")
"""Comments that become metadata."""
NONE = "_"
PREFIXES = "BIES"


@dataclass
class Rows:
    """The token lines of a document: words, tags, links, and whether a space or line end follows each word."""

    name: str | None
    line: int
    meta: dict[str, Attr] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)


@dataclass(frozen=True, repr=False)
class Hipe(Format):
    """CLEF-HIPE's TSV: a header, a token per line, and comments such as "# hipe2022:document_id = a".

    Without such comments, blank lines separate documents. Texts are rebuilt from the tokens with the flags of the
    column MISC: NoSpaceAfter, and EndOfLine as a line break. Links (NEL-LIT) become the attribute kbid.
    """

    name: ClassVar[str] = "hipe"
    offsets: ClassVar[str] = "tokens"
    column: str = parameter("NE-COARSE-LIT", "Name of the column with the tags.")

    @classmethod
    def recognise(cls, sample: Sample) -> Claim | None:
        """Claim a header that begins with TOKEN and names columns of entities."""
        if sample.columns[0] == b"TOKEN" and any(name.startswith((b"NE-", b"NEL-")) for name in sample.columns):
            return Claim(CERTAIN, "the header names TOKEN and NE-... columns")
        return None

    def read(self, source: Source) -> Iterator[Corpus]:
        """Yield one corpus."""
        documents = list(self._documents(source))
        scheme = guess_scheme([one.tags for one in documents])
        illegal = 0
        built = []
        for number, one in enumerate(documents):
            try:
                runs, count = decode_tags(one.tags, scheme)
            except ValueError:
                message = f"the column {self.column} does not hold tags in {scheme}."
                raise InputError(message, f"{source.name}:{one.line}") from None
            illegal += count
            built.append(_built(one, runs, str(number)))
        if illegal:
            source.notes.append(f"{source.name}: {illegal} transitions are not legal in {scheme}; each began a span.")
        yield build(built)

    def _documents(self, source: Source) -> Iterator[Rows]:
        header: list[str] = []
        rows: Rows | None = None
        named, closed = False, False
        for number, line in source.lines():
            where = f"{source.name}:{number}"
            if line.startswith("#") and "\t" not in line:
                about = _ABOUT.match(line)
                if about is None:
                    continue
                if about[2] == "document_id":
                    if rows is not None and rows.words:
                        yield rows
                    rows, named = Rows(about[3].strip() or None, number), True
                elif about[2] in ABOUT and about[3].strip() not in ("", NONE):
                    if rows is None or (closed and not named):
                        if rows is not None:
                            yield rows
                        rows, closed = Rows(None, number), False
                    rows.meta[about[2]] = about[3].strip()
            elif not line.strip():
                closed = rows is not None and bool(rows.words)
            elif not header:
                header = [name.strip() for name in line.split("\t")]
                self._check_header(header, where)
            elif line.split("\t") != header:
                if rows is None or (closed and not named):
                    if rows is not None:
                        yield rows
                    rows = Rows(None, number)
                closed = False
                self._add(rows, line.split("\t"), header, where)
        if rows is not None and rows.words:
            yield rows

    def _check_header(self, header: list[str], where: str) -> None:
        if header[0] != "TOKEN":
            raise InputError("the first line must be a header that begins with TOKEN.", where)
        if self.column not in header:
            raise InputError(unknown("column", self.column, header[1:]), where)

    def _add(self, rows: Rows, columns: list[str], header: list[str], where: str) -> None:
        if len(columns) != len(header):
            raise InputError(f"the line has {len(columns)} columns, but the header names {len(header)}.", where)
        row = dict(zip(header, (column.strip() for column in columns), strict=True))
        flags = row.get("MISC", NONE).split("|")
        rows.words.append(row["TOKEN"])
        rows.tags.append("O" if row[self.column] == NONE else row[self.column])
        rows.links.append(row.get("NEL-METO" if self.column.endswith("METO") else "NEL-LIT", NONE))
        rows.gaps.append("" if "NoSpaceAfter" in flags else "\n" if "EndOfLine" in flags else " ")


def _built(rows: Rows, runs: list[tuple[int, int, str]], number: str) -> Document:
    tokens, at = [], 0
    for word, gap in zip(rows.words, rows.gaps, strict=True):
        tokens.append((at, at + len(word)))
        at += len(word) + len(gap)
    pieces = [word + gap for word, gap in zip(rows.words, rows.gaps, strict=True)]
    text = "".join(pieces)[: tokens[-1][1]]
    spans = [
        Span(tokens[first][0], tokens[last - 1][1], label, None, _link(rows.links[first:last]))
        for first, last, label in runs
    ]
    return Document(id=rows.name or number, text=text, spans=spans, tokens=tokens, meta={**rows.meta})


def _link(links: list[str]) -> dict[str, Attr] | None:
    """Return the most frequent link of a span's tokens as an attribute; None if there is none."""
    found = Counter(link for link in links if link not in (NONE, "", "O"))
    return {"kbid": found.most_common(1)[0][0]} if found else None
