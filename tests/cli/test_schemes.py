"""The schemes through the command line: neleval's example, slices, weights, tables, --resolve."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from calls import run


def results(*arguments: str, cwd: Path, averages: bool = False) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run("score", *arguments, "--json", "-", "-q", cwd=cwd)[0])["results"]
    return [row for row in found if averages or "average" not in row]


@pytest.fixture
def lorehlt(tmp_path: Path) -> Path:
    (tmp_path / "gold.tsv").write_text("doc\t1\t10\ndoc\t12\t12\n")
    (tmp_path / "sys.tsv").write_text("doc\t1\t5\ndoc\t6\t12\n")
    return tmp_path


def test_the_published_example_of_neleval(lorehlt: Path) -> None:
    aggregates = ("overlap-maxmax", "overlap-maxsum", "overlap-summax", "overlap-sumsum", "sets")
    named = [part for one in aggregates for part in ("-m", f"{one}::span")]
    found = results("gold.tsv", "sys.tsv", *named, cwd=lorehlt)
    table = {
        row["measure"]: [*(round(n, 3) for n in row["counts"].values()), row["precision"], row["recall"], row["f"]]
        for row in found
    }
    shown = {name: [None if n is None else round(n, 3) for n in row] for name, row in table.items()}
    assert shown == {
        "overlap-maxmax::span": [1.714, 0.286, 1.5, 0.5, 0.857, 0.75, 0.8],
        "overlap-maxsum::span": [1.857, 0.143, 1.5, 0.5, 0.929, 0.75, 0.83],
        "overlap-summax::span": [1.714, 0.286, 2.0, 0.0, 0.857, 1.0, 0.923],
        "overlap-sumsum::span": [1.857, 0.143, 2.0, 0.0, 0.929, 1.0, 0.963],
        "sets::span": [0, 2, 0, 2, 0.0, 0.0, 0.0],
    }
    assert list(found[0]["counts"]) == ["ptp", "fp", "rtp", "fn"]


def test_overlapping_mentions_are_refused_by_name_and_settled_by_resolve(tmp_path: Path) -> None:
    (tmp_path / "g.tsv").write_text("doc\t0\t9\tQ1\t0.5\tPER\ndoc\t5\t20\tQ2\t0.9\tORG\n")
    (tmp_path / "s.tsv").write_text("doc\t0\t9\tQ1\t0.5\tPER\n")
    call = ("score", "g.tsv", "s.tsv", "-m", "overlap-maxmax::span")
    _, said = run(*call, cwd=tmp_path, code=2)
    assert said.endswith(
        'g.tsv: document "doc": PER [0, 10) and ORG [5, 21) overlap, which overlap-maxmax::span does not allow; '
        "give --resolve score or longest.\n"
    )
    run("score", "g.tsv", "s.tsv", "-m", "overlap-maxmax::span+type", cwd=tmp_path)
    by_score = results(*call[1:], "--resolve", "score", cwd=tmp_path)[0]
    assert by_score["recall"] == pytest.approx(5 / 16)
    assert "|resolve:score|" in by_score["signature"]
    exact = results("g.tsv", "s.tsv", "-m", "exact", "--resolve", "longest", cwd=tmp_path)[0]
    assert exact["counts"] == {"tp": 0, "predicted": 1, "annotated": 1, "fp": 1, "fn": 1}
    _, said = run(*call, "--resolve", "longest", cwd=tmp_path)
    assert "gold: --resolve dropped 1 span that overlaps a longer one." in said


def test_one_mention_of_two_entities_is_refused_by_clusterings(tmp_path: Path) -> None:
    (tmp_path / "g.tsv").write_text("doc\t0\t9\tQ1\t0.5\tPER\ndoc\t0\t9\tQ2\t0.9\tPER\n")
    _, said = run("score", "g.tsv", "g.tsv", "-m", "b_cubed", cwd=tmp_path, code=2)
    assert "PER [0, 10) and PER [0, 10) are one mention by the key span, but of two entities" in said
    assert results("g.tsv", "g.tsv", "-m", "strong_all_match", cwd=tmp_path)[0]["counts"]["ptp"] == 2
    assert results("g.tsv", "g.tsv", "-m", "b_cubed", "--resolve", "score", cwd=tmp_path)[0]["f"] == 1


@pytest.fixture
def languages(tmp_path: Path) -> Path:
    def line(name: str, language: str | None, *spans: tuple[int, int, str]) -> str:
        listed = [{"start": a, "end": b, "label": label} for a, b, label in spans]
        return json.dumps({"id": name, "spans": listed, "meta": {} if language is None else {"language": language}})

    gold = [
        line("1", "en", (0, 4, "A"), (9, 12, "B")),
        line("2", "de", (0, 4, "A")),
        line("3", None, (0, 4, "=B")),
    ]
    pred = [line("1", None, (0, 4, "A"), (9, 12, "A")), line("2", None), line("3", None, (0, 4, "=B"))]
    (tmp_path / "gold.jsonl").write_text("\n".join(gold) + "\n")
    (tmp_path / "pred.jsonl").write_text("\n".join(pred) + "\n")
    return tmp_path


def test_slices_by_metadata(languages: Path) -> None:
    call = ("gold.jsonl", "pred.jsonl", "-m", "exact", "-m", "b_cubed", "--by", "meta.language")
    found = results(*call, cwd=languages, averages=True)
    exact = {
        row.get("average") or row.get("slice"): row
        for row in found
        if row["measure"] == "exact" and row["type"] is None and not ("average" in row and "by" not in row)
    }
    assert {name: (row["precision"], row["recall"]) for name, row in exact.items()} == {
        None: (2 / 3, 0.5),
        "(none)": (1.0, 1.0),
        "de": (None, 0.0),
        "en": (0.5, 0.5),
        "micro": (2 / 3, 0.5),
        "macro": (0.5, 0.5),
        "weighted": (0.5, 0.5),
    }
    assert exact["macro"]["undefined"] == {"precision": 1, "recall": 0}
    assert exact["de"]["by"] == "meta.language"
    assert "by" not in exact[None]
    clusters = {row.get("slice"): row["recall"] for row in found if row["measure"] == "b_cubed"}
    assert clusters["en"] == 1.0


def test_slices_by_document_and_type_in_every_format(languages: Path) -> None:
    call = ("score", "gold.jsonl", "pred.jsonl", "-m", "sets::span", "--by", "document", "--by", "type", "-q")
    rows = list(csv.DictReader(io.StringIO(run(*call, "--format", "csv", cwd=languages)[0])))
    assert [row["slice"] for row in rows] == [
        *("", "1", "2", "3", "", "", ""),
        *("'=B", "A", "B", "", "", ""),
    ]
    assert [row["average"] for row in rows if row["average"]] == ["micro", "macro", "weighted"] * 2
    by_type = {row["slice"]: row["recall"] for row in rows if row["by"] == "type"}
    assert by_type["A"] == "0.5"
    assert "document: <macro>" in run(*call, cwd=languages)[0]
    head = "| system | measure | type | by | slice | average |"
    assert run(*call, "--format", "markdown", cwd=languages)[0].startswith(head)


def test_types_are_printed_once(languages: Path) -> None:
    call = ("score", "gold.jsonl", "pred.jsonl", "-m", "exact", "--by", "type", "-q")
    kinds = [line.split()[0] for line in run(*call, cwd=languages)[0].splitlines()[3:]]
    assert kinds == ["=B", "A", "B", "<micro>", "<macro>", "<weighted>"]


def test_what_scores_cannot_be_split_by_is_told(languages: Path) -> None:
    call = ("score", "gold.jsonl", "pred.jsonl", "-m", "exact", "--by")
    assert "use type, document, meta.KEY, attr.KEY" in run(*call, "colour", cwd=languages, code=2)[1]
    assert "There is no metadata field 'tongue'" in run(*call, "meta.tongue", cwd=languages, code=2)[1]


def test_weights_of_types_and_entities(tmp_path: Path) -> None:
    (tmp_path / "types.json").write_text('{"agent": ["person"], "person": ["player"]}')
    table, _ = run("weights", "types.json", "--decay", "0.5", cwd=tmp_path)
    assert table == "person\tagent\t0.5\nplayer\tperson\t0.5\nplayer\tagent\t0.25\n"
    (tmp_path / "types.tsv").write_text(table)
    (tmp_path / "kb.tsv").write_text("Q1\tQ2\t0.5\n")
    (tmp_path / "g.tsv").write_text("doc\t0\t9\tQ1\t1\tplayer\n")
    (tmp_path / "s.tsv").write_text("doc\t0\t4\tQ2\t1\tagent\n")
    both = ("--type-weights", "types.tsv", "--kb-weights", "kb.tsv")
    overlap = results("g.tsv", "s.tsv", "-m", "overlap-maxmax::span+type+kbid", *both, cwd=tmp_path)
    assert (overlap[0]["recall"], overlap[0]["precision"]) == (0.0625, 0.125)
    assert "type_weights=@types.tsv" in overlap[0]["measure"]
    assert overlap[0]["signature"].count("#") == 2
    by_type = {row["type"]: row["counts"] for row in overlap[1:]}
    assert by_type == {
        "agent": {"ptp": 0.125, "fp": 0.875, "rtp": 0.0, "fn": 0.0},
        "player": {"ptp": 0.0, "fp": 0.0, "rtp": 0.0625, "fn": 0.9375},
    }
    said = run("score", "g.tsv", "s.tsv", "-m", "exact", "--type-weights", "types.tsv", cwd=tmp_path, code=2)[1]
    assert "none of the measures takes --type-weights" in said


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("a\tb\n", "types.tsv:1: expected three columns"),
        ("a\tb\t0.5\na\tb\tmuch\n", "types.tsv:2: the weight 'much' is not a number from 0 to 1"),
        ("a\tb\t-1\n", "is not a number from 0 to 1"),
        ("a\tb\tnan\n", "is not a number from 0 to 1"),
        (None, "types.tsv: the table of weights cannot be read"),
    ],
)
def test_wrong_tables_of_weights(table: str | None, words: str, lorehlt: Path) -> None:
    if table is not None:
        (lorehlt / "types.tsv").write_text(table)
    call = ("score", "gold.tsv", "sys.tsv", "-m", "sets::span+type", "--type-weights", "types.tsv")
    assert words in run(*call, cwd=lorehlt, code=2)[1]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ('{"a": ["b"], "b": ["a"]}', "the type 'b' is its own ancestor"),
        ("[1]", "expected a JSON object"),
        ('{"a": "b"}', "expected a JSON object"),
        ("{", "is not a JSON object"),
    ],
)
def test_wrong_hierarchies(said: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "types.json").write_text(said)
    assert words in run("weights", "types.json", cwd=tmp_path, code=2)[1]
    assert "between 0 and 1" in run("weights", "types.json", "--decay", "2", cwd=tmp_path, code=2)[1]


def test_the_hipaa_table_can_be_replaced(tmp_path: Path) -> None:
    def note(kind: str) -> str:
        spans = [{"start": 0, "end": 4, "label": "LOCATION", "attrs": {"locationType": kind}}]
        return json.dumps({"id": "1", "spans": spans}) + "\n"

    (tmp_path / "gold.jsonl").write_text(note("organization"))
    (tmp_path / "pred.jsonl").write_text(note("hospital"))
    (tmp_path / "phi.tsv").write_text("HOSPITAL\tyes\nORGANIZATION\tyes\n")
    call = ("gold.jsonl", "pred.jsonl", "-m", "sandbox.hipaa")
    assert results(*call, cwd=tmp_path)[0]["recall"] == 0
    assert results(*call, "--hipaa-table", "phi.tsv", cwd=tmp_path)[0]["recall"] == 1
    (tmp_path / "phi.tsv").write_text("HOSPITAL\tperhaps\n")
    said = run("score", *call, "--hipaa-table", "phi.tsv", cwd=tmp_path, code=2)[1]
    assert "phi.tsv:1: expected an address type, a tab, and yes or no" in said


def test_names_groups_and_keys(lorehlt: Path) -> None:
    found = results("gold.tsv", "sys.tsv", "-m", "tac14", "-m", "muc", cwd=lorehlt)
    assert [row["measure"] for row in found if row["type"] is None] == [
        "strong_link_match", "strong_nil_match", "strong_all_match", "b_cubed", "b_cubed_plus", "strong_mention_match",
        "strong_typed_mention_match", "strong_typed_all_match", "mention_ceaf", "typed_mention_ceaf", "muc",
    ]  # fmt: skip
    call = ("score", "gold.tsv", "sys.tsv", "-m")
    assert "There is no attribute of spans 'colour'" in run(*call, "sets::span+colour", cwd=lorehlt, code=2)[1]
    assert "filter=is_odd is not valid" in run(*call, "sets:is_odd:span", cwd=lorehlt, code=2)[1]
    assert "must include the span" in run(*call, "overlap-maxmax::type", cwd=lorehlt, code=2)[1]
    assert "stands for sets:none:span" in run(*call, "strong_mention_match(key=type)", cwd=lorehlt, code=2)[1]
    assert "has an empty field" in run(*call, "sets::span+", cwd=lorehlt, code=2)[1]


def test_an_attribute_that_only_some_chunks_have_is_no_mistake(tmp_path: Path) -> None:
    lines = []
    for number in range(60_000):
        attrs = {"attrs": {"how": "NAM"}} if number == 59_999 else {}
        lines.append(json.dumps({"id": str(number), "spans": [{"start": 0, "end": 9, "label": "PERSON", **attrs}]}))
    (tmp_path / "gold.jsonl").write_text("\n".join(lines) + "\n")
    counts = results("gold.jsonl", "gold.jsonl", "-m", "sets::span+how", cwd=tmp_path)[0]["counts"]
    assert counts == {"ptp": 60_000, "fp": 0, "rtp": 60_000, "fn": 0}


def test_weights_of_entities_where_some_mentions_have_none(tmp_path: Path) -> None:
    (tmp_path / "g.tsv").write_text("d\t0\t2\tE1\t1\tA\nd\t8\t9\nd\t15\t18\tNIL1\t1\tA\n")
    (tmp_path / "s.tsv").write_text("d\t0\t2\nd\t8\t9\nd\t15\t18\tNIL2\t1\tB\n")
    (tmp_path / "kb.tsv").write_text("E9\tE8\t0.5\n")
    for name in ("sets::span+kbid", "overlap-maxmax::span+kbid"):
        plain = results("g.tsv", "s.tsv", "-m", name, cwd=tmp_path)[0]
        weighed = results("g.tsv", "s.tsv", "-m", name, "--kb-weights", "kb.tsv", cwd=tmp_path)[0]
        assert weighed["counts"] == plain["counts"] == {"ptp": 2, "fp": 1, "rtp": 2, "fn": 1}


def test_slices_named_like_averages_keep_their_rows(tmp_path: Path) -> None:
    lines = [json.dumps({"id": name, "spans": [{"start": 0, "end": 2, "label": name}]}) for name in ("<micro>", "z")]
    (tmp_path / "g.jsonl").write_text("\n".join(lines) + "\n")
    found = results("g.jsonl", "g.jsonl", "-m", "exact", "--by", "document", cwd=tmp_path, averages=True)
    rows = [(row.get("slice"), row.get("average")) for row in found if "by" in row]
    assert rows == [("<micro>", None), ("z", None), (None, "micro"), (None, "macro"), (None, "weighted")]


def test_a_wrong_split_writes_nothing(languages: Path) -> None:
    run("score", "gold.jsonl", "pred.jsonl", "-o", "out", "--by", "bogus", cwd=languages, code=2)
    assert not (languages / "out").exists()


def test_tables_called_file_are_files(lorehlt: Path) -> None:
    (lorehlt / "file").write_text("a\tb\t0.5\n")
    results("gold.tsv", "sys.tsv", "-m", "sets::span+type", "--type-weights", "file", cwd=lorehlt)
    said = run("score", "gold.tsv", "sys.tsv", "-m", "sets::span", "--type-weights", "file", cwd=lorehlt, code=2)[1]
    assert "needs type in the key" in said


@pytest.mark.parametrize("said", ['{"a": ["\\ud800"]}', '{"a": ["b\\u2028"]}', '{"a": ["b"], "a": ["c"]}'])
def test_names_that_no_table_can_hold(said: str, tmp_path: Path) -> None:
    (tmp_path / "types.json").write_text(said)
    assert run("weights", "types.json", cwd=tmp_path, code=2)[1].startswith("spanscore: types.json: ")
