"""What writers share: an account of what the target cannot hold, spans without overlaps, ids as file names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

import numpy as np

from spanscore.errors import InputError, printable

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Collection, Iterable, Iterator

    from spanscore.corpus import Corpus
    from spanscore.corpus.records import Document, Span
    from spanscore.formats.interface import Format
    from spanscore.formats.offsets import Convention

MAX_NAME = 200
"""Bytes of a file name; file systems allow about 255, and endings are added."""
REPEATED = 1 << 26
"""Characters of spans in a document that may always be written."""
_SAFE = " !#$&'()+,;=@[]{}~"


class Written(NamedTuple):
    """A document to write: its text, and its spans with offsets as the file will have them."""

    id: str
    text: str
    spans: list[tuple[int, int, Span]]
    document: Document


def to_write(
    chunks: Callable[[], Iterable[Corpus]],
    target: Format,
    losses: Counter[str],
    *,
    convention: Convention,
    holds: Collection[str] = (),
    attributes: Collection[str] = (),
    surfaces: bool = False,
) -> Iterator[Written]:
    """Yield the documents to write, and count what the target cannot hold.

    `holds` names what it can hold of scores, attributes, metadata and tokens; `attributes` the attributes that it can
    hold if it cannot hold all; `surfaces` says that it has the text of each span. A document without text is an error:
    these formats consist of text with marks on it.
    """
    for corpus in chunks():
        for document in corpus.documents():
            if document.text is None:
                where = f'document "{printable(str(document.id))}"'
                raise InputError(f"{target.name} cannot be written without the text of the document.", where)
            if surfaces:
                refuse_repetition(document, target)
            _count(document, losses, holds, attributes)
            start = np.array([span.start for span in document.spans], np.int64)
            end = np.array([span.end for span in document.spans], np.int64)
            low, high = convention.write(document.text, start, end)
            spans = list(zip(low.tolist(), high.tolist(), document.spans, strict=True))
            yield Written(str(document.id), document.text, spans, document)


def refuse_repetition(document: Document, target: Format) -> None:
    """Refuse a document whose nested spans would repeat its text very often."""
    length = len(document.text or "")
    repeated = sum(span.end - span.start for span in document.spans) if length else 0
    if repeated > max(REPEATED, 100 * length):
        what = f"{target.name} has the text of each span: {repeated:,} characters for a text of {length:,}"
        where = f'document "{printable(str(document.id))}"'
        raise InputError(f"{what}; write another format, such as spanscore, spacy or doccano.", where)


def _count(document: Document, losses: Counter[str], holds: Collection[str], attributes: Collection[str]) -> None:
    if "scores" not in holds:
        losses["scores"] += sum(span.score is not None for span in document.spans)
    if "attributes" not in holds:
        losses["attributes"] += sum(key not in attributes for span in document.spans for key in span.attrs or ())
    if "metadata" not in holds:
        losses["metadata fields"] += len(document.meta or ())
    if "tokens" not in holds:
        losses["tokens"] += len(document.tokens or ())


def without_overlaps(spans: list[Span], length: int, losses: Counter[str]) -> list[Span]:
    """Return spans that do not overlap, longer ones first chosen, in order; the others and empty ones are counted."""
    taken = bytearray(length)
    kept = []
    for span in sorted(spans, key=lambda one: (one.start - one.end, one.start)):
        if span.start == span.end or taken[span.start] or taken[span.end - 1]:
            losses["empty spans" if span.start == span.end else "overlapping spans"] += 1
            continue
        taken[span.start : span.end] = b"\1" * (span.end - span.start)
        kept.append(span)
    return sorted(kept, key=lambda one: one.start)


class FileNames:
    """Names of the files in a folder for ids of documents: paths in it, each of them used once."""

    def __init__(self, losses: Counter[str]) -> None:
        self._used: set[str] = set()
        self._losses = losses

    def path(self, folder: Path, name: str) -> Path:
        """Return the path, without an ending, for a document's id; ids that are no path in the folder are changed.

        The reader takes the path as id, so `a/b` stays as it is, while `../b` and `a:b` are percent-encoded.
        """
        parts = [_component(part) for part in name.split("/")]
        path = "/".join(part or "%" for part in parts)
        unique, number = path, 1
        while unique.casefold() in self._used:
            number += 1
            unique = f"{path}~{number}"
        self._used.add(unique.casefold())
        if unique != name:
            self._losses["ids that are no file names (written in another form)"] += 1
        found = folder / unique
        found.parent.mkdir(parents=True, exist_ok=True)
        return found


def _component(part: str) -> str:
    """Return a part of an id as the name of a file or folder."""
    known = all(one.isprintable() and (one.isalnum() or one in "-_." or one in _SAFE or ord(one) > 127) for one in part)
    name = part if known else quote(part, safe=_SAFE, errors="replace")
    if name.startswith("."):
        name = f"%2E{name[1:]}"
    if len(name.encode()) > MAX_NAME:
        from xxhash import xxh3_64_hexdigest

        name = f"{name.encode()[: MAX_NAME - 20].decode(errors='ignore')}-{xxh3_64_hexdigest(part.encode())}"
    return name.rstrip(" ") if name.strip() else ""
