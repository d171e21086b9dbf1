"""What holds for every measure, on random corpora. A measure that is registered is tested here, or this fails."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

import spanscore as ss
from spanscore.align import Pairing, pair
from spanscore.align.pairing import recode
from spanscore.corpus import Corpus
from spanscore.engine.partial import tally_all
from spanscore.measures import Measure, measure, names
from spanscore.measures.clustering import Clustering
from spanscore.measures.neleval import Overlap
from spanscore.measures.neleval_names import NAMED
from spanscore.tally import Tally
from spanscore.testing import pairs, reference_tally

if TYPE_CHECKING:
    from collections.abc import Callable

VARIANTS = [
    "exact(typed=false)",
    "iou(threshold=0.5)",
    "iou(threshold=0)",
    "iou(threshold=1, merge=false)",
    "iou(threshold=0.5, merge=false, count=spans)",
    "iou(threshold=0.5, count=spans)",
    "iou(threshold=0.5, skip=punct)",
    "iou(threshold=0.6, skip=english)",
    "iou(threshold=0.5, skip=english, merge=false, count=spans)",
    "iou(threshold=0.5, unit=token)",
    "iou(threshold=0.5, unit=token, skip=english)",
    "iou(threshold=0.5, unit=token, merge=false, skip=english)",
    "iou(threshold=0.5, view=tokens)",
    "iou(threshold=0.5, view=tokens, unit=token, skip=english)",
    "iou(threshold=0.4, view=tokens, merge=false, skip=punct)",
    "iou.pii(threshold=0.5)",
    "iou.pii(threshold=0.5, merge=false)",
    "iou.pii(threshold=0.5, unit=token, skip=english, count=spans)",
    "iou.pii(threshold=0.5, view=tokens, skip=english)",
    "iou.pii(threshold=0.5, view=tokens, merge=false)",
    "presidio(threshold=0.5, skip=none)",
    "presidio(threshold=0.6, unit=token)",
    "presidio(threshold=0.4, unit=token, skip=none, tokenizer=words)",
    "presidio(threshold=0.5, tokenizer=spacy:en)",
    "presidio.pii(threshold=0.75)",
    "presidio.pii(threshold=0.5, unit=token, skip=none)",
    "presidio.pii(threshold=0.5, tokenizer=whitespace)",
    "sixway.strict(threshold=0)",
    "token(tokenizer=whitespace)",
    "sixway.flexible(threshold=0.8)",
    "sixway.partial(threshold=1)",
    "sets:is_linked:span+kbid",
    "sets:is_nil:span+type+eid",
    "sets:is_first:span",
    "sets:is_first:docid+type",
    "sets::docid+kbid+dateFormat",
    "sets::docid+start+type",
    "overlap-maxmax:is_linked:span+kbid",
    "overlap-maxsum::span+type",
    "overlap-summax:is_first:span+type",
    "overlap-sumsum(filter=is_linked, key=span+type, others=count)",
    "muc:is_linked:span",
    "b_cubed::span+type",
    "entity_ceaf:is_first:span",
    "mention_ceaf::span+kbid",
    "pairwise::span+type+dateFormat",
    "b_cubed(neleval=true)",
    "b_cubed(filter=is_first, key=span+type, neleval=true)",
    "muc(neleval=true)",
    "entity_ceaf(neleval=true)",
    "mention_ceaf(neleval=true)",
    "pairwise(neleval=true)",
    "pairwise_negative(neleval=true)",
    "sandbox.instance-relax(tolerance=0)",
    "sandbox.instance-relax(tolerance=4)",
    "sandbox.instance-relax(anchor=both, tolerance=1)",
    "sandbox.instance-relax(anchor=both, tolerance=3)",
    "sandbox.hipaa(table=i2b2)",
    "semeval.partial(overlap=0.5)",
    "sandbox.token(key=text)",
    "i2b2.strict(hipaa=script)",
    "i2b2.strict(category=OTHER, binary=true)",
    "i2b2.relaxed(binary=true, tolerance=3)",
    "i2b2.token(hipaa=readme)",
    'presidio.token(generic="A,C", skip=none)',
    "presidio.token.pii(generic=B, tokenizer=whitespace)",
    "tab.mention(ignore=none)",
    "tab.entity(identifiers=quasi)",
    "leak(ignore=none)",
    "leak(ignore=space)",
    "leak.entity(ignore=space)",
    "leak.document(ignore=none)",
    "leak.char(ignore=space)",
    "leak.char(ignore=none)",
]
OFFICIAL = [
    *(
        f"i2b2.{how}(hipaa={hipaa}, category={category}, binary={binary})"
        for how in ("strict", "relaxed", "token")
        for hipaa in ("none", "script", "readme")
        for category in ("all", "NAME", "DATE", "ID", "OTHER")
        for binary in ("false", "true")
    ),
    *(f"i2b2.relaxed(tolerance={tolerance})" for tolerance in (0, 1)),
    *(
        f"tab.{what}(identifiers={identifiers}, ignore={ignore})"
        for what in ("mention", "token", "entity")
        for identifiers in ("all", "direct", "quasi")
        for ignore in ("words", "none")
    ),
    *(
        f'presidio.token{pii}(generic="{generic}", skip={skip}, tokenizer={tokenizer})'
        for pii in ("", ".pii")
        for generic in ("A,C", "PII")
        for skip in ("default", "none")
        for tokenizer in ("words", "whitespace")
    ),
    "meddocan.ner",
    "meddocan.spans",
    "meddocan.merged",
    "meddocan.leak",
]
"""Every variant of the official families; those of `VARIANTS` stand for them unless there is time."""
THOROUGH = settings().max_examples > settings.get_profile("ci").max_examples
ALL = [measure(spec) for spec in (*(name for name in names() if name not in NAMED), *VARIANTS)]
ALL += [one for one in map(measure, OFFICIAL) if one not in ALL] if THOROUGH else []
NEED_TEXT = [one for one in ALL if any(name in repr(one) for name in ("token", "skip", "presidio"))]
NEED_NONE = [one for one in ALL if one not in NEED_TEXT]


def every(test: Callable[..., None]) -> Callable[..., None]:
    """Run a test of one measure on random corpora for all of them: with text, and those that can do without."""

    @pytest.mark.parametrize("texts", [True, None], ids=["with text", "with and without text"])
    @settings(max_examples=settings().max_examples * (6 if "reference" in test.__name__ else 1))
    @given(data=st.data())
    def run(texts: bool | None, data: st.DataObject) -> None:
        gold, pred = data.draw(pairs(texts=texts))
        apart = pair(gold, pred, resolve="longest")
        for one in ALL if texts else NEED_NONE:
            note(repr(one))
            if not set(one.needs) <= set(gold.attrs):
                continue
            sides = gold, pred
            if isinstance(one, Clustering | Overlap) and is_refused(one, gold, pred):
                sides = apart.gold, apart.pred
            test(one, *sides)

    run.__name__ = test.__name__
    return cast("Callable[..., None]", run)


def is_refused(one: Measure, gold: Corpus, pred: Corpus) -> bool:
    """Return whether a measure refuses mentions of one side that overlap, or one mention of two entities."""
    try:
        tally(one, gold, pred)
        tally(one, gold, gold)
    except ss.InputError:
        return True
    return False


once_for_all_measures = lru_cache(maxsize=16)
"""What one example needs is made once and shared by the measures, as the engine shares a pairing."""
paired = once_for_all_measures(pair)


def tally(one: Measure, gold: Corpus, pred: Corpus) -> Tally:
    return tally_all(paired(gold, pred), [one])[0]


def table(tally: Tally) -> dict[tuple[str, str], dict[str, Any]]:
    documents = tally.documents or ("",)
    return {
        (documents[doc], tally.labels[label]): {
            name: value for name, value in zip(tally.fields, row, strict=True) if value
        }
        for doc, label, row in zip(tally.doc.tolist(), tally.label.tolist(), tally.counts.tolist(), strict=True)
    }


@once_for_all_measures
def document_blocks(pairing: Pairing) -> list[Pairing]:
    return list(pairing.blocks(1))


@once_for_all_measures
def swapped(pairing: Pairing) -> Pairing:
    rows = pairing.rows or pairing
    return Pairing(pairing.pred, pairing.gold, rows=Pairing(rows.pred, rows.gold, identity=None))


@once_for_all_measures
def renamed(corpus: Corpus, labels: tuple[str, ...]) -> Corpus:
    return replace(corpus, labels=labels)


@once_for_all_measures
def shuffled(corpus: Corpus, seed: int) -> Corpus:
    rng = random.Random(seed)
    documents = [
        {
            "id": d.id,
            "text": d.text,
            "tokens": d.tokens,
            "meta": d.meta,
            "spans": [_span(s) for s in rng.sample(d.spans, len(d.spans))],
        }
        for d in corpus.documents()
    ]
    rng.shuffle(documents)
    return Corpus.from_documents(documents)


def _span(span: Any) -> dict[str, Any]:
    return {"start": span.start, "end": span.end, "label": span.label, "score": span.score, "attrs": span.attrs}


@every
def test_it_equals_the_reference(one: Measure, gold: Corpus, pred: Corpus) -> None:
    found, expected = table(tally(one, gold, pred)), reference_tally(one, gold, pred)
    if one.name in ("b_cubed", "entity_ceaf"):
        assert found.keys() == expected.keys()
        assert all(found[key] == pytest.approx(expected[key], abs=1e-9) for key in found)
    else:
        assert found == expected


@settings(max_examples=settings().max_examples * 2)
@given(sides=pairs(texts=True, attributes=True), labels=st.permutations(["PATIENT", "IDNUM", "DOCTOR", "AGE"]))
def test_official_families_equal_the_reference_on_official_labels(
    sides: tuple[Corpus, Corpus], labels: list[str]
) -> None:
    """Labels of the tasks, whose categories and lists the measures know."""
    new = dict(zip("ABCD", labels, strict=True))
    gold, pred = (renamed(side, tuple(new[label] for label in side.labels)) for side in sides)
    for one in map(measure, OFFICIAL):
        note(repr(one))
        assert table(tally(one, gold, pred)) == reference_tally(one, gold, pred)


@every
def test_order_changes_nothing(one: Measure, gold: Corpus, pred: Corpus) -> None:
    there, here = (tally(one, *sides) for sides in ((gold, pred), (shuffled(gold, 1), shuffled(pred, 2))))
    assert table(there) == table(here)


@every
def test_counts_add_over_documents_and_chunks(one: Measure, gold: Corpus, pred: Corpus) -> None:
    if one.needs_all_documents:
        return
    whole = paired(gold, pred)
    parts = [one.tally(block) for block in document_blocks(whole)]
    assert table(Tally.concat(parts)) == table(one.tally(whole))
    total = one.tally(whole)
    assert total.total().tolist() == total.by_label().sum(axis=0).tolist() == total.by_document().sum(axis=0).tolist()
    assert total.together().by_label().tolist() == total.by_label().tolist()


@every
def test_swapping_the_sides_swaps_precision_and_recall(one: Measure, gold: Corpus, pred: Corpus) -> None:
    if not one.symmetric:
        return
    pairing = paired(gold, pred)
    there, back = one.tally(pairing), one.tally(swapped(pairing))
    there_, back_ = (one.ratios(dict(zip(it.fields, it.total().tolist(), strict=True))) for it in (there, back))
    assert there_ == (*back_[2:], *back_[:2])


@every
def test_gold_against_itself_is_perfect(one: Measure, gold: Corpus, pred: Corpus) -> None:
    if not getattr(one, "merge", True) or getattr(one, "others", "") == "count":
        return  # spans of one type that overlap are a group that is more than either; others are wrong by definition
    scores = ss.score(gold, gold, [one])[repr(one)]
    assert np.isnan(scores.recall) or scores.recall == 1.0
    if (
        not one.by_type
        or one.symmetric
        or one.name.startswith(("sixway", "semeval"))
        or getattr(one, "count", "") == "spans"
    ):
        assert np.isnan(scores.precision) or scores.precision == 1.0


@every
def test_new_names_for_labels_change_no_count(one: Measure, gold: Corpus, pred: Corpus) -> None:
    if set(getattr(one, "generic", ())) & set("ABCD"):
        return  # its meaning depends on names
    in_order = {"A": "a", "B": "b", "C": "c", "D": "d"}
    in_disorder = {"A": "z", "B": "Ünïcode 😀", "C": "c", "D": "d"}
    # which of two equals is taken may be settled by name
    families = ("presidio", "sixway", "token", "semeval", "leak.entity", "tab")
    by_name = "view=tokens" in repr(one) or "is_first" in repr(one) or one.name.startswith(families)
    for new in [in_order] if by_name else [in_order, in_disorder]:
        sides = [renamed(side, tuple(new[label] for label in side.labels)) for side in (gold, pred)]
        before, after = table(tally(one, gold, pred)), table(tally(one, *sides))
        assert {(doc, _renamed(label, new)): row for (doc, label), row in before.items()} == after


def _renamed(label: str, new: dict[str, str]) -> str:
    """Return a label by its new name, also if it follows a category."""
    return "/".join(new.get(part, part) for part in label.split("/"))


@every
def test_verdicts_and_confusion_agree_with_the_counts(one: Measure, gold: Corpus, pred: Corpus) -> None:
    scores = ss.score(gold, pred, [one])[repr(one)]
    assert scores.pairing is not None
    judgement = one.judge(scores.pairing)
    confusion = judgement.confusion()
    verdicts = list(scores.errors(correct=True))
    spans = judgement.pairing
    assert len(verdicts) == len(spans.gold.start) + len(spans.pred.start)
    assert sum(count for (label, _), count in confusion.items() if label is not None) == len(spans.gold.start)
    for error in verdicts:
        assert (error.verdict == "missed") <= (error.side == "gold")
        assert (error.verdict == "spurious") <= (error.side == "predicted")
        assert error.explanation.endswith(".")
        if error.verdict in ("too short", "too long", "shifted", "split", "merged"):
            assert error.counterpart is not None
            assert error.counterpart.label == error.span.label or not judgement.typed
    if "tp" not in scores.counts or one.name.startswith(
        ("char", "token", "sandbox.token", "i2b2.token", "presidio.token")
    ):
        return
    found = sum(error.verdict == "correct" for error in verdicts if error.side == "gold")
    assert found == scores.counts["tp"] == sum(n for (a, b), n in confusion.items() if a == b)
    for label, score in scores.by_type.items():
        assert score.counts["annotated"] == sum(n for (a, _), n in confusion.items() if a == label)
        if getattr(one, "count", "") != "spans":
            assert score.counts["predicted"] == sum(n for (_, b), n in confusion.items() if b == label)


def test_recoding_keeps_labels() -> None:
    corpus = Corpus.from_arrays(["a"], [0], [0], [1], ["X"])
    assert recode(corpus, ("W", "X")).label.tolist() == [1]
