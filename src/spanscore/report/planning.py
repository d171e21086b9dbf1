"""Sample sizes and claims as text and as JSON."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING

import msgspec

from spanscore.errors import plural, plural_of, printable
from spanscore.result.tables import ALL, UNDEFINED, aligned
from spanscore.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.analysis.sample_size import Claim, SamplePlan

SCHEMA = "spanscore.plan/1"
IF_EVEN = "(if those with many spans are not missed more often)"


def to_json(found: SamplePlan) -> bytes:
    """Return the plan as indented JSON."""
    document = {"schema": SCHEMA, "version": __version__, **msgspec.to_builtins(found)}
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def plain(found: SamplePlan) -> str:
    """Return the plan as sentences, and as a table by type if there is a pilot."""
    return "\n".join(_needed(found) if found.recall is not None else _claims(found))


def _needed(found: SamplePlan) -> Iterator[str]:
    allowed = _misses(found.misses) if not found.misses else f"at most {_misses(found.misses)}"
    sure = _percent(found.confidence)
    yield f"To claim a recall of at least {found.recall:.15g} with {sure} confidence and {allowed}, annotate"
    first = found.needed[0]
    number, unit, counted = first.independent_spans, _unit(found), plural_of(found.unit)
    if found.unit == unit:
        yield f"- {plural(number, unit)} with private spans."
    else:
        yield f"- {plural(number, found.unit)} if each is missed independently of all others,"
        yield f"- {plural(number, unit)} with such {counted}, however misses are correlated within {unit}s"
        yield f"  {IF_EVEN.replace('spans', counted)}."
    if first.spans is None:
        return
    if found.pilot is None:
        yield (
            f"- With {first.per_document:g} spans per document and a correlation of {first.correlation:g}: "
            f"{plural(first.spans, 'span')} in {plural(first.documents_with or 0, 'document')}."
        )
        return
    yield f"\nEstimates from {printable(found.pilot, limit=255)} (measure {found.measure}{_clustered(found)}):\n"
    yield from aligned(list(_sizes(found)), 1)
    few = "of no more misses than allowed, if recall is the same as in the pilot"
    if found.unit == unit:
        yield f"\n{unit}s with: share of {unit}s with private spans; chance: {few}"
        return
    yield (
        f"\n{unit}s with: share of {unit}s that hold such {counted}; correlation of misses within a {unit}, with one "
        f"completely missed {unit} added; chance: {few}"
    )


def _sizes(found: SamplePlan) -> Iterator[list[str]]:
    """Yield the rows of the table of sizes; a document that counts as a whole has no number or correlation in it."""
    unit, counted = _unit(found), plural_of(found.unit)
    shown = [True, True, found.unit != unit, True, found.unit != unit, True, True, True]
    many = f"{counted} with spans" if found.unit == unit else counted
    rows = [["type", "recall", f"{counted}/{unit}", f"{unit}s with", "correlation", many, f"{unit}s", "chance"]]
    for one in found.needed:
        numbers = (one.pilot_recall, one.per_document, one.share, one.correlation, one.chance)
        recall, size, share, correlation, chance = (0.0 if number is None else number for number in numbers)
        rows.append(
            [
                ALL if one.type is None else printable(one.type),
                f"{recall:.3f}",
                f"{size:.1f}",
                f"{100 * share:.0f}%",
                f"{correlation:.2f}",
                str(one.spans),
                str(one.documents),
                f"{100 * chance:.0f}%",
            ]
        )
    yield from (list(compress(row, shown)) for row in rows)


def _claims(found: SamplePlan) -> Iterator[str]:
    if found.pilot is None:
        for one in found.claims:
            yield _claim(one, found.confidence)
        return
    level, pilot = _percent(found.confidence), printable(found.pilot, limit=255)
    yield f"What you may claim with {level} confidence, {pilot}, {found.measure}{_clustered(found)}:\n"
    unit, counted = _unit(found), plural_of(found.unit)
    shown = [True, True, found.unit != unit, True, True, found.unit != unit]
    rows = [["type", "misses", counted, f"{unit}s", "recall at least", f"if {counted} are independent"]]
    for one in found.claims:
        name = ALL if one.type is None else printable(one.type)
        ends = [UNDEFINED if end is None else _below_one(end) for end in (one.recall, one.recall_spans)]
        rows.append([name, str(one.misses), str(one.spans), str(one.documents), *ends])
    yield from aligned([list(compress(row, shown)) for row in rows], 1)


def _claim(one: Claim, confidence: float) -> str:
    counts = ((one.spans, "span"), (one.documents, "document"))
    held = " in ".join(plural(number, noun) for number, noun in counts if number is not None)
    reasons = (
        (one.recall, f"however misses are correlated within documents {IF_EVEN}"),
        (one.recall_spans, "if each span is missed independently"),
    )
    ends = ", and ".join(f"at least {_below_one(end)} {reason}" for end, reason in reasons if end is not None)
    sure = f"with {_percent(confidence)} confidence"
    return f"With {held} and {_misses(one.misses)} you may claim, {sure}, a recall of {ends}."


def _unit(found: SamplePlan) -> str:
    return "document" if found.cluster is None else "cluster"


def _clustered(found: SamplePlan) -> str:
    return "" if found.cluster is None else f"; a cluster: the documents with one {printable(found.cluster)}"


def _percent(confidence: float) -> str:
    return f"{100 * confidence:.13g}%"


def _below_one(recall: float) -> str:
    """Return a recall with four digits, or with as many as it needs to differ from 1.

    >>> _below_one(0.97531), _below_one(0.99999712)
    ('0.9753', '0.999997')
    """
    digits = next((n for n in range(4, 16) if float(f"{recall:.{n}f}") < 1), 4)
    return f"{recall:.{digits}f}"


def _misses(number: int) -> str:
    return "no miss" if not number else "1 miss" if number == 1 else f"{number} misses"
