"""Scores at levels of the taxonomy: maps of one side, shared types, files, gates, runs and processes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import spanscore as ss
from spanscore.analysis.gate import read_results
from spanscore.analysis.gate_conditions import Condition
from spanscore.engine import Inputs, Plan, evaluate, file_ranges
from spanscore.engine.partial import assemble
from spanscore.engine.rescore import rescore
from spanscore.engine.task import Task
from spanscore.formats import spanscore as own
from spanscore.result import tables, tallies
from spanscore.result.files import to_json

TEXT = "Ann Lee lives in Oslo since 2020"
GOLD = [(0, 3, "FIRSTNAME"), (4, 7, "LASTNAME"), (17, 21, "CITY"), (28, 32, "DATE")]
PRED = [(0, 3, "PERSON"), (4, 7, "LASTNAME"), (17, 21, "LOCATION"), (8, 13, "castle")]


def corpus(spans: list[tuple[int, int, str]], documents: int = 1, **more: Any) -> ss.Corpus:
    listed = [{"start": a, "end": b, "label": label, **more} for a, b, label in spans]
    return ss.Corpus.from_documents({"id": f"d{n}", "text": TEXT, "spans": listed} for n in range(documents))


def write(path: Path, spans: list[tuple[int, int, str]], documents: int = 1) -> Path:
    listed = [{"start": a, "end": b, "label": label, "score": 0.9} for a, b, label in spans]
    lines = (json.dumps({"id": f"d{n:05}", "text": TEXT, "spans": listed}) for n in range(documents))
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def counts(result: ss.Result, name: str) -> tuple[int, ...]:
    return tuple(result[name].counts[key] for key in ("tp", "predicted", "annotated"))


def test_worked_levels() -> None:
    result = ss.score(corpus(GOLD), corpus(PRED), "exact", levels="raw,type,branch,pii")
    assert [one.level for one in result.scores] == ["pii", "branch", "type", "raw"]
    assert counts(result, "exact@pii") == (3, 4, 4)
    assert counts(result, "exact@branch") == (3, 4, 4)
    assert counts(result, "exact@type") == (1, 4, 4)
    assert set(result["exact@branch"].by_type) == {"PERSON", "LOCATION", "DATE_TIME", "castle"}
    assert set(result["exact@raw"].by_type) == {label for _, _, label in GOLD + PRED}
    assert {error.verdict for error in result.errors("exact@branch")} != set()


def test_without_levels_the_taxonomy_aligns_by_branch() -> None:
    plain = ss.score(corpus(GOLD), corpus(PRED), "exact", align="taxonomy")
    leveled = ss.score(corpus(GOLD), corpus(PRED), "exact", levels="branch")
    assert plain["exact"].counts == leveled["exact"].counts
    assert plain["exact"].signature == leveled["exact"].signature
    assert "level" not in json.loads(to_json(plain))["results"][0]
    with pytest.raises(ss.UsageError, match="alignment"):
        ss.score(corpus(GOLD), corpus(PRED), "exact", align="spelling")


def test_maps_of_one_side() -> None:
    maps: dict[str, Any] = {
        "label_map": {"FIRSTNAME": "PERSON", "LASTNAME": "PERSON"},
        "gold_map": {"LASTNAME": None, "nothing": "X"},
        "pred_map": {"castle": "CITY"},
    }
    result = ss.score(corpus(GOLD), corpus(PRED), "exact", **maps)
    assert counts(result, "exact") == (1, 4, 3)
    assert any("gold: 1 span labelled LASTNAME was left out" in one for one in result.warnings)
    assert any("the gold map has an entry for nothing, but no gold span" in one for one in result.warnings)
    both = ss.score(corpus(GOLD), corpus(PRED), "exact", levels="branch", **maps)
    assert counts(both, "exact@branch") == (2, 4, 3)  # castle became a city
    assert "gold-map:" in both.scores[0].signature
    assert "pred-map:" in both.scores[0].signature


def test_entities_ignored_types_and_thresholds_go_by_any_name() -> None:
    gold, pred = corpus(GOLD), corpus(PRED, score=0.5)

    def scored(**settings: Any) -> dict[str, tuple[int, ...]]:
        result = ss.score(gold, pred, "exact", levels="pii,branch,type", **settings)
        return {level: counts(result, f"exact@{level}") for level in ("pii", "branch", "type")}

    assert scored(entities="PERSON") == {"pii": (2, 2, 2), "branch": (2, 2, 2), "type": (1, 2, 2)}
    assert scored(entities="CITY") == {"pii": (0, 0, 1), "branch": (0, 0, 1), "type": (0, 0, 1)}
    assert scored(ignore="LOCATION") == {"pii": (2, 3, 3), "branch": (2, 3, 3), "type": (1, 3, 3)}
    assert scored(score_threshold={"PERSON": 0.9}) == {"pii": (1, 2, 4), "branch": (1, 2, 4), "type": (0, 2, 4)}
    assert scored(score_threshold={"PERSON": 0.9, "LAST_NAME": 0.1})["branch"] == (2, 3, 4)
    with pytest.raises(ss.UsageError, match="did you mean 'PERSON'"):
        scored(entities="PERSN")


def test_shared_types() -> None:
    result = ss.score(corpus(GOLD), corpus(PRED), "exact", levels="branch,type", shared_types=True)
    assert counts(result, "exact@branch") == (3, 3, 3)
    assert counts(result, "exact@type") == (1, 1, 1)
    warnings = "\n".join(result.warnings)
    assert (
        "gold: 1 span was left out because not every side has its type (--shared-types): DATE (1) (level branch)"
        in (warnings)
    )
    assert "pred: 3 spans were left out because not every side has their types (--shared-types): " in warnings
    systems = {"a": corpus(PRED), "b": corpus(PRED[:1])}
    found = ss.compare(corpus(GOLD), systems, "exact", levels="branch", shared_types=True)
    assert found.result["exact@branch", "a"].counts["annotated"] == 2  # only persons


def test_accounts_say_what_holds_at_every_level_once() -> None:
    gold = ss.Corpus.concat([corpus(GOLD), ss.Corpus.from_documents([{"id": "x", "spans": []}])])
    double = [*PRED, (17, 21, "GPE")]
    warnings = ss.score(gold, corpus(double), "exact", levels="branch,raw").warnings
    assert [one for one in warnings if "without output" in one] == [
        "pred: 1 gold document without output; its spans count as missed."
    ]
    assert [one for one in warnings if "duplicate" in one] == ["pred: 1 duplicate span counts once (level branch)."]


def test_tables_show_the_level() -> None:
    result = ss.score(corpus(GOLD), corpus(PRED), ["exact", "iou"], levels="pii,type", ci=0.9, by="document")
    head, *lines = tables.separated(result, ",", signatures=True).splitlines()
    assert head.startswith("system,measure,level,type,")
    assert {tuple(line.split(",")[1:3]) for line in lines} == {
        (measure, level) for measure in ("exact", "iou") for level in ("pii", "type")
    }
    assert {line.rsplit("level:", 1)[1].split("|")[0] for line in lines} == {"pii", "type"}
    assert tables.markdown(result).startswith("| system | measure | level | type |")
    assert "measure   level   type" in str(result)
    assert any("exact@pii" in line for line in tables.few_misses(result))


def test_files_and_scoring_again(tmp_path: Path) -> None:
    mine = tmp_path / "types.tsv"
    mine.write_text("PLACE\tCASTLE\tcastle\n")
    gold, pred = write(tmp_path / "gold.jsonl", GOLD), write(tmp_path / "pred.jsonl", PRED)
    settings: dict[str, Any] = {"gold_map": {"DATE": None}, "pred_map": {"LOCATION": "CITY"}}
    result = ss.score(
        gold, pred, ["exact", "leak"], taxonomy=mine, levels="branch,type", ci=0.9, shared_types=True, **settings
    )
    result.save(tmp_path / "out")
    mine.unlink()
    rows = json.loads((tmp_path / "out" / "results.json").read_text())["results"]
    assert {row["level"] for row in rows} == {"branch", "type"}
    errors = [json.loads(line) for line in (tmp_path / "out" / "errors.jsonl").read_text().splitlines()]
    assert {error["level"] for error in errors} <= {"branch", "type"}
    again = rescore(tmp_path / "out")
    assert to_json(again) == to_json(result)
    saved = tallies.read(tmp_path / "out")
    assert saved is not None
    assert {(one.name) for one in saved[1].values()} == {one.name for one in result.scores}
    conditions = read_results(str(tmp_path / "out"))
    assert {row["measure"] for row in conditions} == {one.name for one in result.scores}
    assert Condition.parse("exact@branch:PERSON:recall=0.9", conditions).measure == "exact@branch"


def test_several_processes_give_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own, "LEAST", 1000)
    monkeypatch.setattr(file_ranges, "WORTHWHILE", 1000)
    gold, pred = write(tmp_path / "gold.jsonl", GOLD, 100), write(tmp_path / "pred.jsonl", PRED, 100)
    plan = Plan.of(["exact", "iou"], levels="pii,branch,raw", gold_map={"DATE": None}, shared_types=True)
    task = Task(plan, Inputs.of(gold, {"pred": pred})).sharing_types()
    plan, inputs = task.plan, task.inputs
    with file_ranges.RangeCounter(plan, inputs, 2) as counter:
        part = counter.count("pred", inputs.systems["pred"])
    assert part is not None
    assert to_json(assemble(plan, {"pred": part})) == to_json(evaluate(plan, inputs))


def test_comparisons_by_level(tmp_path: Path) -> None:
    systems = {"a": corpus(PRED, 20), "b": corpus(GOLD, 20)}
    for keep in (True, False):
        found = ss.compare(corpus(GOLD, 20), systems, "exact", levels="pii,type", keep_spans=keep, permutations=50)
        assert found.measures == ["exact@pii", "exact@type"]
        gaps = {one.measure: one.difference for one in found.differences if one.number == "recall"}
        assert gaps == {"exact@pii": -0.25, "exact@type": -0.75}
        assert found.statuses("exact@type", "a", "b")["CITY", "fixed"] == 20
        assert found.statuses("exact@pii", "a", "b")["PII", "fixed"] == 20


def test_sweeps_by_level() -> None:
    found = ss.sweep(corpus(GOLD), {"pred": corpus(PRED, score=0.5)}, "exact", levels="pii,type")
    overall = {curve.name: curve.at(0.5).counts["tp"] for curve in found.curves if curve.type is None}
    assert overall == {"exact@pii": 3, "exact@type": 1}


def test_arrow_has_a_column_for_the_level() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(ss.score(corpus(GOLD), corpus(PRED), "exact", levels="pii,type"))
    assert set(table.column("level").to_pylist()) == {"pii", "type"}
    assert "level" not in pyarrow.table(ss.score(corpus(GOLD), corpus(PRED), "exact")).column_names


def test_an_unclear_name_lists_the_levels() -> None:
    result = ss.score(corpus(GOLD), corpus(PRED), "exact", levels="pii,type")
    with pytest.raises(ss.UsageError, match=r'\["exact@pii", "pred"\], \["exact@type", "pred"\]'):
        result["exact"]
    with pytest.raises(ss.UsageError, match="exact@type"):
        result["exact@raw"]
