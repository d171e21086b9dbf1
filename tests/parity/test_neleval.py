"""neleval 3.1.1 and spanscore give the same numbers on random annotations."""

from __future__ import annotations

import collections
import collections.abc
import math
import random
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spanscore as ss
from spanscore.measures.neleval_names import GROUPS, NAMED

# neleval expects these where they were when it was written
setattr(collections, "Sequence", collections.abc.Sequence)  # noqa: B010
setattr(np, "int", int)  # noqa: B010
from neleval import configs  # noqa: E402
from neleval.document import Reader  # noqa: E402
from neleval.evaluate import Evaluate  # noqa: E402

DOCUMENTS = 300
TYPES = [f'{{"type": "{kind}", "reftype": "{how}"}}' for kind in ("PER", "ORG", "LOC", "GPE") for how in ("NAM", "NOM")]
ENTITIES = ["Q1", "Q2", "Q3", "Q4", "NIL1", "NIL2", "NIL3"]
WEIGHTS = [("PER", "ORG", 0.4), ("PER", "ORG", 0.25), ("ORG", "GPE", 0.75), ("LOC", "LOC", 0.5), ("GPE", "PER", 0.0)]


def mentions(rng: random.Random, gold: list[tuple[int, int]] | None) -> list[tuple[int, int]]:
    """Return places that do not overlap; a system's are often at or near the gold ones."""
    if gold is None:
        at, places = 0, []
        for _ in range(rng.randint(1, 8)):
            at += rng.randint(1, 6)
            end = at + rng.randint(0, 8)
            places.append((at, end))
            at = end + 1
        return places
    places, last = [], -1
    for start, end in gold:
        start, end = start + rng.choice([0, 0, 0, 1, -1]), end + rng.choice([0, 0, 0, 2, -2])
        if rng.random() < 0.85 and last < start <= end:
            places.append((start, end))
            last = end
    return places


def lines(seed: int) -> tuple[list[str], list[str]]:
    rng = random.Random(seed)
    sides: tuple[list[str], list[str]] = ([], [])
    for number in range(DOCUMENTS):
        gold = mentions(rng, None)
        for side, places in zip(sides, (gold, mentions(rng, gold)), strict=True):
            for start, end in places:
                candidates = []
                for _ in range(rng.choice([1, 1, 1, 2])):
                    candidates += [rng.choice(ENTITIES), f"{rng.random():.6f}", rng.choice(TYPES)]
                side.append("\t".join([f"doc{number:03}", str(start), str(end), *candidates]))
    return sides


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Path, Path]]:
    folder = tmp_path_factory.mktemp("neleval")
    made = []
    for seed in range(8):
        paths = folder / f"gold{seed}.tsv", folder / f"system{seed}.tsv"
        for path, side in zip(paths, lines(seed), strict=True):
            path.write_text("\n".join(side) + "\n")
        made.append(paths)
    return made


def theirs(gold: Path, system: Path, measures: list[str], **options: Any) -> dict[str, dict[str, float]]:
    with gold.open() as left, system.open() as right, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found: dict[str, dict[str, float]] = Evaluate(list(Reader(right)), list(Reader(left)), measures, **options)()
    return found


def ours(files: tuple[Path, Path], measures: Any) -> ss.Result:
    return ss.score(ss.read(files[0]), ss.read(files[1]), measures)


def same(score: Any, expected: dict[str, float], what: str) -> None:
    """Compare the scores; neleval writes 0 where a number is undefined."""
    numbers = {**score.counts, "precision": score.precision, "recall": score.recall, "fscore": score.f}
    defined = {name: 0.0 if math.isnan(value) else value for name, value in numbers.items()}
    assert defined == pytest.approx({name: expected[name] for name in defined}, abs=1e-9, rel=1e-9), what


AGGREGATES = ["muc", "b_cubed", "entity_ceaf", "mention_ceaf", "pairwise", "pairwise_negative"]
FILTERS = ["none", "is_linked", "is_nil", "is_first"]
SPELT = [
    *(
        f"sets:{which}:{key}"
        for which in ("", "is_linked", "is_nil", "is_first")
        for key in ("span", "docid+eid", "type")
    ),
    *(
        "sets::span+reftype",
        "sets::docid+type+kbid",
        "sets::start",
        "sets::end+eid",
        "sets::kbid",
        "sets::docid+start+end",
    ),
    *(f"{one}:{which}:span" for one in AGGREGATES for which in ("", "is_linked", "is_nil", "is_first")),
    *(f"{one}::span+type+reftype" for one in AGGREGATES),
    *(f"overlap-{a}{b}::{key}" for a in ("max", "sum") for b in ("max", "sum") for key in ("span", "span+type+kbid")),
]


def test_the_version() -> None:
    assert version("neleval") == "3.1.1"


def test_every_name_and_group() -> None:
    assert {*NAMED, "muc", "b_cubed", "entity_ceaf", "mention_ceaf", "pairwise"} == set(configs.MEASURES)
    for name, (aggregate, which, key) in NAMED.items():
        known = configs.MEASURES[name]
        assert (aggregate, which, key) == (known.agg, known.filter or "none", "+".join(known.key))
    assert {name: set(members) for name, members in GROUPS.items()} == {
        name: set(configs.parse_measures(name)) for name in configs.MEASURE_SETS
    }


@pytest.mark.parametrize("seed", range(8))
def test_every_measure(files: list[tuple[Path, Path]], seed: int) -> None:
    measures = [*GROUPS["all"], *SPELT]
    expected = theirs(*files[seed], measures)
    result = ours(files[seed], measures)
    for name in measures:
        same(result[name], expected[name], name)


def gappy(seed: int, present: float) -> tuple[list[str], list[str]]:
    """Return mentions, three in eight without an entity id, each on one side or on both; the first is in the gold data."""
    rng = random.Random(seed)
    sides: tuple[list[str], list[str]] = ([], [])
    for number in range(rng.choice([1, 5, 40])):
        for place in range(rng.randint(1, 12)):
            for side in sides:
                if rng.random() < present or (side is sides[0] and not place):
                    entity = rng.choice(["Q1", "Q2", "Q3", "NIL1", "NIL2", None, None, None])
                    candidate = [] if entity is None else [entity, "0.5", rng.choice(TYPES)]
                    side.append("\t".join([f"doc{number:03}", str(3 * place), str(3 * place + 1), *candidate]))
        if not sides[1]:
            sides[1].append(sides[0][0])
    return sides


CLUSTERINGS = [(one, which, key) for one in AGGREGATES for which in FILTERS for key in ("span", "span+type+kbid")]
"""Aggregates, filters and keys; a mention is missing by its key, too: if its type or entry is another one."""


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("present", [0.7, 1.0])
def test_clusterings_with_mentions_that_one_side_lacks(present: float, seed: int, tmp_path: Path) -> None:
    paths = tmp_path / "gold.tsv", tmp_path / "system.tsv"
    for path, side in zip(paths, gappy(seed, present), strict=True):
        path.write_text("\n".join(side) + "\n")
    names = [f"{one}:{'' if which == 'none' else which}:{key}" for one, which, key in CLUSTERINGS]
    expected = theirs(*paths, names)
    for name, (one, which, key) in zip(names, CLUSTERINGS, strict=True):
        spelt = f"{one}(filter={which}, key={key}, neleval=true)"
        same(ours(paths, spelt).scores[0], expected[name], spelt)
        if one != "b_cubed" or (present == 1 and (which, key) == ("none", "span")):  # nothing is missing there
            same(ours(paths, name).scores[0], expected[name], name)


def test_b_cubed_differs_where_a_mention_is_missing_and_others_have_no_entity(tmp_path: Path) -> None:
    paths = tmp_path / "gold.tsv", tmp_path / "system.tsv"
    paths[0].write_text("d\t0\t1\n")  # one mention without an entity
    paths[1].write_text("d\t0\t1\tQ1\t1\tX\nd\t5\t6\tQ1\t1\tX\n")  # two mentions of Q1; the gold data lacks one
    assert theirs(*paths, ["b_cubed"])["b_cubed"]["precision"] == 0.5
    result = ours(paths, ["b_cubed", "b_cubed(neleval=true)"])
    assert [one.precision for one in result.scores] == [0.25, 0.5]


@pytest.mark.parametrize("field", ["docid", "type"])
def test_groups_with_micro_and_macro_averages(files: list[tuple[Path, Path]], field: str) -> None:
    measures = ["strong_mention_match", "strong_typed_all_match", "b_cubed", "entity_ceaf", "overlap-maxsum::span"]
    expected = theirs(*files[0], measures, group_by=[field])
    result = ours(files[0], measures)
    over = "document" if field == "docid" else field
    for name in measures:
        scores = result[name]
        for value, score in scores.by(over).items():
            same(score, expected[f'{name};{field}="{value}"'], f"{name} {value}")
        same(scores.micro(over), expected[f"{name};{field}=<micro>"], f"{name} micro")
        same(scores.macro(over), expected[f"{name};{field}=<macro>"], f"{name} macro")


@pytest.mark.parametrize("seed", range(8))
def test_related_types(files: list[tuple[Path, Path]], seed: int, tmp_path: Path) -> None:
    table = tmp_path / "weights.tsv"
    table.write_text("".join(f"{gold}\t{system}\t{weight}\n" for gold, system, weight in WEIGHTS))
    measures = ["strong_typed_mention_match", "strong_typed_link_match", "sets::docid+start+end+type"]
    expected = theirs(*files[seed], measures, type_weights=str(table))
    for name in measures:
        weighed = ss.measures.measure(name)
        made = type(weighed)(filter=weighed.filter, key=weighed.key, type_weights=f"@{table}")  # type: ignore[attr-defined, call-arg]
        same(ours(files[seed], made).scores[0], expected[name], name)


def test_mentions_that_the_filter_leaves_out_count_as_wrong_in_neleval(files: list[tuple[Path, Path]]) -> None:
    expected = theirs(*files[0], ["overlap-maxmax:is_linked:span"])["overlap-maxmax:is_linked:span"]
    spelt = "overlap-maxmax(filter=is_linked, others=count)"
    result = ours(files[0], [spelt, "overlap-maxmax:is_linked:span"])
    same(result[spelt], expected, spelt)
    counts = result["overlap-maxmax:is_linked:span"].counts
    assert counts["ptp"] == pytest.approx(expected["ptp"])
    assert counts["fp"] < expected["fp"]
