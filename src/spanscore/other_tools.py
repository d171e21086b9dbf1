"""Names of other tools: what their users type, and what it is called here."""

from __future__ import annotations

from typing import NamedTuple


class Answer(NamedTuple):
    """What to use instead of the command, option or measure of another tool."""

    tool: str
    instead: str
    """A command, in which words in capitals stand for files."""
    note: str = ""

    def __str__(self) -> str:
        note = f" ({self.note})" if self.note else ""
        return f"Coming from {self.tool}, use: {self.instead}{note}."


_SEQEVAL = "spanscore score GOLD PRED -m exact --by type"
_NERVALUATE = "spanscore score GOLD PRED -m semeval.strict -m semeval.exact -m semeval.partial -m semeval.type"
_LINKS = "spanscore compare GOLD A=SYSTEM B=OTHER -m strong_link_match"
_TAC = Answer("neleval", "spanscore score GOLD SYSTEM -m tac14", "convert TAC files to neleval's format first")
_PRESIDIO = "spanscore score GOLD PRED -m presidio -m presidio.pii --beta 2"
_READS_BRAT = "brat's files are read as they are"

COMMANDS = {
    "evaluate": Answer("neleval", "spanscore score GOLD SYSTEM -m all-tagging", "the gold data comes first"),
    "significance": Answer("neleval", _LINKS),
    "confidence": Answer("neleval", "spanscore score GOLD SYSTEM -m strong_link_match --ci 0.95"),
    "analyze": Answer("neleval", "spanscore score GOLD SYSTEM -m strong_link_match -o OUT", "see OUT/report.html"),
    "list-measures": Answer("neleval", "spanscore measures"),
    "validate-spans": Answer("neleval", "spanscore check GOLD"),
    "prepare-tac": _TAC,
    "prepare-tac15": _TAC,
    "prepare-brat": Answer("neleval", "spanscore score GOLD SYSTEM -m all-tagging", _READS_BRAT),
    "prepare-conll-coref": Answer("neleval", "spanscore score GOLD SYSTEM -m luo", "convert the files first"),
    "compare-measures": Answer("neleval", _LINKS),
    "rank-systems": Answer("neleval", _LINKS),
    "plot-systems": Answer("neleval", "spanscore compare GOLD A=SYSTEM B=OTHER -m strong_link_match -o OUT"),
    "to-weak": Answer("neleval", "spanscore score GOLD SYSTEM -m char"),
    "weights-for-hierarchy": Answer("neleval", "spanscore weights HIERARCHY"),
    "phi": Answer("i2b2", "spanscore score GOLD SYSTEM -m i2b2", "the gold data comes first"),
    "ner": Answer("MEDDOCAN", "spanscore score GOLD SYSTEM -m meddocan.ner"),
    "spans": Answer("MEDDOCAN", "spanscore score GOLD SYSTEM -m meddocan.spans -m meddocan.merged"),
    "conlleval": Answer("conlleval", _SEQEVAL),
    "seqeval": Answer("seqeval", _SEQEVAL),
    "nervaluate": Answer("nervaluate", _NERVALUATE),
}
"""Commands of other tools."""

OPTIONS = {
    "-g": Answer("neleval", "spanscore score GOLD SYSTEM", "the gold data comes first, without an option"),
    "--gold": Answer("neleval", "spanscore score GOLD SYSTEM", "the gold data comes first, without an option"),
    "--measures": Answer("neleval", "spanscore score GOLD SYSTEM -m strong_link_match"),
    "-f": Answer("neleval", "spanscore score GOLD SYSTEM --format tsv"),
    "--fmt": Answer("neleval", "spanscore score GOLD SYSTEM --format tsv"),
    "--by-doc": Answer("neleval", "spanscore score GOLD SYSTEM --by document"),
    "--by-type": Answer("neleval", "spanscore score GOLD SYSTEM --by type"),
    "--trials": Answer("neleval", "spanscore score GOLD SYSTEM --ci 0.95 --resamples 1000"),
    "--percentiles": Answer("neleval", "spanscore score GOLD SYSTEM --ci 0.95"),
    "--permute": Answer("neleval", "spanscore compare GOLD A=SYSTEM B=OTHER --permutations 10000"),
    "--threshold": Answer(
        "spanscore run",
        "spanscore score GOLD PRED -m 'iou(threshold=0.5)'",
        "for scores of predictions, there is --score-threshold",
    ),
    "--use_bert": Answer("TAB", "spanscore score GOLD PRED -m tab", "every token has the same weight"),
    "--filter": Answer("i2b2", "spanscore score GOLD SYSTEM -m 'i2b2.strict(category=NAME)'"),
}
"""Options of other tools."""

MEASURES = {
    "seqeval": Answer("seqeval", _SEQEVAL),
    "conll": Answer("conlleval", _SEQEVAL, "conll is a format"),
    "conlleval": Answer("conlleval", _SEQEVAL),
    "nervaluate": Answer("nervaluate", _NERVALUATE),
    "strict": Answer("nervaluate", "spanscore score GOLD PRED -m semeval.strict"),
    "partial": Answer("nervaluate", "spanscore score GOLD PRED -m semeval.partial"),
    "ent_type": Answer("nervaluate", "spanscore score GOLD PRED -m semeval.type"),
    "neleval": Answer("neleval", "spanscore score GOLD SYSTEM -m all-tagging"),
    "phi": Answer("i2b2", "spanscore score GOLD SYSTEM -m i2b2"),
    "SpanEvaluator": Answer("presidio-evaluator", _PRESIDIO),
    "TokenEvaluator": Answer(
        "presidio-evaluator", "spanscore score GOLD PRED -m presidio.token -m presidio.token.pii --beta 2"
    ),
    "presidio-evaluator": Answer("presidio-evaluator", _PRESIDIO),
}
"""Measures of other tools, and tools that people take for measures."""
