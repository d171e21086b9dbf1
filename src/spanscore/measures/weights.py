"""Weights of related types or knowledge base entries: tables of gold, system, weight."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from spanscore.align.taxonomy import ROOT, Taxonomy
from spanscore.errors import InputError, UsageError, printable, unknown
from spanscore.files import file_stamp
from spanscore.spec import Spec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spanscore.corpus.columns import Floats, Ints


TAXONOMY = "taxonomy"


@dataclass(frozen=True)
class Weights:
    """The credit of a system's value for a gold value; a pair that is not listed gets 1 if equal, else 0."""

    table: Mapping[tuple[str, str], float]

    @property
    def digest(self) -> str:
        """Eight hexadecimal digits that identify the table."""
        said = json.dumps(sorted((*pair, weight) for pair, weight in self.table.items()))
        return blake2b(said.encode(), digest_size=4).hexdigest()

    def __call__(self, gold: object, pred: object) -> float:
        """Return the weight of one pair."""
        if isinstance(gold, str) and isinstance(pred, str) and (gold, pred) in self.table:
            return self.table[gold, pred]
        return float(gold == pred)

    def look_up(self, gold: Ints, pred: Ints, values: Sequence[object]) -> Floats:
        """Return the weights of pairs of codes."""
        size = len(values)  # the last value is None, whose code is -1
        pairs, place = np.unique(gold.astype(np.int64) % size * size + pred % size, return_inverse=True)
        codes = (divmod(pair, len(values)) for pair in pairs.tolist())
        return np.array([self(values[a], values[b]) for a, b in codes] or [0.0])[place]


@dataclass(frozen=True)
class TaxonomyWeights(Weights):
    """The credit of a system's type that is the gold type, or above it in the taxonomy; any label of a type counts.

    A type is one step below its branch, and a branch one step below PII; each step up multiplies by the decay.

    >>> related = weights("taxonomy(decay=0.5)")
    >>> [related("FIRSTNAME", other) for other in ("first_name", "PERSON", "PII", "LASTNAME")]
    [1.0, 0.5, 0.25, 0.0]
    """

    taxonomy: Taxonomy
    decay: float

    @property
    def digest(self) -> str:
        """Eight hexadecimal digits that identify the taxonomy; the decay is part of the measure."""
        return self.taxonomy.digest

    def __call__(self, gold: object, pred: object) -> float:
        """Return the weight of one pair."""
        if not isinstance(gold, str) or not isinstance(pred, str) or gold == pred:
            return float(gold == pred)
        found, other = self.taxonomy.resolve(gold), self.taxonomy.resolve(pred)
        if found.type is None or other.type is None:
            return 0.0
        path = list(dict.fromkeys((found.type, found.branch, ROOT)))
        return self.decay ** path.index(other.type) if other.type in path else 0.0


def weights(name: str) -> Weights | None:
    """Return the table `none`, or that of a file: lines of gold, system and weight, separated by tabs.

    `taxonomy(decay=0.5)` are weights from the taxonomy, or with `file` from a user's.
    """
    if name.startswith(TAXONOMY):
        return _of_taxonomy(name)
    return None if name == "none" else _read(name[1:], file_stamp(name[1:]))


def _of_taxonomy(name: str) -> TaxonomyWeights:
    given = dict(Spec.parse(name).arguments)
    if other := next((key for key in given if key not in ("decay", "file")), None):
        raise UsageError(unknown("option of taxonomy weights", other, ["decay", "file"]))
    try:
        decay = float(given.get("decay", "0.5"))
    except ValueError:
        decay = float("nan")
    if not 0 <= decay <= 1:
        raise UsageError("the decay of taxonomy weights must be between 0 and 1.")
    return TaxonomyWeights({}, Taxonomy.of(given.get("file")), decay)


@cache
def _read(path: str, stamp: tuple[int, int]) -> Weights:
    try:
        lines = Path(path).read_text("utf-8-sig").split("\n")
    except UnicodeDecodeError:
        raise InputError("the table of weights is not UTF-8.", path) from None
    except (OSError, ValueError) as error:
        raise InputError(f"the table of weights cannot be read ({getattr(error, 'strerror', error)}).", path) from None
    table: dict[tuple[str, str], float] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        columns = line.rstrip("\r").split("\t")
        if len(columns) != 3 or not (columns[0] and columns[1]):
            raise InputError("expected three columns separated by tabs: gold, system, weight.", f"{path}:{number}")
        try:
            weight = float(columns[2])
        except ValueError:
            weight = float("nan")
        if not 0 <= weight <= 1:
            what = f"the weight '{printable(columns[2])}' is not a number from 0 to 1."
            raise InputError(what, f"{path}:{number}")
        pair = columns[0], columns[1]
        table[pair] = max(weight, table.get(pair, weight))
    if not table:
        raise InputError("the table of weights is empty.", path)
    return Weights(table)


def of_hierarchy(children: Mapping[str, Sequence[str]], decay: float) -> Weights:
    """Return weights for system types that are ancestors of the gold type: decay to the power of the steps between.

    >>> of_hierarchy({"thing": ["agent"], "agent": ["person"]}, 0.5).table
    {('agent', 'thing'): 0.5, ('person', 'agent'): 0.5, ('person', 'thing'): 0.25}
    """
    parents: dict[str, list[str]] = {}
    for parent, below in children.items():
        for child in below:
            parents.setdefault(child, []).append(parent)
    table: dict[tuple[str, str], float] = {}
    for child in parents:
        level, weight, seen = parents[child], decay, {child}
        while level:
            for ancestor in level:
                if ancestor == child:
                    raise InputError(f"the type '{printable(child)}' is its own ancestor; remove one of the steps.")
                table[child, ancestor] = max(weight, table.get((child, ancestor), 0.0))
            seen.update(level)
            level = list(
                dict.fromkeys(up for at in level for up in parents.get(at, ()) if up not in seen or up == child)
            )
            weight *= decay
    return Weights(table)
