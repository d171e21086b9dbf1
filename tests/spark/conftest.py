"""These tests need Java; `make spark` runs them."""

from __future__ import annotations

import os

collect_ignore_glob = [] if os.environ.get("SPANSCORE_SPARK") else ["test_*.py"]
