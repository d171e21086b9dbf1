"""Sample sizes and claims: the worked value, what the sizes promise, and the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats as independent

import spanscore as ss
from calls import run, write
from spanscore.analysis.sample_size import chance_of_at_most, intra_correlation


def test_no_miss_in_299_spans() -> None:
    assert ss.plan(0.99).needed[0].independent_spans == 299


@pytest.mark.parametrize("misses", [0, 1, 5, 40])
@pytest.mark.parametrize(("recall", "confidence"), [(0.9, 0.95), (0.999, 0.9), (0.95, 0.99)])
def test_it_is_the_smallest_sample_that_supports_the_claim(recall: float, confidence: float, misses: int) -> None:
    number = ss.plan(recall, confidence=confidence, misses=misses).needed[0].independent_spans
    assert independent.binom.cdf(misses, number, 1 - recall) <= 1 - confidence
    assert independent.binom.cdf(misses, number - 1, 1 - recall) > 1 - confidence
    claim = ss.plan(spans=number, documents=number, misses=misses, confidence=confidence).claims[0]
    assert claim.recall == claim.recall_spans
    assert claim.recall is not None
    assert claim.recall >= recall


def test_correlated_misses_need_more_spans_but_never_more_documents_than_independent_spans() -> None:
    sizes = [ss.plan(0.99, per_document=5, correlation=rho).needed[0] for rho in (0.0, 0.25, 1.0)]
    assert [one.spans for one in sizes] == [299, 598, 1495]
    assert [one.documents_with for one in sizes] == [60, 120, 299]


def test_the_correlation_of_simulated_misses_is_found() -> None:
    rng = np.random.default_rng(8)
    for rho in (0.05, 0.3, 0.7):
        size = rng.poisson(6, 4000) + 1
        spread = (1 - rho) / rho
        missed = rng.binomial(size, rng.beta(0.2 * spread, 0.8 * spread, 4000))
        assert intra_correlation(missed.astype(float), size.astype(float)) == pytest.approx(rho, abs=0.04)
    assert intra_correlation(np.zeros(50), np.full(50, 4.0)) == 1  # nothing seen: the worst is assumed


@pytest.mark.parametrize(
    ("misses", "spans", "documents", "rate"), [(0, 299, 60, 0.01), (7, 500, 33, 0.02), (2, 5, 9, 0.5)]
)
def test_without_correlation_the_chance_is_binomial(misses: int, spans: int, documents: int, rate: float) -> None:
    expected = independent.binom.cdf(misses, spans, rate)
    assert chance_of_at_most(misses, spans, documents, rate, 0.0) == pytest.approx(expected, abs=1e-12)


def test_if_documents_are_missed_as_a_whole_the_chance_is_that_of_documents() -> None:
    expected = independent.binom.cdf(2, 40, 0.03)  # of 40 documents with 5 spans, two may be missed
    assert chance_of_at_most(14, 200, 40, 0.03, 1.0) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("misses", "spans", "documents", "rate", "correlation", "known"),
    [
        (3, 872, 44, 0.023, 0.55, 0.127),
        (2, 880, 176, 0.002, 0.1, 0.731),
        (2, 1382, 277, 0.002, 0.3, 0.542),
        (5, 458, 92, 0.02, 0.3, 0.215),
    ],
)
def test_the_chance_is_that_of_simulated_documents(
    misses: int, spans: int, documents: int, rate: float, correlation: float, known: float
) -> None:
    rng, simulations = np.random.default_rng(3), 20_000
    size = np.full(documents, spans // documents) + (np.arange(documents) < spans % documents)
    spread = (1 - correlation) / correlation
    missed = rng.binomial(size, rng.beta(rate * spread, (1 - rate) * spread, (simulations, documents))).sum(axis=1)
    chance = chance_of_at_most(misses, spans, documents, rate, correlation)
    assert chance == pytest.approx(np.mean(missed <= misses), abs=0.012)
    assert chance == pytest.approx(known, abs=0.0005)


@pytest.fixture(scope="module")
def pilot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """40 documents with 3 PERSON spans, and a DATE in every fourth; one of the 120 PERSON spans is missed."""
    folder = tmp_path_factory.mktemp("pilot")
    gold: list[Any] = []
    for number in range(40):
        spans = [{"start": 10 * i, "end": 10 * i + 5, "label": "PERSON"} for i in range(3)]
        spans += [{"start": 50, "end": 55, "label": "DATE"}] if number % 4 == 0 else []
        gold.append({"id": str(number), "spans": spans})
    write(folder / "gold.jsonl", gold)
    write(folder / "pred.jsonl", [{**one, "spans": one["spans"][int(i == 1) :]} for i, one in enumerate(gold)])
    run("score", "gold.jsonl", "pred.jsonl", "-m", "exact", "--ci", "0.9", "-o", "out", "-q", "--no-report", cwd=folder)
    run("score", "gold.jsonl", "pred.jsonl", "-m", "exact", "-o", "bare", "-q", "--no-report", cwd=folder)
    return folder


def test_a_pilot_gives_sizes_and_correlation_by_type(pilot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {one.type: one for one in ss.plan(0.95, misses=2, pilot=pilot / "out").needed}
    date, person = found["DATE"], found["PERSON"]
    assert (date.per_document, date.share, date.documents_with) == (1, 0.25, date.independent_spans)
    assert date.documents == 4 * date.independent_spans
    assert date.chance == 1
    assert person.per_document == 3
    assert person.pilot_recall == pytest.approx(119 / 120)
    assert person.correlation is not None
    assert 0.3 < person.correlation < 1
    assert person.spans is not None
    assert person.independent_spans < person.spans <= 3 * person.independent_spans
    assert person.documents_with is not None
    assert person.pilot_recall is not None
    sizes = person.spans, person.documents_with
    assert person.chance == chance_of_at_most(2, *sizes, 1 - person.pilot_recall, person.correlation)
    monkeypatch.chdir(pilot)  # without counts per document, the pilot is scored again
    assert ss.plan(0.95, misses=2, pilot="bare").needed == tuple(found.values())


def test_what_may_be_claimed_is_the_lower_end_of_the_interval(pilot: Path) -> None:
    rows = json.loads((pilot / "out" / "results.json").read_text())["results"]
    ends = {row["type"]: row["interval"]["recall"][0] for row in rows if "average" not in row}
    claims = {one.type: one.recall for one in ss.plan(pilot=pilot / "out").claims}  # 95%, one-sided
    assert claims == pytest.approx(ends)
    assert claims["DATE"] == pytest.approx(0.05 ** (1 / 10))


def test_the_command_line(pilot: Path) -> None:
    said, _ = run("plan", "--recall", "0.99", "--confidence", "0.95", cwd=pilot)
    assert "299 spans" in said
    said, _ = run("plan", "--spans", "412", "--documents", "120", cwd=pilot)
    assert "With 412 spans in 120 documents and no miss you may claim, with 95% confidence, a recall of" in said
    assert "at least 0.9753" in said  # 0.05 ** (1 / 120)
    assert "DATE" in run("plan", "--pilot", "out", cwd=pilot)[0]
    found = json.loads(run("plan", "--pilot", "out", "--recall", "0.9", "--json", "-", cwd=pilot)[0])
    assert found["schema"] == "spanscore.plan/1"
    assert [one["type"] for one in found["needed"]] == [None, "DATE", "PERSON"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "give the recall to claim, or the spans"),
        ({"recall": 1.0}, "between 0 and 1"),
        ({"recall": 0.9, "confidence": 0.5}, "between 0.5 and 1"),
        ({"recall": 0.9, "spans": 5}, "not both"),
        ({"recall": 0.9, "correlation": 0.5}, "spans per document"),
        ({"spans": 5, "misses": 6}, "more misses than spans"),
        ({"spans": 5, "documents": 0}, "at least 1"),
        ({"spans": 5, "per_document": 2}, "only to a recall"),
        ({"spans": 5, "correlation": 0.5}, "only to a recall"),
        ({"spans": 5, "documents": 6}, "more documents"),
        ({"recall": 0.9, "measure": "iou"}, "give the folder"),
    ],
)
def test_wrong_calls(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ss.UsageError, match=said):
        ss.plan(**settings)


def test_several_misses_may_be_in_one_document() -> None:
    (claim,) = ss.plan(spans=10, documents=3, misses=4).claims
    assert (claim.recall, claim.misses) == (0, 4)
    assert claim.recall_spans == pytest.approx(0.3035, abs=1e-4)


def test_a_pilot_has_its_own_misses(pilot: Path) -> None:
    with pytest.raises(ss.UsageError, match="misses of its own"):
        ss.plan(pilot=pilot, misses=3)


def test_a_pilot_without_such_a_measure(pilot: Path) -> None:
    with pytest.raises(ss.UsageError, match="exact"):
        ss.plan(0.9, pilot=pilot / "out", measure="exacts")
    with pytest.raises(ss.InputError, match="cannot read the results"):
        ss.plan(0.9, pilot=pilot / "nothing")


@pytest.fixture(scope="module")
def units(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """20 documents with Ann twice and Bob once; every fourth Bob is missed."""
    folder = tmp_path_factory.mktemp("units")
    spans = [{"start": start, "end": start + 3, "label": "PERSON"} for start in (0, 4, 8)]
    gold = [{"id": str(i), "text": "Ann Ann Bob", "spans": spans} for i in range(20)]
    write(folder / "gold.jsonl", gold)
    write(folder / "pred.jsonl", [{**one, "spans": spans[: 2 if i % 4 == 0 else 3]} for i, one in enumerate(gold)])
    measures = ("char.pii", "leak.char", "leak", "leak.entity", "leak.document", "semeval.partial", "token")
    named = [part for name in measures for part in ("-m", name)]
    run("score", "gold.jsonl", "pred.jsonl", *named, "--ci", "0.9", "-o", "out", "-q", "--no-report", cwd=folder)
    run("score", "gold.jsonl", "pred.jsonl", "-m", "char.pii", "-o", "char", "-q", "--no-report", cwd=folder)
    return folder


@pytest.mark.parametrize("measure", ["char.pii", "leak.char", "token"])
@pytest.mark.parametrize("recall", [None, 0.9])
def test_characters_are_no_spans(units: Path, measure: str, recall: float | None) -> None:
    with pytest.raises(ss.UsageError, match="does not find or miss whole spans") as caught:
        ss.plan(recall, pilot=units / "out", measure=measure)
    assert str(caught.value).endswith("use leak, leak.entity, leak.document, semeval.partial.")


def test_a_pilot_of_characters_alone(units: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(units)
    with pytest.raises(ss.UsageError, match="use leak, leak.entity, leak.document, exact or iou"):
        ss.plan(0.9, pilot="char", measure="char.pii")


def test_entities_and_documents_are_called_so(units: Path) -> None:
    found = ss.plan(0.9, pilot=units / "out", measure="leak.entity")
    assert (found.unit, found.needed[0].per_document) == ("entity", 2)
    assert "29 independent entitys" not in repr(found)
    said, _ = run("plan", "--pilot", "out", "--recall", "0.9", "-m", "leak.entity", cwd=units)
    assert "- 29 entities if each is missed independently" in said
    assert "entities/document" in said
    assert "span" not in said
    said, _ = run("plan", "--pilot", "out", "-m", "leak.entity", cwd=units)
    assert "if entities are independent" in said
    said, _ = run("plan", "--pilot", "out", "--recall", "0.9", "-m", "leak.document", cwd=units)
    assert "- 29 documents with private spans.\n" in said
    assert "correlat" not in said
    said, _ = run("plan", "--pilot", "out", "-m", "leak.document", cwd=units)
    assert said.splitlines()[2].split("  ") == ["type", "misses", "documents", "recall at least"]
    assert (
        json.loads(run("plan", "--pilot", "out", "-m", "leak.document", "--json", "-", cwd=units)[0])["unit"]
        == "document"
    )


def test_spans_with_partial_credit_have_no_bound_on_spans(units: Path) -> None:
    found = {one.recall_spans for one in ss.plan(pilot=units / "out", measure="semeval.partial").claims}
    assert None not in found  # nobody has partial credit here
    gold = [{"id": str(i), "spans": [{"start": 0, "end": 4 + i % 2, "label": "A"}]} for i in range(8)]
    write(units / "a.jsonl", gold)
    write(units / "b.jsonl", [{**one, "spans": [{"start": 0, "end": 4, "label": "A"}]} for one in gold])
    run(
        "score",
        "a.jsonl",
        "b.jsonl",
        "-m",
        "semeval.partial",
        "--ci",
        "0.9",
        "-o",
        "half",
        "-q",
        "--no-report",
        cwd=units,
    )
    assert {one.recall_spans for one in ss.plan(pilot=units / "half").claims} == {None}
    assert "–" in run("plan", "--pilot", "half", cwd=units)[0]


@pytest.mark.parametrize("recall", [0.9999999, 0.9999999999, 0.999999999999])
@pytest.mark.parametrize("confidence", [0.95, 0.999])
def test_a_recall_close_to_one_needs_many_spans(recall: float, confidence: float) -> None:
    needed = ss.plan(recall, confidence=confidence).needed[0].independent_spans
    assert needed == pytest.approx(np.log1p(-confidence) / np.log(recall), rel=1e-6)


def test_no_number_is_rounded_to_one_or_cut(tmp_path: Path) -> None:
    said = run("plan", "--recall", "0.9999999999", "--confidence", "0.99999999", cwd=tmp_path)[0]
    assert "a recall of at least 0.9999999999 with 99.999999% confidence" in said
    assert "2147483648" not in said
    said = run("plan", "--spans", "5000000000", "--documents", "4000000000", cwd=tmp_path)[0]
    assert "a recall of at least 0.999999999 " in said
    assert "2e+10" not in said
    assert run("plan", "--recall", "99%", cwd=tmp_path) == run("plan", "--recall", "0.99", cwd=tmp_path)
    assert "'1x' is not a share; write for example" in run("plan", "--recall", "1x", cwd=tmp_path, code=2)[1]
    assert "a recall" not in run("plan", "--recall", "nan", cwd=tmp_path, code=2)[0]
    assert "recall must be between 0 and 1" in run("plan", "--recall", "1", cwd=tmp_path, code=2)[1]


def test_a_pilot_without_gold_spans_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "gold.jsonl", [{"id": "a", "text": "x", "spans": []}])
    run("score", "gold.jsonl", "gold.jsonl", "-m", "leak", "-o", "out", "-q", "--no-report", cwd=tmp_path)
    for target in ((), ("--recall", "0.99")):
        _, error = run("plan", "--pilot", "out", *target, cwd=tmp_path, code=2)
        assert "out: this pilot has no gold spans, so it says nothing about recall." in error


def test_a_clustered_pilot_counts_clusters(tmp_path: Path) -> None:
    """12 documents of 3 patients: what was found in a patient's documents counts once."""
    span = {"start": 0, "end": 3, "label": "PERSON"}
    gold = [{"id": str(i), "text": "Ann", "spans": [span], "meta": {"patient": str(i % 3)}} for i in range(12)]
    write(tmp_path / "gold.jsonl", gold)
    clustered = ("--ci", "0.9", "--cluster", "meta.patient", "-o", "out", "-q", "--no-report")
    run("score", "gold.jsonl", "gold.jsonl", "-m", "leak", *clustered, cwd=tmp_path)
    plan = ss.plan(0.9, pilot=tmp_path / "out")
    assert plan.cluster == "meta.patient"
    assert plan.needed[0].per_document == 4
    said, _ = run("plan", "--pilot", "out", "--recall", "0.9", cwd=tmp_path)
    assert "29 clusters with such spans, however misses are correlated within clusters" in said
    assert "a cluster: the documents with one meta.patient" in said
    assert "clusters with" in said
    assert "document with" not in said
    assert "a cluster: the documents with one meta.patient" in run("plan", "--pilot", "out", cwd=tmp_path)[0]
