"""Evaluation: the one way from a plan and inputs to a result.

It decides how the work is done: on whole corpora, on chunks as they are read, by several processes, or on Spark.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from spanscore.align.documents import no_common_document, refuse_split_differently
from spanscore.arguments import checked
from spanscore.corpus import Corpus
from spanscore.corpus.allocator import keep_freed_memory
from spanscore.corpus.duplicates import DuplicateIds
from spanscore.corpus.records import refuse_repeated_ids
from spanscore.engine.inputs import Inputs
from spanscore.engine.partial import PartialResult, assemble
from spanscore.engine.plan import SETTINGS, Plan
from spanscore.engine.summary import doubting
from spanscore.engine.task import Task
from spanscore.errors import InputError, UsageError
from spanscore.result import Result, refuse_unknown_split

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from spanscore.engine.inputs import Data, Input
    from spanscore.formats import Format
    from spanscore.measures import Measure


@checked(settings=SETTINGS)
def score(
    gold: Data,
    pred: Data | Mapping[str, Data],
    measures: str | Measure | Sequence[str | Measure] | None = None,
    *,
    gold_format: str | Format | None = None,
    pred_format: str | Format | None = None,
    keep_spans: bool = True,
    jobs: int = 1,
    **settings: Any,
) -> Result:
    """Score one system, or several by name, against gold data with all measures at once.

    `gold` and `pred` are corpora, paths, chunks or Spark DataFrames; `pred` may also map names of systems to them. The
    folder of a run stands for its predictions and for everything that its scores depend on, except the measures.
    `settings` are passed to `Plan.of`: beta, label_map, gold_map, pred_map, levels, taxonomy, shared_types,
    extra_documents, resolve, resolve_gold, by, ci (a level or a Bootstrap) and annotator (a name, all, majority, union
    or intersection). Without `keep_spans`, files are scored as they are read, in little memory, and errors are not
    kept.

    >>> import spanscore as ss
    >>> gold = ss.Corpus.from_documents([{"id": "d", "spans": [{"start": 0, "end": 9, "label": "PERSON"}]}])
    >>> pred = ss.Corpus.from_documents([{"id": "d", "spans": [{"start": 0, "end": 8, "label": "PERSON"}]}])
    >>> result = ss.score(gold, pred, ["iou(threshold=0.8)", "exact"])
    >>> result["iou"].recall, result["exact"].recall
    (1.0, 0.0)
    """
    systems = pred if isinstance(pred, Mapping) else {"pred": pred}
    return score_systems(
        gold,
        systems,
        measures,
        gold_format=gold_format,
        pred_format=pred_format,
        keep_spans=keep_spans,
        jobs=jobs,
        settings=settings,
    )


def score_systems(
    gold: Data,
    systems: Mapping[str, Data],
    measures: str | Measure | Sequence[str | Measure] | None = None,
    *,
    gold_format: str | Format | None = None,
    pred_format: str | Format | None = None,
    tables: Mapping[str, str | None] = MappingProxyType({}),
    keep_spans: bool = True,
    jobs: int = 1,
    spark: str | None = None,
    progress: Callable[[int], object] | None = None,
    settings: Mapping[str, Any] = MappingProxyType({}),
) -> Result:
    """Score systems by name as `score` does; `tables` are files for parameters of measures, by parameter."""
    task = Task.of(
        gold,
        systems,
        measures,
        gold_format=gold_format,
        pred_format=pred_format,
        tables=tables,
        peek=spark is None,
        settings={**settings, "keep_spans": keep_spans},
    )
    return task.finished(evaluate(task.plan, task.inputs, jobs=jobs, spark=spark, progress=progress))


def evaluate(
    plan: Plan,
    inputs: Inputs,
    *,
    jobs: int = 1,
    spark: str | None = None,
    progress: Callable[[int], object] | None = None,
) -> Result:
    """Carry out a plan. `spark` is the master of a cluster (empty: as configured); `progress` gets the bytes read."""
    task = Task(plan, inputs).sharing_types()
    return assemble(task.plan, partial_results(task.plan, task.inputs, jobs=jobs, spark=spark, progress=progress))


def partial_results(
    plan: Plan,
    inputs: Inputs,
    *,
    jobs: int = 1,
    spark: str | None = None,
    progress: Callable[[int], object] | None = None,
) -> dict[str, PartialResult]:
    """Count every system, in whichever way fits the plan and the inputs."""
    keep_freed_memory()
    if jobs < 1:
        raise UsageError("jobs must be at least 1.")
    if spark is not None or any(one.is_frame for one in inputs.all):
        from spanscore.engine.spark import count_on_spark

        return count_on_spark(plan, inputs, spark)
    several = len(inputs.systems) > 1
    if plan.needs_spans or (several and not inputs.gold.readable_again):
        return _count_whole(plan, inputs, progress)
    if jobs > 1:
        from spanscore.engine.file_ranges import RangeCounter

        with RangeCounter(plan, inputs, jobs) as counter:
            return {
                name: counter.count(name, one) or count_chunks(plan, inputs.gold, one, name, progress)
                for name, one in inputs.systems.items()
            }
    return {name: count_chunks(plan, inputs.gold, one, name, progress) for name, one in inputs.systems.items()}


def _count_whole(plan: Plan, inputs: Inputs, progress: Callable[[int], object] | None) -> dict[str, PartialResult]:
    """Count whole corpora; each system's spans are kept if the plan asks for that."""
    systems = {name: one.corpus(progress) for name, one in inputs.systems.items()}
    gold = inputs.gold.corpus(progress)
    if not len(gold) and inputs.gold.path is not None:
        raise InputError("there is no document to score.", gold.source)
    plan.refuse_unknown_attributes({name for corpus in (gold, *systems.values()) for name in corpus.attrs})
    counted = plan.gold(gold) if plan.annotator else gold
    for what in (*plan.by, *([plan.ci.cluster] if plan.ci is not None and plan.ci.cluster is not None else [])):
        for pred in systems.values():
            refuse_unknown_split(what, counted, pred)
    return {name: PartialResult.of(plan, gold, doubting(gold, pred), name) for name, pred in systems.items()}


def count_chunks(
    plan: Plan, gold: Input, pred: Input, system: str, progress: Callable[[int], object] | None = None
) -> PartialResult:
    """Count a system's documents as they and the gold documents are read.

    While both have the same documents in the same order, only counts are kept, and memory does not grow. From where
    they differ, the rest of the predictions is kept and joined by id.
    """
    seen = DuplicateIds()

    def parts() -> Iterator[PartialResult]:
        first, common = "", 0
        for ours, theirs in in_step(gold.chunks(progress), pred.chunks(progress)):
            if not len(ours):  # documents that only the system has may repeat earlier ones
                seen.refuse(theirs, system)
                if first and not common and plan.extra_documents == "refuse":
                    raise no_common_document(first, theirs.ids[0], theirs.source or system)
            elif not first:
                first, theirs = ours.ids[0], doubting(ours, theirs)
            common += len(theirs) if len(ours) else 0
            seen.add(ours, "gold")
            yield PartialResult.of(plan, ours, theirs, system).without_marks()

    total = PartialResult.total(parts())
    seen.check()
    if total is None or not total.gold.documents:
        raise InputError("there is no document to score.")
    return total


def in_step(gold: Iterator[Corpus], pred: Iterator[Corpus]) -> Iterator[tuple[Corpus, Corpus]]:
    """Yield pieces of both sides with the same documents, as long as these are in the same order.

    From where they differ, the rest of the predictions is kept, and each piece of gold data comes with the predictions
    for its documents; the last piece holds the predictions for no gold document. Equal ids are one object.
    """
    ours, theirs = next(gold, None), next(pred, None)
    while ours is not None and theirs is not None:
        pieces = [theirs]
        while sum(map(len, pieces)) < len(ours) and (more := next(pred, None)) is not None:
            pieces.append(more)
        theirs = Corpus.concat(pieces)
        refuse_split_differently(ours, theirs, "pred")
        size = min(len(ours), len(theirs))
        first, second = ours.block(0, size), theirs.block(0, size)
        if first.ids != second.ids:
            break
        yield first, second.with_columns(ids=first.ids)
        ours = ours.block(size, len(ours)) if size < len(ours) else next(gold, None)
        theirs = theirs.block(size, len(theirs)) if size < len(theirs) else next(pred, None)
    rest = Corpus.concat([one.packed() for one in chain([] if theirs is None else [theirs], pred)])
    refuse_repeated_ids(rest.ids, rest.source)
    left = np.ones(len(rest), np.bool_)
    while ours is not None:
        rows = rest.ids.find(ours.ids)
        rows = rows[rows >= 0]
        left[rows] = False
        yield ours, rest.take(rows)
        ours = next(gold, None)
    if left.any():
        yield Corpus.concat([]), rest.take(np.flatnonzero(left))
