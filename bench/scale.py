"""How time and memory grow: from thousands to a million documents, from few spans in a document to many."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from corpora import write


@dataclass(frozen=True)
class Run:
    """A call of the command line: how long it took, and how much memory its process had at most."""

    seconds: float
    megabytes: float


def score(gold: Path, pred: Path, *more: str, rounds: int = 2) -> Run:
    """Score two files by iou and exact, as a user does; the best of several runs."""
    found = []
    for _ in range(rounds):
        call = [sys.executable, "-m", "spanscore", "score", str(gold), str(pred), "--json", os.devnull, "-q", *more]
        began = time.perf_counter()
        process = subprocess.Popen(call, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        assert status == 0, call
        found.append(Run(time.perf_counter() - began, usage.ru_maxrss / 1024))
    return min(found, key=lambda run: run.seconds)


def shuffled(path: Path) -> Path:
    """The same lines in another order."""
    target = path.with_name(f"shuffled-{path.name}")
    if not target.exists():
        lines = path.read_bytes().splitlines(keepends=True)
        random.Random(0).shuffle(lines)
        target.write_bytes(b"".join(lines))
    return target


def parquet(path: Path) -> Path:
    """The same as Parquet."""
    target = path.with_suffix(".parquet")
    if not target.exists():
        subprocess.run([sys.executable, "-m", "spanscore", "convert", str(path), str(target)], check=True)
    return target


def measure(folder: Path) -> dict[str, Run]:
    """All of it."""
    found = {}
    for count in (1_000, 10_000, 100_000, 1_000_000):
        gold, pred = write(folder, count)
        found[f"{count} documents"] = score(gold, pred)
    found["2 processes"] = score(gold, pred, "--jobs", "2")
    found["another order"] = score(gold, shuffled(pred), rounds=1)
    found["parquet"] = score(parquet(gold), parquet(pred))
    found["parquet, 2 processes"] = score(parquet(gold), parquet(pred), "--jobs", "2")
    for documents, spans in ((10_000, 10), (1, 100_000)):
        found[f"{spans} spans in a document"] = score(*write(folder, documents, spans))
    found["nothing"] = score(*write(folder, 1, 1))
    return found


if __name__ == "__main__":  # a process of its own: one that a large process starts is told to be as large
    print(json.dumps({name: asdict(run) for name, run in measure(Path(sys.argv[1])).items()}))
