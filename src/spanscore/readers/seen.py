"""The ids that went by, by which a document that comes again is found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spanscore.columns import Strings
from spanscore.records import refuse_repeated_ids, repeated_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spanscore.columns import Words
    from spanscore.corpus import Corpus


def once(corpora: Iterable[Corpus]) -> Iterator[Corpus]:
    """The same corpora; an id that comes again is refused, at the latest after the last."""
    seen = Seen()
    for corpus in corpora:
        seen.add(corpus, "")
        yield corpus
    seen.settle()


class Seen:
    """The ids that were there before, by their marks. They are looked through whenever they have doubled."""

    def __init__(self) -> None:
        self._known = np.zeros(0, np.uint64)
        self._new: list[tuple[Words, Strings[str], str]] = []
        self._size = 0

    def add(self, corpus: Corpus, name: str) -> None:
        """Remember these ids, none of which should have been there before."""
        self._new.append((corpus.ids.marks, corpus.ids.packed, corpus.source or name))
        self._size += len(corpus)
        if self._size > max(len(self._known), LEAST):
            self.settle()

    def settle(self) -> None:
        """Refuse an id that was added twice."""
        known = np.sort(np.concatenate([self._known, *(marks for marks, _, _ in self._new)]))
        if (known[1:] == known[:-1]).any():
            seen = self._known
            for marks, ids, where in self._new:
                refuse_repeated_ids(ids, where)
                _refuse_known(seen, marks, ids, where)
                seen = np.sort(np.concatenate([seen, marks]))
        self._known, self._new, self._size = known, [], 0

    def refuse(self, corpus: Corpus, name: str) -> None:
        """Refuse an id that was there before."""
        self.settle()
        _refuse_known(self._known, corpus.ids.marks, corpus.ids, corpus.source or name)


LEAST = 1 << 16
"""Fewer ids are not worth looking through."""


def _refuse_known(known: Words, marks: Words, ids: Strings[str], where: str) -> None:
    """Refuse an id whose mark is among these, which are sorted: the ids themselves were not kept."""
    if not len(known):
        return
    again = np.flatnonzero(known[np.minimum(np.searchsorted(known, marks), len(known) - 1)] == marks)
    if len(again):
        raise repeated_id(ids[int(again[0])], where)
