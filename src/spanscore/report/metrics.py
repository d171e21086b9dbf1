"""metrics.json: the scores of a run under the names that evaluation pipelines expect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spanscore.result.tables import known

if TYPE_CHECKING:
    from spanscore.result import Score, Scores
    from spanscore.stats import Bootstrap


def metrics(
    by_type: Scores,
    pii: Scores,
    *,
    total: int,
    discarded: int,
    spans_discarded: int,
    more: dict[str, Any],
    bootstrap: Bootstrap | None = None,
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
        },
        **({} if bootstrap is None else {"intervals": _intervals(by_type, pii, bootstrap)}),
        "signatures": [by_type.signature, pii.signature],
        **more,
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
