"""presidio: the numbers of presidio-evaluator 0.3.2, including its arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from spanscore.align.skipwords import SkipWords, presidio_skip_words
from spanscore.measures.interface import Untyped
from spanscore.measures.iou import GroupedIoU
from spanscore.measures.iou_groups import Groups, groups
from spanscore.measures.presidio_spans import presidio_spans
from spanscore.spec import parameter

if TYPE_CHECKING:
    from spanscore.align import Pairing


@dataclass(frozen=True, repr=False)
class Presidio(GroupedIoU):
    """Gold spans found, as presidio-evaluator 0.3.2's SpanEvaluator counts them.

    As `iou(view=tokens)`, with the tool's rules: its skip words; white-space tokens count; spans of one side that
    overlap are settled by score; a span of skip words alone is dropped; and if several predictions overlap a gold span,
    the union counts the gold span and the first prediction of each type one character too long, and starts further
    predictions one character too early.

    >>> import spanscore as ss
    >>> text = ["abcdefgh x ijklmnop"]
    >>> gold = ss.Corpus.from_arrays(["d"], [0], [0], [19], ["P"], text=text)
    >>> pred = ss.Corpus.from_arrays(["d"], [0, 0], [0, 11], [8, 19], ["P", "P"])
    >>> result = ss.score(gold, pred, ["iou", "presidio"])
    >>> result["iou"].recall, result["presidio"].recall
    (0.0, 1.0)
    """

    name: ClassVar[str] = "presidio"
    f_without_hits: ClassVar[float] = math.nan
    skip: str = parameter(
        "default",
        "Skip words, which are trimmed off the ends of spans and ignored by merge and by token IoU; `default` is the "
        "tool's list, `@file` a file with one word per line.",
        choices=("default", "none", "@file"),
    )
    tokenizer: str = parameter(
        "input",
        "Tokenizer; `input` takes the tokens of the input, or words where it has none. The tool's own is `spacy:en`.",
        choices=("input", "spacy:LANG", "words", "whitespace"),
    )
    version: str = parameter("0.3.2", "Version of presidio-evaluator to reproduce.", choices=("0.3.2",))
    view: str = field(default="tokens", init=False)

    def _skip_words(self) -> SkipWords:
        return presidio_skip_words(self.skip)

    def _seen(self, pairing: Pairing) -> tuple[Pairing, Pairing]:
        found = presidio_spans(pairing, self._skip_words(), self.tokenizer, typed=self.by_type)
        return found.spans, found.in_characters if self.unit == "char" else found.in_tokens

    def _groups(self, measured: Pairing) -> Groups:
        return groups(measured, off_by_one=self.unit == "char", disjoint=self.unit == "token")


class PresidioPii(Untyped, Presidio):
    """Gold spans found under any label, as presidio-evaluator 0.3.2 counts at its PII level.

    As `presidio`, after renaming every label to PII.
    """

    name: ClassVar[str] = "presidio.pii"
