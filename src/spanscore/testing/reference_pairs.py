"""The specification of spans that are paired one to one, written down as plainly as can be."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from spanscore.testing.plain import Side, Span, Text, overlap, share

if TYPE_CHECKING:
    from collections.abc import Callable


def semeval(measure: Any, gold: set[Span], pred: set[Span], text: Text, counts: Any) -> None:
    """Pairs, one to one, by what is right about them."""
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
    """Of all assignments the one with the most same-type pairs, then the most overlap, then the earliest partners."""
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


def instance(measure: Any, gold: Side, pred: Side, text: Text, counts: Any) -> None:
    """Annotations in the same place, or nearly, with the same subtype."""

    def right(g: Span, p: Span) -> bool:
        mine, other = gold.best[g].attrs, pred.best[p].attrs
        if measure.name == "sandbox.subtype":
            place = [str(attrs.get("locationType", "")).upper() for attrs in (mine, other)]
            return g == p and place[0] == place[1] and mine.get("dateFormat") == other.get("dateFormat")
        if measure.name == "sandbox.hipaa":
            phi = {"CITY": True, "HOSPITAL": measure.table == "i2b2", "STATE": measure.table == "i2b2", "NONE": None}
            return g == p and len({phi[str(attrs.get("locationType")).upper()] for attrs in (mine, other)}) == 1
        if measure.name == "sandbox.instance-relax" and g[2] == p[2]:
            near = g[0] == p[0] if measure.anchor == "start" else abs(g[0] - p[0]) <= measure.tolerance
            return near and abs(g[1] - p[1]) <= measure.tolerance
        return g == p

    for span in gold:
        counts[span[2]]["annotated"] += 1
    for span in pred:
        counts[span[2]]["predicted"] += 1
    for label in {span[2] for span in gold}:
        mine = [span for span in sorted(gold) if span[2] == label]
        counts[label]["tp"] += _most_pairs(mine, sorted(pred), right)


def _most_pairs(golds: list[Span], preds: list[Span], right: Callable[[Span, Span], bool]) -> int:
    """The size of the largest one-to-one matching."""
    owner: dict[Span, Span] = {}

    def find(one: Span, tried: set[Span]) -> bool:
        for other in preds:
            if right(one, other) and other not in tried:
                tried.add(other)
                if other not in owner or find(owner[other], tried):
                    owner[other] = one
                    return True
        return False

    return sum(find(one, set()) for one in golds)


def sandbox_token(measure: Any, gold: Side, pred: Side, text: Text, counts: Any) -> None:
    """Tokens of annotations, by offset or by text."""
    whole = text.text or ""
    tokens = [
        {(label, start + m.start(), m[0]) for start, end, label in side for m in re.finditer(r"\S+", whole[start:end])}
        for side in (gold, pred)
    ]
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
        used: tuple[set[Any], set[Any]] = set(), set()
        owned: list[tuple[dict[str, int], dict[str, int]]] = [(defaultdict(int), defaultdict(int)) for _ in groups]
        for number, side in enumerate((gold, pred)):
            for span in sorted(s for s in side if s[2] == label):
                group = next((i for i, one in enumerate(groups) if span in one[number]), None)
                for match in re.finditer(r"\S+", whole[span[0] : span[1]]):
                    token = (span[0] + match.start(), match[0])
                    if token not in used[number]:
                        used[number].add(token)
                        if group is not None:
                            owned[group][number][match[0]] += 1
        counts[label]["tp"] += sum(min(n, other[word]) for mine, other in owned for word, n in mine.items())


def _linked(golds: list[Span], preds: list[Span]) -> list[tuple[set[Span], set[Span]]]:
    """Spans of both sides that overlap, and those that overlap these, and so on."""
    groups: list[tuple[set[Span], set[Span]]] = []
    for g in golds:
        for p in preds:
            if overlap(g[:2], p[:2]):
                touched = [group for group in groups if g in group[0] or p in group[1]]
                merged = ({g}.union(*(t[0] for t in touched)), {p}.union(*(t[1] for t in touched)))
                groups = [group for group in groups if group not in touched] + [merged]
    return groups
