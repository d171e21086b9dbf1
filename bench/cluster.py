"""Spark on this machine's two cores against the local engine with two processes, on the same Parquet files:
`.venv-spark/bin/python bench/cluster.py GOLD PRED` prints seconds as JSON. Starting Spark is not counted.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

from spanscore.engine import spark
from spanscore.engine.parts import Plan, choose, result_of
from spanscore.engine.processes import Workers
from spanscore.engine.ranges import File, count_ranges
from spanscore.result import Result
from spanscore.result.files import to_json


def main() -> None:
    """Time both, and see that they say the same."""
    gold: File = (sys.argv[1], None)
    pred: File = (sys.argv[2], None)
    plan = Plan(choose(["iou", "exact"], 1.0))
    session = spark.session("local[2]", spark_driver_memory="4g")

    def local() -> Result:
        with Workers(1) as workers:
            part = count_ranges(plan, gold, pred, "pred", workers)
        assert part is not None
        return result_of(plan, {"pred": part})

    def files() -> Result:
        return spark.score_files(plan, gold, [("pred", pred)], "local[2]")

    def frames() -> Result:
        return spark.score(session.read.parquet(gold[0]), session.read.parquet(pred[0]), plan.measures)

    ways: dict[str, Callable[[], Result]] = {"local": local, "files": files, "frames": frames}
    seconds: dict[str, float] = {}
    said: dict[str, object] = {}
    for _ in range(2):
        for name, way in ways.items():
            began = time.perf_counter()
            result = way()
            seconds[name] = min(seconds.get(name, float("inf")), time.perf_counter() - began)
            said[name] = json.loads(to_json(result))["results"]
    assert said["files"] == said["local"] == said["frames"], "the numbers differ"
    session.stop()
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
