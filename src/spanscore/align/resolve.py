"""Resolve overlaps within one side: of two spans that share a character, keep the better one."""

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
    """Return the corpus without the spans that overlap a better one, and the number of spans dropped.

    This is greedy: keep the best span, drop those that overlap it, continue with the best of the rest. With `score`,
    the span with the higher score is better (no score is worst), then the longer one; with `longest`, the longer span,
    then the one with the higher score. Ties are broken by label, then by start. The spans of the corpus must be sorted.

    >>> from spanscore.corpus import Corpus
    >>> corpus = Corpus.from_arrays(["d"], [0, 0], [0, 4], [9, 9], ["EMAIL", "URL"], score=[0.5, 0.9])
    >>> resolved(corpus, "score")[0].labels, resolved(corpus, "score")[0].label.tolist()
    (('EMAIL', 'URL'), [1])
    """
    if how not in CHOICES:
        raise UsageError(f"resolve must be one of {', '.join(CHOICES)}.")
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
