"""People who come from other tools are told what their commands, options and measures are called here."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

import spanscore as ss
from calls import content, write
from spanscore.cli import cli
from spanscore.other_tools import COMMANDS, MEASURES, OPTIONS, Answer
from spanscore.report.page.examples import Examples

ANSWERS = {str(one): one for table in (COMMANDS, OPTIONS, MEASURES) for one in table.values()}


def documents(entity: str) -> list[dict[str, Any]]:
    spans = [
        {"start": 0, "end": 5, "label": "CITY", "attrs": {"kbid": entity}},
        {"start": 10, "end": 13, "label": "PERSON", "attrs": {"kbid": "NIL1"}},
    ]
    return [{"id": "d1", "text": "Paris saw Ann.", "spans": spans, "meta": {"sentences": 1}}]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """Files for the words in capitals of an answer."""
    for name, entity in (("GOLD", "Q90"), ("SYSTEM", "Q90"), ("PRED", "Q90"), ("OTHER", "Q830149")):
        write(tmp_path / name, documents(entity))
    (tmp_path / "HIERARCHY").write_text(json.dumps({"PER": ["ARTIST"]}))
    return {word: str(tmp_path / word) for word in ("GOLD", "SYSTEM", "PRED", "OTHER", "HIERARCHY", "OUT")}


PAGES = Path(__file__).parents[2] / "docs" / "how-to" / "coming-from"
SHOWN = [
    (page.stem, command)
    for page in sorted(PAGES.glob("*.md"))
    for command in re.findall(r"`(spanscore [^`]+)`", page.read_text())
]


def called(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def with_files(command: str, files: dict[str, str]) -> Result:
    """Call a command with files for its words in capitals."""
    program, *words = shlex.split(command)
    assert program == "spanscore"
    parts = (word.rpartition("=") for word in words)
    return called(*(f"{name}{equals}{files.get(place, place)}" for name, equals, place in parts))


def said(done: Result) -> str:
    """What the program says, without its line breaks."""
    error = "" if done.exception is None or isinstance(done.exception, SystemExit) else str(done.exception)
    return " ".join(f"{done.output} {error}".split())


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=str)
def test_every_answer_is_a_command_that_works(answer: Answer, files: dict[str, str]) -> None:
    done = with_files(answer.instead, files)
    assert done.exit_code == 0, said(done)


@pytest.mark.parametrize(("page", "command"), [one for one in SHOWN if "--detector" not in one[1]], ids=str)
def test_every_command_on_a_page_works(page: str, command: str, files: dict[str, str], tmp_path: Path) -> None:
    """Except `run` with a detector, which tests/pipeline calls."""
    (tmp_path / "EVAL").write_text("Ann B-PER B-PER\nwas O O\nhere O B-LOC\n")
    if page == "tab":
        mention = {
            "entity_type": "PERSON",
            "start_offset": 0,
            "end_offset": 3,
            "entity_id": "a",
            "identifier_type": "QUASI",
        }
        case = {"doc_id": "d", "text": "Ann", "annotations": {"one": {"entity_mentions": [mention]}}}
        (tmp_path / "GOLD").write_text(json.dumps([case]))
        (tmp_path / "PRED").write_text(json.dumps({"d": [[0, 3]]}))
    done = with_files(command, {**files, "EVAL": str(tmp_path / "EVAL")})
    assert done.exit_code == 0, said(done)


def test_every_page_shows_commands() -> None:
    assert {page for page, _ in SHOWN} == {page.stem for page in PAGES.glob("*.md")} - {"index"}
    assert len(SHOWN) > 30


@pytest.mark.parametrize("name", COMMANDS)
def test_commands(name: str) -> None:
    done = called(name, "-g", "gold.tsv", "pred.tsv")
    assert done.exit_code == 2
    assert COMMANDS[name].instead in said(done)


@pytest.mark.parametrize("name", OPTIONS)
def test_options(name: str) -> None:
    done = called("score", name, "gold.tsv", "pred.tsv")
    assert done.exit_code == 2
    assert OPTIONS[name].instead in said(done)


@pytest.mark.parametrize("name", MEASURES)
def test_measures(name: str, files: dict[str, str]) -> None:
    done = called("score", files["GOLD"], files["PRED"], "-m", name)
    assert done.exit_code != 0
    assert MEASURES[name].instead in said(done)


def test_a_typo_is_still_a_typo() -> None:
    assert "did you mean 'score'?" in said(called("scor"))
    assert "did you mean 'exact'?" in said(called("measures", "exakt"))


def test_entity_ids_make_linking_the_default(files: dict[str, str]) -> None:
    """Also if the gold data is streamed, and never without ids."""
    done = called("score", files["GOLD"], files["OTHER"])
    assert "strong_link_match" in done.output
    assert "iou" not in done.output
    gold = ss.Corpus.from_arrays(["d"], [0], [0], [4], ["CITY"])
    assert [repr(one.measure) for one in ss.score(gold, gold).scores] == ["iou", "exact"]
    linked = ss.score(files["GOLD"], files["OTHER"], keep_spans=False)
    assert {repr(one.measure): one.recall for one in linked.scores} == {
        "strong_typed_mention_match": 1.0,
        "strong_link_match": 0.0,
        "strong_nil_match": 1.0,
        "strong_all_match": 0.5,
    }
    compared = ss.compare(files["GOLD"], {"a": files["PRED"], "b": files["OTHER"]})
    assert "strong_link_match" in {repr(one.measure) for one in compared.result.scores}
    scored = [{**one, "spans": [{**span, "score": 0.5} for span in one["spans"]]} for one in documents("Q90")]
    swept = ss.sweep(files["GOLD"], ss.Corpus.from_documents(scored))
    assert "strong_link_match" in {repr(one.measure) for one in swept.curves}


@pytest.mark.parametrize("option", ["--no-text", "--mask"])
def test_files_without_text_have_no_ids(option: str, tmp_path: Path) -> None:
    write(tmp_path / "gold", documents("Q90-of-the-gold-data"))
    write(tmp_path / "pred", documents("Q830149-of-the-predictions"))
    call = ("score", str(tmp_path / "gold"), str(tmp_path / "pred"), "-m", "strong_link_match", "-o")
    for folder, options, shown in (("with", [], True), ("without", [option], False)):
        assert called(*call, str(tmp_path / folder), *options).exit_code == 0
        found = [content(path) for path in (tmp_path / folder).iterdir()]
        for entity in (b"Q90-of-the-gold-data", b"Q830149-of-the-predictions"):
            assert any(entity in one for one in found) == shown


def test_a_wrong_link_is_one_whatever_the_types() -> None:
    """The key of `strong_link_match` has no type; that of `strong_all_match` has none either, typed keys do."""
    places = [("CITY", "Q90"), ("PERSON", "Q830149")]
    gold, pred = (
        ss.Corpus.from_documents([{"id": "d", "spans": [{"start": 0, "end": 5, "label": a, "attrs": {"kbid": b}}]}])
        for a, b in places
    )
    for measure, verdict in (("strong_link_match", "wrong link"), ("sets::span+type+kbid", "missed")):
        error = next(ss.score(gold, pred, measure)[measure].errors())
        assert (error.verdict, error.side) == (verdict, "gold")
    links = list(ss.score(gold, pred, "strong_link_match")["strong_link_match"].errors())
    assert [one.verdict for one in links] == ["wrong link", "wrong link"]
    assert links[0].explanation == (
        "Gold CITY [0, 5) (Q90) was predicted with the same boundaries, but linked to Q830149, not to Q90 (IoU 1.00)."
    )


def test_errors_of_links_show_both_ids(files: dict[str, str], tmp_path: Path) -> None:
    assert called("score", files["GOLD"], files["OTHER"], "-m", "strong_link_match", "-o", files["OUT"]).exit_code == 0
    errors = [json.loads(line) for line in (tmp_path / "OUT" / "errors.jsonl").read_text().splitlines()]
    assert [(one["span"]["kbid"], one["counterpart"]["kbid"]) for one in errors] == [
        ("Q90", "Q830149"),
        ("Q830149", "Q90"),
    ]
    assert errors[0]["explanation"] == (
        "Gold CITY [0, 5) (Q90) was predicted with the same boundaries and type, but linked to Q830149, not to Q90 "
        "(IoU 1.00)."
    )
    scores = ss.score(files["GOLD"], files["OTHER"], "strong_link_match").scores[0]
    shown = Examples.of(scores).shown(np.zeros(1, np.int64), {"CITY": 0, "PERSON": 1})
    assert shown["why"][0] == errors[0]["explanation"]  # what the report shows
