"""metrics.json: the scores of a run under the names that evaluation pipelines expect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spanscore.align.annotators import DOCUMENT
from spanscore.align.span_groups import shown_split
from spanscore.corpus.annotators import ANNOTATOR
from spanscore.result.tables import known
from spanscore.stats import Bootstrap, binomial_bounds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spanscore.result import Score, Scores
    from spanscore.stats import Interval


def metrics(
    by_type: Scores,
    pii: Scores,
    leak: Scores,
    *,
    total: int,
    discarded: int,
    spans_discarded: int,
    not_looked_for: tuple[str, ...] = (),
    not_looked_for_by_language: Mapping[str, Sequence[str]] | None = None,
    more: dict[str, Any],
    bootstrap: Bootstrap | None = None,
    by: Sequence[str] = (),
) -> dict[str, Any]:
    """Return PII-level and per-type precision, recall and F, and the numbers of samples and of spans left out."""
    precision, recall, f = numbers(pii.overall)
    return {
        "precision": precision,
        "recall": recall,
        "f1_score": f,
        "details": {
            "pii_precision": precision,
            "pii_recall": recall,
            "pii_f1_score": f,
            "entity_precision_dict": {label: numbers(score)[0] for label, score in by_type.by_type.items()},
            "entity_recall_dict": {label: numbers(score)[1] for label, score in by_type.by_type.items()},
            "entity_f1_score_dict": {label: numbers(score)[2] for label, score in by_type.by_type.items()},
            "entity_counts": {label: score.counts for label, score in by_type.by_type.items()},
            "pii_counts": pii.counts,
            "beta": pii.beta,
            "total_samples": total,
            "samples_evaluated": total - discarded,
            "samples_discarded": discarded,
            "spans_discarded": spans_discarded,
            "not_looked_for": list(not_looked_for),
            **({"not_looked_for_by_language": not_looked_for_by_language} if not_looked_for_by_language else {}),
            "leak": leaks(leak, bootstrap or Bootstrap(), by),
        },
        **({} if bootstrap is None else {"intervals": _intervals(by_type, pii, bootstrap)}),
        "signatures": [by_type.signature, pii.signature],
        **more,
    }


def leaks(leak: Scores, bootstrap: Bootstrap, by: Sequence[str]) -> dict[str, Any]:
    """Return how many gold spans stay readable, with intervals: overall, by type, by slice and by document."""
    slices = {}
    for what in by:
        if what in ("type", "document") or leak.splits_predictions(what):
            continue
        found = leak.intervals(bootstrap, what)
        slices[shown_split(what)] = {name: _readable(score, found.get(name)) for name, score in leak.by(what).items()}
    absent = leak.measure.counts_without_type
    kinds = {name: _readable(score, leak.interval(bootstrap, name), absent) for name, score in leak.by_type.items()}
    documents = affected_documents(leak, bootstrap.level)
    assert documents is not None
    return {
        **_readable(leak.overall, leak.interval(bootstrap)),
        "precision": known(leak.precision),
        "level": bootstrap.level,
        "by_type": kinds,
        **({"by": slices} if slices else {}),
        "documents": documents,
    }


def affected_documents(scores: Scores, level: float) -> dict[str, Any] | None:
    """Count the documents with annotations, and those in which some annotation is missed.

    With `--annotator all`, a document counts once, and is affected if any annotator's span is missed. None for measures
    that compare across documents.
    """
    if scores.measure.needs_all_documents or not scores.tally.documents:
        return None
    meta = {} if scores.pairing is None else scores.pairing.gold.meta
    copies = f"meta.{DOCUMENT}" if DOCUMENT in meta and ANNOTATOR in meta else None
    columns = scores.ratio_columns(scores.units(copies).by_document())
    found, annotated = columns[:, 2], columns[:, 3]
    documents, affected = int((annotated > 0).sum()), int((found < annotated).sum())
    return {
        "annotated": documents,
        "affected": affected,
        "interval": [known(end) for end in binomial_bounds(affected, documents, level)],
    }


def shares_by_type(scores: Scores, bootstrap: Bootstrap) -> dict[str, dict[str, Any]]:
    """Return how much of each annotated type is missed, in the shape of the rows of `leaks`."""
    rows = {}
    for name, score in scores.by_type.items():
        *_, found, annotated = scores.ratio_columns(scores.tally.of_label(name).total()[None])[0].tolist()
        interval = scores.interval(bootstrap, name)
        low, high = (None, None) if interval is None else (known(end) for end in interval.recall)
        rows[name] = {
            "recall": known(score.recall),
            "readable": annotated - found,
            "readable_share": (annotated - found) / annotated if annotated else None,
            "interval": [None if end is None else 1 - end for end in (high, low)],
            "counts": {"annotated": annotated},
        }
    return rows


def _readable(score: Score, interval: Interval | None, absent: Sequence[str] = ()) -> dict[str, Any]:
    """Return the share of gold spans that stay readable, wholly or in part, and its interval.

    Counts that such a row does not have are None.
    """
    recall = known(score.recall)
    low, high = (None, None) if interval is None else (known(end) for end in interval.recall)
    return {
        "recall": recall,
        "readable": score.counts["annotated"] - score.counts.get("hidden", score.counts.get("found", 0)),
        "readable_share": None if recall is None else 1 - recall,
        "interval": [None if end is None else 1 - end for end in (high, low)],
        "counts": {name: None if name in absent else value for name, value in score.counts.items()},
    }


def _intervals(by_type: Scores, pii: Scores, bootstrap: Bootstrap) -> dict[str, Any]:
    """Return the confidence intervals of the PII-level and per-entity-type scores."""
    found = {"pii": pii.interval(bootstrap)}
    found |= {f"entity:{label}": by_type.interval(bootstrap, label) for label in by_type.by_type}
    ends = {
        name: {
            key: [known(end) for end in getattr(one, number)]
            for key, number in (("precision", "precision"), ("recall", "recall"), ("f1_score", "f"))
        }
        for name, one in found.items()
        if one is not None
    }
    return {"level": bootstrap.level, **ends}


def numbers(score: Score) -> list[float | None]:
    """Return precision, recall and F; undefined values are None."""
    return [known(value) for value in (score.precision, score.recall, score.f)]
