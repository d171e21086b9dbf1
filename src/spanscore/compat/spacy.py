"""A scorer for spaCy's training configs, registered as `spanscore.scorer.v1`.

```ini
[components.ner.scorer]
@scorers = "spanscore.scorer.v1"
measures = ["exact", "iou(threshold=0.5)"]

[training.score_weights]
exact_f = 0.5
iou_f = 0.5
```
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from spanscore.corpus import Corpus
from spanscore.engine import score
from spanscore.errors import UsageError
from spanscore.measures import measure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from spanscore.measures import Measure
    from spanscore.result import Score


def make_scorer(
    measures: Sequence[str] = ("exact",), group: str = "", beta: float = 1.0
) -> Callable[..., dict[str, Any]]:
    """Return a scorer of entities, or of the spans of a group, by these measures.

    Scores are called `exact_p`, `exact_r`, `exact_f` and `exact_per_type`, after the name of the measure; an undefined
    score is None. Examples without gold entities that say so (missing annotation) do not count.
    """
    chosen = {one.name: one for one in map(measure, measures)}
    if len(chosen) < len(measures):
        raise UsageError("spanscore.scorer.v1: two measures have the same name; scores are reported by name.")

    def scorer(examples: Iterable[Any], **_: Any) -> dict[str, Any]:
        return _scores(list(examples), chosen, group, beta)

    return scorer


def _scores(examples: list[Any], chosen: dict[str, Measure], group: str, beta: float) -> dict[str, Any]:
    kept = examples if group else [one for one in examples if one.reference.has_annotation("ENT_IOB")]
    names = [f"{name}_{number}" for name in chosen for number in ("p", "r", "f", "per_type")]
    if not kept:
        return dict.fromkeys(names)
    ids = [str(number) for number in range(len(kept))]
    gold, pred = (
        Corpus.from_spacy([getattr(one, side) for one in kept], group=group, ids=ids)
        for side in ("reference", "predicted")
    )
    result = score(gold, pred, list(chosen.values()), beta=beta)
    found: dict[str, Any] = {}
    for name, one in zip(chosen, result.scores, strict=True):
        found |= {f"{name}_{number}": value for number, value in _numbers(one.overall).items()}
        found[f"{name}_per_type"] = {label: _numbers(of_type) for label, of_type in one.by_type.items()}
    return found


def _numbers(one: Score) -> dict[str, float | None]:
    numbers = {"p": one.precision, "r": one.recall, "f": one.f}
    return {name: None if math.isnan(number) else number for name, number in numbers.items()}
