"""presidio: the numbers of presidio-evaluator 0.3.2, of spans and of tokens, including its arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from spanscore.align.skipwords import SkipWords, presidio_skip_words
from spanscore.align.tokens import runs
from spanscore.measures.char import judge_by_coverage
from spanscore.measures.interface import Measure, Untyped
from spanscore.measures.iou import GroupedIoU
from spanscore.measures.iou_groups import Groups, groups
from spanscore.measures.judgement import Judgement
from spanscore.measures.presidio_spans import presidio_spans, tagged_tokens, with_one_label
from spanscore.spec import parameter
from spanscore.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.align import Pairing
    from spanscore.corpus import Corpus
    from spanscore.corpus.columns import Longs
    from spanscore.measures.presidio_spans import Tagged
    from spanscore.overlap import Overlaps

GENERIC = ("PII", "ID", "PHI", "ID_NUM", "NUMBER", "NUM", "GENERIC_PII")
"""Labels that the tool takes as right for any other one, in gold data as in predictions."""


@dataclass(frozen=True, repr=False)
class Presidio(GroupedIoU):
    """Gold spans found, as presidio-evaluator 0.3.2's SpanEvaluator counts them.

    As `iou(view=tokens)`, with the tool's rules: its skip words; white-space tokens count; spans of one side that
    overlap are resolved by score; a span of skip words alone is dropped; and if several predictions overlap a gold
    span, the union counts the gold span and the first prediction of each type one character too long, and starts
    further predictions one character too early.

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

    def _overlaps(self, seen: Pairing, measured: Pairing) -> Iterator[Overlaps]:
        return measured.overlap_blocks()

    def _groups(self, measured: Pairing, both: Overlaps) -> Groups:
        return groups(measured, both, off_by_one=self.unit == "char", disjoint=self.unit == "token")


class PresidioPii(Untyped, Presidio):
    """Gold spans found under any label, as presidio-evaluator 0.3.2 counts at its PII level.

    As `presidio`, after renaming every label to PII.
    """

    name: ClassVar[str] = "presidio.pii"


@dataclass(frozen=True, repr=False)
class PresidioToken(Measure):
    """Tokens of each type that are predicted as that type, as presidio-evaluator 0.3.2's TokenEvaluator counts them.

    Spans tag tokens as in `presidio`. A token whose two tags differ is left out if it is a skip word. Where one of two
    different tags is generic, such as ID, the token counts as right under the other one. tp = tokens with the same tag;
    P = tp / predicted, R = tp / annotated. (The tool subtracts a token twice if it is both a skip word and tagged as
    generic; this measure does not.)

    >>> import spanscore as ss
    >>> text = ["Ann of Oslo has 555-0143"]
    >>> gold = ss.Corpus.from_arrays(["d"], [0, 0], [0, 16], [11, 24], ["PERSON", "PHONE"], text=text)
    >>> pred = ss.Corpus.from_arrays(["d"], [0, 0, 0], [0, 7, 16], [3, 11, 24], ["PERSON", "CITY", "ID"])
    >>> ss.score(gold, pred, ["presidio.token(tokenizer=whitespace)"])["presidio.token"].counts
    {'tp': 2, 'predicted': 3, 'annotated': 3, 'fp': 1, 'fn': 1}
    """

    name: ClassVar[str] = "presidio.token"
    counts_spans: ClassVar[bool] = False
    f_without_hits: ClassVar[float] = math.nan
    skip: str = parameter(
        "default",
        "Skip words, at which errors do not count; `default` is the tool's list, `@file` a file with one word per "
        "line.",
        choices=("default", "none", "@file"),
    )
    generic: tuple[str, ...] = parameter(GENERIC, "Labels that count as right for any other label.")
    tokenizer: str = parameter(
        "input",
        "Tokenizer; `input` takes the tokens of the input, or words where it has none. The tool's own is `spacy:en`.",
        choices=("input", "spacy:LANG", "words", "whitespace"),
    )
    version: str = parameter("0.3.2", "Version of presidio-evaluator to reproduce.", choices=("0.3.2",))

    @property
    def settings(self) -> str:
        """The repr, with a digest of the file of skip words if there is one."""
        return repr(self) if self.skip[0] != "@" else f"{self!r}#{presidio_skip_words(self.skip).digest}"

    def tally(self, pairing: Pairing) -> Tally:
        """Count tokens by their tags."""
        tagged = self._tagged(pairing)
        token = np.flatnonzero((tagged.gold >= 0) | (tagged.pred >= 0))
        doc = tagged.tokens.tokens.doc[token]
        gold, pred = self._tags(pairing.gold, tagged.gold[token]), self._tags(pairing.pred, tagged.pred[token])
        generic = np.array([*(label in self.generic for label in pairing.labels), False])
        stands_for_gold = (gold != pred) & (gold >= 0) & generic[pred]
        stands_for_pred = (gold != pred) & (pred >= 0) & generic[gold] & ~stands_for_gold
        gold, pred = np.where(stands_for_pred, pred, gold), np.where(stands_for_gold, gold, pred)
        wrong = np.flatnonzero(gold != pred)
        if len(wrong) and tagged.skip:
            left_out = wrong[tagged.ignored(token[wrong])]
            gold[left_out] = pred[left_out] = -1
        hit = (gold == pred) if self.by_type else (pred >= 0)
        events = {
            name: (doc[rows], label[rows])
            for name, label, rows in (
                ("tp", gold, np.flatnonzero(hit & (gold >= 0))),
                ("predicted", pred, np.flatnonzero(pred >= 0)),
                ("annotated", gold, np.flatnonzero(gold >= 0)),
            )
        }
        return Tally.count(pairing, events, typed=self.by_type)

    def judge(self, pairing: Pairing) -> Judgement:
        """Make spans of the tokens with one tag, and judge a span as right if all its tokens are."""
        tagged = self._tagged(pairing)

        def tagged_spans(side: Corpus) -> Corpus:
            spans = runs(side, tagged.gold if side is pairing.gold else tagged.pred, tagged.tokens)[0]
            return spans if self.by_type else with_one_label(spans)

        return judge_by_coverage(pairing.map_sides(tagged_spans))

    def _tagged(self, pairing: Pairing) -> Tagged:
        return tagged_tokens(pairing, presidio_skip_words(self.skip), self.tokenizer)

    def _tags(self, side: Corpus, owner: Longs) -> Longs:
        """Return the label of each token, or -1."""
        labels: Longs = np.where(owner >= 0, np.append(side.label, -1)[owner], -1).astype(np.int64)
        return labels


class PresidioTokenPii(Untyped, PresidioToken):
    """Tokens under any label, as presidio-evaluator 0.3.2's TokenEvaluator counts them at its PII level.

    As `presidio.token`, but a token that is tagged on both sides is right regardless of its tags. Skip words with two
    different tags are left out all the same.
    """

    name: ClassVar[str] = "presidio.token.pii"
