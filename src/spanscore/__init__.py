"""spanscore: one scorer for everything that finds spans in text.

>>> import spanscore as ss
>>> gold = ss.Corpus.from_documents([{"id": "d1", "spans": [{"start": 0, "end": 3, "label": "PERSON"}]}])
>>> ss.score(gold, gold, ["exact"])["exact"].f
1.0
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spanscore.errors import InputError, MissingExtraError, SpanscoreError, UsageError
from spanscore.version import __version__

if TYPE_CHECKING:
    from spanscore.align import LabelMap
    from spanscore.analysis.compare import compare
    from spanscore.analysis.sweep import sweep
    from spanscore.corpus import Corpus
    from spanscore.detectors import detect
    from spanscore.engine import score
    from spanscore.formats import read, read_chunks
    from spanscore.measures import Measure, measure
    from spanscore.result import Result
    from spanscore.stats import Bootstrap

__all__ = [
    "Bootstrap",
    "Corpus",
    "InputError",
    "LabelMap",
    "Measure",
    "MissingExtraError",
    "Result",
    "SpanscoreError",
    "UsageError",
    "__version__",
    "compare",
    "detect",
    "measure",
    "read",
    "read_chunks",
    "score",
    "sweep",
]

_LAZY = {
    "Corpus": "spanscore.corpus",
    "LabelMap": "spanscore.align",
    "Measure": "spanscore.measures",
    "Result": "spanscore.result",
    "compare": "spanscore.analysis.compare",
    "detect": "spanscore.detectors",
    "measure": "spanscore.measures",
    "read": "spanscore.formats",
    "read_chunks": "spanscore.formats",
    "score": "spanscore.engine",
    "Bootstrap": "spanscore.stats",
    "sweep": "spanscore.analysis.sweep",
}


def __getattr__(name: str) -> Any:
    """Import what needs NumPy only on first use, so that `spanscore --help` is fast."""
    if name in _LAZY:
        from importlib import import_module

        found = globals()[name] = getattr(import_module(_LAZY[name]), name)
        return found
    raise AttributeError(f"module 'spanscore' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*__all__, *globals()})
