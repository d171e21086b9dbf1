"""The first screen of the report: what leaks or goes wrong, how much of it, and how certain that is.

The numbers and sentences are those of the summary page: both come from `report.metrics` and `report.summary`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spanscore.errors import plural
from spanscore.report.metrics import affected_documents, leaks, shares_by_type
from spanscore.report.summary import headline, of_total, singular, with_interval, worst_first
from spanscore.result.tables import known, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spanscore.result import Result, Scores
    from spanscore.stats import Bootstrap, Interval

GOLD = "gold"
"""What the gold data is called, unless it is an annotator's."""
WORST = 3
"""Maximum number of types in the headline."""
FIRST = (" left out", "without output", "failed on ", "not in the gold data")
"""Parts of notes about data that was not scored; those come first."""
SAID = "the detector does not look for "
"""The beginning of a warning that the page words in its own way."""


def answers(result: Result, bootstrap: Bootstrap, gold: str = GOLD) -> list[dict[str, Any]]:
    """Return the headline and the tiles for each system and measure: about leaks if `leak` was measured, else errors.

    A tile says by which measure it is, unless that is the measure of the answer. If `gold` is the name of an annotator,
    systems are other annotators, and the headline is about disagreements.

    >>> import spanscore as ss
    >>> text, span = "Ann met Bob", {"start": 0, "end": 3, "label": "PERSON"}
    >>> gold = ss.Corpus.from_documents([{"id": "d", "text": text, "spans": [span, {**span, "start": 8, "end": 11}]}])
    >>> pred = ss.Corpus.from_documents([{"id": "d", "spans": [span]}])
    >>> answers(ss.score(gold, pred, "leak"), ss.Bootstrap())[0]["lead"]
    '1 of 2 private spans stays readable: 50% [3%, 97%].'
    """
    leak = leak_measure(result, gold)
    leak_scores = [one for one in result.scores if repr(one.measure) == leak]
    about_leaks = {(one.system, one.level): _leaks(one, bootstrap) for one in leak_scores}
    found = []
    for one in result.scores:
        interval = one.interval(bootstrap)
        tiles = [_number(one, interval, number) for number in ("recall", "precision", "f")]
        levels = [level for system, level in about_leaks if system == one.system]
        level = one.level if one.level in levels else next(iter(levels), None)
        about = about_leaks.get((one.system, level)) or _errors(one, bootstrap, interval, gold)
        first, last = about["tiles"]
        if about["kind"] == "leak" and (repr(one.measure), one.level) != (leak, level):
            first, last = ([{**tile, "note": f"{tile['note']}, by {leak}"} for tile in some] for some in (first, last))
        found.append({**about, "tiles": [*first, *tiles, *last]})
    return found


def leak_measure(result: Result, gold: str = GOLD) -> str | None:
    """Return the measure that the headline is about if it is about leaks, with which the page opens."""
    leaks = [repr(one.measure) for one in result.scores if one.measure.name == "leak"]
    return leaks[0] if leaks and gold == GOLD else None


def _leaks(leak: Scores, bootstrap: Bootstrap) -> dict[str, Any]:
    found = leaks(leak, bootstrap, ())
    tile = {
        "name": "leak",
        "label": "Leak",
        "value": found["readable_share"],
        "shown": with_interval(found["readable_share"], ()),
        "interval": with_interval(found["readable_share"], found["interval"]).partition(" ")[2],
        "note": of_total(found["readable"], found["counts"]["annotated"], "private span"),
        "measure": repr(leak.measure),
        "level": leak.level,
    }
    return {
        "kind": "leak",
        "lead": headline(found),
        "worst": _worst(found["by_type"]),
        "documents": _documents(found["documents"], "affected"),
        "tiles": ([tile], [_documents_tile(found["documents"], "Documents affected")]),
    }


def notes(result: Result, more: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """Return the notes to read before trusting the numbers (such as what was left out), and the others."""
    said = [one for one in (*result.warnings, *more) if not one.startswith(SAID)]
    first = [one for one in said if any(part in one for part in FIRST)]
    return first, [one for one in said if one not in first]


def skipped_types(result: Result) -> tuple[str, str] | None:
    """Return the note on the types that the detector does not look for, the first one; None if it looks for all.

    It is different for a measure that compares types and for one that does not, where other predictions may cover them.
    """
    if not result.not_looked_for:
        return None
    names = ", ".join(result.not_looked_for)
    named = set(result.not_looked_for)
    by_type = max(result.scores, key=lambda one: len(named & set(one.by_type)))
    spans = sum(int(hits(by_type, name)[3]) for name in named & set(by_type.by_type))
    counted = f"{plural(spans, 'span')}, counted as missed"
    compared, ignored = (counted, f"{counted} where no other prediction covers them") if spans else ("no spans",) * 2
    said = "Not looked for by the detector"
    return f"{said}: {names} ({compared}).", f"{said}: {names} ({ignored})."


def hits(scores: Scores, label: str | None = None) -> list[float]:
    """Return what is right of what is predicted, and what is found of what is annotated, as the measure counts."""
    counts = scores.ratio_columns(scores.tally.of_label(label).total()[None])[0]
    return [round(float(value), 6) for value in counts]


def _errors(scores: Scores, bootstrap: Bootstrap, interval: Interval | None, gold: str) -> dict[str, Any]:
    documents = affected_documents(scores, bootstrap.level)
    right, predicted, found, annotated = hits(scores)
    by_type = shares_by_type(scores, bootstrap)
    by_key = "rtp" in scores.counts
    what = "link" if is_linking(scores) else "mention" if by_key else "span"
    mentions = (is_linking(scores) or by_key) and not scores.measure.needs_all_documents
    counts_spans = scores.measure.finds_spans or (mentions and scores.measure.counts_spans)
    whole = counts_spans and all(value == round(value) for value in (right, predicted, found, annotated))
    if not whole:
        said = ", ".join(
            f"{name} {shown(getattr(scores, number))}"
            for name, number in (("recall", "recall"), ("precision", "precision"), (f"F{scores.beta:g}", "f"))
        )
        lead = f"{said[0].upper()}{said[1:]} by {scores.measure!r}."
    elif not annotated and not predicted:
        lead = f"The data has no {what}s, so there are no errors."
    else:
        parts = []
        sides = (
            (annotated - found, annotated, "recall", f"annotated {what}", "missed or wrong", (scores.system, gold)),
            (predicted - right, predicted, "precision", "prediction", "wrong", (gold, scores.system)),
        )
        for count, total, number, noun, verb, (other, who) in sides:
            ends = [] if interval is None else [1 - end for end in reversed(getattr(interval, number)) if end == end]
            share = with_interval(count / total if total else None, ends)
            are = "is" if singular(int(count), int(total)) else "are"
            said = f"{of_total(int(count), int(total), noun)} {are} {verb}"
            if gold != GOLD:
                said = _unmarked(other, int(count), who, int(total), what)
            parts.append(f"{said}: {share}." if total else _none(noun, who if gold != GOLD else "", what))
        lead = " ".join(parts)
    wrong = f"have missed or wrong {what}s"
    if gold != GOLD:
        wrong = f"have {what}s of {gold} that {scores.system} did not mark"
    name = "Documents with errors" if gold == GOLD else "Documents with unconfirmed spans"
    tile = [] if documents is None else [_documents_tile(documents, name)]
    return {
        "kind": "errors",
        "lead": lead,
        "worst": _worst(by_type) if whole else [],
        "documents": None if documents is None else _documents(documents, wrong),
        "tiles": ([], tile),
    }


def _none(noun: str, who: str, what: str) -> str:
    """Return that there is nothing to be right or wrong: no annotation or prediction, or no span of an annotator.

    >>> _none("prediction", "", "span"), _none("prediction", "the majority", "span")
    ('There are no predictions.', 'The majority marked no spans.')
    """
    return f"{_capital(who)} marked no {what}s." if who else f"There are no {noun}s."


def _capital(who: str) -> str:
    """Return what to call annotators at the beginning of a sentence; names stay as they are."""
    return who[0].upper() + who[1:] if who in ("the majority", "annotators") else who


def _unmarked(one: str, count: int, other: str, total: int, what: str) -> str:
    """Return how many spans of one annotator another one, or the majority, did not mark.

    >>> _unmarked("ann", 26, "the majority", 234, "span"), _unmarked("the majority", 0, "chris", 1, "span")
    ("ann did not mark 26 of the majority's 234 spans", "The majority did not mark 0 of chris' 1 span")
    """
    whose = f"{other}'" if other.endswith("s") else f"{other}'s"
    return f"{_capital(one)} did not mark {count:,} of {whose} {total:,} {what}{'' if total == 1 else 's'}"


def is_linking(scores: Scores) -> bool:
    """Return whether the measure compares the entities that spans are linked to."""
    return "kbid" in scores.measure.identity and scores.measure.name != "leak.entity"


def _worst(rows: dict[str, Any]) -> list[list[Any]]:
    listed = worst_first(rows)[:WORST] if len(rows) > 1 else []
    return [[name, int(row["readable"]), int(row["counts"]["annotated"])] for name, row in listed]


def _documents(documents: dict[str, Any], what: str) -> str:
    affected, annotated = documents["affected"], documents["annotated"]
    if not annotated:
        return "No document has annotations."
    share = with_interval(affected / annotated, documents["interval"])
    verb = what
    if what == "affected":
        verb = f"{'is' if singular(affected, annotated) else 'are'} affected"
    elif singular(affected, annotated):
        verb = what.replace("have ", "has ", 1)
    return f"{of_total(affected, annotated, 'document')} with annotations {verb}: {share}."


def _documents_tile(documents: dict[str, Any], label: str) -> dict[str, Any]:
    affected, annotated = documents["affected"], documents["annotated"]
    share = affected / annotated if annotated else None
    return {
        "name": "documents",
        "label": label,
        "value": share,
        "shown": f"{affected:,}",
        "interval": with_interval(share, documents["interval"]),
        "note": f"of {annotated:,} with annotations",
        "measure": None,
        "level": None,
    }


def _number(scores: Scores, interval: Interval | None, number: str) -> dict[str, Any]:
    ends = [] if interval is None else [end for end in getattr(interval, number) if end == end]
    label = f"F{scores.beta:g}" if number == "f" else number.capitalize()
    return {
        "name": number,
        "label": label,
        "value": known(getattr(scores, number)),
        "shown": shown(getattr(scores, number)),
        "interval": f"[{', '.join(map(shown, ends))}]" if ends else "",
        "note": f"by {scores.measure!r}",
        "measure": repr(scores.measure),
        "level": scores.level,
    }
