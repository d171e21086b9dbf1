"""Score thresholds: the minimum score of predictions, one for all types or one for each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from spanscore.errors import InputError, UsageError, printable

if TYPE_CHECKING:
    from spanscore.align.labels import Naming
    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Floats

SWEEP = "spanscore.sweep/1"
"""The schema of the files that a threshold sweep writes."""


class _Point(msgspec.Struct):
    threshold: float


class _Curve(msgspec.Struct):
    system: str
    measure: str
    type: str | None
    best: _Point | None
    level: str | None = None
    has_precision: bool = True
    """If a type has none, predictions have no type: its threshold is not one for predictions labelled so."""


class _Sweep(msgspec.Struct):
    schema: str
    curves: list[_Curve]


@dataclass(frozen=True)
class ScoreThresholds:
    """The minimum score of predictions: of the types in `by_type`, and of all others (None: any)."""

    others: float | None = None
    by_type: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, given: ScoreThresholds | float | str | Mapping[str, Any] | None) -> ScoreThresholds:
        """Accept a number, a mapping of types to numbers, `0.4,PERSON=0.5`, or the file of a threshold sweep.

        In a mapping, "" stands for all other types.

        >>> ScoreThresholds.of("0.4,PERSON=0.5,DATE_TIME=0.7")
        ScoreThresholds(others=0.4, by_type={'PERSON': 0.5, 'DATE_TIME': 0.7})
        """
        if isinstance(given, cls):
            return given
        if isinstance(given, str):
            given = _parsed(given)
        if given is None or not isinstance(given, Mapping):
            given = {} if given is None else {"": given}
        if not all(isinstance(one, int | float) and math.isfinite(one) for one in given.values()):
            raise UsageError("a score threshold must be a finite number.")
        others = given.get("")
        return cls(None if others is None else float(others), {key: float(one) for key, one in given.items() if key})

    def __bool__(self) -> bool:
        return self.others is not None or bool(self.by_type)

    def apply(self, pred: Corpus, naming: Naming) -> Corpus:
        """Return the predictions that reach the threshold of their type (as mapped); those without score stay."""
        if not self or pred.score is None:
            return pred
        rows = ~(pred.score < self._least(pred, naming))
        return pred if rows.all() else pred.with_spans(np.flatnonzero(rows))

    def without_score(self, pred: Corpus, naming: Naming) -> int:
        """Count the predictions that have no score, but a threshold for their type."""
        if not self or (pred.score is not None and not np.isnan(pred.score).any()):
            return 0
        concerned = self._least(pred, naming) > -math.inf
        return int(np.count_nonzero(concerned if pred.score is None else concerned & np.isnan(pred.score)))

    def _least(self, pred: Corpus, naming: Naming) -> Floats:
        """Return the threshold of each prediction: that of the finest of its names that has one."""
        others = -math.inf if self.others is None else self.others
        own = [[self.by_type[name] for name in naming.names(label) if name in self.by_type] for label in pred.labels]
        return np.array([found[0] if found else others for found in own] or [0.0])[pred.label]

    def setting(self) -> float | dict[str, float] | None:
        """Return the thresholds as JSON: a number, or an object with "" for all other types."""
        if not self.by_type:
            return self.others
        return {**({} if self.others is None else {"": self.others}), **self.by_type}


def _parsed(text: str) -> dict[str, float]:
    """Read what users write: numbers by type, or the name of a sweep file."""
    found: dict[str, float] = {}
    for part in text.split(","):
        name, equals, number = part.rpartition("=")
        if equals and not name.strip():
            raise UsageError(f"'{printable(text)}' names no type before =; write 0.5 for all types, or PERSON=0.5.")
        try:
            value = float(number)
        except ValueError:
            if "," not in text and Path(text).is_file():
                return _from_sweep(text)
            what = f"'{printable(text)}' is neither a score threshold nor a file; write 0.5, PERSON=0.5,DATE_TIME=0.7"
            raise UsageError(f"{what}, or the JSON file of spanscore sweep.") from None
        if name.strip() in found:
            raise UsageError(f"'{printable(text)}' has two thresholds for {printable(name.strip()) or 'all types'}.")
        found[name.strip()] = value
    return found


def _from_sweep(path: str) -> dict[str, float]:
    """Return the best threshold of each type in the file of a sweep."""
    try:
        found = msgspec.json.decode(Path(path).read_bytes(), type=_Sweep)
    except OSError as error:
        raise InputError(f"the sweep cannot be read ({error.strerror}).", path) from None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise InputError("this is not a file of spanscore sweep --json.", path) from None
    if found.schema != SWEEP:
        raise InputError(f"this is not a file of spanscore sweep --json (expected schema {SWEEP}).", path)
    if len({(curve.system, curve.measure, curve.level) for curve in found.curves}) != 1:
        raise InputError("this sweep has several systems, measures or levels; sweep one of each.", path)
    best = {
        curve.type or "": curve.best.threshold
        for curve in found.curves
        if curve.best is not None and (curve.type is None or curve.has_precision)
    }
    return {name: least for name, least in best.items() if name} or best
