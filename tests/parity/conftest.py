"""Tests against the reference tools themselves: `make parity` installs them in their own environment."""

from __future__ import annotations

import os

collect_ignore_glob = [] if os.environ.get("SPANSCORE_PARITY") else ["test_*.py"]
