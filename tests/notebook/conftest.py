"""The notebook in examples/ is run by a kernel: `make notebook`."""

from __future__ import annotations

import os

collect_ignore_glob = [] if os.environ.get("SPANSCORE_NOTEBOOK") else ["test_*.py"]
