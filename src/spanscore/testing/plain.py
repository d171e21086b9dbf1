"""What the plain scorer sees: spans as tuples, mentions with their attributes, a document's text and tokens."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spanscore.records import Document

Span = tuple[int, int, str]
Token = tuple[int, int]
Counts = dict[str, int]


class Side(set[Span]):
    """The spans of one side of a document, duplicates counted once; and its mentions, those that differ in attributes
    alone told apart.
    """

    def __init__(self, document: Document | None) -> None:
        spans = document.spans if document else []
        super().__init__((span.start, span.end, span.label) for span in spans)
        name = str(document.id) if document else ""
        self.mentions = sorted({Mention(name, span) for span in spans}, key=Mention.order)
        self.best: dict[Span, Mention] = {}
        for mention in sorted(self.mentions, key=lambda one: (-_score(spans, one), one.order()), reverse=True):
            self.best[mention.span] = mention


class Mention:
    """A span with its attributes."""

    def __init__(self, document: str, span: Any) -> None:
        self.document = document
        self.span: Span = (span.start, span.end, span.label)
        self.attrs: dict[str, Any] = dict(span.attrs or {})

    def order(self) -> tuple[Any, ...]:
        """What mentions are sorted and told apart by."""
        known = sorted({"kbid", "locationType", "dateFormat", *self.attrs})
        return (*self.span, *((name in self.attrs, repr(self.attrs.get(name))) for name in known))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mention) and self.order() == other.order() and self.document == other.document

    def __hash__(self) -> int:
        return hash(self.order())

    def field(self, name: str) -> Any:
        """A field of a key."""
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
        """What must be the same."""
        return tuple(self.field(name) for name in fields)


def _score(spans: list[Any], mention: Mention) -> float:
    """The best score of the spans that are this mention; none is worst."""
    same = [span for span in spans if Mention(mention.document, span) == mention]
    return max(float("-inf") if span.score is None else span.score for span in same)


class Text:
    """A document's text and tokens, from whichever side has them."""

    def __init__(self, gold: Document, pred: Document | None) -> None:
        sides = [side for side in (gold, pred) if side is not None]
        self.text = next((side.text for side in sides if side.text is not None), None)
        self.given = next((side.tokens for side in sides if side.tokens), None)

    @property
    def tokens(self) -> list[Token]:
        """The tokens that are given, or words and single other characters."""
        if self.given is not None:
            return self.given
        return [match.span() for match in re.finditer(r"\w+|[^\w\s]", self.text or "")]


def share(a: Span, b: Span) -> float:
    """The share of the first span's characters that the second has too."""
    return (min(a[1], b[1]) - max(a[0], b[0])) / (a[1] - a[0]) if a[1] > a[0] else 1.0


def overlap(a: tuple[int, int], b: tuple[int, int]) -> bool:
    """Whether two stretches share a character; an empty one only with an empty one in the same place."""
    if a[0] == a[1] or b[0] == b[1]:
        return a == b
    return max(a[0], b[0]) < min(a[1], b[1])
