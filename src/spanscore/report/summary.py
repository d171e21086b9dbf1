"""The summary of a run: one page without text, for the person who decides whether a detector may be used."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanscore.align.span_groups import ATTRIBUTE, NONE
from spanscore.errors import InputError, plural, printable
from spanscore.files import atomic_file, finish_interrupted
from spanscore.result.tables import NOT_LOOKED_FOR

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

NAME = "summary.html"
WORST, SLICES, TABLES = 8, 5, 2
"""Maximum number of types, of slices in a table, and of tables of slices: everything has to fit on one page."""
NOTES = 4
"""Maximum number of warnings that are listed."""
LONGEST = 40
"""Maximum number of characters of a name in a table."""
RECOGNIZER = "attr.recognizer"
IDENTIFIERS = {"DIRECT", "QUASI", "NO_MASK", NONE}
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
ALWAYS = (
    "Private text that nobody annotated, and what a reader can conclude from the rest of a text, are not measured.",
    "The intervals hold for texts like the ones tested. Other sources and languages need a test of their own.",
)
STYLE = """
@page { size: A4; margin: 12mm 14mm }
* { box-sizing: border-box }
:root { color-scheme: light dark; --ink: #1b1b1b; --soft: #555; --paper: #fff; --line: #d5d5d5; --edge: #767676;
  --bar: #a3361f }
@media screen and (prefers-color-scheme: dark) {
  :root { --ink: #ececec; --soft: #b4b4b4; --paper: #161616; --line: #3a3a3a; --edge: #8a8a8a; --bar: #e0694f }
}
body { font: 15px/1.4 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; color: var(--ink);
  background: var(--paper); max-width: 52rem; margin: 1.5rem auto; padding: 0 1rem }
h1 { font-size: 1.35rem; margin: 0 0 .2rem }
h2 { font-size: 1rem; margin: 1.1rem 0 .3rem; padding-top: .5rem; border-top: 1px solid var(--edge) }
p { margin: .3rem 0 }
.lead { font-size: 1.3rem; font-weight: 600; line-height: 1.3; margin: .9rem 0 .3rem }
.quiet { color: var(--soft) }
table { border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums }
th, td { text-align: right; padding: .12rem .5rem; border-bottom: 1px solid var(--line) }
th:first-child, td:first-child { text-align: left; padding-left: 0; overflow-wrap: anywhere; min-width: 9rem }
thead th, thead td { border-bottom-color: var(--edge) }
td { white-space: nowrap }
tbody th { font-weight: 400 }
caption { text-align: left; font-weight: 600; padding: .2rem 0 }
.bar { width: 9rem; padding-right: 0 }
.bar span { display: block; height: .6rem; background: var(--bar); print-color-adjust: exact;
  -webkit-print-color-adjust: exact }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem .9rem; margin: .3rem 0; font-size: .9rem }
dt { color: var(--soft) }
dd { margin: 0; overflow-wrap: anywhere }
ul { margin: .3rem 0; padding-left: 1.1rem; font-size: .9rem }
.signature { font: .75rem/1.35 ui-monospace, Menlo, Consolas, monospace; overflow-wrap: anywhere; color: var(--soft) }
@media screen and (max-width: 40rem) {
  .bar { display: none }
  table { font-size: .8rem }
  th, td { padding: .12rem .2rem; white-space: normal }
  th:first-child, td:first-child { min-width: 7.4rem }
}
@media print {
  html { font-size: 9pt }
  body { font-size: 1rem; line-height: 1.3; margin: 0; padding: 0; max-width: none }
  h2 { break-after: avoid }
  table, dl, ul { break-inside: avoid }
}
"""


def write_summary(folder: str | Path) -> Path:
    """Write summary.html into the folder of a run, from its metrics.json, run.json and results.json."""
    from spanscore.engine.run_folders import UNFINISHED, unfinished_run

    path = Path(folder)
    finish_interrupted(path)
    if not (path / "run.json").is_file() and (path / UNFINISHED).is_file():
        raise unfinished_run(path)
    metrics, about, results = (_read(path / name) for name in ("metrics.json", "run.json", "results.json"))
    try:
        content = page(metrics, about, inputs=results["inputs"])
    except (KeyError, TypeError, AttributeError, ValueError, StopIteration) as error:
        what = f"this run cannot be summarized ({type(error).__name__}); run it again with this version."
        raise InputError(what, str(path)) from None
    with atomic_file(path / NAME) as file:
        file.write(content.encode("utf-8", "backslashreplace"))
    return path / NAME


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise InputError("there is no such file; give the folder of spanscore run.", str(path)) from None
    except OSError as error:
        raise InputError(f"cannot read this file ({error.strerror}).", str(path)) from None
    except (ValueError, RecursionError):
        raise InputError("this file is not valid JSON.", str(path)) from None
    if not isinstance(found, dict):
        raise InputError("this is not a file of spanscore run.", str(path))
    return found


def page(metrics: Mapping[str, Any], about: Mapping[str, Any], *, inputs: Mapping[str, Any]) -> str:
    """Return the page; it contains names of types, slices and files, but no text and no document IDs.

    Values of attributes may be text, so that only kinds of identifiers and names of recognizers are shown.
    """
    leak = metrics["details"]["leak"]
    source = Path(inputs["gold"]["source"] or "gold data").name
    detector = about["detection"]["detector"]
    signature = next(line for line in about["signatures"] if line.startswith("leak"))
    title = f"What stays readable: {detector} on {source}"
    parts = [
        f"<h1>{_safe(title)}</h1>",
        f'<p class="quiet">{_safe(_when(about))}, spanscore {_safe(about["version"])}</p>',
        *_lead(leak),
        *(_worst(leak, metrics["details"]["not_looked_for"]) if leak["counts"]["annotated"] else ()),
        "<h2>What was tested</h2>",
        _facts(metrics, about, inputs),
        "<h2>What the numbers do not cover</h2>",
        _list(_gaps(metrics, about)),
        "<h2>Signature</h2>",
        f'<p class="signature">{_safe(signature)}</p>',
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{_safe(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(parts)
        + "\n</main>\n</body>\n</html>\n"
    )


def headline(leak: Mapping[str, Any]) -> str:
    """Return how many private spans stay readable, in one sentence."""
    annotated = leak["counts"]["annotated"]
    if not annotated:
        return "The data has no private spans, so nothing can be said about leaks."
    spans = of_total(leak["readable"], annotated, "private span")
    stay = "stays" if singular(leak["readable"], annotated) else "stay"
    return f"{spans} {stay} readable: {with_interval(leak['readable_share'], leak['interval'])}."


def _lead(leak: Mapping[str, Any]) -> list[str]:
    counts, documents = leak["counts"], leak["documents"]
    if not counts["annotated"]:
        return [f'<p class="lead">{_safe(headline(leak))}</p>']
    texts = of_total(documents["affected"], documents["annotated"], "document")
    are = "is" if singular(documents["affected"], documents["annotated"]) else "are"
    second = (
        f"{texts} with private spans {are} affected: "
        f"{with_interval(_ratio(documents['affected'], documents['annotated']), documents['interval'])}. "
        f"Of the readable spans, {counts['exposed']:,} can be read completely, {counts['partly']:,} in part. "
        f"{_needless(counts['needless'], counts['predicted'])}"
    )
    third = (
        f"In brackets: {100 * leak['level']:g}% confidence intervals over documents. A span stays readable if a letter "
        "or digit of it is left after masking everything that the detector found, whatever type it predicted."
    )
    classes = {"lead": headline(leak), "more": second, "quiet": third}
    return [f'<p class="{name}">{_safe(text)}</p>' for name, text in classes.items()]


def _needless(needless: int, masked: int) -> str:
    if not masked:
        return "Nothing was masked."
    cover = "covers" if singular(needless, masked) else "cover"
    return f"{of_total(needless, masked, 'masked span')} {cover} nothing private."


def _worst(leak: Mapping[str, Any], not_looked_for: Collection[str]) -> Iterator[str]:
    yield "<h2>Where it is worst</h2>"
    yield _table("Types", leak["by_type"], WORST, not_looked_for)
    yield from _slices(leak.get("by", {}))


def _slices(by: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield a table for each of the first splits, and what is left out: the others, and attributes that may be text."""
    hidden = [what for what, rows in by.items() if _may_be_text(what, rows)]
    shown = [what for what in by if what not in hidden]
    yield from (_table(f"Slices by {_split(what)}", by[what], SLICES) for what in shown[:TABLES])
    if left := shown[TABLES:]:
        names = _safe(", ".join(map(_split, left)))
        yield f'<p class="quiet">Not shown here, but in metrics.json: slices by {names}.</p>'
    if hidden:
        names = _safe(", ".join(f"{_split(what)} ({_many(len({*by[what]} - {NONE}), 'group')})" for what in hidden))
        yield f'<p class="quiet">Not shown: slices by {names}, because values of attributes may be text.</p>'


def _may_be_text(what: str, groups: Iterable[str]) -> bool:
    """Return whether the groups of a split are values of an attribute that may quote a document."""
    if what == "attr.identifier":
        return not IDENTIFIERS.issuperset(groups)
    return what.startswith(ATTRIBUTE) and what != RECOGNIZER


def _split(what: str) -> str:
    """Return the name of a split; of a file, that is its name without the folder.

    >>> _split("lexicon:names/origin.tsv"), _split("meta.ward")
    ('lexicon:origin.tsv', 'meta.ward')
    """
    kind, colon, file = what.partition(":")
    return printable(f"{kind}:{Path(file).name}" if colon and kind == "lexicon" else what, limit=LONGEST)


def _table(title: str, rows: Mapping[str, Any], most: int, not_looked_for: Collection[str] = ()) -> str:
    """Return a table of the rows with the most readable spans."""
    order = worst_first(rows)
    if not order:
        return f"<p>{_safe(title)}: nothing stays readable.</p>"
    body = []
    for name, row in order[:most]:
        share = row["readable_share"]
        cells = f"{row['readable']:,}", f"{row['counts']['annotated']:,}", with_interval(share, row["interval"])
        bar = f'<td class="bar" aria-hidden="true"><span style="width:{100 * share:.1f}%"></span></td>'
        mark = f' <span class="quiet">({NOT_LOOKED_FOR})</span>' if name in not_looked_for else ""
        head = f'<th scope="row">{_safe(printable(name, limit=LONGEST))}{mark}</th>'
        body.append(f"<tr>{head}{''.join(f'<td>{cell}</td>' for cell in cells)}{bar}</tr>")
    more = f"; {len(order) - most} more in metrics.json" if len(order) > most else ""
    head = "".join(f'<th scope="col">{name}</th>' for name in ("readable", "annotated", "share readable"))
    return (
        f"<table><caption>{_safe(title)} with the most readable spans{more}</caption>"
        f'<thead><tr><td></td>{head}<td class="bar"></td></tr></thead><tbody>{"".join(body)}</tbody></table>'
    )


def worst_first(rows: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the rows with readable spans: the most of them first, then the larger share."""
    some = [item for item in rows.items() if item[1]["readable"]]
    return sorted(some, key=lambda item: (-item[1]["readable"], -item[1]["readable_share"], item[0]))


def _facts(metrics: Mapping[str, Any], about: Mapping[str, Any], inputs: Mapping[str, Any]) -> str:
    gold, details, latency = inputs["gold"], metrics["details"], about.get("latency")
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    parts = about["detection"]["fingerprint"]
    models = [f"{name} {value}" for name, value in parts.items() if "model" in name]
    detector = [str(about["detection"]["detector"]), f"language {about['detection']['language']}", *models]
    facts = {
        "Data": f"{Path(gold['source'] or '-').name} ({gold['format'] or '-'}), fingerprint {gold['fingerprint']}",
        "Documents": f"{details['samples_evaluated']:,} of {details['total_samples']:,} evaluated, "
        f"with {_many(details['leak']['counts']['annotated'], 'private span')}",
        "Detector": ", ".join(detector),
        "Versions": versions,
        "Speed": "not measured"
        if latency is None
        else f"median {_seconds(latency['p50'])} per document, 95% within {_seconds(latency['p95'])}, "
        f"99% within {_seconds(latency['p99'])}; {latency['characters_per_second']:,.0f} characters/s"
        f"{_part(latency['documents'], about.get('documents', 0))}",
    }
    found = "".join(f"<dt>{name}</dt><dd>{_safe(value)}</dd>" for name, value in facts.items())
    return f"<dl>{found}</dl>"


def _part(timed: int, documents: int) -> str:
    """Return of how many documents the time is known, if not of all."""
    return f" (of {of_total(timed, documents, 'document')})" if timed < documents else ""


def _gaps(metrics: Mapping[str, Any], about: Mapping[str, Any]) -> Iterable[str]:
    """Yield what the reader must know before trusting the numbers."""
    details = metrics["details"]
    if missing := details["not_looked_for"]:
        yield f"The detector did not look for these types; their spans still count: {', '.join(missing)}."
    for code, missing in details.get("not_looked_for_by_language", {}).items():
        yield f"In {code}, the detector did not look for {', '.join(missing)}; these spans still count."
    if details["samples_discarded"]:
        documents = plural(details["samples_discarded"], "document")
        lost = f"with {plural(details['spans_discarded'], 'private span')}"
        yield f"Left out for types that no source knows: {documents} {lost} (see alignment.json)."
    elif details["spans_discarded"]:
        lost = f"{plural(details['spans_discarded'], 'private span')} of types that no source knows"
        yield f"Left out: {lost} (see alignment.json)."
    if metrics["failures"]:
        failed = plural(metrics["failures"], "document")
        yield f"The detector failed on {failed}, whose private spans count as readable."
    said = (  # above, or no matter here
        " left out for entity types ",
        "--resolve dropped ",
        "the detector failed on ",
        "the detector does not look for ",
    )
    warnings = [one for one in metrics["warnings"] if not any(known in one for known in said)]
    for one in warnings[:NOTES]:
        yield f"Warning of the run: {printable(one, limit=300)}"
    if len(warnings) > NOTES:
        yield f"{plural(len(warnings) - NOTES, 'more warning')} in run.json."
    yield from ALWAYS


def _list(lines: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{_safe(line)}</li>' for line in lines)}</ul>"


def _when(about: Mapping[str, Any]) -> str:
    date, _, clock = str(about.get("finished", "")).partition("T")
    return f"Run on {date}, {clock[:5]} UTC" if clock else "Run on an unknown date"


def singular(part: int, total: int) -> bool:
    """Return whether a verb after `of_total` is in the singular: 1 of 5 spans stays, 0 of 1 span stays."""
    return 1 in (part, total)


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def of_total(part: int, total: int, what: str) -> str:
    """Return a count and its total in words.

    >>> of_total(579, 1044, "private span")
    '579 of 1,044 private spans'
    """
    return f"{part:,} of {_many(total, what)}"


def with_interval(share: float | None, interval: Iterable[float | None]) -> str:
    """Return a share as a percentage with its interval.

    >>> with_interval(0.5546, (0.52, 0.58)), with_interval(0.001, (0.0, 0.004)), with_interval(None, (None, None))
    ('55% [52%, 58%]', '0.1% [0%, 0.4%]', '–')
    """
    if share is None:
        return "–"
    ends = [_percent(end) for end in interval if end is not None]
    return f"{_percent(share)} [{', '.join(ends)}]" if ends else _percent(share)


def _percent(share: float) -> str:
    """Return a percentage that is 0% or 100% only if the share is exactly that."""
    percent = 100 * share
    for digits in range(6):
        shown = f"{percent:.{digits}f}"
        if (1 <= percent <= 99 and not digits) or (float(shown) not in (0.0, 100.0)) or percent in (0.0, 100.0):
            return f"{shown}%"
    return f"{percent:.2g}%"


def _ratio(part: int, total: int) -> float | None:
    return part / total if total else None


def _seconds(value: float) -> str:
    return f"{value:.2g} s" if value >= 1 else f"{1000 * value:.2g} ms" if value < 0.1 else f"{1000 * value:.0f} ms"


def _safe(text: str) -> str:
    return html.escape(printable(text, limit=2000))
