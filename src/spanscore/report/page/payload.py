"""The data of the report, as JSON.

The head holds scores, matrices, curves, and every example as columns. Shards hold a few hundred documents each, which
the page unpacks as they scroll into view.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from spanscore.align.annotators import ALL, DOCUMENT
from spanscore.corpus.annotators import ANNOTATOR
from spanscore.report.page.annotators import AnnotatorColumns, Marks, annotators_of
from spanscore.report.page.answer import GOLD, answers, hits, is_linking, leak_measure, notes
from spanscore.report.page.examples import ENTITY, Examples, encodable
from spanscore.report.page.frequent import Frequent
from spanscore.result import NUMBERS
from spanscore.result.privacy import allowed
from spanscore.result.tables import known
from spanscore.stats import Bootstrap
from spanscore.verdicts import CORRECT, EXPOSED, MISSED, PARTLY_HIDDEN, VERDICTS, verdicts
from spanscore.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from spanscore.analysis.sweep import Curve
    from spanscore.arguments import Text
    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Column, Floats, Longs
    from spanscore.result import Result, Score, Scores
    from spanscore.stats import Interval

SHARD = 250
"""Documents per shard."""
POINTS = 400
"""Maximum number of points per curve."""
SLICES = 60
"""Maximum number of values of a metadata field that is offered as a slice."""
LANES = (None, "type", "raw", "branch", "pii")
"""Levels of types, the one whose types are shown in texts first."""
PAIRS = 120
"""Maximum number of pairs of systems; with more, each system is paired with the first one only."""


@dataclass(frozen=True, eq=False)
class Payload:
    """A result prepared for the report page."""

    result: Result
    curves: Sequence[Curve] = ()
    text: Text = "show"
    title: str = "spanscore report"
    notes: Sequence[str] = ()
    comparison: Mapping[str, Any] | None = None
    """The content of comparison.json, if the systems were compared."""
    agreement: Mapping[str, Any] | None = None
    """The content of agreement.json, if the systems are annotators."""
    gold: str = GOLD
    """What to call the gold data: the name of an annotator, if the systems are others."""

    @cached_property
    def ids(self) -> list[str]:
        """Return the document ids of all systems, those in the gold data first."""
        return list(dict.fromkeys(name for one in self.result.scores for name in _pairing(one).gold.ids))

    @cached_property
    def systems(self) -> list[str]:
        """Return the names of the systems."""
        return list(dict.fromkeys(one.system for one in self.result.scores))

    @cached_property
    def labels(self) -> list[str]:
        """Return all labels used by a span or a measure."""
        found = {name for one in self.result.scores for name in _pairing(one).labels}
        return sorted(found | {name for one in self._examples for name in one.gold.labels})

    @cached_property
    def _examples(self) -> list[Examples]:
        return [Examples.of(one) for one in self.result.scores]

    @cached_property
    def _frequent(self) -> list[Frequent | None]:
        return [
            Frequent.of(examples, _pairing(one), self.text)
            for one, examples in zip(self.result.scores, self._examples, strict=True)
        ]

    @cached_property
    def _entities(self) -> bool:
        """Whether to show the entities that spans are linked to; they may identify a person, as text does."""
        sides = (side for one in self.result.scores for side in (_pairing(one).gold, _pairing(one).pred))
        return self.text == "show" and any(ENTITY in side.attrs for side in sides)

    @cached_property
    def _places(self) -> dict[int, Longs]:
        """Return, for each pairing, the index in `ids` of each of its documents."""
        place = {name: number for number, name in enumerate(self.ids)}
        pairings = {id(one.pairing): _pairing(one) for one in self.result.scores}
        return {key: np.array([place[name] for name in one.gold.ids], np.int64) for key, one in pairings.items()}

    def with_errors(self) -> Longs:
        """Return the indices of documents in which any system has an error by any measure."""
        wrong = np.zeros(len(self.ids), np.bool_)
        for one, examples in zip(self.result.scores, self._examples, strict=True):
            wrong[self._places[id(one.pairing)][examples.doc[examples.wrong]]] = True
        return np.flatnonzero(wrong)

    def head(self, chosen: Longs, left_out: dict[str, int]) -> dict[str, Any]:
        """Return everything except the documents themselves, for a report on the chosen documents."""
        label = self._label
        number = np.full(len(self.ids), -1)
        number[chosen] = np.arange(len(chosen))
        who, marked_by = self._marked_by()
        examples = [
            one.shown(
                number[self._places[id(scores.pairing)]],
                label,
                self.text,
                often,
                entities=self._entities,
                marked_by=by,
                annotators=None if self.gold == GOLD else (self.gold, scores.system),
            )
            for scores, one, often, by in zip(
                self.result.scores, self._examples, self._frequent, marked_by, strict=True
            )
        ]
        return {
            **self._numbers,
            "annotators": None if who is None else who.shown(self._in_gold(chosen)),
            "leftOut": left_out,
            "ids": [encodable(self.ids[doc]) for doc in chosen.tolist()],
            "slices": {key: self._slice(key, chosen) for key in self._keys},
            "scores": [
                {**scores, "examples": shown} for scores, shown in zip(self._numbers["scores"], examples, strict=True)
            ],
        }

    @cached_property
    def _marks(self) -> dict[int, Marks]:
        """Return who marked what in the gold data of each pairing; nothing if it does not name several annotators."""
        choice = annotators_of(self.result, self.text)
        if choice is None:
            return {}
        pairings = {id(one.pairing): _pairing(one) for one in self.result.scores}
        return {key: Marks.of(one, choice) for key, one in pairings.items()}

    def _marked_by(self) -> tuple[AnnotatorColumns | None, list[Callable[[Longs], list[int]] | None]]:
        """Return the annotators, and a function for the examples of each scores that returns who marked them."""
        if not self._marks:
            return None, [None] * len(self.result.scores)
        columns = AnnotatorColumns(self._marks[id(self.result.scores[0].pairing)])
        return columns, [
            partial(columns.of_examples, one, self._marks[id(scores.pairing)])
            for scores, one in zip(self.result.scores, self._examples, strict=True)
        ]

    def _in_gold(self, chosen: Longs) -> list[int | None]:
        """Return the place of documents in the first gold data."""
        place = {int(at): row for row, at in enumerate(self._places[id(self.result.scores[0].pairing)])}
        return [place.get(doc) for doc in chosen.tolist()]

    @cached_property
    def _measures(self) -> list[str]:
        """Return the measures; the one of the headline comes first, because the page opens with it."""
        names = dict.fromkeys(repr(one.measure) for one in self.result.scores)
        first = leak_measure(self.result, self.gold)
        return sorted(names, key=lambda name: name != first)

    @cached_property
    def _numbers(self) -> dict[str, Any]:
        """Return the part that does not depend on which documents are shown."""
        label = self._label
        bootstrap = self.result.bootstrap or Bootstrap()
        first, rest = notes(self.result, self.notes)
        if self.result.settings.get("annotator") == ALL:
            first.append("Every annotator counts: a document is scored once for each annotator who saw it.")
        found = zip(self.result.scores, answers(self.result, bootstrap, self.gold), self._frequent, strict=True)
        return {
            "version": __version__,
            "title": encodable(self.title),
            "text": self.text if any(_pairing(one).letters for one in self.result.scores) else "hide",
            "systems": self.systems,
            "measures": self._measures,
            "levels": list(dict.fromkeys(one.level for one in self.result.scores)),
            "labels": self.labels,
            "verdicts": VERDICTS,
            "beta": self.result.scores[0].beta,
            "confidence": bootstrap.level,
            "inputs": self.result.inputs,
            "notes": [encodable(one) for one in (*first, *rest)],
            "important": len(first),
            "shard": SHARD,
            "lanes": self._lanes(),
            "laneLevel": next(iter(self._laned.values())).level,
            "entities": self._entities,
            "pairs": list(self._pairs(label)),
            "comparison": _comparison(self.comparison, self.systems),
            "agreement": self.agreement or self.result.settings.get("agreement"),
            "gold": encodable(self.gold),
            "not_looked_for": list(self.result.not_looked_for),
            "scores": [
                {**self._scores(one, bootstrap, label), "answer": said, "frequent": _listed(often, label)}
                for one, said, often in found
            ],
        }

    def _scores(self, one: Scores, bootstrap: Bootstrap, label: dict[str, int]) -> dict[str, Any]:
        codes: dict[str | None, int] = {None: -1}
        codes.update(label)
        curves = [curve for curve in self.curves if (curve.system, curve.name) == (one.system, one.name)]
        return {
            "system": one.system,
            "measure": repr(one.measure),
            "level": one.level,
            "linking": is_linking(one),
            "signature": one.signature,
            "overall": _numbers(one.overall, one.interval(bootstrap), hits(one)),
            "types": [
                [name, _numbers(score, one.interval(bootstrap, name), hits(one, name))]
                for name, score in one.by_type.items()
            ],
            "slices": {key: _slices(one, bootstrap, key) for key in self._keys},
            "confusion": [[codes[a], codes[b], count] for (a, b), count in one.confusion.items()],
            "masking": one.judgement.exposure is not None,
            "outcomes": _outcomes(one, label),
            "curves": _curves(curves),
        }

    def _pairs(self, label: dict[str, int]) -> Iterator[dict[str, Any]]:
        """Yield the predicted types of every pair of systems, where both have the same gold spans."""
        groups: dict[tuple[str, str | None], list[Scores]] = {}
        for one in self.result.scores:
            groups.setdefault((repr(one.measure), one.level), []).append(one)
        for (measure, level), systems in groups.items():
            pairs = list(combinations(systems, 2))
            if len(pairs) > PAIRS:
                pairs = [(systems[0], other) for other in systems[1:]]
            for first, second in pairs:
                before, after = first.judgement, second.judgement
                if len(before.cell) != len(after.cell):
                    continue
                codes = [np.array([*(label[name] for name in side.pairing.labels), -1]) for side in (before, after)]
                gold = codes[0][before.pairing.gold.label]
                cells = (code[side.cell] for code, side in zip(codes, (before, after), strict=True))
                rows, counts = np.unique(np.stack([gold, *cells], axis=1), axis=0, return_counts=True)
                table = [[*row, count] for row, count in zip(rows.tolist(), counts.tolist(), strict=True)]
                names = {"first": first.system, "second": second.system}
                yield {"measure": measure, "level": level, **names, "cells": table}

    def shards(self, chosen: Longs) -> Iterator[list[Any]]:
        """Yield shards of the chosen documents: text, gold spans, and the spans of each system, as flat lists."""
        sides = []
        for one in self._laned.values():
            pairing = _pairing(one)
            row = np.full(len(self.ids), -1)
            row[self._places[id(one.pairing)]] = np.arange(len(pairing))
            sides.append((row, pairing))
        predictions = [(row, pairing.in_text(pairing.pred)) for row, pairing in sides]
        for begin in range(0, len(chosen), SHARD):
            docs = chosen[begin : begin + SHARD]
            rows = np.stack([row[docs] for row, _ in sides], axis=1)
            known = np.argmax(rows >= 0, axis=1).tolist()  # the first system that has the document
            texts = [
                allowed(sides[of][1].own_text(int(row[of])), self.text) for of, row in zip(known, rows, strict=True)
            ]
            gold: list[Any] = [None] * len(docs)
            for number, (_, pairing) in enumerate(sides):
                here = np.flatnonzero(np.equal(known, number))
                for place, spans in zip(here.tolist(), self._spans(pairing.gold, rows[here, number]), strict=True):
                    gold[place] = spans
            predicted = [self._spans(pred, row[docs]) for row, pred in predictions]
            shown = (None if text is None else encodable(text) for text in texts)
            yield [list(one) for one in zip(shown, gold, *predicted, strict=True)]

    def _spans(self, side: Corpus, docs: Longs) -> list[list[Any]]:
        """Return the spans of each document as a flat list: start, end, label, score or None and, if shown, entity.

        A document of -1 has none.
        """
        first = side.bounds[np.maximum(docs, 0)].astype(np.int64)
        counts = np.where(docs < 0, 0, side.bounds[np.maximum(docs, 0) + 1] - first)
        ends = np.cumsum(counts)
        rows = np.repeat(first - (ends - counts), counts) + np.arange(int(counts.sum()))
        code = np.array([self._label[name] for name in side.labels], np.int64)
        columns = [side.start[rows].tolist(), side.end[rows].tolist(), code[side.label[rows]].tolist()]
        if side.score is None:
            columns.append([None] * len(rows))
        else:
            columns.append([None if score != score else score for score in side.score[rows].tolist()])
        if self._entities:
            column = side.attrs.get(ENTITY)
            names = [None] * len(rows) if column is None else column.take(rows).tolist()
            columns.append([None if name is None else encodable(str(name)) for name in names])
        flat = list(chain.from_iterable(zip(*columns, strict=True)))
        return [flat[a:b] for a, b in pairwise([0, *(ends * len(columns)).tolist()])]

    @cached_property
    def _label(self) -> dict[str, int]:
        """The code of each label."""
        return {name: code for code, name in enumerate(self.labels)}

    @cached_property
    def _laned(self) -> dict[str, Scores]:
        """Return the scores of each system whose spans are drawn: at the level with the most telling types."""
        found: dict[str, Scores] = {}
        for one in sorted(self.result.scores, key=lambda one: LANES.index(one.level)):
            found.setdefault(one.system, one)
        return {name: found[name] for name in self.systems}

    def _lanes(self) -> list[int]:
        """Return the number of lanes for the gold data and each system: one, or two if its spans overlap."""
        first = {name: _pairing(one) for name, one in self._laned.items()}
        gold = max(_overlap(pairing.gold) for pairing in first.values())
        return [1 + gold, *(1 + _overlap(first[name].pred) for name in self.systems)]

    @cached_property
    def _keys(self) -> list[str]:
        """Return the metadata fields of the gold data that documents can be sliced by.

        If the text is masked or hidden, only fields requested with --by are included, because metadata can identify
        a person.
        """
        if any(one.measure.needs_all_documents or not one.tally.documents for one in self.result.scores):
            return []
        gold = [_pairing(one).gold for one in self.result.scores]
        shared = [key for key in gold[0].meta if all(key in side.meta for side in gold)]
        few = [f"meta.{key}" for key in shared if 2 <= _kinds(gold[0].meta[key]) <= SLICES]
        told: tuple[str, ...] = ()
        if self.result.settings.get("annotator") == ALL:  # both are in the ids of documents
            told = (f"meta.{ANNOTATOR}",)
            few = [key for key in few if key != f"meta.{DOCUMENT}" or key in self.result.by]
        return [key for key in few if self.text == "show" or key in (*self.result.by, *told)]

    def _slice(self, key: str, chosen: Longs) -> dict[str, Any]:
        one = self.result.scores[0]
        group, names = one.slices(key)
        code = np.full(len(self.ids), -1)
        code[self._places[id(one.pairing)]] = group
        return {"values": names, "codes": code[chosen].tolist()}


def _pairing(one: Scores) -> Any:
    assert one.pairing is not None, "a report needs whole corpora"
    return one.pairing


def _overlap(side: Corpus) -> bool:
    same = side.doc[1:] == side.doc[:-1]
    return bool((same & (side.start[1:] < np.maximum(side.end[:-1], side.start[:-1] + 1))).any())


def _kinds(column: Column) -> int:
    return len(set(column.codes.tolist()))


def _listed(often: Frequent | None, label: dict[str, int]) -> list[list[Any]]:
    """Return the most frequent strings of errors: predicted or not, label code, string and count."""
    found = [] if often is None else often.listed
    return [[int(predicted), label.get(name, -1), string, count] for predicted, name, string, count in found]


def _comparison(record: Mapping[str, Any] | None, systems: Sequence[str]) -> dict[str, Any] | None:
    """Return the part of a comparison that the page shows, if it is about these systems."""
    if record is None or [one["system"] for one in record["systems"]] != list(systems):
        return None
    differences = [{**one, "level": one.get("level")} for one in record["differences"]]
    return {**{name: record[name] for name in ("systems", "alpha", "permutations")}, "differences": differences}


def _outcomes(one: Scores, label: dict[str, int]) -> dict[str, Any] | None:
    """Return the gold spans of each type by verdict, the right one last; None if the measure compares types."""
    judged = one.judgement
    if judged.exposure is None and judged.typed:
        return None
    gold, found = judged.pairing.gold, verdicts(judged)[0].verdict
    used = {EXPOSED, PARTLY_HIDDEN} if judged.exposure is not None else {MISSED, *np.unique(found).tolist()}
    columns = [*sorted(used - {CORRECT}, key=lambda code: (code not in (MISSED, EXPOSED), code)), CORRECT]
    counts = np.zeros((len(gold.labels), len(VERDICTS)), np.int64)
    np.add.at(counts, (gold.label, found), 1)
    rows = zip(gold.labels, counts[:, columns].tolist(), strict=True)
    return {
        "verdicts": [VERDICTS[code] for code in columns],
        "types": [[label[name], *row] for name, row in rows if any(row)],
    }


def _slices(one: Scores, bootstrap: Bootstrap, key: str) -> list[list[Any]]:
    bounds = one.intervals(bootstrap, key)
    sums = {name: one.ratio_columns(tally.total()[None])[0].tolist() for name, tally in one.parts(key)}
    return [[part, _numbers(score, bounds.get(part), sums[part])] for part, score in one.by(key).items()]


def _numbers(score: Score, interval: Interval | None, sums: list[float]) -> dict[str, Any]:
    """Return a score with its counts, its interval, and how many annotations are missed and predictions wrong."""
    fields: dict[str, Any] = {name: known(getattr(score, name)) for name in NUMBERS}
    fields["counts"] = score.counts
    right, predicted, found, annotated = sums
    fields |= {"missed": annotated - found, "annotated": annotated, "wrong": predicted - right, "predicted": predicted}
    if interval is not None:
        fields["interval"] = {name: [known(end) for end in getattr(interval, name)] for name in NUMBERS}
    return fields


def _curves(curves: Sequence[Curve]) -> dict[str, Any] | None:
    """Return the overall and per-type curves at up to `POINTS` common thresholds plus the best one of each type."""
    if not curves:
        return None
    threshold = curves[0].threshold
    best = [curve.best() for curve in curves]
    if len(threshold) > POINTS:
        threshold = threshold[np.linspace(0, len(threshold) - 1, POINTS).astype(np.int64)]
    threshold = np.union1d(threshold, [one for one in best if one is not None])[::-1]
    return {
        "threshold": threshold.tolist(),
        "types": [_curve(curve, one, threshold) for curve, one in zip(curves, best, strict=True)],
    }


def _curve(curve: Curve, best: float | None, threshold: Floats) -> dict[str, Any]:
    numbers = (column.tolist() for column in curve.numbers_at(curve.rows(threshold)))
    found = curve.calibration
    calibration = found and {
        "ece": found.error,
        "predictions": found.predictions.tolist(),
        "score": [known(value) for value in found.score.tolist()],
        "right": [known(value) for value in found.right.tolist()],
    }
    return {
        "type": curve.type,
        **{name: [known(value) for value in column] for name, column in zip(NUMBERS, numbers, strict=True)},
        "best": best,
        "ap": known(curve.average_precision),
        "calibration": calibration,
    }
