"""Tests of the example in JavaScript need Node.js and the package `compromise`: make compromise."""

from __future__ import annotations

import os

collect_ignore_glob = [] if os.environ.get("SPANSCORE_COMPROMISE") else ["test_*.py"]
