"""`spacy`: spaCy's Doc.to_json, training tuples as JSON, and DocBin files."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, ClassVar, Self

import msgspec

from spanscore.corpus.records import Attr
from spanscore.errors import InputError, MissingExtraError, printable
from spanscore.formats.documents import DocumentFormat, RawDocument, RawSpan
from spanscore.formats.interface import CERTAIN, LIKELY, Claim, Losses, Sample
from spanscore.formats.json_records import decoded, items, values
from spanscore.formats.offsets import NATIVE
from spanscore.formats.source import refuse_unpacking, unpacking_limit
from spanscore.formats.writing import to_write, without_overlaps
from spanscore.spec import parameter

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from spanscore.corpus import Corpus
    from spanscore.formats.source import Source

_TUPLE = re.compile(rb'\[\s*(?:\[\s*)?"(?:[^"\\]|\\.)*"\s*,\s*\{\s*"entities"\s*:')
_PACKED = (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
"""How zlib data begins."""


class Place(msgspec.Struct):
    """A token."""

    start: int
    end: int


class Entity(Place):
    """A span with a label, and the ids of its entity if it has any."""

    label: str
    kb_id: str = ""
    id: str = ""


class JsonDoc(msgspec.Struct):
    """A document as Doc.to_json writes it; `id` is an addition."""

    text: str
    ents: list[Entity] | None = None
    spans: dict[str, list[Entity]] = {}
    tokens: list[Place] | None = None
    id: str | int | None = None


class Entities(msgspec.Struct):
    """The second part of a training tuple."""

    entities: list[tuple[int, int, str]] = []


class Annotated(msgspec.Struct):
    """Training tuples in an object, as NER Annotator writes them; null stands for a text that was skipped."""

    annotations: list[tuple[str, Entities] | None]


_doc = msgspec.json.Decoder(JsonDoc)
_tuple = msgspec.json.Decoder(tuple[str, Entities])
_annotated = msgspec.json.Decoder(Annotated)
_keys = msgspec.json.Decoder(dict[str, msgspec.Raw])


@dataclass(frozen=True, repr=False)
class Spacy(DocumentFormat):
    """spaCy's data: Doc.to_json (a list, JSON Lines or one document), training tuples as JSON, or a DocBin (.spacy).

    Entities are read, or the spans of a group. Knowledge base ids become the attribute kbid. A document's id is its
    number, unless spanscore wrote the file. DocBin needs the extra spacy; texts are tokenized to write one.
    """

    name: ClassVar[str] = "spacy"
    suffixes: ClassVar[tuple[str, ...]] = (".spacy",)
    span_path: ClassVar[str] = "ents[{}]"
    group: str = parameter("", "Group of spans (Doc.spans) to read instead of entities.")
    layout: str = parameter("json", "Layout to write.", choices=("json", "tuples", "docbin"))
    language: str = parameter("xx", "Language whose tokenizer is used to write a DocBin.")

    @classmethod
    def for_file(cls, name: str) -> Self:
        """Return the format that writes a DocBin if the file is named so."""
        return cls(layout="docbin") if name.endswith(".spacy") else cls()

    @classmethod
    def recognise(cls, sample: Sample) -> Claim | None:
        """Claim DocBin files, documents with entities and tokens, and training tuples."""
        if sample.head.startswith(_PACKED) and b"attrs" in _unpacked_head(sample.head):
            return Claim(CERTAIN, "it is a DocBin")
        if _TUPLE.match(sample.start):
            return Claim(CERTAIN, 'it is JSON of texts with {"entities": ...}')
        if sample.is_json and {"text", "tokens"} <= sample.keys and sample.keys & {"ents", "sents"}:
            return Claim(LIKELY, 'it is JSON with "text", "ents" and "tokens"')
        if sample.is_json and {"paragraphs", "sentences", "ner"} <= sample.keys:
            return Claim(LIKELY, 'it is JSON with "paragraphs" and "ner"')
        if sample.is_object and {"classes", "annotations", "entities"} <= sample.keys:
            return Claim(LIKELY, 'it is JSON with "classes" and "annotations"')
        return None

    def documents(self, source: Source) -> Iterator[RawDocument]:
        """Yield the documents; if none has an entity, a note names the groups of spans."""
        marked = False
        groups: set[str] = set()
        for document, names in self._documents(source):
            marked = marked or bool(document.spans)
            groups.update(names)
            yield document
        if groups and not marked and not self.group:
            hint = ", ".join(repr(Spacy(group=name)) for name in sorted(groups))
            source.notes.append(f"{source.name}: there are no entities, but groups of spans; read one with {hint}.")

    def _documents(self, source: Source) -> Iterator[tuple[RawDocument, Collection[str]]]:
        """Yield the documents, each with the names of its groups of spans that are not empty."""
        if source.head.startswith(_PACKED):
            yield from self._doc_bin(source)
            return
        for value, where in values(source):
            if value.startswith(b"[") and not _is_tuple(value):
                for item, place in items(value, where):
                    yield from self._json(item, place)
            else:
                yield from self._json(value, where)

    def _json(self, value: bytes, where: str) -> Iterator[tuple[RawDocument, Collection[str]]]:
        if value.startswith(b"["):
            yield _from_tuple(decoded(_tuple, value, where), where), ()
            return
        keys = decoded(_keys, value, where)
        if "paragraphs" in keys:
            raise InputError("this is training data of spaCy 2; convert it with: spacy convert FILE.", where)
        if "annotations" in keys and "text" not in keys:
            for number, pair in enumerate(decoded(_annotated, value, where).annotations):
                if pair is not None:
                    yield _from_tuple(pair, f"{where}: annotations[{number}]"), ()
            return
        doc = decoded(_doc, value, where)
        groups = [name for name, spans in doc.spans.items() if spans]
        found = doc.ents if not self.group else self._group(doc.spans, where)
        if found is None:
            hint = f"; read a group of spans with {Spacy(group=groups[0])!r}" if groups else ""
            raise InputError(f"the field 'ents' is missing{hint}.", where)
        spans = [_span(one.start, one.end, one.label, one.kb_id, one.id) for one in found]
        tokens = None if doc.tokens is None else [(one.start, one.end) for one in doc.tokens]
        yield RawDocument(where=where, id=doc.id, text=doc.text, spans=spans, tokens=tokens), groups

    def _group(self, groups: Any, where: str) -> Any:
        if self.group in groups:
            return groups[self.group]
        listed = ", ".join(printable(name) for name in groups) or "none"
        raise InputError(f"there is no group of spans '{printable(self.group)}'; there are {listed}.", where)

    def _doc_bin(self, source: Source) -> list[tuple[RawDocument, Collection[str]]]:
        data = source.read_all()
        spacy = _spacy("Reading a DocBin")
        limit = unpacking_limit(len(data))
        try:
            unpacked = zlib.decompressobj().decompress(data, limit + 1)
            refuse_unpacking(len(data), len(unpacked), source.name)
            docs = spacy.tokens.DocBin().from_bytes(data).get_docs(spacy.vocab.Vocab())
            return [
                (self.from_doc(doc, f"{source.name}: [{number}]"), [name for name in doc.spans if doc.spans[name]])
                for number, doc in enumerate(docs)
            ]
        except InputError:
            raise
        except Exception as error:  # spaCy checks nothing, so that damage shows as any kind of error
            what = f"this is not a DocBin that spaCy {spacy.__version__} can read ({type(error).__name__})"
            raise InputError(f"{what}.", source.name) from None

    def from_doc(self, doc: Any, where: str) -> RawDocument:
        """Return a spaCy document as a document of ours."""
        found = self._group(doc.spans, where) if self.group else doc.ents
        spans = [_span(one.start_char, one.end_char, one.label_, one.kb_id_, one.id_) for one in found]
        tokens = [(token.idx, token.idx + len(token)) for token in doc]
        own = doc.user_data.get("id")
        name = own if isinstance(own, str | int) else None
        return RawDocument(where=where, id=name, text=doc.text, spans=spans, tokens=tokens)

    def write(self, chunks: Callable[[], Iterable[Corpus]], file: IO[bytes]) -> Losses:
        """Write documents with entities, which do not overlap."""
        losses: Counter[str] = Counter()
        if self.layout == "docbin":
            self._write_doc_bin(chunks, file, losses)
            return losses
        holds = ("tokens",) if self.layout == "json" else ()
        attributes = ("kbid",) if self.layout == "json" else ()
        separator = b"[\n"
        for one in to_write(chunks, self, losses, convention=self.convention, holds=holds, attributes=attributes):
            places = {id(span): (start, end) for start, end, span in one.spans}
            kept = without_overlaps(one.document.spans, len(one.text), losses)
            record: Any
            if self.layout == "tuples":
                losses["ids"] += 1
                record = [one.text, {"entities": [[*places[id(span)], span.label] for span in kept]}]
            else:
                ents = [_ent(*places[id(span)], span, losses) for span in kept]
                tokens = [
                    {"id": i, "start": low, "end": high} for i, (low, high) in enumerate(one.document.tokens or ())
                ]
                record = {"id": one.id, "text": one.text, "ents": ents, "tokens": tokens}
            file.write(separator + msgspec.json.encode(record))
            separator = b",\n"
        file.write(b"\n]\n" if separator == b",\n" else b"[]\n")
        return losses

    def _write_doc_bin(self, chunks: Callable[[], Iterable[Corpus]], file: IO[bytes], losses: Counter[str]) -> None:
        spacy = _spacy("Writing a DocBin")
        docs = spacy.tokens.DocBin(attrs=["ENT_IOB", "ENT_TYPE", "ENT_KB_ID"], store_user_data=True)
        for doc in self.docs(chunks, losses):
            docs.add(doc)
        file.write(docs.to_bytes())

    def docs(self, chunks: Callable[[], Iterable[Corpus]], losses: Counter[str], nlp: Any = None) -> Iterator[Any]:
        """Yield spaCy documents, tokenized by `nlp` or the language's tokenizer; spans must fit its tokens."""
        if nlp is None:
            try:
                nlp = _spacy("Making spaCy documents").blank(self.language)
            except ImportError:
                raise InputError(f"spaCy has no language '{printable(self.language)}'.", repr(self)) from None
        for one in to_write(chunks, self, losses, convention=NATIVE, attributes=("kbid",)):
            doc = nlp.make_doc(one.text)
            doc.user_data["id"] = one.id
            spans = one.document.spans if self.group else without_overlaps(one.document.spans, len(one.text), losses)
            found = []
            for span in spans:
                ent = doc.char_span(span.start, span.end, label=span.label, kb_id=_kbid(span, losses))
                if ent is None:
                    losses["spans that do not begin and end at tokens"] += 1
                else:
                    found.append(ent)
            if self.group:
                doc.spans[self.group] = found
            else:
                doc.set_ents(found)
            yield doc


def _spacy(what: str) -> Any:
    try:
        import spacy
        import spacy.tokens
        import spacy.vocab
    except ImportError:
        raise MissingExtraError(what, "spacy") from None
    return spacy


def _unpacked_head(head: bytes) -> bytes:
    try:
        return zlib.decompressobj().decompress(head, 256)
    except zlib.error:
        return b""


def _is_tuple(value: bytes) -> bool:
    """Return whether a JSON list is a training tuple, not a list of records."""
    return value[1:].lstrip()[:1] == b'"'


def _from_tuple(pair: tuple[str, Entities], where: str) -> RawDocument:
    text, found = pair
    return RawDocument(where=where, text=text, spans=[RawSpan(*one) for one in found.entities])


def _span(start: int, end: int, label: str, kb_id: str, entity: str) -> RawSpan:
    given = {"kbid": kb_id, "entity": entity}
    attrs: dict[str, Attr] = {key: value for key, value in given.items() if value and value != "NIL"}
    return RawSpan(start, end, label, attrs=attrs)


def _ent(start: int, end: int, span: Any, losses: Counter[str]) -> dict[str, Any]:
    kbid = _kbid(span, losses)
    return {"start": start, "end": end, "label": span.label, **({"kb_id": kbid} if kbid else {})}


def _kbid(span: Any, losses: Counter[str]) -> str:
    """Return the knowledge base id, which is text."""
    kbid = (span.attrs or {}).get("kbid", "")
    if isinstance(kbid, str) and kbid != "NIL":
        return kbid
    losses["attributes"] += 1
    return ""
