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
    """A call of the command line: its time and its peak memory."""

    seconds: float
    megabytes: float
    spans: int = 0


def compiled() -> dict[str, str]:
    """The environment in which Python keeps compiled modules, as it does for a user."""
    found = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**found, "PYTHONPYCACHEPREFIX": str(Path(__file__).parent / "data" / "pycache")}


def call(*arguments: str, spans: int = 0, rounds: int = 2) -> Run:
    """Call the command line as a user does, and return the best of several runs."""
    found = []
    for _ in range(rounds):
        began = time.perf_counter()
        command = [sys.executable, "-m", "spanscore", *arguments]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=compiled())
        _, status, usage = os.wait4(process.pid, 0)
        assert status == 0, arguments
        found.append(Run(time.perf_counter() - began, usage.ru_maxrss / 1024, spans))
    return min(found, key=lambda run: run.seconds)


def score(gold: Path, pred: Path, *more: str, spans: int = 0, rounds: int = 2) -> Run:
    """Score two files by iou and exact."""
    return call("score", str(gold), str(pred), "--json", os.devnull, "-q", *more, spans=spans, rounds=rounds)


def shuffled(path: Path) -> Path:
    """The same lines in another order; another process shuffles them, because it takes much memory."""
    target = path.with_name(f"shuffled-{path.name}")
    if not target.exists():
        subprocess.run([sys.executable, __file__, "--shuffle", str(path), str(target)], check=True)
    return target


def shuffle(path: Path, target: Path) -> None:
    """Write the lines of a file in another order."""
    lines = path.read_bytes().splitlines(keepends=True)
    random.Random(0).shuffle(lines)
    target.write_bytes(b"".join(lines))


def parquet(path: Path) -> Path:
    """The same as Parquet."""
    target = path.with_suffix(".parquet")
    if not target.exists():
        subprocess.run([sys.executable, "-m", "spanscore", "convert", str(path), str(target)], check=True)
    return target


def measure(folder: Path) -> dict[str, Run]:
    """Return all measurements."""
    found = {"nothing": score(*write(folder, 1, 1), rounds=7)}
    for count in (1_000, 10_000, 100_000):
        found[f"{count:,} documents"] = score(*write(folder, count), spans=16 * count, rounds=7)
    gold, pred = write(folder, 1_000_000)
    spans, named = 16_000_000, "1,000,000 documents"
    inputs = {"": (gold, pred), " from Parquet": (parquet(gold), parquet(pred))}
    for _ in range(5):  # what is compared takes turns
        for where, files in inputs.items():
            for jobs, more in {"": [], ", --jobs 2": ["--jobs", "2"]}.items():
                name = f"{named}{where}{jobs}"
                run = score(*files, *more, spans=spans, rounds=1)
                found[name] = min(found.get(name, run), run, key=lambda one: one.seconds)
    found[f"{named}, predictions in another order"] = score(gold, shuffled(pred), spans=spans, rounds=1)
    both = [f"a={pred}", f"b={shuffled(pred)}"]
    found[f"{named}, two systems compared"] = call("compare", str(gold), *both, "-q", spans=spans + 8_000_000, rounds=1)
    for spans in (10, 100, 1_000, 10_000, 100_000):
        files = write(folder, 100_000 // spans, spans)
        found[f"{spans:,} spans in a document"] = score(*files, spans=200_000, rounds=7)
    return found


if __name__ == "__main__":  # as its own process: the peak memory of a child includes that of a large parent
    if sys.argv[1] == "--shuffle":
        shuffle(*map(Path, sys.argv[2:]))
    else:
        print(json.dumps({name: asdict(run) for name, run in measure(Path(sys.argv[1])).items()}))
