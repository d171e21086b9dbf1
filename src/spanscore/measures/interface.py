"""Measures: values with a name and parameters that count a pairing, and turn counts into precision and recall."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from spanscore.align.pairing import IDENTITY
from spanscore.spec import Value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spanscore.align import Pairing
    from spanscore.align.account import Account
    from spanscore.corpus.columns import Bools, Longs
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
    recall_of_spans: ClassVar[bool] = True
    """Whether recall is a share of the gold spans, if the measure counts spans: each counts once, wherever it is."""
    type_blind: ClassVar[bool] = False
    """Whether the types of predictions do not matter, so that scores by type are those by the gold span's type."""
    masks: ClassVar[bool] = False
    """Whether predictions are masks, which all count: overlapping ones, and those of types that are not scored."""
    f_without_hits: ClassVar[float] = 0.0
    """F where something was annotated or predicted and nothing is right."""
    macro_over_documents: ClassVar[bool] = False
    """Whether the macro average over documents is one of the measure's own numbers, and is reported beside the others.

    It is then as i2b2's script computes it: the means of P and R over all documents, with 0 where they are undefined,
    and the F of these means.
    """
    counts_without_type: ClassVar[tuple[str, ...]] = ()
    """The counts that the rows of types do not have, because what they count has no type."""

    @property
    def identity(self) -> tuple[str, ...]:
        """The fields that make two spans of one side identical; `Pairing.distinct` takes them."""
        return IDENTITY

    @property
    def finds_spans(self) -> bool:
        """Whether recall is the share of gold spans that were found."""
        return self.counts_spans and self.recall_of_spans

    def counted_spans(self, pairing: Pairing) -> Pairing:
        """Return the spans that this measure counts: those of the pairing or, as masks, all that hide text."""
        return pairing if not self.masks or pairing.as_masks is None else pairing.as_masks

    def found_units(self, pairing: Pairing) -> tuple[Pairing, Longs, Bools] | None:
        """Return the spans, the unit that each gold span belongs to, and whether each unit is found.

        Only measures that count units of several gold spans, such as entities, have them.
        """
        return None

    def has_precision(self, over: str) -> bool:
        """Return whether parts by type, document or slice (`over`) have a precision, which averages need.

        If types of predictions do not matter, predictions belong to none.
        """
        return not (self.type_blind and over == "type")

    def notes(self, pairing: Pairing) -> Account:
        """Count what a user should know about this measure on this data; `describe` puts it into words."""
        return Counter()

    def repeated(self, pairing: Pairing) -> tuple[int, int]:
        """Count the gold and predicted rows that this measure considers repetitions of another one."""
        return pairing.repeated(self.identity)

    @property
    def compares_ids(self) -> bool:
        """Whether spans are compared by the ids of their entities, which errors then show."""
        return False

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
        """Decide for every span whether it is right, and what it was predicted as."""

    def ratios(self, counts: Mapping[str, Any]) -> tuple[Any, Any, Any, Any]:
        """Return numerator and denominator of precision, then of recall: sums of counts, with or without factors.

        Confidence intervals rely on that: they add up the numerators and denominators of documents.
        """
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
    """Mixin for a measure that ignores types and has a single overall row; splits by type use the gold type."""

    type_blind: ClassVar[bool] = True
    counts_without_type: ClassVar[tuple[str, ...]] = ("predicted", "fp")

    @property
    def by_type(self) -> bool:
        """Types are ignored."""
        return False
