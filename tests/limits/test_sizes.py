"""Many labels, entries and systems, long specs, nested aliases: linear work, bounded pages, or a clear refusal."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import spanscore as ss
from calls import spanscore, write
from spanscore.align import LabelMap
from spanscore.analysis.compare import _letters
from spanscore.analysis.sweep import MANY, curves_of
from spanscore.errors import InputError, SpanscoreError, UsageError
from spanscore.measures import measure
from spanscore.report import confusion


def test_the_confusion_matrix_names_the_most_frequent_types() -> None:
    pytest.importorskip("plotly")
    types = [f"TYPE_{i:04}" for i in range(3000)]
    counts: dict[tuple[str | None, str | None], int] = {(name, name): 5 + i for i, name in enumerate(types)}
    counts |= dict.fromkeys(pairwise(types), 1) | {(name, None): 1 for name in types}
    rows, columns, cells = confusion.matrix(confusion.most_frequent(counts)[0])
    assert len(rows) == len(columns) == confusion.MOST + 2
    assert sum(map(sum, cells)) == sum(counts.values())
    assert "TYPE_2999" in rows
    assert "TYPE_0000" not in rows
    page = confusion.page(counts, "Confusion", "iou")
    assert len(page) < 6_000_000
    assert "2,900 others share one" in page


def test_a_report_has_curves_of_the_most_frequent_types_only() -> None:
    """All thresholds of all types at the best threshold of each type: 10,000 types took more than 20 GB."""
    types = [f"T{i:03}" for i in range(MANY + 50)]
    often = [*types, *types[50:]]
    offsets = range(len(often)), range(1, len(often) + 1)
    gold = ss.Corpus.from_arrays(["d"], [0] * len(often), *offsets, often)
    pred = ss.Corpus.from_arrays(["d"], [0] * len(often), *offsets, often, score=[0.5] * len(often))
    curves, notes = curves_of(ss.score(gold, pred, "exact"))
    assert [curve.type for curve in curves] == [None, *types[50:]]
    what = f"threshold curves of exact shown only for the {MANY} most frequent types"
    assert notes == [f"pred: {what}; run spanscore sweep for all of them."]
    assert len(ss.sweep(gold, pred, "exact").curves) == len(types) + 1


def test_the_confusion_matrix_runs_no_script_but_its_own() -> None:
    pytest.importorskip("plotly")
    page = confusion.page({("A", "A"): 1, ("</script><script>alert(1)", None): 2}, "Confusion", "iou")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    script = re.search(r"script-src ([^;]*);", policy[1])
    assert script is not None
    assert re.fullmatch(r"('sha256-[\w+/=]+' ?){2,}", script[1])
    assert "base-uri 'none'; form-action 'none'" in policy[1]
    assert page.count("<script") == script[1].count("sha256-")


def test_a_label_map_of_100_000_entries() -> None:
    labels = [f"L{i}" for i in range(100_000)]
    corpus = ss.Corpus.from_arrays(["d"], [0] * len(labels), range(len(labels)), range(1, len(labels) + 1), labels)
    renamed = LabelMap({name: f"M{name}" for name in labels})
    began = time.process_time()
    assert renamed.apply(corpus)[0].labels[-1] == "ML99999"
    assert time.process_time() - began < 5  # each entry looked up in a list took 100 s
    notes = renamed.unused(())
    assert len(notes) == 101
    assert notes[-1] == "the label map has 99900 more entries for labels that no span has."


LONG = 20_000


@pytest.mark.parametrize(
    "spec",
    [
        "a" * LONG,
        "iou(" + " " * LONG + ")",
        "iou(threshold=" + " " * LONG + "x=1)",
        "iou(threshold=0.5" + " " * LONG + "x)",
        "iou" + " " * LONG + "x",
        "sets:" + " " * LONG + "(",
        "iou(skip='" + "\\" * LONG,
        "iou(" + "a" * LONG + "=1)",
    ],
)
def test_long_specs_take_linear_time(spec: str) -> None:
    began = time.process_time()
    with pytest.raises(UsageError):
        measure(spec + "!")
    assert time.process_time() - began < 1


def test_aliases_that_multiply_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    from spanscore.detectors.presidio_engine import _read

    levels = "\n".join(f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 10)}]" for i in range(1, 9))
    (tmp_path / "bomb.yaml").write_text(f"l0: &l0 [x, x]\n{levels}\n")
    with pytest.raises(InputError, match="stand for more than 1,000,000 items"):
        _read(str(tmp_path / "bomb.yaml"))
    (tmp_path / "circle.yaml").write_text("a: &a {b: *a}\n")
    with pytest.raises(InputError, match="stand for more than"):
        _read(str(tmp_path / "circle.yaml"))
    (tmp_path / "fine.yaml").write_text("a: &a [1, 2]\nb: *a\n")
    assert _read(str(tmp_path / "fine.yaml")) == {"a": [1, 2], "b": [1, 2]}


def test_a_negative_seed_is_refused() -> None:
    call = [sys.executable, "-m", "spanscore", "score", "examples/gold.jsonl", "examples/base.jsonl", "--ci", "0.9"]
    done = subprocess.run([*call, "--seed", "-1"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "spanscore: the seed must not be negative.\n")


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_bytes_that_are_not_utf8_are_refused_in_unknown_fields_too(tmp_path: Path, name: str) -> None:
    fields = b'"full_text": "a", "spans": [], "\xff": 1' if name == "a.json" else b'"id": "d", "spans": [], "\xff": 1'
    data = b"[\n{%s}\n]\n" % fields if name == "a.json" else b'{"id": "c", "spans": []}\n{%s}\n' % fields
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=rf"{name}:2: .*not UTF-8"):
        ss.read(tmp_path / name, "presidio" if name == "a.json" else None)


def test_an_empty_label_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.conll").write_text("a B-X\nb I-\n")
    with pytest.raises(InputError, match=r"a\.conll:2: "):
        ss.read(tmp_path / "a.conll")


def test_damaged_parquet_is_refused(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    span = pa.struct(
        [
            ("start", pa.int32()),
            ("end", pa.int32()),
            ("label", pa.string()),
            ("attrs", pa.map_(pa.int32(), pa.string())),
        ]
    )
    rows = [[{"start": 0, "end": 1, "label": "A", "attrs": [(1, "x")]}]]
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"id": ["d"], "spans": pa.array(rows, pa.list_(span))}), path)
    with pytest.raises(InputError, match="names of attributes and metadata must be strings"):
        ss.read(path)
    data = path.read_bytes()
    for place in range(0, len(data), 3):
        path.write_bytes(data[:place] + b"\xff" + data[place + 1 :])
        with pytest.raises(SpanscoreError):
            ss.read(path, "parquet")


def nested(number: int, scored: bool) -> ss.Corpus:
    ends = range(4 * number, 3 * number, -1)
    scores = [i % 10007 / 10007 for i in range(number)] if scored else None
    return ss.Corpus.from_arrays(["d"], [0] * number, range(number), ends, ["A", "B"] * (number // 2), score=scores)


def test_curves_of_a_dense_document_are_left_out_of_the_report() -> None:
    from spanscore.analysis.sweep import curves_of, sweep

    result = ss.score(nested(600, False), nested(600, True), ["iou(merge=false)", "exact", "semeval.strict"])
    curves, notes = curves_of(result)
    assert not curves
    assert [note.split(" omitted")[0] for note in notes] == [
        "pred: threshold curves of iou(merge=false)",
        "pred: threshold curves of exact",
        "pred: threshold curves of semeval.strict",
    ]
    with pytest.raises(
        UsageError, match=r"exact at every threshold would count 2,\d+,\d+,\d+ spans and overlaps, more"
    ):
        sweep(nested(1400, False), {"pred": nested(1400, True)}, "exact")
    assert len(sweep(nested(60, False), {"pred": nested(60, True)}, "exact").curves[0].threshold) == 60


def test_changes_that_cancel_out_are_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    from spanscore.analysis import sweep as module

    sides = nested(40, False), {"pred": nested(40, True)}
    whole = module.sweep(*sides, "sixway.partial").curves
    monkeypatch.setattr(module, "HELD", 10)
    monkeypatch.setattr(module, "ROWS", 100)
    for one, other in zip(module.sweep(*sides, "sixway.partial").curves, whole, strict=True):
        assert one.threshold.tolist() == other.threshold.tolist()
        assert one.counts.tolist() == other.counts.tolist()


def test_hundreds_of_systems_are_compared_with_one_or_refused() -> None:
    gold = ss.Corpus.from_arrays(["a", "b"], [0, 1], [0, 0], [4, 4], ["A", "A"])
    systems = {f"s{number}": gold.with_spans(np.arange(number % 3)) for number in range(703)}
    with pytest.raises(
        UsageError, match=r"703 systems are 246,753 pairs, by 1 measure more than .* 10,000 tests; .*--against"
    ):
        ss.compare(gold, systems, "exact")
    with pytest.raises(UsageError, match="There is no system 's9999'"):
        ss.compare(gold, systems, "exact", against="s9999")
    some = {name: systems[name] for name in list(systems)[:30]}
    found = ss.compare(gold, some, "exact", against="s2", permutations=10, ci=ss.Bootstrap(resamples=10))
    assert len(found.differences) == 3 * 29
    assert {"s2"} == {one.second if one.first in ("s0", "s1") else one.first for one in found.differences}
    assert [_letters(703)[place] for place in (0, 25, 26, 701, 702)] == ["a", "z", "aa", "zz", "aaa"]


def test_agreement_on_countless_types_is_refused_with_the_numbers(tmp_path: Path) -> None:
    """It took 3.2 GB and 104 s: documents times types are counted, and each type has an interval."""
    for name in "ab":
        spans = [{"start": 5 * i, "end": 5 * i + 4, "label": f"{name}{i}"} for i in range(5_000)]
        write(tmp_path / f"{name}.jsonl", [{"id": "d", "text": "word " * 5_000, "spans": spans}])
    said = spanscore("agree", "a.jsonl", "b.jsonl", cwd=tmp_path, code=2).stderr
    assert "2 annotators are 1 pair; with 10000 types, they have more than 10,000 coefficients" in said
    for name in "ab":
        spans = [{"start": 5 * i, "end": 5 * i + 4, "label": f"{i}"} for i in range(1_000)]
        write(tmp_path / f"{name}.jsonl", [{"id": "d", "text": "word " * 5_000, "spans": spans}])
    call = ("agree", "a.jsonl", "b.jsonl", "--resamples", "10000")
    said = spanscore(*call, cwd=tmp_path, code=2).stderr
    assert "1 document and 10000 resamples by 1000 types are more than 8,388,608 counts" in said


def test_agreement_of_hundreds_of_annotators_is_refused_with_the_numbers(tmp_path: Path) -> None:
    documents = [{"id": "d", "text": "Ann", "spans": [{"start": 0, "end": 3, "label": "A"}]}]
    names = [f"{number}.jsonl" for number in range(703)]
    for name in names:
        write(tmp_path / name, documents)
    said = spanscore("agree", *names, cwd=tmp_path, code=2).stderr
    assert "703 annotators are 246753 pairs; with 1 type, they have more than 10,000 coefficients" in said
    assert "compare fewer annotators at once" in said


def test_data_in_the_names_of_fields_does_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An attribute of its own for each span is a column of its own: 30,000 of them took 3.6 GB."""
    monkeypatch.setattr("spanscore.corpus.columns.MANY_CELLS", 5_000)
    monkeypatch.setattr("spanscore.corpus.columns.MOST_CELLS_PER_VALUE", 50)
    for kind in ("attrs", "meta"):
        for names, taken in ((40, True), (100, False)):
            rows = range(1000)
            meta = [{f"k{i % names}": i} for i in rows]
            spans = [{"start": 0, "end": 3, "label": "A"}]
            documents = [
                {"id": str(i), "spans": [{**spans[0], "attrs": one}]}
                if kind == "attrs"
                else {"id": str(i), "spans": spans, "meta": one}
                for i, one in enumerate(meta)
            ]
            path = tmp_path / f"{kind}-{names}.jsonl"
            write(path, documents)
            if taken:
                columns = getattr(ss.read(path), kind)
                assert [columns[f"k{i % names}"].tolist()[i] for i in rows] == list(rows)
                assert columns["k1"].tolist()[:3] == [None, 1, None]
                continue
            what = (
                rf"^.*{kind}-100.jsonl: 100 different names of attributes or metadata in [\d,]+ rows leave nearly all"
            )
            with pytest.raises(InputError, match=what):
                ss.read(path)
            with pytest.raises(InputError, match="100 different names"):
                ss.Corpus.from_documents(documents)
            parts = [ss.Corpus.from_documents([document]) for document in documents]
            with pytest.raises(InputError, match="100 different names"):
                ss.Corpus.concat(parts)
