"""Plan: which measures to compute, and how. Everything that scores builds its plan here."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from spanscore.align import LabelMap, Pairing, pair
from spanscore.errors import UsageError, printable, unknown
from spanscore.measures import DEFAULT, Measure, expand
from spanscore.measures.neleval_keys import FIELDS
from spanscore.signature import signature
from spanscore.stats import Bootstrap

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from spanscore.align.pairing import Extra
    from spanscore.align.resolve import Resolve
    from spanscore.corpus import Corpus


@dataclass(frozen=True)
class Plan:
    """How systems are scored, and what is kept beside the counts."""

    measures: tuple[Measure, ...]
    beta: float = 1.0
    label_map: LabelMap = field(default_factory=LabelMap)
    extra_documents: Extra = "refuse"
    resolve: Resolve = "none"
    resolve_gold: bool = True
    by: tuple[str, ...] = ()
    ci: Bootstrap | None = None
    keep_spans: bool = False
    """Whether to keep the spans, from which errors and slices are computed later."""
    keep_found: bool = False
    """Whether to keep for each gold span whether it was found."""

    @classmethod
    def of(
        cls,
        measures: str | Measure | Sequence[str | Measure] | None = None,
        *,
        beta: float = 1.0,
        label_map: LabelMap | Mapping[str, str | None] | None = None,
        by: str | Sequence[str] = (),
        ci: Bootstrap | float | None = None,
        **settings: Any,
    ) -> Plan:
        """Build a plan from what users write; `ci` may be a confidence level."""
        known = {one.name for one in fields(cls)}
        if other := next((name for name in settings if name not in known), None):
            raise UsageError(unknown("setting", other, {*known, "measures"}))
        chosen = tuple(expand(DEFAULT if measures is None else measures))
        if not chosen:
            raise UsageError("name at least one measure.")
        if not 0 < beta <= 1000:
            raise UsageError("beta must be greater than 0 and at most 1000.")
        return cls(
            chosen,
            beta,
            label_map if isinstance(label_map, LabelMap) else LabelMap(label_map or {}),
            by=(by,) if isinstance(by, str) else tuple(by),
            ci=ci if ci is None or isinstance(ci, Bootstrap) else Bootstrap(ci),
            **settings,
        )

    def pair(self, gold: Corpus, pred: Corpus, system: str) -> Pairing:
        """Put gold and a system's spans on one footing."""
        return pair(
            gold,
            pred,
            system=system,
            label_map=self.label_map,
            extra_documents=self.extra_documents,
            resolve=self.resolve,
            resolve_gold=self.resolve_gold,
        )

    def signature(self, measure: Measure, gold: str, pred: str) -> str:
        """Return the signature of a measure on data with these fingerprints."""
        resolve = self.resolve if self.resolve_gold or self.resolve == "none" else f"{self.resolve}:pred"
        line = signature(measure, gold, pred, self.label_map, self.extra_documents, resolve, self.beta)
        return line if self.ci is None else f"{line}|ci:{self.ci}"

    @property
    def needs_all_documents(self) -> bool:
        """Whether some measure or interval compares across documents."""
        clustered = self.ci is not None and self.ci.cluster is not None
        return clustered or any(one.needs_all_documents for one in self.measures)

    @property
    def needs_spans(self) -> bool:
        """Whether the spans must be kept until the result is complete."""
        return self.keep_spans or bool(self.by) or self.needs_all_documents

    @property
    def needs_documents(self) -> bool:
        """Whether each document's own counts must be kept."""
        return self.keep_spans or bool(self.by) or self.ci is not None

    def refuse_unknown_attributes(self, attributes: Collection[str]) -> None:
        """Refuse a measure that compares an attribute that no span has."""
        for one in self.measures:
            for name in one.needs:
                if name not in attributes:
                    what = unknown("attribute of spans", name, {*attributes, *FIELDS})
                    raise UsageError(f"{printable(repr(one))}: {what}")

    def settings(self) -> dict[str, Any]:
        """Return what is needed to score the same again, as JSON values."""
        ci = self.ci
        return {
            "measures": [repr(one) for one in self.measures],
            "beta": self.beta,
            "label_map": dict(self.label_map.to),
            "extra_documents": self.extra_documents,
            "resolve": self.resolve,
            **({} if ci is None else {"ci": [ci.level, ci.resamples, ci.seed, ci.cluster]}),
            **({} if self.resolve_gold else {"resolve_gold": False}),
            **({"by": list(self.by)} if self.by else {}),
        }

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any], **more: Any) -> Plan:
        """Build the plan that `settings` describes."""
        return cls.of(
            settings["measures"],
            beta=settings["beta"],
            label_map=settings["label_map"],
            extra_documents=settings["extra_documents"],
            resolve=settings["resolve"],
            resolve_gold=settings.get("resolve_gold", True),
            by=tuple(settings.get("by", ())),
            ci=Bootstrap(*settings["ci"]) if "ci" in settings else None,
            **more,
        )
