"""Result: the scores of all systems by all measures, with their provenance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import msgspec

from spanscore.align.taxonomy import LEVELS
from spanscore.arguments import checked
from spanscore.errors import UsageError, printable, unknown
from spanscore.measures import measure as as_measure
from spanscore.result.views import Rows, Views
from spanscore.signature import with_detector
from spanscore.spec import from_above
from spanscore.verdicts import Error

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from spanscore.arguments import Text
    from spanscore.result.scores import Scores
    from spanscore.stats import Bootstrap

SHOWN = 4
"""Scores that the repr of a result shows."""


def split_level(name: str) -> tuple[str, str | None]:
    """Split the name of a measure at a level.

    >>> split_level("iou@branch"), split_level("iou(skip=@words.txt)")
    (('iou', 'branch'), ('iou(skip=@words.txt)', None))
    """
    measure, _, level = name.rpartition("@")
    return (measure, level) if measure and level in LEVELS else (name, None)


class Errors(Sequence[Error]):
    """A sequence of errors, which Arrow-aware libraries can read as a table."""

    def __init__(self, errors: Iterable[Error]) -> None:
        self._errors = list(errors)

    def __len__(self) -> int:
        return len(self._errors)

    def __getitem__(self, place: Any) -> Any:
        return self._errors[place]

    def __eq__(self, other: object) -> bool:
        return self._errors == (other._errors if isinstance(other, Errors) else other)

    def __repr__(self) -> str:
        return repr(self._errors)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export the errors as an Arrow table with one row per error."""
        from spanscore.result.frames import errors_table

        return errors_table(self).__arrow_c_stream__(requested_schema)


@dataclass(frozen=True, eq=False)
class Result(Views, Rows):
    """The scores of all systems by all measures.

    `result["iou"]` returns the scores of one measure, given its repr or, if unambiguous, its name. With several
    systems, use `result["iou", "system"]`; with several levels, `result["iou@branch"]`.
    """

    scores: tuple[Scores, ...]
    inputs: dict[str, Any]
    warnings: tuple[str, ...]
    bootstrap: Bootstrap | None = None
    """How to compute confidence intervals for tables and files; None for no intervals."""
    by: tuple[str, ...] = ()
    """The fields to split scores by in tables and files: type, document, meta.KEY."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Everything besides the inputs that is needed to reproduce the scores."""

    @checked
    def __getitem__(self, key: str | tuple[str, str]) -> Scores:
        measure, system = (key, None) if isinstance(key, str) else key
        measure, level = split_level(measure)
        if "(" in measure or ":" in measure:
            measure = repr(as_measure(measure))
        among = [one for one in self.scores if system in (None, one.system) and level in (None, one.level)]
        found = [one for one in among if repr(one.measure) == measure] or [
            one for one in among if one.measure.name == measure
        ]
        if len(found) == 1:
            return found[0]
        if not found:
            raise UsageError(unknown("result for", str(key), {one.name for one in self.scores}))
        listed = ", ".join(f'["{one.name}", "{one.system}"]' for one in found)
        raise UsageError(f"'{key}' is ambiguous; use one of {listed}.")

    @property
    def precision(self) -> float:
        """The precision of the only system by the only measure."""
        return self._only.precision

    @property
    def recall(self) -> float:
        """The recall of the only system by the only measure."""
        return self._only.recall

    @property
    def f(self) -> float:
        """The F-beta of the only system by the only measure."""
        return self._only.f

    @property
    def f1(self) -> float:
        """The F1 of the only system by the only measure, whatever beta is."""
        return self._only.f1

    @property
    def _only(self) -> Scores:
        if len(self.scores) == 1:
            return self.scores[0]
        listed = ", ".join(f'["{one.measure!r}", "{one.system}"]' for one in self.scores[:8])
        raise UsageError(f"this result has {len(self.scores)} scores; choose one of {listed}.")

    def with_settings(self, **more: Any) -> Result:
        """Return a copy with more settings recorded."""
        return replace(self, settings={**self.settings, **more})

    @property
    def not_looked_for(self) -> tuple[str, ...]:
        """The annotated types that the detector did not look for."""
        return tuple(self.settings.get("not_looked_for") or ())

    def with_warnings(self, warnings: Sequence[str]) -> Result:
        """Return a copy with more warnings, before all others."""
        return replace(self, warnings=tuple(dict.fromkeys((*warnings, *self.warnings)))) if warnings else self

    def detected_by(self, fingerprint: str | Mapping[str, str]) -> Result:
        """Return a copy whose signatures name the fingerprint of the detector that made the predictions.

        Systems that differ in it have their own, by name; a system that is not among them keeps its signatures.
        """

        def named(one: Scores) -> Scores:
            own = fingerprint if isinstance(fingerprint, str) else fingerprint.get(one.system)
            return one if own is None else replace(one, signature=with_detector(one.signature, own))

        return replace(self, scores=tuple(map(named, self.scores))).with_settings(detector=fingerprint)

    def errors(self, measure: str, system: str | None = None, *, correct: bool = False) -> Errors:
        """Return the spans that a measure counts as wrong (or all spans), each with a verdict and an explanation."""
        return Errors(self[measure if system is None else (measure, system)].errors(correct=correct))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export the rows for polars, pandas, DuckDB and other Arrow-aware libraries."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def records(self) -> list[dict[str, Any]]:
        """Return a row for each system, measure, type, slice and average: scores, intervals, counts and signature."""
        from spanscore.result.frames import records

        return records(self)

    def to_arrow(self) -> Any:
        """Return the rows as an Arrow table."""
        from spanscore.result.frames import results_table

        return results_table(self)

    def to_dict(self) -> dict[str, Any]:
        """Return what `save` writes to results.json."""
        from spanscore.result.files import to_json

        return cast("dict[str, Any]", msgspec.json.decode(to_json(self)))

    def plot(self, kind: str = "bars", measure: str | None = None, system: str | None = None) -> Any:
        """Return a Plotly figure: `bars` of precision, recall and F, the confusion `matrix`, or the P/R `curve`.

        The curve needs predictions with scores; bars without a measure show all measures overall.
        """
        return from_above("report.figures", "figure_of")(self, kind, measure, system)

    @checked
    def save(self, folder: str | Path, *, text: Text = "show") -> None:
        """Write results.json and errors.jsonl into a folder, each atomically."""
        from spanscore.result.files import save

        save(self, folder, text=text)

    def __repr__(self) -> str:
        several = len({one.system for one in self.scores}) > 1
        shown = [f"{f'{printable(one.system)}, ' if several else ''}{one.summary}" for one in self.scores[:SHOWN]]
        more = f"; … {len(self.scores) - SHOWN} more" if len(self.scores) > SHOWN else ""
        return f"Result({'; '.join(shown)}{more})"

    def __str__(self) -> str:
        from spanscore.result.tables import plain

        return plain(self)
