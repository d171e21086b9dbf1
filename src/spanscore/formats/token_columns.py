"""Documents made of tokens, gathered as columns: a few bytes per token, however long a document is."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable

import numpy as np

from spanscore.corpus import MAX_OFFSET, Corpus, LabelTable, Tokens
from spanscore.corpus.strings import Strings
from spanscore.errors import InputError

Decode = Callable[[Iterable[str]], Iterable[tuple[int, int, str]]]
"""Return the spans of a sentence's tags: first token, token after the last, label."""

JOINED = 4096
"""Words that are joined at once."""


class TokenColumns:
    """Tokens and spans of documents, whose texts are the words with a space or line break after each."""

    def __init__(self, labels: LabelTable, *, with_text: bool) -> None:
        self.labels = labels
        self._with_text = with_text
        self._ids: list[str] = []
        self._texts: list[str] = []
        self._counts: list[tuple[int, int]] = []
        """Tokens and spans up to the end of each document."""
        self._start, self._end = array("i"), array("i")
        self._spans = tuple(array("i") for _ in range(3))
        self._sentences: list[str] = []
        self._pieces: list[str] = []
        self._words: list[str] = []
        self._tags: list[str] = []
        self._at = 0

    def __len__(self) -> int:
        return len(self._start)

    def add(self, word: str, tag: str, where: str) -> None:
        """Add a token to the sentence; without texts, it has the length 1."""
        size = len(word) if self._with_text else 1
        if self._at + size > MAX_OFFSET:
            raise InputError(f"the document has more than {MAX_OFFSET} characters; begin a new one before.", where)
        self._start.append(self._at)
        self._end.append(self._at + size)
        self._at += size + 1
        self._tags.append(tag)
        if self._with_text:
            self._words.append(word)
            if len(self._words) == JOINED:
                self._join()

    def end_sentence(self, decode: Decode) -> None:
        """Add the spans of the sentence's tags."""
        first = len(self._start) - len(self._tags)
        start, end, label = self._spans
        for low, high, name in decode(self._tags):
            start.append(self._start[first + low])
            end.append(self._end[first + high - 1])
            label.append(self.labels[name])
        self._tags = []
        self._join()
        self._sentences.append(" ".join(self._pieces))
        self._pieces = []

    def end_document(self, name: str) -> None:
        """Add the sentences as a document."""
        self._ids.append(name)
        self._texts.append("\n".join(self._sentences))
        self._counts.append((len(self._start), len(self._spans[0])))
        self._sentences = []
        self._at = 0

    def corpus(self) -> Corpus:
        """Return the documents."""
        tokens, spans = np.diff(np.array([(0, 0), *self._counts]), axis=0).T
        numbers = np.arange(len(self._ids), dtype=np.int32)
        start, end, label = (np.array(column, np.int32) for column in self._spans)
        return Corpus(
            ids=Strings.of(self._ids),
            text=Strings.of(self._texts) if self._with_text else None,
            tokens=Tokens(np.repeat(numbers, tokens), np.array(self._start, np.int32), np.array(self._end, np.int32)),
            doc=np.repeat(numbers, spans),
            start=start,
            end=end,
            label=label,
            labels=tuple(self.labels),
        )

    def _join(self) -> None:
        if self._words:
            self._pieces.append(" ".join(self._words))
            self._words = []
