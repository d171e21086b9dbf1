"""Entity alignment: map the labels of a dataset to the entity types of a detector, using several sources in order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanscore.align.labels import LabelMap

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from spanscore.align.taxonomy import Taxonomy

_TABLE = Path(__file__).with_name("presidio.tsv").read_text("utf-8")
"""Lines of a Presidio entity type, the names that datasets use (in upper case with `_`), and where they come from.

The names from `presidio-evaluator 0.2.5` are its `PresidioAnalyzerWrapper.presidio_entities_map`, all of it; that is
the last release that has this map. All other lines are additions.
"""

_DEFAULT = {
    name: None if target == "O" else target  # the tag of tokens that are not part of an entity
    for target, names, _ in (line.split("\t") for line in _TABLE.splitlines())
    for name in names.split()
}

USER = "the user's map"
DEFAULT = "the default Presidio map"
TAXONOMY = "the taxonomy"
MODEL = "the NLP configuration's model_to_presidio_entity_mapping"
RECOGNIZERS = "the recognizers configuration's supported_entity"
SUPPORTED = "supported by the detector"
UNSAID = "kept, because the detector does not list its supported types"
UNMAPPED = "not found in any source"


@dataclass(frozen=True)
class Aligned:
    """The type that a label is mapped to, and why; `to` is None if its spans are dropped or no source maps it."""

    label: str
    to: str | None
    why: str

    @property
    def unmapped(self) -> bool:
        """Whether no source maps the label."""
        return self.why == UNMAPPED


@dataclass(frozen=True)
class Alignment:
    """The aligned labels of the gold data and of the detector."""

    gold: tuple[Aligned, ...]
    pred: tuple[Aligned, ...]

    @cached_property
    def unmapped(self) -> tuple[str, ...]:
        """The gold labels that no source maps."""
        return tuple(one.label for one in self.gold if one.unmapped)

    @property
    def gold_map(self) -> LabelMap:
        """The label map for the gold data."""
        return _label_map(self.gold)

    @property
    def pred_map(self) -> LabelMap:
        """The label map for the predictions."""
        return _label_map(self.pred)

    def to_dict(self) -> dict[str, Any]:
        """Return the contents of alignment.json."""
        return {
            side: [{"label": one.label, "to": one.to, "why": one.why} for one in listed]
            for side, listed in (("gold", self.gold), ("predicted", self.pred))
        }


def _label_map(side: tuple[Aligned, ...]) -> LabelMap:
    return LabelMap({one.label: one.to for one in side if one.to != one.label})


def align_entities(
    gold: Iterable[str],
    pred: Iterable[str] = (),
    *,
    user: Mapping[str, str | None] | None = None,
    user_gold: Mapping[str, str | None] | None = None,
    user_pred: Mapping[str, str | None] | None = None,
    from_model: Mapping[str, str] | None = None,
    from_recognizers: Iterable[str] = (),
    supported: Iterable[str] | None = None,
    taxonomy: Taxonomy | None = None,
) -> Alignment:
    """Map every label to an entity type, using the first source that knows the label.

    The sources are, in order: the user's map of this side, that of both sides, the default map or the taxonomy, the NLP
    configuration, the recognizers configuration, and the types that the detector supports. Labels compare
    case-insensitively, and `-`, `_` and spaces are equal. A detector label that no source knows stays as it is, unless
    its gold spans are left out for the same reason.

    >>> found = align_entities(["per", "first-name", "Castle"], supported=["PERSON"])
    >>> [(one.label, one.to) for one in found.gold], found.unmapped
    ([('Castle', None), ('first-name', 'PERSON'), ('per', 'PERSON')], ('Castle',))
    """
    own = {
        side: {normalized(key): to for entries in (user, more) for key, to in (entries or {}).items()}
        for side, more in (("gold", user_gold), ("pred", user_pred))
    }
    others: list[tuple[str, Mapping[str, str | None]]] = [
        *([(DEFAULT, _DEFAULT)] if taxonomy is None else []),
        (MODEL, {normalized(key): value for key, value in (from_model or {}).items()}),
        (RECOGNIZERS, {normalized(name): name for name in from_recognizers}),
        (SUPPORTED, {normalized(name): name for name in supported or ()}),
    ]

    def look_up(label: str, side: str, otherwise: Aligned) -> Aligned:
        if normalized(label) in own[side]:
            return Aligned(label, own[side][normalized(label)], USER)
        if taxonomy is not None and (found := taxonomy.resolve(label)).type is not None:
            return Aligned(label, found.type, f"{TAXONOMY} ({found.why})")
        for why, known in others:
            if normalized(label) in known:
                return Aligned(label, known[normalized(label)], why)
        return otherwise

    def gold_label(label: str) -> Aligned:
        unknown = Aligned(label, label, UNSAID) if supported is None else Aligned(label, None, UNMAPPED)
        return look_up(label, "gold", unknown)

    ours = {label: gold_label(label) for label in sorted(set(gold))}

    def pred_label(label: str) -> Aligned:
        unknown = ours[label] if label in ours and ours[label].unmapped else Aligned(label, label, SUPPORTED)
        return look_up(label, "pred", unknown)

    return Alignment(tuple(ours.values()), tuple(pred_label(label) for label in sorted(set(pred))))


def normalized(label: str) -> str:
    """Return a label as entity alignment compares it."""
    return label.strip().upper().replace("-", "_").replace(" ", "_")
