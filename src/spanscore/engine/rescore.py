"""Results made again from what they say of themselves: the files they are of, and how these were scored."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spanscore.align import LabelMap
from spanscore.engine.local import score_all
from spanscore.errors import InputError, UsageError, printable
from spanscore.formats import read_chunks, whole
from spanscore.stats import Bootstrap

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spanscore.corpus import Corpus
    from spanscore.result import Result


def score_again(folder: str | Path, *, gold: str | None = None, systems: Mapping[str, str] | None = None) -> Result:
    """Score what the results in a folder are of; from other places, if the files have moved.

    The signatures must be the same as before: if the files have changed, these are other numbers.
    """
    path = Path(folder) / "results.json" if Path(folder).is_dir() else Path(folder)
    said = _read(path)
    try:
        return _score(path, said, gold, systems or {})
    except UsageError as error:
        raise InputError(str(error), str(path)) from None
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(
            f"what these results say of themselves is damaged ({type(error).__name__}).", str(path)
        ) from None


def _score(path: Path, said: dict[str, Any], gold: str | None, systems: Mapping[str, str]) -> Result:
    settings, inputs = said["settings"], said["inputs"]
    if other := next((name for name in systems if name not in inputs["systems"]), None):
        raise UsageError(f"the results have no system called '{printable(other)}'.")
    options = settings.get("reading", {})
    found_gold = _corpus(path, gold, inputs["gold"], options)
    found = {name: _corpus(path, systems.get(name), about, options) for name, about in inputs["systems"].items()}
    least = settings.get("score_threshold")
    if least is not None:
        found = {name: one.at_least(least) for name, one in found.items()}
    if settings.get("only_predicted"):
        known = {name for one in found.values() for name in one.ids}
        kept = [number for number, name in enumerate(found_gold.ids) if name in known]
        found_gold = found_gold.take(np.array(kept, np.int64))
    result = score_all(
        found_gold,
        found,
        settings["measures"],
        beta=settings["beta"],
        label_map=LabelMap(settings["label_map"]),
        extra_documents=settings["extra_documents"],
        resolve=settings["resolve"],
        resolve_gold=settings.get("resolve_gold", True),
        by=tuple(settings.get("by", ())),
        ci=Bootstrap(*settings["ci"]) if "ci" in settings else None,
    )
    before = {(row["system"], _data(row["signature"])) for row in said["results"]}
    if {(one.system, _data(one.signature)) for one in result.scores} != before:
        raise InputError("the files or settings of these results have changed since; score them again.", str(path))
    for now, then in (
        (result.inputs["gold"], inputs["gold"]),
        *((result.inputs["systems"][name], about) for name, about in inputs["systems"].items()),
    ):
        now |= {key: then[key] for key in ("source", "format_reason") if isinstance(then.get(key), str)}
    warnings = dict.fromkeys([*(one for one in said["warnings"] if isinstance(one, str)), *result.warnings])
    return replace(result, warnings=tuple(warnings), settings=settings)


def _data(signature: str) -> str:
    """A signature without the version that wrote it."""
    return "|".join(part for part in signature.split("|") if not part.startswith("spanscore:"))


def _read(path: Path) -> dict[str, Any]:
    try:
        said = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"the results cannot be read ({error.strerror}).", str(path)) from None
    except (ValueError, RecursionError):
        raise InputError("the results are not JSON.", str(path)) from None
    needed = {"inputs", "settings", "results", "warnings"}
    if not isinstance(said, dict) or not needed <= said.keys() or not said["settings"]:
        raise InputError("these are no results that can be scored again; make them with spanscore score -o.", str(path))
    found: dict[str, Any] = said
    return found


def _corpus(results: Path, given: str | None, about: dict[str, Any], options: dict[str, Any]) -> Corpus:
    """The file that results name: where they say, seen from here or from their own folder, or where it is now."""
    source = given or about.get("source")
    if source is None or source == "-":
        raise InputError("these results are not of files; give them with --gold FILE and NAME=FILE.", str(results))
    place = Path(source)
    if given is None and not place.exists() and (results.parent / source).exists():
        place = results.parent / source
    if not place.exists():
        raise InputError(
            f"{source} is not there, which these results are of; give it with --gold FILE or NAME=FILE.", str(results)
        )
    return whole(read_chunks(str(place), about.get("format"), options))
