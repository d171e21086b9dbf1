"""sandbox: annotations of protected health information, as NLP Sandbox's challenge counts them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from spanscore.align.pairing import IDENTITY, Pairing
from spanscore.corpus import Corpus
from spanscore.errors import InputError
from spanscore.measures.assignment import best_pairs, refuse_too_many
from spanscore.measures.char import judge_by_coverage, merge_touching
from spanscore.measures.exact import identical, judge_in_place
from spanscore.measures.interface import Measure
from spanscore.measures.judgement import Judgement
from spanscore.measures.phi_tables import phi_table
from spanscore.measures.sandbox_tokens import TEXT, right_by_offset, right_by_text, tokens_of
from spanscore.overlap import Join
from spanscore.spec import parameter
from spanscore.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spanscore.corpus.columns import Bools, Ints, Longs

DATE_FORMAT = "dateFormat"
ADDRESS_TYPES = ("addressType", "locationType")
SUBTYPES = (DATE_FORMAT, *ADDRESS_TYPES, "idType", "contactType", "subtype")
"""The optional fields of annotations; all but date formats are compared case-insensitively."""
ADDRESSES = ("LOCATION", "PHYSICAL_ADDRESS")
"""The kinds of annotation that have an address type."""
SUBTYPED = ("DATE", *ADDRESSES, "ID", "CONTACT")
"""The kinds of annotation that have a subtype."""
ANNOTATION = (*IDENTITY, TEXT, *SUBTYPES)
"""What makes two annotations identical: two texts or two subtypes in one place are two annotations."""


@dataclass(frozen=True, repr=False)
class Instance(Measure):
    """Annotations with the same note, kind, start, length and text.

    An annotation of a kind (date, person name, location, physical address, id, contact) in a note is right if the other
    side has one with the same start, length and text. P = tp / predicted, R = tp / annotated, for each kind and
    overall. Texts are compared where both sides have them.

    >>> import spanscore as ss
    >>> gold = ss.Corpus.from_arrays(["note"], [0, 0], [0, 20], [9, 30], ["PERSON_NAME", "DATE"])
    >>> pred = ss.Corpus.from_arrays(["note"], [0, 0], [0, 20], [3, 30], ["PERSON_NAME", "DATE"])
    >>> ss.score(gold, pred, ["sandbox.instance"])["sandbox.instance"].counts
    {'tp': 1, 'predicted': 2, 'annotated': 2, 'fp': 1, 'fn': 1}
    """

    name: ClassVar[str] = "sandbox.instance"
    symmetric: ClassVar[bool] = True

    @property
    def identity(self) -> tuple[str, ...]:
        """Place, kind, text and subtype."""
        return ANNOTATION

    def tally(self, pairing: Pairing) -> Tally:
        """Count the annotations that match."""
        pairing = self._seen(pairing)
        return Tally.of_found(pairing, pairing.gold, pairing.pred, self.matches(pairing)[0])

    def judge(self, pairing: Pairing) -> Judgement:
        """Pair annotations that match, then annotations of two kinds in the same place."""
        pairing = self._seen(pairing)
        return judge_in_place(pairing, *self.matches(pairing))

    def _seen(self, pairing: Pairing) -> Pairing:
        """Return the annotations that this measure counts."""
        return pairing.distinct(self.identity)

    def matches(self, pairing: Pairing) -> tuple[Longs, Longs]:
        """Return the rows that match, one to one, as many as possible."""
        a, b = self._candidates(pairing)
        if len(a) and (np.bincount(a).max() > 1 or np.bincount(b).max() > 1):
            chosen = best_pairs(a, b, self._weights(pairing, a, b))
            a, b = a[chosen], b[chosen]
        return a, b

    def _candidates(self, pairing: Pairing) -> tuple[Longs, Longs]:
        """Return the pairs of rows that would match."""
        return pairing.once(_strict)

    def _weights(self, pairing: Pairing, a: Longs, b: Longs) -> Longs:
        """Return the preference for each pair of rows."""
        return np.ones(len(a), np.int64)


@dataclass(frozen=True, repr=False)
class InstanceRelax(Instance):
    """Annotations with the same note, kind and start, and a similar length.

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
    tolerance: int = parameter(2, "Maximum difference in characters.", low=0, high=1000)
    anchor: str = parameter(
        "start",
        "Whether starts must be equal (start), or start and end may each differ by the tolerance (both).",
        choices=("start", "both"),
    )

    def _candidates(self, pairing: Pairing) -> tuple[Longs, Longs]:
        gold, pred = pairing.gold, pairing.pred
        found: list[tuple[Longs, Longs]] = []
        for a, b in _near_starts(pairing, 0 if self.anchor == "start" else self.tolerance):
            off = np.abs(gold.end[a].astype(np.int64) - pred.end[b])
            same = (gold.label[a] == pred.label[b]) & (off <= self.tolerance)
            found.append((a[same], b[same]))
            refuse_too_many(sum(len(rows) for rows, _ in found) - len(gold.doc) - len(pred.doc), repr(self))
        return np.concatenate([rows for rows, _ in found]), np.concatenate([rows for _, rows in found])

    def _weights(self, pairing: Pairing, a: Longs, b: Longs) -> Longs:
        """Prefer more matches, then smaller differences."""
        gold, pred = pairing.gold, pairing.pred
        starts, ends = gold.start[a].astype(np.int64) - pred.start[b], gold.end[a].astype(np.int64) - pred.end[b]
        most = (2 * self.tolerance + 1) * min(len(gold.doc), len(pred.doc)) + 1
        weight: Longs = most - np.abs(starts) - np.abs(ends)
        return weight


@dataclass(frozen=True, repr=False)
class Subtype(Instance):
    """Annotations that match strictly and have the same subtype.

    As `sandbox.instance`, and the optional field must be equal too: the format of a date, the type of an address,
    location, id or contact. Types are compared case-insensitively; a field that only one side has is not equal, one
    that neither side has is. Only kinds that have such a field are counted: dates, addresses, locations, ids and
    contacts, and any annotation that carries one.

    >>> import spanscore as ss
    >>> def city(kind):
    ...     return {"start": 0, "end": 7, "label": "LOCATION", "attrs": {"locationType": kind}}
    >>> gold = ss.Corpus.from_documents([{"id": "note", "spans": [city("city")]}])
    >>> pred = ss.Corpus.from_documents([{"id": "note", "spans": [city("State")]}])
    >>> [one.recall for one in ss.score(gold, pred, ["sandbox.instance", "sandbox.subtype"]).scores]
    [1.0, 0.0]
    """

    name: ClassVar[str] = "sandbox.subtype"

    def _seen(self, pairing: Pairing) -> Pairing:
        return super()._seen(pairing).once(_of_kinds, SUBTYPED, SUBTYPES)

    def _candidates(self, pairing: Pairing) -> tuple[Longs, Longs]:
        a, b = super()._candidates(pairing)
        same = np.ones(len(a), np.bool_)
        for field in SUBTYPES:
            meaning = str if field == DATE_FORMAT else lambda kind: str(kind).upper()
            gold, pred = _field_codes(pairing, (field,), meaning)
            same &= gold[a] == pred[b]
        return a[same], b[same]


@dataclass(frozen=True, repr=False)
class Hipaa(Instance):
    """Annotations that match strictly, with the same answer to whether their address type is PHI under HIPAA.

    As `sandbox.instance`, and the address or location types must both be PHI, or both not, by the table: CITY,
    ORGANIZATION, STREET and ZIP are PHI; COUNTRY, DEPARTMENT, HOSPITAL, LOCATION-OTHER, ROOM and STATE are not. A type
    that only one side has is a mismatch; annotations without a type on either side match. Only addresses and locations
    are counted, and any annotation that carries an address type.

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
        "hipaa",
        "Which address types are PHI; a file has lines of type, tab, yes or no.",
        choices=("hipaa", "i2b2", "@file"),
    )

    def _seen(self, pairing: Pairing) -> Pairing:
        return super()._seen(pairing).once(_of_kinds, ADDRESSES, ADDRESS_TYPES)

    def _candidates(self, pairing: Pairing) -> tuple[Longs, Longs]:
        a, b = super()._candidates(pairing)
        table = phi_table(self.table)
        gold, pred = _field_codes(pairing, ADDRESS_TYPES, lambda kind: table(str(kind)))
        same = gold[a] == pred[b]
        return a[same], b[same]

    @property
    def settings(self) -> str:
        """The repr, with a digest of the table's file if there is one."""
        return repr(self) if self.table[0] != "@" else f"{self!r}#{phi_table(self.table).digest}"


@dataclass(frozen=True, repr=False)
class SandboxToken(Measure):
    """Tokens of annotations, matched with tokens of annotations of the same kind.

    Each annotation's text is split into tokens; each counts once for each kind. key=text: a token is right if an
    overlapping annotation has a token with the same text, each of which matches once. key=position: if the other side
    has it at the same offset. P = tp / predicted, R = tp / annotated.

    >>> import spanscore as ss
    >>> gold = ss.Corpus.from_arrays(["note"], [0], [0], [9], ["PERSON_NAME"], text=["Jon Smith"])
    >>> pred = ss.Corpus.from_arrays(["note"], [0], [0], [3], ["PERSON_NAME"])
    >>> ss.score(gold, pred, ["sandbox.token"])["sandbox.token"].counts
    {'tp': 1, 'predicted': 1, 'annotated': 2, 'fp': 0, 'fn': 1}
    """

    name: ClassVar[str] = "sandbox.token"
    counts_spans: ClassVar[bool] = False
    symmetric: ClassVar[bool] = True
    tokenizer: str = parameter("whitespace", "Tokenizer of annotations.", choices=("whitespace", "treebank"))
    key: str = parameter(
        "text",
        "Whether tokens match by text within overlapping annotations, or by offset (position).",
        choices=("text", "position"),
    )

    @property
    def identity(self) -> tuple[str, ...]:
        """Place, kind, text and subtype."""
        return ANNOTATION

    def tally(self, pairing: Pairing) -> Tally:
        """Count tokens."""
        pairing = pairing.distinct(self.identity)
        gold, pred = tokens_of(pairing, self.tokenizer)
        found = right_by_text(pairing, gold, pred) if self.key == "text" else right_by_offset(gold, pred)
        return Tally.of_found(pairing, gold, pred, found)

    def judge(self, pairing: Pairing) -> Judgement:
        """Judge an annotation as right if all its characters are."""
        return judge_by_coverage(pairing.once(merge_touching))


def _of_kinds(pairing: Pairing, kinds: tuple[str, ...], fields: tuple[str, ...]) -> Pairing:
    """Return the annotations of these kinds, and those that carry one of these fields."""

    def kept(side: Corpus) -> Corpus:
        of_kind = np.array([label.upper() in kinds for label in side.labels] or [False])
        keep: Bools = of_kind[side.label] if len(side.label) else np.zeros(0, np.bool_)
        for field in fields:
            if field in side.attrs:
                keep = keep | (side.attrs[field].codes >= 0)
        return side if keep.all() else side.with_spans(np.flatnonzero(keep))

    return pairing.map_sides(kept)


def _strict(pairing: Pairing) -> tuple[Longs, Longs]:
    """Return the rows of one kind in the same place, except those whose texts differ."""
    columns = [side.attrs.get(TEXT) for side in (pairing.gold, pairing.pred)]
    if columns[0] is None or columns[1] is None:
        return identical(pairing, same_label=True)
    codes = columns[0].codes, columns[1].codes
    if all((side >= 0).all() for side in codes):
        return _same_text(pairing, *codes)
    a, b = identical(pairing, same_label=True)
    mine, other = codes[0][a], codes[1][b]
    same = (mine == other) | (mine < 0) | (other < 0)
    return a[same], b[same]


def _same_text(pairing: Pairing, *codes: Ints) -> tuple[Longs, Longs]:
    """Return the rows of one kind in the same place with the same text; in one place there may be many texts."""
    orders, sides = [], []
    kinds = np.int64(max(len(pairing.labels), 1))
    kind, place = np.unique(
        np.concatenate(
            [text * kinds + side.label for side, text in zip((pairing.gold, pairing.pred), codes, strict=True)]
        ),
        return_inverse=True,
    )
    for side, label in zip((pairing.gold, pairing.pred), np.split(place, [len(codes[0])]), strict=True):
        orders.append(np.lexsort((label, side.end, side.start, side.doc)))
        named = label[orders[-1]].astype(np.int32)
        sides.append(side.with_spans(orders[-1], label=named, labels=tuple(map(str, range(len(kind))))))
    a, b = identical(Pairing(sides[0], sides[1]), same_label=True)
    return orders[0][a], orders[1][b]


def _near_starts(pairing: Pairing, tolerance: int) -> Iterator[tuple[Longs, Longs]]:
    """Yield all pairs of rows whose starts differ by no more than this, in blocks of bounded size."""
    gold, pred = pairing.gold, pairing.pred
    solid = (gold.start < gold.end).all() and (pred.start < pred.end).all()
    if tolerance == 0 and solid and not pairing.dense:
        same = gold.start[pairing.overlaps.gold] == pred.start[pairing.overlaps.pred]
        yield pairing.overlaps.gold[same], pairing.overlaps.pred[same]
        return
    first, second = gold.start.astype(np.int64), pred.start.astype(np.int64) + tolerance
    points = pred.with_columns(start=second, end=second + 1)
    for found in Join(gold.with_columns(start=first, end=first + 2 * tolerance + 1), points).blocks():
        yield found.gold, found.pred


def _field_codes(pairing: Pairing, fields: tuple[str, ...], meaning: Callable[[object], object]) -> tuple[Longs, Longs]:
    """Return a code for the first of these fields that a row has; -1 where it has none."""
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
                    said.append(-1 if code < 0 else table.setdefault(meaning(column.values[code]), len(table)))
                except InputError as error:
                    raise InputError(str(error), f"{side.place(int(side.doc[row]))}, {field}") from None
            codes = np.array(said, np.int64)[place]
            answer = np.where(codes >= 0, codes, answer)
        found.append(answer)
    return found[0], found[1]
