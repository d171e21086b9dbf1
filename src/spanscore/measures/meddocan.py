"""meddocan: the numbers of the evaluation script of MEDDOCAN, the task of Spanish clinical de-identification."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from spanscore.align.characters import not_alphanumeric
from spanscore.align.coverage import Containers
from spanscore.align.pairing import Pairing, without_repeats
from spanscore.measures.exact import Exact, identical
from spanscore.measures.sentence_counts import NOT_COUNTED, SentenceCounts, sentence_counts
from spanscore.spec import parameter
from spanscore.tally import NO_TYPE, Tally

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spanscore.align.account import Account
    from spanscore.align.characters import Letters
    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Ints, Longs


@dataclass(frozen=True, repr=False)
class MeddocanNer(Exact):
    """Spans with the same start, end and type: MEDDOCAN's subtrack 1.

    As `exact`: P = tp / predicted, R = tp / annotated.

    >>> import spanscore as ss
    >>> gold = ss.Corpus.from_arrays(["S1"], [0, 0], [10, 30], [16, 41], ["TERRITORIO", "CALLE"])
    >>> pred = ss.Corpus.from_arrays(["S1"], [0, 0], [10, 30], [16, 36], ["TERRITORIO", "CALLE"])
    >>> ss.score(gold, pred, ["meddocan.ner"])["meddocan.ner"].counts
    {'tp': 1, 'predicted': 2, 'annotated': 2, 'fp': 1, 'fn': 1}
    """

    name: ClassVar[str] = "meddocan.ner"
    typed: bool = field(default=True, init=False)


@dataclass(frozen=True, repr=False)
class MeddocanSpans(Exact):
    """Spans with the same start and end, regardless of type: MEDDOCAN's subtrack 2, strict.

    As `exact(typed=false)`: P = tp / predicted, R = tp / annotated.

    >>> import spanscore as ss
    >>> gold = ss.Corpus.from_arrays(["S1"], [0], [10], [16], ["TERRITORIO"])
    >>> pred = ss.Corpus.from_arrays(["S1"], [0], [10], [16], ["PAIS"])
    >>> [one.recall for one in ss.score(gold, pred, ["meddocan.ner", "meddocan.spans"]).scores]
    [0.0, 1.0]
    """

    name: ClassVar[str] = "meddocan.spans"
    typed: bool = field(default=False, init=False)


@dataclass(frozen=True, repr=False)
class MeddocanMerged(Exact):
    """Spans with the same start and end, before or after merging neighbours: MEDDOCAN's subtrack 2, merged.

    On each side, a span is merged with the next one if no letter or digit is between them; the merged span ends where
    its last part ends. A true positive is a span that both sides have before merging, or that both have after it. A
    span inside a true positive is not an error. P = tp / (tp + fp), R = tp / (tp + fn). Without text, only spans that
    touch or overlap are merged.

    >>> import spanscore as ss
    >>> text = ["Calle Mayor 1, 28013 Madrid."]
    >>> gold = ss.Corpus.from_arrays(["S1"], [0, 0], [0, 15], [13, 20], ["CALLE", "TERRITORIO"], text=text)
    >>> pred = ss.Corpus.from_arrays(["S1"], [0, 0], [0, 21], [20, 27], ["CALLE", "TERRITORIO"])
    >>> result = ss.score(gold, pred, ["meddocan.spans", "meddocan.merged"])
    >>> [(one.counts["tp"], one.counts["fp"], one.counts["fn"]) for one in result.scores]
    [(0, 2, 2), (0, 2, 2)]
    >>> pred = ss.Corpus.from_arrays(["S1"], [0], [0], [20], ["CALLE"])
    >>> ss.score(gold, pred, ["meddocan.merged"])["meddocan.merged"].counts
    {'tp': 1, 'predicted': 1, 'annotated': 1, 'fp': 0, 'fn': 0}
    """

    name: ClassVar[str] = "meddocan.merged"
    typed: bool = field(default=False, init=False)

    @property
    def local(self) -> bool:
        """Spans may be merged with others that are far away."""
        return False

    def _view(self, pairing: Pairing) -> Pairing:
        return super()._view(pairing).once(_right_or_wrong)


@dataclass(frozen=True, repr=False)
class MeddocanLeak(MeddocanNer):
    """MEDDOCAN's leak score: gold spans that were missed, for each sentence.

    leak = fn / sentences, with P, R and F as in `meddocan.ner`. The number of sentences of each document is its
    metadata field `sentences`, or comes from a file. If any document has none, the leak score is undefined.

    >>> import spanscore as ss
    >>> spans = [{"start": 0, "end": 4, "label": "CALLE"}, {"start": 9, "end": 12, "label": "PAIS"}]
    >>> gold = ss.Corpus.from_documents([{"id": "S1", "spans": spans, "meta": {"sentences": 4}}])
    >>> pred = ss.Corpus.from_documents([{"id": "S1", "spans": spans[:1]}])
    >>> ss.score(gold, pred, ["meddocan.leak"])["meddocan.leak"].counts
    {'tp': 1, 'predicted': 1, 'annotated': 2, 'fp': 0, 'fn': 1, 'sentences': 4, 'leak': 0.25}
    """

    name: ClassVar[str] = "meddocan.leak"
    symmetric: ClassVar[bool] = False
    counts_without_type: ClassVar[tuple[str, ...]] = ("sentences", "leak")
    sentences: str = parameter(
        "meta",
        "Where the number of sentences of each document is: the metadata field `sentences` (meta), a file with lines "
        "of document, tab, number, or a folder with a file DOCUMENT.ann for each, with one line per sentence.",
        choices=("meta", "@file"),
    )

    @property
    def local(self) -> bool:
        """The sentences of a document count once, wherever its spans are."""
        return False

    @property
    def settings(self) -> str:
        """The repr, with a digest of the numbers of sentences if they are from a file."""
        return repr(self) if self.sentences[0] != "@" else f"{self!r}#{self._sentences().digest}"

    def tally(self, pairing: Pairing) -> Tally:
        """Count the spans in both sets, and sentences."""
        found = identical(pairing, same_label=True)[0]
        gold, pred = pairing.gold, pairing.pred
        number = self._sentences().of(gold)
        docs, none = np.arange(len(pairing)), np.full(len(pairing), len(pairing.labels))
        unknown = np.flatnonzero(number == NOT_COUNTED)
        events = {
            "tp": (gold.doc.take(found), gold.label.take(found)),
            "predicted": (pred.doc, pred.label),
            "annotated": (gold.doc, gold.label),
            "sentences": (docs, none, np.maximum(number, 0)),
            "unknown": (docs[unknown], none[unknown]),
        }
        return Tally.count(pairing, events, labels=(*pairing.labels, NO_TYPE))

    def shown(self, counts: Mapping[str, Any]) -> dict[str, Any]:
        """Return the counts and the leak score."""
        shown = super().shown(counts)
        sentences, unknown = np.asarray(counts["sentences"], np.float64), np.asarray(counts["unknown"])
        with np.errstate(divide="ignore", invalid="ignore"):
            leak = np.where((unknown > 0) | (sentences == 0), np.nan, np.asarray(shown["fn"]) / sentences)
        return {**shown, "sentences": counts["sentences"], "leak": leak}

    def notes(self, pairing: Pairing) -> Account:
        """Count the documents without a number of sentences."""
        count = int(np.count_nonzero(self._sentences().of(pairing.gold) == NOT_COUNTED))
        return Counter({("gold", "sentenceless", repr(self)): count} if count else {})

    def _sentences(self) -> SentenceCounts:
        return sentence_counts(self.sentences)


def _right_or_wrong(pairing: Pairing) -> Pairing:
    """Return the true positives on both sides, and the spans of each side that are not inside one."""
    sides = pairing.gold, pairing.pred
    first = [_first_parts(side, pairing.letters) for side in sides]
    merged = [side.with_spans(rows, end=_ends(side, rows)) for side, rows in zip(sides, first, strict=True)]
    before = identical(pairing, same_label=True)
    after = identical(Pairing(merged[0], merged[1], identity=None), same_label=True)

    def true_or_false(number: int) -> Corpus:
        side, rows, joined = sides[number], before[number], after[number]
        right = np.concatenate([rows, first[number][joined]])
        ends = np.concatenate([side.end[rows], merged[number].end[joined]])
        stride = 1 + int(side.end.max(initial=0))
        around = Containers.of(side.doc[right], side.start[right], ends, stride)
        wrong = np.flatnonzero(~around.hold(side.doc, side.start, side.end))
        every, ends = np.concatenate([right, wrong]), np.concatenate([ends, side.end[wrong]])
        return without_repeats(side.with_spans(every, end=ends))

    found = Pairing(true_or_false(0), true_or_false(1), by_document=pairing.by_document, identity=None)
    found.__dict__["letters"] = pairing.letters
    return found


def _first_parts(side: Corpus, letters: Letters) -> Longs:
    """Return the spans that are not merged with the one before them: a letter or digit is between the two."""
    joins = side.doc[1:] == side.doc[:-1]
    gaps = np.flatnonzero(joins & (side.start[1:] > side.end[:-1]))
    low, high = side.end[gaps], side.start[gaps + 1]
    joins[gaps] = letters.count(side.doc[gaps], low, high, not_alphanumeric) == high - low
    return np.flatnonzero(np.append(True, ~joins))[: len(side.doc)]


def _ends(side: Corpus, first: Longs) -> Ints:
    """Return the end of the last part of each merged span."""
    ends: Ints = side.end[np.append(first[1:], len(side.doc))[: len(first)] - 1]
    return ends
