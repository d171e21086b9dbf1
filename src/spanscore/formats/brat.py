"""`brat`: brat's standoff files, a .txt with the text and an .ann with the annotations of each document."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from spanscore.corpus.annotators import ANNOTATOR, ANNOTATORS
from spanscore.corpus.records import Attr, Span
from spanscore.errors import InputError
from spanscore.formats.annotators import AnnotatedFormat, written_by
from spanscore.formats.documents import RawDocument, RawSpan
from spanscore.formats.interface import CERTAIN, Claim, Losses, Sample
from spanscore.formats.source import BOM
from spanscore.formats.writing import FileNames, to_write
from spanscore.spec import parameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from spanscore.corpus import Corpus
    from spanscore.formats.source import Source

_FIRST = re.compile(rb"T\S*\t\S+ \d+ \d+(?:;\d+ \d+)*(?:\t|\r?$)")
_MARK = re.compile(r"(\S+) (\d{1,10} \d{1,10}(?:;\d{1,10} \d{1,10})*)")
KINDS = {"R": "relations", "E": "events", "*": "equivalences"}
"""First character of annotations that are not spans -> what they are."""
_ESCAPE = str.maketrans({"\n": " ", "\r": " ", "\t": " "})


@dataclass(frozen=True, repr=False)
class Brat(AnnotatedFormat):
    """brat's standoff format: a folder or zip file of .ann files next to .txt files, or one .ann file.

    Attributes (A, M) and normalisations (N, as kbid) become attributes, notes (#) the attribute note; relations and
    events are left out and counted. Missing texts are taken from the gold data. With the option annotator, the
    folders in the folder are annotators, and a .txt file beside them is the text for all.
    """

    name: ClassVar[str] = "brat"
    folders: ClassVar[bool] = True
    endings: ClassVar[tuple[str, ...]] = (".ann",)
    span_path: ClassVar[str] = "text-bound annotation {}"
    fragments: str = parameter(
        "split",
        "Split discontinuous annotations into one span per fragment, or use their hull.",
        choices=("split", "hull"),
    )

    @classmethod
    def recognise(cls, sample: Sample) -> Claim | None:
        """Claim folders with .ann files, and lines such as T1<TAB>Person 0 5<TAB>Alice."""
        if any(name.endswith(".ann") for name in sample.files):
            return Claim(CERTAIN, "it has .ann files")
        if _FIRST.match(sample.first_line):
            return Claim(CERTAIN, "the first line is a text-bound annotation")
        return None

    def documents(self, source: Source) -> Iterator[RawDocument]:
        """Yield the document of an .ann file."""
        text = None
        if (sibling := source.sibling(".txt")) is not None:
            with sibling as opened:
                text = _decoded(opened)
        spans: dict[str, list[RawSpan]] = {}
        attrs: dict[str, dict[str, Attr]] = {}
        for number, line in source.lines():
            where = f"{source.name}:{number}"
            mark, _, rest = line.partition("\t")
            if not mark:
                continue
            if mark[0] == "T":
                if mark in spans:
                    raise InputError("this id was used before.", where)
                spans[mark] = list(self._spans(rest, where))
            elif mark[0] in "AMN#":
                _attribute(mark[0], rest, attrs, where)
            elif mark[0] in KINDS:
                source.left_out[KINDS[mark[0]]] += 1
            else:
                raise InputError("this line is not an annotation: it must begin with T, A, M, N, R, E, * or #.", where)
        for mark, listed in spans.items():
            for span in listed:
                span.attrs = dict(attrs[mark]) if mark in attrs else None
        yield RawDocument(where=source.name, text=text, spans=[span for listed in spans.values() for span in listed])

    def _spans(self, rest: str, where: str) -> Iterator[RawSpan]:
        place, _, surface = rest.partition("\t")
        match = _MARK.fullmatch(place)
        if match is None:
            raise InputError("expected a type and offsets, such as 'Person 0 5' or 'Person 0 5;9 12'.", where)
        pairs = [tuple(map(int, pair.split())) for pair in match[2].split(";")]
        if self.fragments == "hull" or len(pairs) == 1:
            whole = surface if len(pairs) == 1 and surface else None
            yield RawSpan(min(start for start, _ in pairs), max(end for _, end in pairs), match[1], surface=whole)
            return
        at = 0
        exact = len(surface) == sum(end - start + 1 for start, end in pairs) - 1
        for start, end in pairs:
            size = end - start
            yield RawSpan(start, end, match[1], surface=surface[at : at + size] if exact else None)
            at += size + 1

    def chosen(self, documents: list[RawDocument], source: Source) -> list[RawDocument]:
        """Return all documents, by annotator if one is chosen; texts without annotations are counted."""
        if self.annotator:
            return super().chosen(list(_by_folder(documents, source)), source)
        if source.is_folder:
            names = set(source.files())
            bare = sum(name.endswith(".txt") and f"{name.removesuffix('.txt')}.ann" not in names for name in names)
            source.left_out[".txt files without an .ann file"] += bare
        return documents

    def write_folder(self, chunks: Callable[[], Iterable[Corpus]], folder: Path) -> Losses:
        """Write a .txt and an .ann file for each document, in a folder for each annotator if they are named."""
        losses: Counter[str] = Counter()
        names = FileNames(losses)
        for one in to_write(chunks, self, losses, convention=self.convention, holds=("attributes",), surfaces=True):
            by = written_by(one)
            losses["metadata fields"] -= bool(by) and ANNOTATORS in (one.document.meta or {})
            for name, spans in (by or {"": one.spans}).items():
                path = names.path(folder, f"{name or 'unknown'}/{one.id}" if by else one.id)
                path.with_name(f"{path.name}.txt").write_bytes(one.text.encode())
                lines = "".join(f"{line}\n" for line in _lines(spans, one.text, losses))
                path.with_name(f"{path.name}.ann").write_bytes(lines.encode())
        return losses


def _by_folder(documents: list[RawDocument], source: Source) -> Iterator[RawDocument]:
    """Yield a document for the files of the same name in the folders of all annotators."""
    found: dict[str, RawDocument] = {}
    files = set(source.files()) if source.is_folder else set()
    for one in documents:
        name, slash, rest = str(one.id).partition("/")
        if not slash:
            raise InputError("this file is not in an annotator's folder; omit the option annotator.", one.where)
        document = found.setdefault(rest, RawDocument(where=one.where, id=rest, by={}))
        if one.text is not None and document.text is not None and one.text != document.text:
            raise InputError(
                "the text differs from that of another annotator; offsets must refer to one text.", one.where
            )
        document.text = one.text if document.text is None else document.text
        assert document.by is not None
        document.by[name] = one.spans
    for name, document in found.items():
        if document.text is None and f"{name}.txt" in files:
            with source.open(f"{name}.txt") as opened:
                document.text = _decoded(opened)
        yield document


def _lines(spans: list[tuple[int, int, Span]], text: str, losses: Counter[str]) -> Iterator[str]:
    """Yield the lines of an .ann file."""
    attributes = 0
    for number, (start, end, span) in enumerate(spans, 1):
        surface = text[span.start : span.end].translate(_ESCAPE)
        yield f"T{number}\t{_type(span, losses)} {start} {end}\t{surface}"
        for key, value in (span.attrs or {}).items():
            if key == ANNOTATOR:
                continue
            if (line := _attribute_line(key, value, number)) is None:
                losses["attributes"] += 1
                continue
            attributes += 1
            yield line.format(attributes)


def _decoded(source: Source) -> str:
    """Return the exact text of a file, which must be UTF-8; brat counts a byte order mark as a character."""
    data = BOM * source.had_mark + source.read_all()
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError("the text is not UTF-8; convert the file to UTF-8.", f"{source.name}:{line}") from None


def _attribute(kind: str, rest: str, attrs: dict[str, dict[str, Attr]], where: str) -> None:
    """Keep an attribute, a normalisation or a note of an annotation."""
    head, _, text = rest.partition("\t")
    fields = head.split(" ")
    if len(fields) < 2:
        raise InputError("expected a name and the annotation that it is about.", where)
    name, target, *values = fields
    known = attrs.setdefault(target, {})
    if kind == "N":
        known.setdefault("kbid", " ".join(values))
    elif kind == "#":
        known.setdefault("note", text)
    else:
        known[name] = " ".join(values) or True


def _type(span: Span, losses: Counter[str]) -> str:
    """Return the label as a type, which has no whitespace."""
    if (name := "_".join(span.label.split())) == span.label:
        return name
    losses["labels with white space (written with _)"] += 1
    return name or "_"


def _attribute_line(key: str, value: Attr, number: int) -> str | None:
    """Return the line of an attribute with a place for its own number; None if brat cannot hold it."""
    if key == "note" and isinstance(value, str) and not re.search(r"[\r\n]", value):
        return f"#{{}}\tAnnotatorNotes T{number}\t{_braces(value)}"
    named = re.fullmatch(r"[^\s{}]+", key) is not None
    if named and value is True:
        return f"A{{}}\t{key} T{number}"
    if not named or not isinstance(value, str) or re.fullmatch(r"\S+", value) is None:
        return None
    if key == "kbid" and ":" in value.strip(":"):
        return f"N{{}}\tReference T{number} {_braces(value)}\t"
    return f"A{{}}\t{key} T{number} {_braces(value)}"


def _braces(value: str) -> str:
    return value.replace("{", "{{").replace("}", "}}")
