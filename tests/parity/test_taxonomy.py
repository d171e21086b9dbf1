"""The taxonomy against presidio-evaluator 0.3.2: the branches of its labels, and its scores at three levels."""

from __future__ import annotations

import math
import random
from importlib.metadata import version
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from presidio_evaluator.entity_mapping import CanonicalMapper, EntityHierarchy
from presidio_evaluator.entity_mapping.definitions import HIERARCHY
from presidio_evaluator.evaluation import SpanEvaluator

import spanscore as ss
from spanscore.align.taxonomy import built_in

if TYPE_CHECKING:
    from pathlib import Path

BRANCHES = {
    "FINANCIAL_PII": "FINANCIAL",
    "DEVICE_IDENTIFIER": "DEVICE",
    "NETWORK_IDENTIFIER": "NETWORK",
    "AUTHENTICATION": "CREDENTIAL",
    "VEHICLE_PII": "VEHICLE",
    "LEGAL_PII": "LEGAL",
    "TRAVEL_PII": "TRAVEL",
}
"""What our taxonomy calls branches of the tool."""
PLATE = "a plate belongs to a vehicle; the tool has plates both there and under GOVERNMENT_ID"
ELSEWHERE = {
    "UNIQUE": "an identifier of an unknown issuer goes with ID, not with customers under EMPLOYMENT",
    "UNIQUE_ID": "as UNIQUE",
    "LICENSE_PLATE_NUMBER": PLATE,
    "LICENSE_PLATE_ID": PLATE,
    "VEHICLE_REGISTRATION_NUMBER": PLATE,
    "KFZ": PLATE,
    "KENNZEICHEN": PLATE,
    "PATIENT": "in i2b2, the name of a patient; the tool reads it as the number of a patient",
    "MISCELLANEOUS": "what fits no type is not a legal record",
    "MISC": "as MISCELLANEOUS; CoNLL-2003 and TAB use it for names of any other kind",
    "EVENT": "in OntoNotes, a named battle or storm, not a time",
}
"""Labels that the tool puts in another branch, and why we do not."""
WITH_COUNTRY = [
    "AU_TFN",
    "CANADA_PASSPORT_NUMBER",
    "DE_DRIVER_LICENSE",
    "FRENCH_TAX_ID",
    "GERMANY_PASSPORT",
    "INDIA_AADHAAR",
    "IN_VEHICLE_REGISTRATION",
    "ITALIAN_DRIVER_LICENSE",
    "JAPAN_BANK_ACCOUNT",
    "KR_PASSPORT",
    "MX_CURP",
    "SPAIN_DNI",
    "UK_NATIONAL_INSURANCE",
    "UK_POSTCODE",
    "UNITED_KINGDOM_PASSPORT",
    "US_BANK_NUMBER",
    "US_DRIVER_LICENSE",
    "US_IBAN",
    "US_ITIN",
    "US_PHONE",
    "US_SSN",
]


def branch(path: list[str]) -> str:
    found = path[1] if len(path) > 1 else path[0]
    return BRANCHES.get(found, found)


def test_the_version() -> None:
    assert version("presidio-evaluator") == "0.3.2"


def test_labels_have_the_branch_that_the_tool_gives_them() -> None:
    tool, ours = EntityHierarchy(), built_in()
    labels = dict.fromkeys(["PII", *tool._collect_all_raw(HIERARCHY["PII"]), *tool.canonical_to_branch, *WITH_COUNTRY])
    assert len(labels) > 450
    found = {label: (ours.resolve(label).branch, branch(tool.get_branch(label))) for label in labels}
    assert {label for label, (mine, theirs) in found.items() if mine != theirs} == set(ELSEWHERE)
    assert all(mine is not None for mine, _ in found.values())


def test_keys_compare_as_in_the_tool() -> None:
    tool, ours = EntityHierarchy(), built_in()
    for label in tool.raw_to_canonical:
        for spelled in (label.lower(), label.title(), "-".join(label), "_".join(label.lower())):
            assert ours.resolve(spelled).branch == ours.resolve(label).branch


GOLD = ("FIRST_NAME", "LAST_NAME", "PATIENT_NAME", "CITY", "ZIP", "STREET", "DATE", "DOB", "SSN", "US_ITIN", "ORG")
PREDICTED = ("PERSON", "NAME", "LOCATION", "GPE", "DATE_TIME", "US_SSN", "US_PASSPORT", "ORGANIZATION", "DATE")


def tags(rng: random.Random, length: int, labels: tuple[str, ...]) -> list[str]:
    found: list[str] = []
    while len(found) < length:
        found += [rng.choice(["O", *labels])] * rng.randint(1, 3)
    return found[:length]


def tagged(seed: object) -> Any:
    """Return a row for each token, with predictions that often lie where the annotations do."""
    rng = random.Random(str(seed))
    words = ("Ann", "Lee", "Oslo", "of", "the", "May", "1999", ",", "Acme", "-", "st")
    rows = []
    for number in range(60):
        tokens = [rng.choice(words) for _ in range(rng.randint(1, 14))]
        gold = tags(rng, len(tokens), GOLD)
        pred = [rng.choice(PREDICTED) if tag != "O" and rng.random() < 0.8 else "O" for tag in gold]
        pred = pred if rng.random() < 0.7 else tags(rng, len(tokens), PREDICTED)
        start = 0
        for token, annotation, prediction in zip(tokens, gold, pred, strict=True):
            rows.append([number, token, start, annotation, prediction, " ".join(tokens)])
            start += len(token) + 1
    return pd.DataFrame(rows, columns=["sentence_id", "token", "start_indices", "annotation", "prediction", "text"])


def corpus(frame: Any, column: str) -> ss.Corpus:
    records = []
    for number, rows in frame.groupby("sentence_id"):
        places = [[int(row.start_indices), int(row.start_indices) + len(row.token)] for row in rows.itertuples()]
        runs = [
            (label, list(run)) for label, run in groupby(zip(rows[column], places, strict=True), lambda one: one[0])
        ]
        spans = [{"start": run[0][1][0], "end": run[-1][1][1], "label": label} for label, run in runs if label != "O"]
        records.append({"id": str(number), "text": rows["text"].iloc[0], "tokens": places, "spans": spans})
    return ss.Corpus.from_documents(records)


def same(ours: float, theirs: float) -> bool:
    return ours == theirs or (math.isnan(ours) and math.isnan(theirs))


@pytest.mark.parametrize("threshold", [0.5, 0.9])
@pytest.mark.parametrize("unit", ["char", "token"])
def test_scores_at_three_levels(threshold: float, unit: str, tmp_path: Path) -> None:
    frame = tagged((threshold, unit))
    mapper = CanonicalMapper()
    mapper.analyze(frame)
    mapped = mapper.get_mapped_results_dataframe()
    evaluator = SpanEvaluator(iou_threshold=threshold, char_based=unit == "char")
    theirs = evaluator.calculate_hierarchical_scores(mapped, beta=2)
    # the tool's own mapping, as a taxonomy that replaces ours
    lines = {
        f"{row[3]}\t{row[2]}\t{row[1]}\n"
        for column in ("annotation", "prediction")
        for row in zip(
            [column] * len(frame), frame[column], mapped.detailed[column], mapped.branch[column], strict=True
        )
        if row[1] != "O"
    }
    file = tmp_path / "types.tsv"
    file.write_text("!replace\n" + "".join(sorted(lines)))
    parameters = f"threshold={threshold}, unit={unit}"
    ours = ss.score(
        corpus(frame, "annotation"),
        corpus(frame, "prediction"),
        [f"presidio({parameters})", f"presidio.pii({parameters})"],
        beta=2,
        taxonomy=file,
        levels="pii,branch,type",
    )
    for level, name in (("pii", "binary"), ("branch", "branch"), ("type", "detailed")):
        tool, score = theirs[name], ours[f"presidio@{level}"]
        rows = {label: row for label, row in tool.per_type.items() if row.num_annotated or row.num_predicted}
        assert set(rows) == set(score.by_type)
        for label, row in rows.items():
            one = score.by_type[label]
            counts = (row.true_positives, row.num_predicted, row.num_annotated)
            assert (one.counts["tp"], one.counts["predicted"], one.counts["annotated"]) == counts
            assert all(map(same, (one.precision, one.recall, one.f), (row.precision, row.recall, row.f_beta)))
        pii = ours[f"presidio.pii@{level}"]
        assert all(map(same, (pii.precision, pii.recall, pii.f), (tool.pii_precision, tool.pii_recall, tool.pii_f)))
    assert len(ours["presidio@type"].by_type) > len(ours["presidio@branch"].by_type) > 3
