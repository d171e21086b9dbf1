"""Hashes of texts for the fingerprint: what each costs on blocks of 4 MB, as they are read.

Run: python bench/hashes.py. The figures in docs/explanation/decisions/0002-fingerprint.md come from here.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from hashlib import blake2b, md5
from zlib import adler32, crc32

import numpy as np

from spanscore.corpus.strings import Strings

BLOCK = 4_000_000


CANDIDATES: dict[str, Callable[[Strings[str]], object]] = {
    "Adler-32": lambda texts: list(map(adler32, texts._pieces())),
    "CRC-32": lambda texts: list(map(crc32, texts._pieces())),
    "XXH3": lambda texts: texts.hashes,
    "BLAKE2b": lambda texts: [blake2b(piece, digest_size=8).digest() for piece in texts._pieces()],
    "MD5": lambda texts: [md5(piece, usedforsecurity=False).digest() for piece in texts._pieces()],
    "vectorized": lambda texts: texts.marks,
}


def main() -> None:
    """Print the best of seven times for each hash and length of text, in milliseconds."""
    letters = np.random.default_rng(0).integers(97, 122, BLOCK, np.uint8).tobytes()
    for size in (60, 200, 1000, 4000):
        begin = np.arange(BLOCK // size) * size
        times = {
            # the texts are apart, as they are in a file
            name: min(seconds(call, Strings(letters, begin, begin + size - 7)) for _ in range(7))
            for name, call in CANDIDATES.items()
        }
        print(f"texts of {size} bytes: " + ", ".join(f"{name} {1e3 * best:.1f}" for name, best in times.items()))


def seconds(call: Callable[[Strings[str]], object], texts: Strings[str]) -> float:
    """Return how long a call takes."""
    began = time.perf_counter()
    call(texts)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
