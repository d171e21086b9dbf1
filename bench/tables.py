"""The measurements as tables: rows as they come in, and Markdown for the documentation."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Table:
    """The measurements, one row each."""

    rows: list[dict[str, Any]] = field(default_factory=list)

    def add(
        self, what: str, ours: float, peer: str, theirs: float, aim: str, *, spans: int | None = None, unit: str = "s"
    ) -> None:
        """A figure and what it is compared with: how many times better it is `at least`, or how many times as much."""
        ratio = theirs / ours if aim.startswith("at least") else ours / theirs
        self.rows.append(
            {
                "what": what,
                "value": ours,
                "unit": unit,
                "peer": peer,
                "peer_value": theirs,
                "ratio": ratio,
                "aim": aim,
                "spans_per_second": None if spans is None else spans / ours,
            }
        )
        print(f"{what}: {ours:.3f} {unit}; {peer}: {theirs:.3f} {unit}; ratio {ratio:.3g} ({aim})", flush=True)


def markdown(
    about: dict[str, Any],
    rows: list[dict[str, Any]],
    growth: list[dict[str, Any]],
    worst: list[dict[str, Any]],
    many: list[dict[str, Any]],
) -> str:
    """Return the measurements as tables for the documentation."""
    used = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    lines = [
        f"{about['documents']:,} documents, {about['spans']:,} spans in all. {about['date']}, {about['machine']}; {used}.",
        "",
        "| what | this | million spans/s | compared with | that | ratio | aim |",
        "| :--- | ---: | ---: | :--- | ---: | ---: | :--- |",
    ]
    for one in rows:
        rate = "" if one["spans_per_second"] is None else f"{one['spans_per_second'] / 1e6:.1f}"
        cells = [
            one["what"],
            _told(one["value"], one["unit"]),
            rate,
            one["peer"],
            _told(one["peer_value"], one["unit"]),
        ]
        lines.append(f"| {' | '.join(cells)} | {one['ratio']:.3g} | {one['aim']} |")
    lines += [
        "",
        "How it grows, by the command line with its start-up (a span's time is without it; memory is that of the process that was called):",
        "",
        "| what | spans | seconds | µs a span | peak memory |",
        "| :--- | ---: | ---: | ---: | ---: |",
    ]
    for one in growth:
        each = f"{one['microseconds_per_span']:.2f}"
        lines.append(
            f"| {one['what']} | {one['spans']:,} | {one['seconds']:.2f} | {each} | {one['megabytes']:.0f} MB |"
        )
    return "\n".join([*lines, "", *worst_cases(worst), *many_names(many)]) + "\n"


def worst_cases(worst: list[dict[str, Any]]) -> list[str]:
    """Return the time and memory of every measure on nested and crossing spans, a table for each number of spans."""
    lines = []
    for spans in dict.fromkeys(one["spans"] for one in worst):
        some = [one for one in worst if one["spans"] == spans]
        cases = list(some[0]["cases"])
        lines += [
            (
                f"The worst cases: one document with {spans:,} spans on each side, all of which overlap, so that there are "
                f"{spans**2 / 1e6:.0f} million pairs. Seconds and peak memory of a process that scores it by one measure, with what that imports "
                "(–: the measure refuses such spans):"
            ),
            "",
            f"| measure | {' | '.join(cases)} |",
            f"| :--- | {' | '.join('---:' for _ in cases)} |",
        ]
        for one in some:
            found = one["cases"].values()
            cells = [
                "–" if cost["refused"] else f"{cost['seconds']:.2f} s, {cost['megabytes']:.0f} MB" for cost in found
            ]
            lines.append(f"| `{one['measure']}` | {' | '.join(cells)} |")
        lines.append("")
    return lines


def many_names(many: list[dict[str, Any]]) -> list[str]:
    """Return the time and memory of commands on many labels and many systems."""
    if not many:
        return []
    lines = ["Many labels and many systems, with start-up:", "", "| command | seconds | MB |", "| :--- | ---: | ---: |"]
    return lines + [f"| {one['what']} | {one['seconds']:.2f} | {one['megabytes']:.0f} |" for one in many]


def costs(rows: list[dict[str, Any]], growth: list[dict[str, Any]], data: Path, documents: int) -> str:
    """Return what a million spans cost, and from that ten billion, for the documentation."""
    found = {one["what"]: one["value"] for one in rows}
    grown = {one["what"]: one for one in growth}
    million = "1,000,000 documents"
    ways = {
        "JSON Lines, gold with text": (grown[million]["microseconds_per_span"], "", ".jsonl"),
        "JSON Lines, spans alone": (
            found["exact and iou from JSON Lines, spans alone"] * 1e6 / 1.6e6,
            "bare-",
            ".jsonl",
        ),
        "Parquet, gold with text": (grown[f"{million} from Parquet"]["microseconds_per_span"], "", ".parquet"),
        "Parquet, spans alone": (found["exact and iou from Parquet, spans alone"] * 1e6 / 1.6e6, "bare-", ".parquet"),
    }
    efficiency = next(one["ratio"] for one in rows if one["what"].endswith("--jobs 2") and "text" in one["what"]) / 2
    lines = [
        f"| | core-seconds a million spans | MB a million spans | ten billion spans: data | one core | 16 cores, each at {efficiency:.0%} as of two |",
        "| :--- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, (seconds, bare, suffix) in ways.items():
        paths = (data / f"{bare}gold-{documents}x8{suffix}", data / f"pred-{documents}x8{suffix}")
        megabytes = sum(path.stat().st_size for path in paths) / 1.6e6
        hours = seconds * 1e4 / 3600
        shared = hours * 60 / 16 / efficiency
        cells = f"{seconds:.2f} | {megabytes:.0f} | {megabytes * 1e4 / 1e6:.2f} TB | {hours:.1f} h | {shared:.0f} min"
        lines.append(f"| {name} | {cells} |")
    alone = grown[million]["megabytes"]
    order = 1e6 * (grown[f"{million}, predictions in another order"]["megabytes"] - alone) / 8e6
    both = 1e6 * (grown[f"{million}, two systems compared"]["megabytes"] - alone) / 4e6
    lines += [
        "",
        (
            f"Measured on a million documents: a process takes {alone:.0f} MB; predictions in another order take {order:.0f} bytes each; "
            f"`compare`, with those in another order too, takes {both:.0f} bytes for each document, measure and system."
        ),
    ]
    return "\n".join(lines) + "\n"


def _told(value: float, unit: str) -> str:
    return f"{value:.0f} {unit}" if unit == "MB" else f"{value:,.3f} {unit}"
