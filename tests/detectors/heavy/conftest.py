"""Tests with torch run in an environment of their own: make detectors."""

from __future__ import annotations

import os

collect_ignore_glob = [] if os.environ.get("SPANSCORE_DETECTORS") else ["test_*.py"]
