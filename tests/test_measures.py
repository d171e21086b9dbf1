"""Measures as values: written, read back, refused, and added by others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import spanscore as ss
from spanscore.measures import Measure, find, measure, names
from spanscore.measures.iou import IoU
from spanscore.measures.neleval_names import NAMED


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


@pytest.mark.parametrize("name", names())
def test_every_measure_explains_itself(name: str) -> None:
    kind = find(name)
    assert kind.name == NAMED.get(name, (name,))[0]
    assert issubclass(kind, Measure)
    assert kind.__doc__
    assert kind.__doc__.split("\n")[0].endswith(".")
    assert all(one.description for one in kind.parameters())


def test_parameters_are_checked_in_python_too() -> None:
    with pytest.raises(ss.UsageError, match="from 0 to 1"):
        IoU(threshold=2.0)
    assert repr(IoU(threshold=1)) == "iou(threshold=1)"
