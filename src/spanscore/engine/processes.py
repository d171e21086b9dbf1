"""Processes beside this one. This module imports nothing heavy: they get ready while this process does."""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections import deque
from contextlib import contextmanager, nullcontext
from importlib import import_module
from multiprocessing import resource_tracker
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.connection import Connection

T = TypeVar("T")
R = TypeVar("R")

WORTHWHILE = 1 << 22
"""How many bytes a file has that is likely to be scored by several processes."""


class Workers:
    """Processes that wait for work, each at the other end of a pipe of its own: one that dies closes it, so that
    nobody waits for its answer.
    """

    def __init__(self, number: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._processes = []
        self._pipes = []
        with _interrupts_blocked() if number else nullcontext():
            for _ in range(number):
                ours, theirs = context.Pipe()
                process = context.Process(target=_serve, args=(theirs,), daemon=True)
                process.start()
                theirs.close()
                self._processes.append(process)
                self._pipes.append(ours)

    def __len__(self) -> int:
        return len(self._pipes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.join()

    def end(self) -> None:
        """End them, whatever they are doing."""
        for process in self._processes:
            process.terminate()

    def ask(self, number: int, work: Callable[[T], R], task: T) -> R:
        """What one of them makes of a task."""
        try:
            self._pipes[number].send((work, task))
            right, answer = self._pipes[number].recv()
        except EOFError:
            raise ConnectionError("a process ended before its work was done.") from None
        if not right:
            raise answer
        result: R = answer
        return result


def beside(jobs: int, path: str) -> Workers:
    """The other processes of `jobs`, which import what they need from now on; none for a file that needs none."""
    large = Path(path).is_file() and Path(path).stat().st_size >= WORTHWHILE
    return Workers(jobs - 1 if large else 0)


def share(work: Callable[[T], R], tasks: Sequence[T], workers: Workers) -> list[R]:
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

    def elsewhere(number: int) -> None:
        run(lambda task: workers.ask(number, work, task), left.popleft)

    threads = [threading.Thread(target=elsewhere, args=(number,)) for number in range(len(workers))]
    for thread in threads:
        thread.start()
    run(work, left.pop)
    if any(isinstance(error, KeyboardInterrupt) for error in failures):
        workers.end()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return [results[number] for number in range(len(tasks))]


def _serve(pipe: Connection) -> None:
    """Do what is asked for, until nobody can ask any more."""
    import_module("spanscore.engine.ranges")
    while True:
        try:
            work, task = pipe.recv()
        except EOFError:
            return
        answer: tuple[bool, Any]
        try:
            answer = True, work(task)
        except Exception as error:
            answer = False, error
        try:
            pipe.send(answer)
        except OSError:  # whoever asked is gone
            return


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Processes that are started now are never interrupted by a terminal: that is for this one, which ends them."""
    resource_tracker.ensure_running()  # it would unblock them again when it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
