"""Formats in which several people may have annotated the same document."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from spanscore.corpus.annotators import ANNOTATOR, ANNOTATORS, joined, separated
from spanscore.errors import InputError, UsageError, plural, printable
from spanscore.formats.documents import DocumentFormat, RawDocument
from spanscore.spec import parameter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spanscore.corpus.records import Document, Span
    from spanscore.formats.source import Source
    from spanscore.formats.writing import Written

ALL = "all"
SHOWN = 8
"""Annotators that an error message lists."""


@dataclass(frozen=True, repr=False)
class AnnotatedFormat(DocumentFormat):
    """A format whose documents have spans by annotator (`RawDocument.by`), one of whom is chosen, or all.

    With all, spans have the attribute `annotator`, and documents the metadata field `annotators`: who saw them.
    """

    annotator: str = parameter(
        "", "Whose annotations to read (default: the only annotator); with all, spans have the attribute annotator."
    )

    def with_all_annotators(self) -> Self:
        """Return the format that reads the spans of all annotators."""
        if self.annotator not in ("", ALL):
            raise UsageError(f"{self!r} names an annotator already; leave out one of the two choices.")
        return replace(self, annotator=ALL)

    def chosen(self, documents: list[RawDocument], source: Source) -> list[RawDocument]:
        """Return the documents of the chosen annotator; documents without `by` are returned as they are."""
        kept = [one for document in documents for one in self._spans_of(document, documents)]
        if self.annotator not in ("", ALL):
            names = _names(documents)
            if names and self.annotator not in names:
                known = _listed(names)
                raise UsageError(
                    f"{source.name}: there is no annotator '{printable(self.annotator)}'; there are {known}."
                )
            if missing := len(documents) - len(kept):
                what = f"left out {plural(missing, 'document')} without annotations by {printable(self.annotator)}"
                source.notes.append(f"{source.name}: {what}.")
        return kept

    def _spans_of(self, document: RawDocument, documents: list[RawDocument]) -> list[RawDocument]:
        by = document.by
        if by is None:
            return [document]
        if self.annotator == ALL:
            document.spans = [span for spans in by.values() for span in spans]
            for name, spans in by.items():
                for span in spans if name else ():
                    span.attrs = {**(span.attrs or {}), ANNOTATOR: name}
            if any(by):
                document.meta = {**(document.meta or {}), ANNOTATORS: joined(filter(None, by))}
            return [document]
        if self.annotator:
            document.spans = by.get(self.annotator, [])
            return [document] if self.annotator in by else []
        if len(by) > 1:
            names = _listed(_names(documents))
            how = (
                f"read one with {self.name}(annotator=NAME) or all with annotator=all; for gold data, give --annotator"
            )
            raise InputError(f"there are several annotators ({names}); {how}.", document.where)
        document.spans = next(iter(by.values()), [])
        return [document]


def written_by(one: Written) -> dict[str, list[tuple[int, int, Span]]]:
    """Return the spans to write by annotator, including annotators without marks; empty if no annotator is named."""
    seen = separated((one.document.meta or {}).get(ANNOTATORS) or "")
    names = [str((span.attrs or {}).get(ANNOTATOR) or "") for _, _, span in one.spans]
    if not seen and not any(names):
        return {}
    by: dict[str, list[tuple[int, int, Span]]] = {name: [] for name in seen}
    for name, span in zip(names, one.spans, strict=True):
        by.setdefault(name, []).append(span)
    return by


def other_meta(document: Document) -> dict[str, object]:
    """Return the metadata of a document without its annotators, which its format holds elsewhere."""
    return {key: value for key, value in (document.meta or {}).items() if key != ANNOTATORS}


def _names(documents: Iterable[RawDocument]) -> list[str]:
    return list(dict.fromkeys(name for document in documents for name in document.by or ()))


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(printable(name) for name in names[:SHOWN]) + more
