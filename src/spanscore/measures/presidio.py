"""presidio: the numbers of presidio-evaluator 0.3.2, including its arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from spanscore.align.spans import one_label
from spanscore.measures.iou import GroupedIoU, normalise
from spanscore.measures.iou_groups import Groups, groups
from spanscore.measures.measure import Untyped

if TYPE_CHECKING:
    from collections.abc import Callable

    from spanscore.align import Pairing
    from spanscore.align.skipwords import SkipWords
    from spanscore.align.tokens import TokenTable
    from spanscore.corpus import Corpus


@dataclass(frozen=True, repr=False)
class Presidio(GroupedIoU):
    """Gold spans found, as presidio-evaluator 0.3.2's SpanEvaluator counts them.

    As `iou(view=tokens)`, with two differences that reproduce the tool: a span of skip words alone is dropped, and if
    several predictions overlap a gold span, the union counts the gold span and the first prediction of each type one
    character too long, and starts further predictions one character too early.

    >>> import spanscore as ss
    >>> text = ["abcdefgh x ijklmnop"]
    >>> gold = ss.Corpus.from_arrays(["d"], [0], [0], [19], ["P"], text=text)
    >>> pred = ss.Corpus.from_arrays(["d"], [0, 0], [0, 11], [8, 19], ["P", "P"])
    >>> result = ss.score(gold, pred, ["iou", "presidio"])
    >>> result["iou"].recall, result["presidio"].recall
    (0.0, 1.0)
    """

    name: ClassVar[str] = "presidio"
    f_without_hits: ClassVar[float] = math.nan
    view: str = field(default="tokens", init=False)

    def _normalise(self) -> Callable[[Pairing, TokenTable, SkipWords, bool], Pairing]:
        return _normalise_and_drop

    def _groups(self, measured: Pairing) -> Groups:
        return groups(measured, off_by_one=self.unit == "char")


def _normalise_and_drop(pairing: Pairing, table: TokenTable, skip: SkipWords, merge: bool) -> Pairing:
    """Merge and trim, then drop spans that hold nothing but skip words."""

    def without_hollow(side: Corpus) -> Corpus:
        first, last = table.touched(table.line(side.doc, side.start), table.line(side.doc, side.end))
        solid = table.before[first] < table.before[last]
        return side if solid.all() else side.with_spans(np.flatnonzero(solid))

    pairing = normalise(pairing, table, skip, merge)
    return pairing if table.counts.all() else pairing.map_sides(without_hollow)


class PresidioPii(Untyped, Presidio):
    """Gold spans found under any label, as presidio-evaluator 0.3.2 counts at its PII level.

    As `presidio`, after renaming every label to PII.
    """

    name: ClassVar[str] = "presidio.pii"

    def _labelled(self, pairing: Pairing) -> Pairing:
        return pairing.once(one_label, "PII")
