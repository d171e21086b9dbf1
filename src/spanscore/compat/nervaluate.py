"""nervaluate's Evaluator with the numbers of nervaluate 1.2.1, whatever the order of entities.

nervaluate matches each prediction with the first entity that will do, so that its numbers change with the order of its
input where spans overlap several others. Here, entities are put in order of start, end and label first: numbers
equal nervaluate's for sorted input, which lists of tags and CoNLL text always are.

>>> evaluator = Evaluator([["O", "B-PER", "I-PER"]], [["O", "B-PER", "O"]], tags=["PER"], loader="list")
>>> evaluator.evaluate()["overall"]["partial"].f1
0.5
>>> print(evaluator.summary_report())
Scenario: all
<BLANKLINE>
              correct   incorrect     partial      missed    spurious   precision      recall    f1-score
<BLANKLINE>
ent_type            1           0           0           0           0        1.00        1.00        1.00
   exact            0           1           0           0           0        0.00        0.00        0.00
 partial            0           0           1           0           0        0.50        0.50        0.50
  strict            0           1           0           0           0        0.00        0.00        0.00
<BLANKLINE>
"""

from __future__ import annotations

import csv
import io
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["Entity", "EvaluationIndices", "EvaluationResult", "Evaluator"]

SCHEMES = ("strict", "partial", "ent_type", "exact")
OUTCOMES = ("correct", "incorrect", "partial", "missed", "spurious")
_NUMBERS = (*OUTCOMES, "precision", "recall", "f1")
_COLORS = {"correct": 92, "incorrect": 91, "partial": 93, "missed": 95, "spurious": 94}


@dataclass(frozen=True)
class Entity:
    """An entity with inclusive offsets."""

    label: str
    start: int
    end: int


@dataclass
class EvaluationResult:
    """The counts and scores of a scheme."""

    correct: int = 0
    incorrect: int = 0
    partial: int = 0
    missed: int = 0
    spurious: int = 0
    precision: float = 0.0
    recall: float = 0.0
    f1: float = 0.0
    actual: int = 0
    possible: int = 0

    def compute_metrics(self, partial_or_type: bool = False) -> None:
        """Compute precision, recall and F1; a partial match counts half in the schemes partial and ent_type."""
        self.actual = self.correct + self.incorrect + self.partial + self.spurious
        self.possible = self.correct + self.incorrect + self.partial + self.missed
        hits = self.correct + 0.5 * self.partial if partial_or_type else self.correct
        self.precision = hits / self.actual if self.actual else 0
        self.recall = hits / self.possible if self.possible else 0
        total = self.precision + self.recall
        self.f1 = 2 * (self.precision * self.recall) / total if total else 0


@dataclass
class EvaluationIndices:
    """Positions of each outcome: the index of the document, and of the prediction (or of the missed entity)."""

    correct_indices: list[tuple[int, int]] = field(default_factory=list)
    incorrect_indices: list[tuple[int, int]] = field(default_factory=list)
    partial_indices: list[tuple[int, int]] = field(default_factory=list)
    missed_indices: list[tuple[int, int]] = field(default_factory=list)
    spurious_indices: list[tuple[int, int]] = field(default_factory=list)


class Evaluator:
    """Evaluate entities by the four schemes of SemEval-2013 9.1 as nervaluate does.

    `true` and `pred` are lists of tags, lists of dictionaries with label, start and end, or CoNLL text. Entities whose
    label is not in `tags` are left out.
    """

    def __init__(
        self, true: Any, pred: Any, tags: list[str], loader: str = "default", min_overlap_percentage: float = 1.0
    ) -> None:
        if not 1.0 <= min_overlap_percentage <= 100.0:
            raise ValueError("min_overlap_percentage must be between 1.0 and 100.0")
        self.tags = tags
        self.min_overlap_percentage = min_overlap_percentage
        name = _guessed(true) if loader == "default" else loader
        if name not in _LOADERS:
            raise ValueError(f"Unknown loader: {name}")
        if name == "list":
            _check_lengths(true, pred)
        self.true: list[list[Entity]] = _LOADERS[name](true)
        self.pred: list[list[Entity]] = _LOADERS[name](pred)
        if len(self.true) != len(self.pred):
            raise ValueError("Number of predicted documents does not equal true")

    def evaluate(self) -> dict[str, Any]:
        """Return the results: overall and entities, and overall_indices and entity_indices for where they are."""
        used = sorted({one.label for side in (self.true, self.pred) for doc in side for one in doc} & set(self.tags))
        overall, places = self._totals(None) if self.true else ({}, {})
        by_tag = {tag: self._totals(tag) for tag in used}
        return {
            "overall": overall,
            "entities": {tag: results for tag, (results, _) in by_tag.items()},
            "overall_indices": places,
            "entity_indices": {tag: indices for tag, (_, indices) in by_tag.items()},
        }

    def _totals(self, tag: str | None) -> tuple[dict[str, EvaluationResult], dict[str, EvaluationIndices]]:
        """Return the results of all schemes for one tag, of which only its own entities count, or for all."""
        wanted = set(self.tags) if tag is None else {tag}
        results = {scheme: EvaluationResult() for scheme in SCHEMES}
        indices = {scheme: EvaluationIndices() for scheme in SCHEMES}
        for number, (true, pred) in enumerate(zip(self.true, self.pred, strict=True)):
            gold, guesses = (_ordered(one for one in doc if one.label in wanted) for doc in (true, pred))
            near = _near(gold, guesses, self.min_overlap_percentage)
            for scheme in SCHEMES:
                for outcome, place in _outcomes(scheme, gold, guesses, near):
                    setattr(results[scheme], outcome, getattr(results[scheme], outcome) + 1)
                    getattr(indices[scheme], f"{outcome}_indices").append((number, place))
        for scheme, result in results.items():
            result.compute_metrics(partial_or_type=scheme in ("partial", "ent_type"))
        return results, indices

    def results_to_csv(
        self, mode: str = "overall", scenario: str = "strict", file_path: str | None = None
    ) -> str | None:
        """Return the results as CSV, or write them to a file: all schemes, or all entity types by one scheme."""
        _check(mode, scenario)
        out = io.StringIO()
        writer = csv.writer(out)
        heads = ("Correct", "Incorrect", "Partial", "Missed", "Spurious", "Precision", "Recall", "F1-Score")
        writer.writerow(["Strategy" if mode == "overall" else "Entity", *heads])
        for name, result in self._rows(mode, scenario):
            writer.writerow([name, *(getattr(result, number) for number in _NUMBERS)])
        if file_path:
            Path(file_path).write_text(out.getvalue(), encoding="utf-8", newline="")
            return None
        return out.getvalue()

    def summary_report(self, mode: str = "overall", scenario: str = "strict", digits: int = 2) -> str:
        """Return a table: all schemes, or all entity types by one scheme."""
        _check(mode, scenario)
        heads = [*OUTCOMES, "precision", "recall", "f1-score"]
        rows = sorted(self._rows(mode, scenario), key=lambda row: row[0])
        width = max(len("correct"), digits, *(len(name) for name, _ in rows))
        shown = scenario if mode == "entities" else "all"
        report = f"Scenario: {shown}\n\n{'':>{width}s} " + "".join(f" {name:>11}" for name in heads) + "\n\n"
        for name, result in rows:
            counts = "".join(f" {getattr(result, one):>11}" for one in OUTCOMES)
            scores = "".join(f" {getattr(result, one):>11.{digits}f}" for one in ("precision", "recall", "f1"))
            report += f"{name:>{width}s} {counts}{scores}\n"
        return report

    def summary_report_indices(self, mode: str = "overall", scenario: str = "strict", colors: bool = False) -> str:
        """Return where each outcome is: document, entity and its offsets, for one scheme."""
        _check(mode, scenario)
        results = self.evaluate()

        def colored(text: str, code: int) -> str:
            return f"\033[{code}m{text}\033[0m" if colors else text

        report = ""
        if mode == "overall":
            title = f"\n{colored('Indices for error schema', 1)} '{colored(scenario, 96)}':\n\n"
            parts = [(title, None, results["overall_indices"][scenario])]
        else:
            schema = f"{colored('Error Schema', 1)}: '{colored(scenario, 96)}'\n\n"
            parts = [
                (f"\n{colored('Entity Type', 1)}: {colored(tag, 96)}\n{schema}", tag, found[scenario])
                for tag, found in results["entity_indices"].items()
            ]
        for title, tag, indices in parts:
            head = f"{'Category':<20} {'Instance':<10} {'Entity':<8} {'Details':<25}"
            report += f"{title}{colored(head, 1)}\n{colored('-' * 78, 97)}\n"
            for outcome in OUTCOMES:
                name = colored(outcome.capitalize(), _COLORS[outcome])
                listed = getattr(indices, f"{outcome}_indices")
                for document, place in listed:
                    shown = self._shown(outcome, tag, document, place)
                    report += f"{name:<20} {document:<10} {place:<8} {shown:<10}\n"
                if not listed:
                    report += f"{name:<20} {'-':<10} {'-':<8} {'None':<10}\n"
        return report

    def _shown(self, outcome: str, tag: str | None, document: int, place: int) -> str:
        """Return the entity that an index points to, among those that count."""
        side = self.true if outcome == "missed" else self.pred
        wanted = self.tags if tag is None else [tag]
        one = [entity for entity in side[document] if entity.label in wanted][place]
        return f"Label={one.label}, Start={one.start}, End={one.end}"

    def _rows(self, mode: str, scenario: str) -> list[tuple[str, EvaluationResult]]:
        found = self.evaluate()
        if mode == "overall":
            return list(found["overall"].items())
        return [(tag, results[scenario]) for tag, results in found["entities"].items()]


Placed = list[tuple[int, Entity]]
"""Entities in order, each with its position in the input."""


def _ordered(entities: Iterable[Entity]) -> Placed:
    return sorted(enumerate(entities), key=lambda one: (one[1].start, one[1].end, one[1].label))


def _near(true: Placed, pred: Placed, least: float) -> list[list[int]]:
    """Return for each prediction, in order, the entities that it overlaps enough or whose offsets it has."""
    starts = [one.start for _, one in true]
    furthest = list(accumulate((one.end for _, one in true), max))
    found = []
    for _, guess in pred:
        near = []
        for place in range(bisect_left(furthest, guess.start), bisect_right(starts, guess.end)):
            one = true[place][1]
            shared = min(guess.end, one.end) - max(guess.start, one.start) + 1
            if one.end >= guess.start and (shared / (one.end - one.start + 1)) * 100.0 >= least:
                near.append(place)
        found.append(near)
    return found


def _outcomes(scheme: str, true: Placed, pred: Placed, near: list[list[int]]) -> Iterable[tuple[str, int]]:
    """Yield each outcome and where it is. Each prediction takes the first free entity that makes it right, if any."""
    taken: set[int] = set()
    otherwise = "partial" if scheme == "partial" else "incorrect"
    for (place, guess), candidates in zip(pred, near, strict=True):
        free = [one for one in candidates if one not in taken]
        right = [one for one in free if _is_right(scheme, true[one][1], guess)]
        if right:
            best = min(right, key=lambda one: _distance(true[one][1], guess)) if scheme == "ent_type" else right[0]
            taken.add(best)
            yield "correct", place
        elif free:
            taken.add(free[0])
            yield otherwise, place
        else:
            yield "spurious", place
    missed = sorted(place for number, (place, _) in enumerate(true) if number not in taken)
    yield from (("missed", place) for place in missed)


def _is_right(scheme: str, true: Entity, guess: Entity) -> bool:
    same_place = (true.start, true.end) == (guess.start, guess.end)
    if scheme == "ent_type":
        return true.label == guess.label
    return same_place and (scheme != "strict" or true.label == guess.label)


def _distance(true: Entity, guess: Entity) -> int:
    return abs(guess.start - true.start) + abs(guess.end - true.end)


def _check(mode: str, scenario: str) -> None:
    if mode not in ("overall", "entities"):
        raise ValueError("Invalid mode: must be one of {'overall', 'entities'}")
    if mode == "entities" and scenario not in SCHEMES:
        raise ValueError(f"Invalid scenario: must be one of {set(SCHEMES)}")


def _guessed(true: Any) -> str:
    if isinstance(true, str):
        return "conll"
    if isinstance(true, list) and true and isinstance(true[0], list):
        first = next((one for doc in true for one in doc), "")
        return "dict" if isinstance(first, dict) else "list"
    raise ValueError("Could not infer loader from input type")


def _check_lengths(true: Sequence[Sequence[str]], pred: Sequence[Sequence[str]]) -> None:
    if len(true) != len(pred):
        raise ValueError("Number of predicted documents does not equal true")
    for number, (one, other) in enumerate(zip(true, pred, strict=True)):
        if len(one) != len(other):
            raise ValueError(f"Document {number} has different lengths: true={len(one)}, pred={len(other)}")


def _from_tags(tags: Iterable[tuple[int, str]], size: int) -> list[Entity]:
    """Return the entities of numbered tags; a tag of another type, or one that begins with B, begins an entity."""
    found: list[Entity] = []
    label: str | None = None
    start = 0
    for at, tag in [*tags, (size, "O")]:
        if not isinstance(tag, str):
            raise ValueError(f"Invalid tag type: {type(tag)}")
        name = None if tag == "O" else tag[2:]
        if label is not None and name == label and tag[:1] != "B":
            continue
        if label is not None:
            found.append(Entity(label, start, at - 1))
        if name is not None and not tag.startswith(("B-", "I-")):
            raise ValueError(f"Invalid tag format: {tag}")
        label, start = name, at
    return found


def _from_lists(data: Any) -> list[list[Entity]]:
    if not isinstance(data, list):
        raise ValueError("ListLoader expects list input")
    if not all(isinstance(doc, list) for doc in data):
        raise ValueError("Each document must be a list of tags")
    return [_from_tags(enumerate(doc), len(doc)) for doc in data]


def _from_conll(data: Any) -> list[list[Entity]]:
    if not isinstance(data, str):
        raise ValueError("ConllLoader expects string input")
    found = []
    for document in data.rstrip().split("\n\n") if data else []:
        lines = document.split("\n")
        tags = []
        for number, line in enumerate(lines):
            if line.strip():
                _, tab, rest = line.partition("\t")
                if not tab:
                    raise ValueError(f"Invalid CoNLL format: line {number + 1} does not contain a tab separator")
                tags.append((number, rest.split("\t")[0]))
        found.append(_from_tags(tags, len(lines)))
    return found


def _from_dicts(data: Any) -> list[list[Entity]]:
    if not isinstance(data, list):
        raise ValueError("DictLoader expects list input")
    found = []
    for doc in data:
        if not isinstance(doc, list):
            raise ValueError("Each document must be a list of entity dictionaries")
        entities = []
        for one in doc:
            if not isinstance(one, dict):
                raise ValueError(f"Invalid entity type: {type(one)}")
            if not {"label", "start", "end"} <= one.keys():
                raise ValueError("Entity missing required keys: label, start, end")
            if not isinstance(one["label"], str):
                raise ValueError("Entity label must be a string")
            if not isinstance(one["start"], int) or not isinstance(one["end"], int):
                raise ValueError("Entity start and end must be integers")
            entities.append(Entity(one["label"], one["start"], one["end"]))
        found.append(entities)
    return found


_LOADERS: dict[str, Callable[[Any], list[list[Entity]]]] = {
    "conll": _from_conll,
    "list": _from_lists,
    "dict": _from_dicts,
}
