"""Reference implementation of the measures of spans, tokens and characters."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

from spanscore.align.skipwords import skip_words
from spanscore.testing.plain import Span, Text, Token, overlap


def exact(measure: Any, gold: set[Span], pred: set[Span], text: Text, counts: Any) -> None:
    """Count spans that are in both sets."""
    if not measure.typed:
        gold, pred = _one_label(gold, "SPAN"), _one_label(pred, "SPAN")
    for span in gold:
        counts[span[2]]["annotated"] += 1
        counts[span[2]]["tp"] += span in pred
    for span in pred:
        counts[span[2]]["predicted"] += 1


def char(measure: Any, gold: set[Span], pred: set[Span], text: Text, counts: Any) -> None:
    """Count characters that have the same type on both sides."""
    if measure.name == "char.pii":
        gold, pred = _one_label(gold, "PII"), _one_label(pred, "PII")
    gold_chars = {(label, i) for start, end, label in gold for i in range(start, end)}
    pred_chars = {(label, i) for start, end, label in pred for i in range(start, end)}
    for label, _ in gold_chars:
        counts[label]["annotated"] += 1
    for label, _ in pred_chars:
        counts[label]["predicted"] += 1
    for label, _ in gold_chars & pred_chars:
        counts[label]["tp"] += 1


def iou(measure: Any, gold: set[Span], pred: set[Span], text: Text, counts: Any) -> None:
    """Count groups of predictions around each gold span."""
    if measure.view == "tokens":
        gold, pred = _project(gold, text), _project(pred, text)
    if measure.name.endswith(".pii"):
        gold, pred = _one_label(gold, "PII"), _one_label(pred, "PII")
    gold, pred = _prepare(measure, gold, text), _prepare(measure, pred, text)
    units = _units(measure, gold | pred, text)
    matched: set[Span] = set()
    right: set[Span] = set()
    for one in gold:
        counts[one[2]]["annotated"] += 1
        by_label: dict[str, list[Span]] = defaultdict(list)
        for other in pred:
            if overlap(one[:2], other[:2]):
                by_label[other[2]].append(other)
                matched.add(other)
        for label, members in by_label.items():
            if measure.count == "groups":
                counts[label]["predicted"] += 1
            union: set[Any] = set().union(*(_set(units[member]) for member in members))
            mine = _set(units[one])
            iou = len(mine & union) / len(mine | union) if mine | union else 1.0
            if label == one[2] and iou >= measure.threshold:
                counts[label]["tp"] += 1
                right |= set(members)
    for other in pred:
        if measure.count == "spans" or other not in matched:
            counts[other[2]]["predicted"] += 1
        if measure.count == "spans" and other in right:
            counts[other[2]]["tp_predicted"] += 1


def sixway(measure: Any, gold: set[Span], pred: set[Span], text: Text, counts: Any) -> None:
    """Count spans by the six labels."""
    taken: set[Span] = set()
    for one in pred:
        near = [other for other in gold if overlap(one[:2], other[:2])]
        if not near:
            counts[one[2]]["spurious"] += 1
            continue
        best = min(near, key=lambda other: (-_ratio(one, other), other[2] != one[2], other))
        ratio, same = _ratio(one, best), best[2] == one[2]
        taken.add(best)
        if same and ratio == 1:
            label = "strict"
        elif ratio < measure.threshold:
            label = "incorrect"
        else:
            label = "exact" if same else "partial"
        counts[best[2]][label] += 1
    for other in gold - taken:
        counts[other[2]]["miss"] += 1


def _ratio(a: Span, b: Span) -> float:
    longer = max(a[1] - a[0], b[1] - b[0])
    return (min(a[1], b[1]) - max(a[0], b[0])) / longer if longer else 1.0


def token(measure: Any, gold: set[Span], pred: set[Span], text: Text, counts: Any) -> None:
    """Count tokens by the label of the span that owns them."""
    if measure.name == "token.pii":
        gold, pred = _one_label(gold, "PII"), _one_label(pred, "PII")
    tokens = text.tokens
    if measure.tokenizer == "whitespace":
        tokens = [match.span() for match in re.finditer(r"\S+", text.text or "")]
    for token in tokens:
        mine, other = _label_of(token, gold), _label_of(token, pred)
        if mine is not None:
            counts[mine]["annotated"] += 1
            counts[mine]["tp"] += mine == other
        if other is not None:
            counts[other]["predicted"] += 1


def _one_label(spans: set[Span], name: str) -> set[Span]:
    return {(start, end, name) for start, end, _ in spans}


def _prepare(measure: Any, spans: set[Span], text: Text) -> set[Span]:
    """Merge spans and trim skip words, depending on the measure."""
    skip = skip_words(measure.skip)
    if measure.merge:
        spans = _merge(spans, text, skip)
    return {_trim(span, text, skip) for span in spans} if skip else spans


def _project(spans: set[Span], text: Text) -> set[Span]:
    """Project spans onto tokens; neighbouring tokens with the same label become one span."""
    found: list[Span] = []
    before = None
    for start, end in text.tokens:
        label = _label_of((start, end), spans)
        if label is not None and label == before:
            found[-1] = (found[-1][0], end, label)
        elif label is not None:
            found.append((start, end, label))
        before = label
    return set(found)


def _label_of(token: Token, spans: set[Span]) -> str | None:
    """Return the label of the first span that covers a token's start or lies inside the token."""
    for start, end, label in sorted(spans):
        covers = start <= token[0] < end
        inside = token[0] <= start < end <= token[1]
        if covers or inside:
            return label
    return None


def _merge(spans: set[Span], text: Text, skip: Any) -> set[Span]:
    merged: set[Span] = set()
    for label in {span[2] for span in spans}:
        chain: list[list[int]] = []
        for start, end, _ in sorted(span for span in spans if span[2] == label):
            if chain and (start <= chain[-1][1] or _nothing_in(chain[-1][1], start, text, skip)):
                chain[-1][1] = max(chain[-1][1], end)
            else:
                chain.append([start, end])
        merged |= {(start, end, label) for start, end in chain}
    return merged


def _nothing_in(start: int, end: int, text: Text, skip: Any) -> bool:
    """Return whether there is only whitespace and skip words between two offsets."""
    if skip:
        return all(piece.isspace() or piece in skip for _, _, piece in _pieces(start, end, text))
    if text.text is not None:
        return text.text[start:end].isspace()
    return text.given is not None and not [t for t in text.given if t[0] < end and t[1] > start]


def _pieces(start: int, end: int, text: Text) -> list[tuple[int, int, str]]:
    """Return the tokens between two offsets, clipped to them."""
    cut = [(max(a, start), min(b, end)) for a, b in text.tokens]
    return [(a, b, (text.text or "")[a:b]) for a, b in cut if a < b]


def _trim(span: Span, text: Text, skip: Any) -> Span:
    kept = [(a, b) for a, b, piece in _pieces(span[0], span[1], text) if piece not in skip]
    return (kept[0][0], kept[-1][1], span[2]) if kept else span


def _units(measure: Any, spans: set[Span], text: Text) -> dict[Span, tuple[int, int]]:
    """Return each span as a range of characters, or of tokens that count."""
    if measure.unit == "char":
        return {span: (span[0], span[1]) for span in spans}
    skip = skip_words(measure.skip)
    tokens = text.tokens
    counting = [bool(not skip or (text.text or "")[a:b] not in skip) for a, b in tokens]
    touched = {span: [i for i, (a, b) in enumerate(tokens) if a < span[1] and b > span[0]] for span in spans}
    hollow = [touched[span] for span in spans if not any(counting[i] for i in touched[span])]
    for members in hollow:
        for i in members:
            counting[i] = True
    rank = [sum(counting[:i]) for i in range(len(tokens) + 1)]
    ranges = {}
    for span in spans:
        first = touched[span][0] if touched[span] else sum(b <= span[0] for _, b in tokens)
        last = touched[span][-1] + 1 if touched[span] else first
        ranges[span] = (rank[first], rank[last])
    return ranges


def _set(units: tuple[int, int]) -> set[int]:
    return set(range(*units))
