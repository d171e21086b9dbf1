"""Errors of functions that are defined in a notebook, whose cells are not files."""

from __future__ import annotations

import linecache
from typing import Any

import pytest

from spanscore.corpus.records import Document
from spanscore.detectors import Failure, detector

CELL = """
def find(text, language):
    {}
"""


@pytest.mark.parametrize("name", ["/tmp/ipykernel_12/345.py", "<ipython-input-3-5f2a>"])
@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("raise ValueError('no model')", "ValueError at line 3 of a notebook cell: no model"),
        ("raise ValueError(text)", "ValueError at line 3 of a notebook cell"),
        ("return nlp(text)", "NameError at line 3 of a notebook cell: name 'nlp' is not defined"),
    ],
)
def test_errors_in_a_notebook_name_the_line(name: str, code: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = CELL.format(code)
    lines = source.splitlines(keepends=True)
    monkeypatch.setitem(linecache.cache, name, (len(source), None, lines, name))  # as IPython does
    space: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(source, name, "exec"), space)
    (found,) = detector("python", function=space["find"]).detect([Document(id="d", text="Ann", spans=[])])
    assert found == Failure(f"the function raised {why}")
