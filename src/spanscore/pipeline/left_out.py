"""Documents and gold spans that are left out of a run, because no source knows their entity type."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from spanscore.align.labels import LabelMap
from spanscore.align.pairing import without_repeats
from spanscore.engine import score
from spanscore.errors import InputError, plural, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spanscore.align.entities import Alignment
    from spanscore.corpus import Corpus
    from spanscore.pipeline.job import Job
    from spanscore.result import Scores


class LeftOut(NamedTuple):
    """A document that is left out, and its entity types that no source knows."""

    document: str
    types: tuple[str, ...]


def leave_out(job: Job, alignment: Alignment) -> tuple[Corpus, tuple[LeftOut, ...]]:
    """Return the documents whose types are all known, and what is left out."""
    dataset = job.gold
    unmapped = set(alignment.unmapped)
    codes = [code for code, label in enumerate(dataset.labels) if label in unmapped]
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
    left_out = tuple(LeftOut(dataset.ids[doc], tuple(sorted(kinds))) for doc, kinds in named.items())
    return dataset.take(kept), left_out


def lost_spans(job: Job, alignment: Alignment, left_out: Sequence[LeftOut]) -> Corpus:
    """Return the distinct gold spans that do not count because of an unknown type, in their documents."""
    dataset = job.gold
    named = {one.document for one in left_out}
    unmapped = set(alignment.unmapped)
    if named:
        documents = dataset.take(np.array([doc for doc, name in enumerate(dataset.ids) if name in named], np.int64))
        known = {label: to for label, to in alignment.gold_map.to.items() if label not in unmapped}
        return without_repeats(LabelMap(known).apply(documents)[0])
    codes = [code for code, label in enumerate(dataset.labels) if label in unmapped and not job.entities]
    return without_repeats(dataset.with_spans(np.flatnonzero(np.isin(dataset.label, codes))))


def note(
    left_out: Sequence[LeftOut], alignment: Alignment, lost: Corpus, shown: Sequence[Scores], measures: list[str]
) -> str:
    """Say which documents are left out, and what recall would be if their gold spans counted as missed."""
    missed = score(lost, {"none": lost.with_spans(np.zeros(0, np.int64))}, measures, keep_spans=False)
    changes = []
    for more, scores in reversed([*zip(missed.scores, shown, strict=False)]):
        counts = scores.counts
        total = counts["annotated"] + more.counts["annotated"]
        recalls = ("–" if not of else f"{counts['tp'] / of:.3f}" for of in (total, counts["annotated"]))
        changes.append(f"{' instead of '.join(recalls)} ({scores.measure.name})")
    whose = "its" if len(left_out) == 1 else "their"
    kinds = ", ".join(map(printable, alignment.unmapped))
    verb, them = ("does", "it") if len(lost.doc) == 1 else ("do", "them")
    return (
        f"{plural(len(left_out), 'document')} left out for entity types that no source knows: {kinds}; "
        f"{whose} {plural(len(lost.doc), 'gold span')} {verb} not count (recall would be {' and '.join(changes)} with "
        f"{them} as missed); --allow-missing-mappings leaves out only the spans, --map gives them a type."
    )
