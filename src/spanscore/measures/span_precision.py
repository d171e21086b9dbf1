"""Precision by an attribute of predictions, as judged by another measure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from spanscore.errors import UsageError
from spanscore.measures.interface import Measure
from spanscore.measures.span_recall import Unlisted
from spanscore.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spanscore.align import Pairing
    from spanscore.align.span_groups import SpanGroups
    from spanscore.measures.judgement import Judgement


@dataclass(frozen=True, repr=False)
class SpanPrecision(Unlisted, Measure):
    """How many predictions of each group are right, as judged by another measure.

    Recall and F are undefined: a gold span that nothing finds belongs to no prediction. Each prediction counts once,
    after merging, so that a measure that counts groups of predictions may count others.
    """

    f_without_hits: ClassVar[float] = math.nan
    of: Measure
    groups: SpanGroups

    def __repr__(self) -> str:
        return repr(self.of)

    def tally(self, pairing: Pairing) -> Tally:
        """Count the predictions of each group, and the right ones."""
        if not self.of.counts_spans:
            raise UsageError(
                f"{self.of!r} does not count spans; only measures that do can be split by attributes of predictions."
            )
        judged = self.of.judge(pairing)
        spans = judged.pairing
        codes, names = self.groups.group_predictions(spans)
        right, doc = np.flatnonzero(judged.right), spans.pred.doc
        return Tally.count(spans, {"tp": (doc[right], codes[right]), "predicted": (doc, codes)}, labels=names)

    def judge(self, pairing: Pairing) -> Judgement:
        """Judge as the measure that is split does."""
        return self.of.judge(pairing)

    def ratios(self, counts: Mapping[str, Any]) -> tuple[Any, Any, Any, Any]:
        """Return what is right of what is predicted, and no recall."""
        return counts["tp"], counts["predicted"], counts["tp"] * 0, counts["tp"] * 0

    def shown(self, counts: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is right, predicted and wrong."""
        return {**counts, "fp": counts["predicted"] - counts["tp"]}
