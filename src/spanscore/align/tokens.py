"""Tokens of a pairing: their positions, which of them are skip words, and spans as token ranges."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from spanscore.align.tokenizers import tokenizer_with_blanks
from spanscore.corpus import Tokens
from spanscore.corpus.columns import Bools, Ints, Longs, ranges, unclaimed
from spanscore.errors import InputError, printable

if TYPE_CHECKING:
    from spanscore.align.pairing import Pairing
    from spanscore.align.skipwords import SkipWords
    from spanscore.corpus import Corpus


@dataclass(frozen=True, eq=False)
class TokenTable:
    """Tokens of all documents, and which of them count (skip words do not).

    Global coordinates place the documents one after the other, `stride` apart.
    """

    tokens: Tokens
    counts: Bools
    stride: int
    documents: int

    @cached_property
    def start(self) -> Longs:
        """Start of each token in global coordinates."""
        return self.tokens.doc.astype(np.int64) * self.stride + self.tokens.start

    @cached_property
    def end(self) -> Longs:
        """End of each token in global coordinates."""
        return self.tokens.doc.astype(np.int64) * self.stride + self.tokens.end

    @cached_property
    def before(self) -> Longs:
        """Number of counting tokens before each token, plus their total."""
        return np.concatenate([[0], np.cumsum(self.counts)])

    def line(self, doc: Ints, offset: Ints | Longs) -> Longs:
        """Convert offsets in documents to global coordinates."""
        return doc.astype(np.int64) * self.stride + offset

    @classmethod
    def of(cls, tokens: Tokens, pairing: Pairing, counts: Bools | None = None) -> TokenTable:
        """Return a table of these tokens; by default, all of them count."""
        sides = (tokens.end, pairing.gold.end, pairing.pred.end)
        stride = 1 + max(int(side.max(initial=0)) for side in sides)
        return cls(tokens, np.ones(len(tokens.doc), np.bool_) if counts is None else counts, stride, len(pairing))

    @cached_property
    def has_tokens(self) -> Bools:
        """Whether each document has tokens."""
        return np.bincount(self.tokens.doc, minlength=self.documents) > 0

    def touched(self, start: Longs, end: Longs) -> tuple[Longs, Longs]:
        """Return the first token, and the one past the last, that share a character with each range (global)."""
        first = np.searchsorted(self.end, start, "right")
        return first, np.maximum(first, np.searchsorted(self.start, end, "left"))

    def touched_and_cut(self, start: Longs, end: Longs) -> tuple[Longs, Longs, Bools]:
        """Return the same as `touched`, and whether the first or last token lies partly outside the range."""
        first, last = self.touched(start, end)
        if not len(self.start):
            return first, last, np.zeros(len(first), np.bool_)
        outside = (self.start[np.minimum(first, len(self.start) - 1)] < start) | (self.end[last - 1] > end)
        return first, last, (first < last) & outside


def every_token(pairing: Pairing, named: str) -> TokenTable:
    """Return the tokens of a pairing, made by the tokenizer `named`, with those that are whitespace.

    `input` takes each document's tokens from the gold data, else from the system's data, else splits it into words.
    """
    return TokenTable.of(_tokens(pairing, named), pairing)


def token_table(pairing: Pairing, skip: SkipWords, named: str = "input") -> TokenTable:
    """Return the tokens of a pairing as `every_token` does, but without whitespace, and mark skip words."""
    tokens = _tokens(pairing, named)
    if named.startswith("spacy:") or (named == "input" and (pairing.gold.tokens or pairing.pred.tokens)):
        tokens = _without_blanks(tokens, pairing)
    counts = None
    if skip:
        texts = pairing.text
        known: dict[str, bool] = {}
        flags = []
        for doc, start, end in zip(tokens.doc.tolist(), tokens.start.tolist(), tokens.end.tolist(), strict=True):
            text = texts[doc]
            word = "" if text is None else text[start:end]
            if word not in known:
                known[word] = word != "" and word in skip
            flags.append(not known[word])
        counts = np.array(flags, np.bool_)
    return TokenTable.of(tokens, pairing, counts)


def _without_blanks(tokens: Tokens, pairing: Pairing) -> Tokens:
    blank = pairing.letters.blank(tokens.doc, tokens.start, tokens.end)
    if not blank.any():
        return tokens
    return Tokens(tokens.doc[~blank], tokens.start[~blank], tokens.end[~blank])


def _tokens(pairing: Pairing, named: str) -> Tokens:
    pieces, done = _given(pairing) if named == "input" else ([], np.zeros(len(pairing), np.bool_))
    spans = np.diff(pairing.gold.bounds) + np.diff(pairing.pred.bounds)
    wanted = ~done & (spans > 0)
    if not pairing.letters.complete:
        _refuse_without_text(pairing, wanted, named)
    if not wanted.any():
        pass
    elif named in ("input", "words", "whitespace"):
        doc, start, end = (column.astype(np.int32) for column in pairing.letters.tokens(words=named != "whitespace"))
        kept = slice(None) if wanted.all() else np.flatnonzero(wanted[doc])
        pieces.append((doc[kept], start[kept], end[kept]))
    else:
        tokenize = tokenizer_with_blanks(named)
        texts = [(doc, pairing.text[doc] or "") for doc in np.flatnonzero(wanted).tolist()]
        found = [(doc, start, end) for doc, text in texts for start, end in tokenize(text)]
        pieces.append(tuple(np.array(found, np.int32).reshape(-1, 3).T))
    return _in_order(pieces)


def given_tokens(pairing: Pairing) -> Tokens:
    """Return the tokens that come with the data: those of the gold data, else those of the system, by document."""
    return _in_order(_given(pairing)[0])


def _given(pairing: Pairing) -> tuple[list[tuple[Ints, ...]], Bools]:
    """Return the tokens that come with each side, and which documents have some."""
    pieces: list[tuple[Ints, ...]] = []
    done = np.zeros(len(pairing), np.bool_)
    for tokens in (side.tokens for side in (pairing.gold, pairing.pred) if side.tokens is not None):
        having = np.bincount(tokens.doc, minlength=len(pairing)) > 0
        rows = (having & ~done)[tokens.doc]
        pieces.append((tokens.doc[rows], tokens.start[rows], tokens.end[rows]))
        done |= having
    return pieces, done


def _in_order(pieces: list[tuple[Ints, ...]]) -> Tokens:
    columns = [np.concatenate(column) for column in zip(*pieces, strict=True)] or [np.zeros(0, np.int32)] * 3
    if len(pieces) < 2:
        return Tokens(*columns)
    order = np.argsort(columns[0], kind="stable")
    return Tokens(*(column[order] for column in columns))


def _refuse_without_text(pairing: Pairing, wanted: Bools, named: str) -> None:
    for doc in np.flatnonzero(wanted).tolist():
        if pairing.text[doc] is None:
            name = printable(pairing.gold.ids[doc])
            what = f'the document "{name}" has neither text nor tokens, which this measure needs'
            if named != "input":
                what = f'the document "{name}" has no text, which the tokenizer {named} needs'
            raise InputError(f'{what}; add a "text" field to the gold data.')


def token_owners(corpus: Corpus, table: TokenTable) -> Longs:
    """Return for each token the row of the span that covers its start or lies inside it, or -1 if there is none.

    If there are several, it is the first by start, end and label.
    """
    begin, finish = table.line(corpus.doc, corpus.start), table.line(corpus.doc, corpus.end)
    first, last = table.touched(begin, finish)
    solid = begin < finish
    inside = np.append(table.start, 0)[first] < begin  # the span starts inside its first token
    low, counts = unclaimed(first + inside, np.where(solid, np.maximum(last - first - inside, 0), 0))
    none = len(corpus.doc)
    owner = np.full(len(table.start), none)
    owner[ranges(low, counts)] = np.repeat(np.arange(none), counts)
    within = np.flatnonzero(inside & solid & (first < last) & (finish <= np.append(table.end, 0)[first]))
    np.minimum.at(owner, first[within], within)
    return np.where(owner < none, owner, -1)


def project(corpus: Corpus, table: TokenTable) -> Corpus:
    """Project spans onto tokens: label each token by its owner, and make one span of each run with the same label."""
    return runs(corpus, token_owners(corpus, table), table)[0]


def runs(corpus: Corpus, owner: Longs, table: TokenTable) -> tuple[Corpus, Longs, Longs]:
    """Make one span of each run of tokens whose owners have the same label.

    Return the spans, the first token of each, and the one past its last.
    """
    tokens = table.tokens
    labelled = np.flatnonzero(owner >= 0)
    rows = owner[labelled]
    label, doc = corpus.label[rows], tokens.doc[labelled]
    new = np.ones(len(labelled), np.bool_)
    new[1:] = (label[1:] != label[:-1]) | (doc[1:] != doc[:-1]) | (labelled[1:] != labelled[:-1] + 1)
    begin = np.flatnonzero(new)
    first, last = labelled[begin], labelled[np.concatenate([begin[1:], [len(labelled)]])[: len(begin)] - 1]
    spans = corpus.with_spans(
        rows[begin],
        start=tokens.start[first],
        end=tokens.end[last],
        score=None if corpus.score is None else _best(corpus.score[rows], begin),
    )
    return spans, first, last + 1


def _best(
    score: np.ndarray[tuple[int], np.dtype[np.float64]], first: Longs
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.fmax.reduceat(score, first) if len(first) else score[:0]


def in_tokens(pairing: Pairing, table: TokenTable) -> Pairing:
    """Return the pairing with token indices as offsets, not counting skip words; the rows stay the same.

    The tokens of a span that consists only of skip words do count, so that a person called "May" is not lost.
    """
    counts = table.counts
    if not counts.all():
        counts = counts.copy()
        for side in (pairing.gold, pairing.pred):
            first, last = table.touched(table.line(side.doc, side.start), table.line(side.doc, side.end))
            hollow = (table.before[last] == table.before[first]) & (first < last)
            marks = np.zeros(len(counts) + 1, np.int64)
            np.add.at(marks, first[hollow], 1)
            np.add.at(marks, last[hollow], -1)
            counts |= np.cumsum(marks)[:-1] > 0
    before = np.concatenate([[0], np.cumsum(counts)])
    base = before[np.searchsorted(table.tokens.doc, np.arange(len(pairing)))]

    def positions(side: Corpus) -> Corpus:
        first, last = table.touched(table.line(side.doc, side.start), table.line(side.doc, side.end))
        start = before[first] - base[side.doc]
        end = before[last] - base[side.doc]
        return replace(side, start=start.astype(np.int32), end=end.astype(np.int32), text=None, tokens=None)

    return pairing.map_sides(positions)
