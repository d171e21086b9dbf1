"""Answers of services and programs that are any JSON: each is spans, or a failure of its document in one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanscore.corpus.records import Document
from spanscore.detectors import Failure, UntrustedError, detector
from spanscore.detectors.command import _detection
from spanscore.detectors.web_service import UnusableError, WebService

TEXT = "Ann Lee, a@b.c"
SECRET = "Zebedee"
"""A value of any answer; no failure may hold it."""

numbers = st.integers(-3, 20) | st.integers() | st.floats()
leaves = st.none() | st.booleans() | numbers | st.sampled_from(["3", "", "9" * 30, SECRET]) | st.text(max_size=3)
anything = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
)

span = {"start": 0, "end": 3, "label": "A", "score": 0.5}
content = json.dumps({"entities": [{"text": "Ann", "type": "PERSON"}]})
gcp_finding = {"infoType": {"name": "A"}, "location": {"codepointRange": {"start": "0", "end": "3"}}, "quote": "Ann"}
azure_entity = {"offset": 0, "length": 3, "category": "A", "confidenceScore": 1, "text": "Ann"}
VALID: dict[str, Any] = {
    "presidio": [{"entity_type": "A", "start": 0, "end": 3, "score": 1, "recognition_metadata": {}}],
    "aws": {"Entities": [{"BeginOffset": 0, "EndOffset": 3, "Type": "A", "Score": 1, "Text": "Ann"}]},
    "azure": {"results": {"documents": [{"entities": [azure_entity]}], "errors": [{"error": {"code": "A"}}]}},
    "gcp": {"result": {"findings": [{**gcp_finding, "likelihood": "LIKELY"}], "findingsTruncated": False}},
    "openai": {"choices": [{"message": {"content": content, "refusal": None}, "finish_reason": "stop"}]},
    "command": {"id": "d", "spans": [span], "error": None},
    "command list": [span],
}


@st.composite
def answers(draw: st.DrawFn, valid: Any) -> Any:
    """Return a valid answer in which some parts are replaced by anything, or left out."""
    if draw(st.integers(0, 9)) == 0:
        return draw(anything)
    if isinstance(valid, dict):
        kept = {key: value for key, value in valid.items() if draw(st.integers(0, 9))}
        return {key: draw(answers(value)) for key, value in kept.items()}
    if isinstance(valid, list):
        return [draw(answers(value)) for value in valid]
    return draw(leaves) if draw(st.integers(0, 5)) == 0 else valid


def read(name: str, answer: Any, folder: Path) -> Any:
    """Read an answer as the detector does."""
    if name.startswith("command"):
        return _detection(json.dumps(answer).encode(), Document(id="d", text=TEXT, spans=[]))
    if name == "openai":
        prompt = folder / "prompt.txt"
        made = detector("openai", url="localhost:1", model="m", prompt=str(prompt))
    else:
        made = detector("http", url="localhost:1", response=name)
    assert isinstance(made, WebService)
    return made.detection(answer, TEXT)


@pytest.mark.parametrize("name", VALID)
@given(data=st.data())
def test_any_answer_is_spans_or_a_failure(name: str, tmp_path_factory: pytest.TempPathFactory, data: Any) -> None:
    try:
        found = read(name, data.draw(answers(VALID[name])), tmp_path_factory.getbasetemp())
    except (UnusableError, UntrustedError) as error:
        found = Failure(str(error))
    if isinstance(found, Failure):
        assert found.why
        assert "\n" not in found.why
        if name != "azure":  # its error codes are shown
            assert SECRET not in found.why
    else:
        assert all(0 <= one.start <= one.end <= len(TEXT) for one in found)
