"""The ids that went by, by which a document that comes again is found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spanscore.columns import Strings
from spanscore.records import refuse_repeated_ids

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
        self._new: list[tuple[Strings[str], str]] = []
        self._size = 0

    def add(self, corpus: Corpus, name: str) -> None:
        """Remember these ids, none of which should have been there before."""
        self._new.append((corpus.ids.packed, corpus.source or name))
        corpus.ids.packed.__dict__["marks"] = corpus.ids.marks
        self._size += len(corpus)
        if self._size > max(len(self._known), LEAST):
            self.settle()

    def settle(self) -> None:
        """Refuse an id that was added twice."""
        marks = np.sort(np.concatenate([self._known, *(ids.marks for ids, _ in self._new)]))
        again = marks[1:][marks[1:] == marks[:-1]]
        seen = self._known
        for ids, where in self._new if len(again) else ():
            _refuse(ids, seen, where)
            refuse_repeated_ids(ids, where)
            seen = np.sort(np.concatenate([seen, ids.marks]))
        self._known, self._new, self._size = marks, [], 0

    def refuse(self, corpus: Corpus, name: str) -> None:
        """Refuse an id that was there before."""
        self.settle()
        _refuse(corpus.ids, self._known, corpus.source or name)


LEAST = 1 << 16
"""Fewer ids are not worth looking through."""


def _refuse(ids: Strings[str], known: Words, where: str) -> None:
    """Refuse an id whose mark is among these, which are sorted."""
    if not len(known):
        return
    place = np.minimum(np.searchsorted(known, ids.marks), len(known) - 1)
    again = np.flatnonzero(known[place] == ids.marks)
    if len(again):
        twice = ids[int(again[0])]
        refuse_repeated_ids(Strings.of([twice, twice]), where)
