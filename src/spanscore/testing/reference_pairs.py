"""Reference implementation of the measures that pair spans one to one."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from spanscore.testing.plain import Side, Span, Text, overlap, share

if TYPE_CHECKING:
    from collections.abc import Callable


def semeval(measure: Any, gold: set[Span], pred: set[Span], text: Text, counts: Any) -> None:
    """Pair spans one to one, and count the pairs by what is right about them."""
    golds, preds = sorted(gold), sorted(pred)
    pairs = [(g, p) for g in golds for p in preds if g == p]
    for rule in (lambda g, p: g[:2] == p[:2], lambda g, p: overlap(g[:2], p[:2]) and share(g, p) >= measure.overlap):
        free = [g for g in golds if g not in dict(pairs)]
        left = [p for p in preds if p not in [other for _, other in pairs]]
        pairs += _best_assignment(free, left, rule)[1]
    for g, p in pairs:
        same, exact = g[2] == p[2], g[:2] == p[:2]
        kind = {
            "semeval.strict": "correct" if same and exact else "incorrect",
            "semeval.exact": "correct" if exact else "incorrect",
            "semeval.partial": "correct" if exact else "partial",
            "semeval.type": "correct" if same else "incorrect",
        }[measure.name]
        counts[g[2]][kind] += 1
    for g in golds:
        counts[g[2]]["missed"] += g not in [one for one, _ in pairs]
    for p in preds:
        counts[p[2]]["spurious"] += p not in [one for _, one in pairs]


def _best_assignment(golds: list[Span], preds: list[Span], rule: Any) -> tuple[tuple[Any, ...], list[Any]]:
    """Return the assignment with the most same-type pairs, then the most overlap, then the earliest partners."""
    if not golds:
        return (0, 0, ()), []
    first, rest = golds[0], golds[1:]
    (same, overlap, places), pairs = _best_assignment(rest, preds, rule)
    best = (same, overlap, (float("-inf"), *places)), pairs
    for place, other in enumerate(preds):
        if rule(first, other):
            (same, overlap, places), pairs = _best_assignment(rest, [p for p in preds if p != other], rule)
            shared = max(min(first[1], other[1]) - max(first[0], other[0]), 1)
            value = (same + (first[2] == other[2]), overlap + shared, (-place, *places))
            if value > best[0]:
                best = value, [(first, other), *pairs]
    return best


SUBTYPES = ("dateFormat", "addressType", "locationType", "idType", "contactType", "subtype")
Annotation = tuple[Span, tuple[Any, ...]]
"""A span with its text and subtypes, which make two annotations in one place different."""


def _annotations(side: Side) -> list[Annotation]:
    """Return the distinct annotations of one side, sorted."""
    found = {(one.span, tuple(one.attrs.get(name) for name in ("text", *SUBTYPES))) for one in side.mentions}
    return sorted(found, key=repr)


def _counts(measure: Any, annotation: Annotation) -> bool:
    """Return whether a measure of subtypes counts an annotation: by its kind, or because it carries the field."""
    (_, _, label), (_, *values) = annotation
    given = {name for name, value in zip(SUBTYPES, values, strict=True) if value is not None}
    if measure.name == "sandbox.hipaa":
        return label in ("LOCATION", "PHYSICAL_ADDRESS") or bool(given & {"addressType", "locationType"})
    kinds = ("DATE", "LOCATION", "PHYSICAL_ADDRESS", "ID", "CONTACT")
    return measure.name != "sandbox.subtype" or label in kinds or bool(given)


def instance(measure: Any, gold: Side, pred: Side, text: Text, counts: Any) -> None:
    """Count annotations at the same, or nearly the same, position that agree in the fields of the measure."""

    def right(mine: Annotation, other: Annotation) -> bool:
        g, p = mine[0], other[0]
        if measure.name == "sandbox.instance-relax":
            near = g[0] == p[0] if measure.anchor == "start" else abs(g[0] - p[0]) <= measure.tolerance
            return g[2] == p[2] and near and abs(g[1] - p[1]) <= measure.tolerance
        texts = {one[1][0] for one in (mine, other) if one[1][0] is not None}
        fields = [dict(zip(SUBTYPES, one[1][1:], strict=True)) for one in (mine, other)]
        same = g == p and len(texts) <= 1
        if measure.name == "sandbox.subtype":
            places = [str(one["locationType"]).upper() for one in fields]
            return same and places[0] == places[1] and fields[0]["dateFormat"] == fields[1]["dateFormat"]
        if measure.name == "sandbox.hipaa":
            phi = {"CITY": True, "HOSPITAL": measure.table == "i2b2", "STATE": measure.table == "i2b2", "NONE": None}
            return same and len({phi[str(one["locationType"]).upper()] for one in fields}) == 1
        return same

    golds, preds = ([one for one in _annotations(side) if _counts(measure, one)] for side in (gold, pred))
    for span, _ in golds:
        counts[span[2]]["annotated"] += 1
    for span, _ in preds:
        counts[span[2]]["predicted"] += 1
    for label in {span[2] for span, _ in golds}:
        mine = [one for one in golds if one[0][2] == label]
        counts[label]["tp"] += most_pairs(mine, preds, right)


def most_pairs(golds: list[Any], preds: list[Any], right: Callable[[Any, Any], bool]) -> int:
    """Return the size of the largest one-to-one matching."""
    owner: dict[Any, Any] = {}

    def find(one: Any, tried: set[Any]) -> bool:
        for other in preds:
            if right(one, other) and other not in tried:
                tried.add(other)
                if other not in owner or find(owner[other], tried):
                    owner[other] = one
                    return True
        return False

    return sum(find(one, set()) for one in golds)


def sandbox_token(measure: Any, gold: Side, pred: Side, text: Text, counts: Any) -> None:
    """Count tokens of annotations that match by offset or by text."""
    document = text.text or ""

    def tokens_of(annotation: Annotation) -> list[tuple[int, str]]:
        (start, end, _), (own, *_) = annotation
        return [(start + m.start(), m[0]) for m in re.finditer(r"\S+", document[start:end] if own is None else own)]

    sides = [_annotations(gold), _annotations(pred)]
    tokens = [{(one[0][2], *token) for one in side for token in tokens_of(one)} for side in sides]
    for label, _, _ in tokens[0]:
        counts[label]["annotated"] += 1
    for label, _, _ in tokens[1]:
        counts[label]["predicted"] += 1
    if measure.key == "position":
        for label, _, _ in tokens[0] & tokens[1]:
            counts[label]["tp"] += 1
        return
    for label in {span[2] for span in gold}:
        groups = _linked(sorted(s for s in gold if s[2] == label), sorted(s for s in pred if s[2] == label))
        owned: list[tuple[dict[str, int], dict[str, int]]] = [(defaultdict(int), defaultdict(int)) for _ in groups]
        for number, side in enumerate(sides):
            used: set[tuple[int, str]] = set()
            for one in sorted((one for one in side if one[0][2] == label), key=lambda one: one[0]):
                group = next((i for i, linked in enumerate(groups) if one[0] in linked[number]), None)
                for token in tokens_of(one):
                    if token not in used:
                        used.add(token)
                        if group is not None:
                            owned[group][number][token[1]] += 1
        counts[label]["tp"] += sum(min(n, other[word]) for mine, other in owned for word, n in mine.items())


def _linked(golds: list[Span], preds: list[Span]) -> list[tuple[set[Span], set[Span]]]:
    """Return the connected components of overlapping gold and predicted spans."""
    groups: list[tuple[set[Span], set[Span]]] = []
    for g in golds:
        for p in preds:
            if overlap(g[:2], p[:2]):
                touched = [group for group in groups if g in group[0] or p in group[1]]
                merged = ({g}.union(*(t[0] for t in touched)), {p}.union(*(t[1] for t in touched)))
                groups = [group for group in groups if group not in touched] + [merged]
    return groups
