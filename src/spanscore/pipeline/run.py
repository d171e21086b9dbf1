"""Detect, align, score, write: each stage once, in this order."""

from __future__ import annotations

import gc
import math
import platform
import re
import time
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spanscore.align.entities import Alignment, align_entities
from spanscore.align.labels import LabelMap
from spanscore.corpus.records import build
from spanscore.detectors import DetectorSpec, Failure
from spanscore.detectors.detector import DetectorError, UntrustedError
from spanscore.detectors.registry import texts_of
from spanscore.engine.local import score_all
from spanscore.errors import InputError, UsageError, plural, printable, unknown
from spanscore.measures import measure
from spanscore.pipeline.detector_pool import About, Crew, crew
from spanscore.pipeline.journal import FINISHED, Journal, record
from spanscore.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from spanscore.align.resolve import Resolve
    from spanscore.corpus import Corpus
    from spanscore.corpus.records import Document
    from spanscore.detectors import Outcome as Found
    from spanscore.result import Result
    from spanscore.stats import Bootstrap


@dataclass(frozen=True)
class Job:
    """What is asked for."""

    dataset: Corpus
    detector: DetectorSpec
    folder: Path
    language: str = "en"
    threshold: float = 0.9
    beta: float = 2.0
    score_threshold: float | None = None
    entities: tuple[str, ...] = ()
    label_map: LabelMap = field(default_factory=LabelMap)
    allow_missing_mappings: bool = False
    resolve: Resolve = "score"
    jobs: int = 1
    resume: bool = False
    max_failures: int = 0
    ci: Bootstrap | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    """Options that the dataset was read with, for it to be read again."""


@dataclass(frozen=True)
class Outcome:
    """What came of it."""

    job: Job
    result: Result
    alignment: Alignment
    discarded: tuple[tuple[str, tuple[str, ...]], ...]
    """Documents that were left out, and the types that no source knows."""
    predictions: tuple[tuple[str, Found], ...]
    notes: tuple[str, ...]
    about: Mapping[str, Any]


def run(job: Job, progress: Callable[[int, int], None] = lambda done, total: None) -> tuple[Outcome, Journal]:
    """Do the job up to what is to be written; the journal is to be finished when it is."""
    _check(job)
    began = time.perf_counter()
    workers = crew(job.detector, min(job.jobs, len(job.dataset)))
    try:
        return _run(job, workers, began, progress)
    finally:
        workers.close()


def _run(job: Job, workers: Crew, began: float, progress: Callable[[int, int], None]) -> tuple[Outcome, Journal]:
    detector = workers.about(job.language)
    known = detector.entities
    sources: dict[str, Any] = {
        "user": job.label_map.to,
        "from_model": known.from_model,
        "from_recognizers": known.from_recognizers,
        "supported": known.supported,
    }
    used = {job.dataset.labels[code] for code in np.unique(job.dataset.label).tolist()}
    alignment = align_entities(used, **sources)
    _refuse_unknown_entities(job, alignment, known.supported)
    gold, discarded = _discard(job, alignment)
    journal = Journal(job.folder, _key(job, detector))
    said = journal.open(resume=job.resume)
    ready = time.perf_counter()
    try:
        fresh = _detect(job, workers, texts_of(gold), said, journal, progress)
    finally:
        journal.close()
    gc.freeze()  # a detector leaves much behind that need not be looked through again
    detected = time.perf_counter()
    said |= fresh
    predictions = tuple((name, said[name]) for name in gold.ids)
    found = build([record(name, outcome) for name, outcome in predictions])
    if job.score_threshold is not None:
        found = found.at_least(job.score_threshold)
    alignment = align_entities(used, found.labels, **sources)
    result = score_all(
        gold,
        {job.detector.name: found},
        [measure(f"iou(threshold={job.threshold!r})"), measure(f"iou.pii(threshold={job.threshold!r})")],
        beta=job.beta,
        label_map=_only(alignment.label_map, used | set(found.labels), job.entities),
        resolve=job.resolve,
        resolve_gold=False,
        ci=job.ci,
    )
    result.inputs["systems"][job.detector.name]["source"] = FINISHED
    result = result.with_settings(score_threshold=job.score_threshold, only_predicted=True, reading=dict(job.reading))
    failed = sum(isinstance(outcome, Failure) for _, outcome in predictions)
    notes = [*detector.notes, *job.label_map.unused(used | set(found.labels))]
    if failed:
        notes.append(f"the detector failed on {plural(failed, 'document')}; their gold spans count as missed.")
    if discarded:
        kinds = ", ".join(map(printable, alignment.unmapped))
        notes.append(
            f"{plural(len(discarded), 'document')} left out for entity types that no source knows: {kinds} "
            "(--allow-missing-mappings leaves out only the spans, --map gives them a type)."
        )
    about = {
        "version": __version__,
        "detection": _key(job, detector),
        "signatures": [one.signature for one in result.scores],
        "failures": failed,
        "documents_detected_now": len(fresh),
        "versions": {"python": platform.python_version(), "numpy": np.__version__, **detector.versions},
        "seconds": {
            "loading": round(ready - began, 3),
            "detection": round(detected - ready, 3),
            "scoring": round(time.perf_counter() - detected, 3),
        },
    }
    kept = tuple(dict.fromkeys([*notes, *result.warnings]))
    result = replace(result, warnings=kept)
    return Outcome(job, result, alignment, discarded, predictions, kept, about), journal


def _check(job: Job) -> None:
    if not 0 <= job.threshold <= 1:
        raise UsageError("the threshold must be a number from 0 to 1.")
    if not 0 < job.beta <= 1000:
        raise UsageError("beta must be above 0 and not above 1000.")
    if job.score_threshold is not None and not math.isfinite(job.score_threshold):
        raise UsageError("the score threshold must be a finite number.")
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", job.language):
        raise UsageError(f"'{printable(job.language)}' is not the code of a language; write for example en.")
    if job.jobs < 1 or job.max_failures < 0:
        raise UsageError("jobs must be at least 1, and max-failures not below 0.")
    if not len(job.dataset):
        raise InputError("there is no document to run the detector on.", job.dataset.source)


def _refuse_unknown_entities(job: Job, alignment: Alignment, supported: tuple[str, ...] | None) -> None:
    """A type that neither the dataset nor the detector has is a slip of the pen."""
    known = {one.to for one in alignment.gold if one.to is not None} | set(supported or ())
    for name in job.entities:
        if name not in known:
            raise UsageError(unknown("entity type", name, known))


def _discard(job: Job, alignment: Alignment) -> tuple[Corpus, tuple[tuple[str, tuple[str, ...]], ...]]:
    """The documents whose types are all known, and the others with those that are not."""
    dataset = job.dataset
    codes = [code for code, label in enumerate(dataset.labels) if label in alignment.unmapped]
    if not codes or job.allow_missing_mappings or job.entities:
        return dataset, ()
    rows = np.flatnonzero(np.isin(dataset.label, codes))
    named: dict[int, set[str]] = {}
    for doc, code in zip(dataset.doc[rows].tolist(), dataset.label[rows].tolist(), strict=True):
        named.setdefault(doc, set()).add(dataset.labels[code])
    kept = np.array([doc for doc in range(len(dataset)) if doc not in named], np.int64)
    if not kept.size:
        kinds = ", ".join(map(printable, alignment.unmapped))
        raise InputError(
            f"every document has an entity type that no source knows: {kinds}; give them a type with --map, or leave "
            "out such spans with --allow-missing-mappings.",
            dataset.source,
        )
    return dataset.take(kept), tuple((dataset.ids[doc], tuple(sorted(kinds))) for doc, kinds in named.items())


def _detect(
    job: Job,
    workers: Crew,
    documents: list[Document],
    said: dict[str, Found],
    journal: Journal,
    progress: Callable[[int, int], None],
) -> dict[str, Found]:
    """Detect what is not done yet, and keep it as it comes."""
    left = [document for document in documents if str(document.id) not in said]
    done = len(documents) - len(left)
    fresh: dict[str, Found] = {}
    progress(done, len(documents))
    if not left:
        return fresh
    try:
        _keep(job, workers, left, journal, fresh, lambda: progress(done + len(fresh), len(documents)))
    except UntrustedError:
        journal.forget()
        raise
    return fresh


def _keep(
    job: Job,
    workers: Crew,
    left: list[Document],
    journal: Journal,
    fresh: dict[str, Found],
    progress: Callable[[], None],
) -> None:
    failures = 0
    for document, outcome in zip(left, workers.outcomes(left, job.language), strict=True):
        name = str(document.id)
        journal.append(name, outcome)
        fresh[name] = outcome
        progress()
        if isinstance(outcome, Failure):
            failures += 1
            if failures > job.max_failures:
                what = f'document "{printable(name)}": the detector failed: {outcome.why}'
                raise DetectorError(
                    f"{what}; {plural(failures, 'failure')} is past --max-failures {job.max_failures}, go on with "
                    "--resume and a higher one."
                )


def _only(label_map: LabelMap, labels: set[str], entities: tuple[str, ...]) -> LabelMap:
    """The map with all other types left out."""
    if not entities:
        return label_map
    aligned = {label: label_map.to.get(label, label) for label in labels}
    return LabelMap({label: to if to in entities else None for label, to in sorted(aligned.items())})


def _key(job: Job, detector: About) -> dict[str, Any]:
    """What the predictions depend on."""
    options = {}
    for name, value in sorted(job.detector.options.items()):
        if name in job.detector.kind().at_will:
            continue
        shown = value if value is None or isinstance(value, str | int | float | bool) else str(value)
        file = Path(value) if isinstance(value, str) and name.endswith(("_config", "file")) else None
        if file is not None and file.is_file():
            shown = f"{value}#{blake2b(file.read_bytes(), digest_size=8).hexdigest()}"
        options[name] = shown
    return {
        "dataset": job.dataset.fingerprint,
        "detector": job.detector.name,
        "options": options,
        "language": job.language,
        "versions": dict(detector.versions),
    }
