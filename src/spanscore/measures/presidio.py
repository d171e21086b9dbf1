"""presidio: the numbers of presidio-evaluator 0.3.2, its arithmetic included."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from spanscore.align.spans import one_label
from spanscore.align.tokens import TokenTable
from spanscore.measures.groups import Groups, groups
from spanscore.measures.iou import GroupedIoU
from spanscore.measures.measure import Untyped

if TYPE_CHECKING:
    from spanscore.align import Pairing
    from spanscore.corpus import Corpus


@dataclass(frozen=True, repr=False)
class Presidio(GroupedIoU):
    """Gold spans found, as presidio-evaluator 0.3.2's SpanEvaluator counts them.

    As `iou(view=tokens)`, with two differences that make its numbers those of the tool: a span of skip words alone is
    forgotten, and where several predictions overlap a gold span, unions are worked out with the gold span and the
    first prediction of each type one character too long, and further predictions one too early.

    >>> import spanscore as ss
    >>> text = ["abcdefgh x ijklmnop"]
    >>> gold = ss.Corpus.from_arrays(["d"], [0], [0], [19], ["P"], text=text)
    >>> pred = ss.Corpus.from_arrays(["d"], [0, 0], [0, 11], [8, 19], ["P", "P"])
    >>> result = ss.score(gold, pred, ["iou", "presidio"])
    >>> result["iou"].recall, result["presidio"].recall
    (0.0, 1.0)
    """

    name: ClassVar[str] = "presidio"
    view: str = field(default="tokens", init=False)

    def _normalised(self, pairing: Pairing, table: TokenTable) -> Pairing:
        def without_hollow(side: Corpus) -> Corpus:
            first, last = table.touched(table.line(side.doc, side.start), table.line(side.doc, side.end))
            solid = table.before[first] < table.before[last]
            return side if solid.all() else side.with_spans(np.flatnonzero(solid))

        pairing = super()._normalised(pairing, table)
        return pairing if table.counts.all() else pairing.map_sides(without_hollow)

    def _groups(self, measured: Pairing) -> Groups:
        return groups(measured, off_by_one=self.unit == "char")


class PresidioPii(Untyped, Presidio):
    """Gold spans found whatever as, as presidio-evaluator 0.3.2 counts at its PII level.

    As `presidio`, with every label called PII first.
    """

    name: ClassVar[str] = "presidio.pii"

    def _labelled(self, pairing: Pairing) -> Pairing:
        return pairing.once("pii", lambda it: one_label(it, "PII"))
