"""Scoring in this process, in blocks of documents that fit the processor's cache."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from spanscore.align import LabelMap, Pairing, pair
from spanscore.errors import UsageError
from spanscore.memory import keep_freed_memory
from spanscore.measures import measure as as_measure
from spanscore.result import Result, Scores
from spanscore.signature import signature
from spanscore.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spanscore.align.documents import Extra
    from spanscore.corpus import Corpus
    from spanscore.measures import Measure

BLOCK = 8192
"""Documents a block."""

DEFAULT_MEASURES = ("iou", "exact")


def score(
    gold: Corpus,
    pred: Corpus,
    measures: Sequence[str | Measure] = DEFAULT_MEASURES,
    *,
    beta: float = 1.0,
    label_map: LabelMap | Mapping[str, str | None] | None = None,
    extra_documents: Extra = "refuse",
    system: str = "pred",
) -> Result:
    """Score one system against the gold data by all these measures at once.

    >>> import spanscore as ss
    >>> gold = ss.Corpus.from_documents([{"id": "d", "spans": [{"start": 0, "end": 9, "label": "PERSON"}]}])
    >>> pred = ss.Corpus.from_documents([{"id": "d", "spans": [{"start": 0, "end": 8, "label": "PERSON"}]}])
    >>> result = ss.score(gold, pred, ["iou(threshold=0.8)", "exact"])
    >>> result["iou"].recall, result["exact"].recall
    (1.0, 0.0)
    """
    return score_all(
        gold, {system: pred}, measures, beta=beta, label_map=label_map, extra_documents=extra_documents
    )


def score_all(
    gold: Corpus,
    systems: Mapping[str, Corpus],
    measures: Sequence[str | Measure] = DEFAULT_MEASURES,
    *,
    beta: float = 1.0,
    label_map: LabelMap | Mapping[str, str | None] | None = None,
    extra_documents: Extra = "refuse",
    by_document: bool = True,
) -> Result:
    """Score several systems against the same gold data.

    `by_document=False` forgets each document's own counts: less memory, but no scores by document.
    """
    keep_freed_memory()
    chosen = list({repr(one): one for one in map(as_measure, measures)}.values())
    if not chosen:
        raise UsageError("name at least one measure.")
    if not (math.isfinite(beta) and beta > 0):
        raise UsageError("beta must be a positive number.")
    mapping = label_map if isinstance(label_map, LabelMap) else LabelMap(label_map or {})
    scores, notes = [], list(gold.notes)
    inputs = {"gold": _about(gold), "systems": {name: _about(pred) for name, pred in systems.items()}}
    for name, pred in systems.items():
        pairing = pair(gold, pred, system=name, label_map=mapping, extra_documents=extra_documents)
        notes += [*pred.notes, *pairing.notes]
        for one, tally in zip(chosen, tally_all(pairing, chosen, by_document=by_document), strict=True):
            line = signature(one, gold, pred, mapping, extra_documents, beta)
            scores.append(Scores(name, one, tally, beta, line, pairing))
    return Result(tuple(scores), inputs, tuple(dict.fromkeys(notes)))


def tally_all(pairing: Pairing, measures: Sequence[Measure], *, by_document: bool = True) -> list[Tally]:
    """The tallies of several measures, block by block; without documents' own counts if nobody asks for them."""
    blocks = []
    for block in pairing.blocks(BLOCK):
        tallies = (one.tally(block) for one in measures)
        blocks.append([tally if by_document else tally.together() for tally in tallies])
    return [Tally.concat(tallies) for tallies in zip(*blocks, strict=True)]


def _about(corpus: Corpus) -> dict[str, object]:
    return {
        "source": corpus.source or None,
        "format": corpus.format or None,
        "format_reason": corpus.format_reason or None,
        "documents": len(corpus),
        "spans": len(corpus.start),
        "fingerprint": corpus.fingerprint,
    }
