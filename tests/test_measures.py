"""Measures as values: written, read back, refused, and added by others."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import spanscore as ss
from spanscore.measures import Measure, Spec, measure, names
from spanscore.measures.iou import IoU
from spanscore.measures.neleval_names import NAMED
from spanscore.measures import find


@given(st.data())
def test_what_is_written_is_read_back(data: st.DataObject) -> None:
    kind = find(data.draw(st.sampled_from(names())))
    values = {}
    for one in kind.parameters():
        if one.choices:
            named = [choice for choice in one.choices if not set("@:") & set(choice)]
            strategy: st.SearchStrategy[object] = st.sampled_from(
                [*named, *(["@my words.txt"] if "@file" in one.choices else [])]
            )
        elif isinstance(one.default, bool):
            strategy = st.booleans()
        elif isinstance(one.default, str):
            strategy = st.sampled_from(["span", "span+type", "docid+kbid"])
        elif isinstance(one.default, int):
            strategy = st.integers(int(one.low), int(one.high))
        else:
            strategy = st.floats(one.low, one.high)
        if data.draw(st.booleans()):
            values[one.name] = data.draw(strategy)
    if values.get("type_weights", "none") != "none" or values.get("kb_weights", "none") != "none":
        values["key"] = "span+type+kbid"
    made = kind(**values)
    assert measure(repr(made)) == made
    assert repr(measure(repr(made))) == repr(made)
    assert all(f"{one.name}=" not in repr(made) for one in kind.parameters() if getattr(made, one.name) == one.default)


@pytest.mark.parametrize(
    "text", ["iou(threshold=0.5, unit=token)", "overlap-maxmax::span", "sets:is_linked:span+kbid", "a(b='c, d')"]
)
def test_specs_round_trip(text: str) -> None:
    spec = Spec.parse(text)
    assert Spec.parse(str(spec)) == spec


@pytest.mark.parametrize("name", names())
def test_every_measure_explains_itself(name: str) -> None:
    kind = find(name)
    assert kind.name == NAMED.get(name, (name,))[0]
    assert issubclass(kind, Measure)
    assert kind.__doc__
    assert kind.__doc__.split("\n")[0].endswith(".")
    assert all(one.means for one in kind.parameters())


def test_parameters_are_checked_in_python_too() -> None:
    with pytest.raises(ss.UsageError, match="from 0 to 1"):
        IoU(threshold=2.0)
    assert repr(IoU(threshold=1)) == "iou(threshold=1)"


def test_a_measure_of_another_package(tmp_path: Path) -> None:
    """An installed distribution adds a measure by an entry point, and the command line knows it."""
    (tmp_path / "others.py").write_text(
        "from spanscore.measures.exact import Exact\n\n\nclass Mine(Exact):\n    '''Spans as I see them.'''\n\n    name = 'mine'\n"
    )
    about = tmp_path / "others-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[spanscore.measures]\nmine = others:Mine\nwrong = others:Exact.name\n")
    (tmp_path / "g.jsonl").write_text(json.dumps({"id": "d", "spans": [{"start": 0, "end": 1, "label": "A"}]}) + "\n")

    def run(*call: str) -> subprocess.CompletedProcess[str]:
        code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from spanscore.cli import main; main()"
        return subprocess.run(
            [sys.executable, "-c", code, *call], cwd=tmp_path, capture_output=True, text=True, check=False
        )

    assert "mine" in run("measures", "mine").stdout
    said = json.loads(run("score", "g.jsonl", "g.jsonl", "-m", "mine(typed=false)", "--json", "-").stdout)
    assert (said["results"][0]["measure"], said["results"][0]["f"]) == ("mine(typed=false)", 1.0)
    wrong = run("score", "g.jsonl", "g.jsonl", "-m", "wrong")
    assert (wrong.returncode, "subclass" in wrong.stderr) == (2, True)
