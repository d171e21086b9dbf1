from __future__ import annotations

import csv
import io
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from calls import fork

GOLD = [
    {
        "id": "d1",
        "text": "Ann Lee of Acme met Bob",
        "spans": [
            {"start": 0, "end": 7, "label": "PERSON"},
            {"start": 11, "end": 15, "label": "ORG"},
            {"start": 20, "end": 23, "label": "PERSON"},
        ],
    },
    {"id": "d2", "text": "Oslo", "spans": [{"start": 0, "end": 4, "label": "CITY"}]},
]
PRED = [
    {
        "id": "d1",
        "spans": [
            {"start": 11, "end": 15, "label": "PERSON", "score": 0.4},
            {"start": 0, "end": 7, "label": "PERSON", "score": 0.9},
        ],
    }
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, records in (("gold", GOLD), ("pred", PRED)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return tmp_path


def run(
    *arguments: str, cwd: Path, stdin: bytes = b"", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    done = fork(arguments, cwd, stdin=stdin, env=env)
    assert done.returncode == 0, done.stderr.decode()
    return done


def test_json_alone_on_stdout(folder: Path) -> None:
    done = run(
        "score",
        "gold.jsonl",
        "pred.jsonl",
        "-m",
        "iou",
        "-m",
        "exact",
        "--json",
        "-",
        "--beta",
        "2",
        cwd=folder,
    )
    said = json.loads(done.stdout)
    assert said["schema"] == "spanscore.results/1"
    assert list(said) == ["schema", "version", "inputs", "settings", "warnings", "results"]
    overall = said["results"][0]
    assert list(overall) == [
        "system",
        "measure",
        "type",
        "precision",
        "recall",
        "f",
        "beta",
        "counts",
        "signature",
    ]
    assert (overall["system"], overall["measure"], overall["type"]) == ("pred", "iou", None)
    assert (overall["precision"], overall["recall"], overall["beta"]) == (0.5, 0.25, 2.0)
    assert overall["counts"] == {"tp": 1, "predicted": 2, "annotated": 4, "fp": 1, "fn": 3}
    types = [row["type"] for row in said["results"] if row["measure"] == "iou" and "average" not in row]
    assert types == [None, "CITY", "ORG", "PERSON"]
    city = next(row for row in said["results"] if row["type"] == "CITY")
    assert (city["precision"], city["recall"], city["f"]) == (None, 0.0, 0.0)
    assert said["warnings"] == ["pred: 1 gold document without output; its spans count as missed."]
    assert "warning: pred: 1 gold document" in done.stderr.decode()
    assert "Ann" not in done.stderr.decode()


def test_the_same_inputs_give_the_same_bytes_in_any_order(folder: Path) -> None:
    (folder / "shuffled.jsonl").write_text("".join(json.dumps(record) + "\n" for record in reversed(GOLD)))
    first, second = (run("score", "gold.jsonl", "pred.jsonl", "--json", "-", cwd=folder).stdout for _ in range(2))
    assert first == second
    other = run("score", "shuffled.jsonl", "pred.jsonl", "--json", "-", cwd=folder).stdout
    assert json.loads(other)["results"] == json.loads(first)["results"]


def test_output_folder(folder: Path) -> None:
    run("score", "gold.jsonl", "pred.jsonl", "-o", "out", "--json", "out.json", cwd=folder)
    assert sorted(path.name for path in (folder / "out").iterdir()) == ["errors.jsonl", "report.html", "results.json"]
    assert (folder / "out" / "results.json").read_bytes() == (folder / "out.json").read_bytes()
    errors = [json.loads(line) for line in (folder / "out" / "errors.jsonl").read_text().splitlines()]
    verdicts = {(e["measure"], e["side"], e["verdict"]) for e in errors}
    assert ("iou", "gold", "wrong type") in verdicts
    assert ("exact", "gold", "missed") in verdicts
    wrong = next(e for e in errors if e["side"] == "predicted" and e["verdict"] == "wrong type")
    assert wrong["span"] == {"start": 11, "end": 15, "label": "PERSON", "score": 0.4}
    assert wrong["text"] == "Acme"
    run("score", "gold.jsonl", "pred.jsonl", "-o", "out", "--no-text", cwd=folder)
    assert "Acme" not in (folder / "out" / "errors.jsonl").read_text()


def test_whole_and_in_chunks_are_the_same(folder: Path) -> None:
    whole = run("score", "gold.jsonl", "pred.jsonl", "-o", "out", "--json", "-", cwd=folder).stdout
    assert whole == run("score", "gold.jsonl", "pred.jsonl", "--json", "-", cwd=folder).stdout


def test_tables(folder: Path) -> None:
    table = run("score", "gold.jsonl", "pred.jsonl", "-m", "iou", cwd=folder).stdout.decode()
    assert "\x1b" not in table
    assert "–" in table
    markdown = run("score", "gold.jsonl", "pred.jsonl", "--format", "markdown", cwd=folder).stdout.decode()
    assert markdown.splitlines()[0].startswith("| system | measure | type | precision | recall | f1 |")
    for name, delimiter in (("csv", ","), ("tsv", "\t")):
        out = run("score", "gold.jsonl", "pred.jsonl", "--format", name, cwd=folder).stdout.decode()
        rows = list(csv.DictReader(io.StringIO(out), delimiter=delimiter))
        assert rows[0]["type"] == ""
        assert float(rows[0]["recall"]) == 0.25
        assert rows[1]["precision"] == ""


@pytest.mark.parametrize(
    ("columns", "has", "lacks"), [("120", "annotated", "zzz"), ("52", "tp", "annotated"), ("40", "F1", "tp")]
)
def test_the_table_fits_the_terminal(columns: str, has: str, lacks: str, folder: Path) -> None:
    environment = {"COLUMNS": columns, "FORCE_COLOR": "1", "TERM": "xterm"}
    out = run("score", "gold.jsonl", "pred.jsonl", "-m", "iou", cwd=folder, env=environment).stdout.decode()
    assert "\x1b[1m" in out
    assert has in out
    assert lacks not in out
    assert all(len(line.replace("\x1b[1m", "").replace("\x1b[0m", "")) <= int(columns) for line in out.splitlines())
    plain = run(
        "score", "gold.jsonl", "pred.jsonl", "-m", "iou", cwd=folder, env={**environment, "NO_COLOR": "1"}
    ).stdout.decode()
    assert "\x1b" not in plain


def test_hostile_labels_stay_text(folder: Path) -> None:
    label = "=cmd|'/c calc'!A1[red]\x1b[31m|x"
    hostile = [{"id": "d1", "spans": [{"start": 0, "end": 1, "label": label}]}]
    (folder / "evil.jsonl").write_text("".join(json.dumps(record) + "\n" for record in hostile))
    out = run("score", "evil.jsonl", "evil.jsonl", "-m", "exact", "--format", "csv", cwd=folder).stdout.decode()
    assert list(csv.reader(io.StringIO(out)))[2][2].startswith("'=")
    table = run("score", "evil.jsonl", "evil.jsonl", "-m", "exact", cwd=folder).stdout.decode()
    assert "\x1b" not in table
    assert "[red]" in table
    markdown = run(
        "score", "evil.jsonl", "evil.jsonl", "-m", "exact", "--format", "markdown", cwd=folder
    ).stdout.decode()
    assert markdown.splitlines()[3].replace("\\|", "").count("|") == 12


def test_stdin_names_maps_and_signature(folder: Path) -> None:
    (folder / "map.txt").write_text("# merge\nORG: null\nCITY: PLACE\n")
    stdin = (folder / "pred.jsonl").read_bytes()
    done = run(
        "score",
        "gold.jsonl",
        "mine=-",
        "-m",
        "exact",
        "--map",
        "map.txt",
        "--signature",
        cwd=folder,
        stdin=stdin,
    )
    out = done.stdout.decode()
    assert "PLACE" in out
    assert "ORG" not in out
    assert "mine: exact|beta:1|map:" in out
    assert "gold: 1 span labelled ORG was left out by the label map." in done.stderr.decode()
    quiet = run("score", "gold.jsonl", "pred.jsonl", "-q", cwd=folder)
    assert quiet.stderr == b""


def test_several_systems(folder: Path) -> None:
    said: dict[str, Any] = json.loads(
        run("score", "gold.jsonl", "a=pred.jsonl", "b=gold.jsonl", "-m", "exact", "--json", "-", cwd=folder).stdout
    )
    recalls = {row["system"]: row["recall"] for row in said["results"] if row["type"] is None}
    assert recalls == {"a": 0.25, "b": 1.0}


@pytest.mark.parametrize(("extra", "predicted"), [("ignore", 2), ("score", 3)])
def test_extra_documents(extra: str, predicted: int, folder: Path) -> None:
    with (folder / "pred.jsonl").open("a") as file:
        file.write(json.dumps({"id": "d9", "spans": [{"start": 0, "end": 1, "label": "PERSON"}]}) + "\n")
    out = run(
        "score",
        "gold.jsonl",
        "pred.jsonl",
        "-m",
        "exact",
        "--json",
        "-",
        "--extra-documents",
        extra,
        cwd=folder,
    ).stdout
    assert json.loads(out)["results"][0]["counts"]["predicted"] == predicted


def test_measures_are_listed_and_explained(folder: Path) -> None:
    assert run("measures", cwd=folder).stdout.decode().splitlines()[0].startswith("b_cubed ")
    explained = run("measures", "iou(threshold=0.5)", cwd=folder).stdout.decode()
    for word in ("P = tp / predicted", "threshold=0.9", "from 0 to 1", ">>> "):
        assert word in explained


def test_check_convert_and_completion(folder: Path) -> None:
    said = run("check", "gold.jsonl", "pred.jsonl", cwd=folder).stdout.decode()
    assert "2 documents, 2 with text; 4 spans" in said
    (folder / "a.tsv").write_text("d\t0\t3\tQ1\t0.5\tPER\n")
    run("convert", "a.tsv", "a.jsonl", cwd=folder)
    line = json.loads((folder / "a.jsonl").read_text())
    assert line["spans"] == [{"start": 0, "end": 4, "label": "PER", "score": 0.5, "attrs": {"kbid": "Q1"}}]
    assert run("convert", "a.tsv", "-", cwd=folder).stdout == (folder / "a.jsonl").read_bytes()
    assert "_SPANSCORE_COMPLETE" in run("completion", "bash", cwd=folder).stdout.decode()
    assert run("--version", cwd=folder).stdout.decode().startswith("spanscore, version 0.1.0")


@pytest.mark.parametrize("where", [0, 1, 2])
@pytest.mark.parametrize("extra", ["ignore", "score"])
def test_an_extra_document_anywhere(where: int, extra: str, folder: Path) -> None:
    lines = [*PRED, {"id": "d2", "spans": []}]
    lines.insert(where, {"id": "d9", "spans": [{"start": 0, "end": 1, "label": "PERSON"}]})
    (folder / "pred.jsonl").write_text("".join(json.dumps(record) + "\n" for record in lines))
    call = ("score", "gold.jsonl", "pred.jsonl", "--json", "-", "--extra-documents", extra)
    in_chunks, whole = run(*call, cwd=folder).stdout, run(*call, "-o", "out", cwd=folder).stdout
    assert in_chunks == whole
    assert json.loads(whole)["results"][0]["counts"]["predicted"] == 2 + (extra == "score")


def test_what_is_converted_can_be_read(folder: Path) -> None:
    (folder / "p.json").write_text(json.dumps([{"full_text": "Ann", "spans": []}]))
    run("convert", "p.json", "p.jsonl", cwd=folder)
    assert "1 document, 1 with text; 0 spans" in run("check", "p.jsonl", cwd=folder).stdout.decode()
    before = (folder / "gold.jsonl").read_text()
    run("convert", "gold.jsonl", "gold.jsonl", cwd=folder)
    lines = [json.loads(line) for line in (folder / "gold.jsonl").read_text().splitlines()]
    assert lines == [json.loads(line) for line in before.splitlines()]


def test_convert_reports_what_the_reader_left_out(folder: Path) -> None:
    answers = [{"text": "Ann", "spans": [], "answer": "accept"}, {"text": "Bob", "spans": [], "answer": "reject"}]
    (folder / "p.jsonl").write_bytes(b"\xef\xbb\xbf" + b"".join(json.dumps(one).encode() + b"\n" for one in answers))
    for target in ("out.jsonl", "-"):
        said = run("convert", "p.jsonl", target, cwd=folder).stderr.decode()
        assert "warning: p.jsonl: removed the byte order mark." in said
        assert "left out: reject answers (1)" in said
        assert not run("convert", "p.jsonl", target, "-q", cwd=folder).stderr


def test_convert_counts_what_the_target_cannot_hold(folder: Path) -> None:
    one = {"id": "d", "text": "Ann", "spans": [{"start": 0, "end": 3, "label": "X", "score": 0.5}]}
    (folder / "a.jsonl").write_text(json.dumps(one) + "\n")
    said = run("convert", "a.jsonl", "out", "--to", "brat", cwd=folder).stderr.decode()
    assert said == "out: the format cannot store everything; dropped: scores (1).\n"


def test_a_signature_column_and_a_label_that_nobody_has(folder: Path) -> None:
    (folder / "map.json").write_text('{"NOSUCH": "PERSON"}')
    done = run("score", "gold.jsonl", "pred.jsonl", "--format", "csv", "--signature", "--map", "map.json", cwd=folder)
    rows = list(csv.DictReader(io.StringIO(done.stdout.decode())))
    assert all(row["signature"].startswith(row["measure"] + "|") for row in rows)
    assert "the label map has an entry for NOSUCH, but no span has that label." in done.stderr.decode()


def test_entities_that_are_not_chosen_are_counted_in_one_warning(folder: Path) -> None:
    labels = ["AGE", "DATE", "DATE", "PATIENT"]
    spans = [{"start": 2 * at, "end": 2 * at + 1, "label": label} for at, label in enumerate(labels)]
    (folder / "many.jsonl").write_text(json.dumps({"id": "d", "spans": spans}) + "\n")
    (folder / "map.txt").write_text("AGE: null\n")
    call = ("score", "many.jsonl", "pred=many.jsonl", "--entities", "PATIENT")
    said = run(*call, cwd=folder).stderr.decode()
    assert "gold: 3 spans were left out because of --entities: AGE (1), DATE (2)." in said
    assert "label map" not in said
    said = run(*call, "--map", "map.txt", cwd=folder).stderr.decode()
    assert "gold: 1 span labelled AGE was left out by the label map." in said
    assert "gold: 2 spans were left out because of --entities: DATE (2)." in said
