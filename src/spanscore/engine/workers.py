"""Processes beside this one. This module imports nothing heavy: they get ready while this process does."""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Executor

T = TypeVar("T")
R = TypeVar("R")

WORTHWHILE = 1 << 24
"""How many bytes a file has that is likely to be scored by several processes."""


def pool_of(processes: int) -> ProcessPoolExecutor:
    """So many processes, that know nothing of what this one did; to be interrupted is for this one alone."""
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(
        processes, mp_context=context, initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN)
    )


@contextmanager
def made_ready(jobs: int, path: str) -> Iterator[ProcessPoolExecutor | None]:
    """The other processes of `jobs`, which import what they need from now on; None for a file that needs none."""
    if jobs < 2 or not Path(path).is_file() or Path(path).stat().st_size < WORTHWHILE:
        yield None
        return
    with pool_of(jobs - 1) as pool:
        for _ in range(jobs - 1):
            pool.submit(exec, "import spanscore.engine.ranges")
        yield pool


def share(work: Callable[[T], R], tasks: Sequence[T], pool: Executor, others: int) -> list[R]:
    """The work on each task, done by other processes and by this one: whoever is done takes the next, others from the
    front, this one from the back. The first error ends it.
    """
    left = deque(range(len(tasks)))
    results: dict[int, R] = {}
    failures: list[BaseException] = []

    def next_of(take: Callable[[], int]) -> int | None:
        try:
            return None if failures else take()
        except IndexError:
            return None

    def run(do: Callable[[T], R], take: Callable[[], int]) -> None:
        try:
            while (number := next_of(take)) is not None:
                results[number] = do(tasks[number])
        except BaseException as error:  # whoever asked is to know of it, not this thread
            failures.append(error)

    def elsewhere(task: T) -> R:
        return pool.submit(work, task).result()

    threads = [Thread(target=run, args=(elsewhere, left.popleft)) for _ in range(others)]
    for thread in threads:
        thread.start()
    run(work, left.pop)
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return [results[number] for number in range(len(tasks))]
