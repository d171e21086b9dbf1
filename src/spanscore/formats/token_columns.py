"""Documents made of tagged tokens, gathered as columns: a few bytes per token, however long a document is."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spanscore.corpus import MAX_OFFSET, Corpus, LabelTable, Tokens
from spanscore.corpus.strings import Strings
from spanscore.errors import InputError
from spanscore.formats.tag_columns import POSITIONS, Chunks, TagTable, repaired_chunks, strict_chunks
from spanscore.formats.tags import Repair, split_tag

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spanscore.corpus.columns import Bools, Ints, Longs

CHUNK = 1 << 18
"""Tokens of a chunk, except in a longer document."""


@dataclass(frozen=True, eq=False)
class _Batch:
    """Tokens in columns."""

    tag: Ints
    size: Ints
    """Characters of each word; without texts, 1."""
    encoded: Ints
    """Bytes of each word."""
    new_sentence: Bools
    new_document: Bools
    text: bytes
    """The words, each after a space, or after a line break if it begins a sentence."""

    @classmethod
    def concat(cls, parts: Sequence[_Batch]) -> _Batch:
        """Return the tokens of all parts."""

        def column(name: str) -> Any:
            return np.concatenate([getattr(part, name) for part in parts])

        text = b"".join(part.text for part in parts)
        return cls(text=text, **{name: column(name) for name in _COLUMNS})

    def cut(self, low: int, high: int, text: bytes) -> _Batch:
        """Return a range of tokens, given their text."""
        return _Batch(text=text, **{name: getattr(self, name)[low:high] for name in _COLUMNS})


_COLUMNS = ("tag", "size", "encoded", "new_sentence", "new_document")


class TokenColumns:
    """Tokens of documents, whose texts are the words with a space or line break between them."""

    def __init__(self, *, with_text: bool) -> None:
        self.tags = LabelTable(O=0)
        self._with_text = with_text
        self._batches: list[_Batch] = []

    def add(self, words: list[str], tags: Sequence[str], new_sentence: Bools, new_document: Bools) -> Ints:
        """Add tokens, and say where sentences and documents begin; return the codes of the tags."""
        codes = np.fromiter(map(self.tags.__getitem__, tags), np.int32, len(tags))
        size = encoded = np.ones(len(words), np.int32)
        text = b""
        if self._with_text and words:
            size = encoded = np.fromiter(map(len, words), np.int32, len(words))
            joined = _joined(words, new_sentence)
            text = joined.encode()
            if not joined.isascii():
                encoded = np.fromiter(map(len, map(str.encode, words)), np.int32, len(words))
        self._batches.append(_Batch(codes, size, encoded, new_sentence, new_document, text))
        return codes

    def counts(self) -> Counter[str]:
        """Return how often each tag occurs."""
        total = sum((np.bincount(one.tag, minlength=len(self.tags)) for one in self._batches), np.zeros(1, np.int64))
        return Counter({tag: count for tag, count in zip(self.tags, total.tolist(), strict=False) if count})

    def transitions(self) -> Counter[tuple[str, str]]:
        """Count which tag follows which; O is before the first one of a sentence and after the last one."""
        names = list(self.tags)
        found: Counter[tuple[str, str]] = Counter()
        last = 0
        for one in self._batches:
            if not len(one.tag):
                continue
            earlier = np.concatenate([[last], one.tag[:-1]])
            ended = earlier[one.new_sentence]
            pairs = np.where(one.new_sentence, 0, earlier) * np.int64(len(names)) + one.tag
            for values, counts in (
                np.unique(pairs, return_counts=True),
                np.unique(ended * np.int64(len(names)), return_counts=True),
            ):
                for value, count in zip(values.tolist(), counts.tolist(), strict=True):
                    found[names[value // len(names)], names[value % len(names)]] += count
            last = int(one.tag[-1])
        found[names[last], "O"] += 1
        del found["O", "O"]
        return found

    def corpora(self, scheme: str, repair: Repair, order: str, source: str) -> Iterator[Corpus]:
        """Yield the documents in chunks, with the spans of their tags; their ids are their numbers."""
        table = TagTable.of(self.tags, POSITIONS, (split_tag(tag, scheme, order) for tag in self.tags))
        tokens = _Batch.concat(self._batches)
        self._batches = []
        first = np.append(np.flatnonzero(tokens.new_document), len(tokens.tag))
        number = place = 0
        while number < len(first) - 1:
            after = min(int(np.searchsorted(first, first[number] + CHUNK)), len(first) - 1)
            low, high = int(first[number]), int(first[after])
            end = place + int(tokens.encoded[low:high].sum()) + high - low
            part = tokens.cut(low, high, tokens.text[place:end])
            padded, token = _with_ends(part)
            found = repaired_chunks(padded, table) if repair == "begin" else strict_chunks(padded, table, scheme)
            spans = Chunks(token[found.begin], token[found.end - 1], found.type)
            yield self._corpus(part, spans, table, number, source)
            number, place = after, end

    def _corpus(self, part: _Batch, spans: Chunks, table: TagTable, number: int, source: str) -> Corpus:
        """Return documents, numbered from the one after `number` on; spans are given by their first and last tokens."""
        doc = np.cumsum(part.new_document, dtype=np.int32) - 1
        first = np.flatnonzero(part.new_document)
        last = np.append(first[1:], len(doc)) - 1
        before = np.cumsum(part.size + np.int64(1)) - part.size
        start = before - before[first][doc]
        if int((start + part.size).max()) > MAX_OFFSET:
            long = number + 1 + int(doc[np.argmax(start + part.size > MAX_OFFSET)])
            raise InputError(f"document {long} has more than {MAX_OFFSET} characters; begin a new one before.", source)
        begin, end = start.astype(np.int32), (start + part.size).astype(np.int32)
        text = None
        if self._with_text:
            ends = np.cumsum(part.encoded + np.int64(1))
            begins = (ends - part.encoded).astype(np.int64)
            text = Strings[str](part.text, begins[first], ends[last])
        return Corpus(
            ids=Strings.of(map(str, range(number + 1, number + 1 + len(first)))),
            text=text,
            tokens=Tokens(doc, begin, end),
            doc=doc[spans.begin],
            start=begin[spans.begin],
            end=end[spans.end],
            label=spans.type - np.int32(1),  # the first one is that of O
            labels=table.types[1:],
        )


def _joined(words: list[str], new_sentence: Bools) -> str:
    """Join words, each after a space, or after a line break if it begins a sentence."""
    cuts = [0, *(np.flatnonzero(new_sentence[1:]) + 1).tolist()]
    sentences = map(words.__getitem__, map(slice, cuts, [*cuts[1:], len(words)]))
    return ("\n" if new_sentence[0] else " ") + "\n".join(map(" ".join, sentences))


def _with_ends(part: _Batch) -> tuple[Ints, Longs]:
    """Return the tags with O after each sentence, and the token of each of these rows."""
    count = len(part.tag)
    rows = np.arange(count) + np.cumsum(part.new_sentence) - 1
    padded = np.zeros(count + int(np.count_nonzero(part.new_sentence)), np.int32)
    token = np.zeros(len(padded), np.int64)
    padded[rows], token[rows] = part.tag, np.arange(count)
    return padded, token
