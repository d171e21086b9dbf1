"""tab: how well masking protects people, as the Text Anonymization Benchmark counts it."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from spanscore.align.characters import not_word
from spanscore.align.coverage import Containers
from spanscore.align.pairing import IDENTITY, Pairing
from spanscore.align.vocabulary import vocabulary
from spanscore.corpus.annotators import ANNOTATOR
from spanscore.corpus.columns import pieces, ranges
from spanscore.errors import InputError, printable
from spanscore.measures.interface import Measure
from spanscore.measures.judgement import EXPOSED, HIDDEN, PARTLY, Exposure, Judgement
from spanscore.measures.leak import masked_by
from spanscore.measures.leak_entities import ATTRIBUTES, entities
from spanscore.spec import parameter
from spanscore.tally import NO_TYPE, Tally

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from spanscore.align.characters import Letters
    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Bools, Ints, Longs

    Parts = tuple[Longs, Ints | Longs, Ints | Longs]
    """Parts of predictions: rows, starts and ends."""

IDENTIFIER = "identifier"
"""The attribute that says what a span identifies a person by: DIRECT, QUASI or NO_MASK."""
NO_MASK = "NO_MASK"
BLOCK = 1 << 22
"""Characters, or questions about parts of predictions, that are looked at together: nested spans have n² of them."""
WORDS = frozenset(
    (
        *(
            "mr",
            "mrs",
            "ms",
            "no",
            "nr",
            "the",
            "a",
            "an",
            "and",
            "or",
            "about",
            "after",
            "as",
            "at",
            "before",
            "between",
        ),
        *("by", "during", "for", "from", "in", "into", "of", "on", "over", "since", "to", "until", "with"),
    )
)
"""Words that may stay readable in a mention; so may the characters below, and 's."""
CHARACTERS = ",.-;:/&()[]–'\" \N{NO-BREAK SPACE}’“”"


def _must_be_masked(codes: NDArray[Any]) -> Bools:
    """Return which code points are neither part of a word nor may they stay readable."""
    return not_word(codes) & ~np.isin(codes, [ord(c) for c in CHARACTERS])


@dataclass(frozen=True, eq=False)
class Annotations:
    """Gold mentions by annotator and entity."""

    mentions: Corpus
    """The mentions, labelled by the type of their entity: that of its first mention."""
    needed: Bools
    """Whether each mention is an identifier."""
    entity: Longs
    """The number of the entity of each mention; entities of two annotators are two."""
    of: Ints
    """The first mention of each entity."""
    identifying: Bools
    """Whether any mention of each entity is an identifier."""
    direct: Bools
    """Whether any mention of each entity is a direct identifier."""
    annotators: Longs
    """How many people annotated each document; at least one."""
    annotator: Longs
    """The number of the annotator of each mention, counted over all documents."""


@dataclass(frozen=True, repr=False)
class Tab(Measure):
    """What masking every prediction does to the identifiers that annotators have marked."""

    type_blind: ClassVar[bool] = True
    masks: ClassVar[bool] = True
    counts_without_type: ClassVar[tuple[str, ...]] = ("right", "predicted")
    identifiers: str = parameter(
        "all",
        "Identifiers that recall is about: all, direct ones or quasi-identifiers.",
        choices=("all", "direct", "quasi"),
    )
    ignore: str = parameter(
        "words",
        "Parts of a mention that need not be masked: punctuation, spaces and words such as Mr and of (words), or none.",
        choices=("words", "none"),
    )

    @property
    def identity(self) -> tuple[str, ...]:
        """Place, type, annotator, entity and kind of identifier."""
        return (*IDENTITY, ANNOTATOR, *ATTRIBUTES, IDENTIFIER)

    def judge(self, pairing: Pairing) -> Judgement:
        """Judge a mention as right if it is masked, and a prediction if an annotator's mention holds it."""
        spans, found = self._annotations(pairing)
        rows = np.flatnonzero(self._chosen(found)[found.entity])
        gold, pred = found.mentions.with_spans(rows), spans.pred
        masked = self._masked(spans, gold.doc, gold.start, gold.end)
        cover = spans.once(masked_by, "pred")
        fate = np.where(cover.within(gold.doc, gold.start, gold.end) == 0, EXPOSED, PARTLY).astype(np.uint8)
        fate[masked] = HIDDEN
        open_ = np.flatnonzero(~masked)
        row, start, end = cover.gaps(gold.doc[open_], gold.start[open_], gold.end[open_])
        right = _approved(found, pred, np.arange(len(pred.doc)), pred.start, pred.end)[1] > 0
        judged = Pairing(gold, pred, by_document=pairing.by_document, identity=None)
        judged.__dict__["letters"] = spans.letters
        return Judgement(
            judged,
            cell=np.where(masked, gold.label, -1).astype(np.int32),
            partner=np.full(len(rows), -1),
            iou=np.zeros(len(rows)),
            right=right,
            wrong_for=np.full(len(right), -1),
            unmatched=np.flatnonzero(~right),
            exposure=Exposure(fate, open_[row], start, end),
        )

    def ratios(self, counts: Mapping[str, Any]) -> tuple[Any, Any, Any, Any]:
        """Return what annotators approve of what is predicted, and what is masked of what is annotated."""
        return counts["right"], counts["predicted"], counts["masked"], counts["annotated"]

    def shown(self, counts: Mapping[str, Any]) -> dict[str, Any]:
        """Return the counts as they are."""
        return dict(counts)

    def _annotations(self, pairing: Pairing) -> tuple[Pairing, Annotations]:
        spans = self.counted_spans(pairing)
        return spans, spans.distinct(self.identity).once(_annotations)

    def _chosen(self, found: Annotations) -> Bools:
        """Return the entities that recall is about."""
        if self.identifiers == "all":
            return found.identifying
        return found.identifying & (found.direct if self.identifiers == "direct" else ~found.direct)

    def _masked(self, spans: Pairing, doc: Ints, start: Ints | Longs, end: Ints | Longs) -> Bools:
        """Return which ranges masking leaves unreadable, except for what may stay readable."""
        blocks = [self._masked_of(spans, doc[rows], start[rows], end[rows]) for rows in _blocks(start, end)]
        return np.concatenate(blocks)

    def _masked_of(self, spans: Pairing, doc: Ints, start: Ints | Longs, end: Ints | Longs) -> Bools:
        cover, letters = spans.once(masked_by, "pred"), spans.letters
        masked: Bools = cover.within(doc, start, end) == end - start
        if self.ignore == "none" or not letters:
            return masked
        missing = letters.strings.missing
        rows = np.flatnonzero(~masked if missing is None else ~masked & ~missing.take(doc))
        doc, start, end = doc[rows], start[rows], end[rows]
        owner, low, high = letters.pieces(doc, start, end, not_word)
        of = doc[owner]
        word = np.flatnonzero(cover.within(of, low, high) < high - low)
        word = word[~vocabulary(WORDS).has(letters, of[word], low[word], high[word])]
        word = word[~_genitive(letters, of[word], start[owner[word]], low[word], high[word])]
        readable = np.bincount(owner[word], minlength=len(rows)) > 0
        gap, low, high = cover.gaps(doc, start, end)
        others = letters.count(doc[gap], low, high, _must_be_masked)
        readable |= np.bincount(gap, others, minlength=len(rows)) > 0
        masked[rows] = ~readable
        return masked

    def _count(
        self, spans: Pairing, found: Annotations, units: tuple[Ints, Ints, Bools], predicted: Parts | None = None
    ) -> Tally:
        """Count gold units, given as documents, labels and whether they are masked, and parts of predictions."""
        doc, label, masked = units
        hit = np.flatnonzero(masked)
        events: dict[str, tuple[Any, ...]] = {"masked": (doc[hit], label[hit]), "annotated": (doc, label)}
        if predicted is not None:
            where = spans.pred.doc[predicted[0]]
            none = np.full(len(where), len(spans.labels))
            asked, approved = _approved(found, spans.pred, *predicted)
            events |= {"right": (where, none, approved), "predicted": (where, none, asked)}
        return Tally.count(spans, events, labels=(*spans.labels, NO_TYPE))


@dataclass(frozen=True, repr=False)
class TabMention(Tab):
    """Mentions of identifiers that masking every prediction hides.

    An entity is what spans with the attribute `entity`, `kbid` or `eid` mention; its identifier is DIRECT, QUASI or
    NO_MASK (attribute `identifier`; without it, every entity is to be masked). A mention is masked if predictions cover
    it, except for punctuation and words such as Mr and of. R = masked / annotated, over all mentions of entities to be
    masked, of all annotators (attribute `annotator`). P = right / predicted: each prediction counts once for each
    annotator of the document, and is right for one who has a mention to be masked that holds it.

    >>> import spanscore as ss
    >>> def mention(start, end, who):
    ...     return {"start": start, "end": end, "label": "PERSON", "attrs": {"annotator": who, "identifier": "DIRECT"}}
    >>> spans = [mention(0, 13, "ann1"), mention(3, 13, "ann2"), mention(22, 27, "ann2")]
    >>> gold = ss.Corpus.from_documents([{"id": "d", "text": "Mr John Smith met his Smith", "spans": spans}])
    >>> pred = ss.Corpus.from_arrays(["d"], [0], [3], [13], ["ENTITY"])
    >>> ss.score(gold, pred, ["tab.mention"])["tab.mention"].counts
    {'masked': 2, 'annotated': 3, 'right': 2, 'predicted': 2}
    """

    name: ClassVar[str] = "tab.mention"

    def tally(self, pairing: Pairing) -> Tally:
        """Count mentions and predictions."""
        spans, found = self._annotations(pairing)
        rows = np.flatnonzero(self._chosen(found)[found.entity])
        gold, pred = found.mentions.with_spans(rows), spans.pred
        units = gold.doc, gold.label, self._masked(spans, gold.doc, gold.start, gold.end)
        return self._count(spans, found, units, (np.arange(len(pred.doc)), pred.start, pred.end))


@dataclass(frozen=True, repr=False)
class TabToken(Tab):
    """Tokens of identifiers that masking every prediction hides.

    As `tab.mention`, with the words of mentions and of predictions (runs of letters, digits and underscores).

    >>> import spanscore as ss
    >>> text = ["Mr John Smith was here"]
    >>> gold = ss.Corpus.from_arrays(["d"], [0], [0], [13], ["PERSON"], text=text)
    >>> pred = ss.Corpus.from_arrays(["d"], [0], [3], [17], ["ENTITY"])
    >>> ss.score(gold, pred, ["tab.token"])["tab.token"].counts
    {'masked': 3, 'annotated': 3, 'right': 2, 'predicted': 3}
    """

    name: ClassVar[str] = "tab.token"
    counts_spans: ClassVar[bool] = False

    def tally(self, pairing: Pairing) -> Tally:
        """Count tokens."""
        spans, found = self._annotations(pairing)
        _refuse_without_text(spans)
        rows = np.flatnonzero(self._chosen(found)[found.entity])
        gold, pred = found.mentions.with_spans(rows), spans.pred
        no_words = np.zeros(0, np.int64)
        counted = []
        for block in _blocks(gold.start, gold.end):
            owner, start, end = self._words(spans, gold, block)
            units = gold.doc[owner], gold.label[owner], self._masked(spans, gold.doc[owner], start, end)
            counted.append(self._count(spans, found, units, (no_words, no_words, no_words)))
        nothing = gold.doc[:0], gold.label[:0], np.zeros(0, np.bool_)
        words = (self._words(spans, pred, block) for block in _blocks(pred.start, pred.end))
        return Tally.sum([*counted, *(self._count(spans, found, nothing, some) for some in words)])

    def _words(self, spans: Pairing, side: Corpus, block: slice) -> Parts:
        """Return the words of some spans: rows, starts and ends."""
        owner, start, end = spans.letters.pieces(side.doc[block], side.start[block], side.end[block], not_word)
        return owner + block.start, start, end


@dataclass(frozen=True, repr=False)
class TabEntity(Tab):
    """Entities whose mentions are all hidden when every prediction is masked.

    As `tab.mention`, but an entity is masked if all its mentions that are identifiers are. R = masked / annotated. P is
    undefined.

    >>> import spanscore as ss
    >>> gold = ss.Corpus.from_arrays(["d"], [0, 0], [0, 8], [3, 11], ["PERSON"] * 2, text=["Ana met Ana."])
    >>> pred = ss.Corpus.from_arrays(["d"], [0], [0], [3], ["ENTITY"])
    >>> ss.score(gold, pred, ["tab.entity"])["tab.entity"].counts
    {'masked': 0, 'annotated': 1}
    """

    name: ClassVar[str] = "tab.entity"
    recall_of_spans: ClassVar[bool] = False  # it counts entities
    counts_without_type: ClassVar[tuple[str, ...]] = ()
    f_without_hits: ClassVar[float] = nan

    def has_precision(self, over: str) -> bool:
        """There is none."""
        return False

    def ratios(self, counts: Mapping[str, Any]) -> tuple[Any, Any, Any, Any]:
        """Return no precision, and the share of entities that are masked."""
        return counts["masked"] * 0, counts["masked"] * 0, counts["masked"], counts["annotated"]

    def tally(self, pairing: Pairing) -> Tally:
        """Count entities."""
        spans, found = self._annotations(pairing)
        gold = found.mentions
        open_ = found.needed & ~self._masked(spans, gold.doc, gold.start, gold.end)
        masked = np.bincount(found.entity[open_], minlength=len(found.of)) == 0
        chosen = np.flatnonzero(self._chosen(found))
        first = found.of[chosen]
        return self._count(spans, found, (gold.doc[first], gold.label[first], masked[chosen]))


def _annotations(pairing: Pairing) -> Annotations:
    """Group mentions by annotator and entity."""
    gold = pairing.gold
    who = np.zeros(len(gold.doc), np.int64)
    if ANNOTATOR in gold.attrs:
        who += gold.attrs[ANNOTATOR].codes + 1
    people = int(who.max(initial=0)) + 1
    shared = entities(pairing)[0]
    _, first, entity = np.unique(shared * people + who, return_index=True, return_inverse=True)
    needed, direct = np.ones(len(gold.doc), np.bool_), np.zeros(len(gold.doc), np.bool_)
    if IDENTIFIER in gold.attrs:
        column = gold.attrs[IDENTIFIER]
        needed = np.array([*(value != NO_MASK for value in column.values), True])[column.codes]
        direct = np.array([*(value == "DIRECT" for value in column.values), False])[column.codes]
    known, place = np.unique(gold.doc * np.int64(people) + who, return_inverse=True)
    several = np.bincount(known // people, minlength=len(gold))
    annotators = np.maximum(several, 1)
    before = (np.cumsum(annotators) - annotators) - (np.cumsum(several) - several)  # documents without any count one
    return Annotations(
        mentions=gold.with_columns(label=gold.label[first][entity] if len(first) else gold.label),
        needed=needed,
        entity=entity,
        of=first,
        identifying=np.bincount(entity[needed], minlength=len(first)) > 0,
        direct=np.bincount(entity[direct], minlength=len(first)) > 0,
        annotators=annotators,
        annotator=place + before[gold.doc],
    )


def _approved(
    found: Annotations, pred: Corpus, rows: Longs, start: Ints | Longs, end: Ints | Longs
) -> tuple[Longs, Longs]:
    """Return how many people annotated the document of each part of a prediction, and how many masked that part too."""
    doc = pred.doc[rows]
    asked = found.annotators[doc]
    gold = found.mentions
    stride = 2 + max(int(side.end.max(initial=0)) for side in (gold, pred))
    to_mask = np.flatnonzero(found.needed)
    within = Containers.of(found.annotator[to_mask], gold.start[to_mask], gold.end[to_mask], stride)
    first = np.cumsum(found.annotators) - found.annotators
    approved = np.zeros(len(rows), np.int64)
    for low, high in pieces(asked, BLOCK):
        part = np.repeat(np.arange(low, high), asked[low:high])
        held = within.hold(ranges(first[doc[low:high]], asked[low:high]), start[part], end[part])
        approved[low:high] = np.bincount(part[held] - low, minlength=high - low)
    return asked, approved


def _blocks(start: Ints | Longs, end: Ints | Longs) -> Iterator[slice]:
    """Yield slices of ranges that have no more characters than are looked at together; at least one."""
    found = [slice(low, high) for low, high in pieces(end.astype(np.int64) - start, BLOCK)]
    yield from found or [slice(0, 0)]


def _genitive(letters: Letters, doc: Ints, mention: Ints | Longs, start: Longs, end: Longs) -> Bools:
    """Return which words are the s of 's, after another word of the mention that starts at `mention`."""
    found: Bools = (end - start == 1) & (start - mention >= 2)
    rows = np.flatnonzero(found)
    codes, at = letters.places(doc[rows], start[rows])
    is_s = np.isin(codes.take(at), [ord("s"), ord("S")])
    apostrophe = np.isin(codes.take(at - 1), [ord("'"), ord("’")])
    found[rows] = is_s & apostrophe & ~not_word(codes.take(at - 2))
    return found


def _refuse_without_text(pairing: Pairing) -> None:
    if pairing.letters.complete:
        return
    for doc in np.unique(np.concatenate([pairing.gold.doc, pairing.pred.doc])).tolist():
        if pairing.text[doc] is None:
            name = printable(pairing.gold.ids[doc])
            raise InputError(f'the document "{name}" has no text, which tab.token needs; add it to the gold data.')
