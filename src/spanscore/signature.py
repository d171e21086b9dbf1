"""The one-line signature of a score: what was counted, how, on which data, and by which version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanscore.version import __version__

if TYPE_CHECKING:
    from spanscore.measures import Measure


def signature(
    measure: Measure, gold: str, pred: str, labels: str, extra_documents: str, resolve: str, beta: float
) -> str:
    """Return a string with everything that a score depends on; equal signatures mean equal scores.

    The data is identified by its fingerprints; `labels` says how labels were aligned.

    >>> from spanscore.measures import measure
    >>> signature(measure("iou"), "8262479a30425b53", "dba01603321b7bfa", "none", "refuse", "none", 2)
    'iou|beta:2|map:none|extra:refuse|resolve:none|gold:8262479a30425b53|pred:dba01603321b7bfa|spanscore:0.1.0'
    """
    parts = (
        measure.settings,
        f"beta:{beta:g}" if float(f"{beta:g}") == beta else f"beta:{beta!r}",
        f"map:{labels}",
        f"extra:{extra_documents}",
        f"resolve:{resolve}",
        f"gold:{gold}",
        f"pred:{pred}",
        f"spanscore:{__version__}",
    )
    return "|".join(parts)


def with_detector(line: str, fingerprint: str) -> str:
    """Return a signature that also names the fingerprint of the detector that made the predictions.

    >>> with_detector("iou|pred:dba01603321b7bfa|spanscore:0.1.0", "8262479a30425b53")
    'iou|pred:dba01603321b7bfa|detector:8262479a30425b53|spanscore:0.1.0'
    """
    *parts, version = line.split("|")
    return "|".join((*parts, f"detector:{fingerprint}", version))
