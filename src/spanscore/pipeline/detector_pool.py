"""Running a detector: in this process, or in several processes, with detections in order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING

from spanscore.detectors import Description, Detector, DetectorError, Fingerprint
from spanscore.detectors.user_errors import explained
from spanscore.engine.processes import ProcessPool
from spanscore.errors import SpanscoreError, UsageError
from spanscore.pipeline.languages import PerLanguage
from spanscore.termination import TERMINATION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spanscore.corpus.records import Document
    from spanscore.detectors import Detection

SHARES = 4
"""Batches that each process gets at least, if there are enough documents, so that all end at about the same time."""


class DetectorPool(ABC):
    """Runs a detector over documents."""

    @abstractmethod
    def describe(self) -> Description:
        """Return what the detector reports about itself, once it is ready."""

    @abstractmethod
    def fingerprint(self) -> Fingerprint:
        """Return what identifies the detector, once it is ready."""

    @abstractmethod
    def detections(self, documents: Sequence[Document]) -> Iterator[tuple[Detection, float]]:
        """Yield the detections of each document, in order, and the seconds that they took."""

    def answered_by(self) -> frozenset[str] | None:
        """Return the versions of a service that its answers have told so far; None if they never tell any."""
        return None

    @abstractmethod
    def close(self) -> None:
        """Release the detector."""


def detector_pool(detector: Detector, jobs: int, documents: int) -> DetectorPool:
    """Return a pool with one detector in this process, or with several in processes if it runs in processes.

    A detector that cannot use several jobs is an error.
    """
    kind = detector.detectors[0] if isinstance(detector, PerLanguage) else detector
    if jobs > 1 and not kind.in_processes and type(kind).for_jobs is Detector.for_jobs:
        raise UsageError(f"the detector {kind.name} does not run in parallel; leave out --jobs.")
    several = min(jobs, documents)
    if several > 1 and kind.in_processes:
        return _Processes(detector, several, kind.documents_at_once)
    return _ThisProcess(detector.for_jobs(several))


class _ThisProcess(DetectorPool):
    def __init__(self, detector: Detector) -> None:
        self._detector = detector

    def describe(self) -> Description:
        found = self._detector.describe()
        TERMINATION.check()
        return found

    def fingerprint(self) -> Fingerprint:
        return self._detector.fingerprint()

    def answered_by(self) -> frozenset[str] | None:
        return self._detector.answered_by()

    def detections(self, documents: Sequence[Document]) -> Iterator[tuple[Detection, float]]:
        for found in self._detector.timed(documents):
            TERMINATION.check()
            yield found

    def close(self) -> None:
        self._detector.close()


class _Processes(DetectorPool):
    def __init__(self, detector: Detector, jobs: int, batch: int) -> None:
        self._pool = ProcessPool(jobs, _prepare, (detector,))
        self._batch = batch

    def describe(self) -> Description:
        try:
            # one question per process, so that all of them get ready at once
            answers = [self._pool.submit(_describe) for _ in range(self._pool.jobs)]
            found = [answer.result() for answer in answers]
        except BrokenProcessPool:
            raise _died() from None
        if isinstance(found[0], SpanscoreError):
            raise found[0]
        return found[0]

    def fingerprint(self) -> Fingerprint:
        try:
            return self._pool.submit(_fingerprint).result()
        except BrokenProcessPool:
            raise _died() from None

    def detections(self, documents: Sequence[Document]) -> Iterator[tuple[Detection, float]]:
        size = max(1, min(self._batch, len(documents) // (SHARES * self._pool.jobs)))
        batches = [list(documents[i : i + size]) for i in range(0, len(documents), size)]
        try:
            for found in self._pool.map(_detect, batches):
                yield from found
        except BrokenProcessPool:
            raise _died() from None

    def close(self) -> None:
        self._pool.close()


def _died() -> DetectorError:
    return DetectorError("a detector process died; continue with --resume, perhaps with fewer --jobs.")


_detector: Detector | None = None
"""The detector of this process."""
_description: Description | DetectorError = DetectorError("the detector is not ready.")


def _prepare(detector: Detector) -> None:
    """Load the detector of this process; an error is kept, to be reported when it is asked for."""
    global _detector, _description
    _detector = detector
    try:
        _description = detector.describe()
    except SpanscoreError as error:
        _description = DetectorError(str(error))
    except (Exception, SystemExit) as error:
        _description = DetectorError(f"the detector cannot be loaded: {explained(error)}.")


def _describe() -> Description | DetectorError:
    return _description


def _fingerprint() -> Fingerprint:
    assert _detector is not None
    return _detector.fingerprint()


def _detect(batch: list[Document]) -> list[tuple[Detection, float]]:
    assert _detector is not None
    return list(_detector.timed(batch))
