"""Spans as presidio-evaluator 0.3.2 makes them of tagged tokens."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from spanscore.align import Pairing
from spanscore.align.presidio_tags import tag_owners
from spanscore.align.tokens import TokenTable, every_token, runs
from spanscore.align.vocabulary import vocabulary
from spanscore.overlap import Overlaps, overlaps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spanscore.align.characters import Letters
    from spanscore.align.skipwords import SkipWords
    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Bools, Ints, Longs


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
        """The spans, as long as they are in lower case: İ becomes two characters, and the tool counts both."""
        doc, offset = self.spans.letters.find("İ")
        if not len(doc):
            return self.spans
        place = self.table.line(doc.astype(np.int32), offset)
        at, after = self.table.touched(place, place + 1)
        more = np.bincount(at[at < after], minlength=len(self.table.counts))
        token = np.flatnonzero((more > 0) & self.table.counts)
        end_in_lower_case = self.table.tokens.end[token] + more[token]

        def lengthened(side: Corpus) -> Corpus:
            pieces = self.gold if side is self.spans.gold else self.pred
            piece = np.searchsorted(pieces.first, token, "right") - 1
            inside = (piece >= 0) & (token < np.append(pieces.last, 0)[piece])
            end = side.end.copy()
            np.maximum.at(end, pieces.span[piece[inside]], end_in_lower_case[inside])
            return replace(side, end=end)

        return self.spans.map_sides(lengthened)

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
        measured = Pairing(sides[0], sides[1], by_document=self.spans.by_document, identity=None)
        measured.__dict__["overlaps"] = self._together(overlaps(*counted))
        return measured

    def _together(self, both: Overlaps) -> Overlaps:
        """Add up the overlaps of pieces by the spans that they are merged into."""
        key = self.gold.span[both.gold] * np.int64(len(self.spans.pred.doc) + 1) + self.pred.span[both.pred]
        _, first, number = np.unique(key, return_index=True, return_inverse=True)
        shared = np.bincount(number, both.shared).astype(np.int64)
        return Overlaps(self.gold.span[both.gold[first]], self.pred.span[both.pred[first]], shared)


@dataclass(frozen=True, eq=False)
class Tagged:
    """Tokens, the span that tags each of them on each side, and the skip words among them."""

    tokens: TokenTable
    gold: Longs
    pred: Longs
    letters: Letters
    skip: SkipWords

    @cached_property
    def table(self) -> TokenTable:
        """The tokens with those marked that count; skip words are looked for among those that have a tag."""
        if not self.skip:
            return self.tokens
        counts = np.ones(len(self.gold), np.bool_)
        token = np.flatnonzero((self.gold >= 0) | (self.pred >= 0))
        counts[token] = ~vocabulary(self.skip.words).has(self.letters, *self._places(token))
        return replace(self.tokens, counts=counts)

    @cached_property
    def counting(self) -> Longs:
        """The tokens that count."""
        return np.flatnonzero(self.table.counts)

    @cached_property
    def _known(self) -> NDArray[np.int8]:
        """Whether each token is ignored between spans: 1 if it is, -1 if not, 0 if nobody has asked yet."""
        return np.zeros(len(self.gold), np.int8)

    def ignored(self, token: Longs) -> Bools:
        """Return whether each of these tokens, without the whitespace at its edges, is a skip word."""
        new = token[self._known[token] == 0]
        if len(new):
            doc, start, end = self._places(new)
            found = vocabulary(self.skip.words).has(self.letters, doc, *self.letters.stripped(doc, start, end))
            self._known[new] = np.where(found, 1, -1)
        return self._known[token] > 0

    def nothing_between(self, token: Longs, stop: Longs) -> Bools:
        """Return whether there are only skip words from one token up to another one; most gaps fail at the first."""
        nothing: Bools = token == stop
        token = token.copy()
        gaps = np.flatnonzero(~nothing) if self.skip else np.zeros(0, np.int64)
        while len(gaps):
            gaps = gaps[self.ignored(token[gaps])]
            token[gaps] += 1
            done = token[gaps] == stop[gaps]
            nothing[gaps[done]] = True
            gaps = gaps[~done]
        return nothing

    def _places(self, token: Longs) -> tuple[Ints, Ints, Ints]:
        tokens = self.tokens.tokens
        return tokens.doc[token], tokens.start[token], tokens.end[token]


def presidio_spans(pairing: Pairing, skip: SkipWords, named: str, *, typed: bool) -> PresidioSpans:
    """Return the spans of a pairing as the tool sees them, with every label renamed to PII unless `typed`."""
    return pairing.once(_spans, skip, named, typed)


def _spans(pairing: Pairing, skip: SkipWords, named: str, typed: bool) -> PresidioSpans:
    tagged = tagged_tokens(pairing, skip, named)
    gold, pred = (
        _pieces(side if typed else with_one_label(side), owners, tagged)
        for side, owners in ((pairing.gold, tagged.gold), (pairing.pred, tagged.pred))
    )
    spans = Pairing(_merged(gold), _merged(pred), by_document=pairing.by_document, identity=None)
    spans.__dict__["letters"] = pairing.letters
    return PresidioSpans(spans, gold, pred, tagged.table)


def with_one_label(side: Corpus) -> Corpus:
    """Rename every label; unlike `spans.one_label`, this keeps all rows, which are the owners of tokens."""
    return side.with_columns(label=np.zeros(len(side.doc), np.int32), labels=("PII",))


def tagged_tokens(pairing: Pairing, skip: SkipWords, named: str) -> Tagged:
    """Return the tokens of a pairing, with the spans that tag them."""
    return pairing.once(_tagged, skip, named)


def _tagged(pairing: Pairing, skip: SkipWords, named: str) -> Tagged:
    return Tagged(pairing.once(every_token, named), *pairing.once(_owners, named), pairing.letters, skip)


def _owners(pairing: Pairing, named: str) -> tuple[Longs, Longs]:
    table, own = pairing.once(every_token, named), named == "input"
    return tag_owners(pairing.gold, table, own_tokens=own), tag_owners(pairing.pred, table, own_tokens=own)


def _pieces(side: Corpus, owners: Longs, tagged: Tagged) -> Pieces:
    table = tagged.table
    spans, first, last = runs(side, owners, table)
    if len(tagged.counting) < len(table.counts):
        low, high = table.before[first], table.before[last]
        solid = np.flatnonzero(low < high)
        first, last = first[solid], last[solid]
        start = table.tokens.start[tagged.counting[low[solid]]]
        end = table.tokens.end[tagged.counting[high[solid] - 1]]
        spans = spans.with_spans(solid, start=start, end=end)
    joins = (spans.doc[1:] == spans.doc[:-1]) & (spans.label[1:] == spans.label[:-1])
    gaps = np.flatnonzero(joins)
    joins[gaps] = tagged.nothing_between(last[gaps], first[gaps + 1])
    return Pieces(spans, first, last, np.cumsum(np.concatenate([[0], ~joins])[: len(first)]))


def _merged(pieces: Pieces) -> Corpus:
    """Merge the pieces of each span."""
    spans = pieces.corpus
    if not len(pieces.span) or pieces.span[-1] == len(pieces.span) - 1:
        return spans
    first = np.flatnonzero(np.concatenate([[True], pieces.span[1:] != pieces.span[:-1]]))
    last = np.append(first[1:], len(pieces.span)) - 1
    score = None if spans.score is None else np.fmax.reduceat(spans.score, first)
    return spans.with_spans(first, end=spans.end[last], score=score)
