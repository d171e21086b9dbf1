"""Pairing: gold and one system on one footing, with documents joined by id and labels coded by one table."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeVar, cast

import numpy as np

from spanscore.align.characters import Letters
from spanscore.align.labels import LabelMap
from spanscore.align.resolve import Resolve, resolved
from spanscore.corpus.columns import Column
from spanscore.corpus.records import refuse_repeated_ids
from spanscore.corpus.strings import Strings
from spanscore.errors import InputError, UsageError, plural, printable
from spanscore.overlap import Overlaps, overlaps

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from numpy.typing import NDArray

    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Bools, Floats, Longs

Extra = Literal["refuse", "ignore", "score"]
T = TypeVar("T")
P = ParamSpec("P")
Account = Counter[tuple[str, str, str]]
"""Counts of documents or spans of a side that were left out or merged: (side, what, detail) -> count. Accounts add."""
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
    def overlaps(self) -> Overlaps:
        """Every pair of a gold and a predicted span that share a character."""
        return overlaps(self.gold, self.pred)

    @cached_property
    def iou(self) -> Floats:
        """The intersection over union of each overlapping pair; two empty spans in one place have 1."""
        both = self.overlaps
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

    def as_one(self) -> Pairing:
        """Return the same pairing, to be counted as if its documents were one."""
        return replace(self, account=Counter(), by_document=False, _cache={})

    def _part(self, cut: Callable[[Corpus], Corpus], by_document: bool) -> Pairing:
        rows = None if self.rows is None else self.rows._part(cut, by_document)
        return Pairing(cut(self.gold), cut(self.pred), by_document=by_document, rows=rows, identity=self.identity)

    def once(self, make: Callable[Concatenate[Pairing, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return `make(self, *args)`, computed once for all measures that ask for it.

        The result may be the pairing itself, which is not stored: that would keep it, and what it was read from, alive.
        """
        key = (make, *args, *kwargs.items())
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
    label_map: LabelMap | None = None,
    extra_documents: Extra = "refuse",
    resolve: Resolve = "none",
    resolve_gold: bool = True,
) -> Pairing:
    """Put gold and predicted spans on one footing, and account for what was left out.

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
    refuse_repeated_ids(gold.ids, gold.source or "gold")
    if pred.ids != gold.ids:
        refuse_repeated_ids(pred.ids, pred.source or system)
    if gold.unit != pred.unit:
        units = [one.unit or "characters" for one in (gold, pred)]
        what = f"the offsets count {units[1]}, but those of the gold data {units[0]}; read both in the same way."
        raise InputError(what, pred.source or system)
    refuse_split_differently(gold, pred, system)
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
    once, every = [], []
    for number, (side, corpus) in enumerate(zip(("gold", system), sides, strict=True)):
        rows, crowded = _sorted(corpus)
        spans = distinct(rows) if crowded else rows
        how: Resolve = resolve if number or resolve_gold else "none"
        settled, removed = resolved(spans, how)
        if how != "none":
            repeated = len(rows.doc) - len(spans.doc)
            account.update({(side, "repeated", ""): repeated} if repeated else {})
            account.update({(side, "resolved", ""): removed} if removed else {})
        once.append(settled)
        every.append(rows if how == "none" else settled)
    same = every[0] is once[0] and every[1] is once[1]
    return Pairing(once[0], once[1], account, rows=None if same else Pairing(every[0], every[1], identity=None))


def describe(account: Account) -> list[str]:
    """Return a sentence for each entry of an account, in an order that does not depend on that of documents.

    >>> describe(Counter({("base", "repeated", ""): 2, ("gold", "dropped", "MISC"): 1}))
    ['gold: 1 span labelled MISC was left out by the label map.', 'base: 2 duplicate spans count once.']
    """
    sentences = []
    for (side, what, detail), count in sorted(account.items(), key=_reporting_order):
        one = count == 1
        sentence = {
            "missing": f"{plural(count, 'gold document')} without output; "
            f"{'its' if one else 'their'} spans count as missed",
            "ignored": f"{plural(count, 'document')} {'is' if one else 'are'} not in the gold data and "
            f"{'was' if one else 'were'} left out",
            "scored": f"{plural(count, 'document')} {'is' if one else 'are'} not in the gold data; "
            f"{'its' if one else 'their'} spans count as spurious",
            "dropped": f"{plural(count, 'span')} labelled {printable(detail)} {'was' if one else 'were'} "
            "left out by the label map",
            "resolved": f"{plural(count, 'span')} that overlap{'s' if one else ''} a better one "
            f"{'was' if one else 'were'} left out by --resolve",
            "repeated": f"{plural(count, 'duplicate span')} count{'s' if one else ''} once"
            + (f" in {detail}" if detail else ""),
        }[what]
        sentences.append(f"{side}: {sentence}.")
    return sentences


def _reporting_order(item: tuple[tuple[str, str, str], int]) -> tuple[int, bool, str]:
    (side, what, detail), _ = item
    kinds = ("missing", "ignored", "scored", "dropped", "repeated", "resolved")
    return kinds.index(what), side != "gold", detail


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


def _join(gold: Corpus, pred: Corpus, system: str, extra: Extra, account: Account) -> tuple[Corpus, Corpus]:
    """Return both sides with the same documents, in the order of the gold data."""
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
    """Refuse documents whose texts differ: offsets would not refer to the same characters."""
    if gold.text is None or pred.text is None or gold.text == pred.text:
        return
    for name, ours, theirs in zip(gold.ids, gold.text, pred.text, strict=True):
        if ours is not None and theirs is not None and ours != theirs:
            pairs = zip(ours, theirs, strict=False)
            place = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(ours), len(theirs)))
            message = f"the text differs from the gold text at character {place}; offsets must refer to one text."
            raise InputError(message, f'{pred.source or system}: document "{printable(name)}"')


def refuse_split_differently(gold: Corpus, pred: Corpus, system: str) -> None:
    """Refuse files with numbered documents, which have no ids of their own, if they are split differently."""
    if len(gold) == len(pred) or not any(one.format.startswith("conll") for one in (gold, pred)):
        return
    texts = [None if one.text is None or not len(one) else one.text[0] for one in (gold, pred)]
    if None not in texts and texts[0] != texts[1]:
        what = f"{plural(len(pred), 'document')} against {len(gold)} in the gold data: the files are split differently"
        raise InputError(f"{what}; mark documents with -DOCSTART- in both or in neither.", pred.source or system)


def _fit_text(gold: Corpus, pred: Corpus, system: str) -> None:
    """Refuse a span past the end of the text that the other side has: it was made on another text."""
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
