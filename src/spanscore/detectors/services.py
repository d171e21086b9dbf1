"""The requests and answers of cloud providers, as their documentation describes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

import msgspec
import numpy as np
from msgspec import Meta, Struct

from spanscore.detectors.interface import Detection, Failure, spans_of
from spanscore.errors import printable
from spanscore.formats.offsets import Convention

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

HEADERS: Mapping[str, Mapping[str, str]] = {
    "aws": {"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": "Comprehend_20171127.DetectPiiEntities"},
    "aws-medical": {
        "Content-Type": "application/x-amz-json-1.1",
        "X-Amz-Target": "ComprehendMedical_20181030.DetectPHI",
    },
}
VERSIONS: Mapping[str, str] = {"azure": "modelVersion", "aws-medical": "ModelVersion"}
"""Where answers tell the version of the model."""
LIKELIHOODS = ("VERY_UNLIKELY", "UNLIKELY", "POSSIBLE", "LIKELY", "VERY_LIKELY")
"""Google's likelihoods; their scores are 0.2 to 1."""


def _aws_request(text: str, language: str) -> Any:
    return {"LanguageCode": language, "Text": text}


def _aws_medical_request(text: str, language: str) -> Any:
    return {"Text": text}  # it knows English only


def _azure_request(text: str, language: str) -> Any:
    document = {"id": "1", "language": language, "text": text}
    parameters = {"modelVersion": "latest", "stringIndexType": "UnicodeCodePoint"}
    return {"kind": "PiiEntityRecognition", "parameters": parameters, "analysisInput": {"documents": [document]}}


def _gcp_request(text: str, language: str) -> Any:
    return {"item": {"value": text}, "inspectConfig": {"includeQuote": True}}


REQUESTS: Mapping[str, Callable[[str, str], Any]] = {
    "aws": _aws_request,
    "aws-medical": _aws_medical_request,
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


S = TypeVar("S", bound=Struct)
Offset = Annotated[int, Meta(ge=0, le=2**31)]


class _AwsEntity(Struct, rename="pascal"):
    begin_offset: Offset
    end_offset: Offset
    type: str
    score: float | None = None
    text: str | None = None


class _AwsAnswer(Struct, rename="pascal"):
    entities: list[_AwsEntity]


def read_aws(answer: Any, text: str) -> Detection:
    """Read the answer of Comprehend or Comprehend Medical: code points, exclusive ends.

    >>> read_aws({"Entities": [{"Score": 0.9, "Type": "NAME", "BeginOffset": 0, "EndOffset": 3}]}, "Ann")
    [Span(start=0, end=3, label='NAME', score=0.9, attrs=None)]
    """
    decoded = _decoded(answer, _AwsAnswer)
    if isinstance(decoded, Failure):
        return decoded
    found = [_Found(one.begin_offset, one.end_offset, one.type, one.score, one.text) for one in decoded.entities]
    return _spans(text, found, "exclusive", ("codepoint",))


class _AzureEntity(Struct, rename="camel"):
    offset: Offset
    length: Offset
    category: str
    confidence_score: float | None = None
    text: str | None = None


class _AzureDocument(Struct):
    entities: list[_AzureEntity]


class _AzureReason(Struct):
    code: str


class _AzureError(Struct):
    error: _AzureReason


class _AzureResults(Struct):
    documents: list[_AzureDocument] = []
    errors: list[_AzureError] = []


def read_azure(answer: Any, text: str) -> Detection:
    """Read the answer of Azure Language: offset and length, in the requested units.

    A request of one's own may ask for other units than code points: that unit counts in which every entity is where its
    text is.
    """
    results = answer.get("results", answer) if isinstance(answer, dict) else answer
    decoded = _decoded(results, _AzureResults)
    if isinstance(decoded, Failure):
        return decoded
    if decoded.errors:
        return Failure(f"the service reported the error {printable(decoded.errors[0].error.code)}")
    if not decoded.documents:
        return _unexpected("it has no documents")
    found = [
        _Found(one.offset, one.length, one.category, one.confidence_score, one.text)
        for one in decoded.documents[0].entities
    ]
    return _spans(text, found, "length", ("codepoint", "utf16", "grapheme"))


class _GcpRange(Struct):
    end: Offset
    start: Offset = 0


class _GcpLocation(Struct, rename="camel"):
    codepoint_range: _GcpRange


class _GcpType(Struct):
    name: str


class _GcpFinding(Struct, rename="camel"):
    info_type: _GcpType
    location: _GcpLocation
    likelihood: str = ""
    quote: str | None = None


class _GcpResult(Struct, rename="camel"):
    findings: list[_GcpFinding] = []
    findings_truncated: bool = False


class _GcpAnswer(Struct):
    result: _GcpResult


def read_gcp(answer: Any, text: str) -> Detection:
    """Read the answer of Google's DLP: code points as strings; a start of zero is left out."""
    decoded = _decoded(answer, _GcpAnswer)
    if isinstance(decoded, Failure):
        return decoded
    if decoded.result.findings_truncated:
        return Failure("the service left out some of its findings, because the text is too long")
    found = []
    for one in decoded.result.findings:
        score = (LIKELIHOODS.index(one.likelihood) + 1) / len(LIKELIHOODS) if one.likelihood in LIKELIHOODS else None
        place = one.location.codepoint_range
        found.append(_Found(place.start, place.end, one.info_type.name, score, one.quote))
    return _spans(text, found, "exclusive", ("codepoint",))


READERS: Mapping[str, Callable[[Any, str], Detection]] = {
    "aws": read_aws,
    "aws-medical": read_aws,
    "azure": read_azure,
    "gcp": read_gcp,
}


def version_in(answer: Any, service: str) -> str | None:
    """Return the version of the model that an answer tells.

    >>> version_in({"results": {"modelVersion": "2023-09-01"}}, "azure")
    '2023-09-01'
    """
    about = answer.get("results", answer) if service == "azure" and isinstance(answer, dict) else answer
    told = about.get(VERSIONS.get(service)) if isinstance(about, dict) else None
    return told if isinstance(told, str) else None


class _Found(NamedTuple):
    """An entity as a service describes it; `stop` is its end or its length."""

    start: int
    stop: int
    label: str
    score: float | None
    surface: str | None


def _decoded(answer: Any, shape: type[S]) -> S | Failure:
    """Return an answer in its documented shape; numbers may be strings, as JSON holds 64-bit integers."""
    try:
        return msgspec.convert(answer, shape, strict=False)
    except msgspec.ValidationError as error:  # it names fields and types, but no values
        return _unexpected(str(error))


def _unexpected(why: str) -> Failure:
    return Failure(f"the service's answer does not have the expected layout: {why}")


def _spans(text: str, found: Sequence[_Found], end: str, units: Sequence[str]) -> Detection:
    """Return spans in the unit whose offsets fit the surfaces; without surfaces, in the first unit."""
    starts = np.array([one.start for one in found], np.int64)
    stops = np.array([one.stop for one in found], np.int64)
    for unit in units:
        low, high = (at.tolist() for at in Convention(unit, end).read(text, starts, stops))
        placed = list(zip(low, high, found, strict=True))
        if all(one.surface is None or (0 <= a <= b and text[a:b] == one.surface) for a, b, one in placed):
            return spans_of(
                [{"start": a, "end": b, "label": one.label, "score": one.score} for a, b, one in placed], len(text)
            )
    return Failure("the service's offsets do not match the strings it returned")
