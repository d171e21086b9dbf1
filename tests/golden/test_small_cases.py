"""Small cases from the test suites and issues of other projects, each entered as published."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import spanscore as ss
from golden.golden import load

CASES = load("small_unit_cases.json")


def corpus(documents: dict[str, tuple[str | None, list[Any]]]) -> ss.Corpus:
    return ss.Corpus.from_documents(
        {
            "id": name,
            **({} if text is None else {"text": text}),
            "spans": [{"label": label, "start": start, "end": end} for label, start, end in spans],
        }
        for name, (text, spans) in documents.items()
    )


def one(case: Any, **more: Any) -> tuple[ss.Corpus, ss.Corpus]:
    """The gold and predicted spans of a case with one document."""
    text = case.get("text")
    gold, pred = (corpus({"d": (text, list(case[side]))}) for side in ("gold", "pred"))
    return gold, pred


def numbers(score: Any) -> list[float]:
    """P, R and F, with 0 for undefined, as most tools print it."""
    return [0.0 if n != n else n for n in (score.precision, score.recall, score.f)]


def test_edsnlp() -> None:
    docs = CASES["edsnlp"]["docs"]
    gold, pred = (corpus({str(i): (doc["text"], doc[side]) for i, doc in enumerate(docs)}) for side in ("gold", "pred"))
    result = ss.score(gold, pred, ["exact", "token"])
    for name in ("exact", "token"):
        expected, found = CASES["edsnlp"]["expected"][name], result[name]
        counts = (found.counts["tp"], found.counts["predicted"], found.counts["annotated"])
        assert counts == (expected["tp"], expected["positives"], expected["support"])
        assert numbers(found) == pytest.approx([expected[k] for k in "prf"], abs=1e-6)


def test_edsnlp_overlap() -> None:
    """Any overlap of one type, or a token Dice of at least d, which is a token IoU of d / (2 - d)."""
    docs = CASES["edsnlp"]["docs"]
    gold, pred = (corpus({str(i): (doc["text"], doc[side]) for i, doc in enumerate(docs)}) for side in ("gold", "pred"))
    for key, threshold in (("overlap_any", 1e-9), ("overlap_dice_ge_0.5", 1 / 3), ("overlap_dice_ge_1.0", 1.0)):
        name = f"iou(threshold={threshold!r}, unit=token, merge=false)"
        expected, found = CASES["edsnlp"]["expected"][key], ss.score(gold, pred, name).scores[0]
        assert found.counts["tp"] == expected["tp"], key
        assert numbers(found) == pytest.approx([expected[k] for k in "prf"], abs=1e-6), key
        assert found.counts["predicted"] == expected.get("positives", 3)
        assert found.counts["annotated"] == expected.get("support", 4)


def test_spacy(tmp_path: Path) -> None:
    case = CASES["spacy"]
    words = case["text"].split()
    assert len(case["pred_tokens"]) == 10  # spaCy splits $1
    assert [tag for tag in case["pred_tokens"] if tag != "O"] == ["B-ORG", "B-GPE", "B-ORG"]
    assert words[6] == "startup"
    found = ss.score(*one(case), "exact")["exact"]
    expected = case["expected"]
    assert numbers(found) == pytest.approx([expected[k] for k in "prf"], abs=1e-6)
    for label, row in expected["per_type"].items():
        assert numbers(found.by_type[label]) == pytest.approx(list(row), abs=1e-6), label


def test_deidentify_entities() -> None:
    case = CASES["deidentify"]["entity"]
    gold, pred = (corpus({name: (None, spans) for name, spans in case[side].items()}) for side in ("gold", "pred"))
    found = ss.score(gold, pred, "exact")["exact"]
    assert (found.micro().f, found.macro().f) == (case["micro_f"], case["macro_f"])
    assert {label: found.by_type[label].f for label in found.by_type} == dict(case["per_type"].items())


def test_deidentify_tokens() -> None:
    for name, measure in (("token", "token"), ("token_blind", "token.pii")):
        case = CASES["deidentify"][name]
        gold, pred = (
            corpus({document: (case["text"], spans) for document, spans in case[side].items()})
            for side in ("gold", "pred")
        )
        found = ss.score(gold, pred, measure).scores[0]
        rows = {"PII": found.overall} if name == "token_blind" else found.by_type
        expected = {"PII": case["expected"]} if name == "token_blind" else case["expected"]
        for label, row in expected.items():
            assert numbers(rows[label]) == pytest.approx(list(row), abs=1e-4)


def test_presidio_united_states() -> None:
    case = CASES["presidio"]
    starts, words = list(case["starts"]), list(case["tokens"])
    ends = [start + len(word) for start, word in zip(starts, words, strict=True)]
    gold, pred = (
        ss.Corpus.from_documents(
            [
                {
                    "id": "d",
                    "text": " ".join(words),
                    "tokens": list(zip(starts, ends, strict=True)),
                    "spans": [
                        {"start": start, "end": end, "label": tag}
                        for start, end, tag in zip(starts, ends, case[side], strict=True)
                        if tag != "O"
                    ],
                }
            ]
        )
        for side in ("gold", "pred")
    )
    expected = case["expected_run"]
    token = ss.score(gold, pred, "token")["token"]
    assert numbers(token) == pytest.approx(expected["token no skip words PRF1"], abs=1e-6)
    for key, name in (
        ("token no skip words PRF1", "presidio.token(skip=none)"),
        ("token default skip words PRF1", "presidio.token"),
    ):
        assert numbers(ss.score(gold, pred, name).scores[0]) == pytest.approx(expected[key], abs=1e-6), key
    for key, name in (
        ("span iou.9 no skip words PR", "presidio(skip=none)"),
        ("span iou.9 default skip words PR", "presidio"),
        ("span iou.5 no skip words PR", "presidio(skip=none, threshold=0.5)"),
    ):
        found = ss.score(gold, pred, name).scores[0]
        assert [found.precision, found.recall] == list(expected[key]), key


def test_presidio_michael_and_blob() -> None:
    michael, blob = CASES["presidio"]["michael"], CASES["presidio"]["blob"]
    gold, pred = (
        corpus({"d": (michael["text"], [["PERSON", *place] for place in michael[side]])}) for side in ("gold", "pred")
    )
    for name in ("iou", "presidio(unit=token)"):
        assert f"TP={ss.score(gold, pred, name).scores[0].counts['tp']}" == michael["right"]
        assert str(ss.score(gold, pred, name).scores[0].counts["tp"]) == michael["v0_3_2"]
    threshold = blob["iou_threshold"]
    counts = ss.score(*one(blob), f"presidio(threshold={threshold})").scores[0].counts
    assert f"num_predicted={counts['predicted']} TP={counts['tp']} P=R=1.0 (double counted)" == blob["v0_3_2"]
    counts = ss.score(*one(blob), f"iou(threshold={threshold}, count=spans)").scores[0].counts
    assert f"predicted={counts['predicted']}" == blob["right"]


@pytest.mark.parametrize("reverse", [False, True])
def test_nervaluate_issues(reverse: bool) -> None:
    for key in ("nervaluate_issue_29", "nervaluate_issue_40"):
        case = {side: list(reversed(CASES[key][side])) if reverse else CASES[key][side] for side in ("gold", "pred")}
        found = ss.score(*one(case), ["exact", "semeval.partial"])
        if key.endswith("29"):
            counts = found["exact"].counts
            hit = counts["tp"]
            assert (
                CASES[key]["expected_exact"]
                == f"recall {hit}/{counts['annotated']}, precision {hit}/{counts['predicted']}"
            )
        else:
            assert found["semeval.partial"].counts["partial"] == 1
            assert found["semeval.partial"].counts["missed"] == 1


def test_eval4ner() -> None:
    case = CASES["eval4ner_issue_1"]
    recall = ss.score(*one(case), "semeval.type")["semeval.type"].recall
    assert case["must"] == "type scheme must not give recall 1.0"
    assert recall == 1 / 3


def test_label_studio_counts_utf16() -> None:
    case = CASES["label_studio_1347"]
    (a, b), (start, end) = case["utf16"], case["codepoints"]
    assert case["text"][start:end] == case["surface"]
    assert case["text"].encode("utf-16-le")[2 * a : 2 * b].decode("utf-16-le") == case["surface"]


def test_muc7_formulas_are_those_of_semeval_strict() -> None:
    """Recall and precision of MUC-7 are COR/POS and COR/ACT; there is no partial credit."""
    case = CASES["muc7"]["formulas"]
    gold = corpus({"d": (None, [["A", 0, 3], ["B", 5, 8], ["C", 10, 12]])})
    pred = corpus({"d": (None, [["A", 0, 3], ["X", 5, 8], ["D", 20, 22]])})
    found = ss.score(gold, pred, "semeval.strict")["semeval.strict"]
    names = {
        "COR": "correct",
        "INC": "incorrect",
        "MIS": "missed",
        "SPU": "spurious",
        "POS": "possible",
        "ACT": "actual",
    }
    values = {short: found.counts[name] for short, name in names.items()}
    assert eval(case["REC"], {}, values) == found.recall
    assert eval(case["PRE"], {}, values) == found.precision
    assert values["POS"] == values["COR"] + values["INC"] + values["MIS"]
    assert values["ACT"] == values["COR"] + values["INC"] + values["SPU"]
    errors = values["INC"] + values["SPU"] + values["MIS"]
    assert eval(case["ERR"], {}, values) == errors / (values["COR"] + errors)
    assert (eval(case["UND"], {}, values), eval(case["OVG"], {}, values)) == (1 / 3, 1 / 3)
    assert eval(case["SUB"], {}, values) == 1 / 2


def test_pharmaconer() -> None:
    case = CASES["pharmaconer"]
    spans = [["X", 10 * i, 10 * i + 4] for i in range(case["tp"] + case["fn"])]
    gold, pred = (corpus({"d": (None, part)}) for part in (spans, spans[: case["tp"]]))
    found = ss.score(gold, pred, "exact")["exact"]
    assert found.counts["fp"] == case["fp"]
    assert numbers(found) == pytest.approx([case["P"], case["R"], case["F1"]], abs=5e-5)


def test_bratutils() -> None:
    """The README's row is consistent; the released code drops the spurious tags."""
    case = CASES["bratutils"]
    row = case["readme"]
    counts = {"correct": row["cor"], "incorrect": row["inc"], "partial": row["par"]}
    counts |= {"missed": row["mis"], "spurious": row["spu"]}
    measure = ss.measure("semeval.strict")
    _, actual, _, possible = measure.ratios(counts)
    assert (possible, actual) == (case["gold_n"], case["system_n"])
    precision, recall = row["cor"] / actual, row["cor"] / possible
    assert precision == pytest.approx(row["pre"], abs=1e-9)
    assert recall == pytest.approx(row["rec"], abs=1e-9)
    assert 2 * precision * recall / (precision + recall) == pytest.approx(row["fsc"], abs=1e-9)
    code = case["code_run_here"]
    assert {code[key] - row[key] for key in ("cor", "par", "inc", "mis")} == {0}
    assert (code["spu"], code["act"]) == (0, actual - row["spu"])
    assert code["cor"] / code["act"] == pytest.approx(code["pre"])
