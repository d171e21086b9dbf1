"""Compressed inputs that unpack to far more than they should are refused before they fill the memory."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

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
