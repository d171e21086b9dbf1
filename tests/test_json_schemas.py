"""What commands write as JSON follows the schemas in docs/reference/schemas."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from calls import run

ROOT = Path(__file__).parents[1]
SCHEMAS = ROOT / "docs" / "reference" / "schemas"
GOLD, BASE, TUNED = (f"examples/{name}.jsonl" for name in ("gold", "base", "tuned"))
CALLS = {
    "results": ("score", GOLD, BASE, "-m", "iou", "-m", "leak", "--ci", "0.9", "--by", "meta.source", "--json", "-"),
    "sweep": ("sweep", GOLD, BASE, "-m", "iou", "-m", "leak", "--json", "-"),
    "plan": ("plan", "--recall", "0.99", "--json", "-"),
    "agreement": ("agree", GOLD, TUNED, "--json", "-", "-q"),
    "check": ("check", GOLD, BASE, "--json"),
}


def schema(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((SCHEMAS / f"{name}-1.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("name", CALLS)
def test_the_output_of_a_command_follows_its_schema(name: str) -> None:
    said, _ = run(*CALLS[name], cwd=ROOT)
    document = json.loads(said)
    assert document["schema"] == f"spanscore.{name}/1"
    jsonschema.validate(document, schema(name), cls=jsonschema.Draft202012Validator)


def test_claims_follow_the_schema_of_plans() -> None:
    said, _ = run("plan", "--spans", "400", "--documents", "100", "--json", "-", cwd=ROOT)
    jsonschema.validate(json.loads(said), schema("plan"), cls=jsonschema.Draft202012Validator)


def test_there_is_a_schema_for_each_call_and_it_can_fail() -> None:
    assert {path.name for path in SCHEMAS.iterdir()} == {f"{name}-1.json" for name in CALLS}
    for name in CALLS:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"schema": f"spanscore.{name}/1"}, schema(name))
