"""Quality gate: check results against minimum scores and against a baseline."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from xml.sax.saxutils import quoteattr

import msgspec

from spanscore.corpus.records import field_error
from spanscore.errors import InputError, UsageError, printable, unknown
from spanscore.result import NUMBERS, tallies
from spanscore.result.files import SCHEMA
from spanscore.result.tables import escape
from spanscore.stats import percentile_interval, spread_of_difference, stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from spanscore.result import Scores
    from spanscore.stats import Bootstrap


ResultRow = dict[str, Any]


@dataclass(frozen=True)
class Condition:
    """A minimum, or a maximum drop, of a score by one or all measures, for one type or overall."""

    number: str
    measure: str | None
    type: str | None
    value: float
    drop: bool = False

    @classmethod
    def parse(cls, text: str, rows: Sequence[ResultRow], *, drop: bool = False) -> Condition:
        """Read `recall=0.9`, `iou:recall=0.9`, `iou:PERSON:recall=0.95` or `PERSON:recall=0.95`."""
        where, equals, value = text.rpartition("=")
        left, _, number = where.rpartition(":")
        try:
            limit = float(value)
        except ValueError:
            limit = math.nan
        if not equals or number not in NUMBERS or not 0 <= limit <= 1:
            raise UsageError(f"'{printable(text)}' is not a valid condition; write it like iou:PERSON:recall=0.95.")
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
        raise UsageError(unknown("measure or type", left, measures | types))

    def applies(self, row: ResultRow) -> bool:
        """Check whether the condition applies to a row of results."""
        return self.measure in (None, row["measure"]) and row["type"] == self.type


@dataclass(frozen=True)
class Check:
    """The outcome of a condition for one row of results."""

    name: str
    passed: bool
    message: str


Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class _Row(msgspec.Struct, omit_defaults=True):
    """The fields of a row of results that the gate needs."""

    system: str
    measure: str
    type: str | None
    precision: Share | None
    recall: Share | None
    f: Share | None
    beta: float = 1.0
    interval: dict[str, tuple[Share | None, Share | None]] | None = None
    by: str | None = None
    average: str | None = None
    signature: str = ""


class _Results(msgspec.Struct):
    schema: str
    results: list[_Row]


def read_results(path: str) -> list[ResultRow]:
    """Read the rows of a results.json file, given the file or its folder."""
    file = Path(path) / "results.json" if Path(path).is_dir() else Path(path)
    try:
        results = msgspec.json.decode(file.read_bytes(), type=_Results)
    except OSError as error:
        raise InputError(f"the results cannot be read ({error.strerror}).", str(file)) from None
    except msgspec.ValidationError as error:
        raise InputError(f"this is not a results file of spanscore score: {field_error(error)}", str(file)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise InputError("the results are not valid JSON.", str(file)) from None
    if results.schema != SCHEMA:
        raise InputError(f"this is not a results file of spanscore score (expected schema {SCHEMA}).", str(file))
    rows = [msgspec.structs.asdict(row) for row in results.results if row.by is None and row.average is None]
    return [{key: value for key, value in row.items() if key != "interval" or value} for row in rows]


def checks(
    rows: Sequence[ResultRow],
    minima: Sequence[Condition],
    drops: Sequence[Condition],
    before: Sequence[ResultRow],
    *,
    lower_bound: bool,
    paired: Paired | None = None,
) -> list[Check]:
    """Check every condition against every row it applies to; a condition that applies to no row is an error."""
    found: list[Check] = []
    for condition in (*minima, *drops):
        matching = [row for row in rows if condition.applies(row)]
        if not matching:
            raise UsageError(f"no results for {condition.measure or 'any measure'}, type {condition.type or 'all'}.")
        found += [
            _fall(condition, row, before, paired) if condition.drop else _least(condition, row, lower_bound)
            for row in matching
        ]
    return found


def _least(condition: Condition, row: ResultRow, lower_bound: bool) -> Check:
    number = row[condition.number]
    what = condition.number
    if lower_bound:
        ends = row.get("interval", {}).get(condition.number)
        if ends is None:
            name = printable(_name(row, condition), limit=200)
            raise UsageError(f"--on lower-bound: {name} has no interval; use --ci 0.95 and no clustering measures.")
        number, what = ends[0], f"the lower bound of {condition.number}"
    passed = number is not None and number >= condition.value
    return Check(_name(row, condition), passed, f"{what} is {_shown(number)} (minimum {condition.value:g})")


def _fall(condition: Condition, row: ResultRow, before: Sequence[ResultRow], paired: Paired | None) -> Check:
    same = [old for old in before if (old["measure"], old["type"]) == (row["measure"], row["type"])]
    old = next((one for one in same if one["system"] == row["system"]), same[0] if len(same) == 1 else None)
    name = _name(row, condition)
    if old is None:
        raise UsageError(f"the baseline has no {condition.number} to compare for '{printable(name, limit=200)}'.")
    if condition.number == "f" and old.get("beta") != row.get("beta"):
        raise UsageError("results and baseline use different betas for F; score both with the same --beta.")
    if old[condition.number] is None:
        return Check(name, passed=True, message=f"{condition.number} is undefined in the baseline")
    new = row[condition.number]
    if new is None:
        return Check(
            name, passed=False, message=f"{condition.number} was {_shown(old[condition.number])} and is now undefined"
        )
    drop = old[condition.number] - new
    moved = f"fell by {drop:.4f}" if drop > 0 else f"rose by {-drop:.4f}"
    message = f"{condition.number} {moved} from {_shown(old[condition.number])} (allowed drop {condition.value:g})"
    if drop <= condition.value:
        return Check(name, passed=True, message=message)
    interval = None if paired is None else paired.interval(row, old, condition.number)
    if interval is not None:
        message += f"; interval of the drop {interval[0]:.4f} to {interval[1]:.4f} (paired by document)"
        chance = interval[0] <= 0
    else:
        half = _half_width(row, old, condition.number)
        chance = half is not None and drop <= half
        if half is not None:
            message += f"; interval of the drop {drop - half:.4f} to {drop + half:.4f} (unpaired)"
    return Check(name, passed=chance, message=f"{message}; not significant" if chance else message)


@dataclass(frozen=True)
class Paired:
    """Counts per document of the results and of the baseline."""

    bootstrap: Bootstrap
    new: Mapping[str, Scores]
    old: Mapping[str, Scores]

    @classmethod
    def of(cls, results: str, baseline: str) -> Paired | None:
        """Read the counts saved with both results; None unless both have them."""
        new, old = tallies.read(results), tallies.read(baseline)
        if new is None or old is None or new[0].cluster != old[0].cluster:
            return None
        return cls(new[0], new[1], old[1])

    def interval(self, row: ResultRow, old: ResultRow, number: str) -> tuple[float, float] | None:
        """Return the confidence interval of the drop; None unless both sides have counts for the same documents."""
        a, b = self.old.get(old.get("signature", "")), self.new.get(row.get("signature", ""))
        if a is None or b is None or set(a.tally.documents) != set(b.tally.documents):
            return None
        names = sorted(a.tally.documents)
        before, now = (one.tally.of_label(row["type"]).of_documents(names) for one in (a, b))
        seed = stream(self.bootstrap.seed, f"gate|{number}|{row['type'] or ''}")
        place = NUMBERS.index(number)
        spread = spread_of_difference(before, now, lambda sums: b.numbers(sums)[place], self.bootstrap.resamples, seed)
        low, high = percentile_interval(spread, self.bootstrap.level)
        return None if math.isnan(low) else (low, high)


def _half_width(row: ResultRow, old: ResultRow, number: str) -> float | None:
    """Return the half-width of the interval of the difference, treating both results as independent samples."""
    widths = []
    for one in (row, old):
        low, high = one.get("interval", {}).get(number, (None, None))
        if low is None or high is None:
            return None
        widths.append((high - low) / 2)
    return math.hypot(*widths)


def _name(row: ResultRow, condition: Condition) -> str:
    kind = "all" if row["type"] is None else row["type"]
    return f"{row['system']} {row['measure']} {kind} {condition.number}{' drop' if condition.drop else ''}"


def _shown(number: float | None) -> str:
    return "undefined" if number is None else f"{number:.4f}"


def lines(found: Sequence[Check]) -> Iterator[str]:
    """Yield a line for each check."""
    for one in found:
        yield f"{'pass' if one.passed else 'FAIL'}  {printable(one.name, limit=200)}: {one.message}"


def markdown(found: Sequence[Check]) -> str:
    """Return a Markdown summary, for example for a pull request."""
    failed = sum(not one.passed for one in found)
    head = f"### spanscore gate: {'passed' if not failed else f'{failed} of {len(found)} checks failed'}\n\n"
    rows = [f"| {'✅' if one.passed else '❌'} | {escape(one.name)} | {escape(one.message)} |\n" for one in found]
    return head + "| | check | |\n| :--- | :--- | :--- |\n" + "".join(rows)


def junit(found: Sequence[Check]) -> str:
    """Return JUnit XML with a test case for each check."""
    failed = sum(not one.passed for one in found)
    cases = []
    for one in found:
        body = "" if one.passed else f"<failure message={_attribute(one.message)}/>"
        cases.append(f'  <testcase classname="spanscore.gate" name={_attribute(one.name)}>{body}</testcase>\n')
    head = f'<testsuite name="spanscore gate" tests="{len(found)}" failures="{failed}">\n'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{head}{"".join(cases)}</testsuite>\n'


def _attribute(text: str) -> str:
    return quoteattr(printable(text, limit=500))
