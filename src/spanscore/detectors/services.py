"""The requests and answers of cloud providers, as their documentation describes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spanscore.detectors.interface import Detection, Failure, spans_of
from spanscore.formats.offsets import Convention

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

HEADERS: Mapping[str, Mapping[str, str]] = {
    "aws": {"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": "Comprehend_20171127.DetectPiiEntities"},
}
LIKELIHOODS = ("VERY_UNLIKELY", "UNLIKELY", "POSSIBLE", "LIKELY", "VERY_LIKELY")
"""Google's likelihoods; their scores are 0.2 to 1."""


def _aws_request(text: str, language: str) -> Any:
    return {"LanguageCode": language, "Text": text}


def _azure_request(text: str, language: str) -> Any:
    document = {"id": "1", "language": language, "text": text}
    parameters = {"modelVersion": "latest", "stringIndexType": "UnicodeCodePoint"}
    return {"kind": "PiiEntityRecognition", "parameters": parameters, "analysisInput": {"documents": [document]}}


def _gcp_request(text: str, language: str) -> Any:
    return {"item": {"value": text}, "inspectConfig": {"includeQuote": True}}


REQUESTS: Mapping[str, Callable[[str, str], Any]] = {
    "aws": _aws_request,
    "azure": _azure_request,
    "gcp": _gcp_request,
}


def filled(template: Any, values: Mapping[str, str]) -> Any:
    """Return a JSON value in which some strings are replaced, wherever they are.

    >>> filled({"a": ["$text", 1], "$text": "b"}, {"$text": "Ann"})
    {'a': ['Ann', 1], '$text': 'b'}
    """
    if isinstance(template, dict):
        return {key: filled(value, values) for key, value in template.items()}
    if isinstance(template, list):
        return [filled(value, values) for value in template]
    return values.get(template, template) if isinstance(template, str) else template


def read_aws(answer: Any, text: str) -> Detection:
    """Read the answer of Comprehend or Comprehend Medical: code points, exclusive ends.

    >>> read_aws({"Entities": [{"Score": 0.9, "Type": "NAME", "BeginOffset": 0, "EndOffset": 3}]}, "Ann")
    [Span(start=0, end=3, label='NAME', score=0.9, attrs=None)]
    """
    found = _list(answer, "Entities")
    if found is None:
        return _unexpected("Entities")
    rows = [(one.get("BeginOffset"), one.get("EndOffset"), one.get("Text")) for one in found]
    return _spans(text, rows, [(one.get("Type"), one.get("Score")) for one in found], "exclusive", ("codepoint",))


def read_azure(answer: Any, text: str) -> Detection:
    """Read the answer of Azure Language: offset and length, in the requested units.

    A request of one's own may ask for other units than code points: that unit counts in which every entity is where its
    text is.
    """
    results = answer.get("results", answer) if isinstance(answer, dict) else None
    if errors := _list(results, "errors"):
        code = (errors[0].get("error") or {}).get("code")
        return Failure(f"the service reported the error {code}" if isinstance(code, str) else "the service failed")
    documents = _list(results, "documents")
    found = _list(documents[0], "entities") if documents else None
    if found is None:
        return _unexpected("documents[0].entities")
    rows = [(one.get("offset"), one.get("length"), one.get("text")) for one in found]
    about = [(one.get("category"), one.get("confidenceScore")) for one in found]
    return _spans(text, rows, about, "length", ("codepoint", "utf16", "grapheme"))


def read_gcp(answer: Any, text: str) -> Detection:
    """Read the answer of Google's DLP: code points as strings; a start of zero is left out."""
    result = answer.get("result") if isinstance(answer, dict) else None
    if not isinstance(result, dict):
        return _unexpected("result")
    if result.get("findingsTruncated"):
        return Failure("the service left out some of its findings, because the text is too long")
    rows, about = [], []
    for one in _list(result, "findings") or []:
        place = (one.get("location") or {}).get("codepointRange") or {}
        rows.append((_integer(place.get("start", 0)), _integer(place.get("end")), one.get("quote")))
        likelihood = one.get("likelihood")
        score = (LIKELIHOODS.index(likelihood) + 1) / len(LIKELIHOODS) if likelihood in LIKELIHOODS else None
        about.append(((one.get("infoType") or {}).get("name"), score))
    return _spans(text, rows, about, "exclusive", ("codepoint",))


READERS: Mapping[str, Callable[[Any, str], Detection]] = {"aws": read_aws, "azure": read_azure, "gcp": read_gcp}


def _list(value: Any, name: str) -> list[Any] | None:
    """Return a list of objects; None if there is no such list."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, list) and all(isinstance(one, dict) for one in found) else None


def _unexpected(field: str) -> Failure:
    return Failure(f"the service's answer has no {field}; its shape is not the one that was named")


def _integer(value: Any) -> Any:
    """Return the number in a string of digits, as JSON holds 64-bit integers."""
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value


def _spans(
    text: str, rows: Sequence[tuple[Any, Any, Any]], about: Sequence[tuple[Any, Any]], end: str, units: Sequence[str]
) -> Detection:
    """Return spans in the unit whose offsets fit the surfaces; without surfaces, in the first unit."""
    for start, stop, _ in rows:
        if not all(type(at) is int and 0 <= at <= 2**31 for at in (start, stop)):
            return Failure("a span has no integer start and end")
    surfaces = [surface if isinstance(surface, str) else None for *_, surface in rows]
    starts, stops = (np.array([row[side] for row in rows], np.int64) for side in (0, 1))
    for unit in units:
        low, high = (at.tolist() for at in Convention(unit, end).read(text, starts, stops))
        places = list(zip(low, high, surfaces, strict=True))
        if all(said is None or (0 <= a <= b and text[a:b] == said) for a, b, said in places):
            listed = zip(low, high, about, strict=True)
            return spans_of([{"start": a, "end": b, "label": n, "score": s} for a, b, (n, s) in listed], len(text))
    return Failure("the service's offsets are not where its own texts are")
