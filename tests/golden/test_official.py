"""The scripts of i2b2 2014, MEDDOCAN and the Text Anonymization Benchmark, on their golden files."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spanscore as ss
from golden.golden import load
from spanscore.formats.i2b2 import I2b2

I2B2 = load("i2b2_2014_invented.json")
MEDDOCAN = load("meddocan_sample.json")
TAB = load("tab_synthetic.json")
CATEGORIES = ("NAME", "PROFESSION", "LOCATION", "AGE", "DATE", "CONTACT", "ID", "OTHER")


def i2b2_side(side: str) -> ss.Corpus:
    return ss.Corpus.from_documents(
        {
            "id": name,
            "text": document["text"],
            "spans": [
                {"start": start, "end": end, "label": kind, "attrs": {"category": category}}
                for category, kind, start, end in document[side]
            ],
        }
        for name, document in I2B2["docs"].items()
    )


def i2b2_measure(table: str) -> str:
    """Return the measure of a table of the script, such as `Binary HIPPA Token` (it spells HIPAA both ways).

    What the file has as `CATEGORY HIPPA Token` are strict numbers: of DATE, whose types are all protected by HIPAA, it
    has those of `DATE Strict` again, not those of `DATE Token`.
    """
    *words, how = table.split()
    if words and words[0] in CATEGORIES and "HIPPA" in words:
        how = "Strict"
    options = ["binary=true"] if "Binary" in words else []
    options += ["hipaa=script"] if {"HIPAA", "HIPPA"} & set(words) else []
    options += [f"category={word}" for word in words if word in CATEGORIES]
    return f"i2b2.{how.lower()}({', '.join(options)})"


def zero_if_undefined(value: float) -> float:
    """The script prints 0.0 where P, R or the micro F is undefined."""
    return 0.0 if math.isnan(value) else value


@pytest.mark.parametrize("table", list(I2B2["expected"]))
def test_i2b2_equals_the_script(table: str) -> None:
    """Its numbers have four significant digits, and standard deviations two."""
    expected = I2B2["expected"][table]
    scores = ss.score(i2b2_side("gold"), i2b2_side("system"), i2b2_measure(table)).scores[0]
    macro, documents = scores.macro("document"), scores.by_document.values()
    for number, name in (("Precision", "precision"), ("Recall", "recall"), ("F1", "f")):
        micro = zero_if_undefined(getattr(scores.overall, name))
        assert f"{micro:.4}" == f"{expected[number]['micro']:.4}", number
        assert f"{getattr(macro, name):.4}" == f"{expected[number]['macro']:.4}", number
        deviation = np.std([zero_if_undefined(getattr(one, name)) for one in documents])
        assert expected[number]["macro_sd"] == (None if name == "f" else float(f"{deviation:.2}")), number


def test_i2b2_with_the_readme_s_list_counts_idnum() -> None:
    measures = [f"i2b2.strict(hipaa={whose}, category=ID)" for whose in ("script", "readme")]
    found = ss.score(i2b2_side("gold"), i2b2_side("system"), measures).scores
    assert [one.counts["annotated"] for one in found] == [1, 2]


def test_i2b2_files_give_the_same(tmp_path: Path) -> None:
    """Written as XML, read back, and streamed: the macro average needs no spans."""
    for side in ("gold", "system"):
        (tmp_path / side).mkdir()
        losses = I2b2().write_folder(lambda side=side: [i2b2_side(side)], tmp_path / side)  # type: ignore[misc]
        assert not any(losses.values())
    measures = [i2b2_measure(table) for table in I2B2["expected"]]
    whole = ss.score(i2b2_side("gold"), i2b2_side("system"), measures)
    streamed = ss.score(tmp_path / "gold", tmp_path / "system", measures, keep_spans=False)
    found = [[(one.overall, one.macro("document")) for one in result.scores] for result in (streamed, whole)]
    assert str(found[0]) == str(found[1])  # NaN is not equal to itself


def meddocan_side(side: str) -> ss.Corpus:
    """Return the spans of a side, and a text that has letters wherever the file does not say that there are none."""
    documents = []
    for name, document in MEDDOCAN["docs"].items():
        spans = [{"start": start, "end": end, "label": kind} for kind, start, end in document[side]]
        length = max(end for key in ("gold", "subtrack1", "subtrack2") for _, _, end in document[key])
        text = ["x"] * length
        for gaps in ("gold_mergeable_gaps", "subtrack2_mergeable_gaps"):
            for start, end in document[gaps]:
                text[start:end] = " " * max(end - start, 0)
        meta = {"sentences": document["n_sentences"]}
        documents.append({"id": name, "text": "".join(text), "spans": spans, "meta": meta})
    return ss.Corpus.from_documents(documents)


@pytest.mark.parametrize(
    ("expected", "measure", "system"),
    [
        ("subtrack1_ner", "meddocan.ner", "subtrack1"),
        ("subtrack1_ner", "meddocan.leak", "subtrack1"),
        ("subtrack2_strict", "meddocan.spans", "subtrack2"),
        ("subtrack2_merged", "meddocan.merged", "subtrack2"),
    ],
)
def test_meddocan_equals_the_script(expected: str, measure: str, system: str) -> None:
    numbers = MEDDOCAN["expected"][expected]
    scores = ss.score(meddocan_side("gold"), meddocan_side(system), measure)[measure]
    for name, number in numbers.items():
        if name == "leak":
            assert measure == "meddocan.ner" or f"{scores.counts['leak']:.4}" == f"{number:.4}"
            continue
        assert f"{getattr(scores, {'f1': 'f'}.get(name, name)):.4}" == f"{number:.4}", name


TAB_NUMBERS = {
    "token_recall": ("tab.token", "recall"),
    "mention_recall": ("tab.mention", "recall"),
    "recall_all_entities": ("tab.entity", "recall"),
    "recall_direct_entities": ("tab.entity(identifiers=direct)", "recall"),
    "recall_quasi_entities": ("tab.entity(identifiers=quasi)", "recall"),
    "token_precision": ("tab.token", "precision"),
    "mention_precision": ("tab.mention", "precision"),
    "token_f1": ("tab.token", "f"),
}


@pytest.mark.parametrize("system", list(TAB["systems"]))
def test_tab_equals_the_script(system: str, tmp_path: Path) -> None:
    """Both files are written as the benchmark has them, and read by the format `tab`."""
    case = TAB["systems"][system]
    (tmp_path / "gold.json").write_text(json.dumps(TAB["gold"]))
    masks = {document["doc_id"]: [list(span) for span in case["masked_spans"]] for document in TAB["gold"]}
    (tmp_path / "pred.json").write_text(json.dumps(masks))
    measures = list(dict.fromkeys(measure for measure, _ in TAB_NUMBERS.values()))
    files = tmp_path / "gold.json", tmp_path / "pred.json"
    result = ss.score(*files, measures, gold_format="tab(annotator=all)")
    apart = ss.score(*files, measures, annotator="all")
    assert [one.recall for one in apart.scores] == [one.recall for one in result.scores]
    assert [str(one.precision) for one in apart.scores] == [str(one.precision) for one in result.scores]
    for name, expected in case["expected"].items():
        if name == "token_recall_by_type":
            found: Any = {label: score.recall for label, score in result["tab.token"].by_type.items()}
            assert {label: round(recall, 3) for label, recall in found.items()} == expected
            continue
        measure, number = TAB_NUMBERS[name]
        assert f"{getattr(result[measure], number):.3f}" == f"{expected:.3f}", name


def test_all_gold_of_the_benchmark_is_read() -> None:
    """Every field of the gold annotations is read from the golden file as it stands."""
    for document in TAB["gold"]:
        assert document["quality_checked"] is True
        assert (document["task"], document["dataset_type"], document["doc_id"]) == ("t", "test", "d1")
        for annotator in document["annotations"].values():
            for mention in annotator["entity_mentions"]:
                assert document["text"][mention["start_offset"] : mention["end_offset"]] == mention["span_text"]
                assert mention["edit_type"] == "check"
