"""Formats of documents with offsets: a reader returns records as the file has them, this module does the rest.

It converts offsets to code points, checks that every span's surface string is at its offsets, finds the convention
under which it would be (see `doctor`), reads folders and zip files of single documents, and builds the corpus.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import msgspec
import numpy as np

from spanscore.corpus import MAX_OFFSET
from spanscore.corpus.records import Attr, Document, Span, build
from spanscore.errors import InputError, listed, plural
from spanscore.formats.doctor import MANY, Case, diagnose
from spanscore.formats.interface import Format
from spanscore.formats.offsets import ENDS, NEWLINES, UNITS, Convention, describe
from spanscore.spec import parameter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any, Self

    from spanscore.corpus import Corpus
    from spanscore.formats.placement import Mention
    from spanscore.formats.source import Source


class RawSpan(msgspec.Struct, gc=False):
    """A span as a file has it: offsets in the file's convention, and its surface string if the file has one."""

    start: int
    end: int
    label: str
    score: float | None = None
    attrs: dict[str, Attr] | None = None
    surface: str | None = None
    place: str = ""
    """Where it is in its document, for error messages, if its number does not say that."""


class RawDocument(msgspec.Struct, kw_only=True):
    """A document as a file has it, at the place `where`. Without an id, its number or file name is its id."""

    where: str
    spans: list[RawSpan] = []
    by: dict[str, list[RawSpan]] | None = None
    """Spans by annotator, where a format has several; see `annotators`."""
    mentions: list[Mention] = []
    """What was found without offsets; it is placed on the text, which the document must have."""
    id: str | int | None = None
    text: str | None = None
    tokens: list[tuple[int, int]] | None = None
    meta: dict[str, Attr] | None = None


def unit_option(default: str) -> Any:
    """Declare the option `unit` with the default of a format."""
    return parameter(default, "Unit of offsets.", choices=UNITS)


def end_option(default: str) -> Any:
    """Declare the option `end` with the default of a format."""
    return parameter(default, "How the end of a span is given.", choices=ENDS)


@dataclass(frozen=True, repr=False)
class OffsetFormat(Format):
    """A format with character offsets, whose convention can be set by options."""

    unit: str = unit_option("codepoint")
    end: str = end_option("exclusive")
    base: int = parameter(0, "The offset of the first character.", low=-1, high=1)
    newline: str = parameter(
        "as-is", "How offsets count line ends: as they are, CR LF as one (lf), LF as two (crlf).", choices=NEWLINES
    )

    @property
    def convention(self) -> Convention:
        """The convention of the file's offsets."""
        return Convention(self.unit, self.end, self.base, self.newline)

    def under(self, convention: Convention) -> Self:
        """Return this format with another convention."""
        given = dict(self.given())
        own = {one.name: one.default for one in self.parameters()}
        chosen = {
            "unit": convention.unit,
            "end": convention.end,
            "base": convention.base,
            "newline": convention.newline,
        }
        return type(self).make(
            {**given, **{key: value for key, value in chosen.items() if value != own[key] or key in given}}
        )


@dataclass(frozen=True, repr=False)
class DocumentFormat(OffsetFormat):
    """A format whose documents are read as records. Subclasses implement `documents`, and `write` where they can."""

    endings: ClassVar[tuple[str, ...]] = ()
    """With `folders`, the endings of the files in a folder or zip file that are documents."""
    span_path: ClassVar[str] = "spans[{}]"
    """Where a span is in its document, for error messages."""
    on_error: str = parameter(
        "refuse",
        "What to do with a document whose offsets do not match its surface strings: refuse the file, skip the document "
        "and count it, or keep it. If another convention fits the whole file, it is refused unless on_error=keep.",
        choices=("refuse", "skip", "keep"),
    )
    texts: str = parameter("", "A file with the texts of the documents, if this one has none (default: the gold data).")

    @abstractmethod
    def documents(self, source: Source) -> Iterator[RawDocument]:
        """Yield the documents of one file as they are in it."""

    def read(self, source: Source) -> Iterator[Corpus]:
        """Yield one corpus."""
        yield self.corpus(self._all(source), source)

    def corpus(self, documents: Iterable[RawDocument], source: Source) -> Corpus:
        """Return documents, each of which has an id, as a corpus: choose, add texts, convert and check offsets."""
        raws = self.chosen(list(documents), source)
        if without := listed(source.left_out):
            if not raws:
                raise InputError(f"there is nothing left to read; left out: {without}.", source.name)
            source.notes.append(f"{source.name}: left out: {without}.")
        decided = self.decided(raws, source)
        decided._take_texts(raws, source)
        decided.settle(raws, source)
        return decided._build(raws, source)

    def chosen(self, documents: list[RawDocument], source: Source) -> list[RawDocument]:
        """Return the documents to read, for example those of one annotator."""
        return documents

    def decided(self, documents: list[RawDocument], source: Source) -> Self:
        """Return the format with options decided that depend on the content, for example the unit of offsets."""
        return self

    def settle(self, documents: list[RawDocument], source: Source) -> None:
        """Change the documents once all are known, for example to place mentions on their texts."""

    def _all(self, source: Source) -> Iterator[RawDocument]:
        """Yield all documents, those without an id named by their number, or by their file in a folder."""
        if not source.is_folder:
            stem = self._stem(source.file_name) if self.folders else ""
            yield from named(self.documents(source), stem)
            return
        names = [name for name in source.files() if name.endswith(self.endings)]
        if not names:
            raise InputError(f"there are no {' or '.join(self.endings)} files in this folder.", source.name)
        notes: list[str] = []
        for name in names:
            with source.open(name) as opened:
                yield from named(self.documents(opened), self._stem(name))
                notes += opened.notes
                source.left_out += opened.left_out
        more = [f"{source.name}: {len(notes) - NOTES} more notes of this kind."] if len(notes) > NOTES else []
        source.notes += [*notes[:NOTES], *more]

    def _stem(self, name: str) -> str:
        """Return the name of a file without its ending, which is the id of its document."""
        return next((name.removesuffix(ending) for ending in self.endings if name.endswith(ending)), name)

    def _take_texts(self, documents: list[RawDocument], source: Source) -> None:
        """Give documents without text that of the companion, if the convention or the surface strings need it."""
        needy = [
            one
            for one in documents
            if one.text is None
            and one.spans
            and (self.convention.needs_text or any(span.surface is not None for span in one.spans))
        ]
        if not needy:
            return
        texts = source.companion_texts(self.texts)
        if texts is None:
            if self.convention.needs_text:
                what = f"offsets that count {self.unit} units need the text, which this file does not hold"
                hint = (
                    f"name the file with the texts first (spanscore check GOLD FILE), or give {self.name}(texts=FILE)"
                )
                points = self.under(replace(self.convention, unit="codepoint", newline="as-is"))
                raise InputError(f"{what}; {hint}, or, if they count code points, {points!r}.", needy[0].where)
            return
        for one in needy:
            one.text = texts.get(str(one.id))

    def _build(self, raws: list[RawDocument], source: Source) -> Corpus:
        kept: list[Document] = []
        skipped: Counter[str] = Counter()
        ready = [self._ready(raw) for raw in raws]
        if all(ready):
            return build([one for one in ready if one is not None])
        cases = [self._case(raw) for raw in raws]
        wrong = [case.wrong(self.convention, trust=self.on_error == "keep") for case in cases]
        if any(len(rows) for rows in wrong):
            self._explain(raws, cases, wrong)
        for raw, case, rows in zip(raws, cases, wrong, strict=True):
            if len(rows) and self.on_error == "skip":
                skipped["documents"] += 1
                skipped["spans"] += len(raw.spans)
                continue
            kept.append(self._document(raw, case))
        if skipped:
            source.notes.append(
                f"{source.name}: left out {plural(skipped['documents'], 'document')} with "
                f"{plural(skipped['spans'], 'span')}, because offsets do not match the surface strings."
            )
        return build(kept)

    def _ready(self, raw: RawDocument) -> Document | None:
        """Return a document whose offsets are code points already and all right, which is usual; else None."""
        how, text, trust = self.convention, raw.text, self.on_error == "keep"
        plain = not how.needs_text if text is None else how.counts_characters(text)
        if not plain or how.end == "inclusive" or how.base:
            return None
        size = MAX_OFFSET if text is None else len(text)
        spans = []
        for one in raw.spans:
            start = one.start
            end = start + one.end if how.end == "length" else one.end
            wrong = not 0 <= start <= end <= size or not one.label
            if wrong or not (trust or text is None or one.surface is None or text[start:end] == one.surface):
                return None
            spans.append(Span(start, end, one.label, one.score, one.attrs or None))
        return _finished(raw, spans)

    def _case(self, raw: RawDocument) -> Case:
        for number, span in enumerate(raw.spans):
            if not (-1 <= span.start <= MAX_OFFSET and -1 <= span.end <= MAX_OFFSET):
                what = "an offset is negative or too large"
                raise InputError(f"{what}; offsets count from 0.", self._place(raw, number))
            if not span.label:
                raise InputError("the label is empty; every span needs one.", self._place(raw, number))
        start = np.fromiter((span.start for span in raw.spans), np.int64, len(raw.spans))
        end = np.fromiter((span.end for span in raw.spans), np.int64, len(raw.spans))
        return Case(raw.text, start, end, [span.surface for span in raw.spans])

    def _place(self, raw: RawDocument, row: int) -> str:
        return f"{raw.where}: {raw.spans[row].place or self.span_path.format(row)}"

    def _document(self, raw: RawDocument, case: Case) -> Document:
        start, end = case.places(self.convention)
        spans = [
            Span(low, high, span.label, span.score, span.attrs or None)
            for low, high, span in zip(start.tolist(), end.tolist(), raw.spans, strict=True)
        ]
        return _finished(raw, spans)

    def read_with(self, conventions: Sequence[Convention]) -> str:
        """Say which conventions fit, and how to read the file under each of them."""
        named = " or ".join(map(describe, conventions[:MANY]))
        options = " or ".join(repr(self.under(one)) for one in conventions[:MANY])
        return f"the offsets seem to count {named}: read the file with {options}"

    def _explain(self, raws: list[RawDocument], cases: list[Case], wrong: list[Any]) -> None:
        """Raise an error that names the convention that fits, or the first span that is wrong if none does."""
        found = diagnose(self.convention, cases, [len(rows) > 0 for rows in wrong])
        doc = next(i for i, rows in enumerate(wrong) if len(rows))
        row = int(wrong[doc][0])
        where = self._place(raws[doc], row)
        count, total = sum(map(len, wrong)), sum(len(case.start) for case in cases)
        if found:
            message = f"{count} of {plural(total, 'span')} {'is' if count == 1 else 'are'} not where the offsets say"
            raise InputError(f"{message}; {self.read_with(found)}.", where)
        if self.on_error == "skip":
            return
        span = raws[doc].spans[row]
        what = f"the span with the offsets {span.start} and {span.end} {cases[doc].flaw(row, self.convention)}"
        more = f" ({count} of {plural(total, 'span')})" if count > 1 else ""
        hint = f"correct it, or leave such documents out with {self.name}(on_error=skip)"
        raise InputError(f"{what}{more}; {hint}.", where)


MAX_GAP = 1 << 20
"""Blanks that may stand for text between two pieces of which a document is put together; more are a wrong offset."""
NOTES = 3
"""Notes of single files in a folder that are reported."""


def _finished(raw: RawDocument, spans: list[Span]) -> Document:
    assert raw.id is not None
    if raw.mentions:
        from spanscore.formats import placement  # loading it takes milliseconds, which few formats need

        assert raw.text is not None
        spans += placement.spans(raw.text, raw.mentions, [(span.start, span.end) for span in spans])
    return Document(id=raw.id, text=raw.text, spans=spans, tokens=raw.tokens, meta={**raw.meta} if raw.meta else None)


def blanks(count: int, where: str) -> str:
    """Return blanks for text that a file does not have, if they are not absurdly many."""
    if count > MAX_GAP:
        raise InputError(
            f"{count:,} characters are missing before this place, more than {MAX_GAP:,}; correct it.", where
        )
    return " " * count


def named(documents: Iterable[RawDocument], stem: str = "") -> Iterator[RawDocument]:
    """Yield documents, those without an id named by their number, or by their file if it holds one document."""
    if stem:
        documents = list(documents)
        alone = len(documents) == 1
    for number, document in enumerate(documents):
        if document.id is None:
            document.id = str(number) if not stem else stem if alone else f"{stem}#{number}"
        yield document
