"""The executable specification: every measure written down as plainly as can be, one document at a time.

Nothing here is fast, and nothing here is shared with the code that is. A span is a tuple (start, end, label).
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from spanscore.align.skipwords import skip_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from spanscore.corpus import Corpus
    from spanscore.measures import Measure
    from spanscore.records import Document

Span = tuple[int, int, str]
Token = tuple[int, int]
Counts = dict[str, int]


def reference_tally(measure: Measure, gold: Corpus, pred: Corpus) -> dict[tuple[str, str], Counts]:
    """What the measure counts in each document for each label, where it counts anything."""
    predicted = {str(document.id): document for document in pred.documents()}
    found: dict[tuple[str, str], Counts] = {}
    if measure.whole:
        documents = [(document, predicted.get(str(document.id))) for document in gold.documents()]
        row = _WHOLE[measure.name](measure, documents)
        return {("", ""): {key: value for key, value in row.items() if value}} if any(row.values()) else {}
    for document in gold.documents():
        other = predicted.get(str(document.id))
        counts: dict[str, Counts] = defaultdict(lambda: defaultdict(int))
        _FAMILIES[measure.name](measure, _Side(document), _Side(other), _Text(document, other), counts)
        for label, row in counts.items():
            if any(row.values()):
                found[str(document.id), label] = {key: value for key, value in row.items() if value}
    return found


class _Side(set[Span]):
    """The spans of one side of a document, duplicates counted once; and its mentions, those that differ in attributes
    alone told apart.
    """

    def __init__(self, document: Document | None) -> None:
        spans = document.spans if document else []
        super().__init__((span.start, span.end, span.label) for span in spans)
        name = str(document.id) if document else ""
        self.mentions = sorted({_Mention(name, span) for span in spans}, key=_Mention.order)
        self.best: dict[Span, _Mention] = {}
        for mention in sorted(self.mentions, key=lambda one: (-_score(spans, one), one.order()), reverse=True):
            self.best[mention.span] = mention


class _Mention:
    """A span with its attributes."""

    def __init__(self, document: str, span: Any) -> None:
        self.document = document
        self.span: Span = (span.start, span.end, span.label)
        self.attrs: dict[str, Any] = dict(span.attrs or {})

    def order(self) -> tuple[Any, ...]:
        known = sorted({"kbid", "locationType", "dateFormat", *self.attrs})
        return (*self.span, *((name in self.attrs, repr(self.attrs.get(name))) for name in known))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Mention) and self.order() == other.order() and self.document == other.document

    def __hash__(self) -> int:
        return hash(self.order())

    def field(self, name: str) -> Any:
        """A field of a key."""
        start, end, label = self.span
        eid = self.attrs.get("kbid")
        return {
            "docid": self.document,
            "start": start,
            "end": end,
            "span": (self.document, start, end),
            "type": label,
            "eid": eid,
            "kbid": None if eid is None or eid.startswith("NIL") else eid,
        }.get(name, self.attrs.get(name))

    def key(self, fields: Any) -> tuple[Any, ...]:
        """What must be the same."""
        return tuple(self.field(name) for name in fields)


def _score(spans: list[Any], mention: _Mention) -> float:
    """The best score of the spans that are this mention; none is worst."""
    same = [span for span in spans if _Mention(mention.document, span) == mention]
    return max(float("-inf") if span.score is None else span.score for span in same)


def _filtered(name: str, mentions: list[_Mention]) -> list[_Mention]:
    if name == "is_first":
        first: dict[Any, _Mention] = {}
        for mention in sorted(mentions, key=lambda one: (one.span[0], -one.span[1], one.order())):
            first.setdefault((mention.document, mention.field("eid")), mention)
        return list(first.values())
    if name == "is_linked":
        return [one for one in mentions if one.field("kbid") is not None]
    if name == "is_nil":
        return [one for one in mentions if one.field("eid") is not None and one.field("kbid") is None]
    return mentions


def _add(counts: Any, name: str, credit: float) -> None:
    """Credit that is not whole is counted in units of 2**-36."""
    if credit == 1:
        counts[name] += 1
    elif credit > 0:
        counts[f"{name}_part"] += round(credit * 2**36)


def _sets(measure: Any, gold: _Side, pred: _Side, text: _Text, counts: Any) -> None:
    sides = [{m.key(measure.fields): m for m in _filtered(measure.filter, side.mentions)} for side in (gold, pred)]
    for (mine, other), names in zip((sides, sides[::-1]), (("rtp", "annotated"), ("ptp", "predicted")), strict=True):
        for key, mention in mine.items():
            label = mention.span[2] if measure.by_type else ""
            counts[label][names[0]] += key in other
            counts[label][names[1]] += 1


def _overlap_share(measure: Any, gold: _Side, pred: _Side, text: _Text, counts: Any) -> None:
    sides = [_filtered(measure.filter, side.mentions) for side in (gold, pred)]
    fields = [name for name in measure.fields if name not in ("span", "docid")]
    names = (("rtp", "annotated"), ("ptp", "predicted"))
    for number, (mine, other) in enumerate((sides, sides[::-1])):
        if measure.others == "count":
            for mention in (gold, pred)[number].mentions:
                counts[mention.span[2] if measure.by_type else ""][names[number][1]] += 1
        for mention in mine:
            shares = [
                _share(mention.span, one.span)
                for one in other
                if one.key(fields) == mention.key(fields) and _overlap(mention.span[:2], one.span[:2])
            ]
            share = max(shares, default=0.0) if measure.strategies[number] == "max" else _sum(mention, other, fields)
            row = counts[mention.span[2] if measure.by_type else ""]
            _add(row, names[number][0], share)
            row[names[number][1]] += measure.others == "drop"


def _share(a: Span, b: Span) -> float:
    return (min(a[1], b[1]) - max(a[0], b[0])) / (a[1] - a[0]) if a[1] > a[0] else 1.0


def _sum(mention: _Mention, others: list[_Mention], fields: list[str]) -> float:
    start, end, _ = mention.span
    near = [one.span for one in others if one.key(fields) == mention.key(fields)]
    if start == end:
        return float(any(span[:2] == (start, end) for span in near))
    return sum(any(a <= i < b for a, b, _ in near) for i in range(start, end)) / (end - start)


def _clusters(measure: Any, mentions: list[_Mention]) -> list[set[Any]]:
    found: dict[Any, set[Any]] = defaultdict(set)
    for mention in mentions:
        found[mention.field("eid")].add(mention.key(measure.fields))
    return list(found.values())


def _clustering(measure: Any, documents: list[tuple[Document, Document | None]]) -> Counts:
    """Every way to compare clusterings, from its definition."""
    sides = []
    for number in range(2):
        mentions = [m for pair in documents for m in _filtered(measure.filter, _Side(pair[number]).mentions)]
        sides.append(_clusters(measure, mentions))
    gold, pred = sides
    agree: dict[str, Callable[..., tuple[float, float]]] = {
        "muc": _muc,
        "b_cubed": _b_cubed,
        "pairwise": lambda a, b: (len(_pairs_in(a) & _pairs_in(b)), len(_pairs_in(a))),
        "pairwise_negative": lambda a, b: (len(_pairs_out(a) & _pairs_out(b)), len(_pairs_out(a))),
        "mention_ceaf": lambda a, b: (_ceaf(a, b, lambda x, y: len(x & y)), sum(map(len, a))),
        "entity_ceaf": lambda a, b: (_ceaf(a, b, lambda x, y: 2 * len(x & y) / (len(x) + len(y))), len(a)),
    }
    (ptp, predicted), (rtp, annotated) = agree[measure.name](pred, gold), agree[measure.name](gold, pred)
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


def _pairs_in(clusters: list[set[Any]]) -> set[Any]:
    return {frozenset((a, b)) for cluster in clusters for a in cluster for b in cluster if a != b}


def _pairs_out(clusters: list[set[Any]]) -> set[Any]:
    every = {frozenset((a, b)) for x in clusters for y in clusters for a in x for b in y if a != b}
    return every - _pairs_in(clusters)


def _ceaf(mine: list[set[Any]], other: list[set[Any]], alike: Callable[[Any, Any], float]) -> float:
    """The best of all one-to-one assignments."""
    if not mine:
        return 0.0
    first, rest = mine[0], mine[1:]
    best = _ceaf(rest, other, alike)
    for i, one in enumerate(other):
        if first & one:
            best = max(best, alike(first, one) + _ceaf(rest, other[:i] + other[i + 1 :], alike))
    return best


_WHOLE: dict[str, Callable[..., Counts]] = dict.fromkeys(
    ("muc", "b_cubed", "entity_ceaf", "mention_ceaf", "pairwise", "pairwise_negative"), _clustering
)


def _semeval(measure: Any, gold: set[Span], pred: set[Span], text: _Text, counts: Any) -> None:
    golds, preds = sorted(gold), sorted(pred)
    pairs = [(g, p) for g in golds for p in preds if g == p]
    for rule in (lambda g, p: g[:2] == p[:2], lambda g, p: _overlap(g[:2], p[:2]) and _share(g, p) >= measure.overlap):
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


def _instance(measure: Any, gold: _Side, pred: _Side, text: _Text, counts: Any) -> None:
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


def _sandbox_token(measure: Any, gold: _Side, pred: _Side, text: _Text, counts: Any) -> None:
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
            if _overlap(g[:2], p[:2]):
                touched = [group for group in groups if g in group[0] or p in group[1]]
                merged = ({g}.union(*(t[0] for t in touched)), {p}.union(*(t[1] for t in touched)))
                groups = [group for group in groups if group not in touched] + [merged]
    return groups


class _Text:
    """A document's text and tokens, from whichever side has them."""

    def __init__(self, gold: Document, pred: Document | None) -> None:
        sides = [side for side in (gold, pred) if side is not None]
        self.text = next((side.text for side in sides if side.text is not None), None)
        self.given = next((side.tokens for side in sides if side.tokens), None)

    @property
    def tokens(self) -> list[Token]:
        if self.given is not None:
            return self.given
        return [match.span() for match in re.finditer(r"\w+|[^\w\s]", self.text or "")]


def _exact(measure: Any, gold: set[Span], pred: set[Span], text: _Text, counts: Any) -> None:
    if not measure.typed:
        gold, pred = _one_label(gold, "SPAN"), _one_label(pred, "SPAN")
    for span in gold:
        counts[span[2]]["annotated"] += 1
        counts[span[2]]["tp"] += span in pred
    for span in pred:
        counts[span[2]]["predicted"] += 1


def _char(measure: Any, gold: set[Span], pred: set[Span], text: _Text, counts: Any) -> None:
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


def _iou(measure: Any, gold: set[Span], pred: set[Span], text: _Text, counts: Any) -> None:
    if measure.view == "tokens":
        gold, pred = _project(gold, text), _project(pred, text)
    if measure.name.endswith(".pii"):
        gold, pred = _one_label(gold, "PII"), _one_label(pred, "PII")
    gold, pred = _prepare(measure, gold, text), _prepare(measure, pred, text)
    upstream = measure.name.startswith("presidio")
    if upstream:
        gold, pred = ({span for span in side if _counting(measure, span, text)} for side in (gold, pred))
    units = _units(measure, gold | pred, text)
    matched: set[Span] = set()
    right: set[Span] = set()
    for one in gold:
        counts[one[2]]["annotated"] += 1
        by_label: dict[str, list[Span]] = defaultdict(list)
        for other in pred:
            if _overlap(units[one], units[other]):
                by_label[other[2]].append(other)
                matched.add(other)
        for label, members in by_label.items():
            if measure.count == "groups":
                counts[label]["predicted"] += 1
            union: set[Any] = set().union(*(_set(units[member]) for member in members))
            mine = _set(units[one])
            if upstream and measure.unit == "char" and sum(map(len, by_label.values())) > 1:
                mine, union = set(range(one[0], one[1] + 1)), set()
                for number, member in enumerate(sorted(members)):
                    union |= set(range(member[0], member[1] + 1) if number == 0 else range(member[0] - 1, member[1]))
            iou = len(mine & union) / len(mine | union) if mine | union else 1.0
            if label == one[2] and iou >= measure.threshold:
                counts[label]["tp"] += 1
                right |= set(members)
    for other in pred:
        if measure.count == "spans" or other not in matched:
            counts[other[2]]["predicted"] += 1
        if measure.count == "spans" and other in right:
            counts[other[2]]["tp_predicted"] += 1


def _sixway(measure: Any, gold: set[Span], pred: set[Span], text: _Text, counts: Any) -> None:
    taken: set[Span] = set()
    for one in pred:
        near = [other for other in gold if _overlap(one[:2], other[:2])]
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


def _token(measure: Any, gold: set[Span], pred: set[Span], text: _Text, counts: Any) -> None:
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


def _counting(measure: Any, span: Span, text: _Text) -> bool:
    """Whether a span has a token that is not a skip word."""
    skip = skip_words(measure.skip)
    touched = [(text.text or "")[a:b] for a, b in text.tokens if a < span[1] and b > span[0]]
    return any(not skip or token not in skip for token in touched)


_FAMILIES: dict[str, Callable[..., None]] = {
    "char": _char,
    "char.pii": _char,
    "exact": _exact,
    "iou": _iou,
    "iou.pii": _iou,
    "overlap-maxmax": _overlap_share,
    "overlap-maxsum": _overlap_share,
    "overlap-summax": _overlap_share,
    "overlap-sumsum": _overlap_share,
    "presidio": _iou,
    "presidio.pii": _iou,
    "sandbox.hipaa": _instance,
    "sandbox.instance": _instance,
    "sandbox.instance-relax": _instance,
    "sandbox.subtype": _instance,
    "sandbox.token": _sandbox_token,
    "semeval.exact": _semeval,
    "semeval.partial": _semeval,
    "semeval.strict": _semeval,
    "semeval.type": _semeval,
    "sets": _sets,
    "sixway.flexible": _sixway,
    "sixway.partial": _sixway,
    "sixway.strict": _sixway,
    "token": _token,
    "token.pii": _token,
}


def _one_label(spans: set[Span], name: str) -> set[Span]:
    return {(start, end, name) for start, end, _ in spans}


def _prepare(measure: Any, spans: set[Span], text: _Text) -> set[Span]:
    """Merge, normalise."""
    skip = skip_words(measure.skip)
    if measure.merge:
        spans = _merge(spans, text, skip)
    return {_trim(span, text, skip) for span in spans} if skip else spans


def _project(spans: set[Span], text: _Text) -> set[Span]:
    """A token takes the label of the first span that covers its start, or lies inside it."""
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
    """The label of the first span that covers a token's start, or lies inside it."""
    for start, end, label in sorted(spans):
        covers = start <= token[0] < end
        inside = token[0] <= start < end <= token[1]
        if covers or inside:
            return label
    return None


def _merge(spans: set[Span], text: _Text, skip: Any) -> set[Span]:
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


def _nothing_in(start: int, end: int, text: _Text, skip: Any) -> bool:
    """Whether there are only white space and skip words between two offsets."""
    if skip:
        return all(piece.isspace() or piece in skip for _, _, piece in _pieces(start, end, text))
    if text.text is not None:
        return text.text[start:end].isspace()
    return text.given is not None and not [t for t in text.given if t[0] < end and t[1] > start]


def _pieces(start: int, end: int, text: _Text) -> list[tuple[int, int, str]]:
    """The tokens between two offsets, cut to them."""
    cut = [(max(a, start), min(b, end)) for a, b in text.tokens]
    return [(a, b, (text.text or "")[a:b]) for a, b in cut if a < b]


def _trim(span: Span, text: _Text, skip: Any) -> Span:
    kept = [(a, b) for a, b, piece in _pieces(span[0], span[1], text) if piece not in skip]
    return (kept[0][0], kept[-1][1], span[2]) if kept else span


def _units(measure: Any, spans: set[Span], text: _Text) -> dict[Span, tuple[int, int]]:
    """Each span as a range of characters, or of tokens that count."""
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


def _overlap(a: tuple[int, int], b: tuple[int, int]) -> bool:
    if a[0] == a[1] or b[0] == b[1]:
        return a == b
    return max(a[0], b[0]) < min(a[1], b[1])


def _set(units: tuple[int, int]) -> set[int]:
    return set(range(*units))
