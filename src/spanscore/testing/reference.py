"""Executable specification: every measure, implemented as plainly as possible, one document at a time.

This code is slow on purpose and shares nothing with the fast implementation. A span is a tuple (start, end, label).
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from spanscore.testing import reference_leak as leak
from spanscore.testing import reference_mentions as mentions
from spanscore.testing import reference_official as official
from spanscore.testing import reference_pairs as paired
from spanscore.testing import reference_presidio as presidio
from spanscore.testing import reference_spans as spans
from spanscore.testing.plain import Counts, Side, Text

if TYPE_CHECKING:
    from collections.abc import Callable

    from spanscore.corpus import Corpus
    from spanscore.measures import Measure


def reference_tally(measure: Measure, gold: Corpus, pred: Corpus) -> dict[tuple[str, str], Counts]:
    """Return the nonzero counts of a measure by (document, label)."""
    predicted = {str(document.id): document for document in pred.documents()}
    found: dict[tuple[str, str], Counts] = {}
    if measure.needs_all_documents:
        documents = [(document, predicted.get(str(document.id))) for document in gold.documents()]
        row = mentions.WHOLE[measure.name](measure, documents)
        return {("", ""): {key: value for key, value in row.items() if value}} if any(row.values()) else {}
    for document in gold.documents():
        other = predicted.get(str(document.id))
        counts: dict[str, Counts] = defaultdict(lambda: defaultdict(int))
        _FAMILIES[measure.name](measure, Side(document), Side(other), Text(document, other), counts)
        for label, row in counts.items():
            if any(row.values()):
                found[str(document.id), label] = {key: value for key, value in row.items() if value}
    return found


_FAMILIES: dict[str, Callable[..., None]] = {
    "char": spans.char,
    "char.pii": spans.char,
    "exact": spans.exact,
    "i2b2.relaxed": official.i2b2,
    "i2b2.strict": official.i2b2,
    "i2b2.token": official.i2b2,
    "iou": spans.iou,
    "iou.pii": spans.iou,
    "leak": leak.leak,
    "leak.char": leak.leak_char,
    "leak.document": leak.leak_document,
    "leak.entity": leak.leak_entity,
    "meddocan.leak": official.meddocan,
    "meddocan.merged": official.meddocan_merged,
    "meddocan.ner": official.meddocan,
    "meddocan.spans": official.meddocan,
    "overlap-maxmax": mentions.overlap_share,
    "overlap-maxsum": mentions.overlap_share,
    "overlap-summax": mentions.overlap_share,
    "overlap-sumsum": mentions.overlap_share,
    "presidio": presidio.presidio,
    "presidio.pii": presidio.presidio,
    "presidio.token": presidio.presidio_token,
    "presidio.token.pii": presidio.presidio_token,
    "sandbox.hipaa": paired.instance,
    "sandbox.instance": paired.instance,
    "sandbox.instance-relax": paired.instance,
    "sandbox.subtype": paired.instance,
    "sandbox.token": paired.sandbox_token,
    "semeval.exact": paired.semeval,
    "semeval.partial": paired.semeval,
    "semeval.strict": paired.semeval,
    "semeval.type": paired.semeval,
    "sets": mentions.sets,
    "sixway.flexible": spans.sixway,
    "sixway.partial": spans.sixway,
    "sixway.strict": spans.sixway,
    "tab.entity": official.tab,
    "tab.mention": official.tab,
    "tab.token": official.tab,
    "token": spans.token,
    "token.pii": spans.token,
}
