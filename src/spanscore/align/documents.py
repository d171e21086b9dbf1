"""Pairing: gold and one system, documents joined by id, spans in one order with one set of labels."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeVar, cast

import numpy as np

from spanscore.align.labels import LabelMap
from spanscore.align.resolve import Resolve, resolved
from spanscore.align.text import Letters
from spanscore.columns import Column, Strings
from spanscore.errors import InputError, UsageError, printable
from spanscore.overlap import Overlaps, overlaps
from spanscore.records import refuse_repeated_ids

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from spanscore.columns import Bools, Floats, Longs
    from spanscore.corpus import Corpus

Extra = Literal["refuse", "ignore", "score"]
T = TypeVar("T")
Account = Counter[tuple[str, str, str]]
"""How many documents or spans of a side did not fit: (side, what, label) -> count; accounts add."""


@dataclass(frozen=True, eq=False)
class Pairing:
    """Gold and predicted spans of the same documents, sorted, without duplicates, labels coded by one sorted table."""

    gold: Corpus
    pred: Corpus
    account: Account = field(default_factory=Counter)
    by_document: bool = True
    attributed: Pairing | None = None
    _made: dict[Hashable, object] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.gold)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of both sides, sorted."""
        return self.gold.labels

    @property
    def mentions(self) -> Pairing:
        """The same spans, those told apart that differ in their attributes alone: two entities in one place."""
        return self if self.attributed is None else self.attributed

    @cached_property
    def overlaps(self) -> Overlaps:
        """Every gold and predicted span that share a character."""
        return overlaps(self.gold, self.pred)

    @cached_property
    def iou(self) -> Floats:
        """The intersection over union of each pair of the overlaps; that of two empty spans in one place is 1."""
        both = self.overlaps
        sizes = [(side.end - side.start).astype(np.int64) for side in (self.gold, self.pred)]
        union = sizes[0].take(both.gold) + sizes[1].take(both.pred) - both.shared
        return np.where(union == 0, 1.0, both.shared / np.maximum(union, 1))

    @cached_property
    def letters(self) -> Letters:
        """The texts of the documents, character by character."""
        return Letters.of(self.gold, self.pred)

    @cached_property
    def text(self) -> list[str | None]:
        """Each document's text, from whichever side has it."""
        return self.letters.strings.tolist()

    def blocks(self, documents: int, *, by_document: bool = True) -> Iterator[Pairing]:
        """The pairing in pieces of so many documents, each small enough for the processor's cache.

        Without `by_document`, each piece is to be counted as if its documents were one.
        """
        if len(self) <= documents and by_document == self.by_document:
            yield self
            return
        for first in range(0, max(len(self), 1), documents):
            last = min(first + documents, len(self))
            yield self._part(lambda side: side.block(first, last), by_document)  # noqa: B023

    def take(self, docs: Longs) -> Pairing:
        """The pairing of these documents."""
        return self._part(lambda side: side.take(docs), self.by_document)

    def of_type(self) -> Iterator[Pairing]:
        """The spans of each label by themselves."""
        for label in range(len(self.labels)):
            yield self._part(lambda side: side.with_spans(np.flatnonzero(side.label == label)), self.by_document)  # noqa: B023

    def as_one(self) -> Pairing:
        """The same, to be counted as if its documents were one."""
        return Pairing(self.gold, self.pred, by_document=False, attributed=self.attributed)

    def _part(self, cut: Callable[[Corpus], Corpus], by_document: bool) -> Pairing:
        attributed = None if self.attributed is None else self.attributed._part(cut, by_document)
        return Pairing(cut(self.gold), cut(self.pred), by_document=by_document, attributed=attributed)

    def once(self, key: Hashable, make: Callable[[Pairing], T]) -> T:
        """What is made of this pairing under this key, made once for all measures that ask for it.

        It may be the pairing itself, which is not kept: it would keep itself, and what it was read from, alive.
        """
        if key not in self._made:
            made = make(self)
            self._made[key] = _ITSELF if made is self else made
        made_before = self._made[key]
        return cast("T", self if made_before is _ITSELF else made_before)

    def map_sides(self, change: Callable[[Corpus], Corpus]) -> Pairing:
        """The pairing with both sides changed; itself, overlaps and all, if nothing did change."""
        gold, pred = change(self.gold), change(self.pred)
        if gold is self.gold and pred is self.pred:
            return self
        changed = Pairing(gold, pred, by_document=self.by_document)
        changed.__dict__["letters"] = self.letters
        return changed


_ITSELF = object()


def pair(
    gold: Corpus,
    pred: Corpus,
    *,
    system: str = "pred",
    label_map: LabelMap | None = None,
    extra_documents: Extra = "refuse",
    resolve: Resolve = "none",
    resolve_gold: bool = True,
) -> Pairing:
    """Put gold and a system's spans on one footing, and account for what did not fit.

    >>> from spanscore.corpus import Corpus
    >>> gold = Corpus.from_arrays(["a", "b"], [0, 1], [0, 0], [3, 3], ["X", "X"])
    >>> pred = Corpus.from_arrays(["b"], [0, 0], [0, 0], [3, 3], ["Y", "Y"])
    >>> pairing = pair(gold, pred)
    >>> pairing.labels, pairing.account
    (('X', 'Y'), Counter({('pred', 'missing', ''): 1, ('pred', 'repeated', ''): 1}))
    """
    if extra_documents not in ("refuse", "ignore", "score"):
        raise UsageError("extra_documents is one of refuse, ignore, score.")
    account: Account = Counter()
    label_map = label_map or LabelMap()
    refuse_repeated_ids(gold.ids, gold.source or "gold")
    if pred.ids != gold.ids:
        refuse_repeated_ids(pred.ids, pred.source or system)
    gold, pred = _join(gold, pred, system, extra_documents, account)
    _compare_texts(gold, pred, system)
    _fit_text(gold, pred, system)
    sides = []
    for side, corpus in (("gold", gold), (system, pred)):
        mapped, dropped = label_map.apply(corpus)
        account.update({(side, "dropped", label): count for label, count in dropped.items()})
        sides.append(mapped)
    labels = tuple(sorted({*sides[0].labels, *sides[1].labels}))
    sides = list(_one_table(recode(sides[0], labels), recode(sides[1], labels)))
    plain, full = [], []
    for number, (side, corpus) in enumerate(zip(("gold", system), sides, strict=True)):
        ordered, repeated = in_order(corpus)
        account.update({(side, "repeated", ""): repeated} if repeated else {})
        apart = in_order(corpus, by_attributes=True)[0] if repeated and corpus.attrs else ordered
        how: Resolve = resolve if number or resolve_gold else "none"
        ordered, removed = resolved(ordered, how)
        account.update({(side, "resolved", ""): removed} if removed else {})
        plain.append(ordered)
        full.append(ordered if how != "none" or len(apart.doc) == len(ordered.doc) else apart)
    attributed = None if full[0] is plain[0] and full[1] is plain[1] else Pairing(full[0], full[1])
    return Pairing(plain[0], plain[1], account, attributed=attributed)


def describe(account: Account) -> list[str]:
    """What did not fit, a sentence each, in an order that does not depend on that of documents.

    >>> describe(Counter({("base", "repeated", ""): 2, ("gold", "dropped", "MISC"): 1}))
    ['gold: 1 span labelled MISC was left out by the label map.', 'base: 2 duplicate spans count once.']
    """
    sentences = []
    for (side, what, label), count in sorted(account.items(), key=_in_turn):
        one = count == 1
        sentence = {
            "missing": f"{count} gold document{'' if one else 's'} without output; "
            f"{'its' if one else 'their'} spans count as missed",
            "ignored": f"{count} document{' is' if one else 's are'} not in the gold data and "
            f"{'was' if one else 'were'} left out",
            "scored": f"{count} document{' is' if one else 's are'} not in the gold data; "
            f"{'its' if one else 'their'} spans count as spurious",
            "dropped": f"{count} span{'' if one else 's'} labelled {printable(label)} {'was' if one else 'were'} "
            "left out by the label map",
            "resolved": f"{count} span{'' if one else 's'} that overlap{'s' if one else ''} a better one "
            f"{'was' if one else 'were'} left out by --resolve",
            "repeated": f"{count} duplicate span{'' if one else 's'} count{'s' if one else ''} once",
        }[what]
        sentences.append(f"{side}: {sentence}.")
    return sentences


def _in_turn(item: tuple[tuple[str, str, str], int]) -> tuple[int, bool, str]:
    (side, what, label), _ = item
    kinds = ("missing", "ignored", "scored", "dropped", "repeated", "resolved")
    return kinds.index(what), side != "gold", label


def recode(corpus: Corpus, labels: tuple[str, ...]) -> Corpus:
    """The corpus with its labels coded by another table, which has them all."""
    if corpus.labels == labels:
        return corpus
    place = {label: code for code, label in enumerate(labels)}
    codes = np.array([place[label] for label in corpus.labels] or [0], np.int32)
    return corpus.with_columns(label=codes.take(corpus.label), labels=labels)


def in_order(corpus: Corpus, *, by_attributes: bool = False) -> tuple[Corpus, int]:
    """The corpus with spans sorted by document, start, end and label, and how many duplicates were taken out.

    Of duplicates the one with the best score and then the first attributes stays; `by_attributes`, those whose
    attributes differ are none.
    """
    first = corpus.doc * np.int64(int(corpus.end.max(initial=0)) + 1) + corpus.start
    if (first[1:] > first[:-1]).all():
        return corpus, 0
    second = corpus.end * np.int64(len(corpus.labels)) + corpus.label
    after = (first[1:] > first[:-1]) | ((first[1:] == first[:-1]) & (second[1:] > second[:-1]))
    if after.all():
        return corpus, 0
    order = np.lexsort((second, first))
    repeated = _differ(order, first, second)
    if corpus.attrs and not repeated.all():
        attributes = [_ranks(corpus.attrs[name]) for name in sorted(corpus.attrs, reverse=True)]
        scores = [] if corpus.score is None else [np.where(np.isnan(corpus.score), np.inf, -corpus.score)]
        if by_attributes:
            order = np.lexsort((*scores, *attributes, second, first))
            repeated = _differ(order, first, second, *attributes)
        else:
            order = np.lexsort((*attributes, *scores, second, first))
    new = np.concatenate([[True], repeated])
    kept = order[new]
    if corpus.score is None or new.all():
        return corpus.with_spans(kept), int(np.count_nonzero(~new))
    best = np.fmax.reduceat(corpus.score[order], np.flatnonzero(new))
    return corpus.with_spans(kept, score=best), int(np.count_nonzero(~new))


def _differ(order: Longs, *columns: Longs) -> Bools:
    """For each row in this order but the first: whether it differs from the row before."""
    differs = np.zeros(max(len(order) - 1, 0), np.bool_)
    for column in columns:
        differs |= column[order[1:]] != column[order[:-1]]
    return differs


def _ranks(column: Column) -> Longs:
    """The values of a column as numbers in an order that does not depend on the order of rows."""
    order = sorted(range(len(column.values)), key=lambda code: repr(column.values[code]))
    rank = np.empty(len(order) + 1, np.int64)
    rank[order] = np.arange(len(order))
    rank[-1] = -1
    return rank[column.codes]


def _one_table(gold: Corpus, pred: Corpus) -> tuple[Corpus, Corpus]:
    """Both sides with one table of values for each attribute, so that codes can be compared."""
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


def _join(gold: Corpus, pred: Corpus, system: str, extra: Extra, account: Account) -> tuple[Corpus, Corpus]:
    """Both sides with the same documents in the gold's order."""
    if gold.ids == pred.ids:
        return gold, pred
    rows = pred.ids.find(gold.ids)
    ids = gold.ids
    if missing := int(np.count_nonzero(rows < 0)):
        account[system, "missing", ""] += missing
    beside = np.ones(len(pred), np.bool_)
    beside[rows[rows >= 0]] = False
    if beside.any():
        more = np.flatnonzero(beside)
        if extra == "refuse":
            what = f"{len(more)} documents are not in the gold data, first"
            what = what if len(more) > 1 else "a document is not in the gold data,"
            hint = "give --extra-documents ignore to leave such documents out, or score to count them as wrong."
            name = printable(pred.ids[int(more[0])])
            raise InputError(f'{what} "{name}"; {hint}', pred.source or system)
        account[system, "ignored" if extra == "ignore" else "scored", ""] += len(more)
        if extra == "score":
            ids = Strings.concat([ids, pred.ids.take(more)])
            rows = np.concatenate([rows, more])
            gold = gold.take(np.append(np.arange(len(gold)), np.full(len(more), -1))).with_columns(ids=ids)
    return gold, pred.take(rows).with_columns(ids=ids)


def _compare_texts(gold: Corpus, pred: Corpus, system: str) -> None:
    """Where both sides have a document's text, it must be the same: else their offsets do not mean the same."""
    if gold.text is None or pred.text is None or gold.text == pred.text:
        return
    for name, ours, theirs in zip(gold.ids, gold.text, pred.text, strict=True):
        if ours is not None and theirs is not None and ours != theirs:
            pairs = zip(ours, theirs, strict=False)
            place = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(ours), len(theirs)))
            message = f"the text differs from the gold text at character {place}; offsets would not mean the same."
            raise InputError(message, f'{pred.source or system}: document "{printable(name)}"')


def _fit_text(gold: Corpus, pred: Corpus, system: str) -> None:
    """A span past the end of the text that the other side has was made on another text."""
    for mine, other, side, whose in ((pred, gold, system, "gold"), (gold, pred, "gold", system)):
        if other.text_length is None:
            continue
        length = np.repeat(other.text_length, np.diff(mine.bounds))
        past = np.flatnonzero((mine.end > length) & (length >= 0))
        if past.size:
            row = int(past[0])
            what = f"the end {mine.end[row]} of a span is past the {whose} text, which has {length[row]} characters"
            where = f'{mine.source or side}: document "{printable(gold.ids[mine.doc[row]])}"'
            raise InputError(f"{what}; offsets count code points from 0, ends are exclusive.", where)
