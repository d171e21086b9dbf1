"""Tune the memory allocator."""

from __future__ import annotations

import numpy as np


def keep_freed_memory() -> None:
    """Make glibc keep freed memory for reuse.

    By default, glibc returns the arrays of every block to the system and page-faults them in again for the next one.
    Freeing one large, untouched allocation raises the threshold above which it does so, which saves about a quarter of
    the time it takes to read data. With other allocators this has no effect.
    """
    np.empty(31 << 20, np.uint8)
