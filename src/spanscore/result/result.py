"""Result: the scores of all systems by all measures, with their provenance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from spanscore.errors import UsageError, unknown
from spanscore.measures import measure as as_measure
from spanscore.verdicts import Error

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from spanscore.result.privacy import Text
    from spanscore.result.scores import Scores
    from spanscore.stats import Bootstrap


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
class Result:
    """The scores of all systems by all measures.

    `result["iou"]` returns the scores of one measure, given its repr or, if unambiguous, its name. With several
    systems, use `result["iou", "system"]`.
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

    def __getitem__(self, key: str | tuple[str, str]) -> Scores:
        measure, system = (key, None) if isinstance(key, str) else key
        if "(" in measure or ":" in measure:
            measure = repr(as_measure(measure))
        among = [one for one in self.scores if system in (None, one.system)]
        found = [one for one in among if repr(one.measure) == measure] or [
            one for one in among if one.measure.name == measure
        ]
        if len(found) == 1:
            return found[0]
        if not found:
            raise UsageError(unknown("result for", str(key), {repr(one.measure) for one in self.scores}))
        listed = ", ".join(f'["{one.measure!r}", "{one.system}"]' for one in found)
        raise UsageError(f"'{key}' is ambiguous; use one of {listed}.")

    def with_settings(self, **more: Any) -> Result:
        """Return a copy with more settings recorded."""
        return replace(self, settings={**self.settings, **more})

    def errors(self, measure: str, system: str | None = None, *, correct: bool = False) -> Errors:
        """Return the spans that a measure counts as wrong (or all spans), each with a verdict and an explanation."""
        return Errors(self[measure if system is None else (measure, system)].errors(correct=correct))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export the rows for polars, pandas, DuckDB and other Arrow-aware libraries."""
        from spanscore.result.frames import results_table

        return results_table(self).__arrow_c_stream__(requested_schema)

    def save(self, folder: str | Path, *, text: Text = "show") -> None:
        """Write results.json and errors.jsonl into a folder, each atomically."""
        from spanscore.result.files import save

        save(self, folder, text=text)

    def __str__(self) -> str:
        from spanscore.result.tables import plain

        return plain(self)
