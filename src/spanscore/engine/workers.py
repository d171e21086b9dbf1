"""Processes beside this one. This module imports nothing heavy: they get ready while this process does."""

from __future__ import annotations

import multiprocessing
from collections import deque
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Executor, Future

T = TypeVar("T")
R = TypeVar("R")

LARGE = 1 << 24
"""How many bytes a file has that is likely to be scored by several processes."""


def pool_of(processes: int) -> ProcessPoolExecutor:
    """So many processes, that know nothing of what this one did."""
    return ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn"))


@contextmanager
def ready(jobs: int, path: str) -> Iterator[ProcessPoolExecutor | None]:
    """The other processes of `jobs`, which import what they need from now on; None for a file that needs none."""
    if jobs < 2 or not Path(path).is_file() or Path(path).stat().st_size < LARGE:
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
    theirs: dict[int, Future[R]] = {}
    lock = Lock()

    def give_next(done: Future[R] | None = None) -> None:
        with lock:
            if done is not None and (done.cancelled() or done.exception() is not None):
                left.clear()
            if not left:
                return
            number = left.popleft()
            theirs[number] = given = pool.submit(work, tasks[number])
        given.add_done_callback(give_next)

    for _ in range(others):
        give_next()
    mine: dict[int, R] = {}
    try:
        while True:
            with lock:
                if not left:
                    break
                number = left.pop()
            mine[number] = work(tasks[number])
    finally:
        with lock:
            left.clear()
    results = {number: given.result() for number, given in theirs.items()} | mine
    return [results[number] for number in range(len(tasks))]
