"""token: tokens, by type or regardless of type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from spanscore.align.skipwords import skip_words
from spanscore.align.spans import one_label
from spanscore.align.tokenizers import NAMES
from spanscore.align.tokens import TokenTable, project, token_owners, token_table
from spanscore.measures.char import judge_by_coverage
from spanscore.measures.interface import Measure, Untyped
from spanscore.measures.judgement import Judgement
from spanscore.spec import parameter
from spanscore.tally import Tally

if TYPE_CHECKING:
    from spanscore.align import Pairing


@dataclass(frozen=True, repr=False)
class Token(Measure):
    """Tokens of each type that are predicted as that type.

    A token takes the label of the span that covers its start, or that lies inside it (of several, the first by start,
    end and label). tp = tokens with the same label in gold and prediction; P = tp / predicted, R = tp / annotated.

    >>> import spanscore as ss
    >>> gold = ss.Corpus.from_arrays(["d"], [0], [0], [7], ["PERSON"], text=["Ann Lee left"])
    >>> pred = ss.Corpus.from_arrays(["d"], [0], [4], [12], ["PERSON"])
    >>> ss.score(gold, pred, ["token"])["token"].counts
    {'tp': 1, 'predicted': 2, 'annotated': 2, 'fp': 1, 'fn': 1}
    """

    name: ClassVar[str] = "token"
    counts_spans: ClassVar[bool] = False
    symmetric: ClassVar[bool] = True
    tokenizer: str = parameter(
        "input",
        "Tokenizer; `input` takes the tokens of the input, or words where it has none.",
        choices=("input", *NAMES),
    )

    def tally(self, pairing: Pairing) -> Tally:
        """Count tokens."""
        table, pairing = self._table(pairing), self._labelled(pairing)
        tokens = table.tokens
        gold, pred = (
            np.where((owner := token_owners(side, table)) >= 0, np.append(side.label, -1)[owner], -1)
            for side in (pairing.gold, pairing.pred)
        )
        same = (gold == pred) & (gold >= 0)
        events = {
            "tp": (tokens.doc[same], gold[same]),
            "predicted": (tokens.doc[pred >= 0], pred[pred >= 0]),
            "annotated": (tokens.doc[gold >= 0], gold[gold >= 0]),
        }
        return Tally.count(pairing, events)

    def judge(self, pairing: Pairing) -> Judgement:
        """Project spans on tokens, and judge a span as right if all its tokens are."""
        table = self._table(pairing)
        return judge_by_coverage(self._labelled(pairing).map_sides(lambda side: project(side, table)))

    def _table(self, pairing: Pairing) -> TokenTable:
        return pairing.once(token_table, skip_words("none"), self.tokenizer)

    def _labelled(self, pairing: Pairing) -> Pairing:
        return pairing


class TokenPii(Untyped, Token):
    """Tokens covered by any prediction, of those covered by any gold span.

    As `token`, after renaming every label to PII.
    """

    name: ClassVar[str] = "token.pii"

    def _labelled(self, pairing: Pairing) -> Pairing:
        return pairing.once(one_label, "PII")
