"""Levels: what the labels of both sides are called after maps, at one level of the taxonomy, and what is left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from spanscore.align.labels import LabelMap, Naming
from spanscore.align.taxonomy import DEFAULT_LEVEL

if TYPE_CHECKING:
    from spanscore.align.taxonomy import Level, Taxonomy


@dataclass(frozen=True)
class LevelNaming(Naming):
    """What one side's labels are called at a level.

    A label is renamed by the map, then called what the taxonomy calls it at this level. Users select and ignore types
    by any of its names, so that the same spans count at every level.

    >>> from spanscore.align.taxonomy import built_in
    >>> naming = LevelNaming(LabelMap({"PERS": "FIRSTNAME"}), built_in(), "branch", entities=("PERSON",))
    >>> naming.name("PERS"), naming.names("PERS"), naming.name("CITY"), naming.cause("CITY")
    ('PERSON', ('FIRSTNAME', 'FIRST_NAME', 'PERSON'), None, 'deselected')
    """

    label_map: LabelMap
    taxonomy: Taxonomy | None = None
    level: Level = DEFAULT_LEVEL
    entities: tuple[str, ...] = ()
    """The only types that are scored; empty: all."""
    ignore: tuple[str, ...] = ()
    """Types that keep their name, by which they are found and ignored."""
    shared: frozenset[str] | None = None
    """The only names that are scored, because every side has them; None: all."""

    def known_as(self, label: str) -> tuple[str, ...]:
        """Return every name of a label, whether or not it is scored; none if the map drops it."""
        mapped = self.label_map.to.get(label, label)
        if mapped is None:
            return ()
        return (mapped,) if self.taxonomy is None else tuple(dict.fromkeys((mapped, *self.taxonomy.names(mapped))))

    def called(self, label: str) -> str | None:
        """Return what a label is called at this level, whether or not it is scored; None if the map drops it."""
        mapped = self.label_map.to.get(label, label)
        return mapped if mapped is None or self.taxonomy is None else self.taxonomy.at(self.level, mapped)

    def name(self, label: str) -> str | None:
        """Return what a label is called at this level; None if its spans are left out."""
        names = self.known_as(label)
        if ignored := next((name for name in names if name in self.ignore), None):
            return ignored
        name = self.called(label) if not self.entities or not set(self.entities).isdisjoint(names) else None
        return name if self.shared is None or name in self.shared else None

    def names(self, label: str) -> tuple[str, ...]:
        """Return every name of a label; none if its spans are left out."""
        return () if self.name(label) is None else self.known_as(label)

    def cause(self, label: str) -> str:
        """Return why spans of a label are left out."""
        names = self.known_as(label)
        if not names:
            return "dropped"
        return "deselected" if self.entities and set(self.entities).isdisjoint(names) else "unshared"


@dataclass(frozen=True)
class View:
    """How the labels of both sides are called; `level` is None if no levels were asked for."""

    level: Level | None
    gold: LevelNaming
    pred: LevelNaming

    @property
    def suffix(self) -> str:
        """What is added to a sentence that holds for this level alone."""
        return "" if self.level is None else f" (level {self.level})"
