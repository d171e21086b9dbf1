"""The demo, on fewer documents than `make demo`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from spanscore.detectors.presidio_engine import best_model

ROOT = Path(__file__).parents[2]


def english_model() -> str | None:
    import spacy

    return best_model("en", spacy.util.get_installed_models())


@pytest.mark.slow
def test_the_demo(tmp_path: Path) -> None:
    call = ["sh", str(ROOT / "demo" / "demo.sh"), str(Path(sys.executable).parent), "demo-out", "150"]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=True)
    details = {
        language: json.loads((tmp_path / "demo-out" / language / "metrics.json").read_text())["details"]
        for language in ("de", "en")
    }
    assert {"PERSON", "LOCATION", "ORGANIZATION"} <= set(details["de"]["not_looked_for"])
    assert "PERSON (not looked for)" in done.stdout
    assert "spans fixed" in done.stdout
    comparison = json.loads((tmp_path / "demo-out" / "compare" / "comparison.json").read_text())
    changed = {row["slice"] for row in comparison["diff"] if row["by"] == "type" and row["fixed"] + row["broken"]}
    assert changed <= set(details["en"]["entity_recall_dict"])  # types of gold spans, though iou.pii ignores types
    assert changed
    leaks = done.stdout.partition("== What leaks most often")[2].partition("Open in a browser")[0]
    kinds = re.findall(r"^ +\d+ x .* \((\w+)\)$", leaks, re.MULTILINE)
    assert len(kinds) == len(set(kinds)) == 5
    assert done.stdout.count("private spans stay readable: ") == 2
    if english_model() is None:
        assert "PERSON" in details["en"]["not_looked_for"]
        assert "gold spans from all to sure" in done.stdout
    else:
        assert details["en"]["entity_recall_dict"]["PERSON"] > 0.5
        assert "gold spans from patterns to names" in done.stdout
        assert details["en"]["not_looked_for"] == ["AGE", "ORGANIZATION", "TITLE"]
