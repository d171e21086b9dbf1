"""Fast path for JSON Lines: read span arrays with a common layout as columns, with NumPy.

Files are written by programs, so nearly all spans in a file have the same layout, such as `{"start": 9, "end": 19,
"label": "X"}`: the same keys, order and spacing. The scanner learns the layout from one span and then reads thousands
of spans at once, eight bytes at a time. It replaces each array by a marker, so that msgspec decodes only the rest of
each line.

The scanner accounts for every byte of an array. If anything deviates from the layout (another key order, an escape, a
label that cannot be learned), it returns None, and the caller decodes those lines with msgspec alone. The caller also
counts the markers: an array that is not the `spans` of a document leaves one too few. So the fast path cannot change
the result.

Lines that consist of an id, optionally a text, and spans, in this order, are read completely in the same way.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from spanscore.corpus.columns import Words, odd_numbers
from spanscore.formats.byte_scan import ONE, ByteView, begins, leading_number, text_width
from spanscore.formats.source import MARGIN, Block

if TYPE_CHECKING:
    from spanscore.corpus import LabelTable
    from spanscore.corpus.columns import Bools, Floats, Ints, Longs
    from spanscore.corpus.strings import Strings

MAX_LABELS = 512
MAX_LABEL_WORDS = 4
LOOKED_AT = 4096
"""Labels that are looked at to learn new ones."""
ID_WORDS = 8
SCORE_WORDS = 3
MARKER = f'["{os.urandom(16).hex()}"]'.encode()
"""Placeholder for a span array; random, so that no file can contain it."""


@dataclass(frozen=True)
class Scan:
    """The spans of a block: its arrays (start, end, number of spans), and the fields of the spans as columns."""

    page: ByteView
    arrays: tuple[Longs, Longs, Longs]
    start: Ints
    end: Ints
    label: Ints
    score: Floats | None
    quotes: int

    def rest(self) -> bytes:
        """Return the lines with each array replaced by a marker."""
        begin, end, _ = self.arrays
        left = [MARGIN, *end.tolist()]
        right = [*begin.tolist(), self.page.end]
        return MARKER.join(map(self.page.buffer.__getitem__, map(slice, left, right)))


@dataclass(frozen=True)
class LineLayout:
    """Layout of a line with an id, optionally a text, and spans: the bytes before, between and after them."""

    before_id: bytes
    before_text: bytes | None
    before_spans: bytes
    tail: bytes

    @classmethod
    def learn(cls, line: bytes) -> LineLayout | None:
        """Return the layout of a line, or None if it has other fields.

        >>> LineLayout.learn(b'{"id": "d1", "text": "a", "spans": []}')
        LineLayout(before_id=b'{"id": "', before_text=b'", "text": "', before_spans=b'", "spans": ', tail=b'}\\n')
        """
        match = _LINE.fullmatch(_shortened(line.rstrip(b"\n")))
        if match is None or max(map(len, match.groups(b""))) > MARGIN // 4:
            return None
        return cls(match[1], match[2], match[3], match[4] + b"\n")

    def read(self, scan: Scan, lines: int) -> tuple[Longs, Strings[str], Strings[str] | None] | None:
        """Return the number of spans, the id and the text of each line; None if a line has another layout."""
        page = scan.page
        end = page.breaks
        if len(end) != lines:
            return None
        start = np.concatenate([[MARGIN], end[:-1] + 1])
        spans_end = end + 1 - len(self.tail)
        spans_begin = spans_end - 2
        counts = np.zeros(lines, np.int64)
        begin, array_end, array_counts = scan.arrays
        line = np.searchsorted(start, begin, "right") - 1
        spans_begin[line], counts[line] = begin, array_counts
        empty = counts == 0
        fits = (
            (line[1:] > line[:-1]).all()
            and (array_end == spans_end[line]).all()
            and page.has(spans_end, self.tail)
            and page.has(spans_begin[empty], b"[]")
            and page.has(start, self.before_id)
        )
        id_begin = start + len(self.before_id)
        found = text_width(page.rows(id_begin, ID_WORDS), ord('"')) if fits else None
        if found is None:
            return None
        id_end = id_begin + found[0]
        if not page.has(spans_begin - len(self.before_spans), self.before_spans):
            return None
        own = (self.before_id + (self.before_text or b"") + self.before_spans + self.tail).count(b'"')
        plain = page.is_plain(scan.quotes + lines * own, lines)
        ids = page.strings(id_begin, id_end, plain=plain)
        text_end = spans_begin - len(self.before_spans)
        if self.before_text is None:
            return (counts, ids, None) if (id_end == text_end).all() else None
        text_begin = id_end + len(self.before_text)
        if not (text_begin <= text_end).all() or not page.has(id_end, self.before_text):
            return None
        return counts, ids, page.strings(text_begin, text_end, plain=plain)


@dataclass(frozen=True)
class Layout:
    """Layout of a span: the bytes before the value of each field, after the last value, and between two spans."""

    fields: tuple[tuple[bytes, str], ...]
    tail: bytes
    between: bytes

    @property
    def quotes(self) -> int:
        """The number of quotation marks in a span."""
        return b"".join((*(literal for literal, _ in self.fields), self.tail)).count(b'"')

    @classmethod
    def learn(cls, array: bytes) -> Layout | None:
        """Return the layout of the first span of a JSON array, or None if it has fields that the scanner does not read.

        >>> layout = Layout.learn(b'[{"start": 1, "end": 2, "label": "X"}, {"start": 3, "end": 4, "label": "Y"}]')
        >>> layout.fields
        ((b'{"start": ', 'start'), (b', "end": ', 'end'), (b', "label": "', 'label'))
        >>> layout.tail, layout.between
        (b'"}', b', ')
        """
        match = _SPAN.match(array)
        if match is None:
            return None
        span, between = match[1], match[2] or b", "
        fields, at = [], 0
        for value in _FIELD.finditer(span):
            name = value[1].decode()
            begin, end = value.span(2)
            if name == "label":
                begin, end = begin + 1, end - 1
            fields.append((span[at:begin], name))
            at = end
        tail = span[at:]
        names = sorted(name for _, name in fields)
        read = names in (["end", "label", "start"], ["end", "label", "score", "start"])
        plain = all(literal.count(b":") == 1 for literal, _ in fields) and b":" not in tail
        short = len(tail + between) <= 8 and len(span) <= MARGIN // 4
        return cls(tuple(fields), tail, between) if read and plain and short else None


def _shortened(line: bytes) -> bytes:
    """Return a line without most of its text and spans if these are long; whoever reads it looks at every byte.

    >>> line = b'{"id": "d", "text": "%s", "spans": [%s]}' % (b"x" * 10000, b"{}, " * 5000)
    >>> len(line), len(_shortened(line)), LineLayout.learn(line).before_spans
    (30036, 4096, b'", "spans": ')
    """
    spans = line.rfind(b'"spans"')
    if spans < 0:
        return line
    first, last = spans - MARGIN, spans + MARGIN
    before = line[:last] if first <= MARGIN else line[:MARGIN] + line[first:last]
    return before + line[max(last, len(line) - MARGIN) :]


_LINE = re.compile(
    rb'(\{W"id"W:W")[^"\\]*+(?:("W,W"text"W:W")(?:[^"\\]++|\\.)*+)?("W,W"spans"W:W)\[.*\](W\})'.replace(
        b"W", rb"[ \t\r\n]*"
    ),
    re.DOTALL,
)
_SPAN = re.compile(rb"\[(\{[^{}\[\]\\]*\})(,[ \t\r\n]*)?")
_FIELD = re.compile(rb'"(start|end|label|score)"[ \t\r\n]*:[ \t\r\n]*("[^"]*"|[-+0-9.eE]+)')
_NUMBER = re.compile(rb"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")


class SpanScanner:
    """Reads span arrays of one layout; learns the layout and the labels from the file."""

    def __init__(self, labels: LabelTable) -> None:
        self.labels = labels
        self.layout: Layout | None = None
        self.line_layout: LineLayout | None = None
        self._known = _KnownLabels(())
        self._guessed = False

    def learn(self, line: bytes, array: bytes) -> None:
        """Learn the layouts from a line and the first span of an array, and the labels from the table."""
        self.line_layout = LineLayout.learn(line)
        self.layout = Layout.learn(array)
        self._know_labels()

    def guess(self, block: Block) -> None:
        """Learn the layouts from the first line and the first array of objects, which may not be spans."""
        if not self._guessed:
            self._guessed = True
            lines = block.data
            array = _SPAN.search(lines)
            self.learn(lines[: lines.find(b"\n") + 1], array[0] if array and _is_json(array[1]) else b"")

    def forget(self, labels: int) -> None:
        """Keep only the first `labels` labels: the others did not come from spans."""
        for label in list(self.labels)[labels:]:
            del self.labels[label]
        self._know_labels()

    def _know_labels(self) -> None:
        if len(self._known.labels) != len(self.labels):
            self._known = _KnownLabels(tuple(self.labels))

    def scan(self, block: Block) -> Scan | None:
        """Return the spans of a block, or None if anything deviates from the layout."""
        layout = self.layout
        if layout is None or not self._known.usable:
            return None
        page = ByteView(block)
        at = page.find(layout.fields[0][0][0])
        first: Longs | None = None
        found: dict[str, Any] = {"score": None}
        for number, (literal, name) in enumerate(layout.fields):
            size = {"label": self._known.words, "score": SCORE_WORDS}.get(name, 1)
            fits, value = page.read(at, literal, size)
            if first is None:
                if not fits.all():
                    at, value = at[fits], value[fits]
                first = at
            elif not fits.all():
                return None
            column: tuple[NDArray[Any], Longs] | None
            if name == "label":
                column = self._known.read(value) or self._meet(page, at, literal)
            elif name == "score":
                after = layout.fields[number + 1][0] if number + 1 < len(layout.fields) else layout.tail
                column = _read_scores(value, after[0], page, at + len(literal))
            else:
                column = _read_offsets(value[:, 0])
            if column is None:
                return None
            found[name], width = column
            at = at + (width + len(literal))
        assert first is not None
        return self._arrays(page, layout, first, at, found)

    def _meet(self, page: ByteView, at: Longs, literal: bytes) -> tuple[Ints, Longs] | None:
        """Learn the new labels, then read all labels."""
        rows = page.read(at, literal, MAX_LABEL_WORDS)[1]
        while new := self._known.unknown(rows):
            if len(self.labels) + len(new) > MAX_LABELS:
                return None
            for label in new:
                self.labels[label]
            self._know_labels()
            if not self._known.usable:
                return None
        return None if new is None else self._known.read(page.read(at, literal, self._known.words)[1])

    def _arrays(self, page: ByteView, layout: Layout, first: Longs, at: Longs, found: dict[str, Any]) -> Scan | None:
        """Return the scan if every byte of the arrays belongs to a span or separates two spans, else None."""
        if not len(first):
            return None
        word = page.words(at)
        inner = begins(word, layout.tail + layout.between)
        last = begins(word, layout.tail + b"]")
        after = at + len(layout.tail)
        opening = np.concatenate([[True], last[:-1]])
        fits = (
            (inner | last).all()
            and last[-1]
            and (last[:-1] | (after[:-1] + len(layout.between) == first[1:])).all()
            and (page.bytes[first[opening] - 1] == ord("[")).all()
        )
        if not fits:
            return None
        ends = np.flatnonzero(last)
        arrays = first[opening] - 1, after[ends] + 1, np.diff(ends, prepend=-1)
        return Scan(page, arrays, **found, quotes=len(first) * layout.quotes)


def _is_json(spelling: bytes) -> bool:
    try:
        msgspec.json.decode(spelling)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True


def _read_offsets(words: Words) -> tuple[Ints, Longs] | None:
    """Read integers of one to seven digits; JSON allows no leading zeros."""
    value, width = leading_number(words)
    zero_first = (words & np.uint64(0xFF)) == ord("0")
    if (width - ONE >= 7).any() or (zero_first & (width > ONE)).any():
        return None
    return value.astype(np.int32), width.astype(np.int64)


def _read_scores(rows: Words, after: int, page: ByteView, at: Longs) -> tuple[Floats, Longs] | None:
    """Read numbers such as 0.85 with up to 15 digits exactly, by one correctly rounded division; others one by one."""
    found = text_width(rows, after)
    if found is None:
        return None
    width, _ = found
    places = np.maximum(width - 2, 0)
    fraction, digits = leading_number(rows[:, 0] >> np.uint64(16) | rows[:, 1] << np.uint64(48))
    if (long_ := places > 8).any():
        low, low_digits = leading_number(rows[:, 1] >> np.uint64(16) | rows[:, 2] << np.uint64(48))
        fraction = np.where(long_, fraction * _TENS[low_digits] + low, fraction)
        digits = np.where(long_ & (digits == 8), digits + low_digits, digits)
    whole = (rows[:, 0] & np.uint64(0xFF)) - np.uint64(ord("0"))
    point = (rows[:, 0] >> np.uint64(8) & np.uint64(0xFF)) == ord(".")
    simple = (whole < 10) & point & (digits == places.astype(np.uint64)) & (places <= 14) & (places > 0)
    scale = _POWERS[np.where(simple, places, 0)]
    score = (whole * scale + fraction) / scale
    for row in np.flatnonzero(~simple).tolist():
        spelling = page.buffer[at[row] : at[row] + width[row]]
        if not _NUMBER.fullmatch(spelling):
            return None
        score[row] = float(spelling)
    return score, width


_POWERS = np.array([10.0**i for i in range(17)])
_TENS = np.array([10**i for i in range(9)], np.uint64)


def _spelling(label: str, code: int) -> bytes:
    """Return the bytes of a label in JSON; for a label that may be escaped, bytes that match no label."""
    data = label.encode("utf-8", "surrogatepass")
    plain = bool(data) and not any(byte < ord(" ") or byte in b'"\\' for byte in data)
    return data if plain else b'"%d' % code


class _KnownLabels:
    """Looks labels up by their bytes: a perfect hash finds the only candidate, and a comparison confirms it."""

    def __init__(self, labels: tuple[str, ...]) -> None:
        self.labels = labels
        spelling = [_spelling(label, code) for code, label in enumerate(labels)]
        longest = max(map(len, spelling), default=0)
        self.words = longest // 8 + 1
        self._spelt = np.zeros((self.words, len(labels) + 1), np.uint64)
        for code, data in enumerate(spelling):
            self._spelt[:, code] = np.frombuffer(data.ljust(8 * self.words, b"\0"), "<u8")
        self._lengths = np.array([*map(len, spelling), -1], np.int64)
        self._code, self._chosen = np.zeros(1, np.int32), np.ones(MAX_LABEL_WORDS, np.uint64)
        self._bits = min(2 * len(labels).bit_length() + 2, 18)
        self.usable = longest < 8 * MAX_LABEL_WORDS and len(labels) <= MAX_LABELS and self._place()

    def _place(self) -> bool:
        for chosen in odd_numbers(256 * MAX_LABEL_WORDS).reshape(256, MAX_LABEL_WORDS):
            slots = self._slot(list(self._spelt[:, :-1]), chosen)
            if len(set(slots.tolist())) == len(self.labels):
                self._chosen = chosen
                self._code = np.full(1 << self._bits, len(self.labels), np.int32)
                self._code[slots] = np.arange(len(self.labels))
                return True
        return False

    def _slot(self, words: list[Words], chosen: Words) -> Longs:
        mixed = words[0] * chosen[0]
        for word, multiplier in zip(words[1:], chosen[1:], strict=False):
            mixed += word * multiplier
        mixed ^= mixed >> np.uint64(32)
        slots: Longs = (mixed * chosen[0] >> np.uint64(64 - self._bits)).astype(np.int64)
        return slots

    def read(self, rows: Words) -> tuple[Ints, Longs] | None:
        """Return the code and the length in bytes of the label at the start of each row, up to a quotation mark."""
        found = text_width(rows, ord('"'))
        if found is None:
            return None
        code, known = self._look_up(*found)
        return (code, found[0]) if known.all() else None

    def unknown(self, rows: Words) -> list[str] | None:
        """Return the first unknown labels at the start of the rows; None if one may be escaped or is not UTF-8."""
        found = text_width(rows, ord('"'))
        if found is None:
            return None
        new = np.flatnonzero(~self._look_up(*found)[1])[:LOOKED_AT]
        words = np.zeros((len(new), MAX_LABEL_WORDS), np.uint64)
        for number, word in enumerate(found[1]):
            words[:, number] = word[new]
        spelling, first = np.unique(words.view(f"V{8 * MAX_LABEL_WORDS}")[:, 0], return_index=True)
        in_turn = [bytes(spelling[place])[: found[0][new[first[place]]]] for place in np.argsort(first).tolist()]
        try:
            labels = [data.decode() for data in in_turn]
        except UnicodeDecodeError:
            return None
        plain = all(_spelling(label, 0) == data for label, data in zip(labels, in_turn, strict=True))
        return labels if plain else None

    def _look_up(self, width: Longs, words: list[Words]) -> tuple[Ints, Bools]:
        """Return the candidate code of each label, given its bytes and length, and whether it is that label."""
        words = words[: self.words] if len(words) > self.words else words
        code = self._code[self._slot(words, self._chosen)]
        known = self._lengths.take(code) == width
        for number in range(self.words):
            known &= self._spelt[number][code] == (words[number] if number < len(words) else 0)
        return code, known
