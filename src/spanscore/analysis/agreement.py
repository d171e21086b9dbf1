"""Agreement of annotators: pairs by any measure, Cohen's kappa and Krippendorff's alpha on tokens."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from spanscore.align.annotators import DOCUMENT, MAJORITY, Annotators, chosen_gold, together
from spanscore.align.labels import LabelMap
from spanscore.align.pairing import in_order, recode
from spanscore.align.tokenizers import tokenizer
from spanscore.align.tokens import TokenTable, token_owners
from spanscore.analysis.coefficients import MISSING, OUTSIDE, Coefficient, Estimate
from spanscore.arguments import checked
from spanscore.corpus import Tokens
from spanscore.corpus.annotators import ANNOTATORS, joined
from spanscore.corpus.columns import Column
from spanscore.corpus.strings import Strings
from spanscore.engine.evaluate import score
from spanscore.engine.inputs import Input
from spanscore.engine.plan import SETTINGS
from spanscore.engine.summary import InputSummary, different_spellings
from spanscore.errors import InputError, UsageError, plural, printable
from spanscore.result.tables import known
from spanscore.result.views import Rows, Views
from spanscore.spec import from_above
from spanscore.stats import Bootstrap
from spanscore.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spanscore.align.labels import GivenMap
    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Bools, Longs
    from spanscore.engine.inputs import Data
    from spanscore.formats import Format
    from spanscore.measures import Measure
    from spanscore.result import Result, Scores

TOGETHER = "annotators"
"""The name of the scores of all pairs together."""


COEFFICIENTS = 10_000
"""Coefficients of pairs of annotators: each takes several milliseconds."""
COUNTS = 1 << 23
"""Types times documents and resamples: kappa and alpha need a count for each, several times."""


@dataclass(frozen=True, eq=False)
class PairAgreement:
    """How far two annotators agree on the documents that both have."""

    first: str
    second: str
    documents: int
    result: Result
    """The second annotator scored against the first; F does not depend on the order for symmetric measures."""
    kappa: Coefficient
    """Cohen's kappa on all tokens."""
    kappa_marked: Coefficient
    """Cohen's kappa on the tokens that at least one of the two marked."""
    kappa_by_type: Mapping[str, Coefficient]


@dataclass(frozen=True, eq=False)
class Agreement(Views, Rows):
    """How far annotators agree."""

    annotators: tuple[str, ...]
    pairs: tuple[PairAgreement, ...]
    scores: tuple[Scores, ...]
    """The scores of all pairs together by each measure: counts are summed over pairs; only F has a meaning here."""
    alpha: Coefficient
    """Krippendorff's alpha on the tokens that at least two annotators have."""
    alpha_by_type: Mapping[str, Coefficient]
    bootstrap: Bootstrap
    inputs: Mapping[str, Mapping[str, object]]
    """What was read of each annotator, as in results of `score`."""
    warnings: tuple[str, ...] = ()
    disagreements: Result | None = field(default=None, repr=False)
    """For a page of disagreements: the second of two annotators against the first, or all against the majority."""

    def __repr__(self) -> str:
        names = ", ".join(printable(name) for name in self.annotators)
        return f"Agreement({names}: alpha {self.alpha.value:.3f})"

    def __str__(self) -> str:
        return cast("str", from_above("report.agreement", "plain")(self))

    def records(self) -> list[dict[str, Any]]:
        """Return a row for each coefficient: F by each measure, kappa and alpha, overall and by type."""
        rows = []
        for pair in self.pairs:
            found: list[tuple[str, str | None, float, tuple[float, float] | None]] = []
            for one in pair.result.scores:
                interval = one.interval(self.bootstrap)
                found.append((f"F{one.beta:g} {one.measure!r}", None, one.f, None if interval is None else interval.f))
            found += [
                (name, label, one.value, one.interval)
                for name, label, one in (
                    ("kappa", None, pair.kappa),
                    ("kappa_marked", None, pair.kappa_marked),
                    *(("kappa", label, one) for label, one in pair.kappa_by_type.items()),
                )
            ]
            rows += [_record(pair.first, pair.second, *one) for one in found]
        for one in self.scores if len(self.pairs) > 1 else ():
            interval = one.interval(self.bootstrap)
            ends = None if interval is None else interval.f
            rows.append(_record(None, None, f"F{one.beta:g} {one.measure!r}", None, one.f, ends))
        alphas = [(None, self.alpha), *self.alpha_by_type.items()]
        return [*rows, *(_record(None, None, "alpha", label, one.value, one.interval) for label, one in alphas)]

    def to_dict(self) -> dict[str, Any]:
        """Return what `spanscore agree --json` writes."""
        return cast("dict[str, Any]", from_above("report.agreement", "record")(self))


def _record(
    first: str | None,
    second: str | None,
    what: str,
    label: str | None,
    value: float,
    interval: tuple[float, float] | None,
) -> dict[str, Any]:
    low, high = interval or (math.nan, math.nan)
    named = {"first": first, "second": second, "what": what, "type": label}
    return {**named, "value": known(value), "low": known(low), "high": known(high)}


@checked(settings=SETTINGS - {"ci", "label_map"})
def agree(
    annotators: Data | Mapping[str, Data],
    measures: str | Measure | Sequence[str | Measure] | None = None,
    *,
    ci: Bootstrap | float = 0.95,
    format: str | Format | None = None,  # noqa: A002  # the user's word
    words: str = "words",
    label_map: GivenMap = None,
    **settings: Any,
) -> Agreement:
    """Compare annotators of the same documents with each other: several inputs by name, or one that holds several.

    Each token of a document has one value per annotator: the label of the span that covers it, or none. `words` is the
    tokenizer for documents without tokens of their own. `settings` are the same as for `score`.

    >>> from spanscore.corpus import Corpus
    >>> text = "Ann met Bob in Oslo"
    >>> a = Corpus.from_arrays(["d"], [0, 0, 0], [0, 8, 15], [3, 11, 19], ["PER", "PER", "LOC"], text=[text])
    >>> b = Corpus.from_arrays(["d"], [0, 0], [0, 15], [3, 19], ["PER", "LOC"], text=[text])
    >>> found = agree({"a": a, "b": b}, "exact")
    >>> round(found.pairs[0].kappa.value, 3), round(found.alpha.value, 3), found.pairs[0].result["exact"].f
    (0.688, 0.71, 0.8)
    """
    how = ci if isinstance(ci, Bootstrap) else Bootstrap(ci)
    rename = LabelMap.of(label_map)
    read, given = _given(annotators, format)
    corpora = {name: rename.apply(corpus)[0] for name, corpus in given.items()}
    ids, sides = _side_by_side(list(corpora.values()))
    holders = np.sum([corpus.ids.find(ids) >= 0 for corpus in corpora.values()], axis=0)
    labels = sides[0].labels
    _refuse_many(len(corpora), len(labels), int((holders >= 2).sum()), how.resamples)
    tokens = _tokens(sides, ids, words, holders >= 2)
    values = np.stack(
        [_values(side, tokens, corpus, ids) for side, corpus in zip(sides, corpora.values(), strict=True)]
    )
    estimate = Estimate(tokens.doc, len(ids), how)
    pairs, strangers = [], []
    for (i, first), (j, second) in combinations(enumerate(corpora), 2):
        both = np.flatnonzero((corpora[first].ids.find(ids) >= 0) & (corpora[second].ids.find(ids) >= 0))
        if not both.size:
            strangers.append(f"{printable(first)} and {printable(second)}")
            continue
        named = ids.take(both)
        mine, theirs = (one.take(one.ids.find(named)) for one in (corpora[first], corpora[second]))
        result = score(mine, {second: theirs}, measures, ci=how, **settings)
        a, b = values[i], values[j]
        pairs.append(
            PairAgreement(
                first,
                second,
                int(both.size),
                result,
                estimate.kappa(a, b, len(labels) + 1, "kappa"),
                estimate.kappa(*_marked(a, b), len(labels) + 1, "kappa/marked"),
                {
                    label: estimate.kappa(_one_type(a, code), _one_type(b, code), 2, f"kappa/type/{label}")
                    for code, label in enumerate(labels, 1)
                },
            )
        )
    if not pairs:
        what = f"{strangers[0]} have no document in common"
        raise InputError(f"{what}; annotators must have annotated some of the same documents.")
    by_type = {
        label: estimate.alpha(_one_type(values, code), 2, f"alpha/type/{label}") for code, label in enumerate(labels, 1)
    }
    alpha = estimate.alpha(values, len(labels) + 1, "alpha")
    inputs = {name: InputSummary.of(corpus).shown() for name, corpus in read.items()}
    shown = pairs[0].result
    if len(corpora) > 2:
        shown = _against_majority(dict(zip(corpora, sides, strict=True)), corpora, ids, measures, how, settings)
    return Agreement(
        tuple(corpora),
        tuple(pairs),
        tuple(_pooled([pair.result.scores[number] for pair in pairs]) for number in range(len(pairs[0].result.scores))),
        alpha,
        by_type,
        how,
        inputs,
        (*_warnings(read, given, corpora, rename), *_apart(strangers)),
        shown,
    )


def _given(
    annotators: Data | Mapping[str, Data],
    format: str | Format | None,  # noqa: A002
) -> tuple[dict[str, Corpus], dict[str, Corpus]]:
    """Return what was read, by name of the input, and each annotator's documents."""
    several = "agreement needs at least two annotators: several files by name, or one that holds several annotators"
    if isinstance(annotators, Mapping) and len(annotators) != 1:
        if not annotators:
            raise UsageError(f"{several}.")
        found = {name: Input.of(data, format).corpus() for name, data in annotators.items()}
        return found, found
    named = annotators if isinstance(annotators, Mapping) else {"annotators": annotators}
    read = {name: Input.of(data, format, all_annotators=True).corpus() for name, data in named.items()}
    corpus = next(iter(read.values()))
    who = Annotators.of(corpus)
    names = [name for name in who.names if name]
    if len(names) < 2:
        count = f"this one names {plural(len(names), 'annotator')}"
        raise UsageError(f"{several}; {count}.")
    nobody = "" in who.names
    unnamed = len(np.unique(who.doc[who.by == who.names.index("")])) if nobody else 0
    if unnamed:
        note = f"{plural(unnamed, 'document')} without an annotator, or with spans that have none; these do not count."
        read = {name: one.with_columns(notes=(*one.notes, note)) for name, one in read.items()}
    return read, {name: who.seen_by(name) for name in names}


def _refuse_many(annotators: int, types: int, documents: int, resamples: int) -> None:
    """Refuse what would take hours or gigabytes, with the numbers."""
    pairs = annotators * (annotators - 1) // 2
    hint = "compare fewer annotators at once, or join types with --map"
    if pairs * (types + 2) > COEFFICIENTS:
        what = f"{annotators} annotators are {plural(pairs, 'pair')}; with {plural(types, 'type')}, they have"
        raise UsageError(f"{what} more than {COEFFICIENTS:,} coefficients, which is the limit; {hint}.")
    if (documents + resamples) * types > COUNTS:
        what = (
            f"{plural(documents, 'document')} and {plural(resamples, 'resample')} by {plural(types, 'type')} are more"
        )
        raise UsageError(f"{what} than {COUNTS:,} counts, which is the limit; {hint}.")


def _pooled(scores: Sequence[Scores]) -> Scores:
    """Return the scores of several pairs as one, with the counts of each document summed."""
    whole = Tally.concat([one.tally for one in scores])
    place: dict[str, int] = {}
    codes = np.array([place.setdefault(name, len(place)) for name in whole.documents], np.int32)
    tally = Tally.sum([replace(whole, documents=tuple(place), doc=codes[whole.doc])])
    return replace(scores[0], system=TOGETHER, tally=tally, signature="", pairing=None)


def _against_majority(
    sides: Mapping[str, Corpus],
    corpora: Mapping[str, Corpus],
    ids: Strings[str],
    measures: str | Measure | Sequence[str | Measure] | None,
    how: Bootstrap,
    settings: Mapping[str, Any],
) -> Result:
    """Return the annotators scored against the majority of all, on the documents that at least two of them have.

    If everybody has all of these, each annotator is a system. Otherwise, a document stands there once for each of its
    annotators, because all systems must have the same gold data.
    """
    having = np.stack([one.ids.find(ids) >= 0 for one in corpora.values()])
    rows = np.flatnonzero(having.sum(axis=0) > 1)
    names = np.array(list(corpora), object)
    seen = Column.of([joined(names[having[:, doc]]) for doc in rows.tolist()])
    whole = together({name: side.take(rows) for name, side in sides.items()})
    whole = whole.with_columns(meta={**whole.meta, ANNOTATORS: seen})
    majority = chosen_gold(whole, MAJORITY)
    if having[:, rows].all():
        return score(majority, {name: side.take(rows) for name, side in sides.items()}, measures, ci=how, **settings)
    apart = Annotators.of(whole).apart()
    gold = majority.take(whole.ids.find(Strings.of(apart.meta[DOCUMENT].tolist())))
    return score(
        gold.with_columns(ids=apart.ids, meta=apart.meta),
        {TOGETHER: apart},
        measures,
        ci=replace(how, cluster=f"meta.{DOCUMENT}"),
        **settings,
    )


def _warnings(
    read: Mapping[str, Corpus], given: Mapping[str, Corpus], renamed: Mapping[str, Corpus], label_map: LabelMap
) -> tuple[str, ...]:
    """Return the notes of reading, unused entries of the label map, and labels that annotators spell differently."""
    notes = [note for corpus in read.values() for note in corpus.notes]
    notes += label_map.unused({label for corpus in given.values() for label in corpus.labels})
    for (first, one), (second, other) in combinations(renamed.items(), 2):
        where = (f"of {printable(first)}", f"of {printable(second)}")
        notes += different_spellings(_used(one), _used(other), *where)
    return tuple(dict.fromkeys(notes))


def _apart(pairs: list[str]) -> list[str]:
    """Return a note about pairs of annotators that cannot be compared."""
    if not pairs:
        return []
    listed = pairs[0] if len(pairs) == 1 else f"{len(pairs)} pairs of annotators, among them {pairs[0]},"
    return [f"{listed} have no document in common; they are not compared."]


def _used(corpus: Corpus) -> set[str]:
    return {corpus.labels[code] for code in np.unique(corpus.label).tolist()}


def _side_by_side(corpora: list[Corpus]) -> tuple[Strings[str], list[Corpus]]:
    """Return all documents' ids, and each annotator's spans for all of them, with one table of labels."""
    known: dict[str, None] = {}
    for corpus in corpora:
        known.update(dict.fromkeys(corpus.ids.tolist()))
    ids = Strings.of(list(known))
    labels = tuple(sorted({label for corpus in corpora for label in corpus.labels}))
    sides = [recode(in_order(one.take(one.ids.find(ids)).with_columns(ids=ids)), labels) for one in corpora]
    return ids, [in_order(side) for side in sides]


def _tokens(sides: list[Corpus], ids: Strings[str], words: str, shared: Bools) -> Tokens:
    """Return the tokens of shared documents: those of the first annotator that has some, else the text's words."""
    cut = tokenizer(words)
    own: list[dict[int, list[tuple[int, int]]]] = []
    for side in sides:
        found: dict[int, list[tuple[int, int]]] = {}
        if side.tokens is not None:
            columns = (side.tokens.doc.tolist(), side.tokens.start.tolist(), side.tokens.end.tolist())
            for doc, start, end in zip(*columns, strict=True):
                found.setdefault(doc, []).append((start, end))
        own.append(found)
    rows = []
    for doc in np.flatnonzero(shared).tolist():
        text = next((side.text[doc] for side in sides if side.text is not None and side.text[doc] is not None), None)
        places = next((one[doc] for one in own if doc in one), None)
        if places is None and text is None:
            message = (
                f'the document "{printable(ids[doc])}" has neither text nor tokens, on which agreement is computed.'
            )
            raise InputError(message)
        rows += [(doc, start, end) for start, end in (cut(text or "") if places is None else places)]
    doc, start, end = np.array(rows, np.int32).reshape(-1, 3).T
    return Tokens(doc, start, end)


def _values(side: Corpus, tokens: Tokens, corpus: Corpus, ids: Strings[str]) -> Longs:
    """Return an annotator's value of each token."""
    stride = 1 + max(int(one.max(initial=0)) for one in (tokens.end, side.end))
    table = TokenTable(tokens, np.ones(len(tokens.doc), np.bool_), stride, len(ids))
    owner = token_owners(side, table)
    value = np.where(owner >= 0, np.append(side.label.astype(np.int64), 0)[owner] + 1, OUTSIDE)
    has = corpus.ids.find(ids) >= 0
    return np.where(has.take(tokens.doc), value, MISSING)


def _one_type(values: Longs, code: int) -> Longs:
    """Return whether each value is this type, missing where it is missing."""
    return np.where(values == MISSING, MISSING, (values == code).astype(np.int64))


def _marked(first: Longs, second: Longs) -> tuple[Longs, Longs]:
    """Return the values without those of tokens that neither annotator marked."""
    neither = (first <= OUTSIDE) & (second <= OUTSIDE)
    return np.where(neither, MISSING, first), np.where(neither, MISSING, second)
