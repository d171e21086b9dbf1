"""Quality gate: check results against minimum scores and against a baseline."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias
from xml.sax.saxutils import quoteattr

import msgspec

from spanscore.analysis.agreement_beside import is_agreement, read_agreement
from spanscore.analysis.compare import paired_test
from spanscore.analysis.gate_conditions import Condition, ResultRow, count
from spanscore.arguments import checked
from spanscore.corpus.records import field_error
from spanscore.errors import InputError, UsageError, plural, printable, unknown
from spanscore.files import finish_interrupted
from spanscore.measures.exact_ratios import reaches
from spanscore.result import Result, tallies
from spanscore.result.files import SCHEMA
from spanscore.result.tables import NOT_LOOKED_FOR, escape

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from spanscore.analysis.gate_conditions import Kind
    from spanscore.result import Scores
    from spanscore.stats import Bootstrap

Conditions: TypeAlias = "str | Sequence[str]"
"""Conditions as users write them."""


@dataclass(frozen=True)
class Check:
    """The outcome of a condition for one row of results."""

    name: str
    passed: bool
    message: str


@dataclass(frozen=True)
class Gate:
    """The outcome of all conditions; true if all of them hold."""

    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether all conditions hold."""
        return all(one.passed for one in self.checks)

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(one for one in self.checks if not one.passed)

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        return "\n".join(lines(self.checks))

    def __repr__(self) -> str:
        state = "passed" if self.passed else f"{len(self.failed)} failed"
        return f"Gate({plural(len(self.checks), 'check')}, {state})"


@checked
def gate(
    results: str | Path | Result,
    *,
    min: Conditions = (),  # noqa: A002  # the user's word
    max: Conditions = (),  # noqa: A002
    max_drop: Conditions = (),
    baseline: str | Path | Result | None = None,
    lower_bound: bool = False,
) -> Gate:
    """Check results, or the folder they are in, against conditions such as `recall=0.9` or `iou:PERSON:recall=0.95`.

    `min` is for scores, `max` for counts such as `leak.exposed=0` and for `latency.p95=0.2` of a run, `max_drop` for
    drops from the baseline. With `lower_bound`, the lower bound of the interval must reach the minimum.

    >>> import spanscore as ss
    >>> gold = ss.Corpus.from_arrays(["d"], [0], [0], [3], ["PERSON"])
    >>> outcome = ss.gate(ss.score(gold, gold, "exact"), min=["recall=0.9", "PERSON:f=1"])
    >>> outcome, bool(outcome)
    (Gate(2 checks, passed), True)
    """
    listed: list[tuple[Kind, str]] = [
        *(("min", text) for text in _listed(min)),
        *(("max", text) for text in _listed(max)),
        *(("drop", text) for text in _listed(max_drop)),
    ]
    if not listed:
        raise UsageError("give at least one condition, such as min='recall=0.9' or max='leak.exposed=0'.")
    if bool(_listed(max_drop)) != (baseline is not None):
        raise UsageError("a maximum drop needs a baseline, and a baseline needs a maximum drop.")
    rows = _rows_of(results)
    speed = [one for one in listed if LATENCY.match(one[1])]
    paths = not isinstance(results, Result) and baseline is not None and not isinstance(baseline, Result)
    found = checks(
        rows,
        [Condition.parse(text, rows, kind) for kind, text in listed if not LATENCY.match(text)],
        [] if baseline is None else _rows_of(baseline, read_baseline),
        lower_bound=lower_bound,
        paired=Paired.of(str(results), str(baseline)) if paths else None,
    )
    if speed and isinstance(results, Result):
        raise UsageError("only the folder of a run has a latency; give its path.")
    found += latency_checks(str(results), speed) if speed else []
    return Gate(tuple(found))


def _listed(conditions: str | Sequence[str]) -> Sequence[str]:
    listed = [conditions] if isinstance(conditions, str) else conditions
    if not isinstance(listed, list | tuple) or not all(isinstance(one, str) for one in listed):
        raise UsageError("write a condition as a string, such as min='recall=0.9', or give a list of them.")
    return listed


def _rows_of(results: str | Path | Result, read: Callable[[str], list[ResultRow]] | None = None) -> list[ResultRow]:
    if not isinstance(results, Result):
        return (read or read_results)(str(results))
    return _marked(_checked_rows(results.to_dict()["results"]), results.not_looked_for)


def _checked_rows(rows: Iterable[ResultRow]) -> list[ResultRow]:
    """Return the overall rows and those of types, also of measures that have these only with `--by type`."""
    kept = [row for row in rows if row.get("average") is None and row.get("by") in (None, "type")]
    return [row if row.get("by") is None else {**row, "type": row["slice"]} for row in kept]


def _marked(rows: list[ResultRow], not_looked_for: Collection[str]) -> list[ResultRow]:
    """Mark the rows of types that the detector did not look for."""
    return [{**row, "looked_for": False} if row["type"] in not_looked_for else row for row in rows]


LATENCY = re.compile(r"\s*latency[.:]")
"""How conditions on the speed of the detector begin."""
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
    counts: dict[str, int | float | None] = msgspec.field(default_factory=dict)
    interval: dict[str, tuple[Share | None, Share | None]] | None = None
    by: str | None = None
    slice: str | None = None
    average: str | None = None
    level: str | None = None
    signature: str = ""


class _Settings(msgspec.Struct):
    not_looked_for: list[str] | None = None


class _Results(msgspec.Struct):
    schema: str
    results: list[_Row]
    settings: _Settings = msgspec.field(default_factory=_Settings)


class _Latency(msgspec.Struct):
    p50: float
    p95: float
    p99: float
    characters_per_second: float


class _Run(msgspec.Struct):
    latency: _Latency | None = None


def read_baseline(path: str) -> list[ResultRow]:
    """Read the rows of earlier results, or of the agreement of annotators, which has F alone."""
    if not is_agreement(path):
        return read_results(path)
    found = read_agreement(path)
    rows = [msgspec.structs.asdict(row) for row in found.results]
    kept = [{key: value for key, value in row.items() if key != "interval" or value} for row in rows]
    return [{**row, "precision": None, "recall": None, "agreement": True} for row in kept]


def read_results(path: str) -> list[ResultRow]:
    """Read the rows that can be checked of a results.json file, given the file or its folder."""
    file = Path(path) / "results.json" if Path(path).is_dir() else Path(path)
    finish_interrupted(file.parent)
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
    rows = _checked_rows(msgspec.structs.asdict(row) for row in results.results)
    for row in rows:
        level = row.pop("level")
        row["measure"] += f"@{level}" if level else ""
    kept = [{key: value for key, value in row.items() if key != "interval" or value} for row in rows]
    return _marked(kept, results.settings.not_looked_for or ())


def checks(
    rows: Sequence[ResultRow],
    conditions: Sequence[Condition],
    before: Sequence[ResultRow],
    *,
    lower_bound: bool,
    paired: Paired | None = None,
) -> list[Check]:
    """Check every condition against every row it applies to; a condition that applies to no row is an error."""
    found: list[Check] = []
    for condition in conditions:
        matching = [row for row in rows if condition.applies(row)]
        if not matching:
            where = f"{condition.measure or 'any measure'}, type {condition.type or 'all'}"
            raise UsageError(f"no results have {condition.number} for {printable(where)}.")
        for row in matching:
            if condition.kind == "drop":
                check = _fall(condition, row, before, paired)
            elif condition.kind == "max":
                check = _most(condition, row)
            else:
                check = _least(condition, row, lower_bound)
            if not check.passed and not row.get("looked_for", True):
                check = replace(check, message=f"{check.message}; {NOT_LOOKED_FOR} by the detector")
            found.append(check)
    return found


def latency_checks(results: str, conditions: Sequence[tuple[Kind, str]]) -> list[Check]:
    """Check conditions such as `latency.p95=0.2` (seconds) against the run.json beside the results."""
    path = (Path(results) if Path(results).is_dir() else Path(results).parent) / "run.json"
    try:
        found = msgspec.json.decode(path.read_bytes(), type=_Run).latency
    except OSError as error:
        what = f"the run cannot be read ({error.strerror}); only results of spanscore run have a latency."
        raise InputError(what, str(path)) from None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise InputError("this is not a file of spanscore run.", str(path)) from None
    if found is None:
        raise InputError("this run has no latency, because it ran no detector.", str(path))
    return [_latency_check(text, kind, msgspec.structs.asdict(found)) for kind, text in conditions]


def _latency_check(text: str, kind: Kind, latency: dict[str, float]) -> Check:
    name, _, value = text.partition("=")
    key = LATENCY.sub("", name, count=1).strip()
    if key not in latency:
        raise UsageError(unknown("latency", key, latency))
    try:
        limit = float(value)
    except ValueError:
        limit = math.nan
    speed = key == "characters_per_second"
    if not 0 <= limit < math.inf or kind != ("min" if speed else "max"):
        usual = "--min latency.characters_per_second=1000" if speed else f"--max latency.{key}=0.2 (seconds)"
        raise UsageError(f"'{printable(text)}' is not a valid condition; write {usual}.")
    passed = latency[key] >= limit if speed else latency[key] <= limit
    unit, side = ("", "minimum") if speed else (" s", "maximum")
    return Check(f"latency {key}", passed, f"{key} is {latency[key]:g}{unit} ({side} {limit:g}{unit})")


def _most(condition: Condition, row: ResultRow) -> Check:
    number = count(row, condition.number)
    passed = number is not None and number <= condition.value
    said = "undefined" if number is None else f"{number:g}"
    return Check(_name(row, condition), passed, f"{condition.number} is {said} (maximum {condition.value:g})")


def _least(condition: Condition, row: ResultRow, lower_bound: bool) -> Check:
    number = row[condition.number]
    what = condition.number
    if lower_bound:
        ends = row.get("interval", {}).get(condition.number)
        if ends is None:
            name = printable(_name(row, condition), limit=200)
            raise UsageError(
                f"--on lower-bound: {name} has no interval; score again with --ci 0.95 (clustering measures have none)."
            )
        number, what = ends[0], f"the lower bound of {condition.number}"
    passed = number is not None and reaches(number, condition.value)
    return Check(_name(row, condition), passed, f"{what} is {_shown(number)} (minimum {condition.value:g})")


def _fall(condition: Condition, row: ResultRow, before: Sequence[ResultRow], paired: Paired | None) -> Check:
    same = [old for old in before if (old["measure"], old["type"]) == (row["measure"], row["type"])]
    old = next((one for one in same if one["system"] == row["system"]), same[0] if len(same) == 1 else None)
    name = _name(row, condition)
    if old is None:
        raise UsageError(f"the baseline has no {condition.number} to compare for '{printable(name, limit=200)}'.")
    if old.get("agreement") and condition.number != "f":
        raise UsageError(
            f"the agreement of annotators has only F; a drop of {condition.number} from it is not defined."
        )
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
    if old.get("agreement"):
        below = f"{drop:.4f} below" if drop > 0 else f"{-drop:.4f} above" if drop < 0 else "equal to"
        message = f"f is {below} the annotators' {_shown(old['f'])} (allowed {condition.value:g} below)"
        return _by_chance(name, message, drop, condition, row, old, paired)
    moved = f"fell by {drop:.4f} from" if drop > 0 else f"rose by {-drop:.4f} from" if drop < 0 else "is unchanged at"
    message = f"{condition.number} {moved} {_shown(old[condition.number])} (allowed drop {condition.value:g})"
    return _by_chance(name, message, drop, condition, row, old, paired)


def _by_chance(
    name: str,
    message: str,
    drop: float,
    condition: Condition,
    row: ResultRow,
    old: ResultRow,
    paired: Paired | None,
) -> Check:
    """Return whether a drop is allowed, or may be due to chance."""
    if reaches(condition.value, drop):
        return Check(name, passed=True, message=message)
    tested = None if paired is None else paired.test(row, old, condition.number)
    if paired is not None and tested is not None:
        (low, high), p = tested
        message += f"; interval of the drop {low:z.4f} to {high:z.4f}, p {p:.4f} (paired by document)"
        chance = p >= 1 - paired.bootstrap.level
    else:
        half = _half_width(row, old, condition.number)
        chance = half is not None and drop <= half
        if half is not None:
            low, high = max(drop - half, -1.0), min(drop + half, 1.0)
            message += f"; interval of the drop {low:z.4f} to {high:z.4f} (unpaired)"
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

    def test(self, row: ResultRow, old: ResultRow, number: str) -> tuple[tuple[float, float], float] | None:
        """Return the interval and p-value of the drop; None unless both have counts of the same documents and type."""
        a, b = self.old.get(old.get("signature", "")), self.new.get(row.get("signature", ""))
        if row.get("by") is not None or a is None or b is None or set(a.tally.documents) != set(b.tally.documents):
            return None
        names = sorted(a.tally.documents)
        before, now = (one.tally.of_label(row["type"]).of_documents(names) for one in (a, b))
        interval, p = paired_test(b, (before, now), number, self.bootstrap, label=row["type"])
        return None if math.isnan(interval[0]) else (interval, p)


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
    return f"{row['system']} {row['measure']} {kind} {condition.number}{' drop' if condition.kind == 'drop' else ''}"


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
    rows = [f"| {'✅' if one.passed else '❌'} | {_cell(one.name)} | {_cell(one.message)} |\n" for one in found]
    return head + "| | check | |\n| :--- | :--- | :--- |\n" + "".join(rows)


def _cell(text: str) -> str:
    """Return text that Markdown shows verbatim; GitHub notifies nobody whose name follows an @."""
    return escape(text).replace("@", "@<!-- -->")


def workflow_commands(found: Sequence[Check]) -> Iterator[str]:
    """Yield a workflow command of GitHub Actions for each failed check, which shows it as an error of the job.

    >>> list(workflow_commands([Check("mine iou A,B recall", False, "recall is 50% too low")]))
    ['::error title=spanscore gate%3A mine iou A%2CB recall::recall is 50%25 too low']
    """
    for one in found:
        if not one.passed:
            title = _command_data(f"spanscore gate: {printable(one.name, limit=200)}")
            title = title.replace(":", "%3A").replace(",", "%2C")
            yield f"::error title={title}::{_command_data(printable(one.message, limit=500))}"


def _command_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


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
