"""What a run says about leaks: leaks.csv, metrics.json, the summary, and the speed of the detector."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

import spanscore as ss
from calls import spanscore, write
from spanscore.detectors import detector
from spanscore.report.summary import headline, page

DETECTOR = """
import re, time

def find(text, language):
    time.sleep(0.03 if "slow" in text else 0.001)
    return [{"start": m.start(), "end": m.end(), "label": "NAME", "score": 0.5} for m in re.finditer("Ann[a-z]*", text)]
"""
SECRET = "Zebulon"


def documents() -> list[dict[str, Any]]:
    found = []
    for number in range(20):
        text = f"{'slow ' if number == 7 else ''}Anna Lee and {SECRET if number < 12 else 'Bo'} met, =1+1"
        spans = [
            {"start": m.start(), "end": m.end(), "label": kind}
            for kind, what in (("PERSON", f"Anna Lee|{SECRET}|Bo"), ("<b>FORMULA", "=1[+]1"))
            for m in re.finditer(what, text)
        ]
        found.append({"id": f"doc-{number}", "text": text, "spans": spans, "meta": {"ward": "AB"[number % 2]}})
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("leaks")
    (made / "mine.py").write_text(DETECTOR)
    write(made / "data.jsonl", documents())
    call = ("run", "data.jsonl", "--detector", "python(function=mine:find)", "--by", "meta.ward", "-o", "out")
    spanscore(*call, cwd=made)
    return made


def read(folder: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "out" / name).read_text())
    return found


def test_every_leak_is_listed_the_most_frequent_string_first(folder: Path) -> None:
    with (folder / "out" / "leaks.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["text"], row["occurrences"]) for row in rows] == (
        [("Anna Lee", "20")] * 20 + [("'=1+1", "20")] * 20 + [(SECRET, "12")] * 12 + [("Bo", "8")] * 8
    )
    first = rows[0]
    assert (first["document"], first["start"], first["end"], first["gold_type"]) == ("doc-0", "0", "8", "PERSON")
    assert (first["verdict"], first["readable"], first["readable_text"]) == ("partly hidden", "5:8", "Lee")
    assert {row["verdict"] for row in rows[20:]} == {"exposed"}


def test_metrics_have_the_numbers_of_leak(folder: Path) -> None:
    leak = read(folder, "metrics.json")["details"]["leak"]
    scored = ss.score(folder / "data.jsonl", folder / "out" / "predictions.jsonl", "leak", by="meta.ward")["leak"]
    assert leak["counts"] == scored.counts
    assert leak["recall"] == scored.recall == 0
    of_types = {"predicted": None, "needless": None}  # predictions belong to no type
    assert {name: row["counts"] for name, row in leak["by_type"].items()} == {
        name: {**score.counts, **of_types} for name, score in scored.by_type.items()
    }
    assert {name: row["counts"] for name, row in leak["by"]["meta.ward"].items()} == {
        name: score.counts for name, score in scored.by("meta.ward").items()
    }
    assert leak["documents"]["affected"] == leak["documents"]["annotated"] == 20
    assert 0.8 < leak["interval"][0] < 1  # all of 20 documents: no certainty
    assert [row["measure"] for row in read(folder, "results.json")["results"] if row["type"] is None][-1] == "leak"


def test_a_run_is_split_by_properties_of_gold_spans_and_by_attributes_of_predictions(folder: Path) -> None:
    (folder / "marked.py").write_text(
        DETECTOR.replace('"score": 0.5', '"score": 0.5, "attrs": {"rule": "long" if len(m[0]) > 3 else "short"}')
    )
    by = ("--by", "span.words", "--by", "attr.rule")
    said = spanscore(
        "run", "data.jsonl", "--detector", "python(function=marked:find)", *by, "-o", "by", cwd=folder
    ).stdout
    assert "span.words: 2" in said
    assert "attr.rule: long" in said
    rows = json.loads((folder / "by" / "results.json").read_text())["results"]
    (row,) = [row for row in rows if row["measure"] == "leak" and row.get("by") == "attr.rule"]
    assert (row["precision"], row["recall"], row["counts"]) == (1, None, {"tp": 20, "predicted": 20, "fp": 0})
    leak = json.loads((folder / "by" / "metrics.json").read_text())["details"]["leak"]
    assert {name: part["readable"] for name, part in leak["by"]["span.words"].items()} == {"1": 40, "2": 20}
    assert list(leak["by"]) == ["span.words"]  # how much stays readable is no property of predictions
    assert "Slices by span.words" in (folder / "by" / "summary.html").read_text()


def test_the_summary_says_it_in_a_sentence_without_text(folder: Path) -> None:
    content = (folder / "out" / "summary.html").read_text()
    assert "60 of 60 private spans stay readable: 100% [" in content
    assert "20 of 20 documents with private spans are affected: 100% [83%, 100%]." in content
    assert "PERSON" in content
    assert "Slices by meta.ward" in content
    assert "&lt;b&gt;FORMULA" in content
    assert "<b>" not in content
    assert not re.search(f"Anna|Lee|{SECRET}|doc-", content)
    signature = next(line for line in read(folder, "run.json")["signatures"] if line.startswith("leak|"))
    assert signature in content
    (folder / "out" / "summary.html").unlink()
    spanscore("summary", "out", cwd=folder)
    assert (folder / "out" / "summary.html").read_text() == content


def test_bounds_that_are_not_certain_are_not_shown_as_0_or_100(folder: Path) -> None:
    metrics, about, results = (read(folder, name) for name in ("metrics.json", "run.json", "results.json"))
    leak = metrics["details"]["leak"]
    leak |= {"readable": 1, "readable_share": 1 / 5000, "interval": [0.00001, 0.9999]}
    leak["counts"] |= {"annotated": 5000}
    assert "1 of 5,000 private spans stays readable: 0.02% [0.001%, 99.99%]." in page(
        metrics, about, inputs=results["inputs"]
    )


def test_the_headline_is_a_sentence_whatever_it_counts() -> None:
    said = {
        counts: headline(
            {"readable": counts[0], "readable_share": 0.0, "interval": [0.0, 0.5], "counts": {"annotated": counts[1]}}
        ).split(" readable")[0]
        for counts in ((0, 1), (1, 1), (1, 2), (0, 2))
    }
    assert said == {
        (0, 1): "0 of 1 private span stays",
        (1, 1): "1 of 1 private span stays",
        (1, 2): "1 of 2 private spans stays",
        (0, 2): "0 of 2 private spans stay",
    }


def test_a_folder_without_a_run_has_no_summary(tmp_path: Path) -> None:
    assert "give the folder of spanscore run" in spanscore("summary", ".", cwd=tmp_path, code=2).stderr
    for name in ("metrics.json", "run.json", "results.json"):
        (tmp_path / name).write_text("{}")
    assert "run it again with this version" in spanscore("summary", ".", cwd=tmp_path, code=2).stderr


def test_the_speed_of_the_detector_is_on_record_and_can_be_gated(folder: Path) -> None:
    latency = read(folder, "run.json")["latency"]
    assert latency["documents"] == 20
    assert 0.001 <= latency["p50"] < latency["p99"]
    assert latency["p99"] >= 0.02
    assert latency["characters_per_second"] > 0
    assert "characters/s" in (folder / "out" / "summary.html").read_text()
    limits = ("--max", "latency.p95=60", "--max", "latency:p50=60", "--min", "latency.characters_per_second=1")
    assert spanscore("gate", "out", *limits, cwd=folder).stdout.count("pass") == 3
    assert "FAIL  latency p99" in spanscore("gate", "out", "--max", "latency.p99=0.001", cwd=folder, code=1).stdout
    for wrong, words in (
        ("latency.p97=1", "There is no latency 'p97'"),
        ("latency:p97=1", "There is no latency 'p97'"),
        ("latency.p95=fast", "write --max latency.p95=0.2"),
        ("latency.characters_per_second=3", "write --min latency.characters_per_second=1000"),
    ):
        assert words in spanscore("gate", "out", "--max", wrong, cwd=folder, code=2).stderr
    assert "leak all exposed" in spanscore("gate", "out", "--max", "leak.exposed=0", cwd=folder, code=1).stdout
    spanscore("gate", "out", "--min", "PERSON:precision=0", cwd=folder)  # the rows of leak have none, and are left out


def test_a_resumed_run_keeps_its_speed_until_something_is_detected_anew(folder: Path) -> None:
    call = ("run", "data.jsonl", "--detector", "python(function=mine:find)", "--resume", "-o", "resumed", "-q")
    spanscore(*call, cwd=folder)
    made = folder / "resumed"
    before = json.loads((made / "run.json").read_text())
    assert (before["documents"], before["documents_detected_now"]) == (20, 20)
    for _ in range(2):
        spanscore(*call, cwd=folder)
        after = json.loads((made / "run.json").read_text())
        assert after["documents_detected_now"] == 0
        assert after["latency"] == before["latency"]
        assert "pass" in spanscore("gate", "resumed", "--max", "latency.p95=60", cwd=folder).stdout
    assert " documents)" not in (made / "summary.html").read_text()
    lines = (made / "predictions.jsonl").read_text().splitlines(keepends=True)
    (made / "predictions.jsonl").write_text("".join(lines[:15]))
    spanscore(*call, cwd=folder)
    assert json.loads((made / "run.json").read_text())["latency"]["documents"] == 5
    assert "characters/s (of 5 of 20 documents)" in (made / "summary.html").read_text()


def test_replayed_predictions_have_no_speed(folder: Path) -> None:
    call = ("run", "data.jsonl", "--detector", "replay(file=out/predictions.jsonl)", "-o", "again")
    spanscore(*call, cwd=folder)
    assert json.loads((folder / "again" / "run.json").read_text())["latency"] is None
    assert "it ran no detector" in spanscore("gate", "again", "--max", "latency.p95=1", cwd=folder, code=2).stderr


def test_time_is_that_of_the_detector_not_of_its_neighbours() -> None:
    """A detector that reads ahead answers one document after the other; a document waits for no other one."""
    clock = iter(range(100))

    class Slow(type(detector("python", function=len))):  # type: ignore[misc]
        def detect(self, documents: Any) -> Any:
            for _ in list(documents):
                yield []

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("spanscore.detectors.interface.perf_counter", lambda: next(clock))
        assert [seconds for _, seconds in Slow(function=len).timed([None] * 3)] == [3, 1, 1]


def test_an_unscored_prediction_that_another_one_replaced_still_masks(tmp_path: Path) -> None:
    """Threshold curves need the scores of all predictions that count, and leak counts those that overlap, too."""
    spans = [{"start": 0, "end": 3, "label": "PERSON"}, {"start": 0, "end": 3, "label": "PLACE", "score": 0.5}]
    write(tmp_path / "gold.jsonl", [{"id": "a", "text": "Ann is here", "spans": spans[:1]}])
    write(tmp_path / "pred.jsonl", [{"id": "a", "spans": spans}])
    spanscore("score", "gold.jsonl", "pred.jsonl", "-m", "leak", "--resolve", "score", "-o", "scored", cwd=tmp_path)
    call = ("run", "gold.jsonl", "--detector", "replay(file=pred.jsonl)", "--allow-missing-mappings", "-o", "out")
    spanscore(*call, cwd=tmp_path)
    assert (tmp_path / "out" / "report.html").exists()


def test_invented_mentions_are_not_shown_as_text_of_the_document(tmp_path: Path) -> None:
    gold = {"id": "a", "text": "Ann met Bob", "spans": [{"start": 0, "end": 3, "label": "PERSON"}]}
    write(tmp_path / "gold.jsonl", [gold])
    write(tmp_path / "pred.jsonl", [{"id": "a", "entities": [{"text": "Zorro", "type": "PERSON"}]}])
    spanscore("run", "gold.jsonl", "--detector", "replay(file=pred.jsonl, format=llm)", "-o", "out", cwd=tmp_path)
    with (tmp_path / "out" / "false_negatives.csv").open(newline="") as file:
        assert [row["context"] for row in csv.DictReader(file)] == ["[Ann] met Bob"]


def test_a_run_prints_what_score_prints_below_the_table(folder: Path) -> None:
    call = ("run", "data.jsonl", "--detector", "python(function=mine:find)", "--by", "span.words", "--ci", "0.95", "-q")
    said = spanscore(*call, "-o", "below", cwd=folder).stdout
    assert re.search(r"leak, span.words: recall is equal in all groups \(95% interval .*\)\n", said)
    assert "recall falls by" not in said
    lines = [line for line in said.splitlines() if "recall is equal" in line or "bound on spans" in line]
    again = spanscore("score", "data.jsonl", "below", "--by", "span.words", "--ci", "0.95", "-q", cwd=folder).stdout
    listed = [line for line in again.splitlines() if "recall is equal" in line or "bound on spans" in line]
    assert [line.partition(", ")[2] for line in lines] == [line.partition(", ")[2] for line in listed]


def test_the_summary_names_files_of_splits_without_their_folder(folder: Path) -> None:
    (folder / "origin.tsv").write_text("Anna Lee\tone\nBo\ttwo\n")
    split = ("--by", f"lexicon:{folder}/origin.tsv")
    spanscore("run", "data.jsonl", "--detector", "python(function=mine:find)", *split, "-o", "named", "-q", cwd=folder)
    page = (folder / "named" / "summary.html").read_text()
    assert "Slices by lexicon:origin.tsv" in page
    assert str(folder) not in page
