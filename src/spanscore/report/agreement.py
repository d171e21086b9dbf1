"""Agreement of annotators as tables, as JSON values, and as a page of disagreements."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import msgspec

from spanscore.analysis.agreement_beside import NAME, SCHEMA
from spanscore.errors import plural, printable
from spanscore.files import atomic_file, output_folder
from spanscore.report.confusion import matrix
from spanscore.report.page_report import NAME as PAGE
from spanscore.report.page_report import write_report
from spanscore.result.tables import aligned, between, shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from spanscore.analysis.agreement import Agreement
    from spanscore.analysis.coefficients import Coefficient
    from spanscore.arguments import Text
    from spanscore.result import Scores

WIDE = 12
"""Types that fit in a matrix on a terminal."""
TEXTS = 4
"""Columns of text in the table."""


def plain(found: Agreement) -> str:
    """Return the agreement of each pair and of all annotators as aligned text."""
    return "\n".join(aligned(cells(found), TEXTS))


def cells(found: Agreement) -> list[list[str]]:
    """Return the header and the rows; cells that repeat the row above are empty."""
    level = f"{100 * found.bootstrap.level:g}%"
    lines = [["annotators", "documents", "what", "type", "value", level]]
    for pair in found.pairs:
        names = f"{printable(pair.first)}, {printable(pair.second)}"
        rows = []
        for one in pair.result.scores:
            interval = one.interval(found.bootstrap)
            rows.append([f"F{one.beta:g} {one.measure!r}", "all", shown(one.f), between(getattr(interval, "f", None))])
        rows.append(["kappa, all tokens", "all", *_cells(pair.kappa)])
        rows += [["", printable(label), *_cells(one)] for label, one in pair.kappa_by_type.items()]
        rows.append(["kappa, marked tokens", "all", *_cells(pair.kappa_marked)])
        lines += [[names, str(pair.documents), *rows[0]], *(["", "", *row] for row in rows[1:])]
    everybody = []
    for one in found.scores if len(found.pairs) > 1 else ():
        interval = getattr(one.interval(found.bootstrap), "f", None)
        everybody.append([f"F{one.beta:g} {one.measure!r}", "all", shown(one.f), between(interval)])
    everybody.append(["alpha", "all", *_cells(found.alpha)])
    everybody += [["", printable(label), *_cells(one)] for label, one in found.alpha_by_type.items()]
    who = [plural(len(found.annotators), "annotator"), ""]
    lines += [[*(who if not number else ("", "")), *row] for number, row in enumerate(everybody)]
    return lines


def matrices(found: Agreement) -> str:
    """Return the confusion matrix of each pair by the first measure: the first annotator's types are the rows.

    What only one of the two marked comes first.
    """
    blocks = []
    for pair in found.pairs:
        one = pair.result.scores[0]
        rows, columns, counts = matrix(one.confusion)
        if len(columns) - 1 > WIDE:
            blocks.append(
                f"{printable(pair.first)} and {printable(pair.second)}: {len(columns) - 1} types, too many to show."
            )
            continue
        first, second = (f"(only {printable(name)})" for name in (pair.first, pair.second))
        head = [f"{printable(pair.first)} \\ {printable(pair.second)}, {one.measure!r}"]
        lines = [[*head, first, *map(printable, columns[1:])]]
        names = [second, *map(printable, rows[1:])]
        lines += [[name, *(str(n) if n else "·" for n in row)] for name, row in zip(names, counts, strict=True)]
        blocks.append("\n".join(aligned(lines, 1)))
    return "\n\n".join(blocks)


def write(found: Agreement, folder: str | Path, *, text: Text, report: bool) -> str | None:
    """Write agreement.json and a page of disagreements to a folder; return a note about omitted documents."""
    note = None
    with output_folder(folder, last=NAME, stale=("report.html",)) as new:
        if report and found.disagreements is not None:
            title = f"Disagreements of {', '.join(found.annotators)}"
            gold = found.annotators[0] if len(found.annotators) == 2 else "the majority"
            note = write_report(
                found.disagreements,
                new / PAGE,
                text=text,
                title=f"{title}; gold: {gold}",
                agreement=record(found),
                gold=gold,
            )
        with atomic_file(new / NAME) as file:
            file.write(to_json(found))
    return note


def to_json(found: Agreement) -> bytes:
    """Return the agreement as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(record(found)), indent=2) + b"\n"


def record(found: Agreement) -> dict[str, Any]:
    """Return the agreement as JSON values."""
    return {
        "schema": SCHEMA,
        "annotators": list(found.annotators),
        "level": found.bootstrap.level,
        "pairs": [
            {
                "first": pair.first,
                "second": pair.second,
                "documents": pair.documents,
                "scores": [
                    {
                        "measure": repr(one.measure),
                        "precision": _number(one.precision),
                        "recall": _number(one.recall),
                        "f": _number(one.f),
                        "beta": one.beta,
                        "f_interval": _interval(getattr(one.interval(found.bootstrap), "f", None)),
                        "signature": one.signature,
                    }
                    for one in pair.result.scores
                ],
                "confusion": [
                    {"first": first, "second": second, "count": count}
                    for (first, second), count in sorted(
                        pair.result.scores[0].confusion.items(), key=lambda cell: tuple(name or "" for name in cell[0])
                    )
                    if count
                ],
                "kappa": _coefficient(pair.kappa),
                "kappa_marked": _coefficient(pair.kappa_marked),
                "kappa_by_type": {label: _coefficient(one) for label, one in pair.kappa_by_type.items()},
            }
            for pair in found.pairs
        ],
        "results": [row for one in found.scores for row in _together(one, found)],
        "alpha": _coefficient(found.alpha),
        "alpha_by_type": {label: _coefficient(one) for label, one in found.alpha_by_type.items()},
    }


def _together(one: Scores, found: Agreement) -> Iterator[dict[str, Any]]:
    """Yield F of all pairs together, over all types and by type; precision and recall depend on the order."""
    for label, score in ((None, one.overall), *one.by_type.items()):
        ends = _interval(getattr(one.interval(found.bootstrap, label), "f", None))
        yield {
            "system": one.system,
            "measure": repr(one.measure),
            "type": label,
            "precision": None,
            "recall": None,
            "f": _number(score.f),
            "beta": one.beta,
            **({} if ends is None else {"interval": {"f": ends}}),
        }


def _cells(one: Coefficient) -> list[str]:
    return [shown(one.value), between(None if math.isnan(one.interval[0]) else one.interval)]


def _coefficient(one: Coefficient) -> dict[str, Any]:
    return {"value": _number(one.value), "interval": _interval(one.interval), "tokens": one.tokens}


def _interval(found: tuple[float, float] | None) -> list[float] | None:
    return None if found is None or math.isnan(found[0]) else list(found)


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
