"""Tables of what perturbations cost a detector."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanscore.errors import printable
from spanscore.result.tables import aligned, between, shown

if TYPE_CHECKING:
    from spanscore.analysis.stress import Stress

NAME = "stress.json"


def plain(found: Stress, measure: str, number: str = "recall") -> str:
    """Return a table of the drops by one measure, without types that did not change; a star marks significant drops."""
    level = f"{100 * found.bootstrap.level:g}%"
    lines = [["perturbation", "type", "original", "variant", "drop", level, "p"]]
    for one in found.drops:
        changed = one.type is None or abs(one.drop) > 0
        if (one.measure, one.number) == (measure, number) and changed:
            name = "all" if one.type is None else printable(one.type)
            star = "*" if one.corrected < 1 - found.bootstrap.level else ""
            cells = [shown(one.original), shown(one.value), shown(one.drop), between(one.interval)]
            lines.append([printable(one.perturbation), name, *cells, f"{one.corrected:.3f}{star}"])
    order = {name: place for place, name in enumerate(found.perturbations)}
    head, *rest = lines
    rest.sort(key=lambda line: order.get(line[0], len(order)))
    return "\n".join(aligned([head, *rest], 2))


def gap_lines(found: Stress, measure: str, number: str = "recall") -> list[str]:
    """Return a sentence for the largest gap between groups of names, overall and for each type that has one."""
    return [
        f"{measure} {'all' if one.type is None else printable(one.type)}: {number} "
        + (
            f"differs by {shown(one.difference)} ({between(one.interval)}) between names of {printable(one.highest)} "
            f"and of {printable(one.lowest)}"
            if one.difference > 0
            else f"is equal for names of all groups ({between(one.interval)})"
        )
        for one in found.gaps
        if (one.measure, one.number) == (measure, number) and (one.type is None or one.difference > 0)
    ]
