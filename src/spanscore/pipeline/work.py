"""Detection as long work: in one process or several, in order, failures counted."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections import deque
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from threading import Thread
from typing import TYPE_CHECKING

from spanscore.detectors.detector import DetectorError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spanscore.detectors import Detector, DetectorSpec, Outcome
    from spanscore.records import Document

BATCH = 8
"""Documents that a process gets at once."""

_detector: Detector | None = None


def outcomes(
    spec: DetectorSpec, detector: Detector, documents: Sequence[Document], language: str, jobs: int
) -> Iterator[Outcome]:
    """What the detector says of each document, in order; several jobs are several processes where it allows them."""
    if jobs == 1 or not detector.in_processes or len(documents) <= BATCH:
        yield from detector(documents, language)
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_prepare, initargs=(spec, list(sys.path)))
    waiting: deque[Future[list[Outcome]]] = deque()
    rest = iter(documents)
    try:
        while True:
            while len(waiting) < 3 * jobs and (batch := list(islice(rest, BATCH))):
                waiting.append(pool.submit(_detect, batch, language))
            if not waiting:
                return
            yield from waiting.popleft().result()
    except BrokenProcessPool:
        raise DetectorError("a process of the detector died; go on with --resume, perhaps with fewer --jobs.") from None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _prepare(spec: DetectorSpec, path: list[str]) -> None:
    """Make a process ready: it leaves Ctrl-C to its parent, and does not outlive it."""
    global _detector
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:

        def leave() -> None:
            parent.join()
            os._exit(1)

        Thread(target=leave, daemon=True).start()
    sys.path[:] = path
    _detector = spec.make()


def _detect(batch: list[Document], language: str) -> list[Outcome]:
    assert _detector is not None
    return list(_detector(batch, language))
