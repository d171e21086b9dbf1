"""The audit of types as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanscore.errors import plural, printable
from spanscore.result.tables import aligned

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from spanscore.align.taxonomy import Taxonomy
    from spanscore.analysis.types import AuditedLabel, AuditedSide, TypeAudit

MOST = 4
"""Labels of the other side that are named one by one."""
HEAD = ("label", "type", "branch", "why", "matches")


def plain(audit: TypeAudit) -> str:
    """Return a table for each side, and what would be left out if only shared types were scored."""
    return "\n".join(line for one in audit.sides for line in _side(one, several=len(audit.sides) > 1))


def cells(label: AuditedLabel, *, several: bool = True) -> list[str]:
    """Return the table cells of a label: its type and branch, why, and what it matches."""
    became = [label.type or "–", label.branch or "–", label.why]
    return [label.label, *became, *([_meets(label)] if several else [])]


def left_out(counts: Mapping[str, int | None]) -> str:
    """List labels that are left out, with the number of their spans."""
    listed = ", ".join(printable(label) + ("" if count is None else f" ({count})") for label, count in counts.items())
    return listed or "nothing"


def _side(side: AuditedSide, *, several: bool) -> Iterator[str]:
    counted = any(one.count is not None for one in side.labels)
    yield f"{printable(side.name, limit=255)}: {plural(len(side.labels), 'label')}"
    head = [*HEAD[: None if several else -1], *(["spans"] if counted else [])]
    rows = [
        [*(printable(cell, limit=200) for cell in cells(one, several=several)), *([str(one.count)] if counted else [])]
        for one in side.labels
    ]
    yield from (f"  {line}" for line in aligned([head, *rows], len(head) - counted))
    for level, counts in side.left_out.items():
        if level != "raw":
            yield f"  left out by --shared-types at level {level}: {left_out(counts)}"
    yield ""


def _meets(label: AuditedLabel) -> str:
    if label.meets:
        return _listed(label.meets)
    if label.near:
        return f"only in its branch: {_listed(label.near)}"
    return f"–; similar: {_listed(label.similar)}" if label.similar else "–"


def _listed(labels: Sequence[str]) -> str:
    more = len(labels) - MOST
    return ", ".join(labels[:MOST]) + (f" and {more} more" if more > 0 else "")


def overview(taxonomy: Taxonomy) -> str:
    """Return the branches with their types, and the label sets."""
    lines = []
    for branch in taxonomy.branches:
        kinds = [kind for kind, of in taxonomy.types.items() if of == branch]
        lines.append([branch, ", ".join(kinds)])
    sets = [[name, str(len(labels))] for name, labels in taxonomy.label_sets.items()]
    return "\n".join([*aligned([["branch", "types"], *lines], 2), "", *aligned([["label set", "labels"], *sets], 1)])
