"""Who marked which gold span, where the gold data names several annotators."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

from spanscore.align.annotators import ALL, DOCUMENT
from spanscore.corpus.annotators import ANNOTATOR, ANNOTATORS, separated
from spanscore.report.page.examples import encodable

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from spanscore.align import Pairing
    from spanscore.arguments import Text
    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Longs
    from spanscore.report.page.examples import Examples
    from spanscore.result import Result

Mark = tuple[int, int, str]
"""Start, end and label of a span."""


@dataclass(frozen=True, eq=False)
class Marks:
    """The spans of each annotator of each document.

    With `--annotator all`, a document stands there once for each annotator (`own`), and `document` is the one that it
    is a copy of.
    """

    document: Sequence[Hashable]
    own: Sequence[str | None]
    spans: Mapping[Hashable, Mapping[str, set[Mark]]]

    @classmethod
    def of(cls, pairing: Pairing, choice: str) -> Marks:
        """Return what each annotator marked in the gold data of a pairing."""
        gold = (pairing.rows or pairing).gold
        document: Sequence[Hashable] = range(len(gold))
        own: Sequence[str | None] = [None] * len(gold)
        if choice == ALL:
            document, own = gold.meta[DOCUMENT].tolist(), gold.meta[ANNOTATOR].tolist()
        by: Sequence[str | None] = [own[doc] for doc in gold.doc.tolist()]
        seen = [[name] for name in own]
        if choice != ALL:
            by = gold.attrs[ANNOTATOR].tolist()
            fields = gold.meta[ANNOTATORS].tolist() if ANNOTATORS in gold.meta else [None] * len(gold)
            seen = [list(separated(field)) if field else [] for field in fields]
        spans: dict[Hashable, dict[str, set[Mark]]] = defaultdict(lambda: defaultdict(set))
        for doc, names in zip(document, seen, strict=True):
            for name in names:
                if name is not None:
                    spans[doc][str(name)]  # an annotator who marked nothing saw the document, too
        for doc, who, mark in zip(gold.doc.tolist(), by, _marks(gold), strict=True):
            if who is not None:
                spans[document[doc]][str(who)].add(mark)
        return cls(document, own, spans)


@dataclass(frozen=True, eq=False)
class AnnotatorColumns:
    """The annotators as the page has them: names, sets of names, and who marked the span of each example."""

    marks: Marks

    @cached_property
    def names(self) -> list[str]:
        """Return the names of all annotators, sorted."""
        return sorted({name for by in self.marks.spans.values() for name in by})

    @cached_property
    def _groups(self) -> dict[tuple[str, ...], int]:
        return {}

    def _group(self, names: tuple[str, ...]) -> int:
        return self._groups.setdefault(names, len(self._groups))

    def of_examples(self, examples: Examples, marks: Marks, rows: Longs) -> list[int]:
        """Return the set of annotators who marked exactly the span of each example: gold, or else predicted."""
        gold, pred = _marks(examples.gold), _marks(examples.pred)
        found = []
        for row in rows.tolist():
            mark = pred[examples.pred_row[row]] if examples.alone[row] else gold[examples.gold_row[row]]
            by = marks.spans.get(marks.document[examples.doc[row]], {})
            found.append(self._group(tuple(sorted(name for name, own in by.items() if mark in own))))
        return found

    def shown(self, ids: Sequence[int | None]) -> dict[str, Any]:
        """Return what the page needs: the documents with these places in the gold data (None: not there), and a table.

        Call it last: it lists all sets of annotators that were asked for.
        """
        code = {name: number for number, name in enumerate(self.names)}
        marks = self.marks
        documents = {key: number for number, key in enumerate(marks.spans)}
        seen = {key: self._group(tuple(sorted(by))) for key, by in marks.spans.items()}
        nobody = self._group(())
        places = [(None, None) if at is None else (marks.document[at], marks.own[at]) for at in ids]
        return {
            "names": [encodable(name) for name in self.names],
            "document": [documents.get(key, -1) for key, _ in places],
            "own": [-1 if who is None else code[str(who)] for _, who in places],
            "seen": [seen.get(key, nobody) for key, _ in places],
            **self._table(),
            "groups": [[code[name] for name in names] for names in self._groups],
        }

    def _table(self) -> dict[str, Any]:
        """Return documents, spans and agreement of each annotator with the others, and of all pairs together.

        Agreement is F1 of identical spans: 2 · shared / (spans of one + spans of the other), over all documents that
        both saw.
        """
        documents, spans, shared, total = (dict.fromkeys(self.names, 0) for _ in range(4))
        for by in self.marks.spans.values():
            for name, own in by.items():
                documents[name] += 1
                spans[name] += len(own)
            for (one, ours), (other, theirs) in combinations(by.items(), 2):
                for name in (one, other):
                    shared[name] += 2 * len(ours & theirs)
                    total[name] += len(ours) + len(theirs)
        whole = sum(total.values())
        return {
            "documents": len(self.marks.spans),
            "table": [
                [documents[name], spans[name], shared[name] / total[name] if total[name] else None]
                for name in self.names
            ],
            "together": sum(shared.values()) / whole if whole else None,
        }


def annotators_of(result: Result, text: Text) -> str | None:
    """Return how the gold data of a result names annotators that may be shown: `all`, as attributes (""), or not."""
    pairing = result.scores[0].pairing
    assert pairing is not None, "a report needs whole corpora"
    gold = (pairing.rows or pairing).gold
    if result.settings.get("annotator") == ALL and ANNOTATOR in gold.meta:
        return ALL  # the names are in the ids of documents
    several = text == "show" and ANNOTATOR in gold.attrs and len(gold.attrs[ANNOTATOR].values) > 1
    return "" if several else None


def _marks(side: Corpus) -> list[Mark]:
    labels = [side.labels[code] for code in side.label.tolist()]
    return list(zip(side.start.tolist(), side.end.tolist(), labels, strict=True))
