"""`compat.seqeval.f1_score` against seqeval's on the same lists of tags, one per document of the benchmark's data.

seqeval has its own environment: `.venv-parity/bin/python bench/tagged.py GOLD PRED` prints seconds as JSON.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path

from seqeval.metrics import f1_score as theirs

from peers import documents, tags
from spanscore.compat.seqeval import f1_score as ours

SENTENCES = 100_000
ROUNDS = 3


def main() -> None:
    """Print the shortest time of each; the functions take turns."""
    warnings.simplefilter("ignore")
    pairs = documents(Path(sys.argv[1]), Path(sys.argv[2]), SENTENCES)
    gold, pred = ([tags(pair[0]["text"], pair[side]["spans"], begin=True) for pair in pairs] for side in (0, 1))
    times: dict[str, list[float]] = {"spanscore": [], "seqeval": []}
    for _ in range(ROUNDS):
        found = []
        for name, function in (("spanscore", ours), ("seqeval", theirs)):
            began = time.perf_counter()
            found.append(function(gold, pred))
            times[name].append(time.perf_counter() - began)
        assert found[0] == found[1]
    seconds = {name: min(listed) for name, listed in times.items()}
    print(json.dumps({"sentences": len(gold), "tags": sum(map(len, gold)), **seconds}))


if __name__ == "__main__":
    main()
