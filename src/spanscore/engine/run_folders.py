"""Folders of `spanscore run` as inputs: their predictions, scored as the run scored them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spanscore.align.account import describe
from spanscore.align.labels import LabelMap
from spanscore.align.score_thresholds import ScoreThresholds
from spanscore.engine.inputs import Input, Inputs
from spanscore.errors import InputError, UsageError, printable
from spanscore.files import finish_interrupted
from spanscore.formats import read

if TYPE_CHECKING:
    from spanscore.corpus import Corpus
    from spanscore.engine.inputs import Data
    from spanscore.formats import Format
    from spanscore.result import Result

RESULTS, PREDICTIONS, ALIGNMENT = "results.json", "predictions.jsonl", "alignment.json"
UNFINISHED = "predictions.partial.jsonl"
"""The file that a run writes to until it is finished."""
MAPS = ("label_map", "gold_map", "pred_map")
SIDES = {"gold_map": "gold", "pred_map": "predicted"}
"""The maps of a run, and what alignment.json calls their sides."""
LEVELS = ("align", "taxonomy", "levels", "shared")
"""Settings of the taxonomy, which can be overridden."""
SAME = ("beta", "resolve", "resolve_gold", "extra_documents", "annotator", "entities")
"""Settings in which runs must not differ to be scored together, besides their alignment."""
DEFAULTS: dict[str, Any] = {"resolve_gold": True, "annotator": "", "entities": []}
"""Settings that results name only if they have another value."""
OPTIONS = {"resolve_gold": "the resolution of gold spans", "extra_documents": "the handling of extra documents"}


def unfinished_run(folder: Path) -> InputError:
    """Return the error for the folder of a run that was stopped."""
    return InputError("this run is unfinished; continue it with spanscore run ... --resume.", str(folder))


@dataclass(frozen=True)
class RunFolder:
    """The folder of a run, and how the run was scored."""

    path: Path
    settings: Mapping[str, Any]
    alignment: Mapping[str, Mapping[str, str | None]]
    """What each label is mapped to, by the map of its side; None: left out."""
    fingerprint: str
    """The fingerprint of the gold documents that were evaluated."""

    @classmethod
    def of(cls, data: Data | Input) -> RunFolder | None:
        """Return the run in a folder; None if this is anything else."""
        path = data.path if isinstance(data, Input) else str(data) if isinstance(data, str | Path) else None
        try:
            folder = None if path is None or path == "-" else Path(path)
            if folder is None:
                return None
            finish_interrupted(folder)
            finished = all((folder / name).is_file() for name in (RESULTS, PREDICTIONS, ALIGNMENT))
            unfinished = not finished and (folder / UNFINISHED).is_file()
        except (OSError, ValueError):
            return None
        if unfinished:
            raise unfinished_run(folder)
        if not finished:
            return None
        try:
            results, alignment = (json.loads((folder / name).read_text("utf-8")) for name in (RESULTS, ALIGNMENT))
            settings = results["settings"]
            to = {
                name: {one["label"]: one["to"] for one in alignment[side]} | settings.get(name, {})
                for name, side in SIDES.items()
            }
            given = {name: settings.get(name, DEFAULTS[name]) if name in DEFAULTS else settings[name] for name in SAME}
            more = {
                name: settings.get(name)
                for name in ("measures", "score_threshold", "not_looked_for", "detector", *MAPS, *LEVELS)
            }
            return cls(folder, {**given, **more}, to, results["inputs"]["gold"]["fingerprint"])
        except OSError as error:
            raise InputError(f"the run cannot be read ({error.strerror}).", str(folder)) from None
        except (ValueError, KeyError, TypeError, RecursionError):
            raise InputError("this folder of a run is damaged; run it again.", str(folder)) from None

    @property
    def score_threshold(self) -> ScoreThresholds:
        """The minimum score of the predictions that the run counted."""
        return ScoreThresholds.of(self.settings["score_threshold"])

    def predictions(self) -> Corpus:
        """Return the predictions of any score."""
        return read(self.path / PREDICTIONS, "spanscore")


@dataclass(frozen=True)
class RunInputs:
    """The inputs and the settings of runs that were scored in the same way."""

    inputs: Inputs
    measures_of_each: dict[str, list[str]]
    settings: dict[str, Any]
    notes: tuple[str, ...]
    not_looked_for: tuple[str, ...]
    """Types that none of the detectors looked for."""
    detectors: Mapping[str, str]
    """The fingerprints of the detectors by system."""

    @property
    def measures(self) -> list[str]:
        """The measures of the runs; runs that were scored by different ones are refused."""
        (first_name, first), *others = self.measures_of_each.items()
        for name, measures in others:
            if measures != first:
                shown = " and ".join(", ".join(one) for one in (first, measures))
                names = f"'{printable(first_name)}' and '{printable(name)}'"
                raise UsageError(f"{names} were scored by different measures ({shown}); name some with -m.")
        return first

    def finished(self, result: Result) -> Result:
        """Return a result with what is needed to score it again, and with notes."""
        skipped = {"not_looked_for": list(self.not_looked_for)} if self.not_looked_for else {}
        known = result.detected_by(self.detectors) if self.detectors else result
        return known.with_warnings(self.notes).with_settings(only_predicted=True, **skipped)


def inputs_of_runs(
    gold: Data,
    systems: Mapping[str, Data],
    given: Mapping[str, Any],
    *,
    gold_format: str | Format | None = None,
    all_scores: bool = False,
) -> RunInputs | None:
    """Return the inputs and settings of runs whose folders are given as systems; None if no system is one.

    Runs that differ in what they map, resolve, weigh or evaluate are refused, and so are settings in `given` that
    contradict them. Only the documents that the runs evaluated count, and only the predictions that reach the score
    threshold of their run, unless `all_scores` is set or `given` has another threshold.
    """
    found = {name: RunFolder.of(data) for name, data in systems.items()}
    runs = {name: run for name, run in found.items() if run is not None}
    if not runs:
        return None
    if len(runs) < len(found):
        other = next(name for name in found if name not in runs)
        raise UsageError(
            f"'{printable(other)}' is not the folder of a run, but another system is; give folders for all."
        )
    first_name, first = next(iter(runs.items()))
    maps = {side: dict(to) for side, to in first.alignment.items()}
    for name, run in runs.items():
        _refuse_difference(first_name, first, name, run, maps)
        maps = {side: {**to, **run.alignment[side]} for side, to in maps.items()}
    own = {**first.settings, "entities": first.settings["entities"] or given.get("entities", [])}
    for name, value in given.items():
        if name in (*SAME, *MAPS) and value != own.get(name):
            option = "map" if name == "label_map" else name.replace("_", "-")
            raise UsageError(f"the runs have their own {option}; leave out --{option}.")
    corpora = {name: run.predictions() for name, run in runs.items()}
    documents = set(corpora[first_name].ids)
    for name, one in corpora.items():
        if set(one.ids) != documents:
            raise UsageError(f"'{first_name}' and '{name}' evaluated different documents; run both on the same.")
    annotated = Input.of(gold, gold_format, all_annotators=bool(first.settings["annotator"])).corpus()
    kept = np.array([number for number, name in enumerate(annotated.ids) if name in documents], np.int64)
    if len(kept) < len(documents):
        raise UsageError("the runs have documents that the gold data does not; give the dataset of the runs.")
    annotated = annotated.take(kept) if len(kept) < len(annotated) else annotated
    notes = tuple(
        f"the gold data is not what {printable(name)} was run on; its numbers may differ from those of the run."
        for name, run in runs.items()
        if run.fingerprint != annotated.fingerprint
    )
    mapped = {side: {label: to for label, to in listed.items() if to != label} for side, listed in maps.items()}
    settings = {**{name: own[name] for name in SAME}, **mapped}
    if not {*LEVELS, "shared_types"} & given.keys():
        settings |= _levels(runs)
    if not all_scores and not given.get("score_threshold"):
        settings["score_threshold"] = first.score_threshold
        if any(run.score_threshold != first.score_threshold for run in runs.values()):
            settings["score_threshold"] = None
            pred_map = LabelMap(mapped["pred_map"])
            scoreless = {name: runs[name].score_threshold.without_score(one, pred_map) for name, one in corpora.items()}
            notes += tuple(
                describe(Counter({(name, "scoreless", ""): count for name, count in scoreless.items() if count}))
            )
            corpora = {name: runs[name].score_threshold.apply(one, pred_map) for name, one in corpora.items()}
    measures = {name: run.settings["measures"] for name, run in runs.items()}
    skipped = [run.settings["not_looked_for"] or [] for run in runs.values()]
    by_none = tuple(name for name in skipped[0] if all(name in others for others in skipped))
    detectors = {name: str(run.settings["detector"]) for name, run in runs.items() if run.settings["detector"]}
    return RunInputs(Inputs.of(annotated, corpora), measures, settings, notes, by_none, detectors)


def _levels(runs: Mapping[str, RunFolder]) -> dict[str, Any]:
    """Return the settings of the taxonomy that all runs have; runs with other levels or shared types are refused."""
    found = [{name: run.settings[name] for name in LEVELS if run.settings[name]} for run in runs.values()]
    if any(one != found[0] for one in found[1:]):
        raise UsageError("the runs differ in taxonomy, levels or shared types; give --level, or --shared-types.")
    return {name: _tuples(value) if name == "shared" else value for name, value in found[0].items()}


def _tuples(shared: Mapping[str, list[str]]) -> dict[str, tuple[str, ...]]:
    return {level: tuple(names) for level, names in shared.items()}


def _refuse_difference(
    first_name: str, first: RunFolder, name: str, run: RunFolder, maps: Mapping[str, Mapping[str, str | None]]
) -> None:
    names = f"'{printable(first_name)}' and '{printable(name)}'"
    for what in SAME:
        if first.settings[what] != run.settings[what]:
            shown = f"{first.settings[what]} and {run.settings[what]}"
            raise UsageError(f"{names} differ in {OPTIONS.get(what, what)} ({shown}); run both with the same settings.")
    for side, called in SIDES.items():
        for label, to in run.alignment[side].items():
            if (before := maps[side].get(label, to)) != to:
                ends = " and ".join("left out" if one is None else printable(one) for one in (before, to))
                what = f"{names} differ in alignment or entities: {called} {printable(label)} is {ends}"
                raise UsageError(f"{what}; run both with the same maps and --entities.")
