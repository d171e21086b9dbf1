"""The worst cases for a join of spans: nested, crossing, and many labels in one place; time and memory by measure."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import spanscore as ss
from spanscore.errors import SpanscoreError
from spanscore.measures import names as measures

SIZES = (2_000, 20_000)
"""Spans on each side of the one document."""
LABELS = ("DATE", "LOCATION", "NAME", "ORG")
WORD = "word "
MORE = (
    "sandbox.token(key=position)",
    "sandbox.instance-relax(tolerance=1000)",
    "sandbox.instance-relax(anchor=both, tolerance=1000)",
)
"""Measures whose other settings can be slower than their defaults."""


@dataclass(frozen=True)
class Cost:
    """What a measure takes on one case; `refused` if it does not allow such spans."""

    seconds: float
    megabytes: float
    refused: bool = False


def nested(side: int, spans: int) -> list[tuple[int, int, str]]:
    """Every span inside the one before; the ends of the two sides differ by one."""
    return [(i, 4 * spans + side - i, LABELS[(i + side * (i % 3)) % 4]) for i in range(spans)]


def crossing(side: int, spans: int) -> list[tuple[int, int, str]]:
    """Every span one further than the one before, and all with a character in common."""
    return [(i + side, i + spans + 2 * side, LABELS[(i + side * (i % 3)) % 4]) for i in range(spans)]


def one_place(side: int, spans: int) -> list[tuple[int, int, str]]:
    """All spans in the same place, each with another label; half of the labels are on both sides."""
    return [(0, 9, f"TYPE{i + side * spans // 2}") for i in range(spans)]


CASES = {"nested": nested, "crossing": crossing, "one place": one_place}


def corpora(case: str, number: int) -> tuple[ss.Corpus, ss.Corpus]:
    """The two sides of a case, with text and entity ids."""
    text = WORD * (4 * number // len(WORD) + 1)
    sides = []
    for side in range(2):
        spans: list[dict[str, Any]] = [
            {"start": start, "end": end, "label": label, "attrs": {"kbid": f"Q{0 if case == 'one place' else i % 50}"}}
            for i, (start, end, label) in enumerate(CASES[case](side, number))
        ]
        sides.append(ss.Corpus.from_documents([{"id": "d", "text": text, "spans": spans}]))
    return sides[0], sides[1]


def cost(case: str, measure: str, number: int) -> Cost:
    """Score a case by one measure, once, in this process."""
    gold, pred = corpora(case, number)
    refused = False
    began = time.perf_counter()
    try:
        ss.score(gold, pred, measure, keep_spans=False)
    except SpanscoreError:
        refused = True
    seconds = time.perf_counter() - began
    return Cost(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, refused)


def measure(names: Sequence[str] = (), sizes: Sequence[int] = SIZES, rounds: int = 3) -> list[dict[str, Any]]:
    """Return the cost of every measure in every case: the best of several runs, each in a process of its own.

    The largest size runs once: what counts there is memory. There, many labels in one place would only measure how
    long the list of them is.
    """
    found = []
    for name in names or (*measures(), *MORE):
        for number in sizes:
            large = number == max(sizes)
            cases = [case for case in CASES if not large or case != "one place"]
            costs = {
                case: min((_apart(case, name, number) for _ in range(1 if large else rounds)), key=_seconds)
                for case in cases
            }
            found.append(
                {"measure": name, "spans": number, "cases": {case: asdict(one) for case, one in costs.items()}}
            )
    return found


def _apart(case: str, name: str, number: int) -> Cost:
    call = [sys.executable, str(Path(__file__)), case, name, str(number)]
    return Cost(**json.loads(subprocess.run(call, capture_output=True, check=True).stdout.splitlines()[-1]))


def _seconds(cost: Cost) -> float:
    return cost.seconds


if __name__ == "__main__":
    if len(sys.argv) == 4:  # as its own process: the peak memory is that of this measure
        print(json.dumps(asdict(cost(sys.argv[1], sys.argv[2], int(sys.argv[3])))))
    else:
        print(json.dumps(measure(sizes=tuple(map(int, sys.argv[1:])) or SIZES)))
