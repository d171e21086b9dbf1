"""These tests need MLflow; `make mlflow` runs them in an environment of its own."""

from __future__ import annotations

import os

collect_ignore_glob = [] if os.environ.get("SPANSCORE_MLFLOW") else ["test_*.py"]
