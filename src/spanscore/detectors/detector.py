"""The protocol: documents with text and a language go in, spans with scores come out, in the same order."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import index
from typing import TYPE_CHECKING, Any, ClassVar

from spanscore.corpus.records import Span
from spanscore.errors import SpanscoreError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spanscore.corpus.records import Document


class DetectorError(SpanscoreError):
    """A detector that cannot go on with any document."""


class UntrustedError(DetectorError):
    """A detector whose answers may belong to other documents: nothing that it said in this run can be kept."""


@dataclass(frozen=True)
class Failure:
    """A document on which the detector failed, and why; never with text of the document."""

    why: str


Outcome = list[Span] | Failure


@dataclass(frozen=True)
class Entities:
    """What a detector knows of entity types: model labels it renames, recognizers' types, and all that it supports.

    `supported` is None where the detector cannot say.
    """

    from_model: Mapping[str, str] = field(default_factory=dict)
    from_recognizers: tuple[str, ...] = ()
    supported: tuple[str, ...] | None = None


class Detector(ABC):
    """Finds spans. It is made from options, text by text, and is then called with documents and their language."""

    name: ClassVar[str]
    in_processes: ClassVar[bool] = False
    """Whether several jobs are several processes, each with a detector of its own."""
    at_will: ClassVar[tuple[str, ...]] = ()
    """Options that change how the work is done, but not what is found."""
    notes: tuple[str, ...] = ()
    """What a user should know before trusting the outcome."""
    versions: Mapping[str, str] = {}

    @abstractmethod
    def __call__(self, documents: Iterable[Document], language: str) -> Iterator[Outcome]:
        """The spans of each document, or why there are none, in order."""

    def entities(self, language: str) -> Entities:
        """What the detector knows of entity types in this language."""
        return Entities()

    def close(self) -> None:  # noqa: B027
        """Let go of what the detector holds."""


def spans_of(found: Any, length: int) -> Outcome:
    """What a detector said of a text of this length, as spans in order; a failure if it cannot be.

    Each span is a mapping or an object with `start`, `end`, `label` or `entity_type`, and perhaps `score`.

    >>> spans_of([{"start": 0, "end": 3, "entity_type": "PERSON", "score": 0.85}], 3)
    [Span(start=0, end=3, label='PERSON', score=0.85, attrs=None)]
    >>> spans_of([{"start": 0, "end": 9, "label": "PERSON"}], 3)
    Failure(why='a span from 0 to 9 is not inside the text, which has 3 characters')
    """
    if not isinstance(found, list | tuple):
        return Failure(f"expected a list of spans, not {type(found).__name__}")
    try:
        spans = [_span(one, length) for one in found]
    except _NotASpanError as error:
        return Failure(str(error))
    except Exception as error:
        return Failure(f"a span cannot be read ({type(error).__name__})")
    return sorted(spans, key=lambda span: (span.start, span.end, span.label, -(span.score or 0.0)))


class _NotASpanError(Exception):
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
        raise _NotASpanError("a span has no whole numbers for start and end") from None
    if not 0 <= start <= end <= length:
        raise _NotASpanError(f"a span from {start} to {end} is not inside the text, which has {length} characters")
    if not isinstance(label, str) or not label or "\ud800" <= max(label) <= "\udfff":
        raise _NotASpanError("a span has no label")
    try:
        number = None if score is None else float(score)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(score, bool | str) or (number is not None and not math.isfinite(number)):
        raise _NotASpanError("a span has a score that is not a finite number")
    return Span(start, end, str(label), number)
