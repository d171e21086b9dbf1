"""The benchmark: spanscore against its peers and against the limit, on the same data, in one run.

Ratios are what counts: times differ from machine to machine. Every figure is the best of several runs; what is
compared takes turns, so that a busy moment of the machine hits all alike.
"""

from __future__ import annotations

import collections
import collections.abc
import json
import platform
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

import pages
import scale
import spanscore as ss
from corpora import write
from spanscore.engine.compare import statistic_of
from spanscore.engine.local import score_all, score_chunks
from spanscore.engine.sweep import sweep
from spanscore.readers import read_chunks
from spanscore.records import Document
from spanscore.stats import Bootstrap, permutation_p

HERE = Path(__file__).parent
DATA = HERE / "data"
DOCUMENTS = 100_000
PIPELINE = 20_000
MEASURES = ("exact", "iou")
SEED_FAMILIES = (
    *("iou", "iou.pii", "presidio", "presidio.pii"),
    *("sixway.strict", "sixway.flexible", "sixway.partial"),
    *("sets::span", "sets::span+type"),
    *("overlap-maxmax::span", "overlap-maxsum::span", "overlap-summax::span", "overlap-sumsum::span"),
    *("sandbox.instance", "sandbox.instance-relax", "sandbox.token", "sandbox.subtype", "sandbox.hipaa"),
)
PEERS = {"presidio-evaluator": 1000, "nervaluate": 40, "seqeval": 40, "neleval": 20, "spaCy's Scorer": 4}
"""How many times the peers' spans per second are aimed at; theirs are in memory, but for neleval's lines."""
CLUSTERINGS = ("muc", "b_cubed", "entity_ceaf", "mention_ceaf", "pairwise", "pairwise_negative")


def best(actions: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The least time of each action, which take turns."""
    times: dict[str, float] = {}
    for _ in range(rounds):
        for name, action in actions.items():
            start = time.perf_counter()
            action()
            times[name] = min(times.get(name, float("inf")), time.perf_counter() - start)
    return times


def decode_alone(paths: Sequence[Path]) -> None:
    """The limit: msgspec decodes every line into typed records, and nothing else is done."""
    decoder = msgspec.json.Decoder(Document)
    for path in paths:
        with path.open("rb") as file:
            rest = b""
            while block := file.read(1 << 17):
                cut = block.rfind(b"\n") + 1
                decoder.decode_lines(rest + block[:cut])
                rest = block[cut:]


def start_up() -> dict[str, float]:
    """How long it takes to say `--help`, and to import click alone."""
    calls = {"help": ["-m", "spanscore", "--help"], "click": ["-c", "import click"]}
    actions: dict[str, Callable[[], object]] = {name: partial(_run_python, call) for name, call in calls.items()}
    return best(actions, rounds=15)


def _run_python(call: list[str]) -> None:
    subprocess.run([sys.executable, *call], capture_output=True, check=True)


def nervaluate(gold: ss.Corpus, pred: ss.Corpus) -> Callable[[], object]:
    """nervaluate on the same spans, from lists that are in memory already."""
    from nervaluate.evaluator import Evaluator

    sides = [
        [
            [{"label": span.label, "start": span.start, "end": span.end} for span in document.spans]
            for document in side.documents()
        ]
        for side in (gold, pred)
    ]
    tags = sorted({*gold.labels, *pred.labels})
    return lambda: Evaluator(*sides, tags=tags, loader="dict").evaluate()


def clusterings() -> dict[str, Callable[[], object]]:
    """10,000 mentions in 1,000 clusters, seven in ten put right: from annotations in memory to all six measures."""
    setattr(collections, "Sequence", collections.abc.Sequence)  # noqa: B010 - neleval takes these from where they were
    setattr(np, "int", int)  # noqa: B010
    from neleval.annotation import Annotation, Candidate
    from neleval.document import Document as NelevalDocument
    from neleval.evaluate import Evaluate

    rng = random.Random(0)
    gold = [rng.randrange(1000) for _ in range(10_000)]
    pred = [one if rng.random() < 0.7 else rng.randrange(1000) for one in gold]
    ours, theirs = [], []
    for side in (gold, pred):
        spans = [
            {"start": 2 * i, "end": 2 * i + 1, "label": "X", "attrs": {"kbid": f"E{one}"}} for i, one in enumerate(side)
        ]
        ours.append(ss.Corpus.from_documents([{"id": "d", "spans": spans}]))
        listed = [Annotation("d", 2 * i, 2 * i, [Candidate(f"E{one}", 1.0, "X")]) for i, one in enumerate(side)]
        theirs.append([NelevalDocument("d", listed)])
    spelt = [f"{name}::span" for name in CLUSTERINGS]
    return {
        "spanscore": lambda: ss.score(ours[0], ours[1], CLUSTERINGS),
        "neleval": lambda: Evaluate(theirs[1], theirs[0], spelt)(),
    }


def uncertainty(gold: ss.Corpus, pred: ss.Corpus) -> dict[str, float]:
    """Intervals of 20 types, and a permutation test of the system against one that misses every tenth span."""
    labels = tuple(f"{name}{part}" for part in "ab" for name in gold.labels)
    twenty = replace(gold, labels=labels, label=gold.label + (gold.doc % 2 * len(gold.labels)).astype(np.int32))
    scores = ss.score(twenty, twenty, "iou").scores[0]
    assert len(scores.by_type) == 20
    weaker = pred.with_spans(np.flatnonzero(np.arange(len(pred.doc)) % 10 > 0))
    one, other = (ss.score(gold, side, "iou").scores[0] for side in (pred, weaker))
    counts = one.tally.by_document(), other.tally.by_document()

    def permute() -> None:
        for number in ("precision", "recall", "f"):
            permutation_p(*counts, statistic_of(one, number), number=10_000, seed=(0, 0))

    resample = lambda: [scores.interval(Bootstrap(), label) for label in (None, *scores.by_type)]  # noqa: E731
    return best({"bootstrap": resample, "permutations": permute}, rounds=3)


def pipeline() -> dict[str, float]:
    """Presidio over made-up documents: seconds of detection by one and two processes, and of all that comes after."""
    data = DATA / "pipeline.jsonl"
    _run_python(["-m", "spanscore", "generate", "-n", str(PIPELINE), "--seed", "1", "-o", str(data)])
    found = {}
    for jobs in (1, 2):
        folder = DATA / f"run-{jobs}"
        shutil.rmtree(folder, ignore_errors=True)
        _run_python(["-m", "spanscore", "run", str(data), "-o", str(folder), "--jobs", str(jobs), "-q"])
        seconds = json.loads((folder / "run.json").read_text())["seconds"]
        found[f"detection by {jobs}"] = seconds["detection"]
        found[f"after {jobs}"] = seconds["scoring"] + seconds["writing"]
        found[f"report {jobs}"] = seconds["report"]
    return found


def end_to_end(gold: Path, pred: Path) -> dict[str, float]:
    """From two files to results, in chunks; and the limit."""
    score = lambda: score_chunks(read_chunks(gold), read_chunks(pred), MEASURES)  # noqa: E731
    return best({"spanscore": score, "msgspec": lambda: decode_alone((gold, pred))}, rounds=5)


def main() -> None:
    """Run everything, print a table, and write results.json and results.md."""
    gold_path, pred_path = write(DATA, DOCUMENTS)
    bare_path = DATA / f"bare-{gold_path.name}"
    if not bare_path.exists():
        with gold_path.open() as lines, bare_path.open("w") as file:
            for line in lines:
                record = json.loads(line)
                file.write(json.dumps({"id": record["id"], "spans": record["spans"]}) + "\n")
    rows: list[dict[str, Any]] = []

    def row(what: str, ours: float, theirs: float, peer: str, spans: int | None, aim: str) -> None:
        faster = aim.startswith("at least")
        ratio = theirs / ours if faster else ours / theirs
        rate = None if spans is None else spans / ours
        rows.append(
            {
                "what": what,
                "seconds": ours,
                "peer": peer,
                "peer_seconds": theirs,
                "ratio": ratio,
                "aim": aim,
                "spans_per_second": rate,
            }
        )
        print(f"{what}: {ours:.3f} s; {peer}: {theirs:.3f} s; ratio {ratio:.3g} ({aim})", flush=True)

    times = start_up()
    row("spanscore --help", times["help"], times["click"], "import click", None, "at most 3")
    gold, pred = ss.read(gold_path), ss.read(pred_path)
    bare = replace(gold, text=None)
    spans = len(gold.start) + len(pred.start)
    in_memory = best(
        {"bare": lambda: ss.score(bare, pred, MEASURES), "text": lambda: ss.score(gold, pred, MEASURES)}, rounds=5
    )
    theirs = best({"nervaluate": nervaluate(gold, pred)}, rounds=1)["nervaluate"]
    row("exact and iou in memory, spans alone", in_memory["bare"], theirs, "nervaluate", spans, "at least 200")
    row("exact and iou in memory, with text", in_memory["text"], theirs, "nervaluate", spans, "at least 100")
    peers = json.loads(
        subprocess.run(
            [
                str(HERE.parent / ".venv-parity" / "bin" / "python"),
                str(HERE / "peers.py"),
                str(gold_path),
                str(pred_path),
            ],
            capture_output=True,
            check=True,
        ).stdout.splitlines()[-1]
    )
    for what, path in (("spans alone", bare_path), ("gold with text", gold_path)):
        times = end_to_end(path, pred_path)
        if path is gold_path:
            for peer, aim in PEERS.items():
                same = spans / peers[peer]["spans_per_second"]
                row(
                    "exact and iou from JSON Lines, gold with text",
                    times["spanscore"],
                    same,
                    peer,
                    spans,
                    f"at least {aim}",
                )
        row(
            f"exact and iou from JSON Lines, {what}",
            times["spanscore"],
            times["msgspec"],
            "msgspec decodes both files",
            spans,
            "at most 1.5",
        )

    alone = best(
        {
            "iou": lambda: score_chunks(read_chunks(gold_path), read_chunks(pred_path), "iou"),
            "all": lambda: score_chunks(read_chunks(gold_path), read_chunks(pred_path), SEED_FAMILIES),
            "iou in memory": lambda: score_all(gold, {"pred": pred}, "iou", by_document=False),
            "all in memory": lambda: score_all(gold, {"pred": pred}, SEED_FAMILIES, by_document=False),
        },
        rounds=3,
    )
    what = f"{len(SEED_FAMILIES)} measures of the seed families at once"
    row(f"{what}, from JSON Lines with text", alone["all"], alone["iou"], "iou alone, the same way", spans, "at most 4")
    row(f"{what}, in memory with text", alone["all in memory"], alone["iou in memory"], "iou alone", spans, "no aim")
    times = best(clusterings(), rounds=3)
    row(
        f"{len(CLUSTERINGS)} clustering measures, 10,000 mentions in 1,000 clusters",
        times["spanscore"],
        times["neleval"],
        "neleval with scipy",
        20_000,
        "at least 5",
    )

    grown = subprocess.run([sys.executable, str(HERE / "scale.py"), str(DATA)], capture_output=True, check=True)
    growth = {name: scale.Run(**run) for name, run in json.loads(grown.stdout.splitlines()[-1]).items()}
    idle = growth["nothing"].seconds
    at = {name: run.seconds - idle for name, run in growth.items()}
    print(*growth.items(), sep="\n", flush=True)
    million = growth["1000000 documents"]
    row(
        "1,000,000 documents, a span",
        1e6 * at["1000000 documents"] / 16e6,
        1e6 * at["10000 documents"] / 16e4,
        "of 10,000 documents (millionths of a second)",
        None,
        "at most 1.3",
    )
    row(
        "100,000 spans in one document, a span",
        1e6 * at["100000 spans in a document"] / 2e5,
        1e6 * at["10 spans in a document"] / 2e5,
        "10 in each (millionths of a second)",
        None,
        "at most 3",
    )
    row(
        "1,000,000 documents, --jobs 2",
        growth["2 processes"].seconds,
        million.seconds,
        "one process",
        16_000_000,
        "at least 1.6",
    )
    row(
        "1,000,000 documents from Parquet",
        growth["parquet"].seconds,
        million.seconds,
        "from JSON Lines",
        16_000_000,
        "at least 2.5",
    )
    row("1,000,000 documents in the same order, MB", million.megabytes, 200, "MB", None, "at most 1")
    row("1,000,000 documents in another order, MB", growth["another order"].megabytes, 1500, "MB", None, "at most 1")

    sure = uncertainty(gold, pred)
    row(
        "1,000 resamples, overall and for 20 types, of 100,000 documents' counts",
        sure["bootstrap"],
        alone["iou"],
        "scoring the same by iou from JSON Lines",
        None,
        "at most 1",
    )
    row(
        "10,000 permutations of two systems, for P, R and F",
        sure["permutations"],
        alone["iou"],
        "scoring one of them by iou from JSON Lines",
        None,
        "at most 1",
    )
    scored = replace(pred, score=np.random.default_rng(0).random(len(pred.start)).round(3))
    swept = best({"sweep": lambda: sweep(gold, {"pred": scored}, "iou")}, rounds=2)["sweep"]
    row(
        "iou at all 1,001 thresholds, overall and by type, in memory with text",
        swept,
        alone["iou in memory"],
        "iou once",
        spans,
        "no aim",
    )
    few, many = (pages.measure(gold.block(0, number), number // 5, DATA) for number in (DOCUMENTS // 10, DOCUMENTS))
    print(few, many, sep="\n", flush=True)
    row(
        f"the report of {many.documents:,} documents ({many.shown:,} shown, {many.megabytes:.1f} MB) loads in Chromium, "
        f"per 1,000 documents shown ({many.blank} of 60 frames blank in scrolling)",
        1000 * many.loading / many.shown,
        1000 * few.loading / few.shown,
        f"that of {few.documents:,} documents ({few.shown:,} shown, {few.megabytes:.1f} MB)",
        None,
        "at most 4",
    )
    row(
        f"writing that report of {many.documents:,} documents",
        many.writing,
        alone["iou"],
        "scoring by iou",
        None,
        "no aim",
    )
    times = pipeline()
    row(
        f"presidio over {PIPELINE:,} made-up documents, --jobs 2",
        times["detection by 2"],
        times["detection by 1"],
        "--jobs 1 (detection alone)",
        None,
        "at least 1.6",
    )
    row(
        "aligning, scoring and writing of that run, without its report",
        times["after 1"],
        times["detection by 1"],
        "its detection, --jobs 1",
        None,
        "at most 0.02",
    )
    row("the report of that run", times["report 1"], times["detection by 1"], "its detection, --jobs 1", None, "no aim")

    about = {
        "date": date.today().isoformat(),
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "versions": {
            name: version(name)
            for name in ("spanscore", "numpy", "msgspec", "nervaluate", "neleval", "scipy", "presidio-analyzer")
        },
        "documents": DOCUMENTS,
        "spans": spans,
    }
    (HERE / "results.json").write_text(json.dumps({**about, "rows": rows}, indent=2) + "\n")
    (HERE / "results.md").write_text(markdown(about, rows))


def markdown(about: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    """The same as a table for the documentation."""
    used = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    lines = [
        f"{about['documents']:,} documents, {about['spans']:,} spans in all. {about['date']}, {about['machine']}; {used}.",
        "",
        "| what | seconds | million spans/s | compared with | seconds | ratio | aim |",
        "| :--- | ---: | ---: | :--- | ---: | ---: | :--- |",
    ]
    for one in rows:
        rate = "" if one["spans_per_second"] is None else f"{one['spans_per_second'] / 1e6:.1f}"
        lines.append(
            f"| {one['what']} | {one['seconds']:.3f} | {rate} | {one['peer']} | {one['peer_seconds']:.3f} | {one['ratio']:.3g} | {one['aim']} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
