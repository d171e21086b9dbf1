"""All measures by name: those built in, and those that installed packages add through entry points."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from spanscore.errors import UsageError, printable
from spanscore.measures.measure import Measure
from spanscore.measures.named import GROUPS, NAMED
from spanscore.measures.spec import Spec

if TYPE_CHECKING:
    from collections.abc import Sequence

GROUP = "spanscore.measures"
"""The entry point group: each entry names a measure and the subclass of `Measure` that makes it."""

BUILT_IN = {
    "char": "spanscore.measures.char:Char",
    "char.pii": "spanscore.measures.char:CharPii",
    "exact": "spanscore.measures.exact:Exact",
    "b_cubed": "spanscore.measures.clustering:BCubed",
    "entity_ceaf": "spanscore.measures.clustering:EntityCeaf",
    "iou": "spanscore.measures.iou:IoU",
    "iou.pii": "spanscore.measures.iou:IoUPii",
    "mention_ceaf": "spanscore.measures.clustering:MentionCeaf",
    "muc": "spanscore.measures.clustering:Muc",
    "overlap-maxmax": "spanscore.measures.neleval:OverlapMaxMax",
    "overlap-maxsum": "spanscore.measures.neleval:OverlapMaxSum",
    "overlap-summax": "spanscore.measures.neleval:OverlapSumMax",
    "overlap-sumsum": "spanscore.measures.neleval:OverlapSumSum",
    "pairwise": "spanscore.measures.clustering:Pairwise",
    "pairwise_negative": "spanscore.measures.clustering:PairwiseNegative",
    "presidio": "spanscore.measures.presidio:Presidio",
    "presidio.pii": "spanscore.measures.presidio:PresidioPii",
    "sandbox.hipaa": "spanscore.measures.sandbox:Hipaa",
    "sandbox.instance": "spanscore.measures.sandbox:Instance",
    "sandbox.instance-relax": "spanscore.measures.sandbox:InstanceRelax",
    "sandbox.subtype": "spanscore.measures.sandbox:Subtype",
    "sandbox.token": "spanscore.measures.sandbox:SandboxToken",
    "semeval.exact": "spanscore.measures.semeval:SemevalExact",
    "semeval.partial": "spanscore.measures.semeval:SemevalPartial",
    "semeval.strict": "spanscore.measures.semeval:SemevalStrict",
    "semeval.type": "spanscore.measures.semeval:SemevalType",
    "sets": "spanscore.measures.neleval:Sets",
    "sixway.flexible": "spanscore.measures.sixway:SixWayFlexible",
    "sixway.partial": "spanscore.measures.sixway:SixWayPartial",
    "sixway.strict": "spanscore.measures.sixway:SixWayStrict",
    "token": "spanscore.measures.token:Token",
    "token.pii": "spanscore.measures.token:TokenPii",
}


def names() -> list[str]:
    """The names of all measures.

    >>> names()[:5]
    ['b_cubed', 'b_cubed_plus', 'char', 'char.pii', 'entity_ceaf']
    """
    return sorted({*BUILT_IN, *NAMED, *_added()})


def measure(spec: str | Spec | Measure) -> Measure:
    """The measure that is written so.

    >>> measure("iou(threshold=0.9, unit=token)"), measure("strong_link_match"), measure("sets:is_linked:span+kbid")
    (iou(unit=token), strong_link_match, sets:is_linked:span+kbid)
    """
    if isinstance(spec, Measure):
        return spec
    if isinstance(spec, str):
        spec = Spec.parse(spec)
    if spec.name in NAMED:
        aggregate, which, key = NAMED[spec.name]
        if taken := {"filter", "key"} & dict(spec.parameters).keys():
            raise UsageError(f"{spec.name} stands for {aggregate}:{which}:{key}; its {taken.pop()} cannot be changed.")
        given = Spec(aggregate, (("filter", which), ("key", key), *spec.parameters))
        return replace(find(aggregate).from_spec(given), called=spec.name)  # type: ignore[call-arg]
    return find(spec.name).from_spec(spec)


def expand(specs: str | Measure | Sequence[str | Measure]) -> list[Measure]:
    """The measures of these specs, some of which may be names of groups, each measure once.

    >>> expand(["luo", "muc"])
    [muc, b_cubed, mention_ceaf, entity_ceaf]
    """
    listed = [specs] if isinstance(specs, str | Measure) else specs
    single = [
        one for spec in listed for one in (GROUPS.get(spec.strip(), (spec,)) if isinstance(spec, str) else (spec,))
    ]
    return list({repr(one): one for one in map(measure, single)}.values())


def find(name: str) -> type[Measure]:
    """The measure class of this name."""
    name = NAMED[name][0] if name in NAMED else name
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        found: Any = getattr(import_module(module), attribute)
        return found  # type: ignore[no-any-return]
    if name in _added():
        found = _added()[name].load()
        if not (isinstance(found, type) and issubclass(found, Measure)):
            raise UsageError(f"the entry point '{name}' of {GROUP} is not a subclass of spanscore.measures.Measure.")
        return found
    if name in GROUPS:
        raise UsageError(f"'{name}' is a group of measures, which has no parameters; write {name} alone.")
    near = get_close_matches(name, BUILT_IN, n=1) or get_close_matches(name, [*names(), *GROUPS], n=1)
    hint = f"did you mean '{near[0]}'? List" if near else "list"
    raise UsageError(f"There is no measure '{printable(name)}'; {hint} them with: spanscore measures.")


@cache
def _added() -> dict[str, Any]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}
