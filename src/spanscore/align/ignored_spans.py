"""Don't-care spans: what is neither right nor wrong leaves both sides before anything is counted."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from spanscore.align.coverage import Coverage
from spanscore.align.invented import is_invented
from spanscore.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection

    from spanscore.align.labels import Naming
    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Bools

REGIONS = "scored_regions"
"""The metadata field with the parts of a document that were annotated, such as `0-120,300-450`."""
EXPECTED_REGIONS = "expected pairs of offsets, each start before its end: [[0, 120], [300, 450]], or 0-120,300-450."
_PAIRS = re.compile(r"\[[\s\d,\[\]]*\]")
_PAIR = re.compile(r"\[\s*(\d+)\s*,\s*(\d+)\s*\]")
_REGION = re.compile(r"\s*(\d{1,10})-(\d{1,10})\s*")


def leave_out_ignored(
    gold: Corpus, pred: Corpus, ignore: Collection[str], system: str, account: Counter[tuple[str, str, str]]
) -> tuple[Corpus, Corpus]:
    """Leave out spans with ignored labels, and predictions that touch an ignored gold span and no other gold span.

    >>> from collections import Counter
    >>> from spanscore.corpus import Corpus
    >>> gold = Corpus.from_arrays(["d"], [0, 0], [0, 20], [9, 29], ["MISC", "PERSON"])
    >>> pred = Corpus.from_arrays(["d"], [0, 0, 0], [0, 22, 40], [5, 29, 45], ["PERSON"] * 3)
    >>> gold, pred = leave_out_ignored(gold, pred, {"MISC"}, "pred", Counter())
    >>> gold.start.tolist(), pred.start.tolist()
    ([20], [22, 40])
    """
    if not ignore:
        return gold, pred
    of_no_interest = [_labelled(side, ignore) for side in (gold, pred)]
    ignored, scored = (gold.with_spans(np.flatnonzero(one)) for one in (of_no_interest[0], ~of_no_interest[0]))
    excused = of_no_interest[1] | (_touches(pred, ignored) & ~_touches(pred, scored))
    for side, count in (("gold", of_no_interest[0]), (system, excused)):
        if number := int(np.count_nonzero(count)):
            account[side, "unscored", "--ignore"] += number
    return scored, pred.with_spans(np.flatnonzero(~excused)) if excused.any() else pred


def masking(
    gold: Corpus, pred: Corpus, scored: Corpus, namings: tuple[Naming, Naming], ignore: Collection[str]
) -> Corpus:
    """Return the predictions as masks, which hide scored gold spans whatever the types of the predictions.

    Types that are not scored, or are ignored, mask text all the same; only those that a map drops do not. A prediction
    that touches no scored gold span is neither right nor wrong if it is ignored, or touches another gold span.
    """
    masks = leave_out_unannotated(gold, namings[1].apply(pred, deselected=True)[0], "", Counter())[1]
    left = np.array([namings[0].name(label) in {None, *ignore} for label in gold.labels] or [False], np.bool_)
    unscored = gold.with_spans(np.flatnonzero(left.take(gold.label)))
    excused = (_labelled(masks, ignore) | _touches(masks, unscored)) & ~_touches(masks, scored)
    return masks.with_spans(np.flatnonzero(~excused))


def leave_out_unannotated(
    gold: Corpus, pred: Corpus, system: str, account: Counter[tuple[str, str, str]]
) -> tuple[Corpus, Corpus]:
    """Leave out spans that are not inside a scored region, in documents whose gold metadata has `scored_regions`."""
    if REGIONS not in gold.meta:
        return gold, pred
    regions = [(doc, text) for doc, text in enumerate(gold.meta[REGIONS].tolist()) if text is not None]
    parsed = [
        (doc, low, high)
        for doc, text in regions
        for low, high in parse_regions(str(text), f"{gold.place(doc)}, meta.{REGIONS}")
    ]
    limited = np.zeros(len(gold), np.bool_)
    limited[[doc for doc, _ in regions]] = True
    doc, low, high = np.array(parsed, np.int64).reshape(-1, 3).T
    stride = 2 + max(int(ends.max(initial=0)) for ends in (gold.end, pred.end, high))
    scored = Coverage(doc * stride + low, doc * stride + high, stride)
    sides = []
    for name, side in (("gold", gold), (system, pred)):
        out = limited.take(side.doc) & ~_inside(side, scored) & ~is_invented(side)
        if number := int(np.count_nonzero(out)):
            account[name, "unscored", f"meta.{REGIONS}"] += number
        sides.append(side.with_spans(np.flatnonzero(~out)) if out.any() else side)
    return sides[0], sides[1]


def _inside(side: Corpus, regions: Coverage) -> Bools:
    """Return for each span whether it lies in a region; an empty span does if the character after it does."""
    end = np.maximum(side.end, side.start + 1)
    inside: Bools = regions.within(side.doc, side.start, end) == end - side.start
    return inside


def _touches(spans: Corpus, others: Corpus) -> Bools:
    """Return for each span whether it overlaps one of the others."""
    stride = 2 + max(int(side.end.max(initial=0)) for side in (spans, others))
    others = others.with_spans(np.lexsort((others.start, others.doc)))
    return Coverage.of(others, stride).touches(others, spans)


def _labelled(side: Corpus, labels: Collection[str]) -> Bools:
    return np.array([label in labels for label in side.labels] or [False], np.bool_).take(side.label)


def parse_regions(text: str, where: str = "") -> list[tuple[int, int]]:
    """Return the regions of a metadata value, sorted; `where` names the document and the field.

    >>> parse_regions("0-120, 300-450"), parse_regions("[[0, 120]]")
    ([(0, 120), (300, 450)], [(0, 120)])
    """
    found = []
    plain = _PAIR.sub(r"\1-\2", text.strip()[1:-1]) if _PAIRS.fullmatch(text.strip()) else text
    for part in plain.split(",") if plain.strip() else []:
        match = _REGION.fullmatch(part)
        if match is None or not int(match[1]) < int(match[2]) < 2**31:
            raise InputError(EXPECTED_REGIONS, where)
        found.append((int(match[1]), int(match[2])))
    found.sort()
    if any(second[0] < first[1] for first, second in pairwise(found)):
        raise InputError("regions overlap; list each part once.", where)
    return found
