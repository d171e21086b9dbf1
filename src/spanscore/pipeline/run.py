"""The stages of a run: detect, align, score."""

from __future__ import annotations

import platform
import re
import time
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from spanscore.align.annotators import chosen_gold, names_in, refuse_unknown
from spanscore.align.entities import align_entities, normalized
from spanscore.align.labels import LabelMap
from spanscore.align.levels import LevelNaming
from spanscore.align.span_groups import ATTRIBUTE
from spanscore.align.taxonomy import DEFAULT_LEVEL
from spanscore.corpus.corpus import INVENTED
from spanscore.corpus.records import build
from spanscore.detectors import DetectorError, Failure, UntrustedError
from spanscore.detectors.fingerprint import versions
from spanscore.detectors.web_service import UNVERSIONED
from spanscore.engine import Inputs, Plan, evaluate
from spanscore.errors import InputError, UsageError, plural, printable, unknown
from spanscore.files import uncollected
from spanscore.pipeline import not_looked_for
from spanscore.pipeline.detector_pool import DetectorPool, detector_pool
from spanscore.pipeline.job import Job, Outcome, at_coarsest_level
from spanscore.pipeline.journal import FINISHED, Journal, record
from spanscore.pipeline.languages import AUTO, PerLanguage, documents_of, languages_digest, mismatch
from spanscore.pipeline.left_out import leave_out, lost_spans, note
from spanscore.result import refuse_unknown_split
from spanscore.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from spanscore.align.entities import Alignment
    from spanscore.corpus import Corpus
    from spanscore.corpus.records import Document
    from spanscore.detectors import Detection, Detector, EntityTypes, Fingerprint


def _looking_for(job: Job) -> Detector:
    """Return the detector of a job, looking only for the types that are scored if it can.

    It looks for all if a map renames labels to these types, or they are types of the taxonomy: what the detector calls
    them is not known before it is loaded.
    """
    renamed = {to for name, one in job.maps.items() if name != "gold_map" for to in one.to.values()}
    if not job.entities or job.taxonomy is not None or not renamed.isdisjoint(job.entities):
        return job.detector
    return job.detector.looking_for(job.entities)


class Progress(NamedTuple):
    """How far detection is."""

    documents: int
    all_documents: int
    characters: int
    all_characters: int


class Observer:
    """Follows a run; this one ignores all events."""

    def ready(self, uses: str, notes: Sequence[str]) -> None:
        """Report that detection begins: what the detector uses, and what the user should know."""

    def progress(self, done: Progress) -> None:
        """Report progress."""


def run(job: Job, observer: Observer | None = None) -> tuple[Outcome, Journal]:
    """Detect, align and score; the caller writes the outputs and then finishes the journal."""
    _check(job)
    job = replace(job, detector=_looking_for(job))
    began = time.perf_counter()
    detector = job.detector.for_dataset(job.dataset)
    if detector.language == AUTO:
        detector = PerLanguage.of(detector, job.dataset)
    with ExitStack() as always, ExitStack() as on_failure:
        pool = detector_pool(detector, job.jobs, len(job.dataset))
        always.callback(pool.close)
        found = _run(job, pool, began, observer or Observer(), on_failure)
        on_failure.pop_all()
    return found


def _run(
    job: Job, pool: DetectorPool, began: float, observer: Observer, on_failure: ExitStack
) -> tuple[Outcome, Journal]:
    description = pool.describe()
    types = description.types
    sources = _sources(job, types)
    used = {job.gold.labels[code] for code in np.unique(job.gold.label).tolist()}
    alignment = align_entities(used, **sources)
    _refuse_unknown_entities(job, align_entities(used, types.supported or (), **sources))
    counted, without = leave_out(job, alignment)
    gold = job.dataset.take(job.dataset.ids.find(counted.ids)) if job.annotator else counted
    fingerprint = pool.fingerprint()
    journal = Journal(job.folder, _key(job, fingerprint))
    done = journal.open(resume=job.resume or job.resume_anyway, anyway=job.resume_anyway)
    ready = time.perf_counter()
    on_failure.callback(journal.close)
    language = job.detector.language
    level = job.levels[0] if job.levels else DEFAULT_LEVEL
    notes = list(description.notes)
    missing = not_looked_for.missing_types(counted, alignment, types, sources, job.entities, level)
    in_languages = not_looked_for.by_language(counted, alignment, description, sources, job.entities, level)
    if not job.shared_types:
        notes += not_looked_for.notes(missing, in_languages)
    notes += filter(None, [mismatch(gold, language)])
    observer.ready(description.uses, notes)
    fresh, latencies = _detect(job, pool, documents_of(gold, language), done, journal, observer)
    journal.pause()
    detected = time.perf_counter()
    done |= fresh
    with uncollected():
        predictions = tuple((name, done[name]) for name in gold.ids)
        found = build([record(name, detection) for name, detection in predictions])
        alignment = align_entities(used, found.labels, **sources)
        plan = _plan(job, alignment, found)
        if job.shared_types:
            plan = _sharing(plan, used, types, found, sources)
        result = evaluate(plan, Inputs.of(gold, {job.detector.name: found}))
    result.inputs["systems"][job.detector.name]["source"] = FINISHED
    present = {plan.views[0].pred.called(label) for label in found.labels}
    result = result.with_settings(
        only_predicted=True, not_looked_for=[name for name in missing if name not in present]
    ).detected_by(journal.detector_digest)
    failed = sum(isinstance(detection, Failure) for _, detection in predictions)
    notes += _unused(job, used, set(found.labels))
    notes += _found_nowhere(job, found)
    notes += filter(None, [_empty_spans(found)])
    if failed:
        whose = "its" if failed == 1 else "their"
        notes.append(f"the detector failed on {plural(failed, 'document')}; {whose} gold spans count as missed.")
    notes += _versions_of_service(journal.service_versions, told=bool(fresh) and pool.answered_by() is not None)
    notes += [f"the detector changed during this run ({'; '.join(one['changed'])})." for one in journal.changes]
    lost = lost_spans(job, alignment, without)
    if without:
        notes.append(note(without, alignment, lost, at_coarsest_level(result), _measures(job)[:2]))
    latency = _latency(gold, fresh, latencies, detected - ready) if fresh else journal.latency
    about = {
        "version": __version__,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "detection": _key(job, fingerprint),
        "resumed_anyway": journal.changes,
        "signatures": [one.signature for one in result.scores],
        "failures": failed,
        "documents": len(predictions),
        "documents_detected_now": len(fresh),
        "latency": latency if job.detector.takes_time else None,
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            **versions(fingerprint),
            **({"service": ", ".join(journal.service_versions)} if journal.service_versions else {}),
        },
        "service_versions": journal.service_versions,
        "seconds": {
            "loading": round(ready - began, 3),
            "detection": round(detected - ready, 3),
            "scoring": round(time.perf_counter() - detected, 3),
        },
    }
    kept = tuple(dict.fromkeys([*notes, *result.warnings]))
    result = replace(result, warnings=kept)
    languages = {code: list(there) for code, there in in_languages.items()}
    return Outcome(job, result, alignment, without, len(lost.doc), predictions, kept, about, languages), journal


def _sources(job: Job, types: EntityTypes) -> dict[str, Any]:
    """Return the four sources of the entity alignment."""
    return {
        "user": job.maps["label_map"].to if "label_map" in job.maps else {},
        "user_gold": job.maps["gold_map"].to if "gold_map" in job.maps else {},
        "user_pred": job.maps["pred_map"].to if "pred_map" in job.maps else {},
        "from_model": types.from_model,
        "from_recognizers": types.from_recognizers,
        "supported": types.supported,
        "taxonomy": job.taxonomy,
    }


def _measures(job: Job) -> list[str]:
    return [f"iou(threshold={job.threshold!r})", f"iou.pii(threshold={job.threshold!r})", "leak"]


def _plan(job: Job, alignment: Alignment, found: Corpus) -> Plan:
    """Return how the predictions are scored."""
    return Plan.of(
        _measures(job),
        beta=job.beta,
        **_selected(job, alignment),
        taxonomy=job.taxonomy,
        levels=job.levels,
        resolve=job.resolve,
        resolve_gold=False,
        score_threshold=job.score_threshold,
        ci=job.ci,
        by=tuple(what for what in job.by if what not in _nowhere(job, found)),
        keep_spans=True,
        annotator=job.annotator,
    )


def _sharing(plan: Plan, used: set[str], types: EntityTypes, found: Corpus, sources: dict[str, Any]) -> Plan:
    """Return a plan that scores only types that the dataset has and the detector can find."""
    looked = types.supported if types.looked_for is None else types.looked_for
    can_find = {*(looked or ()), *found.labels}
    every = align_entities(used, can_find, **sources).pred_map.updated(plan.pred_map)
    return replace(plan, shared=replace(plan, pred_map=every).sharing(used, [can_find]).shared)


def _check(job: Job) -> None:
    if not 0 <= job.threshold <= 1:
        raise UsageError("the threshold must be between 0 and 1.")
    if not 0 < job.beta <= 1000:
        raise UsageError("beta must be greater than 0 and at most 1000.")
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", job.detector.language):
        raise UsageError(f"'{printable(job.detector.language)}' is not a language code; write for example en.")
    if job.jobs < 1 or job.max_failures < 0:
        raise UsageError("jobs must be at least 1, and max-failures not negative.")
    refuse_unknown(job.annotator, names_in(job.dataset))
    for what in job.by:
        refuse_unknown_split(what, chosen_gold(job.dataset, job.annotator))
    if not len(job.dataset):
        raise InputError("there is no document to run the detector on.", job.dataset.source)


def _known(job: Job, alignment: Alignment) -> set[str]:
    """Return every name of the labels of both sides."""
    sides = ((alignment.gold, alignment.gold_map), (alignment.pred, alignment.pred_map))
    return {name for side, own in sides for one in side for name in _naming(job, own).known_as(one.label)}


def _refuse_unknown_entities(job: Job, alignment: Alignment) -> None:
    """Refuse a type that neither the dataset nor the detector has: probably a typo."""
    known = _known(job, alignment)
    for name in job.entities:
        if name not in known:
            raise UsageError(unknown("entity type", name, known))


def _detect(
    job: Job,
    pool: DetectorPool,
    documents: list[Document],
    done: dict[str, Detection],
    journal: Journal,
    observer: Observer,
) -> tuple[dict[str, Detection], list[float]]:
    """Detect what is not done yet, write it to the journal as it comes, and return it with the seconds it took."""
    left = [document for document in documents if str(document.id) not in done]
    total = sum(len(document.text or "") for document in documents)
    characters = total - sum(len(document.text or "") for document in left)
    before = len(documents) - len(left)
    fresh: dict[str, Detection] = {}
    latencies: list[float] = []
    observer.progress(Progress(before, len(documents), characters, total))
    if not left:
        return fresh, latencies
    failures = 0
    try:
        for document, (detection, seconds) in zip(left, pool.detections(left), strict=True):
            name = str(document.id)
            latencies.append(seconds)
            journal.answered(pool.answered_by() or frozenset())
            journal.append(name, detection)
            fresh[name] = detection
            characters += len(document.text or "")
            observer.progress(Progress(before + len(fresh), len(documents), characters, total))
            if isinstance(detection, Failure):
                failures += 1
                _refuse_failures(job, name, detection, failures)
    except UntrustedError:
        journal.forget()
        raise
    return fresh, latencies


def _latency(gold: Corpus, fresh: Mapping[str, Detection], latencies: list[float], seconds: float) -> Any:
    """Return percentiles of the seconds per document, and characters per second of all jobs together."""
    if not latencies or gold.text is None:
        return None
    detected = np.fromiter((name in fresh for name in gold.ids), np.bool_, len(gold))
    characters = int(gold.text.lengths[detected].sum())
    p50, p95, p99 = np.quantile(latencies, [0.5, 0.95, 0.99]).tolist()
    return {
        "documents": len(latencies),
        "p50": round(p50, 6),
        "p95": round(p95, 6),
        "p99": round(p99, 6),
        "characters_per_second": round(characters / max(seconds, 1e-9), 1),
    }


def _refuse_failures(job: Job, name: str, failure: Failure, failures: int) -> None:
    if failures > job.max_failures:
        what = f'document "{printable(name)}": the detector failed: {failure.why}'
        raise DetectorError(
            f"{what}; that is more than --max-failures {job.max_failures} allows; continue with --resume and a higher "
            "limit."
        )


def _versions_of_service(versions: Sequence[str], *, told: bool) -> Iterator[str]:
    """Yield a warning if several versions answered, or if answers that should have told one did not."""
    if len(versions) > 1:
        yield f"several versions of the service answered: {', '.join(versions)}."
    elif told and not versions:
        yield UNVERSIONED


def _unused(job: Job, gold: set[str], pred: set[str]) -> Iterator[str]:
    """Yield warnings about entries of the user's maps for labels that no span has, compared as the alignment does."""
    sides = {"label_map": (gold | pred, ""), "gold_map": (gold, "gold"), "pred_map": (pred, "predicted")}
    for name, one in job.maps.items():
        labels, side = sides[name]
        known = {normalized(label) for label in labels}
        yield from one.unused({label for label in one.to if normalized(label) in known}, side)


def _nowhere(job: Job, found: Corpus) -> list[str]:
    """Return the attributes to split by that no span has."""
    known = {*job.gold.attrs, *found.attrs}
    return [what for what in job.by if what.startswith(ATTRIBUTE) and what.removeprefix(ATTRIBUTE) not in known]


def _found_nowhere(job: Job, found: Corpus) -> Iterator[str]:
    """Yield warnings about attributes that no span has."""
    for what in _nowhere(job, found):
        name = printable(what.removeprefix(ATTRIBUTE))
        yield f"no span has the attribute {name}; --by {printable(what)} is left out."


def _empty_spans(found: Corpus) -> str | None:
    """Return a warning about predictions without a character; invented mentions are empty for another reason."""
    rows = np.flatnonzero(found.start == found.end)
    if INVENTED in found.attrs:
        rows = rows[found.attrs[INVENTED].codes[rows] < 0]
    if not rows.size:
        return None
    many = "is" if rows.size == 1 else "are"
    return f"{plural(int(rows.size), 'prediction')} {many} empty (start = end) and can match only empty gold spans."


def _naming(job: Job, label_map: LabelMap) -> LevelNaming:
    return LevelNaming(label_map, job.taxonomy, entities=job.entities)


def _selected(job: Job, alignment: Alignment) -> dict[str, Any]:
    """Return the maps of both sides, and those of the chosen types that some span has; without any, nothing is left."""
    maps = {"gold_map": alignment.gold_map, "pred_map": alignment.pred_map}
    known = _known(job, alignment)
    present = [name for name in job.entities if name in known]
    if job.entities and not present:
        maps = {side: LabelMap(dict.fromkeys(one.to)) for side, one in maps.items()}
    return {**maps, "entities": present}


def _key(job: Job, fingerprint: Fingerprint) -> dict[str, Any]:
    """Return what the predictions depend on."""
    return {
        "dataset": job.dataset.fingerprint,
        "detector": job.detector.name,
        "language": job.detector.language,
        **({"languages": languages_digest(job.dataset)} if job.detector.language == AUTO else {}),
        "fingerprint": fingerprint,
    }
