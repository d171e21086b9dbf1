"""Results in an MLflow tracking store: a run with metrics, signatures and the files that hold no text."""

from __future__ import annotations

import math
import os
import re
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanscore.errors import InputError, MissingExtraError, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spanscore.analysis.history import Entry

ARTIFACTS = ("results.json", "metrics.json", "summary.html", "confusion_matrix.html", "stress.json")
"""Files without text and without document IDs; no others are logged."""
DIGEST = "spanscore.digest"
"""The tag with a digest of all signatures, by which a result is recognised that was logged before."""
LONGEST = 200
"""Maximum number of characters of a key; MLflow allows 250."""


def log_to_mlflow(
    entries: Sequence[Entry], folder: Path, *, uri: str | None = None, experiment: str = "spanscore", name: str = ""
) -> str | None:
    """Log the entries of one result, and files of its folder, as a run; return its ID, or None if it was logged before.

    Without a URI, MLflow decides, by MLFLOW_TRACKING_URI for example.
    """
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    try:
        from mlflow import MlflowClient
        from mlflow.entities import Metric, RunTag
        from mlflow.exceptions import MlflowException
    except ImportError:
        raise MissingExtraError("logging to MLflow", "mlflow") from None
    try:
        client = MlflowClient(tracking_uri=uri)
        found = client.get_experiment_by_name(experiment)
        place = client.create_experiment(experiment) if found is None else found.experiment_id
        mark = digest(entries)
        if client.search_runs([place], f"tags.`{DIGEST}` = '{mark}'", max_results=1):
            return None
        when = int(entries[0].logged.timestamp() * 1000)
        run = client.create_run(place, start_time=when, run_name=name or None, tags={DIGEST: mark})
        tags = [RunTag(key, value) for key, value in _signatures(entries).items()]
        values = [Metric(key, value, when, 0) for key, value in metrics(entries).items()]
        client.log_batch(run.info.run_id, tags=tags[:100])
        for first in range(0, len(values), 1000):
            client.log_batch(run.info.run_id, metrics=values[first : first + 1000])
        for file in ARTIFACTS:
            if (folder / file).is_file():
                client.log_artifact(run.info.run_id, str(folder / file))
        client.set_terminated(run.info.run_id)
    except (MlflowException, OSError, ValueError) as error:
        why = printable(" ".join(str(error).split()), limit=300)
        raise InputError(f"cannot log to MLflow ({why}).", uri or "the default tracking store") from None
    return str(run.info.run_id)


def metrics(entries: Sequence[Entry]) -> dict[str, float]:
    """Return the defined scores and ends of intervals by a key that MLflow accepts, such as `iou/PERSON/recall`."""
    several = len({one.system for one in entries}) > 1
    found: dict[str, float] = {}
    for one in entries:
        parts = [*([one.system] if several else []), one.measure, one.type or "all"]
        for number in ("precision", "recall", "f"):
            for end in ("", "_low", "_high"):
                value: Any = getattr(one, number + end)
                if value is not None and math.isfinite(value):
                    found[_key([*parts, number + end], found)] = value
    return found


def digest(entries: Sequence[Entry]) -> str:
    """Return a digest of what was scored: systems, types and signatures."""
    return sha256("\n".join(sorted(repr(one.key) for one in entries)).encode("utf-8", "backslashreplace")).hexdigest()


def _signatures(entries: Sequence[Entry]) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in entries:
        if one.type is None:
            found[_key(["spanscore.signature", one.system, one.measure], found)] = one.signature[:5000]
    return found


def _key(parts: Sequence[str], taken: dict[str, Any]) -> str:
    """Join parts to a key of the characters that MLflow allows, distinct from all taken keys.

    >>> _key(["iou(threshold=0.5)", "../<b>", "recall"], {})
    'iou_threshold_0.5_/_..__b_/recall'
    """
    cleaned = (re.sub(r"[^A-Za-z0-9_.:-]", "_", part)[:60] or "_" for part in parts)
    safe = [f"_{part}" if part.startswith(".") else part for part in cleaned]
    key = "/".join(safe)[:LONGEST]
    number = 2
    while key in taken:
        key = f"{'/'.join(safe)[:LONGEST]}-{number}"
        number += 1
    return key
