"""Reference implementation of the measures of shared tasks: i2b2 2014, MEDDOCAN and TAB."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

from spanscore.testing.plain import Mention, Side, Span, Text
from spanscore.testing.reference_leak import entity_of
from spanscore.testing.reference_pairs import most_pairs

TYPES = {
    "NAME": ["PATIENT", "DOCTOR", "USERNAME"],
    "PROFESSION": ["PROFESSION"],
    "LOCATION": [
        *("ROOM", "DEPARTMENT", "HOSPITAL", "ORGANIZATION", "STREET", "CITY", "STATE", "COUNTRY", "ZIP"),
        "LOCATION-OTHER",
    ],
    "AGE": ["AGE"],
    "DATE": ["DATE"],
    "CONTACT": ["PHONE", "FAX", "EMAIL", "URL", "IPADDR"],
    "ID": ["SSN", "MEDICALRECORD", "HEALTHPLAN", "ACCOUNT", "LICENSE", "VEHICLE", "DEVICE", "BIOID", "IDNUM"],
}
NOT_HIPAA = {
    *("DOCTOR", "USERNAME", "PROFESSION", "ROOM", "DEPARTMENT", "HOSPITAL", "STATE", "COUNTRY", "LOCATION-OTHER"),
    *("URL", "IPADDR"),
}


def i2b2(measure: Any, gold: Side, pred: Side, text: Text, counts: Any) -> None:
    """Count tags, or their tokens, that both sides have."""
    golds, preds = _tags(measure, gold), _tags(measure, pred)
    if measure.name == "i2b2.token":
        golds, preds = _tokens(golds, text), _tokens(preds, text)
    for label in {tag[2] for tag in golds | preds}:
        mine, other = (sorted(tag for tag in side if tag[2] == label) for side in (golds, preds))
        counts[label]["annotated"] += len(mine)
        counts[label]["predicted"] += len(other)
        counts[label]["tp"] += most_pairs(mine, other, lambda g, p: g[0] == p[0] and _ends_match(measure, g[1], p[1]))


def _ends_match(measure: Any, one: int, other: int) -> bool:
    return abs(one - other) <= (measure.tolerance if measure.name == "i2b2.relaxed" else 0)


def _tags(measure: Any, side: Side) -> set[Span]:
    found = set()
    for one in side.mentions:
        start, end, kind = one.span
        usual = next((category for category, kinds in TYPES.items() if kind in kinds), None)
        category = one.attrs.get("category", usual)
        if measure.category not in ("all", category or "OTHER"):
            continue
        if measure.hipaa != "none" and not _hipaa(measure.hipaa, category, kind):
            continue
        label = kind if category in (None, usual, kind) else f"{category}/{kind}"
        found.add((start, end, "PHI" if measure.binary else label))
    return found


def _hipaa(whose: str, category: str | None, kind: str) -> bool:
    if category in ("AGE", "DATE"):
        return True
    listed = category is not None and kind in TYPES.get(category, []) and kind not in NOT_HIPAA
    return listed and (kind != "IDNUM" or whose == "readme")


def _tokens(tags: set[Span], text: Text) -> set[Span]:
    whole = text.text or ""
    return {
        (start + match.start(), start + match.end(), label)
        for start, end, label in tags
        for match in re.finditer("[a-zA-Z0-9]+", whole[start:end])
    }


def meddocan(measure: Any, gold: Side, pred: Side, text: Text, counts: Any) -> None:
    """Count spans that both sides have, with their types or without."""
    golds, preds = set(gold), set(pred)
    if measure.name == "meddocan.spans":
        golds, preds = ({(start, end, "SPAN") for start, end, _ in side} for side in (golds, preds))
    for span in golds:
        counts[span[2]]["annotated"] += 1
        counts[span[2]]["tp"] += span in preds
    for span in preds:
        counts[span[2]]["predicted"] += 1
    if measure.name == "meddocan.leak":
        counts[""]["sentences"] += gold.meta.get("sentences", 0)
        counts[""]["unknown"] += "sentences" not in gold.meta


def meddocan_merged(measure: Any, gold: Side, pred: Side, text: Text, counts: Any) -> None:
    """Count spans that both sides have before or after merging, and those that are not inside one of them."""
    golds, preds = ({(start, end) for start, end, _ in side} for side in (gold, pred))
    right = (golds & preds) | (_merged(golds, text) & _merged(preds, text))
    missed, spurious = (
        [one for one in side if not any(a <= one[0] and one[1] <= b for a, b in right)] for side in (golds, preds)
    )
    counts["SPAN"]["tp"] += len(right)
    counts["SPAN"]["annotated"] += len(right) + len(missed)
    counts["SPAN"]["predicted"] += len(right) + len(spurious)


def _merged(spans: set[tuple[int, int]], text: Text) -> set[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        between = range(merged[-1][1], start) if merged else range(1)
        if merged and not any(text.text is None or text.text[at].isalnum() for at in between):
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return set(merged)


SKIPPED = re.compile(
    r"\b(?:mr|mrs|ms|and|or|from|until|to|about|after|as|at|before|between|by|during|for|in|into|of|on|over|since|with"
    r"|the|a|an|no|nr)\b|\b['’]s\b|[,.\-;:/&()\[\]–'\" \u00a0’“”]",
    re.IGNORECASE,
)


def tab(measure: Any, gold: Side, pred: Side, text: Text, counts: Any) -> None:
    """Count mentions, tokens or entities that are masked, and what annotators approve of predictions."""
    groups: dict[Any, list[tuple[Span, tuple[str, ...], Mention]]] = defaultdict(list)
    for one in gold.mentions:
        fields = tuple(repr(one.attrs.get(name)) for name in ("annotator", "entity", "kbid", "eid", "identifier"))
        member = (one.span, fields, one)
        if member[:2] not in [other[:2] for other in groups[_group(one, text)]]:
            groups[_group(one, text)].append(member)
    masked = {at for start, end, _ in pred for at in range(start, end)}
    for members in groups.values():
        kinds = [one.attrs.get("identifier") for _, _, one in members]
        if all(kind == "NO_MASK" for kind in kinds):
            continue
        if measure.identifiers != "all" and ("DIRECT" in kinds) != (measure.identifiers == "direct"):
            continue
        label = min(span for span, _, _ in members)[2]
        if measure.name == "tab.entity":
            units = [all(_is_masked(measure, span[:2], masked, text) for span, _, one in members if _needed(one))]
        else:
            parts = [part for span, _, _ in members for part in _parts(measure, span, text)]
            units = [_is_masked(measure, part, masked, text) for part in parts]
        counts[label]["annotated"] += len(units)
        counts[label]["masked"] += sum(units)
    if measure.name == "tab.entity":
        return
    people = {repr(one.attrs.get("annotator")) for one in gold.mentions} or {"nobody"}
    for start, end in [part for span in pred for part in _parts(measure, span, text)]:
        for who in people:
            own = [one.span for one in gold.mentions if repr(one.attrs.get("annotator")) == who and _needed(one)]
            counts[""]["predicted"] += 1
            counts[""]["right"] += any(a <= start and end <= b for a, b, _ in own)


def _group(one: Mention, text: Text) -> Any:
    """Return what mentions of one entity share; without ids and text, every mention is an entity of its own."""
    alone = text.text is None and not {"entity", "kbid", "eid"} & one.attrs.keys()
    return repr(one.attrs.get("annotator")), entity_of(one, text), alone and repr(one.attrs.get("identifier"))


def _needed(one: Mention) -> bool:
    return bool(one.attrs.get("identifier") != "NO_MASK")


def _parts(measure: Any, span: Span, text: Text) -> list[tuple[int, int]]:
    start, end, _ = span
    if measure.name == "tab.mention":
        return [(start, end)]
    return [(start + m.start(), start + m.end()) for m in re.finditer(r"\w+", (text.text or "")[start:end])]


def _is_masked(measure: Any, place: tuple[int, int], masked: set[int], text: Text) -> bool:
    readable = set(range(*place)) - masked
    if text.text is not None and measure.ignore == "words":
        for match in SKIPPED.finditer(text.text[slice(*place)]):
            readable -= set(range(place[0] + match.start(), place[0] + match.end()))
    return not readable
