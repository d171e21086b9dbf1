"""Reference implementation of the `presidio` measures: presidio-evaluator 0.3.2, followed step by step."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from typing import Any

from spanscore.align.skipwords import presidio_skip_words
from spanscore.testing.plain import Side, Text, Token

Tag = str | None


class Found:
    """A span made of tagged tokens: its label, its tokens before trimming, and what is left of them by position."""

    def __init__(self, label: str, first: int, last: int, words: dict[int, str]) -> None:
        self.label = label
        self.first, self.last = first, last
        self.words = words
        """The tokens that are not skip words, in lower case, by offset."""

    @property
    def start(self) -> int:
        """Where the first word begins."""
        return min(self.words)

    @property
    def end(self) -> int:
        """Where the last word would end if the text had the length of its lower case."""
        return max(offset + len(word) for offset, word in self.words.items())


def presidio(measure: Any, gold: Side, pred: Side, text: Text, counts: Any) -> None:
    """Count groups of predictions around each gold span."""
    tokens = _tokens(measure, text)
    words = [None if text.text is None else text.text[a:b] for a, b in tokens]
    skip = presidio_skip_words(measure.skip).words
    sides = []
    for side in (gold, pred):
        tags = _tags(side, tokens, own=measure.tokenizer == "input")
        if measure.name == "presidio.pii":
            tags = [None if tag is None else "PII" for tag in tags]
        sides.append(_merge(_runs(tags, tokens, words, skip), words, skip))
    annotated, predicted = sides
    alone = list(predicted)
    for one in annotated:
        counts[one.label]["annotated"] += 1
        near = [other for other in predicted if _overlap(one, other, measure.unit)]
        alone = [other for other in alone if other not in near]
        by_label: dict[str, list[Found]] = defaultdict(list)
        for other in near:
            by_label[other.label].append(other)
        for label, members in by_label.items():
            counts[label]["predicted"] += 1
            if label == one.label and _iou(one, members, measure.unit, single=len(near) == 1) >= measure.threshold:
                counts[label]["tp"] += 1
    for other in alone:
        counts[other.label]["predicted"] += 1


def presidio_token(measure: Any, gold: Side, pred: Side, text: Text, counts: Any) -> None:
    """Count tokens by their two tags, except skip words with two different tags; generic tags are right for others."""
    tokens = _tokens(measure, text)
    skip = presidio_skip_words(measure.skip).words
    sides = [_tags(side, tokens, own=measure.tokenizer == "input") for side in (gold, pred)]
    for (start, end), given, found in zip(tokens, *sides, strict=True):
        mine, other = given, found
        if mine != other:
            if mine is not None and other in measure.generic:
                other = mine
            elif other is not None and mine in measure.generic:
                mine = other
            elif text.text is not None and text.text[start:end].lower().strip() in skip:
                continue
        if measure.name == "presidio.token.pii":
            mine, other = ("" if tag is not None else None for tag in (mine, other))
        if mine is not None:
            counts[mine]["annotated"] += 1
            counts[mine]["tp"] += mine == other
        if other is not None:
            counts[other]["predicted"] += 1


def _overlap(one: Found, other: Found, unit: str) -> bool:
    if unit == "token":
        return bool(one.words.keys() & other.words.keys())
    return max(one.start, other.start) < min(one.end, other.end)


def _iou(one: Found, members: list[Found], unit: str, *, single: bool) -> float:
    """Return the IoU of a gold span and predictions; with several predictions around it, characters are miscounted."""
    if unit == "token":
        mine: set[int] = set(one.words)
        union: set[int] = set().union(*(member.words for member in members))
    elif single:
        mine, union = set(range(one.start, one.end)), set(range(members[0].start, members[0].end))
    else:
        mine, union = set(range(one.start, one.end + 1)), set(range(members[0].start, members[0].end + 1))
        for member in members[1:]:
            union |= set(range(member.start - 1, member.end))
    return len(mine & union) / len(mine | union)


def _tokens(measure: Any, text: Text) -> list[Token]:
    """Return the tokens, whitespace included."""
    if measure.tokenizer == "input":
        return text.every_token
    if measure.tokenizer.startswith("spacy:"):
        found = _spacy(measure.tokenizer.partition(":")[2])(text.text or "")
        return [(token.idx, token.idx + len(token.text)) for token in found]
    pattern = r"\S+" if measure.tokenizer == "whitespace" else r"\w+|[^\w\s]"
    return [match.span() for match in re.finditer(pattern, text.text or "")]


@cache
def _spacy(language: str) -> Any:
    import spacy

    return spacy.blank(language)


def _tags(side: Side, tokens: list[Token], *, own: bool) -> list[Tag]:
    """Return the label of each token: as tagged, or converted from spans."""
    by_start = sorted(side)
    covered = [offset for start, end, _ in by_start for offset in range(start, end)]
    whole = all(
        start < end and start in [a for a, _ in tokens] and end in [b for _, b in tokens] for start, end, _ in by_start
    )
    if own and side.tokens and whole and len(covered) == len(set(covered)):
        return [next((label for start, end, label in by_start if start <= a and b <= end), None) for a, b in tokens]
    spans = _settled(side)
    return [next((label for start, end, label in spans if _takes(start, end, token)), None) for token in tokens]


def _takes(start: int, end: int, token: Token) -> bool:
    """Return whether a span tags a token: it covers the token's start, or neither of its ends is outside the token."""
    return start <= token[0] < end or (token[0] <= start <= token[1] and token[0] <= end <= token[1])


def _settled(side: Side) -> list[tuple[int, int, str]]:
    """Settle spans by score, pair by pair, with ends taken as inclusive."""
    known = {span: side.score.get(span, 0.5) for span in side}
    order = sorted(side, key=lambda span: (span[0], -known[span], span[0] - span[1], span[2]))
    spans: list[list[Any]] = [[start, end, known[start, end, label], label] for start, end, label in order]
    number = 0
    while number < len(spans) - 1:
        one = spans[number]
        for other in spans[number + 1 :]:
            if one[0] <= other[0] <= one[1]:
                if one[2] > other[2] and other[1] <= one[1]:
                    other[2] = 0
                elif one[2] > other[2]:
                    other[0] = one[1] + 1
                else:
                    if other[1] < one[1]:
                        spans.append([other[1] + 1, one[1], one[2], one[3]])
                    one[1] = other[0] - 1
        number += 1
    return sorted(((start, end, label) for start, end, _, label in spans), key=lambda span: span[0])


def _runs(tags: list[Tag], tokens: list[Token], words: list[str | None], skip: frozenset[str]) -> list[Found]:
    """Return the runs of tokens with one tag, except those of skip words alone."""
    found: list[Found] = []
    for number, tag in enumerate(tags):
        if tag is None:
            continue
        if number == 0 or tags[number - 1] != tag:
            found.append(Found(tag, number, number, {}))
        found[-1].last = number + 1
        start, end = tokens[number]
        word = words[number]
        if word is None or word.lower() not in skip:
            found[-1].words[start] = "?" * (end - start) if word is None else word.lower()
    return [one for one in found if one.words]


def _merge(found: list[Found], words: list[str | None], skip: frozenset[str]) -> list[Found]:
    """Merge spans with the same label with nothing but skip words between them, which are stripped first."""
    merged: list[Found] = []
    for one in found:
        before = merged[-1] if merged else None
        between = words[before.last : one.first] if before else []
        if before and before.label == one.label and all(w is not None and w.lower().strip() in skip for w in between):
            merged[-1] = Found(one.label, before.first, one.last, {**before.words, **one.words})
        else:
            merged.append(one)
    return merged
