"""Detect duplicate document ids across chunks without keeping the ids in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spanscore.corpus.records import refuse_repeated_ids, repeated_id
from spanscore.corpus.strings import Strings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spanscore.corpus.columns import Words
    from spanscore.corpus.corpus import Corpus


def once(corpora: Iterable[Corpus]) -> Iterator[Corpus]:
    """Yield the same corpora; raise if an id occurs twice, at the latest after the last corpus."""
    seen = DuplicateIds()
    for corpus in corpora:
        seen.add(corpus, "")
        yield corpus
    seen.check()


class DuplicateIds:
    """Hashes of the ids seen so far; checks for duplicates only when the number of ids has doubled, to stay cheap."""

    def __init__(self) -> None:
        self._known = np.zeros(0, np.uint64)
        self._new: list[tuple[Words, Strings[str], str]] = []
        self._size = 0

    def add(self, corpus: Corpus, name: str) -> None:
        """Add the ids of a corpus, which must not have been seen before."""
        self._new.append((corpus.ids.marks, corpus.ids.packed, corpus.source or name))
        self._size += len(corpus)
        if self._size > max(len(self._known), LEAST):
            self.check()

    def check(self) -> None:
        """Raise if an id was added twice."""
        known = np.sort(np.concatenate([self._known, *(marks for marks, _, _ in self._new)]))
        if (known[1:] == known[:-1]).any():
            seen = self._known
            for marks, ids, where in self._new:
                refuse_repeated_ids(ids, where)
                _refuse_known(seen, marks, ids, where)
                seen = np.sort(np.concatenate([seen, marks]))
        self._known, self._new, self._size = known, [], 0

    def refuse(self, corpus: Corpus, name: str) -> None:
        """Raise if the corpus has an id that was added before."""
        self.check()
        _refuse_known(self._known, corpus.ids.marks, corpus.ids, corpus.source or name)


LEAST = 1 << 16
"""Minimum number of new ids before a check for duplicates is worthwhile."""


def _refuse_known(known: Words, marks: Words, ids: Strings[str], where: str) -> None:
    """Raise if the hash of an id is in `known`, which is sorted; the earlier ids themselves are not kept."""
    if not len(known):
        return
    again = np.flatnonzero(known[np.minimum(np.searchsorted(known, marks), len(known) - 1)] == marks)
    if len(again):
        raise repeated_id(ids[int(again[0])], where)
