"""Running a detector: in this process, or in several processes, with detections in order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING

from spanscore.detectors import Description, DetectorError
from spanscore.engine.processes import ProcessPool
from spanscore.errors import SpanscoreError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spanscore.corpus.records import Document
    from spanscore.detectors import Detection, Detector

BATCH = 8
"""Documents that a process gets at once."""


class DetectorPool(ABC):
    """Runs a detector over documents."""

    @abstractmethod
    def describe(self) -> Description:
        """Return what the detector reports about itself, once it is ready."""

    @abstractmethod
    def detections(self, documents: Sequence[Document]) -> Iterator[Detection]:
        """Yield the detections of each document, in order."""

    @abstractmethod
    def close(self) -> None:
        """Release the detector."""


def detector_pool(detector: Detector, jobs: int) -> DetectorPool:
    """Return a pool with one detector in this process, or with several in processes if it runs in processes."""
    if jobs > 1 and detector.in_processes:
        return _Processes(detector, jobs)
    return _ThisProcess(detector.for_jobs(jobs))


class _ThisProcess(DetectorPool):
    def __init__(self, detector: Detector) -> None:
        self._detector = detector

    def describe(self) -> Description:
        return self._detector.describe()

    def detections(self, documents: Sequence[Document]) -> Iterator[Detection]:
        return self._detector.detect(documents)

    def close(self) -> None:
        self._detector.close()


class _Processes(DetectorPool):
    def __init__(self, detector: Detector, jobs: int) -> None:
        self._pool = ProcessPool(jobs, _prepare, (detector,))

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

    def detections(self, documents: Sequence[Document]) -> Iterator[Detection]:
        batches = [list(documents[i : i + BATCH]) for i in range(0, len(documents), BATCH)]
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
        _description = DetectorError(f"the detector cannot be loaded ({type(error).__name__}).")


def _describe() -> Description | DetectorError:
    return _description


def _detect(batch: list[Document]) -> list[Detection]:
    assert _detector is not None
    return list(_detector.detect(batch))
