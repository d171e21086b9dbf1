"""Parquet: the own format's twin, and results as Arrow."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from pyarrow import parquet

import spanscore as ss
from calls import spanscore
from spanscore.corpus import Corpus
from spanscore.corpus.arrow import from_table, schema_for, to_table, write_parquet
from spanscore.errors import InputError
from spanscore.formats import read_chunks
from spanscore.formats.parquet_footer import chunks
from spanscore.testing import corpora


def records(corpus: Corpus) -> list[Any]:
    return list(corpus.documents())


@settings(max_examples=200, deadline=None)
@given(corpus=corpora())
def test_a_corpus_is_the_same_after_a_table(corpus: Corpus) -> None:
    again = from_table(to_table(corpus))
    assert records(again) == records(corpus)
    assert again.fingerprint == corpus.fingerprint


def test_from_files_in_row_groups(tmp_path: Path) -> None:
    gold, pred = ss.read("examples/gold.jsonl"), ss.read("examples/base.jsonl")
    for name, corpus in (("gold", gold), ("pred", pred)):
        with (tmp_path / f"{name}.parquet").open("wb") as file:
            write_parquet(file, [corpus], schema_for([corpus]), rows=3)
        read = ss.read(tmp_path / f"{name}.parquet")
        assert records(read) == records(corpus)
        assert (read.format, read.format_reason) == ("parquet", "it begins with PAR1")
    assert parquet.ParquetFile(tmp_path / "gold.parquet").num_row_groups == 4


def test_convert_there_and_back(tmp_path: Path) -> None:
    document = {
        "id": "d",
        "text": "Ann 😀 Lee",
        "spans": [
            {"start": 0, "end": 3, "label": "P", "score": 0.5, "attrs": {"kbid": "Q1", "n": 3, "sure": True}},
            {"start": 6, "end": 9, "label": "P"},
        ],
        "tokens": [[0, 3], [4, 5], [6, 9]],
        "meta": {"ward": "a", "age": 4.5},
    }
    (tmp_path / "a.jsonl").write_text(json.dumps(document) + "\n")
    for source, target in (("a.jsonl", "b.parquet"), ("b.parquet", "c.jsonl")):
        spanscore("convert", source, target, cwd=tmp_path)
    assert json.loads((tmp_path / "c.jsonl").read_text()) == document


def test_the_numbers_are_those_of_json_lines(tmp_path: Path) -> None:
    said = []
    for suffix in ("jsonl", "parquet"):
        for name in ("gold", "base"):
            spanscore("convert", f"examples/{name}.jsonl", str(tmp_path / f"{name}.{suffix}"), cwd=Path.cwd())
        files = [str(tmp_path / f"{name}.{suffix}") for name in ("gold", "base")]
        said.append(json.loads(spanscore("score", *files, "--ci", "0.9", "--json", "-", "-q", cwd=tmp_path).stdout))
    assert said[0]["results"] == said[1]["results"]


SPAN = [("start", pa.int32()), ("end", pa.int32()), ("label", pa.string())]


def table(spans: list[Any], kind: list[Any] = SPAN, ids: list[Any] | None = None, **more: Any) -> Any:
    columns = {"id": pa.array(ids or ["d1", "d2"][: len(spans)]), "spans": pa.array(spans, pa.list_(pa.struct(kind)))}
    return pa.table({**columns, **more})


REQUIRED = [pa.field(name, kind, nullable=False) for name, kind in SPAN]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (pa.table({"id": ["a"]}), "the column 'spans' is missing"),
        (
            pa.table({"id": [1.5], "spans": pa.array([[]], pa.list_(pa.struct(SPAN)))}),
            "has type double; it must hold strings",
        ),
        (
            pa.table({"id": pa.array([None], pa.string()), "spans": pa.array([[]], pa.list_(pa.struct(SPAN)))}),
            "has no id",
        ),
        (pa.table({"id": ["a"], "spans": ["x"]}), "has type string; it must hold lists"),
        (pa.table({"id": ["a"], "spans": [[1, 2]]}), "must hold lists of structs with the fields start, end and label"),
        (table([[], [(3, 1, "X")]]), 'document "d2", spans[0].end: the end 1 is before the start 3'),
        (table([[(0, 1, "X"), (-3, 1, "X")]]), 'document "d1", spans[1].start: the offset must be between 0 and'),
        (table([[(None, 1, "X")]]), "spans[0].start: the start is missing"),
        (table([[(0, 1, None)]]), "spans[0].label: the label is missing"),
        (table([[(0, 9, "X")]], text=pa.array(["abc"])), "is past the end of the text"),
        (table([[(0.5, 9, "X")]], [("start", pa.float64()), *SPAN[1:]]), "has type double; it must hold integers"),
        (table([[]], meta=pa.array(["[1]"])), "must be string maps or JSON objects"),
        (table([[]], meta=pa.array([{"a": [1]}])), "not lists or objects"),
        (table([[(0, 1, "X"), None]], REQUIRED), 'document "d1", spans[1]: the span is missing'),
        (table([[(0, 1, "X", "high")]], [*SPAN, ("score", pa.string())]), "has type string; it must hold numbers"),
        (table([[(0, 1, b"\xff")]], [*SPAN[:2], ("label", pa.binary())]), "'label' of 'spans' must hold strings"),
        (table([[]], tokens=pa.array([[{"start": 2**32, "end": 2**32 + 3}]])), "tokens[0]: the token [4294967296"),
        (table([[]], tokens=pa.array([[{"start": 0.5, "end": 1.5}]])), "must hold integers"),
        (table([[]], tokens=pa.array([[{"start": 0, "end": 1}, None]])), "a token is null, or its start or end is"),
        (table([[]], tokens=pa.array([[{"begin": 0}]])), "must hold lists of structs with the fields start and end"),
        (table([[]], tokens=pa.array([[[0, 1]]])), "must hold lists of structs with the fields start and end"),
        (table([[]], text=pa.array(["abc"]), tokens=pa.array([[{"start": 0, "end": 5}]])), "must lie inside the text"),
        (table([[]]).append_column("id", pa.array(["a"])), "two columns have the name 'id'"),
        (table([[]], [*SPAN, SPAN[0]]), "two fields of 'spans' have the name 'start'"),
    ],
)
def test_wrong_tables(wrong: Any, words: str) -> None:
    with pytest.raises(InputError) as error:
        from_table(wrong, where="x.parquet")
    assert words in str(error.value)
    assert "x.parquet" in str(error.value)


def test_other_types_of_the_same_columns(tmp_path: Path) -> None:
    """What other tools write: large lists and strings, 64-bit offsets, labels as dictionaries, whole numbers as ids."""
    kind = [("start", pa.int64()), ("end", pa.int64()), ("label", pa.dictionary(pa.int8(), pa.large_string()))]
    spans = pa.array([[{"start": 0, "end": 2, "label": "A"}], None, []], pa.large_list(pa.struct(kind)))
    made = pa.table({"id": [1, 2, 3], "text": pa.array(["abc", None, ""], pa.large_string()), "spans": spans})
    parquet.write_table(made, tmp_path / "x.parquet")
    corpus = ss.read(tmp_path / "x.parquet")
    assert corpus.ids == ("1", "2", "3")
    assert corpus.start.tolist() == [0]
    assert corpus.text == ("abc", None, "")


def test_damaged_files(tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(InputError, match="x.parquet: the Parquet data is damaged"):
        ss.read(tmp_path / "x.parquet")


@pytest.fixture
def result() -> ss.Result:
    return ss.score(ss.read("examples/gold.jsonl"), ss.read("examples/base.jsonl"), ["iou", "exact"])


def test_polars_pandas_and_duckdb_read_results_and_errors(result: ss.Result) -> None:
    import duckdb
    import pandas as pd
    import polars as pl

    errors = result.errors("iou")
    frame, listed = pl.DataFrame(result), pl.DataFrame(errors)
    overall = frame.filter((pl.col("measure") == "iou") & pl.col("type").is_null())
    assert overall["recall"][0] == result["iou"].recall
    assert overall["tp"][0] == result["iou"].counts["tp"]
    assert listed["verdict"].to_list() == [error.verdict for error in errors]
    relation = duckdb.sql("select count(*) from errors where side = 'gold'")
    assert relation is not None
    assert relation.fetchall() == [(sum(error.side == "gold" for error in errors),)]
    assert pd.DataFrame.from_arrow(result)["system"].unique().tolist() == ["pred"]


@pytest.mark.parametrize(
    "layout",
    [
        {"row_group_size": 500, "dictionary_pagesize_limit": 2000, "data_page_size": 500},
        {"row_group_size": 50},
        {"row_group_size": 2000},
        {"use_dictionary": False},
    ],
    ids=["codes and words in one group", "small groups", "one group", "words"],
)
def test_labels_however_they_are_stored(
    layout: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spanscore.formats.parquet.SMALL", 100)
    monkeypatch.setattr("spanscore.formats.parquet.BATCH", 64)
    rows = [
        {
            "id": f"d{i}",
            "text": None if i % 7 == 0 else "é" * (i % 50),
            "spans": [{"start": 0, "end": 0, "label": f"L{i * j % 997}"} for j in range(i % 9)],
        }
        for i in range(2000)
    ]
    span = pa.struct([("start", pa.int64()), ("end", pa.int32()), ("label", pa.string())])
    schema = pa.schema([("id", pa.string()), ("text", pa.large_string()), ("spans", pa.list_(span))])
    parquet.write_table(pa.Table.from_pylist(rows, schema=schema), tmp_path / "x.parquet", **layout)
    wanted = records(Corpus.from_documents(rows))
    assert records(ss.read(tmp_path / "x.parquet")) == wanted
    found: list[Any] = []
    for part in ((0, 777), (777, 1234), (1234, 2000)):
        for corpus in read_chunks(tmp_path / "x.parquet", "parquet", part=part):
            found += records(corpus)
    assert found == wanted


def test_strings_of_every_kind() -> None:
    spans = pa.array(
        [[], []], pa.list_(pa.struct([("start", pa.int32()), ("end", pa.int32()), ("label", pa.string())]))
    )
    for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())):
        table = pa.table(
            {"id": pa.array(["a", "é"]).cast(kind), "text": pa.array([None, "x"]).cast(kind), "spans": spans}
        )
        corpus = from_table(table)
        assert corpus.ids == ["a", "é"]
        assert corpus.text == [None, "x"]


def test_what_arrow_strings_cannot_be() -> None:
    with pytest.raises(InputError, match="unpaired surrogate"):
        to_table(Corpus.from_documents([{"id": "\ud800", "spans": []}]))
    broken = pa.array([b"\xff"]).view(pa.string())
    spans = pa.array([[]], pa.list_(pa.struct([("start", pa.int32()), ("end", pa.int32()), ("label", pa.string())])))
    with pytest.raises(InputError, match="not valid UTF-8"):
        from_table(pa.table({"id": broken, "spans": spans}))


def test_labels_that_are_stored_as_a_dictionary_type(tmp_path: Path) -> None:
    kind = pa.struct([("start", pa.int32()), ("end", pa.int32()), ("label", pa.dictionary(pa.int32(), pa.string()))])
    schema = pa.schema([("id", pa.string()), ("spans", pa.list_(kind))])
    rows = [{"id": f"d{i}", "spans": [{"start": 0, "end": 1, "label": f"L{i % 3}"}]} for i in range(2049)]
    made = pa.Table.from_pylist(rows, schema=schema)
    parquet.write_table(made.slice(0, 10), tmp_path / "small.parquet", row_group_size=5)
    assert records(ss.read(tmp_path / "small.parquet")) == records(Corpus.from_documents(rows[:10]))
    parquet.write_table(made, tmp_path / "lost.parquet", row_group_size=2048, data_page_size=64)
    with suppress(InputError):  # pyarrow 26 cannot read the last one
        assert len(ss.read(tmp_path / "lost.parquet")) == 2049


def test_documents_that_pyarrow_leaves_out_are_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = Corpus.from_documents([{"id": str(number), "spans": []} for number in range(9)])
    parquet.write_table(to_table(corpus), tmp_path / "x.parquet")
    monkeypatch.setattr("spanscore.formats.parquet._after", lambda _, batches: (one.slice(1) for one in batches))
    with pytest.raises(InputError, match="1 of 9 documents could not be read"):
        ss.read(tmp_path / "x.parquet")


@pytest.mark.parametrize("number", [1, 2])
def test_damaged_statistics_do_not_end_the_process(number: int, tmp_path: Path) -> None:
    """pyarrow aborts if it is asked about such a column chunk, so that its footer is read without it."""
    shutil.copy(Path(__file__).parent / "data" / f"damaged_statistics_{number}.parquet", tmp_path / "bad.parquet")
    for options in ((), ("--format", "records(text=text, spans=spans, start=start, end=end, label=label)")):
        said = spanscore("check", "bad.parquet", *options, cwd=tmp_path, code=2).stderr
        assert "bad.parquet" in said
        assert "damaged or not supported" in said


@pytest.mark.parametrize("dictionary", [True, False])
def test_column_chunks_are_where_pyarrow_says(dictionary: bool, tmp_path: Path) -> None:
    rows = {
        "id": [f"d{i}" for i in range(500)],
        "n": range(500),
        "tokens": [["a", None, "b" * (i % 9)] for i in range(500)],
    }
    table = pa.table({name: pa.array(list(values)) for name, values in rows.items()})
    path = tmp_path / "a.parquet"
    parquet.write_table(table, path, row_group_size=120, use_dictionary=dictionary)
    metadata = parquet.read_metadata(path)
    with path.open("rb") as file:
        found = chunks(file)
    for number, group in enumerate(found):
        for place, (values, begins) in enumerate(group):
            column = metadata.row_group(number).column(place)
            known = [one for one in (column.dictionary_page_offset, column.data_page_offset) if one is not None]
            assert (values, begins) == (column.num_values, min(known))
    assert [len(group) for group in found] == [3] * 5
    for size in range(len(content := path.read_bytes())):
        with suppress(OSError):
            chunks(BytesIO(content[size:]))
            chunks(BytesIO(content[:size]))
