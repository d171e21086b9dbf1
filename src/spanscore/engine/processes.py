"""One pool of worker processes, for scoring and for detection.

Workers never see Ctrl-C, which is for their parent; they end with it; and they do not import from the current folder.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections import deque
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from itertools import islice
from multiprocessing import resource_tracker
from threading import Thread, current_thread, main_thread
from typing import TYPE_CHECKING, Any, Self, TypeVar

from spanscore.termination import TERMINATION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

T = TypeVar("T")
R = TypeVar("R")


class ProcessPool:
    """Worker processes, each prepared by a call of `prepare(*args)`."""

    def __init__(self, jobs: int, prepare: Callable[..., object] | None = None, args: tuple[Any, ...] = ()) -> None:
        self.jobs = jobs
        context = multiprocessing.get_context("spawn")
        with _for_workers():  # a helper process starts here already
            self._executor = ProcessPoolExecutor(
                jobs, mp_context=context, initializer=_begin, initargs=(list(sys.path), prepare, args)
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def submit(self, work: Callable[..., R], *args: Any) -> Future[R]:
        """Let a worker do some work."""
        with _for_workers():
            given = self._executor.submit(work, *args)
        TERMINATION.process_groups.update(process.pid for process in self._processes if process.pid)
        return given

    @property
    def _processes(self) -> list[multiprocessing.process.BaseProcess]:
        return list((getattr(self._executor, "_processes", None) or {}).values())

    def map(self, work: Callable[[T], R], tasks: Iterable[T], ahead: int = 3) -> Iterator[R]:
        """Yield the results of all tasks in order; at most `ahead` tasks per worker are under way."""
        rest = iter(tasks)
        waiting: deque[Future[R]] = deque()
        while True:
            waiting.extend(self.submit(work, task) for task in islice(rest, ahead * self.jobs - len(waiting)))
            if not waiting:
                return
            yield waiting.popleft().result()

    def share(self, work: Callable[[T], R], tasks: Sequence[T], ahead: int = 2) -> list[R]:
        """Return the results of all tasks, done by the workers from the front and by this process from the back.

        At most `ahead` tasks per worker are under way. No task is ever taken back from the workers: an executor that
        is closed while it still holds a cancelled future ends with an error (Python 3.11).
        """
        rest = deque(tasks)
        given: list[Future[R]] = []
        own: deque[R] = deque()
        while rest:
            while rest and sum(not one.done() for one in given) < ahead * self.jobs:
                given.append(self.submit(work, rest.popleft()))
            if rest:
                own.appendleft(work(rest.pop()))
        return [*(one.result() for one in given), *own]

    def close(self) -> None:
        """End the workers, whatever they are doing, and the programs that they have started."""
        processes = self._processes
        self._executor.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.kill()
            if hasattr(os, "killpg") and process.pid is not None:
                with suppress(OSError):  # it was about to begin, and has started nothing yet
                    os.killpg(process.pid, signal.SIGKILL)
        for process in processes:
            process.join()
        TERMINATION.process_groups.difference_update(process.pid for process in processes)


@contextmanager
def _for_workers() -> Iterator[None]:
    """Start processes that do not see Ctrl-C and do not import from the current folder.

    They inherit that the signal is blocked. In this process it is only delayed, never lost.
    """
    safe = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        with _interrupts_delayed():
            yield
    finally:
        if safe is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = safe


@contextmanager
def _interrupts_delayed() -> Iterator[None]:
    """Delay interrupts; only the main thread gets them."""
    if current_thread() is not main_thread():
        yield
        return
    interrupts: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: interrupts.append(number))
    try:
        with _interrupts_blocked():
            yield
    finally:
        signal.signal(signal.SIGINT, before)
        if interrupts:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    if not hasattr(signal, "pthread_sigmask"):  # as on Windows
        yield
        return
    resource_tracker.ensure_running()  # it would unblock the signal when it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(path: list[str], prepare: Callable[..., object] | None, args: tuple[Any, ...]) -> None:
    """Get a worker ready: the first process of a group, to which the programs that it starts belong."""
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    os.environ.pop("PYTHONSAFEPATH", None)
    parent = multiprocessing.parent_process()
    if parent is not None:
        Thread(target=_end_with, args=(parent,), daemon=True).start()
    sys.path[:] = path
    if prepare is not None:
        prepare(*args)


def _end_with(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)
