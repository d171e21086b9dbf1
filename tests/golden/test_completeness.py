"""No golden entry is forgotten: each is asserted by a test, is a remark, or is a deliberate difference with its reason."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from golden.golden import HERE, leaves

REMARKS = r"/(source|note|notes(/\d+)?|policy_note|discrepancy|doc_discrepancy|shows_defect|name|case|format|text|columns)$|/meta/"
"""Entries that say where values come from or what they mean."""
DIFFERENCES = {
    r"conlleval_seqeval\.json/conlleval_quirk/perl_conlleval": "conlleval joins E and B of one type; our value is `right`",
    r"neleval\.json/measure_overlap/6/(max|sum)": "mentions of one side that overlap are refused, as LoReHLT's rules say",
    r"nervaluate\.json/order_dependence/nervaluate_1_2_1_strict_f1/\d": "depends on the order of predictions; ours does not",
    r"presidio_cases\.json/cases/\d+/upstream_head_0_2_4/(per_type_metrics|pii_metrics|confusion|errors)/.*": (
        "an older release; the preset reproduces 0.3.2, and both releases' counts are compared"
    ),
    r"presidio_cases\.json/cases/\d+/upstream_0_3_2/(per_type/\w+|pii)/(FP|FN)": (
        "where the tool has a defect, its FP and FN do not add up with what it predicts and annotates; ours do"
    ),
    r"presidio_cases\.json/cases/\d+/upstream_0_3_2/(errors|confusion)/.*": "the tool lists tokens as errors, we list spans",
    r"seqscore\.json/cases/1/without_repair": "SeqScore refuses illegal tags by default; we repair them with a note",
    r"semeval2013_9_1\.json/verdicts/\d/scenario": "the number of the scenario in the task's text",
    r"small_unit_cases\.json/presidio/michael/v0_3_token_iou": "a defect of release 0.3 that 0.3.2 does not have",
    r"small_unit_cases\.json/nervaluate_issue_29/old_nervaluate": "a defect of older releases",
}
"""Entries that we deliberately do not reproduce, and why; tests assert our value where there is one."""


@pytest.mark.slow
def test_no_entry_is_forgotten(tmp_path: Path) -> None:
    """Run the golden tests once more, and see which entries they read or compare."""
    here = Path(__file__)
    call = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", f"--ignore={here}", str(HERE)]
    place = tmp_path / "read.txt"
    environment = {**os.environ, "SPANSCORE_GOLDEN_READ": str(place)}
    done = subprocess.run(call, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout
    read = set(place.read_text().split("\n"))
    entries = {entry for file in HERE.glob("*.json") for entry in leaves(file.name)}
    unread = {entry for entry in entries - read if not re.search(REMARKS, entry)}
    forgotten = {entry for entry in unread if not any(re.fullmatch(path, entry) for path in DIFFERENCES)}
    assert not forgotten
    for path in DIFFERENCES:
        assert any(re.fullmatch(path, entry) for entry in entries), f"{path} names no entry"
