"""Attack all readers with mutated files, count the inputs, and keep those that break a promise.

Run: PYTHONPATH=tests .venv/bin/python -m fuzz.campaign --inputs 1000000

No input may raise anything but an error for users, take more than 5 seconds, or need more than 1 GB. Whatever does is
written to --findings; the exit code is 1 then. Input N of a format depends only on --seed and N, so that
`--format conll --first N --inputs 1` attacks with it again.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from types import FrameType

from fuzz.mutate import mutated
from fuzz.targets import attack, formats, lay_out, seeds, variant
from spanscore.formats import REGISTRY, Format

SECONDS, MEMORY = 5, 1 << 30
PATIENCE = 6 * SECONDS
"""Seconds until a process that waits, or does not even receive signals, is killed; the others are processor time."""


class TooSlow(BaseException):
    """An input that takes too long."""


def made(name: str, seed: int, number: int) -> tuple[bytes, Format | None]:
    """Input N of a format, and how it is read."""
    rng = random.Random(f"{seed} {name} {number}")
    everything = [one for kind in formats() for one in seeds(kind.name)]
    return mutated(seeds(name), everything, rng), variant(REGISTRY.find(name), rng)


def work(
    name: str, seed: int, first: int, last: int, at: Synchronized[int], read: Synchronized[int], findings: str
) -> None:
    """Attack one reader with a range of inputs."""
    folder = Path(tempfile.mkdtemp(prefix="spanscore-fuzz-"))
    for one in seeds(name):  # load what it needs first
        attack_quietly(lay_out(one, folder / "input"), REGISTRY.find(name)())
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY, taken + MEMORY))

    def late(number: int, frame: FrameType | None) -> None:
        raise TooSlow

    signal.signal(signal.SIGPROF, late)
    for number in range(first, last):
        at.value = number
        data, how = made(name, seed, number)
        path = lay_out(data, folder / "input")
        try:
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            read.value += attack(path, how)
        except (Exception, TooSlow) as error:
            signal.setitimer(signal.ITIMER_PROF, 0)
            keep(findings, name, seed, number, data, how, "".join(traceback.format_exception(error)[-12:]))
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    at.value = last


def attack_quietly(path: Path, how: Format) -> None:
    """Read a seed; what is wrong with it is not the question here."""
    try:
        attack(path, how)
    except Exception:
        traceback.print_exc()


def keep(findings: str, name: str, seed: int, number: int, data: bytes, how: Format | None, why: str) -> None:
    """Write a finding: the input, and what happened."""
    Path(findings).mkdir(parents=True, exist_ok=True)
    place = Path(findings) / f"{name}-{seed}-{number}"
    place.write_bytes(data)
    place.with_suffix(".txt").write_text(f"format: {how!r}\n{why}\n")
    last = why.strip().splitlines()[-1] if why.strip() else ""
    print(f"FINDING {place} ({how!r}): {last[:300]}", flush=True)


def campaign(name: str, seed: int, first: int, count: int, findings: str) -> tuple[int, int, int]:
    """Attack one reader, in a process that is started again after a crash; return inputs, read ones, and peak memory."""
    context = multiprocessing.get_context("spawn")
    at, read = context.Value("q", first), context.Value("q", 0)
    start, last = first, first + count
    while start < last:
        process = context.Process(target=work, args=(name, seed, start, last, at, read, findings))
        process.start()
        seen, since = -1, time.monotonic()
        while process.is_alive():
            process.join(0.5)
            if at.value != seen:
                seen, since = at.value, time.monotonic()
            elif time.monotonic() - since > PATIENCE:
                process.kill()
        if process.exitcode == 0:
            break
        data, how = made(name, seed, at.value)
        keep(findings, name, seed, at.value, data, how, f"the process ended with code {process.exitcode}")
        start = at.value + 1
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    return count, read.value, peak


def main() -> int:
    """Attack all readers, or one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=1_000_000, help="number of inputs for all readers together")
    parser.add_argument("--format", action="append", help="attack only this reader; repeat for several")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first input of each reader")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--findings", default="fuzz-findings")
    given = parser.parse_args()
    names = given.format or [kind.name for kind in formats()]
    before = set(Path(given.findings).glob("*.txt"))
    each = -(-given.inputs // len(names))
    parts = max(1, -(-given.jobs * 2 // len(names)))
    shares = [
        (name, given.seed, given.first + each * part // parts, each * (part + 1) // parts - each * part // parts, given.findings)
        for name in names
        for part in range(parts)
    ]  # fmt: skip
    began = time.monotonic()
    totals: dict[str, list[int]] = {name: [0, 0] for name in names}
    peak = 0
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(given.jobs) as pool:
        for share, (count, read, memory) in zip(shares, pool.map(lambda one: campaign(*one), shares), strict=True):
            totals[share[0]][0] += count
            totals[share[0]][1] += read
            peak = max(peak, memory)
    for name, (count, read) in totals.items():
        print(f"{name}: {count} inputs, {read} read, {count - read} refused or found")
    found = sorted(set(Path(given.findings).glob("*.txt")) - before)
    summary = {
        "inputs": sum(count for count, _ in totals.values()),
        "readers": len(names),
        "findings": len(found),
        "seconds": round(time.monotonic() - began),
        "peak_megabytes": peak >> 20,
    }
    print(json.dumps(summary))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
