"""The protocol of detectors: documents with text go in, spans with scores come out, in the same order."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from dataclasses import fields as fields_of
from operator import index
from typing import TYPE_CHECKING, Any, ClassVar

from spanscore.corpus.records import Span
from spanscore.errors import SpanscoreError, printable
from spanscore.spec import Value, parameter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spanscore.corpus.records import Document


class DetectorError(SpanscoreError):
    """A detector that cannot go on with any document."""


class UntrustedError(DetectorError):
    """A detector whose answers may belong to other documents: nothing it returned in this run can be kept."""


@dataclass(frozen=True)
class Failure:
    """A document on which the detector failed, and why; never with text of the document."""

    why: str


Detection = list[Span] | Failure
"""What a detector returns for one document."""


@dataclass(frozen=True)
class EntityTypes:
    """The entity types a detector knows: model labels that it renames, types of its recognizers, all it supports.

    `supported` is None if the detector cannot list them.
    """

    from_model: Mapping[str, str] = field(default_factory=dict)
    from_recognizers: tuple[str, ...] = ()
    supported: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Description:
    """What a detector reports about itself once it is ready."""

    types: EntityTypes = field(default_factory=EntityTypes)
    notes: tuple[str, ...] = ()
    """What a user should know before trusting the predictions."""
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, repr=False)
class Detector(Value, ABC):
    """Finds spans in texts. Subclasses declare their options as fields and implement `detect`.

    A detector is a value: it can be printed, compared and sent to other processes. What it loads belongs into cached
    properties, which are left behind when it is sent.
    """

    kind: ClassVar[str] = "detector"
    in_processes: ClassVar[bool] = False
    """Whether several jobs are several processes, each with a copy of the detector."""
    runtime: ClassVar[tuple[str, ...]] = ()
    """Options that change how the work is done, but not what is found."""
    language: str = parameter("en", "Language of the texts.")

    @abstractmethod
    def detect(self, documents: Iterable[Document]) -> Iterator[Detection]:
        """Yield the spans of each document, or why there are none, in order."""

    def describe(self) -> Description:
        """Load what is needed, and report entity types, notes and versions."""
        return Description()

    def for_jobs(self, jobs: int) -> Detector:
        """Return the detector for this many jobs; one that does not run in processes may use more threads."""
        return self

    def close(self) -> None:
        """Release what the detector holds."""

    def __getstate__(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in fields_of(self)}


def refuse_failure(document: Document, found: Detection) -> list[Span]:
    """Return the spans of a document; a failure is an error."""
    if isinstance(found, Failure):
        raise DetectorError(f'document "{printable(str(document.id))}": the detector failed: {found.why}.')
    return found


def spans_of(found: Any, length: int) -> Detection:
    """Convert what a detector returned for a text of this length to sorted spans, or a failure if it is malformed.

    Each span is a mapping or an object with `start`, `end`, `label` or `entity_type`, and optionally `score`.

    >>> spans_of([{"start": 0, "end": 3, "entity_type": "PERSON", "score": 0.85}], 3)
    [Span(start=0, end=3, label='PERSON', score=0.85, attrs=None)]
    >>> spans_of([{"start": 0, "end": 9, "label": "PERSON"}], 3)
    Failure(why='a span from 0 to 9 is not inside the text, which has 3 characters')
    """
    if not isinstance(found, list | tuple):
        return Failure(f"expected a list of spans, not {type(found).__name__}")
    try:
        spans = [_span(one, length) for one in found]
    except _MalformedSpanError as error:
        return Failure(str(error))
    except Exception as error:
        return Failure(f"a span cannot be read ({type(error).__name__})")
    return sorted(spans, key=lambda span: (span.start, span.end, span.label, -(span.score or 0.0)))


class _MalformedSpanError(Exception):
    """What is wrong with a span."""


def _span(one: Any, length: int) -> Span:
    names = ("start", "end", "label", "entity_type", "score")
    given = isinstance(one, Mapping)
    fields: list[Any] = [one.get(name) if given else getattr(one, name, None) for name in names]
    start, end, label, kind, score = fields
    label = label or kind
    try:
        start, end = (index(offset) for offset in (start, end) if not isinstance(offset, bool))
    except (TypeError, ValueError):
        raise _MalformedSpanError("a span has no integer start and end") from None
    if not 0 <= start <= end <= length:
        raise _MalformedSpanError(f"a span from {start} to {end} is not inside the text, which has {length} characters")
    if not isinstance(label, str) or not label or any("\ud800" <= c <= "\udfff" for c in label):
        raise _MalformedSpanError("a span has no label")
    try:
        number = None if score is None else float(score)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(score, bool | str) or (number is not None and not math.isfinite(number)):
        raise _MalformedSpanError("a span has a score that is not a finite number")
    return Span(start, end, str(label), number)
