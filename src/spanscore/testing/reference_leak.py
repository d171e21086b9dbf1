"""Reference implementation of the measures of what stays readable after masking."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from typing import Any

from spanscore.testing.plain import Mention, Side, Span, Text, overlap


def leak(measure: Any, gold: Side, pred: Side, text: Text, counts: Any) -> None:
    """Count gold spans by what masking all predictions does to them."""
    for span in gold:
        counts[span[2]][_fate(measure, span, pred, text)] += 1
        counts[span[2]]["annotated"] += 1
    _predictions(gold, pred, counts)


def leak_entity(measure: Any, gold: Side, pred: Side, text: Text, counts: Any) -> None:
    """Count entities by what masking does to all their mentions."""
    groups: dict[Any, list[Span]] = defaultdict(list)
    for mention in sorted(gold.mentions, key=lambda one: one.span):
        groups[entity_of(mention, text)].append(mention.span)
    for spans in groups.values():
        kind = spans[0][2]
        counts[kind][_all(_fate(measure, span, pred, text) for span in spans)] += 1
        counts[kind]["annotated"] += 1
    _predictions(gold, pred, counts)


def leak_document(measure: Any, gold: Side, pred: Side, text: Text, counts: Any) -> None:
    """Count the document by what masking does to all its gold spans."""
    if gold:
        counts[""][_all(_fate(measure, span, pred, text) for span in gold)] += 1
        counts[""]["annotated"] += 1
    counts[""]["predicted"] += bool(pred)
    counts[""]["needless"] += bool(pred) and not gold


def leak_char(measure: Any, gold: Side, pred: Side, text: Text, counts: Any) -> None:
    """Count characters of gold spans, once for each type."""
    masked = _masked(pred)
    for kind, at in {(span[2], at) for span in gold for at in _counted(measure, span, text)}:
        counts[kind]["hidden" if at in masked else "exposed"] += 1
        counts[kind]["annotated"] += 1
    counts[""]["predicted"] += len(masked)
    counts[""]["needless"] += len(masked - _masked(gold))


def _masked(spans: set[Span]) -> set[int]:
    return {at for start, end, _ in spans for at in range(start, end)}


def _counted(measure: Any, span: Span, text: Text) -> set[int]:
    """Return the characters of a span that count: not those to ignore, unless there are no others."""
    every = set(range(span[0], span[1]))
    if text.text is None:
        return every
    return {at for at in every if not _ignored(text.text[at], measure.ignore)} or every


def _ignored(letter: str, ignore: str) -> bool:
    if ignore == "none":
        return False
    if letter.isspace():
        return True
    kind = unicodedata.category(letter)
    return ignore == "punct" and (kind.startswith(("P", "Z")) or kind in {"Sc", "Sk", "Sm"})


def _fate(measure: Any, span: Span, pred: set[Span], text: Text) -> str:
    counted, masked = _counted(measure, span, text), _masked(pred)
    if counted <= masked:
        return "hidden"
    return "partly" if counted & masked else "exposed"


def _all(fates: Any) -> str:
    found = set(fates)
    return found.pop() if len(found) == 1 else "partly"


def entity_of(mention: Mention, text: Text) -> Any:
    """Return what mentions of one entity have in common."""
    for name in ("entity", "kbid", "eid"):
        if mention.attrs.get(name) is not None:
            return name, mention.attrs[name]
    start, end, kind = mention.span
    return (kind, text.text[start:end].casefold()) if text.text is not None else ("a span of its own", mention.span)


def _predictions(gold: Side, pred: Side, counts: Any) -> None:
    """Count predictions, which have no type here, and those that overlap no gold span."""
    for one in pred:
        counts[""]["predicted"] += 1
        counts[""]["needless"] += not any(overlap(one[:2], span[:2]) for span in gold)
