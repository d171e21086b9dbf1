"""The detector `python` in threads."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import spanscore as ss


def test_functions_that_run_in_threads_do_not_lose_standard_output() -> None:
    corpus = ss.Corpus.from_documents([{"id": str(i), "text": "Ann", "spans": []} for i in range(3)])
    together = Barrier(2)

    def find(text: str, language: str) -> list[Any]:
        together.wait(30)
        return []

    before = sys.stdout
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: ss.detect(corpus, "python", function=find), range(2)))
    assert sys.stdout is before
