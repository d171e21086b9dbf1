"""neleval's published examples: overlap, related types, links, clusterings (values: golden/neleval.json)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import spanscore as ss
from golden.golden import load

GOLDEN = load("neleval.json")
OVERLAP = GOLDEN["lorehlt_overlap"]
COREF = GOLDEN["coref_f"]


def mentions(rows: list[list[int]]) -> ss.Corpus:
    spans = [{"start": start, "end": end + 1, "label": "MENTION"} for start, end in rows]
    return ss.Corpus.from_documents([{"id": "d", "spans": spans}])


def numbers(score: Any) -> list[float]:
    """neleval's seven numbers; it writes 0 where there is none."""
    found = [*score.counts.values(), score.precision, score.recall, score.f]
    return [0.0 if math.isnan(value) else value for value in found]


@pytest.mark.parametrize("aggregate", list(OVERLAP["expected"]))
def test_overlap_of_lorehlt(aggregate: str) -> None:
    result = ss.score(mentions(OVERLAP["gold"]), mentions(OVERLAP["system"]), f"{aggregate}::span")
    assert numbers(result[f"{aggregate}::span"]) == pytest.approx(OVERLAP["expected"][aggregate], abs=5e-4)


@pytest.mark.parametrize("case", GOLDEN["measure_overlap"], ids=str)
def test_shares_of_single_mentions(case: dict[str, Any]) -> None:
    if case is GOLDEN["measure_overlap"][-1]:
        return  # refused: see test_others_that_overlap_each_other_are_refused
    documents = [{"id": str(i), "spans": []} for i in range(len(case["ref"]))]
    gold = [dict(one, spans=[_span(ref)]) for one, ref in zip(documents, case["ref"], strict=True)]
    pred = [dict(one, spans=[_span(o) for o in others]) for one, others in zip(documents, case["other"], strict=True)]
    result = ss.score(
        ss.Corpus.from_documents(gold), ss.Corpus.from_documents(pred), ["overlap-maxmax::span", "overlap-sumsum::span"]
    )
    assert [one.counts["rtp"] for one in result.scores] == pytest.approx([case["max"], case["sum"]], abs=1e-9)


def test_others_that_overlap_each_other_are_refused() -> None:
    case = GOLDEN["measure_overlap"][-1]
    with pytest.raises(ss.SpanscoreError, match=r"MENTION \[1, 8\) and MENTION \[6, 16\) overlap"):
        ss.score(mentions(case["ref"]), mentions(case["other"][0]), "overlap-maxmax::span")


def _span(place: list[int]) -> dict[str, Any]:
    return {"start": place[0], "end": place[1] + 1, "label": "MENTION"}


def test_related_types(tmp_path: Path) -> None:
    case = GOLDEN["type_weights"]
    (tmp_path / "weights.tsv").write_text("".join("\t".join(map(str, row)) + "\n" for row in case["weights"]))
    sides = []
    for side in ("gold", "system"):
        lines = [f"{doc}\t{start}\t{end}\tE\t1.0\t{kind}\n" for doc, start, end, kind in case[side]]
        (tmp_path / f"{side}.tsv").write_text("".join(lines))
        sides.append(ss.read(tmp_path / f"{side}.tsv"))
    name = f"strong_typed_mention_match(type_weights=@{tmp_path / 'weights.tsv'})"
    scores = ss.score(sides[0], sides[1], name)[name]
    rows = {**scores.by("document"), "micro": scores.micro("document"), "macro": scores.macro("document")}
    assert rows.keys() == case["expected"].keys()
    for row, expected in case["expected"].items():
        assert numbers(rows[row]) == pytest.approx(expected, abs=6e-4), row
    assert scores.micro("document") == scores.overall


def test_links(tmp_path: Path) -> None:
    case = GOLDEN["linking"]
    sides = []
    for side in ("gold", "system"):
        (tmp_path / f"{side}.tsv").write_text(case[side])
        sides.append(ss.read(tmp_path / f"{side}.tsv"))
    result = ss.score(sides[0], sides[1], list(case["expected"]))
    for name, expected in case["expected"].items():
        assert numbers(result[name]) == pytest.approx(expected, abs=5e-4), name


def clusters(sets: Any) -> ss.Corpus:
    members = sets.values() if isinstance(sets, dict) else sets
    spans = [
        {"start": place, "end": place + 1, "label": "X", "attrs": {"kbid": f"c{number}"}}
        for number, cluster in enumerate(members)
        for place in (ord(one) if isinstance(one, str) else one for one in cluster)
    ]
    return ss.Corpus.from_documents([{"id": "d", "spans": spans}])


CASES = [(COREF["luo05_gold"], case) for case in COREF["cases"]]
CASES += [(COREF["rcs_tca_gold"], case) for case in COREF["rcs_tca"]]


@pytest.mark.parametrize(("gold", "case"), CASES, ids=str)
def test_clusterings(gold: Any, case: dict[str, Any]) -> None:
    for scores in ss.score(clusters(gold), clusters(case["sys"]), "luo").scores:
        assert numbers(scores)[-1] == pytest.approx(case[repr(scores.measure)], abs=5e-4)


@pytest.mark.parametrize("case", COREF["vilain95_muc_prf"], ids=str)
def test_muc_of_vilain(case: dict[str, Any]) -> None:
    found = ss.score(clusters(case["gold"]), clusters(case["sys"]), "muc")["muc"]
    assert [found.precision, found.recall, found.f] == pytest.approx(case["prf"], abs=5e-4)
