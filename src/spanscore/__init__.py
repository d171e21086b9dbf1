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
    from spanscore.engine.local import score, score_all
    from spanscore.formats import read, read_chunks
    from spanscore.measures import Measure, measure
    from spanscore.result import Result

__all__ = [
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
    "score_all",
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
    "score": "spanscore.engine.local",
    "score_all": "spanscore.engine.local",
    "sweep": "spanscore.analysis.sweep",
}


def __getattr__(name: str) -> Any:
    """Import what needs NumPy only when it is asked for, so that `spanscore --help` is quick."""
    if name in _LAZY:
        from importlib import import_module

        found = globals()[name] = getattr(import_module(_LAZY[name]), name)
        return found
    raise AttributeError(f"module 'spanscore' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*__all__, *globals()})
