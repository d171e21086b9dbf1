"""Recall by a property of gold spans, as judged by another measure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from spanscore.align.span_groups import NONE
from spanscore.measures.interface import Measure
from spanscore.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spanscore.align import Pairing
    from spanscore.align.span_groups import SpanGroups
    from spanscore.corpus.columns import Bools, Longs
    from spanscore.measures.judgement import Judgement


class Unlisted:
    """A name that does not enter the list of measures: it cannot be asked for by name."""

    name: ClassVar[str] = "recall"


@dataclass(frozen=True, repr=False)
class SpanRecall(Unlisted, Measure):
    """What another measure finds of each group of gold spans.

    Precision and F are undefined: a prediction that finds nothing belongs to no gold span. Where the measure finds or
    misses whole spans, its judgement of all spans is split, so that the groups add up to the whole. Units of several
    spans, such as entities, belong to the group of their first span that has a value. Any other measure counts the gold
    spans of each group by themselves, with the predictions that overlap them.
    """

    f_without_hits: ClassVar[float] = math.nan
    of: Measure
    groups: SpanGroups

    def __repr__(self) -> str:
        return repr(self.of)

    @property
    def recall_of_spans(self) -> bool:  # type: ignore[override]  # a property of the measure that is split
        """As the measure that is split."""
        return self.of.finds_spans

    def tally(self, pairing: Pairing) -> Tally:
        """Count what was found of each group."""
        if self.of.finds_spans:
            judged = self.of.judge(pairing)
            spans = judged.pairing
            codes, names = self.groups.group(spans)
            hit = np.flatnonzero(judged.cell == spans.gold.label)
            doc = spans.gold.doc
            return Tally.count(spans, {"found": (doc[hit], codes[hit]), "annotated": (doc, codes)}, labels=names)
        if (units := self.of.found_units(pairing)) is not None:
            return self._of_units(*units)
        return self._by_themselves(self.of.counted_spans(pairing))

    def _of_units(self, spans: Pairing, number: Longs, found: Bools) -> Tally:
        codes, names = self.groups.group(spans)
        valueless = codes == (names.index(NONE) if NONE in names else -1)
        order = np.lexsort((np.arange(len(number)), valueless, number))
        first = order[np.searchsorted(number[order], np.arange(len(found)))]
        doc, code = spans.gold.doc[first], codes[first]
        return Tally.count(spans, {"found": (doc[found], code[found]), "annotated": (doc, code)}, labels=names)

    def _by_themselves(self, spans: Pairing) -> Tally:
        names = self.groups.group(spans)[1]
        parts = [self._alone(spans, name) for name in names]
        counts = np.concatenate([np.zeros((0, 2)), *(self._recall(part) for part in parts)])
        return Tally(
            ("found", "annotated"),
            names,
            parts[0].documents if parts else spans.gold.ids.packed,
            np.concatenate([np.zeros(0, np.int32), *(part.doc for part in parts)]),
            np.concatenate(
                [np.zeros(0, np.int32), *(np.full(len(part.doc), code, np.int32) for code, part in enumerate(parts))]
            ),
            counts if (counts % 1).any() else counts.astype(np.int64),
        )

    def _alone(self, spans: Pairing, name: str) -> Tally:
        def mine(part: Pairing) -> Any:
            codes, names = self.groups.group(part)
            return codes == (names.index(name) if name in names else -1)

        return self.of.tally(spans.of_gold(mine))

    def _recall(self, tally: Tally) -> Any:
        named = {name: tally.counts[:, i].astype(np.float64) for i, name in enumerate(tally.fields)}
        return np.stack(self.of.ratios(named)[2:], axis=1)

    def judge(self, pairing: Pairing) -> Judgement:
        """Judge as the measure that is split does."""
        return self.of.judge(pairing)

    def ratios(self, counts: Mapping[str, Any]) -> tuple[Any, Any, Any, Any]:
        """Return no precision, and what was found of what is annotated."""
        return counts["found"] * 0, counts["found"] * 0, counts["found"], counts["annotated"]

    def shown(self, counts: Mapping[str, Any]) -> dict[str, Any]:
        """Return what was found, annotated and missed."""
        return {**counts, "missed": counts["annotated"] - counts["found"]}
