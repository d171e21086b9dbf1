"""What a measure is: a value with a name and parameters, declared once."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import MISSING, dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from spanscore.errors import UsageError, printable, unknown
from spanscore.measures.spec import Spec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spanscore.align import Pairing
    from spanscore.columns import Bools, Floats, Ints, Longs
    from spanscore.tally import Tally


@dataclass(frozen=True)
class Parameter:
    """A measure's parameter: its default, what it may be, and what it means."""

    name: str
    default: Any
    means: str
    choices: tuple[str, ...] = ()
    low: float = -math.inf
    high: float = math.inf

    def parse(self, text: str) -> Any:
        """The value that is written so, or an error that says what may be."""
        value: Any = text
        if isinstance(self.default, bool):
            value = {"true": True, "false": False}.get(text.lower())
        elif isinstance(self.default, float | int):
            try:
                value = type(self.default)(text)
            except ValueError:
                value = None
        return self.check(value, text)

    def check(self, value: Any, shown: object = None) -> Any:
        """The value, if the parameter may have it."""
        given = value if shown is None else shown
        if isinstance(self.default, float) and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        right = type(value) is type(self.default)
        if right and isinstance(value, float | int) and not isinstance(value, bool):
            right = self.low <= value <= self.high
        if right and self.choices:
            closed = value in self.choices and not set("@:") & set(value)
            right = closed or any(_open_ended(str(value), choice) for choice in self.choices)
        if not right:
            raise UsageError(f"{self.name}={printable(str(given))} is not possible; {self.name} is {self.allowed()}.")
        return value

    def allowed(self) -> str:
        """What the parameter may be, in words."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        if isinstance(self.default, bool):
            return "true or false"
        if isinstance(self.default, str):
            return "text"
        bounds = "" if math.isinf(self.low) else f" from {self.low:g} to {self.high:g}"
        return ("a number" if isinstance(self.default, float) else "a whole number") + bounds

    def write(self, value: Any) -> str:
        """The value as it is written in a spec."""
        if isinstance(value, bool):
            return str(value).lower()
        return f"{value:.17g}" if isinstance(value, float) and float(f"{value:g}") != value else _short(value)


def _open_ended(value: str, choice: str) -> bool:
    """Whether a value is of the form of a choice such as `@file` or `spacy:LANG`."""
    prefix = "@" if choice == "@file" else choice.partition(":")[0] + ":" if ":" in choice else None
    return prefix is not None and value.startswith(prefix) and value != prefix and (value != choice or prefix == "@")


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def parameter(default: Any, means: str, **limits: Any) -> Any:
    """Declare a measure's parameter: a dataclass field that knows what it means."""
    return field(default=default, metadata={"means": means, "limits": limits})


@dataclass(frozen=True, repr=False)
class Measure(ABC):
    """A way to count. Subclasses declare parameters as fields, and the four things below."""

    name: ClassVar[str]
    symmetric: ClassVar[bool] = False
    """Whether swapping gold and predicted swaps precision and recall."""
    counts_spans: ClassVar[bool] = True
    """Whether what is counted are spans, which are found or missed one by one, and not their characters or tokens."""
    undefined: ClassVar[float] = math.nan
    """What a mean over types, documents or slices takes for a number that is undefined; nan: nothing."""

    @property
    def by_type(self) -> bool:
        """Whether there is a row for each type beside the overall one."""
        return True

    @property
    def whole(self) -> bool:
        """Whether all documents must be seen at once, because what is counted is not inside one document."""
        return False

    @property
    def local(self) -> bool:
        """Whether spans count by themselves, whatever lies in other places of their document."""
        return False

    @property
    def needs(self) -> tuple[str, ...]:
        """The attributes of spans without which there is nothing to compare: one that no span has is a mistake."""
        return ()

    @abstractmethod
    def tally(self, pairing: Pairing) -> Tally:
        """Count a pairing, per document and label."""

    @abstractmethod
    def judge(self, pairing: Pairing) -> Judgement:
        """Say of every span whether it is right, and what it was taken for."""

    def ratios(self, counts: Mapping[str, Any]) -> tuple[Any, Any, Any, Any]:
        """Numerator and denominator of precision, then of recall."""
        return counts["tp"], counts["predicted"], counts["tp"], counts["annotated"]

    def shown(self, counts: Mapping[str, Any]) -> dict[str, Any]:
        """The counts as people read them, errors included."""
        found, predicted, hit, annotated = self.ratios(counts)
        names = ("tp", "predicted", "annotated")
        return {**{key: counts[key] for key in names}, "fp": predicted - found, "fn": annotated - hit}

    def __post_init__(self) -> None:
        for declared in self.parameters():
            object.__setattr__(self, declared.name, declared.check(getattr(self, declared.name)))

    def __repr__(self) -> str:
        return str(Spec(self.name, self._given()))

    def _given(self) -> tuple[tuple[str, str], ...]:
        """The parameters that are not as by default, as they are written."""
        return tuple(
            (declared.name, declared.write(value))
            for declared in self.parameters()
            if (value := getattr(self, declared.name)) != declared.default
        )

    @classmethod
    def parameters(cls) -> tuple[Parameter, ...]:
        """The parameters that this measure declares."""
        return tuple(
            Parameter(f.name, f.default, f.metadata["means"], **f.metadata["limits"])
            for f in fields(cls)
            if f.default is not MISSING and "means" in f.metadata
        )

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """The measure with these parameters."""
        declared = {one.name: one for one in cls.parameters()}
        values = {}
        for key, text in spec.parameters:
            if key not in declared:
                what = (
                    unknown(f"parameter of {cls.name}", key, declared) if declared else f"{cls.name} has no parameters."
                )
                raise UsageError(what)
            values[key] = declared[key].parse(text)
        return cls(**values)

    @property
    def settings(self) -> str:
        """The repr, with a digest of what it refers to outside itself; the signature shows it."""
        return repr(self)


class Untyped:
    """A measure that forgets types: there is one row, for all."""

    @property
    def by_type(self) -> bool:
        """There are no types."""
        return False


@dataclass(frozen=True, eq=False)
class Judgement:
    """What a measure makes of every span of the pairing that it saw.

    `cell` is the label that each gold span was taken for: its own if it was found, another if it was found under a
    wrong type, -1 if it was not found. `partner` is the predicted row that this says it of (-1: none), `iou` the
    intersection over union behind it; if it was not found, that with predictions of its own type, or the best (0: not
    worked out). `right` tells which predicted spans are right, and `taken` which gold row a
    predicted span was wrongly typed for (-1: none). `loose` are the predicted rows that no cell accounts for; one
    that is on several gold spans may be there several times, each with
    its gold row in `beside` (-1: none; None: not told).
    """

    pairing: Pairing
    cell: Ints
    partner: Longs
    iou: Floats
    right: Bools
    taken: Longs
    loose: Longs
    beside: Longs | None = None

    def confusion(self) -> dict[tuple[str | None, str | None], int]:
        """Counts by gold label and predicted label; None is missed (as predicted) or spurious (as gold)."""
        labels = (*self.pairing.labels, None)
        size = len(labels)
        gold = np.concatenate([self.pairing.gold.label, np.full(len(self.loose), size - 1)])
        loose = self.pairing.pred.label[self.loose]
        pred = np.concatenate([np.where(self.cell < 0, size - 1, self.cell), loose])
        counts = np.bincount(gold * size + pred, minlength=size * size).reshape(size, size)
        return {(labels[a], labels[b]): int(counts[a, b]) for a, b in np.argwhere(counts).tolist()}
