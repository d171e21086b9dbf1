"""Answers of detectors in the layouts of their documentation."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
import regex

import spanscore as ss
from formats.awkward import NAMES, PLACES, TEXT, found, gold, json_file, place
from spanscore.formats import read_chunks, together


def read(path: Path, format: str | None = None, ids: tuple[str, ...] = ("d1",)) -> ss.Corpus:  # noqa: A002
    return together(read_chunks(path, format, companion=lambda: gold(*ids)))


def graphemes(text: str) -> int:
    return len(regex.findall(r"\X", text))


PRESIDIO = [
    {
        "entity_type": label,
        "start": place(surface)[0],
        "end": place(surface)[1],
        "score": 0.85,
        "analysis_explanation": None,
        "recognition_metadata": {"recognizer_name": "SpacyRecognizer", "recognizer_identifier": "SpacyRecognizer_1"},
    }
    for surface, label in NAMES.items()
]
GLINER = [
    {"start": place(surface)[0], "end": place(surface)[1], "text": surface, "label": label, "score": 0.97}
    for surface, label in NAMES.items()
]
AWS = [
    {"Score": 0.99, "Type": label, "BeginOffset": place(surface)[0], "EndOffset": place(surface)[1]}
    for surface, label in NAMES.items()
]
AZURE = [
    {
        "text": surface,
        "category": label,
        "subcategory": "Other",
        "offset": graphemes(TEXT[: place(surface)[0]]),
        "length": graphemes(surface),
        "confidenceScore": 0.61,
    }
    for surface, label in NAMES.items()
]


def finding(surface: str, label: str, *, quote: bool = True) -> dict[str, Any]:
    start, end = place(surface)
    before, inside = len(TEXT[:start].encode()), len(surface.encode())
    one = {
        "infoType": {"name": label},
        "likelihood": "LIKELY",
        "location": {
            "byteRange": {"start": str(before), "end": str(before + inside)},
            "codepointRange": {"start": str(start), "end": str(end)},
        },
        "createTime": "2019-03-08T23:55:10.980Z",
    }
    return {**one, "quote": surface} if quote else one


DLP = [finding(surface, label) for surface, label in NAMES.items()]
PYTHON_DLP = [
    {
        "info_type": one["infoType"],
        "likelihood": 4,
        "location": {
            "byte_range": one["location"]["byteRange"],
            "codepoint_range": one["location"]["codepointRange"],
        },
        "quote": one["quote"],
    }
    for one in DLP
]
AZURE_DOCUMENTS = {"documents": [{"id": "a", "entities": AZURE}, {"id": "b", "entities": []}], "errors": []}
LAYOUTS: dict[str, tuple[str, Any]] = {
    "presidio, nested": ("recognizer-results", [PRESIDIO, []]),
    "presidio, by id": ("recognizer-results", {"a": PRESIDIO, "b": []}),
    "presidio, objects": ("recognizer-results", [{"id": "a", "results": PRESIDIO}, {"id": "b", "results": []}]),
    "gliner, nested": ("gliner", [GLINER, []]),
    "gliner, objects": ("gliner", [{"text": TEXT, "entities": GLINER}, {"text": "", "entities": []}]),
    "aws, answers": ("aws", [{"Entities": AWS}, {"Entities": []}]),
    "aws, batch": (
        "aws",
        {"ResultList": [{"Index": 1, "Entities": []}, {"Index": 0, "Entities": AWS}], "ErrorList": []},
    ),
    "aws, job of one file": (
        "aws",
        [{"Entities": [], "File": "docs.txt", "Line": 1}, {"Entities": AWS, "File": "docs.txt", "Line": 0}],
    ),
    "aws, job of files": (
        "aws",
        [{"Entities": AWS, "File": "a.txt"}, {"Entities": [], "File": "b.txt"}],
    ),
    "azure 3.1": (
        "azure",
        {"documents": [{"id": "a", "entities": AZURE, "warnings": []}, {"id": "b", "entities": []}], "errors": []},
    ),
    "azure, analyze-text": (
        "azure",
        {
            "kind": "PiiEntityRecognitionResults",
            "results": {
                "documents": [
                    {"redactedText": "***", "id": "a", "entities": AZURE, "warnings": []},
                    {"redactedText": "", "id": "b", "entities": [], "warnings": []},
                ],
                "errors": [],
                "modelVersion": "2021-01-15",
            },
        },
    ),
    "aws, batches": (
        "aws",
        [{"ResultList": [{"Index": 0, "Entities": AWS}]}, {"ResultList": [{"Index": 0, "Entities": []}]}],
    ),
    "azure, list of answers": (
        "azure",
        [{"documents": [{"id": "a", "entities": AZURE}]}, {"documents": [{"id": "b", "entities": []}]}],
    ),
    "azure, job": (
        "azure",
        {
            "jobId": "1",
            "status": "succeeded",
            "tasks": {
                "completed": 1,
                "items": [{"kind": "PiiEntityRecognitionLROResults", "results": AZURE_DOCUMENTS}],
            },
        },
    ),
    "dlp, dictionaries of the Python client": (
        "dlp",
        [{"result": {"findings": PYTHON_DLP, "findings_truncated": False}}, {"result": {"findings": []}}],
    ),
    "dlp": ("dlp", [{"result": {"findings": DLP}}, {"result": {}}]),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["answers.json", "answers.jsonl"])
def test_documented_layouts(layout: str, name: str, tmp_path: Path) -> None:
    format_name, value = LAYOUTS[layout]
    if name.endswith(".jsonl") and not isinstance(value, list):
        value = [value]
    corpus = read(json_file(tmp_path / name, value), ids=("a", "b"))
    assert corpus.format == format_name
    assert found(corpus) == {"a": PLACES, "b": set()}
    assert corpus.score is not None


@pytest.mark.parametrize("one", [PRESIDIO, GLINER, {"Entities": AWS}, AZURE, {"findings": DLP}])
@pytest.mark.parametrize("how", ["folder", "zip"])
def test_one_file_per_document(one: Any, how: str, tmp_path: Path) -> None:
    data = json.dumps(one)
    if how == "folder":
        path = tmp_path / "answers"
        path.mkdir()
        for name in ("a", "b"):
            (path / f"{name}.json").write_text(data)
    else:
        path = tmp_path / "answers.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for name in ("a", "b"):
                archive.writestr(f"{name}.json", data)
    assert found(read(path, ids=("a", "b"))) == {"a": PLACES, "b": PLACES}


def test_attributes_and_scores(tmp_path: Path) -> None:
    def first(value: Any) -> Any:
        return next(iter(read(json_file(tmp_path / "a.json", value)).documents())).spans[0]

    assert first([PRESIDIO]).attrs == {"recognizer": "SpacyRecognizer"}
    assert (first([{"findings": DLP}]).score, first([{"findings": DLP}]).attrs) == (0.8, {"likelihood": "LIKELY"})
    assert first({"documents": [{"id": "d1", "entities": AZURE}]}).attrs == {"subcategory": "Other"}
    assert first([{"findings": PYTHON_DLP}]).attrs == {"likelihood": "LIKELY"}
    medical = {"Id": 0, "Text": next(iter(NAMES)), "Category": "PROTECTED_HEALTH_INFORMATION", "Traits": []}
    assert first({"Entities": [{**AWS[0], **medical}]}).attrs == {"category": "PROTECTED_HEALTH_INFORMATION"}


def test_lists_belong_to_the_gold_documents_in_their_order(tmp_path: Path) -> None:
    path = json_file(tmp_path / "a.jsonl", [[], PRESIDIO])
    assert found(read(path, ids=("x", "y"))) == {"x": set(), "y": PLACES}
    assert found(ss.read(path)) == {"0": set(), "1": PLACES}
    with pytest.raises(ss.errors.InputError, match="results for 2 documents and no ids, but the gold data has 1 doc"):
        read(path)


def test_scoring_answers_without_ids(tmp_path: Path) -> None:
    data = tmp_path / "gold.jsonl"
    spans = [{"start": start, "end": end, "label": label} for start, end, label in PLACES]
    json_file(data, [{"id": "x", "text": TEXT, "spans": spans}])
    for answers in ([PRESIDIO], {"documents": [{"id": "x", "entities": AZURE}]}):
        (row,) = ss.score(data, json_file(tmp_path / "a.json", answers), "exact").scores
        assert row.overall.f == 1.0


def test_azure_units(tmp_path: Path) -> None:
    def answers(unit: str) -> Path:
        size = {"codepoint": len, "utf16": lambda text: len(text.encode("utf-16-le")) // 2, "grapheme": graphemes}[unit]
        entities = [
            {"category": label, "offset": size(TEXT[: place(name)[0]]), "length": size(name), "confidence_score": 1}
            for name, label in NAMES.items()
        ]
        return json_file(tmp_path / "a.json", [{"id": "d1", "entities": entities}])

    for unit in ("codepoint", "utf16", "grapheme"):
        assert found(read(answers(unit), f"azure(unit={unit})")) == {"d1": PLACES}
    hints = r"grapheme units need the text.*check GOLD FILE.*azure\(texts=FILE\).*azure\(unit=codepoint\)"
    with pytest.raises(ss.errors.InputError, match=hints):
        ss.read(answers("grapheme"))
    texts = json_file(tmp_path / "texts.jsonl", [{"id": "d1", "text": TEXT, "spans": []}])
    assert found(ss.read(answers("grapheme"), "azure", texts=str(texts))) == {"d1": PLACES}


def test_dlp_ranges(tmp_path: Path) -> None:
    first = {"infoType": {"name": "X"}, "location": {"codepointRange": {"end": "2"}, "byteRange": {"end": "2"}}}
    assert found(read(json_file(tmp_path / "a.json", {"result": {"findings": [first]}}))) == {"d1": {(0, 2, "X")}}
    quiet = [finding(surface, label, quote=False) for surface, label in NAMES.items()]
    assert found(read(json_file(tmp_path / "a.json", {"findings": quiet}), "dlp(unit=byte)")) == {"d1": PLACES}
    for one in quiet:
        del one["location"]["codepointRange"]
    path = json_file(tmp_path / "a.json", {"findings": quiet})
    with pytest.raises(ss.errors.InputError, match=r"only a byteRange; read the file with dlp\(unit=byte\)"):
        read(path)
    assert found(read(path, "dlp(unit=byte)")) == {"d1": PLACES}


def test_gliner_training_data(tmp_path: Path) -> None:
    words = ["Dr", "😀", "Zoe\u0308", "Ng", "שלום"]
    example = {"tokenized_text": words, "ner": [[2, 3, "person"], [4, 4, "person"]]}
    corpus = ss.read(json_file(tmp_path / "train.json", [example]))
    text = " ".join(words)
    assert corpus.format == "gliner"
    assert corpus.text == (text,)
    assert {text[start:end] for start, end, _ in found(corpus)["0"]} == {"Zoe\u0308 Ng", "שלום"}
    with pytest.raises(ss.errors.InputError, match=r"ner\[0\]: there are only 5 words"):
        ss.read(json_file(tmp_path / "train.json", [{**example, "ner": [[4, 5, "person"]]}]))


@pytest.mark.parametrize(
    ("format_name", "value", "message"),
    [
        ("aws", {"Labels": "x"}, "expected the entities of a document in the field Entities; there are Labels"),
        (
            "aws",
            {"Entities": [{"Type": "X", "BeginOffset": "1", "EndOffset": 2}]},
            r"BeginOffset: expected int, got str",
        ),
        ("dlp", {"findings": [{"infoType": {"name": "X"}, "location": {}}]}, "the finding has no range of text"),
        ("gliner", [[{"start": -5, "end": 2, "label": "X"}]], "negative or too large"),
    ],
)
def test_errors(format_name: str, value: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(ss.errors.InputError, match=message):
        read(json_file(tmp_path / "a.json", value), format_name)


def test_batches_keep_the_order_of_the_file(tmp_path: Path) -> None:
    """The Index counts from 0 in each batch, so that it must not mix the documents of several."""
    batch = {"ResultList": [{"Index": 1, "Entities": []}, {"Index": 0, "Entities": AWS}]}
    path = json_file(tmp_path / "a.jsonl", [batch, batch])
    assert [len(one) for one in found(ss.read(path)).values()] == [len(AWS), 0, len(AWS), 0]


def test_jobs_of_several_files_keep_their_documents_together(tmp_path: Path) -> None:
    lines = [("a", 1, []), ("b", 0, AWS), ("a", 0, AWS), ("b", 1, [])]
    answers = [{"Entities": entities, "File": file, "Line": line} for file, line, entities in lines]
    path = json_file(tmp_path / "a.jsonl", answers)
    assert [len(one) for one in found(ss.read(path)).values()] == [len(AWS), 0, len(AWS), 0]


@pytest.mark.parametrize(
    ("name", "value"),
    [("azure", {"documents": [{"id": "d1", "entities": []}]}), ("aws", {"ResultList": [{"Index": 0, "Entities": []}]})],
)
def test_answers_without_findings_are_recognised(name: str, value: Any, tmp_path: Path) -> None:
    corpus = read(json_file(tmp_path / "a.json", value))
    assert (corpus.format, found(corpus)) == (name, {"d1": set()})


def test_a_batch_without_documents_asks_for_the_format(tmp_path: Path) -> None:
    with pytest.raises(ss.errors.InputError, match="no document; name its format"):
        read(json_file(tmp_path / "a.json", {"ResultList": []}))


def test_errors_say_where_in_nested_answers(tmp_path: Path) -> None:
    """The line of a nested value counts the lines before it; a file name may contain a colon."""
    broken = {"tasks": {"items": [{"results": {"documents": [{"id": "a", "entities": [{"category": 1}]}]}}]}}
    path = tmp_path / "a: b.json"
    path.write_text("\n" + json.dumps(broken, indent=0))
    place = r"a: b.json:\d+: tasks.items\[0\].results.documents\[0\]: \[0\].category"
    with pytest.raises(ss.errors.InputError, match=place) as caught:
        read(path, "azure")
    line = int(str(caught.value).split("b.json:")[1].partition(":")[0])
    assert path.read_text().split("\n")[line - 1 : line + 1] == ["{", '"id": "a",']
    path.write_text('{"documents": [{]}')
    with pytest.raises(ss.errors.InputError, match=r"a: b.json: this is not JSON: .*\(line 1\)"):
        read(path, "azure")
