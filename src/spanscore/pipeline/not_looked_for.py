"""Which annotated types a detector does not look for, as it is configured: they are missed for that reason alone."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from spanscore.align.entities import align_entities
from spanscore.align.levels import LevelNaming
from spanscore.errors import plural, printable
from spanscore.pipeline.languages import languages_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from spanscore.align.entities import Alignment
    from spanscore.align.taxonomy import Level, Taxonomy
    from spanscore.corpus import Corpus
    from spanscore.detectors import Description, EntityTypes


def missing_types(
    gold: Corpus,
    alignment: Alignment,
    types: EntityTypes,
    sources: Mapping[str, Any],
    entities: Collection[str] = (),
    level: Level = "raw",
) -> dict[str, int]:
    """Count the gold spans by type that the detector does not look for; empty if it cannot list its types.

    Types are compared at a level of the taxonomy, if types are aligned by one.
    """
    looked = types.supported if types.looked_for is None else types.looked_for
    if looked is None:
        return {}
    taxonomy: Taxonomy | None = sources.get("taxonomy")
    theirs = align_entities((), looked, **sources)
    naming = LevelNaming(theirs.pred_map, taxonomy, level)
    known = {naming.called(one.label) for one in theirs.pred}
    naming = LevelNaming(alignment.gold_map, taxonomy, level, tuple(entities))
    counts: Counter[str] = Counter()
    for label, count in zip(gold.labels, np.bincount(gold.label, minlength=len(gold.labels)).tolist(), strict=True):
        to = naming.name(label)
        if count and to is not None and to not in known:
            counts[to] += count
    return dict(sorted(counts.items()))


def by_language(
    gold: Corpus,
    alignment: Alignment,
    description: Description,
    sources: Mapping[str, Any],
    entities: Collection[str] = (),
    level: Level = "raw",
) -> dict[str, dict[str, int]]:
    """Count the same in each language, if each document has its own."""
    codes = np.array(languages_of(gold))
    found = {}
    for code, one in description.by_language.items():
        part = gold.take(np.flatnonzero(codes == code))
        found[code] = missing_types(part, alignment, one.types, sources, entities, level)
    return {code: missing for code, missing in found.items() if missing}


def notes(missing: Mapping[str, int], in_languages: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Yield a sentence about the types that are not looked for; one per language if each document has its own."""
    if not in_languages:
        yield from _sentence("the detector does not look for", missing)
    for code, there in in_languages.items():
        yield from _sentence(f"in {code}, the detector does not look for", there)


def _sentence(start: str, missing: Mapping[str, int]) -> Iterator[str]:
    if missing:
        listed = ", ".join(f"{printable(name)} ({plural(count, 'gold span')})" for name, count in missing.items())
        one = sum(missing.values()) == 1
        count, covered = ("it counts", "it") if one else ("they count", "them")
        yield f"{start} {listed}; {count} as missed where no other prediction covers {covered}."
