"""Scoring in this process, in blocks of documents that fit the processor's cache."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spanscore.align import LabelMap, Pairing, pair
from spanscore.align.documents import Account, describe
from spanscore.corpus import Corpus
from spanscore.errors import InputError, UsageError, printable, unknown
from spanscore.measures import Measure, expand
from spanscore.measures.keys import FIELDS
from spanscore.memory import keep_freed_memory
from spanscore.records import refuse_repeated_ids
from spanscore.result import Result, Scores, refuse_unknown_split
from spanscore.signature import signature
from spanscore.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from spanscore.align.documents import Extra
    from spanscore.align.resolve import Resolve
    from spanscore.stats import Bootstrap

BLOCK = 4096
"""Documents a block."""

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
    chosen = choose(measures, beta)
    for corpus in (gold, *systems.values()):
        if not isinstance(corpus, Corpus):
            raise UsageError(f"expected a Corpus, not {type(corpus).__name__}; read files with spanscore.read.")
    mapping = label_map if isinstance(label_map, LabelMap) else LabelMap(label_map or {})
    labels = {label for corpus in (gold, *systems.values()) for label in corpus.labels}
    _refuse_unknown(chosen, {name for corpus in (gold, *systems.values()) for name in corpus.attrs})
    by = (by,) if isinstance(by, str) else tuple(by)
    for what in (*by, *([ci.cluster] if ci is not None and ci.cluster is not None else [])):
        refuse_unknown_split(what, gold, *systems.values())
    by_document = by_document or ci is not None
    scores, notes = [], [*gold.notes, *mapping.unused(labels)]
    inputs = {
        "gold": _About.of(gold).shown(),
        "systems": {name: _About.of(pred).shown() for name, pred in systems.items()},
    }
    settled = resolve if resolve_gold or resolve == "none" else f"{resolve}:pred"
    for name, pred in systems.items():
        pairing = pair(
            gold,
            pred,
            system=name,
            label_map=mapping,
            extra_documents=extra_documents,
            resolve=resolve,
            resolve_gold=resolve_gold,
        )
        notes += [*pred.notes, *describe(pairing.account)]
        for one, tally in zip(chosen, tally_all(pairing, chosen, by_document=by_document), strict=True):
            line = signature(one, gold.fingerprint, pred.fingerprint, mapping, extra_documents, settled, beta)
            scores.append(Scores(name, one, tally, beta, line if ci is None else f"{line}|ci:{ci}", pairing))
    settings = _settings(chosen, beta, mapping, extra_documents, resolve, ci, resolve_gold=resolve_gold, by=by)
    return Result(tuple(scores), inputs, tuple(dict.fromkeys(notes)), by=by, bootstrap=ci, settings=settings)


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
    chosen = choose(measures, beta)
    mapping = label_map or LabelMap()
    if any(one.whole for one in chosen) or (ci is not None and ci.cluster is not None):
        given: dict[str, Any] = {"beta": beta, "label_map": mapping, "extra_documents": extra_documents}
        both = Corpus.concat(list(gold)), {system: Corpus.concat(list(pred))}
        return score_all(*both, chosen, resolve=resolve, ci=ci, by_document=False, **given)
    account: Account = Counter()
    tallies: list[list[Tally]] = []
    about = (_About(), _About())
    seen: set[str] = set()
    labels: set[str] = set()
    attributes: set[str] = set()
    for piece in _in_step(iter(gold), iter(pred)):
        if piece[0].ids == piece[1].ids:
            piece[1].__dict__["id_checks"] = piece[0].id_checks
        elif again := seen.intersection(piece[1].ids):
            refuse_repeated_ids([*again, *piece[1].ids], piece[1].source or system)
        if not seen.isdisjoint(piece[0].ids):
            refuse_repeated_ids([*seen.intersection(piece[0].ids), *piece[0].ids], piece[0].source or "gold")
        seen.update(piece[0].ids)
        for side, corpus in zip(about, piece, strict=True):
            side.add(corpus)
        labels.update(piece[0].labels, piece[1].labels)
        attributes.update(piece[0].attrs, piece[1].attrs)
        pairing = pair(*piece, system=system, label_map=mapping, extra_documents=extra_documents, resolve=resolve)
        account.update(pairing.account)
        tallies.append(tally_all(pairing, chosen, by_document=ci is not None))
    if not tallies:
        raise InputError("there is no document to score.")
    _refuse_unknown(chosen, attributes)
    fingerprints = about[0].fingerprint, about[1].fingerprint
    intervals = "" if ci is None else f"|ci:{ci}"
    scores = [
        Scores(
            system,
            one,
            Tally.concat(parts) if ci is not None else Tally.concat(parts).together(),
            beta,
            signature(one, *fingerprints, mapping, extra_documents, resolve, beta) + intervals,
        )
        for one, parts in zip(chosen, zip(*tallies, strict=True), strict=True)
    ]
    notes = [*about[0].notes, *mapping.unused(labels), *about[1].notes, *describe(account)]
    inputs = {"gold": about[0].shown(), "systems": {system: about[1].shown()}}
    settings = _settings(chosen, beta, mapping, extra_documents, resolve, ci)
    return Result(tuple(scores), inputs, tuple(dict.fromkeys(notes)), bootstrap=ci, settings=settings)


def _in_step(gold: Iterator[Corpus], pred: Iterator[Corpus]) -> Iterator[tuple[Corpus, Corpus]]:
    """Pieces of both with the same documents, as long as these are in the same order; then all the rest."""
    ours, theirs = next(gold, None), next(pred, None)
    while ours is not None and theirs is not None:
        size = min(len(ours), len(theirs))
        if ours.ids[:size] != theirs.ids[:size]:
            break
        yield ours.block(0, size), theirs.block(0, size)
        ours = ours.block(size, len(ours)) if size < len(ours) else next(gold, None)
        theirs = theirs.block(size, len(theirs)) if size < len(theirs) else next(pred, None)
    rest = [[*([] if first is None else [first]), *more] for first, more in ((ours, gold), (theirs, pred))]
    if rest[0] or rest[1]:
        yield Corpus.concat(rest[0]), Corpus.concat(rest[1])


def choose(measures: str | Measure | Sequence[str | Measure], beta: float) -> list[Measure]:
    """The measures that were named, and beta looked at."""
    chosen = expand(measures)
    if not chosen:
        raise UsageError("name at least one measure.")
    if not 0 < beta <= 1000:
        raise UsageError("beta must be a number from 0 to 1000, but not 0.")
    return chosen


def _settings(
    measures: Sequence[Measure],
    beta: float,
    mapping: LabelMap,
    extra: Extra,
    resolve: Resolve,
    ci: Bootstrap | None,
    **more: Any,
) -> dict[str, Any]:
    """What it takes to score the same again, as JSON can say it."""
    return {
        "measures": [repr(one) for one in measures],
        "beta": beta,
        "label_map": dict(mapping.to),
        "extra_documents": extra,
        "resolve": resolve,
        **({} if ci is None else {"ci": [ci.level, ci.resamples, ci.seed, ci.cluster]}),
        **{name: value for name, value in more.items() if value not in ((), True)},
    }


def _refuse_unknown(measures: Sequence[Measure], attributes: set[str]) -> None:
    """An attribute that a measure compares, but that no span has, is a slip of the pen."""
    for one in measures:
        for name in one.needs:
            if name not in attributes:
                raise UsageError(
                    f"{printable(repr(one))}: {unknown('attribute of spans', name, {*attributes, *FIELDS})}"
                )


def tally_all(pairing: Pairing, measures: Sequence[Measure], *, by_document: bool = True) -> list[Tally]:
    """The tallies of several measures, block by block; without documents' own counts if nobody asks for them."""
    inside = [one for one in measures if not one.whole]
    blocks = [[one.tally(piece) for one in inside] for piece in pairing.blocks(BLOCK, by_document=by_document)]
    found = {id(one): Tally.concat(parts) for one, parts in zip(inside, zip(*blocks, strict=True), strict=False)}
    tallies = [found[id(one)] if id(one) in found else one.tally(pairing) for one in measures]
    return tallies if by_document else [tally.together() for tally in tallies]


@dataclass
class _About:
    """What is said of an input: where it is from, how much there is, and what tells it from others."""

    source: str = ""
    format: str = ""
    format_reason: str = ""
    documents: int = 0
    spans: int = 0
    sum: int = 0
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, corpus: Corpus) -> _About:
        about = cls()
        about.add(corpus)
        return about

    def add(self, corpus: Corpus) -> None:
        if corpus.source:
            self.source, self.format, self.format_reason = corpus.source, corpus.format, corpus.format_reason
        self.documents += len(corpus)
        self.spans += len(corpus.start)
        self.sum = (self.sum + corpus.fingerprint_sum) % 2**64
        self.notes = tuple(dict.fromkeys((*self.notes, *corpus.notes)))

    @property
    def fingerprint(self) -> str:
        return f"{self.sum:016x}"

    def shown(self) -> dict[str, object]:
        return {
            "source": self.source or None,
            "format": self.format or None,
            "format_reason": self.format_reason or None,
            "documents": self.documents,
            "spans": self.spans,
            "fingerprint": self.fingerprint,
        }
