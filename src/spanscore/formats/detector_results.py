"""Answers of detectors: lists of entities without texts, often without ids, in the order of the gold data."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from spanscore.errors import InputError, plural, printable
from spanscore.formats.documents import DocumentFormat, RawDocument, RawSpan
from spanscore.formats.json_records import decoded, field, items, values

if TYPE_CHECKING:
    from spanscore.formats.source import Source

_object = msgspec.json.Decoder(dict[str, msgspec.Raw])
_name = msgspec.json.Decoder(str | int | None)


class Answer(msgspec.Struct):
    """The entities of one document, not decoded yet, and what its record says about it."""

    where: str
    entities: bytes
    about: dict[str, msgspec.Raw]
    id: str | int | None = None


@dataclass(frozen=True, repr=False)
class ResultLists(DocumentFormat):
    """A format of lists of entities, one per document. Subclasses say what an entity is and implement `span`.

    Lists may be nested in a list, one per line, the values of an object by id, in objects with an id, or alone in the
    files of a folder. Without ids, they belong to the documents of the gold data in its order.
    """

    folders: ClassVar[bool] = True
    endings: ClassVar[tuple[str, ...]] = (".json",)
    entity: ClassVar[type[msgspec.Struct]]
    """What an entity is decoded as."""
    entity_keys: ClassVar[frozenset[str]]
    """Keys that an entity has, that distinguish a list of entities from a list of documents."""
    list_keys: ClassVar[tuple[str, ...]] = ("entities",)
    """Keys of an object under which the entities of its document are."""
    inner_keys: ClassVar[tuple[str, ...]] = ()
    """Keys of an object under which objects of documents are."""
    id_keys: ClassVar[tuple[str, ...]] = ("id", "doc_id", "document_id")

    @abstractmethod
    def span(self, entity: Any, where: str) -> RawSpan | None:
        """Return the span of an entity."""

    def documents(self, source: Source) -> Iterator[RawDocument]:
        """Yield a document for each list of entities."""
        decoder = msgspec.json.Decoder(list[self.entity])  # type: ignore[name-defined]  # a class per format
        for answer in self.answers(source):
            entities = decoded(decoder, answer.entities, answer.where)
            places = ((one, f"{answer.where}: {self.list_keys[0]}[{i}]") for i, one in enumerate(entities))
            spans = [span for one, where in places if (span := self.span(one, where)) is not None]
            text = self.text(answer)
            yield RawDocument(where=answer.where, id=answer.id, text=text, spans=spans)

    def text(self, answer: Answer) -> str | None:
        """Return the text of a document, if its record has it."""
        found = answer.about.get("text")
        return None if found is None else decoded(_text, bytes(found), answer.where)

    def answers(self, source: Source) -> Iterator[Answer]:
        """Yield the lists of entities of a file."""
        for value, where in values(source):
            yield from self.unfolded(value, where)

    def unfolded(self, value: bytes, where: str) -> Iterator[Answer]:
        """Yield the lists of entities of a JSON value."""
        if value.startswith(b"{"):
            yield from self._of_object(value, where)
            return
        parts = list(items(value, where))
        if not parts or self._is_entity(parts[0][0]):
            yield Answer(where, value, {})
            return
        for part, place in parts:
            if part.startswith(b"["):
                yield Answer(place, part, {})
            else:
                yield from self._of_object(part, place)

    def _is_entity(self, value: bytes) -> bool:
        try:
            return self.entity_keys <= set(_object.decode(value))
        except (msgspec.DecodeError, RecursionError):
            return False

    def _of_object(self, value: bytes, where: str) -> Iterator[Answer]:
        about = decoded(_object, value, where)
        if key := next((key for key in self.list_keys if key in about), None):
            named = next((about[name] for name in self.id_keys if name in about), None)
            name = None if named is None else decoded(_name, bytes(named), where)
            yield Answer(where, _list(about[key]), about, name)
        elif key := next((key for key in self.inner_keys if key in about), None):
            inner, place = field(value, key, about[key], where)
            if inner.replace(b" ", b"") != b"[]":  # no documents, instead of one without entities
                yield from self.unfolded(inner, place)
        elif not about:  # how JSON from Protocol Buffers writes an answer without findings
            yield Answer(where, b"[]", {})
        elif all(bytes(entities).startswith(b"[") for entities in about.values()):
            yield from (Answer(where, bytes(entities), {}, name) for name, entities in about.items())
        else:
            keys = " or ".join(self.list_keys)
            listed = ", ".join(printable(key) for key in list(about)[:8])
            raise InputError(f"expected the entities of a document in the field {keys}; there are {listed}.", where)

    def _all(self, source: Source) -> Iterator[RawDocument]:
        """Yield all documents; those of a file that has no ids have those of the gold data."""
        if source.is_folder:
            yield from super()._all(source)
            return
        found = list(self.documents(source))
        if any(document.id is None for document in found):
            in_gold_order(found, source, self.texts)
        yield from found


def in_gold_order(documents: list[RawDocument], source: Source, file: str = "") -> None:
    """Give documents the ids of the gold data, of which there must be as many; without gold data, their numbers."""
    gold = source.companion(file)
    if gold is not None and len(gold) != len(documents):
        have = f"this file has results for {plural(len(documents), 'document')} and no ids"
        hint = "give one list per document in the order of the gold data, or ids: {id: [...]}"
        raise InputError(f"{have}, but the gold data has {plural(len(gold), 'document')}; {hint}.", source.name)
    ids = [str(number) for number in range(len(documents))] if gold is None else gold.ids.tolist()
    for document, name in zip(documents, ids, strict=True):
        document.id = name


_text = msgspec.json.Decoder(str | None)


def _list(value: msgspec.Raw) -> bytes:
    found = bytes(value)
    return b"[]" if found == b"null" else found
