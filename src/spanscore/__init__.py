"""spanscore: one scorer for everything that finds spans in text.

>>> import spanscore as ss
>>> gold = ss.Corpus.from_documents([{"id": "d1", "spans": [{"start": 0, "end": 3, "label": "PERSON"}]}])
>>> ss.score(gold, gold, ["exact"])["exact"].f
1.0
"""

import sys

if sys.argv[:1] == ["-m"] and "spanscore" in sys.orig_argv and not sys.flags.safe_path:
    del sys.path[0]  # `python -m spanscore` puts the current folder there, from which not even __future__ is imported

from typing import TYPE_CHECKING, Any

from spanscore.errors import InputError, MissingExtraError, SpanscoreError, UsageError
from spanscore.version import __version__

if TYPE_CHECKING:
    from spanscore.align import LabelMap
    from spanscore.analysis.agreement import Agreement, agree
    from spanscore.analysis.check import check
    from spanscore.analysis.compare import Comparison, compare
    from spanscore.analysis.correction_tasks import corrected
    from spanscore.analysis.gate import gate
    from spanscore.analysis.perturbation import perturb
    from spanscore.analysis.sample_size import plan
    from spanscore.analysis.suspects import suspects
    from spanscore.analysis.sweep import Sweep, sweep
    from spanscore.analysis.types import types
    from spanscore.corpus import Corpus
    from spanscore.detectors import detect
    from spanscore.engine import score
    from spanscore.engine.conversion import convert
    from spanscore.formats import read, read_chunks
    from spanscore.measures import Measure, measure
    from spanscore.pipeline.python_call import run
    from spanscore.pipeline.stress import stress
    from spanscore.report.python_call import report
    from spanscore.result import Result
    from spanscore.stats import Bootstrap

__all__ = [
    "Agreement",
    "Bootstrap",
    "Comparison",
    "Corpus",
    "InputError",
    "LabelMap",
    "Measure",
    "MissingExtraError",
    "Result",
    "SpanscoreError",
    "Sweep",
    "UsageError",
    "__version__",
    "agree",
    "check",
    "compare",
    "convert",
    "corrected",
    "detect",
    "gate",
    "measure",
    "perturb",
    "plan",
    "read",
    "read_chunks",
    "report",
    "run",
    "score",
    "stress",
    "suspects",
    "sweep",
    "types",
]

_LAZY = {
    "Agreement": "spanscore.analysis.agreement",
    "Comparison": "spanscore.analysis.compare",
    "Corpus": "spanscore.corpus",
    "LabelMap": "spanscore.align",
    "Measure": "spanscore.measures",
    "Result": "spanscore.result",
    "Sweep": "spanscore.analysis.sweep",
    "agree": "spanscore.analysis.agreement",
    "check": "spanscore.analysis.check",
    "compare": "spanscore.analysis.compare",
    "convert": "spanscore.engine.conversion",
    "corrected": "spanscore.analysis.correction_tasks",
    "detect": "spanscore.detectors",
    "gate": "spanscore.analysis.gate",
    "measure": "spanscore.measures",
    "perturb": "spanscore.analysis.perturbation",
    "plan": "spanscore.analysis.sample_size",
    "read": "spanscore.formats",
    "read_chunks": "spanscore.formats",
    "report": "spanscore.report",
    "run": "spanscore.pipeline.python_call",
    "score": "spanscore.engine",
    "Bootstrap": "spanscore.stats",
    "stress": "spanscore.pipeline.stress",
    "suspects": "spanscore.analysis.suspects",
    "sweep": "spanscore.analysis.sweep",
    "types": "spanscore.analysis.types",
}


def __getattr__(name: str) -> Any:
    """Import what needs NumPy only on first use, so that `spanscore --help` is fast."""
    if name in _LAZY:
        from importlib import import_module

        module = import_module(_LAZY[name])
        found = globals()[name] = module if module.__name__ == f"{__name__}.{name}" else getattr(module, name)
        return found
    raise AttributeError(f"module 'spanscore' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*__all__, *globals()})
