"""Reference implementation of the measures of mentions, links and clusterings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spanscore.testing.plain import Counts, Mention, Side, Text, overlap, share

if TYPE_CHECKING:
    from collections.abc import Callable

    from spanscore.corpus.records import Document


def _filtered(name: str, mentions: list[Mention]) -> list[Mention]:
    if name == "is_first":
        first: dict[Any, Mention] = {}
        for mention in sorted(mentions, key=lambda one: (one.span[0], -one.span[1], one.order())):
            first.setdefault((mention.document, mention.field("eid")), mention)
        return list(first.values())
    if name == "is_linked":
        return [one for one in mentions if one.field("kbid") is not None]
    if name == "is_nil":
        return [one for one in mentions if one.field("eid") is not None and one.field("kbid") is None]
    return mentions


def _add(counts: Any, name: str, credit: float) -> None:
    """Add credit to a count; fractional credit is counted in units of 2**-36."""
    if credit == 1:
        counts[name] += 1
    elif credit > 0:
        counts[f"{name}_part"] += round(credit * 2**36)


def sets(measure: Any, gold: Side, pred: Side, text: Text, counts: Any) -> None:
    """Count keys that are in both sets."""
    sides = [{m.key(measure.fields): m for m in _filtered(measure.filter, side.mentions)} for side in (gold, pred)]
    for (mine, other), names in zip((sides, sides[::-1]), (("rtp", "annotated"), ("ptp", "predicted")), strict=True):
        for key, mention in mine.items():
            label = mention.span[2] if measure.by_type else ""
            counts[label][names[0]] += key in other
            counts[label][names[1]] += 1


def overlap_share(measure: Any, gold: Side, pred: Side, text: Text, counts: Any) -> None:
    """Credit each mention with the share of it that the other side covers."""
    sides = [_once(measure, _filtered(measure.filter, side.mentions)) for side in (gold, pred)]
    fields = [name for name in measure.fields if name not in ("span", "docid")]
    names = (("rtp", "annotated"), ("ptp", "predicted"))
    for number, (mine, other) in enumerate((sides, sides[::-1])):
        if measure.others == "count":
            for mention in _once(measure, (gold, pred)[number].mentions):
                counts[mention.span[2] if measure.by_type else ""][names[number][1]] += 1
        for mention in mine:
            shares = [
                share(mention.span, one.span)
                for one in other
                if one.key(fields) == mention.key(fields) and overlap(mention.span[:2], one.span[:2])
            ]
            credit = max(shares, default=0.0) if measure.strategies[number] == "max" else _sum(mention, other, fields)
            row = counts[mention.span[2] if measure.by_type else ""]
            _add(row, names[number][0], credit)
            row[names[number][1]] += measure.others == "drop"


def _once(measure: Any, mentions: list[Mention]) -> list[Mention]:
    """Return one mention for each key; without the span in the key, every mention."""
    if "span" not in measure.fields and not {"docid", "start", "end"} <= set(measure.fields):
        return mentions
    return list({one.key(measure.fields): one for one in reversed(mentions)}.values())


def _sum(mention: Mention, others: list[Mention], fields: list[str]) -> float:
    start, end, _ = mention.span
    near = [one.span for one in others if one.key(fields) == mention.key(fields)]
    if start == end:
        return float(any(span[:2] == (start, end) for span in near))
    return sum(any(a <= i < b for a, b, _ in near) for i in range(start, end)) / (end - start)


def _clusters(measure: Any, mentions: list[Mention]) -> dict[Any, set[Any]]:
    """Return the keys of the mentions of each entity; None is the entity of mentions without an id."""
    found: dict[Any, set[Any]] = {}
    for mention in mentions:
        found.setdefault(mention.field("eid"), set()).add(mention.key(measure.fields))
    return found


def _clustering(measure: Any, documents: list[tuple[Document, Document | None]]) -> Counts:
    """Compare clusterings by the definition of the measure."""
    sides = []
    for number in range(2):
        mentions = [m for pair in documents for m in _filtered(measure.filter, Side(pair[number]).mentions)]
        sides.append(_clusters(measure, mentions))
    gold, pred = (list(side.values()) for side in sides)
    agree: dict[str, Callable[..., tuple[float, float]]] = {
        "muc": _muc,
        "b_cubed": _b_cubed,
        "pairwise": lambda a, b: (len(_pairs_in(a) & _pairs_in(b)), len(_pairs_in(a))),
        "pairwise_negative": lambda a, b: (len(_pairs_out(a) & _pairs_out(b)), len(_pairs_out(a))),
        "mention_ceaf": lambda a, b: (_ceaf(a, b, lambda x, y: len(x & y)), sum(map(len, a))),
        "entity_ceaf": lambda a, b: (_ceaf(a, b, lambda x, y: 2 * len(x & y) / (len(x) + len(y))), len(a)),
    }
    (ptp, predicted), (rtp, annotated) = agree[measure.name](pred, gold), agree[measure.name](gold, pred)
    if measure.neleval and measure.name == "b_cubed":
        ptp, rtp = _b_cubed_in_neleval(sides[1], sides[0]), _b_cubed_in_neleval(sides[0], sides[1])
    return {"ptp": ptp, "predicted": predicted, "rtp": rtp, "annotated": annotated}  # type: ignore[dict-item]


def _muc(mine: list[set[Any]], other: list[set[Any]]) -> tuple[float, float]:
    kept = 0
    for cluster in mine:
        pieces = [cluster & one for one in other if cluster & one]
        kept += sum(map(len, pieces)) - len(pieces)
    return kept, sum(len(cluster) - 1 for cluster in mine)


def _b_cubed(mine: list[set[Any]], other: list[set[Any]]) -> tuple[float, float]:
    shares = [len(cluster & one) / len(cluster) for cluster in mine for m in cluster for one in other if m in one]
    return sum(shares), sum(map(len, mine))


def _b_cubed_in_neleval(mine: dict[Any, set[Any]], other: dict[Any, set[Any]]) -> float:
    """Compare each mention's cluster with that of its entity on the other side, which is None if it is not there."""
    total = 0.0
    for cluster in mine.values():
        for mention in cluster:
            entity = next((one for one, mentions in other.items() if mention in mentions), None)
            total += len([m for m in cluster if m in other.get(entity, ())]) / len(cluster)
    return total


def _pairs_in(clusters: list[set[Any]]) -> set[Any]:
    return {frozenset((a, b)) for cluster in clusters for a in cluster for b in cluster if a != b}


def _pairs_out(clusters: list[set[Any]]) -> set[Any]:
    every = {frozenset((a, b)) for x in clusters for y in clusters for a in x for b in y if a != b}
    return every - _pairs_in(clusters)


def _ceaf(mine: list[set[Any]], other: list[set[Any]], alike: Callable[[Any, Any], float]) -> float:
    """Return the value of the best one-to-one assignment, found by trying all of them."""
    if not mine:
        return 0.0
    first, rest = mine[0], mine[1:]
    best = _ceaf(rest, other, alike)
    for i, one in enumerate(other):
        if first & one:
            best = max(best, alike(first, one) + _ceaf(rest, other[:i] + other[i + 1 :], alike))
    return best


WHOLE: dict[str, Callable[..., Counts]] = dict.fromkeys(
    ("muc", "b_cubed", "entity_ceaf", "mention_ceaf", "pairwise", "pairwise_negative"), _clustering
)
