"""Spans as presidio-evaluator 0.3.2 makes them of tagged tokens."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from spanscore.align import Pairing
from spanscore.align.tags import tag_owners
from spanscore.align.tokens import TokenTable, every_token, runs
from spanscore.align.vocabulary import vocabulary
from spanscore.overlap import Overlaps, overlaps

if TYPE_CHECKING:
    from spanscore.align.characters import Letters
    from spanscore.align.skipwords import SkipWords
    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Bools, Longs


@dataclass(frozen=True, eq=False)
class Pieces:
    """The runs of tokens with one tag that hold more than skip words, trimmed, and the span that each is merged into.

    `first` and `last` are the first token of each run, and the one past its last, before trimming.
    """

    corpus: Corpus
    first: Longs
    last: Longs
    span: Longs


@dataclass(frozen=True, eq=False)
class PresidioSpans:
    """The spans of both sides, and the pieces that they are merged from."""

    spans: Pairing
    gold: Pieces
    pred: Pieces
    table: TokenTable

    @cached_property
    def in_characters(self) -> Pairing:
        """The spans, each as long as its tokens are in lower case: İ becomes two characters, and the tool counts both."""
        doc, offset = self.spans.letters.find("İ")
        if not len(doc):
            return self.spans
        place = self.table.line(doc, offset)
        at, after = self.table.touched(place, place + 1)
        more = np.bincount(at[at < after], minlength=len(self.table.counts))
        token = np.flatnonzero((more > 0) & self.table.counts)
        end_in_lower_case = self.table.tokens.end[token] + more[token]
        sides = []
        for side, pieces in ((self.spans.gold, self.gold), (self.spans.pred, self.pred)):
            piece = np.searchsorted(pieces.first, token, "right") - 1
            inside = (piece >= 0) & (token < np.append(pieces.last, 0)[piece])
            end = side.end.copy()
            np.maximum.at(end, pieces.span[piece[inside]], end_in_lower_case[inside])
            sides.append(replace(side, end=end))
        return Pairing(*sides, by_document=self.spans.by_document)

    @cached_property
    def in_tokens(self) -> Pairing:
        """The spans with token indices as offsets, without skip words and without what was skipped in merging."""
        before, base = self.table.before, np.searchsorted(self.table.tokens.doc, np.arange(len(self.spans)))
        sides, counted = [], []
        for side, pieces in ((self.spans.gold, self.gold), (self.spans.pred, self.pred)):
            at = before[base][pieces.corpus.doc]
            start, end = ((before[token] - at).astype(np.int32) for token in (pieces.first, pieces.last))
            counted.append(replace(pieces.corpus, start=start, end=end))
            size = np.bincount(pieces.span, end - start, minlength=len(side.doc)).astype(np.int32)
            sides.append(replace(side, start=np.zeros_like(size), end=size, text=None, tokens=None))
        measured = Pairing(*sides, by_document=self.spans.by_document)
        measured.__dict__["overlaps"] = self._together(overlaps(*counted))
        return measured

    def _together(self, both: Overlaps) -> Overlaps:
        """Add up the overlaps of pieces by the spans that they are merged into."""
        key = self.gold.span[both.gold] * np.int64(len(self.spans.pred.doc) + 1) + self.pred.span[both.pred]
        _, first, number = np.unique(key, return_index=True, return_inverse=True)
        shared = np.bincount(number, both.shared).astype(np.int64)
        return Overlaps(self.gold.span[both.gold[first]], self.pred.span[both.pred[first]], shared)


def presidio_spans(pairing: Pairing, skip: SkipWords, named: str, *, typed: bool) -> PresidioSpans:
    """Return the spans of a pairing as the tool sees them, with every label renamed to PII unless `typed`."""
    return pairing.once(_spans, skip, named, typed)


def _spans(pairing: Pairing, skip: SkipWords, named: str, typed: bool) -> PresidioSpans:
    table, gold_owners, pred_owners = pairing.once(_tagged, skip, named)
    sides = []
    for side, owners in ((pairing.gold, gold_owners), (pairing.pred, pred_owners)):
        named_side = side if typed else side.with_columns(label=np.zeros(len(side.doc), np.int32), labels=("PII",))
        sides.append(_pieces(named_side, owners, table, pairing.letters, skip))
    spans = Pairing(*(_merged(pieces) for pieces in sides), by_document=pairing.by_document)
    spans.__dict__["letters"] = pairing.letters
    return PresidioSpans(spans, sides[0], sides[1], table)


def _tagged(pairing: Pairing, skip: SkipWords, named: str) -> tuple[TokenTable, Longs, Longs]:
    """Return the tokens, with skip words marked among those that have a tag, and the span that tags each on each side."""
    table = pairing.once(every_token, named)
    gold, pred = pairing.once(_owners, named)
    if skip:
        token = np.flatnonzero((gold >= 0) | (pred >= 0))
        tokens = table.tokens
        counts = np.ones(len(tokens.doc), np.bool_)
        places = tokens.doc[token], tokens.start[token], tokens.end[token]
        counts[token] = ~vocabulary(skip.words).has(pairing.letters, *places)
        table = TokenTable(tokens, counts, table.stride, table.documents)
    return table, gold, pred


def _owners(pairing: Pairing, named: str) -> tuple[Longs, Longs]:
    table, own = pairing.once(every_token, named), named == "input"
    return tag_owners(pairing.gold, table, own_tokens=own), tag_owners(pairing.pred, table, own_tokens=own)


def _pieces(side: Corpus, owners: Longs, table: TokenTable, letters: Letters, skip: SkipWords) -> Pieces:
    spans, first, last = runs(side, owners, table)
    if not table.counts.all():
        counting = np.flatnonzero(table.counts)
        low, high = table.before[first], table.before[last]
        solid = np.flatnonzero(low < high)
        first, last = first[solid], last[solid]
        spans = spans.with_spans(
            solid,
            start=table.tokens.start[counting[low[solid]]],
            end=table.tokens.end[counting[high[solid] - 1]],
        )
    joins = (spans.doc[1:] == spans.doc[:-1]) & (spans.label[1:] == spans.label[:-1])
    gaps = np.flatnonzero(joins)
    joins[gaps] = _nothing_between(last[gaps], first[gaps + 1], table, letters, skip)
    return Pieces(spans, first, last, np.cumsum(np.concatenate([[0], ~joins])[: len(first)]))


def _nothing_between(token: Longs, stop: Longs, table: TokenTable, letters: Letters, skip: SkipWords) -> Bools:
    """Return whether there are only skip words from one token up to another one; most gaps end at the first look."""
    nothing = token == stop
    tokens, words = table.tokens, vocabulary(skip.words)
    open_ = np.flatnonzero(~nothing) if skip else np.zeros(0, np.int64)
    token = token.copy()
    while len(open_):
        now = token[open_]
        doc, start, end = tokens.doc[now], tokens.start[now], tokens.end[now]
        skipped = words.has(letters, doc, *letters.stripped(doc, start, end))
        open_ = open_[skipped]
        token[open_] += 1
        done = token[open_] == stop[open_]
        nothing[open_[done]] = True
        open_ = open_[~done]
    return nothing


def _merged(pieces: Pieces) -> Corpus:
    """Merge the pieces of each span."""
    spans = pieces.corpus
    if not len(pieces.span) or pieces.span[-1] == len(pieces.span) - 1:
        return spans
    first = np.flatnonzero(np.concatenate([[True], pieces.span[1:] != pieces.span[:-1]]))
    last = np.append(first[1:], len(pieces.span)) - 1
    score = None if spans.score is None else np.fmax.reduceat(spans.score, first)
    return spans.with_spans(first, end=spans.end[last], score=score)
