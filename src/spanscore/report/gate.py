"""The gate: results held against what is asked of them, and against results of before."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from xml.sax.saxutils import quoteattr

import msgspec

from spanscore.errors import InputError, UsageError, printable, unknown
from spanscore.records import explain
from spanscore.report import tallies
from spanscore.report.files import SCHEMA
from spanscore.report.tables import escape
from spanscore.result import NUMBERS
from spanscore.stats import percentile_interval, spread_of_difference, stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from spanscore.result import Scores
    from spanscore.stats import Bootstrap


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


Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class _Row(msgspec.Struct, omit_defaults=True):
    """What a row of results must hold to be held against something."""

    system: str
    measure: str
    type: str | None
    precision: Share | None
    recall: Share | None
    f: Share | None
    beta: float = 1.0
    interval: dict[str, tuple[Share | None, Share | None]] | None = None
    by: str | None = None
    signature: str = ""


class _Results(msgspec.Struct):
    schema: str
    results: list[_Row]


def read_results(path: str) -> list[Row]:
    """The rows of a results.json, or of the folder that it is in."""
    file = Path(path) / "results.json" if Path(path).is_dir() else Path(path)
    try:
        said = msgspec.json.decode(file.read_bytes(), type=_Results)
    except OSError as error:
        raise InputError(f"the results cannot be read ({error.strerror}).", str(file)) from None
    except msgspec.ValidationError as error:
        raise InputError(f"these are no results of spanscore score: {explain(error)}", str(file)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise InputError("the results are not JSON.", str(file)) from None
    if said.schema != SCHEMA:
        raise InputError(f"these are no results of spanscore score (its schema is {SCHEMA}).", str(file))
    rows = [msgspec.structs.asdict(row) for row in said.results]
    return [{key: value for key, value in row.items() if key not in ("interval", "by") or value} for row in rows]


def checks(
    rows: Sequence[Row],
    minima: Sequence[Condition],
    drops: Sequence[Condition],
    before: Sequence[Row],
    *,
    lower_bound: bool,
    paired: Paired | None = None,
) -> list[Check]:
    """Every condition held against every row that it is about; one that is about none is an error."""
    found: list[Check] = []
    for condition in (*minima, *drops):
        about = [row for row in rows if condition.applies(row)]
        if not about:
            raise UsageError(f"no result has what is asked: {condition.measure or 'any measure'}, {condition.type}.")
        found += [
            _fall(condition, row, before, paired) if condition.drop else _least(condition, row, lower_bound)
            for row in about
        ]
    return found


def _least(condition: Condition, row: Row, lower_bound: bool) -> Check:
    number = row[condition.number]
    what = condition.number
    if lower_bound:
        ends = row.get("interval", {}).get(condition.number)
        if ends is None:
            told = f"{printable(_name(row, condition), limit=200)} has no interval"
            raise UsageError(f"--on lower-bound: {told}; score with --ci 0.95, and leave out clusterings.")
        number, what = ends[0], f"the lower bound of {condition.number}"
    passed = number is not None and number >= condition.value
    return Check(_name(row, condition), passed, f"{what} is {_shown(number)}, at least {condition.value:g} is asked")


def _fall(condition: Condition, row: Row, before: Sequence[Row], paired: Paired | None) -> Check:
    same = [old for old in before if (old["measure"], old["type"]) == (row["measure"], row["type"]) and "by" not in old]
    old = next((one for one in same if one["system"] == row["system"]), same[0] if len(same) == 1 else None)
    name = _name(row, condition)
    if old is None:
        raise UsageError(f"the baseline has no {condition.number} of {printable(name, limit=200)} to compare with.")
    if condition.number == "f" and old.get("beta") != row.get("beta"):
        raise UsageError("F of the results and F of the baseline have another beta; score both with the same --beta.")
    if old[condition.number] is None:
        return Check(name, passed=True, told=f"{condition.number} is undefined in the baseline")
    new = row[condition.number]
    if new is None:
        return Check(
            name, passed=False, told=f"{condition.number} was {_shown(old[condition.number])}, now it is undefined"
        )
    drop = old[condition.number] - new
    moved = f"fell by {drop:.4f}" if drop > 0 else f"rose by {-drop:.4f}"
    told = f"{condition.number} {moved} from {_shown(old[condition.number])}, a drop of {condition.value:g} is allowed"
    if drop <= condition.value:
        return Check(name, passed=True, told=told)
    interval = None if paired is None else paired.interval(row, old, condition.number)
    if interval is not None:
        told += f" (interval of the drop {interval[0]:.4f} to {interval[1]:.4f}, document by document)"
        chance = interval[0] <= 0
    else:
        half = _half_width(row, old, condition.number)
        chance = half is not None and drop <= half
        if half is not None:
            told += f" (interval of the drop {drop - half:.4f} to {drop + half:.4f}, as if of different documents)"
    return Check(name, passed=chance, told=f"{told}, which may be chance" if chance else told)


@dataclass(frozen=True)
class Paired:
    """Documents' counts of the results and of the baseline."""

    bootstrap: Bootstrap
    new: Mapping[str, Scores]
    old: Mapping[str, Scores]

    @classmethod
    def of(cls, results: str, baseline: str) -> Paired | None:
        """The counts beside both, if both have them."""
        new, old = tallies.read(results), tallies.read(baseline)
        if new is None or old is None or new[0].cluster != old[0].cluster:
            return None
        return cls(new[0], new[1], old[1])

    def interval(self, row: Row, old: Row, number: str) -> tuple[float, float] | None:
        """Where the drop is likely to be; None unless both have counts of the same documents."""
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
