"""Edits of labelled text: replace ranges of a document's text, and keep every offset exact."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

import regex
from msgspec.structs import replace

from spanscore.align.ignored_spans import REGIONS, parse_regions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from spanscore.corpus.records import Document, Span

_WORD = regex.compile(r"\S+")


class Edit(NamedTuple):
    """Replace the characters from `start` up to but not including `end` by `text`; at least one is replaced."""

    start: int
    end: int
    text: str

    def cut_by(self, places: Iterable[int]) -> bool:
        """Return whether a place lies strictly inside the range that is replaced."""
        return any(self.start < place < self.end for place in places)


class Moved:
    """Where offsets are after edits, which are sorted and do not overlap.

    An offset strictly inside an edit keeps its distance from the edit's start; that is exact only if the edit does not
    change the length.

    >>> moved = Moved([Edit(2, 3, "SS"), Edit(5, 7, "")])
    >>> [moved(offset) for offset in (0, 2, 3, 5, 7, 9)]
    [0, 2, 4, 6, 6, 8]
    """

    def __init__(self, edits: Sequence[Edit]) -> None:
        self._ends = [edit.end for edit in edits]
        growth = (len(edit.text) - (edit.end - edit.start) for edit in edits)
        self._shift = [0, *accumulate(growth)]

    def __call__(self, offset: int) -> int:
        """Return the new offset."""
        return offset + self._shift[bisect_right(self._ends, offset)]


def edited_text(text: str, edits: Sequence[Edit]) -> str:
    """Return the text after the edits.

    >>> edited_text("Straße 7", [Edit(4, 5, "ss"), Edit(6, 7, "  ")])
    'Strasse  7'
    """
    parts, done = [], 0
    for edit in edits:
        parts += [text[done : edit.start], edit.text]
        done = edit.end
    return "".join([*parts, text[done:]])


def span_cuts(document: Document) -> frozenset[int]:
    """Return all offsets at which a span or a scored region of a document begins or ends."""
    regions = (document.meta or {}).get(REGIONS)
    found = {offset for span in document.spans for offset in (span.start, span.end)}
    return frozenset(found.union(*_regions(regions)))


def all_cuts(document: Document) -> frozenset[int]:
    """Return all offsets at which a span, a scored region or a token of a document begins or ends."""
    return span_cuts(document).union(*(document.tokens or ()))


def edited(document: Document, edits: Sequence[Edit]) -> Document:
    """Return a document after edits, with its spans, tokens and scored regions where they are now.

    An edit that changes the length must not have the border of a span or region strictly inside. Tokens inside such
    an edit are replaced by the words of its text.

    >>> from spanscore.corpus.records import Document, Span
    >>> document = Document(id=1, text="Ann ate.", spans=[Span(0, 3, "PERSON"), Span(4, 7, "VERB")])
    >>> after = edited(document, [Edit(0, 3, "Olivia")])
    >>> after.text, [(span.start, span.end) for span in after.spans]
    ('Olivia ate.', [(0, 6), (7, 10)])
    """
    assert document.text is not None
    assert all(a.end <= b.start for a, b in pairwise(edits))
    assert all(edit.start < edit.end for edit in edits)
    moved = Moved(edits)
    text = edited_text(document.text, edits)
    meta = document.meta
    if meta and REGIONS in meta:
        pairs = ((moved(low), moved(high)) for low, high in _regions(meta[REGIONS]))
        meta = {**meta, REGIONS: ",".join(f"{low}-{high}" for low, high in pairs)}
    return replace(
        document,
        text=text,
        spans=[_edited_span(span, document.text, text, moved) for span in document.spans],
        tokens=None if document.tokens is None else _edited_tokens(document.tokens, edits, moved),
        meta=meta,
    )


def _edited_span(span: Span, before: str, after: str, moved: Moved) -> Span:
    """Return a span where it is now; an attribute that repeats its text follows."""
    start, end = moved(span.start), moved(span.end)
    attrs = span.attrs
    if attrs and attrs.get("text") == before[span.start : span.end]:
        attrs = {**attrs, "text": after[start:end]}
    return replace(span, start=start, end=end, attrs=attrs)


def _edited_tokens(tokens: list[tuple[int, int]], edits: Sequence[Edit], moved: Moved) -> list[tuple[int, int]]:
    """Return the tokens where they are now; those that an edit of another length cuts become the words of its text."""
    borders = {offset for token in tokens for offset in token}
    cutting = [edit for edit in edits if len(edit.text) != edit.end - edit.start and edit.cut_by(borders)]
    found = []
    for start, end in tokens:
        for edit in cutting:
            start = edit.end if edit.start <= start < edit.end else start
            end = edit.start if edit.start < end <= edit.end else end
        if start < end:
            found.append((moved(start), moved(end)))
    for edit in cutting:
        first = moved(edit.start)
        found += [(first + word.start(), first + word.end()) for word in _WORD.finditer(edit.text)]
    return sorted(found)


def _regions(value: object) -> list[tuple[int, int]]:
    if value is None:
        return []
    return [(low, high) for low, high in value] if isinstance(value, list) else parse_regions(str(value))
