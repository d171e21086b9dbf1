"""Invented mentions: predictions that are nowhere in the text, so that they have no offsets.

In a corpus, such a prediction is a span with the attribute `invented`, whose value is what the system returned; its
offsets mean nothing. For the measures, it stands in a place of its own after the text, as if the text went on with the
mention there, unlabelled by gold. So it is a wrong prediction in every measure, with its own characters and tokens, and
never merges with another span.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from spanscore.corpus.corpus import INVENTED, MAX_OFFSET, Tokens
from spanscore.corpus.strings import Strings

if TYPE_CHECKING:
    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Bools, Longs

ATTRIBUTE = INVENTED
_BETWEEN = "\nᛮ\n"
"""A word of no language between two mentions: it is neither whitespace, nor punctuation, nor a skip word."""
_TOKEN = re.compile(r"\w+|[^\w\s]")


def is_invented(pred: Corpus) -> Bools:
    """Return which predictions are nowhere in the text."""
    column = pred.attrs.get(ATTRIBUTE)
    if column is None:
        return np.zeros(len(pred.doc), np.bool_)
    said = np.array([*(value is not None and value is not False for value in column.values), False], np.bool_)
    return said[column.codes]


def set_apart(gold: Corpus, pred: Corpus) -> tuple[Corpus, Corpus, Longs | None]:
    """Give invented mentions places after the text; return both sides, and where each document's own text ends.

    The two corpora must have the same documents. Without an invented mention, nothing changes, and there are no ends.

    >>> from spanscore.corpus import Corpus
    >>> gold = Corpus.from_documents([{"id": "d", "text": "Ann left.", "spans": []}])
    >>> made = {"start": 9, "end": 9, "label": "PERSON", "attrs": {"invented": "Bob"}}
    >>> gold, pred, _ = set_apart(gold, Corpus.from_documents([{"id": "d", "spans": [made]}]))
    >>> gold.text[0][pred.start[0] : pred.end[0]]
    'Bob'
    """
    rows = np.flatnonzero(is_invented(pred))
    if not len(rows):
        return gold, pred, None
    mentions = pred.attrs[ATTRIBUTE].tolist()
    added = _Additions(gold, pred)
    start, end = pred.start.copy(), pred.end.copy()
    listed = [(int(pred.doc[row]), str(mentions[row]), pred.labels[pred.label[row]], row) for row in rows.tolist()]
    for doc, mention, _, row in sorted(listed):
        start[row], end[row] = added.append(doc, mention)
    return added.to(gold), added.to(pred.with_columns(start=start, end=end)), added.ends


class _Additions:
    """What is added to the texts of some documents."""

    def __init__(self, gold: Corpus, pred: Corpus) -> None:
        self.ends = np.full(len(gold), MAX_OFFSET)
        self._sides = gold, pred
        self._text: dict[int, str] = {}

    def append(self, doc: int, mention: str) -> tuple[int, int]:
        """Add a mention to a document, and return its place."""
        if doc not in self._text:
            self.ends[doc] = _length(doc, *self._sides)
            self._text[doc] = ""
        start = int(self.ends[doc]) + len(self._text[doc]) + len(_BETWEEN)
        shown = mention.strip() or _BETWEEN.strip()
        self._text[doc] += f"{_BETWEEN}{shown}"
        return start, start + len(shown)

    def to(self, side: Corpus) -> Corpus:
        """Return a side with longer texts, and with more tokens where it has any."""
        text = side.text
        if text is not None:
            longer = text.tolist()
            for doc, more in self._text.items():
                if (own := longer[doc]) is not None:
                    longer[doc] = own + more
            text = Strings.of(longer)
        changed = side.with_columns(text=text, tokens=self._tokens(side))
        changed.__dict__.pop("text_length", None)
        return changed

    def _tokens(self, side: Corpus) -> Tokens | None:
        tokens = side.tokens
        if tokens is None:
            return None
        having = set(tokens.doc.tolist())
        more = [
            (doc, int(self.ends[doc]) + token.start(), int(self.ends[doc]) + token.end())
            for doc, text in self._text.items()
            if doc in having
            for token in _TOKEN.finditer(text)
        ]
        added = np.array(more, np.int32).reshape(-1, 3).T
        doc, start, end = (
            np.concatenate([mine, new]) for mine, new in zip((tokens.doc, tokens.start, tokens.end), added, strict=True)
        )
        order = np.lexsort((start, doc))
        return Tokens(doc[order], start[order], end[order])


def _length(doc: int, *sides: Corpus) -> int:
    """Return the length of a text, or where the last span or token ends if there is no text."""
    for side in sides:
        if side.text_length is not None and side.text_length[doc] >= 0:
            return int(side.text_length[doc])
    ends = [side.end[side.bounds[doc] : side.bounds[doc + 1]].max(initial=0) for side in sides]
    ends += [side.tokens.end[side.tokens.doc == doc].max(initial=0) for side in sides if side.tokens is not None]
    return int(max(ends))
