"""Intervals and tests: what they promise on simulated corpora, and the same numbers as independent implementations."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats as independent

import spanscore as ss
from calls import spanscore
from spanscore.align import pair
from spanscore.engine.partial import tally_all
from spanscore.measures import measure
from spanscore.result import Scores
from spanscore.stats import (
    Bootstrap,
    Kinds,
    binomial_bounds,
    difference_interval,
    holm,
    intervals,
    kendall,
    permutation_p,
    stream,
    widest_difference,
    widest_gap,
)
from spanscore.tally import Tally


def documents(rng: np.random.Generator, number: int, skill: float) -> Any:
    """Gold spans of each document, and how many of them a system finds that is better on some documents."""
    gold = rng.poisson(5, number)
    found = rng.binomial(gold, rng.beta(8 * skill, 8 * (1 - skill), number))
    return np.stack([found, gold], axis=1)


def share(counts: Any) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        return counts[:, 0] / counts[:, 1]


def bounds(counts: Any, seed: int = 0, **how: Any) -> tuple[float, float]:
    return intervals(Kinds.of(counts), [share], Bootstrap(**how), (seed, 7))[0]


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(1)
    simulations, covered = 2000, 0
    for number in range(simulations):
        low, high = bounds(documents(rng, 200, 0.7), number, resamples=400)
        covered += low <= 0.7 <= high
    assert 0.935 <= covered / simulations <= 0.97


SIZES = {
    "even": lambda rng, number: rng.poisson(4, number) + 1,
    "skewed": lambda rng, number: np.ceil(rng.lognormal(1.5, 1.0, number)).astype(np.int64),
}


def correlated(rng: np.random.Generator, gold: Any, rate: float, how: str) -> Any:
    """Missed spans of each document, a share of `rate` of all spans in the long run, correlated within documents."""
    if how == "whole documents":
        return gold * (rng.random(len(gold)) < rate)
    if how == "whole documents and single spans":
        whole = rng.random(len(gold)) < rate / 2
        return np.where(whole, gold, rng.binomial(gold, (rate / 2) / (1 - rate / 2)))
    spread = (1 - float(how)) / float(how)  # beta-binomial with this correlation
    return rng.binomial(gold, rng.beta(rate * spread, (1 - rate) * spread, len(gold)))


def coverage(recall: float, number: int, sizes: str, misses: str, simulations: int, resamples: int) -> float:
    rng = np.random.default_rng(5)
    covered = 0
    for simulation in range(simulations):
        gold = SIZES[sizes](rng, number)
        found = gold - correlated(rng, gold, 1 - recall, misses)
        low, high = bounds(np.stack([found, gold], axis=1), simulation, resamples=resamples)
        covered += low <= recall <= high
    return covered / simulations


MISSES = ["whole documents", "whole documents and single spans", "0.1", "0.3", "0.6"]


@pytest.mark.slow
@pytest.mark.parametrize("misses", MISSES)
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("number", [20, 50, 100, 200, 500])
@pytest.mark.parametrize("recall", [0.99, 0.999])
def test_close_to_one_the_interval_covers_the_truth_at_least_as_often(
    recall: float, number: int, sizes: str, misses: str
) -> None:
    """Percentiles of the plain bootstrap cover it in 70 to 90% of such corpora."""
    simulations = 2000
    tolerance = 2 * math.sqrt(0.95 * 0.05 / simulations)  # of the simulation
    assert coverage(recall, number, sizes, misses, simulations, 500) >= 0.95 - tolerance


@pytest.mark.parametrize("misses", MISSES)
def test_close_to_one_the_interval_covers_the_truth(misses: str) -> None:
    assert coverage(0.99, 100, "even", misses, 200, 200) >= 0.95


def test_the_interval_does_not_collapse_where_all_is_found() -> None:
    """19 of 19 in 12 documents: the exact bound is on documents, since misses in one document are not independent."""
    counts = np.array([[1, 1]] * 5 + [[2, 2]] * 7)
    low, high = bounds(counts)
    assert high == 1
    assert independent.binom.pmf(12, 12, low) == pytest.approx(0.025)
    low, high = bounds(counts * [0, 1])
    assert low == 0
    assert independent.binom.pmf(0, 12, high) == pytest.approx(0.025)
    documents_without_spans = np.zeros((30, 2), np.int64)
    assert bounds(np.concatenate([counts, documents_without_spans])) == bounds(counts)


@pytest.mark.parametrize(("right", "number"), [(11, 12), (99, 100), (95, 100), (30, 60), (1, 20)])
@pytest.mark.parametrize("size", [1, 7])
def test_documents_that_are_all_right_or_all_wrong_have_the_exact_interval(right: int, number: int, size: int) -> None:
    found = np.array([size] * right + [0] * (number - right))
    ends = bounds(np.stack([found, np.full(number, size)], axis=1), resamples=100_000)
    assert ends == pytest.approx(binomial_bounds(right, number), abs=0.003)


def test_few_misses_have_bounds_on_both_sides() -> None:
    """Near the edge too: 0, 1, 2 ... misses in 500 spans of 100 documents."""
    least = []
    for missed in range(8):
        found = np.full(100, 5)
        found[:missed] -= 1
        low, high = bounds(np.stack([found, np.full(100, 5)], axis=1), resamples=20_000)
        assert low < found.sum() / 500
        assert high == 1 or high > found.sum() / 500
        least.append(low)
    assert least[0] == pytest.approx(0.025 ** (1 / 100))
    assert min(least) > 0.94


def test_equal_systems_may_differ_on_other_documents() -> None:
    counts = np.array([[5, 5]] * 20)
    low, high = difference_interval(counts, counts, share, Bootstrap(), (0, 0))
    assert high == -low == pytest.approx(1 - 0.025 ** (1 / 20))
    worse = counts - [[1, 0]]
    low, high = difference_interval(worse, counts, share, Bootstrap(), (0, 0))
    assert low < -0.2 < high < 0.1


def test_the_interval_of_a_difference_agrees_with_the_permutation_test() -> None:
    """The second finds one of two spans less in 8 of 40 documents, and more in none: p = 2 / 2**8."""
    first = np.array([[1, 2]] * 10 + [[2, 2]] * 30)
    second = np.array([[1, 2]] * 18 + [[2, 2]] * 22)
    low, high = difference_interval(first, second, share, Bootstrap(), (0, 0))
    assert 0 < low < 0.1 < high
    assert difference_interval(second, first, share, Bootstrap(), (0, 0)) == (-high, -low)
    p = permutation_p(first, second, share, number=10_000, seed=(0, 0))
    assert p == permutation_p(second, first, share, number=10_000, seed=(0, 0)) == pytest.approx(2 / 2**8, abs=0.003)


def test_the_interval_of_a_difference_covers_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(8)
    simulations, covered = 1000, 0
    for number in range(simulations):
        gold = rng.poisson(4, 100) + 1
        a, b = (np.stack([gold - correlated(rng, gold, rate, "0.3"), gold], axis=1) for rate in (0.01, 0.05))
        low, high = difference_interval(a, b, share, Bootstrap(resamples=300), (number, 1))
        covered += low <= 0.04 <= high
    assert covered / simulations >= 0.95 - 2 * math.sqrt(0.95 * 0.05 / simulations)


def of_groups(hits: list[int], number: int = 60) -> list[Any]:
    """Groups of documents with one span each, so many of which are found."""
    return [np.array([[1, 1]] * hit + [[0, 1]] * (number - hit)) for hit in hits]


def test_the_gap_of_many_groups_is_less_certain_than_that_of_two() -> None:
    """The studentised range of 20 equal groups is 5.01: the interval is 5.01 / sqrt(2) standard errors wide."""
    between = [48] * 18
    ends = {
        many: widest_gap(of_groups([54, 41, *many]), share, (0, 1), Bootstrap(), (0, 1)) for many in ((), (*between,))
    }
    (two, _), (twenty, _) = ends.values()
    error = math.sqrt(54 * 6 / 60**3 + 41 * 19 / 60**3)
    assert two == pytest.approx(13 / 60 - 1.96 * error, abs=0.02)
    assert twenty == pytest.approx(13 / 60 - 5.01 / math.sqrt(2) * error, abs=0.03)
    assert twenty < 0 < two


def test_the_gap_between_groups_depends_on_their_counts_alone() -> None:
    groups = of_groups([54, 42, 48, 48, 50])
    ends = widest_gap(groups, share, (0, 1), Bootstrap(), (0, 1))
    assert widest_gap([one[::-1] for one in groups], share, (0, 1), Bootstrap(), (0, 1)) == ends
    assert widest_gap(groups[::-1], share, (4, 3), Bootstrap(), (0, 1)) == pytest.approx(ends)
    low, high = widest_gap(groups, share, (1, 0), Bootstrap(), (0, 1))
    assert (low, high) == pytest.approx((-ends[1], -ends[0]))


def test_the_gap_between_groups_of_which_all_is_found() -> None:
    """The exact bound of none missed in 60 documents, for the larger of two: 1 - 0.025 ** (1 / 60)."""
    low, high = widest_gap(of_groups([60, 60]), share, (0, 1), Bootstrap(resamples=20_000), (0, 1))
    assert low == pytest.approx(-high, rel=0.05)
    assert high == pytest.approx(1 - (1 - math.sqrt(0.95)) ** (1 / 60), rel=0.05)


def excludes_zero(number: int, simulations: int) -> float:
    """The share of corpora with so many groups of equal recall whose largest gap seems to be none by chance."""
    rng = np.random.default_rng(number)
    wrong = 0
    for simulation in range(simulations):
        hits = rng.binomial(60, 0.8, number).tolist()
        chosen = hits.index(max(hits)), hits.index(min(hits))
        wrong += widest_gap(of_groups(hits), share, chosen, Bootstrap(), (simulation, 1))[0] > 0
    return wrong / simulations


@pytest.mark.slow
@pytest.mark.parametrize("number", [2, 5, 20, 40])
def test_the_largest_gap_of_equal_groups_is_as_often_wrong_as_it_says(number: int) -> None:
    """With a corrected level instead, which 1000 resamples cannot reach: 12.5% of 20 groups, 29% of 40."""
    simulations = 500
    assert excludes_zero(number, simulations) <= 0.05 + 2 * math.sqrt(0.95 * 0.05 / simulations)


@pytest.mark.slow
def test_the_largest_difference_of_equal_variants_is_as_often_wrong_as_it_says() -> None:
    """Of 8 variants of the same 60 documents, with misses that they share."""
    rng = np.random.default_rng(9)
    simulations, wrong, pairs = 200, 0, [(a, b) for a in range(8) for b in range(8) if a != b]
    for simulation in range(simulations):
        skill = rng.beta(4, 1, 60)
        groups = [np.stack([rng.binomial(1, skill), np.ones(60, np.int64)], axis=1) for _ in range(8)]
        hits = [int(one[:, 0].sum()) for one in groups]
        tables = [(groups[a], groups[b]) for a, b in pairs if hits[a] > hits[b] or (hits[a] == hits[b] and a < b)]
        gaps = [int(a[:, 0].sum() - b[:, 0].sum()) for a, b in tables]
        ends = widest_difference(tables, share, gaps.index(max(gaps)), Bootstrap(), (simulation, 1))
        wrong += ends[0] > 0
    assert wrong / simulations <= 0.05 + 2 * math.sqrt(0.95 * 0.05 / simulations)


def test_the_largest_of_one_difference_is_as_certain_as_any() -> None:
    first = np.array([[1, 2]] * 10 + [[2, 2]] * 90)
    second = np.array([[1, 2]] * 40 + [[2, 2]] * 60)
    ends = widest_difference([(first, second)], share, 0, Bootstrap(), (0, 1))
    assert ends == pytest.approx(difference_interval(first, second, share, Bootstrap(), (0, 1)), abs=0.02)
    low, high = widest_difference([(second, first)], share, 0, Bootstrap(), (0, 1))
    assert (low, high) == (-ends[1], -ends[0])
    three = widest_difference([(first, second), (first, first), (second, second)], share, 0, Bootstrap(), (0, 1))
    assert three[0] < ends[0] < 0.15 < ends[1] < three[1]


def test_the_permutation_test_is_as_often_wrong_as_it_says() -> None:
    rng = np.random.default_rng(2)
    simulations, wrong = 2000, 0
    for number in range(simulations):
        gold = rng.poisson(5, 100)
        skill = rng.beta(5.6, 2.4, 100)
        a, b = (np.stack([rng.binomial(gold, skill), gold], axis=1) for _ in range(2))
        wrong += permutation_p(a, b, share, number=400, seed=(number, 3)) <= 0.05
    assert 0.04 <= wrong / simulations <= 0.06


def test_the_permutation_test_agrees_with_another_implementation() -> None:
    rng = np.random.default_rng(3)
    gold = rng.poisson(5, 300) + 1
    a = np.stack([rng.binomial(gold, 0.72), gold], axis=1)
    b = np.stack([rng.binomial(gold, 0.69), gold], axis=1)

    def difference(x: Any, y: Any, axis: int) -> Any:
        return x.sum(axis=axis) / gold.sum() - y.sum(axis=axis) / gold.sum()

    theirs = independent.permutation_test(
        (a[:, 0], b[:, 0]), difference, permutation_type="samples", n_resamples=9999, vectorized=True, rng=5
    ).pvalue
    ours = permutation_p(a, b, share, number=10_000, seed=(0, 0))
    assert abs(ours - theirs) < 4 * math.sqrt(theirs * (1 - theirs) / 10_000) + 1e-3


@pytest.mark.parametrize(
    ("hits", "trials"), [(0, 300), (1, 300), (299, 300), (300, 300), (7, 20), (5000, 10_000), (0, 1)]
)
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_exact_bounds_are_where_so_few_or_so_many_hits_become_unlikely(hits: int, trials: int, level: float) -> None:
    low, high = binomial_bounds(hits, trials, level)
    tail = (1 - level) / 2
    assert low == 0 if hits == 0 else independent.binom.sf(hits - 1, trials, low) == pytest.approx(tail, rel=1e-9)
    assert high == 1 if hits == trials else independent.binom.cdf(hits, trials, high) == pytest.approx(tail, rel=1e-9)


def test_none_missed_of_three_hundred() -> None:
    assert round(100 * binomial_bounds(0, 300)[1], 1) == 1.2


def test_kendall_and_holm() -> None:
    a, b = [1.0, 2.0, 2.0, 4.0, 3.0], [1.0, 3.0, 2.0, 5.0, 5.0]
    # of ten pairs, eight are in the same order, none in the opposite, one is tied in each list
    assert kendall(a, b) == pytest.approx((8 - 0) / math.sqrt(9 * 9))
    assert math.isnan(kendall([1.0, 1.0], [1.0, 2.0]))
    assert holm([0.01, 0.02, 0.9]) == pytest.approx([0.03, 0.04, 0.9])


def corpus(rng: np.random.Generator, number: int, wrong: float) -> Any:
    made = []
    for doc in range(number):
        spans = []
        for place in range(int(rng.integers(0, 6))):
            end = 10 * place + 5 + int(rng.random() < wrong)
            spans.append({"start": 10 * place, "end": end, "label": "ABC"[int(rng.integers(3))]})
        made.append({"id": f"d{doc}", "spans": spans, "meta": {"ward": f"w{doc % 7}"}})
    return made


@pytest.fixture(scope="module")
def both() -> tuple[ss.Corpus, ss.Corpus]:
    rng = np.random.default_rng(4)
    gold = corpus(rng, 400, 0.0)
    pred = [
        {**one, "spans": [{**s, "end": s["end"] + int(rng.random() < 0.2)} for s in one["spans"] if rng.random() < 0.9]}
        for one in gold
    ]
    return ss.Corpus.from_documents(gold), ss.Corpus.from_documents(pred)


MEASURES = ["exact", "iou(threshold=0.5)", "semeval.partial", "overlap-maxmax::span+type", "char"]


def test_halves_that_are_put_together_give_the_same_intervals(both: tuple[ss.Corpus, ss.Corpus]) -> None:
    whole = pair(*both)
    for spec in MEASURES:
        one = measure(spec)
        parts = [tally_all(part, [one])[0] for part in whole.blocks(123)]
        found = []
        for tally in (tally_all(whole, [one])[0], Tally.concat(parts), Tally.concat(parts[::-1])):
            scores = Scores("s", one, tally, 1.0, "")
            found.append([scores.interval(Bootstrap(), label) for label in (None, *scores.by_type)])
        assert found[0] == found[1] == found[2], spec


def test_chunks_and_whole_corpora_give_the_same_intervals(both: tuple[ss.Corpus, ss.Corpus]) -> None:
    ci = Bootstrap(0.9, 300, seed=5)
    gold, pred = both
    whole = ss.score(gold, pred, MEASURES, ci=ci)
    pieces = [(gold.block(i, i + 50), pred.block(i, i + 50)) for i in range(0, 400, 50)]
    chunks = ss.score((g for g, _ in pieces), (p for _, p in pieces), MEASURES, ci=ci, keep_spans=False)
    for a, b in zip(whole.scores, chunks.scores, strict=True):
        assert a.interval(ci) == b.interval(ci)
        assert a.signature == b.signature
        assert a.signature.endswith("|ci:bootstrap/documents/0.9/300/seed 5")


def test_far_from_the_edges_it_is_close_to_the_ordinary_bootstrap(both: tuple[ss.Corpus, ss.Corpus]) -> None:
    scores = ss.score(*both, ["exact"]).scores[0]
    found = scores.interval(Bootstrap(resamples=20_000))
    assert found is not None
    counts = scores.tally.by_document()
    rng = np.random.default_rng(9)
    drawn = counts[rng.integers(0, len(counts), (4000, len(counts)))].sum(axis=1)
    recall = drawn[:, scores.tally.fields.index("tp")] / drawn[:, scores.tally.fields.index("annotated")]
    assert found.recall == pytest.approx(np.quantile(recall, [0.025, 0.975]).tolist(), abs=0.004)


def test_clusters_of_documents_are_drawn_together(both: tuple[ss.Corpus, ss.Corpus]) -> None:
    scores = ss.score(*both, ["exact"], ci=Bootstrap(cluster="meta.ward")).scores[0]
    apart, together = scores.interval(Bootstrap()), scores.interval(Bootstrap(cluster="meta.ward"))
    assert apart is not None
    assert together is not None
    assert apart.recall != together.recall
    with pytest.raises(ss.UsageError, match="metadata field 'bed'"):
        ss.score(*both, ["exact"], ci=Bootstrap(cluster="meta.bed"))


def test_what_is_undefined_has_no_interval(both: tuple[ss.Corpus, ss.Corpus]) -> None:
    """Predictions of `leak` have no type: precision by type is undefined, and recall is not."""
    gold, pred = both
    scores = ss.score(gold, pred.with_spans(np.arange(0, len(pred.doc), 2)), "leak")["leak"]
    found = scores.interval(Bootstrap(), "A")
    assert found is not None
    assert all(map(math.isnan, (*found.precision, *found.f)))
    assert found.recall[0] < scores.by_type["A"].recall < found.recall[1]


def test_clusterings_have_no_interval(both: tuple[ss.Corpus, ss.Corpus]) -> None:
    assert ss.score(*both, ["muc"], ci=Bootstrap()).scores[0].interval(Bootstrap()) is None


def test_intervals_do_not_depend_on_what_else_is_computed(both: tuple[ss.Corpus, ss.Corpus]) -> None:
    """Each number has random numbers of its own: other measures and types beside it change nothing."""
    alone = ss.score(*both, ["exact"], ci=0.9)["exact"]
    beside = ss.score(*both, ["iou", "token.pii", "exact"], ci=0.9)["exact"] if both[0].text else alone
    label = next(iter(alone.by_type))
    bootstrap = Bootstrap(0.9)
    first = alone.interval(bootstrap, label)
    alone.interval(bootstrap)
    assert alone.interval(bootstrap, label) == first
    assert beside.interval(bootstrap, label) == first
    assert stream(0, "PERSON") != stream(0, "DATE")
    assert stream(0, "PERSON") != stream(1, "PERSON")


def run(*arguments: str, cwd: Path, code: int = 0) -> str:
    done = spanscore("score", "gold.jsonl", "pred.jsonl", "-q", *arguments, cwd=cwd, code=code)
    return done.stderr if code else done.stdout


@pytest.mark.slow
def test_the_command_line(both: tuple[ss.Corpus, ss.Corpus], tmp_path: Path) -> None:
    for name, side in zip(("gold", "pred"), both, strict=True):
        lines = [
            {"id": d.id, "spans": [{"start": s.start, "end": s.end, "label": s.label} for s in d.spans], "meta": d.meta}
            for d in side.documents()
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    rows = json.loads(run("-m", "exact", "--ci", "0.95", "--json", "-", cwd=tmp_path))["results"]
    for row in (row for row in rows if "average" not in row):
        low, high = row["interval"]["recall"]
        assert 0 <= low <= row["recall"] <= high <= 1
        assert row["missed"]["at_most"] >= row["missed"]["missed"] / row["missed"]["annotated"]
    assert (
        rows
        == json.loads(run("-m", "exact", "--ci", "0.95", "--json", "-", "--by", "type", cwd=tmp_path))["results"][
            : len(rows)
        ]
    )
    assert "95%" in run("-m", "exact", "--ci", "0.95", cwd=tmp_path).splitlines()[0]
    assert "recall_low" in run("-m", "exact", "--ci", "0.95", "--format", "csv", cwd=tmp_path).splitlines()[0]
    run("-m", "exact", "--ci", "0.95", "--cluster", "meta.ward", cwd=tmp_path)
    assert "between 0 and 1" in run("--ci", "95", cwd=tmp_path, code=2)
    assert "use meta.KEY" in run("--ci", "0.9", "--cluster", "ward", cwd=tmp_path, code=2)
    assert "add --ci" in run("--cluster", "meta.ward", cwd=tmp_path, code=2)
    assert "resamples must be" in run("--ci", "0.9", "--resamples", "0", cwd=tmp_path, code=2)
