"""Detection as long work: by one detector in this process, or by several in processes of their own, in order."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from abc import ABC, abstractmethod
from collections import deque
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from threading import Thread, current_thread, main_thread
from typing import TYPE_CHECKING

from spanscore.detectors import Entities
from spanscore.detectors.detector import DetectorError
from spanscore.errors import SpanscoreError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from spanscore.corpus.records import Document
    from spanscore.detectors import Detector, DetectorSpec, Outcome

BATCH = 8
"""Documents that a process gets at once."""


@dataclass(frozen=True)
class About:
    """What a detector says of itself."""

    entities: Entities = field(default_factory=Entities)
    notes: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)


class Crew(ABC):
    """Those who detect."""

    @abstractmethod
    def about(self, language: str) -> About:
        """What the detector says of itself, once it is ready."""

    @abstractmethod
    def outcomes(self, documents: Sequence[Document], language: str) -> Iterator[Outcome]:
        """What the detector says of each document, in order."""

    @abstractmethod
    def close(self) -> None:
        """Let everybody go."""


def crew(spec: DetectorSpec, jobs: int) -> Crew:
    """One detector here, or several in processes where that is how it can do several jobs."""
    return _Several(spec, jobs) if jobs > 1 and spec.kind().in_processes else _One(spec.make())


class _One(Crew):
    def __init__(self, detector: Detector) -> None:
        self._detector = detector

    def about(self, language: str) -> About:
        return _describe(self._detector, language)

    def outcomes(self, documents: Sequence[Document], language: str) -> Iterator[Outcome]:
        return self._detector(documents, language)

    def close(self) -> None:
        self._detector.close()


class _Several(Crew):
    def __init__(self, spec: DetectorSpec, jobs: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._jobs = jobs
        self._pool = ProcessPoolExecutor(
            jobs, mp_context=context, initializer=_prepare, initargs=(spec, list(sys.path))
        )

    def about(self, language: str) -> About:
        try:
            # one question each, so that all of them get ready at once
            with _deaf_to_interrupts():
                answers = [self._pool.submit(_about, language) for _ in range(self._jobs)]
            found = [answer.result() for answer in answers]
        except BrokenProcessPool:
            raise _died() from None
        first = found[0]
        if isinstance(first, SpanscoreError):
            raise first
        return first

    def outcomes(self, documents: Sequence[Document], language: str) -> Iterator[Outcome]:
        waiting: deque[Future[list[Outcome]]] = deque()
        rest = iter(documents)
        try:
            while True:
                while len(waiting) < 3 * self._jobs and (batch := list(islice(rest, BATCH))):
                    waiting.append(self._pool.submit(_detect, batch, language))
                if not waiting:
                    return
                yield from waiting.popleft().result()
        except BrokenProcessPool:
            raise _died() from None

    def close(self) -> None:
        processes = list((getattr(self._pool, "_processes", None) or {}).values())
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.kill()
        for process in processes:
            process.join()


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Processes that are begun now do not hear Ctrl-C: that is for their parent to hear."""
    if current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _died() -> DetectorError:
    return DetectorError("a process of the detector died; go on with --resume, perhaps with fewer --jobs.")


def _describe(detector: Detector, language: str) -> About:
    entities = detector.entities(language)
    return About(entities, tuple(detector.notes), dict(detector.versions))


_detector: Detector | SpanscoreError | None = None
"""The detector of this process, or why there is none."""


def _prepare(spec: DetectorSpec, path: list[str]) -> None:
    """Make a process ready: it leaves Ctrl-C to its parent, and does not outlive it."""
    global _detector
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        Thread(target=_leave_with, args=(parent,), daemon=True).start()
    sys.path[:] = path
    try:
        _detector = spec.make()
    except SpanscoreError as error:
        _detector = _plain(error)
    except BaseException as error:
        _detector = DetectorError(f"the detector cannot be made ({type(error).__name__}).")


def _leave_with(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(1)


def _about(language: str) -> About | SpanscoreError:
    if isinstance(_detector, SpanscoreError):
        return _detector
    assert _detector is not None
    try:
        return _describe(_detector, language)
    except SpanscoreError as error:
        return _plain(error)


def _plain(error: SpanscoreError) -> DetectorError:
    """The same message as an error that can be sent to another process."""
    return DetectorError(str(error))


def _detect(batch: list[Document], language: str) -> list[Outcome]:
    assert _detector is not None
    assert not isinstance(_detector, SpanscoreError)
    return list(_detector(batch, language))
