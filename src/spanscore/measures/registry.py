"""All measures by name: those built in, and those that installed packages add through entry points."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from spanscore.errors import UsageError, unknown
from spanscore.measures.measure import Measure
from spanscore.measures.spec import Spec

GROUP = "spanscore.measures"
"""The entry point group: each entry names a measure and the subclass of `Measure` that makes it."""

BUILT_IN = {
    "char": "spanscore.measures.char:Char",
    "char.pii": "spanscore.measures.char:CharPii",
    "exact": "spanscore.measures.exact:Exact",
    "iou": "spanscore.measures.iou:IoU",
    "iou.pii": "spanscore.measures.iou:IoUPii",
    "presidio": "spanscore.measures.presidio:Presidio",
    "presidio.pii": "spanscore.measures.presidio:PresidioPii",
    "sixway.flexible": "spanscore.measures.sixway:SixWayFlexible",
    "sixway.partial": "spanscore.measures.sixway:SixWayPartial",
    "sixway.strict": "spanscore.measures.sixway:SixWayStrict",
    "token": "spanscore.measures.token:Token",
    "token.pii": "spanscore.measures.token:TokenPii",
}


def names() -> list[str]:
    """The names of all measures.

    >>> names()[:5]
    ['char', 'char.pii', 'exact', 'iou', 'iou.pii']
    """
    return sorted({*BUILT_IN, *_added()})


def measure(spec: str | Spec | Measure) -> Measure:
    """The measure that is written so.

    >>> measure("iou(threshold=0.9, unit=token)")
    iou(unit=token)
    """
    if isinstance(spec, Measure):
        return spec
    if isinstance(spec, str):
        spec = Spec.parse(spec)
    return find(spec.name).from_spec(spec)


def find(name: str) -> type[Measure]:
    """The measure class of this name."""
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        found: Any = getattr(import_module(module), attribute)
        return found  # type: ignore[no-any-return]
    if name in _added():
        found = _added()[name].load()
        if not (isinstance(found, type) and issubclass(found, Measure)):
            raise UsageError(f"the entry point '{name}' of {GROUP} is not a subclass of spanscore.measures.Measure.")
        return found
    raise UsageError(unknown("measure", name, names()))


@cache
def _added() -> dict[str, Any]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}
