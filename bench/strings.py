"""String columns: spanscore's `Strings` against Arrow's and NumPy's own, on the operations that scoring needs.

Run: python bench/strings.py. The figures in docs/explanation/decisions/0003-strings.md come from here.
"""

from __future__ import annotations

import pickle
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spanscore.corpus.strings import Strings

if TYPE_CHECKING:
    from collections.abc import Callable

DOCUMENTS = 100_000
TEXT = "Dr. Zoe Lee saw the patient at 10:30 in Oslo; call back tomorrow. " * 6


def main() -> None:
    """Print the best of five times for each operation, in milliseconds."""
    names = [f"ward-{number % 40}/document-{number}" for number in range(DOCUMENTS)]
    lines = [f'{{"id": "{name}", "text": "{TEXT}", "spans": []}}\n'.encode() for name in names]
    block = b"".join(lines)
    ends = np.cumsum([len(line) for line in lines])
    starts = np.concatenate([[0], ends[:-1]])
    id_begin = starts + len(b'{"id": "')
    id_end = id_begin + np.array([len(name) for name in names])
    text_begin = id_end + len(b'", "text": "')
    text_end = text_begin + len(TEXT)
    texts = [TEXT] * DOCUMENTS
    shuffled = np.random.default_rng(0).permutation(DOCUMENTS)

    def ours_from_block() -> tuple[Strings[str], Strings[str]]:
        return Strings(block, id_begin, id_end), Strings(block, text_begin, text_end)

    def python_strings() -> tuple[list[str], list[str]]:
        cut = [block[a:b].decode() for a, b in zip(id_begin.tolist(), id_end.tolist(), strict=True)]
        return cut, [block[a:b].decode() for a, b in zip(text_begin.tolist(), text_end.tolist(), strict=True)]

    def arrow_from_block() -> tuple[Any, Any]:
        return tuple(pa.array(column, pa.string()) for column in python_strings())

    def numpy_from_block() -> tuple[Any, Any]:
        kind = np.dtypes.StringDType()
        return tuple(np.array(column, kind) for column in python_strings())  # type: ignore[return-value]

    ours, other = Strings.of(names), Strings.of([names[row] for row in shuffled])
    same = Strings.of(list(names))
    arrow, arrow_same, arrow_other = pa.array(names), pa.array(list(names)), pa.array([names[row] for row in shuffled])
    kind = np.dtypes.StringDType()
    numpy, numpy_same = np.array(names, kind), np.array(list(names), kind)
    numpy_other = np.array([names[row] for row in shuffled], kind)
    ours_texts, arrow_texts, numpy_texts = Strings.of(texts), pa.array(texts), np.array(texts, kind)
    rows: list[tuple[str, Callable[[], object], Callable[[], object], Callable[[], object]]] = [
        ("ids and texts out of a block of JSON Lines", ours_from_block, arrow_from_block, numpy_from_block),
        (
            "are two id columns equal?",
            lambda: _fresh(ours) == _fresh(same),
            lambda: arrow.equals(arrow_same),
            lambda: bool((numpy == numpy_same).all()),
        ),
        (
            "join by id, other order",
            lambda: _fresh(other).find(_fresh(ours)),
            lambda: pc.index_in(arrow, arrow_other),
            lambda: np.searchsorted(np.sort(numpy_other), numpy),
        ),
        (
            "is an id there twice?",
            lambda: _fresh(ours).repeated(),
            lambda: len(arrow.unique()),
            lambda: len(np.unique(numpy)),
        ),
        (
            "lengths in code points",
            lambda: _fresh(ours_texts).lengths,
            lambda: pc.utf8_length(arrow_texts),
            lambda: np.strings.str_len(numpy_texts),
        ),
        (
            "blocks of 8192 documents",
            lambda: [ours_texts[i : i + 8192] for i in range(0, DOCUMENTS, 8192)],
            lambda: [arrow_texts.slice(i, 8192) for i in range(0, DOCUMENTS, 8192)],
            lambda: [numpy_texts[i : i + 8192] for i in range(0, DOCUMENTS, 8192)],
        ),
        (
            "send to another process and back",
            lambda: pickle.loads(pickle.dumps(ours)),
            lambda: pickle.loads(pickle.dumps(arrow)),
            lambda: pickle.loads(pickle.dumps(numpy)),
        ),
    ]
    print(f"{'':44}{'Strings':>10}{'Arrow':>10}{'NumPy':>10}   (ms, {DOCUMENTS} documents)")
    for what, *ways in rows:
        print(f"{what:44}" + "".join(f"{1000 * _best(way):10.1f}" for way in ways))


def _fresh(strings: Strings[Any]) -> Strings[Any]:
    """Return the same column without what it has computed before."""
    return Strings(strings.buffer, strings.begin, strings.end, strings.missing)


def _best(way: Callable[[], object]) -> float:
    times = []
    for _ in range(5):
        began = time.perf_counter()
        way()
        times.append(time.perf_counter() - began)
    return min(times)


if __name__ == "__main__":
    main()
