"""Overlapping spans of one side settled: the better of two that share a character stays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from spanscore.errors import UsageError
from spanscore.overlap import overlaps

if TYPE_CHECKING:
    from spanscore.corpus import Corpus

Resolve = Literal["none", "score", "longest"]
CHOICES = ("none", "score", "longest")


def resolved(corpus: Corpus, how: Resolve) -> tuple[Corpus, int]:
    """The corpus, its spans in order, without those that overlap a better one, and how many these were.

    The best span stays, and what overlaps it goes; then the best of the rest, and so on. `score`: the higher score is
    better (none is worst), then the longer span; `longest`: the longer span, then the higher score; then by label, then
    by start.

    >>> from spanscore.corpus import Corpus
    >>> corpus = Corpus.from_arrays(["d"], [0, 0], [0, 4], [9, 9], ["EMAIL", "URL"], score=[0.5, 0.9])
    >>> resolved(corpus, "score")[0].labels, resolved(corpus, "score")[0].label.tolist()
    (('EMAIL', 'URL'), [1])
    """
    if how not in CHOICES:
        raise UsageError(f"resolve is one of {', '.join(CHOICES)}.")
    if how == "none" or not len(corpus.doc):
        return corpus, 0
    found = overlaps(corpus, corpus)
    apart = found.gold != found.pred
    a, b = found.gold[apart], found.pred[apart]
    if not len(a):
        return corpus, 0
    length = corpus.start.astype(np.int64) - corpus.end
    score = np.zeros(len(length)) if corpus.score is None else np.where(np.isnan(corpus.score), np.inf, -corpus.score)
    first, second = (score, length) if how == "score" else (length, score)
    rank = np.empty(len(length), np.int64)
    rank[np.lexsort((corpus.start, corpus.label, second, first))] = np.arange(len(length))
    kept = np.ones(len(length), np.bool_)
    while len(a):
        beaten = np.zeros(len(length), np.bool_)
        beaten[a[rank[a] > rank[b]]] = True
        kept[b[~beaten[a]]] = False
        unsettled = beaten[a] & beaten[b] & kept[a] & kept[b]
        a, b = a[unsettled], b[unsettled]
    return corpus.with_spans(np.flatnonzero(kept)), int(np.count_nonzero(~kept))
