"""The history of scores: rows of many results in one Parquet file, and the trend of each score."""

from __future__ import annotations

import json
import math
import re
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from spanscore.analysis.gate import read_results
from spanscore.corpus.arrow import pyarrow
from spanscore.errors import InputError, UsageError, printable
from spanscore.files import FolderLock, atomic_file
from spanscore.formats.decoding import decoded_size
from spanscore.formats.source import refuse_unpacking
from spanscore.result import NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SCHEMA = "spanscore.history/1"
ROWS = 1024
"""Rows that are decoded at once."""
_GOLD, _CI = re.compile(r"\|gold:([^|]*)\|"), re.compile(r"\|ci:[^|]*")


@dataclass(frozen=True)
class Entry:
    """A row of results as it was logged; undefined scores are None, and so are intervals that were not computed."""

    logged: datetime
    name: str
    system: str
    measure: str
    type: str | None
    precision: float | None
    precision_low: float | None
    precision_high: float | None
    recall: float | None
    recall_low: float | None
    recall_high: float | None
    f: float | None
    f_low: float | None
    f_high: float | None
    beta: float
    level: float | None
    counts: str
    """The counts as JSON."""
    signature: str

    @property
    def key(self) -> tuple[str, str, str | None, str]:
        """What must not be logged twice under one name; the settings of intervals do not matter."""
        return self.system, self.measure, self.type, _CI.sub("", self.signature)

    @property
    def gold(self) -> str:
        """The fingerprint of the gold data."""
        found = _GOLD.search(self.signature)
        return found[1] if found else ""

    def interval(self, number: str) -> tuple[float, float] | None:
        """Return the confidence interval of precision, recall or f, if it is known."""
        low, high = (getattr(self, f"{number}_{end}") for end in ("low", "high"))
        return None if low is None or high is None else (low, high)


class Point(NamedTuple):
    """A score at a time; `change` is from the one before, if that was on the same gold data."""

    entry: Entry
    value: float | None
    interval: tuple[float, float] | None
    change: float | None
    new_data: bool


@dataclass(frozen=True)
class Trend:
    """A score of a system by a measure, overall or of one type, from the earliest to the latest."""

    system: str
    measure: str
    type: str | None
    number: str
    points: tuple[Point, ...]


def log(results: str | Path, history: str | Path, *, name: str = "", at: datetime | None = None) -> int:
    """Add the rows of results (results.json or its folder) to a history, and return how many are new.

    A row with the same system, measure, type and signature as an earlier one is not added, unless it has another name:
    so a version that was reverted is the latest again. If only the new one has a confidence interval, it replaces the
    earlier one. Several processes may log to one file at once.
    """
    target = Path(history)
    pyarrow("a history")
    if target.suffix.lower() != ".parquet":
        raise UsageError(f"a history is a Parquet file; '{printable(str(history), limit=255)}' must end in .parquet.")
    if not str(history) or target.is_dir() or not target.absolute().parent.is_dir():
        raise InputError("cannot write this file; it is a folder, or its folder does not exist.", str(history) or "''")
    new = entries(results, name=name, at=at)
    try:
        with FolderLock(target.absolute().parent, wait=True):
            known = read_history(target) if target.exists() else []
            kept = list(known)
            places: dict[tuple[str | None, ...], int] = {
                key: place for place, one in enumerate(known) for key in (one.key, (*one.key, one.name))
            }
            for one in new:
                place = places.get((*one.key, one.name) if one.name else one.key)
                if place is None:
                    places[one.key] = places[*one.key, one.name] = len(kept)
                    kept.append(one)
                elif kept[place].level is None and one.level is not None:
                    kept[place] = replace(one, logged=kept[place].logged, name=kept[place].name)
            if kept != known:
                _write(kept, target)
    except OSError as error:
        raise InputError(f"cannot write this file ({error.strerror}).", str(history)) from None
    return len(kept) - len(known)


def entries(results: str | Path, *, name: str = "", at: datetime | None = None) -> list[Entry]:
    """Return the rows of results as entries of a history; a run was logged when it finished, unless `at` is given."""
    rows = [row for row in read_results(str(results)) if row["by"] is None]
    level = _level(_file(results))
    logged = at or _finished(_file(results)) or datetime.now(UTC)
    logged = logged.replace(tzinfo=UTC) if logged.tzinfo is None else logged.astimezone(UTC)
    found = []
    for row in rows:
        ends = {
            f"{number}_{end}": (row.get("interval") or {}).get(number, (None, None))[place]
            for number in NUMBERS
            for place, end in enumerate(("low", "high"))
        }
        found.append(
            Entry(
                logged=logged.replace(microsecond=0),
                name=printable(name, limit=200),
                **{key: row[key] for key in ("system", "measure", "type", *NUMBERS, "beta", "signature")},
                **ends,
                level=level if row.get("interval") else None,
                counts=json.dumps(row["counts"]),
            )
        )
    return found


def read_history(path: str | Path) -> list[Entry]:
    """Return all rows of a history, the earliest first."""
    pa = pyarrow("a history")
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            schema, packed, unpacked = file.schema_arrow, Path(path).stat().st_size, 0
        if (schema.metadata or {}).get(b"schema") != SCHEMA.encode() or not schema.equals(_schema()):
            raise InputError(f"this is not a history of spanscore log (expected schema {SCHEMA}).", str(path))
        found = []
        strings = [field.name for field in schema if pa.types.is_string(field.type)]
        with parquet.ParquetFile(path, read_dictionary=strings, pre_buffer=False) as file:
            for batch in file.iter_batches(ROWS, use_threads=False):
                unpacked += decoded_size(batch)
                refuse_unpacking(packed, unpacked, str(path))
                found += [Entry(**row) for row in batch.to_pylist()]
    except FileNotFoundError:
        raise InputError("there is no such file; make it with spanscore log.", str(path)) from None
    except MemoryError:
        raise InputError("there is not enough memory to read this file.", str(path)) from None
    except (OSError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or "it is no Parquet file, or damaged"
        raise InputError(f"the history cannot be read ({reason}).", str(path)) from None
    return sorted(found, key=lambda one: (one.logged, one.name))


def trends(entries: Sequence[Entry], number: str | None = None) -> list[Trend]:
    """Return the trend of a score for each system, measure and type: `number`, by default F, or recall without F."""
    if number not in (None, *NUMBERS):
        raise UsageError(f"'{printable(str(number))}' is not a score; use precision, recall or f.")
    groups: dict[tuple[str, str, str | None], list[Entry]] = {}
    for one in sorted(entries, key=lambda one: one.logged):
        groups.setdefault((one.system, one.measure, one.type), []).append(one)
    order = sorted(groups, key=lambda key: (key[0], key[1], key[2] is not None, key[2] or ""))
    return [_trend(key, groups[key], number) for key in order]


def _trend(key: tuple[str, str, str | None], found: Sequence[Entry], number: str | None) -> Trend:
    shown = number or ("f" if any(one.f is not None for one in found) else "recall")
    points = []
    for before, one in pairwise([None, *found]):
        assert one is not None
        value, earlier = getattr(one, shown), None if before is None else getattr(before, shown)
        moved = before is not None and before.gold != one.gold
        change = None if value is None or earlier is None or moved else value - earlier
        points.append(Point(one, value, one.interval(shown), change, moved))
    return Trend(*key, shown, tuple(points))


def _schema() -> Any:
    pa = pyarrow("a history")
    special = {"logged": pa.timestamp("us", tz="UTC")}
    special |= dict.fromkeys(("name", "system", "measure", "type", "counts", "signature"), pa.string())
    listed = [(one.name, special.get(one.name, pa.float64())) for one in fields(Entry)]
    return pa.schema(listed, metadata={"schema": SCHEMA})


def _write(entries: Iterable[Entry], target: Path) -> None:
    pa = pyarrow("a history")
    from pyarrow import parquet

    table = pa.Table.from_pylist([asdict(one) for one in entries], schema=_schema())
    with atomic_file(target) as file:
        parquet.write_table(table, file)


def _file(results: str | Path) -> Path:
    return Path(results) / "results.json" if Path(results).is_dir() else Path(results)


def _level(results: Path) -> float | None:
    """Return the confidence level of the intervals of results."""
    try:
        level = json.loads(results.read_text("utf-8"))["settings"]["ci"][0]
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return None
    return level if isinstance(level, float) and math.isfinite(level) else None


def _finished(results: Path) -> datetime | None:
    """Return when the run beside results finished, if there is one."""
    try:
        return datetime.fromisoformat(json.loads((results.parent / "run.json").read_text("utf-8"))["finished"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
