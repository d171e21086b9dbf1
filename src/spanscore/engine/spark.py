"""Scoring on a Spark cluster: the same counting as on one machine, of documents wherever they are.

DataFrames are grouped by a hash of the documents' ids, gold and predictions together, and each group is counted by the
code that counts a chunk of a file. Parquet files with the same documents in the same order need no grouping: each task
reads its own rows of both.
"""

from __future__ import annotations

import os
import pickle
import sys
from typing import TYPE_CHECKING, Any

from spanscore.align import LabelMap
from spanscore.corpus.arrow import from_table, pyarrow
from spanscore.engine.local import DEFAULT_MEASURES
from spanscore.engine.parts import Part, Plan, choose, result_of
from spanscore.engine.ranges import count_range, merge_ranges, plan_ranges
from spanscore.errors import InputError, MissingExtraError, SpanscoreError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from spanscore.align.pairing import Extra
    from spanscore.align.resolve import Resolve
    from spanscore.engine.ranges import File, Task
    from spanscore.measures import Measure
    from spanscore.result import Result
    from spanscore.stats import Bootstrap

COLUMNS = ("id", "text", "spans", "tokens", "meta")
GROUPS = 8
"""Groups of documents for each core."""


def session(master: str | None = None, **settings: str) -> Any:
    """A Spark session that says little; on the cluster at this address, or as the environment says."""
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
            f"Spark cannot be started ({_first(error)}); it needs Java 17 or newer.", master or ""
        ) from None
    found.sparkContext.setLogLevel("ERROR")
    return found


def score(
    gold: Any,
    pred: Any,
    measures: str | Measure | Sequence[str | Measure] = DEFAULT_MEASURES,
    *,
    beta: float = 1.0,
    label_map: LabelMap | Mapping[str, str | None] | None = None,
    extra_documents: Extra = "refuse",
    resolve: Resolve = "none",
    ci: Bootstrap | None = None,
    system: str = "pred",
    groups: int | None = None,
) -> Result:
    """Score DataFrames of documents, with the columns of the own format in Parquet, as `spanscore.score` does.

    Documents' own counts are kept where intervals are asked for (`ci`).
    """
    mapping = label_map if isinstance(label_map, LabelMap) else LabelMap(label_map or {})
    plan = Plan(choose(measures, beta), beta, mapping, extra_documents, resolve, ci=ci)
    refuse_whole(plan)
    return result_of(plan, {system: count(plan, gold, pred, system, groups)})


def refuse_whole(plan: Plan) -> None:
    """Groups of documents cannot be counted by themselves for every measure."""
    if not plan.in_parts:
        raise UsageError(
            "clusterings, and intervals over clusters of documents, need all documents in one place; score them with "
            "the local engine."
        )


def count(plan: Plan, gold: Any, pred: Any, system: str, groups: int | None = None) -> Part:
    """Count DataFrames, group by group."""
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
    return Part.merged([_said(row.part) for row in rows])


def score_files(
    plan: Plan, gold: File, systems: Sequence[tuple[str, File]], master: str | None = None, tasks: int | None = None
) -> Result:
    """Score Parquet files on the cluster, which must be able to read them under these names."""
    refuse_whole(plan)
    spark = session(master)
    number = tasks or GROUPS * spark.sparkContext.defaultParallelism
    parts = {name: _count_files(spark, plan, gold, pred, name, number) for name, pred in systems}
    return result_of(plan, parts)


def _count_files(spark: Any, plan: Plan, gold: File, pred: File, system: str, number: int) -> Part:
    """Rows of both files in the same order, task by task; files in another order, by groups of documents."""
    ranges = plan_ranges(gold, pred, number)
    if not ranges:
        return count(plan, spark.read.parquet(gold[0]), spark.read.parquet(pred[0]), system)

    def counted(task: Task) -> bytes:
        try:
            return pickle.dumps(count_range(plan, task, system))
        except SpanscoreError as error:
            return pickle.dumps(error)

    found = spark.sparkContext.parallelize(ranges, len(ranges)).map(counted).collect()
    said = [pickle.loads(one) for one in found]  # noqa: S301 - our own workers wrote it
    merged = None if any(isinstance(one, SpanscoreError) for one in said) else merge_ranges(said, gold, pred)
    if merged is not None:
        return merged
    return count(plan, spark.read.parquet(gold[0]), spark.read.parquet(pred[0]), system)


def detect(frame: Any, detector: str, *, language: str = "en", **options: Any) -> Any:
    """A DataFrame of predictions: id and spans, by a detector that each partition makes for itself.

    A document on which the detector fails stops the job.
    """
    from spanscore.corpus.records import Document
    from spanscore.detectors import DetectorSpec, Failure
    from spanscore.detectors.detector import DetectorError
    from spanscore.errors import printable

    pa = pyarrow("the Spark engine")
    spec = DetectorSpec(detector, options)
    spec.kind()
    span = pa.struct([("start", pa.int32()), ("end", pa.int32()), ("label", pa.string()), ("score", pa.float64())])

    def found(batches: Iterator[Any]) -> Iterator[Any]:
        made = spec.make()
        try:
            for batch in batches:
                ids, texts = batch.column("id").to_pylist(), batch.column("text").to_pylist()
                documents = [Document(id=str(name), text=text, spans=[]) for name, text in zip(ids, texts, strict=True)]
                listed = []
                for document, outcome in zip(documents, made(documents, language), strict=True):
                    if isinstance(outcome, Failure):
                        raise DetectorError(
                            f'document "{printable(str(document.id))}": the detector failed: {outcome.why}.'
                        )
                    listed.append([(one.start, one.end, one.label, one.score) for one in outcome])
                names = pa.array([str(name) for name in ids], pa.string())
                yield pa.RecordBatch.from_arrays([names, pa.array(listed, pa.list_(span))], ["id", "spans"])
        finally:
            made.close()

    kind = "id string, spans array<struct<start: int, end: int, label: string, score: double>>"
    return frame.select("id", "text").mapInArrow(found, kind)


def _count_tables(plan: Plan, ours: Any, theirs: Any, system: str) -> Part | SpanscoreError:
    """Count a group of documents; what is wrong with them is an answer too."""
    try:
        gold, pred = from_table(ours, where="gold"), from_table(theirs, where=system)
        return Part.of(plan, gold, pred, system).without_checks()
    except SpanscoreError as error:
        return error


def _said(data: bytes) -> Part:
    part = pickle.loads(data)  # noqa: S301 - our own workers wrote it
    if isinstance(part, SpanscoreError):
        raise part
    assert isinstance(part, Part)
    return part


def _first(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0].rstrip(".")[:200]
