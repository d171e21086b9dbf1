"""Scoring again what a results.json describes: the same files, measures and settings."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spanscore.engine.evaluate import evaluate
from spanscore.engine.inputs import Input, Inputs
from spanscore.engine.plan import Plan
from spanscore.engine.run_folders import UNFINISHED, unfinished_run
from spanscore.errors import InputError, UsageError, printable
from spanscore.files import finish_interrupted
from spanscore.result.files import to_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spanscore.corpus import Corpus
    from spanscore.result import Result


CHANGED = "the files or settings have changed since these results were made; score again."
GIVE_PLACES = "give the places of files with --gold FILE and NAME=FILE"


def rescore(
    folder: str | Path,
    *,
    gold: str | None = None,
    systems: Mapping[str, str] | None = None,
    advice: str = GIVE_PLACES,
) -> Result:
    """Score again what the results in a folder describe; `gold` and `systems` say where files are that have moved.

    The signatures must be the same as before: if the files have changed, the results are out of date. `advice` says
    what the user can do if a file is not found.
    """
    path = Path(folder) / "results.json" if Path(folder).is_dir() else Path(folder)
    finish_interrupted(path.parent)
    recorded = _read(path)
    try:
        return _score(path, recorded, gold, systems or {}, advice)
    except UsageError as error:
        raise InputError(str(error), str(path)) from None
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(f"the description of these results is damaged ({type(error).__name__}).", str(path)) from None


def _score(path: Path, recorded: dict[str, Any], gold: str | None, systems: Mapping[str, str], advice: str) -> Result:
    settings, inputs = recorded["settings"], recorded["inputs"]
    if other := next((name for name in systems if name not in inputs["systems"]), None):
        raise UsageError(f"the results have no system called '{printable(other)}'.")
    annotated = _corpus(path, gold, inputs["gold"], advice)
    companion = Input(annotated)
    found = {
        name: _corpus(path, systems.get(name), about, advice, companion) for name, about in inputs["systems"].items()
    }
    if settings.get("only_predicted"):
        known = {name for one in found.values() for name in one.ids}
        kept = [number for number, name in enumerate(annotated.ids) if name in known]
        annotated = annotated.take(np.array(kept, np.int64))
    result = evaluate(Plan.from_settings(settings, keep_spans=True), Inputs.of(annotated, found))
    if settings.get("detector"):
        result = result.detected_by(settings["detector"])
    before = {(row["system"], _without_version(row["signature"])) for row in recorded["results"]}
    if {(one.system, _without_version(one.signature)) for one in result.scores} != before:
        raise InputError(CHANGED, str(path))
    if _slices(recorded) != _slices(json.loads(to_json(result))):  # signatures do not cover metadata
        raise InputError(CHANGED, str(path))
    for now, then in (
        (result.inputs["gold"], inputs["gold"]),
        *((result.inputs["systems"][name], about) for name, about in inputs["systems"].items()),
    ):
        now |= {key: then[key] for key in ("source", "format_reason") if isinstance(then.get(key), str)}
    warnings = dict.fromkeys([*(one for one in recorded["warnings"] if isinstance(one, str)), *result.warnings])
    return replace(result, warnings=tuple(warnings), settings=settings)


def _slices(results: dict[str, Any]) -> dict[tuple[Any, ...], Any]:
    """Return the counts of each slice of each split."""
    names = ("system", "measure", "level", "by", "slice")
    return {tuple(row.get(name) for name in names): row["counts"] for row in results["results"] if "slice" in row}


def _without_version(signature: str) -> str:
    return "|".join(part for part in signature.split("|") if not part.startswith("spanscore:"))


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text("utf-8"))
    except OSError as error:
        if (path.parent / UNFINISHED).is_file():
            raise unfinished_run(path.parent) from None
        raise InputError(f"cannot read the results ({error.strerror}).", str(path)) from None
    except (ValueError, RecursionError):
        raise InputError("the results are not valid JSON.", str(path)) from None
    needed = {"inputs", "settings", "results", "warnings"}
    if not isinstance(found, dict) or not needed <= found.keys() or not found["settings"]:
        raise InputError("these results cannot be scored again; make them with spanscore score -o.", str(path))
    recorded: dict[str, Any] = found
    return recorded


def _corpus(
    results: Path, given: str | None, about: dict[str, Any], advice: str, companion: Input | None = None
) -> Corpus:
    """Read a file that results name: from where it is now, as named, or relative to a folder above the results."""
    source = given or about.get("source")
    if source is None or source == "-":
        raise InputError(f"these results were not made from files; {advice}.", str(results))
    if given is not None:
        return Input.of(given, about.get("format"), companion).corpus()
    folders = [Path(), *results.resolve().parents]
    place = next((folder / source for folder in folders if (folder / source).exists()), None)
    if place is None:
        raise InputError(f"{source} was not found in the current folder or above the results; {advice}.", str(results))
    return Input.of(place, about.get("format"), companion).corpus()
