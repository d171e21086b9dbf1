"""The notebook runs from top to bottom, and its tables and figures are what a notebook shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def outputs() -> list[dict[str, Any]]:
    """Run the notebook and return what each cell of code shows, by MIME type."""
    text = (EXAMPLES / "notebook.ipynb").read_text()
    notebook: Any = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call,unused-ignore]  # an extra
    nbformat.validate(notebook)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(EXAMPLES)}}).execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [
        {
            kind: data
            for one in cell.outputs
            for kind, data in (one.get("data") or {"text/plain": one.get("text", "")}).items()
        }
        for cell in cells
    ]


def test_tables(outputs: list[dict[str, Any]]) -> None:
    tables = [one["text/html"] for one in outputs if "<table" in one.get("text/html", "")]
    assert len(tables) == 4  # of a result, a data frame, a comparison, and a result
    assert "0.95" not in outputs[0]["text/plain"]
    assert outputs[0]["text/plain"].startswith("Result(iou: P 0.")


def test_figures(outputs: list[dict[str, Any]]) -> None:
    assert sum("application/vnd.plotly.v1+json" in one for one in outputs) == 2


def test_texts(outputs: list[dict[str, Any]]) -> None:
    assert 0 < float(outputs[1]["text/plain"]) < 1
    assert "corresponds to gold" in str(outputs) or "was predicted as" in str(outputs)
    assert outputs[-1]["text/plain"].startswith(("pass  ", "FAIL  "))
