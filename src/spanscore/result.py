"""Results: precision, recall and F of systems by measures, overall, by type and by document."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from spanscore.errors import UsageError, printable, unknown
from spanscore.measures import measure as as_measure
from spanscore.stats import Bootstrap, Interval, Kinds, binomial_most, percentile_interval, stream
from spanscore.verdicts import Error, errors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from spanscore.align import Pairing
    from spanscore.columns import Floats, Longs
    from spanscore.corpus import Corpus
    from spanscore.measures import Judgement, Measure
    from spanscore.report.privacy import Text
    from spanscore.tally import Counts, Tally


NUMBERS = ("precision", "recall", "f")
NONE = "(none)"
"""The slice of documents without a value."""


@dataclass(frozen=True)
class Score:
    """Precision, recall and F-beta, and the counts behind them; undefined is nan."""

    precision: float
    recall: float
    f: float
    beta: float
    counts: dict[str, Any] = field(hash=False)


@dataclass(frozen=True, eq=False)
class Scores:
    """One system by one measure: the overall score's fields, and the same by type and document."""

    system: str
    measure: Measure
    tally: Tally
    beta: float
    signature: str
    pairing: Pairing | None = None

    @cached_property
    def overall(self) -> Score:
        """The score over all types and documents."""
        return self._scores(self.tally.total()[None])[0]

    @property
    def precision(self) -> float:
        """The share of what was predicted that is right."""
        return self.overall.precision

    @property
    def recall(self) -> float:
        """The share of what was annotated that was found."""
        return self.overall.recall

    @property
    def f(self) -> float:
        """F-beta of precision and recall."""
        return self.overall.f

    @property
    def counts(self) -> dict[str, Any]:
        """The counts behind the overall score."""
        return self.overall.counts

    @cached_property
    def by_type(self) -> dict[str, Score]:
        """The score of each type that was annotated or predicted; nothing for a measure that is blind to types."""
        return self.by("type") if self.measure.by_type else {}

    @cached_property
    def by_document(self) -> dict[str, Score]:
        """The score of each document, if documents' own counts were kept."""
        return self.by("document")

    def interval(self, bootstrap: Bootstrap, label: str | None = None) -> Interval | None:
        """Where the overall numbers, or those of a type, are likely to be; None where documents have no counts of
        their own, as with clusterings.
        """
        if self.measure.whole or not self.tally.documents:
            return None
        units = self.units(bootstrap.cluster)
        counts = units.of_label(label).present()
        kinds = Kinds.of(counts, len(units.documents) - len(counts))
        sums = kinds.resamples(bootstrap.resamples, stream(bootstrap.seed, label or ""))
        score = self.overall if label is None else self.by_type[label]
        p, r, f = (
            (math.nan, math.nan) if math.isnan(getattr(score, name)) else percentile_interval(values, bootstrap.level)
            for name, values in zip(NUMBERS, self.numbers(sums), strict=True)
        )
        annotated, missed = score.counts.get("annotated"), score.counts.get("fn")
        bounds = None
        if self.measure.counts_spans and isinstance(annotated, int) and isinstance(missed, int) and annotated:
            bounds = missed, annotated, binomial_most(missed, annotated, bootstrap.level)
        return Interval(p, r, f, bounds)

    def numbers(self, sums: Counts) -> tuple[Floats, Floats, Floats]:
        """Precision, recall and F of rows of counts, for statistics: F of two zeros, undefined in a table, is 0."""
        named = {name: sums[:, i] for i, name in enumerate(self.tally.fields)}
        precision, recall, f = prf(self.measure, named, self.beta)
        return precision, recall, np.where((precision == 0) & (recall == 0), 0.0, f)

    def units(self, cluster: str | None) -> Tally:
        """The counts of what is drawn for statistics: of documents, or of clusters of them by a field of metadata."""
        if cluster is None:
            return self.tally
        group, names = self.slices(cluster)
        return replace(self.tally, documents=tuple(names), doc=group[self.tally.doc].astype(np.int32))

    def by(self, what: str) -> dict[str, Score]:
        """The score of each `type`, each `document`, or each value of `meta.KEY`, a field of documents' metadata.

        A measure that has no types of its own scores the spans of each type alone.
        """
        names, counts = self.split(what)
        return dict(zip(names, self._scores(counts), strict=True))

    def micro(self, over: str = "type") -> Score:
        """The score of the sum of all counts over types, documents or values of metadata."""
        return self._scores(self.split(over)[1].sum(axis=0)[None])[0]

    def macro(self, over: str = "type") -> Score:
        """The mean of each number and count over types, documents or values of metadata where there is anything.

        Numbers that are undefined are left out; neleval's measures count them as 0, as neleval does.
        """
        counts = self.split(over)[1]
        rows = self._scores(counts[counts.any(axis=1)])
        p, r, f = (_mean([getattr(row, name) for row in rows], self.measure.undefined) for name in NUMBERS)
        names = rows[0].counts if rows else ()
        means = {name: _mean([row.counts[name] for row in rows], 0.0) for name in names}
        return Score(p, r, f, self.beta, means)

    def split(self, what: str) -> tuple[Sequence[str], Counts]:
        """The names of the parts that scores are split into, and a row of counts for each."""
        measure, tally = self.measure, self.tally
        if what == "type":
            if not measure.by_type:
                return self._kept.labels, self._alone(self._kept.of_type())
            counts = tally.by_label()
            rows = np.flatnonzero(counts.any(axis=1))
            return [tally.labels[row] for row in rows.tolist()], counts[rows]
        if what == "document":
            if measure.whole:
                parts = self._kept.blocks(1) if len(self._kept) else ()
                return self._kept.gold.ids, self._alone(parts)
            return tally.documents, tally.by_document()
        group, names = self.slices(what)
        if measure.whole:
            return names, self._alone(self._kept.take(np.flatnonzero(group == number)) for number in range(len(names)))
        if not tally.documents:
            raise UsageError("documents' own counts were not kept; score whole corpora to split the scores.")
        counts = tally.by_document()
        sums = np.zeros((len(names), counts.shape[1]), counts.dtype)
        np.add.at(sums, group, counts)
        return names, sums

    def slices(self, what: str) -> tuple[Longs, list[str]]:
        """The number of each document's slice by a field of metadata, and the slices' names."""
        refuse_unknown_split(what, *((self.pairing.gold, self.pairing.pred) if self.pairing else ()))
        key = what.removeprefix("meta.")
        column = next(side.meta[key] for side in (self._kept.gold, self._kept.pred) if key in side.meta)
        values = [_slice_name(value) for value in (*column.values, None)]
        names = sorted({values[code] for code in set(column.codes.tolist())})
        place = {name: number for number, name in enumerate(names)}
        return np.array([place.get(value, 0) for value in values])[column.codes], names

    def _alone(self, parts: Iterable[Pairing]) -> Counts:
        """The counts of parts of the data, each as if it were all there is."""
        counts = [self.measure.tally(part).total() for part in parts]
        return np.array(counts).reshape(-1, len(self.tally.fields))

    @property
    def _kept(self) -> Pairing:
        if self.pairing is None:
            raise UsageError("spans are not kept when scoring in chunks; score whole corpora to split the scores.")
        return self.pairing

    def errors(self, *, correct: bool = False) -> Iterator[Error]:
        """Every span that this measure does not count as right, with verdict and explanation."""
        return errors(self.judgement, correct=correct)

    @cached_property
    def confusion(self) -> dict[tuple[str | None, str | None], int]:
        """Counts by gold type and predicted type; None is missed (as predicted) or spurious (as gold)."""
        return self.judgement.confusion()

    @cached_property
    def judgement(self) -> Judgement:
        """What the measure makes of every span."""
        if self.pairing is None:
            raise UsageError("errors are not kept when scoring in chunks; score whole corpora to see them.")
        return self.measure.judge(self.pairing)

    def _scores(self, counts: Any) -> list[Score]:
        named = {name: counts[:, i] for i, name in enumerate(self.tally.fields)}
        precision, recall, f = prf(self.measure, named, self.beta)
        shown = self.measure.shown(named)
        return [
            Score(float(p), float(r), float(f_), self.beta, {key: column[i].item() for key, column in shown.items()})
            for i, (p, r, f_) in enumerate(zip(precision, recall, f, strict=True))
        ]


class Errors(Sequence[Error]):
    """Errors in order, which are also a table for whatever reads Arrow."""

    def __init__(self, errors: Iterable[Error]) -> None:
        self._errors = list(errors)

    def __len__(self) -> int:
        return len(self._errors)

    def __getitem__(self, place: Any) -> Any:
        return self._errors[place]

    def __eq__(self, other: object) -> bool:
        return self._errors == (other._errors if isinstance(other, Errors) else other)

    def __repr__(self) -> str:
        return repr(self._errors)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """A row for each error."""
        from spanscore.report.frames import errors_table

        return errors_table(self).__arrow_c_stream__(requested_schema)


@dataclass(frozen=True, eq=False)
class Result:
    """All systems by all measures.

    `result["iou"]` are the scores by a measure: by its repr, or by its name where only one has it. With several
    systems, `result["iou", "system"]`.
    """

    scores: tuple[Scores, ...]
    inputs: dict[str, Any]
    warnings: tuple[str, ...]
    bootstrap: Bootstrap | None = None
    """How tables and files make intervals, if they do."""
    by: tuple[str, ...] = ()
    """What tables and files split the scores by: type, document, meta.KEY."""
    settings: dict[str, Any] = field(default_factory=dict)
    """What it takes, beside the inputs, to score the same again."""

    def __getitem__(self, key: str | tuple[str, str]) -> Scores:
        measure, system = (key, None) if isinstance(key, str) else key
        if "(" in measure or ":" in measure:
            measure = repr(as_measure(measure))
        among = [one for one in self.scores if system in (None, one.system)]
        found = [one for one in among if repr(one.measure) == measure] or [
            one for one in among if one.measure.name == measure
        ]
        if len(found) == 1:
            return found[0]
        if not found:
            raise UsageError(unknown("result for", str(key), {repr(one.measure) for one in self.scores}))
        listed = ", ".join(f'["{one.measure!r}", "{one.system}"]' for one in found)
        raise UsageError(f"'{key}' names several results; take one of {listed}.")

    def with_settings(self, **more: Any) -> Result:
        """The same, with more of what it takes to score it again."""
        return replace(self, settings={**self.settings, **more})

    def errors(self, measure: str, system: str | None = None, *, correct: bool = False) -> Errors:
        """The spans that a measure does not count as right (or all of them), with verdict and explanation."""
        return Errors(self[measure if system is None else (measure, system)].errors(correct=correct))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows of the results for polars, pandas, DuckDB and whatever else reads Arrow."""
        from spanscore.report.frames import results_table

        return results_table(self).__arrow_c_stream__(requested_schema)

    def save(self, folder: str | Path, *, text: Text = "show") -> None:
        """Write results.json and errors.jsonl into a folder, each whole or not at all."""
        from spanscore.report.files import save

        save(self, folder, text=text)

    def __str__(self) -> str:
        from spanscore.report.tables import plain

        return plain(self)


def refuse_unknown_split(what: str, *corpora: Corpus) -> None:
    """Scores can be split by type, by document, and by fields of metadata that a corpus has."""
    if what in ("type", "document"):
        return
    if not what.startswith("meta."):
        raise UsageError(f"scores cannot be split by '{printable(what)}'; say type, document or meta.KEY.")
    known = {key for corpus in corpora for key in corpus.meta}
    if what.removeprefix("meta.") not in known:
        raise UsageError(unknown("field of the documents' metadata", what.removeprefix("meta."), known))


def prf(measure: Measure, counts: dict[str, Any], beta: float) -> tuple[Floats, Floats, Floats]:
    """Precision, recall and F = (1 + b²)PR / (b²P + R) from columns of counts; 0/0 is nan."""
    a, b, c, d = (np.asarray(column, np.float64) for column in measure.ratios(counts))
    with np.errstate(divide="ignore", invalid="ignore"):
        precision, recall = a / b, c / d
        return precision, recall, (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


def _mean(values: list[float], undefined: float) -> float:
    """The mean of those that are defined, or with another number in place of those that are not."""
    filled = [undefined if np.isnan(value) else value for value in values]
    defined = [value for value in filled if not np.isnan(value)]
    return math.fsum(defined) / len(defined) if defined else float("nan")


def _slice_name(value: object) -> str:
    """A value of metadata as the name of a slice."""
    return NONE if value is None else str(value).lower() if isinstance(value, bool) else str(value)
