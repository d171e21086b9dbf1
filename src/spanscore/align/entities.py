"""Entity alignment: what the types of a dataset are called by the detector, from several sources in order."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from spanscore.align.labels import LabelMap

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_TABLE = (files("spanscore.align") / "presidio.tsv").read_text("utf-8")
"""Lines of Presidio's name for a type, a tab, and what datasets call it, in upper case with `_`."""

_DEFAULT = {
    name: target for target, names in (line.split("\t") for line in _TABLE.splitlines()) for name in names.split()
}

USER = "the user's map"
DEFAULT = "the default Presidio map"
MODEL = "the NLP configuration's model_to_presidio_entity_mapping"
RECOGNIZERS = "the recognizers configuration's supported_entity"
SUPPORTED = "the detector supports it as it is"
UNSAID = "kept as it is, since the detector does not say what it supports"
UNMAPPED = "no source knows it"


@dataclass(frozen=True)
class Aligned:
    """What became of a label, and why; `to` is None where spans of it are left out, or no source knows it."""

    label: str
    to: str | None
    why: str

    @property
    def unmapped(self) -> bool:
        """Whether no source knows the label."""
        return self.why == UNMAPPED


@dataclass(frozen=True)
class Alignment:
    """The labels of the gold data and of the detector, aligned."""

    gold: tuple[Aligned, ...]
    pred: tuple[Aligned, ...]

    @property
    def unmapped(self) -> tuple[str, ...]:
        """The gold labels that no source knows."""
        return tuple(one.label for one in self.gold if one.unmapped)

    @property
    def label_map(self) -> LabelMap:
        """The map of both sides; a label that both have is aligned the same way."""
        return LabelMap({one.label: one.to for one in (*self.pred, *self.gold) if one.to != one.label})

    def to_dict(self) -> dict[str, Any]:
        """For alignment.json."""
        return {
            side: [{"label": one.label, "to": one.to, "why": one.why} for one in listed]
            for side, listed in (("gold", self.gold), ("predicted", self.pred))
        }


def align_entities(
    gold: Iterable[str],
    pred: Iterable[str] = (),
    *,
    user: Mapping[str, str | None] | None = None,
    from_model: Mapping[str, str] | None = None,
    from_recognizers: Iterable[str] = (),
    supported: Iterable[str] | None = None,
) -> Alignment:
    """What each label becomes: by the user's map, else the default map, else the NLP configuration's, else as a type of
    the recognizers' configuration, else as a type that the detector supports.

    Labels compare case-blind, and `-`, `_` and spaces are the same. A label of the detector that no source knows stays.

    >>> found = align_entities(["per", "first-name", "Castle"], supported=["PERSON"])
    >>> [(one.label, one.to) for one in found.gold], found.unmapped
    ([('Castle', None), ('first-name', 'PERSON'), ('per', 'PERSON')], ('Castle',))
    """
    sources: list[tuple[str, Mapping[str, str | None]]] = [
        (USER, {_blind(key): value for key, value in (user or {}).items()}),
        (DEFAULT, _DEFAULT),
        (MODEL, {_blind(key): value for key, value in (from_model or {}).items()}),
        (RECOGNIZERS, {_blind(name): name for name in from_recognizers}),
        (SUPPORTED, {_blind(name): name for name in supported or ()}),
    ]

    def look_up(label: str, otherwise: Aligned) -> Aligned:
        for why, known in sources:
            if _blind(label) in known:
                return Aligned(label, known[_blind(label)], why)
        return otherwise

    def gold_label(label: str) -> Aligned:
        return look_up(label, Aligned(label, label, UNSAID) if supported is None else Aligned(label, None, UNMAPPED))

    return Alignment(
        tuple(gold_label(label) for label in sorted(set(gold))),
        tuple(look_up(label, Aligned(label, label, SUPPORTED)) for label in sorted(set(pred))),
    )


def _blind(label: str) -> str:
    return label.strip().upper().replace("-", "_").replace(" ", "_")
