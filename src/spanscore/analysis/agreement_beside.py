"""Agreement of annotators, read from `agree --json`, to show next to the scores of systems and to gate them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from spanscore.corpus.records import field_error
from spanscore.errors import InputError, UsageError, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.result import Result

SCHEMA = "spanscore.agreement/1"
NAME = "agreement.json"


class AgreementRow(msgspec.Struct, omit_defaults=True):
    """F of all pairs of annotators by one measure, over all types or one."""

    measure: str
    type: str | None
    f: float | None
    beta: float
    interval: dict[str, tuple[float, float]] | None = None
    system: str = "annotators"


class Agreements(msgspec.Struct):
    """The fields that are read from the file."""

    schema: str
    annotators: list[str]
    level: float
    results: list[AgreementRow]


def is_agreement(path: str | Path) -> bool:
    """Return whether a file holds an agreement; False if it cannot be read."""
    try:
        return msgspec.json.decode(_file(path).read_bytes(), type=_Schema).schema == SCHEMA
    except (OSError, ValueError, msgspec.MsgspecError, RecursionError):
        return False


def read_agreement(path: str | Path) -> Agreements:
    """Read the file of `agree --json`, or from its folder."""
    file = _file(path)
    try:
        found = msgspec.json.decode(file.read_bytes(), type=Agreements)
    except OSError as error:
        raise InputError(f"the agreement cannot be read ({error.strerror}).", str(file)) from None
    except msgspec.ValidationError as error:
        raise InputError(f"this is not a file of spanscore agree --json: {field_error(error)}", str(file)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise InputError("the agreement is not valid JSON.", str(file)) from None
    if found.schema != SCHEMA:
        raise InputError(f"this is not a file of spanscore agree --json (expected schema {SCHEMA}).", str(file))
    return found


def with_agreement(result: Result, path: str | Path) -> Result:
    """Return a result that also records how far annotators agree by its measures.

    A measure that the agreement was not computed for is an error: two measures cannot be compared.
    """
    found = read_agreement(path)
    if result.settings.get("align"):
        raise UsageError("the agreement of annotators compares labels as they are; score without --align and --level.")
    wanted = {(repr(one.measure), one.beta) for one in result.scores}
    rows = [row for row in found.results if (row.measure, row.beta) in wanted]
    known = {(row.measure, row.beta) for row in rows}
    if missing := next((one for one in result.scores if (repr(one.measure), one.beta) not in known), None):
        what = f"the agreement has no F{missing.beta:g} by {printable(repr(missing.measure))}"
        option = f"-m {printable(repr(missing.measure))} --beta {missing.beta:g}"
        raise UsageError(f"{what}; make it with spanscore agree {option}.")
    agreement = {
        "annotators": found.annotators,
        "level": found.level,
        "results": [
            {"measure": row.measure, "type": row.type, "f": row.f, "beta": row.beta}
            | ({"interval": {"f": row.interval["f"]}} if row.interval and "f" in row.interval else {})
            for row in rows
        ],
    }
    return result.with_settings(agreement=agreement)


def beside(result: Result) -> Iterator[str]:
    """Yield a sentence for each system and measure whose agreement the result records.

    "annotators agree at F1 0.910 [0.880, 0.930]; base has 0.900 (exact)."
    """
    recorded: dict[str, Any] = result.settings.get("agreement") or {}
    whole = {row["measure"]: row for row in recorded.get("results", []) if row["type"] is None}
    for one in result.scores:
        row = whole.get(repr(one.measure))
        if row is None or row["f"] is None:
            continue
        low, high = (row.get("interval") or {}).get("f", (None, None))
        ends = "" if low is None or high is None else f" [{low:.3f}, {high:.3f}]"
        own = "no F" if math.isnan(one.f) else f"{one.f:.3f}"
        yield f"annotators agree at F{one.beta:g} {row['f']:.3f}{ends}; {one.system} has {own} ({one.measure!r})."


class _Schema(msgspec.Struct):
    schema: str


def _file(path: str | Path) -> Path:
    return Path(path) / NAME if Path(path).is_dir() else Path(path)
