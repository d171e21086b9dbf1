"""The stages of a run: detect, align, score."""

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
from spanscore.align.pairing import without_repeats
from spanscore.corpus.records import build
from spanscore.detectors import REGISTRY, DetectorError, Failure, UntrustedError, texts_of
from spanscore.engine import score
from spanscore.errors import InputError, UsageError, plural, printable, unknown
from spanscore.pipeline.detector_pool import DetectorPool, detector_pool
from spanscore.pipeline.journal import FINISHED, Journal, record
from spanscore.spec import Spec
from spanscore.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from spanscore.align.resolve import Resolve
    from spanscore.corpus import Corpus
    from spanscore.corpus.records import Document
    from spanscore.detectors import Description, Detection, Detector
    from spanscore.result import Result
    from spanscore.stats import Bootstrap


@dataclass(frozen=True)
class Job:
    """A run as requested: a detector over a dataset, and where to write."""

    dataset: Corpus
    detector: Detector
    folder: Path
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


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run: the result, and everything else that is written."""

    job: Job
    result: Result
    alignment: Alignment
    discarded: tuple[tuple[str, tuple[str, ...]], ...]
    """Documents that were left out, and their entity types that no source knows."""
    spans_discarded: int
    """Gold spans that do not count because a type is unknown: theirs, or that of another span of their document."""
    predictions: tuple[tuple[str, Detection], ...]
    notes: tuple[str, ...]
    about: Mapping[str, Any]


def chosen_detector(spec: str | Detector, *, language: str | None = None, entities: tuple[str, ...] = ()) -> Detector:
    """Return the detector of a spec, looking only for these entity types if it can.

    Without a language, the detector keeps its own; a language that contradicts that of the spec is an error.

    >>> chosen_detector("presidio(language=de)"), chosen_detector("presidio", language="de")
    (presidio(language=de), presidio(language=de))
    """
    made = REGISTRY.make(spec)
    if language is not None and made.language != language:
        given = Spec.parse(spec).arguments if isinstance(spec, str) else made.given()
        if any(name == "language" for name, _ in given):
            raise UsageError(f"'{printable(str(spec))}' and the language {printable(language)} contradict each other.")
        made = replace(made, language=language)
    if entities and any(known.name == "entities" for known in made.parameters()):
        made = replace(made, entities=entities)  # type: ignore[call-arg]
    return made


def run(job: Job, progress: Callable[[int, int], None] = lambda done, total: None) -> tuple[Outcome, Journal]:
    """Detect, align and score; the caller writes the outputs and then finishes the journal."""
    _check(job)
    began = time.perf_counter()
    pool = detector_pool(job.detector, min(job.jobs, len(job.dataset)))
    try:
        return _run(job, pool, began, progress)
    finally:
        pool.close()


def _run(job: Job, pool: DetectorPool, began: float, progress: Callable[[int, int], None]) -> tuple[Outcome, Journal]:
    description = pool.describe()
    types = description.types
    sources: dict[str, Any] = {
        "user": job.label_map.to,
        "from_model": types.from_model,
        "from_recognizers": types.from_recognizers,
        "supported": types.supported,
    }
    used = {job.dataset.labels[code] for code in np.unique(job.dataset.label).tolist()}
    alignment = align_entities(used, **sources)
    _refuse_unknown_entities(job, alignment, types.supported)
    gold, discarded = _discard(job, alignment)
    journal = Journal(job.folder, _key(job, description))
    done = journal.open(resume=job.resume)
    ready = time.perf_counter()
    try:
        fresh = _detect(job, pool, texts_of(gold), done, journal, progress)
    finally:
        journal.close()
    gc.freeze()  # a detector leaves many objects behind that need not be traversed again
    detected = time.perf_counter()
    done |= fresh
    predictions = tuple((name, done[name]) for name in gold.ids)
    found = build([record(name, detection) for name, detection in predictions])
    if job.score_threshold is not None:
        found = found.at_least(job.score_threshold)
    alignment = align_entities(used, found.labels, **sources)
    name = job.detector.name
    measures = [f"iou(threshold={job.threshold!r})", f"iou.pii(threshold={job.threshold!r})"]
    result = score(
        gold,
        {name: found},
        measures,
        beta=job.beta,
        label_map=_only(alignment.label_map, used | set(found.labels), job.entities),
        resolve=job.resolve,
        resolve_gold=False,
        ci=job.ci,
    )
    result.inputs["systems"][name]["source"] = FINISHED
    result = result.with_settings(score_threshold=job.score_threshold, only_predicted=True)
    failed = sum(isinstance(detection, Failure) for _, detection in predictions)
    notes = [*description.notes, *job.label_map.unused(used | set(found.labels))]
    if failed:
        notes.append(f"the detector failed on {plural(failed, 'document')}; their gold spans count as missed.")
    lost = _lost_spans(job, alignment, discarded)
    if discarded:
        kinds = ", ".join(map(printable, alignment.unmapped))
        notes.append(
            f"{plural(len(discarded), 'document')} left out for entity types that no source knows: {kinds}; "
            f"{_without(lost, result, measures)}; --allow-missing-mappings leaves out only the spans, --map gives "
            "them a type."
        )
    about = {
        "version": __version__,
        "detection": _key(job, description),
        "signatures": [one.signature for one in result.scores],
        "failures": failed,
        "documents_detected_now": len(fresh),
        "versions": {"python": platform.python_version(), "numpy": np.__version__, **description.versions},
        "seconds": {
            "loading": round(ready - began, 3),
            "detection": round(detected - ready, 3),
            "scoring": round(time.perf_counter() - detected, 3),
        },
    }
    kept = tuple(dict.fromkeys([*notes, *result.warnings]))
    result = replace(result, warnings=kept)
    return Outcome(job, result, alignment, discarded, len(lost.doc), predictions, kept, about), journal


def _check(job: Job) -> None:
    if not 0 <= job.threshold <= 1:
        raise UsageError("the threshold must be between 0 and 1.")
    if not 0 < job.beta <= 1000:
        raise UsageError("beta must be greater than 0 and at most 1000.")
    if job.score_threshold is not None and not math.isfinite(job.score_threshold):
        raise UsageError("the score threshold must be a finite number.")
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", job.detector.language):
        raise UsageError(f"'{printable(job.detector.language)}' is not a language code; write for example en.")
    if job.jobs < 1 or job.max_failures < 0:
        raise UsageError("jobs must be at least 1, and max-failures not negative.")
    if not len(job.dataset):
        raise InputError("there is no document to run the detector on.", job.dataset.source)


def _refuse_unknown_entities(job: Job, alignment: Alignment, supported: tuple[str, ...] | None) -> None:
    """Refuse a type that neither the dataset nor the detector has: probably a typo."""
    known = {one.to for one in alignment.gold if one.to is not None} | set(supported or ())
    for name in job.entities:
        if name not in known:
            raise UsageError(unknown("entity type", name, known))


def _discard(job: Job, alignment: Alignment) -> tuple[Corpus, tuple[tuple[str, tuple[str, ...]], ...]]:
    """Return the documents whose types are all known, and the others with their unknown types."""
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
            f"every document has an entity type that no source knows: {kinds}; map them with --map, or leave out such "
            "spans with --allow-missing-mappings.",
            dataset.source,
        )
    return dataset.take(kept), tuple((dataset.ids[doc], tuple(sorted(kinds))) for doc, kinds in named.items())


def _lost_spans(job: Job, alignment: Alignment, discarded: tuple[tuple[str, tuple[str, ...]], ...]) -> Corpus:
    """Return the distinct gold spans that do not count because of an unknown type, in their documents."""
    dataset = job.dataset
    named = {name for name, _ in discarded}
    if named:
        documents = dataset.take(np.array([doc for doc, name in enumerate(dataset.ids) if name in named], np.int64))
        known = {label: to for label, to in alignment.label_map.to.items() if label not in alignment.unmapped}
        return without_repeats(LabelMap(known).apply(documents)[0])
    codes = [code for code, label in enumerate(dataset.labels) if label in alignment.unmapped and not job.entities]
    return without_repeats(dataset.with_spans(np.flatnonzero(np.isin(dataset.label, codes))))


def _without(lost: Corpus, result: Result, measures: list[str]) -> str:
    """Say how many gold spans do not count, and what recall would be if they counted as missed."""
    missed = score(lost, {"none": lost.with_spans(np.zeros(0, np.int64))}, measures, keep_spans=False)
    changes = []
    for scores, more in zip(reversed(result.scores), reversed(missed.scores), strict=True):
        counts = scores.counts
        total = counts["annotated"] + more.counts["annotated"]
        recalls = ("–" if not of else f"{counts['tp'] / of:.3f}" for of in (total, counts["annotated"]))
        changes.append(f"{' instead of '.join(recalls)} ({scores.measure.name})")
    many = len(lost.doc) != 1
    return (
        f"their {plural(len(lost.doc), 'gold span')} {'do' if many else 'does'} not count (recall would be "
        f"{' and '.join(changes)} with {'them' if many else 'it'} as missed)"
    )


def _detect(
    job: Job,
    pool: DetectorPool,
    documents: list[Document],
    done: dict[str, Detection],
    journal: Journal,
    progress: Callable[[int, int], None],
) -> dict[str, Detection]:
    """Detect what is not done yet, and write it to the journal as it comes."""
    left = [document for document in documents if str(document.id) not in done]
    before = len(documents) - len(left)
    fresh: dict[str, Detection] = {}
    progress(before, len(documents))
    if not left:
        return fresh
    failures = 0
    try:
        for document, detection in zip(left, pool.detections(left), strict=True):
            name = str(document.id)
            journal.append(name, detection)
            fresh[name] = detection
            progress(before + len(fresh), len(documents))
            if isinstance(detection, Failure):
                failures += 1
                _refuse_failures(job, name, detection, failures)
    except UntrustedError:
        journal.forget()
        raise
    return fresh


def _refuse_failures(job: Job, name: str, failure: Failure, failures: int) -> None:
    if failures > job.max_failures:
        what = f'document "{printable(name)}": the detector failed: {failure.why}'
        raise DetectorError(
            f"{what}; that is more than --max-failures {job.max_failures} allows; continue with --resume and a higher "
            "limit."
        )


def _only(label_map: LabelMap, labels: set[str], entities: tuple[str, ...]) -> LabelMap:
    """Return the label map with all other types left out."""
    if not entities:
        return label_map
    aligned = {label: label_map.to.get(label, label) for label in labels}
    return LabelMap({label: to if to in entities else None for label, to in sorted(aligned.items())})


def _key(job: Job, description: Description) -> dict[str, Any]:
    """Return what the predictions depend on."""
    detector = job.detector
    options = {}
    for name, value in detector.given():
        if name in (*detector.runtime, "language"):
            continue
        file = Path(value) if name.endswith(("_config", "file")) else None
        known = file is not None and file.is_file()
        options[name] = f"{value}#{blake2b(Path(value).read_bytes(), digest_size=8).hexdigest()}" if known else value
    return {
        "dataset": job.dataset.fingerprint,
        "detector": detector.name,
        "options": options,
        "language": detector.language,
        "versions": dict(description.versions),
    }
