"""The protocol of detectors: documents with text go in, spans with scores come out, in the same order."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from dataclasses import fields as fields_of
from operator import index
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar

from spanscore.corpus.corpus import MAX_LABEL
from spanscore.corpus.records import Span
from spanscore.detectors.fingerprint import Fingerprint, content_hash
from spanscore.detectors.span_shapes import MalformedSpanError, Shape, listed, shape_of
from spanscore.errors import SpanscoreError, printable
from spanscore.spec import Value, parameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from spanscore.corpus import Corpus
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

    `supported` is None if the detector cannot list them. `looked_for` are those that it looks for as it is configured,
    if that is not all it supports: a type may need a model that is missing, or be switched off.
    """

    from_model: Mapping[str, str] = field(default_factory=dict)
    from_recognizers: tuple[str, ...] = ()
    supported: tuple[str, ...] | None = None
    looked_for: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Description:
    """What a detector reports about itself once it is ready."""

    types: EntityTypes = field(default_factory=EntityTypes)
    notes: tuple[str, ...] = ()
    """What a user should know before trusting the predictions."""
    uses: str = ""
    """The models that the detector uses, for people."""
    by_language: Mapping[str, Description] = field(default_factory=dict)
    """The detectors for each language, if each document has its own."""


@dataclass(frozen=True, repr=False)
class Detector(Value, ABC):
    """Finds spans in texts. Subclasses declare their options as fields and implement `detect`.

    A detector is a value: it can be printed, compared and sent to other processes. What it loads belongs into cached
    properties, which are left behind when it is sent.
    """

    kind: ClassVar[str] = "detector"
    in_processes: ClassVar[bool] = False
    """Whether several jobs are several processes, each with a copy of the detector."""
    documents_at_once: ClassVar[int] = 8
    """Documents that such a process gets at once; a detector that uses `batches` is fastest with whole ones."""
    takes_time: ClassVar[bool] = True
    """Whether the time per document says something about the detector."""
    runtime: ClassVar[tuple[str, ...]] = ()
    """Options that change how the work is done, but not what is found."""
    file_options: ClassVar[tuple[str, ...]] = ()
    """Options that name a file or folder: its content belongs to the fingerprint, its place does not."""
    language: str = parameter("en", "Language of the texts.")

    @abstractmethod
    def detect(self, documents: Iterable[Document]) -> Iterator[Detection]:
        """Yield the spans of each document, or why there are none, in order."""

    def timed(self, documents: Iterable[Document]) -> Iterator[tuple[Detection, float]]:
        """Yield what `detect` yields, each with the seconds that the detector took for the document.

        Time counts from when the detector took the document or gave its answer for the one before, if that was later.
        """
        asked: deque[float] = deque()

        def noted() -> Iterator[Document]:
            for document in documents:
                asked.append(perf_counter())
                yield document

        before = 0.0
        for found in self.detect(noted()):
            now = perf_counter()
            yield found, now - max(asked.popleft() if asked else now, before)
            before = now

    def describe(self) -> Description:
        """Load what is needed, and report entity types and notes."""
        return Description()

    def fingerprint(self) -> Fingerprint:
        """Return what the predictions depend on besides the texts and the language, by name; called after `describe`.

        These are the options. Subclasses add the versions of packages, and hashes of models, programs and source code,
        with the functions of `spanscore.detectors.fingerprint`: `{**super().fingerprint(), **packages("spacy")}`.
        """
        options = {name: value for name, value in self.recorded() if name not in (*self.runtime, "language")}
        return {
            f"option {name}": content_hash(value) if name in self.file_options else value
            for name, value in options.items()
        }

    def answered_by(self) -> frozenset[str] | None:
        """Return the versions of the service that its answers have told so far; None if they never tell any."""
        return None

    def recorded(self) -> tuple[tuple[str, str], ...]:
        """Return the options as run.json records them. A detector whose options may hold secrets redacts them here."""
        return self.given()

    def looking_for(self, entities: tuple[str, ...]) -> Detector:
        """Return a detector that looks only for those of these types that it supports, if it can choose at all."""
        can = any(known.name == "entities" for known in self.parameters())
        return replace(self, entities=entities) if can else self  # type: ignore[call-arg]

    def for_dataset(self, dataset: Corpus) -> Detector:
        """Return the detector for this dataset, of which `detect` may get only some documents; most need no more."""
        return self

    def for_jobs(self, jobs: int) -> Detector:
        """Return the detector for this many jobs; one that does not run in processes may use more threads."""
        return self

    def close(self) -> None:
        """Release what the detector holds."""

    def __getstate__(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in fields_of(self)}


BATCH = 32


def batches(documents: Iterable[Document], size: int = BATCH, characters: int = 100_000) -> Iterator[list[Document]]:
    """Yield documents in batches of limited size and length, for libraries that work on several texts at once.

    >>> from spanscore.corpus.records import Document
    >>> documents = [Document(id=number, text="x" * number, spans=[]) for number in range(1, 7)]
    >>> [[one.id for one in batch] for batch in batches(documents, size=3, characters=7)]
    [[1, 2, 3], [4], [5], [6]]
    """
    batch: list[Document] = []
    length = 0
    for document in documents:
        more = len(document.text or "")
        if batch and (len(batch) == size or length + more > characters):
            yield batch
            batch, length = [], 0
        batch.append(document)
        length += more
    if batch:
        yield batch


@dataclass(frozen=True, repr=False)
class BatchDetector(Detector):
    """A detector that works on several texts at once. Subclasses implement `found_in` instead of `detect`."""

    in_processes: ClassVar[bool] = True
    documents_at_once: ClassVar[int] = BATCH
    library: ClassVar[str]
    """What raises the errors, for people."""

    @abstractmethod
    def found_in(self, texts: list[str]) -> list[Detection]:
        """Return the spans of each text."""

    def detect(self, documents: Iterable[Document]) -> Iterator[Detection]:
        """Process the texts in batches; if one fails, each text of its batch separately."""
        return (found for found, _ in self.timed(documents))

    def timed(self, documents: Iterable[Document]) -> Iterator[tuple[Detection, float]]:
        """Do the same, with seconds; the time of a batch is divided among its documents by their length."""
        for batch in batches(documents):
            texts = [document.text or "" for document in batch]
            began = perf_counter()
            try:
                found = self.found_in(texts)
            except (SpanscoreError, KeyboardInterrupt):  # such as a model that cannot be loaded
                raise
            except BaseException:  # of libraries in Rust, too
                found = [self._alone(text) for text in texts]
            rate = (perf_counter() - began) / (sum(map(len, texts)) + len(texts))
            yield from ((one, rate * (len(text) + 1)) for one, text in zip(found, texts, strict=True))

    def _alone(self, text: str) -> Detection:
        try:
            return self.found_in([text])[0]
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return Failure(f"{self.library} raised {type(error).__name__}")


def refuse_failure(document: Document, found: Detection) -> list[Span]:
    """Return the spans of a document; a failure is an error."""
    if isinstance(found, Failure):
        raise DetectorError(f'document "{printable(str(document.id))}": the detector failed: {found.why}.')
    return found


def spans_of(found: Any, length: int, shape: Callable[[Any], Shape] = shape_of) -> Detection:
    """Convert what a detector returned for a text of this length to sorted spans, or a failure if it is malformed.

    They are a list, or in an object as `spans`, `ents` or `entities`. Each span is a mapping or an object with `start`,
    `end`, `label` or `entity_type`, and optionally `score` and `attrs`; or what spaCy, Presidio, GLiNER or a Hugging
    Face pipeline returns (see `shapes`). The recognizer of a Presidio result becomes the attribute `recognizer`. A
    detector whose results have one known `shape` may give it.

    >>> spans_of([{"start": 0, "end": 3, "entity_type": "PERSON", "score": 0.85}], 3)
    [Span(start=0, end=3, label='PERSON', score=0.85, attrs=None)]
    >>> spans_of([{"start": 0, "end": 9, "label": "PERSON"}], 3)
    Failure(why='a span from 0 to 9 is not inside the text, which has 3 characters')
    """
    try:
        spans = [_span(shape(one), length) for one in listed(found)]
    except MalformedSpanError as error:
        return Failure(str(error))
    except Exception as error:
        return Failure(f"a span cannot be read ({type(error).__name__})")
    return sorted(spans, key=lambda span: (span.start, span.end, span.label, -(span.score or 0.0)))


def _span(one: Shape, length: int) -> Span:
    start, end, label, score, attrs = one
    if isinstance(start, bool) or isinstance(end, bool):
        raise MalformedSpanError("a span has no integer start and end")
    try:
        start, end = index(start), index(end)
    except TypeError:
        raise MalformedSpanError("a span has no integer start and end") from None
    if not 0 <= start <= end <= length:
        raise MalformedSpanError(f"a span from {start} to {end} is not inside the text, which has {length} characters")
    if not isinstance(label, str) or not label:
        raise MalformedSpanError("a span has no label")
    if len(label) > MAX_LABEL:
        raise MalformedSpanError(f"a span has a label of {len(label)} characters; at most {MAX_LABEL} are allowed")
    if not label.isascii() and any("\ud800" <= c <= "\udfff" for c in label):
        raise MalformedSpanError("a span has a label that is not valid Unicode")
    try:
        number = None if score is None else float(score)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(score, bool | str) or (number is not None and not math.isfinite(number)):
        raise MalformedSpanError("a span has a score that is not a finite number")
    return Span(start, end, str(label), number, attrs)
