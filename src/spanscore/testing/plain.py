"""Data structures of the reference scorer: spans as tuples, mentions with attributes, text and tokens of a document."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spanscore.corpus.records import Document

Span = tuple[int, int, str]
Token = tuple[int, int]
Counts = dict[str, int]
ATTRIBUTES = ("annotator", "category", "dateFormat", "entity", "identifier", "kbid", "locationType", "text")
"""Attributes that spans may have in the tests, in the order in which they are compared."""


class Side(set[Span]):
    """The distinct spans of one side of a document, and its mentions, which may differ only in their attributes."""

    def __init__(self, document: Document | None) -> None:
        spans = document.spans if document else []
        super().__init__((span.start, span.end, span.label) for span in spans)
        self.tokens = document.tokens if document else None
        self.meta = (document.meta if document else None) or {}
        self.score: dict[Span, float] = {}
        for span in spans:
            if span.score is not None:
                place = (span.start, span.end, span.label)
                self.score[place] = max(span.score, self.score.get(place, span.score))
        name = str(document.id) if document else ""
        self.mentions = sorted({Mention(name, span) for span in spans}, key=Mention.order)


class Mention:
    """A span with its attributes."""

    def __init__(self, document: str, span: Any) -> None:
        self.document = document
        self.span: Span = (span.start, span.end, span.label)
        self.attrs: dict[str, Any] = dict(span.attrs or {})

    def order(self) -> tuple[Any, ...]:
        """Return the key by which mentions are sorted and compared."""
        known = sorted({*ATTRIBUTES, *self.attrs})
        return (*self.span, *((name in self.attrs, repr(self.attrs.get(name))) for name in known))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mention) and self.order() == other.order() and self.document == other.document

    def __hash__(self) -> int:
        return hash(self.order())

    def field(self, name: str) -> Any:
        """Return the value of one field of a key."""
        start, end, label = self.span
        eid = self.attrs.get("kbid")
        return {
            "docid": self.document,
            "start": start,
            "end": end,
            "span": (self.document, start, end),
            "type": label,
            "eid": eid,
            "kbid": None if eid is None or eid.startswith("NIL") else eid,
        }.get(name, self.attrs.get(name))

    def key(self, fields: Any) -> tuple[Any, ...]:
        """Return the values that two matching mentions must share."""
        return tuple(self.field(name) for name in fields)


class Text:
    """The text and tokens of a document, from whichever side has them."""

    def __init__(self, gold: Document, pred: Document | None) -> None:
        sides = [side for side in (gold, pred) if side is not None]
        self.text = next((side.text for side in sides if side.text is not None), None)
        self.given = next((side.tokens for side in sides if side.tokens), None)

    @property
    def tokens(self) -> list[Token]:
        """The tokens of the data except whitespace, or else words and single other characters."""
        return [(a, b) for a, b in self.every_token if self.text is None or not self.text[a:b].isspace()]

    @property
    def every_token(self) -> list[Token]:
        """The tokens of the data, or else words and single other characters."""
        if self.given is not None:
            return self.given
        return [match.span() for match in re.finditer(r"\w+|[^\w\s]", self.text or "")]


def share(a: Span, b: Span) -> float:
    """Return the share of the first span's characters that the second span covers."""
    return (min(a[1], b[1]) - max(a[0], b[0])) / (a[1] - a[0]) if a[1] > a[0] else 1.0


def overlap(a: tuple[int, int], b: tuple[int, int]) -> bool:
    """Return whether two ranges share a character; an empty range overlaps only an identical one."""
    if a[0] == a[1] or b[0] == b[1]:
        return a == b
    return max(a[0], b[0]) < min(a[1], b[1])
