"""Suspects as tasks for annotation tools, and corrected tasks as gold data again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from spanscore.align.annotators import chosen
from spanscore.arguments import checked
from spanscore.corpus.annotators import ANNOTATOR, ANNOTATORS, joined
from spanscore.corpus.records import Document, Span, build
from spanscore.engine.inputs import Input
from spanscore.errors import InputError, UsageError, printable
from spanscore.formats import REGISTRY
from spanscore.formats.labelstudio import LabelStudio

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spanscore.analysis.suspects import Suspect, Suspects
    from spanscore.corpus import Corpus
    from spanscore.engine.inputs import Data
    from spanscore.formats import Format

GOLD, SUGGESTED = "gold", "suggested"
"""The two versions of a document in a task: as it is, and with the suspects put in."""
EXPLANATIONS = "suspects"
"""The metadata field of a task that says what is suspected."""


def task_format(spec: str | Format) -> Format:
    """Return the format of tasks with pre-annotations: doccano, or Label Studio with predictions."""
    made = REGISTRY.make(spec)
    if not made.takes_suggestions:
        tools = " or ".join(one.name for one in REGISTRY.classes() if one.takes_suggestions)
        raise UsageError(f"tasks are written as {tools}, not as {printable(made.name)}.")
    return replace(made, results="predictions") if isinstance(made, LabelStudio) else made


def tasks(found: Suspects, *, both: bool) -> Corpus:
    """Return the documents with suspects, the most suspicious first, as pre-annotated tasks.

    The spans are the suggestion: a suspect replaces the gold spans that it overlaps. With `both`, the gold spans come
    too, and the attribute `annotator` says which version a span belongs to.
    """
    listed: dict[str, list[Suspect]] = {}
    for one in found.found:
        listed.setdefault(one.document, []).append(one)
    documents = {str(document.id): document for document in found.gold.documents()}
    return build([_task(documents[name], suspected, both=both) for name, suspected in listed.items()])


@checked
def corrected(
    gold: Data,
    tasks: Data,
    *,
    gold_format: str | Format | None = None,
    tasks_format: str | Format | None = None,
    annotator: str | None = None,
) -> Corpus:
    """Return the gold data with the documents of corrected tasks replaced.

    Spans that did not change keep their attributes and scores. A task whose id the gold data does not have, because the
    tool gave it a new one, is found by its text. `annotator` chooses among several annotators of the tasks, as in
    `score`.
    """
    known = Input.of(gold, gold_format)
    original = known.corpus()
    given = chosen(Input.of(tasks, tasks_format, known, all_annotators=bool(annotator)).corpus(), annotator)
    documents = {str(document.id): document for document in original.documents()}
    by_text: dict[str | None, list[str]] = {}
    for name, document in documents.items():
        by_text.setdefault(document.text, []).append(name)
    replaced: dict[str, Document] = {}
    for one in given.documents():
        where = f'{given.source + ": " if given.source else ""}document "{printable(str(one.id))}"'
        before = documents.get(str(one.id))
        same = before is not None and (None in (one.text, before.text) or one.text == before.text)
        if not same and one.text is not None and len(alike := by_text.get(one.text, [])) == 1:
            before, same = documents[alike[0]], True
        if before is None:
            raise InputError("this document is not in the gold data; correct the tasks of this gold data.", where)
        if not same:
            raise InputError("the text differs from the gold text; offsets must refer to one text.", where)
        if str(before.id) in replaced:
            raise InputError(f'several tasks refer to document "{printable(str(before.id))}"; keep one of them.', where)
        replaced[str(before.id)] = _replaced(before, one.spans)
    found = build([*(documents | replaced).values()])
    return found.with_columns(source=original.source, notes=(*original.notes, *given.notes))


def _task(document: Document, suspected: list[Suspect], *, both: bool) -> Document:
    meta = {key: value for key, value in (document.meta or {}).items() if key != ANNOTATORS}
    meta[EXPLANATIONS] = "\n".join(f"{number}. {one.explanation}" for number, one in enumerate(suspected, 1))
    suggested = _suggested(document, suspected)
    if not both:
        return Document(id=document.id, text=document.text, spans=suggested, meta=meta)
    spans = [*_named(document.spans, GOLD), *_named(suggested, SUGGESTED)]
    return Document(
        id=document.id, text=document.text, spans=spans, meta={**meta, ANNOTATORS: joined([GOLD, SUGGESTED])}
    )


def _suggested(document: Document, suspected: list[Suspect]) -> list[Span]:
    """Return the gold spans with the suspects put in; of suspects that overlap, the first one counts."""
    put: list[Suspect] = []
    for one in suspected:
        if not any(_overlap(one.start, one.end, other.start, other.end) for other in put):
            put.append(one)
    replaced = {(span.start, span.end) for one in put for span in one.gold}
    kept = [Span(one.start, one.end, one.label) for one in document.spans if (one.start, one.end) not in replaced]
    kept += [Span(one.start, one.end, one.label, one.score) for one in put]
    return sorted(kept, key=lambda one: (one.start, one.end, one.label))


def _named(spans: Iterable[Span], name: str) -> list[Span]:
    return [Span(one.start, one.end, one.label, one.score, {ANNOTATOR: name}) for one in spans]


def _overlap(start: int, end: int, other_start: int, other_end: int) -> bool:
    return (start, end) == (other_start, other_end) or (start < other_end and other_start < end)


def _replaced(document: Document, spans: list[Span]) -> Document:
    """Return a document with other spans; those that it had before stay as they were."""
    before = {(one.start, one.end, one.label): one for one in document.spans}
    places = sorted({(one.start, one.end, one.label) for one in spans})
    kept = [before.get(place) or Span(*place) for place in places]
    meta = {key: value for key, value in (document.meta or {}).items() if key != ANNOTATORS}
    return Document(id=document.id, text=document.text, spans=kept, tokens=document.tokens, meta=meta or None)
