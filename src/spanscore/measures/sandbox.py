"""sandbox: annotations of protected health information as NLP Sandbox's challenge counts them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from spanscore.align.documents import Pairing, in_order
from spanscore.align.spans import merged
from spanscore.align.tokenizers import tokenizer
from spanscore.columns import ranges
from spanscore.corpus import Corpus
from spanscore.errors import InputError, printable
from spanscore.measures.assignment import best_pairs, components
from spanscore.measures.char import judge_by_coverage
from spanscore.measures.exact import identical, judge_in_place
from spanscore.measures.measure import Judgement, Measure, parameter
from spanscore.measures.phi import phi_table
from spanscore.overlap import overlaps
from spanscore.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Callable

    from spanscore.columns import Bools, Ints, Longs

TEXT = "text"
"""The attribute that holds what an annotation says its text is."""
DATE_FORMAT = "dateFormat"
ADDRESS_TYPES = ("addressType", "locationType")
SUBTYPES = (DATE_FORMAT, *ADDRESS_TYPES, "idType", "contactType", "subtype")
"""The optional fields of annotations; all but formats of dates compare case-blind."""


@dataclass(frozen=True, repr=False)
class Instance(Measure):
    """Annotations with the same note, kind, start, length and text.

    Annotations of a kind (date, person name, location, physical address, id, contact) in a note are right if one with
    the same start, length and text is on the other side. P = tp / predicted, R = tp / annotated, for each kind and for
    all. Texts are compared where both sides give them.

    >>> import spanscore as ss
    >>> gold = ss.Corpus.from_arrays(["note"], [0, 0], [0, 20], [9, 30], ["PERSON_NAME", "DATE"])
    >>> pred = ss.Corpus.from_arrays(["note"], [0, 0], [0, 20], [3, 30], ["PERSON_NAME", "DATE"])
    >>> ss.score(gold, pred, ["sandbox.instance"])["sandbox.instance"].counts
    {'tp': 1, 'predicted': 2, 'annotated': 2, 'fp': 1, 'fn': 1}
    """

    name: ClassVar[str] = "sandbox.instance"
    symmetric: ClassVar[bool] = True

    def tally(self, pairing: Pairing) -> Tally:
        """Count pairs that match."""
        return Tally.of_found(pairing, pairing.gold, pairing.pred, self._matches(pairing)[0])

    def judge(self, pairing: Pairing) -> Judgement:
        """An annotation with no match is taken for one of another kind in the same place."""
        return judge_in_place(pairing, *self._matches(pairing))

    def _matches(self, pairing: Pairing) -> tuple[Longs, Longs]:
        """Rows that match, one to one."""
        return pairing.once("sandbox strict", _strict)


@dataclass(frozen=True, repr=False)
class InstanceRelax(Instance):
    """Annotations with the same note, kind and start, and nearly the same length.

    As `sandbox.instance`, but lengths may differ by the tolerance and texts are not compared; with anchor=both, start
    and end may each differ by it. Annotations are matched one to one, as many as possible.

    >>> import spanscore as ss
    >>> gold = ss.Corpus.from_arrays(["note"], [0], [0], [19], ["LOCATION"])
    >>> pred = ss.Corpus.from_arrays(["note"], [0], [0], [17], ["LOCATION"])
    >>> result = ss.score(gold, pred, ["sandbox.instance-relax", "sandbox.instance-relax(tolerance=1)"])
    >>> [one.recall for one in result.scores]
    [1.0, 0.0]
    """

    name: ClassVar[str] = "sandbox.instance-relax"
    tolerance: int = parameter(2, "by how many characters lengths may differ", low=0, high=1000)
    anchor: str = parameter(
        "start",
        "what must be the same: the start, or nothing (start and end each within the tolerance)",
        choices=("start", "both"),
    )

    def _matches(self, pairing: Pairing) -> tuple[Longs, Longs]:
        gold, pred = pairing.gold, pairing.pred
        a, b = _near_starts(pairing, 0 if self.anchor == "start" else self.tolerance)
        off = np.abs(gold.end[a].astype(np.int64) - pred.end[b])
        same = (gold.label[a] == pred.label[b]) & (off <= self.tolerance)
        a, b, off = a[same], b[same], off[same] + np.abs(gold.start[a[same]] - pred.start[b[same]])
        if len(a) and (np.bincount(a).max() > 1 or np.bincount(b).max() > 1):
            most = 2 * self.tolerance + 1
            chosen = best_pairs(a, b, most * min(len(gold.doc), len(pred.doc)) + 1 - off)
            a, b = a[chosen], b[chosen]
        return a, b


@dataclass(frozen=True, repr=False)
class Subtype(Instance):
    """Annotations that match strictly and have the same subtype.

    As `sandbox.instance`, and the optional field must be equal too: the format of a date, the type of an address,
    location, id or contact. Types compare case-blind; a field that only one side has is not equal.

    >>> import spanscore as ss
    >>> def city(kind):
    ...     return {"start": 0, "end": 7, "label": "LOCATION", "attrs": {"locationType": kind}}
    >>> gold = ss.Corpus.from_documents([{"id": "note", "spans": [city("city")]}])
    >>> pred = ss.Corpus.from_documents([{"id": "note", "spans": [city("State")]}])
    >>> [one.recall for one in ss.score(gold, pred, ["sandbox.instance", "sandbox.subtype"]).scores]
    [1.0, 0.0]
    """

    name: ClassVar[str] = "sandbox.subtype"

    def _matches(self, pairing: Pairing) -> tuple[Longs, Longs]:
        a, b = super()._matches(pairing)
        same = np.ones(len(a), np.bool_)
        for field in SUBTYPES:
            gold, pred = _answers(pairing, (field,), str if field == DATE_FORMAT else lambda kind: str(kind).upper())
            same &= gold[a] == pred[b]
        return a[same], b[same]


@dataclass(frozen=True, repr=False)
class Hipaa(Instance):
    """Annotations that match strictly, with the same answer to whether their address type is PHI under HIPAA.

    As `sandbox.instance`, and the address or location types must both be PHI, or both not, by the table: CITY,
    ORGANIZATION, STREET and ZIP are; COUNTRY, DEPARTMENT, HOSPITAL, LOCATION-OTHER, ROOM and STATE are not. A type that
    only one side has is no answer; annotations that have none on either side need not answer.

    >>> import spanscore as ss
    >>> def place(kind):
    ...     return {"start": 0, "end": 4, "label": "LOCATION", "attrs": {"locationType": kind}}
    >>> gold = ss.Corpus.from_documents([{"id": "note", "spans": [place("organization")]}])
    >>> pred = ss.Corpus.from_documents([{"id": "note", "spans": [place("hospital")]}])
    >>> result = ss.score(gold, pred, ["sandbox.hipaa", "sandbox.hipaa(table=i2b2)"])
    >>> [one.recall for one in result.scores]
    [0.0, 1.0]
    """

    name: ClassVar[str] = "sandbox.hipaa"
    table: str = parameter(
        "hipaa", "which address types are PHI; @file: lines of type, tab, yes or no", choices=("hipaa", "i2b2", "@file")
    )

    def _matches(self, pairing: Pairing) -> tuple[Longs, Longs]:
        a, b = super()._matches(pairing)
        table = phi_table(self.table)
        gold, pred = _answers(pairing, ADDRESS_TYPES, lambda kind: table(str(kind)))
        same = gold[a] == pred[b]
        return a[same], b[same]

    @property
    def settings(self) -> str:
        """The repr; a table of one's own is told by what it holds."""
        return repr(self) if self.table[0] != "@" else f"{self!r}#{phi_table(self.table).digest}"


@dataclass(frozen=True, repr=False)
class SandboxToken(Measure):
    """Tokens of annotations that are tokens of annotations of the same kind on the other side.

    An annotation's text is cut into tokens; each counts once for each kind. key=position: a token is right if the other
    side has the same one at the same offset. key=text: if annotations of the other side that overlap have one with the
    same text; each serves once. P = tp / predicted, R = tp / annotated.

    >>> import spanscore as ss
    >>> gold = ss.Corpus.from_arrays(["note"], [0], [0], [9], ["PERSON_NAME"], text=["Jon Smith"])
    >>> pred = ss.Corpus.from_arrays(["note"], [0], [0], [3], ["PERSON_NAME"])
    >>> ss.score(gold, pred, ["sandbox.token"])["sandbox.token"].counts
    {'tp': 1, 'predicted': 1, 'annotated': 2, 'fp': 0, 'fn': 1}
    """

    name: ClassVar[str] = "sandbox.token"
    counts_spans: ClassVar[bool] = False
    symmetric: ClassVar[bool] = True
    tokenizer: str = parameter("whitespace", "what cuts annotations into tokens", choices=("whitespace", "treebank"))
    key: str = parameter(
        "position",
        "whether tokens must be at the same offset, or only in annotations that overlap",
        choices=("position", "text"),
    )

    def tally(self, pairing: Pairing) -> Tally:
        """Count tokens."""
        by_offset = self.tokenizer == "whitespace" and self.key == "position"
        if by_offset and not any(TEXT in side.attrs for side in (pairing.gold, pairing.pred)):
            tokens = pairing.once("sandbox tokens", _cut)
            gold: Corpus | Words = tokens.gold
            pred: Corpus | Words = tokens.pred
            found: Any = identical(tokens, same_label=True)[0]
        else:
            gold, pred = words = pairing.once(("sandbox words", self.tokenizer), lambda it: _words(it, self.tokenizer))
            found = _found(pairing, *words, self.key)
        return Tally.of_found(pairing, gold, pred, found)

    def judge(self, pairing: Pairing) -> Judgement:
        """An annotation is right if all its characters are."""
        return judge_by_coverage(pairing.once("touching", lambda it: it.map_sides(merged)))


def _strict(pairing: Pairing) -> tuple[Longs, Longs]:
    """Rows of one kind in the same place, but for those whose texts differ."""
    a, b = identical(pairing, same_label=True)
    columns = [side.attrs.get(TEXT) for side in (pairing.gold, pairing.pred)]
    if columns[0] is None or columns[1] is None:
        return a, b
    mine, other = columns[0].codes[a], columns[1].codes[b]
    same = (mine == other) | (mine < 0) | (other < 0)
    return a[same], b[same]


def _near_starts(pairing: Pairing, tolerance: int) -> tuple[Longs, Longs]:
    """All pairs of rows whose starts differ by no more than this."""
    gold, pred = pairing.gold, pairing.pred
    if tolerance == 0 and (gold.start < gold.end).all() and (pred.start < pred.end).all():
        same = gold.start[pairing.overlaps.gold] == pred.start[pairing.overlaps.pred]
        return pairing.overlaps.gold[same], pairing.overlaps.pred[same]
    first, second = gold.start.astype(np.int64), pred.start.astype(np.int64) + tolerance
    found = overlaps(
        gold.with_columns(start=first, end=first + 2 * tolerance + 1), pred.with_columns(start=second, end=second + 1)
    )
    return found.gold, found.pred


def _answers(pairing: Pairing, fields: tuple[str, ...], say: Callable[[object], object]) -> tuple[Longs, Longs]:
    """What is said of the first of these fields that a row has, as numbers; -1 where it has none."""
    table: dict[object, int] = {}
    found = []
    for side in (pairing.gold, pairing.pred):
        answer = np.full(len(side.doc), -1)
        for field in reversed(fields):
            if field not in side.attrs:
                continue
            column = side.attrs[field]
            used, first, place = np.unique(column.codes, return_index=True, return_inverse=True)
            said = []
            for code, row in zip(used.tolist(), first.tolist(), strict=True):
                try:
                    said.append(-1 if code < 0 else table.setdefault(say(column.values[code]), len(table)))
                except InputError as error:
                    raise InputError(str(error), f"{side.place(int(side.doc[row]))}, {field}") from None
            codes = np.array(said, np.int64)[place]
            answer = np.where(codes >= 0, codes, answer)
        found.append(answer)
    return found[0], found[1]


def _cut(pairing: Pairing) -> Pairing:
    """Annotations cut into what white space separates, each piece once for each kind."""

    def cut(side: Corpus) -> Corpus:
        _refuse_without_text(pairing, side.doc)
        row, start, end = pairing.letters.pieces(side.doc, side.start, side.end)
        if len(row) == len(side.doc) and (start == side.start).all() and (end == side.end).all():
            return side
        return in_order(side.with_spans(row, start=start.astype(np.int32), end=end.astype(np.int32)))[0]

    return pairing.map_sides(cut)


@dataclass(frozen=True, eq=False)
class Words:
    """Tokens with their texts, by document, offset and kind; `owner` is the row of an annotation that has it."""

    doc: Ints
    label: Ints
    start: Longs
    text: Longs
    owner: Longs


def _words(pairing: Pairing, named: str) -> tuple[Words, Words]:
    """The tokens of every annotation's text: what it says its text is, or what the document has there."""
    cut = tokenizer(named)
    annotations: dict[str, int] = {}
    words: dict[str, int] = {}
    pieces: list[tuple[int, int]] = []
    bounds = [0]

    def code(text: str) -> int:
        if text not in annotations:
            annotations[text] = len(annotations)
            pieces.extend((start, words.setdefault(text[start:end], len(words))) for start, end in cut(text))
            bounds.append(len(pieces))
        return annotations[text]

    sides = []
    for side in (pairing.gold, pairing.pred):
        given = side.attrs.get(TEXT)
        codes = np.full(len(side.doc), -1)
        if given is not None:
            used, place = np.unique(given.codes, return_inverse=True)
            codes = np.array([-1 if one < 0 else code(str(given.values[one])) for one in used.tolist()] or [-1])[place]
        open_ = np.flatnonzero(codes < 0)
        _refuse_without_text(pairing, side.doc[open_])
        rows = zip(side.doc[open_].tolist(), side.start[open_].tolist(), side.end[open_].tolist(), strict=True)
        codes[open_] = [code(pairing.text[doc][start:end]) for doc, start, end in rows]
        sides.append((side, codes))
    flat = np.array(pieces, np.int64).reshape(-1, 2)
    low = np.array(bounds)
    found = []
    for side, codes in sides:
        counts = (low[1:] - low[:-1])[codes]
        owner = np.repeat(np.arange(len(side.doc)), counts)
        of = flat[ranges(low[:-1][codes], counts)]
        doc, label, start, text = side.doc[owner], side.label[owner], side.start[owner] + of[:, 0], of[:, 1]
        order = np.lexsort((owner, text, start, label, doc))
        keys = np.stack([doc, label, start, text])[:, order]
        new = np.concatenate([[True], (keys[:, 1:] != keys[:, :-1]).any(axis=0)])[: len(order)]
        kept = order[new]
        found.append(Words(doc[kept], label[kept], start[kept], text[kept], owner[kept]))
    return found[0], found[1]


def _found(pairing: Pairing, gold: Words, pred: Words, key: str) -> Bools:
    """Which gold tokens the other side has: at the same offset, or in annotations that overlap, each serving once."""
    if key == "position":
        columns = [(gold.doc, pred.doc), (gold.label, pred.label), (gold.start, pred.start), (gold.text, pred.text)]
    else:
        both = pairing.overlaps
        same = pairing.gold.label[both.gold] == pairing.pred.label[both.pred]
        together = components(both.gold[same], both.pred[same])
        linked = np.full(len(pairing.gold.doc), -1), np.full(len(pairing.pred.doc), -2)
        linked[0][both.gold[same]], linked[1][both.pred[same]] = together, together
        columns = [(linked[0][gold.owner], linked[1][pred.owner]), (gold.text, pred.text)]
    code = np.zeros(len(gold.doc) + len(pred.doc), np.int64)
    for mine, other in columns:
        values, place = np.unique(np.concatenate([mine, other]), return_inverse=True)
        code = np.unique(code * len(values) + place, return_inverse=True)[1]
    mine, other = code[: len(gold.doc)], code[len(gold.doc) :]
    order = np.argsort(mine, kind="stable")
    first = np.searchsorted(mine[order], mine[order], "left")
    rank = np.empty(len(mine), np.int64)
    rank[order] = np.arange(len(mine)) - first
    found: Bools = rank < np.bincount(other, minlength=len(code) + 1)[mine]
    return found


def _refuse_without_text(pairing: Pairing, docs: Ints) -> None:
    if pairing.letters.complete:
        return
    for doc in np.unique(docs).tolist():
        if pairing.text[doc] is None:
            name = printable(pairing.gold.ids[doc])
            raise InputError(
                f'the document "{name}" has no text, which sandbox.token needs; add "text" to the gold data, '
                "or to every annotation."
            )
