"""The data of the report, as JSON.

The head holds scores, matrices, curves, and every example as columns. Shards hold a few hundred documents each, which
the page unpacks as they scroll into view.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from spanscore.report.page.examples import Examples
from spanscore.result import NUMBERS
from spanscore.result.privacy import allowed
from spanscore.result.tables import known
from spanscore.stats import Bootstrap
from spanscore.verdicts import VERDICTS
from spanscore.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spanscore.analysis.sweep import Curve
    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Column, Floats, Longs
    from spanscore.result import Result, Score, Scores
    from spanscore.result.privacy import Text
    from spanscore.stats import Interval

SHARD = 250
"""Documents per shard."""
POINTS = 400
"""Maximum number of points per curve."""
SLICES = 60
"""Maximum number of values of a metadata field that is offered as a slice."""


@dataclass(frozen=True, eq=False)
class Payload:
    """A result prepared for the report page."""

    result: Result
    curves: Sequence[Curve] = ()
    text: Text = "show"
    title: str = "spanscore report"
    notes: Sequence[str] = ()

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
        label = {name: code for code, name in enumerate(self.labels)}
        number = np.full(len(self.ids), -1)
        number[chosen] = np.arange(len(chosen))
        examples = [
            one.shown(number[self._places[id(scores.pairing)]], label)
            for scores, one in zip(self.result.scores, self._examples, strict=True)
        ]
        return {
            **self._numbers,
            "leftOut": left_out,
            "ids": [encodable(self.ids[doc]) for doc in chosen.tolist()],
            "slices": {key: self._slice(key, chosen) for key in self._keys},
            "scores": [
                {**scores, "examples": shown} for scores, shown in zip(self._numbers["scores"], examples, strict=True)
            ],
        }

    @cached_property
    def _numbers(self) -> dict[str, Any]:
        """Return the part that does not depend on which documents are shown."""
        label = {name: code for code, name in enumerate(self.labels)}
        bootstrap = self.result.bootstrap or Bootstrap()
        return {
            "version": __version__,
            "title": encodable(self.title),
            "text": self.text,
            "systems": self.systems,
            "measures": list(dict.fromkeys(repr(one.measure) for one in self.result.scores)),
            "labels": self.labels,
            "verdicts": VERDICTS,
            "beta": self.result.scores[0].beta,
            "level": bootstrap.level,
            "inputs": self.result.inputs,
            "warnings": [*self.result.warnings, *self.notes],
            "shard": SHARD,
            "lanes": self._lanes(),
            "pairs": list(self._pairs(label)),
            "scores": [self._scores(one, bootstrap, label) for one in self.result.scores],
        }

    def _scores(self, one: Scores, bootstrap: Bootstrap, label: dict[str, int]) -> dict[str, Any]:
        codes: dict[str | None, int] = {None: -1}
        codes.update(label)
        curves = [curve for curve in self.curves if (curve.system, curve.measure) == (one.system, one.measure)]
        return {
            "system": one.system,
            "measure": repr(one.measure),
            "signature": one.signature,
            "overall": _numbers(one.overall, one.interval(bootstrap)),
            "types": [[name, _numbers(score, one.interval(bootstrap, name))] for name, score in one.by_type.items()],
            "slices": {key: [[part, _numbers(score)] for part, score in one.by(key).items()] for key in self._keys},
            "confusion": [[codes[a], codes[b], count] for (a, b), count in one.confusion.items()],
            "curves": _curves(curves),
        }

    def _pairs(self, label: dict[str, int]) -> Iterator[dict[str, Any]]:
        """Yield the predicted types of the first and each other system, where both have the same gold spans."""
        for one in self.result.scores:
            first = next(other for other in self.result.scores if other.measure == one.measure)
            if first is one or len(first.judgement.cell) != len(one.judgement.cell):
                continue
            before, after = first.judgement, one.judgement
            codes = [np.array([*(label[name] for name in side.pairing.labels), -1]) for side in (before, after)]
            gold = codes[0][before.pairing.gold.label]
            cells = (code[side.cell] for code, side in zip(codes, (before, after), strict=True))
            rows, counts = np.unique(np.stack([gold, *cells], axis=1), axis=0, return_counts=True)
            table = [[*row, count] for row, count in zip(rows.tolist(), counts.tolist(), strict=True)]
            yield {"measure": repr(one.measure), "first": first.system, "second": one.system, "cells": table}

    def shards(self, chosen: Longs) -> Iterator[list[Any]]:
        """Yield shards of the chosen documents: text, gold spans, and the spans of each system, as flat lists."""
        label = {name: code for code, name in enumerate(self.labels)}
        first: dict[str, Scores] = {}
        for one in self.result.scores:
            first.setdefault(one.system, one)
        sides = []
        for one in first.values():
            pairing = _pairing(one)
            row = np.full(len(self.ids), -1)
            row[self._places[id(one.pairing)]] = np.arange(len(pairing))
            sides.append((row, pairing))
        for begin in range(0, len(chosen), SHARD):
            documents = []
            for doc in chosen[begin : begin + SHARD].tolist():
                rows = [int(row[doc]) for row, _ in sides]
                known = next(n for n, row in enumerate(rows) if row >= 0)
                text = allowed(sides[known][1].text[rows[known]], self.text)
                gold = _spans(sides[known][1].gold, rows[known], label)
                predicted = [_spans(pairing.pred, row, label) for (_, pairing), row in zip(sides, rows, strict=True)]
                documents.append([None if text is None else encodable(text), gold, *predicted])
            yield documents

    def _lanes(self) -> list[int]:
        """Return the number of lanes for the gold data and each system: one, or two if its spans overlap."""
        first = {one.system: _pairing(one) for one in reversed(self.result.scores)}
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
        return [key for key in few if self.text == "show" or key in self.result.by]

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


def _spans(side: Corpus, doc: int, label: dict[str, int]) -> list[Any]:
    """Return the spans of a document as a flat list of start, end, label and score (None if unscored)."""
    if doc < 0:
        return []
    rows = slice(int(side.bounds[doc]), int(side.bounds[doc + 1]))
    scores = [None] * (rows.stop - rows.start) if side.score is None else side.score[rows].tolist()
    flat: list[Any] = []
    for start, end, code, score in zip(
        side.start[rows].tolist(), side.end[rows].tolist(), side.label[rows].tolist(), scores, strict=True
    ):
        flat += (start, end, label[side.labels[code]], None if score is None or score != score else score)
    return flat


def encodable(text: str) -> str:
    """Replace lone surrogates, which cannot be encoded as UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _numbers(score: Score, interval: Interval | None = None) -> dict[str, Any]:
    fields: dict[str, Any] = {name: known(getattr(score, name)) for name in NUMBERS}
    fields["counts"] = score.counts
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
