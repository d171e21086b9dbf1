"""Audit of types: the type of each side's labels, why, and which labels have no match on the other side."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from spanscore.align.taxonomy import Taxonomy, key_of
from spanscore.arguments import checked
from spanscore.corpus import Corpus
from spanscore.engine.inputs import Input
from spanscore.engine.plan import Plan
from spanscore.errors import InputError, plural, printable
from spanscore.spec import from_above

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from spanscore.align.levels import LevelNaming
    from spanscore.align.taxonomy import Level
    from spanscore.formats import Format

AUDITED: tuple[Level, ...] = ("branch", "type", "raw")
"""The levels at which labels may meet or miss each other; at `pii`, all meet."""
DROPPED = "the map"
"""Why a label has no type although the taxonomy may know it."""
COMPARED = 200
"""Unknown labels for which similar ones are looked up: each is compared with every known label."""
SIMILAR = 0.75
"""How similar two labels must be spelled for one to be suggested for the other, from 0 to 1."""


@dataclass(frozen=True)
class AuditedLabel:
    """A label of one side, its type, and the labels of the other side that it meets."""

    label: str
    count: int | None
    """The spans that have it; None for a label set."""
    mapped: str | None
    """What the label maps make of it; None if they drop it."""
    type: str | None
    branch: str | None
    why: str
    meets: tuple[str, ...] = ()
    """The labels of the other side that have the same type."""
    near: tuple[str, ...] = ()
    """The labels of the other side in the same branch that have another type."""
    similar: tuple[str, ...] = ()
    """For a label that the taxonomy does not know: known labels with a similar spelling."""

    @property
    def level(self) -> str:
        """The finest level at which it meets a label of the other side: type, branch, or none."""
        return "type" if self.meets else "branch" if self.near else "none"

    def to_dict(self) -> dict[str, Any]:
        """Return the label as JSON values."""
        count = {} if self.count is None else {"count": self.count}
        listed = {name: list(getattr(self, name)) for name in ("meets", "near", "similar")}
        names = ("mapped", "type", "branch", "why")
        return {"label": self.label, **count, **{name: getattr(self, name) for name in names}, **listed}


@dataclass(frozen=True)
class AuditedSide:
    """The labels of one file or label set."""

    name: str
    labels: tuple[AuditedLabel, ...]
    left_out: Mapping[str, Mapping[str, int | None]]
    """By level, the labels that are left out if only shared types are scored, with the number of their spans."""


@dataclass(frozen=True)
class TypeAudit:
    """The audited sides: the gold data first, then the systems."""

    sides: tuple[AuditedSide, ...]
    taxonomy: Taxonomy

    def __repr__(self) -> str:
        shown = (f"{printable(side.name)}: {plural(len(side.labels), 'label')}" for side in self.sides)
        return f"TypeAudit({', '.join(shown)})"

    def __str__(self) -> str:
        return cast("str", from_above("report.types_table", "plain")(self))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "schema": "spanscore.types/1",
            "taxonomy": self.taxonomy.digest,
            "sides": [
                {"name": one.name, "labels": [label.to_dict() for label in one.labels], "left_out": one.left_out}
                for one in self.sides
            ],
        }


@checked
def types(
    *sides: str | Path | Corpus | Sequence[str],
    format: str | Format | None = None,  # noqa: A002  # the user's word
    taxonomy: Taxonomy | str | Path | None = None,
    **maps: Any,
) -> TypeAudit:
    """Audit the types that the taxonomy gives to the labels of gold data and systems, and which labels match.

    The first side is the gold data. A side is a file, a corpus, the name of a label set such as `Presidio`, or a list
    of labels. `maps` are `label_map`, `gold_map` and `pred_map` as in `score`.

    >>> audit = types(["PATIENT", "CITY", "CASTLE"], ["PERSON", "LOCATION"])
    >>> [(one.label, one.type, one.why, one.level) for one in audit.sides[0].labels]
    [('CASTLE', None, 'none', 'none'), ('CITY', 'CITY', 'exact', 'branch'), ('PATIENT', 'PERSON', 'alias', 'type')]
    >>> audit.sides[0].left_out["branch"]
    {'CASTLE': None}
    """
    chosen = Taxonomy.of(taxonomy)
    found = [_labels(side, chosen, format) for side in sides]
    plan = Plan.of("exact", taxonomy=chosen, levels=AUDITED, **maps)
    shared = plan.sharing(found[0][1], [labels for _, labels in found[1:]]) if len(found) > 1 else plan
    by_level = {view.level: view for view in shared.views}
    namings = [by_level["type"].gold, *(by_level["type"].pred for _ in found[1:])]
    audited = []
    for number, (name, labels) in enumerate(found):
        others: dict[str, set[str]] = {}
        for other, (_, listed) in enumerate(found):
            for label in listed if other != number and (not number or not other) else ():
                if (to := namings[other].called(label)) is not None:
                    others.setdefault(to, set()).add(label)
        left_out = {
            str(level): {
                label: count
                for label, count in sorted(labels.items())
                if (view.pred if number else view.gold).name(label) is None
            }
            for level, view in by_level.items()
        }
        rows = tuple(_audited(labels, namings[number], others, chosen))
        audited.append(AuditedSide(name, rows, left_out if len(found) > 1 else {}))
    return TypeAudit(tuple(audited), chosen)


def _labels(
    side: str | Path | Corpus | Sequence[str], taxonomy: Taxonomy, format_: str | Format | None
) -> tuple[str, dict[str, int | None]]:
    """Return the name of a side, and its labels with the number of their spans."""
    if isinstance(side, str) and side != "-" and not _exists(side):
        named = {key_of(name): name for name in taxonomy.label_sets}
        if key_of(side) in named and "." not in side:
            return named[key_of(side)], dict.fromkeys(taxonomy.labels_of(side))
        if not {"/", "\\", "."} & set(side):
            listed = ", ".join(sorted(taxonomy.label_sets))
            raise InputError(f"this is neither a file nor a label set (label sets: {listed}).", side)
    if isinstance(side, str | Path | Corpus):
        counts: Counter[str] = Counter()
        name = side.source or "gold" if isinstance(side, Corpus) else str(side)
        for chunk in Input.of(side, None if isinstance(side, Corpus) else format_).chunks():
            numbers = np.bincount(chunk.label, minlength=len(chunk.labels)).tolist()
            counts.update({label: count for label, count in zip(chunk.labels, numbers, strict=True) if count})
        return name, dict(counts)
    return "labels", dict.fromkeys(side)


def _audited(
    labels: Mapping[str, int | None],
    naming: LevelNaming,
    others: Mapping[str, set[str]],
    taxonomy: Taxonomy,
) -> Iterator[AuditedLabel]:
    """Yield each label with its type; `others` are the labels of the other side by type."""
    spelled = {key_of(label): label for one in taxonomy.entries for label in (one.type, *one.labels)}
    spelled |= {key_of(label): label for listed in others.values() for label in listed}
    by_branch: dict[str, set[str]] = {}
    for kind, listed in others.items():
        by_branch.setdefault(taxonomy.names(kind)[1], set()).update(listed)
    strange = sum(taxonomy.resolve(label).type is None for label in labels)
    for label, count in sorted(labels.items()):
        mapped = naming.label_map.to.get(label, label)
        if mapped is None:
            yield AuditedLabel(label, count, None, None, None, DROPPED)
            continue
        found = taxonomy.resolve(mapped)
        kind, branch = taxonomy.names(mapped)
        meets = tuple(sorted(others.get(kind, ())))
        near = tuple(sorted(by_branch.get(branch, set()) - others.get(kind, set())))
        similar: tuple[str, ...] = ()
        if found.type is None and len(mapped) <= 100 and strange <= COMPARED:
            close = get_close_matches(key_of(mapped), spelled, n=3, cutoff=SIMILAR)
            similar = tuple(spelled[key] for key in close if spelled[key] not in meets)
        yield AuditedLabel(label, count, mapped, found.type, found.branch, found.why, meets, near, similar)


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False
