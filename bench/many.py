"""Many labels and many systems: time and peak memory of the commands that list them."""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

LABELS, SYSTEMS = 10_000, 500
DOCUMENTS = 1_000


def write(path: Path, labels: int, documents: int, seed: int) -> Path:
    """Write documents with twenty spans each, of this many labels; one in five spans differs from seed to seed."""
    rng = random.Random(seed)
    with path.open("w") as file:
        for number in range(documents):
            spans = []
            for i in range(20):
                label = (20 * number + i) % labels if rng.random() < 0.8 else rng.randrange(labels)
                spans.append({"start": 10 * i, "end": 10 * i + 7, "label": f"TYPE_{label}", "score": rng.random()})
            file.write(json.dumps({"id": str(number), "text": "word " * 40, "spans": spans}) + "\n")
    return path


def commands(folder: Path, labels: int, systems: int) -> dict[str, list[str]]:
    """Return the calls to measure, with their files."""
    gold = str(write(folder / "gold.jsonl", labels, DOCUMENTS, 0))
    pred = str(write(folder / "pred.jsonl", labels, DOCUMENTS, 1))
    few = str(write(folder / "few.jsonl", 4, 20, 0))
    named = [f"s{number}={write(folder / f's{number}.jsonl', 4, 20, number + 1)}" for number in range(systems)]
    table = folder / "map.txt"
    table.write_text("".join(f"TYPE_{number}: KIND_{number}\n" for number in range(labels)))
    return {
        f"score, {labels:,} labels": ["score", gold, pred, "-q"],
        f"score --map with {labels:,} entries": ["score", gold, pred, "--map", str(table), "-q"],
        f"score -o, {labels:,} labels": ["score", gold, pred, "-o", str(folder / "labels"), "-q"],
        f"score, {systems} systems": ["score", few, *named, "-q"],
        f"compare --against, {systems} systems": ["compare", few, *named, "-m", "exact", "--against", "s0", "-q"],
    }


def measure(labels: int = LABELS, systems: int = SYSTEMS) -> list[dict[str, Any]]:
    """Return what each call takes, in a process of its own."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for what, call in commands(Path(folder), labels, systems).items():
            done = subprocess.run([sys.executable, __file__, "--", *call], capture_output=True, check=True)
            found.append({"what": what, **json.loads(done.stderr.splitlines()[-1])})
    return found


def _alone(call: list[str]) -> None:
    """Run a command in this process, and print its cost to stderr."""
    from spanscore.cli import cli

    began = time.perf_counter()
    cli.main(call, standalone_mode=False)
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": time.perf_counter() - began, "megabytes": megabytes}), file=sys.stderr)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--"]:
        _alone(sys.argv[2:])
    else:
        print(json.dumps(measure(*map(int, sys.argv[1:]))))
