"""Accounts of what was left out or merged when gold data and a system were paired."""

from __future__ import annotations

from collections import Counter

from spanscore.errors import plural, printable

Account = Counter[tuple[str, str, str]]
"""Counts of documents or spans of a side that were left out or merged: (side, what, detail) -> count. Accounts add."""


def describe(account: Account) -> list[str]:
    """Return a sentence for each entry of an account, in an order that does not depend on that of documents.

    >>> describe(Counter({("base", "repeated", ""): 2, ("gold", "dropped", "MISC"): 1}))
    ['gold: 1 span labelled MISC was left out by the label map.', 'base: 2 duplicate spans count once.']
    >>> describe(Counter({("gold", "deselected", "DATE"): 2, ("gold", "deselected", "AGE"): 1}))
    ['gold: 3 spans were left out because of --entities: AGE (1), DATE (2).']
    """
    sentences = []
    for (side, what, detail), count in sorted(_together(account).items(), key=_reporting_order):
        one = count == 1
        sentence = {
            "missing": f"{plural(count, 'gold document')} without output; "
            f"{'its' if one else 'their'} spans count as missed",
            "ignored": f"{plural(count, 'document')} {'is' if one else 'are'} not in the gold data and "
            f"{'was' if one else 'were'} left out",
            "scored": f"{plural(count, 'document')} {'is' if one else 'are'} not in the gold data; "
            f"{'its' if one else 'their'} spans count as spurious",
            "unseen": f"{plural(count, 'document')} that {printable(detail)} did not annotate "
            f"{'was' if one else 'were'} left out",
            "annotators": f"{plural(count, 'document')} {'has' if one else 'have'} spans of several annotators, which "
            "count together; choose with --annotator",
            "dropped": f"{plural(count, 'span')} labelled {printable(detail)} {'was' if one else 'were'} "
            "left out by the label map",
            "deselected": f"{plural(count, 'span')} {'was' if one else 'were'} left out because of "
            f"--entities: {detail}",
            "unshared": f"{plural(count, 'span')} {'was' if one else 'were'} left out because not every side has "
            f"{'its type' if one else 'their types'} (--shared-types): {detail}",
            "scoreless": f"{plural(count, 'prediction')} without a score {'was' if one else 'were'} kept: "
            f"--score-threshold does not apply to {'it' if one else 'them'}",
            "unscored": f"{plural(count, 'span')} {'is' if one else 'are'} neither right nor wrong ({detail})",
            "resolved": f"--resolve dropped {plural(count, 'span')} that overlap{'s' if one else ''} "
            f"{'a longer one' if detail == 'longest' else 'a higher-scoring one'}",
            "textless": f"{plural(count, 'document')} without text; in {detail}, whitespace and punctuation of "
            f"{'its' if one else 'their'} spans count too",
            "sentenceless": f"{plural(count, 'document')} without a number of sentences, which {detail} "
            "needs: the leak score is undefined",
            "repeated": f"{plural(count, 'duplicate span')} count{'s' if one else ''} once"
            + (f" in {detail}" if detail else ""),
        }[what]
        sentences.append(f"{side}: {sentence}.")
    return sentences


def _together(account: Account) -> Account:
    """Return an account with one entry for all labels of a side that were not selected, or not shared."""
    found: Account = Counter()
    labels: dict[tuple[str, str], dict[str, int]] = {}
    for (side, what, detail), count in sorted(account.items()):
        if what in ("deselected", "unshared"):
            labels.setdefault((side, what), {})[printable(detail)] = count
        else:
            found[side, what, detail] = count
    for (side, what), counts in labels.items():
        found[side, what, ", ".join(f"{label} ({count})" for label, count in counts.items())] = sum(counts.values())
    return found


def _reporting_order(item: tuple[tuple[str, str, str], int]) -> tuple[int, bool, str]:
    (side, what, detail), _ = item
    kinds = (
        "missing",
        "ignored",
        "scored",
        "unseen",
        "annotators",
        "dropped",
        "deselected",
        "unshared",
        "scoreless",
        "unscored",
        "repeated",
        "resolved",
        "textless",
        "sentenceless",
    )
    return kinds.index(what), side != "gold", detail
