"""The gate: results held against what is asked of them, and against results of before."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import quoteattr

from spanscore.errors import InputError, UsageError, printable, unknown
from spanscore.report.files import SCHEMA
from spanscore.report.tables import escape
from spanscore.result import NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


Row = dict[str, Any]


@dataclass(frozen=True)
class Condition:
    """What is asked: a number of a measure, of a type or of all, and how high it must be or how far it may fall."""

    number: str
    measure: str | None
    type: str | None
    value: float
    drop: bool = False

    @classmethod
    def parse(cls, text: str, rows: Sequence[Row], *, drop: bool = False) -> Condition:
        """Read `recall=0.9`, `iou:recall=0.9`, `iou:PERSON:recall=0.95` or `PERSON:recall=0.95`."""
        where, equals, value = text.rpartition("=")
        left, _, number = where.rpartition(":")
        try:
            limit = float(value)
        except ValueError:
            limit = math.nan
        if not equals or number not in NUMBERS or not 0 <= limit <= 1:
            raise UsageError(f"'{printable(text)}' is not a condition; write for example iou:PERSON:recall=0.95.")
        measures = {row["measure"] for row in rows}
        types = {row["type"] for row in rows if row["type"] is not None}
        if not left:
            return cls(number, None, None, limit, drop)
        if left in measures:
            return cls(number, left, None, limit, drop)
        measure, _, kind = left.rpartition(":")
        if measure in measures and kind in types:
            return cls(number, measure, kind, limit, drop)
        if left in types:
            return cls(number, None, left, limit, drop)
        raise UsageError(unknown("measure or type in the results", left, measures | types))

    def applies(self, row: Row) -> bool:
        """Whether a row of results is meant."""
        return self.measure in (None, row["measure"]) and row["type"] == self.type and "by" not in row


@dataclass(frozen=True)
class Check:
    """A condition held against a row of results."""

    name: str
    passed: bool
    told: str


def read_results(path: str) -> list[Row]:
    """The rows of a results.json, or of the folder that it is in."""
    file = Path(path) / "results.json" if Path(path).is_dir() else Path(path)
    try:
        said = json.loads(file.read_text("utf-8"))
    except UnicodeDecodeError:
        raise InputError("the results are not UTF-8.", str(file)) from None
    except OSError as error:
        raise InputError(f"the results cannot be read ({error.strerror}).", str(file)) from None
    except (ValueError, RecursionError):
        raise InputError("the results are not JSON.", str(file)) from None
    if not isinstance(said, dict) or said.get("schema") != SCHEMA or not isinstance(said.get("results"), list):
        raise InputError(f"these are no results of spanscore score (its schema is {SCHEMA}).", str(file))
    rows: list[Row] = said["results"]
    needed = {"system", "measure", "type", *NUMBERS}
    if not all(isinstance(row, dict) and needed <= row.keys() for row in rows):
        raise InputError("a row of the results lacks a field.", str(file))
    return rows


def checks(
    rows: Sequence[Row],
    minima: Sequence[Condition],
    drops: Sequence[Condition],
    before: Sequence[Row],
    *,
    lower_bound: bool,
) -> list[Check]:
    """Every condition held against every row that it is about; one that is about none is an error."""
    found: list[Check] = []
    for condition in (*minima, *drops):
        about = [row for row in rows if condition.applies(row)]
        if not about:
            raise UsageError(f"no result has what is asked: {condition.measure or 'any measure'}, {condition.type}.")
        found += [
            _fall(condition, row, before) if condition.drop else _least(condition, row, lower_bound) for row in about
        ]
    return found


def _least(condition: Condition, row: Row, lower_bound: bool) -> Check:
    number = row[condition.number]
    what = condition.number
    if lower_bound:
        if "interval" not in row:
            raise UsageError("--on lower-bound needs results with intervals; score with --ci 0.95.")
        number, what = row["interval"][condition.number][0], f"the lower bound of {condition.number}"
    passed = number is not None and number >= condition.value
    return Check(_name(row, condition), passed, f"{what} is {_shown(number)}, at least {condition.value:g} is asked")


def _fall(condition: Condition, row: Row, before: Sequence[Row]) -> Check:
    same = [old for old in before if (old["measure"], old["type"]) == (row["measure"], row["type"]) and "by" not in old]
    old = next((one for one in same if one["system"] == row["system"]), same[0] if len(same) == 1 else None)
    name = _name(row, condition)
    if old is None or old[condition.number] is None:
        return Check(name, passed=True, told="the baseline has no such number")
    new = row[condition.number]
    if new is None:
        return Check(
            name, passed=False, told=f"{condition.number} was {_shown(old[condition.number])}, now it is undefined"
        )
    drop = old[condition.number] - new
    told = f"{condition.number} fell by {drop:.4f} from {_shown(old[condition.number])}, {condition.value:g} is allowed"
    if drop <= condition.value:
        return Check(name, passed=True, told=told)
    half = _half_width(row, old, condition.number)
    if half is not None and drop <= half:
        return Check(name, passed=True, told=f"{told}, but that is inside the interval of the difference (±{half:.4f})")
    return Check(name, passed=False, told=told)


def _half_width(row: Row, old: Row, number: str) -> float | None:
    """How far apart two numbers may be by chance: from both intervals, as if the two were of different documents."""
    widths = []
    for one in (row, old):
        low, high = one.get("interval", {}).get(number, (None, None))
        if low is None or high is None:
            return None
        widths.append((high - low) / 2)
    return math.hypot(*widths)


def _name(row: Row, condition: Condition) -> str:
    kind = "all" if row["type"] is None else row["type"]
    return f"{row['system']} {row['measure']} {kind} {'drop of ' if condition.drop else ''}{condition.number}"


def _shown(number: float | None) -> str:
    return "undefined" if number is None else f"{number:.4f}"


def lines(found: Sequence[Check]) -> Iterator[str]:
    """A line for each check."""
    for one in found:
        yield f"{'pass' if one.passed else 'FAIL'}  {printable(one.name, limit=200)}: {one.told}"


def markdown(found: Sequence[Check]) -> str:
    """A summary for a pull request."""
    failed = sum(not one.passed for one in found)
    head = f"### spanscore gate: {'passed' if not failed else f'{failed} of {len(found)} checks failed'}\n\n"
    rows = [f"| {'✅' if one.passed else '❌'} | {escape(one.name)} | {escape(one.told)} |\n" for one in found]
    return head + "| | check | |\n| :--- | :--- | :--- |\n" + "".join(rows)


def junit(found: Sequence[Check]) -> str:
    """JUnit XML: a test case for each check."""
    failed = sum(not one.passed for one in found)
    cases = []
    for one in found:
        body = "" if one.passed else f"<failure message={_attribute(one.told)}/>"
        cases.append(f'  <testcase classname="spanscore.gate" name={_attribute(one.name)}>{body}</testcase>\n')
    head = f'<testsuite name="spanscore gate" tests="{len(found)}" failures="{failed}">\n'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{head}{"".join(cases)}</testsuite>\n'


def _attribute(text: str) -> str:
    return quoteattr(printable(text, limit=500))
