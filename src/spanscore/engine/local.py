"""Scoring in this process, in blocks of documents that fit the processor's cache."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from spanscore.align import LabelMap
from spanscore.align.pairing import describe
from spanscore.corpus import Corpus
from spanscore.corpus.duplicates import Seen
from spanscore.corpus.memory import keep_freed_memory
from spanscore.corpus.records import refuse_repeated_ids
from spanscore.engine.parts import About, Part, Plan, choose, refuse_unknown_attributes, result_of, tally_all
from spanscore.errors import InputError, UsageError
from spanscore.result import Result, Scores, refuse_unknown_split

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from spanscore.align.pairing import Extra
    from spanscore.align.resolve import Resolve
    from spanscore.measures import Measure
    from spanscore.stats import Bootstrap

DEFAULT_MEASURES = ("iou", "exact")


def score(
    gold: Corpus,
    pred: Corpus,
    measures: str | Measure | Sequence[str | Measure] = DEFAULT_MEASURES,
    *,
    beta: float = 1.0,
    label_map: LabelMap | Mapping[str, str | None] | None = None,
    extra_documents: Extra = "refuse",
    resolve: Resolve = "none",
    by: str | Sequence[str] = (),
    ci: Bootstrap | None = None,
    system: str = "pred",
) -> Result:
    """Score one system against the gold data by all these measures at once.

    >>> import spanscore as ss
    >>> gold = ss.Corpus.from_documents([{"id": "d", "spans": [{"start": 0, "end": 9, "label": "PERSON"}]}])
    >>> pred = ss.Corpus.from_documents([{"id": "d", "spans": [{"start": 0, "end": 8, "label": "PERSON"}]}])
    >>> result = ss.score(gold, pred, ["iou(threshold=0.8)", "exact"])
    >>> result["iou"].recall, result["exact"].recall
    (1.0, 0.0)
    """
    settings: dict[str, Any] = {"beta": beta, "label_map": label_map, "extra_documents": extra_documents}
    return score_all(gold, {system: pred}, measures, resolve=resolve, by=by, ci=ci, **settings)


def score_all(
    gold: Corpus,
    systems: Mapping[str, Corpus],
    measures: str | Measure | Sequence[str | Measure] = DEFAULT_MEASURES,
    *,
    beta: float = 1.0,
    label_map: LabelMap | Mapping[str, str | None] | None = None,
    extra_documents: Extra = "refuse",
    resolve: Resolve = "none",
    resolve_gold: bool = True,
    by: str | Sequence[str] = (),
    ci: Bootstrap | None = None,
    by_document: bool = True,
) -> Result:
    """Score several systems against the same gold data; `by` is what tables and files split the scores by.

    With `resolve_gold=False`, only the systems' overlapping spans are settled. `by_document=False` forgets each
    document's own counts: less memory, but no scores by document.
    """
    keep_freed_memory()
    mapping = label_map if isinstance(label_map, LabelMap) else LabelMap(label_map or {})
    plan = Plan(choose(measures, beta), beta, mapping, extra_documents, resolve, resolve_gold, ci)
    for corpus in (gold, *systems.values()):
        if not isinstance(corpus, Corpus):
            raise UsageError(f"expected a Corpus, not {type(corpus).__name__}; read files with spanscore.read.")
    labels = {label for corpus in (gold, *systems.values()) for label in corpus.labels}
    refuse_unknown_attributes(plan.measures, {name for corpus in (gold, *systems.values()) for name in corpus.attrs})
    by = (by,) if isinstance(by, str) else tuple(by)
    for what in (*by, *([ci.cluster] if ci is not None and ci.cluster is not None else [])):
        for pred in systems.values():
            refuse_unknown_split(what, gold, pred)
    scores, notes = [], [*gold.notes, *mapping.unused(labels)]
    inputs = {
        "gold": About.of(gold).shown(),
        "systems": {name: About.of(pred).shown() for name, pred in systems.items()},
    }
    for name, pred in systems.items():
        pairing = plan.pair(gold, pred, name)
        notes += [*pred.notes, *describe(pairing.account)]
        tallies = tally_all(pairing, plan.measures, by_document=by_document or ci is not None)
        for one, tally in zip(plan.measures, tallies, strict=True):
            line = plan.signature(one, gold.fingerprint, pred.fingerprint)
            scores.append(Scores(name, one, tally, beta, line, pairing))
    kept = tuple(dict.fromkeys(notes))
    return Result(tuple(scores), inputs, kept, by=by, bootstrap=ci, settings=plan.settings(by))


def score_chunks(
    gold: Iterable[Corpus],
    pred: Iterable[Corpus],
    measures: str | Measure | Sequence[str | Measure] = DEFAULT_MEASURES,
    *,
    beta: float = 1.0,
    label_map: LabelMap | None = None,
    extra_documents: Extra = "refuse",
    resolve: Resolve = "none",
    ci: Bootstrap | None = None,
    system: str = "pred",
) -> Result:
    """Score one system as its documents and the gold's come in, as `read_chunks` gives them.

    While both have the same documents in the same order, nothing is kept but counts: memory does not grow. From where
    they differ, the rest is joined by id. The numbers are those of `score`; errors and scores by document are not kept.
    For intervals (`ci`), documents' counts are kept too.
    A measure that must see all documents at once, such as those of clusterings, makes all wait for the last one.
    """
    plan = Plan(choose(measures, beta), beta, label_map or LabelMap(), extra_documents, resolve, ci=ci)
    if not plan.in_parts:
        given: dict[str, Any] = {"beta": beta, "label_map": plan.label_map, "extra_documents": extra_documents}
        both = Corpus.concat(list(gold)), {system: Corpus.concat(list(pred))}
        return score_all(*both, plan.measures, resolve=resolve, ci=ci, by_document=False, **given)
    return result_of(plan, {system: count_chunks(plan, gold, pred, system)})


def count_chunks(plan: Plan, gold: Iterable[Corpus], pred: Iterable[Corpus], system: str) -> Part:
    """Count one system's documents as they and the gold's come in."""
    seen = Seen()

    def parts() -> Iterator[Part]:
        for ours, other in in_step(iter(gold), iter(pred)):
            if not len(ours):  # what is left of a system may have been there before
                seen.refuse(other, system)
            seen.add(ours, "gold")
            yield Part.of(plan, ours, other, system).without_checks()

    total = Part.total(parts())
    seen.settle()
    if total is None:
        raise InputError("there is no document to score.")
    return total


def in_step(gold: Iterator[Corpus], pred: Iterator[Corpus]) -> Iterator[tuple[Corpus, Corpus]]:
    """Pieces of both with the same documents, as long as these are in the same order.

    From where they differ, the rest of the predictions is kept, and each piece of gold is given those of its documents;
    at last there is a piece of those predictions that are of no gold document. Ids that are the same are one object.
    """
    ours, theirs = next(gold, None), next(pred, None)
    while ours is not None and theirs is not None:
        pieces = [theirs]
        while sum(map(len, pieces)) < len(ours) and (more := next(pred, None)) is not None:
            pieces.append(more)
        theirs = Corpus.concat(pieces)
        size = min(len(ours), len(theirs))
        first, second = ours.block(0, size), theirs.block(0, size)
        if first.ids != second.ids:
            break
        yield first, second.with_columns(ids=first.ids)
        ours = ours.block(size, len(ours)) if size < len(ours) else next(gold, None)
        theirs = theirs.block(size, len(theirs)) if size < len(theirs) else next(pred, None)
    rest = Corpus.concat([one.packed() for one in chain([] if theirs is None else [theirs], pred)])
    refuse_repeated_ids(rest.ids, rest.source)
    left = np.ones(len(rest), np.bool_)
    while ours is not None:
        rows = rest.ids.find(ours.ids)
        rows = rows[rows >= 0]
        left[rows] = False
        yield ours, rest.take(rows)
        ours = next(gold, None)
    if left.any():
        yield Corpus.concat([]), rest.take(np.flatnonzero(left))
