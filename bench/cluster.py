"""Spark on this machine's two cores against the local engine with two processes, on the same Parquet files:
`.venv-spark/bin/python bench/cluster.py GOLD PRED` prints seconds as JSON. Starting Spark is not counted.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

import spanscore as ss
from spanscore.engine import Inputs, Plan, evaluate
from spanscore.engine.file_ranges import RangeCounter
from spanscore.engine.partial import assemble
from spanscore.engine.spark import session
from spanscore.result.files import to_json


def main() -> None:
    """Time all ways, and check that their results are the same."""
    gold, pred = sys.argv[1:3]
    plan, inputs = Plan.of(["iou", "exact"]), Inputs.of(gold, {"pred": pred})
    spark = session("local[2]", spark_driver_memory="4g")

    def local() -> ss.Result:
        with RangeCounter(plan, inputs, jobs=2) as counter:
            part = counter.count("pred", inputs.systems["pred"])
        assert part is not None, "the files were not scored by ranges"
        return assemble(plan, {"pred": part})

    def files() -> ss.Result:
        return evaluate(plan, inputs, spark="local[2]")

    def frames() -> ss.Result:
        return ss.score(spark.read.parquet(gold), spark.read.parquet(pred), plan.measures)

    ways: dict[str, Callable[[], ss.Result]] = {"local": local, "files": files, "frames": frames}
    seconds: dict[str, float] = {}
    said: dict[str, object] = {}
    for _ in range(2):
        for name, way in ways.items():
            began = time.perf_counter()
            result = way()
            seconds[name] = min(seconds.get(name, float("inf")), time.perf_counter() - began)
            said[name] = json.loads(to_json(result))["results"]
    assert said["files"] == said["local"] == said["frames"], "the numbers differ"
    spark.stop()
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
