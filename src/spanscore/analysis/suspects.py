"""Gold spans that may be wrong: what systems agree on against the gold data, and where it contradicts itself."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from spanscore.align.annotators import ALL, chosen
from spanscore.align.documents import compare_texts, fit_text, join
from spanscore.align.labels import LabelMap
from spanscore.align.pairing import recode, without_repeats
from spanscore.arguments import checked
from spanscore.corpus.strings import Strings
from spanscore.engine.inputs import Inputs
from spanscore.errors import InputError, UsageError, plural, printable
from spanscore.overlap import Join

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from spanscore.align.account import Account
    from spanscore.align.labels import GivenMap
    from spanscore.corpus import Corpus
    from spanscore.engine.inputs import Data, Systems
    from spanscore.formats import Format

SYSTEMS, LABELS, REPEAT = "systems", "two labels", "repeat"
"""Why a span is suspected: systems agree, its text has another label elsewhere, its text is labelled nearby."""
LONGEST = 1000
"""Texts of spans that are compared have at most this many characters: those of nested spans add up to n²."""
MOST = 1 << 20
"""Pairs of suspects and gold spans that overlap, all of which are listed."""
SHORTEST = 3
"""Characters of a text whose repeats are looked for; shorter ones are often other words."""


class Marked(NamedTuple):
    """A span of the gold data."""

    start: int
    end: int
    label: str

    def __str__(self) -> str:
        return f"{printable(self.label)} [{self.start}, {self.end})"


@dataclass(frozen=True)
class Suspect:
    """A span that the gold data may lack, or have with the wrong label or boundaries."""

    document: str
    start: int
    end: int
    label: str
    """The label that the span should have, if the suspicion is right."""
    gold: tuple[Marked, ...]
    """The gold spans that it overlaps."""
    reasons: tuple[str, ...]
    systems: tuple[str, ...] = ()
    score: float | None = None
    """The mean score of the systems' predictions; None if they have no scores."""
    text: str | None = field(default=None, repr=False)
    explanation: str = ""
    share: float = field(default=0.0, repr=False)
    """With two labels, the share of the suggested one among all spans with this text."""


@dataclass(frozen=True, eq=False)
class Suspects:
    """The suspects, the most probable errors first, and the gold data that they are in."""

    found: tuple[Suspect, ...]
    gold: Corpus
    warnings: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Suspects({plural(len(self.found), 'span')})"


@checked
def suspects(
    gold: Data,
    systems: Systems,
    *,
    min_score: float = 0.5,
    min_systems: int | None = None,
    gold_format: str | Format | None = None,
    pred_format: str | Format | None = None,
    pred_map: GivenMap = None,
    annotator: str | None = None,
) -> Suspects:
    """Find spans of the gold data that may be wrong, ranked by the number of systems that say so and their scores.

    A span that at least `min_systems` systems predict (default: two, or the only one) with a score of at least
    `min_score`, and that the gold data does not have; predictions without a score count. Then texts that the gold data
    labels in two ways, and texts that it labels in one place of a document but not in another. `pred_map` renames the
    labels of predictions; `annotator` chooses the gold data from several annotators, as in `score`.

    >>> from spanscore.corpus import Corpus
    >>> text = "Ann met Bob. Ann left."
    >>> gold = Corpus.from_arrays(["d"], [0], [0], [3], ["PER"], text=[text])
    >>> a = Corpus.from_arrays(["d"], [0, 0], [0, 8], [3, 11], ["PER", "PER"], score=[0.9, 0.8])
    >>> b = Corpus.from_arrays(["d"], [0], [8], [11], ["PER"], score=[0.6])
    >>> for one in suspects(gold, {"a": a, "b": b}).found:
    ...     print(one.text, one.label, one.reasons, one.systems, one.score)
    Bob PER ('systems',) ('a', 'b') 0.7
    Ann PER ('repeat',) () None
    """
    if not 0 <= min_score <= 1:
        raise UsageError("the minimum score must be between 0 and 1.")
    enough = min(2, len(systems)) if min_systems is None else min_systems
    if systems and not 1 <= enough <= len(systems):
        raise UsageError(f"the number of systems must be between 1 and {len(systems)}.")
    if annotator == ALL:
        raise UsageError("suspects need a single version of the gold data; choose majority, for example.")
    rename = LabelMap.of(pred_map)
    formats = {"gold_format": gold_format, "pred_format": pred_format}
    inputs = Inputs.of(gold, systems or {"": gold}, annotator=annotator, **formats)
    original = chosen(inputs.gold.corpus(), annotator)
    annotated = without_repeats(original)
    read = {name: data.corpus() for name, data in inputs.systems.items()} if systems else {}
    sides = [_side(annotated, rename.apply(one)[0], name, min_score) for name, one in read.items()]
    texts = _texts([original, *sides])
    found = _Found(annotated, texts)
    if sides:
        found.add(_agreed(annotated, dict(zip(read, sides, strict=True)), enough))
    found.add(_two_labels(annotated, texts))
    found.add(_repeats(annotated, texts))
    notes = [note for one in (original, *read.values()) for note in one.notes]
    notes += rename.unused({label for one in read.values() for label in one.labels})
    if missing := sum(text is None for text in texts):
        what = f"{plural(missing, 'document')} without text; only systems can say what is wrong there"
        notes.append(f"{original.source or 'gold'}: {what}.")
    return Suspects(found.ranked(), original, tuple(dict.fromkeys(notes)))


class _Span(NamedTuple):
    """A suspicion about a span of a document, before it is joined with others about the same span."""

    doc: int
    place: Marked
    reason: str
    why: str
    systems: tuple[str, ...] = ()
    score: float | None = None
    share: float = 0.0


class _Found:
    """Suspicions, joined where they are about the same span with the same label."""

    def __init__(self, gold: Corpus, texts: Sequence[str | None]) -> None:
        self._gold, self._texts = gold, texts
        self._spans: dict[tuple[int, Marked], list[_Span]] = {}

    def add(self, found: Iterable[_Span]) -> None:
        """Add suspicions."""
        for one in found:
            self._spans.setdefault((one.doc, one.place), []).append(one)

    def ranked(self) -> tuple[Suspect, ...]:
        """Return the suspects: first those that most systems agree on, then by score, reasons and share."""
        places = sorted(self._spans, key=lambda one: (one[0], one[1]))
        touched = self._overlapped(places)
        found = [
            self._suspect(place, self._spans[place], tuple(over)) for place, over in zip(places, touched, strict=True)
        ]
        order = sorted(
            range(len(found)),
            key=lambda row: (
                -len(found[row].systems),
                -(found[row].score or 0.0),
                -len(found[row].reasons),
                -found[row].share,
                row,
            ),
        )
        return tuple(found[row] for row in order)

    def _overlapped(self, places: list[tuple[int, Marked]]) -> list[list[Marked]]:
        """Return the gold spans that each place overlaps."""
        labels = tuple(sorted({*self._gold.labels, *(place.label for _, place in places)}))
        code = {label: number for number, label in enumerate(labels)}
        columns = np.array(
            [(doc, place.start, place.end, code[place.label]) for doc, place in places], np.int32
        ).reshape(-1, 4)
        gold = recode(self._gold, labels)
        doc, start, end, label = (np.ascontiguousarray(column) for column in columns.T)
        side = replace(gold, doc=doc, start=start, end=end, label=label, score=None, attrs={}, tokens=None)
        found: list[list[Marked]] = [[] for _ in places]
        pairs = Join(gold, side)
        if pairs.pairs > MOST:
            what = f"suspects overlap {pairs.pairs:,} times with gold spans, more than the limit of {MOST:,}"
            raise InputError(f"{what}; raise --min-score or --min-systems, or leave out nested spans.")
        for block in pairs.blocks():
            for a, b in zip(block.gold.tolist(), block.pred.tolist(), strict=True):
                found[b].append(_marked(gold, a))
        return found

    def _suspect(self, at: tuple[int, Marked], listed: list[_Span], over: tuple[Marked, ...]) -> Suspect:
        doc, place = at
        text = self._texts[doc]
        agreed = next((one for one in listed if one.systems), None)
        has = f"the gold data has {', '.join(map(str, over))}" if over else "the gold data has nothing there"
        said = [f"{one.why}; {has}" if one.systems else one.why for one in listed]
        return Suspect(
            self._gold.ids[doc],
            place.start,
            place.end,
            place.label,
            tuple(sorted(over)),
            tuple(dict.fromkeys(one.reason for one in listed)),
            () if agreed is None else agreed.systems,
            None if agreed is None else agreed.score,
            None if text is None else text[place.start : place.end],
            " ".join(f"{one[:1].upper()}{one[1:]}." for one in said),
            max(one.share for one in listed),
        )


def _side(gold: Corpus, pred: Corpus, system: str, least: float) -> Corpus:
    """Return the confident predictions of a system, with the documents of the gold data in their order."""
    account: Account = Counter()
    _, pred = join(gold, pred, system, "refuse", account)
    compare_texts(gold, pred, system)
    fit_text(gold, pred, system)
    if pred.score is not None:
        pred = pred.with_spans(np.flatnonzero(~(pred.score < least)))
    return without_repeats(pred)


def _agreed(gold: Corpus, sides: Mapping[str, Corpus], enough: int) -> Iterator[_Span]:
    """Yield the spans that enough systems have and the gold data does not."""
    labels = tuple(sorted({label for one in (gold, *sides.values()) for label in one.labels}))
    corpora = [recode(one, labels) for one in (gold, *sides.values())]
    columns = [
        np.concatenate([getattr(one, name) for one in corpora]).astype(np.int64)
        for name in ("doc", "start", "end", "label")
    ]
    who = np.repeat(np.arange(len(corpora)), [len(one.doc) for one in corpora])
    nothing = [np.full(len(one.doc), np.nan) if one.score is None else one.score for one in corpora]
    score = np.concatenate(nothing)
    order = np.lexsort((who, *reversed(columns)))
    new = np.ones(len(order), np.bool_)
    new[1:] = np.logical_or.reduce([column[order[1:]] != column[order[:-1]] for column in columns])
    first = np.flatnonzero(new)
    size = np.diff(np.append(first, len(order)))
    kept = (who[order[first]] > 0) & (size >= enough)  # rows of the gold data come first in their group
    names = list(sides)
    for begin, count in zip(first[kept].tolist(), size[kept].tolist(), strict=True):
        rows = order[begin : begin + count]
        doc, start, end, label = (int(column[rows[0]]) for column in columns)
        scores = [value for value in score[rows].tolist() if not math.isnan(value)]
        mean = math.fsum(scores) / len(scores) if scores else None
        place = Marked(start, end, labels[label])
        rated = "" if mean is None else f" with a mean score of {mean:.2f}"
        why = f"{count} of {plural(len(names), 'system')} found {place}{rated}"
        yield _Span(doc, place, SYSTEMS, why, tuple(names[number - 1] for number in who[rows].tolist()), mean)


def _two_labels(gold: Corpus, texts: Sequence[str | None]) -> Iterator[_Span]:
    """Yield the gold spans whose text has another label at least as often elsewhere, with that label."""
    places = Counter(zip(gold.doc.tolist(), gold.start.tolist(), gold.end.tolist(), strict=True))
    rows: list[tuple[int, Marked, str]] = []
    for row, doc in enumerate(gold.doc.tolist()):
        one, text = _marked(gold, row), texts[doc]
        fits = one.start < one.end <= one.start + LONGEST
        if text is not None and fits and places[doc, one.start, one.end] == 1:
            rows.append((doc, one, " ".join(text[one.start : one.end].casefold().split())))
    counts: dict[str, Counter[str]] = {}
    for _, one, surface in rows:
        counts.setdefault(surface, Counter())[one.label] += 1
    first_two = {
        surface: sorted(labelled, key=lambda name: (-labelled[name], name))[:2] for surface, labelled in counts.items()
    }
    totals = {surface: labelled.total() for surface, labelled in counts.items()}
    for doc, one, surface in rows:
        labelled = counts[surface]
        other = next((name for name in first_two[surface] if name != one.label), None)
        if other is None or labelled[other] < labelled[one.label]:
            continue
        why = (
            f"its text is labelled {printable(other)} {_times(labelled[other])} and {printable(one.label)} "
            f"{_times(labelled[one.label])} in the gold data"
        )
        share = labelled[other] / totals[surface]
        yield _Span(doc, one._replace(label=other), LABELS, why, share=share)


def _repeats(gold: Corpus, texts: Sequence[str | None]) -> Iterator[_Span]:
    """Yield places where a text stands without a label that has one elsewhere in its document."""
    bounds = gold.bounds.tolist()
    for doc, text in enumerate(texts):
        spans = [_marked(gold, row) for row in range(bounds[doc], bounds[doc + 1])]
        if text is None or not spans:
            continue
        taken = bytearray(len(text))
        labelled: dict[str, Counter[str]] = {}
        first: dict[tuple[str, str], Marked] = {}
        for one in spans:
            taken[one.start : one.end] = b"\1" * (one.end - one.start)
            surface = text[one.start : min(one.end, one.start + LONGEST + 1)]
            if LONGEST >= len(surface) >= SHORTEST and surface == surface.strip() and any(map(str.isalpha, surface)):
                labelled.setdefault(surface, Counter())[one.label] += 1
                first.setdefault((surface, one.label), one)
        for surface in sorted(labelled, key=lambda one: (-len(one), one)):
            label = min(labelled[surface], key=lambda name: (-labelled[surface][name], name))
            known = first[surface, label]
            for start in _occurrences(surface, text):
                end = start + len(surface)
                if any(taken[start:end]):
                    continue
                taken[start:end] = b"\1" * (end - start)
                yield _Span(doc, Marked(start, end, label), REPEAT, f"the same text is {known} in this document")


def _occurrences(surface: str, text: str) -> Iterator[int]:
    """Yield where a text stands as whole words."""
    at = text.find(surface)
    while at >= 0:
        before, after = text[at - 1 : at] if at else "", text[at + len(surface) : at + len(surface) + 1]
        if not (_in_word(before) and _in_word(surface[0])) and not (_in_word(after) and _in_word(surface[-1])):
            yield at
        at = text.find(surface, at + 1)


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _texts(corpora: Sequence[Corpus]) -> list[str | None]:
    """Return the text of each document from the first corpus that has it; all have the same documents in one order."""
    ids = corpora[0].ids
    listed = [(one.text if one.ids == ids else one.take(one.ids.find(ids)).text) for one in corpora]
    known: list[list[str | None]] = [one.tolist() for one in listed if isinstance(one, Strings)]
    return [next((text[row] for text in known if text[row] is not None), None) for row in range(len(ids))]


def _marked(corpus: Corpus, row: int) -> Marked:
    return Marked(int(corpus.start[row]), int(corpus.end[row]), corpus.labels[corpus.label[row]])
