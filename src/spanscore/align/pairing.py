"""Pairing: the gold data and one system side by side, with documents joined by id and labels coded by one table."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, cast

import numpy as np

from spanscore.align.account import Account
from spanscore.align.characters import Letters
from spanscore.align.coverage import Coverage
from spanscore.align.documents import Extra, compare_texts, fit_text, join, refuse_split_differently
from spanscore.align.ignored_spans import leave_out_ignored, leave_out_unannotated, masking
from spanscore.align.invented import set_apart
from spanscore.align.labels import LabelMap, Naming
from spanscore.align.resolve import Resolve, resolved
from spanscore.corpus.columns import Column
from spanscore.corpus.records import refuse_repeated_ids
from spanscore.errors import InputError, UsageError
from spanscore.overlap import Join, Overlaps

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterator, Sequence

    from numpy.typing import NDArray

    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Bools, Floats, Longs

T = TypeVar("T")
P = ParamSpec("P")
PLACE = ("docid", "start", "end")
IDENTITY = (*PLACE, "type")
"""What makes two spans of one side identical, unless a measure declares otherwise."""


@dataclass(frozen=True, eq=False)
class Pairing:
    """Gold and predicted spans of the same documents, sorted, with labels coded by one sorted table.

    `gold` and `pred` hold spans that are distinct in document, start, end and label. `rows` holds every row of the
    input where that differs; measures with another identity take their spans from there, by `distinct`.
    """

    gold: Corpus
    pred: Corpus
    account: Account = field(default_factory=Counter)
    by_document: bool = True
    rows: Pairing | None = None
    identity: tuple[str, ...] | None = IDENTITY
    """The fields in which the spans of each side are known to be distinct; None: not known."""
    text_ends: Longs | None = None
    """Where each document's own text ends, if invented mentions stand after it (see `align.invented`)."""
    as_masks: Pairing | None = None
    """The gold spans with all predictions that mask text, where types were left out or overlapping spans settled."""
    _cache: dict[Hashable, object] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.gold)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of both sides, sorted."""
        return self.gold.labels

    def distinct(self, identity: tuple[str, ...]) -> Pairing:
        """Return the spans that are distinct in these fields: docid, start, end, type or an attribute."""
        known = self.identity
        if known is not None and (identity == known or (self.rows is None and set(identity) >= set(known))):
            return self
        return (self.rows or self).once(_distinct_sides, identity)

    @property
    def mentions(self) -> Pairing:
        """The spans that differ in place, label or any attribute: two entities in one place are two mentions."""
        return self.distinct((*IDENTITY, *sorted({*self.gold.attrs, *self.pred.attrs})))

    def repeated(self, identity: tuple[str, ...]) -> tuple[int, int]:
        """Count the gold and predicted rows that repeat another row in these fields."""
        every, once = self.rows or self, self.distinct(identity)
        return len(every.gold.doc) - len(once.gold.doc), len(every.pred.doc) - len(once.pred.doc)

    @cached_property
    def join(self) -> Join:
        """The overlaps of the two sides, as ranges of partners."""
        return Join(self.gold, self.pred)

    @cached_property
    def overlaps(self) -> Overlaps:
        """Every pair of a gold and a predicted span that share a character; `overlap_blocks` needs less memory."""
        return self.join.all()

    @property
    def dense(self) -> bool:
        """Whether there are too many overlaps to hold them all at once."""
        return "overlaps" not in self.__dict__ and self.join.dense

    def overlap_blocks(self) -> Iterator[Overlaps]:
        """Yield the overlaps in blocks of bounded size, each with all pairs of some consecutive gold rows.

        Unless spans overlap very often there is one block, which is computed once for all measures.
        """
        return self.join.blocks() if self.dense else iter([self.overlaps])

    def shared_by(self, both: Overlaps) -> Overlaps:
        """Return overlapping pairs of rows, found with other offsets, with what they share by the offsets here."""
        gold, pred = self.gold, self.pred
        low = np.maximum(gold.start.take(both.gold), pred.start.take(both.pred))
        high = np.minimum(gold.end.take(both.gold), pred.end.take(both.pred))
        return Overlaps(both.gold, both.pred, np.maximum(high - low, 0).astype(np.int64))

    def iou(self, both: Overlaps) -> Floats:
        """Return the intersection over union of overlapping pairs; two empty spans in one place have 1."""
        sizes = [(side.end - side.start).astype(np.int64) for side in (self.gold, self.pred)]
        union = sizes[0].take(both.gold) + sizes[1].take(both.pred) - both.shared
        return np.where(union == 0, 1.0, both.shared / np.maximum(union, 1))

    @cached_property
    def letters(self) -> Letters:
        """The texts of the documents as code points."""
        return Letters.of(self.gold, self.pred)

    @cached_property
    def text(self) -> list[str | None]:
        """Each document's text, from whichever side has it."""
        return self.letters.strings.tolist()

    def own_text(self, doc: int) -> str | None:
        """Return the text of a document without the invented mentions that stand after it."""
        text = self.text[doc]
        return text if text is None or self.text_ends is None else text[: int(self.text_ends[doc])]

    def own_texts(self) -> dict[str, str | None]:
        """Return the texts of all documents by id, without invented mentions."""
        if self.text_ends is None:
            return dict(zip(self.gold.ids, self.text, strict=True))
        return {name: self.own_text(doc) for doc, name in enumerate(self.gold.ids)}

    def in_text(self, pred: Corpus) -> Corpus:
        """Return predictions of this pairing with invented mentions as empty spans at the end of the text."""
        if self.text_ends is None:
            return pred
        ends = self.text_ends[pred.doc]
        start, end = np.minimum(pred.start, ends), np.minimum(pred.end, ends)
        return pred.with_columns(start=start.astype(np.int32), end=end.astype(np.int32))

    def blocks(self, documents: int, *, by_document: bool = True) -> Iterator[Pairing]:
        """Yield the pairing in pieces of this many documents, each small enough for the processor's cache.

        Without `by_document`, each piece is counted as if its documents were one.
        """
        if len(self) <= documents and by_document == self.by_document:
            yield self
            return
        for first in range(0, max(len(self), 1), documents):
            last = min(first + documents, len(self))
            yield self._part(lambda side: side.block(first, last), by_document)  # noqa: B023

    def take(self, docs: Longs) -> Pairing:
        """Return the pairing of these documents."""
        return self._part(lambda side: side.take(docs), self.by_document)

    def of_type(self) -> Iterator[Pairing]:
        """Yield the spans of each label by themselves."""
        for label in range(len(self.labels)):
            yield self._part(lambda side: side.with_spans(np.flatnonzero(side.label == label)), self.by_document)  # noqa: B023

    def of_gold_type(self) -> Iterator[tuple[str, Pairing]]:
        """Yield each label of gold spans, and its gold spans with the predictions that overlap them, of any label."""
        for label in np.unique(self.gold.label).tolist():
            yield self.labels[label], self.of_gold(lambda part: part.gold.label == label)  # noqa: B023

    def of_gold(self, chosen: Callable[[Pairing], Bools]) -> Pairing:
        """Return the chosen gold spans with the predictions that overlap them."""
        gold = self.gold.with_spans(np.flatnonzero(chosen(self)))
        stride = 2 + max(int(side.end.max(initial=0)) for side in (gold, self.pred))
        near = Coverage.of(gold, stride).touches(gold, self.pred)
        return Pairing(
            gold,
            self.pred.with_spans(np.flatnonzero(near)),
            by_document=self.by_document,
            rows=None if self.rows is None else self.rows.of_gold(chosen),
            identity=self.identity,
            as_masks=None if self.as_masks is None else self.as_masks.of_gold(chosen),
        )

    def as_one(self) -> Pairing:
        """Return the same pairing, to be counted as if its documents were one."""
        return replace(self, account=Counter(), by_document=False, _cache={})

    def _part(self, cut: Callable[[Corpus], Corpus], by_document: bool) -> Pairing:
        rows, masks = (None if one is None else one._part(cut, by_document) for one in (self.rows, self.as_masks))
        sides = cut(self.gold), cut(self.pred)
        return Pairing(*sides, by_document=by_document, rows=rows, identity=self.identity, as_masks=masks)

    def once(self, make: Callable[Concatenate[Pairing, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return `make(self, *args)`, computed once for all measures that ask for it.

        The result may be the pairing itself, which is not stored: that would keep it, and what it was read from, alive.
        """
        key = (make, args, tuple(kwargs.items()))
        if key not in self._cache:
            made = make(self, *args, **kwargs)
            self._cache[key] = _ITSELF if made is self else made
        made_before = self._cache[key]
        return cast("T", self if made_before is _ITSELF else made_before)

    def map_sides(self, change: Callable[[Corpus], Corpus]) -> Pairing:
        """Return the pairing with both sides changed; itself, with its overlaps, if neither did change."""
        gold, pred = change(self.gold), change(self.pred)
        if gold is self.gold and pred is self.pred:
            return self
        changed = Pairing(gold, pred, by_document=self.by_document, identity=None)
        changed.__dict__["letters"] = self.letters
        return changed


_ITSELF = object()


def _distinct_sides(pairing: Pairing, identity: tuple[str, ...]) -> Pairing:
    found = pairing.map_sides(lambda side: distinct(side, identity))
    if found is pairing:
        return pairing
    changed = replace(found, identity=identity)
    changed.__dict__["letters"] = pairing.letters
    return changed


def pair(
    gold: Corpus,
    pred: Corpus,
    *,
    system: str = "pred",
    label_map: Naming | None = None,
    pred_map: Naming | None = None,
    extra_documents: Extra = "refuse",
    resolve: Resolve = "none",
    resolve_gold: bool = True,
    ignore: Collection[str] = (),
) -> Pairing:
    """Pair gold and predicted spans, and account for what was left out.

    `label_map` says what labels are called, on both sides unless the predictions have a `pred_map` of their own.

    >>> from spanscore.corpus import Corpus
    >>> gold = Corpus.from_arrays(["a", "b"], [0, 1], [0, 0], [3, 3], ["X", "X"])
    >>> pred = Corpus.from_arrays(["b"], [0, 0], [0, 0], [3, 3], ["Y", "Y"])
    >>> pairing = pair(gold, pred)
    >>> pairing.labels, pairing.account, pairing.repeated(IDENTITY)
    (('X', 'Y'), Counter({('pred', 'missing', ''): 1}), (0, 1))
    """
    if extra_documents not in ("refuse", "ignore", "score"):
        raise UsageError("extra_documents must be one of refuse, ignore, score.")
    account: Account = Counter()
    label_map = label_map or LabelMap()
    namings = label_map, pred_map or label_map
    refuse_repeated_ids(gold.ids, gold.source or "gold")
    if pred.ids != gold.ids:
        refuse_repeated_ids(pred.ids, pred.source or system)
    if gold.unit != pred.unit:
        units = [one.unit or "characters" for one in (gold, pred)]
        what = f"the offsets count {units[1]}, but those of the gold data {units[0]}; read both in the same way."
        raise InputError(what, pred.source or system)
    refuse_split_differently(gold, pred, system)
    gold, pred = join(gold, pred, system, extra_documents, account)
    compare_texts(gold, pred, system)
    fit_text(gold, pred, system)
    gold, pred, text_ends = set_apart(gold, pred)
    sides = []
    for side, corpus, naming in zip(("gold", system), (gold, pred), namings, strict=True):
        mapped, dropped = naming.apply(corpus)
        for label, count in dropped.items():
            account[side, naming.cause(label), label] += count
        sides.append(mapped)
    sides = list(leave_out_unannotated(sides[0], sides[1], system, account))
    sides = list(leave_out_ignored(sides[0], sides[1], ignore, system, account))
    masks = None
    if ignore or len(sides[0].doc) < len(gold.doc) or len(sides[1].doc) < len(pred.doc):
        masks = masking(gold, pred, sides[0], namings, ignore)
    before = _arranged(sides[0], sides[1])
    once, every = [], []
    for number, (side, (spans, rows)) in enumerate(zip(("gold", system), before, strict=True)):
        how: Resolve = resolve if number or resolve_gold else "none"
        settled, removed = resolved(spans, how)
        if how != "none":
            repeated = len(rows.doc) - len(spans.doc)
            account.update({(side, "repeated", ""): repeated} if repeated else {})
            account.update({(side, "resolved", how): removed} if removed else {})
        once.append(settled)
        every.append(rows if how == "none" else settled)
    if masks is not None:
        before = _arranged(sides[0], masks)
    elif once[0] is before[0][0] and once[1] is before[1][0]:
        before = []
    as_masks = _pairing(*zip(*before, strict=True)) if before else None
    return replace(_pairing(once, every), account=account, as_masks=as_masks, text_ends=text_ends)


def _arranged(gold: Corpus, pred: Corpus) -> list[tuple[Corpus, Corpus]]:
    """Return the distinct spans and all rows of each side, sorted, with labels and attributes coded by one table."""
    labels = tuple(sorted({*gold.labels, *pred.labels}))
    found = []
    for corpus in _one_table(recode(gold, labels), recode(pred, labels)):
        rows, crowded = _sorted(corpus)
        found.append((distinct(rows) if crowded else rows, rows))
    return found


def _pairing(once: Sequence[Corpus], every: Sequence[Corpus]) -> Pairing:
    """Return a pairing of distinct spans, and of all rows if these are more."""
    same = every[0] is once[0] and every[1] is once[1]
    return Pairing(once[0], once[1], rows=None if same else Pairing(every[0], every[1], identity=None))


def recode(corpus: Corpus, labels: tuple[str, ...]) -> Corpus:
    """Return the corpus with its labels coded by another table, which must have them all."""
    if corpus.labels == labels:
        return corpus
    place = {label: code for code, label in enumerate(labels)}
    codes = np.array([place[label] for label in corpus.labels] or [0], np.int32)
    return corpus.with_columns(label=codes.take(corpus.label), labels=labels)


def in_order(corpus: Corpus) -> Corpus:
    """Return the corpus with its spans sorted by document, start, end and label; every row stays."""
    return _sorted(corpus)[0]


def _sorted(corpus: Corpus) -> tuple[Corpus, bool]:
    """Return the sorted corpus, and whether two of its spans may begin at one place."""
    first = corpus.doc * np.int64(int(corpus.end.max(initial=0)) + 1) + corpus.start
    if (first[1:] > first[:-1]).all():
        return corpus, False
    second = corpus.end * np.int64(len(corpus.labels)) + corpus.label
    after = (first[1:] > first[:-1]) | ((first[1:] == first[:-1]) & (second[1:] >= second[:-1]))
    return (corpus if after.all() else corpus.with_spans(np.lexsort((second, first)))), True


def distinct(corpus: Corpus, identity: tuple[str, ...] = IDENTITY) -> Corpus:
    """Return a sorted corpus without rows that repeat another one in these fields, place included.

    Of identical rows, the one with the best score stays, then the one whose attributes come first.
    """
    same_place = (corpus.start[1:] == corpus.start[:-1]) & (corpus.end[1:] == corpus.end[:-1])
    if not (same_place & (corpus.doc[1:] == corpus.doc[:-1])).any():
        return corpus
    columns: list[NDArray[Any]] = [corpus.doc, corpus.start, corpus.end]
    columns += [corpus.label] if "type" in identity else []
    columns += [_ranks(corpus.attrs[name]) for name in identity if name in corpus.attrs]
    better: list[NDArray[Any]] = [_ranks(corpus.attrs[name]) for name in sorted(corpus.attrs, reverse=True)]
    better += [] if corpus.score is None else [np.where(np.isnan(corpus.score), np.inf, -corpus.score)]
    order = np.lexsort((corpus.label, *better, *reversed(columns)))
    new = np.concatenate([[True], _differ(order, *columns)])
    if new.all():
        return corpus
    kept = order[new]
    back = np.argsort(kept, kind="stable") if "type" not in identity else np.arange(len(kept))
    score = None if corpus.score is None else np.fmax.reduceat(corpus.score[order], np.flatnonzero(new))[back]
    return in_order(corpus.with_spans(kept[back], score=score))


def without_repeats(corpus: Corpus) -> Corpus:
    """Return the corpus with its spans sorted and distinct."""
    return distinct(in_order(corpus))


def _differ(order: Longs, *columns: NDArray[Any]) -> Bools:
    """Return for each row in this order, except the first, whether it differs from the row before."""
    differs = np.zeros(max(len(order) - 1, 0), np.bool_)
    for column in columns:
        differs |= column[order[1:]] != column[order[:-1]]
    return differs


def _ranks(column: Column) -> Longs:
    """Return the values of a column as numbers, ordered independently of the order of rows."""
    order = sorted(range(len(column.values)), key=lambda code: repr(column.values[code]))
    rank = np.empty(len(order) + 1, np.int64)
    rank[order] = np.arange(len(order))
    rank[-1] = -1
    return rank[column.codes]


def _one_table(gold: Corpus, pred: Corpus) -> tuple[Corpus, Corpus]:
    """Return both sides with one table of values per attribute, so that codes can be compared."""
    names = sorted({*gold.attrs, *pred.attrs})
    if not names:
        return gold, pred
    size = len(gold.doc)
    columns = {
        name: Column.concat([(gold.attrs.get(name), size), (pred.attrs.get(name), len(pred.doc))]) for name in names
    }
    return (
        gold.with_columns(attrs={name: column.take(slice(0, size)) for name, column in columns.items()}),
        pred.with_columns(attrs={name: column.take(slice(size, None)) for name, column in columns.items()}),
    )
