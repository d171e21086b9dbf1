"""The texts of a block of documents as one array of code points, for questions about single characters."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spanscore.corpus import ranges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spanscore.corpus import Bools, Corpus, Ints, Longs

_WHITE = np.array([chr(code).isspace() for code in range(0x3002)])


class Letters:
    """Code points of many texts, laid end to end."""

    def __init__(self, texts: Sequence[str | None], lengths: Longs | None = None) -> None:
        self.texts = texts
        self._lengths = lengths

    def __bool__(self) -> bool:
        """Whether there is any text."""
        return any(text is not None for text in self.texts)

    @classmethod
    def of(cls, gold: Corpus, pred: Corpus) -> Letters:
        """The texts of the same documents in two corpora, from whichever has them."""
        if gold.text is None or pred.text is None or None not in gold.text:
            having = gold if gold.text is not None else pred
            return cls(having.text or (None,) * len(gold), having.text_length)
        return cls([theirs if ours is None else ours for ours, theirs in zip(gold.text, pred.text, strict=True)])

    @cached_property
    def _codes(self) -> NDArray[Any]:
        whole = "".join([text or "" for text in self.texts] if None in self.texts else self.texts)  # type: ignore[arg-type]
        try:
            return np.frombuffer(whole.encode("latin-1"), np.uint8)
        except UnicodeEncodeError:
            return np.frombuffer(whole.encode("utf-32-le", "surrogatepass"), np.uint32)

    @cached_property
    def _base(self) -> Longs:
        lengths = self._lengths
        if lengths is None:
            lengths = np.array([len(text or "") for text in self.texts], np.int64)
        return np.concatenate([[0], np.cumsum(np.maximum(lengths, 0))])

    @cached_property
    def _known(self) -> Bools | None:
        """Which documents have a text; None if all have."""
        return None if None not in self.texts else np.array([text is not None for text in self.texts])

    def white(self, doc: Ints, at: Ints | Longs) -> Bools:
        """Whether the character at each of these offsets, which are inside the text, is white space."""
        if not len(self._codes):
            return np.zeros(len(doc), np.bool_)
        place = self._base[doc] + at
        codes = self._codes[place] if self._known is None else self._codes[np.minimum(place, len(self._codes) - 1)]
        found: Bools = _WHITE[codes] if codes.dtype == np.uint8 else _WHITE[np.minimum(codes, len(_WHITE) - 1)]
        return found if self._known is None else found & self._known[doc]

    def pieces(self, doc: Ints, start: Ints, end: Ints) -> tuple[Longs, Longs, Longs]:
        """What white space separates in each stretch of text: the number of the stretch, and where each piece is.

        >>> zero = np.zeros(1, np.int32)
        >>> [column.tolist() for column in Letters(["Ann \\t Bob"]).pieces(zero, zero + 1, zero + 8)]
        [[0, 0], [1, 6], [3, 8]]
        """
        sizes = end - start
        owner = np.repeat(np.arange(len(doc)), sizes)
        offset = ranges(start, sizes)
        solid = ~self.white(doc[owner], offset)
        edge = np.concatenate([[True], owner[1:] != owner[:-1], [True]]) if len(owner) else np.zeros(1, np.bool_)
        begins = solid & (edge[:-1] | np.concatenate([[True], ~solid[:-1]])[: len(solid)])
        ends = solid & (edge[1:] | np.concatenate([~solid[1:], [True]])[: len(solid)])
        return owner[begins], offset[begins], offset[ends] + 1

    def blank(self, doc: Ints, start: Ints, end: Ints) -> Bools:
        """Whether each stretch of text is white space alone: its edges decide nearly always.

        >>> zeros, ends = np.zeros(2, np.int32), np.array([7, 3], np.int32)
        >>> Letters(["Ann \\t Bob"]).blank(zeros, np.array([3, 2], np.int32), ends).tolist()
        [False, False]
        >>> Letters(["Ann \\t Bob"]).blank(zeros, np.array([3, 3], np.int32), np.array([6, 3], np.int32)).tolist()
        [True, False]
        """
        rows = np.flatnonzero(start < end)
        for step in (0, 1):
            rows = rows[self.white(doc[rows], np.minimum(start[rows] + step, end[rows] - 1))]
            rows = rows[self.white(doc[rows], np.maximum(end[rows] - 1 - step, start[rows]))]
        found = np.zeros(len(doc), np.bool_)
        found[rows] = True
        for row in rows[end[rows] - start[rows] > 4].tolist():
            text = self.texts[doc[row]]
            found[row] = text is not None and text[start[row] : end[row]].isspace()
        return found
