"""Tables: records with arbitrary field names, csv, Hugging Face's data, ai4privacy."""

from __future__ import annotations

import csv
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import spanscore as ss
from formats.awkward import NAMES, PLACES, SPANS, TEXT, found, gold, json_file, place
from spanscore.formats import read_chunks, together

DATA = Path(__file__).parent / "data"


def table_file(path: Path, rows: list[dict[str, Any]], delimiter: str = ",") -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


def parquet_file(path: Path, rows: list[dict[str, Any]]) -> Path:
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.Table.from_pylist(rows), path)
    return path


# records

ENTS: list[dict[str, Any]] = [
    {"b": place(name)[0], "e": place(name)[1], "t": label, "w": name} for name, label in NAMES.items()
]
SPEC = "records(id=key, text=doc.body, spans=ents, start=b, end=e, label=t, surface=w)"


@pytest.mark.parametrize("kind", ["json", "jsonl", "parquet"])
@pytest.mark.parametrize("as_string", [False, True])
def test_records_with_dotted_paths(kind: str, as_string: bool, tmp_path: Path) -> None:
    ents = json.dumps(ENTS) if as_string else ENTS
    rows = [{"key": name, "doc": {"body": TEXT}, "ents": ents} for name in ("a", "b")]
    path = tmp_path / f"data.{kind}"
    corpus = ss.read(parquet_file(path, rows) if kind == "parquet" else json_file(path, rows), SPEC)
    assert found(corpus) == {"a": PLACES, "b": PLACES}
    assert corpus.text == (TEXT, TEXT)


@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_records_with_one_span_per_row(delimiter: str, tmp_path: Path) -> None:
    rows = [{"doc": "a", "begin": one["b"], "stop": one["e"], "type": one["t"], "body": TEXT} for one in ENTS]
    rows += [{"doc": "b", "begin": "", "stop": "", "type": "", "body": ""}]
    path = table_file(tmp_path / "spans.csv", rows[::-1], delimiter)
    corpus = ss.read(path, "records", id="doc", start="begin", end="stop", label="type", text="body")
    assert found(corpus) == {"b": set(), "a": PLACES}
    with pytest.raises(ss.errors.InputError, match=r"if this is a table, say which column is.*records\("):
        ss.read(path)
    with pytest.raises(ss.errors.InputError, match=r"needs a field with the id .* the fields doc, begin, stop"):
        ss.read(path, "records", start="begin", end="stop", label="type")


def test_records_of_other_shapes(tmp_path: Path) -> None:
    columns = {key: [one[key] for one in ENTS] for key in ("b", "e", "t")}
    lists = [[one["b"], one["e"], [one["t"]]] for one in ENTS]
    lengths = [{"b": float(one["b"]), "n": str(one["e"] - one["b"]), "t": one["t"]} for one in ENTS]
    for value, options in (
        (columns, "start=b, end=e, label=t"),
        (lists, "start=0, end=1, label=2"),
        (repr(lists), "start=0, end=1, label=2"),
        (lengths, "start=b, length=n, label=t"),
    ):
        path = json_file(tmp_path / "a.jsonl", [{"text": TEXT, "x": value}])
        assert found(ss.read(path, f"records(spans=x, {options})")) == {"0": PLACES}


def test_records_attributes_scores_and_metadata(tmp_path: Path) -> None:
    one = {"start": 0, "end": 2, "label": "T", "p": "0.5", "kb": {"id": "Q1"}}
    path = json_file(tmp_path / "a.jsonl", [{"text": TEXT, "lang": "de", "x": [one]}])
    corpus = ss.read(path, 'records(spans=x, score=p, attrs="kb.id", meta=lang)')
    (document,) = corpus.documents()
    assert (document.spans[0].score, document.spans[0].attrs, document.meta) == (0.5, {"kb.id": "Q1"}, {"lang": "de"})


def test_records_under_other_conventions(tmp_path: Path) -> None:
    def units(end: int) -> int:
        return len(TEXT[:end].encode("utf-16-le")) // 2

    shifted = [{**one, "b": units(one["b"]), "e": units(one["e"]) - 1} for one in ENTS]
    path = json_file(tmp_path / "a.jsonl", [{"key": "a", "doc": {"body": TEXT}, "ents": shifted}])
    with pytest.raises(ss.errors.InputError, match=r"read the file with records\(unit=utf16, .*ends=inclusive\)"):
        ss.read(path, SPEC)
    assert found(ss.read(path, f"{SPEC[:-1]}, unit=utf16, ends=inclusive)")) == {"a": PLACES}


@pytest.mark.parametrize(
    ("record", "options", "message"),
    [
        ({"x": []}, "spans=y", r"There is no field 'y'.*Known: x"),
        ({"x": [{"start": 1, "stop": 2}]}, "spans=x", r"x\[0\]: There is no field 'end'.*Known: start, stop"),
        ({"x": [{"start": "one", "end": 2, "label": "L"}]}, "spans=x", r"x\[0\].start: expected a whole number"),
        ({"x": [{"start": 1.5, "end": 2, "label": "L"}]}, "spans=x", r"x\[0\].start: expected a whole number"),
        ({"x": [{"start": 1, "end": 2, "label": None}]}, "spans=x", r"x\[0\].label: the label must be a string"),
        ({"x": "[1, 2"}, "spans=x", "neither JSON nor a Python list"),
        ({"x": "__import__('os')"}, "spans=x", "neither JSON nor a Python list"),
        ({"x": {"a": [1], "b": []}}, "spans=x", "different lengths"),
        ({"x": 3}, "spans=x", "expected a list of spans"),
        ({"x": [], "text": 3}, "spans=x", "text: expected a string"),
        ({"x": [1]}, "records=x", "x: expected a list of objects"),
        ({"x": []}, "records=y", "There is no field 'y'.*Known: x"),
    ],
)
def test_records_errors(record: Any, options: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ss.errors.InputError, match=message):
        ss.read(json_file(tmp_path / "a.jsonl", [record]), f"records({options})")


def test_records_inside_an_object(tmp_path: Path) -> None:
    one = {"id": "d1", "text": TEXT, "ents": [list(place) for place in sorted(PLACES)]}
    path = json_file(
        tmp_path / "a.json", {"version": 1, "data": {"items": [one, {"id": "d2", "text": "", "ents": []}]}}
    )
    options = "records=data.items, spans=ents, start=0, end=1, label=2"
    assert found(ss.read(path, f"records({options})")) == {"d1": PLACES, "d2": set()}
    with pytest.raises(ss.errors.InputError, match=r"data.items\[0\]: ents\[0\]: There is no field"):
        ss.read(path, f"records({options.replace('label=2', 'label=7')})")


# csv


def test_csv(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"id": "d1", "start": start, "end": end, "label": label, "score": 0.5, "text": TEXT[start:end], "kb": "Q1"}
        for start, end, label in PLACES
    ]
    rows.insert(1, {"id": "d2", "start": "", "end": "", "label": "", "score": "", "text": "", "kb": ""})
    for delimiter in (",", "\t", ";"):
        path = table_file(tmp_path / "spans.csv", rows, delimiter)
        corpus = together(read_chunks(path, companion=lambda: gold("d1", "d2")))
        assert (corpus.format, found(corpus)) == ("csv", {"d1": PLACES, "d2": set()})
        assert corpus.attrs["kb"].values == ("Q1",)
    rows[0]["start"] += 1
    with pytest.raises(ss.errors.InputError, match="is not where its surface string is"):
        together(read_chunks(table_file(path, rows), companion=lambda: gold("d1", "d2")))


def test_csv_is_safe_in_spreadsheets(tmp_path: Path) -> None:
    names = ["=cmd()", "+1", "@x", "-2", "'=1", "''", "\ty", "a,b\r\nc", 'q"', "Ann\r"]
    spans = [{"start": 0, "end": 1, "label": name} for name in names]
    corpus = ss.Corpus.from_documents([{"id": name, "text": "=1", "spans": spans} for name in names])
    path = tmp_path / "out.csv"
    from spanscore.formats import writer

    with path.open("wb") as file:
        writer(str(path)).write(lambda: [corpus], file)
    with path.open(newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t"))]
    assert found(ss.read(path)) == found(corpus)


def test_csv_endings_choose_the_delimiter() -> None:
    from spanscore.formats import writer

    assert [repr(writer(name)) for name in ("a.csv", "a.tsv")] == ["csv", "csv(delimiter=tab)"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,start,end,label\nd1,x,3,L\n", "a.csv:2: start: expected a whole number"),
        ("id,start,end,label\n\nd1,1,3\n", "a.csv:3: there are 3 cells, but 4 columns"),
        ('id,start,end,label\nd1,1,3,"L"x\n', "a.csv:2: this row is not CSV"),
        ("id,start,end,label,label\nd1,1,3,L,L\n", "two columns have the same name"),
        ("id,start,end,label\n,1,3,L\n", "a.csv:2: id: the id is empty"),
        ("id,start,end,label\nd1,1,3,\n", "the label is empty"),
        ("id,start,end,label\nd1,1,3,L\nd2,1,3,\udcff\n", r"a.csv:3: byte 8 of the line is not UTF-8 \(0xff\)"),
    ],
)
def test_csv_errors(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ss.errors.InputError, match=message):
        ss.read(tmp_path / "a.csv")


# hf

WORDS = ["Zoë", "A\u030angström", "saw", "😀", "שלום"]
SAVED = {"PER": "Zoë A\u030angström", "LOC": "שלום"}


def surfaces(corpus: ss.Corpus) -> list[dict[str, str]]:
    return [{span.label: (one.text or "")[span.start : span.end] for span in one.spans} for one in corpus.documents()]


def test_hf_datasets_saved_to_disk(tmp_path: Path) -> None:
    corpus = ss.read(DATA / "hf_dataset", "hf(split=train)")
    assert surfaces(corpus) == [SAVED, {}]
    assert corpus.text == (" ".join(WORDS), "No ##thing")
    assert found(ss.read(DATA / "hf_dataset" / "test")) == {"2": {(0, 3, "PER")}}
    with pytest.raises(ss.errors.InputError, match=r"several splits \(test, train\); choose one with hf\(split=NAME\)"):
        ss.read(DATA / "hf_dataset")
    with pytest.raises(ss.errors.UsageError, match="there is no split 'dev'; there are test, train"):
        ss.read(DATA / "hf_dataset", "hf(split=dev)")
    packed = shutil.make_archive(str(tmp_path / "packed"), "zip", DATA / "hf_dataset")
    assert surfaces(ss.read(packed, "hf(split=train)")) == [SAVED, {}]


def test_hf_parquet(tmp_path: Path) -> None:
    corpus = ss.read(DATA / "hf.parquet")
    assert (corpus.format, surfaces(corpus)) == ("hf", [SAVED, {}])
    hub = tmp_path / "data"
    hub.mkdir()
    for name in ("train-00000-of-00001", "test-00000-of-00001"):
        shutil.copy(DATA / "hf.parquet", hub / f"{name}.parquet")
    assert surfaces(ss.read(tmp_path, "hf(split=test)")) == [SAVED, {}]


@pytest.mark.parametrize(
    "labels",
    [
        '["O", "B-PER", "I-PER", "B-LOC"]',
        '{"1": "B-PER", "0": "O", "2": "I-PER", "3": "B-LOC"}',
        '{"id2label": {"0": "O", "1": "B-PER", "2": "I-PER", "3": "B-LOC"}}',
        '{"O": 0, "B-PER": 1, "I-PER": 2, "B-LOC": 3}',
        "O\nB-PER\nI-PER\nB-LOC\n",
    ],
)
def test_hf_tags_as_numbers(labels: str, tmp_path: Path) -> None:
    path = json_file(tmp_path / "a.jsonl", [{"id": "0", "tokens": WORDS, "ner_tags": [1, 2, -100, 0, 3]}])
    with pytest.raises(ss.errors.InputError, match=r"ner_tags\[0\]: tags are numbers; .*hf\(labels=FILE\)"):
        ss.read(path)
    names = tmp_path / "labels.json"
    names.write_text(labels)
    assert surfaces(ss.read(path, "hf", labels=str(names))) == [SAVED]


def test_hf_text_and_offset_mapping(tmp_path: Path) -> None:
    names = sorted(NAMES, key=TEXT.index)
    row = {"tokens": names, "ner_tags": [f"B-{NAMES[name]}" for name in names]}
    mapped = {**row, "text": TEXT, "offset_mapping": [place(name) for name in names]}
    assert found(ss.read(json_file(tmp_path / "a.jsonl", [mapped]))) == {"0": PLACES}


def test_hf_pipeline_output(tmp_path: Path) -> None:
    grouped = [
        {"entity_group": label, "score": 0.9, "word": name.lower(), "start": place(name)[0], "end": place(name)[1]}
        for name, label in NAMES.items()
    ]
    corpus = together(read_chunks(json_file(tmp_path / "a.json", [[], grouped]), companion=lambda: gold("a", "b")))
    assert (corpus.format, found(corpus)) == ("hf", {"a": set(), "b": PLACES})
    start, end = place("שלום דוד")
    pieces = [
        {"entity": "B-PERSON", "score": 0.5, "index": 7, "word": "של", "start": start, "end": start + 2},
        {"entity": "I-PERSON", "score": 1.0, "index": 8, "word": "##ום", "start": start + 2, "end": end},
        {"entity": "I-PERSON", "score": 1.0, "index": 10, "word": "in", "start": end + 2, "end": end + 4},
    ]
    corpus = ss.read(json_file(tmp_path / "a.json", pieces))
    assert found(corpus) == {"0": {(start, end, "PERSON"), (end + 2, end + 4, "PERSON")}}
    assert corpus.score is not None
    assert corpus.score.tolist() == [0.75, 1.0]
    with pytest.raises(ss.errors.InputError, match=r"\[0\]: the offsets are null; run the pipeline with a fast token"):
        ss.read(json_file(tmp_path / "a.json", [{**grouped[0], "start": None, "end": None}]))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"tokens": ["a"], "ner_tags": ["O", "O"]}, "as many tags as tokens; there are 2 and 1"),
        ({"tokens": "a", "ner_tags": ["O"]}, "expected a list in the column 'tokens'"),
        ({"tokens": ["a"], "ner_tags": [[1]]}, "a tag must be a string or a number"),
        ({"tokens": ["a"], "ner_tags": ["O"], "text": "a", "offset_mapping": []}, "0 places, but 1 token"),
    ],
)
def test_hf_errors(row: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(ss.errors.InputError, match=message):
        ss.read(json_file(tmp_path / "a.jsonl", [row]), "hf")


# ai4privacy

MASK = [
    {"label": label, "start": place(name)[0], "end": place(name)[1], "value": name} for name, label in NAMES.items()
]
SPAN_LABELS = [[0, SPANS[0][0], "O"], *([one["start"], one["end"], one["label"]] for one in MASK)]
AI4PRIVACY: dict[str, dict[str, Any]] = {
    "400k": {
        "source_text": TEXT,
        "locale": "DE",
        "masked_text": "...",
        "privacy_mask": [{**one, "label_index": 1} for one in MASK],
        "split": "train",
        "uid": 40767,
        "language": "de",
        "mbert_tokens": [],
        "mbert_token_classes": [],
    },
    "300k": {
        "source_text": TEXT,
        "target_text": "...",
        "privacy_mask": json.dumps(MASK),
        "span_labels": repr(SPAN_LABELS),
        "mbert_text_tokens": [],
        "mbert_bio_labels": [],
        "id": "40767",
        "language": "de",
        "set": "train",
    },
    "200k": {
        "masked_text": "...",
        "unmasked_text": TEXT,
        "privacy_mask": "{'[FIRSTNAME_1]': 'Zoe\u0308'}",
        "span_labels": repr(SPAN_LABELS),
        "bio_labels": [],
        "tokenised_text": [],
        "id": "40767",
        "language": "de",
    },
}


@pytest.mark.parametrize("layout", AI4PRIVACY)
@pytest.mark.parametrize("kind", ["jsonl", "parquet", "csv"])
def test_ai4privacy(layout: str, kind: str, tmp_path: Path) -> None:
    path, rows = tmp_path / f"data.{kind}", [AI4PRIVACY[layout]]
    if kind == "csv":
        table_file(
            path, [{key: value if isinstance(value, str) else json.dumps(value) for key, value in rows[0].items()}]
        )
    else:
        parquet_file(path, rows) if kind == "parquet" else json_file(path, rows)
    corpus = ss.read(path)
    assert (corpus.format, found(corpus)) == ("ai4privacy", {"40767": PLACES})
    assert corpus.text == (TEXT,)
    assert corpus.meta["language"].values == ("de",)


def test_ai4privacy_errors(tmp_path: Path) -> None:
    mapping = {"unmasked_text": TEXT, "privacy_mask": {"[X]": "y"}}
    with pytest.raises(ss.errors.InputError, match="privacy_mask has no offsets, and there are no span_labels"):
        ss.read(json_file(tmp_path / "a.jsonl", [mapping]))
    wrong = {"source_text": TEXT, "privacy_mask": [{"label": "X", "start": 0}]}
    with pytest.raises(ss.errors.InputError, match=r"privacy_mask\[0\]: the field 'end' is missing"):
        ss.read(json_file(tmp_path / "a.jsonl", [wrong]))


# tables in no known format


def test_unknown_tables_are_described(tmp_path: Path) -> None:
    path = parquet_file(tmp_path / "a.parquet", [{"body": TEXT, "ents": []}])
    with pytest.raises(ss.errors.InputError, match=r"name other columns with the format records\(\.\.\.\)"):
        ss.read(path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(ss.errors.InputError, match="neither a saved dataset"):
        ss.read(tmp_path / "folder", "hf")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"Ann Lee lives in Oslo": [1], "Oslo": 2}', r"this JSON is in no known format; say"),
        (json.dumps({f"word{number}": 1 for number in range(300)}), r"this JSON is in no known format; say"),
        ('{"words": 1, "marks": [2]}', r"\(its keys: marks, words\)"),
        ("[1,2", "is not valid JSON"),
        ('["Ann",\n"Oslo"', "is not valid JSON"),
        ("Ann,Lee,Oslo\n", "if this is a table"),
    ],
)
def test_unknown_files_are_described_without_their_text(content: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(content)
    with pytest.raises(ss.errors.InputError, match=said) as error:
        ss.read(path)
    assert not any(word in str(error.value) for word in ("Ann", "Oslo", "word1"))


def test_documents_without_ids_can_be_numbered_as_the_message_says(tmp_path: Path) -> None:
    spans = [{"start": start, "end": end, "label": label} for start, end, label in SPANS]
    lines = [{"text": TEXT, "spans": spans}, {"text": TEXT, "spans": []}]
    path = json_file(tmp_path / "a.jsonl", lines)
    with pytest.raises(ss.errors.InputError, match=r"reading the file as records\(spans=spans\)"):
        ss.read(path)
    assert found(ss.read(path, "records(spans=spans)")) == {"0": PLACES, "1": set()}


def saved_dataset(folder: Path, rows: list[dict[str, Any]], features: dict[str, Any], shards: int = 1) -> Path:
    """Write rows as `datasets.save_to_disk` does."""
    pa = pytest.importorskip("pyarrow")
    folder.mkdir()
    about = {b"huggingface": json.dumps({"info": {"features": features}}).encode()}
    table = pa.Table.from_pylist(rows).replace_schema_metadata(about)
    for number in range(shards):
        path = folder / f"data-{number:05}-of-{shards:05}.arrow"
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table)
    return folder


CLASS = {"names": ["PERSON", "WORD"], "_type": "ClassLabel"}
FIELDS = {"b": {"dtype": "int32", "_type": "Value"}, "e": {"dtype": "int32", "_type": "Value"}, "t": CLASS}


@pytest.mark.parametrize("spans", [[FIELDS], {"feature": FIELDS, "_type": "List"}])
def test_class_numbers_inside_spans_become_names(spans: Any, tmp_path: Path) -> None:
    rows = [{"text": TEXT, "x": [{"b": one["b"], "e": one["e"], "t": CLASS["names"].index(one["t"])} for one in ENTS]}]
    features = {"text": {"dtype": "string", "_type": "Value"}, "x": spans}
    folder = saved_dataset(tmp_path / "data", rows, features, shards=2)
    options = "records(spans=x, start=b, end=e, label=t)"
    assert found(ss.read(folder, options)) == {"0": PLACES, "1": PLACES}
    single = ss.read(folder / "data-00000-of-00002.arrow", options)
    assert found(single) == {"0": PLACES}
    assert "one of 2 files of a saved dataset; name its folder to read all" in single.notes[0]


def test_a_saved_dataset_names_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = saved_dataset(tmp_path / "data", [{"text": "a"}], {})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ss.MissingExtraError, match=r"spanscore\[hf\]"):
        ss.read(folder, "records(spans=x)")


def test_ai4privacy_with_other_names_points_to_records(tmp_path: Path) -> None:
    mask = [{"begin": start, "stop": end, "entity": label} for start, end, label in SPANS]
    path = json_file(tmp_path / "a.jsonl", [{"source_text": TEXT, "privacy_mask": mask}])
    with pytest.raises(ss.InputError, match=r"name the fields with records\(") as caught:
        ss.read(path)
    named = str(caught.value).partition("name the fields with ")[2].partition(". The file")[0]
    assert found(ss.read(path, named)) == {"0": PLACES}


def test_an_empty_folder_is_described(tmp_path: Path) -> None:
    with pytest.raises(ss.InputError, match="this is a folder or zip file without files"):
        ss.read(tmp_path)
