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
        ("raise ValueError(f'no model for {text}')", "ValueError at line 3 of a notebook cell: no model for …"),
        (
            "open('/nope/model.bin')",
            "FileNotFoundError at line 3 of a notebook cell: No such file or directory: /nope/model.bin",
        ),
        ("open('/nope/' + text)", "FileNotFoundError at line 3 of a notebook cell: No such file or directory"),
        ("raise OSError(2, text)", "FileNotFoundError at line 3 of a notebook cell"),
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


def test_all_messages_are_shown_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(text: str, language: str) -> list[Any]:
        raise ValueError(text)

    documents = [Document(id="d", text="Ann", spans=[])]
    (hidden,) = detector("python", function=find).detect(documents)
    (shown,) = detector("python", function=find, messages=True).detect(documents)
    assert isinstance(hidden, Failure)
    assert isinstance(shown, Failure)
    assert shown.why == f"{hidden.why}: Ann"
