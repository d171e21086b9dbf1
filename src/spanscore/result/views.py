"""Display of results in notebooks, papers and data frames. Tables and figures are made in `report`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from spanscore.errors import MissingExtraError
from spanscore.spec import from_above

if TYPE_CHECKING:
    from collections.abc import Iterator


class Views:
    """Methods of results that show them as HTML, LaTeX and figures."""

    def _repr_html_(self) -> str:
        """Return a compact table for notebooks; labels and names are escaped."""
        return cast("str", from_above("report.views", "html_of")(self))

    def to_latex(self) -> str:
        """Return a table for LaTeX with the rules of the package booktabs, and with confidence intervals if any."""
        return cast("str", from_above("report.views", "latex_of")(self))


class Rows:
    """Methods of results that have rows: iteration, data frames and Arrow tables."""

    def records(self) -> list[dict[str, Any]]:
        """Return the rows as dictionaries with the same keys."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.records())

    def to_pandas(self) -> Any:
        """Return the rows as a pandas data frame; `pd.DataFrame(result)` does the same."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtraError("A pandas data frame", "pandas") from None
        return pd.DataFrame(self.records())

    def to_polars(self) -> Any:
        """Return the rows as a polars data frame."""
        try:
            import polars as pl
        except ImportError:
            raise MissingExtraError("A polars data frame", "polars") from None
        return pl.DataFrame(self.records(), infer_schema_length=None)

    def to_arrow(self) -> Any:
        """Return the rows as an Arrow table."""
        from spanscore.corpus.arrow import pyarrow

        return pyarrow("an Arrow table").Table.from_pylist(self.records())
