"""Plan: which measures to compute, and how. Everything that scores builds its plan here."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from spanscore.align import LabelMap, Pairing, pair
from spanscore.align.annotators import ALL, DOCUMENT, choose, chosen_gold
from spanscore.align.levels import LevelNaming, View
from spanscore.align.score_thresholds import ScoreThresholds
from spanscore.align.taxonomy import DEFAULT_LEVEL, Taxonomy, levels_of
from spanscore.arguments import checked, names_of
from spanscore.corpus.annotators import ANNOTATOR
from spanscore.errors import UsageError, printable, unknown
from spanscore.measures import DEFAULT, Measure, expand
from spanscore.measures.neleval_keys import FIELDS
from spanscore.signature import signature
from spanscore.stats import Bootstrap

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from spanscore.align.documents import Extra
    from spanscore.align.labels import GivenMap
    from spanscore.align.resolve import Resolve
    from spanscore.align.taxonomy import Level
    from spanscore.corpus import Corpus


@dataclass(frozen=True)
class Plan:
    """How systems are scored, and what is kept beside the counts."""

    measures: tuple[Measure, ...]
    beta: float = 1.0
    label_map: LabelMap = field(default_factory=LabelMap)
    """What labels are renamed to on both sides."""
    gold_map: LabelMap = field(default_factory=LabelMap)
    """What gold labels are renamed to; it overrides `label_map`."""
    pred_map: LabelMap = field(default_factory=LabelMap)
    """What predicted labels are renamed to; it overrides `label_map`."""
    taxonomy: Taxonomy | None = None
    """What labels mean, after the maps; None: what they are called."""
    levels: tuple[Level, ...] = ()
    """The levels of the taxonomy at which to score; without any, labels are aligned by branch, without a level."""
    shared_types: bool = False
    """Whether only types that every side has are scored."""
    shared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The types that every side has, by level, once they are known."""
    extra_documents: Extra = "refuse"
    resolve: Resolve = "none"
    resolve_gold: bool = True
    ignore: tuple[str, ...] = ()
    """Labels whose spans are neither right nor wrong."""
    entities: tuple[str, ...] = ()
    """The only types that are scored, after the label map; empty: all."""
    score_threshold: ScoreThresholds = field(default_factory=ScoreThresholds)
    """Minimum score of predictions."""
    annotator: str = ""
    """Whose annotations are the gold data, if it has several: a name, all, majority, union or intersection."""
    by: tuple[str, ...] = ()
    ci: Bootstrap | None = None
    keep_spans: bool = False
    """Whether to keep the spans, from which errors and slices are computed later."""
    keep_found: bool = False
    """Whether to keep for each gold span whether it was found."""

    @classmethod
    @checked
    def of(
        cls,
        measures: str | Measure | Sequence[str | Measure] | None = None,
        *,
        beta: float = 1.0,
        label_map: GivenMap = None,
        gold_map: GivenMap = None,
        pred_map: GivenMap = None,
        align: str | None = None,
        taxonomy: Taxonomy | str | Path | Mapping[str, Any] | None = None,
        levels: str | Sequence[str] = (),
        by: str | Sequence[str] = (),
        ignore: str | Sequence[str] = (),
        entities: str | Sequence[str] = (),
        score_threshold: ScoreThresholds | float | str | Mapping[str, float] | None = None,
        ci: Bootstrap | float | None = None,
        annotator: str | None = None,
        shared_types: bool = False,
        shared: Mapping[str, Sequence[str]] = MappingProxyType({}),
        extra_documents: Extra = "refuse",
        resolve: Resolve = "none",
        resolve_gold: bool = True,
        keep_spans: bool = False,
        keep_found: bool = False,
    ) -> Plan:
        """Build a plan from what users write; `ci` may be a confidence level.

        Labels are aligned by the taxonomy if `align` is "taxonomy", or a taxonomy or levels are given.
        """
        chosen = tuple(expand(DEFAULT if measures is None else measures))
        if not chosen:
            raise UsageError("give at least one measure.")
        if not 0 < beta <= 1000:
            raise UsageError("beta must be greater than 0 and at most 1000.")
        ignored = (ignore,) if isinstance(ignore, str) else tuple(ignore)
        if ignored and (other_kind := next((one for one in chosen if not one.counts_spans), None)):
            raise UsageError(f"{other_kind!r} does not count spans; labels can be ignored only by measures that do.")
        only = (entities,) if isinstance(entities, str) else tuple(entities)
        mapped, gold_mapped, pred_mapped = map(LabelMap.of, (label_map, gold_map, pred_map))
        return cls(
            chosen,
            beta,
            replace(mapped, only=(*only, *ignored)) if only else mapped,
            gold_mapped,
            pred_mapped,
            Taxonomy.chosen(align, taxonomy, levels),
            levels_of(levels),
            shared_types,
            {level: tuple(names) for level, names in shared.items()},
            extra_documents,
            resolve,
            resolve_gold,
            by=(by,) if isinstance(by, str) else tuple(by),
            ignore=ignored,
            entities=only,
            score_threshold=ScoreThresholds.of(score_threshold),
            ci=_clustered(ci if ci is None or isinstance(ci, Bootstrap) else Bootstrap(ci), annotator),
            annotator=annotator or "",
            keep_spans=keep_spans,
            keep_found=keep_found,
        )

    def gold(self, given: Corpus) -> Corpus:
        """Return the gold data that counts: all of it, or that of the chosen annotator."""
        return chosen_gold(given, self.annotator)

    @cached_property
    def views(self) -> tuple[View, ...]:
        """How labels are called at each level; a single view if no levels were asked for."""
        return tuple(self._view(level) for level in self.levels or (None,))

    def _view(self, level: Level | None) -> View:
        sides = (
            LevelNaming(
                self.label_map.updated(own),
                self.taxonomy,
                level or DEFAULT_LEVEL,
                self.entities,
                self.ignore,
                frozenset(self.shared[level or ""]) if self.shared else None,
            )
            for own in (self.gold_map, self.pred_map)
        )
        return View(level, *sides)

    @property
    def columns(self) -> list[tuple[Measure, int]]:
        """Everything that is counted: each measure at each view, by its number."""
        return [(one, number) for one in self.measures for number in range(len(self.views))]

    def sharing(self, gold: Iterable[str], systems: Iterable[Iterable[str]]) -> Plan:
        """Return the plan that scores only what every side can have, given the labels that each can have."""
        ours, theirs = list(gold), [list(labels) for labels in systems]
        shared: dict[str, tuple[str, ...]] = {}
        for view in self.views:
            sides = [{view.gold.called(label) for label in ours}]
            sides += [{view.pred.called(label) for label in labels} for labels in theirs]
            shared[view.level or ""] = tuple(sorted(name for name in set.intersection(*sides) if name is not None))
        return replace(self, shared=shared)

    def pair(self, gold: Corpus, pred: Corpus, system: str, view: View | None = None) -> Pairing:
        """Pair the gold data with a system's spans, with labels as a view names them (default: the first view)."""
        naming = view or self.views[0]
        gold, pred, chosen = choose(gold, pred, self.annotator)
        found = pair(
            gold,
            pred,
            system=system,
            label_map=naming.gold,
            pred_map=naming.pred,
            extra_documents=self.extra_documents,
            resolve=self.resolve,
            resolve_gold=self.resolve_gold,
            ignore=self.ignore,
        )
        if any(ANNOTATOR in (*one.identity, *one.needs) for one in self.measures):
            chosen.pop(("gold", "annotators", ""), None)  # a measure that tells them apart
        return replace(found, account=found.account + chosen) if chosen else found

    def signature(self, measure: Measure, gold: str, pred: str, view: View | None = None) -> str:
        """Return the signature of a measure on data with these fingerprints, in a view (default: the first)."""
        resolve = self.resolve if self.resolve_gold or self.resolve == "none" else f"{self.resolve}:pred"
        resolve = resolve if not measure.masks else "none"
        resolve += f"|ignore:{','.join(sorted(self.ignore))}" if self.ignore else ""
        resolve += f"|annotator:{printable(self.annotator)}" if self.annotator else ""
        labels = "|".join((self.label_map.digest, *self._alignment(view or self.views[0])))
        line = signature(measure, gold, pred, labels, self.extra_documents, resolve, self.beta)
        return line if self.ci is None else f"{line}|ci:{self.ci}"

    def _alignment(self, view: View) -> Iterable[str]:
        """Yield what labels depend on besides the label map, for signatures."""
        for name, own in (("gold-map", self.gold_map), ("pred-map", self.pred_map)):
            if own.to:
                yield f"{name}:{own.digest}"
        if self.taxonomy is not None and view.level != "raw":
            yield f"taxonomy:{self.taxonomy.digest}"
            yield f"level:{view.level or DEFAULT_LEVEL}"
        if view.gold.shared is not None:
            said = json.dumps(sorted(view.gold.shared)).encode()
            yield f"shared:{blake2b(said, digest_size=4).hexdigest()}"

    def notes(self, gold: Collection[str], pred: Collection[str]) -> list[str]:
        """Return warnings about labels that are named in the call, but that no span has."""
        notes = self.label_map.unused({*gold, *pred})
        notes += self.gold_map.unused(gold, "gold") + self.pred_map.unused(pred, "predicted")
        known = self._known(gold, pred)
        for option, named in (("--ignore", self.ignore), ("--score-threshold", self.score_threshold.by_type)):
            absent = ", ".join(printable(label) for label in named if label not in known)
            notes += [f"{option} names {absent}, but no span has that label."] if absent else []
        return notes

    def _known(self, gold: Collection[str], pred: Collection[str]) -> set[str]:
        """Return the labels of both sides, as they are mapped."""
        return {
            name
            for view in self.views
            for naming, labels in ((view.gold, gold), (view.pred, pred))
            for label in labels
            for name in naming.known_as(label)
        }

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
        own = any(one.macro_over_documents for one in self.measures)
        return self.keep_spans or bool(self.by) or self.ci is not None or own

    def refuse_unknown_attributes(self, attributes: Collection[str]) -> None:
        """Refuse a measure that compares an attribute that no span has."""
        for one in self.measures:
            for name in one.needs:
                if name not in attributes:
                    what = unknown("attribute of spans", name, {*attributes, *FIELDS})
                    raise UsageError(f"{printable(repr(one))}: {what}")

    def refuse_unknown_entities(self, gold: Collection[str], pred: Collection[str]) -> None:
        """Refuse a type that no span has: probably a typo."""
        known = self._known(gold, pred)
        for name in self.entities:
            if name not in known:
                raise UsageError(unknown("entity type", name, known))

    def settings(self) -> dict[str, Any]:
        """Return what is needed to score the same again, as JSON values."""
        ci = self.ci
        return {
            "measures": [repr(one) for one in self.measures],
            "beta": self.beta,
            "label_map": dict(self.label_map.to),
            **({"gold_map": dict(self.gold_map.to)} if self.gold_map.to else {}),
            **({"pred_map": dict(self.pred_map.to)} if self.pred_map.to else {}),
            **({} if self.taxonomy is None else {"align": "taxonomy"}),
            **({} if self.taxonomy is None or (own := self.taxonomy.setting()) is None else {"taxonomy": own}),
            **({"levels": list(self.levels)} if self.levels else {}),
            **({"shared": {level: list(names) for level, names in self.shared.items()}} if self.shared else {}),
            "extra_documents": self.extra_documents,
            "resolve": self.resolve,
            **({} if ci is None else {"ci": [ci.level, ci.resamples, ci.seed, ci.cluster]}),
            **({} if self.resolve_gold else {"resolve_gold": False}),
            **({"annotator": self.annotator} if self.annotator else {}),
            **({"by": list(self.by)} if self.by else {}),
            **({"ignore": list(self.ignore)} if self.ignore else {}),
            **({"entities": list(self.entities)} if self.entities else {}),
            **({"score_threshold": self.score_threshold.setting()} if self.score_threshold else {}),
        }

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any], **more: Any) -> Plan:
        """Build the plan that `settings` describes."""
        return cls.of(
            settings["measures"],
            beta=settings["beta"],
            label_map=settings["label_map"],
            gold_map=settings.get("gold_map"),
            pred_map=settings.get("pred_map"),
            align=settings.get("align"),
            taxonomy=settings.get("taxonomy"),
            levels=settings.get("levels", ()),
            shared=settings.get("shared", {}),
            extra_documents=settings["extra_documents"],
            resolve=settings["resolve"],
            resolve_gold=settings.get("resolve_gold", True),
            annotator=settings.get("annotator"),
            by=tuple(settings.get("by", ())),
            ignore=tuple(settings.get("ignore", ())),
            entities=tuple(settings.get("entities", ())),
            score_threshold=settings.get("score_threshold"),
            ci=Bootstrap(*settings["ci"]) if "ci" in settings else None,
            **more,
        )


SETTINGS = names_of(Plan.of) - {"shared", "keep_spans", "keep_found"}
"""What users can set when they score."""


def _clustered(ci: Bootstrap | None, annotator: str | None) -> Bootstrap | None:
    """Return the bootstrap that resamples a document with all its annotators, where each of them counts."""
    if ci is None or annotator != ALL or ci.cluster is not None:
        return ci
    return replace(ci, cluster=f"meta.{DOCUMENT}")
