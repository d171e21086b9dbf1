"""leak: what stays readable after masking every prediction, whatever its type."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from spanscore.align.characters import PUNCTUATION, SPACE
from spanscore.align.coverage import Coverage
from spanscore.align.pairing import IDENTITY, Pairing
from spanscore.align.spans import merged
from spanscore.measures.interface import Measure, Untyped
from spanscore.measures.judgement import EXPOSED, HIDDEN, PARTLY, Exposure, Judgement
from spanscore.measures.leak_entities import ATTRIBUTES, entities
from spanscore.spec import parameter
from spanscore.tally import NO_TYPE, Tally

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from spanscore.align.account import Account
    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Bools, Ints, Longs

FIELDS = ("hidden", "partly", "exposed", "annotated", "predicted", "needless")
IGNORED = {"none": -1, "space": SPACE, "punct": PUNCTUATION}


@dataclass(frozen=True, repr=False)
class Leak(Measure):
    """Gold spans hidden when every prediction is masked, regardless of type.

    A gold span is hidden if every counted character lies under some prediction, exposed if none does, else partly
    hidden; a span that has only ignored characters must be covered completely. R = hidden / annotated. A prediction
    that overlaps no gold span is needless: P = (predicted - needless) / predicted. Rows by type use the gold types;
    predictions belong to none. Every prediction masks: overlapping ones also with --resolve, and those of types that
    --entities, --shared-types or --ignore leave out; a prediction that overlaps only such spans is neither right nor
    needless.

    >>> import spanscore as ss
    >>> gold = ss.Corpus.from_arrays(["d"], [0], [0], [13], ["PATIENT"], text=["Dr. Ana Lopez, cardiology"])
    >>> pred = ss.Corpus.from_arrays(["d"], [0, 0], [4, 15], [13, 25], ["DOCTOR", "WARD"])
    >>> ss.score(gold, pred, ["leak"])["leak"].counts
    {'hidden': 0, 'partly': 1, 'exposed': 0, 'annotated': 1, 'predicted': 2, 'needless': 1}
    """

    name: ClassVar[str] = "leak"
    type_blind: ClassVar[bool] = True
    masks: ClassVar[bool] = True
    counts_without_type: ClassVar[tuple[str, ...]] = ("predicted", "needless")
    ignore: str = parameter(
        "punct",
        "Characters of a gold span that need not be covered: whitespace and punctuation, whitespace, or none. "
        "Without text, every character counts.",
        choices=("punct", "space", "none"),
    )

    @property
    def local(self) -> bool:
        """A span is hidden by the predictions that overlap it."""
        return True

    def tally(self, pairing: Pairing) -> Tally:
        """Count gold spans by what masking does to them, and predictions."""
        pairing = self.counted_spans(pairing)
        gold = pairing.gold
        return self._count(pairing, gold.doc, gold.label, pairing.once(fates, self.ignore))

    def judge(self, pairing: Pairing) -> Judgement:
        """Judge a gold span as right if it is hidden, and a prediction if it overlaps a gold span."""
        pairing = self.counted_spans(pairing)
        gold = pairing.gold
        fate, touching = pairing.once(fates, self.ignore), pairing.once(touching_gold)
        return Judgement(
            pairing,
            cell=np.where(fate == HIDDEN, gold.label, -1).astype(np.int32),
            partner=np.full(len(gold.doc), -1),
            iou=np.zeros(len(gold.doc)),
            right=touching,
            wrong_for=np.full(len(touching), -1),
            unmatched=np.flatnonzero(~touching),
            exposure=_exposure(pairing, fate, self.ignore),
        )

    def ratios(self, counts: Mapping[str, Any]) -> tuple[Any, Any, Any, Any]:
        """Return what is not needless of what is predicted, and what is hidden of what is annotated."""
        return counts["predicted"] - counts["needless"], counts["predicted"], counts["hidden"], counts["annotated"]

    def shown(self, counts: Mapping[str, Any]) -> dict[str, Any]:
        """Return the counts as they are."""
        return {name: counts[name] for name in FIELDS}

    def notes(self, pairing: Pairing) -> Account:
        """Count the documents with gold spans, but without a text that shows which characters to ignore."""
        if self.ignore == "none":
            return Counter()
        missing = pairing.letters.strings.missing
        count = 0 if missing is None else int(np.count_nonzero(missing & (np.diff(pairing.gold.bounds) > 0)))
        return Counter({("gold", "textless", self.name): count} if count else {})

    def _count(
        self,
        pairing: Pairing,
        doc: Ints,
        label: Ints,
        fate: NDArray[np.uint8],
        *,
        typed: bool = True,
    ) -> Tally:
        """Count units by their fate, under the labels of gold spans, and predictions under no label."""
        pred, needless = pairing.pred, np.flatnonzero(~pairing.once(touching_gold))
        none = np.int32(len(pairing.labels))
        events: dict[str, tuple[Any, ...]] = {}
        for name, what in zip(FIELDS, (HIDDEN, PARTLY, EXPOSED), strict=False):
            rows = np.flatnonzero(fate == what)
            events[name] = doc.take(rows), label.take(rows)
        events["annotated"] = doc, label
        events["predicted"] = pred.doc, np.full(len(pred.doc), none)
        events["needless"] = pred.doc.take(needless), np.full(len(needless), none)
        return Tally.count(pairing, events, typed=typed, labels=(*pairing.labels, NO_TYPE))


@dataclass(frozen=True, repr=False)
class LeakEntity(Leak):
    """Entities whose mentions are all hidden when every prediction is masked.

    The mentions of an entity are the spans of a document with the same attribute `entity`, `kbid` or `eid` or, without
    one, with the same type and text, upper or lower case. An entity is hidden if all its mentions are, exposed if all
    are exposed, else partly hidden. R = hidden / annotated. An entity has the type of its first mention. P is as for
    `leak`.

    >>> import spanscore as ss
    >>> gold = ss.Corpus.from_arrays(["d"], [0, 0], [0, 8], [3, 11], ["PATIENT"] * 2, text=["Ana met ANA."])
    >>> pred = ss.Corpus.from_arrays(["d"], [0], [0], [3], ["PERSON"])
    >>> ss.score(gold, pred, ["leak.entity"])["leak.entity"].counts
    {'hidden': 0, 'partly': 1, 'exposed': 0, 'annotated': 1, 'predicted': 1, 'needless': 0}
    """

    name: ClassVar[str] = "leak.entity"
    recall_of_spans: ClassVar[bool] = False  # it counts entities

    @property
    def local(self) -> bool:
        """Mentions of one entity may be anywhere in the document."""
        return False

    @property
    def identity(self) -> tuple[str, ...]:
        """Spans in one place that are mentions of two entities are two mentions."""
        return (*IDENTITY, *ATTRIBUTES)

    def tally(self, pairing: Pairing) -> Tally:
        """Count entities by what masking does to their mentions, and predictions."""
        spans = self.counted_spans(pairing)
        pairing, _, first, fate = self._entities(spans)
        counted = pairing if pairing is spans else _with_predictions(pairing, spans)
        return self._count(counted, pairing.gold.doc[first], pairing.gold.label[first], fate)

    def found_units(self, pairing: Pairing) -> tuple[Pairing, Longs, Bools]:
        """Return the mentions, the entity of each, and whether each entity is hidden."""
        mentions, number, _, fate = self._entities(self.counted_spans(pairing))
        return mentions, number, fate == HIDDEN

    def _entities(self, spans: Pairing) -> tuple[Pairing, Longs, Longs, NDArray[np.uint8]]:
        """Return the mentions, the entity of each, and the first mention and the fate of each entity."""
        mentions = spans.distinct(self.identity)
        number, first = mentions.once(entities)
        return mentions, number, first, _together(number, len(first), mentions.once(fates, self.ignore))


@dataclass(frozen=True, repr=False)
class LeakDocument(Untyped, Leak):
    """Documents in which masking every prediction hides all gold spans.

    Of the documents with gold spans (annotated), one is hidden if all its gold spans are, exposed if all are exposed,
    else partly hidden. R = hidden / annotated. `predicted` counts documents with predictions, `needless`
    those without a gold span. P is undefined.

    >>> import spanscore as ss
    >>> gold = ss.Corpus.from_arrays(["a", "b"], [0, 0], [0, 8], [3, 11], ["PATIENT"] * 2)
    >>> pred = ss.Corpus.from_arrays(["a", "b"], [0, 1], [0, 0], [3, 3], ["PERSON"] * 2)
    >>> ss.score(gold, pred, ["leak.document"])["leak.document"].counts
    {'hidden': 0, 'partly': 1, 'exposed': 0, 'annotated': 1, 'predicted': 2, 'needless': 1}
    """

    name: ClassVar[str] = "leak.document"
    recall_of_spans: ClassVar[bool] = False  # it counts documents
    counts_without_type: ClassVar[tuple[str, ...]] = ()
    f_without_hits: ClassVar[float] = nan

    @property
    def local(self) -> bool:
        """A document counts as a whole."""
        return False

    def tally(self, pairing: Pairing) -> Tally:
        """Count documents."""
        pairing = self.counted_spans(pairing)
        named, masked = (np.diff(side.bounds) > 0 for side in (pairing.gold, pairing.pred))
        annotated, predicted, needless = (np.flatnonzero(one) for one in (named, masked, masked & ~named))
        fate = _together(pairing.gold.doc, len(pairing), pairing.once(fates, self.ignore))[annotated]
        groups = (*(annotated[fate == what] for what in (HIDDEN, PARTLY, EXPOSED)), annotated, predicted, needless)
        events = {name: (docs, docs) for name, docs in zip(FIELDS, groups, strict=True)}
        return Tally.count(pairing, events, typed=False)

    def has_precision(self, over: str) -> bool:
        """There is none."""
        return False

    def ratios(self, counts: Mapping[str, Any]) -> tuple[Any, Any, Any, Any]:
        """Return no precision, and the share of documents that are clean."""
        return counts["hidden"] * 0, counts["hidden"] * 0, counts["hidden"], counts["annotated"]


@dataclass(frozen=True, repr=False)
class LeakChar(Leak):
    """Characters of gold spans that masking every prediction hides.

    A counted character of gold spans counts once for each gold type that it has: hidden or exposed. R = hidden /
    annotated. Predicted are the characters under any prediction, needless those of them that are in no gold span.

    >>> import spanscore as ss
    >>> gold = ss.Corpus.from_arrays(["d"], [0], [0], [13], ["PATIENT"], text=["Dr. Ana Lopez left"])
    >>> pred = ss.Corpus.from_arrays(["d"], [0], [4], [18], ["DOCTOR"])
    >>> ss.score(gold, pred, ["leak.char"])["leak.char"].counts
    {'hidden': 8, 'partly': 0, 'exposed': 2, 'annotated': 10, 'predicted': 14, 'needless': 5}
    """

    name: ClassVar[str] = "leak.char"
    counts_spans: ClassVar[bool] = False

    def tally(self, pairing: Pairing) -> Tally:
        """Count characters."""
        pairing = self.counted_spans(pairing)
        doc, label, hidden, total = (np.concatenate(column) for column in zip(*self._parts(pairing), strict=True))
        masked, named = pairing.once(masked_by, "pred"), pairing.once(masked_by, "gold")
        where, of_gold = masked.start // masked.stride, named.start // named.stride
        size, none = masked.end - masked.start, np.int32(len(pairing.labels))
        events = {
            "hidden": (doc, label, hidden),
            "partly": (doc[:0], label[:0]),
            "exposed": (doc, label, total - hidden),
            "annotated": (doc, label, total),
            "predicted": (where, np.full(len(where), none), size),
            "needless": (
                np.concatenate([where, of_gold]),
                np.full(len(where) + len(of_gold), none),
                np.concatenate([size, -pairing.once(covered_ranges)]),
            ),
        }
        return Tally.count(pairing, events, labels=(*pairing.labels, NO_TYPE))

    def _parts(self, pairing: Pairing) -> Iterator[tuple[Ints, Ints, Longs, Longs]]:
        """Yield parts of gold spans: documents, labels, how many characters are hidden, and how many count.

        Gold spans of one type are merged first. Spans of ignored characters alone, all of which count, come apart.
        """
        gold, letters, ignored = pairing.gold, pairing.letters, IGNORED[self.ignore]
        side = merged(gold)
        total = letters.readable(side.doc, side.start, side.end, ignored)
        yield side.doc, side.label, _hidden(pairing, side, total, ignored), total
        if ignored >= 0 and letters:
            each = total if side is gold else letters.readable(gold.doc, gold.start, gold.end, ignored)
            if len(blank := np.flatnonzero((each == 0) & (gold.start < gold.end))):
                side = merged(gold.with_spans(blank))
                total = (side.end - side.start).astype(np.int64)
                yield side.doc, side.label, _hidden(pairing, side, total, -1), total


def masked_by(pairing: Pairing, name: str) -> Coverage:
    """Return the characters that the gold spans or the predictions cover."""
    stride = 2 + max(int(side.end.max(initial=0)) for side in (pairing.gold, pairing.pred))
    return Coverage.of(pairing.gold if name == "gold" else pairing.pred, stride)


def covered_gold(pairing: Pairing) -> Longs:
    """Count the characters of each gold span that lie under predictions."""
    gold = pairing.gold
    return pairing.once(masked_by, "pred").within(gold.doc, gold.start, gold.end)


def fates(pairing: Pairing, ignore: str) -> NDArray[np.uint8]:
    """Return for each gold span whether masking every prediction leaves it hidden, partly hidden or exposed.

    The text matters only where a span is covered in part.
    """
    gold, ignored = pairing.gold, IGNORED[ignore]
    covered = pairing.once(covered_gold)
    fate = np.full(len(covered), PARTLY, np.uint8)
    fate[covered == 0] = EXPOSED
    fate[covered == gold.end - gold.start] = HIDDEN
    rows, hidden = pairing.once(hidden_parts, ignored)
    if ignored >= 0 and len(rows) and pairing.letters:
        total = pairing.letters.readable(gold.doc[rows], gold.start[rows], gold.end[rows], ignored)
        fate[rows[(hidden == 0) & (total > 0)]] = EXPOSED
        fate[rows[(hidden == total) & (total > 0)]] = HIDDEN
    return fate


def covered_ranges(pairing: Pairing) -> Longs:
    """Count the characters under predictions of each range that gold spans cover."""
    named = pairing.once(masked_by, "gold")
    if len(named.start) == len(pairing.gold.start):  # each range is a span
        return pairing.once(covered_gold)
    doc, start = np.divmod(named.start, named.stride)
    return pairing.once(masked_by, "pred").within(doc, start, start + named.end - named.start)


def hidden_parts(pairing: Pairing, ignored: int) -> tuple[Longs, Longs]:
    """Return the gold spans that predictions cover in part, and how many of their counted characters are hidden."""
    gold, covered = pairing.gold, pairing.once(covered_gold)
    rows = np.flatnonzero((covered > 0) & (covered < gold.end - gold.start))
    place = gold.doc[rows], gold.start[rows], gold.end[rows]
    return rows, pairing.once(masked_by, "pred").readable_within(pairing.letters, *place, ignored)


def touching_gold(pairing: Pairing) -> Bools:
    """Return for each prediction whether it overlaps a gold span."""
    return pairing.once(masked_by, "gold").touches(pairing.gold, pairing.pred)


def _hidden(pairing: Pairing, side: Corpus, total: Longs, ignored: int) -> Longs:
    """Count the hidden characters of spans, of which `total` count; the text matters only if some are hidden."""
    if side is pairing.gold:
        covered, (some, parts) = pairing.once(covered_gold), pairing.once(hidden_parts, ignored)
    else:
        masked = pairing.once(masked_by, "pred")
        covered = masked.within(side.doc, side.start, side.end)
        some = np.flatnonzero((covered > 0) & (covered < side.end - side.start))
        parts = masked.readable_within(pairing.letters, side.doc[some], side.start[some], side.end[some], ignored)
    hidden = np.where(covered == side.end - side.start, total, 0)
    hidden[some] = parts
    return hidden


def _together(number: Ints | Longs, size: int, fate: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the fate of groups of spans: hidden or exposed if all are, else partly hidden."""
    total = np.bincount(number, minlength=size)
    sums = np.bincount(number, fate, minlength=size)
    found = np.full(size, PARTLY, np.uint8)
    found[sums == EXPOSED * total] = EXPOSED  # the highest fate
    found[sums == HIDDEN] = HIDDEN  # which is 0
    return found


def _with_predictions(mentions: Pairing, spans: Pairing) -> Pairing:
    """Return the mentions with the predictions as `leak` counts them: attributes of predictions do not matter."""
    return Pairing(mentions.gold, spans.pred, by_document=spans.by_document, identity=None)


def _exposure(pairing: Pairing, fate: NDArray[np.uint8], ignore: str) -> Exposure:
    """Return the fates, and the parts of gold spans that stay readable, without ignored characters at their ends."""
    gold, masked, ignored = pairing.gold, pairing.once(masked_by, "pred"), IGNORED[ignore]
    rows = np.flatnonzero(fate != HIDDEN)
    row, start, end = masked.gaps(gold.doc[rows], gold.start[rows], gold.end[rows])
    row = rows[row]
    if ignored < 0 or not pairing.letters:
        return Exposure(fate, row, start, end)
    some = np.flatnonzero(pairing.letters.readable(gold.doc[row], gold.start[row], gold.end[row], ignored) > 0)
    start[some], end[some] = pairing.letters.trimmed(gold.doc[row[some]], start[some], end[some], ignored)
    solid = start < end
    return Exposure(fate, row[solid], start[solid], end[solid])
