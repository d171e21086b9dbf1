"""Measures: values with a name and parameters that count a pairing, and turn counts into precision and recall."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from spanscore.align.pairing import IDENTITY
from spanscore.spec import Value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spanscore.align import Pairing
    from spanscore.measures.judgement import Judgement
    from spanscore.tally import Tally


@dataclass(frozen=True, repr=False)
class Measure(Value, ABC):
    """A way to score. Subclasses declare their parameters as fields and implement `tally` and `judge`."""

    kind: ClassVar[str] = "measure"
    symmetric: ClassVar[bool] = False
    """Whether swapping gold and predicted swaps precision and recall."""
    counts_spans: ClassVar[bool] = True
    """Whether the measure counts spans, which are found or missed one by one, rather than characters or tokens."""
    f_without_hits: ClassVar[float] = 0.0
    """F where something was annotated or predicted and nothing is right."""

    @property
    def identity(self) -> tuple[str, ...]:
        """The fields that make two spans of one side identical; `Pairing.distinct` takes them."""
        return IDENTITY

    def repeated(self, pairing: Pairing) -> tuple[int, int]:
        """Count the gold and predicted rows that repeat another one in the eyes of this measure."""
        return pairing.repeated(self.identity)

    @property
    def by_type(self) -> bool:
        """Whether there is a row for each type beside the overall one."""
        return True

    @property
    def needs_all_documents(self) -> bool:
        """Whether all documents must be scored at once because the measure compares across documents."""
        return False

    @property
    def local(self) -> bool:
        """Whether the score of a span depends only on the spans near it in its document."""
        return False

    @property
    def needs(self) -> tuple[str, ...]:
        """The attributes that at least one span must have; an attribute that none has is probably a typo."""
        return ()

    @abstractmethod
    def tally(self, pairing: Pairing) -> Tally:
        """Count a pairing, per document and label."""

    @abstractmethod
    def judge(self, pairing: Pairing) -> Judgement:
        """Decide about every span whether it is right, and what it was predicted as."""

    def ratios(self, counts: Mapping[str, Any]) -> tuple[Any, Any, Any, Any]:
        """Return numerator and denominator of precision, then of recall."""
        return counts["tp"], counts["predicted"], counts["tp"], counts["annotated"]

    def shown(self, counts: Mapping[str, Any]) -> dict[str, Any]:
        """Return the counts as they appear in tables and files, errors included."""
        found, predicted, hit, annotated = self.ratios(counts)
        names = ("tp", "predicted", "annotated")
        return {**{key: counts[key] for key in names}, "fp": predicted - found, "fn": annotated - hit}

    @property
    def settings(self) -> str:
        """The repr, with digests of the files it refers to; part of the signature."""
        return repr(self)


class Untyped:
    """Mixin for a measure that ignores types and has a single overall row."""

    @property
    def by_type(self) -> bool:
        """Types are ignored."""
        return False
