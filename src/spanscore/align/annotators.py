"""Several annotators of the same documents: one gold standard chosen from them, or each of them on its own."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from spanscore.corpus.annotators import ANNOTATOR, ANNOTATORS, separated
from spanscore.corpus.columns import Column, frozen, ranges
from spanscore.corpus.records import refuse_repeated_ids
from spanscore.corpus.strings import Strings
from spanscore.errors import UsageError, unknown

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from spanscore.align.account import Account
    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Bools, Longs

ALL, MAJORITY, UNION, INTERSECTION = "all", "majority", "union", "intersection"
CHOICES = (ALL, MAJORITY, UNION, INTERSECTION)
"""What can be chosen beside the name of an annotator."""
DOCUMENT = "document_id"
"""With `all`, the metadata field with the id of the document that several annotators annotated."""


@dataclass(frozen=True, eq=False)
class Annotators:
    """Who annotated which documents of a corpus.

    A document was annotated by the names in its metadata field `annotators` and by those of its spans (attribute
    `annotator`). Spans without a name belong to an annotator without a name, and so does a document without either.

    >>> from spanscore.corpus import Corpus
    >>> marks = [("ann", 0, 3), ("bob", 0, 3), ("bob", 8, 11)]
    >>> spans = [{"start": a, "end": b, "label": "PER", "attrs": {"annotator": name}} for name, a, b in marks]
    >>> meta = {"annotators": "ann,bob,cid"}
    >>> found = Annotators.of(Corpus.from_documents([{"id": "d", "text": "Ann met Bob", "spans": spans, "meta": meta}]))
    >>> found.names, found.agreed(MAJORITY).start.tolist(), found.agreed(UNION).start.tolist()
    (('ann', 'bob', 'cid'), [0], [0, 8])
    >>> found.agreed(INTERSECTION).start.tolist(), found.only("cid").start.tolist()
    ([], [])
    """

    corpus: Corpus
    names: tuple[str, ...]
    """All annotators, sorted; the empty string is the one without a name."""
    span: Longs
    """The annotator of each span."""
    doc: Longs
    by: Longs
    """Each document with each of its annotators, sorted: `by[i]` annotated `doc[i]`."""

    @classmethod
    def of(cls, corpus: Corpus) -> Annotators:
        """Find the annotators of a corpus."""
        marked, seen = corpus.attrs.get(ANNOTATOR), corpus.meta.get(ANNOTATORS)
        listed = [] if seen is None else [separated(value) for value in seen.values]
        named = [] if marked is None else [str(value) for value in marked.values]
        names = tuple(sorted({"", *named, *(name for one in listed for name in one)}))
        code = {name: number for number, name in enumerate(names)}
        span = np.zeros(len(corpus.start), np.int64)
        if marked is not None:
            span = np.array([*(code[name] for name in named), 0], np.int64)[marked.codes]
        doc, by = [corpus.doc.astype(np.int64)], [span]
        if seen is not None:
            sizes = np.array([*map(len, listed), 0], np.int64)
            flat = np.array([code[name] for one in listed for name in one], np.int64)
            firsts = np.concatenate([[0], np.cumsum(sizes)])[:-1]
            counts = sizes[seen.codes]
            doc.append(np.repeat(np.arange(len(corpus)), counts))
            by.append(flat[ranges(firsts[seen.codes], counts)])
        bare = np.setdiff1d(np.arange(len(corpus)), np.concatenate(doc))
        key = np.unique(
            np.concatenate([*doc, bare]) * len(names) + np.concatenate([*by, np.zeros(len(bare), np.int64)])
        )
        used = np.unique(key % len(names))
        recode = np.zeros(len(names), np.int64)
        recode[used] = np.arange(len(used))
        kept = tuple(names[number] for number in used.tolist())
        return cls(corpus, kept, recode[span], key // len(names), recode[key % len(names)])

    @cached_property
    def several(self) -> Bools:
        """Which documents have more than one annotator."""
        return np.bincount(self.doc, minlength=len(self.corpus)) > 1

    def only(self, name: str) -> Corpus:
        """Return the documents that an annotator saw, with this annotator's spans.

        A document that names no annotator is everybody's.
        """
        codes = [code for code, known in enumerate(self.names) if known == name]
        alone = np.bincount(self.doc, minlength=len(self.corpus)) == 1
        mine = np.isin(self.by, codes)
        if "" in self.names:
            mine |= (self.by == self.names.index("")) & alone[self.doc]
        return self._apart(np.flatnonzero(mine))

    def seen_by(self, name: str) -> Corpus:
        """Return the documents that name an annotator, with this annotator's spans."""
        return self._apart(np.flatnonzero(self.by == self.names.index(name)))

    def apart(self) -> Corpus:
        """Return each document once for each of its annotators, with that annotator's spans.

        Their ids are `id (name)`; the metadata fields `document_id` and `annotator` hold both.
        """
        found = self._apart(np.arange(len(self.doc)))
        names = [self.names[code] for code in self.by.tolist()]
        ids = self.corpus.ids.take(self.doc).tolist()
        shown = Strings.of([f"{name} ({one})" if one else name for name, one in zip(ids, names, strict=True)])
        refuse_repeated_ids(shown, self.corpus.source)
        meta = {**found.meta, DOCUMENT: Column.of(ids), ANNOTATOR: Column.of([name or None for name in names])}
        return found.with_columns(ids=shown, meta=meta)

    def _apart(self, pairs: Longs) -> Corpus:
        """Return these pairs of a document and an annotator as documents."""
        docs, by = self.doc[pairs], self.by[pairs]
        found = self.corpus.take(docs)
        low = self.corpus.bounds[docs]
        rows = ranges(low, self.corpus.bounds[docs + 1] - low)
        return _anonymous(found.with_spans(np.flatnonzero(self.span[rows] == by[found.doc])))

    def agreed(self, choice: str) -> Corpus:
        """Return the spans (document, start, end, label) that enough annotators of a document have.

        `union`: at least one; `majority`: more than half; `intersection`: all. Other attributes come from the
        first annotator (by name) who has the span.
        """
        one = self.corpus
        order = np.lexsort((self.span, one.label, one.end, one.start, one.doc))
        columns = [column[order] for column in (one.doc, one.start, one.end, one.label)]
        new = np.ones(len(order), np.bool_)
        new[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
        by = self.span[order]
        other = new.copy()
        other[1:] |= by[1:] != by[:-1]
        first = np.flatnonzero(new)
        votes = np.add.reduceat(other.astype(np.int64), first) if len(first) else np.zeros(0, np.int64)
        voters = np.bincount(self.doc, minlength=len(one))[columns[0][first]]
        kept = first[{UNION: votes > 0, MAJORITY: 2 * votes > voters, INTERSECTION: votes == voters}[choice]]
        return _anonymous(one.with_spans(np.sort(order[kept])))


def _anonymous(corpus: Corpus) -> Corpus:
    """Return a corpus that no longer says who annotated it."""
    attrs = {key: column for key, column in corpus.attrs.items() if key != ANNOTATOR}
    meta = {key: column for key, column in corpus.meta.items() if key != ANNOTATORS}
    return corpus.with_columns(attrs=attrs, meta=meta)


def together(corpora: Mapping[str, Corpus]) -> Corpus:
    """Return the corpora of annotators as one that names them; all have the same documents and labels in one order.

    A text is that of the first annotator who has it. Whoever is to count as having seen a document must be named in
    the metadata field `annotators` by the caller.
    """
    parts = list(corpora.values())
    sizes = [len(one.doc) for one in parts]
    order = np.argsort(np.concatenate([one.doc for one in parts]), kind="stable")
    start, end, label, doc = (
        np.concatenate([getattr(one, name) for one in parts])[order] for name in ("start", "end", "label", "doc")
    )
    names = Column(frozen(np.repeat(np.arange(len(parts), dtype=np.int32), sizes)[order]), tuple(corpora))
    texts = [None if one.text is None else one.text.tolist() for one in parts]
    first = [
        next((text[row] for text in texts if text and text[row] is not None), None) for row in range(len(parts[0]))
    ]
    return replace(
        parts[0],
        doc=doc,
        start=start,
        end=end,
        label=label,
        score=None,
        attrs={ANNOTATOR: names},
        text=None if all(one is None for one in first) else Strings.of(first),
    )


def names_in(corpus: Corpus) -> frozenset[str]:
    """Return the names of all annotators in a corpus."""
    marked, seen = corpus.attrs.get(ANNOTATOR), corpus.meta.get(ANNOTATORS)
    spans = () if marked is None else map(str, marked.values)
    documents = () if seen is None else (name for value in seen.values for name in separated(value))
    return frozenset((*spans, *documents))


def refuse_unknown(choice: str, names: Collection[str]) -> None:
    """Refuse a choice of annotators where there are none, or a name that none has."""
    if choice and not any(names):
        raise UsageError("the gold data names no annotators; leave out --annotator.")
    if choice and choice not in CHOICES and choice not in names:
        raise UsageError(unknown("annotator", choice, {*filter(None, names), *CHOICES}))


def chosen(corpus: Corpus, choice: str | None) -> Corpus:
    """Return the spans of a choice from a whole corpus, which must know it."""
    if not choice:
        return corpus
    refuse_unknown(choice, names_in(corpus))
    return chosen_gold(corpus, choice)


def chosen_gold(gold: Corpus, choice: str) -> Corpus:
    """Return the gold data of a choice: the name of an annotator, majority, union, intersection or all."""
    if not choice:
        return gold
    found = Annotators.of(gold)
    if choice == ALL:
        return found.apart()
    return found.agreed(choice) if choice in CHOICES else found.only(choice)


def choose(gold: Corpus, pred: Corpus, choice: str) -> tuple[Corpus, Corpus, Account]:
    """Return the gold data of a choice, and the predictions for its documents.

    Documents that the chosen annotator did not see are left out on both sides. With `all`, the predictions for a
    document are repeated for each of its annotators. Predictions for documents that are not in the gold data are kept.
    """
    account: Account = Counter()
    if not choice:
        if ANNOTATOR in gold.attrs and (count := int(Annotators.of(gold).several.sum())):
            account["gold", "annotators", ""] = count
        return gold, pred, account
    kept = chosen_gold(gold, choice)
    if choice in CHOICES and choice != ALL:
        return kept, pred, account
    extra = np.flatnonzero(gold.ids.find(pred.ids) < 0)
    if choice == ALL:
        rows = pred.ids.find(Strings.of(kept.meta[DOCUMENT].tolist()))
        present = rows >= 0
        ids = [kept.ids.take(np.flatnonzero(present)), pred.ids.take(extra)]
        found = pred.take(np.concatenate([rows[present], extra])).with_columns(ids=Strings.concat(ids))
        return kept, found, account
    if unseen := len(gold) - len(kept):
        account["gold", "unseen", choice] = unseen
    rows = pred.ids.find(kept.ids)
    return kept, pred.take(np.sort(np.concatenate([rows[rows >= 0], extra]))), account
