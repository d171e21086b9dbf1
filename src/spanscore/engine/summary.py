"""Summaries of inputs, and doubts whether gold data and predictions belong together."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spanscore.errors import printable
from spanscore.formats import class_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from spanscore.align.levels import LevelNaming, View
    from spanscore.corpus import Corpus


@dataclass
class InputSummary:
    """Where an input comes from, how much it holds, and its fingerprint; summaries add."""

    source: str = ""
    format: str = ""
    format_reason: str = ""
    documents: int = 0
    spans: int = 0
    sum: int = 0
    notes: tuple[str, ...] = ()
    labels: frozenset[str] = frozenset()
    scored: int = 0
    """Number of spans with a score."""
    texts: int = 0
    """Number of documents with text."""

    @classmethod
    def of(cls, corpus: Corpus) -> InputSummary:
        """Summarise a corpus."""
        return cls(
            corpus.source,
            corpus.format,
            corpus.format_reason,
            len(corpus),
            len(corpus.start),
            corpus.fingerprint_sum,
            corpus.notes,
            frozenset(corpus.labels),
            0 if corpus.score is None else int(np.count_nonzero(~np.isnan(corpus.score))),
            0 if corpus.text is None else corpus.text.present,
        )

    def __add__(self, other: InputSummary) -> InputSummary:
        named = self if self.source else other
        return InputSummary(
            named.source,
            named.format,
            named.format_reason,
            self.documents + other.documents,
            self.spans + other.spans,
            (self.sum + other.sum) % 2**64,
            tuple(dict.fromkeys((*self.notes, *other.notes))),
            self.labels | other.labels,
            self.scored + other.scored,
            self.texts + other.texts,
        )

    @property
    def fingerprint(self) -> str:
        """The fingerprint of everything that was added."""
        return f"{self.sum:016x}"

    def shown(self) -> dict[str, object]:
        """Return the summary as results contain it."""
        return {
            "source": self.source or None,
            "format": self.format or None,
            "format_reason": self.format_reason or None,
            "documents": self.documents,
            "spans": self.spans,
            "fingerprint": self.fingerprint,
        }


def doubts(gold: InputSummary, pred: InputSummary, system: str, view: View) -> list[str]:
    """Return a warning for each sign that the two inputs do not belong together, or not in this way."""
    found = []
    if gold.spans and gold.source and pred.source and gold.sum == pred.sum:
        found.append(f"{system}: the gold data and the predictions are the same; is one of the files the wrong one?")
    if gold.scored and gold.scored == gold.spans and not pred.scored and gold.texts < pred.texts:
        found.append(
            f"{system}: the gold data has scores and the predictions have none; are the two files in the wrong order?"
        )
    elif (
        gold.source
        and gold.scored
        and gold.scored == gold.spans
        and not gold.texts
        and not class_of(gold.format).scores_gold
    ):
        found.append(f"{system}: the gold data has scores and no text, as predictions do; is it the right file?")
    ours, theirs = _renamed(gold.labels, view.gold), _renamed(pred.labels, view.pred)
    alike = different_spellings(ours, theirs, "in the gold data", "in the predictions")
    found += [f"{system}: {sentence}" for sentence in alike]
    if ours and theirs and not ours & theirs and not alike:
        listed = [_listed(sorted(side)[:3]) for side in (ours, theirs)]
        found.append(
            f"{system}: the two sides have no label in common: the gold data has {listed[0]}, the predictions "
            f"{listed[1]}; use --map{'' if view.gold.taxonomy else ' or --level branch'} to align them for measures "
            "that compare labels."
        )
    return found


def different_spellings(ours: Collection[str], theirs: Collection[str], first: str, second: str) -> list[str]:
    """Return a sentence for each label that the two sides seem to spell differently; `first` and `second` say where.

    >>> different_spellings({"PERSON"}, {"Person", "person"}, "of ann", "of bob")
    ['the labels PERSON of ann and Person, person of bob are different labels; if they mean the same, give --map.']
    """
    return [
        f"the labels {_listed(one)} {first} and {_listed(other)} {second} are different labels; if they mean the same, "
        "give --map."
        for one, other in similar_labels(ours, theirs)
    ]


def doubtful_offsets(corpus: Corpus) -> str | None:
    """Return a warning if the offsets of a corpus with text seem to count something other than code points."""
    from spanscore.formats import REGISTRY
    from spanscore.formats.doctor import suspicion

    return suspicion(corpus, REGISTRY.make(corpus.format or "spanscore"))


def doubting(gold: Corpus, pred: Corpus) -> Corpus:
    """Return predictions without text with a note if their offsets look wrong on the texts of the gold data."""
    if pred.text is not None or gold.text is None or not len(pred.start) or gold.ids != pred.ids:
        return pred
    length = np.repeat(gold.text.lengths, np.diff(pred.bounds))
    if ((pred.end > length) & (length >= 0)).any():
        return pred
    doubt = doubtful_offsets(pred.with_columns(text=gold.text))
    return pred if doubt is None else pred.with_columns(notes=(*pred.notes, f"{pred.source or 'predictions'}: {doubt}"))


def similar_labels(ours: Collection[str], theirs: Collection[str]) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the labels of one side that differ from labels of the other only in case, `_`, `-` or blanks.

    >>> similar_labels({"PATIENT", "PHONE_NUMBER"}, {"Patient", "patient", "PHONE_NUMBER", "phone-number"})
    [(('PATIENT',), ('Patient', 'patient'))]
    """
    first, second = _spellings(ours, theirs), _spellings(theirs, ours)
    return [(spellings, second[key]) for key, spellings in first.items() if key in second]


def _spellings(mine: Collection[str], others: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the labels that only this side has, those that differ only in spelling together."""
    found: dict[str, tuple[str, ...]] = {}
    for label in sorted(mine):
        if label not in others:
            found[_key(label)] = (*found.get(_key(label), ()), label)
    return found


def _listed(labels: Iterable[str]) -> str:
    return ", ".join(map(printable, labels))


def _key(label: str) -> str:
    return re.sub(r"[\W_]+", "", label).casefold()


def _renamed(labels: Iterable[str], naming: LevelNaming) -> set[str]:
    return {to for one in labels if (to := naming.called(one)) is not None}
