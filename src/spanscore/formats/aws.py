"""`aws`: answers of Amazon Comprehend and Comprehend Medical, `{Entities: [{Type, BeginOffset, EndOffset, Score}]}`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeVar

import msgspec

from spanscore.formats.documents import RawSpan
from spanscore.formats.interface import LIKELY, Claim, Sample
from spanscore.formats.json_records import decoded
from spanscore.formats.results import Answer, ResultLists

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
        """Claim JSON with BeginOffset and EndOffset, or with Entities only."""
        inside = sample.inside(".json") if sample.first(".json") else sample.inside(".out")
        if inside.is_json and ({"BeginOffset", "EndOffset"} <= inside.keys or "Entities" in inside.top_keys):
            return Claim(LIKELY, 'it is JSON with "Entities" or "BeginOffset"')
        return None

    def answers(self, source: Source) -> Iterator[Answer]:
        """Yield answers; those of a job are named by their file, or in the order of its lines if it is one file."""
        found = list(super().answers(source))
        files = [_field(one, "File", _name) for one in found]
        places = [_field(one, "Index", _number) for one in found]
        if found and None not in files and len(set(files)) == len(files):
            gold = source.companion(self.texts)
            known = frozenset() if gold is None else frozenset(gold.ids.tolist())
            for one, file in zip(found, files, strict=True):
                one.id = file if file in known or not known else str(file).rpartition(".")[0] or file
        elif found and None not in files:
            places = [_field(one, "Line", _number) for one in found]
        if None not in places:
            found = [one for _, one in sorted(zip(places, found, strict=True), key=lambda pair: pair[0] or 0)]
        yield from found

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
