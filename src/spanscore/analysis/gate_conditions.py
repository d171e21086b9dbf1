"""Conditions of the quality gate: what users write, such as `iou:PERSON:recall=0.95` or `leak.exposed=0`."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from spanscore.errors import UsageError, printable, unknown
from spanscore.measures import names
from spanscore.result import NUMBERS, split_level
from spanscore.spec import parsed_share

if TYPE_CHECKING:
    from collections.abc import Sequence

ResultRow = dict[str, Any]
Kind = Literal["min", "max", "drop"]
MISSED = "missed"
"""The number of spans that were not found, whatever a measure calls them."""
SPELLINGS = {"p": "precision", "r": "recall", "fbeta": "f", "f-beta": "f", "f_beta": "f", "fscore": "f"}
_F = re.compile(r"f-?(?P<beta>\d+(\.\d+)?)(?:[-_]?score)?")


@dataclass(frozen=True)
class Condition:
    """A minimum, a maximum, or a maximum drop of a number by one or all measures, for one type or overall."""

    number: str
    measure: str | None
    type: str | None
    value: float
    kind: Kind = "min"

    @classmethod
    def parse(cls, text: str, rows: Sequence[ResultRow], kind: Kind = "min") -> Condition:
        """Read `recall=0.9`, `recall=90%`, `iou:PERSON:recall=0.95` (any order), `leak.exposed=0`, `missed:PERSON=2`.

        >>> row = {"measure": "iou", "type": "PERSON", "beta": 1.0, "counts": {"fn": 3}}
        >>> Condition.parse("PERSON:recall=90%", [row])
        Condition(number='recall', measure=None, type='PERSON', value=0.9, kind='min')
        >>> Condition.parse("recall:iou:PERSON=0.9", [row]) == Condition.parse("iou:PERSON:recall=0.9", [row])
        True
        """
        where, equals, value = text.rpartition("=")
        if not equals or not where:
            raise _wrong(text, kind)
        measure, rest = _measure(where, {row["measure"] for row in rows})
        counts = {MISSED, *(name for row in rows for name in row.get("counts", ()))}
        named = {row["type"] for row in rows if row["type"] is not None}
        number: str | None = None
        others = []
        for part in rest:
            spelled = _spelled(part, rows)
            is_number = spelled in NUMBERS or (spelled in counts and part not in named)
            if is_number and number is None:
                number = spelled
            else:
                others.append(part)
        if number is None:
            known = NUMBERS if kind != "max" else sorted(counts)
            given = next((part for part in rest if part not in named), None)
            _refuse_other_measure(text, given, rows)
            hint = (
                f"'{printable(text)}' names no number" if given is None else unknown("number", given, known).rstrip(".")
            )
            raise UsageError(f"{hint}; write it like {_example(kind)}.")
        type_ = ":".join(others) or None
        if type_ is not None and type_ not in named:
            for given in (type_, f"{measure}.{type_}"):
                _refuse_other_measure(text, given, rows)
            raise UsageError(unknown("measure or type", type_, {row["measure"] for row in rows} | named))
        if (number in NUMBERS) == (kind == "max"):
            what = "is a score; use --min" if kind == "max" else "is a count; use --max"
            raise UsageError(f"'{printable(text)}': {number} {what}.")
        return cls(number, measure, type_, _limit(text, value, kind), kind)

    def applies(self, row: ResultRow) -> bool:
        """Check whether the condition applies to a row of results."""
        if self.measure not in (None, row["measure"], split_level(row["measure"])[0]) or row["type"] != self.type:
            return False
        if self.measure is None and "needless" in row.get("counts", ()) and self.number in ("precision", "f"):
            return self.type is None and row[self.number] is not None  # masked spans belong to no type
        return self.number in NUMBERS or count(row, self.number) is not None


def count(row: ResultRow, name: str) -> float | None:
    """Return a count of a row of results; `missed` is what was annotated and not found, under any name.

    >>> count({"counts": {"hidden": 3, "partly": 1, "exposed": 1, "annotated": 5}}, "missed")
    2
    >>> count({"counts": {"correct": 3, "incorrect": 1, "missed": 1, "possible": 5}, "recall": 0.6}, "missed")
    2.0
    """
    counts: dict[str, float | None] = row.get("counts", {})
    if name != MISSED:
        return counts.get(name)
    annotated, possible = counts.get("annotated"), counts.get("possible")
    hidden = counts.get("hidden", counts.get("masked"))
    if annotated is not None and hidden is not None:
        return annotated - hidden
    if possible is not None:  # wrong and partial matches are not found either, but may have half credit
        return possible - round(2 * possible * (row["recall"] or 0)) / 2
    return counts.get("fn")


def _measure(where: str, measures: set[str]) -> tuple[str | None, list[str]]:
    """Return the measure that a condition names, if any, and the other parts, in order.

    Without a level, it is the measure at all levels.
    """
    short: dict[str, set[str]] = {}
    for one in measures:
        name, level = split_level(one)
        at = f"@{level}" if level else ""
        for written, meant in ((name, name), (name.partition("(")[0], name), (name.partition("(")[0] + at, one)):
            short.setdefault(written, set()).add(meant)
    spelled = {name: min(full) for name, full in short.items() if len(full) == 1} | {one: one for one in measures}
    for name in sorted(spelled, key=lambda name: (-len(name), name)):
        for place in re.finditer(re.escape(name), where):
            before, after = where[: place.start()], where[place.end() :]
            if (before and not before.endswith(":")) or (after and after[0] not in ":."):
                continue
            rest = [part for part in (*before.split(":"), *after.lstrip(":.").split(":")) if part]
            if rest:
                return spelled[name], rest
    return None, where.split(":")


def _refuse_other_measure(text: str, given: str | None, rows: Sequence[ResultRow]) -> None:
    """Refuse a measure that the results do not have."""
    if given is not None and any(given == one or given.startswith((f"{one}.", f"{one}:")) for one in names()):
        measures = ", ".join(sorted({row["measure"] for row in rows}))
        raise UsageError(f"'{printable(text)}': these results have no such measure, only {measures}.")


def _spelled(part: str, rows: Sequence[ResultRow]) -> str:
    """Return the name of a number as results have it; F1 must be the F of these results."""
    lowered = part.lower()
    if found := _F.fullmatch(lowered):
        betas = {row["beta"] for row in rows}
        if betas - {float(found["beta"])}:
            shown = " and ".join(f"f{beta:g}" for beta in sorted(betas))
            raise UsageError(f"these results have {shown}, not {printable(part)}; score with --beta {found['beta']}.")
        return "f"
    known = SPELLINGS.get(lowered, lowered)
    return known if known in NUMBERS else part


def _limit(text: str, value: str, kind: Kind) -> float:
    if kind == "max" and value.strip().endswith("%"):
        what = f"'{printable(text)}' is a percentage, but this limit is a number"
        raise UsageError(f"{what}; give a number of spans, or a minimum recall such as --min recall=0.9.")
    try:
        limit = parsed_share(value)
    except ValueError:
        limit = math.nan
    if kind == "max":
        if math.isfinite(limit) and limit >= 0:
            return limit
        raise UsageError(f"'{printable(text)}' needs a number that is not negative, such as {_example(kind)}.")
    if 0 <= limit <= 1:
        return limit
    if 10 <= limit <= 100:
        where = text.rpartition("=")[0]
        raise UsageError(f"'{printable(text)}' is not between 0 and 1; write {printable(where)}={limit / 100:g}.")
    raise _wrong(text, kind, " (a share is between 0 and 1)" if math.isfinite(limit) else "")


def _wrong(text: str, kind: Kind, why: str = "") -> UsageError:
    return UsageError(f"'{printable(text)}' is not a valid condition{why}; write it like {_example(kind)}.")


def _example(kind: Kind) -> str:
    return {"min": "iou:PERSON:recall=0.95", "max": "leak.exposed=0 or missed:PERSON=2", "drop": "f=0.01"}[kind]
