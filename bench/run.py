"""The benchmark: spanscore against its peers and against the limit, on the same data, in one run.

Ratios are what counts: times differ from machine to machine. Every figure is the best of several runs; what is
compared takes turns, so that a busy moment of the machine affects all of it alike.
"""

from __future__ import annotations

import collections
import collections.abc
import json
import os
import platform
import random
import re
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

import dense
import names
import pages
import readers
import scale
import spanscore as ss
from corpora import write
from spanscore.analysis.compare import statistic_of
from spanscore.analysis.sweep import sweep
from spanscore.corpus.records import Document
from spanscore.stats import Bootstrap, permutation_p
from tables import Table, costs, markdown

HERE = Path(__file__).parent
PARITY, SPARK = (HERE.parent / name / "bin" / "python" for name in (".venv-parity", ".venv-spark"))
DATA = HERE / "data"
DOCUMENTS = 100_000
PIPELINE = 20_000
MEASURES = ("exact", "iou")
SEED_FAMILIES = (
    *("iou", "iou.pii", "presidio(skip=none)", "presidio.pii(skip=none)"),
    *("sixway.strict", "sixway.flexible", "sixway.partial"),
    *("sets::span", "sets::span+type"),
    *("overlap-maxmax::span", "overlap-maxsum::span", "overlap-summax::span", "overlap-sumsum::span"),
    *("sandbox.instance", "sandbox.instance-relax", "sandbox.token(key=position)", "sandbox.subtype", "sandbox.hipaa"),
)
"""Measures of the first five documents, without skip words and with tokens by position, as in all earlier runs."""
PEERS = {"presidio-evaluator": 1000, "nervaluate": 40, "seqeval": 40, "neleval": 20, "spaCy's Scorer": 4}
"""How many times the peers' spans per second are aimed at; theirs are in memory, but for neleval's lines."""
CLUSTERINGS = ("muc", "b_cubed", "entity_ceaf", "mention_ceaf", "pairwise", "pairwise_negative")


def best(actions: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the shortest time of each action; the actions take turns."""
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
    """Return the seconds of `--help` and of scoring two small files, and of importing what they need."""
    calls = {
        "help": ["-m", "spanscore", "--help"],
        "click": ["-c", "import click"],
        "score": ["-m", "spanscore", "score", *map(str, write(DATA, 1, 1))],
        "imports": ["-c", "import numpy, click, msgspec"],
    }
    actions: dict[str, Callable[[], object]] = {name: partial(_run_python, call) for name, call in calls.items()}
    return best(actions, rounds=15)


def _run_python(call: list[str]) -> None:
    """Run Python with compiled modules, as it runs for a user."""
    subprocess.run([sys.executable, *call], capture_output=True, check=True, env=scale.compiled())


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
    setattr(collections, "Sequence", collections.abc.Sequence)  # noqa: B010 - neleval expects these where they used to be
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
    spelling = [f"{name}::span" for name in CLUSTERINGS]
    return {
        "spanscore": lambda: ss.score(ours[0], ours[1], CLUSTERINGS),
        "neleval": lambda: Evaluate(theirs[1], theirs[0], spelling)(),
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

    def resample() -> None:
        scores.__dict__.pop("_known_intervals", None)  # intervals are computed once for all outputs
        for label in (None, *scores.by_type):
            scores.interval(Bootstrap(), label)

    return best({"bootstrap": resample, "permutations": permute}, rounds=3)


def pipeline() -> dict[str, float]:
    """Presidio over made-up documents: seconds of detection by one and two processes, and of all that comes after."""
    data = DATA / "pipeline.jsonl"
    _run_python(["-m", "spanscore", "generate", "-n", str(PIPELINE), "--seed", "1", "-o", str(data)])
    found = {}
    for jobs in (1, 2):
        folder = DATA / f"run-{jobs}"
        shutil.rmtree(folder, ignore_errors=True)
        detector = "presidio(model=blank)"  # as in all earlier runs
        call = ["run", str(data), "--detector", detector, "-o", str(folder), "--jobs", str(jobs), "-q"]
        _run_python(["-m", "spanscore", *call])
        seconds = json.loads((folder / "run.json").read_text())["seconds"]
        found[f"detection by {jobs}"] = seconds["detection"]
        found[f"after {jobs}"] = seconds["scoring"] + seconds["writing"]
        found[f"report {jobs}"] = seconds["report"]
    return found


def read_alone(paths: Sequence[Path]) -> None:
    """The absolute limit: all bytes are read, and nothing is done with them."""
    for path in paths:
        with path.open("rb") as file:
            while file.read(1 << 22):
                pass


def end_to_end(gold: Path, pred: Path) -> dict[str, float]:
    """From two files to results, in chunks; from their twins in Parquet; and the limits."""
    twins = scale.parquet(gold), scale.parquet(pred)
    actions: dict[str, Callable[[], object]] = {
        "spanscore": lambda: ss.score(gold, pred, MEASURES, keep_spans=False),
        "msgspec": lambda: decode_alone((gold, pred)),
        "read": lambda: read_alone((gold, pred)),
        "parquet": lambda: ss.score(*twins, MEASURES, keep_spans=False),
    }
    return best(actions, rounds=15)


def without_text(path: Path) -> Path:
    """The same documents without their texts."""
    bare = path.with_name(f"bare-{path.name}")
    if not bare.exists():
        with path.open() as lines, bare.open("w") as file:
            for line in lines:
                record = json.loads(line)
                file.write(json.dumps({"id": record["id"], "spans": record["spans"]}) + "\n")
    return bare


def elsewhere(python: Path, script: str, *arguments: Path) -> Any:
    """Run a script in another environment and return the JSON that it prints."""
    call = [str(python), str(HERE / script), *map(str, arguments)]
    return json.loads(subprocess.run(call, capture_output=True, check=True).stdout.splitlines()[-1])


class Bench:
    """All measurements, on the same documents."""

    def __init__(self) -> None:
        self.table = Table()
        self.gold_path, self.pred_path = write(DATA, DOCUMENTS)
        self.gold, self.pred = ss.read(self.gold_path), ss.read(self.pred_path)
        self.spans = len(self.gold.start) + len(self.pred.start)
        self.peers: dict[str, Any] = {}
        self.growth: list[dict[str, Any]] = []
        self.worst: list[dict[str, Any]] = []
        self.many: list[dict[str, Any]] = []

    def starting(self) -> None:
        """The command line with little or nothing to do."""
        times = start_up()
        self.table.add("spanscore --help", times["help"], "import click", times["click"], "at most 3")
        what, imports = "start-up: spanscore score of two small files", "import numpy, click, msgspec"
        self.table.add(what, times["score"], imports, times["imports"], "at most 2.2")

    def in_memory(self) -> None:
        """Corpora that are read already."""
        gold, pred, bare = self.gold, self.pred, replace(self.gold, text=None)
        ours = best(
            {"alone": lambda: ss.score(bare, pred, MEASURES), "text": lambda: ss.score(gold, pred, MEASURES)}, rounds=5
        )
        theirs = best({"nervaluate": nervaluate(gold, pred)}, rounds=1)["nervaluate"]
        for what, name, aim in (("spans alone", "alone", "at least 200"), ("with text", "text", "at least 100")):
            self.table.add(f"exact and iou in memory, {what}", ours[name], "nervaluate", theirs, aim, spans=self.spans)

    def from_files(self) -> None:
        """End to end, against peers and limits."""
        self.peers = elsewhere(PARITY, "peers.py", self.gold_path, self.pred_path)
        for what, path in (("spans alone", without_text(self.gold_path)), ("gold with text", self.gold_path)):
            times = end_to_end(path, self.pred_path)
            ours, named = times["spanscore"], f"exact and iou from JSON Lines, {what}"
            if path is self.gold_path:
                for peer, aim in PEERS.items():
                    same = self.spans / self.peers["rates"][peer]["spans_per_second"]
                    self.table.add(named, ours, peer, same, f"at least {aim}", spans=self.spans)
            self.table.add(named, ours, "msgspec decodes both files", times["msgspec"], "at most 1.5", spans=self.spans)
            self.table.add(named, ours, "both files read, nothing more", times["read"], "no aim", spans=self.spans)
            self.table.add(
                f"exact and iou from Parquet, {what}",
                times["parquet"],
                "from JSON Lines",
                ours,
                "at least 2.5",
                spans=self.spans,
            )

    def tagged(self) -> None:
        """seqeval's own function, on lists of tags in memory."""
        times = elsewhere(PARITY, "tagged.py", self.gold_path, self.pred_path)
        what = f"compat.seqeval.f1_score, {times['sentences']:,} sentences with {times['tags']:,} tags in memory"
        self.table.add(what, times["spanscore"], "seqeval's f1_score", times["seqeval"], "at least 10")

    def readers(self) -> None:
        """Every format, against decoding its file alone."""
        folder = DATA / f"readers-{DOCUMENTS}"
        folder.mkdir(parents=True, exist_ok=True)
        for one in readers.readings(self.gold, folder):
            what = f"reading {DOCUMENTS:,} documents as {one.name} ({one.megabytes:.0f} MB, {one.rate:.0f} MB/s)"
            self.table.add(what, one.seconds, one.alone_by, one.alone, "no aim", spans=len(self.gold.start))

    def families(self) -> None:
        """Many measures at once."""
        paths = self.gold_path, self.pred_path
        times = best(
            {
                "iou": lambda: ss.score(*paths, "iou", keep_spans=False),
                "all": lambda: ss.score(*paths, SEED_FAMILIES, keep_spans=False),
                "iou in memory": lambda: ss.score(self.gold, self.pred, "iou", keep_spans=False),
                "all in memory": lambda: ss.score(self.gold, self.pred, SEED_FAMILIES, keep_spans=False),
            },
            rounds=7,
        )
        self.iou, self.iou_in_memory = times["iou"], times["iou in memory"]
        what = f"{len(SEED_FAMILIES)} measures of the seed families at once"
        for where, all_, alone, peer, aim in (
            ("from JSON Lines with text", "all", "iou", "iou alone, the same way", "at most 4"),
            ("in memory with text", "all in memory", "iou in memory", "iou alone", "no aim"),
        ):
            self.table.add(f"{what}, {where}", times[all_], peer, times[alone], aim, spans=self.spans)
        leaks = ("leak", "leak.entity", "leak.document", "leak.char")
        measures = {"iou": ["iou"], "leak": ["leak"], ", ".join(leaks): list(leaks)}
        inputs: dict[str, Any] = {"from JSON Lines with text": paths, "in memory with text": (self.gold, self.pred)}
        for where, (gold, pred) in inputs.items():
            calls = {name: partial(ss.score, gold, pred, some, keep_spans=False) for name, some in measures.items()}
            times = best({**calls}, rounds=9)
            for name, aim in zip(list(measures)[1:], ("at most 2", "at most 3"), strict=True):
                self.table.add(f"{name}, {where}", times[name], "iou alone", times["iou"], aim, spans=self.spans)
        times = best(clusterings(), rounds=3)
        what = f"{len(CLUSTERINGS)} clustering measures, 10,000 mentions in 1,000 clusters"
        self.table.add(what, times["spanscore"], "neleval with scipy", times["neleval"], "at least 5", spans=20_000)

    def growing(self) -> None:
        """From thousands of documents to a million, and from few spans in a document to many, each in its own process."""
        runs = {name: scale.Run(**run) for name, run in elsewhere(Path(sys.executable), "scale.py", DATA).items()}
        idle = runs["nothing"].seconds
        for name, run in runs.items():
            if run.spans:
                work = run.seconds - idle
                self.growth.append(
                    {
                        "what": name,
                        "spans": run.spans,
                        "seconds": run.seconds,
                        "microseconds_per_span": 1e6 * work / run.spans,
                        "megabytes": run.megabytes,
                    }
                )
                print(self.growth[-1], flush=True)
        each = {one["what"]: one["microseconds_per_span"] for one in self.growth}
        for what, large, small, aim in (
            ("1,000,000 documents, a span", "1,000,000 documents", "10,000 documents", "at most 1.3"),
            (
                "100,000 spans in one document, a span",
                "100,000 spans in a document",
                "10 spans in a document",
                "at most 3",
            ),
        ):
            self.table.add(what, each[large], small, each[small], aim, unit="µs")
        million = runs["1,000,000 documents"]
        for what, other, aim in (
            ("--jobs 2", "1,000,000 documents, --jobs 2", "at least 1.6"),
            ("from Parquet", "1,000,000 documents from Parquet", "no aim"),
        ):
            self.table.add(
                f"1,000,000 documents with text, {what}",
                runs[other].seconds,
                "one process from JSON Lines",
                million.seconds,
                aim,
                spans=million.spans,
            )
        for what, name, limit in (
            ("in the same order", "1,000,000 documents", 200),
            ("in another order", "1,000,000 documents, predictions in another order", 1500),
        ):
            self.table.add(
                f"1,000,000 documents {what}, memory", runs[name].megabytes, "the aim", limit, "at most 1", unit="MB"
            )

    def worst_cases(self) -> None:
        """Nested and crossing spans, and many labels in one place, by every measure."""
        self.worst = elsewhere(Path(sys.executable), "dense.py")
        print(*self.worst, sep="\n", flush=True)
        small, large = (
            [
                cost
                for one in self.worst
                if one["spans"] == spans
                for cost in one["cases"].values()
                if not cost["refused"]
            ]
            for spans in dense.SIZES
        )
        what = f"the slowest measure on {dense.SIZES[0]:,} nested or crossing spans on each side"
        self.table.add(what, max(cost["seconds"] for cost in small), "the aim", 1.0, "at most 1")
        what = f"the most memory that a measure takes on {dense.SIZES[1]:,} such spans on each side"
        self.table.add(what, max(cost["megabytes"] for cost in large), "the aim", 1000, "at most 1", unit="MB")

    def many_names(self) -> None:
        """Many labels and many systems."""
        self.many = elsewhere(Path(sys.executable), "many.py")  # a child's peak memory includes that of a large parent
        print(*self.many, sep="\n", flush=True)

    def cluster(self) -> None:
        """Spark."""
        paths = (scale.parquet(path) for path in write(DATA, 1_000_000))
        times = elsewhere(SPARK, "cluster.py", *paths)
        for what, name, aim in (("from Parquet files", "files", "at most 3"), ("from DataFrames", "frames", "no aim")):
            self.table.add(
                f"Spark on local[2], 1,000,000 documents {what}, started already",
                times[name],
                "two processes",
                times["local"],
                aim,
                spans=16_000_000,
            )

    def statistics(self) -> None:
        """Intervals, tests and thresholds."""
        sure = uncertainty(self.gold, self.pred)
        self.table.add(
            "1,000 resamples, overall and for 20 types, of 100,000 documents' counts",
            sure["bootstrap"],
            "scoring the same by iou from JSON Lines",
            self.iou,
            "at most 1",
        )
        self.table.add(
            "10,000 permutations of two systems, for P, R and F",
            sure["permutations"],
            "scoring one of them by iou from JSON Lines",
            self.iou,
            "at most 1",
        )
        scored = replace(self.pred, score=np.random.default_rng(0).random(len(self.pred.start)).round(3))
        swept = best({"sweep": lambda: sweep(self.gold, {"pred": scored}, "iou")}, rounds=2)["sweep"]
        what = "iou at all 1,001 thresholds, overall and by type, in memory with text"
        self.table.add(what, swept, "iou once", self.iou_in_memory, "no aim", spans=self.spans)

    def report(self) -> None:
        """The page, in a browser."""
        few, many = (
            pages.measure(self.gold.block(0, number), number // 5, DATA) for number in (DOCUMENTS // 10, DOCUMENTS)
        )
        print(few, many, sep="\n", flush=True)
        self.table.add(
            f"the report of {many.documents:,} documents ({many.shown:,} shown, {many.megabytes:.1f} MB) loads in Chromium, "
            f"per 1,000 documents shown ({many.blank} of 60 frames blank in scrolling)",
            1000 * many.loading / many.shown,
            f"that of {few.documents:,} documents ({few.shown:,} shown, {few.megabytes:.1f} MB)",
            1000 * few.loading / few.shown,
            "at most 4",
        )
        what = f"writing that report of {many.documents:,} documents"
        self.table.add(what, many.writing, "scoring by iou", self.iou, "no aim")

    def detection(self) -> None:
        """Presidio and what comes after it."""
        times = pipeline()
        alone = times["detection by 1"]
        self.table.add(
            f"presidio over {PIPELINE:,} made-up documents, --jobs 2",
            times["detection by 2"],
            "--jobs 1 (detection alone)",
            alone,
            "at least 1.6",
        )
        what = "aligning, scoring and writing of that run, without its report"
        self.table.add(what, times["after 1"], "its detection, --jobs 1", alone, "at most 0.02")
        self.table.add("the report of that run", times["report 1"], "its detection, --jobs 1", alone, "no aim")

    def detection_of_names(self) -> None:
        """Presidio with a model."""
        data = names.made_up()
        what = f"presidio with a model over {names.DOCUMENTS:,} made-up documents"
        found = names.batches(data)
        self.table.add(f"{what}, in batches", found["batches"], "text by text", found["text by text"], "at most 1")
        found = names.overhead(data)
        self.table.add(
            "everything else in that run", found["outside"], "its calls of Presidio", found["inside"], "at most 0.03"
        )
        found = names.jobs(data)
        self.table.add(f"{what}, --jobs 2", found["by 2"], "--jobs 1 (detection alone)", found["by 1"], "at least 1.6")


def main(chosen: Sequence[str]) -> None:
    """Run everything and write results.json and results.md; or run only the chosen parts, and renew their rows there."""
    bench = Bench()
    parts: tuple[Callable[[], None], ...] = (
        *(bench.starting, bench.in_memory, bench.from_files, bench.tagged, bench.readers, bench.families),
        *(bench.growing, bench.worst_cases, bench.many_names, bench.cluster),
        *(bench.statistics, bench.report, bench.detection, bench.detection_of_names),
    )
    if unknown := set(chosen) - {part.__name__ for part in parts}:
        sys.exit(
            f"There is no part {', '.join(sorted(unknown))}; choose from {', '.join(part.__name__ for part in parts)}."
        )
    for part in parts:
        if not chosen or part.__name__ in chosen:
            part()
    ours = ("spanscore", "numpy", "msgspec", "pyarrow", "scipy", "presidio-analyzer")
    about = {
        "date": date.today().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "versions": {name: version(name) for name in ours} | bench.peers.get("versions", {}),
        "documents": DOCUMENTS,
        "spans": bench.spans,
    }
    found = {**about, "rows": bench.table.rows, "growth": bench.growth, "worst_cases": bench.worst, "many": bench.many}
    if chosen:
        found = renewed(json.loads((HERE / "results.json").read_text()), found)
    (HERE / "results.json").write_text(json.dumps(found, indent=2) + "\n")
    tables = found["rows"], found["growth"], found["worst_cases"], found["many"]
    (HERE / "results.md").write_text(markdown({name: found[name] for name in about}, *tables))
    for path in (bench.gold_path, without_text(bench.gold_path), bench.pred_path):
        scale.parquet(path)  # the sizes of these files are part of the costs
    (HERE / "costs.md").write_text(costs(found["rows"], found["growth"], DATA, DOCUMENTS))


def renewed(before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """Return earlier results with the rows that have been measured again; others stay where they are."""

    def key(row: dict[str, Any]) -> tuple[str, str]:
        return re.sub(r" \(.*", "", row["what"]), re.sub(r" \(.*", "", row["peer"])

    new = {key(row): row for row in now["rows"]}
    rows = [new.pop(key(row), row) for row in before["rows"]]
    tables = {name: now[name] or before[name] for name in ("growth", "worst_cases", "many")}
    versions = {**before["versions"], **now["versions"]}
    return {**before, "date": now["date"], "versions": versions, **tables, "rows": [*rows, *new.values()]}


if __name__ == "__main__":
    main(sys.argv[1:])
