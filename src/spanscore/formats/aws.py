"""`aws`: answers of Amazon Comprehend and Comprehend Medical, `{Entities: [{Type, BeginOffset, EndOffset, Score}]}`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeVar

import msgspec

from spanscore.formats.detector_results import Answer, ResultLists
from spanscore.formats.documents import RawSpan
from spanscore.formats.interface import LIKELY, Claim, Sample
from spanscore.formats.json_records import decoded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spanscore.formats.source import Source


class Entity(msgspec.Struct, rename="pascal"):
    """An entity; `Text` and `Category` are missing in answers about PII."""

    type: str
    begin_offset: int
    end_offset: int
    score: float | None = None
    text: str | None = None
    category: str | None = None


@dataclass(frozen=True, repr=False)
class Aws(ResultLists):
    """Amazon Comprehend's answers: `{Entities: [{Score, Type, BeginOffset, EndOffset}]}`, of PII, entities and PHI.

    One answer per line, a list of them, a folder of files, the ResultList of a batch call, and the output of a job
    (with File and Line) are read. The label is Type; Category becomes an attribute. Offsets count code points.
    """

    name: ClassVar[str] = "aws"
    endings: ClassVar[tuple[str, ...]] = (".json", ".out")
    entity: ClassVar[type[msgspec.Struct]] = Entity
    entity_keys: ClassVar[frozenset[str]] = frozenset({"Type", "BeginOffset", "EndOffset"})
    list_keys: ClassVar[tuple[str, ...]] = ("Entities",)
    inner_keys: ClassVar[tuple[str, ...]] = ("ResultList",)
    id_keys: ClassVar[tuple[str, ...]] = ("id", "Id")

    @classmethod
    def recognise(cls, sample: Sample) -> Claim | None:
        """Claim JSON with BeginOffset and EndOffset, with Entities, or with the ResultList of a batch."""
        inside = sample.inside(".json") if sample.first(".json") else sample.inside(".out")
        empty = {"Entities", "ResultList"} & inside.top_keys or {"ResultList", "Entities"} <= inside.keys
        if inside.is_json and ({"BeginOffset", "EndOffset"} <= inside.keys or empty):
            return Claim(LIKELY, 'it is JSON with "Entities" or "BeginOffset"')
        return None

    def answers(self, source: Source) -> Iterator[Answer]:
        """Yield answers; those of a job are named by their file, or in the order of its lines if it is one file."""
        found = list(super().answers(source))
        files = [_field(one, "File", _name) for one in found]
        if None in files or not found:
            yield from found
            return
        if len(set(files)) == len(files):
            gold = source.companion(self.texts)
            known = frozenset() if gold is None else frozenset(gold.ids.tolist())
            for one, file in zip(found, files, strict=True):
                one.id = file if file in known or not known else str(file).rpartition(".")[0] or file
        order = {file: number for number, file in enumerate(dict.fromkeys(files))}
        lines = [(order[file], _field(one, "Line", _number) or 0) for one, file in zip(found, files, strict=True)]
        yield from (one for _, one in sorted(zip(lines, found, strict=True), key=lambda pair: pair[0]))

    def unfolded(self, value: bytes, where: str) -> Iterator[Answer]:
        """Yield the answers of a value; those of a batch are in the order of their Index."""
        found = list(super().unfolded(value, where))
        places = [_field(one, "Index", _number) for one in found]
        if None in places or len(set(places)) < len(places):
            yield from found
        else:
            yield from (one for _, one in sorted(zip(places, found, strict=True), key=lambda pair: pair[0] or 0))

    def span(self, entity: Entity, where: str) -> RawSpan:
        """Return the span of an entity."""
        attrs = {"category": entity.category} if entity.category else None
        return RawSpan(
            entity.begin_offset,
            entity.end_offset,
            entity.type,
            entity.score,
            attrs,  # type: ignore[arg-type]  # a dict of str
            entity.text,
        )


T = TypeVar("T")

_name = msgspec.json.Decoder(str | None)
_number = msgspec.json.Decoder(int | None)


def _field(answer: Answer, key: str, decoder: msgspec.json.Decoder[T]) -> T | None:
    found = answer.about.get(key)
    return None if found is None else decoded(decoder, bytes(found), answer.where)
