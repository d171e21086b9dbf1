"""Scoring on a Spark cluster: the same counting as on one machine, on documents wherever they are.

DataFrames are grouped by a hash of the documents' ids, gold and predictions together, and each group is counted by the
code that counts a chunk of a file. Parquet files with the same documents in the same order need no grouping: each task
reads its own rows of both.
"""

from __future__ import annotations

import os
import pickle
import sys
from typing import TYPE_CHECKING, Any

from spanscore.corpus.arrow import from_table, pyarrow
from spanscore.engine.file_ranges import count_range, merge_ranges, plan_ranges, with_notes
from spanscore.engine.partial import PartialResult
from spanscore.errors import InputError, MissingExtraError, SpanscoreError, UsageError, printable

if TYPE_CHECKING:
    from spanscore.engine.file_ranges import RangePair
    from spanscore.engine.inputs import Input, Inputs
    from spanscore.engine.plan import Plan

COLUMNS = ("id", "text", "spans", "tokens", "meta")
GROUPS = 8
"""Groups of documents per core."""


def session(master: str | None = None, **settings: str) -> Any:
    """Return a quiet Spark session on the cluster at this address, or as configured by the environment."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtraError("the Spark engine", "spark") from None
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("spanscore").config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "ERROR")
    for name, value in settings.items():
        builder = builder.config(name.replace("_", "."), value)
    try:
        found = (builder if master is None else builder.master(master)).getOrCreate()
    except Exception as error:
        raise InputError(
            f"cannot start Spark ({_first_line(error)}); it needs Java 17 or newer.", master or ""
        ) from None
    found.sparkContext.setLogLevel("ERROR")
    return found


def count_on_spark(plan: Plan, inputs: Inputs, master: str | None = None) -> dict[str, PartialResult]:
    """Count DataFrames, or Parquet files that the cluster can read under these names."""
    if plan.needs_spans:
        raise UsageError(
            "errors, slices, clusterings and clustered intervals need all documents in one place; score them without "
            "Spark."
        )
    frames = [one.is_frame for one in inputs.all]
    if all(frames):
        return {name: count_frames(plan, inputs.gold.data, one.data, name) for name, one in inputs.systems.items()}
    if any(frames):
        raise UsageError("score DataFrames with DataFrames, or files with files.")
    for one in inputs.all:
        if one.path is None or not one.path.endswith(".parquet"):
            shown = one.path or type(one.data).__name__
            raise UsageError(f"'{printable(shown)}' is not a *.parquet file, which Spark reads; see spanscore convert.")
    spark = session(master or None)
    number = GROUPS * spark.sparkContext.defaultParallelism
    return {name: _count_files(spark, plan, inputs.gold, one, name, number) for name, one in inputs.systems.items()}


def count_frames(plan: Plan, gold: Any, pred: Any, system: str, groups: int | None = None) -> PartialResult:
    """Count DataFrames, group by group; their columns are those of the native format in Parquet."""
    from pyspark.sql import functions

    pa = pyarrow("the Spark engine")
    spark = gold.sparkSession
    number = groups or GROUPS * spark.sparkContext.defaultParallelism
    sides = []
    for frame, name in ((gold, "gold"), (pred, system)):
        if not {"id", "spans"} <= set(frame.columns):
            raise InputError("the DataFrame needs the columns id and spans.", name)
        kept = frame.select(*(column for column in COLUMNS if column in frame.columns))
        group = functions.pmod(functions.xxhash64(functions.col("id").cast("string")), functions.lit(number))
        sides.append(kept.withColumn("group", group).groupBy("group"))

    def counted(ours: Any, theirs: Any) -> Any:
        return pa.table({"part": [pickle.dumps(_count_tables(plan, ours, theirs, system))]})

    rows = sides[0].cogroup(sides[1]).applyInArrow(counted, "part binary").collect()
    if not rows:
        raise InputError("there is no document to score.")
    return PartialResult.merged([_loaded(row.part) for row in rows])


def labels_of(frame: Any) -> set[str]:
    """Return the labels that spans of a DataFrame have."""
    from pyspark.sql import functions

    rows = frame.select(functions.explode("spans.label").alias("label")).distinct().collect()
    return {row.label for row in rows if row.label is not None}


def _count_files(spark: Any, plan: Plan, gold: Input, pred: Input, system: str, number: int) -> PartialResult:
    """Count rows of both files task by task; files in different order, by groups of documents."""
    tasks = plan_ranges(gold, pred, number)

    def counted(task: RangePair) -> bytes:
        try:
            return pickle.dumps(count_range(plan, system, task))
        except SpanscoreError as error:
            return pickle.dumps(error)

    if tasks:
        found = spark.sparkContext.parallelize(tasks, len(tasks)).map(counted).collect()
        parts = [pickle.loads(one) for one in found]  # noqa: S301 - our own workers wrote it
        failed = any(isinstance(one, SpanscoreError) for one in parts)
        merged = None if failed else merge_ranges(parts, tasks[0])
        if merged is not None:
            return merged
    found = count_frames(plan, spark.read.parquet(gold.path), spark.read.parquet(pred.path), system)
    return with_notes(found, next(gold.chunks()), next(pred.chunks()))


def _count_tables(plan: Plan, ours: Any, theirs: Any, system: str) -> PartialResult | SpanscoreError:
    """Count a group of documents; an error is returned, not raised."""
    try:
        gold, pred = from_table(ours, where="gold"), from_table(theirs, where=system)
        return PartialResult.of(plan, gold, pred, system).without_marks()
    except SpanscoreError as error:
        return error


def _loaded(data: bytes) -> PartialResult:
    part = pickle.loads(data)  # noqa: S301 - our own workers wrote it
    if isinstance(part, SpanscoreError):
        raise part
    assert isinstance(part, PartialResult)
    return part


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0].rstrip(".")[:200]
