"""Measures: small values that turn a pairing into a tally, and a tally into precision and recall.

Each family is one module of this package.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from spanscore.errors import UsageError
from spanscore.measures.interface import Measure
from spanscore.measures.judgement import Judgement
from spanscore.measures.neleval_names import GROUPS as NELEVAL_GROUPS
from spanscore.measures.neleval_names import NAMED
from spanscore.measures.task_names import TASKS
from spanscore.other_tools import MEASURES as OTHER_NAMES
from spanscore.spec import Parameter, Registry, Spec, joined, parameter

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "DEFAULT",
    "LINKING",
    "REGISTRY",
    "Judgement",
    "Measure",
    "Parameter",
    "expand",
    "find",
    "measure",
    "names",
    "parameter",
    "with_tables",
]

DEFAULT = ("iou", "exact")
"""The measures that are computed if none is named."""
LINKING = ("strong_typed_mention_match", "strong_link_match", "strong_nil_match", "strong_all_match")
"""The measures that are computed if none is named and the gold data has entity ids."""
OPTIONS = {"table": "hipaa-table"}
TAXONOMY = re.compile(r"taxonomy(\(.*\))?")
"""Weights from the taxonomy, instead of a file."""
GROUPS = {**NELEVAL_GROUPS, **TASKS}
"""Names of groups of measures, and the measures in each."""
REGISTRY: Registry[Measure] = Registry(Measure, __name__, lambda: {name: name for name in (*NAMED, *GROUPS)})  # type: ignore[type-abstract]
_COLONS = re.compile(r"([A-Za-z][\w.-]*):([^:()]*):([^:()]*)")


def names() -> list[str]:
    """Return the names of all measures.

    >>> [name for name in names() if name.startswith("sixway")]
    ['sixway.flexible', 'sixway.partial', 'sixway.strict']
    """
    return sorted({*REGISTRY.names(), *NAMED})


def measure(spec: str | Measure, **options: Any) -> Measure:
    """Return the measure of a spec; neleval's names and its `aggregate:filter:key` are specs too.

    Options are added to its arguments: `measure("iou", threshold=0.5)` is `measure("iou(threshold=0.5)")`.

    >>> measure("iou(threshold=0.9, unit=token)"), measure("strong_link_match"), measure("sets:is_linked:span+kbid")
    (iou(unit=token), strong_link_match, sets:is_linked:span+kbid)
    """
    if not isinstance(spec, str):
        return REGISTRY.make(spec, **options)
    if match := _COLONS.fullmatch(spec.strip()):
        name, which, key = match[1], match[2].strip(), match[3].strip()
        return find(name).make(joined(spec, {"filter": which or "none", "key": key}, options))
    parsed = Spec.parse(spec)
    arguments = joined(spec, dict(parsed.arguments), options)
    if parsed.name not in NAMED:
        return find(parsed.name).make(arguments)
    aggregate, which, key = NAMED[parsed.name]
    if fixed := sorted({"filter", "key"} & arguments.keys()):
        raise UsageError(f"{parsed.name} stands for {aggregate}:{which}:{key}; its {fixed[0]} cannot be changed.")
    made = find(aggregate).make({"filter": which, "key": key, **arguments})
    return replace(made, called=parsed.name)  # type: ignore[call-arg]


def expand(specs: str | Measure | Sequence[str | Measure]) -> list[Measure]:
    """Return the measures of these specs, each once; a spec may be the name of a group.

    >>> expand(["luo", "muc"])
    [muc, b_cubed, mention_ceaf, entity_ceaf]
    """
    listed = [specs] if isinstance(specs, str | Measure) else specs
    single = [
        one for spec in listed for one in (GROUPS.get(spec.strip(), (spec,)) if isinstance(spec, str) else (spec,))
    ]
    return list({repr(one): one for one in map(measure, single)}.values())


def with_tables(measures: str | Measure | Sequence[str | Measure] | None, **files: str | None) -> Any:
    """Return the measures with files for the parameters of these names; a file that none takes is an error."""
    given = {name: file for name, file in files.items() if file is not None}
    if not given:
        return measures
    chosen = expand(DEFAULT if measures is None else measures)
    for name, file in given.items():
        option = f"--{OPTIONS.get(name, name.replace('_', '-'))}"
        taken, refused = False, None
        for place, one in enumerate(chosen):
            if any(known.name == name for known in one.parameters()):
                try:
                    value = file if name == "type_weights" and TAXONOMY.fullmatch(file) else f"@{file}"
                    chosen[place] = replace(one, **{name: value})
                    taken = True
                except UsageError as error:
                    refused = error
        if not taken and refused is not None:
            raise UsageError(f"{option}: {refused}")
        if not taken:
            raise UsageError(f"none of the measures takes {option}.")
    return chosen


def find(name: str) -> type[Measure]:
    """Return the class of a measure by name."""
    if name in GROUPS:
        raise UsageError(f"'{name}' is a group of measures and has no options; write {name} alone.")
    try:
        return REGISTRY.find(NAMED[name][0] if name in NAMED else name)
    except UsageError:
        if name in OTHER_NAMES and name not in REGISTRY.names():
            raise UsageError(f"There is no measure '{name}'. {OTHER_NAMES[name]}") from None
        raise
