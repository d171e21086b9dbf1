"""The fingerprint of a Python function: the module that names it, and those of what it is made of."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from calls import started as spanscore
from calls import write

HELPER = """
def spans(text, language):
    return [{"start": 0, "end": 3, "label": "PERSON"}]
class Finder:
    def find(self, text, language):
        return spans(text, language)
    __call__ = find
"""
NAMED = """
from functools import lru_cache, partial
import {helper}
part = partial({helper}.spans)
bound = {helper}.Finder().find
made = {helper}.Finder()
cached = lru_cache({helper}.spans)
"""


@pytest.mark.parametrize("name", ["part", "bound", "made", "cached"])
def test_partials_methods_and_objects_count_with_their_modules(name: str, tmp_path: Path) -> None:
    (tmp_path / "named.py").write_text(NAMED.format(helper="helper"))
    (tmp_path / "helper.py").write_text(HELPER)
    write(tmp_path / "data.jsonl", [{"id": "a", "text": "Ann", "spans": []}])
    call = ("run", "data.jsonl", "--detector", f"python(function=named:{name})", "-o", "out", "-q")
    spanscore(*call, cwd=tmp_path)
    found = json.loads((tmp_path / "out" / "run.json").read_text())["detection"]["fingerprint"]
    assert list(found) == ["option function", "module helper", "module named", "Python"]
    for changed in ("helper", "named"):
        before = (tmp_path / f"{changed}.py").read_text()
        (tmp_path / f"{changed}.py").write_text(before + "# changed\n")
        assert f"module {changed}: " in spanscore(*call, "--resume", cwd=tmp_path, code=2).stderr
        (tmp_path / f"{changed}.py").write_text(before)
