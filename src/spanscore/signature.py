"""The one-line settings string beside every number: what was counted, how, on what, by which version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanscore.version import __version__

if TYPE_CHECKING:
    from spanscore.align import LabelMap
    from spanscore.corpus import Corpus
    from spanscore.measures import Measure


def signature(measure: Measure, gold: Corpus, pred: Corpus, label_map: LabelMap, extra_documents: str, beta: float) -> str:
    """Everything that a number depends on; the same string means the same number.

    >>> from spanscore.align import LabelMap
    >>> from spanscore.corpus import Corpus
    >>> from spanscore.measures import measure
    >>> empty = Corpus.from_documents([{"id": "d"}])
    >>> signature(measure("iou(threshold=0.5)"), empty, empty, LabelMap(), "refuse", 1.0)
    'iou(threshold=0.5)|beta:1|map:none|extra:refuse|gold:...|pred:...|spanscore:0.1.0'
    """
    parts = (
        measure.settings,
        f"beta:{beta:g}",
        f"map:{label_map.digest}",
        f"extra:{extra_documents}",
        f"gold:{gold.fingerprint}",
        f"pred:{pred.fingerprint}",
        f"spanscore:{__version__}",
    )
    return "|".join(parts)
