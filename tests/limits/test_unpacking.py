"""Compressed inputs that unpack to far more than they should are refused before they fill the memory."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import spanscore as ss
from spanscore.errors import InputError
from spanscore.formats import source
from spanscore.formats.source import MAX_BYTES

LINE = b'{"id": "%d", "text": "' + b"a" * 1000 + b'", "spans": []}\n'


@pytest.fixture
def small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "ALWAYS", 1 << 20)


def bomb(path: Path, data: bytes, times: int) -> Path:
    with gzip.open(path, "wb", compresslevel=9) as file:
        for _ in range(times):
            file.write(data)
    return path


@pytest.mark.usefixtures("small_limit")
@pytest.mark.parametrize(
    ("name", "data", "times"),
    [
        ("lines.jsonl.gz", b"".join(LINE % i for i in range(64)), 64),
        ("one-line.jsonl.gz", b'{"id": "d", "spans": [], "text": "' + b"a" * (4 << 20), 1),
        ("list.json.gz", b'[{"full_text": "a", "spans": []},' + b" " * (4 << 20), 1),
        ("blank.gz", b"\n" * (1 << 20), 4),
        ("words.conll.gz", b"a O\n" * (1 << 16), 16),
    ],
)
def test_a_bomb_is_refused_with_the_numbers(tmp_path: Path, name: str, data: bytes, times: int) -> None:
    path = bomb(tmp_path / name, data, times)
    with pytest.raises(InputError, match=r"compressed bytes unpack to more than [12],[0-9,]+; .*--max-bytes"):
        ss.read(path)


@pytest.mark.usefixtures("small_limit")
def test_who_trusts_a_file_raises_the_limit(tmp_path: Path) -> None:
    path = bomb(tmp_path / "words.conll.gz", b"a O\nb B-X\n" * 2**10, 128)
    with pytest.raises(InputError, match="--max-bytes"):
        ss.read(path)
    token = MAX_BYTES.set(1 << 24)
    try:
        assert len(ss.read(path).start) == 2**17
    finally:
        MAX_BYTES.reset(token)


def test_ordinary_compression_is_no_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "ALWAYS", 1)
    line = '{"id": "doc-%d", "spans": [{"start": 9, "end": 19, "label": "PERSON", "score": 0.%d}]}\n'
    path = bomb(tmp_path / "a.jsonl.gz", "".join(line % (i, i * 7919 % 10007) for i in range(20_000)).encode(), 1)
    assert len(ss.read(path)) == 20_000


def test_the_command_line_has_the_option(tmp_path: Path) -> None:
    path = bomb(tmp_path / "a.jsonl.gz", LINE % 1, 1)
    call = [sys.executable, "-m", "spanscore", "check", str(path), "--max-bytes"]
    refused = subprocess.run([*call, "100"], capture_output=True, text=True)
    assert refused.returncode == 2
    assert "unpack to more than 100;" in refused.stderr
    assert subprocess.run([*call, "100000"], capture_output=True).returncode == 0


def test_a_parquet_file_declares_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    from spanscore.corpus.arrow import schema_for, write_parquet

    corpus = ss.Corpus.from_documents([{"id": str(i), "text": "a" * 100_000, "spans": []} for i in range(50)])
    with (tmp_path / "a.parquet").open("wb") as file:
        write_parquet(file, [corpus], schema_for([corpus]))
    assert len(ss.read(tmp_path / "a.parquet")) == 50
    monkeypatch.setattr(source, "ALWAYS", 1 << 20)
    with pytest.raises(InputError, match="unpack to more than"):
        ss.read(tmp_path / "a.parquet")


MEASURED = """
import resource, sys, spanscore as ss
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    ss.read(sys.argv[1])
    said = "read"
except ss.SpanscoreError as error:
    said = str(error)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024, said)
"""


def megabytes(path: Path) -> tuple[int, str]:
    """The memory that reading a file takes, and what it says, in a process of its own."""
    done = subprocess.run([sys.executable, "-c", MEASURED, str(path)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    memory, _, said = done.stdout.partition(" ")
    return int(memory), said


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("one-sentence.conll.gz", b"a O\n"),
        ("sentences.conll.gz", b"a B-X\n\n"),
        ("mentions.tsv.gz", b"d\t0\t1\n"),
        ("hipe.tsv.gz", b"TOKEN\tNE-COARSE-LIT\n"),
        ("webanno.tsv.gz", b"#FORMAT=WebAnno TSV 3.3\n"),
        ("lines.jsonl.gz", b'{"id":"a","spans":[]}\n'),
    ],
)
def test_a_bomb_is_refused_before_anything_is_built_from_it(tmp_path: Path, name: str, line: bytes) -> None:
    """64 MiB may be held as bytes, but 16 million tokens took gigabytes."""
    memory, said = megabytes(bomb(tmp_path / name, line * ((1 << 20) // len(line)), 80))
    assert "unpack to more than 67,108,864" in said
    assert memory < 200


@pytest.mark.slow
@pytest.mark.parametrize("line", [b"a O\n", b"a B-X\n\n", b"word B-X\nword I-X\n"])
def test_conll_takes_a_bounded_multiple_of_its_size(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "a.conll"
    path.write_bytes(line * ((8 << 20) // len(line)))
    memory, said = megabytes(path)
    assert said == "read\n"
    assert memory < 32 * 8  # a document of its own for each sentence is most of it; it was 70


def test_conll_with_countless_tags_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spanscore.formats.conll.MAX_TAGS", 10)
    path = tmp_path / "a.conll"
    path.write_text("".join(f"a B-{i}\n" for i in range(10)))
    assert len(ss.read(path).start) == 10
    path.write_text("".join(f"a B-{i}\n" for i in range(11)))
    with pytest.raises(InputError, match=r"a.conll:11: there are more than 10 different tags"):
        ss.read(path)


LONG, SPANS = "x" * 1_000_000, [{"start": 0, "end": 1, "label": "A"}]
OWN = "records(id=key,text=body,spans=spans,start=start,end=end,label=label)"


def shared_texts(path: Path, rows: int, kind: str) -> Path:
    """A file in which all rows have the same long text, as codes of a dictionary."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    text = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array([LONG]))
    ids, spans = pa.array([str(i) for i in range(rows)]), pa.array([SPANS] * rows)
    options = {"compression": "zstd", "dictionary_pagesize_limit": 1 << 30}
    if kind == "native":
        parquet.write_table(pa.table({"id": ids, "text": text, "spans": spans}), path, **options)
    elif kind == "records":
        parquet.write_table(pa.table({"key": ids, "body": text, "spans": spans}), path, **options)
    elif kind == "list":
        words = pa.ListArray.from_arrays(pa.array(range(rows + 1), pa.int32()), text)
        parquet.write_table(pa.table({"tokens": words, "ner_tags": [["O"]] * rows}), path, **options)
    else:
        table = pa.table({"tokens": [["a"]] * rows, "ner_tags": [["O"]] * rows, "text": text})
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table)
    return path


KINDS = {"native": None, "records": OWN, "list": "hf", "dataset": "hf"}


@pytest.mark.parametrize("kind", KINDS)
def test_texts_that_rows_share_are_counted_for_each_row(tmp_path: Path, kind: str) -> None:
    """5,000 rows with one text took 4.4 GB, of a file of 13 KB."""
    path = shared_texts(tmp_path / "a.parquet", 5000, kind)
    script = MEASURED.replace("sys.argv[1]", f"sys.argv[1], {KINDS[kind]!r}")
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, timeout=60)
    memory, _, said = done.stdout.partition(" ")
    assert f"unpack to more than {max(67_108_864, 100 * path.stat().st_size):,}" in said
    assert int(memory) < 200


@pytest.mark.parametrize("kind", KINDS)
def test_few_rows_may_share_a_text(tmp_path: Path, kind: str) -> None:
    """Their dictionaries are read as codes, which makes no difference."""
    found = ss.read(shared_texts(tmp_path / "a.parquet", 60, kind), KINDS[kind])
    assert len(found) == 60
    assert found.text is not None
    assert {len(text or "") for text in found.text} == ({1} if kind == "dataset" else {len(LONG)})
    assert len(found.start) == (0 if kind in ("list", "dataset") else 60)


@pytest.mark.parametrize("kind", ["text", "words"])
def test_dictionaries_that_are_given_up_are_read(tmp_path: Path, kind: str) -> None:
    """Pages of both kinds in one group: the first have codes, the others have strings."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    texts = ["x" * 500_000, *(f"{i:06}" * 10 for i in range(30_000))]  # as if all might be that long
    columns: dict[str, list[object]] = {"tokens": [[text] for text in texts], "ner_tags": [["O"]] * len(texts)}
    if kind == "text":
        columns = {"id": [*texts], "text": [*texts], "spans": [SPANS] * len(texts)}
    parquet.write_table(pa.table(columns), tmp_path / "a.parquet", compression="zstd")
    found = ss.read(tmp_path / "a.parquet", "hf" if kind == "words" else None)
    assert found.text is not None
    assert found.text.tolist() == texts


def test_memory_that_arrow_does_not_get_is_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pa = pytest.importorskip("pyarrow")

    def fail(*_: object) -> None:
        raise pa.ArrowMemoryError("malloc of size 5000000000 failed")

    for kind, how in KINDS.items():
        path = shared_texts(tmp_path / "a.parquet", 3, kind)
        for module in ("parquet", "tables"):
            monkeypatch.setattr(f"spanscore.formats.{module}.refuse_unpacking", fail)
        with pytest.raises(InputError, match="there is not enough memory to read this file"):
            ss.read(path, how)
        monkeypatch.undo()


def scored(folder: Path) -> Path:
    gold = ss.Corpus.from_arrays(["d"], [0], [0], [3], ["A"])
    ss.score(gold, gold, "exact", ci=0.95).save(folder)
    return folder


@pytest.mark.parametrize("times", [10**5, 10**7, 10**8])
def test_tallies_are_no_bomb(tmp_path: Path, times: int) -> None:
    """500 million zeros are 4 MB in a zip file."""
    folder = scored(tmp_path / "out")
    with np.load(folder / "tallies.npz") as archive:
        arrays = {name: archive[name] for name in archive.files}
    for name in ("doc0", "label0"):
        arrays[name] = np.zeros(times, np.int64)
    np.savez_compressed(folder / "tallies.npz", **arrays)
    script = MEASURED.replace("ss.read(", "from spanscore.result import tallies; tallies.read(")
    done = subprocess.run([sys.executable, "-c", script, str(folder)], capture_output=True, text=True, timeout=60)
    memory, _, said = done.stdout.partition(" ")
    assert "the file is damaged (ValueError)" in said if times == 10**5 else "unpack to more than" in said
    assert int(memory) < 100
    call = [sys.executable, "-m", "spanscore", "gate", str(folder), "--max-drop", "f=0.01", "--baseline", str(folder)]
    assert subprocess.run([*call, "--max-bytes", "5"], capture_output=True).returncode == 2


@pytest.mark.parametrize("how", ["rows", "texts"])
def test_a_history_is_no_bomb(tmp_path: Path, how: str) -> None:
    """3 million rows of 220 KB took 4.5 GB."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    from spanscore.analysis.history import log

    path = tmp_path / "history.parquet"
    log(scored(tmp_path / "out"), path)
    table = parquet.read_table(path).slice(0, 1)
    if how == "texts":
        place = table.schema.get_field_index("signature")
        table = table.set_column(place, table.schema.field(place), pa.array([LONG]))
    table = table.take(pa.array(np.zeros(1_000_000 if how == "rows" else 2000, np.int64)))
    parquet.write_table(table, path, compression="zstd", dictionary_pagesize_limit=1 << 30)
    script = MEASURED.replace("ss.read(", "from spanscore.analysis.history import read_history; read_history(")
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, timeout=60)
    memory, _, said = done.stdout.partition(" ")
    assert "unpack to more than" in said
    assert int(memory) < 500


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_compressed_arrow_data_is_refused_before_it_is_unpacked(codec: str, tmp_path: Path) -> None:
    """pyarrow unpacks a whole batch to tell its size: a file of 50 KB took 3.2 GB."""
    pa = pytest.importorskip("pyarrow")
    (tmp_path / "ds").mkdir()
    words = pa.array([["a" * 1000] * 2] * 50)
    for name, words_or_codes in {"plain": words, "dictionary": pa.array(["a", "b"] * 25).dictionary_encode()}.items():
        table = pa.table({"tokens": words_or_codes})
        target = tmp_path / "ds" / f"{name}.arrow"
        options = pa.ipc.IpcWriteOptions(compression=codec)
        with target.open("wb") as file, pa.ipc.new_stream(file, table.schema, options=options) as writer:
            writer.write_table(table)
        with pytest.raises(ss.InputError, match=rf"{name}.arrow: the Arrow data is compressed; save the dataset with"):
            ss.read(tmp_path / "ds", "hf")
        target.unlink()
